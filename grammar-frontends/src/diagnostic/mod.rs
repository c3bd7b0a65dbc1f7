//! Reports about inputs that are refused, shared by all frontends.
//!
//! Every frontend puts its findings in here, with a code, a message and a place. [`Diagnostics`] come out, as plain
//! lines, as a drawing of the source, and as JSON. How a report is drawn and which spelling is suggested may be
//! changed here alone; the codes and the JSON keys are promised to users. Imports `json`.

mod pointer;
mod render;
mod report;
mod source;
mod suggestion;

pub(crate) use report::Result;
pub use report::{Color, Diagnostic, Diagnostics, Label, Severity};
pub(crate) use suggestion::{closest, did_you_mean};
