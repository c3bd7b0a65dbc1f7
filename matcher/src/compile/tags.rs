//! Structural tags and tool calls.
//!
//! Requests come with sets of tools that overlap from one to the next. Where a document is a list of tags in
//! something around them, each tag is compiled once, by its text, and so is the structure around them. A
//! known tag costs the bytes of its beginning, and a reference to its automata. Other structures are compiled
//! without their schemas, whose automata are kept by their content, and then linked with them: a known schema
//! costs a copy of its tables.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use grammask_fsm::{
    BuildCost, CompileOptions, DeferredProgram, LinkedProgram, PartSize, ProgramTemplate, SizeEstimate,
    TemplateArm,
};
use grammask_grammar_frontends::Diagnostics;
use grammask_grammar_frontends::json_schema::{Compiled, SharedWork, SimpleSchema};
use grammask_grammar_frontends::structural_tag::{
    EmbeddedSchema, SchemaValue, SplitTags, StructuralTag, StructuralTagOptions, TagArm, TagContent,
    TagExtent, TagTemplate, TagText,
};
#[cfg(feature = "tool-formats")]
use grammask_grammar_frontends::tool_formats::{ToolFormat, ToolRequest};
use grammask_grammar_ir::Interrupt;

use super::backend::BuildBackend;
use super::compiler::Compiler;
use super::kept::{Kept, SourceCache};
use super::tag_parts::{CompiledTag, CompiledTemplate, PartCost, SchemaPart, TagPart};
use super::token_names::TokenResolver;
use crate::base::error::CompileError;
use crate::base::parallel_map::try_parallel_map;
use crate::base::stats::CompileTimes;
use crate::cache::compile_cache::{EntryKind, SourceKey};
use crate::cache::options_key::holds_no_functions;
use crate::grammar::compiled::CompiledGrammar;

/// The work of a state of automata that do not wait. Where schemas are costly, most of the time goes there.
const WORK_PER_STATE: usize = 8;

/// This many new schemas, about a millisecond of work where they can wait, are worth a thread.
const MIN_ITEMS_PER_THREAD: usize = 96;

/// Documents of more tags go the general way. A tag by itself costs half as much again, and all of them are lost if
/// one of the last is not plain. No request offers as many tools.
const MAX_LINKED_TAGS: usize = 1 << 11;

impl<B: BuildBackend> Compiler<B> {
    /// Compiles a structural tag given as JSON text, in the current form or the older one. A beginning or an
    /// end of a tag that spells a special token of the vocabulary stands for that token.
    ///
    /// Where its JSON Schemas were compiled before, in whatever structural tag, their automata are used again; many
    /// new ones are compiled side by side on the compiler's [`threads`](Self::threads).
    ///
    /// # Errors
    ///
    /// Fails if the text is no structural tag, asks for something that is not supported, or names a token
    /// that the vocabulary does not have; with the JSON pointer.
    pub fn structural_tag(
        &self,
        document: &str,
        options: &StructuralTagOptions,
    ) -> Result<CompiledGrammar<B>, CompileError> {
        let key = holds_no_functions(&options.json_schema).then(|| self.options_keys().tags.get(options));
        self.cached("structural tag", key.as_deref(), document, || {
            if let Some(linked) = key.as_ref().and_then(|key| self.link_tags(document, options, key)) {
                return Ok(linked);
            }
            self.interrupt().check()?;
            let read = |text: &str| {
                let key = SourceKey { kind: EntryKind::SchemaText, parts: ["", "", text] };
                let read = || SchemaValue::read(text).map(TagPart::SchemaText).map(Kept::Part);
                self.cache.get_or_make(key, self.interrupt(), Kept::memory_usage, read)?.part()?.schema_text()
            };
            self.tag(&StructuralTag::parse_with(document, options, read)?, options)
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
        let schemas = self.compile_schemas(skeleton.schemas, options)?;
        let frontend = self.now().saturating_sub(start);
        let parts =
            rules.iter().zip(&schemas).map(|(&rule, (program, _))| LinkedProgram::referred(rule, program));
        let compiled = self.grammar_with(&skeleton.grammar, &parts.collect::<Vec<_>>(), frontend)?;
        Ok(compiled.with_warnings(schemas.into_iter().flat_map(|(_, warnings)| warnings).collect()))
    }

    /// The compiled form of a structural tag whose tags are compiled one by one and put together by
    /// reference. `None` if its form is not plain, or if it has an error.
    fn link_tags(
        &self,
        document: &str,
        options: &StructuralTagOptions,
        options_key: &Arc<str>,
    ) -> Option<CompiledGrammar<B>> {
        // Every `None` below sends the document the general way, which finds the same grammar, or the error
        // with its place.
        if document.len() > options.limits.document_bytes {
            return None;
        }
        let start = self.now();
        // One for each tag, in their order.
        let mut found = Vec::with_capacity(16);
        // A known tag tells its length, so its text is not even scanned for its end.
        let pieces = SplitTags::cut(document, |text| {
            let tag = self.cache.get_tag_at(text).and_then(Kept::part).and_then(TagPart::tag);
            let length = tag.as_ref().map(|tag| tag.len);
            found.push(tag);
            length
        })?;
        if pieces.tags.len() > MAX_LINKED_TAGS {
            return None;
        }
        let template = self.template(&pieces, options, options_key)?;
        let tags = self.compile_tags(&pieces.tags, found, &template, options)?;
        let frontend = self.now().saturating_sub(start);
        let arms: Vec<&TemplateArm> = tags.iter().map(|tag| &tag.arm).collect();
        let program = template.template.link(&arms, self.automata())?;
        let automata = self.now().saturating_sub(start).saturating_sub(frontend);
        let times = CompileTimes { frontend, automata, ..CompileTimes::default() };
        self.build_grammar(Arc::new(program), times).ok()
    }

    fn template(
        &self,
        pieces: &SplitTags<'_>,
        options: &StructuralTagOptions,
        options_key: &Arc<str>,
    ) -> Option<Arc<CompiledTemplate>> {
        // The template depends on the options and on the text around the tags. The first tag only shows the
        // form of the list.
        let key = SourceKey { kind: EntryKind::Template, parts: [options_key, pieces.head, pieces.tail] };
        let compile = || {
            let TagTemplate { grammar, gap, extent, .. } =
                TagTemplate::new(pieces.head, pieces.tags.first()?, pieces.tail, options)?;
            let grammar = self.resolver().resolve(&grammar).ok()?.into_owned();
            let template = ProgramTemplate::new(&grammar, &self.automata_under_interrupt(), gap).ok()?;
            let context = format!("{extent:?} {options_key}").into();
            Some(Kept::Part(TagPart::Template(Arc::new(CompiledTemplate { template, extent, context }))))
        };
        self.cache.get_or_make(key, self.interrupt(), Kept::memory_usage, compile)?.part()?.template()
    }

    /// All tags; new ones are compiled side by side.
    fn compile_tags(
        &self,
        texts: &[&str],
        found: Vec<Option<Arc<CompiledTag>>>,
        template: &Arc<CompiledTemplate>,
        options: &StructuralTagOptions,
    ) -> Option<Vec<Arc<CompiledTag>>> {
        let context = &template.context;
        let compiler = self.tag_compiler(options, texts.iter().map(|text| text.len()).sum());
        let known = |(text, found): (&&str, Option<Arc<CompiledTag>>)| match found {
            Some(tag) if tag.has_context(context) => Some(tag),
            // The same text can be known in another context, and short ones were not looked for.
            _ => self.cache.get(CompiledTag::key(context, text))?.part()?.tag(),
        };
        let mut tags: Vec<Option<Arc<CompiledTag>>> = texts.iter().zip(found).map(known).collect();
        let missing: Vec<usize> = (0..texts.len()).filter(|&at| tags[at].is_none()).collect();
        let hits = tags.iter().flatten().map(|tag| tag.schemas).sum();
        self.cache.note_hits(EntryKind::Schema, hits);
        tags.iter().flatten().try_for_each(|tag| compiler.pay_for_tag(tag))?;
        if !missing.is_empty() {
            let texts: Vec<Arc<str>> = missing.iter().map(|&at| texts[at].into()).collect();
            let template = Arc::clone(template);
            let make = move |text: &Arc<str>| {
                compiler.check().ok()?;
                let key = CompiledTag::key(&template.context, text);
                let compile = || Some(Kept::Part(TagPart::Tag(Arc::new(compiler.tag(text, &template)?))));
                let kept =
                    compiler.cache.get_or_make(key, &compiler.interrupt, Kept::memory_usage, compile)?;
                let tag = kept.part()?.tag()?;
                compiler.pay_for_tag(&tag)?;
                Some(tag)
            };
            // One tag that is not plain sends the whole document the general way. Tags that were compiled stay in the cache.
            let made = try_parallel_map(self.threads(), texts, MIN_ITEMS_PER_THREAD, move |text| {
                make(text).ok_or(())
            });
            let made = made.ok()?;
            for (at, made) in missing.into_iter().zip(made) {
                tags[at] = Some(made);
            }
        }
        tags.into_iter().collect()
    }

    /// The automata of each schema, and its warnings.
    fn compile_schemas(
        &self,
        schemas: Vec<EmbeddedSchema>,
        options: &StructuralTagOptions,
    ) -> Result<Vec<WithWarnings>, CompileError> {
        let mut compiler = self.tag_compiler(options, schemas.iter().map(|schema| schema.key().len()).sum());
        let largest = schemas.iter().max_by_key(|schema| schema.key().len());
        let place = largest.map_or("", EmbeddedSchema::pointer);
        compiler.schema_work = compiler.schema_work.at(place);
        let known = |schema: &EmbeddedSchema| {
            let part = self.cache.get(compiler.key(schema)?)?.part()?.schema()?;
            Some(compiler.pay_for_schema(&part).map(|()| with_warnings(schema, part)))
        };
        let known = schemas.iter().map(|schema| known(schema).transpose());
        let mut programs: Vec<Option<WithWarnings>> = known.collect::<Result<_, _>>()?;
        // Known ones are found first, on this thread: a look-up is faster than to hand it to another.
        let (places, missing): (Vec<usize>, Vec<EmbeddedSchema>) =
            schemas.into_iter().enumerate().filter(|(place, _)| programs[*place].is_none()).unzip();
        let made = try_parallel_map(self.threads(), missing, MIN_ITEMS_PER_THREAD, move |schema| {
            compiler.check()?;
            let part = compiler.schema(schema)?;
            compiler.pay_for_schema(&part)?;
            Ok::<_, CompileError>(with_warnings(schema, part))
        })?;
        for (place, made) in places.into_iter().zip(made) {
            programs[place] = Some(made);
        }
        Ok(programs.into_iter().flatten().collect())
    }

    /// `bytes` are those of all schemas.
    fn tag_compiler(&self, options: &StructuralTagOptions, bytes: usize) -> TagCompiler<B> {
        let now = options.clone().json_schema(self.interrupted_by(&options.json_schema).into_owned());
        // A deferred grammar is written when a text reaches it, long after the call that could have been
        // interrupted.
        let later = options.clone().json_schema(options.json_schema.clone().interrupt(Interrupt::never()));
        let automata = self.automata_under_interrupt();
        let CompileOptions { text, max_states, .. } = automata;
        let text = text.max_total_steps(text.max_total_steps / 8);
        TagCompiler {
            automata_of_tag: automata.clone().text(text).max_states(max_states / 4),
            options_key: holds_no_functions(&options.json_schema)
                .then(|| self.options_keys().schemas.get(&options.json_schema)),
            options: now,
            options_later: Arc::new(later),
            automata,
            resolver: self.resolver(),
            cache: Arc::clone(&self.cache),
            interrupt: self.interrupt().clone(),
            schema_work: SharedWork::new(&options.json_schema.limits, bytes),
            text_steps: AtomicUsize::new(0),
            states: AtomicUsize::new(0),
            edges: AtomicUsize::new(0),
            own_steps: AtomicUsize::new(0),
            own_states: AtomicUsize::new(0),
        }
    }

    /// Compiles the answers of a model of a family to a request: text, reasoning and tool calls.
    ///
    /// # Errors
    ///
    /// Fails if the family cannot do what the request asks for, or if a schema is refused; with the JSON
    /// pointer into the request.
    #[cfg(feature = "tool-formats")]
    pub fn tools(
        &self,
        format: ToolFormat,
        request: &ToolRequest,
        options: &StructuralTagOptions,
    ) -> Result<CompiledGrammar<B>, CompileError> {
        self.tag(&format.structure(request)?, options)
    }
}

/// Automata, and what the reader of the schema has to say, with places in the document.
type WithWarnings = (Arc<DeferredProgram>, Vec<String>);

fn with_warnings(schema: &EmbeddedSchema, part: SchemaPart) -> WithWarnings {
    let warnings = part.report.as_ref().map_or(Vec::new(), |report| schema.warnings(report).collect());
    (part.program, warnings)
}

/// Compiles the parts of a structural tag, on any thread.
struct TagCompiler<B: BuildBackend> {
    /// The key of the options for schemas, where compiled schemas may be kept.
    options_key: Option<Arc<str>>,
    options: StructuralTagOptions,
    /// For compilations after the caller that could interrupt them is gone.
    options_later: Arc<StructuralTagOptions>,
    automata: CompileOptions,
    /// The same for what a tag holds beside its schemas, with a part of the limits: past that the general way begins anew.
    automata_of_tag: CompileOptions,
    resolver: TokenResolver,
    cache: Arc<SourceCache<B>>,
    interrupt: Interrupt,
    schema_work: SharedWork,
    text_steps: AtomicUsize,
    /// The size of all schemas, where each is a part of the whole.
    states: AtomicUsize,
    edges: AtomicUsize,
    /// Those of tags beside their schemas, and the states that were written for them.
    own_steps: AtomicUsize,
    own_states: AtomicUsize,
}

/// Adds to a total; how much it is then.
fn add(total: &AtomicUsize, part: usize) -> usize {
    total.fetch_add(part, Ordering::Relaxed).saturating_add(part)
}

impl<B: BuildBackend> TagCompiler<B> {
    /// Adds the cost of a part to that of the others: one source may cost no more in many parts than in one.
    fn pay(&self, PartCost { schemas, text_steps }: PartCost) -> Result<(), CompileError> {
        self.schema_work.take(schemas, 0).map_err(|error| Diagnostics::from(*error))?;
        Ok(self.automata.text.check_total(add(&self.text_steps, text_steps))?)
    }

    /// The same for a schema that is a part of the whole. Linking would find later that all are too large, when
    /// all are held in memory.
    fn pay_for_schema(&self, part: &SchemaPart) -> Result<(), CompileError> {
        self.pay(part.cost)?;
        let PartSize { states, edges } = part.program.size();
        let all = PartSize { states: add(&self.states, states), edges: add(&self.edges, edges) };
        Ok(self.automata.check_parts(all)?)
    }

    /// The same for a tag. `None` where all are expensive together: the document goes the general way then, whichever of
    /// them were known.
    fn pay_for_tag(&self, tag: &CompiledTag) -> Option<()> {
        self.pay(tag.cost).ok()?;
        let BuildCost { text_steps, states, .. } = tag.own;
        let (steps, states) = (add(&self.own_steps, text_steps), add(&self.own_states, states));
        let most = &self.automata_of_tag;
        (steps <= most.text.max_total_steps && states <= most.max_states).then_some(())
    }

    /// Whether another part may be compiled.
    fn check(&self) -> Result<(), CompileError> {
        self.interrupt.check()?;
        self.pay(PartCost::default())
    }

    fn key<'k>(&'k self, schema: &'k EmbeddedSchema) -> Option<SourceKey<'k>> {
        Some(SourceKey { kind: EntryKind::Schema, parts: ["", self.options_key.as_deref()?, schema.key()] })
    }

    /// The automata of a schema, if they are not cached. Whatever is wrong with it is found now, while they are made
    /// when a text comes to them.
    fn schema(&self, schema: &EmbeddedSchema) -> Result<SchemaPart, CompileError> {
        let compile = || -> Result<SchemaPart, CompileError> {
            if let Some(deferred) = self.deferred_from_estimate(schema) {
                // Such a schema has no keywords that could be ignored.
                let program = Arc::new(deferred);
                return Ok(SchemaPart { program, report: None, cost: PartCost::default() });
            }
            let Compiled { grammar, report, work, .. } = schema.compile(&self.options)?;
            let grammar = self.resolver.resolve_owned(grammar)?;
            let program = Arc::new(DeferredProgram::new(grammar, &self.automata)?);
            let report = (!report.entries().is_empty()).then(|| Arc::new(report));
            let BuildCost { text_steps, states, .. } = program.cost();
            let schemas = work.saturating_add(states.saturating_mul(WORK_PER_STATE));
            let cost = PartCost { schemas, text_steps };
            Ok(SchemaPart { program, report, cost })
        };
        let Some(key) = self.key(schema) else { return compile() };
        let compile = || Ok(Kept::Part(TagPart::Schema(compile()?)));
        let (cache, interrupt) = (&self.cache, &self.interrupt);
        let kept: Kept<_> =
            cache.get_or_compile_key_until::<CompileError>(key, interrupt, Kept::memory_usage, compile)?;
        kept.part().and_then(TagPart::schema).ok_or_else(CompileError::no_outcome)
    }

    /// The automata of a schema without errors and warnings, which have places in the whole document.
    fn silent_schema(&self, schema: &EmbeddedSchema, cost: &mut PartCost) -> Option<Arc<DeferredProgram>> {
        let part = self.schema(schema).ok()?;
        cost.schemas = cost.schemas.saturating_add(part.cost.schemas);
        cost.text_steps = cost.text_steps.saturating_add(part.cost.text_steps);
        part.report.is_none().then_some(part.program)
    }

    /// The automata of a schema without errors whose grammar can also be deferred.
    fn deferred_from_estimate(&self, schema: &EmbeddedSchema) -> Option<DeferredProgram> {
        let SimpleSchema { states, characters, .. } = schema.simple_schema(&self.options)?;
        // Grammars of schemas name no tokens.
        let (schema, options) = (schema.clone(), Arc::clone(&self.options_later));
        let write = move || Some(schema.compile(&options).ok()?.grammar);
        DeferredProgram::from_estimate(&SizeEstimate { states, characters }, write, &self.automata)
    }

    /// A tag, ready to be put into a template. `None` where it is not plain, or something is wrong with it.
    fn tag(&self, text: &str, template: &CompiledTemplate) -> Option<CompiledTag> {
        let TagArm { begin, content, end, .. } = TagArm::new(text, &template.extent, &self.options)?;
        if let (TagExtent::AfterWrittenTrigger(trigger), TagText::Text(begin)) = (&template.extent, &begin)
            // The trigger is written before the tag, so no special token may lie across the border between
            // the two.
            && !self.resolver.can_split(trigger, begin)?
        {
            return None;
        }
        let (begin, end) = (self.resolver.text(&begin)?, self.resolver.text(&end)?);
        let (mut cost, mut own) = (PartCost::default(), BuildCost::default());
        let (content, schemas) = match content {
            TagContent::Schema(schema) => (self.silent_schema(&schema, &mut cost)?, 1),
            TagContent::Grammar(rest) => {
                cost.schemas = rest.work;
                let programs = rest.schemas.iter().map(|schema| self.silent_schema(schema, &mut cost));
                let programs: Vec<Arc<DeferredProgram>> = programs.collect::<Option<_>>()?;
                let grammar = self.resolver.resolve(&rest.grammar).ok()?;
                // Sub-programs have no sub-programs of their own, so those of a tag's content are copied into
                // the tag's program.
                let whole: Vec<_> =
                    programs.iter().map(|program| program.program()).collect::<Result<_, _>>().ok()?;
                let parts = rest.schemas.iter().zip(whole);
                let parts: Vec<LinkedProgram<'_>> =
                    parts.map(|(schema, program)| LinkedProgram::copied(schema.rule(), program)).collect();
                let program = grammask_fsm::compile_with(&grammar, &self.automata_of_tag, &parts).ok()?;
                let program = DeferredProgram::from(Arc::new(program));
                own = program.cost();
                cost.text_steps = cost.text_steps.saturating_add(own.text_steps);
                (Arc::new(program), programs.len() as u64)
            }
        };
        let bytes = content.memory_usage();
        let arm = TemplateArm::new(&begin, content, &end)?;
        Some(CompiledTag {
            len: text.len(),
            context: Arc::clone(&template.context),
            arm,
            schemas,
            bytes,
            cost,
            own,
        })
    }
}
