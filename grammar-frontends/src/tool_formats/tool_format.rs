//! The entry: a model family by its name, and the structural tag of a request.

use super::family::Family;
use super::request::ToolRequest;
use super::structure;
use super::table::FAMILIES;
use crate::diagnostic::{Diagnostic, Diagnostics, did_you_mean};
use crate::structural_tag::StructuralTag;

/// How one family of models writes tool calls.
#[derive(Clone, Copy, Debug)]
pub struct ToolFormat {
    family: &'static Family,
}

impl ToolFormat {
    /// The format of a family, by its name (`qwen_3`, `harmony`, ...).
    ///
    /// # Errors
    ///
    /// Where no family has the name.
    pub fn named(name: &str) -> Result<Self, Diagnostics> {
        if let Some(family) = FAMILIES.iter().find(|family| family.keys.contains(&name)) {
            return Ok(Self { family });
        }
        let names: Vec<&str> = FAMILIES.iter().flat_map(|family| family.keys.iter().copied()).collect();
        let hint = did_you_mean(name, &names, || format!("use one of {}", names.join(", ")));
        let name: String = name.chars().take(60).collect();
        let message = format!("no model family is named `{name}`");
        Err(Diagnostic::error("tools/family", message).with_hint(hint).into())
    }

    /// The formats of all families.
    pub fn all() -> impl ExactSizeIterator<Item = Self> {
        FAMILIES.iter().map(|family| Self { family })
    }

    /// The family's name.
    pub fn name(&self) -> &'static str {
        self.family.keys[0]
    }

    /// Other names of the family.
    pub fn aliases(&self) -> &'static [&'static str] {
        &self.family.keys[1..]
    }

    /// The models of the family.
    pub fn models(&self) -> &'static str {
        self.family.models
    }

    /// The structure of the model's text, from the end of the prompt to the end of its turn.
    ///
    /// # Errors
    ///
    /// Where the family cannot do what the request asks for.
    pub fn structure(&self, request: &ToolRequest) -> Result<StructuralTag, Diagnostics> {
        structure::structure(self.family, request)
            .map(StructuralTag::from_format)
            .map_err(|error| (*error).into())
    }
}
