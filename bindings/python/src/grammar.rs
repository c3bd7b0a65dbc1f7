//! `Grammar`: a structure before it meets a vocabulary.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use grammask::ir::passes;
use grammask::json_schema;
use grammask::structural_tag::MemberOrder;
use grammask::tool_formats::{Markers, Reasoning};
use grammask::{
    CompileError, Diagnostic, EbnfOptions, GrammarError, Interrupt, JsonSchemaOptions, LarkOptions,
    NamedGrammar, RegexOptions, StructuralTag, StructuralTagOptions, ToolFormat, ToolRequest, ebnf, gbnf,
    lark, regex,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::arguments::{
    ebnf_options, interrupt, json_options, lark_options, method_arguments, regex_options, schema_text,
    spellings, structural_tag_options,
};
use crate::errors::{Syntax, grammar_error, raise, refused, warn};
use crate::json::loads;
use crate::settings::{Setting, Settings};
use crate::signals::interruptible;
use crate::tokenizer::TokenizerInfo;

/// A structure: the set of texts that a model may write. Immutable.
///
/// `str(grammar)` is EBNF that `Grammar.from_ebnf` reads back as the same grammar; its first rule is `root`.
/// Instances compare by their rules, hash, pickle and deep-copy.
#[pyclass(frozen, subclass, module = "grammask", weakref, dict)]
pub(crate) struct Grammar {
    pub(crate) inner: Arc<grammask::Grammar>,
}

/// A grammar, and what its reader has to say about it.
pub(crate) type Read = (grammask::Grammar, Vec<String>);

/// Reads EBNF.
pub(crate) fn read_ebnf(source: &str, options: &EbnfOptions) -> Result<Read, CompileError> {
    Ok((with_root(ebnf::parse(source, options)?, &options.root), Vec::new()))
}

/// Reads GBNF.
pub(crate) fn read_gbnf(source: &str, options: &EbnfOptions) -> Result<Read, CompileError> {
    Ok((with_root(gbnf::parse(source, options)?, &options.root), Vec::new()))
}

/// The start rule is `root` in the grammar, under any name in the source. So the printed grammar needs no
/// second piece of information.
fn with_root(grammar: grammask::Grammar, root: &str) -> grammask::Grammar {
    if root == "root" {
        return grammar;
    }
    // One grammar more than fits the ids of the one that was just read is the only way to fail.
    passes::union(&[&grammar]).unwrap_or(grammar)
}

/// Reads Lark's notation, with grammars that `@name` stands for.
pub(crate) fn read_lark(source: &str, options: &LarkOptions) -> Result<Read, CompileError> {
    Ok(lark::parse_with_warnings(source, options)?)
}

/// The keyword arguments of Lark's methods, `named_grammars` among them: a dict of `Grammar` objects and sources.
pub(crate) fn lark_arguments(given: &mut Settings<'_>) -> PyResult<LarkOptions> {
    let named = given.take("named_grammars").filter(|named| !named.is_none());
    let mut options = lark_options(given)?;
    if let Some(named) = named {
        for (name, grammar) in named.cast::<PyDict>()? {
            let grammar = match grammar.cast::<Grammar>() {
                Ok(grammar) => NamedGrammar::Grammar((*grammar.get().inner).clone()),
                Err(_) => NamedGrammar::Lark(grammar.extract()?),
            };
            options.named.insert(name.extract()?, grammar);
        }
    }
    Ok(options)
}

/// Reads a structural tag given as JSON text.
pub(crate) fn read_structural_tag(
    document: &str,
    options: &StructuralTagOptions,
) -> Result<Read, CompileError> {
    Ok(StructuralTag::parse(document, options)?.grammar_with_warnings(options)?)
}

/// The arguments of `from_structural_tag` and `compile_structural_tag` as JSON text.
pub(crate) fn structural_tag_arguments(
    args: &Bound<'_, PyTuple>,
    kwargs: Option<&Bound<'_, PyDict>>,
) -> PyResult<(String, StructuralTagOptions, Interrupt)> {
    const OPTIONS: [&str; 4] = ["json_options", "ebnf_options", "limits", "interrupt"];
    let py = args.py();
    let (tag, options) = (PyDict::new(py), PyDict::new(py));
    for (name, value) in kwargs.into_iter().flatten() {
        let is_option = name.extract::<&str>().is_ok_and(|name| OPTIONS.contains(&name));
        (if is_option { &options } else { &tag }).set_item(name, value)?;
    }
    let text = py.import("grammask._support")?.call_method("structural_tag_text", args, Some(&tag))?;
    let mut options = Settings::of(Some(&options))?;
    Ok((text.extract()?, structural_tag_options(&mut options)?, interrupt(&mut options)?))
}

/// The structural tag of a model family for a request, both as JSON text.
#[pyfunction]
#[pyo3(signature = (model, request, **options))]
pub(crate) fn model_structural_tag(
    py: Python<'_>,
    model: &str,
    request: &str,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<String> {
    let mut given = Settings::of(options)?;
    let reasoning = [
        ("enabled", Reasoning::Enabled),
        ("disabled", Reasoning::Disabled),
        ("auto", Reasoning::Auto),
        ("empty", Reasoning::Empty),
    ];
    let reasoning = given.choice("reasoning", &reasoning)?.unwrap_or_default();
    let reasoning_chars = given.get("max_reasoning_chars")?;
    let excludes = given.get("exclude_special_tokens")?.unwrap_or(true);
    let markers = if excludes { Markers::Excluded } else { Markers::Allowed };
    let max_whitespace = given.get("max_whitespace_cnt")?;
    let any_order = given.get("any_order")?.unwrap_or(false);
    let order = if any_order { MemberOrder::Any } else { MemberOrder::Declared };
    let spelling = given.choice("spelling", &spellings())?;
    given.finish_arguments("get_model_structural_tag")?;
    let format = ToolFormat::named(model).map_err(|unknown| {
        let hint = unknown.iter().find_map(Diagnostic::hint).unwrap_or_default();
        PyValueError::new_err(format!("Unknown format type: {}; {hint}", grammask::ir::shorten(model)))
    })?;
    let make = || -> Result<String, CompileError> {
        let request = ToolRequest::parse(request)?.reasoning(reasoning).reasoning_chars(reasoning_chars);
        let request = request.markers(markers).max_whitespace(max_whitespace);
        let request = request.member_order(order).spelling(spelling);
        Ok(format.structure(&request)?.to_value().to_string())
    };
    make().map_err(|error| refused(py, &error, Syntax::StructuralTag))
}

pub(crate) fn read_regex(pattern: &str, options: &RegexOptions) -> Result<Read, CompileError> {
    Ok((regex::parse(pattern, options)?, Vec::new()))
}

pub(crate) fn read_json_schema(schema: &str, options: &JsonSchemaOptions) -> Result<Read, CompileError> {
    let compiled = json_schema::compile_with_warnings(schema, options)?;
    let warnings = compiled.report.warnings().collect();
    Ok((compiled.grammar, warnings))
}

/// The language of xgrammar's built-in grammar: any object or array.
pub(crate) fn read_builtin_json() -> Result<Read, CompileError> {
    let whitespace = json_schema::Whitespace::Free { max_run: None };
    read_json_schema(r#"{"type": ["object", "array"]}"#, &JsonSchemaOptions::default().whitespace(whitespace))
}

impl Grammar {
    pub(crate) fn new(
        py: Python<'_>,
        work: (Syntax, &Interrupt),
        read: impl FnOnce(&Interrupt) -> Result<Read, CompileError> + Send,
    ) -> PyResult<Self> {
        let (grammar, warnings) = interruptible(py, work, read)?;
        warnings.iter().try_for_each(|message| warn(py, message))?;
        Ok(Self { inner: Arc::new(grammar) })
    }

    fn combine(
        grammars: &Bound<'_, PyTuple>,
        join: fn(&[&grammask::Grammar]) -> Result<grammask::Grammar, GrammarError>,
    ) -> PyResult<Self> {
        let py = grammars.py();
        let parts = grammars.iter().map(|grammar| Ok(Arc::clone(&grammar.cast::<Self>()?.get().inner)));
        let parts = parts.collect::<PyResult<Vec<_>>>()?;
        let parts: Vec<&grammask::Grammar> = parts.iter().map(|part| &**part).collect();
        let joined = join(&parts).map_err(|error| grammar_error(py, &error))?;
        Ok(Self { inner: Arc::new(joined) })
    }

    /// The grammar itself, printed first where the caller wants that.
    fn printed(self, py: Python<'_>, prints: bool) -> PyResult<Self> {
        if prints {
            py.import("builtins")?.call_method1("print", (self.text(py)?,))?;
        }
        Ok(self)
    }

    fn text(&self, py: Python<'_>) -> PyResult<String> {
        grammask::ir::print(&self.inner, &grammask::ir::PrintOptions::default())
            .map_err(|error| raise(py, "GrammaskError", error.to_string()))
    }
}

/// The treatment of every keyword of a schema: dicts with the keys `pointer`, `keyword`, `treatment` and, where there is one,
/// `note`. `treatment` is `"enforced"`, `"annotation"`, `"other-draft"`, `"ignored"` or `"refused"`; a schema that would be refused has
/// all that is in the way. The options are those of `GrammarCompiler.compile_json_schema`.
///
/// Raises `InvalidSchemaError` where the schema is malformed, refers to nothing or has no text, or passes a bound.
#[pyfunction]
#[pyo3(signature = (schema, **options))]
pub(crate) fn schema_report<'py>(
    schema: &Bound<'py, PyAny>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = schema.py();
    let (options, interrupt) = method_arguments("schema_report", options, json_options)?;
    let (text, options) = (schema_text(schema)?, options.interrupt(interrupt));
    let report = py.detach(|| json_schema::report(&text, &options));
    let report = report.map_err(|error| refused(py, &error.into(), Syntax::JsonSchema))?;
    loads(py, &report.to_json())
}

#[pymethods]
impl Grammar {
    /// Reads EBNF. `limits` is a dict of bounds: `source_bytes`, `tokens`, `nesting`, `chunks`, `reports`.
    ///
    /// Raises `InvalidGrammarError` with `line` and `column`.
    #[staticmethod]
    #[pyo3(signature = (ebnf_string, **options),
           text_signature = "(ebnf_string, *, root_rule_name='root', limits=None, interrupt=None)")]
    fn from_ebnf(py: Python<'_>, ebnf_string: &str, options: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let (options, interrupt) = method_arguments("from_ebnf", options, ebnf_options)?;
        Self::new(py, (Syntax::Ebnf, &interrupt), |interrupt| {
            read_ebnf(ebnf_string, &options.interrupt(interrupt.clone()))
        })
    }

    /// Reads GBNF, the notation of llama.cpp. `limits` as for `from_ebnf`.
    ///
    /// Raises `InvalidGrammarError` with `line` and `column`.
    #[staticmethod]
    #[pyo3(signature = (gbnf_string, **options),
           text_signature = "(gbnf_string, *, root_rule_name='root', limits=None, interrupt=None)")]
    fn from_gbnf(py: Python<'_>, gbnf_string: &str, options: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let (options, interrupt) = method_arguments("from_gbnf", options, ebnf_options)?;
        Self::new(py, (Syntax::Gbnf, &interrupt), |interrupt| {
            read_gbnf(gbnf_string, &options.interrupt(interrupt.clone()))
        })
    }

    /// Turns a JSON Schema into a grammar of the JSON texts that obey it; the options are those of
    /// `GrammarCompiler.compile_json_schema`.
    ///
    /// `schema` is JSON text, a `dict`, or a pydantic model. Raises `InvalidSchemaError` or, for keywords that
    /// cannot be enforced, `UnsupportedError`, with `pointer`.
    #[staticmethod]
    #[pyo3(signature = (schema, **options),
           text_signature = "(schema, *, any_whitespace=True, indent=None, separators=None, strict_mode=True, \
                             max_whitespace_cnt=None, print_converted_ebnf=False, any_order=False, spelling=None, \
                             around_root=0, indent_depth=32, key_order=None, free_names='may_repeat', escapes=None, \
                             numbers=None, formats='enforced', unsupported=None, retriever=None, limits=None, \
                             interrupt=None)")]
    fn from_json_schema(schema: &Bound<'_, PyAny>, options: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let py = schema.py();
        let mut given = Settings::of(options)?;
        let prints = given.get("print_converted_ebnf")?.unwrap_or(false);
        let (options, interrupt) = (json_options(&mut given)?, interrupt(&mut given)?);
        given.finish_arguments("from_json_schema")?;
        let text = schema_text(schema)?;
        let read = |interrupt: &Interrupt| read_json_schema(&text, &options.interrupt(interrupt.clone()));
        Self::new(py, (Syntax::JsonSchema, &interrupt), read)?.printed(py, prints)
    }

    /// The texts that a regular expression matches. `dialect` is `"ecma"` (ECMA-262) or `"perl"`. `matching` is
    /// `"whole"` or `"search"` (anywhere in the text). `letter_case` is `"exact"` or `"ignored"`. With `groups="captured"`, groups with names are captures. `limits` is a dict of bounds:
    /// `pattern_bytes`, `nesting`, `unicode_classes`, `folded_characters`, `expressions`.
    #[staticmethod]
    #[pyo3(signature = (regex_string, **options),
           text_signature = "(regex_string, *, print_converted_ebnf=False, dialect='ecma', matching='whole', \
                             letter_case='exact', groups='plain', limits=None)")]
    fn from_regex(py: Python<'_>, regex_string: &str, options: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut given = Settings::of(options)?;
        let prints = given.get("print_converted_ebnf")?.unwrap_or(false);
        let options = regex_options(&mut given)?;
        given.finish_arguments("from_regex")?;
        let work = (Syntax::Regex, &Interrupt::never());
        Self::new(py, work, |_| read_regex(regex_string, &options))?.printed(py, prints)
    }

    /// A grammar in Lark's notation (llguidance's dialect). `named_grammars` are what `@name` stands for: `Grammar`
    /// objects, or sources. Names of special tokens are looked up when the grammar is compiled, so that
    /// `tokenizer_info` is not needed.
    ///
    /// `json_options` is a dict of the options of `from_json_schema`, for `%json`. `limits` (`source_bytes`, `tokens`, `nesting`,
    /// `chunks`, `ends`, `reports`) and `regex_limits` (as for `from_regex`) are dicts of bounds.
    ///
    /// Raises `InvalidGrammarError` with `line` and `column`.
    #[staticmethod]
    #[pyo3(signature = (lark_string, **options),
           text_signature = "(lark_string, *, tokenizer_info=None, named_grammars=None, start_rule_name='start', \
                             json_options=None, regex_limits=None, limits=None, interrupt=None)")]
    fn from_lark(py: Python<'_>, lark_string: &str, options: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut given = Settings::of(options)?;
        let info = given.take("tokenizer_info").filter(|info| !info.is_none());
        if info.is_some_and(|info| !info.is_instance_of::<TokenizerInfo>()) {
            return Err(PyTypeError::new_err("`tokenizer_info` must be a grammask.TokenizerInfo"));
        }
        let mut options = lark_arguments(&mut given)?;
        let interrupt = interrupt(&mut given)?;
        given.finish_arguments("from_lark")?;
        Self::new(py, (Syntax::Lark, &interrupt), |interrupt| {
            options.json_schema.interrupt = interrupt.clone();
            read_lark(lark_string, &options)
        })
    }

    /// Reads a structural tag: a `StructuralTag`, a `dict` or JSON text; or a list of `StructuralTagItem` and a
    /// list of triggers. Names of tokens are looked up when the grammar is compiled.
    ///
    /// `json_options` is a dict of the options of `from_json_schema`, `ebnf_options` one of those of `from_ebnf`, both for
    /// what the tag embeds; `limits` is a dict of bounds: `document_bytes`, `nesting`.
    ///
    /// Raises `InvalidStructuralTagError`, `InvalidJSONError` or `UnsupportedError`, with `pointer`.
    #[staticmethod]
    #[pyo3(signature = (*args, **kwargs))]
    fn from_structural_tag(
        py: Python<'_>,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let (text, mut options, interrupt) = structural_tag_arguments(args, kwargs)?;
        Self::new(py, (Syntax::StructuralTag, &interrupt), |interrupt| {
            options.json_schema.interrupt = interrupt.clone();
            read_structural_tag(&text, &options)
        })
    }

    /// Any JSON object or array.
    #[staticmethod]
    fn builtin_json_grammar(py: Python<'_>) -> PyResult<Self> {
        Self::new(py, (Syntax::Grammar, &Interrupt::never()), |_| read_builtin_json())
    }

    /// A text of each grammar, one after the other.
    #[staticmethod]
    #[pyo3(signature = (*grammars))]
    fn concat(grammars: &Bound<'_, PyTuple>) -> PyResult<Self> {
        Self::combine(grammars, passes::concat)
    }

    /// A text of any of the grammars.
    #[staticmethod]
    #[pyo3(signature = (*grammars))]
    fn union(grammars: &Bound<'_, PyTuple>) -> PyResult<Self> {
        Self::combine(grammars, passes::union)
    }

    /// One of the strings, as they are.
    #[staticmethod]
    fn from_choices(choices: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = choices.py();
        let Ok(choices) = choices.extract::<Vec<Bound<'_, PyAny>>>() else {
            let kind = choices.get_type();
            let message = format!("`choices` must be a list of strings, not {}", kind.name()?);
            return Err(PyTypeError::new_err(message));
        };
        let read = |(place, choice)| String::read(&format!("choices[{place}]"), choice);
        let choices = choices.iter().enumerate().map(read).collect::<PyResult<Vec<String>>>()?;
        if choices.is_empty() {
            return Err(PyTypeError::new_err("`choices` must hold at least one string"));
        }
        let mut builder = grammask::GrammarBuilder::new();
        let choices: Vec<_> = choices.iter().map(|choice| builder.literal(choice)).collect();
        let body = builder.choice(choices);
        let grammar = builder.add_rule("root", body).and_then(|root| builder.finish(root));
        Ok(Self { inner: Arc::new(grammar.map_err(|error| grammar_error(py, &error))?) })
    }

    /// The grammar as JSON.
    fn serialize_json(slf: &Bound<'_, Self>) -> PyResult<String> {
        slf.py().import("grammask._serialize")?.call_method1("serialize_grammar", (slf,))?.extract()
    }

    /// Reads the text that `serialize_json` wrote.
    #[staticmethod]
    fn deserialize_json<'py>(py: Python<'py>, json_string: &str) -> PyResult<Bound<'py, PyAny>> {
        py.import("grammask._serialize")?.call_method1("deserialize_grammar", (json_string,))
    }

    fn __str__(&self, py: Python<'_>) -> PyResult<String> {
        self.text(py)
    }

    fn __repr__(&self) -> String {
        format!("<Grammar of {} rules>", self.inner.rule_count())
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| {
            Arc::ptr_eq(&self.inner, &other.get().inner) || self.inner.is_same(&other.get().inner)
        })
    }

    /// Equal grammars have the same rules in the same order.
    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        hash_rules(&self.inner, &mut hasher);
        hasher.finish()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        Ok((slf.get_type().getattr("deserialize_json")?, (Self::serialize_json(slf)?,)))
    }

    fn __copy__(slf: &Bound<'_, Self>) -> Py<Self> {
        slf.clone().unbind()
    }

    fn __deepcopy__(slf: &Bound<'_, Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf.clone().unbind()
    }
}

/// The names of a grammar's rules, in which equal grammars agree.
pub(crate) fn hash_rules(grammar: &grammask::Grammar, hasher: &mut DefaultHasher) {
    for rule in grammar.rule_ids() {
        grammar.rule(rule).name().hash(hasher);
    }
}
