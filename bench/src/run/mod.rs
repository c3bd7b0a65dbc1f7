//! Running engines over a pack of schemas: what is read, who runs it where, and what is kept of it.
//!
//! The naive way is a loop in one process. An engine that hangs, panics or eats all memory would then end the
//! whole run. So the loop is in a child process that is given one schema at a time over its standard input
//! and answers line by line. The parent ([`supervisor`]) keeps the watch and starts another child when one is
//! lost.
//!
//! A pack and an engine come in, and records go out. Imports `engine`.

pub(crate) mod clock;
pub(crate) mod pack;
pub(crate) mod protocol;
pub(crate) mod python;
pub(crate) mod replay;
pub(crate) mod suite;
pub(crate) mod supervisor;
