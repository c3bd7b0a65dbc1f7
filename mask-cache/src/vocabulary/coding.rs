//! How tokenizer files spell the bytes of tokens.
//!
//! A tokenizer's file holds strings, and tokens are bytes. Two conventions bridge the gap, and both are
//! described in a file by its *decoder*, a pipeline of small rewriting steps. We run that pipeline on one token
//! at a time, on bytes; that is the token's contribution to the text if no step looks at neighbouring tokens.
//! Pipelines that do look (word pieces, end-of-word suffixes) are refused, since no byte string could be right.

/// A convention for spelling bytes in a file of strings.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum TokenCoding {
    /// Strings stand for their UTF-8 bytes.
    Plain,
    /// Every byte is written as one printable character, in the alphabet that GPT-2 introduced: a space is `Ġ`,
    /// a newline `Ċ`. A string with a character outside the alphabet stands for its UTF-8 bytes.
    ByteLevel,
    /// `<0x0A>` is one byte, `▁` (U+2581) is a space, all else stands for its UTF-8 bytes.
    ByteFallback,
}

impl TokenCoding {
    /// The bytes of a token as a file spells it.
    ///
    /// ```
    /// use grammask_mask_cache::TokenCoding;
    ///
    /// assert_eq!(TokenCoding::ByteLevel.decode("Ġhi"), b" hi");
    /// assert_eq!(TokenCoding::ByteFallback.decode("<0xE2>"), [0xE2]);
    /// assert_eq!(TokenCoding::ByteFallback.decode("▁hi"), b" hi");
    /// ```
    pub fn decode(self, spelled: &str) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(spelled.len());
        Decoder::from(self).decode(spelled, &mut bytes);
        bytes
    }
}

/// One step of a decoder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum DecoderStep {
    /// The byte-level alphabet.
    ByteLevel,
    /// `<0xHH>` is a byte.
    ByteFallback,
    /// Every occurrence of a text becomes another text. The pattern is not empty.
    Replace {
        /// The text that is replaced.
        pattern: Vec<u8>,
        /// The replacement.
        by: Vec<u8>,
    },
    /// A character is cut off both ends, at most this many times.
    Strip {
        /// The character.
        character: char,
        /// How often at the start.
        start: usize,
        /// How often at the end.
        end: usize,
    },
}

impl DecoderStep {
    /// Whether the step looks for a text of several characters.
    pub(super) fn spans_characters(&self) -> bool {
        let DecoderStep::Replace { pattern, .. } = self else { return false };
        String::from_utf8_lossy(pattern).chars().nth(1).is_some()
    }
}

/// Steps in their order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Decoder {
    /// The steps.
    pub(super) steps: Vec<DecoderStep>,
}

impl From<TokenCoding> for Decoder {
    fn from(coding: TokenCoding) -> Self {
        let steps = match coding {
            TokenCoding::Plain => vec![],
            TokenCoding::ByteLevel => vec![DecoderStep::ByteLevel],
            TokenCoding::ByteFallback => vec![
                DecoderStep::ByteFallback,
                DecoderStep::Replace { pattern: "\u{2581}".as_bytes().to_vec(), by: b" ".to_vec() },
            ],
        };
        Self { steps }
    }
}

impl Decoder {
    /// Whether the byte-level alphabet is used.
    pub(super) fn is_byte_level(&self) -> bool {
        self.steps.contains(&DecoderStep::ByteLevel)
    }

    /// Appends the bytes of a token to `into`.
    pub(super) fn decode(&self, spelled: &str, into: &mut Vec<u8>) {
        let from = into.len();
        into.extend_from_slice(spelled.as_bytes());
        for step in &self.steps {
            match step {
                DecoderStep::ByteLevel => from_alphabet(into, from),
                // A byte token is this byte alone; later steps see the byte, as they do when the tokenizer
                // decodes.
                DecoderStep::ByteFallback => {
                    if let Some(byte) = fallback_byte(&into[from..]) {
                        into.truncate(from);
                        into.push(byte);
                    }
                }
                DecoderStep::Replace { pattern, by } => replace(into, from, pattern, by),
                DecoderStep::Strip { character, start, end } => strip(into, from, *character, *start, *end),
            }
        }
    }
}

/// The byte of `<0xHH>`.
pub(super) fn fallback_byte(spelled: &[u8]) -> Option<u8> {
    let &[b'<', b'0', b'x', high, low, b'>'] = spelled else { return None };
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    Some(digit(high)? << 4 | digit(low)?)
}

/// Number of characters that the alphabet reaches up to: printable Latin-1 characters stand for themselves, the
/// other 68 bytes, in their order, for the characters from U+0100 on.
const ALPHABET_END: usize = 0x144;

/// First character of the alphabet that does not stand for itself.
pub(super) const ALPHABET_SHIFTED: u32 = 0x100;

/// For each character below [`ALPHABET_END`] its byte, or -1.
const ALPHABET: [i16; ALPHABET_END] = {
    let mut table = [-1; ALPHABET_END];
    let mut shifted = ALPHABET_SHIFTED as usize;
    let mut byte = 0;
    while byte < 256 {
        let printable = matches!(byte, 0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF);
        if printable {
            table[byte] = byte as i16;
        } else {
            table[shifted] = byte as i16;
            shifted += 1;
        }
        byte += 1;
    }
    table
};

/// The byte that a character of the alphabet stands for.
pub(super) fn alphabet_byte(character: u32) -> Option<u8> {
    let index = usize::try_from(character).ok()?;
    ALPHABET.get(index).and_then(|&byte| u8::try_from(byte).ok())
}

/// Rewrites `text[from..]`, in place: the alphabet has no shorter spelling than one byte for a byte. Text that is
/// not in the alphabet as a whole stays.
fn from_alphabet(text: &mut Vec<u8>, from: usize) {
    let mut read = from;
    let mut bytes = 0;
    // First a pass that only looks, because text with a foreign character stays as it is.
    while read < text.len() {
        let Some((_, width)) = alphabet_character(&text[read..]) else { return };
        read += width;
        bytes += 1;
    }
    read = from;
    for write in from..from + bytes {
        let Some((byte, width)) = alphabet_character(&text[read..]) else { return };
        text[write] = byte;
        read += width;
    }
    text.truncate(from + bytes);
}

/// The byte that the first character stands for, and the number of bytes of the character itself. All
/// characters of the alphabet take one or two.
fn alphabet_character(text: &[u8]) -> Option<(u8, usize)> {
    match *text {
        [first @ ..0x80, ..] => Some((alphabet_byte(u32::from(first))?, 1)),
        [first @ 0xC2..=0xDF, second @ 0x80..=0xBF, ..] => {
            let character = u32::from(first & 0x1F) << 6 | u32::from(second & 0x3F);
            Some((alphabet_byte(character)?, 2))
        }
        _ => None,
    }
}

fn replace(text: &mut Vec<u8>, from: usize, pattern: &[u8], by: &[u8]) {
    let occurs = |text: &[u8]| !pattern.is_empty() && text.windows(pattern.len()).any(|at| at == pattern);
    if !occurs(&text[from..]) {
        return;
    }
    let old = text.split_off(from);
    let mut rest = &old[..];
    while let Some((&first, after)) = rest.split_first() {
        if let Some(after) = rest.strip_prefix(pattern) {
            text.extend_from_slice(by);
            rest = after;
        } else {
            text.push(first);
            rest = after;
        }
    }
}

fn strip(text: &mut Vec<u8>, from: usize, character: char, start: usize, end: usize) {
    let mut buffer = [0; 4];
    let pattern = character.encode_utf8(&mut buffer).as_bytes();
    let mut rest = &text[from..];
    for _ in 0..start {
        let Some(after) = rest.strip_prefix(pattern) else { break };
        rest = after;
    }
    for _ in 0..end {
        let Some(before) = rest.strip_suffix(pattern) else { break };
        rest = before;
    }
    let kept = rest.to_vec();
    text.truncate(from);
    text.extend_from_slice(&kept);
}
