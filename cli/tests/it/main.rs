//! The program as its users meet it: arguments in, text and exit status out.

mod cache;
mod check;
mod convert;
mod generate;
mod mask;
mod program;
mod report;
mod tools;
mod vocab;
