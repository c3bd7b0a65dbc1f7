//! SentencePiece models.
//!
//! A model is one protocol buffers message: a list of pieces, whose order is that of the ids, and what the trainer and
//! the normaliser were told. A piece has a text and a type. Everything else serves to encode.

use std::borrow::Cow;

use grammask_mask_cache::{Vocabulary, VocabularyBuilder, VocabularyOptions};

use crate::error::LoadError;
use crate::format::Format;
use crate::protobuf::{Field, Malformed, Message, Value};
use crate::spelling::{byte_token, with_spaces};

/// The vocabulary of a SentencePiece model, often the file `tokenizer.model`.
///
/// The bytes of a piece are its text with U+2581 as a space, or the byte that it stands for. The unknown
/// piece and control pieces are special, user-defined pieces are text, and unused pieces have no bytes.
/// [`VocabularyOptions::stop_ids`] says which ids end a text. Otherwise a control piece that the model names
/// as the end of a text (`</s>` by default) is a stop token. So are special pieces with known names
/// ([`STOP_TOKEN_NAMES`](grammask_mask_cache::STOP_TOKEN_NAMES)).
///
/// Tokens that a file beside the model adds come in by [`VocabularyOptions::special_tokens`]. SentencePiece drops the
/// space at the very start of a text that it decodes; a token's bytes keep it, as they are in the middle of a text.
///
/// # Errors
///
/// Fails if the file is damaged, cut short or no such model, or if a limit of the options is passed. It also fails if
/// the model changes its text after it is decoded (`denormalizer_spec`), because then tokens have no bytes of
/// their own.
pub fn from_sentencepiece(model: &[u8], options: &VocabularyOptions) -> Result<Vocabulary, LoadError> {
    let mut builder = VocabularyBuilder::new(options);
    let mut message = Message::of_file(model);
    let mut end = Cow::Borrowed(&b"</s>"[..]);
    let mut controls = Vec::new();
    let mut has_trainer = false;
    let mut id = 0;
    while let Some(field) = message.next_field().map_err(malformed)? {
        match (field.number, field.value) {
            (PIECES, Value::Bytes(message)) => {
                let piece = Piece::read(message)?;
                piece.add(&mut builder, id)?;
                if piece.kind == Kind::Control {
                    // The name of the end piece may come later in the file, so control pieces are kept until
                    // then.
                    controls.push((id, piece.text));
                }
                id += 1;
            }
            (TRAINER, Value::Bytes(message)) => {
                has_trainer = true;
                if let Some(name) = text_field(message, END_PIECE)? {
                    end = Cow::Borrowed(name.bytes());
                }
            }
            (DENORMALIZER, Value::Bytes(message)) => {
                if let Some(rules) = text_field(message, RULES)?
                    && !rules.bytes().is_empty()
                {
                    let reason = "the model rewrites decoded text, so its tokens have no bytes of their own; decide \
                                  on bytes for each token and use `Vocabulary::from_tokens`";
                    return Err(at(rules.offset(), reason));
                }
            }
            (PIECES | TRAINER | DENORMALIZER, _) => return Err(at(field.offset, NOT_A_MODEL)),
            _ => {}
        }
    }
    if id == 0 {
        return Err(at(0, "there are no pieces; give a SentencePiece model"));
    }
    // Fields are written in the order of their numbers, and every version of the trainer has written this one. Pieces end
    // nowhere by themselves, so only a field after them says that none is missing.
    if !has_trainer {
        let reason = "`trainer_spec` is missing, which every model has after its pieces; fetch the file again, in full";
        return Err(at(model.len(), reason));
    }
    if let Some((id, _)) = controls.iter().find(|(_, text)| **text == *end) {
        builder.mark_stop(*id);
    }
    builder.finish().map_err(|error| LoadError::vocabulary(Format::SentencePiece, error))
}

/// Whether bytes begin as a model does: with a whole piece.
pub(crate) fn begins_like_a_model(bytes: &[u8]) -> bool {
    let first = Message::of_file(bytes).next_field();
    let Ok(Some(Field { number: PIECES, value: Value::Bytes(mut piece), .. })) = first else { return false };
    let mut numbers = Vec::new();
    loop {
        match piece.next_field() {
            Ok(None) => return numbers.first() == Some(&TEXT),
            Ok(Some(field)) if matches!(field.number, TEXT | SCORE | TYPE) && numbers.len() < 3 => {
                numbers.push(field.number);
            }
            _ => return false,
        }
    }
}

// Numbers of fields, as `sentencepiece_model.proto` has them. In the model:
const PIECES: u64 = 1;
const TRAINER: u64 = 2;
const DENORMALIZER: u64 = 5;
// In a piece:
const TEXT: u64 = 1;
const SCORE: u64 = 2;
const TYPE: u64 = 3;
// In what the trainer was told:
const END_PIECE: u64 = 47;
// In a normaliser:
const RULES: u64 = 2;

const NOT_A_MODEL: &str = "the field is of another type than this one is; give a SentencePiece model";

struct Piece<'m> {
    text: &'m [u8],
    kind: Kind,
    /// Where in the file the piece begins.
    offset: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Normal,
    Unknown,
    Control,
    UserDefined,
    Unused,
    Byte,
}

impl<'m> Piece<'m> {
    fn read(mut message: Message<'m>) -> Result<Self, LoadError> {
        let mut piece = Self { text: b"", kind: Kind::Normal, offset: message.offset() };
        while let Some(field) = message.next_field().map_err(malformed)? {
            match (field.number, field.value) {
                (TEXT, Value::Bytes(text)) => piece.text = text.bytes(),
                (TYPE, Value::Varint(number)) => {
                    piece.kind = match number {
                        1 => Kind::Normal,
                        2 => Kind::Unknown,
                        3 => Kind::Control,
                        4 => Kind::UserDefined,
                        5 => Kind::Unused,
                        6 => Kind::Byte,
                        _ => return Err(at(field.offset, "no piece has this type; fetch the file again")),
                    }
                }
                (TEXT | TYPE, _) => return Err(at(field.offset, NOT_A_MODEL)),
                _ => {}
            }
        }
        if piece.text.is_empty() {
            return Err(at(piece.offset, "a piece without a text; fetch the file again"));
        }
        if std::str::from_utf8(piece.text).is_err() {
            return Err(at(piece.offset, "the text of a piece is not UTF-8; fetch the file again"));
        }
        Ok(piece)
    }

    fn add(&self, builder: &mut VocabularyBuilder<'_>, id: u32) -> Result<(), LoadError> {
        let bytes = match self.kind {
            Kind::Normal | Kind::UserDefined => with_spaces(self.text),
            Kind::Unknown | Kind::Control => Cow::Borrowed(self.text),
            Kind::Unused => Cow::Borrowed(&b""[..]),
            Kind::Byte => {
                let reason =
                    "the type says that it is a byte, and its text is not like `<0x0A>`; fetch it again";
                let byte = byte_token(self.text).ok_or_else(|| at(self.offset, reason))?;
                Cow::Owned(vec![byte])
            }
        };
        let placed = |error| LoadError::vocabulary_at(Format::SentencePiece, place(self.offset), error);
        builder.push(&bytes).map_err(placed)?;
        if matches!(self.kind, Kind::Unknown | Kind::Control) {
            builder.mark_special(id);
        }
        Ok(())
    }
}

/// The last field with a number in a message, if it has one.
fn text_field(mut message: Message<'_>, number: u64) -> Result<Option<Message<'_>>, LoadError> {
    let mut found = None;
    while let Some(field) = message.next_field().map_err(malformed)? {
        match field.value {
            Value::Bytes(text) if field.number == number => found = Some(text),
            _ if field.number == number => return Err(at(field.offset, NOT_A_MODEL)),
            _ => {}
        }
    }
    Ok(found)
}

fn malformed(error: Malformed) -> LoadError {
    at(error.offset, format!("{}; fetch the file again", error.reason))
}

fn at(offset: usize, message: impl Into<String>) -> LoadError {
    LoadError::at(Format::SentencePiece, place(offset), message)
}

fn place(offset: usize) -> String {
    format!("byte {offset}")
}
