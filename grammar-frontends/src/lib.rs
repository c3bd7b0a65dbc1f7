//! Concrete syntaxes for grammask: EBNF, GBNF, regular expressions and JSON Schema
