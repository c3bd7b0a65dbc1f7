//! Texts that are not UTF-8, written in files that are.

/// A backslash that begins no known escape.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` has an unknown escape at byte {at}; write \\\\, \\n, \\r, \\t or \\xHH")]
pub struct UnescapeError {
    text: String,
    at: usize,
}

/// The bytes of a text in which `\\`, `\n`, `\r`, `\t` and `\xHH` (one byte) are escapes. Everything else
/// stands for its UTF-8.
pub fn unescape(text: &str) -> Result<Vec<u8>, UnescapeError> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut at = 0;
    let source = text.as_bytes();
    while at < source.len() {
        if source[at] != b'\\' {
            bytes.push(source[at]);
            at += 1;
            continue;
        }
        let (byte, length) = match source.get(at + 1) {
            Some(b'\\') => (b'\\', 2),
            Some(b'n') => (b'\n', 2),
            Some(b'r') => (b'\r', 2),
            Some(b't') => (b'\t', 2),
            Some(b'x') => {
                let digit =
                    |offset: usize| source.get(at + offset).and_then(|&byte| char::from(byte).to_digit(16));
                match (digit(2), digit(3)) {
                    (Some(high), Some(low)) => ((high * 16 + low) as u8, 4),
                    _ => return Err(UnescapeError { text: text.to_owned(), at }),
                }
            }
            _ => return Err(UnescapeError { text: text.to_owned(), at }),
        };
        bytes.push(byte);
        at += length;
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_escapes() {
        assert_eq!(unescape(r"a\xfF\\x\n\té"), Ok(b"a\xff\\x\n\t\xc3\xa9".to_vec()));
        for wrong in [r"\", r"\q", r"\x", r"\xf", r"\xg0"] {
            assert!(unescape(wrong).is_err(), "{wrong}");
        }
    }
}
