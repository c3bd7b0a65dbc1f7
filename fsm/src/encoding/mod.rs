//! From characters to bytes.
//!
//! Classes, names and automata over characters come in; UTF-8 edges, escapes of JSON strings, tries of literals and
//! complements of sets of names go into a draft. Each file is one shape of text and how to write it small; another
//! way to write the same language can replace it without care elsewhere. This folder imports `draft` and `text`.

pub(crate) mod ids;
pub(crate) mod long_text;
pub(crate) mod escapes;
pub(crate) mod literals;
pub(crate) mod utf8_encoder;
pub(crate) mod name_complement;
pub(crate) mod text_fragment;
