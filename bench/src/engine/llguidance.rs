//! The llguidance crate, with its slices for JSON and otherwise its defaults.

use std::sync::Arc;

use ::llguidance::api::TopLevelGrammar;
use ::llguidance::earley::SlicedBiasComputer;
use ::llguidance::{Matcher, ParserFactory};
use anyhow::Result;
use grammask::TokenMask;
use toktrie::{ApproximateTokEnv, InferenceCapabilities, TokEnv, TokRxInfo, TokTrie};
use toktrie_hf_tokenizers::ByteTokenizer;

use super::interface::{Engine, EngineId, Source};
use super::tokenizer::LoadedTokenizer;

/// Its view of a vocabulary.
pub(crate) type Environment = TokEnv;

/// As it reads a tokenizer itself.
pub(crate) fn environment(tokenizer: &LoadedTokenizer) -> Result<Environment> {
    let mut bytes = ByteTokenizer::from_json_bytes(&tokenizer.json)?;
    bytes.set_eos_token(tokenizer.end);
    bytes.into_tok_env(Some(tokenizer.size))
}

/// Of tokens in the order of their ids; the names of special tokens are no text.
pub(crate) fn environment_of(mut tokens: Vec<Vec<u8>>, special: &[u32], end: u32) -> Environment {
    for &id in special {
        tokens[id as usize].insert(0, TokTrie::SPECIAL_TOKEN_MARKER);
    }
    let size = u32::try_from(tokens.len()).unwrap_or(u32::MAX);
    Arc::new(ApproximateTokEnv::new(TokTrie::from(&TokRxInfo::new(size, end), &tokens)))
}

/// The engine over a vocabulary.
pub(crate) fn engine(environment: &Environment) -> Result<Box<dyn Engine>> {
    Ok(Box::new(Llguidance::over(environment)?))
}

/// The bytes of every token as it reads them, none for those that it takes for special tokens.
pub(crate) fn token_bytes(tokenizer: &LoadedTokenizer) -> Result<Vec<Vec<u8>>> {
    let mut bytes = ByteTokenizer::from_json_bytes(&tokenizer.json)?.token_bytes();
    for token in &mut bytes {
        // The marker alone is the byte 0xFF, which no other token of text begins with.
        if token.len() > 1 && token.first() == Some(&TokTrie::SPECIAL_TOKEN_MARKER) {
            token.clear();
        }
    }
    Ok(bytes)
}

/// llguidance as an [`Engine`].
struct Llguidance {
    factory: ParserFactory,
    mask_len: usize,
    /// The compiled grammar, until the first matcher takes it.
    compiled: Option<Matcher>,
    /// A copy in its first state, from which later matchers are made. They share its lexer, which the
    /// reference runner's deep copies do not: that is the faster way, and so the one to compare with.
    pristine: Option<Matcher>,
    matcher: Option<Matcher>,
}

impl Llguidance {
    fn over(environment: &TokEnv) -> Result<Self> {
        let mask_len = environment.tok_trie().vocab_size();
        let slices = SlicedBiasComputer::json_slices();
        let mut factory = ParserFactory::new(environment, InferenceCapabilities::default(), &slices)?;
        factory.quiet();
        Ok(Self { factory, mask_len, compiled: None, pristine: None, matcher: None })
    }

    fn matcher(&mut self) -> Result<&mut Matcher, String> {
        self.matcher.as_mut().ok_or_else(|| "no grammar has been compiled".to_owned())
    }
}

impl Engine for Llguidance {
    fn id(&self) -> EngineId {
        EngineId::Llguidance
    }

    fn mask_len(&self) -> usize {
        self.mask_len
    }

    fn drop_caches(&mut self) {
        // Nothing is shared between grammars but the vocabulary and its slices.
    }

    fn compile(&mut self, source: Source<'_>) -> Result<(), String> {
        self.pristine = None;
        self.matcher = None;
        let grammar = match source {
            Source::JsonSchema(text) => {
                TopLevelGrammar::from_json_schema(serde_json::from_str(text).map_err(|e| e.to_string())?)
            }
            Source::Grammar { lark, .. } | Source::Structure { lark, .. } => {
                TopLevelGrammar::from_lark(lark.to_owned())
            }
        };
        let matcher = Matcher::new(self.factory.create_parser(grammar));
        if let Some(error) = matcher.get_error() {
            return Err(error);
        }
        self.compiled = Some(matcher);
        Ok(())
    }

    fn keep_copy(&mut self) {
        self.pristine = self.compiled.as_ref().map(Matcher::deep_clone);
    }

    fn start(&mut self) -> Result<(), String> {
        self.matcher = self.compiled.take().or_else(|| self.pristine.clone());
        self.matcher().map(|_| ())
    }

    fn mask(&mut self, mask: &mut TokenMask) -> Result<(), String> {
        let computed = self.matcher()?.compute_mask_or_eos().map_err(|error| format!("{error:#}"))?;
        let words = mask.as_mut_words();
        let length = words.len();
        match computed.as_slice().get(..length) {
            Some(allowed) => words.copy_from_slice(allowed),
            None => return Err("the mask is shorter than the vocabulary".to_owned()),
        }
        Ok(())
    }

    fn commit(&mut self, token: u32) -> Result<(), String> {
        self.matcher()?.consume_token(token).map_err(|error| format!("{error:#}"))
    }

    fn fork(&mut self) -> Result<(), String> {
        std::hint::black_box(self.matcher()?.clone());
        Ok(())
    }

    fn rollback(&mut self, tokens: usize) -> Result<(), String> {
        self.matcher()?.rollback(tokens).map_err(|error| format!("{error:#}"))
    }

    fn would_accept(&mut self, token: u32) -> bool {
        self.matcher().is_ok_and(|matcher| matcher.validate_tokens(&[token]).is_ok_and(|count| count > 0))
    }
}
