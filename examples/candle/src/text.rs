//! From messages to tokens, and what tokens spell.

use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;

use anyhow::{Context, Error, Result};
use candle_core::quantized::gguf_file::Content;
use candle_core::quantized::tokenizer::TokenizerFromGguf;
use grammask::{TokenId, Vocabulary, VocabularyOptions, vocabularies};
use minijinja::{Environment, ErrorKind, context};
use serde_json::{Value, json};
use tokenizers::Tokenizer;
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::pre_tokenizers::digits::Digits;
use tokenizers::pre_tokenizers::sequence::Sequence;

/// The tokenizer of a model: grammask's vocabulary for masks, and the way from a text to tokens.
pub struct Text {
    vocabulary: Arc<Vocabulary>,
    /// `None`: every byte is a token.
    encoder: Option<Box<Tokenizer>>,
    /// Of a conversation, in Jinja.
    template: String,
}

/// The template of models that bring none, as ChatML has it.
const TEMPLATE: &str = "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n\
                        {% endfor %}<|im_start|>assistant\n";

impl Text {
    /// A token for each byte, and 256 for the end.
    pub fn of_bytes() -> Result<Self> {
        let tokens = (0..=255_u8).map(|byte| Some([byte])).chain([None]);
        let vocabulary = Vocabulary::from_tokens(tokens, &VocabularyOptions::default().stop_ids([256]))?;
        Ok(Self { vocabulary: Arc::new(vocabulary), encoder: None, template: TEMPLATE.to_owned() })
    }

    /// The tokenizer that a GGUF file holds.
    pub fn from_gguf<R: Read + Seek>(content: &Content, file: &mut R) -> Result<Self> {
        file.seek(SeekFrom::Start(0))?;
        let vocabulary = vocabularies::from_gguf(file, &VocabularyOptions::default())?;
        let mut encoder = Tokenizer::from_gguf(content)?;
        let text = |key: &str| content.metadata.get(key).and_then(|value| value.to_string().ok());
        if text("tokenizer.ggml.pre").is_some_and(|pre| pre == "smollm") {
            // candle splits these texts as GPT-2 does; SmolLM's tokenizer takes digits one by one, too.
            let steps = vec![Digits::new(true).into(), ByteLevel::new(false, false, true).into()];
            encoder.with_pre_tokenizer(Some(Sequence::new(steps)));
        }
        let template = text("tokenizer.chat_template").map_or(TEMPLATE, String::as_str).to_owned();
        Ok(Self { vocabulary: Arc::new(vocabulary), encoder: Some(Box::new(encoder)), template })
    }

    /// The vocabulary.
    pub fn vocabulary(&self) -> &Arc<Vocabulary> {
        &self.vocabulary
    }

    /// The tokens of a conversation (a list of OpenAI's messages) up to where the answer begins. Templates that know
    /// nothing of tools get them in a message of the system.
    pub fn prompt(&self, messages: &Value, tools: Option<&Value>) -> Result<Vec<u32>> {
        let mut messages = plain(messages)?;
        if let Some(tools) = tools.filter(|_| !self.template.contains("tools")) {
            let content = format!("Answer with a call of one of these functions:\n{tools}");
            messages.insert(0, json!({"role": "system", "content": content}));
        }
        let mut environment = Environment::new();
        environment.set_trim_blocks(true);
        environment.set_lstrip_blocks(true);
        environment.add_function("raise_exception", |message: String| -> Result<String, minijinja::Error> {
            Err(minijinja::Error::new(ErrorKind::InvalidOperation, message))
        });
        let text = environment
            .render_str(&self.template, context! { messages, tools, add_generation_prompt => true })
            .context("the model's template does not take this conversation")?;
        self.encode(&text)
    }

    /// The tokens of a text. Names of special tokens in it become those tokens.
    pub fn encode(&self, text: &str) -> Result<Vec<u32>> {
        match &self.encoder {
            None => Ok(text.bytes().map(u32::from).collect()),
            Some(encoder) => Ok(encoder.encode(text, false).map_err(Error::msg)?.get_ids().to_vec()),
        }
    }

    /// The tokens of a part of an answer; `None` where it ends inside a character.
    pub(crate) fn encode_bytes(&self, bytes: &[u8]) -> Option<Vec<TokenId>> {
        let ids = match &self.encoder {
            None => bytes.iter().copied().map(u32::from).collect(),
            Some(_) => self.encode(std::str::from_utf8(bytes).ok()?).ok()?,
        };
        ids.into_iter().map(|id| self.vocabulary.id(id)).collect()
    }
}

/// The messages with texts as their contents: clients may send lists of parts, and calls of tools without content.
fn plain(messages: &Value) -> Result<Vec<Value>> {
    let messages = messages.as_array().context("`messages` has to be a list")?;
    let plain = |message: &Value| {
        let role = message.get("role").and_then(Value::as_str).context("a message has to have a `role`")?;
        let content = match (message.get("content"), message.get("tool_calls")) {
            (Some(Value::String(text)), _) => text.clone(),
            (Some(Value::Array(parts)), _) => {
                let texts = parts.iter().map(|part| part.get("text").and_then(Value::as_str));
                texts.collect::<Option<_>>().context("a part of a message has to have a `text`")?
            }
            (_, Some(calls)) => calls.to_string(),
            _ => String::new(),
        };
        anyhow::Ok(json!({"role": role, "content": content}))
    };
    messages.iter().map(plain).collect()
}
