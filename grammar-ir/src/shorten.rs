//! Messages about long texts.

use std::borrow::Cow;

/// Characters that are kept of the beginning of a long message, and of its end.
const HEAD: usize = 200;
const TAIL: usize = 120;

/// A message that repeats some 200 characters of its input, however long the input is. Names, literals and
/// keys are in the middle, after the error and before the advice.
pub fn shorten(message: &str) -> Cow<'_, str> {
    let Some((head, _)) = message.char_indices().nth(HEAD) else { return message.into() };
    let Some((tail, _)) = message.char_indices().rev().nth(TAIL - 1) else { return message.into() };
    if tail <= head {
        return message.into();
    }
    format!("{}\u{2026}{}", &message[..head], &message[tail..]).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_are_kept() {
        for length in [0, 1, HEAD, HEAD + TAIL, HEAD + TAIL + 1, 10_000] {
            for character in ['a', '\u{e9}'] {
                let message: String = std::iter::repeat_n(character, length).collect();
                let shown = shorten(&message);
                assert_eq!(shown.chars().count(), length.min(HEAD + TAIL + 1), "{length}");
                assert_eq!(shown == message, length <= HEAD + TAIL);
            }
        }
        let message = format!("rule `{}` is not defined; define it", "x".repeat(1 << 20));
        let shown = shorten(&message);
        assert!(shown.starts_with("rule `xxx") && shown.ends_with("x` is not defined; define it"));
    }
}
