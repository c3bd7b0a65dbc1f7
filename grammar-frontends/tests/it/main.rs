//! The frontends from outside: languages against independent judges, texts back and forth, and reports.

mod ebnf;
mod gbnf;
mod regex_ecma;
mod regex_language;
mod reports;
mod robustness;
