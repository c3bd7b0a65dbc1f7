//! The calls of Llama 3, which are told from text by their first members alone.

use super::family::Part::{self, Arguments, Text};
use crate::structural_tag::format::Style;

/// How calls begin, with each space that templates write or without it.
pub(super) const TRIGGERS: &[&str] = &[
    "{\"name\":",
    "{\"type\": \"function\", \"name\":",
    "{\"type\":\"function\",\"name\":",
    "{\"type\": \"function\",\"name\":",
    "{\"type\":\"function\", \"name\":",
];

/// Before the name, models write a space or none, and so they go on.
pub(super) const CALLS: &[&[Part]] = &[
    &[Text("{\"name\": \"$NAME\", \"parameters\": "), Arguments(Style::Json), Text("}")],
    &[Text("{\"name\":\"$NAME\",\"parameters\":"), Arguments(Style::Json), Text("}")],
    &[
        Text("{\"type\": \"function\", \"name\": \"$NAME\", \"parameters\": "),
        Arguments(Style::Json),
        Text("}"),
    ],
    &[Text("{\"type\":\"function\",\"name\":\"$NAME\",\"parameters\":"), Arguments(Style::Json), Text("}")],
    &[
        Text("{\"type\":\"function\", \"name\": \"$NAME\", \"parameters\": "),
        Arguments(Style::Json),
        Text("}"),
    ],
    &[Text("{\"type\": \"function\",\"name\":\"$NAME\",\"parameters\":"), Arguments(Style::Json), Text("}")],
];
