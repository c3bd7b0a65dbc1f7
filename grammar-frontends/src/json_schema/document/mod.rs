//! The schema document. The text of a schema comes in; nodes go out, each with its value, its dialect, its
//! JSON pointer and the target of each reference in it. The reader of JSON, the index of identifiers and the
//! search for equal subschemas may change here alone, as long as a node keeps its meaning. The order in which
//! nodes are made is part of the order of rules. Imports options, the retriever and the report.

pub(super) mod dynamic_scope;
pub(super) mod equality;
pub(super) mod identifiers;
pub(super) mod ids;
pub(super) mod json;
pub(super) mod keyword_table;
pub(super) mod nodes;
pub(super) mod pointer;
pub(super) mod subschema_keywords;
pub(super) mod uri;
