//! Arguments that several methods share.

use std::borrow::Cow;

use grammask::ebnf::EbnfLimits;
use grammask::json_schema::{
    Escapes, Formats, FreeNames, KeyOrder, Numbers, Objects, Retriever, Spelling, Unsupported, Whitespace,
};
use grammask::regex::{Dialect, Groups, LetterCase, Matching};
use grammask::{EbnfOptions, Interrupt, JsonSchemaOptions, LarkOptions, RegexOptions, StructuralTagOptions};
use pyo3::exceptions::{PyException, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyString};

use crate::errors::{is_compat, pass_on, raise};
use crate::settings::{Setting, Settings, set_fields, wrong_value};

/// Spaces of one level of indentation, at most.
const WIDEST_INDENT: usize = 64;

/// How deep arrays and objects nest where text is indented, unless the caller says so: every level has rules of its own.
const INDENT_DEPTH: u32 = 32;

/// A method's options, and its interrupt, out of its keyword arguments.
pub(crate) fn method_arguments<'py, O>(
    function: &str,
    given: Option<&Bound<'py, PyDict>>,
    read: impl FnOnce(&mut Settings<'py>) -> PyResult<O>,
) -> PyResult<(O, Interrupt)> {
    let mut given = Settings::of(given)?;
    let read = (read(&mut given)?, interrupt(&mut given)?);
    given.finish_arguments(function)?;
    Ok(read)
}

/// How xgrammar reads a schema, which is the default here.
fn usual_json_options() -> JsonSchemaOptions {
    let whitespace = Whitespace::Free { max_run: None };
    JsonSchemaOptions::default()
        .objects(Objects::Closed)
        .whitespace(whitespace)
        .unsupported(usual_unsupported())
}

/// The treatment of keywords that cannot be enforced.
fn usual_unsupported() -> Unsupported {
    if is_compat() { Unsupported::Ignore } else { Unsupported::Refuse }
}

/// The keyword arguments of `from_json_schema` and `compile_json_schema`.
pub(crate) fn json_options(given: &mut Settings<'_>) -> PyResult<JsonSchemaOptions> {
    set_json_options(usual_json_options(), given)
}

/// The argument `json_options` of other syntaxes: a dict of the keyword arguments of `compile_json_schema`.
fn set_embedded_json_options(given: &mut Settings<'_>, options: &mut JsonSchemaOptions) -> PyResult<()> {
    let mut inner = dict_of(given, "json_options")?;
    *options = set_json_options(options.clone(), &mut inner)?;
    if options.around_root > 0 {
        let message = "`around_root` is about whole texts: a schema inside of another structure has no whitespace around it";
        return Err(wrong_value(message));
    }
    inner.finish("json_options")
}

fn set_json_options(base: JsonSchemaOptions, given: &mut Settings<'_>) -> PyResult<JsonSchemaOptions> {
    pass_on(None);
    let mut options = base;
    if let Some(spelling) = given.choice("spelling", &spellings())? {
        options = options.spelling(spelling);
    }
    // Options of one of its parts decide about that part.
    options.whitespace = whitespace(given)?.unwrap_or(options.whitespace);
    let escapes = [
        ("printed", Escapes::Printed),
        ("any", Escapes::Any),
        ("needed", Escapes::Needed),
        ("ascii", Escapes::Ascii),
    ];
    options.escapes = given.choice("escapes", &escapes)?.unwrap_or(options.escapes);
    options.numbers = numbers(given)?.unwrap_or(options.numbers);
    given.set("around_root", &mut options.around_root)?;
    if let Some(strict) = given.get::<bool>("strict_mode")? {
        options.objects = if strict { Objects::Closed } else { Objects::Open };
    }
    let any_order = given.get::<bool>("any_order")?;
    if let Some(any_order) = any_order {
        options.key_order = if any_order { KeyOrder::Any } else { KeyOrder::Declared };
    }
    let orders = [
        ("declared", KeyOrder::Declared),
        ("required_first", KeyOrder::RequiredFirst),
        ("any", KeyOrder::Any),
    ];
    if let Some(order) = given.choice("key_order", &orders)? {
        if any_order == Some(true) && order != KeyOrder::Any {
            return Err(wrong_value("`any_order=True` and `key_order` contradict each other"));
        }
        options.key_order = order;
    }
    let names = [("may_repeat", FreeNames::MayRepeat), ("unique", FreeNames::Unique)];
    options.free_names = given.choice("free_names", &names)?.unwrap_or(options.free_names);
    let formats = [("enforced", Formats::Enforced), ("annotation", Formats::Annotation)];
    options.formats = given.choice("formats", &formats)?.unwrap_or(options.formats);
    let unsupported = [("refuse", Unsupported::Refuse), ("ignore", Unsupported::Ignore)];
    options.unsupported = given.choice("unsupported", &unsupported)?.unwrap_or(options.unsupported);
    if let Some(retriever) = given.take("retriever").filter(|value| !value.is_none()) {
        options.retriever = Some(self::retriever(&retriever)?);
    }
    let mut bounds = dict_of(given, "limits")?;
    set_fields!(
        bounds,
        "",
        options.limits,
        schema_bytes,
        values,
        goals,
        work,
        depth,
        alternatives,
        states,
        digits,
        expressions,
        documents
    );
    bounds.finish("limits")?;
    Ok(options)
}

/// The spellings by their names.
pub(crate) fn spellings() -> [(&'static str, Spelling); 4] {
    [Spelling::Printed, Spelling::Any, Spelling::Compact, Spelling::Canonical].map(|it| (it.name(), it))
}

/// Numbers by a name, or by the most digits of a printed one.
fn numbers(given: &mut Settings<'_>) -> PyResult<Option<Numbers>> {
    let Some(value) = given.take("numbers").filter(|value| !value.is_none()) else { return Ok(None) };
    let by_name = match value.cast::<PyString>() {
        Ok(name) => match name.to_str()? {
            "printed" => Some(Numbers::PRINTED),
            "any" => Some(Numbers::Any),
            "canonical" => Some(Numbers::Canonical),
            _ => None,
        },
        Err(_) => Some(Numbers::Printed { max_digits: u32::read("numbers", &value)? }),
    };
    let message = "`numbers` is \"printed\", \"any\", \"canonical\" or the most digits of a printed number";
    by_name.map(Some).ok_or_else(|| wrong_value(message))
}

/// A Python function from a URI to a schema, or to `None`.
fn retriever(function: &Bound<'_, PyAny>) -> PyResult<Retriever> {
    if !function.is_callable() {
        return Err(PyTypeError::new_err("`retriever` must be a function from a URI to a schema"));
    }
    let function = function.clone().unbind();
    Ok(Retriever::new(move |uri| {
        let text = Python::try_attach(|py| {
            let schema = function.bind(py).call1((uri,)).map_err(|error| {
                let message = error.to_string();
                if !error.is_instance_of::<PyException>(py) {
                    pass_on(Some(error));
                }
                message
            })?;
            match schema.is_none() {
                true => Err("the retriever has no such document".to_owned()),
                false => schema_text(&schema).map_err(|error| error.to_string()),
            }
        });
        let text = text.unwrap_or_else(|| Err("the interpreter is at its end".to_owned()))?;
        text.parse().map_err(|error| format!("the document is no JSON: {error}"))
    }))
}

/// Whitespace as xgrammar's arguments say it; `None` where they say nothing.
fn whitespace(given: &mut Settings<'_>) -> PyResult<Option<Whitespace>> {
    let free: Option<bool> = given.get("any_whitespace")?;
    let indent = match given.get::<i64>("indent")?.map(usize::try_from) {
        None => None,
        Some(Ok(spaces)) if spaces <= WIDEST_INDENT => Some(" ".repeat(spaces)),
        Some(_) => {
            let message = format!("`indent` must be a number of spaces from 0 to {WIDEST_INDENT}");
            return Err(wrong_value(message));
        }
    };
    let separators: Option<(String, String)> = given.get("separators")?;
    let max_run: Option<i64> = given.get("max_whitespace_cnt")?;
    let depth: u32 = given.get("indent_depth")?.unwrap_or(INDENT_DEPTH);
    let is_space = |text: &str| text.chars().all(|c| matches!(c, ' ' | '\t' | '\n' | '\r'));
    let is_sign = |text: &str, sign: char| {
        text.trim_start_matches([' ', '\t', '\n', '\r']).strip_prefix(sign).is_some_and(is_space)
    };
    if separators.as_ref().is_some_and(|(item, key)| !is_sign(item, ',') || !is_sign(key, ':')) {
        let message = "`separators` must be a comma and a colon, each with nothing but whitespace around it";
        return Err(wrong_value(message));
    }
    if free.is_none() && max_run.is_none() {
        return Ok(None);
    }
    if free != Some(false) {
        let max_run = match max_run {
            None => None,
            Some(count) => match u32::try_from(count) {
                Ok(count) if count > 0 => Some(count),
                _ => return Err(wrong_value("`max_whitespace_cnt` must be positive")),
            },
        };
        return Ok(Some(Whitespace::Free { max_run }));
    }
    let usual_item = if indent.is_some() { "," } else { ", " };
    let (item, key) = separators.unwrap_or_else(|| (usual_item.to_owned(), ": ".to_owned()));
    Ok(Some(match indent {
        None => Whitespace::Fixed { item_separator: item, key_separator: key },
        Some(indent) => {
            Whitespace::Indented { indent, item_separator: item, key_separator: key, max_depth: depth }
        }
    }))
}

/// The keyword arguments of `from_regex` and `compile_regex`.
pub(crate) fn regex_options(given: &mut Settings<'_>) -> PyResult<RegexOptions> {
    let mut options = usual_regex_options();
    let dialects = [("ecma", Dialect::Ecma), ("perl", Dialect::Perl)];
    options.dialect = given.choice("dialect", &dialects)?.unwrap_or(options.dialect);
    let matching = [("whole", Matching::Whole), ("search", Matching::Search)];
    options.matching = given.choice("matching", &matching)?.unwrap_or(options.matching);
    let cases = [("exact", LetterCase::Exact), ("ignored", LetterCase::Ignored)];
    options.letter_case = given.choice("letter_case", &cases)?.unwrap_or(options.letter_case);
    let groups = [("plain", Groups::Plain), ("captured", Groups::Captured)];
    options.groups = given.choice("groups", &groups)?.unwrap_or(options.groups);
    let mut bounds = dict_of(given, "limits")?;
    set_regex_limits(&mut bounds, &mut options)?;
    bounds.finish("limits")?;
    Ok(options)
}

fn set_regex_limits(bounds: &mut Settings<'_>, options: &mut RegexOptions) -> PyResult<()> {
    let limits = &mut options.limits;
    set_fields!(bounds, "", limits, pattern_bytes, nesting, unicode_classes, folded_characters, expressions);
    Ok(())
}

/// How a pattern is read by default.
fn usual_regex_options() -> RegexOptions {
    RegexOptions::default().dialect(Dialect::Ecma)
}

/// The keyword arguments of `from_ebnf` and `compile_grammar`, and of `from_gbnf` and `compile_gbnf`.
pub(crate) fn ebnf_options(given: &mut Settings<'_>) -> PyResult<EbnfOptions> {
    let mut options = EbnfOptions::default();
    set_ebnf_options(given, &mut options.root, &mut options.limits)?;
    Ok(options)
}

fn set_ebnf_options(given: &mut Settings<'_>, root: &mut String, limits: &mut EbnfLimits) -> PyResult<()> {
    given.set("root_rule_name", root)?;
    let mut bounds = dict_of(given, "limits")?;
    set_fields!(bounds, "", limits, source_bytes, tokens, nesting, chunks, reports);
    bounds.finish("limits")
}

/// The keyword arguments of `from_lark` and `compile_lark`, but for `named_grammars`.
pub(crate) fn lark_options(given: &mut Settings<'_>) -> PyResult<LarkOptions> {
    let mut options = LarkOptions::default();
    given.set("start_rule_name", &mut options.start)?;
    options.json_schema = options.json_schema.unsupported(usual_unsupported());
    set_embedded_json_options(given, &mut options.json_schema)?;
    let mut bounds = dict_of(given, "regex_limits")?;
    let mut regex = RegexOptions::default().limits(options.regex);
    set_regex_limits(&mut bounds, &mut regex)?;
    options.regex = regex.limits;
    bounds.finish("regex_limits")?;
    let mut bounds = dict_of(given, "limits")?;
    set_fields!(bounds, "", options.limits, source_bytes, tokens, nesting, chunks, ends, reports);
    bounds.finish("limits")?;
    Ok(options)
}

/// How structural tags are read by default.
pub(crate) fn usual_structural_tag_options() -> StructuralTagOptions {
    StructuralTagOptions::default().json_schema(usual_json_options())
}

/// The keyword arguments of `from_structural_tag` and `compile_structural_tag` that are options.
pub(crate) fn structural_tag_options(given: &mut Settings<'_>) -> PyResult<StructuralTagOptions> {
    let mut options = usual_structural_tag_options();
    set_embedded_json_options(given, &mut options.json_schema)?;
    let mut ebnf = dict_of(given, "ebnf_options")?;
    set_ebnf_options(&mut ebnf, &mut options.ebnf.root, &mut options.ebnf.limits)?;
    ebnf.finish("ebnf_options")?;
    let mut bounds = dict_of(given, "limits")?;
    set_fields!(bounds, "", options.limits, document_bytes, nesting);
    bounds.finish("limits")?;
    Ok(options)
}

/// The interrupt that a call was given, or one that never comes.
pub(crate) fn interrupt(given: &mut Settings<'_>) -> PyResult<Interrupt> {
    let Some(value) = given.take("interrupt").filter(|value| !value.is_none()) else {
        return Ok(Interrupt::never());
    };
    let interrupt = value.cast::<crate::interrupt::Interrupt>();
    let message = "`interrupt` must be a grammask.Interrupt";
    interrupt.map(|interrupt| interrupt.get().inner.clone()).map_err(|_| PyTypeError::new_err(message))
}

/// The names of an argument that is a dict.
pub(crate) fn dict_of<'py>(given: &mut Settings<'py>, name: &'static str) -> PyResult<Settings<'py>> {
    let Some(value) = given.take(name).filter(|value| !value.is_none()) else { return Settings::of(None) };
    let message = || PyTypeError::new_err(format!("`{name}` must be a dict"));
    Settings::of(Some(value.cast::<PyDict>().map_err(|_| message())?))
}

/// A schema as JSON text: a string as it is, a `dict` through `json`, a pydantic model through its schema.
pub(crate) fn schema_text(schema: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Ok(text) = schema.cast::<PyString>() {
        return Ok(text.to_str()?.to_owned());
    }
    schema.py().import("grammask._support")?.call_method1("schema_text", (schema,))?.extract()
}

/// The bytes of a `str`, `bytes` or `bytearray`.
pub(crate) fn text_bytes<'a>(text: &'a Bound<'_, PyAny>) -> PyResult<Cow<'a, [u8]>> {
    if let Ok(bytes) = text.cast::<PyBytes>() {
        return Ok(Cow::Borrowed(bytes.as_bytes()));
    }
    if let Ok(bytes) = text.cast::<PyByteArray>() {
        return Ok(Cow::Owned(bytes.to_vec()));
    }
    Ok(Cow::Borrowed(text.cast::<PyString>()?.to_str()?.as_bytes()))
}

/// The items of a list, a generator or whatever else can be iterated over, but for a text.
pub(crate) struct Items<T>(pub(crate) Vec<T>);

impl<'py, T: FromPyObjectOwned<'py>> FromPyObject<'_, 'py> for Items<T> {
    type Error = PyErr;

    fn extract(items: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if items.is_instance_of::<PyString>() {
            return Err(PyTypeError::new_err("a list was expected, not one `str`"));
        }
        let items = items.try_iter()?.map(|item| item?.extract::<T>().map_err(Into::into));
        items.collect::<PyResult<_>>().map(Items)
    }
}

/// One number or a list of them, which may be ids.
pub(crate) fn id_numbers(ids: &Bound<'_, PyAny>) -> PyResult<Vec<i64>> {
    match ids.extract::<i64>() {
        Ok(id) => Ok(vec![id]),
        Err(_) => ids.extract().map(|Items(ids)| ids),
    }
}

/// One id or a list of them.
pub(crate) fn id_list(py: Python<'_>, ids: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Vec<u32>>> {
    let Some(ids) = ids else { return Ok(None) };
    let check = |id: i64| {
        let message = format!("{id} is no token id");
        u32::try_from(id).map_err(|_| raise(py, "TokenizerError", message))
    };
    id_numbers(ids)?.into_iter().map(check).collect::<PyResult<_>>().map(Some)
}
