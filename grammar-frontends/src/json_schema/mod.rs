//! JSON Schema: drafts 4, 6, 7, 2019-09 and 2020-12.
//!
//! [`compile()`] turns a schema into a grammar of the JSON texts that satisfy it, and into a [`Report`] of what
//! became of every keyword. A keyword is enforced exactly, or the schema is refused with the keyword's JSON
//! pointer and a reason; nothing is dropped silently. Not for validating documents that exist: a validator
//! takes any order of keys and any spelling of numbers.
//!
//! ```
//! use grammask_grammar_frontends::json_schema::{JsonSchemaOptions, compile};
//!
//! let schema = r#"{"type": "object", "properties": {"age": {"type": "integer", "minimum": 0}}}"#;
//! let compiled = compile(schema, &JsonSchemaOptions::default())?;
//! assert_eq!(compiled.grammar.rule(compiled.grammar.root()).name(), "root");
//!
//! let refused = compile(r#"{"items": {"format": "idn-email"}}"#, &JsonSchemaOptions::default()).unwrap_err();
//! assert!(refused.to_string().contains("/items/format"));
//! # Ok::<(), grammask_grammar_frontends::Diagnostics>(())
//! ```
//!
//! # How
//!
//! The naive way translates one keyword after the other into rules, and fails where two keywords speak about
//! one value. Here a schema becomes a *normal form* first: for each type a union of shapes. A shape is an
//! interval of numbers, a set of strings that pass tests, arrays by place, or objects by name. Shapes are
//! closed under conjunction and complement, so `allOf`, `anyOf`, `oneOf`, `not`, `if` and siblings of `$ref`
//! are computed, not translated. The subschemas inside a shape (of a property, of an item) stay *goals*:
//! conjunctions of schemas that are not read yet. Goals are interned, there are finitely many of them, and
//! each gets one rule. That is why recursion ends and equal parts are shared, and why a document of 50,000
//! definitions costs only as much as the ten that are used. The method is that of witness generation for JSON
//! Schema (Attouche et al., VLDB 2022). Schemas without anything to compute, as those of most tools are, are
//! found by one pass ([`estimate`]), so that their grammars can be written when a text first needs them.
//!
//! # The texts
//!
//! * Keys come in the order in which they are declared (or in another one: see [`KeyOrder`]). First come
//!   those of the schema's own `properties`, then those of `$ref` and of the members of `allOf`, `anyOf`,
//!   `oneOf`, then names that only `required` or a dependency mentions. Undeclared keys come last, in any
//!   order. If `not` demands a member of any name with a certain value, such a member is the last, unless
//!   members come in any order. A declared name occurs at most once; undeclared names may repeat. In two
//!   kinds of schemas no name repeats in any object, as with [`FreeNames::Unique`]. One counts undeclared
//!   names below one of several alternatives. The other demands members of any name whose place would matter
//!   otherwise ([`KeyOrder::Any`], or several demands).
//! * Of the spellings of a value those that serialisers print, compact or in lines, unless the caller chooses others
//!   ([`Spelling`]): those of Python, JavaScript, `serde_json`, Go and Jackson.
//! * Whitespace: nothing, one space, or one line feed and at most 64 blanks between two tokens ([`Whitespace`]). None before
//!   and none after the root value, but for the option [`around_root`](JsonSchemaOptions::around_root).
//! * Strings and keys: escapes of characters that one of them escapes ([`Escapes`]).
//! * Numbers: those that are small or large enough have an exponent: `64`, `64.0`, `2.50`, `1e-07`, `1.0E7`, `1e+21`
//!   ([`Numbers`]). Values decide what a bound or a constant allows. An integer has neither a fraction nor an exponent.
//!   Of the multiples of a step, those of the least power of ten that it divides have one.
//! * Items that must differ (`uniqueItems`) are compared by their meaning, `1` and `1.0` as `"a"` and
//!   `"\u0061"`. If they come from a set that can be listed, the grammar expresses it itself. Otherwise it
//!   marks the array ([`RuleOptions::distinct`](grammask_grammar_ir::RuleOptions::distinct)), and the engine
//!   that follows a text with it keeps the items that have occurred. Exponents have at most 18 digits there,
//!   and inside of items no name repeats. An alternative that lets items repeat is read in the same way until one does.
//! * Objects and arrays of `enum` and `const`: keys in the order of the constant.
//!
//! # Formats
//!
//! [`format_table()`] lists the formats of the standard with the drafts that have them, and for each the texts that obey
//! it and are left out all the same. A format of later drafts than its schema's, and a name that the standard does not
//! know, is an annotation. Refused: `idn-hostname`, `idn-email`.
//!
//! Texts that a format leaves out are not accepted under `not` either: `not` accepts the texts that certainly
//! do not obey the format. For `regex` no such texts are known, so `not` around it is refused.
//!
//! Where texts are excluded, and in arguments of tools that are not written as JSON, host names of more than 63
//! characters are left out. Beside other conditions so are mailboxes of more than 255. A product of the automata of all
//! would be too large.
//!
//! # Not supported
//!
//! Some schemas are refused with their places. `uniqueItems` is refused where there may be fewer values than
//! items (or names than members), and in schemas that are parts of other grammars. It is also refused below
//! one of several alternatives of one type, if another one lets the same items repeat and these may have fewer names
//! than members. Further refusals are
//! more than six conditions that ask for items somewhere in an array (`contains`, or `not` around `items`),
//! and references to other documents without a [`Retriever`]. Patterns with back-references and some look-around,
//! and combinations whose alternatives pass a limit, are refused, too. [`Unsupported::Ignore`] ignores them
//! and says so in the report.
//!
//! # Errors and limits
//!
//! [`Diagnostics`](crate::Diagnostics) with a JSON pointer, a code that names the cause (`json-schema/syntax`, `/malformed`,
//! `/unsupported`, `/reference`, `/unsatisfiable`, `/limit`) and a hint. [`JsonSchemaLimits`] bounds size and
//! work. Documents nest at most 127 deep.

// In the order of the data flow: each file and folder imports those above it.
mod error;

mod retriever;

mod options;

mod report;

pub(crate) mod value_syntax;

mod work;

mod document;

mod guidance;

mod sets;

mod normalize;

mod lower;

mod estimate;

mod compile;

mod locate;

pub(crate) use self::compile::compile_within;
pub use self::compile::{Compiled, compile, compile_grammar, compile_value, compile_with_warnings, report};
pub use self::document::keyword_table::{KEYWORDS, Keyword, keyword_table};
pub use self::estimate::{SimpleSchema, estimate, estimate_value};
pub use self::locate::located;
pub use self::options::{
    Escapes, Formats, FreeNames, JsonSchemaLimits, JsonSchemaOptions, KeyOrder, Numbers, Objects, Spelling,
    Unsupported, Whitespace,
};
pub use self::report::{Report, ReportEntry, Treatment};
pub use self::retriever::Retriever;
pub use self::sets::formats::format_table;
pub use self::work::SharedWork;
