//! From a case to its grammar, through the frontends.

use grammask_grammar_frontends::json::{JsonError, JsonValue};
use grammask_grammar_frontends::json_schema::{
    self, JsonSchemaOptions, KeyOrder, Objects, Spelling, Whitespace,
};
use grammask_grammar_frontends::structural_tag::{StructuralTag, StructuralTagOptions};
use grammask_grammar_frontends::tool_formats::{Reasoning, ToolFormat, ToolRequest};
use grammask_grammar_frontends::{Diagnostics, ebnf, gbnf, lark, regex};
use grammask_grammar_ir::Grammar;

use crate::case::{Case, FrontendOption, Kind};

/// The request to which turns with tools are answers.
const REQUEST: &str = include_str!("../tool_turns/request.json");

/// A source that its frontend refuses.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct FrontendError {
    message: String,
}

impl From<Diagnostics> for FrontendError {
    fn from(diagnostics: Diagnostics) -> Self {
        Self { message: diagnostics.to_string() }
    }
}

impl Case {
    /// The grammar that the frontend makes of the source.
    pub fn grammar(&self) -> Result<Grammar, FrontendError> {
        match self.kind {
            Kind::Ebnf | Kind::Gbnf | Kind::Lark if !self.options.is_empty() => {
                Err(misplaced(self.options[0]))
            }
            Kind::Ebnf => Ok(ebnf::parse(&self.source, &ebnf::EbnfOptions::default())?),
            Kind::Gbnf => Ok(gbnf::parse(&self.source, &ebnf::EbnfOptions::default())?),
            Kind::Lark => Ok(lark::parse(&self.source, &lark::LarkOptions::default())?),
            Kind::Regex => Ok(regex::parse(&self.source, &self.regex_options()?)?),
            Kind::JsonSchema => Ok(json_schema::compile_grammar(&self.source, &self.schema_options()?)?),
            Kind::Tools => Ok(self.structural_tag("auto")?.grammar(&StructuralTagOptions::default())?),
        }
    }

    /// The structural tag of a case with tools, for a `tool_choice` of the request.
    pub fn structural_tag(&self, choice: &str) -> Result<StructuralTag, FrontendError> {
        let mut reasoning = Reasoning::Disabled;
        for option in &self.options {
            match option {
                FrontendOption::Reasoning => reasoning = Reasoning::Enabled,
                other => return Err(misplaced(*other)),
            }
        }
        let mut request: JsonValue =
            REQUEST.parse().map_err(|error: JsonError| FrontendError { message: error.to_string() })?;
        request.insert("tool_choice", choice);
        let request = ToolRequest::from_value(&request)?.reasoning(reasoning);
        Ok(ToolFormat::named(&self.source)?.structure(&request)?)
    }

    fn regex_options(&self) -> Result<regex::RegexOptions, FrontendError> {
        let mut options = regex::RegexOptions::default();
        for option in &self.options {
            match option {
                FrontendOption::Ecma => options.dialect = regex::Dialect::Ecma,
                FrontendOption::Search => options.matching = regex::Matching::Search,
                FrontendOption::IgnoreCase => options.letter_case = regex::LetterCase::Ignored,
                other => return Err(misplaced(*other)),
            }
        }
        Ok(options)
    }

    fn schema_options(&self) -> Result<JsonSchemaOptions, FrontendError> {
        let mut options = JsonSchemaOptions::default();
        for option in &self.options {
            options = match option {
                FrontendOption::AnySpelling => options.spelling(Spelling::Any),
                FrontendOption::Compact => options.whitespace(Whitespace::Compact),
                FrontendOption::AnyWhitespace => options.whitespace(Whitespace::Free { max_run: None }),
                FrontendOption::Spaced => {
                    let (item_separator, key_separator) = (", ".to_owned(), ": ".to_owned());
                    options.whitespace(Whitespace::Fixed { item_separator, key_separator })
                }
                FrontendOption::Closed => options.objects(Objects::Closed),
                FrontendOption::AnyOrder => options.key_order(KeyOrder::Any),
                other => return Err(misplaced(*other)),
            };
        }
        Ok(options)
    }
}

fn misplaced(option: FrontendOption) -> FrontendError {
    FrontendError {
        message: format!("the option {option:?} does not belong to a case of this kind; take it out"),
    }
}
