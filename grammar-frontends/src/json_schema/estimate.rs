//! Simple schemas: one pass finds that they can be compiled, and about how large their automata become.
//!
//! Of fifty tools that are offered one or two are called, and to lower the schema of a tool takes several
//! times as long as to read it. Nearly all of these schemas are of one kind: objects, arrays and scalars by
//! their types, properties, lists of texts. They have no two assertions on one value, and nothing that may be
//! refused. For such a schema there is a [`SimpleSchema`], and its grammar can wait until a text comes to it.
//! Of the 2,170 schemas of tools in three packs of traces 2,169 are such; where there is any doubt, there is
//! no estimate.

use bumpalo::Bump;

use crate::json::JsonValue;
use crate::json_schema::document::json::{self, Members, Value};
use crate::json_schema::options::{
    Escapes, FreeNames, JsonSchemaLimits, JsonSchemaOptions, KeyOrder, Numbers, Whitespace,
};

/// An estimate of the grammar of a schema before it is written. [`compile`](crate::json_schema::compile())
/// succeeds with default options, except for spelling and for limits that are not smaller. The grammar
/// derives something and not the empty text, and no rule begins with itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SimpleSchema {
    /// In about how many states of automata it is written, at most.
    pub states: u32,
    /// The characters of ASCII that names and texts consist of, a bit each. They have no others.
    pub characters: u128,
}

/// Bytes of a text that is looked at.
const MAX_BYTES: usize = 1 << 15;

/// Schemas inside of one another.
const MAX_DEPTH: u32 = 16;

/// Members of an object, and texts of a list.
const MAX_MEMBERS: usize = 128;

/// States for what every grammar may have: texts, numbers, any value.
const BASE_STATES: u32 = 1 << 10;

/// States for each schema, for each property, and for each character of a name or a text.
const SCHEMA_STATES: u32 = 64;
const MEMBER_STATES: u32 = 96;
const CHARACTER_STATES: u32 = 8;

/// Looks at the text of a schema.
pub fn estimate(schema: &str) -> Option<SimpleSchema> {
    if schema.len() > MAX_BYTES {
        return None;
    }
    let arena = Bump::new();
    SimpleSchema::of(&json::parse(schema, &arena).ok()?)
}

/// Whether there are no names in it.
fn is_simple(value: &Value<'_>) -> bool {
    match value {
        Value::Object(_) => false,
        Value::Array(items) => !items.iter().any(Value::is_container),
        _ => true,
    }
}

/// As [`estimate`], for a schema that was parsed already.
pub fn estimate_value(schema: &JsonValue) -> Option<SimpleSchema> {
    let arena = Bump::new();
    SimpleSchema::of(&json::borrowed(schema, &arena))
}

impl SimpleSchema {
    pub(crate) fn of(schema: &Value<'_>) -> Option<Self> {
        let mut look = Self { states: BASE_STATES, characters: 0 };
        look.schema(schema, 0)?;
        Some(look)
    }

    /// Whether the estimate holds for the grammar under these options.
    pub fn holds_under(options: &JsonSchemaOptions) -> bool {
        // All fields, so that a new one is thought of.
        let JsonSchemaOptions {
            whitespace,
            around_root,
            key_order,
            objects: _,
            free_names,
            escapes,
            numbers,
            formats: _,
            unsupported: _,
            one_of: _,
            retriever: _,
            limits,
            interrupt: _,
        } = options;
        // The estimate promises success under the default limits. Smaller ones may refuse a schema that it
        // lets pass.
        let least = JsonSchemaLimits::default();
        matches!(whitespace, Whitespace::Printed | Whitespace::Free { .. })
            && *around_root == 0
            && *key_order == KeyOrder::Declared
            && *free_names == FreeNames::MayRepeat
            && matches!(escapes, Escapes::Printed | Escapes::Any)
            && matches!(numbers, Numbers::Printed { .. } | Numbers::Any)
            && limits.schema_bytes >= MAX_BYTES
            // Each value takes a byte of the text at least.
            && limits.values >= MAX_BYTES
            && limits.goals >= least.goals
            && limits.work >= least.work
            && limits.depth >= least.depth
            && limits.alternatives >= least.alternatives
            && limits.states >= least.states
            && limits.digits >= least.digits
            && limits.expressions >= least.expressions
    }

    fn schema(&mut self, schema: &Value<'_>, depth: u32) -> Option<()> {
        let members = schema.as_object()?;
        if depth > MAX_DEPTH {
            return None;
        }
        self.states += SCHEMA_STATES;
        let mut properties = None;
        let mut required: &[Value<'_>] = &[];
        let mut is_open = None;
        let mut kind = None;
        let mut lists_texts = false;
        // Keywords that are not listed end the estimate, even those that say nothing here. So a keyword that
        // is added to the general way cannot make the estimate wrong.
        for (keyword, value) in members {
            match keyword {
                "type" => {
                    let name = value.as_str()?;
                    let is_known = matches!(
                        name,
                        "string" | "object" | "integer" | "boolean" | "number" | "array" | "null"
                    );
                    kind = is_known.then_some(Some(name))?;
                }
                "properties" => properties = Some(self.properties(value, depth)?),
                "required" => required = value.as_array().filter(|names| names.len() <= MAX_MEMBERS)?,
                "items" => self.schema(value, depth + 1)?,
                "enum" => {
                    lists_texts = true;
                    let texts = value.as_array().filter(|texts| (1..=MAX_MEMBERS).contains(&texts.len()))?;
                    for (at, text) in texts.iter().enumerate() {
                        let text = text.as_str()?;
                        // Lists are short, so comparing all pairs is bounded.
                        if texts[..at].iter().any(|other| other.as_str() == Some(text)) {
                            return None;
                        }
                        self.text(text)?;
                    }
                }
                "additionalProperties" => match value {
                    Value::Bool(are_allowed) => is_open = Some(*are_allowed),
                    _ => return None,
                },
                "description" | "title" => drop(value.as_str()?),
                "default" if is_simple(value) => {}
                _ => return None,
            }
        }
        // A list of texts beside a type that has none is a contradiction.
        if lists_texts && !matches!(kind, None | Some("string")) {
            return None;
        }
        // Objects that declare properties may be closed by an option.
        let is_open = is_open.unwrap_or(properties.is_none());
        let is_declared = |name: &str| properties.is_some_and(|known: &Members<'_>| known.contains_key(name));
        for (at, name) in required.iter().enumerate() {
            let name = name.as_str()?;
            if required[..at].iter().any(|other| other.as_str() == Some(name)) {
                return None;
            }
            match is_declared(name) {
                true => {}
                false if is_open => self.member(name)?,
                false => return None,
            }
        }
        Some(())
    }

    fn properties<'v, 't>(&mut self, value: &'v Value<'t>, depth: u32) -> Option<&'v Members<'t>> {
        let members = value.as_object().filter(|members| members.len() <= MAX_MEMBERS)?;
        for (name, schema) in members {
            self.member(name)?;
            self.schema(schema, depth + 1)?;
        }
        Some(members)
    }

    /// The core keywords of a document begin with this sign.
    fn member(&mut self, name: &str) -> Option<()> {
        if name.starts_with('$') {
            return None;
        }
        self.states += MEMBER_STATES;
        self.text(name)
    }

    /// A name or a text of printable ASCII, written without escapes in the schema.
    fn text(&mut self, text: &str) -> Option<()> {
        for byte in text.bytes() {
            if !matches!(byte, b' '..=b'~') {
                return None;
            }
            self.characters |= 1 << byte;
        }
        self.states += CHARACTER_STATES * (1 + text.len() as u32);
        Some(())
    }
}
