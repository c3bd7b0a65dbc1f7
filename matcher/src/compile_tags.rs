//! Structural tags and tool calls.
//!
//! Requests come with sets of tools that overlap from one to the next. The automata of each JSON Schema are kept by
//! its content, and a structure is compiled without its schemas and then linked with them: what is known costs a
//! copy of its tables.

use std::sync::Arc;

use grammask_fsm::{CompileOptions, Part, Program};
use grammask_grammar_frontends::structural_tag::{EmbeddedSchema, StructuralTag, StructuralTagOptions};
use grammask_grammar_frontends::tool_formats::{ToolFormat, ToolRequest};
use grammask_grammar_ir::Interrupt;

use crate::compiler::is_plain;
use crate::shared_work::shared_work;
use crate::{BuildBackend, CompileCache, CompileError, CompiledGrammar, Compiler};

/// The automata of schemas, by the content of their sources.
pub(crate) type SchemaPrograms = CompileCache<Arc<Program>>;

/// So many new schemas, some milliseconds of work, are worth a thread.
const WORTH_A_THREAD: usize = 16;

impl<B: BuildBackend> Compiler<B> {
    /// Compiles a structural tag given as JSON text, in the form of today or the older one. Where the beginning or
    /// the end of a tag spells a special token of the vocabulary, it stands for that token.
    ///
    /// Where its JSON Schemas were compiled before, in whatever structural tag, their automata are used again; many
    /// new ones are compiled side by side on the compiler's [`threads`](Self::threads).
    ///
    /// # Errors
    ///
    /// Where the text is no structural tag, asks for what is not supported, or names a token that the vocabulary
    /// does not have; with the JSON pointer.
    pub fn structural_tag(
        &self,
        document: &str,
        options: &StructuralTagOptions,
    ) -> Result<CompiledGrammar<B>, CompileError> {
        let key = is_plain(&options.json_schema).then(|| self.spelled().tags.of(options));
        self.kept_as("structural tag", key.as_deref(), document, || {
            self.structure(&StructuralTag::parse_with(document, options, self.known_schemas())?, options)
        })
    }

    /// Compiles a structural tag that was read or made.
    ///
    /// # Errors
    ///
    /// As for [`structural_tag`](Self::structural_tag).
    pub fn structure(
        &self,
        tag: &StructuralTag,
        options: &StructuralTagOptions,
    ) -> Result<CompiledGrammar<B>, CompileError> {
        let start = self.now();
        let outline = tag.outline(options)?;
        let rules: Vec<_> = outline.schemas.iter().map(EmbeddedSchema::rule).collect();
        let programs = self.schema_programs(outline.schemas, options)?;
        let frontend = self.now().saturating_sub(start);
        let parts = rules.iter().zip(&programs).map(|(&rule, program)| Part { rule, program });
        self.grammar_with(&outline.grammar, &parts.collect::<Vec<_>>(), frontend)
    }

    /// The automata of each schema.
    fn schema_programs(
        &self,
        schemas: Vec<EmbeddedSchema>,
        options: &StructuralTagOptions,
    ) -> Result<Vec<Arc<Program>>, CompileError> {
        let kept = is_plain(&options.json_schema).then(|| self.spelled().schemas.of(&options.json_schema));
        let key = |schema: &EmbeddedSchema| Some([kept.as_deref()?, schema.key()].join(" "));
        let cache = self.schemas();
        let mut programs: Vec<Option<Arc<Program>>> =
            schemas.iter().map(|schema| cache.get(&key(schema)?)).collect();
        let (places, missing): (Vec<usize>, Vec<(Option<String>, EmbeddedSchema)>) = schemas
            .into_iter()
            .enumerate()
            .filter(|(place, _)| programs[*place].is_none())
            .map(|(place, schema)| (place, (key(&schema), schema)))
            .unzip();
        let automata = self.automata_under_interrupt();
        let (options, cache) = (options.clone(), Arc::clone(cache));
        let (interrupt, resolver) = (self.interrupt().clone(), self.resolver());
        let made = shared_work(self.threads(), missing, WORTH_A_THREAD, move |(key, schema)| {
            let compile = || -> Result<Arc<Program>, CompileError> {
                let grammar = schema.grammar(&options)?;
                let grammar = resolver.resolve(&grammar)?;
                Ok(Arc::new(grammask_fsm::compile(&grammar, &automata)?))
            };
            match key {
                Some(key) => {
                    cache.get_or_compile_until(key, &interrupt, |program| program.memory_usage(), compile)
                }
                None => compile(),
            }
        });
        for (place, made) in places.into_iter().zip(made) {
            programs[place] = Some(made?);
        }
        Ok(programs.into_iter().flatten().collect())
    }

    /// How automata are compiled, under the compiler's interrupt.
    pub(crate) fn automata_under_interrupt(&self) -> CompileOptions {
        let automata = self.automata();
        match *self.interrupt() == Interrupt::never() {
            true => automata.clone(),
            false => CompileOptions { interrupt: self.interrupt().clone(), ..automata.clone() },
        }
    }

    /// Compiles what a model of a family may answer to a request: text, reasoning and tool calls.
    ///
    /// # Errors
    ///
    /// Where the family cannot do what the request asks for, or a schema is refused; with the JSON pointer into the
    /// request.
    pub fn tools(
        &self,
        format: ToolFormat,
        request: &ToolRequest,
        options: &StructuralTagOptions,
    ) -> Result<CompiledGrammar<B>, CompileError> {
        self.structure(&format.structure(request)?, options)
    }
}
