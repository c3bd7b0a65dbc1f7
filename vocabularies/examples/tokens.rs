//! Lists the tokens of a tokenizer's file: id, kind and bytes in hexadecimal (the name, for special tokens).
//!
//! `cargo run --release -p grammask-vocabularies --example tokens -- model.gguf`; without a file, it lists a tiny
//! SentencePiece model.

use std::error::Error;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use grammask_mask_cache::{Vocabulary, VocabularyOptions};
use grammask_vocabularies::{Encoding, load};

fn main() -> Result<(), Box<dyn Error>> {
    let options = VocabularyOptions::default();
    let vocabulary = match std::env::args_os().nth(1).map(PathBuf::from) {
        Some(path) => {
            // A rank file has no special tokens; its name tells whose they are.
            let special = Encoding::of_file(&path).map(Encoding::special_tokens).unwrap_or_default();
            load(File::open(path)?, &options.special_tokens(special))?
        }
        None => load(&b"\x0a\x06\x0a\x04\xe2\x96\x81a\x0a\x08\x0a\x04</s>\x18\x03\x12\x00"[..], &options)?,
    };
    match list(&vocabulary, BufWriter::new(io::stdout().lock())) {
        // The reader of the list may stop early.
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
