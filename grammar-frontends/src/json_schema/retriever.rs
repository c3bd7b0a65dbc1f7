//! Documents from elsewhere, given by the caller.

use std::fmt;
use std::sync::Arc;

use crate::json::JsonValue;

type Retrieve = dyn Fn(&str) -> Result<JsonValue, String> + Send + Sync;

/// Gives the documents that references lead to. Without one, a reference to another document is refused.
///
/// It is called with an absolute URI without fragment, at most once for each URI in one compilation and at
/// most [`documents`](super::JsonSchemaLimits::documents) times. It refuses a document with a reason, which
/// becomes part of the error.
///
/// ```
/// use grammask_grammar_frontends::json::JsonError;
/// use grammask_grammar_frontends::json_schema::{JsonSchemaOptions, Retriever, compile};
///
/// let retriever = Retriever::new(|uri| match uri {
///     "https://example.com/color" => {
///         let document = r#"{"enum": ["red", "green"]}"#;
///         document.parse().map_err(|error: JsonError| error.to_string())
///     }
///     _ => Err("not in the catalogue".to_owned()),
/// });
/// let options = JsonSchemaOptions::default().retriever(retriever);
/// assert!(compile(r#"{"$ref": "https://example.com/color"}"#, &options).is_ok());
/// let refused = compile(r#"{"$ref": "https://example.com/size"}"#, &options).unwrap_err();
/// assert!(refused.to_string().contains("not in the catalogue"));
/// ```
#[derive(Clone)]
pub struct Retriever(Arc<Retrieve>);

impl Retriever {
    /// A retriever out of a function from a URI to a document or the reason why there is none.
    pub fn new(retrieve: impl Fn(&str) -> Result<JsonValue, String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(retrieve))
    }

    pub(super) fn retrieve(&self, uri: &str) -> Result<JsonValue, String> {
        (self.0)(uri)
    }
}

impl fmt::Debug for Retriever {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Retriever")
    }
}

/// Two retrievers are equal if one is a copy of the other.
impl PartialEq for Retriever {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Retriever {}
