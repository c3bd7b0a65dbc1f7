//! What a rule says beside its texts.
//!
//! # `max_tokens`
//!
//! A bound on how many tokens an *occurrence* of the rule (a place in a text where the rule begins) may be made of. Which
//! texts a rule has does not depend on it; which *tokens* are allowed does. So it never shows where bytes are judged
//! without tokens.
//!
//! * An occurrence counts the tokens that begin in it: at its first byte or behind. A token that began before it is not
//!   counted; one that reaches beyond its end is.
//! * Where a token is about to begin and the occurrence has counted as many as the bound, it is *spent*. If the text so far
//!   can be read so that it ends here, it has ended: no other reading goes on in it. If it cannot, the bound waits until
//!   the next token is about to begin. So there is always a way on.
//! * A text may be read in several ways, in which the rule begins at different places. Each has a count of its own, and a
//!   token is allowed if some reading allows it. Derivations in which the rule begins at the same place share the count.
//! * Rules inside one another, and a rule inside itself, each keep their own bound.
//! * Bytes that are accepted outside of all tokens are not counted.
//!
//! # `capture`
//!
//! The text that the rule reads is handed out under a name, and what ends it (a stop string) under another one.
//!
//! # `temperature`
//!
//! The temperature to sample with while the rule is read. It says nothing about texts. The innermost rule that has one
//! decides; where several ways to read the text are open, the greatest of their temperatures.
//!
//! # `distinct`
//!
//! The rule is the inside of an array or object of JSON, from behind its opening bracket to the closing one, and what
//! stands directly in it does not repeat: the items of an array, or the names of an object. Texts that are spelled
//! differently and mean the same are the same: `"a"` and `"\u0061"`, `1` and `1.0`. No context-free rule can say so; who
//! follows a text keeps what has occurred. Items that are arrays or objects are equal where they hold equal values, under
//! equal names in any order. Inside of such items no name repeats.
//!
//! * A mention of the rule stands directly behind the bracket, and nothing else does: `"[" items`.
//! * Where a text has several derivations, either all of them are in such a rule or none is.
//! * There is always one value more. A value that can be finished in one way only is refused as soon as that is so, where
//!   it has occurred; but whoever writes the rule sees to it that there are values left as long as items may follow.

use std::num::NonZeroU32;

/// Options of a rule. They concern the rule where it is mentioned as such: a rule with options is never put in the place
/// of a reference, and cannot stand below a regular operator.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct RuleOptions {
    /// Most tokens of one occurrence.
    ///
    /// An occurrence counts the tokens that begin in it. Where it has counted so many and another token is about to
    /// begin, it ends if it can end there; if it cannot, this is asked again before the next token. A token that began
    /// before the occurrence is not counted, one that reaches beyond its end is; bytes outside of all tokens are not.
    pub max_tokens: Option<NonZeroU32>,
    /// The name under which the text is handed out.
    pub capture: Option<Capture>,
    /// The name under which what ends the text is handed out.
    pub end_capture: Option<EndCapture>,
    /// The temperature to sample with while the rule is read.
    pub temperature: Option<Temperature>,
    /// What does not repeat in the array or object whose inside the rule is.
    pub distinct: Option<Distinct>,
}

/// What does not repeat in an array or object of JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Distinct {
    /// The items of an array.
    Items,
    /// The names of an object.
    Names,
}

impl Distinct {
    /// The word that stands for it in the notation of grammars.
    pub fn word(self) -> &'static str {
        match self {
            Self::Items => "items",
            Self::Names => "names",
        }
    }

    /// The byte that the rule stands behind.
    pub fn bracket(self) -> u8 {
        match self {
            Self::Items => b'[',
            Self::Names => b'{',
        }
    }
}

impl RuleOptions {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The text of a rule under a name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Capture {
    /// The name. Several rules may have the same.
    pub name: Box<str>,
    /// Bytes at the end of the rule's text that are no part of what is handed out, as those of a stop string.
    pub hidden_suffix: u32,
}

impl Capture {
    /// All of the rule's text.
    pub fn new(name: &str) -> Self {
        Self { name: name.into(), hidden_suffix: 0 }
    }
}

/// What stands at the end of a rule's text, under a name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EndCapture {
    /// The name. Several rules may have the same.
    pub name: Box<str>,
    /// How long it is in bytes. Where the text is shorter, all of it.
    pub bytes: u32,
}

/// A sampling temperature: finite and not negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Temperature(u32);

impl Temperature {
    /// The temperature, unless it is infinite, negative or not a number.
    pub fn new(value: f32) -> Option<Self> {
        // The bits of numbers that are not negative are in the order of the numbers. -0 is 0.
        (value.is_finite() && value >= 0.0).then(|| Self((value + 0.0).to_bits()))
    }

    /// The number.
    pub fn value(self) -> f32 {
        f32::from_bits(self.0)
    }
}
