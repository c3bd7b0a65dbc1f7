//! Values that are spelled in another way than JSON's: Python's literals, and those of Gemma.
//!
//! Numbers, lists and the order of things are JSON's. The differences are data: the words, the quotes around strings and
//! names, and the punctuation around and inside the arguments of a call.

use crate::json_schema::value_syntax::{NameSyntax, Notation, StringSyntax};

/// Python's literals, in calls with keyword arguments.
pub(crate) static PYTHONIC: Notation = PYTHON;

const PYTHON: Notation = Notation {
    words: [&["None"], &["False"], &["True"]],
    strings: StringSyntax::Python,
    names: NameSyntax::Strings,
    arguments: ("(", "=", ")"),
    blank: Some(' '),
    bare: "",
};

/// OLMo 3 and others: Python's literals, and JSON's words too.
pub(crate) static OLMO_3: Notation =
    Notation { words: [&["None", "null"], &["False", "false"], &["True", "true"]], ..PYTHON };

/// FunctionGemma.
pub(crate) static GEMMA_3: Notation = GEMMA;

const GEMMA: Notation = Notation {
    words: [&["null"], &["false"], &["true"]],
    strings: StringSyntax::Between("<escape>"),
    names: NameSyntax::Bare,
    arguments: ("{", ":", "}"),
    blank: None,
    bare: "-.",
};

/// Gemma 4, whose template writes Python's `None`.
pub(crate) static GEMMA_4: Notation = Notation {
    words: [&["null", "None"], &["false"], &["true"]],
    strings: StringSyntax::Between("<|\"|>"),
    ..GEMMA
};
