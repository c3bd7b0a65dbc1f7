//! The colours of the program's output. `anstream` drops them where they are not wanted.

use anstyle::{AnsiColor, Style};

/// The word `error`, and what was refused.
pub(crate) const ERROR: Style = AnsiColor::Red.on_default().bold();
/// The word `warning`.
pub(crate) const WARNING: Style = AnsiColor::Yellow.on_default().bold();
/// The word `ok`.
pub(crate) const OK: Style = AnsiColor::Green.on_default().bold();
/// Heads of tables and names of fields.
pub(crate) const HEAD: Style = Style::new().bold();
/// Tokens and other quoted text.
pub(crate) const TEXT: Style = AnsiColor::Cyan.on_default();
/// Text that was forced.
pub(crate) const FORCED: Style = AnsiColor::Yellow.on_default();
/// Less important text.
pub(crate) const FAINT: Style = Style::new().dimmed();
