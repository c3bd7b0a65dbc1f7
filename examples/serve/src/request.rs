//! The request of a client.

use std::fmt::Display;

use anyhow::Result;
use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use grammask::json_schema::Whitespace;
use grammask::tool_formats::Reasoning;
use grammask::{
    CompiledGrammar, Compiler, Diagnostics, JsonSchemaOptions, StructuralTagOptions, ToolFormat, ToolRequest,
};
use grammask_candle::Settings;
use serde::Deserialize;
use serde_json::{Value, json};

/// A request that cannot be served, as OpenAI's interface says it.
#[derive(Debug)]
pub(crate) struct Refusal {
    status: StatusCode,
    message: String,
    /// The place in the request.
    param: Option<String>,
    code: Option<&'static str>,
}

impl Refusal {
    /// A fault of the request.
    pub(crate) fn bad(message: impl Display, param: Option<String>) -> Self {
        Self { status: StatusCode::BAD_REQUEST, message: message.to_string(), param, code: None }
    }

    /// A fault of the server.
    pub(crate) fn failed(error: impl Display) -> Self {
        let status = StatusCode::INTERNAL_SERVER_ERROR;
        Self { status, message: error.to_string(), param: None, code: None }
    }

    /// The error as clients read it.
    pub(crate) fn to_json(&self) -> Value {
        let kind = match self.status.is_client_error() {
            true => "invalid_request_error",
            false => "server_error",
        };
        let Self { message, param, code, .. } = self;
        json!({"error": {"message": message, "type": kind, "param": param, "code": code}})
    }
}

impl From<&Diagnostics> for Refusal {
    fn from(diagnostics: &Diagnostics) -> Self {
        let first = diagnostics.iter().next();
        let param = first.and_then(|first| first.pointer()).map(str::to_owned);
        Self { code: first.map(|first| first.code()), ..Self::bad(diagnostics, param) }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        (self.status, Json(self.to_json())).into_response()
    }
}

/// The parts of a request that have nothing to do with structure.
#[derive(Deserialize)]
struct Parameters {
    model: String,
    messages: Value,
    max_completion_tokens: Option<usize>,
    max_tokens: Option<usize>,
    temperature: Option<f32>,
    top_p: Option<f32>,
    seed: Option<i64>,
    #[serde(default)]
    stream: bool,
    stream_options: Option<StreamOptions>,
}

#[derive(Deserialize)]
struct StreamOptions {
    #[serde(default)]
    include_usage: bool,
}

/// Members that change an answer, and that this server does not know.
const REFUSED: [&str; 10] = [
    "audio",
    "frequency_penalty",
    "function_call",
    "functions",
    "logit_bias",
    "logprobs",
    "prediction",
    "presence_penalty",
    "stop",
    "top_logprobs",
];

/// A request that was read.
pub(crate) struct Request {
    pub(crate) model: String,
    pub(crate) messages: Value,
    pub(crate) tools: Option<Value>,
    pub(crate) settings: Settings,
    pub(crate) stream: bool,
    pub(crate) include_usage: bool,
    structure: Option<ToolRequest>,
}

impl Request {
    pub(crate) fn read(body: &Value) -> Result<Self, Refusal> {
        let is_set = |name: &&&str| {
            body.get(**name)
                .is_some_and(|value| !value.is_null() && *value != json!(0) && *value != json!(false))
        };
        if let Some(name) = REFUSED.iter().find(is_set) {
            return Err(Refusal::bad(format!("`{name}` is not known here"), Some((*name).to_owned())));
        }
        if body.get("n").is_some_and(|n| !n.is_null() && *n != json!(1)) {
            return Err(Refusal::bad("only one answer can be given", Some("n".to_owned())));
        }
        let parameters = Parameters::deserialize(body).map_err(|error| Refusal::bad(error, None))?;
        let tools = ["tools", "tool_choice"].map(|name| body.get(name).filter(|value| !value.is_null()));
        let tools = match tools {
            [Some(Value::Array(tools)), choice] if !tools.is_empty() && choice != Some(&json!("none")) => {
                Some(Value::Array(tools.clone()))
            }
            _ => None,
        };
        let asked = ToolRequest::from_value(&body.clone().into()).map_err(|error| Refusal::from(&error))?;
        let format = body.pointer("/response_format/type").and_then(Value::as_str);
        let is_free = tools.is_none() && matches!(format, None | Some("text"));
        let Parameters { model, messages, stream, .. } = parameters;
        let default = Settings::default();
        Ok(Self {
            model,
            messages,
            settings: Settings {
                max_tokens: parameters
                    .max_completion_tokens
                    .or(parameters.max_tokens)
                    .unwrap_or(default.max_tokens),
                temperature: parameters.temperature.unwrap_or(1.0),
                top_p: parameters.top_p.unwrap_or(1.0),
                // Any number will do, and equal ones give equal answers.
                seed: parameters.seed.map_or(0, i64::cast_unsigned),
                draft: default.draft,
            },
            tools,
            stream,
            include_usage: parameters.stream_options.is_some_and(|options| options.include_usage),
            structure: (!is_free).then_some(asked.reasoning(Reasoning::Disabled)),
        })
    }

    /// The structure of the answer, if it has one.
    pub(crate) fn compile(&self, compiler: &Compiler) -> Result<Option<CompiledGrammar>, Refusal> {
        let Some(asked) = &self.structure else { return Ok(None) };
        let structure = ToolFormat::named("hermes").and_then(|family| family.structure(asked));
        let structure = structure.map_err(|error| Refusal::from(&error))?;
        // The fewer spellings, the more of a text is forced.
        let separators =
            Whitespace::Fixed { item_separator: ", ".to_owned(), key_separator: ": ".to_owned() };
        let schemas = JsonSchemaOptions::default().whitespace(separators);
        let options = StructuralTagOptions::default().json_schema(schemas);
        compiler.tag(&structure, &options).map(Some).map_err(|error| match error.diagnostics() {
            Some(diagnostics) => Refusal::from(diagnostics),
            None => Refusal::bad(error, None),
        })
    }
}
