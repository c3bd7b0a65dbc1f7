//! Tokens in which one value ends and another one is written.
//!
//! Whoever keeps apart the items of an array has to look into tokens such as `","","`: they hold a whole item beside the
//! end of the one before. Few tokens do, and which ones depends on the vocabulary alone.

use crate::{TokenId, Vocabulary};

/// Where a text stands before a token that may hold more than one value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ValuePosition {
    /// Inside a string: a value may begin behind a comma behind a quote.
    String,
    /// Between values, or inside a number: a value may begin behind a comma.
    Array,
    /// Elsewhere: one may begin behind a bracket, and another one behind a comma.
    Text,
}

/// The tokens, whose number is small, by where the text stands.
pub(crate) struct Separated([Box<[TokenId]>; 3]);

impl Separated {
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

    pub(crate) fn of(&self, inside: ValuePosition) -> &[TokenId] {
        &self.0[match inside {
            ValuePosition::String => 0,
            ValuePosition::Array => 1,
            ValuePosition::Text => 2,
        }]
    }

    pub(crate) fn memory_usage(&self) -> usize {
        self.0.iter().map(|list| size_of_val(&**list)).sum()
    }
}

/// Whether a value may begin behind one of some signs.
fn begins_after(bytes: &[u8], signs: &[u8]) -> bool {
    let mut is_behind = false;
    for byte in bytes {
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' => {}
            b'"' | b'-' | b'0'..=b'9' | b'a'..=b'z' | b'[' | b'{' if is_behind => return true,
            byte => is_behind = signs.contains(byte),
        }
    }
    false
}
