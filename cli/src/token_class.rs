//! The class of a token: the sampler weighs kinds of tokens, not single ones.

/// A kind of token. Weights for each are in `sampler`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TokenClass {
    /// A lower-case or capitalised word, or a piece of one.
    Word,
    /// A word after a space.
    SpacedWord,
    /// Capitals only.
    Capitals,
    /// Digits only.
    Digits,
    /// Begins with a quote, perhaps after a space: it opens or closes a string.
    Quote,
    /// Closing brackets only.
    Closer,
    /// Holds an opening bracket, neither letters nor digits.
    Opener,
    /// Other punctuation.
    Punctuation,
    /// One space.
    Space,
    /// Everything else: escapes, punctuation after a space, other scripts, pieces of code, runs of
    /// whitespace, pieces of characters.
    Other,
}

impl TokenClass {
    pub(crate) const ALL: [Self; 10] = [
        Self::Word,
        Self::SpacedWord,
        Self::Capitals,
        Self::Digits,
        Self::Quote,
        Self::Closer,
        Self::Opener,
        Self::Punctuation,
        Self::Space,
        Self::Other,
    ];

    pub(crate) fn of(bytes: &[u8]) -> Self {
        if bytes == b" " {
            return Self::Space;
        }
        let body = bytes.strip_prefix(b" ").unwrap_or(bytes);
        let all = |test: fn(&u8) -> bool| body.iter().all(test);
        let capitalised = body.first().is_some_and(u8::is_ascii_uppercase) && body.len() > 1;
        let tail = if capitalised { &body[1..] } else { body };
        if body.is_empty() || all(u8::is_ascii_whitespace) || !all(|byte| byte.is_ascii_graphic()) {
            Self::Other
        } else if tail.iter().all(u8::is_ascii_lowercase) {
            if body.len() < bytes.len() { Self::SpacedWord } else { Self::Word }
        } else if all(u8::is_ascii_uppercase) {
            Self::Capitals
        } else if all(u8::is_ascii_digit) {
            Self::Digits
        } else if body.iter().any(|byte| byte.is_ascii_alphanumeric() || *byte == b'\\') {
            Self::Other
        } else if body.starts_with(b"\"") {
            Self::Quote
        } else if body.len() < bytes.len() {
            Self::Other
        } else if body.iter().any(|byte| b"{[(".contains(byte)) {
            Self::Opener
        } else if all(|byte| b"}])>".contains(byte)) {
            Self::Closer
        } else {
            Self::Punctuation
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_have_classes() {
        let cases: [(&[u8], TokenClass); 16] = [
            (b" word", TokenClass::SpacedWord),
            (b"Word", TokenClass::Word),
            (b"x", TokenClass::Word),
            (b"ABC", TokenClass::Capitals),
            (b"123", TokenClass::Digits),
            (b"\":", TokenClass::Quote),
            (b" \"", TokenClass::Quote),
            (b"}]", TokenClass::Closer),
            (b"[{\"", TokenClass::Opener),
            (b" ,", TokenClass::Other),
            (b"\\\"", TokenClass::Other),
            (b", ", TokenClass::Other),
            (b",", TokenClass::Punctuation),
            (b" ", TokenClass::Space),
            (b"\n\n", TokenClass::Other),
            (b"\xe2\x82", TokenClass::Other),
        ];
        for (bytes, class) in cases {
            assert_eq!(TokenClass::of(bytes), class, "{}", crate::escape::quoted(bytes));
        }
    }
}
