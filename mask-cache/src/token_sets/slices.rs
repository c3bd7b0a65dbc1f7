//! Tokens made of one class of characters.
//!
//! Inside a string, a comment or a number the parser goes round a loop. A walk of the whole trie finds, node
//! by node and for every such state anew, that nearly all tokens are allowed. Which tokens are made of the
//! loop's characters alone depends on the tokenizer only. A *slice* is that set for one class, as a bitset,
//! together with the trie of all other tokens. Where a backend says that the state runs over the class
//! ([`Run`](grammask_parser_backend::Run)), the mask is the bitset and the tokens that a walk of the small
//! *residual* trie finds.
//!
//! A token is *inside* a class if it is a text over the class that begins at a boundary of characters. It may end
//! inside a character: such a token is allowed where the class holds all characters above U+007F, because each
//! beginning of a character can be ended to one. Tokens that begin inside a character are residual.
//!
//! Loops with an upper bound need the tokens of *at most r* characters, a cut one counted. Few tokens are long, so
//! these sets are stored for small r, and for greater r made from the whole set by taking the few longer tokens
//! out.

use std::sync::Arc;

use grammask_parser_backend::CharClass;
use once_cell::race::OnceBox;

use super::char_classes::{
    DIGITS, JSON_STRING, LETTERS, LOWER, chars_inside, count_chars, is_text_or_cut, may_begin, one, range,
};
use super::residual_suffixes::ResidualSuffixes;
use crate::ids::TokenId;
use crate::mask::bits::{self, words_for};
use crate::mask::class_tokens::{CharCounts, ClassTokens};
use crate::vocabulary::tokens::Vocabulary;
use crate::vocabulary::trie::Trie;

/// The classes. Those with more tokens in large vocabularies come first, so that the first that applies
/// leaves the least to walk. Words begin with spaces there, so classes with a space come before larger ones
/// without.
///
/// The choice follows the loops of grammars. The first are free text, free text in which tags begin with `<`,
/// with a bracket or a brace, and the inside of JSON strings. (Tokens without such a sign cannot touch a
/// tag.) Then come the classes that patterns of real schemas repeat (names, identifiers, slugs, words). A
/// loop over more than a class uses it too; its other tokens are found in the residual trie. Digits and
/// whitespace are not among them: large vocabularies have some hundred such tokens, and
/// [lists](crate::token_sets::json_tokens::lists) serve them better.
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

/// A class of characters with its tokens in a vocabulary. A handle, free to copy.
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
        self.residual_suffixes();
    }

    /// The place of the slice among those of its vocabulary; it is the same in every vocabulary.
    pub fn place(self) -> usize {
        self.place
    }

    /// The class of characters.
    pub fn class(self) -> &'static CharClass {
        &CLASSES[self.place]
    }

    /// Whether every character of the class can come next, judged by the bytes that can. A quick test before
    /// the backend is asked about longer texts: where this is false, its answer cannot be
    /// [`Run::Unbounded`](grammask_parser_backend::Run::Unbounded). Bit `b % 64` of word `b / 64` stands for
    /// byte `b`.
    pub fn may_begin(self, next_bytes: &[u64; 4]) -> bool {
        may_begin(self.class(), next_bytes)
    }

    /// The tokens inside the class, as the words of a mask.
    pub fn tokens(self) -> &'v [u32] {
        self.class_tokens().words()
    }

    /// The tokens inside the class, with all that depends on their lengths.
    pub(crate) fn class_tokens(self) -> &'v Arc<ClassTokens> {
        &self.tables().tokens
    }

    /// The text tokens not inside the class.
    pub fn residual(self) -> &'v Trie {
        &self.tables().residual
    }

    /// The residual suffixes of the text tokens not inside the class, if these are few.
    pub(crate) fn residual_suffixes(self) -> Option<&'v ResidualSuffixes> {
        let make = || Box::new(ResidualSuffixes::new(self.vocabulary, self.residual(), self.class()));
        self.cells.slices[self.place].suffixes.get_or_init(make).as_ref()
    }

    /// Whether the tables are there. Where not, the first question for tokens builds them: some 0.3 ms for the classes
    /// with characters above U+007F, 2 to 4 ms for the small ones (128,000 tokens).
    pub fn is_ready(self) -> bool {
        self.cells.slices[self.place].tables.get().is_some()
    }

    /// Whether a text is inside the class: it begins at a boundary of characters and may end inside one.
    pub fn is_inside(self, text: &[u8]) -> bool {
        chars_inside(self.class(), text).is_some()
    }

    /// Number of characters of the longest token inside the class.
    pub fn max_chars(self) -> u32 {
        self.class_tokens().max_chars()
    }

    /// The tokens inside the class of at most `chars` characters, a cut one at the end counted, if they are
    /// stored. They are stored for small bounds and for those that no token passes.
    pub fn at_most(self, chars: u32) -> Option<&'v [u32]> {
        self.class_tokens().at_most(chars)
    }

    /// Writes the tokens inside the class of at most `chars` characters over the beginning of `into`, as far as it
    /// reaches. Exact for every bound.
    pub fn write_at_most(self, chars: u32, into: &mut [u32]) {
        self.class_tokens().write_at_most(chars, into);
    }

    fn tables(self) -> &'v SliceTables {
        self.cells.slices[self.place].tables.get_or_init(|| {
            let membership = self.cells.membership(self.vocabulary);
            Box::new(SliceTables::new(self.vocabulary, membership, self.place))
        })
    }
}

impl std::fmt::Debug for Slice<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Slice").field("class", self.class()).finish_non_exhaustive()
    }
}

/// The tables of all slices, computed when first asked for.
#[derive(Default)]
pub(crate) struct SliceCells {
    membership: OnceBox<ClassMembership>,
    slices: [SliceCell; CLASSES.len()],
}

#[derive(Default)]
struct SliceCell {
    tables: OnceBox<SliceTables>,
    suffixes: OnceBox<Option<ResidualSuffixes>>,
}

impl SliceCells {
    pub(crate) fn memory_usage(&self) -> usize {
        let membership = self.membership.get().map_or(0, ClassMembership::memory_usage);
        let tables = |cell: &SliceCell| {
            let tables = cell.tables.get().map_or(0, |tables| {
                tables.tokens.memory_usage() + tables.residual.memory_usage() - size_of::<Trie>()
            });
            tables + cell.suffixes.get().and_then(Option::as_ref).map_or(0, ResidualSuffixes::memory_usage)
        };
        membership + self.slices.iter().map(tables).sum::<usize>()
    }

    fn membership(&self, vocabulary: &Vocabulary) -> &ClassMembership {
        self.membership.get_or_init(|| Box::new(ClassMembership::new(vocabulary)))
    }
}

/// A set of places in [`CLASSES`].
type ClassSet = u16;

const _: () = assert!(CLASSES.len() <= ClassSet::BITS as usize);

/// For each token the classes that it is inside of: read once from the bytes, for all classes together.
struct ClassMembership {
    /// For each id the classes that it is inside of; none for ids that are not text.
    inside: Box<[ClassSet]>,
    /// For each of these tokens its number of characters.
    chars: Arc<CharCounts>,
}

impl ClassMembership {
    fn new(vocabulary: &Vocabulary) -> Self {
        let classes_of_byte = classes_of_bytes();
        let mut inside = vec![0; vocabulary.len()].into_boxed_slice();
        let counted = vocabulary.sorted_text_tokens().iter().filter_map(|&id| {
            let bytes = vocabulary.token_bytes(id);
            let classes = bytes
                .iter()
                // All classes at once: a bit stays if every byte fits the class. A byte beyond ASCII fits
                // each class that has all such characters, so that only the form of the text is left to test.
                .fold(ClassSet::MAX, |classes, &byte| classes & classes_of_byte[usize::from(byte)]);
            let is_inside = classes != 0 && (bytes.is_ascii() || is_text_or_cut(bytes));
            is_inside.then(|| {
                inside[id.index()] = classes;
                (id, count_chars(bytes))
            })
        });
        let chars = Arc::new(CharCounts::new(vocabulary.len(), counted));
        Self { inside, chars }
    }

    fn memory_usage(&self) -> usize {
        size_of_val(&*self.inside) + self.chars.memory_usage()
    }
}

struct SliceTables {
    tokens: Arc<ClassTokens>,
    residual: Trie,
}

impl SliceTables {
    fn new(vocabulary: &Vocabulary, membership: &ClassMembership, place: usize) -> Self {
        let is_inside = |id: TokenId| membership.inside[id.index()] >> place & 1 == 1;
        let mut tokens = vec![0; words_for(vocabulary.len())].into_boxed_slice();
        TokenId::below(vocabulary.len())
            .filter(|&id| is_inside(id))
            .for_each(|id| bits::set(&mut tokens, id.index()));
        let residual = vocabulary.trie().part(|id| !is_inside(id));
        Self { tokens: Arc::new(ClassTokens::new(tokens, Arc::clone(&membership.chars))), residual }
    }
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
