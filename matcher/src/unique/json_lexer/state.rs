//! The place of a text in JSON.

/// The place of the text, as far as open arrays and objects are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum LexState {
    /// Nothing is open in which something may not occur twice.
    Outside,
    /// Between values, names and signs.
    Between,
    /// In a string.
    String {
        novelty: Novelty,
        escape: Escape,
        /// The first half of a surrogate pair, or 0.
        high: u16,
    },
    /// In a number that is compared.
    Number { exponent: Exponent },
    /// In a word that is compared.
    Literal,
    /// In a number or word that is not.
    Skipped,
}

/// Whether a string is compared with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Novelty {
    /// It is not.
    Uncompared,
    /// It is, and begins like one that has occurred.
    SeenPrefix,
    /// It is, and nothing that has occurred begins like it.
    New,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Escape {
    None,
    /// After a backslash.
    Backslash,
    /// After `\u` and this number of digits.
    Unicode {
        read: u8,
        code: u16,
    },
}

/// Digits of an exponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Exponent {
    None,
    Digits(u8),
}

/// The greatest number of digits in the exponents of numbers that are compared, so that they can be computed
/// with.
pub(crate) const MAX_EXPONENT_DIGITS: u8 = 18;

/// The verdict on a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ByteVerdict {
    /// It was read.
    Accepted,
    /// With it a value would have occurred twice.
    Refused,
    /// A value has occurred twice, which some derivations may allow.
    Repeated(Repeat),
}

/// Where a value ended that has occurred twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repeat {
    /// Before the byte.
    Before,
    /// With the byte.
    After,
    /// One value before it, and another one with it.
    Both,
}
