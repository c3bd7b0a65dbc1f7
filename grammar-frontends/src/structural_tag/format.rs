//! The formats of a structural tag as data.
//!
//! Formats nest at most as deep as the reader allows, or as deep as a table of tool formats is written, so trees
//! of them are walked with recursion.

use grammask_grammar_ir::TokenRef;

use super::schema_value::SchemaValue;
use super::styles::{markup, notation};
use crate::json_schema::Spelling;
use crate::json_schema::value_syntax::ValueSyntax::{self, Json, Markup, Notation};

/// The form of a part of the text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Format {
    /// A literal, which may be empty.
    ConstString(Box<str>),
    /// A value of a JSON Schema.
    JsonSchema(JsonSchemaFormat),
    /// A grammar in EBNF with the start rule `root`.
    Grammar(Box<str>),
    /// A text that a pattern matches as a whole.
    Regex(Box<str>),
    /// Any text without certain strings.
    AnyText(AnyText),
    /// All elements, one after the other.
    Sequence(Vec<Format>),
    /// One of the elements.
    Or(Vec<Format>),
    /// A beginning, the content and an end.
    Tag(Box<Tag>),
    /// Free text in which triggers start tags.
    TriggeredTags(TriggeredTags),
    /// Tokens in which trigger tokens start tags.
    TokenTriggeredTags(TriggeredTags<TokenRef>),
    /// Tags with a separator between them.
    TagsWithSeparator(TagsWithSeparator),
    /// Nothing or the content once.
    Optional(Box<Format>),
    /// The content once or more.
    Plus(Box<Format>),
    /// The content any number of times.
    Star(Box<Format>),
    /// The content, this many times.
    Repeat(Box<Repeat>),
    /// Free text in which strings start formats.
    Dispatch(Dispatch),
    /// Tokens in which tokens start formats.
    TokenDispatch(Dispatch<TokenRef>),
    /// One token.
    Token(TokenRef),
    /// One token that is none of these.
    ExcludeToken(Vec<TokenRef>),
    /// Any number of tokens that are none of these.
    AnyTokens(AnyTokens),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct JsonSchemaFormat {
    pub(crate) schema: SchemaValue,
    pub(crate) style: Style,
    pub(crate) key_order: MemberOrder,
    /// How texts are spelled; as the options say where absent.
    pub(crate) spelling: Option<Spelling>,
    /// Most whitespace characters in a row; as the spelling or the options say where absent.
    pub(crate) max_whitespace: Option<u32>,
    /// Texts that no string and no name in the value may hold as it is written.
    pub(crate) excludes: Vec<Box<str>>,
    /// Where the schema came from, where that is not this document.
    pub(crate) origin: Option<Box<str>>,
}

impl JsonSchemaFormat {
    pub(crate) fn new(schema: SchemaValue, style: Style) -> Self {
        Self {
            schema,
            style,
            key_order: MemberOrder::Declared,
            spelling: None,
            max_whitespace: None,
            excludes: Vec::new(),
            origin: None,
        }
    }
}

/// How the members of the root object are spelled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Style {
    #[default]
    Json,
    QwenXml,
    SeedXml,
    MinimaxXml,
    MinimaxM3Xml,
    DeepseekXml,
    DeepseekV41Xml,
    GlmXml,
    Hy3Xml,
    KimiK3Xml,
    CohereXml,
    Step3Xml,
    AtemXml,
    MinicpmXml,
    Pythonic,
    Olmo3,
    Gemma3,
    Gemma4,
}

impl Style {
    /// The name of each style, and how values are written in it.
    pub(crate) const ALL: [(&'static str, Self, ValueSyntax); 18] = [
        ("json", Self::Json, Json),
        ("qwen_xml", Self::QwenXml, Markup(&markup::QWEN)),
        ("seed_xml", Self::SeedXml, Markup(&markup::SEED)),
        ("minimax_xml", Self::MinimaxXml, Markup(&markup::MINIMAX)),
        ("minimax_m3_xml", Self::MinimaxM3Xml, Markup(&markup::MINIMAX_M3)),
        ("deepseek_xml", Self::DeepseekXml, Markup(&markup::DEEPSEEK)),
        ("deepseek_v4_1_xml", Self::DeepseekV41Xml, Markup(&markup::DEEPSEEK_V4_1)),
        ("glm_xml", Self::GlmXml, Markup(&markup::GLM)),
        ("hy_3_xml", Self::Hy3Xml, Markup(&markup::HY_3)),
        ("kimi_k3_xml", Self::KimiK3Xml, Markup(&markup::KIMI_K3)),
        ("cohere_xml", Self::CohereXml, Markup(&markup::COHERE)),
        ("step_3_xml", Self::Step3Xml, Markup(&markup::STEP_3)),
        ("atem_xml", Self::AtemXml, Markup(&markup::ATEM)),
        ("minicpm_xml", Self::MinicpmXml, Markup(&markup::MINICPM)),
        ("pythonic", Self::Pythonic, Notation(&notation::PYTHONIC)),
        ("olmo_3", Self::Olmo3, Notation(&notation::OLMO_3)),
        ("gemma_3", Self::Gemma3, Notation(&notation::GEMMA_3)),
        ("gemma_4", Self::Gemma4, Notation(&notation::GEMMA_4)),
    ];

    fn row(self) -> (&'static str, Self, ValueSyntax) {
        Self::ALL.into_iter().find(|(_, style, _)| *style == self).unwrap_or(Self::ALL[0])
    }

    pub(crate) fn name(self) -> &'static str {
        self.row().0
    }

    /// How values are written.
    pub(crate) fn written(self) -> ValueSyntax {
        self.row().2
    }
}

/// In which order the members of an object come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MemberOrder {
    /// As the options of the structural tag say: as the schema declares them, unless they say otherwise.
    #[default]
    Declared,
    /// In any order.
    Any,
}

/// How many tags there must be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Minimum {
    #[default]
    Zero,
    One,
}

/// The continuation after a tag or a dispatched format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum AfterMatch {
    /// More of the same.
    #[default]
    Continue,
    /// The end.
    Stop,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct AnyText {
    pub(crate) excludes: Vec<Box<str>>,
    pub(crate) max_tokens: Option<u32>,
    pub(crate) max_chars: Option<u32>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tag {
    pub(crate) begin: Begin,
    pub(crate) content: Format,
    pub(crate) end: End,
}

/// How a tag begins.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Begin {
    Text(Box<str>),
    Token(TokenRef),
}

/// How a tag ends.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum End {
    /// With one of these; at least one of them.
    Texts(Vec<Box<str>>),
    Token(TokenRef),
}

impl End {
    pub(crate) fn text(end: &str) -> Self {
        End::Texts(vec![end.into()])
    }

    /// Its texts but the empty one, which ends anything.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        let texts = match self {
            End::Texts(texts) => texts.as_slice(),
            End::Token(_) => &[],
        };
        texts.iter().map(|text| &**text).filter(|text| !text.is_empty())
    }

    pub(crate) fn token(&self) -> Option<&TokenRef> {
        match self {
            End::Texts(_) => None,
            End::Token(token) => Some(token),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TriggeredTags<T = Box<str>> {
    pub(crate) triggers: Vec<T>,
    pub(crate) tags: Vec<Tag>,
    pub(crate) minimum: Minimum,
    pub(crate) after_match: AfterMatch,
    pub(crate) excludes: Vec<T>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TagsWithSeparator {
    pub(crate) tags: Vec<Tag>,
    pub(crate) separator: Box<str>,
    pub(crate) minimum: Minimum,
    pub(crate) after_match: AfterMatch,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Repeat {
    pub(crate) min: u32,
    pub(crate) max: Option<u32>,
    pub(crate) content: Format,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Dispatch<T = Box<str>> {
    pub(crate) rules: Vec<(T, Format)>,
    pub(crate) after_match: AfterMatch,
    pub(crate) excludes: Vec<T>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct AnyTokens {
    pub(crate) excludes: Vec<TokenRef>,
    pub(crate) max_tokens: Option<u32>,
}

impl Format {
    /// Whether the format can [go on without end](Self::is_unlimited) over any text, as nothing is excluded from it.
    pub(crate) fn takes_everything(&self) -> bool {
        match self {
            Format::AnyText(text) => text.excludes.is_empty(),
            Format::TriggeredTags(tags) => tags.excludes.is_empty(),
            Format::Sequence(elements) => elements.last().is_some_and(Format::takes_everything),
            Format::Or(elements) => elements.iter().any(Format::takes_everything),
            Format::Optional(content) => content.takes_everything(),
            _ => self.is_unlimited(),
        }
    }

    /// Whether the format itself never has to end: what follows it ends it. It then takes over the end of the tag
    /// around it.
    pub(crate) fn is_unlimited(&self) -> bool {
        match self {
            Format::AnyText(_)
            | Format::TriggeredTags(_)
            | Format::TokenTriggeredTags(_)
            | Format::AnyTokens(_) => true,
            Format::Sequence(elements) => elements.last().is_some_and(Format::is_unlimited),
            Format::Or(elements) => elements.iter().any(Format::is_unlimited),
            Format::Optional(content) | Format::Plus(content) | Format::Star(content) => {
                content.is_unlimited()
            }
            Format::Repeat(repeat) => repeat.content.is_unlimited(),
            _ => false,
        }
    }
}
