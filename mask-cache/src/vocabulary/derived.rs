//! A place for tables that are computed from a vocabulary and shared by all who use it.

use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Knows tables that somebody computed from a vocabulary, as long as somebody holds them. The vocabulary neither owns
/// them nor knows their type.
pub(crate) struct DerivedTables(Mutex<Weak<dyn Any + Send + Sync>>);

impl DerivedTables {
    pub(super) fn new() -> Self {
        Self(Mutex::new(Weak::<()>::new()))
    }

    /// The tables, made if nobody holds them.
    pub(crate) fn get_or_make<T: Any + Send + Sync>(&self, make: impl FnOnce() -> T) -> Arc<T> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(tables) = known.upgrade().and_then(|tables| tables.downcast().ok()) {
            return tables;
        }
        let tables = Arc::new(make());
        let shared: Arc<dyn Any + Send + Sync> = Arc::<T>::clone(&tables);
        *known = Arc::downgrade(&shared);
        tables
    }
}
