//! `GrammarCompiler`: from a structure to a compiled grammar, remembered by content.

use std::sync::Arc;

use grammask::{CompileCache, CompileError, Compiler};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

use crate::arguments::{JsonArguments, schema_text};
use crate::compiled::{CompiledGrammar, size};
use crate::errors::{Syntax, is_compat, raise, refused, warn};
use crate::grammar::{
    Grammar, Read, named_grammars as named, read_builtin_json, read_ebnf, read_json_schema, read_lark,
    read_regex, read_structural_tag, structural_tag_text,
};
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
#[pyclass(frozen, module = "grammask", weakref)]
pub(crate) struct GrammarCompiler {
    compiler: Compiler,
    tokenizer: Py<TokenizerInfo>,
    cache: Option<CompileCache<Kept>>,
    cache_limit_bytes: i64,
    max_threads: usize,
}

#[derive(Clone)]
struct Kept {
    compiled: grammask::CompiledGrammar,
    grammar: Arc<grammask::Grammar>,
    warnings: Arc<[String]>,
}

impl Kept {
    fn size(&self) -> usize {
        size(&self.compiled, &self.grammar)
    }
}

impl GrammarCompiler {
    fn compile(
        &self,
        py: Python<'_>,
        syntax: Syntax,
        key: &str,
        read: impl FnOnce() -> Result<Read, CompileError> + Send,
    ) -> PyResult<CompiledGrammar> {
        let make = || {
            let (grammar, warnings) = read()?;
            let compiled = self.compiler.grammar(&grammar)?;
            Ok(Kept { compiled, grammar: Arc::new(grammar), warnings: warnings.into() })
        };
        let kept = py.detach(|| match &self.cache {
            Some(cache) => cache.get_or_compile(key, Kept::size, make),
            None => make(),
        });
        let kept = kept.map_err(|error: CompileError| refused(py, &error, syntax))?;
        kept.warnings.iter().try_for_each(|message| warn(py, message))?;
        Ok(CompiledGrammar {
            compiled: kept.compiled,
            grammar: kept.grammar,
            tokenizer: self.tokenizer.clone_ref(py),
        })
    }
}

fn submit<'py>(
    slf: &Bound<'py, GrammarCompiler>,
    method: &str,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let call = slf.getattr(method)?;
    slf.py().import("grammask._support")?.call_method1("submit", (slf.get().max_threads, call, args, kwargs))
}

#[pymethods]
impl GrammarCompiler {
    #[new]
    #[pyo3(signature = (tokenizer_info, *, max_threads=8, cache_enabled=true, cache_limit_bytes=-1))]
    fn new(
        tokenizer_info: &Bound<'_, PyAny>,
        max_threads: i64,
        cache_enabled: bool,
        cache_limit_bytes: i64,
    ) -> PyResult<Self> {
        let py = tokenizer_info.py();
        let Ok(tokenizer) = tokenizer_info.cast::<TokenizerInfo>() else {
            return Err(PyValueError::new_err("`tokenizer_info` must be a TokenizerInfo"));
        };
        let max_threads = usize::try_from(max_threads).ok().filter(|&threads| threads > 0);
        let max_threads =
            max_threads.ok_or_else(|| raise(py, "GrammaskError", "`max_threads` must be at least 1"))?;
        let max_bytes = match cache_limit_bytes {
            -1 => None,
            bytes => Some(usize::try_from(bytes).map_err(|_| {
                raise(py, "GrammaskError", "`cache_limit_bytes` must be -1 (no limit) or a number of bytes")
            })?),
        };
        // Tables that depend on the vocabulary alone; the first text would wait for them otherwise.
        let vocabulary = Arc::clone(&tokenizer.get().vocabulary);
        py.detach(|| vocabulary.prepare());
        Ok(Self {
            compiler: Compiler::new(vocabulary),
            tokenizer: tokenizer.clone().unbind(),
            cache: cache_enabled.then(|| CompileCache::new(max_bytes)),
            cache_limit_bytes,
            max_threads,
        })
    }

    /// Compiles a JSON Schema: JSON text, a `dict`, or a pydantic model.
    ///
    /// With `strict_mode` (the default) objects that declare members allow no others; `any_whitespace=False`
    /// allows exactly the `separators`, `(", ", ": ")` by default.
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
        let py = schema.py();
        let arguments =
            JsonArguments { any_whitespace, indent, separators, strict_mode, max_whitespace_cnt, any_order };
        let (text, options) = (schema_text(schema)?, arguments.options(py)?);
        let key = format!("json {} {text}", JsonArguments::key(&options));
        self.compile(py, Syntax::JsonSchema, &key, || read_json_schema(&text, &options))
    }

    /// Compiles the grammar of any JSON object or array.
    fn compile_builtin_json_grammar(&self, py: Python<'_>) -> PyResult<CompiledGrammar> {
        self.compile(py, Syntax::Grammar, "builtin json", read_builtin_json)
    }

    /// Compiles a regular expression, which the whole text must match.
    fn compile_regex(&self, py: Python<'_>, regex: &str) -> PyResult<CompiledGrammar> {
        let compat = is_compat();
        self.compile(py, Syntax::Regex, &format!("regex {compat} {regex}"), || read_regex(regex))
    }

    /// Compiles a `Grammar`, or EBNF.
    ///
    /// Raises `InvalidGrammarError` with `line` and `column`.
    #[pyo3(signature = (grammar, *, root_rule_name="root"))]
    fn compile_grammar(&self, grammar: &Bound<'_, PyAny>, root_rule_name: &str) -> PyResult<CompiledGrammar> {
        let py = grammar.py();
        if let Ok(source) = grammar.cast::<PyString>() {
            let source = source.to_str()?;
            let key = format!("ebnf {root_rule_name:?} {source}");
            return self.compile(py, Syntax::Ebnf, &key, || read_ebnf(source, root_rule_name));
        }
        let inner = Arc::clone(&grammar.cast::<Grammar>()?.get().inner);
        // A grammar's printed text says all that matters; where there is too much of it, nothing is shared.
        let text = self.cache.as_ref().map(|_| py.detach(|| inner.to_string()));
        match text {
            Some(text) if !text.starts_with('#') => {
                self.compile(py, Syntax::Grammar, &format!("grammar {text}"), || {
                    Ok(((*inner).clone(), Vec::new()))
                })
            }
            _ => {
                let compiled = py.detach(|| self.compiler.grammar(&inner));
                let compiled = compiled.map_err(|error| refused(py, &error, Syntax::Grammar))?;
                Ok(CompiledGrammar { compiled, grammar: inner, tokenizer: self.tokenizer.clone_ref(py) })
            }
        }
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
        let named = named(named_grammars)?;
        if named.is_empty() {
            let key = format!("lark {lark_string}");
            return self.compile(py, Syntax::Lark, &key, || read_lark(lark_string, &named));
        }
        // What the names stand for is part of what is compiled, and the grammar that results says all of it.
        let (grammar, _) = py
            .detach(|| read_lark(lark_string, &named))
            .map_err(|error| refused(py, &error, Syntax::Lark))?;
        self.compile_grammar(Bound::new(py, Grammar { inner: Arc::new(grammar) })?.as_any(), "root")
    }

    /// Compiles a structural tag; see `Grammar.from_structural_tag`.
    #[pyo3(signature = (*args, **kwargs))]
    fn compile_structural_tag(
        &self,
        py: Python<'_>,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<CompiledGrammar> {
        let text = structural_tag_text(args, kwargs)?;
        self.compile(py, Syntax::StructuralTag, &format!("tag {text}"), || read_structural_tag(&text))
    }

    /// `compile_json_schema` on another thread; returns a `concurrent.futures.Future`.
    #[pyo3(signature = (*args, **kwargs))]
    fn compile_json_schema_async<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        submit(slf, "compile_json_schema", args, kwargs)
    }

    /// `compile_builtin_json_grammar` on another thread; returns a `concurrent.futures.Future`.
    fn compile_builtin_json_grammar_async<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        submit(slf, "compile_builtin_json_grammar", &PyTuple::empty(slf.py()), None)
    }

    /// `compile_regex` on another thread; returns a `concurrent.futures.Future`.
    #[pyo3(signature = (*args, **kwargs))]
    fn compile_regex_async<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        submit(slf, "compile_regex", args, kwargs)
    }

    /// `compile_grammar` on another thread; returns a `concurrent.futures.Future`.
    #[pyo3(signature = (*args, **kwargs))]
    fn compile_grammar_async<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        submit(slf, "compile_grammar", args, kwargs)
    }

    /// Drops all that is kept. Compiled grammars that are in use stay valid.
    fn clear_cache(&self) {
        if let Some(cache) = &self.cache {
            cache.clear();
        }
    }

    /// Bytes that the cache holds now.
    fn get_cache_size_bytes(&self) -> usize {
        self.cache.as_ref().map_or(0, |cache| cache.memory_usage(Kept::size))
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
        let settings = (&this.tokenizer, this.max_threads, this.cache.is_some(), this.cache_limit_bytes);
        slf.py().import("grammask._support")?.call_method1("reduce_compiler", settings)
    }

    fn __deepcopy__(slf: &Bound<'_, Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf.clone().unbind()
    }
}
