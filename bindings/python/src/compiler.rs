//! `GrammarCompiler`: from a structure to a compiled grammar, remembered by content.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use grammask::tuning::{Clock, CompileOptions, MaskOptions};
use grammask::{
    BudgetCache, CompileCache, Compiler, EbnfOptions, Interrupt, Limits, StoreDirectory, Threads, earley, pda,
};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple, PyType};

use crate::arguments::{dict_of, ebnf_options, json_options, method_arguments, regex_options, schema_text};
use crate::background::{begin, finish};
use crate::budget::Budget;
use crate::compiled::CompiledGrammar;
use crate::engines::{Either, Engine, each};
use crate::errors::{Syntax, of_file, raise};
use crate::forks::detach;
use crate::grammar::{Grammar, lark_arguments, read_lark, structural_tag_arguments};
use crate::interrupt::given;
use crate::json::loads;
use crate::kept::{Kept, Shelf};
use crate::metrics::COMPILE;
use crate::settings::{Settings, set_fields};
use crate::signals::interruptible;
use crate::source::{LazyGrammar, Source};
use crate::subclass::{announce, filling, is_to_be_empty};
use crate::tokenizer::{TokenizerInfo, tokenizer_argument};

/// Compiles grammars for one tokenizer. Any number of threads may use one at once; compiling gives up the
/// interpreter's lock.
///
/// Every `compile_*` method takes `interrupt`, an `Interrupt` that stops it. Its `limits` is a dict of bounds on the source,
/// which the method of the same name of `Grammar` lists. Its twin whose name ends in `_async` compiles on the threads of the
/// compiler, and returns a `CompileFuture`.
///
/// Parameters
/// ----------
/// tokenizer_info : TokenizerInfo
/// max_threads : int
///     Most threads of the `compile_*_async` methods. One grammar compiles on one thread.
/// cache_enabled : bool
///     Whether compiled grammars are kept under their content (source and options).
/// cache_limit_bytes : int
///     Most bytes kept, or -1 for any number. The grammar that was not used for longest goes first.
/// cache_dir : str or path, optional
///     A directory for compiled grammars, which the next process finds there. Files that are damaged or
///     of another version or tokenizer are compiled anew. Only those who may change the program should be able to
///     write there. `save_cache` also keeps the masks that grammars share.
/// cache_dir_limit_bytes : int
///     Most bytes in the directory. The file that was not used for longest goes first.
/// limits : dict, optional
///     Bounds on memory and work. Those of one grammar are `max_table_bytes` and `max_mask_bytes`. Those of all are
///     `max_pool_bytes`, `max_total_bytes` and `max_cache_bytes`. A call that reaches `max_items_per_set`,
///     `max_distinct_bytes` or `max_work_per_call` raises `IndeterminateError`. A unit of work takes about 50 ns.
/// budget : Budget, optional
///     Bytes for tables and masks, shared with other compilers, in place of `max_total_bytes`.
/// backend : str
///     The parser below the masks: `"earley"`, or `"pda"`, which refuses left recursion.
///     Masks do not depend on it.
/// automata, masks : dict, optional
///     The passes on automata and the ways to a mask, for measuring. Their keys are the fields of Rust's
///     `CompileOptions` and `MaskOptions`. Masks do not depend on them.
#[pyclass(frozen, subclass, module = "grammask", weakref, dict)]
pub(crate) struct GrammarCompiler {
    /// Empty until [`__init__`](Self::__init__) of the base class, if a subclass has an own one.
    content: OnceLock<Arc<CompilerContent>>,
}

struct CompilerContent {
    workshop: Either<Workshop<earley::Engine>, Workshop<pda::Engine>>,
    tokenizer: Py<TokenizerInfo>,
    cache_limit_bytes: i64,
    /// The keyword arguments that it was made with.
    settings: Py<PyDict>,
}

/// A compiler and what it keeps, which is shared with the threads that compile in the background.
struct Workshop<B: Engine> {
    compiler: Compiler<B>,
    shelf: Arc<Shelf<B>>,
    /// Number of grammars and tables that were dropped for memory up to the last record in the log.
    evicted: AtomicU64,
}

/// More could only hurt.
const MAX_THREADS: usize = 1024;

impl<B: Engine> Workshop<B> {
    fn compile(
        &self,
        py: Python<'_>,
        tokenizer: &Py<TokenizerInfo>,
        (source, callers): (Source, Interrupt),
    ) -> PyResult<CompiledGrammar> {
        let start = Instant::now();
        let kept = interruptible(py, (source.syntax(), &callers), |interrupt| {
            self.shelf.get(&self.compiler.with_interrupt(interrupt.clone()), source)
        });
        COMPILE.observe(py, start.elapsed())?;
        self.log_evicted(py)?;
        finish(py, kept?, tokenizer)
    }

    /// Says in the log that something was dropped since the last look.
    fn log_evicted(&self, py: Python<'_>) -> PyResult<()> {
        let of_cache = self.shelf.memory.as_ref().map_or(0, CompileCache::evicted);
        let evicted = self.compiler.budget().evicted() + of_cache;
        let before = self.evicted.swap(evicted, Ordering::Relaxed);
        if evicted <= before {
            return Ok(());
        }
        py.import("grammask._support")?.call_method1("log_evicted", (evicted - before,)).map(drop)
    }
}

impl GrammarCompiler {
    fn compile(&self, py: Python<'_>, work: (Source, Interrupt)) -> PyResult<CompiledGrammar> {
        let content = self.content()?;
        each!(&content.workshop, workshop => workshop.compile(py, &content.tokenizer, work))
    }

    fn content(&self) -> PyResult<&CompilerContent> {
        let missing = || PyRuntimeError::new_err("`GrammarCompiler.__init__` was not called");
        self.content.get().map(Arc::as_ref).ok_or_else(missing)
    }

    fn directory(&self) -> PyResult<Option<&StoreDirectory>> {
        Ok(each!(&self.content()?.workshop, workshop => workshop.shelf.directory.as_ref()))
    }

    fn begin<'py>(&self, py: Python<'py>, work: (Source, Interrupt)) -> PyResult<Bound<'py, PyAny>> {
        let CompilerContent { workshop, tokenizer, .. } = self.content()?;
        each!(workshop, workshop => begin(py, (&workshop.compiler, &workshop.shelf), tokenizer, work))
    }
}

fn json_source(
    schema: &Bound<'_, PyAny>,
    given: Option<&Bound<'_, PyDict>>,
) -> PyResult<(Source, Interrupt)> {
    let (options, interrupt) = method_arguments("compile_json_schema", given, json_options)?;
    Ok((Source::Json { text: schema_text(schema)?, options }, interrupt))
}

fn regex_source(pattern: String, given: Option<&Bound<'_, PyDict>>) -> PyResult<(Source, Interrupt)> {
    let (options, interrupt) = method_arguments("compile_regex", given, regex_options)?;
    Ok((Source::Regex { pattern, options }, interrupt))
}

/// The argument `grammar` of `compile_grammar`: a `Grammar`, or EBNF.
fn grammar_source(
    grammar: &Bound<'_, PyAny>,
    given: Option<&Bound<'_, PyDict>>,
) -> PyResult<(Source, Interrupt)> {
    let (options, interrupt) = method_arguments("compile_grammar", given, ebnf_options)?;
    if let Ok(text) = grammar.cast::<PyString>() {
        return Ok((Source::Ebnf { text: text.to_str()?.to_owned(), options }, interrupt));
    }
    let Ok(grammar) = grammar.cast::<Grammar>() else {
        let message = "`grammar` must be a Grammar or its text, not";
        return Err(PyValueError::new_err(format!("{message} {}", grammar.get_type().name()?)));
    };
    Ok((Source::Grammar(Arc::clone(&grammar.get().inner)), interrupt))
}

fn gbnf_source(text: String, given: Option<&Bound<'_, PyDict>>) -> PyResult<(Source, Interrupt)> {
    let (options, interrupt) = method_arguments("compile_gbnf", given, ebnf_options)?;
    Ok((Source::Gbnf { text, options }, interrupt))
}

fn lark_source(
    py: Python<'_>,
    text: String,
    given: Option<&Bound<'_, PyDict>>,
) -> PyResult<(Source, Interrupt)> {
    let (mut options, interrupt) = method_arguments("compile_lark", given, lark_arguments)?;
    if options.named.is_empty() {
        return Ok((Source::Lark { text, options }, interrupt));
    }
    // The values of the names belong to the content, and the resulting grammar contains them.
    let (grammar, _) = interruptible(py, (Syntax::Lark, &interrupt), |interrupt| {
        options.json_schema.interrupt = interrupt.clone();
        read_lark(&text, &options)
    })?;
    Ok((Source::Grammar(Arc::new(grammar)), interrupt))
}

fn tag_source(args: &Bound<'_, PyTuple>, given: Option<&Bound<'_, PyDict>>) -> PyResult<(Source, Interrupt)> {
    let (text, options, interrupt) = structural_tag_arguments(args, given)?;
    Ok((Source::Tag { text, options }, interrupt))
}

fn choices_source(
    choices: &Bound<'_, PyAny>,
    given: Option<&Bound<'_, PyDict>>,
) -> PyResult<(Source, Interrupt)> {
    let ((), interrupt) = method_arguments("compile_choices", given, |_| Ok(()))?;
    let grammar = choices.py().get_type::<Grammar>().call_method1("from_choices", (choices,))?;
    Ok((Source::Grammar(Arc::clone(&grammar.cast::<Grammar>()?.get().inner)), interrupt))
}

/// The settings of a compiler as Rust has them.
struct Parts {
    threads: usize,
    limits: Limits,
    automata: CompileOptions,
    masks: MaskOptions,
    budget: Option<Arc<grammask::Budget>>,
    max_cache_bytes: Option<Option<usize>>,
    directory: Option<StoreDirectory>,
}

impl Parts {
    fn build<B: Engine>(self, py: Python<'_>, tokenizer: &TokenizerInfo) -> Workshop<B> {
        let vocabulary = Arc::clone(&tokenizer.vocabulary);
        let Self { threads, limits, automata, masks, budget, max_cache_bytes, directory } = self;
        let memory = max_cache_bytes.map(CompileCache::new);
        let start = Instant::now();
        // Tables that depend on the vocabulary alone are made now; the first text would wait for them otherwise.
        let compiler = detach(py, || {
            let builder = Compiler::builder(vocabulary).limits(limits).automata(automata).masks(masks);
            let builder = builder.clock(Clock::new(move || start.elapsed()));
            let builder = builder.threads(Arc::new(Threads::new(threads)));
            match budget {
                Some(budget) => builder.budget(budget),
                None => builder,
            }
            .backend::<B>()
            .build()
        });
        if let Some(directory) = &directory {
            py.detach(|| directory.load_pool(&compiler));
        }
        let evicted = AtomicU64::new(compiler.budget().evicted());
        let shelf = Arc::new(Shelf { memory, directory });
        let as_cache: Arc<dyn BudgetCache> = Arc::clone(&shelf) as Arc<dyn BudgetCache>;
        compiler.budget().add_cache(Arc::downgrade(&as_cache));
        Workshop { compiler, shelf, evicted }
    }
}

fn limits(given: &mut Settings<'_>) -> PyResult<Limits> {
    let (mut limits, mut bounds) = (Limits::default(), dict_of(given, "limits")?);
    set_fields!(
        bounds,
        "",
        limits,
        max_table_bytes,
        max_mask_bytes,
        max_pool_bytes,
        max_total_bytes,
        max_cache_bytes,
        max_items_per_set,
        max_distinct_bytes,
        max_work_per_call
    );
    bounds.finish("limits")?;
    Ok(limits)
}

fn automata(given: &mut Settings<'_>) -> PyResult<CompileOptions> {
    let (mut options, mut names) = (CompileOptions::default(), dict_of(given, "automata")?);
    set_fields!(
        names,
        "",
        options,
        literal_tries,
        inlining,
        epsilon_removal,
        prefix_merging,
        suffix_merging,
        shared_rules,
        determinization,
        deferred_programs,
        deferred_min_states,
        inline_states,
        min_joined_rules,
        expand_states,
        determinize_states,
        min_counted_pairs,
        max_states,
        max_edges
    );
    set_fields!(names, "text_", options.text, max_states, max_steps, max_total_steps);
    names.finish("automata")?;
    Ok(options)
}

fn masks(given: &mut Settings<'_>) -> PyResult<MaskOptions> {
    let (mut options, mut names) = (MaskOptions::default(), dict_of(given, "masks")?);
    set_fields!(names, "", options, memo, slices, local_parts, context_expansion, differences, cross_grammar);
    names.finish("masks")?;
    Ok(options)
}

#[pymethods]
impl GrammarCompiler {
    #[new]
    #[classmethod]
    #[pyo3(signature = (tokenizer_info, **options),
           text_signature = "(tokenizer_info, *, max_threads=8, cache_enabled=True, cache_limit_bytes=-1, \
                             cache_dir=None, cache_dir_limit_bytes=1073741824, limits=None, budget=None, \
                             backend='earley', automata=None, masks=None)")]
    fn new(
        class: &Bound<'_, PyType>,
        tokenizer_info: &Bound<'_, PyAny>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        if is_to_be_empty::<Self>(class, tokenizer_info) {
            return Ok(Self { content: OnceLock::new() });
        }
        let py = tokenizer_info.py();
        let tokenizer = tokenizer_argument(tokenizer_info)?;
        let mut given = Settings::of(options)?;
        let threads = given.get::<i64>("max_threads")?.unwrap_or(8);
        let threads = usize::try_from(threads).ok().filter(|threads| (1..=MAX_THREADS).contains(threads));
        let message = format!("`max_threads` must be a number from 1 to {MAX_THREADS}");
        let threads = threads.ok_or_else(|| raise(py, "InvalidOptionError", message))?;
        let cache_limit_bytes = given.get::<i64>("cache_limit_bytes")?.unwrap_or(-1);
        let max_bytes = match cache_limit_bytes {
            -1 => None,
            bytes => Some(usize::try_from(bytes).map_err(|_| {
                raise(
                    py,
                    "InvalidOptionError",
                    "`cache_limit_bytes` must be -1 (no limit) or a number of bytes",
                )
            })?),
        };
        let cache_enabled = given.get("cache_enabled")?.unwrap_or(true);
        let directory = given.take("cache_dir").filter(|path| !path.is_none());
        let directory = directory.map(|path| path.extract::<PathBuf>()).transpose()?;
        let directory_bytes = given.get::<u64>("cache_dir_limit_bytes")?.unwrap_or(1 << 30);
        let limits = limits(&mut given)?;
        // Parts of structural tags are kept beside whole structures.
        let parts = if cache_enabled { max_bytes.unwrap_or(usize::MAX) } else { 0 };
        let limits = limits.max_cache_bytes(limits.max_cache_bytes.min(parts));
        let budget = given.take("budget").filter(|budget| !budget.is_none());
        let budget = match &budget {
            None => None,
            Some(budget) => match budget.cast::<Budget>() {
                Ok(budget) => Some(Arc::clone(&budget.get().inner)),
                Err(_) => return Err(PyTypeError::new_err("`budget` must be a grammask.Budget")),
            },
        };
        let is_pda = given.choice("backend", &[("earley", false), ("pda", true)])?.unwrap_or(false);
        let (automata, masks) = (automata(&mut given)?, masks(&mut given)?);
        given.finish_arguments("GrammarCompiler")?;
        let open = |path: PathBuf| {
            StoreDirectory::open(&path, directory_bytes).map_err(|error| of_file(error, &path))
        };
        let directory = directory.map(open).transpose()?;
        let max_cache_bytes = cache_enabled.then_some(max_bytes);
        let parts = Parts { threads, limits, automata, masks, budget, max_cache_bytes, directory };
        let info = tokenizer.get();
        if info.is_unfilled() {
            return Err(PyRuntimeError::new_err("`TokenizerInfo.__init__` was not called"));
        }
        let workshop = match is_pda {
            false => Either::Earley(parts.build(py, info)),
            true => Either::Pda(parts.build(py, info)),
        };
        let settings = options.map_or_else(|| Ok(PyDict::new(py)), |options| options.copy())?.unbind();
        let tokenizer = tokenizer.clone().unbind();
        let content = CompilerContent { workshop, tokenizer, cache_limit_bytes, settings };
        Ok(Self { content: Arc::new(content).into() })
    }

    /// Fills an object that `__new__` left empty.
    #[pyo3(signature = (*args, **kwargs))]
    fn __init__(&self, args: &Bound<'_, PyTuple>, kwargs: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        if self.content.get().is_none()
            && let Some(content) = filling::<Self>(args, kwargs)?.get().content.get()
        {
            self.content.get_or_init(|| Arc::clone(content));
        }
        Ok(())
    }

    #[classmethod]
    #[pyo3(signature = (**_options))]
    fn __init_subclass__(class: &Bound<'_, PyType>, _options: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        announce::<Self>(class)
    }

    /// Compiles a JSON Schema: JSON text, a `dict`, a pydantic model, or what pydantic makes a schema of (`list[int]`, a
    /// dataclass, an `Enum`).
    ///
    /// With `strict_mode` (the default) objects that declare members allow no others; `any_whitespace=False`
    /// allows exactly the `separators`, `(", ", ": ")` by default. With `indent`, a number of spaces from 0 to 64, it
    /// allows what `json.dumps(value, indent=indent)` writes, with at most `indent_depth` (128 at most) arrays and objects one
    /// inside the other.
    ///
    /// Strings and numbers are spelled as serialisers print them. `spelling` chooses all of it, whitespace too:
    /// `"printed"`, `"any"` (what JSON allows, with up to 64 characters of whitespace in a row), `"compact"` or
    /// `"canonical"` (one text for a value). `escapes` chooses that of strings (`"printed"`, `"any"`, `"needed"`,
    /// `"ascii"`), `numbers` that of numbers (`"printed"`, `"any"`, `"canonical"`, or the most digits of a printed one).
    /// Beside `spelling` they decide about their part, as `any_whitespace` does. `around_root` is how much whitespace
    /// there may be before the value, and after it.
    ///
    /// `key_order` is `"declared"`, `"required_first"` or `"any"`, which `any_order=True` means too. `free_names="unique"` forbids
    /// that a name which the schema does not declare occurs twice. `formats="annotation"` enforces no `format`.
    /// `unsupported="ignore"` ignores with a warning what cannot be enforced, in place of `"refuse"`. `retriever` is a function
    /// from the URI of a document that a `$ref` leads to, to its schema; it may raise. `limits` is a dict of bounds:
    /// `schema_bytes`, `values`, `goals`, `work`, `depth`, `alternatives`, `states`, `digits`, `expressions`, `documents`.
    ///
    /// Raises `InvalidSchemaError` or `UnsupportedError`, with `pointer`.
    #[pyo3(signature = (schema, **options),
           text_signature = "($self, schema, *, any_whitespace=True, indent=None, separators=None, strict_mode=True, \
                             max_whitespace_cnt=None, any_order=False, spelling=None, around_root=0, \
                             indent_depth=32, key_order=None, free_names='may_repeat', escapes=None, numbers=None, \
                             formats='enforced', unsupported=None, retriever=None, limits=None, interrupt=None)")]
    fn compile_json_schema(
        &self,
        schema: &Bound<'_, PyAny>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<CompiledGrammar> {
        self.compile(schema.py(), json_source(schema, options)?)
    }

    /// Compiles the grammar of any JSON object or array, spelled as serialisers print it: `1500.0` or `1e-07`, not `1.5e3`.
    #[pyo3(signature = (*, interrupt=None))]
    fn compile_builtin_json_grammar(
        &self,
        py: Python<'_>,
        interrupt: Option<&Bound<'_, crate::interrupt::Interrupt>>,
    ) -> PyResult<CompiledGrammar> {
        self.compile(py, (Source::BuiltinJson, given(interrupt)))
    }

    /// Compiles a regular expression, which the whole text must match; see `Grammar.from_regex` for the options.
    #[pyo3(signature = (regex, **options),
           text_signature = "($self, regex, *, dialect='ecma', matching='whole', letter_case='exact', groups='plain', \
                             limits=None, interrupt=None)")]
    fn compile_regex(
        &self,
        py: Python<'_>,
        regex: String,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<CompiledGrammar> {
        self.compile(py, regex_source(regex, options)?)
    }

    /// Compiles a `Grammar`, or EBNF.
    ///
    /// Raises `InvalidGrammarError` with `line` and `column`.
    #[pyo3(signature = (grammar, **options),
           text_signature = "($self, grammar, *, root_rule_name='root', limits=None, interrupt=None)")]
    fn compile_grammar(
        &self,
        grammar: &Bound<'_, PyAny>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<CompiledGrammar> {
        self.compile(grammar.py(), grammar_source(grammar, options)?)
    }

    /// Compiles GBNF; see `Grammar.from_gbnf`.
    #[pyo3(signature = (gbnf_string, **options),
           text_signature = "($self, gbnf_string, *, root_rule_name='root', limits=None, interrupt=None)")]
    fn compile_gbnf(
        &self,
        py: Python<'_>,
        gbnf_string: String,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<CompiledGrammar> {
        self.compile(py, gbnf_source(gbnf_string, options)?)
    }

    /// Compiles the grammar of some strings, one of which is to be written.
    #[pyo3(signature = (choices, **options), text_signature = "($self, choices, *, interrupt=None)")]
    fn compile_choices(
        &self,
        choices: &Bound<'_, PyAny>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<CompiledGrammar> {
        self.compile(choices.py(), choices_source(choices, options)?)
    }

    /// Compiles a grammar in Lark's notation; see `Grammar.from_lark`.
    #[pyo3(signature = (lark_string, **options),
           text_signature = "($self, lark_string, *, named_grammars=None, start_rule_name='start', \
                             json_options=None, regex_limits=None, limits=None, interrupt=None)")]
    fn compile_lark(
        &self,
        py: Python<'_>,
        lark_string: String,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<CompiledGrammar> {
        self.compile(py, lark_source(py, lark_string, options)?)
    }

    /// Compiles a structural tag; see `Grammar.from_structural_tag`.
    #[pyo3(signature = (*args, **kwargs))]
    fn compile_structural_tag(
        &self,
        py: Python<'_>,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<CompiledGrammar> {
        self.compile(py, tag_source(args, kwargs)?)
    }

    /// `compile_json_schema` on the threads of the compiler; returns a `CompileFuture`.
    #[pyo3(signature = (schema, **options),
           text_signature = "($self, schema, *, any_whitespace=True, indent=None, separators=None, strict_mode=True, \
                             max_whitespace_cnt=None, any_order=False, spelling=None, around_root=0, \
                             indent_depth=32, key_order=None, free_names='may_repeat', escapes=None, numbers=None, \
                             formats='enforced', unsupported=None, retriever=None, limits=None, interrupt=None)")]
    fn compile_json_schema_async<'py>(
        &self,
        schema: &Bound<'py, PyAny>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.begin(schema.py(), json_source(schema, options)?)
    }

    /// `compile_builtin_json_grammar` on the threads of the compiler; returns a `CompileFuture`.
    #[pyo3(signature = (*, interrupt=None))]
    fn compile_builtin_json_grammar_async<'py>(
        &self,
        py: Python<'py>,
        interrupt: Option<&Bound<'_, crate::interrupt::Interrupt>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.begin(py, (Source::BuiltinJson, given(interrupt)))
    }

    /// `compile_regex` on the threads of the compiler; returns a `CompileFuture`.
    #[pyo3(signature = (regex, **options),
           text_signature = "($self, regex, *, dialect='ecma', matching='whole', letter_case='exact', groups='plain', \
                             limits=None, interrupt=None)")]
    fn compile_regex_async<'py>(
        &self,
        py: Python<'py>,
        regex: String,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.begin(py, regex_source(regex, options)?)
    }

    /// `compile_grammar` on the threads of the compiler; returns a `CompileFuture`.
    #[pyo3(signature = (grammar, **options),
           text_signature = "($self, grammar, *, root_rule_name='root', limits=None, interrupt=None)")]
    fn compile_grammar_async<'py>(
        &self,
        grammar: &Bound<'py, PyAny>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.begin(grammar.py(), grammar_source(grammar, options)?)
    }

    /// `compile_gbnf` on the threads of the compiler; returns a `CompileFuture`.
    #[pyo3(signature = (gbnf_string, **options),
           text_signature = "($self, gbnf_string, *, root_rule_name='root', limits=None, interrupt=None)")]
    fn compile_gbnf_async<'py>(
        &self,
        py: Python<'py>,
        gbnf_string: String,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.begin(py, gbnf_source(gbnf_string, options)?)
    }

    /// `compile_choices` on the threads of the compiler; returns a `CompileFuture`.
    #[pyo3(signature = (choices, **options), text_signature = "($self, choices, *, interrupt=None)")]
    fn compile_choices_async<'py>(
        &self,
        choices: &Bound<'py, PyAny>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.begin(choices.py(), choices_source(choices, options)?)
    }

    /// `compile_lark` on the threads of the compiler; returns a `CompileFuture`.
    #[pyo3(signature = (lark_string, **options),
           text_signature = "($self, lark_string, *, named_grammars=None, start_rule_name='start', \
                             json_options=None, regex_limits=None, limits=None, interrupt=None)")]
    fn compile_lark_async<'py>(
        &self,
        py: Python<'py>,
        lark_string: String,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.begin(py, lark_source(py, lark_string, options)?)
    }

    /// `compile_structural_tag` on the threads of the compiler; returns a `CompileFuture`.
    #[pyo3(signature = (*args, **kwargs))]
    fn compile_structural_tag_async<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.begin(py, tag_source(args, kwargs)?)
    }

    /// `CompiledGrammar.warm_up` on the threads of the compiler. `False` where there are no threads: nothing happens then.
    fn warm_up_in_background(
        &self,
        compiled_grammar: &Bound<'_, CompiledGrammar>,
        masks: usize,
    ) -> PyResult<bool> {
        match (&self.content()?.workshop, &compiled_grammar.get().compiled) {
            (Either::Earley(workshop), Either::Earley(grammar)) => {
                Ok(workshop.compiler.warm_up_in_background(grammar, masks))
            }
            (Either::Pda(workshop), Either::Pda(grammar)) => {
                Ok(workshop.compiler.warm_up_in_background(grammar, masks))
            }
            _ => {
                let message = "the grammar was compiled for the other backend";
                Err(raise(compiled_grammar.py(), "GrammaskError", message))
            }
        }
    }

    /// The numbers of this compiler as a dict: `cache` (`hits`, `misses`, `entries`, `evicted`), `schemas` of structural
    /// tags, `pool` (masks that grammars share) and `budget` (`bytes`, `max_bytes`, `evicted`).
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let stats = each!(&self.content()?.workshop, workshop => {
            let mut stats = workshop.compiler.stats();
            // Whole structures are kept here, before the compiler is asked.
            let memory = workshop.shelf.memory.as_ref();
            (stats.cache_hits, stats.cache_misses) =
                memory.map_or((0, 0), |memory| memory.hits_and_misses());
            stats.cache_entries = memory.map_or(0, |memory| memory.len());
            stats.cache_evicted = memory.map_or(0, CompileCache::evicted);
            stats
        });
        loads(py, &stats.to_json())
    }

    /// Writes the masks that the grammars of this compiler share into `cache_dir`, from where the next compiler
    /// for this tokenizer reads them. Without a directory, does nothing.
    fn save_cache(&self, py: Python<'_>) -> PyResult<()> {
        each!(&self.content()?.workshop, workshop => {
            if let Some(directory) = &workshop.shelf.directory {
                py.detach(|| directory.save_pool(&workshop.compiler));
            }
        });
        Ok(())
    }

    /// The directory that compiled grammars are kept in.
    #[getter]
    fn cache_dir(&self) -> PyResult<Option<&Path>> {
        Ok(self.directory()?.map(StoreDirectory::path))
    }

    /// How the directory has served: numbers of `hits`, `misses`, files that were `unreadable`, `unwritable` or
    /// `evicted`, and the `last_error` as text. `None` without a directory.
    fn cache_dir_usage<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(directory) = self.directory()? else { return Ok(None) };
        let usage = directory.usage();
        let counts = [
            ("hits", usage.hits),
            ("misses", usage.misses),
            ("unreadable", usage.unreadable),
            ("unwritable", usage.unwritable),
            ("evicted", usage.evicted),
        ];
        let dict = PyDict::new(py);
        counts.iter().try_for_each(|(name, count)| dict.set_item(name, count))?;
        dict.set_item("last_error", directory.last_error())?;
        Ok(Some(dict))
    }

    /// Drops all that is kept. Compiled grammars that are in use stay valid.
    fn clear_cache(&self) -> PyResult<()> {
        each!(&self.content()?.workshop, workshop => {
            if let Some(cache) = &workshop.shelf.memory {
                cache.clear();
            }
            workshop.compiler.clear_cache();
        });
        Ok(())
    }

    /// Bytes that the cache holds now.
    fn get_cache_size_bytes(&self) -> PyResult<usize> {
        Ok(each!(&self.content()?.workshop, workshop => {
            workshop.shelf.memory.as_ref().map_or(0, |cache| cache.memory_usage(Kept::size))
        }))
    }

    /// Most bytes that the cache holds, -1 for any number.
    #[getter]
    fn cache_limit_bytes(&self) -> PyResult<i64> {
        self.content().map(|content| content.cache_limit_bytes)
    }

    /// The tokenizer that grammars are compiled for.
    #[getter]
    fn tokenizer_info(&self, py: Python<'_>) -> PyResult<Py<TokenizerInfo>> {
        self.content().map(|content| content.tokenizer.clone_ref(py))
    }

    /// The grammar that `CompiledGrammar._to_bytes` wrote, if `ebnf` is its text. `None` if the bytes are damaged or were
    /// written by another version.
    fn _load(&self, py: Python<'_>, bytes: &[u8], ebnf: String) -> PyResult<Option<CompiledGrammar>> {
        let CompilerContent { workshop, tokenizer, .. } = self.content()?;
        let loaded = each!(workshop, workshop => {
            let compiler = &workshop.compiler;
            detach(py, || compiler.load_with_source(bytes, &ebnf)).map(Engine::wrap)
        });
        let compiled = match loaded {
            Ok(compiled) => compiled,
            Err(error) if error.is_other_source() => {
                return Err(raise(py, "DeserializeFormatError", error.to_string()));
            }
            Err(_) => return Ok(None),
        };
        let source = Source::Ebnf { text: ebnf, options: EbnfOptions::default() };
        let grammar = Arc::new(LazyGrammar::new(source));
        Ok(Some(CompiledGrammar { compiled, grammar, tokenizer: tokenizer.clone_ref(py) }))
    }

    fn __repr__(&self) -> String {
        match self.content() {
            Ok(content) => {
                format!("<GrammarCompiler for {} tokens>", content.tokenizer.get().vocabulary.len())
            }
            Err(_) => "<GrammarCompiler>".to_owned(),
        }
    }

    /// A compiler with the same settings and an empty cache. A budget stays behind.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let (this, support) = (slf.get().content()?, slf.py().import("grammask._support")?);
        support.call_method1("reduce_compiler", (slf, &this.tokenizer, &this.settings))
    }

    fn __deepcopy__(slf: &Bound<'_, Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf.clone().unbind()
    }
}
