//! Structural tags and tool calls.
//!
//! Requests come with sets of tools that overlap from one to the next. Where a document is plainly a list of tags in
//! something around them, each tag is compiled once, by its text, and so is what stands around: what is known costs
//! the bytes of the tag's beginning, and a reference to its automata. Other structures are compiled without their
//! schemas, whose automata are kept by their content, and then linked with them: what is known costs a copy of its
//! tables.

use std::sync::Arc;

use grammask_fsm::{
    CompileOptions, DeferredProgram, LinkedProgram, ProgramTemplate, SizeEstimate, TemplateArm,
};
use grammask_grammar_frontends::json_schema::SimpleSchema;
use grammask_grammar_frontends::structural_tag::{
    EmbeddedSchema, SplitTags, StructuralTag, StructuralTagOptions, TagArm, TagContent, TagExtent,
    TagTemplate, TagText,
};
use grammask_grammar_frontends::tool_formats::{ToolFormat, ToolRequest};
use grammask_grammar_ir::Interrupt;

use crate::cache::Key;
use crate::compiler::{Resolver, is_plain};
use crate::shared_work::shared_work;
use crate::tag_pieces::{KnownFrame, KnownTag};
use crate::{BuildBackend, CompileCache, CompileError, CompileTimes, CompiledGrammar, Compiler};

/// The automata of schemas, by the content of their sources.
pub(crate) type SchemaPrograms = CompileCache<Arc<DeferredProgram>>;

/// So many new schemas, about a millisecond of work where they can wait, are worth a thread.
const WORTH_A_THREAD: usize = 96;

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
            if let Some(linked) = key.as_ref().and_then(|key| self.linked(document, options, key)) {
                return Ok(linked);
            }
            self.tag(&StructuralTag::parse_with(document, options, self.known_schemas())?, options)
        })
    }

    /// Compiles a structural tag that was read or made.
    ///
    /// # Errors
    ///
    /// As for [`structural_tag`](Self::structural_tag).
    pub fn tag(
        &self,
        tag: &StructuralTag,
        options: &StructuralTagOptions,
    ) -> Result<CompiledGrammar<B>, CompileError> {
        let start = self.now();
        let skeleton = tag.skeleton(options)?;
        let rules: Vec<_> = skeleton.schemas.iter().map(EmbeddedSchema::rule).collect();
        let programs = self.schema_programs(skeleton.schemas, options)?;
        let frontend = self.now().saturating_sub(start);
        let parts =
            rules.iter().zip(&programs).map(|(&rule, program)| LinkedProgram::referred(rule, program));
        self.grammar_with(&skeleton.grammar, &parts.collect::<Vec<_>>(), frontend)
    }

    /// What a structural tag is whose tags are compiled one by one and put together by reference. `None` where it is
    /// not plain, or something is wrong with it.
    fn linked(
        &self,
        document: &str,
        options: &StructuralTagOptions,
        spelled: &Arc<str>,
    ) -> Option<CompiledGrammar<B>> {
        if !self.keeps() || document.len() > options.limits.document_bytes {
            return None;
        }
        let start = self.now();
        let known = self.known_pieces();
        // One for each tag, in their order.
        let mut found = Vec::with_capacity(16);
        let pieces = SplitTags::cut(document, |text| {
            let tag = known.tag(text);
            let length = tag.as_ref().map(|tag| tag.text.len());
            found.push(tag);
            length
        })?;
        let frame = self.known_frame(&pieces, options, spelled)?;
        let tags = self.tags_of(&pieces.tags, found, &frame, options)?;
        let frontend = self.now().saturating_sub(start);
        let branches: Vec<&TemplateArm> = tags.iter().map(|tag| &tag.branch).collect();
        let program = frame.frame.link(&branches, self.automata())?;
        let automata = self.now().saturating_sub(start).saturating_sub(frontend);
        let times = CompileTimes { frontend, automata, ..CompileTimes::default() };
        self.program_after(Arc::new(program), times).ok()
    }

    fn known_frame(
        &self,
        pieces: &SplitTags<'_>,
        options: &StructuralTagOptions,
        spelled: &Arc<str>,
    ) -> Option<Arc<KnownFrame>> {
        let key = [spelled, pieces.head, pieces.tail].join("\0");
        if let Some(known) = self.known_pieces().frame(&key) {
            return Some(known);
        }
        let TagTemplate { grammar, placeholder, extent: reach, .. } =
            TagTemplate::new(pieces.head, pieces.tags.first()?, pieces.tail, options)?;
        let grammar = self.resolver().resolve(&grammar).ok()?.into_owned();
        let frame = ProgramTemplate::new(&grammar, &self.automata_under_interrupt(), placeholder).ok()?;
        let kind = format!("{reach:?} {spelled}").into();
        let made = Arc::new(KnownFrame { frame, reach, kind });
        self.known_pieces().keep_frame(&key, &made);
        Some(made)
    }

    /// All tags; new ones are compiled side by side.
    fn tags_of(
        &self,
        texts: &[&str],
        found: Vec<Option<Arc<KnownTag>>>,
        frame: &Arc<KnownFrame>,
        options: &StructuralTagOptions,
    ) -> Option<Vec<Arc<KnownTag>>> {
        let mut tags = self.known_pieces().tags(texts, found, &frame.kind);
        let missing: Vec<usize> = (0..texts.len()).filter(|&at| tags[at].is_none()).collect();
        let hits = tags.iter().flatten().map(|tag| tag.schemas).sum();
        self.schemas().note_hits(hits);
        if !missing.is_empty() {
            let texts: Vec<Box<str>> = missing.iter().map(|&at| texts[at].into()).collect();
            let parts = self.part_compiler(options);
            let (known, frame) = (Arc::clone(self.known_pieces()), Arc::clone(frame));
            let made = shared_work(self.threads(), texts, WORTH_A_THREAD, move |text| {
                let made = Arc::new(parts.tag(text, &frame)?);
                known.keep_tag(&made);
                Some(made)
            });
            for (at, made) in missing.into_iter().zip(made) {
                tags[at] = Some(made?);
            }
        }
        tags.into_iter().collect()
    }

    /// The automata of each schema.
    fn schema_programs(
        &self,
        schemas: Vec<EmbeddedSchema>,
        options: &StructuralTagOptions,
    ) -> Result<Vec<Arc<DeferredProgram>>, CompileError> {
        let parts = self.part_compiler(options);
        let mut programs: Vec<Option<Arc<DeferredProgram>>> =
            schemas.iter().map(|schema| parts.schemas.get(parts.key(schema)?)).collect();
        let (places, missing): (Vec<usize>, Vec<EmbeddedSchema>) =
            schemas.into_iter().enumerate().filter(|(place, _)| programs[*place].is_none()).unzip();
        let made =
            shared_work(self.threads(), missing, WORTH_A_THREAD, move |schema| parts.schema_program(schema));
        for (place, made) in places.into_iter().zip(made) {
            programs[place] = Some(made?);
        }
        Ok(programs.into_iter().flatten().collect())
    }

    fn part_compiler(&self, options: &StructuralTagOptions) -> PartCompiler {
        let mut later = options.clone();
        later.json_schema.interrupt = Interrupt::never();
        PartCompiler {
            kept: is_plain(&options.json_schema).then(|| self.spelled().schemas.of(&options.json_schema)),
            options: options.clone(),
            options_later: Arc::new(later),
            automata: self.automata_under_interrupt(),
            resolver: self.resolver(),
            schemas: Arc::clone(self.schemas()),
            interrupt: self.interrupt().clone(),
        }
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
        self.tag(&format.structure(request)?, options)
    }
}

/// What compiles the parts of a structural tag, on any thread.
struct PartCompiler {
    /// How the options for schemas are spelled, where what is compiled may be kept.
    kept: Option<Arc<str>>,
    options: StructuralTagOptions,
    /// For what is compiled when nobody waits any more who could interrupt it.
    options_later: Arc<StructuralTagOptions>,
    automata: CompileOptions,
    resolver: Resolver,
    schemas: Arc<SchemaPrograms>,
    interrupt: Interrupt,
}

impl PartCompiler {
    fn key<'k>(&'k self, schema: &'k EmbeddedSchema) -> Option<Key<'k>> {
        Some(Key(["", self.kept.as_deref()?, schema.key()]))
    }

    /// The automata of a schema, if they are not known. Whatever is wrong with it is found now, while they are made
    /// when a text comes to them.
    fn schema_program(&self, schema: &EmbeddedSchema) -> Result<Arc<DeferredProgram>, CompileError> {
        let compile = || -> Result<Arc<DeferredProgram>, CompileError> {
            if let Some(deferred) = self.deferred_from_estimate(schema) {
                return Ok(Arc::new(deferred));
            }
            let grammar = self.resolver.resolve_owned(schema.grammar(&self.options)?)?;
            Ok(Arc::new(DeferredProgram::new(grammar, &self.automata)?))
        };
        match self.key(schema) {
            Some(key) => self.schemas.get_or_compile_until(
                key,
                &self.interrupt,
                |program| program.memory_usage(),
                compile,
            ),
            None => compile(),
        }
    }

    /// The automata of a schema whose grammar can wait, too: nothing is wrong with it.
    fn deferred_from_estimate(&self, schema: &EmbeddedSchema) -> Option<DeferredProgram> {
        let SimpleSchema { states, characters, .. } = schema.simple_schema(&self.options)?;
        // Grammars of schemas name no tokens.
        let (schema, options) = (schema.clone(), Arc::clone(&self.options_later));
        let write = move || schema.grammar(&options).ok();
        DeferredProgram::from_estimate(&SizeEstimate { states, characters }, write, &self.automata)
    }

    /// A tag, ready to be put into a frame. `None` where it is not plain, or something is wrong with it.
    fn tag(&self, text: &str, frame: &KnownFrame) -> Option<KnownTag> {
        let TagArm { begin, content, end, .. } = TagArm::new(text, &frame.reach, &self.options)?;
        if let (TagExtent::AfterWrittenTrigger(trigger), TagText::Text(begin)) = (&frame.reach, &begin)
            && !self.resolver.may_cut(trigger, begin)?
        {
            return None;
        }
        let (begin, end) = (self.resolver.text(&begin)?, self.resolver.text(&end)?);
        let (content, schemas) = match content {
            TagContent::Schema(schema) => (self.schema_program(&schema).ok()?, 1),
            TagContent::Grammar(rest) => {
                let programs = rest.schemas.iter().map(|schema| self.schema_program(schema));
                let programs: Vec<Arc<DeferredProgram>> = programs.collect::<Result<_, _>>().ok()?;
                let grammar = self.resolver.resolve(&rest.grammar).ok()?;
                // SubPrograms have no sub-programs of their own: what is in a tag is copied into what the tag becomes.
                let whole: Vec<_> =
                    programs.iter().map(|program| program.program()).collect::<Result<_, _>>().ok()?;
                let parts = rest.schemas.iter().zip(whole);
                let parts: Vec<LinkedProgram<'_>> =
                    parts.map(|(schema, program)| LinkedProgram::copied(schema.rule(), program)).collect();
                let program = grammask_fsm::compile_with(&grammar, &self.automata, &parts).ok()?;
                (Arc::new(DeferredProgram::from(Arc::new(program))), programs.len() as u64)
            }
        };
        let size = content.memory_usage();
        let branch = TemplateArm::new(&begin, content, &end)?;
        Some(KnownTag { text: text.into(), kind: Arc::clone(&frame.kind), branch, schemas, size })
    }
}
