//! Tests of the matcher as its users see it.

mod matching;
mod oracle;
