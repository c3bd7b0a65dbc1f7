//! One method for each syntax.

#[cfg(feature = "json-schema")]
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use grammask_fsm::{CompileOptions, compile_deferred};
#[cfg(feature = "ebnf")]
use grammask_grammar_frontends::Diagnostics;
#[cfg(feature = "ebnf")]
use grammask_grammar_frontends::ebnf::{self, EbnfOptions};
#[cfg(feature = "ebnf")]
use grammask_grammar_frontends::gbnf;
#[cfg(feature = "json-schema")]
use grammask_grammar_frontends::json_schema::{self, JsonSchemaOptions, Report};
#[cfg(feature = "lark")]
use grammask_grammar_frontends::lark::{self, LarkOptions, NamedGrammar};
#[cfg(feature = "regex")]
use grammask_grammar_frontends::regex::{self, RegexOptions};
use grammask_grammar_ir::Grammar;
#[cfg(any(feature = "json-schema", feature = "ebnf"))]
use grammask_grammar_ir::Interrupt;

use super::backend::BuildBackend;
use super::compiler::Compiler;
use crate::base::error::CompileError;
use crate::base::trace::span;
#[cfg(feature = "json-schema")]
use crate::cache::options_key::holds_no_functions;
use crate::grammar::compiled::CompiledGrammar;

/// The automata of a schema may have a state and four edges for each of its bytes, up to so many states. Ordinary large
/// schemas have a state for three to ten bytes. More would take more memory than a source may.
#[cfg(feature = "json-schema")]
const MAX_STATES: usize = 1 << 22;

#[cfg(feature = "json-schema")]
impl<B: BuildBackend> Compiler<B> {
    /// Compiles a JSON Schema given as JSON text. Equal schemas with equal options are compiled once, also where
    /// several threads ask at the same time, and share their tables; so it is with the other syntaxes. Where
    /// options hold functions (a retriever of documents, an interrupt), every call compiles.
    ///
    /// # Errors
    ///
    /// Where the text is no schema, uses a keyword that is not enforced, or cannot be satisfied; with the JSON
    /// pointer and the keyword.
    pub fn json_schema(
        &self,
        schema: &str,
        options: &JsonSchemaOptions,
    ) -> Result<CompiledGrammar<B>, CompileError> {
        let key = holds_no_functions(options).then(|| self.options_keys().schemas.get(options));
        self.cached("json schema", key.as_deref(), schema, || {
            let read = || {
                let compiled = json_schema::compile_with_warnings(schema, &self.interrupted_by(options))?;
                Ok((compiled.grammar, compiled.report.warnings().collect()))
            };
            let automata = self.automata_of_schema(schema);
            let locate = |error: CompileError, _: &Grammar| {
                error.in_schema(schema, &self.interrupted_by(options), &automata)
            };
            self.read_and_compile(read, &automata, locate)
        })
    }

    /// Large schemas of many small parts are ordinary: their automata may grow with the text.
    fn automata_of_schema(&self, schema: &str) -> CompileOptions {
        let mut automata = self.automata_under_interrupt();
        let states = schema.len().min(MAX_STATES);
        automata.max_states = automata.max_states.max(states);
        automata.max_edges = automata.max_edges.max(4 * states);
        automata
    }

    /// Compiles a JSON Schema, and reports the treatment of every keyword. The cache is not used.
    /// [`CompiledGrammar::warnings`] is enough for what a user should hear of.
    pub fn json_schema_with_report(
        &self,
        schema: &str,
        options: &JsonSchemaOptions,
    ) -> Result<(CompiledGrammar<B>, Report), CompileError> {
        let options = &*self.interrupted_by(options);
        let compiled = json_schema::compile(schema, options)?;
        let grammar = self.grammar_of_schema(&Arc::new(compiled.grammar), schema, options)?;
        Ok((grammar.with_warnings(compiled.report.warnings().collect()), compiled.report))
    }

    /// Compiles the grammar of a schema that was read before, with these options. As [`grammar`](Self::grammar), with the
    /// limits of a schema, and errors that name the place in it.
    ///
    /// # Errors
    ///
    /// As for [`json_schema`](Self::json_schema), but for those of the reader.
    pub fn grammar_of_schema(
        &self,
        grammar: &Arc<Grammar>,
        schema: &str,
        options: &JsonSchemaOptions,
    ) -> Result<CompiledGrammar<B>, CompileError> {
        let automata = self.automata_of_schema(schema);
        self.grammar_deferred(grammar, &automata, Duration::ZERO)
            .map_err(|error| error.in_schema(schema, &self.interrupted_by(options), &automata))
    }

    /// The options under the compiler's interrupt, if it has one.
    pub(crate) fn interrupted_by<'o>(&self, options: &'o JsonSchemaOptions) -> Cow<'o, JsonSchemaOptions> {
        match *self.interrupt() == Interrupt::never() {
            true => Cow::Borrowed(options),
            false => Cow::Owned(options.clone().interrupt(self.interrupt().clone())),
        }
    }
}

#[cfg(feature = "ebnf")]
impl<B: BuildBackend> Compiler<B> {
    /// Compiles a grammar in EBNF.
    ///
    /// # Errors
    ///
    /// Where the source is not a grammar: all faults at once, each with its line and column.
    pub fn ebnf(&self, source: &str, options: &EbnfOptions) -> Result<CompiledGrammar<B>, CompileError> {
        self.in_dialect("ebnf", ebnf::parse, source, options)
    }

    /// Compiles a grammar in GBNF, the dialect of llama.cpp.
    ///
    /// # Errors
    ///
    /// As for [`ebnf`](Self::ebnf).
    pub fn gbnf(&self, source: &str, options: &EbnfOptions) -> Result<CompiledGrammar<B>, CompileError> {
        self.in_dialect("gbnf", gbnf::parse, source, options)
    }

    fn in_dialect(
        &self,
        name: &'static str,
        parse: fn(&str, &EbnfOptions) -> Result<Grammar, Diagnostics>,
        source: &str,
        options: &EbnfOptions,
    ) -> Result<CompiledGrammar<B>, CompileError> {
        let key = Some(options).filter(|options| options.interrupt == Interrupt::never());
        self.cached_by_options(name, key, source, || {
            self.read_from(source, || match *self.interrupt() == Interrupt::never() {
                true => Ok((parse(source, options)?, Vec::new())),
                false => {
                    let options = options.clone().interrupt(self.interrupt().clone());
                    Ok((parse(source, &options)?, Vec::new()))
                }
            })
        })
    }
}

#[cfg(feature = "lark")]
impl<B: BuildBackend> Compiler<B> {
    /// Compiles a grammar in Lark's notation.
    ///
    /// # Errors
    ///
    /// As for [`ebnf`](Self::ebnf).
    pub fn lark(&self, source: &str, options: &LarkOptions) -> Result<CompiledGrammar<B>, CompileError> {
        // The printed form of the options does not distinguish grammars that are data.
        let is_source = |named: &NamedGrammar| matches!(named, NamedGrammar::Lark(_));
        let is_cacheable = options.named.values().all(is_source) && holds_no_functions(&options.json_schema);
        self.cached_by_options("lark", is_cacheable.then_some(options), source, || {
            self.read_from(source, || {
                let json_schema = self.interrupted_by(&options.json_schema).into_owned();
                Ok(lark::parse_with_warnings(source, &options.clone().json_schema(json_schema))?)
            })
        })
    }
}

#[cfg(feature = "regex")]
impl<B: BuildBackend> Compiler<B> {
    /// Compiles a regular expression, which the whole text must match by default.
    ///
    /// # Errors
    ///
    /// Where the pattern is malformed, or uses look-around, back-references, or word boundaries in a repeat without a bound.
    pub fn regex(&self, pattern: &str, options: &RegexOptions) -> Result<CompiledGrammar<B>, CompileError> {
        self.cached_by_options("regex", Some(options), pattern, || {
            self.read_from(pattern, || Ok((regex::parse(pattern, options)?, Vec::new())))
        })
    }
}

impl<B: BuildBackend> Compiler<B> {
    /// Compiles a grammar whose rules have places in a source.
    fn read_from(
        &self,
        source: &str,
        read: impl FnOnce() -> Result<(Grammar, Vec<String>), CompileError>,
    ) -> Result<CompiledGrammar<B>, CompileError> {
        self.read_and_compile(read, &self.automata_under_interrupt(), |error, grammar| {
            error.located(source, grammar)
        })
    }

    /// Compiles a grammar that is read first, with warnings.
    pub(crate) fn read_and_compile(
        &self,
        read: impl FnOnce() -> Result<(Grammar, Vec<String>), CompileError>,
        automata: &CompileOptions,
        locate: impl FnOnce(CompileError, &Grammar) -> CompileError,
    ) -> Result<CompiledGrammar<B>, CompileError> {
        let start = self.now();
        let (grammar, warnings) = {
            span!("frontend");
            read()?
        };
        let grammar = Arc::new(grammar);
        let frontend = self.now().saturating_sub(start);
        let compiled = self.grammar_deferred(&grammar, automata, frontend);
        Ok(compiled.map_err(|error| locate(error, &grammar))?.with_warnings(warnings))
    }

    /// Compiles a grammar given as data. Every call compiles.
    ///
    /// # Errors
    ///
    /// Fails if the grammar derives nothing, passes a limit, or is not served by the backend.
    pub fn grammar(&self, grammar: &Grammar) -> Result<CompiledGrammar<B>, CompileError> {
        let automata = self.automata_under_interrupt();
        let compile =
            |grammar: &Grammar| compile_deferred(grammar, &automata, |whole| Arc::new(whole.clone()));
        self.compile_grammar(grammar, compile, Duration::ZERO)
    }

    /// Compiles a grammar, some of whose rules may be deferred until a text reaches them.
    fn grammar_deferred(
        &self,
        grammar: &Arc<Grammar>,
        automata: &CompileOptions,
        frontend: Duration,
    ) -> Result<CompiledGrammar<B>, CompileError> {
        let share = |whole: &Grammar| match std::ptr::eq(whole, &**grammar) {
            true => Arc::clone(grammar),
            false => Arc::new(whole.clone()),
        };
        self.compile_grammar(grammar, |grammar| compile_deferred(grammar, automata, share), frontend)
    }
}
