//! Formats that every model family uses.

use std::sync::Arc;

use super::request::ToolRequest;
use crate::json::JsonValue;
use crate::structural_tag::format::{Format, JsonSchemaFormat, MemberOrder, Style};

pub(super) fn literal(text: &str) -> Format {
    Format::ConstString(text.into())
}

/// A value of a schema that is elsewhere.
pub(super) fn schema_format(
    schema: &Arc<JsonValue>,
    style: Style,
    order: MemberOrder,
    origin: &str,
    request: &ToolRequest,
) -> Format {
    let mut format = JsonSchemaFormat::new(Arc::clone(schema).into(), style);
    format.origin = Some(origin.into());
    format.key_order = match request.member_order {
        MemberOrder::Declared => order,
        MemberOrder::Any => MemberOrder::Any,
    };
    format.spelling = request.spelling;
    format.max_whitespace = request.max_whitespace;
    Format::JsonSchema(format)
}

/// The value of the response format.
pub(super) fn response(request: &ToolRequest) -> Option<Format> {
    let schema = request.response.as_ref()?;
    let origin = "/response_format/json_schema/schema";
    Some(schema_format(schema, Style::Json, MemberOrder::Declared, origin, request))
}
