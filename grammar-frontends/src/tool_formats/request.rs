//! The request of a client, in the shape of OpenAI's requests.

use std::collections::HashSet;
use std::sync::Arc;

use grammask_grammar_ir::setters;

use crate::diagnostic::{Diagnostic, Diagnostics, Result};
use crate::json::{JsonObject, JsonValue};
use crate::json_schema::Spelling;
use crate::structural_tag::MemberOrder;

/// The most tools of a request. A structural tag repeats each of them, and marks around it.
const MAX_TOOLS: usize = 10_000;

/// Tools, which of them may be called, and what else the answer may hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolRequest {
    pub(super) functions: Vec<Function>,
    pub(super) builtins: Vec<Builtin>,
    pub(super) choice: Choice,
    pub(super) parallel: ParallelCalls,
    pub(super) reasoning: Reasoning,
    pub(super) reasoning_chars: Option<u32>,
    pub(super) markers: Markers,
    pub(super) response: Option<Arc<JsonValue>>,
    pub(super) member_order: MemberOrder,
    pub(super) spelling: Option<Spelling>,
    pub(super) max_whitespace: Option<u32>,
}

/// A function that the client offers.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Function {
    pub(super) name: Box<str>,
    pub(super) schema: Arc<JsonValue>,
    /// The place of the schema in the request.
    pub(super) origin: Box<str>,
}

/// A tool that the model brings along.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Builtin {
    pub(super) kind: Box<str>,
    pub(super) name: Box<str>,
    pub(super) schema: Arc<JsonValue>,
    pub(super) origin: Box<str>,
}

/// How many calls there may be, and must be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Choice {
    /// Text, calls, or both.
    #[default]
    Auto,
    /// At least one call.
    Required,
    /// Exactly one call, of the one tool that is left.
    Forced,
}

/// Whether an answer may hold several calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ParallelCalls {
    /// Any number of them.
    #[default]
    Allowed,
    /// One at most, and nothing after it.
    Off,
}

/// Whether the model thinks before it answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reasoning {
    /// It does: the text begins with its reasoning.
    #[default]
    Enabled,
    /// It does not.
    Disabled,
    /// As it likes.
    Auto,
    /// It thinks of nothing: the reasoning is empty, and its end is forced.
    Empty,
}

/// Whether the marks of reasoning may occur as text: both in the answer, and the opening one in the reasoning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Markers {
    /// They may not.
    #[default]
    Excluded,
    /// They may.
    Allowed,
}

impl ToolRequest {
    /// A request without tools: free text, after reasoning where the model does that.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads a request: an object with `tools`, `tool_choice`, `parallel_tool_calls` and `response_format` as in
    /// OpenAI's interface, all of them optional and others ignored; or a list of tools.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong, with its JSON pointer.
    pub fn parse(request: &str) -> Result<Self, Diagnostics> {
        let value: JsonValue = request.parse().map_err(|error| {
            let message = format!("the request is no JSON: {error}");
            Diagnostic::error("tools/syntax", message).with_hint("correct the JSON")
        })?;
        read(&value).map_err(|error| (*error).with_json_source(request).into())
    }

    /// Reads a request that was parsed already; see [`parse`](Self::parse).
    pub fn from_value(request: &JsonValue) -> Result<Self, Diagnostics> {
        read(request).map_err(|error| (*error).into())
    }

    pub(super) fn has_tools(&self) -> bool {
        !self.functions.is_empty() || !self.builtins.is_empty()
    }
}

setters! { ToolRequest {
    /// Whether several calls may be made. Default: they may.
    parallel: ParallelCalls,
    /// Whether the model thinks first. Default: it does, where its family can.
    reasoning: Reasoning,
    /// Ends reasoning after this many characters. Default: it ends when the model ends it.
    reasoning_chars: Option<u32>,
    /// Whether marks of reasoning may be text of the answer. Default: they may not.
    markers: Markers,
    /// Most whitespace characters in a row in arguments. Default: as the options of the structural tag say.
    max_whitespace: Option<u32>,
    /// In which order the members of arguments come. Default: as their schemas declare them.
    member_order: MemberOrder,
    /// How the texts of arguments are spelled. Default: as the options of the structural tag say.
    spelling: Option<Spelling>,
} }

pub(super) fn malformed(
    pointer: &str,
    message: impl Into<String>,
    hint: impl Into<String>,
) -> Box<Diagnostic> {
    Box::new(Diagnostic::error("tools/malformed", message).with_pointer(pointer).with_hint(hint))
}

fn read(value: &JsonValue) -> Result<ToolRequest> {
    let mut request = ToolRequest::default();
    let members = match value {
        JsonValue::Array(tools) => {
            read_tools(tools, "", &mut request)?;
            return Ok(request);
        }
        JsonValue::Object(members) => members,
        _ => return Err(malformed("", "a request must be an object or a list of tools", "write an object")),
    };
    match present(members, "tools") {
        None => {}
        Some(JsonValue::Array(tools)) => read_tools(tools, "/tools", &mut request)?,
        Some(_) => return Err(malformed("/tools", "`tools` must be a list", "write a list of tools")),
    }
    match present(members, "parallel_tool_calls") {
        None | Some(JsonValue::Bool(true)) => {}
        Some(JsonValue::Bool(false)) => request.parallel = ParallelCalls::Off,
        Some(_) => {
            let message = "`parallel_tool_calls` must be a boolean";
            return Err(malformed("/parallel_tool_calls", message, "write `true` or `false`"));
        }
    }
    if let Some(format) = present(members, "response_format") {
        request.response = read_response(format)?;
    }
    if let Some(choice) = present(members, "tool_choice") {
        read_choice(choice, &mut request)?;
    }
    Ok(request)
}

fn present<'v>(members: &'v JsonObject, key: &str) -> Option<&'v JsonValue> {
    members.get(key).filter(|value| !value.is_null())
}

fn read_tools(tools: &[JsonValue], at: &str, request: &mut ToolRequest) -> Result<()> {
    if tools.len() > MAX_TOOLS {
        let message = format!("a request has at most {MAX_TOOLS} tools");
        let place = format!("{at}/{MAX_TOOLS}");
        return Err(Box::new(
            Diagnostic::error("tools/limit", message).with_pointer(&place).with_hint("offer fewer tools"),
        ));
    }
    let mut names = HashSet::new();
    for (index, tool) in tools.iter().enumerate() {
        let pointer = format!("{at}/{index}");
        let JsonValue::Object(members) = tool else {
            return Err(malformed(
                &pointer,
                "a tool must be an object",
                "write {\"type\": \"function\", ...}",
            ));
        };
        let kind = match members.get("type") {
            None => "function",
            Some(JsonValue::String(kind)) => kind,
            Some(_) => {
                return Err(malformed(&pointer, "a tool's `type` must be a string", "write \"function\""));
            }
        };
        if kind == "function" {
            let (members, inside) = match present(members, "function") {
                Some(JsonValue::Object(function)) => (function, format!("{pointer}/function")),
                Some(_) => {
                    return Err(malformed(&pointer, "`function` must be an object", "write an object"));
                }
                None => (members, pointer),
            };
            let name = read_name(members.get("name"), &inside)?;
            if !names.insert(name) {
                let message = format!("two tools have the name `{name}`");
                return Err(malformed(&format!("{inside}/name"), message, "give one of them another name"));
            }
            let is_strict = members.get("strict") != Some(&JsonValue::Bool(false));
            let schema = read_schema(members, &inside)?.filter(|_| is_strict);
            request.functions.push(Function {
                name: name.into(),
                schema: schema.unwrap_or_else(|| Arc::new(JsonValue::Bool(true))),
                origin: format!("{inside}/parameters").into(),
            });
        } else {
            let name = match members.get("name") {
                None => kind,
                name => read_name(name, &pointer)?,
            };
            let schema = read_schema(members, &pointer)?;
            request.builtins.push(Builtin {
                kind: kind.into(),
                name: name.into(),
                schema: schema.unwrap_or_else(|| Arc::new(JsonValue::Bool(true))),
                origin: format!("{pointer}/parameters").into(),
            });
        }
    }
    Ok(())
}

/// A tool's name. It is written in marks and in JSON strings as it is, so it can hold nothing that means
/// something there.
fn read_name<'v>(value: Option<&'v JsonValue>, pointer: &str) -> Result<&'v str> {
    let pointer = format!("{pointer}/name");
    let Some(name) = value.and_then(JsonValue::as_str).filter(|name| !name.is_empty()) else {
        return Err(malformed(&pointer, "a tool needs a name", "add `name`, a string"));
    };
    let is_unfit = |character: char| {
        matches!(character, '"' | '\\' | '<' | '>' | '&' | '|' | '[' | ']' | '(' | ')' | '{' | '}')
            || character.is_whitespace()
            || character.is_control()
    };
    match name.chars().find(|&character| is_unfit(character)) {
        Some(character) => {
            let message = format!("a tool's name cannot hold the character {character:?}");
            Err(malformed(&pointer, message, "use letters, digits, `_`, `-` and `.`"))
        }
        None => Ok(name),
    }
}

/// The name in a `function`.
fn named(value: &JsonValue) -> Option<&JsonValue> {
    value.get("function")?.get("name")
}

/// The names that the schema of a tool has in other interfaces.
const OTHER_SCHEMAS: [&str; 2] = ["input_schema", "inputSchema"];

fn read_schema(members: &JsonObject, pointer: &str) -> Result<Option<Arc<JsonValue>>> {
    match present(members, "parameters") {
        None => match OTHER_SCHEMAS.into_iter().find(|name| present(members, name).is_some()) {
            None => Ok(None),
            Some(name) => {
                let message = format!("a tool's schema is its `parameters`, not its `{name}`");
                Err(malformed(&format!("{pointer}/{name}"), message, "rename it"))
            }
        },
        Some(schema @ (JsonValue::Object(_) | JsonValue::Bool(_))) => Ok(Some(Arc::new(schema.clone()))),
        Some(_) => {
            let pointer = format!("{pointer}/parameters");
            Err(malformed(&pointer, "`parameters` must be a JSON Schema", "write an object"))
        }
    }
}

/// The schema of the answer; `None` where any text will do.
fn read_response(format: &JsonValue) -> Result<Option<Arc<JsonValue>>> {
    let at = "/response_format";
    match format.get("type").and_then(JsonValue::as_str) {
        Some("text") => Ok(None),
        Some("json_object") => Ok(Some(Arc::new(JsonValue::object([("type", "object".into())])))),
        Some("json_schema") => {
            let wrapped = format.get("json_schema");
            match wrapped.and_then(|wrapped| wrapped.get("schema")).or_else(|| format.get("schema")) {
                Some(schema @ (JsonValue::Object(_) | JsonValue::Bool(_))) => {
                    Ok(Some(Arc::new(schema.clone())))
                }
                _ => Err(malformed(
                    &format!("{at}/json_schema"),
                    "`json_schema` must hold a `schema`",
                    "write {\"name\": ..., \"schema\": ...}",
                )),
            }
        }
        _ => {
            let message = "`response_format` must be of the type `text`, `json_object` or `json_schema`";
            Err(malformed(at, message, "write {\"type\": \"json_schema\", \"json_schema\": ...}"))
        }
    }
}

fn read_choice(choice: &JsonValue, request: &mut ToolRequest) -> Result<()> {
    let at = "/tool_choice";
    match choice {
        JsonValue::String(mode) => read_mode(mode, at, request),
        JsonValue::Object(members) => match members.get("type").and_then(JsonValue::as_str) {
            Some("function") => {
                let name = named(choice).or_else(|| members.get("name"));
                let Some(name) = name.and_then(JsonValue::as_str) else {
                    return Err(malformed(at, "the chosen function needs a name", "add `function.name`"));
                };
                request.functions.retain(|function| *function.name == *name);
                request.builtins.clear();
                if request.functions.is_empty() {
                    return Err(unknown_tool(at, name));
                }
                request.choice = Choice::Forced;
                Ok(())
            }
            Some("allowed_tools") => {
                let inner =
                    present(members, "allowed_tools").and_then(JsonValue::as_object).unwrap_or(members);
                let Some(JsonValue::Array(allowed)) = inner.get("tools") else {
                    return Err(malformed(at, "`allowed_tools` needs a list of `tools`", "add `tools`"));
                };
                keep_allowed(allowed, request)?;
                match inner.get("mode").and_then(JsonValue::as_str) {
                    Some(mode @ ("auto" | "required")) => read_mode(mode, at, request),
                    _ => Err(malformed(at, "`mode` must be `auto` or `required`", "add `mode`")),
                }
            }
            Some(kind) => {
                request.functions.clear();
                request.builtins.retain(|builtin| *builtin.kind == *kind);
                match request.builtins.len() {
                    0 => Err(unknown_tool(at, kind)),
                    1 => {
                        request.choice = Choice::Forced;
                        Ok(())
                    }
                    _ => Err(malformed(at, format!("several tools are of the type `{kind}`"), "offer one")),
                }
            }
            None => Err(malformed(at, "the chosen tool needs a `type`", "write \"type\": \"function\"")),
        },
        _ => Err(malformed(at, "`tool_choice` must be a string or an object", "write \"auto\"")),
    }
}

fn read_mode(mode: &str, at: &str, request: &mut ToolRequest) -> Result<()> {
    match mode {
        "auto" => request.choice = Choice::Auto,
        "none" => {
            request.functions.clear();
            request.builtins.clear();
            request.choice = Choice::Auto;
        }
        "required" => {
            if !request.has_tools() {
                let message = "a call is required, but there are no tools";
                return Err(malformed(at, message, "offer a tool or choose \"auto\""));
            }
            request.choice = Choice::Required;
        }
        _ => {
            let message = "`tool_choice` must be \"auto\", \"none\", \"required\" or an object";
            return Err(malformed(at, message, "write one of these"));
        }
    }
    Ok(())
}

fn keep_allowed(allowed: &[JsonValue], request: &mut ToolRequest) -> Result<()> {
    let mut functions = HashSet::new();
    let mut kinds = HashSet::new();
    for (index, tool) in allowed.iter().enumerate() {
        let pointer = format!("/tool_choice/tools/{index}");
        let kind = tool.get("type").and_then(JsonValue::as_str).unwrap_or("function");
        if kind != "function" {
            if !request.builtins.iter().any(|builtin| *builtin.kind == *kind) {
                return Err(unknown_tool(&pointer, kind));
            }
            kinds.insert(kind);
            continue;
        }
        let name = named(tool).or_else(|| tool.get("name")).and_then(JsonValue::as_str);
        let Some(name) = name else {
            return Err(malformed(&pointer, "an allowed function needs a name", "add `name`"));
        };
        if !request.functions.iter().any(|function| *function.name == *name) {
            return Err(unknown_tool(&pointer, name));
        }
        functions.insert(name);
    }
    request.functions.retain(|function| functions.contains(&*function.name));
    request.builtins.retain(|builtin| kinds.contains(&*builtin.kind));
    Ok(())
}

fn unknown_tool(pointer: &str, name: &str) -> Box<Diagnostic> {
    let message = format!("no tool named `{name}` is offered");
    malformed(pointer, message, "add it to `tools` or choose another one")
}
