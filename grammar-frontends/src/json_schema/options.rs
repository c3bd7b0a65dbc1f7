//! The options of a caller.

pub use grammask_grammar_ir::JsonEscapes as Escapes;
use grammask_grammar_ir::{Interrupt, setters};

use super::retriever::Retriever;

/// How a schema is turned into a grammar. `JsonSchemaOptions::default()` is the documented default of every
/// field.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct JsonSchemaOptions {
    /// Where whitespace may occur between the parts of a text. Default: [`Whitespace::Printed`].
    pub whitespace: Whitespace,
    /// Most characters of whitespace before the root value, and after it. Default: 0. Values that are not written as JSON,
    /// and schemas that are parts of other grammars, have none.
    pub around_root: u32,
    /// In which order the members of an object come. Default: [`KeyOrder::Declared`].
    pub key_order: KeyOrder,
    /// The members that an object without `additionalProperties` allows. Default: [`Objects::Open`].
    pub objects: Objects,
    /// Whether names that a schema does not declare may occur twice. Default: [`FreeNames::MayRepeat`].
    pub free_names: FreeNames,
    /// How the characters of strings and names are spelled. Default: [`Escapes::Printed`]. Other notations than JSON have
    /// spellings of their own.
    pub escapes: Escapes,
    /// How numbers are spelled. Default: [`Numbers::Printed`] with at most 64 digits.
    pub numbers: Numbers,
    /// The meaning of `format`. Default: [`Formats::Enforced`].
    pub formats: Formats,
    /// The treatment of an assertion that cannot be enforced. Default: [`Unsupported::Refuse`].
    pub unsupported: Unsupported,
    /// The meaning of `oneOf`, which only a schema changes: `x-guidance`.
    pub(super) one_of: OneOf,
    /// Where documents come from that references lead to. Default: none; such references are refused.
    pub retriever: Option<Retriever>,
    /// Bounds on size and work.
    pub limits: JsonSchemaLimits,
    /// Stops the work from outside. Default: never.
    pub interrupt: Interrupt,
}

impl Default for JsonSchemaOptions {
    fn default() -> Self {
        Self {
            whitespace: Whitespace::Printed,
            around_root: 0,
            key_order: KeyOrder::Declared,
            objects: Objects::Open,
            free_names: FreeNames::MayRepeat,
            escapes: Escapes::Printed,
            numbers: Numbers::PRINTED,
            formats: Formats::Enforced,
            unsupported: Unsupported::Refuse,
            one_of: OneOf::Exclusive,
            retriever: None,
            limits: JsonSchemaLimits::default(),
            interrupt: Interrupt::never(),
        }
    }
}

impl JsonSchemaOptions {
    /// Sets [`whitespace`](Self::whitespace), [`escapes`](Self::escapes) and [`numbers`](Self::numbers) at once.
    #[must_use]
    pub fn spelling(mut self, spelling: Spelling) -> Self {
        (self.whitespace, self.escapes, self.numbers) = match spelling {
            Spelling::Printed => (Whitespace::Printed, Escapes::Printed, Numbers::PRINTED),
            Spelling::Any => (Whitespace::Free { max_run: Some(64) }, Escapes::Any, Numbers::Any),
            Spelling::Compact => (Whitespace::Compact, Escapes::Printed, Numbers::PRINTED),
            Spelling::Canonical => (Whitespace::Compact, Escapes::Needed, Numbers::Canonical),
        };
        self
    }

    /// Sets [`retriever`](Self::retriever).
    #[must_use]
    pub fn retriever(mut self, retriever: Retriever) -> Self {
        self.retriever = Some(retriever);
        self
    }
}

setters! { JsonSchemaOptions {
    whitespace: Whitespace,
    around_root: u32,
    key_order: KeyOrder,
    objects: Objects,
    free_names: FreeNames,
    escapes: Escapes,
    numbers: Numbers,
    formats: Formats,
    unsupported: Unsupported,
    interrupt: Interrupt,
    limits: JsonSchemaLimits,
} }

/// How many alternatives of `oneOf` may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OneOf {
    /// One, as JSON Schema says.
    Exclusive,
    /// One or more, as in `anyOf`.
    AsAnyOf,
}

/// Which of the texts that stand for one JSON value are in the grammar: whitespace, escapes and numbers at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Spelling {
    /// The texts that serialisers print, compact or in lines: [`Whitespace::Printed`], [`Escapes::Printed`], [`Numbers::Printed`].
    Printed,
    /// All texts that JSON allows: [`Whitespace::Free`] with runs of at most 64 characters, [`Escapes::Any`], [`Numbers::Any`].
    Any,
    /// The texts that serialisers print without whitespace: [`Whitespace::Compact`], [`Escapes::Printed`], [`Numbers::Printed`].
    Compact,
    /// One text for each value, but for the order of members: [`Whitespace::Compact`], [`Escapes::Needed`],
    /// [`Numbers::Canonical`].
    Canonical,
}

impl Spelling {
    /// The name that [`from_name`](Self::from_name) takes for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Printed => "printed",
            Self::Any => "any",
            Self::Compact => "compact",
            Self::Canonical => "canonical",
        }
    }

    /// The spelling of a name: `printed`, `any`, `compact` or `canonical`.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Printed, Self::Any, Self::Compact, Self::Canonical].into_iter().find(|it| it.name() == name)
    }
}

/// Where whitespace may occur between the parts of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Whitespace {
    /// Wherever JSON allows it, as serialisers print it: nothing, one space, or one line feed and at most 64 spaces and
    /// tabs.
    Printed,
    /// Wherever JSON allows it inside the value: between any two tokens.
    Free {
        /// Most characters in a row, `None` for any number.
        max_run: Option<u32>,
    },
    /// Nowhere.
    Compact,
    /// Exactly these separators, and nothing else between tokens.
    Fixed {
        /// Between two items or members, `", "` in Python's default. A comma and whitespace.
        item_separator: String,
        /// Between a name and its value, `": "` in Python's default. A colon and whitespace.
        key_separator: String,
    },
    /// Every item and member in a line of its own, as Python's `json.dumps(value, indent=2)` writes; empty arrays
    /// and objects are `[]` and `{}`.
    ///
    /// The indentation of a line depends on its depth, and no context-free grammar can count every depth. So
    /// every depth has rules of its own, and what nests deeper than `max_depth` is no text of the grammar.
    Indented {
        /// The beginning of a line, once for every array and object around it. Spaces or tabs.
        indent: String,
        /// Between two items or members, before the line break: `","`.
        item_separator: String,
        /// Between a name and its value: `": "`.
        key_separator: String,
        /// The greatest depth of arrays and objects inside one another; 128 at most.
        max_depth: u32,
    },
}

/// In which order the members of an object come. Declared names occur at most once in each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyOrder {
    /// As the schema declares them, undeclared ones after them.
    Declared,
    /// Required ones as the schema declares them, then the other declared ones, then undeclared ones.
    RequiredFirst,
    /// In any order.
    Any,
}

/// The members that an object allows beyond the declared ones, if it does not say so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Objects {
    /// Any other members, as JSON Schema has it.
    Open,
    /// None but those that the schema requires, where it declares properties or patterns and does not say what others are.
    ///
    /// Schemas for one object are closed together: with `allOf`, `$ref`, `then`, `else` and dependencies beside it, a
    /// schema also allows the members that these mention. Of alternatives (`anyOf`, `oneOf`) each allows its own and those
    /// around it. Conditions stay open: `not`, `if`, `contains`, and the alternatives of a `oneOf` that must fail. So all
    /// values that are left satisfy the schema as it is written.
    Closed,
}

/// Whether names that a schema does not declare may occur twice. Declared names never do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FreeNames {
    /// They may: a reader takes the last one, and all of them satisfy the schema.
    MayRepeat,
    /// They may not. Names that a pattern lists (`^x[0-9]$`) count as declared, and where bounds leave room for one
    /// free member at most, there is nothing to repeat. Other names are compared while a text is written; refused are
    /// objects with fewer names than members, and schemas that are parts of other grammars.
    Unique,
}

/// How numbers are spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Numbers {
    /// As serialisers print (`64`, `64.0`, `2.5`, `-0.0`), and as people write amounts (`12.50`). A double that is so small or
    /// so large that some serialiser does so has an exponent: `1e-07`, `1e-7`, `1.0E-7`, `1e+21`. An `integer` has digits
    /// alone, as integers are printed. Readers of typed values refuse `64.0` for one.
    Printed {
        /// Most digits before the point, and after it, of a number without an exponent. Bounds and constants of a schema
        /// may have more, and so have numbers as long as they.
        max_digits: u32,
    },
    /// As JSON allows. Under conditions, exponents are those of [`Printed`](Self::Printed), and zeros at the end of a fraction
    /// are free.
    Any,
    /// In one way: without an exponent, without zeros at the end of a fraction or a fraction of zeros, and without a
    /// sign before zero. `1`, but neither `1.0` nor `1e0`.
    Canonical,
}

impl Numbers {
    /// As serialisers print, with at most 64 digits.
    pub const PRINTED: Self = Self::Printed { max_digits: 64 };
}

/// The meaning of `format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Formats {
    /// The formats that are known (see [the module](super)) are enforced; others are annotations.
    Enforced,
    /// All formats are annotations.
    Annotation,
}

/// The treatment of an assertion that cannot be enforced exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsupported {
    /// The schema is refused.
    Refuse,
    /// The assertion is ignored and listed in the report. Texts that break the schema may be accepted.
    Ignore,
}

/// Bounds on what one schema may cost. A schema past a bound is refused with the bound's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct JsonSchemaLimits {
    /// Bytes of schema text. Default: 16 MiB.
    pub schema_bytes: usize,
    /// JSON values in the schema, names counted too; they take some 300 bytes each while it is read.
    /// Default: 1,500,000.
    pub values: usize,
    /// Schemas (and constants' parts) that the root reaches, and their combinations; 200,000 of them take some
    /// second and 300 MiB. Default: 100,000. A text of a schema may reach one for every 32 of its bytes in any case.
    pub goals: usize,
    /// Work while schemas are combined and written out, in units of some 50 nanoseconds. It is names, values and
    /// alternatives that are compared or copied, texts that are put to patterns, and expressions of the grammar with
    /// their automata. Default: 8,000,000, and two more for each byte of a source. The schemas of one source, such as
    /// the tools of a request, share it, without the largest of them.
    pub work: usize,
    /// Schemas applied to one and the same value, one inside the other (`allOf` in `anyOf` in `$ref` ...).
    /// Default: 100.
    pub depth: usize,
    /// Alternatives of one type that one schema may fan out to. Default: 512, and up to 2,048 that one keyword lists,
    /// unless a smaller limit is asked for.
    pub alternatives: usize,
    /// States of one counting automaton (`minProperties`, `multipleOf`, a length under a pattern).
    /// Default: 20,000.
    pub states: usize,
    /// Digits of a number written without an exponent. Default: 400.
    pub digits: u64,
    /// Expressions of the grammar. Default: 2,000,000.
    pub expressions: usize,
    /// Documents that the retriever is asked for. Default: 64.
    pub documents: usize,
}

setters! { JsonSchemaLimits {
    schema_bytes: usize,
    values: usize,
    goals: usize,
    work: usize,
    depth: usize,
    alternatives: usize,
    states: usize,
    digits: u64,
    expressions: usize,
    documents: usize,
} }

impl Default for JsonSchemaLimits {
    fn default() -> Self {
        Self {
            schema_bytes: 16 << 20,
            values: 1_500_000,
            goals: 100_000,
            work: 8_000_000,
            depth: 100,
            alternatives: 512,
            states: 20_000,
            digits: 400,
            expressions: 2_000_000,
            documents: 64,
        }
    }
}

/// Goals of a schema of about the median size.
pub(crate) const EXPECTED_GOALS: usize = 28;
