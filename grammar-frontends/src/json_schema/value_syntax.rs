//! How values are written where that is not JSON, as data: members between marks, and other spellings of words, strings
//! and names. The tables of the model families are the callers'.

/// How a value is written.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ValueSyntax {
    /// As JSON.
    Json,
    /// Members between marks.
    Markup(&'static Markup),
    /// Arguments in another notation.
    Notation(&'static Notation),
}

impl ValueSyntax {
    /// The notation of values, where that is not JSON.
    pub(crate) fn notation(self) -> Option<&'static Notation> {
        match self {
            ValueSyntax::Json => None,
            ValueSyntax::Markup(markup) => markup.notation,
            ValueSyntax::Notation(notation) => Some(notation),
        }
    }
}

/// Whether the items of arrays can be compared while a text is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ItemComparison {
    Possible,
    /// They can, and an array whose items are not compared may be read beside one whose items are.
    BesideOthers,
    /// The schema is a part of something else, which may read other things at the same place.
    Impossible,
}

/// Marks around the members of an object. Strings are written between them as they are, up to the closing mark; every
/// other value is JSON, or members and items between marks of their own.
#[derive(Debug)]
pub(crate) struct Markup {
    /// The mark before a value. `$NAME` is the member's name, `$TYPE` the type of the value.
    pub(crate) open: &'static str,
    /// The mark after a value; it may contain `$NAME`.
    pub(crate) close: &'static str,
    /// The mark before an item of an array, where arrays are not JSON.
    pub(crate) open_item: &'static str,
    /// The mark after an item of an array.
    pub(crate) close_item: &'static str,
    /// The meaning of `$TYPE`.
    pub(crate) types: TypeAttribute,
    /// Whether objects and arrays inside are members and items between marks, or JSON.
    pub(crate) inside: NestedValues,
    /// Characters of names that are written as entities.
    pub(crate) entities: &'static [(char, &'static str)],
    /// A text that may be written on both sides of a string.
    pub(crate) padding: &'static str,
    /// How values other than strings are written, where that is not JSON.
    pub(crate) notation: Option<&'static Notation>,
}

/// How a mark names the type of its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TypeAttribute {
    /// Nothing.
    Unsaid,
    /// Whether it is a string: `true` or `false`.
    IsString,
    /// The name that JSON Schema gives it, integers being numbers.
    Name,
    /// `raw` (strings), `dict`, `list`, or `json` (everything else).
    Encoding,
}

/// How objects and arrays inside an object are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NestedValues {
    Json,
    Marked,
}

/// Types of values that are written alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueType {
    Null,
    Booleans,
    Numbers,
    Strings,
    Arrays,
    Objects,
}

impl ValueType {
    pub(crate) const ALL: [ValueType; 6] = [
        ValueType::Null,
        ValueType::Booleans,
        ValueType::Numbers,
        ValueType::Strings,
        ValueType::Arrays,
        ValueType::Objects,
    ];
}

impl TypeAttribute {
    /// The text of `$TYPE` for a type.
    pub(crate) fn word(self, kind: ValueType) -> &'static str {
        match (self, kind) {
            (TypeAttribute::Unsaid, _) => "",
            (TypeAttribute::IsString, ValueType::Strings) => "true",
            (TypeAttribute::IsString, _) => "false",
            (TypeAttribute::Name, ValueType::Null) => "null",
            (TypeAttribute::Name, ValueType::Booleans) => "boolean",
            (TypeAttribute::Name, ValueType::Numbers) => "number",
            (TypeAttribute::Name, ValueType::Strings) => "string",
            (TypeAttribute::Name, ValueType::Arrays) => "array",
            (TypeAttribute::Name, ValueType::Objects) => "object",
            (TypeAttribute::Encoding, ValueType::Strings) => "raw",
            (TypeAttribute::Encoding, ValueType::Arrays) => "list",
            (TypeAttribute::Encoding, ValueType::Objects) => "dict",
            (TypeAttribute::Encoding, _) => "json",
        }
    }
}

/// How values are spelled.
#[derive(Debug)]
pub(crate) struct Notation {
    /// The spellings of `null`, `false` and `true`.
    pub(crate) words: [&'static [&'static str]; 3],
    pub(crate) strings: StringSyntax,
    /// Names of members inside of values. Those of arguments are always bare.
    pub(crate) names: NameSyntax,
    /// The texts that open arguments, separate a name from its value, and close arguments.
    pub(crate) arguments: (&'static str, &'static str, &'static str),
    /// The blank that may be written around values, if one may.
    pub(crate) blank: Option<char>,
    /// Characters of bare names beside letters, digits and `_`.
    pub(crate) bare: &'static str,
}

/// How strings are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StringSyntax {
    /// Between single or double quotes, with escapes of Python.
    Python,
    /// As they are, between two marks of this kind.
    Between(&'static str),
}

/// How names of members are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameSyntax {
    /// As a JSON string.
    Json,
    /// As other strings are.
    Strings,
    /// As they are.
    Bare,
}
