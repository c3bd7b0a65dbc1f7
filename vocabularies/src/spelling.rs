//! Spellings of bytes that several formats share.

use std::borrow::Cow;

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
