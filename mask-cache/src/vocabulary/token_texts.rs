//! The bytes of each token, where one read finds them.
//!
//! A decoder accepts tokens all over the vocabulary, and between two of them the model and the mask have used
//! the caches for something else. With all bytes one after another, and a list of the beginnings, each token
//! costs two misses, the second of which waits for the first. That was nearly half of the time to accept a
//! token. Here a token of up to 15 bytes, as 98 in 100 are, is in a record of 16 that never straddles two
//! cache lines.

use std::fmt;
use std::sync::Arc;

use crate::ids::TokenId;

/// Bytes that fit into a record.
const SHORT: usize = 15;
/// The length in a record whose token is elsewhere.
const LONG: u8 = u8::MAX;

/// The bytes of all tokens, by id: a shared reference for callers that read many of them, because the way over the
/// vocabulary waits for two reads more.
#[derive(Clone)]
pub struct TokenTexts {
    records: Arc<[Record]>,
    /// The bytes of the tokens that fit into no record.
    long: Arc<[u8]>,
}

/// A length and the bytes; or [`LONG`], and as two little-endian numbers where the bytes begin and end.
#[derive(Clone, Copy)]
#[repr(align(16))]
struct Record {
    len: u8,
    bytes: [u8; SHORT],
}

impl TokenTexts {
    /// `offsets` says where in `bytes` each token begins, and where the last one ends.
    pub(super) fn new(bytes: &[u8], offsets: &[u32]) -> Self {
        let mut long = Vec::new();
        let tokens = offsets.windows(2).map(|ends| &bytes[ends[0] as usize..ends[1] as usize]);
        let records = tokens.map(|token| Record::new(token, &mut long)).collect();
        Self { records, long: long.into() }
    }

    /// The number of ids.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.records.len()
    }

    /// The bytes of a text token; none for every other id.
    #[inline]
    pub fn get(&self, id: TokenId) -> &[u8] {
        match self.records.get(id.index()) {
            Some(record) if usize::from(record.len) <= SHORT => &record.bytes[..usize::from(record.len)],
            Some(record) => self.long(record),
            None => &[],
        }
    }

    #[cold]
    fn long(&self, record: &Record) -> &[u8] {
        let number = |at: usize| record.bytes[at..at + 4].try_into().map(u32::from_le_bytes).unwrap_or(0);
        &self.long[number(0) as usize..number(4) as usize]
    }

    pub(super) fn memory_usage(&self) -> usize {
        size_of_val(&*self.records) + self.long.len()
    }
}

impl Record {
    fn new(token: &[u8], long: &mut Vec<u8>) -> Self {
        let mut bytes = [0; SHORT];
        if token.len() <= SHORT {
            bytes[..token.len()].copy_from_slice(token);
            return Self { len: token.len() as u8, bytes };
        }
        // The offsets that came in are 32 bits wide, and here are no more bytes than they count.
        let start = long.len() as u32;
        long.extend_from_slice(token);
        bytes[..4].copy_from_slice(&start.to_le_bytes());
        bytes[4..8].copy_from_slice(&(long.len() as u32).to_le_bytes());
        Self { len: LONG, bytes }
    }
}

impl fmt::Debug for TokenTexts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("TokenTexts").field("len", &self.len()).finish_non_exhaustive()
    }
}
