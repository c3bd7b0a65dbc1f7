//! The commands, one file each: arguments, work, output.

pub(crate) mod check;
pub(crate) mod convert;
pub(crate) mod generate;
pub(crate) mod mask;
pub(crate) mod report;
pub(crate) mod tools;
pub(crate) mod viz;
pub(crate) mod vocab;
