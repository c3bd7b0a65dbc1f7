//! The only module that knows the `grammask` crate: vocabularies, compiled structures, and cursors that follow
//! one text.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail};
pub(crate) use grammask::JsonValue;
use grammask::ebnf::{self, EbnfOptions};
use grammask::fsm::picture::{self, Scope};
use grammask::fsm::{self, AutomataError, Cause, CompileOptions};
use grammask::gbnf;
use grammask::json_schema::{self, JsonSchemaOptions, Objects, Whitespace};
use grammask::lark::{self, LarkOptions};
use grammask::regex::{self, RegexOptions};
use grammask::structural_tag::MemberOrder;
use grammask::tool_formats::Reasoning;
use grammask::vocabularies::{self, Encoding};
use grammask::{
    BuildBackend, CaptureEnds, Color, CompileError, CompiledGrammar, Compiler, Diagnostics, Grammar, Limits,
    MatchError, Matcher, StepError, StoreDirectory, StructuralTag, StructuralTagOptions, ToolFormat,
    ToolRequest, VocabularyOptions, pda,
};
pub(crate) use grammask::{Capture, TokenId, TokenKind, TokenMask};

use crate::arguments::{
    self, Backend, EngineArguments, Escapes, KeyOrder, Numbers, SchemaArguments, Spelling, StructureText,
    Syntax, VocabularyArguments,
};
use crate::escape::{shortened, visible};
use crate::progress;
use crate::style;

/// A limit on work or memory was reached: nothing is known.
#[derive(Debug, Clone)]
pub(crate) struct Indeterminate {
    message: String,
}

impl std::fmt::Display for Indeterminate {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for Indeterminate {}

/// A structure whose text is at fault, with its findings shown in the text.
#[derive(Debug)]
pub(crate) struct Rejected {
    /// With the lines of the source, in colour.
    pub(crate) rendered: String,
    /// The findings for other programs.
    pub(crate) findings: JsonValue,
    is_limit: bool,
    is_missing_token: bool,
    message: String,
}

impl std::fmt::Display for Rejected {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for Rejected {}

/// Whether a limit was reached, so that nothing can be said of the structure or the text.
pub(crate) fn is_limit(error: &anyhow::Error) -> bool {
    error.is::<Indeterminate>()
        || error.downcast_ref::<Rejected>().is_some_and(|error| error.is_limit)
        || error.downcast_ref::<CompileError>().is_some_and(CompileError::is_limit)
        || error.downcast_ref::<AutomataError>().is_some_and(|error| error.cause() == Cause::LimitReached)
}

/// Whether a structure names a token that the vocabulary does not have.
pub(crate) fn is_missing_token(error: &anyhow::Error) -> bool {
    error.downcast_ref::<Rejected>().is_some_and(|error| error.is_missing_token)
        || error.downcast_ref::<CompileError>().is_some_and(|error| error.code() == MISSING_TOKEN)
}

const MISSING_TOKEN: &str = "grammar/token";

/// A vocabulary and what it is called.
pub(crate) struct Vocabulary {
    inner: Arc<grammask::Vocabulary>,
    name: String,
}

impl Vocabulary {
    /// The vocabulary that the arguments name.
    pub(crate) fn load(arguments: &VocabularyArguments) -> Result<Self> {
        let Some(file) = &arguments.tokenizer else {
            let load = || Ok(grammask::Vocabulary::o200k_harmony()?);
            let inner = progress::spin("loading the embedded vocabulary", load)?;
            return Ok(Self { inner, name: "o200k_harmony (embedded)".to_owned() });
        };
        let name = file.display().to_string();
        let load = || {
            // A rank file has no special tokens, and says by its name of whose encoding it is.
            let special = Encoding::of_file(file).map(Encoding::special_tokens).unwrap_or_default();
            let options = VocabularyOptions::default().special_tokens(special);
            // A pipe can be read once.
            let whole = match std::fs::metadata(file).is_ok_and(|about| !about.is_file()) {
                true => Some(arguments::read_bytes(&name)?),
                false => None,
            };
            let read = |options: &VocabularyOptions| {
                let loaded = match &whole {
                    Some(bytes) => vocabularies::load(&**bytes, options),
                    None => {
                        let file = File::open(file).with_context(|| format!("cannot read `{name}`"))?;
                        vocabularies::load(file, options)
                    }
                };
                loaded.map_err(|error| anyhow!("cannot use `{name}`: {error}"))
            };
            // The program ends complete texts itself, so that a tokenizer without a stop token serves as well.
            let without_stop = || read(&options.clone().stop_ids([]));
            read(&options).or_else(|error| without_stop().map_err(|_| error))
        };
        let inner = Arc::new(progress::spin(format!("loading {}", visible(&name, false)), load)?);
        Ok(Self { inner, name })
    }

    /// A token for each byte and one for the end: for commands whose answers do not depend on a vocabulary.
    pub(crate) fn of_bytes() -> Result<Self> {
        let tokens = (0..=255_u8).map(|byte| Some([byte])).chain([None]);
        let inner = grammask::Vocabulary::from_tokens(tokens, &VocabularyOptions::default().stop_ids([256]))?;
        Ok(Self { inner: Arc::new(inner), name: "bytes".to_owned() })
    }

    /// The text tokens alone, so that marks that are special tokens are spelled out.
    pub(crate) fn of_text(&self) -> Result<Self> {
        let text = |id| match self.kind(id) {
            TokenKind::Text => Some(self.bytes(id)),
            _ => None,
        };
        let tokens = self.ids().map(text).chain([None]);
        let stop = u32::try_from(self.len()).context("the vocabulary is too large")?;
        let inner =
            grammask::Vocabulary::from_tokens(tokens, &VocabularyOptions::default().stop_ids([stop]))?;
        Ok(Self { inner: Arc::new(inner), name: self.name.clone() })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn len(&self) -> usize {
        self.inner.len()
    }

    /// All ids.
    pub(crate) fn ids(&self) -> impl Iterator<Item = TokenId> {
        (0..).map_while(|number| self.inner.id(number))
    }

    pub(crate) fn id(&self, number: u32) -> Option<TokenId> {
        self.inner.id(number)
    }

    pub(crate) fn kind(&self, id: TokenId) -> TokenKind {
        self.inner.kind(id)
    }

    /// The bytes of a text token; nothing for other ids.
    pub(crate) fn bytes(&self, id: TokenId) -> &[u8] {
        self.inner.token_bytes(id)
    }

    /// The label of a token: the bytes of a text token, the name of a special one.
    pub(crate) fn label(&self, id: TokenId) -> &[u8] {
        match self.inner.special_name(id) {
            Some(name) => name,
            None => self.inner.token_bytes(id),
        }
    }

    pub(crate) fn stop_tokens(&self) -> &[TokenId] {
        self.inner.stop_tokens()
    }

    /// The bytes that no token spells.
    pub(crate) fn missing_bytes(&self) -> &[u8] {
        self.inner.missing_bytes()
    }

    /// The token that spells the most of the beginning of `bytes`.
    ///
    /// Masks are exact: where `bytes` may follow, so may every token that spells a beginning of them.
    pub(crate) fn longest(&self, bytes: &[u8]) -> Option<TokenId> {
        let most = self.inner.max_token_len().min(bytes.len());
        (1..=most).rev().find_map(|length| self.inner.text_token(&bytes[..length]))
    }
}

/// Twice as many as for a server, because there is one structure. A deep nesting fills half of the tables and is read anew
/// each time that they are full.
const TABLE_BYTES: usize = 96 << 20;

/// A structure that was compiled for a vocabulary.
pub(crate) struct Structure {
    compiled: Box<dyn Begin>,
}

impl Structure {
    pub(crate) fn compile(
        text: &StructureText,
        schema: &SchemaArguments,
        engine: &EngineArguments,
        vocabulary: &Vocabulary,
    ) -> Result<Self> {
        // Tables may hold a sixteenth of the whole budget.
        let limits = Limits::default().max_table_bytes(TABLE_BYTES).max_total_bytes(16 * TABLE_BYTES);
        let compiler = Compiler::builder(Arc::clone(&vocabulary.inner)).limits(limits);
        let compiled = match engine.backend {
            Backend::Earley => compile(text, schema, engine, &compiler.build())?,
            Backend::Pda => compile(text, schema, engine, &compiler.backend::<pda::Engine>().build())?,
        };
        Ok(Self { compiled })
    }

    /// The structure of a model family's answers to a request, compiled.
    pub(crate) fn of_tag(
        tag: &StructuralTag,
        request: &StructureText,
        vocabulary: &Vocabulary,
    ) -> Result<Self> {
        let grammar = tag.grammar(&StructuralTagOptions::default());
        let grammar = grammar.map_err(|error| reject(request, &error))?;
        let compiled = Compiler::new(Arc::clone(&vocabulary.inner)).grammar(&grammar)?;
        Ok(Self { compiled: Box::new(compiled) })
    }

    /// Whether its texts hold tokens that the structure names.
    pub(crate) fn names_tokens(&self) -> bool {
        self.compiled.names_tokens()
    }

    /// The beginning of a text.
    pub(crate) fn cursor(&self) -> Box<dyn Cursor> {
        self.compiled.cursor()
    }
}

/// Compiles a structure, or takes it from the directory where it was kept.
fn compile<B: BuildBackend>(
    text: &StructureText,
    schema: &SchemaArguments,
    engine: &EngineArguments,
    compiler: &Compiler<B>,
) -> Result<Box<dyn Begin>> {
    let compile = || {
        let compiled = match text.syntax {
            // Schemas have limits that grow with their text.
            Syntax::JsonSchema => compiler.json_schema(&text.text, &schema_options(schema)),
            // Not by way of its grammar: marks that spell special tokens of the vocabulary stand for those.
            Syntax::StructuralTag => compiler.structural_tag(&text.text, &tag_options(schema)),
            _ => {
                let (grammar, warnings) = read(text, schema)?;
                let compiled = compiler.grammar(&grammar).map(|compiled| compiled.with_warnings(warnings));
                compiled.map_err(|error| error.located(&text.text, &grammar))
            }
        };
        compiled.map_err(|error| match error.diagnostics() {
            Some(diagnostics) => reject(text, diagnostics).into(),
            None => anyhow!(error).context(format!(
                "the {} in {} cannot be used",
                text.syntax.name(),
                text.origin
            )),
        })
    };
    let compiled = match &engine.cache {
        Some(path) => kept_in(path, text, schema, compiler, compile)?,
        None => compile()?,
    };
    compiled.warnings().iter().for_each(|message| warn(message));
    Ok(Box::new(compiled))
}

/// The grammar of a structure that is kept in a directory, or compiled and kept there.
fn kept_in<B: BuildBackend>(
    path: &Path,
    text: &StructureText,
    schema: &SchemaArguments,
    compiler: &Compiler<B>,
    compile: impl FnOnce() -> Result<CompiledGrammar<B>>,
) -> Result<CompiledGrammar<B>> {
    let directory = StoreDirectory::open(path, MAX_CACHE_BYTES)
        .with_context(|| format!("cannot use `{}` as a cache", path.display()))?;
    // All that the automata depend on: the options are spelled out by what prints them.
    let (version, syntax, options) = (env!("CARGO_PKG_VERSION"), text.syntax, schema_options(schema));
    let key = format!("grammask {version} {syntax:?} {options:?}\n{}", text.text);
    let compiled = directory.get_or_try(compiler, &key, compile)?;
    if let Some(error) = directory.last_error() {
        warn(&format!("the cache was of no use: {error}"));
    }
    Ok(compiled)
}

fn warn(message: &str) {
    let warning = style::WARNING;
    anstream::eprintln!("{warning}warning{warning:#}: {}", visible(message, true));
}

/// Bytes that the files in a cache may have together.
const MAX_CACHE_BYTES: u64 = 256 << 20;

/// A compiled grammar over any backend.
trait Begin {
    fn cursor(&self) -> Box<dyn Cursor>;

    fn names_tokens(&self) -> bool;
}

impl<B: grammask::Backend> Begin for CompiledGrammar<B> {
    fn cursor(&self) -> Box<dyn Cursor> {
        Box::new(Follower { matcher: self.matcher(), mask: TokenMask::new(self.vocabulary().len()) })
    }

    fn names_tokens(&self) -> bool {
        self.program().is_some_and(|program| !program.labels().is_empty())
    }
}

/// The structure of a model family's answers to a request.
pub(crate) fn tool_tag(
    model: &str,
    request: &StructureText,
    reasoning: arguments::Reasoning,
    key_order: arguments::ArgumentOrder,
) -> Result<StructuralTag> {
    let format = ToolFormat::named(model)
        .map_err(|error| anyhow!("{}", error.to_string().trim_start_matches("error: ")))?;
    let read = tool_request(request)?;
    let read = read.reasoning(match reasoning {
        arguments::Reasoning::Enabled => Reasoning::Enabled,
        arguments::Reasoning::Disabled => Reasoning::Disabled,
        arguments::Reasoning::Auto => Reasoning::Auto,
        arguments::Reasoning::Empty => Reasoning::Empty,
    });
    let read = read.member_order(match key_order {
        arguments::ArgumentOrder::Declared => MemberOrder::Declared,
        arguments::ArgumentOrder::Any => MemberOrder::Any,
    });
    Ok(format.structure(&read).map_err(|error| reject(request, &error))?)
}

/// Reads a request with tools.
pub(crate) fn tool_request(request: &StructureText) -> Result<ToolRequest> {
    Ok(ToolRequest::parse(&request.text).map_err(|error| reject(request, &error))?)
}

/// Name, other names and models of every family.
pub(crate) fn model_families() -> Vec<[String; 3]> {
    let row = |format: ToolFormat| [format.name().into(), format.aliases().join(" "), format.models().into()];
    ToolFormat::all().map(row).collect()
}

/// Reads a structure without compiling it.
pub(crate) fn parse(text: &StructureText, schema: &SchemaArguments) -> Result<Grammar> {
    let (grammar, warnings) = read(text, schema)?;
    warnings.iter().for_each(|message| warn(message));
    Ok(grammar)
}

/// As [`parse`], with the warnings, which are not shown.
fn read(text: &StructureText, schema: &SchemaArguments) -> Result<(Grammar, Vec<String>)> {
    let alone = |grammar| (grammar, Vec::new());
    let source = text.text.as_str();
    let parsed = match text.syntax {
        Syntax::JsonSchema => {
            let compiled = json_schema::compile_with_warnings(source, &schema_options(schema));
            compiled.map(|compiled| (compiled.grammar, compiled.report.warnings().collect()))
        }
        Syntax::Ebnf => ebnf::parse(source, &EbnfOptions::default()).map(alone),
        Syntax::Gbnf => gbnf::parse(source, &EbnfOptions::default()).map(alone),
        Syntax::Lark => lark::parse_with_warnings(source, &LarkOptions::default()),
        Syntax::Regex => regex::parse(source, &RegexOptions::default()).map(alone),
        Syntax::StructuralTag => {
            let options = tag_options(schema);
            StructuralTag::parse(source, &options).and_then(|tag| tag.grammar_with_warnings(&options))
        }
        Syntax::Tools => bail!("requests with tools need a model family; use `grammask tools`"),
    };
    Ok(parsed.map_err(|diagnostics| reject(text, &diagnostics))?)
}

/// How structural tags are read: objects in them that declare members allow no others.
fn tag_options(arguments: &SchemaArguments) -> StructuralTagOptions {
    StructuralTagOptions::default().json_schema(schema_options(arguments).objects(Objects::Closed))
}

/// The treatment of every keyword of a schema: pointer, keyword, treatment and note. The second part says whether the schema
/// is refused for one of them.
pub(crate) fn schema_report(
    text: &StructureText,
    schema: &SchemaArguments,
) -> Result<(Vec<[String; 4]>, bool, JsonValue)> {
    let report = json_schema::report(&text.text, &schema_options(schema));
    let report = report.map_err(|diagnostics| reject(text, &diagnostics))?;
    let row = |entry: &json_schema::ReportEntry| {
        let json_schema::ReportEntry { pointer, keyword, treatment, note } = entry;
        [pointer.clone(), keyword.clone(), treatment.name().to_owned(), note.clone().unwrap_or_default()]
    };
    let is_refused = report.with_treatment(json_schema::Treatment::Refused).next().is_some();
    Ok((report.entries().iter().map(row).collect(), is_refused, report.to_json()))
}

fn schema_options(arguments: &SchemaArguments) -> JsonSchemaOptions {
    let mut options = JsonSchemaOptions::default().around_root(arguments.around_root);
    options = options.spelling(match arguments.spelling {
        Spelling::Printed => json_schema::Spelling::Printed,
        Spelling::Any => json_schema::Spelling::Any,
        Spelling::Compact => json_schema::Spelling::Compact,
        Spelling::Canonical => json_schema::Spelling::Canonical,
    });
    if arguments.compact {
        options = options.whitespace(Whitespace::Compact);
    }
    if arguments.closed {
        options = options.objects(Objects::Closed);
    }
    if let Some(escapes) = arguments.escapes {
        options = options.escapes(match escapes {
            Escapes::Printed => json_schema::Escapes::Printed,
            Escapes::Any => json_schema::Escapes::Any,
            Escapes::Needed => json_schema::Escapes::Needed,
            Escapes::Ascii => json_schema::Escapes::Ascii,
        });
    }
    if let Some(numbers) = arguments.numbers {
        options = options.numbers(match numbers {
            Numbers::Printed => json_schema::Numbers::PRINTED,
            Numbers::Any => json_schema::Numbers::Any,
            Numbers::Canonical => json_schema::Numbers::Canonical,
        });
    }
    if let json_schema::Numbers::Printed { .. } = options.numbers {
        options = options.numbers(json_schema::Numbers::Printed { max_digits: arguments.max_digits });
    }
    options.key_order(match arguments.key_order {
        KeyOrder::Declared => json_schema::KeyOrder::Declared,
        KeyOrder::RequiredFirst => json_schema::KeyOrder::RequiredFirst,
        KeyOrder::Any => json_schema::KeyOrder::Any,
    })
}

fn reject(text: &StructureText, diagnostics: &Diagnostics) -> Rejected {
    Rejected {
        // Colours are dropped again where standard error is no terminal.
        rendered: diagnostics.render(&text.text, &text.origin, Color::Always),
        findings: diagnostics.to_json(),
        is_limit: diagnostics.iter().any(|one| one.code().ends_with("/limit")),
        is_missing_token: diagnostics.iter().any(|one| one.code() == MISSING_TOKEN),
        message: diagnostics.to_string(),
    }
}

/// A grammar as EBNF that reads back as the same grammar.
pub(crate) fn to_ebnf(grammar: &Grammar) -> String {
    grammar.to_string()
}

pub(crate) fn rule_names(grammar: &Grammar) -> Vec<&str> {
    grammar.rule_ids().map(|rule| grammar.rule(rule).name()).collect()
}

/// Characters of names in a message.
const MAX_LISTED: usize = 400;

/// The automata of a grammar, drawn: those of all rules, or that of one.
pub(crate) fn draw(grammar: &Grammar, rule: Option<&str>, form: Drawing) -> Result<String> {
    let program = fsm::compile(grammar, &CompileOptions::default())?;
    let scope = match rule {
        None => Scope::Program,
        Some(name) => match program.fragments_with_ids().find(|(_, fragment)| &*fragment.name == name) {
            Some((fragment, _)) => Scope::Fragment(fragment),
            None => {
                let names: Vec<&str> = program.fragments().map(|fragment| &*fragment.name).collect();
                bail!(
                    "no automaton is called `{}` (small rules are written into those that use them); \
                         there are: {}",
                    shortened(name, MAX_LISTED),
                    shortened(&names.join(", "), MAX_LISTED)
                );
            }
        },
    };
    Ok(match form {
        Drawing::Dot => picture::dot(&program, scope),
        Drawing::Svg => picture::svg(&program, scope)?,
    })
}

/// The form of a drawing.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Drawing {
    Svg,
    /// Graphviz
    Dot,
}

/// A place in one text, over any backend.
pub(crate) trait Cursor {
    /// The tokens that may come next.
    fn allowed(&mut self) -> Result<&TokenMask>;

    fn accept(&mut self, token: TokenId) -> Result<()>;

    /// Reads bytes as far as they are allowed, and says how many those are.
    fn read(&mut self, bytes: &[u8]) -> Result<usize>;

    /// The text that must come next, whatever token is chosen.
    fn forced(&mut self) -> Result<Vec<u8>>;

    /// The shortest text that ends the structure here.
    fn shortest_ending(&mut self) -> Result<Vec<u8>>;

    fn is_complete(&self) -> bool;

    /// The bytes that may come next, bit `b % 64` of word `b / 64`.
    fn next_bytes(&self) -> [u64; 4];

    /// The texts that rules with a name have read.
    fn captures(&mut self) -> Result<Vec<Capture>>;
}

/// A matcher with room for its mask.
struct Follower<B: grammask::Backend> {
    matcher: Matcher<B>,
    mask: TokenMask,
}

/// Bytes are read in pieces of this size, so that a long text is not one call with one call's limit.
const PIECE: usize = 16 << 10;
/// Endings are looked for up to this length.
const LONGEST_ENDING: usize = 1 << 20;

impl<B: grammask::Backend> Cursor for Follower<B> {
    fn allowed(&mut self) -> Result<&TokenMask> {
        self.matcher.fill_mask(&mut self.mask).map_err(explain)?;
        Ok(&self.mask)
    }

    fn accept(&mut self, token: TokenId) -> Result<()> {
        self.matcher.accept_token(token).map_err(explain)
    }

    fn read(&mut self, bytes: &[u8]) -> Result<usize> {
        let mut read = 0;
        for piece in bytes.chunks(PIECE) {
            match self.matcher.accept_bytes(piece) {
                Ok(()) => read += piece.len(),
                Err(MatchError::ByteRefused { offset, .. }) => {
                    self.matcher.accept_bytes(&piece[..offset]).map_err(explain)?;
                    return Ok(read + offset);
                }
                Err(error) => return Err(explain(error)),
            }
        }
        Ok(read)
    }

    fn forced(&mut self) -> Result<Vec<u8>> {
        self.matcher.jump_forward().map_err(explain)
    }

    fn shortest_ending(&mut self) -> Result<Vec<u8>> {
        match self.matcher.shortest_ending(LONGEST_ENDING).map_err(explain)? {
            Some(ending) => Ok(ending),
            None => bail!(
                "no text of at most {LONGEST_ENDING} bytes ends what was written, or a token that spells no text has to follow; raise `--max-tokens`"
            ),
        }
    }

    fn is_complete(&self) -> bool {
        self.matcher.is_completed()
    }

    fn next_bytes(&self) -> [u64; 4] {
        self.matcher.next_bytes().words()
    }

    fn captures(&mut self) -> Result<Vec<Capture>> {
        self.matcher.captures(CaptureEnds::Longest).map_err(explain)
    }
}

fn is_step_limit(error: &StepError) -> bool {
    !matches!(error, StepError::Unspellable { .. } | StepError::NoStopToken)
}

fn explain(error: MatchError) -> anyhow::Error {
    match error {
        MatchError::Limit(limit) if is_step_limit(&limit) => {
            Indeterminate { message: limit.to_string() }.into()
        }
        other => other.into(),
    }
}
