//! The keywords of JSON Schema and the drafts that have them.

use super::document::Draft;

/// What a keyword is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Assertion,
    Annotation,
    /// An assertion of a later draft.
    Later,
    /// Not a keyword: an annotation by the standard.
    Unknown,
    /// What becomes of it depends on its value; its reader reports it.
    Special,
}

pub(super) fn classify(keyword: &str, draft: Draft) -> Class {
    let since = match keyword {
        "format" => return Class::Special,
        "type"
        | "enum"
        | "allOf"
        | "anyOf"
        | "oneOf"
        | "not"
        | "$ref"
        | "minimum"
        | "maximum"
        | "exclusiveMinimum"
        | "exclusiveMaximum"
        | "multipleOf"
        | "minLength"
        | "maxLength"
        | "pattern"
        | "items"
        | "additionalItems"
        | "minItems"
        | "maxItems"
        | "uniqueItems"
        | "properties"
        | "patternProperties"
        | "additionalProperties"
        | "required"
        | "minProperties"
        | "maxProperties"
        | "dependencies" => Draft::Draft4,
        "const" | "contains" | "propertyNames" => Draft::Draft6,
        "if" | "then" | "else" => Draft::Draft7,
        "dependentRequired"
        | "dependentSchemas"
        | "unevaluatedProperties"
        | "unevaluatedItems"
        | "minContains"
        | "maxContains"
        | "$recursiveRef" => Draft::Draft2019,
        "prefixItems" | "$dynamicRef" => Draft::Draft2020,
        "$schema" | "$id" | "id" | "$anchor" | "$dynamicAnchor" | "$recursiveAnchor" | "$vocabulary"
        | "$comment" | "$defs" | "definitions" | "title" | "description" | "default" | "examples"
        | "deprecated" | "readOnly" | "writeOnly" | "contentEncoding" | "contentMediaType"
        | "contentSchema" => return Class::Annotation,
        _ => return Class::Unknown,
    };
    if draft < since { Class::Later } else { Class::Assertion }
}
