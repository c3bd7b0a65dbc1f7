//! A parser backend outside of grammask's workspace: texts whose brackets match, followed by counting them.
//!
//! The language is `root ::= ([inside] | "(" root ")")*` for a set of inside bytes. A parser of any context-free
//! language keeps a stack; with one kind of bracket all entries of the stack are equal, and its height says all.
//! So a state is a number, and there are no tables. These five methods are all that masks need; README.md says what each
//! must do, and which optional parts there are.
#![forbid(unsafe_code)]

use std::sync::Arc;

use grammask_mask_cache::Vocabulary;
use grammask_matcher::{CompiledGrammar, Limits};
use grammask_parser_backend::{Backend, BuildError, Fuel, MaskKey, StepError};

/// Texts whose brackets match.
#[derive(Clone, Copy, Debug)]
pub struct BracketCounter {
    /// The ASCII bytes other than brackets that may occur anywhere: bit `b` for byte `b`.
    inside: u128,
    /// Bytes of the longest token.
    longest_token: u32,
}

const BRACKETS: u128 = 1 << b'(' | 1 << b')';

impl BracketCounter {
    /// An engine for texts of these ASCII bytes and brackets.
    ///
    /// # Errors
    ///
    /// Where a bracket or a byte above 0x7F is to occur inside: a bracket cannot be told from text then, and texts
    /// of lone bytes above 0x7F are not UTF-8.
    pub fn new(inside: &[u8], longest_token: u32) -> Result<Self, BuildError> {
        let mut set = 0;
        for &byte in inside {
            if byte > 0x7F {
                return Err(BuildError::new(format!("byte {byte:#04x} is not ASCII; leave it out")));
            }
            set |= 1 << byte;
        }
        if set & BRACKETS != 0 {
            return Err(BuildError::new("brackets are always allowed; leave them out of the bytes inside"));
        }
        Ok(Self { inside: set, longest_token })
    }

    /// The engine over a vocabulary, ready for matchers.
    pub fn compile(inside: &[u8], vocabulary: Arc<Vocabulary>) -> Result<CompiledGrammar<Self>, BuildError> {
        let longest_token = u32::try_from(vocabulary.max_token_len()).unwrap_or(u32::MAX);
        let limits = Limits::default();
        let pool = Arc::new(grammask_mask_cache::LocalPool::new(limits.max_pool_bytes));
        Ok(CompiledGrammar::from_backend(Self::new(inside, longest_token)?, vocabulary, pool, limits))
    }
}

/// How many brackets are open.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Depth(u32);

impl Backend for BracketCounter {
    type State = Depth;

    fn start(&self) -> Depth {
        Depth(0)
    }

    fn step(&self, Depth(depth): Depth, byte: u8, _fuel: &mut Fuel) -> Result<Option<Depth>, StepError> {
        Ok(match byte {
            b'(' => {
                // A limit is an error, and never an answer: whether the text may go on so stays undecided.
                let full = StepError::TooManyItems { items: usize::MAX, limit: u32::MAX as usize };
                Some(Depth(depth.checked_add(1).ok_or(full)?))
            }
            b')' => depth.checked_sub(1).map(Depth),
            _ if byte < 128 && self.inside >> byte & 1 == 1 => Some(Depth(depth)),
            _ => None,
        })
    }

    fn is_complete(&self, Depth(depth): Depth) -> bool {
        depth == 0
    }

    fn next_bytes(&self, Depth(depth): Depth) -> [u64; 4] {
        let mut ascii = self.inside | BRACKETS;
        if depth == 0 {
            ascii &= !(1 << b')');
        }
        [ascii as u64, (ascii >> 64) as u64, 0, 0]
    }

    /// A token closes at most as many brackets as it has bytes: all greater depths allow the same tokens. The next
    /// greater one stands for them, so that none of them passes for complete.
    fn mask_key(&self, Depth(depth): Depth) -> MaskKey {
        MaskKey { set: depth.min(self.longest_token.saturating_add(1)), detail: 0 }
    }
}
