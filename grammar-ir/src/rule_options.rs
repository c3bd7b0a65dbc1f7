//! Attributes of a rule beside its texts.
//!
//! # `max_tokens`
//!
//! A bound on the number of tokens of an *occurrence* of the rule (a place in a text where the rule begins).
//! The texts of a rule do not depend on it; the allowed *tokens* do. So it has no effect where bytes are
//! judged without tokens.
//!
//! * An occurrence counts the tokens that begin in it: at its first byte or after it. A token that began
//!   before it is not counted; one that reaches beyond its end is.
//! * When a token is about to begin and the occurrence has counted as many tokens as the bound, it is
//!   *spent*. If the text so far can be read so that it ends here, it has ended: no other reading continues
//!   in it. If it cannot, the bound waits until the next token is about to begin. So there is always a way to
//!   continue.
//! * A text may be read in several ways, in which the rule begins at different places. Each has a count of its own, and a
//!   token is allowed if some reading allows it. Derivations in which the rule begins at the same place share the count.
//! * Rules inside one another, and a rule inside itself, each keep their own bound.
//! * Bytes that are accepted outside of all tokens are not counted.
//!
//! # `capture`
//!
//! The text that the rule reads is returned under a name, and the stop string that ends it under another one.
//!
//! # `temperature`
//!
//! The temperature to sample with while the rule is read. It says nothing about texts. The innermost rule that has one
//! decides; where several ways to read the text are open, the greatest of their temperatures.
//!
//! # `distinct`
//!
//! The rule is the inside of an array or object of JSON, from after its opening bracket to the closing one.
//! The values directly in it do not repeat: the items of an array, or the names of an object. Texts that are
//! spelled differently and mean the same are the same: `"a"` and `"\u0061"`, `1` and `1.0`. No context-free
//! rule can say so; the program that follows a text keeps what has occurred. Items that are arrays or objects
//! are equal where they hold equal values, under equal names in any order. Inside of such items no name
//! repeats.
//!
//! * A mention of the rule follows directly after the bracket, and nothing else does: `"[" items`.
//! * Where a text has several derivations, either all of them are in such a rule or none is. Or else those that are in
//!   none name [`TokenRef::REPEATED`](crate::TokenRef::REPEATED), as an option, after each value that may repeat. Once
//!   one does, only derivations that name it there go on.
//! * There is always one value more. A value that can be finished in only one way is refused as soon as that
//!   is so, if it has occurred. But the author of the rule ensures that values are left as long as items may
//!   follow.

use std::num::NonZeroU32;

/// Options of a rule. They concern the rule only where it is mentioned: a rule with options never replaces a
/// reference to it, and cannot be below a regular operator.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct RuleOptions {
    /// Most tokens of one occurrence.
    ///
    /// An occurrence counts the tokens that begin in it. When it has counted this number and another token is
    /// about to begin, it ends if it can end there. If it cannot, the same question is asked before the next
    /// token. A token that began before the occurrence is not counted, one that reaches beyond its end is;
    /// bytes outside of all tokens are not.
    pub max_tokens: Option<NonZeroU32>,
    /// The name under which the text is handed out.
    pub capture: Option<CaptureOption>,
    /// The name under which the end of the text is returned.
    pub end_capture: Option<EndCapture>,
    /// The temperature to sample with while the rule is read.
    pub temperature: Option<Temperature>,
    /// The kind of values that do not repeat in the array or object whose inside the rule is.
    pub distinct: Option<Distinct>,
}

/// The kinds of values that do not repeat in an array or object of JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
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

    /// The byte before the rule.
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
pub struct CaptureOption {
    /// The name. Several rules may have the same.
    pub name: Box<str>,
    /// Bytes at the end of the rule's text that are not part of the returned text, such as those of a stop
    /// string.
    pub hidden_suffix: u32,
}

impl CaptureOption {
    /// All of the rule's text.
    pub fn new(name: &str) -> Self {
        Self { name: name.into(), hidden_suffix: 0 }
    }
}

/// The end of a rule's text, returned under a name.
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
