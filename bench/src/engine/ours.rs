//! This project's engine.

use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;
use grammask::tuning::TokenSets;
use grammask::{
    BuildBackend, CompileError, CompiledGrammar, Compiler, CompilerBuilder, EbnfOptions, JsonSchemaOptions,
    Matcher, StructuralTagOptions, TokenId, TokenMask, Vocabulary, VocabularyOptions,
};

use super::interface::{Engine, EngineId, KeyOrder, PLACE, Source};
use super::tokenizer::LoadedTokenizer;

/// grammask as an [`Engine`], with its defaults but for the order of members.
pub(crate) struct Grammask<B: BuildBackend> {
    id: EngineId,
    compiler: Compiler<B>,
    schemas: JsonSchemaOptions,
    grammar: Option<CompiledGrammar<B>>,
    matcher: Option<Matcher<B>>,
}

/// Loads our vocabulary of a tokenizer.
pub(crate) fn vocabulary(tokenizer: &LoadedTokenizer) -> Result<Arc<Vocabulary>> {
    let options = VocabularyOptions::default().stop_ids([tokenizer.end]).size(tokenizer.size);
    let vocabulary = Arc::new(Vocabulary::from_tokenizer_json(&tokenizer.json, &options)?);
    keep_token_sets(&vocabulary);
    Ok(vocabulary)
}

/// Computes the token sets of a vocabulary and keeps them until the process ends: a server does this before its first
/// request.
pub(crate) fn keep_token_sets(vocabulary: &Arc<Vocabulary>) {
    static KEPT: Mutex<Vec<Arc<TokenSets>>> = Mutex::new(Vec::new());
    let sets = TokenSets::shared(vocabulary);
    sets.prepare();
    KEPT.lock().unwrap_or_else(PoisonError::into_inner).push(sets);
}

/// A compiler with its defaults.
pub(super) fn builder(tokenizer: &LoadedTokenizer) -> Result<CompilerBuilder> {
    Ok(Compiler::builder(vocabulary(tokenizer)?))
}

impl<B: BuildBackend> Grammask<B> {
    pub(crate) fn new(id: EngineId, builder: CompilerBuilder<B>, key_order: KeyOrder) -> Self {
        let schemas = JsonSchemaOptions::default().key_order(key_order.into());
        Self { id, compiler: builder.build(), schemas, grammar: None, matcher: None }
    }

    fn matcher(&mut self) -> Result<&mut Matcher<B>, String> {
        self.matcher.as_mut().ok_or_else(|| "no grammar has been compiled".to_owned())
    }
}

impl<B: BuildBackend> Engine for Grammask<B> {
    fn id(&self) -> EngineId {
        self.id
    }

    fn mask_len(&self) -> usize {
        self.compiler.vocabulary().len()
    }

    fn drop_caches(&mut self) {
        self.matcher = None;
        self.grammar = None;
        let vocabulary = Arc::clone(self.compiler.vocabulary());
        self.compiler = Compiler::builder(vocabulary).backend::<B>().build();
    }

    fn compile(&mut self, source: Source<'_>) -> Result<(), String> {
        self.matcher = None;
        self.grammar = None;
        let compiled = match source {
            Source::JsonSchema(text) => self.compiler.json_schema(text, &self.schemas),
            Source::Grammar { ebnf, .. } => self.compiler.ebnf(ebnf, &EbnfOptions::default()),
            Source::Structure { tag, .. } => {
                self.compiler.structural_tag(tag, &StructuralTagOptions::default())
            }
        };
        self.grammar = Some(compiled.map_err(|error| reason(&error))?);
        Ok(())
    }

    fn start(&mut self) -> Result<(), String> {
        self.matcher = self.grammar.as_ref().map(CompiledGrammar::matcher);
        self.matcher().map(|_| ())
    }

    fn mask(&mut self, mask: &mut TokenMask) -> Result<(), String> {
        self.matcher()?.fill_mask(mask).map(|_| ()).map_err(|error| error.to_string())
    }

    fn commit(&mut self, token: u32) -> Result<(), String> {
        let id = TokenId::new(token).ok_or_else(|| format!("{token} is no token's id"))?;
        self.matcher()?.accept_token(id).map_err(|error| error.to_string())
    }

    fn idle(&mut self, masks: usize) -> Result<(), String> {
        self.matcher()?.warm_next(masks);
        Ok(())
    }

    fn fork(&mut self) -> Result<(), String> {
        std::hint::black_box(self.matcher()?.fork());
        Ok(())
    }

    fn rollback(&mut self, tokens: usize) -> Result<(), String> {
        self.matcher()?.rollback(tokens).map_err(|error| error.to_string())
    }

    fn memory_usage(&self) -> Option<usize> {
        self.grammar.as_ref().map(|grammar| {
            let usage = grammar.usage();
            usage.table_bytes + usage.mask_bytes
        })
    }

    fn would_accept(&mut self, token: u32) -> bool {
        let Some(id) = TokenId::new(token) else { return false };
        self.matcher().is_ok_and(|matcher| matcher.fork().accept_token(id).is_ok())
    }
}

/// The first finding on one line, what is particular to the schema last, so that reasons can be grouped.
fn reason(error: &CompileError) -> String {
    let Some(finding) = error.diagnostics().and_then(|findings| findings.iter().next()) else {
        return error.to_string();
    };
    let place = finding.pointer().unwrap_or("?");
    format!("{}: {}{PLACE}{place}", finding.code(), finding.message())
}
