//! How a pattern is read, and bounds on it.

use grammask_grammar_ir::hash::HashMap;
use grammask_grammar_ir::setters;

/// How a pattern is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// The syntax of the `regex` crate: Perl's, with Unicode classes, inline flags and class set operations.
    #[default]
    Perl,
    /// ECMA-262 in Unicode mode, as JSON Schema's `pattern` is meant, together with those spellings of
    /// Annex B that cannot be mistaken: `[\w-.]`, a literal `{`, `}` or `]`, escaped punctuation. Group names
    /// in Python's manner (`(?P<name>...)`) and inline flags `i` and `s` are taken too.
    Ecma,
}

/// Which texts belong to the language of a pattern.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Matching {
    /// Texts that the pattern matches from their first to their last character.
    #[default]
    Whole,
    /// Texts in which the pattern matches somewhere, as `RegExp.prototype.test` and JSON Schema have it.
    Search,
}

/// Whether upper and lower case differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LetterCase {
    /// They do.
    #[default]
    Exact,
    /// They do not (Unicode simple case folding); the same as an `(?i)` before the pattern.
    Ignored,
}

/// Whether the texts of groups with names are handed out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Groups {
    /// They are not: groups only group.
    #[default]
    Plain,
    /// They are captures under the group's name (`(?<name>...)`, `(?P<name>...)`), as those of rules. A group that is
    /// repeated is captured each time, but for rounds without text in a repeat that holds anchors. Names are made of
    /// letters, digits and `_`, and differ. Where a pattern can be read in several ways, none goes before another.
    Captured,
}

/// How to read a pattern, and how much of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RegexOptions {
    /// The syntax; by default that of the `regex` crate.
    pub dialect: Dialect,
    /// Whole texts (the default) or any part of them.
    pub matching: Matching,
    /// Whether case counts; it does by default.
    pub letter_case: LetterCase,
    /// Whether the texts of groups with names are handed out; they are not by default.
    pub groups: Groups,
    /// Bounds on what is taken.
    pub limits: RegexLimits,
}

impl RegexOptions {
    /// The options for JSON Schema's `pattern`: ECMA-262, matching anywhere.
    pub fn json_schema() -> Self {
        Self { dialect: Dialect::Ecma, matching: Matching::Search, ..Self::default() }
    }
}

setters! { RegexOptions {
    dialect: Dialect,
    matching: Matching,
    letter_case: LetterCase,
    groups: Groups,
    limits: RegexLimits,
} }

/// Bounds on a pattern and on what is made of it. Past them the pattern is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RegexLimits {
    /// Longest pattern in bytes; 64 KiB by default.
    pub pattern_bytes: usize,
    /// Deepest nesting of groups, repeats and classes; 250 by default, and never more than 1,000.
    pub nesting: u32,
    /// Most places that stand for a large Unicode class (`\w`, `\p{L}`, a case-insensitive class); 2,000 by
    /// default. Each is up to some 800 ranges. All patterns of one grammar may have 5,000, or as many as this.
    pub unicode_classes: usize,
    /// Most characters that case folding may have to look up, where case is ignored; 24 million by default,
    /// some 200 ms. Each class counts with about its size, one that may hold most of Unicode with 1.1 million. All
    /// patterns of one grammar may have twice as many.
    pub folded_characters: usize,
    /// Most expressions in the grammar that results, counted as a tree; 500,000 by default. Only anchors in
    /// the middle of a pattern make it grow faster than the pattern.
    pub expressions: usize,
}

/// Stacks of 512 KiB are enough for patterns that nest so deep.
pub(super) const MAX_NESTING: u32 = 1_000;

impl Default for RegexLimits {
    fn default() -> Self {
        Self {
            pattern_bytes: 64 << 10,
            nesting: 250,
            unicode_classes: 2_000,
            folded_characters: 24_000_000,
            expressions: 500_000,
        }
    }
}

setters! { RegexLimits {
    pattern_bytes: usize,
    nesting: u32,
    unicode_classes: usize,
    folded_characters: usize,
    expressions: usize,
} }

/// The costly parts that the patterns of one source may still have: a source of a megabyte has room for tens of thousands of
/// each.
#[derive(Debug)]
pub(crate) struct PatternBudget {
    /// Large Unicode classes. One takes up to 0.2 ms to write where case is ignored.
    classes: usize,
    /// Characters that case folding looks up, some 8 ns each.
    folded: usize,
    /// The work of those that were looked up.
    work: usize,
    /// Complements of properties where case is ignored, by the names of these; `None` where it is the same as ever.
    pub(super) complements: HashMap<Box<str>, Option<String>>,
}

/// Characters that take a unit of work.
const FOLDED_FOR_A_UNIT: usize = 6;

impl PatternBudget {
    const MAX_CLASSES: usize = 5_000;

    /// For a source whose patterns have these limits.
    pub(crate) fn new(limits: &RegexLimits) -> Self {
        Self {
            classes: Self::MAX_CLASSES.max(limits.unicode_classes),
            folded: limits.folded_characters.saturating_mul(2),
            work: 0,
            complements: HashMap::default(),
        }
    }

    /// The options for its next pattern.
    pub(super) fn limit(&self, options: &RegexOptions) -> RegexOptions {
        let mut options = options.clone();
        let limits = &mut options.limits;
        limits.unicode_classes = limits.unicode_classes.min(self.classes);
        limits.folded_characters = limits.folded_characters.min(self.folded);
        options
    }

    pub(super) fn take(&mut self, classes: usize, folded: usize) {
        self.classes = self.classes.saturating_sub(classes);
        self.folded = self.folded.saturating_sub(folded);
        self.work = self.work.saturating_add(folded / FOLDED_FOR_A_UNIT);
    }

    /// The work so far, in units of [`JsonSchemaLimits::work`](crate::json_schema::JsonSchemaLimits::work).
    pub(crate) fn work(&self) -> usize {
        self.work
    }
}
