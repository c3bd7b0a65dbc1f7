//! Small files of every format, whole and damaged.

mod damage;
mod formats;
mod gguf;
mod sentencepiece;
mod support;
