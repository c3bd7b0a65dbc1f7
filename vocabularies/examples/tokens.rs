//! Lists the tokens of a tokenizer's file: id, kind and bytes in hexadecimal (the name, for special tokens).
//!
//! `cargo run --release -p grammask-vocabularies --example tokens -- model.gguf`; without a file, it lists a tiny
//! SentencePiece model.

use std::error::Error;
use std::fs::File;
use std::io::{self, BufWriter, Write};

use grammask_mask_cache::{Vocabulary, VocabularyOptions};

fn main() -> Result<(), Box<dyn Error>> {
    let options = VocabularyOptions::default();
    let vocabulary = match std::env::args_os().nth(1) {
        Some(path) => grammask_vocabularies::load(File::open(path)?, &options)?,
        None => grammask_vocabularies::load(
            &b"\x0a\x06\x0a\x04\xe2\x96\x81a\x0a\x08\x0a\x04</s>\x18\x03"[..],
            &options,
        )?,
    };
    match list(&vocabulary, BufWriter::new(io::stdout().lock())) {
        // Whoever reads the list may stop early.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

fn list(vocabulary: &Vocabulary, mut out: impl Write) -> io::Result<()> {
    for id in (0..).map_while(|number| vocabulary.id(number)) {
        write!(out, "{id} {:?} ", vocabulary.kind(id))?;
        let bytes = vocabulary.special_name(id).unwrap_or_else(|| vocabulary.token_bytes(id));
        bytes.iter().try_for_each(|byte| write!(out, "{byte:02x}"))?;
        writeln!(out)?;
    }
    out.flush()
}
