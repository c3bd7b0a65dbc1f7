//! Data on standard output: as it is, whatever a terminal would make of it. Coloured text goes through `anstream`, which takes
//! out control characters.

use std::fmt::Display;
use std::io::{self, Write};

/// Writes a line of data.
pub(crate) fn line(data: impl Display) -> io::Result<()> {
    writeln!(io::stdout().lock(), "{data}")
}
