//! Reading Hugging Face's `tokenizer.json`.
//!
//! A file of a large model has some ten megabytes, most of them merge rules that masks have no use for. It is
//! read in one pass into types that borrow from it; other parts are skipped, not stored. Only the decoder and
//! the pre-tokenizer, which are small, become JSON values.

use std::borrow::Cow;
use std::fmt;

use ahash::AHashMap;
use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::build::VocabularyBuilder;
use super::coding::{ALPHABET_SHIFTED, Decoder, DecoderStep, TokenCoding, alphabet_byte, fallback_byte};
use super::error::VocabularyError;
use super::options::VocabularyOptions;
use super::tokens::Vocabulary;

impl Vocabulary {
    /// The vocabulary of a Hugging Face `tokenizer.json`.
    ///
    /// Read are the models `BPE` and `Unigram`, the decoder (or, where there is none, the pre-tokenizer) for
    /// how bytes are spelled, and the added tokens. Added tokens that the file marks `special` are special;
    /// the others are text, spelled as in the file if it is byte-level and as the decoder prints them
    /// elsewhere. An added token wins over a model's token with the same id. Where the file says nothing on
    /// how bytes are spelled, the tokens decide: at least 128 tokens such as `<0x0A>`, or the letters of the
    /// byte-level alphabet.
    ///
    /// A tokenizer may drop the space at the very start of a text (`add_prefix_space`, `prepend_scheme`, a
    /// `Strip` after a `Fuse`). A token's bytes keep it, as they do in the middle of a text.
    ///
    /// # Errors
    ///
    /// Fails if the file is not such a tokenizer, and as [`from_tokens`](Self::from_tokens) does. It also
    /// fails if the text of a token depends on its neighbours (`WordPiece`, `WordLevel`, end-of-word
    /// suffixes), because then it has no bytes of its own. The error says where in the file.
    pub fn from_tokenizer_json(json: &[u8], options: &VocabularyOptions) -> Result<Self, VocabularyError> {
        load(json, options)
    }
}

/// How a Hugging Face `tokenizer.json` spells bytes, for callers that have its tokens from elsewhere.
///
/// An object of the library `tokenizers` is such a place: it lists the tokens and ids, and writes the file.
///
/// ```
/// use grammask_mask_cache::TokenDecoder;
///
/// let file = r#"{
///     "added_tokens": [{"id": 1, "content": "▁", "special": true}],
///     "decoder": {"type": "Metaspace"},
///     "model": {"type": "Unigram", "vocab": [["▁the", -1.5]]}
/// }"#;
/// let decoder = TokenDecoder::from_tokenizer_json(file.as_bytes())?;
/// assert_eq!(decoder.decode(0, "▁the"), Some(b" the".to_vec()));
/// // Special tokens have names, which are as they are written.
/// assert_eq!(decoder.decode(1, "▁"), Some("▁".into()));
/// // The added token has the id.
/// assert_eq!(decoder.decode(1, "▁the"), None);
/// # Ok::<(), grammask_mask_cache::VocabularyError>(())
/// ```
#[derive(Debug)]
pub struct TokenDecoder {
    decoder: Decoder,
    /// Text and form of each added token.
    added: AHashMap<u32, (String, TextForm)>,
}

impl TokenDecoder {
    /// The decoder of a file, which [`Vocabulary::from_tokenizer_json`] uses for its tokens.
    ///
    /// # Errors
    ///
    /// Fails if the file is not a tokenizer, or if the text of a token depends on its neighbours.
    pub fn from_tokenizer_json(json: &[u8]) -> Result<Self, VocabularyError> {
        let file = read(json)?;
        let decoder = decoder_of(&file)?;
        let added = file.added_tokens.unwrap_or_default().into_iter();
        let added = added.map(|token| (token.id, (token.content.0.to_string(), token.form(&decoder))));
        Ok(Self { added: added.collect(), decoder })
    }

    /// The bytes of the token with an id. `None` if the id has an added token of another text, which wins.
    pub fn decode(&self, id: u32, spelled: &str) -> Option<Vec<u8>> {
        let form = match self.added.get(&id) {
            Some((text, form)) => (text == spelled).then_some(*form)?,
            None => TextForm::Spelled,
        };
        Some(self.bytes(form, spelled))
    }

    /// The bytes of an added token that is decoded as another text than its own.
    pub fn decode_added(&self, text: &str) -> Vec<u8> {
        self.bytes(TextForm::of_added(false, &self.decoder), text)
    }

    fn bytes(&self, form: TextForm, text: &str) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(text.len());
        form.write(text, &self.decoder, &mut bytes);
        bytes
    }
}

fn load(json: &[u8], options: &VocabularyOptions) -> Result<Vocabulary, VocabularyError> {
    let file = read(json)?;
    let decoder = match options.coding {
        Some(coding) => Decoder::from(coding),
        None => decoder_of(&file)?,
    };
    let mut builder = VocabularyBuilder::new(options);
    add_model_tokens(&mut builder, &file.model.vocab, &decoder)?;
    add_added_tokens(&mut builder, file.added_tokens.as_deref().unwrap_or_default(), &decoder)?;
    builder.finish()
}

/// The file, if tokens of its model are byte strings.
fn read(json: &[u8]) -> Result<TokenizerFile<'_>, VocabularyError> {
    let json = std::str::from_utf8(json).map_err(|error| {
        let before = &json[..error.valid_up_to()];
        // Line and column, because a JSON file with a broken byte has no other place.
        let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        VocabularyError::not_utf8(line, before.len() - line_start + 1)
    })?;
    let file: TokenizerFile<'_> =
        serde_json::from_str(json).map_err(|error| VocabularyError::syntax(&error))?;
    check_model(&file.model)?;
    Ok(file)
}

#[derive(serde::Deserialize)]
#[serde(expecting = "an object with `model`, `decoder` and `added_tokens`")]
struct TokenizerFile<'a> {
    #[serde(borrow)]
    model: Model<'a>,
    #[serde(borrow)]
    added_tokens: Option<Vec<AddedToken<'a>>>,
    pre_tokenizer: Option<Value>,
    decoder: Option<Value>,
}

#[derive(serde::Deserialize)]
#[serde(expecting = "an object with `type` and `vocab`")]
struct Model<'a> {
    #[serde(rename = "type", borrow)]
    kind: Option<Text<'a>>,
    #[serde(borrow)]
    vocab: Tokens<'a>,
    merges: Option<IgnoredAny>,
    byte_fallback: Option<bool>,
    #[serde(borrow)]
    continuing_subword_prefix: Option<Text<'a>>,
    #[serde(borrow)]
    end_of_word_suffix: Option<Text<'a>>,
}

#[derive(serde::Deserialize)]
#[serde(expecting = "an object with `id`, `content` and `special`")]
struct AddedToken<'a> {
    id: u32,
    #[serde(borrow)]
    content: Text<'a>,
    #[serde(default)]
    special: bool,
}

/// How the text of a token stands for its bytes.
#[derive(Clone, Copy, Debug)]
enum TextForm {
    /// It is the bytes.
    Plain,
    /// As the model spells its tokens.
    Spelled,
}

impl AddedToken<'_> {
    fn form(&self, decoder: &Decoder) -> TextForm {
        TextForm::of_added(self.special, decoder)
    }
}

impl TextForm {
    fn of_added(is_special: bool, decoder: &Decoder) -> Self {
        // In byte-level files added tokens are matched in the text as it is, before bytes become letters.
        if is_special || decoder.is_byte_level() { TextForm::Plain } else { TextForm::Spelled }
    }

    fn write(self, text: &str, decoder: &Decoder, bytes: &mut Vec<u8>) {
        match self {
            TextForm::Plain => bytes.extend_from_slice(text.as_bytes()),
            TextForm::Spelled => decoder.decode(text, bytes),
        }
    }
}

/// A string that borrows from the file unless it holds escapes.
struct Text<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;

        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Text<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a string")
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }

        deserializer.deserialize_str(TextVisitor)
    }
}

/// The tokens of a model: an object from token to id, or a list of token and score.
enum Tokens<'a> {
    Ids(Vec<(Text<'a>, u32)>),
    Scores(Vec<Text<'a>>),
}

impl<'de: 'a, 'a> Deserialize<'de> for Tokens<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TokensVisitor;

        impl<'de> Visitor<'de> for TokensVisitor {
            type Value = Tokens<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object from tokens to ids or a list of tokens and scores")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut tokens = Vec::new();
                while let Some(token) = map.next_entry()? {
                    tokens.push(token);
                }
                Ok(Tokens::Ids(tokens))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut tokens = Vec::new();
                while let Some((token, _score)) = list.next_element::<(Text<'de>, IgnoredAny)>()? {
                    tokens.push(token);
                }
                Ok(Tokens::Scores(tokens))
            }
        }

        deserializer.deserialize_any(TokensVisitor)
    }
}

impl Tokens<'_> {
    fn spelled(&self) -> impl Iterator<Item = &str> {
        let (ids, scores): (&[_], &[_]) = match self {
            Tokens::Ids(ids) => (ids, &[]),
            Tokens::Scores(scores) => (&[], scores),
        };
        ids.iter().map(|(text, _)| &*text.0).chain(scores.iter().map(|text| &*text.0))
    }
}

/// The advice for a tokenizer whose tokens have no bytes of their own.
const GIVE_BYTES: &str = "the text of a token depends on its neighbours, so it has no bytes of its own; decide on \
                          bytes for each token and use `from_tokens`";

/// Refuses models whose tokens are not byte strings.
fn check_model(model: &Model<'_>) -> Result<(), VocabularyError> {
    let kind = match (&model.kind, &model.vocab) {
        (Some(kind), _) => &*kind.0,
        // Files written before models had a `type` are distinguished by their other members.
        (None, Tokens::Scores(_)) => "Unigram",
        (None, Tokens::Ids(_)) if model.merges.is_some() => "BPE",
        (None, Tokens::Ids(_)) => {
            return Err(VocabularyError::at("/model", "the model has no `type`; add \"BPE\" or \"Unigram\""));
        }
    };
    match (kind, &model.vocab) {
        ("BPE", Tokens::Ids(_)) | ("Unigram", Tokens::Scores(_)) => {}
        ("BPE" | "Unigram", _) => {
            return Err(VocabularyError::at(
                "/model/vocab",
                "a `BPE` model has an object from tokens to ids, a `Unigram` model a list of tokens and scores; \
                 correct the model's `type`",
            ));
        }
        ("WordPiece" | "WordLevel", _) => {
            return Err(VocabularyError::at("/model/type", format!("of a {kind} model, {GIVE_BYTES}")));
        }
        _ => {
            return Err(VocabularyError::at(
                "/model/type",
                format!("{kind:?} is not a known model; use `BPE` or `Unigram`, or `from_tokens`"),
            ));
        }
    }
    for (name, affix) in [
        ("continuing_subword_prefix", &model.continuing_subword_prefix),
        ("end_of_word_suffix", &model.end_of_word_suffix),
    ] {
        if let Some(affix) = affix.as_ref().filter(|affix| !affix.0.is_empty()) {
            let message = format!("with the affix {:?}, {GIVE_BYTES}", affix.0);
            return Err(VocabularyError::at(format!("/model/{name}"), message));
        }
    }
    Ok(())
}

/// Finds out how the file spells bytes.
fn decoder_of(file: &TokenizerFile<'_>) -> Result<Decoder, VocabularyError> {
    let mut decoder = Decoder::default();
    if let Some(value) = &file.decoder {
        decoder.steps = decoder_steps(value)?;
    }
    // The decoder says best how tokens are spelled, the pre-tokenizer second best. The tokens themselves are
    // asked last.
    if decoder.steps.is_empty()
        && let Some(value) = &file.pre_tokenizer
    {
        decoder.steps.extend(pre_tokenizer_step(value));
    }
    if decoder.steps.is_empty() {
        decoder = guess(&file.model.vocab).into();
    }
    // The encoder makes byte tokens from bytes, whether or not the decoder undoes it.
    let falls_back = file.model.byte_fallback == Some(true);
    if falls_back && !decoder.steps.contains(&DecoderStep::ByteFallback) && !decoder.is_byte_level() {
        decoder.steps.insert(0, DecoderStep::ByteFallback);
    }
    Ok(decoder)
}

/// Most steps of a decoder, and most bytes of a text that a step replaces. Each step reads every token, so without
/// limits a file could ask for days of work. Real decoders have four steps and replace one character.
const MAX_STEPS: usize = 16;
const MAX_PATTERN: usize = 64;

/// The steps of a decoder that change the text of one token.
fn decoder_steps(decoder: &Value) -> Result<Vec<DecoderStep>, VocabularyError> {
    let mut steps = Vec::new();
    // Later steps see one text of all tokens.
    let mut fused = false;
    for (place, part) in flatten(decoder, "/decoder", "decoders") {
        if steps.len() == MAX_STEPS {
            let message =
                format!("more than {MAX_STEPS} steps; set the option `coding`, or use `from_tokens`");
            return Err(VocabularyError::at(place, message));
        }
        match kind_of(part) {
            "ByteLevel" => {
                steps.push(DecoderStep::ByteLevel);
                fused = true;
            }
            "ByteFallback" => steps.push(DecoderStep::ByteFallback),
            "Fuse" => fused = true,
            "Metaspace" => steps.push(metaspace(part, &place)?),
            "Replace" => {
                let step = replacement(part, &place)?;
                if fused && step.spans_characters() {
                    let message = "more than one character, after a step that joins the tokens: it may begin in one \
                                   token and end in another; use `from_tokens`";
                    return Err(VocabularyError::at(format!("{place}/pattern"), message));
                }
                steps.push(step);
            }
            // It works on the whole text then, whose start does not concern single tokens.
            "Strip" if fused => {}
            "Strip" => steps.push(stripping(part, &place)?),
            "WordPiece" | "BPEDecoder" | "CTC" => {
                let message = format!("with the decoder {}, {GIVE_BYTES}", kind_of(part));
                return Err(VocabularyError::at(format!("{place}/type"), message));
            }
            other => {
                return Err(VocabularyError::at(
                    format!("{place}/type"),
                    format!(
                        "{other:?} is not a known decoder; set the option `coding`, or use `from_tokens`"
                    ),
                ));
            }
        }
    }
    Ok(steps)
}

/// The inverse of a pre-tokenizer, for files without a decoder.
fn pre_tokenizer_step(pre_tokenizer: &Value) -> Option<DecoderStep> {
    flatten(pre_tokenizer, "/pre_tokenizer", "pretokenizers").into_iter().find_map(|(place, part)| {
        match kind_of(part) {
            "ByteLevel" => Some(DecoderStep::ByteLevel),
            "Metaspace" => metaspace(part, &place).ok(),
            _ => None,
        }
    })
}

/// The parts of a pipeline in their order, sequences opened, each with its place in the file.
fn flatten<'v>(pipeline: &'v Value, place: &str, list: &str) -> Vec<(String, &'v Value)> {
    let mut parts = Vec::new();
    let mut open = vec![(place.to_owned(), pipeline)];
    while let Some((place, part)) = open.pop() {
        match part.get(list).and_then(Value::as_array) {
            Some(inner) if kind_of(part) == "Sequence" => {
                let numbered = inner.iter().enumerate();
                open.extend(numbered.rev().map(|(index, part)| (format!("{place}/{list}/{index}"), part)));
            }
            _ if part.is_null() => {}
            _ => parts.push((place, part)),
        }
    }
    parts
}

fn kind_of(part: &Value) -> &str {
    part.get("type").and_then(Value::as_str).unwrap_or_default()
}

fn metaspace(part: &Value, place: &str) -> Result<DecoderStep, VocabularyError> {
    let replacement = match part.get("replacement") {
        None => "\u{2581}",
        Some(value) => value.as_str().filter(|text| text.chars().count() == 1).ok_or_else(|| {
            VocabularyError::at(
                format!("{place}/replacement"),
                "not a character; write the one that stands for a space",
            )
        })?,
    };
    Ok(DecoderStep::Replace { pattern: replacement.as_bytes().to_vec(), by: b" ".to_vec() })
}

fn replacement(part: &Value, place: &str) -> Result<DecoderStep, VocabularyError> {
    let pattern = part.pointer("/pattern/String").and_then(Value::as_str).filter(|text| !text.is_empty());
    let Some(pattern) = pattern else {
        return Err(VocabularyError::at(
            format!("{place}/pattern"),
            "not a text (`{\"String\": ...}`); regular expressions in decoders are not supported: set the option \
             `coding`, or use `from_tokens`",
        ));
    };
    if pattern.len() > MAX_PATTERN {
        let message =
            format!("more than {MAX_PATTERN} bytes long, which is not supported: use `from_tokens`");
        return Err(VocabularyError::at(format!("{place}/pattern"), message));
    }
    let by = part.get("content").and_then(Value::as_str).ok_or_else(|| {
        VocabularyError::at(
            format!("{place}/content"),
            "not a string; write the text to put in place of the pattern",
        )
    })?;
    // Several growing replacements on one long token could fill the memory.
    if by.len() > pattern.len() {
        return Err(VocabularyError::at(
            format!("{place}/content"),
            "longer than the pattern it replaces, which is not supported: use `from_tokens`",
        ));
    }
    Ok(DecoderStep::Replace { pattern: pattern.as_bytes().to_vec(), by: by.as_bytes().to_vec() })
}

fn stripping(part: &Value, place: &str) -> Result<DecoderStep, VocabularyError> {
    let mut characters = part.get("content").and_then(Value::as_str).unwrap_or_default().chars();
    let (Some(character), None) = (characters.next(), characters.next()) else {
        let message = "not one character; write the one to cut off";
        return Err(VocabularyError::at(format!("{place}/content"), message));
    };
    let times = |name: &str| {
        let number = part.get(name).and_then(Value::as_u64).and_then(|number| usize::try_from(number).ok());
        number.ok_or_else(|| {
            VocabularyError::at(format!("{place}/{name}"), "not a count; write how often to cut, 0 for never")
        })
    };
    Ok(DecoderStep::Strip { character, start: times("start")?, end: times("stop")? })
}

/// The spelling of bytes, guessed from the tokens themselves.
fn guess(tokens: &Tokens<'_>) -> TokenCoding {
    /// Half of the byte tokens: no text vocabulary holds that many strings of this form.
    const BYTE_TOKENS: usize = 128;
    /// Nearly all of the 68 letters that the alphabet takes from beyond Latin-1.
    const SHIFTED_LETTERS: usize = 64;
    let mut byte_tokens = 0;
    let mut shifted_letters = 0;
    for spelled in tokens.spelled() {
        byte_tokens += usize::from(fallback_byte(spelled.as_bytes()).is_some());
        let mut characters = spelled.chars();
        if let (Some(only), None) = (characters.next(), characters.next()) {
            let only = u32::from(only);
            shifted_letters += usize::from(only >= ALPHABET_SHIFTED && alphabet_byte(only).is_some());
        }
    }
    // Byte tokens first: a vocabulary with fallback may contain letters of the other alphabet as ordinary
    // text.
    if byte_tokens >= BYTE_TOKENS {
        TokenCoding::ByteFallback
    } else if shifted_letters >= SHIFTED_LETTERS {
        TokenCoding::ByteLevel
    } else {
        TokenCoding::Plain
    }
}

fn add_model_tokens(
    builder: &mut VocabularyBuilder<'_>,
    tokens: &Tokens<'_>,
    decoder: &Decoder,
) -> Result<(), VocabularyError> {
    match tokens {
        Tokens::Scores(tokens) => {
            for (id, token) in tokens.iter().enumerate() {
                builder
                    .write(id, |bytes| decoder.decode(&token.0, bytes))
                    .map_err(|error| error.within(format!("/model/vocab/{id}")))?;
            }
        }
        Tokens::Ids(tokens) => {
            for (token, id) in tokens {
                let place = || format!("/model/vocab/{}", pointer_part(&token.0));
                // A later token must not take the id of an earlier one in silence. The first one is looked
                // for only when there is an error.
                if builder.has(*id) {
                    let first =
                        tokens.iter().find(|(_, other)| other == id).map_or("", |(token, _)| &token.0);
                    return Err(VocabularyError::given_twice(place(), *id, first, &token.0));
                }
                builder
                    .write(to_index(*id), |bytes| decoder.decode(&token.0, bytes))
                    .map_err(|error| error.within(place()))?;
            }
        }
    }
    Ok(())
}

fn add_added_tokens(
    builder: &mut VocabularyBuilder<'_>,
    tokens: &[AddedToken<'_>],
    decoder: &Decoder,
) -> Result<(), VocabularyError> {
    let mut seen = AHashMap::with_capacity(tokens.len());
    for (place, token) in tokens.iter().enumerate() {
        if let Some(before) = seen.insert(token.id, &*token.content.0)
            && before != token.content.0
        {
            let place = format!("/added_tokens/{place}/id");
            return Err(VocabularyError::given_twice(place, token.id, before, &token.content.0));
        }
        let write = |bytes: &mut Vec<u8>| token.form(decoder).write(&token.content.0, decoder, bytes);
        builder
            .write(to_index(token.id), write)
            .map_err(|error| error.within(format!("/added_tokens/{place}")))?;
        if token.special {
            builder.mark_special(token.id);
        }
    }
    Ok(())
}

/// An id as an index. Where it does not fit, it is past every limit anyway.
fn to_index(id: u32) -> usize {
    usize::try_from(id).unwrap_or(usize::MAX)
}

/// A key as a part of a JSON pointer (RFC 6901).
fn pointer_part(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}
