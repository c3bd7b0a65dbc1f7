//! The tokens that the parser allows and that would write something twice.
//!
//! The naive way tries every token that the parser allows: 128,000 in a string. But a token can only do harm where
//! something that is compared ends in it, or begins like something that has occurred:
//!
//! * the trie of the vocabulary is walked from the place of the text, along the values that have occurred. In
//!   a string that begins like no other the walk is over before it begins, and else after a few bytes;
//! * beyond that point a token would have to end the value, and write a whole other one after a comma. There
//!   are some dozens of such tokens in a vocabulary, and those that the parser allows are tried one by one.

use grammask_grammar_ir::byte_set;
use grammask_mask_cache::{StoredMask, TokenId, TokenSets, Trie, ValuePosition, Vocabulary, bits, words_for};
use grammask_parser_backend::{Backend, Fuel, StepError};

use super::json_lexer::state::{LexState, Novelty};
use super::scopes::{Mark, UniqueScopes};

impl UniqueScopes {
    /// Those of the tokens of a mask, which is the backend's for the state, that cannot be read. Where they are all of
    /// them, an error.
    pub(crate) fn refused_tokens<B: Backend>(
        &mut self,
        engine: &B,
        state: B::State,
        mask: &StoredMask,
        sets: &TokenSets,
        fuel: &mut Fuel,
    ) -> Result<Vec<TokenId>, StepError> {
        let vocabulary = sets.vocabulary();
        // Tokens that hold a whole value beside the end of another one. Where the text is in JSON decides
        // which of them can be read at all.
        let across = sets.tokens_across_values(match self.lex {
            LexState::Outside => ValuePosition::Text,
            LexState::String { .. } => ValuePosition::String,
            _ => ValuePosition::Array,
        });
        if !self.is_open() && across.is_empty() {
            return Ok(Vec::new());
        }
        // The buffer leaves `self` for the call, and comes back in every case below.
        let mut words = std::mem::take(&mut self.words);
        words.resize(words_for(vocabulary.len()), 0);
        mask.write(&mut words);
        let found = self.find_refused(engine, state, &words, across, vocabulary, fuel);
        let found = found.and_then(|found| {
            found.iter().for_each(|id| bits::clear(&mut words, id.index()));
            if !found.is_empty() && words.iter().all(|&word| word == 0) {
                let bytes = engine.next_bytes(state);
                let byte = byte_set::iter(&bytes).next().unwrap_or_default();
                return Err(StepError::Unspellable { byte });
            }
            Ok(found)
        });
        self.words = words;
        found
    }

    fn find_refused<B: Backend>(
        &mut self,
        engine: &B,
        state: B::State,
        allowed: &[u32],
        across: &[TokenId],
        vocabulary: &Vocabulary,
        fuel: &mut Fuel,
    ) -> Result<Vec<TokenId>, StepError> {
        let trie = vocabulary.trie();
        let mark = self.mark();
        let mut refused = Vec::new();
        let walked = match self.is_open() && !self.is_safe_until_comma() {
            true => self.walk(engine, state, allowed, trie, &mut refused, fuel),
            false => Ok(()),
        };
        self.restore(&mark);
        // After the restore: an error must leave the place as it was, too.
        walked?;
        // Tokens that are too long for the trie were not walked.
        for &id in across.iter().chain(trie.long_tokens()) {
            if !bits::contains(allowed, id.index()) {
                continue;
            }
            let read = self.read_all(engine, state, vocabulary.token_bytes(id), fuel);
            self.restore(&mark);
            if read?.is_err() {
                refused.push(id);
            }
        }
        refused.sort_unstable();
        refused.dedup();
        if !refused.is_empty() {
            // The trie has one of several ids with equal bytes; the others are refused with it.
            let is_refused = |id: &TokenId| refused.binary_search(id).is_ok();
            let others = trie.duplicates().iter().filter(|(id, _)| is_refused(id)).map(|(_, other)| *other);
            let others: Vec<TokenId> = others.collect();
            refused.extend(others);
            refused.sort_unstable();
            refused.dedup();
        }
        Ok(refused)
    }

    /// Whether nothing can be refused before a comma.
    fn is_safe_until_comma(&self) -> bool {
        match self.lex {
            LexState::String { novelty, .. } => novelty != Novelty::SeenPrefix,
            LexState::Skipped => true,
            _ => false,
        }
    }

    /// Depth first through the trie, with the place before each node.
    fn walk<B: Backend>(
        &mut self,
        engine: &B,
        state: B::State,
        allowed: &[u32],
        trie: &Trie,
        refused: &mut Vec<TokenId>,
        fuel: &mut Fuel,
    ) -> Result<(), StepError> {
        let nodes = trie.nodes();
        // With each place whether the parser has left the way that the mask is about: a value has occurred twice.
        let mut path: Vec<(B::State, Mark, bool)> = vec![(state, self.mark(), false)];
        let mut index = 0;
        while let Some(node) = nodes.get(index) {
            // Pre-order: the path holds the places before this node, the last of them that of its parent.
            path.truncate(usize::from(node.depth()));
            let (before, mark, has_left) = path[path.len() - 1];
            self.restore(&mark);
            let below = node.skip() as usize;
            let next = engine.step(before, node.byte(), fuel)?;
            let after = match next {
                Some(next) => self.read_to(engine, (before, next), node.byte(), fuel)?,
                None if !has_left => {
                    index = below;
                    continue;
                }
                None => None,
            };
            let Some(after) = after else {
                // The parser reads the byte, at least by itself, and the scopes do not. So all tokens below are
                // refused, as far as the mask had allowed them.
                let tokens = nodes[index..below].iter().filter_map(|node| token(node.token(), trie));
                refused.extend(tokens.filter(|id| bits::contains(allowed, id.index())));
                index = below;
                continue;
            };
            let has_left = has_left || next != Some(after);
            if let Some(id) = token(node.token(), trie)
                && bits::contains(allowed, id.index())
                // A token must leave a way to go on. Nodes inside a token need not be asked: if its last byte
                // has a continuation, so has each byte before.
                && !self.is_viable(engine, after, fuel)?
            {
                refused.push(id);
            }
            // Nothing below can be refused before a comma. Tokens that go beyond one are in the list of
            // tokens across values.
            if !has_left && self.is_safe_until_comma() {
                index = below;
                continue;
            }
            path.push((after, self.mark(), has_left));
            index += 1;
        }
        Ok(())
    }
}

fn token(number: u32, trie: &Trie) -> Option<TokenId> {
    TokenId::new(number).filter(|_| number != trie.no_token())
}
