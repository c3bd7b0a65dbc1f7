//! Writers of small files, and the listing that tests compare.

use grammask_mask_cache::{TokenKind, Vocabulary};

/// All ids: `=` text, `!` special, `.` stop, `-` nothing.
pub(crate) fn list(vocabulary: &Vocabulary) -> String {
    let line = |id| match vocabulary.kind(id) {
        TokenKind::Text => format!("{id} = {}\n", vocabulary.token_bytes(id).escape_ascii()),
        TokenKind::Special => format!("{id} ! {}\n", vocabulary.token_name(id)),
        TokenKind::Stop => format!("{id} . {}\n", vocabulary.token_name(id)),
        TokenKind::Empty => format!("{id} -\n"),
    };
    (0..).map_while(|number| vocabulary.id(number)).map(line).collect()
}

/// A GGUF file: version 3, one tensor of which nothing is there, and these entries.
pub(crate) fn gguf(entries: &[Vec<u8>]) -> Vec<u8> {
    let mut file = b"GGUF".to_vec();
    file.extend(3_u32.to_le_bytes());
    file.extend(1_u64.to_le_bytes());
    file.extend((entries.len() as u64).to_le_bytes());
    file.extend(entries.concat());
    file
}

/// The value of an entry of a GGUF file.
pub(crate) enum Gguf<'v> {
    U32(u32),
    I64(i64),
    Bool(u8),
    Text(&'v str),
    Texts(&'v [&'v [u8]]),
    I32s(&'v [i32]),
    F32s(&'v [f32]),
}

/// An entry of a GGUF file.
pub(crate) fn entry(key: &str, value: Gguf<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    text(&mut bytes, key.as_bytes());
    match value {
        Gguf::U32(number) => {
            bytes.extend(4_u32.to_le_bytes());
            bytes.extend(number.to_le_bytes());
        }
        Gguf::I64(number) => {
            bytes.extend(11_u32.to_le_bytes());
            bytes.extend(number.to_le_bytes());
        }
        Gguf::Bool(number) => {
            bytes.extend(7_u32.to_le_bytes());
            bytes.push(number);
        }
        Gguf::Text(value) => {
            bytes.extend(8_u32.to_le_bytes());
            text(&mut bytes, value.as_bytes());
        }
        Gguf::Texts(values) => {
            list_head(&mut bytes, 8, values.len());
            values.iter().for_each(|value| text(&mut bytes, value));
        }
        Gguf::I32s(values) => {
            list_head(&mut bytes, 5, values.len());
            values.iter().for_each(|value| bytes.extend(value.to_le_bytes()));
        }
        Gguf::F32s(values) => {
            list_head(&mut bytes, 6, values.len());
            values.iter().for_each(|value| bytes.extend(value.to_le_bytes()));
        }
    }
    bytes
}

fn text(bytes: &mut Vec<u8>, value: &[u8]) {
    bytes.extend((value.len() as u64).to_le_bytes());
    bytes.extend(value);
}

fn list_head(bytes: &mut Vec<u8>, item: u32, length: usize) {
    bytes.extend(9_u32.to_le_bytes());
    bytes.extend(item.to_le_bytes());
    bytes.extend((length as u64).to_le_bytes());
}

/// A GGUF file whose tokenizer is `model`, with tokens and their types.
pub(crate) fn gguf_model(model: &str, tokens: &[(&str, i32)], more: &[Vec<u8>]) -> Vec<u8> {
    let texts: Vec<&[u8]> = tokens.iter().map(|(text, _)| text.as_bytes()).collect();
    let types: Vec<i32> = tokens.iter().map(|(_, kind)| *kind).collect();
    let mut entries = vec![
        entry("general.architecture", Gguf::Text("llama")),
        entry("tokenizer.ggml.add_bos_token", Gguf::Bool(1)),
        entry("tokenizer.ggml.scores", Gguf::F32s(&[0.5; 3])),
        entry("tokenizer.ggml.tokens", Gguf::Texts(&texts)),
        entry("tokenizer.ggml.token_type", Gguf::I32s(&types)),
        entry("tokenizer.ggml.merges", Gguf::Texts(&[b"a b", b"ab c"])),
        entry("tokenizer.ggml.model", Gguf::Text(model)),
    ];
    entries.extend(more.iter().cloned());
    gguf(&entries)
}

/// A field of a protocol buffers message that holds bytes.
pub(crate) fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    // A number of a field above 15 and a length above 127 take two bytes.
    let varint = |number: usize| match number {
        0..0x80 => vec![number as u8],
        _ => vec![(number & 0x7F) as u8 | 0x80, (number >> 7) as u8],
    };
    let head = [varint(usize::from(number) << 3 | 2), varint(bytes.len())];
    [head.concat(), bytes.to_vec()].concat()
}

/// The end of a SentencePiece model: a trainer that was told nothing.
pub(crate) fn trainer() -> Vec<u8> {
    field(2, b"")
}

/// A piece of a SentencePiece model: text, score and type.
pub(crate) fn piece(text: &str, kind: u8) -> Vec<u8> {
    let score = [b"\x15".to_vec(), (-1.5_f32).to_le_bytes().to_vec()].concat();
    field(1, &[field(1, text.as_bytes()), score, vec![0x18, kind]].concat())
}
