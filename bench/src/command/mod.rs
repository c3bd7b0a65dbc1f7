//! The subcommands, one file each.
//!
//! Arguments come in, and tables go out. A subcommand can be changed alone. Imports every other folder.

pub(crate) mod ablation;
pub(crate) mod jsts;
pub(crate) mod maskbench;
pub(crate) mod memory;
pub(crate) mod micro;
pub(crate) mod once;
pub(crate) mod oracle;
pub(crate) mod paper;
pub(crate) mod scaling;
pub(crate) mod threads;
pub(crate) mod tools;
pub(crate) mod trace;
pub(crate) mod walks;
pub(crate) mod worker;
