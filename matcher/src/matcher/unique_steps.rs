//! Texts in which items or names must differ: the values that have occurred are kept outside of the parser.

use grammask_mask_cache::StoredMask;
use grammask_parser_backend::{Backend, Fuel, StepError};

use super::explain::Explanation;
use super::forced_bytes::MAX_FORCED;
use super::mask_kind::{NARROWED, NamedMask};
use super::matcher::Matcher;
use crate::base::error::MatchError;
use crate::grammar::generation::Generation;
use crate::unique::scopes::{Stopped, UniqueScopes};

impl<B: Backend> Matcher<B> {
    /// Whether the mask may differ from that of the parser's state alone.
    pub(super) fn narrows_masks(&self) -> bool {
        let Some(scopes) = self.scopes.as_deref() else { return false };
        scopes.is_open() || !scopes.no_token_repeats(self.generation().masks.token_sets())
    }

    /// Runs a call with the scopes, from the same place each time that it is begun anew. The scopes stay as
    /// the call leaves them.
    fn with_scopes<T>(
        &mut self,
        mut call: impl FnMut(&Generation<B>, B::State, &mut UniqueScopes, &mut Fuel) -> Result<T, StepError>,
    ) -> Result<T, MatchError> {
        let Some(mut scopes) = self.scopes.take() else {
            return Err(StepError::OutOfWork { limit: 0 }.into());
        };
        let mark = scopes.mark();
        let result = self.with_tables(|generation, state, _, fuel| {
            // A call is repeated after a move to other tables. The try before it may have read half of the
            // bytes.
            scopes.restore(&mark);
            call(generation, state, &mut scopes, fuel)
        });
        if result.is_err() {
            scopes.restore(&mark);
        }
        self.scopes = Some(scopes);
        result
    }

    /// As [`with_scopes`](Self::with_scopes), for a call that only looks.
    fn peek_with_scopes<T>(
        &mut self,
        call: impl FnMut(&Generation<B>, B::State, &mut UniqueScopes, &mut Fuel) -> Result<T, StepError>,
    ) -> Result<T, MatchError> {
        let mark = self.scopes.as_deref().map(UniqueScopes::mark);
        let result = self.with_scopes(call);
        if let (Some(scopes), Some(mark)) = (self.scopes.as_deref_mut(), mark) {
            scopes.restore(&mark);
        }
        result
    }

    /// Reads the bytes of a token: the state after them, or how many can be read.
    pub(super) fn read_unique(&mut self, bytes: &[u8]) -> Result<Result<B::State, usize>, MatchError> {
        self.step_unique(|generation, state, scopes, fuel| match bytes.is_empty() {
            true => Ok(Err(0)),
            false => scopes.read_all(&generation.engine, state, bytes, fuel),
        })
    }

    /// Reads bytes: the state after them, or the offset of the first that is refused.
    pub(super) fn read_each_unique(&mut self, bytes: &[u8]) -> Result<Result<B::State, usize>, MatchError> {
        self.step_unique(|generation, mut state, scopes, fuel| {
            // To ask after each byte for a way on takes a hundred times as long as to read it. A text has one if and only if
            // all that it begins with have. So the whole is read first, and the byte is searched for by halves.
            let (mut read, mut refused) = (0, None);
            while read < bytes.len() {
                let end = match refused {
                    Some(refused) if refused == read + 1 => return Ok(Err(read)),
                    Some(refused) => read + (refused - read) / 2,
                    None => bytes.len(),
                };
                let mark = scopes.mark();
                match scopes.read_all(&generation.engine, state, &bytes[read..end], fuel)? {
                    Ok(next) if refused.is_none() => return Ok(Ok(next)),
                    Ok(next) => (state, read) = (next, end),
                    Err(more) => {
                        scopes.restore(&mark);
                        refused = Some(read + more + 1);
                    }
                }
            }
            Ok(Ok(state))
        })
    }

    fn step_unique(
        &mut self,
        call: impl FnMut(
            &Generation<B>,
            B::State,
            &mut UniqueScopes,
            &mut Fuel,
        ) -> Result<Result<B::State, usize>, StepError>,
    ) -> Result<Result<B::State, usize>, MatchError> {
        let before = self.scopes.as_deref().map(UniqueScopes::mark);
        let read = self.with_scopes(call)?;
        if let (Some(scopes), Some(before)) = (self.scopes.as_deref_mut(), before) {
            match read {
                // The mark before a step is what rolling it back restores.
                Ok(_) => scopes.push_step(before),
                Err(_) => scopes.restore(&before),
            }
        }
        Ok(read)
    }

    /// The mask of the parser's state without the tokens that would write something twice. It is kept nowhere.
    pub(super) fn compute_narrowed_mask(&mut self) -> Result<NamedMask, MatchError> {
        let key = self.generation().engine.mask_key(self.state());
        // The parser's own mask belongs to the state and is cached. The values that have occurred differ from
        // text to text, so the narrowed mask is not worth a place.
        let known = self.generation().masks.known(&key);
        let mask = match known {
            Some(mask) => {
                self.counts.unpublished.hits += 1;
                mask
            }
            None => self.compute_mask()?.mask,
        };
        let allowed: &StoredMask = &mask;
        let refused = self.peek_with_scopes(|generation, state, scopes, fuel| {
            scopes.refused_tokens(&generation.engine, state, allowed, generation.masks.token_sets(), fuel)
        })?;
        Ok(NamedMask { name: (NARROWED, key), mask: mask.without(&refused) })
    }

    pub(super) fn jump_forward_unique(&mut self) -> Result<Vec<u8>, MatchError> {
        self.peek_with_scopes(|generation, mut state, scopes, fuel| {
            let (engine, mut forced) = (&generation.engine, Vec::new());
            while forced.len() < MAX_FORCED && !engine.is_complete(state) {
                let Some(byte) = scopes.only_byte(engine, state, fuel)? else { break };
                let Some(next) = scopes.read_one(engine, state, byte, fuel)? else { break };
                forced.push(byte);
                state = next;
            }
            Ok(forced)
        })
    }

    pub(super) fn short_ending_unique(&mut self, max_bytes: usize) -> Result<Option<Vec<u8>>, MatchError> {
        self.peek_with_scopes(|generation, state, scopes, fuel| {
            scopes.short_ending(&generation.engine, state, max_bytes, fuel)
        })
    }

    pub(super) fn explain_unique(&mut self, bytes: &[u8]) -> Result<Explanation, MatchError> {
        self.peek_with_scopes(|generation, state, scopes, fuel| {
            let engine = &generation.engine;
            let Stopped { read: offset, state: at } = match scopes.read_each(engine, state, bytes, fuel)? {
                Ok(_) => return Ok(Explanation::Allowed),
                Err(refused) => refused,
            };
            let possible = scopes.next_bytes(engine, at, fuel)?.into();
            Ok(Explanation::Refused {
                offset,
                byte: bytes[offset],
                possible,
                may_end: engine.is_complete(at),
            })
        })
    }
}
