//! Turning records into figures, tables and files.
//!
//! Records come in, and text and files go out. Imports `engine`, `host` and `run`.

pub(crate) mod failures;
pub(crate) mod plot;
pub(crate) mod record_file;
pub(crate) mod statistics;
pub(crate) mod summary;
pub(crate) mod table;
