//! A model on candle that answers under grammask's masks: what `main.rs` and `examples/serve` have in common.
//!
//! `model` has the weights, `text` the tokenizer, `generate` the loop. The last one is what an engine of your own would
//! have.

pub mod generate;
pub mod model;
pub mod text;

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use anyhow::{Context, Result};
use candle_core::quantized::gguf_file::Content;

pub use self::generate::{Answer, Ending, Settings, generate};
pub use self::model::Llama;
pub use self::text::Text;

/// Reads a llama and its tokenizer from a GGUF file.
pub fn load(path: &Path) -> Result<(Llama, Text)> {
    let shown = path.display();
    let mut file = BufReader::new(File::open(path).with_context(|| format!("cannot open `{shown}`"))?);
    let content = Content::read(&mut file).with_context(|| format!("`{shown}` is no GGUF file"))?;
    let text = Text::from_gguf(&content, &mut file).with_context(|| format!("the tokenizer of `{shown}`"))?;
    let model = Llama::from_gguf(&content, &mut file).with_context(|| format!("the model of `{shown}`"))?;
    Ok((model, text))
}

/// A tiny llama with random weights over bytes. It needs no file, and writes nonsense.
pub fn random(seed: u64) -> Result<(Llama, Text)> {
    let text = Text::of_bytes()?;
    let model = Llama::random(text.vocabulary().len(), seed)?;
    Ok((model, text))
}
