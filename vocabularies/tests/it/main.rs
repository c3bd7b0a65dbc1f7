//! Small files of every format, whole and damaged.

mod damage;
mod formats;
mod gguf;
mod objects;
mod rank_file;
mod sentencepiece;
mod support;
mod tekken;
