//! The structure that a set of tools asks for, in the dialects of the engines. Both describe the same texts.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::call_format::CallFormat;

/// A tool that is offered.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tool {
    pub(crate) name: String,
    /// The schema of its arguments; objects that list properties are closed.
    pub(crate) schema: Value,
}

/// The text of a structural tag.
pub(crate) fn structural_tag(format: CallFormat, tools: &[Tool]) -> String {
    let value = match format {
        CallFormat::Llama => {
            let tags: Vec<Value> = tools
                .iter()
                .map(|tool| {
                    json!({"type": "tag", "begin": format!("<function={}>", tool.name),
                        "content": {"type": "json_schema", "json_schema": tool.schema}, "end": "</function>"})
                })
                .collect();
            json!({"type": "triggered_tags", "triggers": ["<function="], "tags": tags})
        }
        CallFormat::Harmony => {
            let message = |channel: &str, ends: Value| {
                json!({"type": "tag", "begin": format!("<|channel|>{channel}<|message|>"),
                    "content": {"type": "any_text"}, "end": ends})
            };
            let mut tags = vec![
                message("analysis", json!("<|end|>")),
                message("commentary", json!("<|end|>")),
                message("final", json!(["<|end|>", "<|return|>"])),
            ];
            tags.extend(tools.iter().map(|tool| {
                let begin =
                    format!("<|channel|>commentary to=functions.{} <|constrain|>json<|message|>", tool.name);
                json!({"type": "tag", "begin": begin,
                    "content": {"type": "json_schema", "json_schema": tool.schema}, "end": "<|call|>"})
            }));
            json!({"type": "tags_with_separator", "tags": tags, "separator": "<|start|>assistant",
                "at_least_one": true})
        }
    };
    json!({"type": "structural_tag", "format": value}).to_string()
}

/// The same for llguidance.
pub(crate) fn lark(format: CallFormat, tools: &[Tool]) -> String {
    let mut text = String::from(match format {
        CallFormat::Llama => {
            "start: (trigger call)* TEXT\n\
             TEXT: /(.|\\n)*/\n\
             trigger[lazy]: /(.|\\n)*<function=/\n"
        }
        CallFormat::Harmony => {
            "start: message (<|start|> \"assistant\" message)*\n\
             TEXT: /(.|\\n)*/\n\
             text: TEXT\n\
             message: <|channel|> \"analysis\" <|message|> text <|end|>\n\
             | <|channel|> \"commentary\" <|message|> text <|end|>\n\
             | <|channel|> \"final\" <|message|> text (<|end|> | <|return|>)\n"
        }
    });
    // Writing to a string cannot fail, here and below.
    for (number, tool) in tools.iter().enumerate() {
        let _ = match (format, number) {
            (CallFormat::Llama, 0) => {
                writeln!(text, "call: \"{}>\" arguments_0 \"</function>\"", tool.name)
            }
            (CallFormat::Llama, _) => {
                writeln!(text, "| \"{}>\" arguments_{number} \"</function>\"", tool.name)
            }
            (CallFormat::Harmony, _) => writeln!(
                text,
                "| <|channel|> \"commentary to=functions.{} \" <|constrain|> \"json\" <|message|> \
                 arguments_{number} <|call|>",
                tool.name
            ),
        };
    }
    for (number, tool) in tools.iter().enumerate() {
        let _ = writeln!(text, "arguments_{number}: %json {}", tool.schema);
    }
    text
}
