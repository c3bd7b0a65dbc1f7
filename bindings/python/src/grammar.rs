//! `Grammar`: a structure before it meets a vocabulary.

use std::collections::BTreeMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use grammask::ir::passes;
use grammask::json_schema;
use grammask::lark::{self, LarkOptions, NamedGrammar};
use grammask::tool_formats::{Markers, Reasoning};
use grammask::{
    CompileError, EbnfOptions, GrammarError, JsonSchemaOptions, StructuralTag, StructuralTagOptions,
    ToolFormat, ToolRequest, ebnf, regex,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::arguments::{JsonArguments, regex_options, schema_text};
use crate::errors::{Syntax, grammar_error, raise, refused, warn};

/// A structure: the set of texts that a model may write. Immutable.
///
/// `str(grammar)` is EBNF that `Grammar.from_ebnf` reads back as the same grammar; its first rule is `root`.
/// Instances compare by their rules, hash, pickle and deep-copy.
#[pyclass(frozen, module = "grammask", weakref)]
pub(crate) struct Grammar {
    pub(crate) inner: Arc<grammask::Grammar>,
}

/// A grammar, and what its reader has to say about it.
pub(crate) type Read = (grammask::Grammar, Vec<String>);

/// Reads EBNF. Whatever the start rule is called in the source, it is `root` in the grammar, so that the printed
/// grammar needs no second piece of information.
pub(crate) fn read_ebnf(source: &str, root: &str) -> Result<Read, CompileError> {
    let options = EbnfOptions { root: root.to_owned(), ..EbnfOptions::default() };
    let grammar = ebnf::parse(source, &options)?;
    if root == "root" {
        return Ok((grammar, Vec::new()));
    }
    // One grammar more than fits the ids of the one that was just read is the only way to fail.
    let renamed = passes::union(&[&grammar]).unwrap_or(grammar);
    Ok((renamed, Vec::new()))
}

/// Reads Lark's notation, with grammars that `@name` stands for.
pub(crate) fn read_lark(source: &str, named: &BTreeMap<String, NamedGrammar>) -> Result<Read, CompileError> {
    let options = LarkOptions { named: named.clone(), ..LarkOptions::default() };
    Ok((lark::parse(source, &options)?, Vec::new()))
}

/// The argument `named_grammars`: a dict of `Grammar` objects and sources.
pub(crate) fn named_grammars(named: Option<&Bound<'_, PyDict>>) -> PyResult<BTreeMap<String, NamedGrammar>> {
    let mut grammars = BTreeMap::new();
    for (name, grammar) in named.into_iter().flatten() {
        let grammar = match grammar.cast::<Grammar>() {
            Ok(grammar) => NamedGrammar::Grammar((*grammar.get().inner).clone()),
            Err(_) => NamedGrammar::Lark(grammar.extract()?),
        };
        grammars.insert(name.extract()?, grammar);
    }
    Ok(grammars)
}

/// How structural tags are read.
pub(crate) fn structural_tag_options() -> StructuralTagOptions {
    let whitespace = json_schema::Whitespace::Free { max_run: None };
    let schemas = JsonSchemaOptions::default().objects(json_schema::Objects::Closed).whitespace(whitespace);
    StructuralTagOptions::default().json_schema(schemas)
}

/// Reads a structural tag given as JSON text.
pub(crate) fn read_structural_tag(document: &str) -> Result<Read, CompileError> {
    let options = structural_tag_options();
    Ok((StructuralTag::parse(document, &options)?.grammar(&options)?, Vec::new()))
}

/// The arguments of `from_structural_tag` and `compile_structural_tag` as JSON text.
pub(crate) fn structural_tag_text(
    args: &Bound<'_, PyTuple>,
    kwargs: Option<&Bound<'_, PyDict>>,
) -> PyResult<String> {
    args.py().import("grammask._support")?.call_method("structural_tag_text", args, kwargs)?.extract()
}

/// The structural tag of a model family for a request, both as JSON text.
#[pyfunction]
pub(crate) fn model_structural_tag(
    py: Python<'_>,
    model: &str,
    request: &str,
    reasoning: &str,
    exclude_markers: bool,
    max_whitespace: Option<u32>,
) -> PyResult<String> {
    let make = || -> Result<String, CompileError> {
        let format = ToolFormat::named(model)?;
        let reasoning = match reasoning {
            "disabled" => Reasoning::Disabled,
            "auto" => Reasoning::Auto,
            _ => Reasoning::Enabled,
        };
        let markers = if exclude_markers { Markers::Excluded } else { Markers::Allowed };
        let request = ToolRequest::parse(request)?.reasoning(reasoning).markers(markers);
        Ok(format.structure(&request.max_whitespace(max_whitespace))?.to_value().to_string())
    };
    make().map_err(|error| refused(py, &error, Syntax::StructuralTag))
}

pub(crate) fn read_regex(pattern: &str) -> Result<Read, CompileError> {
    Ok((regex::parse(pattern, &regex_options())?, Vec::new()))
}

pub(crate) fn read_json_schema(schema: &str, options: &JsonSchemaOptions) -> Result<Read, CompileError> {
    let compiled = json_schema::compile(schema, options)?;
    let warnings = compiled.report.warnings().collect();
    Ok((compiled.grammar, warnings))
}

/// What xgrammar's built-in grammar describes: any object or array.
pub(crate) fn read_builtin_json() -> Result<Read, CompileError> {
    let whitespace = json_schema::Whitespace::Free { max_run: None };
    read_json_schema(r#"{"type": ["object", "array"]}"#, &JsonSchemaOptions::default().whitespace(whitespace))
}

impl Grammar {
    pub(crate) fn new(
        py: Python<'_>,
        syntax: Syntax,
        read: impl FnOnce() -> Result<Read, CompileError> + Send,
    ) -> PyResult<Self> {
        let (grammar, warnings) = py.detach(read).map_err(|error| refused(py, &error, syntax))?;
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

    fn text(&self, py: Python<'_>) -> PyResult<String> {
        grammask::ir::print(&self.inner, &grammask::ir::PrintOptions::default())
            .map_err(|error| raise(py, "GrammaskError", error.to_string()))
    }
}

fn print_text(grammar: &Grammar, py: Python<'_>) -> PyResult<()> {
    py.import("builtins")?.call_method1("print", (grammar.text(py)?,)).map(drop)
}

#[pymethods]
impl Grammar {
    /// Reads EBNF.
    ///
    /// Raises `InvalidGrammarError` with `line` and `column`.
    #[staticmethod]
    #[pyo3(signature = (ebnf_string, *, root_rule_name="root"))]
    fn from_ebnf(py: Python<'_>, ebnf_string: &str, root_rule_name: &str) -> PyResult<Self> {
        Self::new(py, Syntax::Ebnf, || read_ebnf(ebnf_string, root_rule_name))
    }

    /// Turns a JSON Schema into a grammar of the JSON texts that obey it.
    ///
    /// `schema` is JSON text, a `dict`, or a pydantic model. Raises `InvalidSchemaError` or, for keywords that
    /// cannot be enforced, `UnsupportedError`, with `pointer`.
    #[staticmethod]
    #[pyo3(signature = (schema, *, any_whitespace=true, indent=None, separators=None, strict_mode=true,
                        max_whitespace_cnt=None, print_converted_ebnf=false, any_order=false, spelling=None,
                        around_root=0))]
    #[expect(clippy::too_many_arguments, reason = "the keyword arguments of the Python signature")]
    fn from_json_schema(
        schema: &Bound<'_, PyAny>,
        any_whitespace: bool,
        indent: Option<i64>,
        separators: Option<(String, String)>,
        strict_mode: bool,
        max_whitespace_cnt: Option<i64>,
        print_converted_ebnf: bool,
        any_order: bool,
        spelling: Option<String>,
        around_root: u32,
    ) -> PyResult<Self> {
        let py = schema.py();
        let arguments = JsonArguments {
            any_whitespace,
            indent,
            separators,
            strict_mode,
            max_whitespace_cnt,
            any_order,
            spelling,
            around_root,
        };
        let (text, options) = (schema_text(schema)?, arguments.options(py)?);
        let grammar = Self::new(py, Syntax::JsonSchema, || read_json_schema(&text, &options))?;
        if print_converted_ebnf {
            print_text(&grammar, py)?;
        }
        Ok(grammar)
    }

    /// The texts that a regular expression matches from end to end (ECMA-262 syntax).
    #[staticmethod]
    #[pyo3(signature = (regex_string, *, print_converted_ebnf=false))]
    fn from_regex(py: Python<'_>, regex_string: &str, print_converted_ebnf: bool) -> PyResult<Self> {
        let grammar = Self::new(py, Syntax::Regex, || read_regex(regex_string))?;
        if print_converted_ebnf {
            print_text(&grammar, py)?;
        }
        Ok(grammar)
    }

    /// A grammar in Lark's notation (llguidance's dialect). `named_grammars` are what `@name` stands for: `Grammar`
    /// objects, or sources. Names of special tokens are looked up when the grammar is compiled, so that
    /// `tokenizer_info` is not needed.
    ///
    /// Raises `InvalidGrammarError` with `line` and `column`.
    #[staticmethod]
    #[pyo3(signature = (lark_string, *, tokenizer_info=None, named_grammars=None))]
    fn from_lark(
        py: Python<'_>,
        lark_string: &str,
        tokenizer_info: Option<&Bound<'_, PyAny>>,
        named_grammars: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let _ = tokenizer_info;
        let named = self::named_grammars(named_grammars)?;
        Self::new(py, Syntax::Lark, || read_lark(lark_string, &named))
    }

    /// Reads a structural tag: a `StructuralTag`, a `dict` or JSON text; or a list of `StructuralTagItem` and a
    /// list of triggers. Names of tokens are looked up when the grammar is compiled.
    ///
    /// Raises `InvalidStructuralTagError`, `InvalidJSONError` or `UnsupportedError`, with `pointer`.
    #[staticmethod]
    #[pyo3(signature = (*args, **kwargs))]
    fn from_structural_tag(
        py: Python<'_>,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let text = structural_tag_text(args, kwargs)?;
        Self::new(py, Syntax::StructuralTag, || read_structural_tag(&text))
    }

    /// Any JSON object or array.
    #[staticmethod]
    fn builtin_json_grammar(py: Python<'_>) -> PyResult<Self> {
        Self::new(py, Syntax::Grammar, read_builtin_json)
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
    fn from_choices(py: Python<'_>, choices: Vec<String>) -> PyResult<Self> {
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

    /// What `serialize_json` wrote.
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
