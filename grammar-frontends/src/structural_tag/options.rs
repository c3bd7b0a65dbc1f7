//! How a structural tag is read, and bounds on it.

use grammask_grammar_ir::setters;

use crate::ebnf::EbnfOptions;
use crate::json_schema::{JsonSchemaOptions, Objects};

/// How a structural tag is turned into a grammar.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StructuralTagOptions {
    /// How embedded JSON Schemas are read. By default objects that declare properties are closed
    /// ([`Objects::Closed`]). Its interrupt stops the reading of the whole tag.
    pub json_schema: JsonSchemaOptions,
    /// How embedded grammars are read.
    pub ebnf: EbnfOptions,
    /// Bounds on what is taken.
    pub limits: StructuralTagLimits,
}

impl Default for StructuralTagOptions {
    fn default() -> Self {
        Self {
            json_schema: JsonSchemaOptions::default().objects(Objects::Closed),
            ebnf: EbnfOptions::default(),
            limits: StructuralTagLimits::default(),
        }
    }
}

setters! { StructuralTagOptions { json_schema: JsonSchemaOptions, ebnf: EbnfOptions, limits: StructuralTagLimits } }

/// Bounds on a structural tag. Past them it is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StructuralTagLimits {
    /// Longest document in bytes; 16 MiB by default.
    pub document_bytes: usize,
    /// Deepest nesting of formats; 100 by default, and never more.
    pub nesting: usize,
}

setters! { StructuralTagLimits { document_bytes: usize, nesting: usize } }

/// Trees of formats of this depth are walked with recursion.
pub(super) const MAX_NESTING: usize = 100;

impl Default for StructuralTagLimits {
    fn default() -> Self {
        Self { document_bytes: 16 << 20, nesting: MAX_NESTING }
    }
}
