//! A place for tables that are computed from a vocabulary and shared by all its users.

use std::any::Any;
use std::sync::{Arc, Mutex, Weak};

use grammask_grammar_ir::PerProcess;

/// Knows tables that somebody computed from a vocabulary, as long as somebody holds them. The vocabulary neither owns
/// them nor knows their type.
pub(crate) struct DerivedTables(PerProcess<Mutex<Option<Weak<dyn Any + Send + Sync>>>>);

impl DerivedTables {
    pub(super) fn new() -> Self {
        Self(PerProcess::default())
    }

    /// The tables, made if there are none.
    pub(crate) fn get_or_make<T: Any + Send + Sync>(&self, make: impl FnOnce() -> T) -> Arc<T> {
        let mut known = self.0.lock();
        let held = known.as_ref().and_then(Weak::upgrade);
        if let Some(tables) = held.and_then(|tables| tables.downcast().ok()) {
            return tables;
        }
        let tables = Arc::new(make());
        let shared: Arc<dyn Any + Send + Sync> = Arc::<T>::clone(&tables);
        *known = Some(Arc::downgrade(&shared));
        tables
    }
}
