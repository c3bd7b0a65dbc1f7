//! `GrammarCompiler`: from a structure to a compiled grammar, remembered by content.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use grammask::{CompileCache, Compiler, Limits, StoreDirectory, Threads};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

use crate::arguments::{JsonArguments, schema_text};
use crate::background::{begin, finish};
use crate::compiled::CompiledGrammar;
use crate::errors::{Syntax, raise, refused};
use crate::grammar::{Grammar, named_grammars, read_lark, structural_tag_text};
use crate::kept::{Kept, Shelf};
use crate::signals::Signals;
use crate::source::Source;
use crate::tokenizer::TokenizerInfo;

/// Compiles grammars for one tokenizer. Any number of threads may use one at once; compiling gives up the
/// interpreter's lock.
///
/// Parameters
/// ----------
/// tokenizer_info : TokenizerInfo
/// max_threads : int
///     Most threads of the `compile_*_async` methods. One grammar compiles on one thread.
/// cache_enabled : bool
///     Whether what was compiled is kept under its content (source and options).
/// cache_limit_bytes : int
///     Most bytes kept; what was not used for longest goes first. -1 for any number.
/// cache_dir : str or path, optional
///     A directory in which compiled grammars are kept as files, for the next process. Files that are damaged or
///     of another version or tokenizer are compiled anew. Only those who may change the program should be able to
///     write there. `save_cache` also keeps the masks that grammars share.
/// cache_dir_limit_bytes : int
///     Most bytes in the directory; what was not used for longest goes first.
#[pyclass(frozen, module = "grammask", weakref)]
pub(crate) struct GrammarCompiler {
    compiler: Compiler,
    tokenizer: Py<TokenizerInfo>,
    /// Shared with the threads that compile in the background.
    shelf: Arc<Shelf>,
    cache_limit_bytes: i64,
    cache_dir_limit_bytes: u64,
}

/// More could only hurt.
const MAX_THREADS: usize = 1024;

impl GrammarCompiler {
    fn compile(&self, py: Python<'_>, source: Source) -> PyResult<CompiledGrammar> {
        let syntax = source.syntax();
        let signals = Signals::new();
        let compiler = self.compiler.with_interrupt(signals.interrupt());
        let kept = py.detach(|| self.shelf.get(&compiler, source));
        signals.raised()?;
        finish(py, kept.map_err(|error| refused(py, &error, syntax))?, &self.tokenizer)
    }

    fn begin<'py>(&self, py: Python<'py>, source: Source) -> PyResult<Bound<'py, PyAny>> {
        begin(py, &self.compiler, &self.shelf, &self.tokenizer, source)
    }
}

fn json_source(schema: &Bound<'_, PyAny>, arguments: &JsonArguments) -> PyResult<Source> {
    Ok(Source::Json { text: schema_text(schema)?, options: arguments.options(schema.py())? })
}

/// The argument `grammar` of `compile_grammar`: a `Grammar`, or EBNF.
fn grammar_source(grammar: &Bound<'_, PyAny>, root: &str) -> PyResult<Source> {
    if let Ok(text) = grammar.cast::<PyString>() {
        return Ok(Source::Ebnf { text: text.to_str()?.to_owned(), root: root.to_owned() });
    }
    Ok(Source::Grammar(Arc::clone(&grammar.cast::<Grammar>()?.get().inner)))
}

fn lark_source(py: Python<'_>, text: &str, named: Option<&Bound<'_, PyDict>>) -> PyResult<Source> {
    let named = named_grammars(named)?;
    if named.is_empty() {
        return Ok(Source::Lark { text: text.to_owned(), named });
    }
    // What the names stand for is part of what is compiled, and the grammar that results says all of it.
    let read = py.detach(|| read_lark(text, &named));
    let (grammar, _) = read.map_err(|error| refused(py, &error, Syntax::Lark))?;
    Ok(Source::Grammar(Arc::new(grammar)))
}

#[pymethods]
impl GrammarCompiler {
    #[new]
    #[pyo3(signature = (tokenizer_info, *, max_threads=8, cache_enabled=true, cache_limit_bytes=-1,
                        cache_dir=None, cache_dir_limit_bytes=1 << 30),
           text_signature = "(tokenizer_info, *, max_threads=8, cache_enabled=True, cache_limit_bytes=-1, \
                             cache_dir=None, cache_dir_limit_bytes=1073741824)")]
    fn new(
        tokenizer_info: &Bound<'_, PyAny>,
        max_threads: i64,
        cache_enabled: bool,
        cache_limit_bytes: i64,
        cache_dir: Option<PathBuf>,
        cache_dir_limit_bytes: u64,
    ) -> PyResult<Self> {
        let py = tokenizer_info.py();
        let Ok(tokenizer) = tokenizer_info.cast::<TokenizerInfo>() else {
            return Err(PyValueError::new_err("`tokenizer_info` must be a TokenizerInfo"));
        };
        let threads = usize::try_from(max_threads).ok().filter(|threads| (1..=MAX_THREADS).contains(threads));
        let message = format!("`max_threads` must be a number from 1 to {MAX_THREADS}");
        let threads = threads.ok_or_else(|| raise(py, "GrammaskError", message))?;
        let max_bytes = match cache_limit_bytes {
            -1 => None,
            bytes => Some(usize::try_from(bytes).map_err(|_| {
                raise(py, "GrammaskError", "`cache_limit_bytes` must be -1 (no limit) or a number of bytes")
            })?),
        };
        let directory =
            cache_dir.map(|path| StoreDirectory::open(path, cache_dir_limit_bytes)).transpose()?;
        let memory = cache_enabled.then(|| CompileCache::new(max_bytes));
        // Tables that depend on the vocabulary alone are made now; the first text would wait for them otherwise.
        let vocabulary = Arc::clone(&tokenizer.get().vocabulary);
        // Parts of structural tags are kept beside whole structures.
        let limits = Limits::default();
        let parts = if cache_enabled { max_bytes.unwrap_or(usize::MAX) } else { 0 };
        let limits = Limits { max_cache_bytes: limits.max_cache_bytes.min(parts), ..limits };
        let compiler = py.detach(|| {
            let threads = Arc::new(Threads::new(threads));
            let compiler = Compiler::builder(vocabulary).limits(limits).threads(threads).build();
            if let Some(directory) = &directory {
                directory.load_pool(&compiler);
            }
            compiler
        });
        Ok(Self {
            compiler,
            tokenizer: tokenizer.clone().unbind(),
            shelf: Arc::new(Shelf { memory, directory }),
            cache_limit_bytes,
            cache_dir_limit_bytes,
        })
    }

    /// Compiles a JSON Schema: JSON text, a `dict`, or a pydantic model.
    ///
    /// With `strict_mode` (the default) objects that declare members allow no others; `any_whitespace=False`
    /// allows exactly the `separators`, `(", ", ": ")` by default. With `indent`, a number of spaces from 0 to 64, it
    /// allows what `json.dumps(value, indent=indent)` writes, with at most 32 arrays and objects one inside the other.
    ///
    /// Raises `InvalidSchemaError` or `UnsupportedError`, with `pointer`.
    #[pyo3(signature = (schema, *, any_whitespace=true, indent=None, separators=None, strict_mode=true,
                        max_whitespace_cnt=None, any_order=false))]
    #[expect(clippy::too_many_arguments, reason = "the keyword arguments of the Python signature")]
    fn compile_json_schema(
        &self,
        schema: &Bound<'_, PyAny>,
        any_whitespace: bool,
        indent: Option<i64>,
        separators: Option<(String, String)>,
        strict_mode: bool,
        max_whitespace_cnt: Option<i64>,
        any_order: bool,
    ) -> PyResult<CompiledGrammar> {
        let arguments =
            JsonArguments { any_whitespace, indent, separators, strict_mode, max_whitespace_cnt, any_order };
        self.compile(schema.py(), json_source(schema, &arguments)?)
    }

    /// Compiles the grammar of any JSON object or array.
    fn compile_builtin_json_grammar(&self, py: Python<'_>) -> PyResult<CompiledGrammar> {
        self.compile(py, Source::BuiltinJson)
    }

    /// Compiles a regular expression, which the whole text must match.
    fn compile_regex(&self, py: Python<'_>, regex: String) -> PyResult<CompiledGrammar> {
        self.compile(py, Source::Regex(regex))
    }

    /// Compiles a `Grammar`, or EBNF.
    ///
    /// Raises `InvalidGrammarError` with `line` and `column`.
    #[pyo3(signature = (grammar, *, root_rule_name="root"))]
    fn compile_grammar(&self, grammar: &Bound<'_, PyAny>, root_rule_name: &str) -> PyResult<CompiledGrammar> {
        self.compile(grammar.py(), grammar_source(grammar, root_rule_name)?)
    }

    /// Compiles the grammar of some strings, one of which is to be written.
    fn compile_choices(&self, choices: &Bound<'_, PyAny>) -> PyResult<CompiledGrammar> {
        let grammar = choices.py().get_type::<Grammar>().call_method1("from_choices", (choices,))?;
        self.compile_grammar(&grammar, "root")
    }

    /// Compiles a grammar in Lark's notation; see `Grammar.from_lark`.
    #[pyo3(signature = (lark_string, *, named_grammars=None))]
    fn compile_lark(
        &self,
        py: Python<'_>,
        lark_string: &str,
        named_grammars: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<CompiledGrammar> {
        self.compile(py, lark_source(py, lark_string, named_grammars)?)
    }

    /// Compiles a structural tag; see `Grammar.from_structural_tag`.
    #[pyo3(signature = (*args, **kwargs))]
    fn compile_structural_tag(
        &self,
        py: Python<'_>,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<CompiledGrammar> {
        self.compile(py, Source::Tag(structural_tag_text(args, kwargs)?))
    }

    /// `compile_json_schema` on the threads of the compiler; returns a `concurrent.futures.Future`.
    #[pyo3(signature = (schema, *, any_whitespace=true, indent=None, separators=None, strict_mode=true,
                        max_whitespace_cnt=None, any_order=false))]
    #[expect(clippy::too_many_arguments, reason = "the keyword arguments of the Python signature")]
    fn compile_json_schema_async<'py>(
        &self,
        schema: &Bound<'py, PyAny>,
        any_whitespace: bool,
        indent: Option<i64>,
        separators: Option<(String, String)>,
        strict_mode: bool,
        max_whitespace_cnt: Option<i64>,
        any_order: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let arguments =
            JsonArguments { any_whitespace, indent, separators, strict_mode, max_whitespace_cnt, any_order };
        self.begin(schema.py(), json_source(schema, &arguments)?)
    }

    /// `compile_builtin_json_grammar` on the threads of the compiler; returns a `concurrent.futures.Future`.
    fn compile_builtin_json_grammar_async<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.begin(py, Source::BuiltinJson)
    }

    /// `compile_regex` on the threads of the compiler; returns a `concurrent.futures.Future`.
    fn compile_regex_async<'py>(&self, py: Python<'py>, regex: String) -> PyResult<Bound<'py, PyAny>> {
        self.begin(py, Source::Regex(regex))
    }

    /// `compile_grammar` on the threads of the compiler; returns a `concurrent.futures.Future`.
    #[pyo3(signature = (grammar, *, root_rule_name="root"))]
    fn compile_grammar_async<'py>(
        &self,
        grammar: &Bound<'py, PyAny>,
        root_rule_name: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.begin(grammar.py(), grammar_source(grammar, root_rule_name)?)
    }

    /// `compile_lark` on the threads of the compiler; returns a `concurrent.futures.Future`.
    #[pyo3(signature = (lark_string, *, named_grammars=None))]
    fn compile_lark_async<'py>(
        &self,
        py: Python<'py>,
        lark_string: &str,
        named_grammars: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.begin(py, lark_source(py, lark_string, named_grammars)?)
    }

    /// `compile_structural_tag` on the threads of the compiler; returns a `concurrent.futures.Future`.
    #[pyo3(signature = (*args, **kwargs))]
    fn compile_structural_tag_async<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.begin(py, Source::Tag(structural_tag_text(args, kwargs)?))
    }

    /// Writes the masks that the grammars of this compiler share into `cache_dir`, from where the next compiler
    /// for this tokenizer reads them. Without a directory, does nothing.
    fn save_cache(&self, py: Python<'_>) {
        if let Some(directory) = &self.shelf.directory {
            py.detach(|| directory.save_pool(&self.compiler));
        }
    }

    /// The directory that compiled grammars are kept in.
    #[getter]
    fn cache_dir(&self) -> Option<&Path> {
        self.shelf.directory.as_ref().map(StoreDirectory::path)
    }

    /// How the directory has served: numbers of `hits`, `misses`, files that were `unreadable`, `unwritable` or
    /// `evicted`, and the `last_error` as text. `None` without a directory.
    fn cache_dir_usage<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(directory) = &self.shelf.directory else { return Ok(None) };
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
    fn clear_cache(&self) {
        if let Some(cache) = &self.shelf.memory {
            cache.clear();
        }
        self.compiler.clear_cache();
    }

    /// Bytes that the cache holds now.
    fn get_cache_size_bytes(&self) -> usize {
        self.shelf.memory.as_ref().map_or(0, |cache| cache.memory_usage(Kept::size))
    }

    /// Most bytes that the cache holds, -1 for any number.
    #[getter]
    fn cache_limit_bytes(&self) -> i64 {
        self.cache_limit_bytes
    }

    /// The tokenizer that grammars are compiled for.
    #[getter]
    fn tokenizer_info(&self, py: Python<'_>) -> Py<TokenizerInfo> {
        self.tokenizer.clone_ref(py)
    }

    fn __repr__(&self) -> String {
        format!("<GrammarCompiler for {} tokens>", self.compiler.vocabulary().len())
    }

    /// A compiler with the same settings and an empty cache.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let this = slf.get();
        let settings = (
            &this.tokenizer,
            this.compiler.threads().count(),
            this.shelf.memory.is_some(),
            this.cache_limit_bytes,
            this.cache_dir(),
            this.cache_dir_limit_bytes,
        );
        slf.py().import("grammask._support")?.call_method1("reduce_compiler", settings)
    }

    fn __deepcopy__(slf: &Bound<'_, Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf.clone().unbind()
    }
}
