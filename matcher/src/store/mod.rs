//! Compiled grammars and shared masks as bytes, and a directory of such files (feature `store`).
//!
//! Grammars and masks come in, and checked bytes go out; the way back refuses damaged, foreign and unsound
//! bytes. A change of the written data raises the format's number, and older files are then compiled anew.
//! This folder imports `base`, `compile` and `grammar`; only its `directory` touches files or a clock.

pub(crate) mod bytes;
pub(crate) mod directory;
