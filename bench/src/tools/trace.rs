//! Traces: tools that were offered and what was written, read from a pack.

use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::call_format::CallFormat;
use super::structure::Tool;
use crate::run::pack::{self, Choice};
use crate::run::python::dumps;

/// One answer of an agent.
#[derive(Debug, Clone)]
pub(crate) struct Trace {
    pub(crate) id: String,
    pub(crate) tools: Vec<Tool>,
    calls: Vec<Call>,
    llama: String,
    harmony: String,
}

#[derive(Debug, Clone, Deserialize)]
struct Call {
    name: String,
    arguments: Value,
}

/// Where in an answer a token begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    FreeText,
    Tag,
    Arguments,
    End,
}

impl Place {
    pub(crate) const ALL: [Self; 4] = [Self::FreeText, Self::Tag, Self::Arguments, Self::End];
}

/// Something that is wrong with an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mutation {
    /// A key that the closed object of arguments does not have.
    Key,
    /// A value of another type.
    Type,
    /// A call of a tool that was not offered.
    Tool,
}

impl Mutation {
    pub(crate) const ALL: [Self; 3] = [Self::Key, Self::Type, Self::Tool];
}

#[derive(Deserialize)]
struct Line {
    id: String,
    tools: Vec<OfferedTool>,
    calls: Vec<Call>,
    valid_strict: bool,
    outputs: Outputs,
}

#[derive(Deserialize)]
struct OfferedTool {
    function: Function,
}

#[derive(Deserialize)]
struct Function {
    name: String,
    parameters: Value,
}

#[derive(Deserialize)]
struct Outputs {
    llama: String,
    harmony: String,
}

/// The valid traces of a pack, in the order in which they are to be run.
pub(crate) fn read(path: &Path, choice: &Choice) -> Result<Vec<Trace>> {
    let mut traces = Vec::new();
    for line in pack::read(path, choice)? {
        let read: Line = serde_json::from_str(&line.text).with_context(|| format!("trace {}", line.id))?;
        if !read.valid_strict {
            continue;
        }
        let tools = read.tools.into_iter().map(|tool| {
            let OfferedTool { function: Function { name, mut parameters } } = tool;
            close(&mut parameters);
            Tool { name, schema: parameters }
        });
        traces.push(Trace {
            id: read.id,
            tools: tools.collect(),
            calls: read.calls,
            llama: read.outputs.llama,
            harmony: read.outputs.harmony,
        });
    }
    Ok(traces)
}

/// Closes every object that lists properties, as OpenAI's strict mode asks for. Engines read open objects
/// differently.
fn close(schema: &mut Value) {
    // Schemas were read from JSON, whose reader bounds the depth.
    match schema {
        Value::Object(members) => {
            let lists = members.contains_key("properties") && members.get("type") == Some(&json!("object"));
            if lists && !members.contains_key("additionalProperties") {
                members.insert("additionalProperties".into(), Value::Bool(false));
            }
            for (key, value) in members.iter_mut() {
                match key.as_str() {
                    "properties" | "$defs" | "definitions" | "patternProperties" => {
                        value.as_object_mut().into_iter().flat_map(Map::values_mut).for_each(close);
                    }
                    "items"
                    | "additionalProperties"
                    | "anyOf"
                    | "oneOf"
                    | "allOf"
                    | "prefixItems"
                    | "not" => close(value),
                    _ => {}
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}

impl Trace {
    pub(crate) fn text(&self, format: CallFormat) -> &str {
        match format {
            CallFormat::Llama => &self.llama,
            CallFormat::Harmony => &self.harmony,
        }
    }

    pub(crate) fn calls_tool(&self, name: &str) -> bool {
        self.calls.iter().any(|call| call.name == name)
    }

    /// The first call's name and arguments as they are in the text.
    pub(crate) fn first_call(&self) -> Option<(&str, String)> {
        let call = self.calls.first()?;
        Some((&call.name, dumps(&call.arguments)))
    }

    /// The text with something wrong in its first call; `None` where the call has nothing of the kind.
    pub(crate) fn mutated(&self, format: CallFormat, mutation: Mutation) -> Option<String> {
        let call = self.calls.first()?;
        let tool = self.tools.iter().find(|tool| tool.name == call.name)?;
        let text = self.text(format);
        let begin = begin(format, &call.name);
        let at = text.find(&begin)?;
        let (before, rest) = text.split_at(at);
        let rest = &rest[begin.len()..];
        let (begin, arguments) = match mutation {
            Mutation::Tool => (self::begin(format, &format!("{}_q", call.name)), call.arguments.clone()),
            Mutation::Key => {
                let mut arguments = Map::new();
                arguments.insert("zz_unknown".into(), json!(1));
                arguments.extend(call.arguments.as_object()?.clone());
                (begin, Value::Object(arguments))
            }
            Mutation::Type => {
                let mut arguments = call.arguments.as_object()?.clone();
                let value = arguments.iter_mut().find_map(|(key, value)| {
                    let kind = tool.schema.pointer(&format!("/properties/{key}/type"))?;
                    (kind.is_string()).then_some(value)
                })?;
                *value = if value.is_string() { json!(12.5) } else { json!("twelve") };
                (begin, Value::Object(arguments))
            }
        };
        let after = rest.strip_prefix(&*dumps(&call.arguments))?;
        Some(format!("{before}{begin}{}{after}", dumps(&arguments)))
    }
}

/// How a call begins.
fn begin(format: CallFormat, name: &str) -> String {
    match format {
        CallFormat::Llama => format!("<function={name}>"),
        CallFormat::Harmony => {
            format!("<|channel|>commentary to=functions.{name} <|constrain|>json<|message|>")
        }
    }
}

/// The parts of a text, in order.
pub(crate) fn places(format: CallFormat, text: &str) -> Vec<(Place, &str)> {
    let mut parts = Parts { rest: text, found: Vec::new() };
    while !parts.rest.is_empty() {
        match format {
            CallFormat::Llama => {
                parts.cut(Place::FreeText, parts.before("<function="));
                parts.cut(Place::Tag, parts.through(">"));
                parts.cut(Place::Arguments, parts.before("</function>"));
                parts.cut(Place::End, parts.through("</function>"));
            }
            CallFormat::Harmony => {
                let header = parts.through("<|message|>");
                let is_call = parts.rest[..header].contains(" to=");
                parts.cut(Place::Tag, header);
                let place = if is_call { Place::Arguments } else { Place::FreeText };
                let ends = ["<|end|>", "<|call|>", "<|return|>"].map(|end| parts.before(end));
                parts.cut(place, ends.into_iter().min().unwrap_or(0));
                parts.cut(Place::End, parts.through("|>"));
            }
        }
    }
    parts.found
}

struct Parts<'t> {
    rest: &'t str,
    found: Vec<(Place, &'t str)>,
}

impl Parts<'_> {
    fn before(&self, what: &str) -> usize {
        self.rest.find(what).unwrap_or(self.rest.len())
    }

    fn through(&self, what: &str) -> usize {
        (self.before(what) + what.len()).min(self.rest.len())
    }

    fn cut(&mut self, place: Place, length: usize) {
        let (part, rest) = self.rest.split_at(length);
        if !part.is_empty() {
            self.found.push((place, part));
        }
        self.rest = rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_an_answer_are_found() {
        let text = "Hi.<function=f>{\"a\": 1}</function> Bye.";
        let found: Vec<(Place, &str)> = places(CallFormat::Llama, text);
        let expected = [
            (Place::FreeText, "Hi."),
            (Place::Tag, "<function=f>"),
            (Place::Arguments, "{\"a\": 1}"),
            (Place::End, "</function>"),
            (Place::FreeText, " Bye."),
        ];
        assert_eq!(found, expected);

        let text = "<|channel|>analysis<|message|>Well<|end|><|start|>assistant<|channel|>commentary \
                    to=functions.f <|constrain|>json<|message|>{}<|call|>";
        let found: Vec<(Place, &str)> = places(CallFormat::Harmony, text);
        let expected = [
            (Place::Tag, "<|channel|>analysis<|message|>"),
            (Place::FreeText, "Well"),
            (Place::End, "<|end|>"),
            (
                Place::Tag,
                "<|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>",
            ),
            (Place::Arguments, "{}"),
            (Place::End, "<|call|>"),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn objects_that_list_properties_are_closed() {
        let mut schema = json!({"type": "object", "properties": {"a": {"type": "array", "items": {
            "type": "object", "properties": {"b": true}}}, "c": {"type": "object"}}});
        close(&mut schema);
        let closed = json!({"type": "object", "properties": {"a": {"type": "array", "items": {
            "type": "object", "properties": {"b": true}, "additionalProperties": false}},
            "c": {"type": "object"}}, "additionalProperties": false});
        assert_eq!(schema, closed);
    }
}
