//! Which tokens a state allows: the walk over the trie.
//!
//! The naive way asks the parser about every token, byte by byte. Six things make it fast.
//!
//! * The trie shares prefixes, and a byte that is refused drops a whole subtree.
//! * Only first bytes that the parser can read are looked at ([`Backend::next_bytes`]), and of what goes on behind each of
//!   these only what can be read there: outside of strings that is a tenth.
//! * Where the parser lets any text over a class of characters pass ([`Backend::run_over`]), as inside a string,
//!   the tokens of the class are known beforehand, and only the others are walked: of Llama 3.1's 128,000 tokens
//!   about 6,000; of these only what stands [behind](crate::rests) their last character of the class, where it can be.
//! * Tokens of whitespace, and of digits, stand in [lists](crate::lists) and are not walked where all of them, or all
//!   up to a length, are allowed.
//! * Tokens that open a JSON string and stay inside of it, and those that begin a number and consist of its digits, are
//!   [listed](crate::openings) too.
//! * Accepted ids are appended without a branch: a node without a token writes, and does not advance.
//!
//! The result is exact: a token is in it if and only if the parser reads all its bytes.

use std::ops::Range;

use grammask_parser_backend::{Backend, Fuel, Run, StepError};
use smallvec::SmallVec;

use crate::openings::Openings;
use crate::rests::walk_rests;
use crate::sparse::Sparse;
use crate::{Slice, Toggle, TokenId, Trie, Vocabulary, bits, words_for};

/// Scratch space of mask computations. Kept by the caller and reused; it grows to the size that it needs.
#[derive(Debug, Default)]
pub struct Scratch {
    /// Where ids are found; longer than what was found.
    buffer: Vec<u32>,
    /// Ids found.
    ids: Vec<u32>,
    /// A bit for each id found, or ids to be found later.
    words: Vec<u32>,
    /// Words that are 0 whenever nobody works in them.
    zeros: Vec<u32>,
}

impl Scratch {
    /// Forgets the ids found.
    pub(crate) fn clear_ids(&mut self) -> &mut Self {
        self.ids.clear();
        self
    }

    /// Puts others in the place of each id found.
    pub(crate) fn replace_ids<'i>(&mut self, others: impl Fn(u32) -> &'i [u32]) {
        self.words.clear();
        for &id in &self.ids {
            self.words.extend_from_slice(others(id));
        }
        std::mem::swap(&mut self.ids, &mut self.words);
    }

    /// The ids found, as bits.
    pub(crate) fn sparse_ids(&mut self, vocabulary_len: usize) -> Sparse {
        Sparse::from_ids(&self.ids, vocabulary_len, &mut self.zeros)
    }

    /// Ids as bits.
    pub(crate) fn sparse_of(&mut self, ids: &[u32], vocabulary_len: usize) -> Sparse {
        Sparse::from_ids(ids, vocabulary_len, &mut self.zeros)
    }

    /// Room for ids, to be [put](Self::put_ids) in the place of those found.
    pub(crate) fn take_words(&mut self) -> Vec<u32> {
        let mut words = std::mem::take(&mut self.words);
        words.clear();
        words
    }

    /// Puts others in the place of the ids found.
    pub(crate) fn put_ids(&mut self, others: Vec<u32>) {
        self.words = std::mem::replace(&mut self.ids, others);
    }

    /// The ids found.
    pub(crate) fn ids(&mut self) -> &mut Vec<u32> {
        &mut self.ids
    }
}

/// The tokens that a state allows: a slice of the vocabulary that is known beforehand, and others.
pub(crate) struct Found<'v, 's> {
    /// The slice, with the most characters that its tokens may have.
    pub(crate) slice: Option<(Slice<'v>, Option<u32>)>,
    /// Tokens of [lists](crate::lists) and [openings](crate::openings).
    pub(crate) lists: Lists<'v>,
    /// The other tokens, each once, in no order.
    pub(crate) ids: &'s mut Vec<u32>,
    /// Words that are 0 whenever nobody works in them.
    pub(crate) zeros: &'s mut Vec<u32>,
}

/// Tokens that were taken as words.
type Lists<'v> = SmallVec<[&'v Sparse; MAX_PORTIONS]>;

impl Found<'_, '_> {
    /// Whether no token is allowed.
    pub(crate) fn is_empty(&self) -> bool {
        let in_slice = |(slice, at_most): (Slice<'_>, Option<u32>)| match at_most {
            None => slice.tokens().iter().any(|&word| word != 0),
            Some(chars) => {
                let mut words = vec![0; slice.tokens().len()];
                slice.write_at_most(chars, &mut words);
                words.iter().any(|&word| word != 0)
            }
        };
        let lists_any = self.lists.iter().any(|list| list.words() > 0);
        self.ids.is_empty() && !lists_any && !self.slice.is_some_and(in_slice)
    }
}

/// Nodes of the walked trie after which the rule of a local part may have ended and tokens go on.
#[derive(Debug, Default)]
pub(crate) struct Exits {
    pub(crate) nodes: Vec<u32>,
}

/// Walks the vocabulary from a state.
pub(crate) fn walk<'v, 's, B: Backend>(
    backend: &B,
    state: B::State,
    vocabulary: &'v Vocabulary,
    slices: Toggle,
    scratch: &'s mut Scratch,
    fuel: &mut Fuel,
) -> Result<Found<'v, 's>, StepError> {
    let next_bytes = backend.next_bytes(state);
    let slice = match slices {
        Toggle::On => find_slice(backend, state, vocabulary, &next_bytes, fuel),
        Toggle::Off => None,
    };
    scratch.ids.clear();
    let mut lists = Lists::new();
    let trie = match &slice {
        Some(Taken { slice, at_most, tried }) => {
            let at_most = at_most.filter(|_| tried.is_empty());
            if !walk_rests(backend, state, *slice, at_most, scratch, fuel)? {
                walk_trie(backend, state, slice.residual(), scratch, &mut (), fuel)?;
            }
            try_tokens(backend, state, vocabulary, tried, &mut scratch.ids, fuel)?;
            slice.residual()
        }
        None if slices == Toggle::Off => {
            walk_trie(backend, state, vocabulary.trie(), scratch, &mut (), fuel)?;
            vocabulary.trie()
        }
        None => {
            lists = walk_with_lists(backend, state, vocabulary, next_bytes, scratch, fuel)?;
            vocabulary.trie()
        }
    };
    try_long_tokens(backend, state, vocabulary, &mut scratch.ids, fuel)?;
    add_duplicates(trie, vocabulary.len(), &lists, &mut scratch.words, &mut scratch.ids);
    let slice = slice.map(|taken| (taken.slice, taken.at_most));
    Ok(Found { slice, lists, ids: &mut scratch.ids, zeros: &mut scratch.zeros })
}

/// Finds all tokens in the trie that a state reads: whitespace, digits and what opens a string as lists, the others as
/// ids in the scratch.
fn walk_with_lists<'v, B: Backend>(
    backend: &B,
    state: B::State,
    vocabulary: &'v Vocabulary,
    next_bytes: [u64; 4],
    scratch: &mut Scratch,
    fuel: &mut Fuel,
) -> Result<Lists<'v>, StepError> {
    let mut lists = Lists::new();
    let mut others = next_bytes;
    let mut portions = Vec::with_capacity(MAX_PORTIONS);
    for list in vocabulary.lists() {
        if let Some(tokens) = list.allowed(backend, state, &next_bytes, fuel) {
            lists.push(tokens);
            portions.push(Portion::new(list.residual(), list.bytes()));
            others = without(others, list.bytes());
        }
    }
    let (space, quote) = (only(b' '), only(b'"'));
    let Openings { quote: quoted, spaced, spaced_nodes, number } = vocabulary.openings();
    if others == without(others, space)
        && let Some(first) = portions.first_mut().filter(|first| first.bytes != without(first.bytes, space))
        && let Some(tokens) = spaced.allowed(backend, state, fuel)?
    {
        lists.push(tokens);
        first.around = spaced_nodes.clone();
        portions.push(Portion::new(spaced.others(), space));
    }
    if others != without(others, quote)
        && let Some(tokens) = quoted.allowed(backend, state, fuel)?
    {
        lists.push(tokens);
        portions.push(Portion::new(quoted.others(), quote));
        others = without(others, quote);
    }
    // No number goes on behind a zero that it begins with, so the list of digits does not serve where one begins.
    if without(NOT_ZERO, others) == [0; 4]
        && let Some(tokens) = number.allowed(backend, state, fuel)?
    {
        lists.push(tokens);
        portions.push(Portion::new(number.others(), NOT_ZERO));
        others = without(others, NOT_ZERO);
    }
    portions.push(Portion::new(vocabulary.trie(), others));
    walk_parts(backend, state, &portions, scratch, &mut (), fuel)?;
    Ok(lists)
}

/// Lists, what opens a string or a number, and all else.
const MAX_PORTIONS: usize = 6;

/// The digits that a number of more than one digit may begin with.
const NOT_ZERO: [u64; 4] = [0b11_1111_1110 << b'0', 0, 0, 0];

/// A byte, as a set of bytes.
fn only(byte: u8) -> [u64; 4] {
    let mut bytes = [0; 4];
    bytes[usize::from(byte >> 6)] = 1 << (byte & 63);
    bytes
}

fn without(bytes: [u64; 4], others: [u64; 4]) -> [u64; 4] {
    std::array::from_fn(|word| bytes[word] & !others[word])
}

/// Walks the vocabulary from a local part, and notes where its rule may end. Tokens that are too long for a trie
/// are left out: whether they pass depends on what is behind the rule. `None` near the bound of a slice.
pub(crate) fn walk_locally<'v, 's, B: Backend>(
    backend: &B,
    local: B::State,
    vocabulary: &'v Vocabulary,
    scratch: &'s mut Scratch,
    exits: &mut Exits,
    fuel: &mut Fuel,
) -> Result<Option<Found<'v, 's>>, StepError> {
    let next_bytes = backend.next_bytes(local);
    let slice = find_slice(backend, local, vocabulary, &next_bytes, fuel);
    // A longer token of the slice may still pass in two pieces, one inside the rule and one behind it, and only a walk
    // over the slice's own tokens would tell. Near a bound the state is walked as a whole.
    if slice.as_ref().is_some_and(|taken| taken.at_most.is_some()) {
        return Ok(None);
    }
    let slice = slice.map(|taken| (taken.slice, None));
    let trie = slice.map_or(vocabulary.trie(), |(slice, _): (Slice<'_>, _)| slice.residual());
    scratch.ids.clear();
    walk_trie(backend, local, trie, scratch, exits, fuel)?;
    add_duplicates(trie, vocabulary.len(), &[], &mut scratch.words, &mut scratch.ids);
    Ok(Some(Found { slice, lists: Lists::new(), ids: &mut scratch.ids, zeros: &mut scratch.zeros }))
}

/// Adds to the scratch ids those of all tokens that a state reads, those too long for a trie left out. For states in
/// which no slice applies.
pub(crate) fn walk_all<B: Backend>(
    backend: &B,
    state: B::State,
    vocabulary: &Vocabulary,
    scratch: &mut Scratch,
    fuel: &mut Fuel,
) -> Result<(), StepError> {
    walk_trie(backend, state, vocabulary.trie(), scratch, &mut (), fuel)?;
    add_duplicates(vocabulary.trie(), vocabulary.len(), &[], &mut scratch.words, &mut scratch.ids);
    Ok(())
}

/// Adds to the scratch ids those of a trie's tokens that a state reads.
pub(crate) fn walk_trie<B: Backend, N: Notes<B>>(
    backend: &B,
    state: B::State,
    trie: &Trie,
    scratch: &mut Scratch,
    notes: &mut N,
    fuel: &mut Fuel,
) -> Result<(), StepError> {
    walk_parts(backend, state, &[Portion::new(trie, backend.next_bytes(state))], scratch, notes, fuel)
}

/// A portion of what is walked: the tokens of a trie that begin with one of some bytes.
pub(crate) struct Portion<'t> {
    trie: &'t Trie,
    bytes: [u64; 4],
    /// Nodes at depth 2 that are left out, with those below them.
    around: Range<u32>,
}

impl<'t> Portion<'t> {
    pub(crate) fn new(trie: &'t Trie, bytes: [u64; 4]) -> Self {
        Self { trie, bytes, around: 0..0 }
    }
}

/// Adds to the scratch ids those of the portions' tokens that a state reads.
pub(crate) fn walk_parts<B: Backend, N: Notes<B>>(
    backend: &B,
    state: B::State,
    portions: &[Portion<'_>],
    scratch: &mut Scratch,
    notes: &mut N,
    fuel: &mut Fuel,
) -> Result<(), StepError> {
    let Some(&Portion { trie, .. }) = portions.first() else { return Ok(()) };
    let mut stack = Vec::with_capacity(USUAL_DEPTH);
    stack.push((state, backend.row(state)));
    let mut walker = Walker { backend, trie, stack, buffer: &mut scratch.buffer, notes, found: 0, fuel };
    for Portion { trie, bytes, around } in portions {
        walker.trie = trie;
        for byte in set_bits(bytes) {
            walker.first_byte(byte, around)?;
        }
    }
    let found = walker.found;
    drop(walker);
    scratch.ids.extend_from_slice(&scratch.buffer[..found]);
    Ok(())
}

/// Adds those of the tokens that no trie holds that a state reads.
pub(crate) fn try_long_tokens<B: Backend>(
    backend: &B,
    state: B::State,
    vocabulary: &Vocabulary,
    ids: &mut Vec<u32>,
    fuel: &mut Fuel,
) -> Result<(), StepError> {
    try_tokens(backend, state, vocabulary, vocabulary.trie().long_tokens(), ids, fuel)
}

/// Adds those of some tokens that a state reads.
fn try_tokens<B: Backend>(
    backend: &B,
    state: B::State,
    vocabulary: &Vocabulary,
    tokens: &[TokenId],
    ids: &mut Vec<u32>,
    fuel: &mut Fuel,
) -> Result<(), StepError> {
    for &id in tokens {
        if reads_all(backend, state, vocabulary.token_bytes(id), fuel)? {
            ids.push(id.get());
        }
    }
    Ok(())
}

/// What is noted of the states that a walk passes.
pub(crate) trait Notes<B: Backend> {
    /// A state after the byte of a node that has children.
    fn pass(&mut self, backend: &B, state: B::State, node: u32);
}

impl<B: Backend> Notes<B> for () {
    #[inline]
    fn pass(&mut self, _: &B, _: B::State, _: u32) {}
}

impl<B: Backend> Notes<B> for Exits {
    #[inline]
    fn pass(&mut self, backend: &B, state: B::State, node: u32) {
        if backend.may_complete(state) {
            self.nodes.push(node);
        }
    }
}

/// Whether a slice may apply to a state, judged cheaply.
pub(crate) fn may_have_slice<B: Backend>(backend: &B, state: B::State, vocabulary: &Vocabulary) -> bool {
    let next_bytes = backend.next_bytes(state);
    vocabulary.slices().any(|slice| slice.may_begin(&next_bytes))
}

/// What is taken of a slice.
struct Taken<'v> {
    slice: Slice<'v>,
    /// The most characters that its tokens may have.
    at_most: Option<u32>,
    /// The tokens of the slice with more characters, if they may be allowed too.
    tried: Vec<TokenId>,
}

/// Most tokens of a slice that are tried one by one.
const MAX_TRIED: usize = 1 << 10;

/// The first slice (larger classes come first) over which the backend lets every text pass, perhaps up to a
/// number of characters.
fn find_slice<'v, B: Backend>(
    backend: &B,
    state: B::State,
    vocabulary: &'v Vocabulary,
    next_bytes: &[u64; 4],
    fuel: &mut Fuel,
) -> Option<Taken<'v>> {
    let whole = |slice| Some(Taken { slice, at_most: None, tried: Vec::new() });
    vocabulary.slices().filter(|slice| slice.may_begin(next_bytes)).find_map(|slice| {
        match backend.run_over(state, slice.class(), fuel) {
            Run::Unknown => None,
            Run::Unbounded => whole(slice),
            Run::AtMost(chars) | Run::AtLeast(chars) if chars >= slice.max_chars() => whole(slice),
            Run::AtMost(chars) => Some(Taken { slice, at_most: Some(chars), tried: Vec::new() }),
            Run::AtLeast(chars) => {
                let tried = slice.longer_than(chars, MAX_TRIED)?;
                Some(Taken { slice, at_most: Some(chars), tried })
            }
        }
    })
}

/// Children of the node of a first byte from which it pays to ask which of them can be read.
const MANY_CHILDREN: usize = 4;

/// Room for the paths of most walks; a place for each depth that a trie can have takes longer to clear than a short
/// walk.
const USUAL_DEPTH: usize = 32;

struct Walker<'w, B: Backend, N> {
    backend: &'w B,
    trie: &'w Trie,
    /// The state after each byte of the current path, with its row. A node's children need its state; a node
    /// without children leaves none.
    stack: Vec<(B::State, B::Row<'w>)>,
    buffer: &'w mut Vec<u32>,
    notes: &'w mut N,
    /// How many ids were found.
    found: usize,
    fuel: &'w mut Fuel,
}

impl<'w, B: Backend, N: Notes<B>> Walker<'w, B, N> {
    /// Puts a state on the stack. Nodes stand in pre-order, so the place above is always there.
    #[inline]
    fn put(&mut self, depth: usize, state: (B::State, B::Row<'w>)) {
        match self.stack.get_mut(depth) {
            Some(place) => *place = state,
            None => self.stack.push(state),
        }
    }

    /// Walks the nodes of a first byte, but for those `around` which it goes.
    fn first_byte(&mut self, byte: u8, around: &Range<u32>) -> Result<(), StepError> {
        let nodes = self.trie.first_byte(byte);
        if nodes.is_empty() {
            return Ok(());
        }
        let seconds = self.trie.seconds(byte);
        if seconds.len() < MANY_CHILDREN && around.is_empty() {
            return self.subtree(nodes);
        }
        let (above, row) = self.stack[0];
        let Some(state) = self.backend.step_in(row, above, byte, self.fuel)? else { return Ok(()) };
        self.notes.pass(self.backend, state, nodes.start);
        let token = self.trie.nodes()[nodes.start as usize].token();
        if token != self.trie.no_token() {
            if self.found == self.buffer.len() {
                more_room(self.buffer);
            }
            self.buffer[self.found] = token;
            self.found += 1;
        }
        self.put(1, (state, self.backend.row_from(above, row, state)));
        let read = self.backend.next_bytes(state);
        // Neighbours that are read are walked at once.
        let mut run = 0..0;
        for second in seconds {
            let byte = second.byte();
            if read[usize::from(byte >> 6)] >> (byte & 63) & 1 == 0 || around.contains(&second.node()) {
                continue;
            }
            let end = self.trie.nodes()[second.node() as usize].skip();
            if run.end == second.node() {
                run.end = end;
            } else {
                self.subtree(std::mem::replace(&mut run, second.node()..end))?;
            }
        }
        self.subtree(run)
    }

    /// Walks nodes that stand in pre-order, whole subtrees of which the state above has its place on the stack.
    fn subtree(&mut self, nodes: Range<u32>) -> Result<(), StepError> {
        let no_token = self.trie.no_token();
        let all = self.trie.nodes();
        let (mut index, end) = (nodes.start as usize, nodes.end as usize);
        let mut found = self.found;
        let mut buffer = std::mem::take(self.buffer);
        while index < end {
            let node = all[index];
            let depth = usize::from(node.depth());
            let (above, row) = self.stack[depth - 1];
            match self.backend.step_in(row, above, node.byte(), self.fuel)? {
                Some(state) => {
                    if node.skip() as usize > index + 1 {
                        let below = self.backend.row_from(above, row, state);
                        self.put(depth, (state, below));
                        self.notes.pass(self.backend, state, index as u32);
                    }
                    let token = node.token();
                    if found == buffer.len() {
                        more_room(&mut buffer);
                    }
                    buffer[found] = token;
                    found += usize::from(token != no_token);
                    index += 1;
                }
                None => index = node.skip() as usize,
            }
        }
        self.found = found;
        *self.buffer = buffer;
        Ok(())
    }
}

/// Makes a full buffer longer. It is not made as long as the walk could need: the tokens that begin with a space are
/// half of a vocabulary, and few states read more than some of them.
#[cold]
fn more_room(buffer: &mut Vec<u32>) {
    buffer.resize((2 * buffer.len()).max(1 << 10), 0);
}

/// Whether the parser reads all of a token's bytes.
pub(crate) fn reads_all<B: Backend>(
    backend: &B,
    mut state: B::State,
    bytes: &[u8],
    fuel: &mut Fuel,
) -> Result<bool, StepError> {
    for &byte in bytes {
        match backend.step(state, byte, fuel)? {
            Some(next) => state = next,
            None => return Ok(false),
        }
    }
    Ok(true)
}

/// Adds the ids whose bytes equal an accepted one's.
fn add_duplicates(
    trie: &Trie,
    vocabulary_len: usize,
    lists: &[&Sparse],
    words: &mut Vec<u32>,
    ids: &mut Vec<u32>,
) {
    if trie.duplicates().is_empty() {
        return;
    }
    words.clear();
    words.resize(words_for(vocabulary_len), 0);
    lists.iter().for_each(|list| list.set(words));
    for &id in &*ids {
        bits::set(words, id as usize);
    }
    for (primary, other) in trie.duplicates() {
        if bits::contains(words, primary.index()) {
            ids.push(other.get());
        }
    }
}

/// The positions of the set bits.
pub(crate) fn set_bits(bits: &[u64; 4]) -> impl Iterator<Item = u8> + '_ {
    [0u8, 64, 128, 192].into_iter().zip(bits).flat_map(|(first, &word)| {
        // Each step takes the lowest bit off the word.
        std::iter::successors((word != 0).then_some(word), |&rest| {
            let rest = rest & (rest - 1);
            (rest != 0).then_some(rest)
        })
        .map(move |rest| first + rest.trailing_zeros() as u8)
    })
}
