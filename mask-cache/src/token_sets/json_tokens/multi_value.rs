//! Tokens that may hold more than one JSON value.
//!
//! A check that the items of an array differ has to look into tokens such as `","","`: they hold a whole item
//! beside the end of the one before. Few tokens are like this, and they depend on the vocabulary alone.

use crate::ids::TokenId;
use crate::vocabulary::tokens::Vocabulary;

/// The position of a text before a token that may hold more than one value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ValuePosition {
    /// Inside a string: a value may begin after a comma after a quote.
    String,
    /// Between values, or inside a number: a value may begin after a comma.
    Array,
    /// Elsewhere: one may begin after a bracket, and another one after a comma.
    Text,
}

/// The tokens, whose number is small, by the position of the text.
pub(crate) struct MultiValueTokens([Box<[TokenId]>; 3]);

impl MultiValueTokens {
    pub(crate) fn new(vocabulary: &Vocabulary) -> Self {
        let mut lists: [Vec<TokenId>; 3] = Default::default();
        for &id in vocabulary.sorted_text_tokens() {
            let bytes = vocabulary.token_bytes(id);
            // Few tokens have a comma at all.
            if !bytes.contains(&b',') || !begins_after(bytes, b",") {
                continue;
            }
            lists[1].push(id);
            let quote = bytes.iter().position(|&byte| byte == b'"');
            if quote.is_some_and(|quote| begins_after(&bytes[quote..], b",")) {
                lists[0].push(id);
            }
            let bracket = bytes.iter().position(|&byte| matches!(byte, b'[' | b'{'));
            if bracket.is_some_and(|at| begins_after(&bytes[at..], b"[{") && begins_after(&bytes[at..], b","))
            {
                lists[2].push(id);
            }
        }
        Self(lists.map(Vec::into_boxed_slice))
    }

    pub(crate) fn at(&self, position: ValuePosition) -> &[TokenId] {
        &self.0[match position {
            ValuePosition::String => 0,
            ValuePosition::Array => 1,
            ValuePosition::Text => 2,
        }]
    }

    pub(crate) fn memory_usage(&self) -> usize {
        self.0.iter().map(|list| size_of_val(&**list)).sum()
    }
}

/// Whether a value may begin after one of some signs.
fn begins_after(bytes: &[u8], signs: &[u8]) -> bool {
    let mut is_after_sign = false;
    for byte in bytes {
        match byte {
            // Whitespace may stand between the sign and the value.
            b' ' | b'\t' | b'\n' | b'\r' => {}
            b'"' | b'-' | b'0'..=b'9' | b'a'..=b'z' | b'[' | b'{' if is_after_sign => return true,
            byte => is_after_sign = signs.contains(byte),
        }
    }
    false
}
