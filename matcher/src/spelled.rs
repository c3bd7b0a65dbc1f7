//! How options are spelled, in the keys of what is kept.
//!
//! Most calls come with the options of the call before. To spell them takes some microseconds, to compare them next to
//! nothing.

use std::fmt::Debug;
use std::sync::{Arc, Mutex, PoisonError};

use grammask_grammar_frontends::json_schema::JsonSchemaOptions;
use grammask_grammar_frontends::structural_tag::StructuralTagOptions;

/// The options that were spelled last, of each kind.
#[derive(Debug, Default)]
pub(crate) struct SpelledOptions {
    pub(crate) schemas: Spelled<JsonSchemaOptions>,
    pub(crate) tags: Spelled<StructuralTagOptions>,
}

/// The options that were spelled last.
#[derive(Debug)]
pub(crate) struct Spelled<O>(Mutex<Option<(O, Arc<str>)>>);

impl<O> Default for Spelled<O> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<O: Clone + Debug + PartialEq> Spelled<O> {
    /// What the options print. They hold no functions.
    pub(crate) fn of(&self, options: &O) -> Arc<str> {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some((known, text)) if known == options => Arc::clone(text),
            _ => {
                let text: Arc<str> = format!("{options:?}").into();
                *last = Some((options.clone(), Arc::clone(&text)));
                text
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_options_are_spelled_otherwise() {
        let spelled = Spelled::default();
        for text in ["a", "a", "b", "a"] {
            assert_eq!(&*spelled.of(&text), format!("{text:?}"));
        }
    }
}
