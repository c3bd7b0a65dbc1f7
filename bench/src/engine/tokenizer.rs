//! The tokenizer that turns instances into tokens, and what engines need to know of it.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use serde_json::Value;
use tokenizers::Tokenizer;

/// A `tokenizer.json` with the id of its end token.
#[derive(Debug)]
pub(crate) struct LoadedTokenizer {
    tokenizer: Tokenizer,
    /// The file's bytes, for engines that read it themselves.
    pub(crate) json: Vec<u8>,
    /// The end token.
    pub(crate) end: u32,
    /// One more than the largest id.
    pub(crate) size: usize,
}

impl LoadedTokenizer {
    /// Loads a tokenizer from its file, or from the folder that holds it.
    ///
    /// The end token is `end` where given, else what `tokenizer_config.json` beside the file names.
    pub(crate) fn load(path: &Path, end: Option<&str>) -> Result<Self> {
        let file = if path.is_dir() { path.join("tokenizer.json") } else { path.to_owned() };
        let json = std::fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let tokenizer = Tokenizer::from_bytes(&json)
            .map_err(|error| anyhow!("{} is not a tokenizer: {error}", file.display()))?;
        let name = match end {
            Some(name) => name.to_owned(),
            None => configured_end(&file)?,
        };
        let end = tokenizer
            .token_to_id(&name)
            .ok_or_else(|| anyhow!("the tokenizer has no token {name:?}; name its end token with --end"))?;
        let size = tokenizer.get_vocab(true).values().max().map_or(0, |&id| id as usize + 1);
        Ok(Self { tokenizer, json, end, size })
    }

    /// The tokens of a text, no special tokens added.
    pub(crate) fn encode(&self, text: &str) -> Result<Vec<u32>> {
        let encoding =
            self.tokenizer.encode_fast(text, false).map_err(|error| anyhow!("cannot tokenise: {error}"))?;
        Ok(encoding.get_ids().to_vec())
    }

    /// The text of a token; not every token has one.
    pub(crate) fn decode(&self, token: u32) -> String {
        self.tokenizer.decode(&[token], false).unwrap_or_default()
    }
}

fn configured_end(tokenizer: &Path) -> Result<String> {
    let config: PathBuf = tokenizer.with_file_name("tokenizer_config.json");
    let text = std::fs::read_to_string(&config).with_context(|| {
        format!("cannot read {}, which names the end token; name it with --end instead", config.display())
    })?;
    let config: Value = serde_json::from_str(&text)?;
    let end = &config["eos_token"];
    end.as_str()
        .or_else(|| end["content"].as_str())
        .map(str::to_owned)
        .ok_or_else(|| anyhow!("tokenizer_config.json has no eos_token; name the end token with --end"))
}
