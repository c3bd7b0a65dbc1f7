//! Spellings of bytes that several formats share.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use grammask_mask_cache::TokenCoding;

/// The character that stands for a space, U+2581.
const SPACE: &str = "\u{2581}";

/// The byte that `<0x0A>` and the like stand for.
pub(crate) fn byte_token(spelled: &[u8]) -> Option<u8> {
    let spelled = std::str::from_utf8(spelled).ok().filter(|spelled| spelled.len() == "<0x00>".len())?;
    match *TokenCoding::ByteFallback.decode(spelled) {
        [byte] => Some(byte),
        _ => None,
    }
}

/// Puts the bytes of a token in base64 instead of what `into` holds. There is no token without bytes.
pub(crate) fn from_base64(spelled: &[u8], into: &mut Vec<u8>) -> Result<(), String> {
    into.clear();
    STANDARD.decode_vec(spelled, into).map_err(|error| {
        // Some of its sentences end with a full stop.
        format!("not base64: {}; fetch the file again", error.to_string().trim_end_matches('.'))
    })?;
    if into.is_empty() { Err("a token without bytes; fetch the file again".to_owned()) } else { Ok(()) }
}

/// A text in which U+2581 stands for spaces.
pub(crate) fn with_spaces(spelled: &[u8]) -> Cow<'_, [u8]> {
    let pattern = SPACE.as_bytes();
    if !spelled.windows(pattern.len()).any(|window| window == pattern) {
        return Cow::Borrowed(spelled);
    }
    let mut bytes = Vec::with_capacity(spelled.len());
    let mut rest = spelled;
    while let Some((&first, after)) = rest.split_first() {
        rest = match rest.strip_prefix(pattern) {
            Some(after) => {
                bytes.push(b' ');
                after
            }
            None => {
                bytes.push(first);
                after
            }
        };
    }
    Cow::Owned(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn byte_tokens_are_exact() {
        for (spelled, byte) in [
            ("<0x00>", Some(0)),
            ("<0xfF>", Some(255)),
            ("<0x41>", Some(0x41)),
            ("\u{2581}\u{2581}", None),
            ("\u{2581}abc", None),
            ("<0x+1>", None),
            ("A", None),
        ] {
            assert_eq!(byte_token(spelled.as_bytes()), byte, "{spelled}");
        }
    }

    #[test]
    fn only_the_whole_character_is_a_space() {
        assert_eq!(&*with_spaces("\u{2581}a\u{2581}\u{2582}".as_bytes()), " a \u{2582}".as_bytes());
        assert_eq!(&*with_spaces(b"\xe2\x96"), b"\xe2\x96");
    }
}
