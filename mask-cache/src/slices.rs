//! Tokens made of one class of characters.
//!
//! Inside a string, a comment or a number the parser goes round a loop, and a walk of the whole trie finds, node
//! by node and for every such state anew, that nearly all tokens are allowed. Which tokens are made of the loop's
//! characters alone depends on the tokenizer only. A *slice* is that set for one class, as a bitset, together with
//! the trie of all the other tokens: where a backend says that the state runs over the class
//! ([`Run`](grammask_parser_backend::Run)), the mask is the bitset and whatever a walk of the small *residual* trie
//! finds.
//!
//! A token is *inside* a class if it is a text over the class that begins at a boundary of characters. It may end
//! inside a character: such a token is allowed where the class holds all characters above U+007F, because each
//! beginning of a character can be ended to one. Tokens that begin inside a character are residual.
//!
//! Loops with an upper bound need the tokens of *at most r* characters, a cut one counted. Few tokens are long, so
//! these sets are stored for small r, and for greater r made from the whole set by taking the few longer tokens
//! out.

use std::sync::OnceLock;

use grammask_parser_backend::CharClass;

use crate::rests::Rests;
use crate::token_mask::{bits, words_for};
use crate::{TokenId, Trie, Vocabulary};

/// The classes. Those with more tokens in large vocabularies come first, so that the first that applies leaves the least
/// to walk; words begin with spaces there, so classes with a space come before larger ones without.
///
/// The choice follows what grammars loop over: free text, free text in which tags begin with `<`, with a bracket or a
/// brace (tokens without such a sign cannot touch a tag), the inside of JSON strings, and the classes that
/// patterns of real schemas repeat (names, identifiers, slugs, words). A loop over more than a class uses it too; what
/// else it allows is found in the residual trie. Digits and whitespace are not among them: large vocabularies have
/// some hundred such tokens, and [lists](crate::lists) serve them better.
static CLASSES: [CharClass; 14] = [
    CharClass { ascii: u128::MAX, non_ascii: true },
    CharClass { ascii: !one(b'\n'), non_ascii: true },
    CharClass { ascii: !one(b'<'), non_ascii: true },
    CharClass { ascii: !one(b'<') & !one(b'[') & !one(b'{'), non_ascii: true },
    CharClass { ascii: JSON_STRING, non_ascii: true },
    CharClass { ascii: JSON_STRING & range(b' ', b'~'), non_ascii: false },
    CharClass { ascii: LETTERS | DIGITS | one(b' '), non_ascii: false },
    CharClass { ascii: LOWER | one(b' '), non_ascii: false },
    CharClass { ascii: LETTERS | DIGITS | one(b'_') | one(b'-'), non_ascii: false },
    CharClass { ascii: LETTERS | DIGITS | one(b'_'), non_ascii: false },
    CharClass { ascii: LETTERS | DIGITS, non_ascii: false },
    CharClass { ascii: LETTERS, non_ascii: false },
    CharClass { ascii: LOWER | DIGITS, non_ascii: false },
    CharClass { ascii: LOWER, non_ascii: false },
];

/// The inside of a JSON string.
pub(crate) static STRING: CharClass = CharClass { ascii: JSON_STRING, non_ascii: true };

/// RFC 8259: a string holds any character but the quote, the backslash and control characters below U+0020.
const JSON_STRING: u128 = !range(0, 0x1F) & !one(b'"') & !one(b'\\');
const LOWER: u128 = range(b'a', b'z');
const LETTERS: u128 = LOWER | range(b'A', b'Z');
pub(crate) const DIGITS: u128 = range(b'0', b'9');

pub(crate) const fn one(byte: u8) -> u128 {
    1 << byte
}

const fn range(from: u8, to: u8) -> u128 {
    (u128::MAX >> (127 - (to - from))) << from
}

/// Bounds for which the tokens of at most so many characters are stored as a bitset: 0 to this. A bitset has 16 KiB
/// for 128,000 tokens. Past it, some 100 tokens have to be taken out of the whole set, which is as fast as copying.
const STORED_BOUND: usize = 32;

/// A class of characters and what a vocabulary has of it. A handle, free to copy.
#[derive(Clone, Copy)]
pub struct Slice<'v> {
    vocabulary: &'v Vocabulary,
    cells: &'v SliceCells,
    place: usize,
}

impl<'v> Slice<'v> {
    pub(crate) fn all(
        vocabulary: &'v Vocabulary,
        cells: &'v SliceCells,
    ) -> impl ExactSizeIterator<Item = Slice<'v>> + use<'v> {
        (0..CLASSES.len()).map(move |place| Slice { vocabulary, cells, place })
    }

    pub(crate) fn prepare(self) {
        self.tables();
        self.rests();
    }

    /// The place of the slice among those of its vocabulary; it is the same in every vocabulary.
    pub fn place(self) -> usize {
        self.place
    }

    /// The class of characters.
    pub fn class(self) -> &'static CharClass {
        &CLASSES[self.place]
    }

    /// Whether every character of the class can come next, judged by the bytes that can. A quick test before the
    /// backend is asked what it does with longer texts: where this is false, its answer cannot be
    /// [`Run::Unbounded`](grammask_parser_backend::Run::Unbounded). Bit `b % 64` of word `b / 64` stands for byte `b`.
    pub fn may_begin(self, next_bytes: &[u64; 4]) -> bool {
        may_begin(self.class(), next_bytes)
    }

    /// The tokens inside the class, as the words of a mask.
    pub fn tokens(self) -> &'v [u32] {
        &self.tables().tokens
    }

    /// The text tokens not inside the class.
    pub fn residual(self) -> &'v Trie {
        &self.tables().residual
    }

    /// What is left of the text tokens not inside the class, if these are few.
    pub(crate) fn rests(self) -> Option<&'v Rests> {
        let make = || Rests::new(self.vocabulary, self.residual(), self.class());
        self.cells.slices[self.place].rests.get_or_init(make).as_ref()
    }

    /// Whether the tables are there. Where not, the first question for tokens builds them: some 0.3 ms for the classes
    /// with characters above U+007F, up to 5 ms for the small ones (128,000 tokens).
    pub fn is_ready(self) -> bool {
        self.cells.slices[self.place].tables.get().is_some()
    }

    /// Whether a text is inside the class: it begins at a boundary of characters and may end inside one.
    pub fn is_inside(self, text: &[u8]) -> bool {
        chars_inside(self.class(), text).is_some()
    }

    /// Number of characters of the longest token inside the class.
    pub fn max_chars(self) -> u32 {
        self.lengths().max_chars
    }

    /// The tokens inside the class of more than so many characters. `None` where they are more than `most`.
    pub(crate) fn longer_than(self, chars: u32, most: usize) -> Option<Vec<TokenId>> {
        let listed = self.lengths().longer.iter().take_while(|(length, _)| *length > chars);
        let mut found: Vec<TokenId> = listed.map(|&(_, id)| id).take(most + 1).collect();
        if let Some(shorter) = self.at_most(chars).filter(|_| (chars as usize) < STORED_BOUND) {
            let others = self.tokens().iter().zip(shorter).map(|(all, shorter)| all & !shorter);
            let others: Vec<u32> = others.collect();
            if bits::count(&others) > most {
                return None;
            }
            found =
                bits::iter(&others).filter_map(|index| TokenId::new(u32::try_from(index).ok()?)).collect();
        }
        (found.len() <= most).then_some(found)
    }

    /// The tokens inside the class of at most `chars` characters, a cut one at the end counted, if they are stored:
    /// they are for small bounds and for those that no token passes.
    pub fn at_most(self, chars: u32) -> Option<&'v [u32]> {
        if chars >= self.max_chars() {
            return Some(self.tokens());
        }
        let level = usize::try_from(chars).ok().filter(|&level| level <= STORED_BOUND)?;
        let words = words_for(self.vocabulary.len());
        self.levels().get(level * words..(level + 1) * words)
    }

    /// Writes the tokens inside the class of at most `chars` characters over the beginning of `into`, as far as it
    /// reaches. Exact for every bound.
    pub fn write_at_most(self, chars: u32, into: &mut [u32]) {
        if let Some(tokens) = self.at_most(chars) {
            return bits::copy(into, tokens);
        }
        bits::copy(into, self.tokens());
        for (_, id) in self.lengths().longer.iter().take_while(|(length, _)| *length > chars) {
            bits::clear(into, id.index());
        }
    }

    fn tables(self) -> &'v Tables {
        self.cells.slices[self.place]
            .tables
            .get_or_init(|| Tables::new(self.vocabulary, self.cells.classified(self.vocabulary), self.place))
    }

    fn lengths(self) -> &'v Lengths {
        self.cells.slices[self.place].lengths.get_or_init(|| {
            Lengths::new(self.vocabulary, self.cells.classified(self.vocabulary), self.tokens())
        })
    }

    /// The bitsets for bounds 0, 1, ..., one after the other.
    fn levels(self) -> &'v [u32] {
        self.cells.slices[self.place].levels.get_or_init(|| {
            let classified = self.cells.classified(self.vocabulary);
            stored_levels(self.vocabulary, classified, self.tokens(), self.max_chars())
        })
    }
}

impl std::fmt::Debug for Slice<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Slice").field("class", self.class()).finish_non_exhaustive()
    }
}

/// What slices hold once they were asked for.
#[derive(Default)]
pub(crate) struct SliceCells {
    classified: OnceLock<Classified>,
    slices: [SliceCell; CLASSES.len()],
}

#[derive(Default)]
struct SliceCell {
    tables: OnceLock<Tables>,
    lengths: OnceLock<Lengths>,
    /// The tokens of at most 0, 1, ... characters, as bitsets one after the other.
    levels: OnceLock<Box<[u32]>>,
    rests: OnceLock<Option<Rests>>,
}

impl SliceCells {
    pub(crate) fn memory_usage(&self) -> usize {
        let classified = self.classified.get().map_or(0, Classified::memory_usage);
        let tables = |cell: &SliceCell| {
            let tables = cell.tables.get().map_or(0, |tables| {
                size_of_val(&*tables.tokens) + tables.residual.memory_usage() - size_of::<Trie>()
            });
            let lengths = cell.lengths.get().map_or(0, |lengths| size_of_val(&*lengths.longer));
            let levels = lengths + cell.levels.get().map_or(0, |levels| size_of_val(&**levels));
            let rests = cell.rests.get().and_then(Option::as_ref).map_or(0, Rests::memory_usage);
            tables + levels + rests
        };
        classified + self.slices.iter().map(tables).sum::<usize>()
    }

    fn classified(&self, vocabulary: &Vocabulary) -> &Classified {
        self.classified.get_or_init(|| Classified::new(vocabulary))
    }
}

/// A set of places in [`CLASSES`].
type ClassSet = u16;

const _: () = assert!(CLASSES.len() <= ClassSet::BITS as usize);

/// What all slices need to know of each token: read once from the bytes, for all classes together.
struct Classified {
    /// For each id the classes that it is inside of; none for ids that are not text.
    inside: Box<[ClassSet]>,
    /// For each id its number of characters, a cut one counted, up to [`MANY`].
    chars: Box<[u8]>,
}

/// Stands for this many characters or more; these few tokens are counted when needed.
const MANY: u8 = u8::MAX;

impl Classified {
    fn new(vocabulary: &Vocabulary) -> Self {
        let classes_of_byte = classes_of_bytes();
        let mut inside = vec![0; vocabulary.len()].into_boxed_slice();
        let mut chars = vec![0; vocabulary.len()].into_boxed_slice();
        for &id in vocabulary.sorted_text_tokens() {
            let bytes = vocabulary.token_bytes(id);
            let classes = bytes
                .iter()
                .fold(ClassSet::MAX, |classes, &byte| classes & classes_of_byte[usize::from(byte)]);
            if classes != 0 && (bytes.is_ascii() || is_text_or_cut(bytes)) {
                inside[id.index()] = classes;
                chars[id.index()] = u8::try_from(count_chars(bytes)).unwrap_or(MANY);
            }
        }
        Self { inside, chars }
    }

    fn chars(&self, vocabulary: &Vocabulary, id: TokenId) -> u32 {
        match self.chars[id.index()] {
            MANY => u32::try_from(count_chars(vocabulary.token_bytes(id))).unwrap_or(u32::MAX),
            few => u32::from(few),
        }
    }

    fn memory_usage(&self) -> usize {
        size_of_val(&*self.inside) + size_of_val(&*self.chars)
    }
}

struct Tables {
    tokens: Box<[u32]>,
    residual: Trie,
}

impl Tables {
    fn new(vocabulary: &Vocabulary, classified: &Classified, place: usize) -> Self {
        let is_inside = |id: TokenId| classified.inside[id.index()] >> place & 1 == 1;
        let mut tokens = vec![0; words_for(vocabulary.len())].into_boxed_slice();
        TokenId::below(vocabulary.len())
            .filter(|&id| is_inside(id))
            .for_each(|id| bits::set(&mut tokens, id.index()));
        let others = vocabulary.sorted_text_tokens().iter().filter(|&&id| !is_inside(id));
        let residual = Trie::from_sorted_at_most(
            vocabulary.len(),
            vocabulary.trie().nodes().len(),
            others.map(|&id| (id, vocabulary.token_bytes(id))),
        )
        .expect("a part of the tokens, in the same order, from which the whole trie was built");
        Self { tokens, residual }
    }
}

struct Lengths {
    max_chars: u32,
    /// The tokens that some bound past the stored ones excludes, and their lengths, longest first.
    longer: Box<[(u32, TokenId)]>,
}

impl Lengths {
    fn new(vocabulary: &Vocabulary, classified: &Classified, tokens: &[u32]) -> Self {
        let mut max_chars = 0;
        let mut longer = Vec::new();
        for (chars, id) in lengths(vocabulary, classified, tokens) {
            max_chars = max_chars.max(chars);
            if chars as usize > STORED_BOUND {
                longer.push((chars, id));
            }
        }
        longer.sort_unstable_by(|one, other| other.cmp(one));
        Self { max_chars, longer: longer.into_boxed_slice() }
    }
}

/// Tokens with their numbers of characters.
fn lengths(
    vocabulary: &Vocabulary,
    classified: &Classified,
    tokens: &[u32],
) -> impl Iterator<Item = (u32, TokenId)> {
    let ids = bits::iter(tokens).filter_map(|index| u32::try_from(index).ok().and_then(TokenId::new));
    ids.map(|id| (classified.chars(vocabulary, id), id))
}

/// The tokens of at most 0, 1, ... characters, as bitsets one after the other, up to the bound below that which every
/// token keeps: that is the whole set, which is stored already.
fn stored_levels(
    vocabulary: &Vocabulary,
    classified: &Classified,
    tokens: &[u32],
    max_chars: u32,
) -> Box<[u32]> {
    let words = tokens.len();
    let levels = (STORED_BOUND + 1).min(max_chars as usize);
    let mut stored = vec![0; levels * words].into_boxed_slice();
    for (chars, id) in lengths(vocabulary, classified, tokens) {
        let level = chars as usize;
        if level < levels {
            bits::set(&mut stored[level * words..][..words], id.index());
        }
    }
    for level in 1..levels {
        let (before, from_here) = stored.split_at_mut(level * words);
        bits::or(&mut from_here[..words], &before[(level - 1) * words..]);
    }
    stored
}

/// Whether every character of a class can come next, judged by the bytes that can.
pub(crate) fn may_begin(class: &CharClass, next_bytes: &[u64; 4]) -> bool {
    /// The bytes that begin characters above U+007F: 0xC2 to 0xF4.
    const LEADS: u64 = (u64::MAX << 2) & (u64::MAX >> (63 - 0x34));
    let ascii = u128::from(next_bytes[0]) | u128::from(next_bytes[1]) << 64;
    class.ascii & !ascii == 0 && (!class.non_ascii || LEADS & !next_bytes[3] == 0)
}

/// Number of characters of a text, a cut one at its end counted, if it is inside a class.
pub(crate) fn chars_inside(class: &CharClass, text: &[u8]) -> Option<usize> {
    let over_class = |&byte: &u8| if byte < 0x80 { class.contains_ascii(byte) } else { class.non_ascii };
    let is_inside = text.iter().all(over_class) && (text.is_ascii() || is_text_or_cut(text));
    is_inside.then(|| count_chars(text))
}

/// For each byte the classes that a text with this byte can be inside of.
fn classes_of_bytes() -> [ClassSet; 256] {
    let mut table = [0; 256];
    for (byte, classes) in (0..=u8::MAX).zip(&mut table) {
        for (place, class) in CLASSES.iter().enumerate() {
            let holds = if byte < 0x80 { class.contains_ascii(byte) } else { class.non_ascii };
            *classes |= ClassSet::from(holds) << place;
        }
    }
    table
}

/// Whether bytes are UTF-8, except that the last character may be cut.
fn is_text_or_cut(bytes: &[u8]) -> bool {
    match std::str::from_utf8(bytes) {
        Ok(_) => true,
        // No length means that the bytes ended before the character did, and were right so far.
        Err(error) => error.error_len().is_none(),
    }
}

/// Number of characters of a text, a cut one at its end counted: the bytes that do not continue a character.
fn count_chars(text: &[u8]) -> usize {
    text.iter().filter(|&&byte| byte & 0xC0 != 0x80).count()
}
