//! From a tokenizer and grammars to parsers.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use grammask::{CompiledGrammar, Compiler, LarkOptions, NamedGrammar, VocabularyOptions, vocabularies};
use toktrie::{InferenceCapabilities, TokEnv};

use crate::api::{GrammarWithLexer, TopLevelGrammar};
use crate::token_parser::TokenParser;

/// Makes parsers for one tokenizer. It keeps what it has compiled, so that a grammar that comes again costs little.
pub struct ParserFactory {
    environment: TokEnv,
    compiler: Compiler,
    capabilities: InferenceCapabilities,
}

impl ParserFactory {
    /// A factory for a tokenizer.
    ///
    /// A [`Constraint`](crate::Constraint) adds forced tokens where `capabilities` say `ff_tokens`. The slices tell
    /// llguidance how to save time; nothing depends on them here.
    ///
    /// # Errors
    ///
    /// If the vocabulary passes a limit, or forced tokens are asked for and the tokenizer is not canonical.
    pub fn new(
        environment: &TokEnv,
        capabilities: InferenceCapabilities,
        _slices: &[String],
    ) -> Result<Self> {
        let trie = environment.tok_trie();
        let is_token = |id: &u32| (*id as usize) < trie.vocab_size();
        let ends: Vec<u32> = trie.eos_tokens().iter().copied().filter(is_token).collect();
        let vocabulary = vocabularies::from_tok_trie(trie, &VocabularyOptions::default().stop_ids(ends))?;
        Ok(Self { environment: environment.clone(), compiler: Compiler::new(vocabulary), capabilities })
    }

    /// A factory for a tokenizer.
    ///
    /// # Errors
    ///
    /// As for [`new`](Self::new).
    pub fn new_simple(environment: &TokEnv) -> Result<Self> {
        Self::new(environment, InferenceCapabilities::default(), &[])
    }

    /// The tokenizer.
    pub fn tok_env(&self) -> &TokEnv {
        &self.environment
    }

    /// Nothing is logged in any case.
    pub fn quiet(&mut self) -> &mut Self {
        self
    }

    /// A parser at the beginning of a text.
    ///
    /// # Errors
    ///
    /// If a grammar is refused; the message says where and why.
    pub fn create_parser(&self, grammar: TopLevelGrammar) -> Result<TokenParser> {
        let compiled = self.compile(&grammar.grammars)?;
        let environment = self.environment.clone();
        let takes_forced = self.capabilities.ff_tokens;
        Ok(TokenParser::new(environment, compiled.matcher(), grammar.max_tokens, takes_forced))
    }

    fn compile(&self, grammars: &[GrammarWithLexer]) -> Result<CompiledGrammar> {
        let first = grammars.first().context("the list of grammars is empty")?;
        let mut named = BTreeMap::new();
        for grammar in grammars {
            let source = NamedGrammar::Lark(lark_source(grammar)?);
            let name = grammar.name.clone();
            if let Some(name) = name.filter(|name| named.insert(name.clone(), source).is_some()) {
                bail!("duplicate grammar name: @{name}");
            }
        }
        let options = LarkOptions::default();
        Ok(match &first.json_schema {
            Some(schema) => self.compiler.json_schema(&schema.to_string(), &options.json_schema)?,
            // A grammar of its own is kept by its text; it cannot refer to anything.
            None if grammars.len() == 1 => self.compiler.lark(&lark_source(first)?, &options)?,
            None => self.compiler.lark(&lark_source(first)?, &options.named(named))?,
        })
    }
}

/// The text of a grammar in Lark's notation.
fn lark_source(grammar: &GrammarWithLexer) -> Result<String> {
    match (&grammar.lark_grammar, &grammar.json_schema) {
        (Some(source), None) => Ok(source.clone()),
        (None, Some(schema)) => Ok(format!("start: %json {schema}")),
        (Some(_), Some(_)) => bail!("cannot have both lark_grammar and json_schema"),
        (None, None) => bail!("grammar must have either lark_grammar or json_schema"),
    }
}
