//! Options as parts of cache keys: their printed form.
//!
//! Most calls come with the options of the call before. To print them takes some microseconds, to compare them next to
//! nothing.

use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use grammask_grammar_frontends::json_schema::JsonSchemaOptions;
#[cfg(feature = "structural-tag")]
use grammask_grammar_frontends::structural_tag::StructuralTagOptions;
use grammask_grammar_ir::{Interrupt, PerProcess};

/// The keys of options, by their type.
#[derive(Debug, Default)]
pub(crate) struct OptionsKeys {
    pub(crate) schemas: OptionsKey<JsonSchemaOptions>,
    #[cfg(feature = "structural-tag")]
    pub(crate) tags: OptionsKey<StructuralTagOptions>,
}

/// The options that were printed last, and the text that they printed.
#[derive(Debug)]
pub(crate) struct OptionsKey<O>(PerProcess<Mutex<Known<O>>>);

/// Options and their key, where one was made.
type Known<O> = Option<(O, Arc<str>)>;

impl<O> Default for OptionsKey<O> {
    fn default() -> Self {
        Self(PerProcess::default())
    }
}

impl<O: Clone + Debug + PartialEq> OptionsKey<O> {
    /// The printed form of the options, which hold no functions.
    pub(crate) fn get(&self, options: &O) -> Arc<str> {
        let mut last = self.0.lock();
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

/// Whether the printed form of options says everything about them.
pub(crate) fn holds_no_functions(options: &JsonSchemaOptions) -> bool {
    options.retriever.is_none() && options.interrupt == Interrupt::never()
}
