//! Values that are spelled in another way than JSON's: Python's literals, and those of Gemma.
//!
//! Numbers, lists and the order of things are JSON's. What differs is data: the words, the quotes around strings and
//! names, and what stands around and inside the arguments of a call.

/// How values are spelled.
#[derive(Debug)]
pub(crate) struct Notation {
    /// The spellings of `null`, `false` and `true`.
    pub(crate) words: [&'static [&'static str]; 3],
    pub(crate) strings: Strings,
    /// Names of members inside of values. Those of arguments are always bare.
    pub(crate) names: Names,
    /// What opens arguments, what stands between a name and its value, and what closes them.
    pub(crate) arguments: (&'static str, &'static str, &'static str),
    /// The blank that may stand around values, where one may.
    pub(crate) blank: Option<char>,
    /// Characters of bare names beside letters, digits and `_`.
    pub(crate) bare: &'static str,
}

/// How strings are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strings {
    /// Between single or double quotes, with escapes that JSON and Python share.
    Python,
    /// As they are, between two marks of this kind.
    Between(&'static str),
}

/// How names of members are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Names {
    /// As a JSON string.
    Json,
    /// As other strings are.
    Strings,
    /// As they are.
    Bare,
}

/// Python's literals, in calls with keyword arguments.
pub(crate) static PYTHONIC: Notation = Notation {
    words: [&["None"], &["False"], &["True"]],
    strings: Strings::Python,
    names: Names::Strings,
    arguments: ("(", "=", ")"),
    blank: Some(' '),
    bare: "",
};

/// OLMo 3: Python's literals, and JSON's words too.
pub(crate) static OLMO_3: Notation = Notation {
    words: [&["None", "null"], &["False", "false"], &["True", "true"]],
    strings: Strings::Python,
    names: Names::Strings,
    arguments: ("(", "=", ")"),
    blank: Some(' '),
    bare: "",
};

/// FunctionGemma.
pub(crate) static GEMMA_3: Notation = Notation {
    words: [&["null"], &["false"], &["true"]],
    strings: Strings::Between("<escape>"),
    names: Names::Bare,
    arguments: ("{", ":", "}"),
    blank: None,
    bare: "-.",
};

/// Gemma 4.
pub(crate) static GEMMA_4: Notation = Notation {
    words: [&["null"], &["false"], &["true"]],
    strings: Strings::Between("<|\"|>"),
    names: Names::Bare,
    arguments: ("{", ":", "}"),
    blank: None,
    bare: "-.",
};
