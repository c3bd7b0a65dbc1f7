//! Tools as the variants of an enum.

use std::marker::PhantomData;

use grammask_grammar_frontends::Diagnostics;
use grammask_grammar_frontends::tool_formats::ToolRequest;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::error::ReadError;
use super::read::{parse, read};
use super::schema::schema_of;

/// The tools that an enum names: each variant is a tool, its content the arguments, its documentation the description.
///
/// The enum has its name and its content side by side, as calls have:
///
/// ```
/// use grammask_matcher::Tools;
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
/// #[serde(tag = "name", content = "arguments", rename_all = "snake_case")]
/// enum Tool {
///     /// The weather of some days.
///     GetWeather { city: String, #[schemars(range(max = 14))] days: u8 },
///     /// The time.
///     GetTime,
/// }
///
/// let tools = Tools::<Tool>::new()?;
/// assert_eq!(tools.as_json()[1]["function"]["description"], "The time.");
/// let call = tools.read("get_weather", br#"{"city": "Oslo", "days": 2}"#)?;
/// assert_eq!(call, Tool::GetWeather { city: "Oslo".to_owned(), days: 2 });
/// assert_eq!(tools.read("get_time", b"{}")?, Tool::GetTime);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Tools<T> {
    /// In OpenAI's shape.
    list: Value,
    /// Those without arguments. Their variants are read where there is no content.
    units: Vec<String>,
    of: PhantomData<fn() -> T>,
}

/// An enum whose schema is not that of a list of tools.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("variant {variant} of the type is no tool: {reason}")]
pub struct ToolsError {
    variant: usize,
    reason: &'static str,
}

impl<T> Clone for Tools<T> {
    fn clone(&self) -> Self {
        Self { list: self.list.clone(), units: self.units.clone(), of: PhantomData }
    }
}

impl<T> std::fmt::Debug for Tools<T> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Tools").field("list", &self.list).finish()
    }
}

impl<T: JsonSchema + DeserializeOwned> Tools<T> {
    /// Makes a tool of each variant.
    ///
    /// # Errors
    ///
    /// Where the type is not an enum with the attributes `tag = "name"` and `content = "arguments"` of `serde`, or the
    /// content of a variant is not an object.
    pub fn new() -> Result<Self, ToolsError> {
        let mut schema = schema_of::<T>();
        let definitions = schema.remove("$defs");
        let Some(Value::Array(variants)) = schema.remove("oneOf") else {
            return Err(ToolsError { variant: 0, reason: "the type is not an enum; derive one" });
        };
        let mut tools = Self { list: Value::Array(Vec::new()), units: Vec::new(), of: PhantomData };
        let mut list = Vec::with_capacity(variants.len());
        for (variant, mut schema) in variants.into_iter().enumerate() {
            let refused = |reason| ToolsError { variant, reason };
            let name = schema.pointer("/properties/name/const").and_then(Value::as_str);
            let name = name.ok_or_else(|| refused(NOT_TAGGED))?.to_owned();
            let parameters = schema.pointer_mut("/properties/arguments").map(Value::take);
            if parameters.is_none() {
                tools.units.push(name.clone());
            }
            let parameters = parameters_of(parameters, definitions.as_ref()).map_err(refused)?;
            let mut function = json!({"name": name, "parameters": parameters});
            if let Some(description) = schema.get_mut("description") {
                function["description"] = description.take();
            }
            list.push(json!({"type": "function", "function": function}));
        }
        tools.list = Value::Array(list);
        Ok(tools)
    }

    /// The tools in OpenAI's shape, for the prompt.
    pub fn as_json(&self) -> &Value {
        &self.list
    }

    /// A request for an answer that may call them. [`ToolFormat::structure`](grammask_grammar_frontends::tool_formats::ToolFormat::structure)
    /// makes a structure of it.
    ///
    /// # Errors
    ///
    /// Where a name is none that a tool can have.
    pub fn request(&self) -> Result<ToolRequest, Diagnostics> {
        ToolRequest::from_value(&self.list.clone().into())
    }

    /// Reads a call: the name of the tool, and the arguments as JSON.
    ///
    /// # Errors
    ///
    /// Where there is no such tool, or the arguments are not its own.
    pub fn read(&self, name: &str, arguments: &[u8]) -> Result<T, ReadError> {
        let mut call = json!({"name": name});
        let arguments = parse(arguments)?;
        if !self.units.iter().any(|unit| unit == name) {
            call["arguments"] = arguments;
        }
        read(call)
    }
}

const NOT_TAGGED: &str = "write `#[serde(tag = \"name\", content = \"arguments\")]` on the enum";
const NO_OBJECT: &str = "its content has to be an object; give it fields with names, or a type that has them";

/// The schema of a tool's arguments.
fn parameters_of(content: Option<Value>, definitions: Option<&Value>) -> Result<Value, &'static str> {
    let Some(mut content) = content else {
        return Ok(json!({"type": "object", "properties": {}, "additionalProperties": false}));
    };
    let is_object = content.get("type").is_some_and(|kind| kind == "object");
    if !is_object && content.get("$ref").is_none() {
        return Err(NO_OBJECT);
    }
    if let Some(definitions) = definitions {
        content["$defs"] = definitions.clone();
    }
    Ok(content)
}
