//! The styles of the format `json_schema`: how each model family writes values, as tables.
//!
//! Each table is a syntax that the JSON Schema frontend takes as data. A family is added here alone. This folder imports
//! `json_schema` only.

pub(super) mod markup;
pub(super) mod notation;
