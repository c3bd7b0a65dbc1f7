//! Formats as JSON, in the form that is read. Fields with their default are left out.

use grammask_grammar_ir::TokenRef;

use super::format::{AfterMatch, Begin, End, Format, JsonSchemaFormat, MemberOrder, Minimum, Style, Tag};
use crate::json::{JsonObject, JsonValue};

/// The format as JSON.
pub(super) fn format(format: &Format) -> JsonValue {
    let members = match format {
        Format::ConstString(value) => JsonValue::object([("value", text(value))]),
        Format::JsonSchema(schema) => json_schema(schema),
        Format::Grammar(grammar) => JsonValue::object([("grammar", text(grammar))]),
        Format::Regex(pattern) => JsonValue::object([("pattern", text(pattern))]),
        Format::AnyText(text) => {
            let mut members = JsonValue::object([]);
            put_list(&mut members, "excludes", &text.excludes);
            put_number(&mut members, "max_tokens", text.max_tokens);
            put_number(&mut members, "max_chars", text.max_chars);
            members
        }
        Format::Sequence(elements) | Format::Or(elements) => {
            JsonValue::object([("elements", list(elements).into())])
        }
        Format::Tag(it) => return tag(it),
        Format::TriggeredTags(it) => {
            let mut members =
                JsonValue::object([("triggers", texts(&it.triggers)), ("tags", tags(&it.tags).into())]);
            put_bounds(&mut members, it.minimum, it.after_match);
            put_list(&mut members, "excludes", &it.excludes);
            members
        }
        Format::TokenTriggeredTags(it) => {
            let mut members = JsonValue::object([
                ("trigger_tokens", tokens(&it.triggers).into()),
                ("tags", tags(&it.tags).into()),
            ]);
            put_bounds(&mut members, it.minimum, it.after_match);
            put_tokens(&mut members, &it.excludes);
            members
        }
        Format::TagsWithSeparator(it) => {
            let mut members =
                JsonValue::object([("tags", tags(&it.tags).into()), ("separator", text(&it.separator))]);
            put_bounds(&mut members, it.minimum, it.after_match);
            members
        }
        Format::Optional(content) | Format::Plus(content) | Format::Star(content) => {
            JsonValue::object([("content", self::format(content))])
        }
        Format::Repeat(repeat) => {
            let max = repeat.max.map_or(JsonValue::from(-1), JsonValue::from);
            JsonValue::object([
                ("min", repeat.min.into()),
                ("max", max),
                ("content", self::format(&repeat.content)),
            ])
        }
        Format::Dispatch(it) => {
            let rule = |(begin, content): &(Box<str>, Format)| vec![text(begin), self::format(content)];
            let rules = it.rules.iter().map(rule).collect();
            let mut members = JsonValue::object([("rules", rules)]);
            put_loop(&mut members, it.after_match);
            put_list(&mut members, "excludes", &it.excludes);
            members
        }
        Format::TokenDispatch(it) => {
            let rule = |(begin, content): &(TokenRef, Format)| vec![token(begin), self::format(content)];
            let rules = it.rules.iter().map(rule).collect();
            let mut members = JsonValue::object([("rules", rules)]);
            put_loop(&mut members, it.after_match);
            put_tokens(&mut members, &it.excludes);
            members
        }
        Format::Token(name) => JsonValue::object([("token", token(name))]),
        Format::ExcludeToken(excluded) => JsonValue::object([("exclude_tokens", tokens(excluded).into())]),
        Format::AnyTokens(it) => {
            let mut members = JsonValue::object([]);
            put_tokens(&mut members, &it.excludes);
            put_number(&mut members, "max_tokens", it.max_tokens);
            members
        }
    };
    typed(type_name(format), members)
}

/// The value of `type`.
pub(super) fn type_name(format: &Format) -> &'static str {
    match format {
        Format::ConstString(_) => "const_string",
        Format::JsonSchema(_) => "json_schema",
        Format::Grammar(_) => "grammar",
        Format::Regex(_) => "regex",
        Format::AnyText(_) => "any_text",
        Format::Sequence(_) => "sequence",
        Format::Or(_) => "or",
        Format::Tag(_) => "tag",
        Format::TriggeredTags(_) => "triggered_tags",
        Format::TokenTriggeredTags(_) => "token_triggered_tags",
        Format::TagsWithSeparator(_) => "tags_with_separator",
        Format::Optional(_) => "optional",
        Format::Plus(_) => "plus",
        Format::Star(_) => "star",
        Format::Repeat(_) => "repeat",
        Format::Dispatch(_) => "dispatch",
        Format::TokenDispatch(_) => "token_dispatch",
        Format::Token(_) => "token",
        Format::ExcludeToken(_) => "exclude_token",
        Format::AnyTokens(_) => "any_tokens",
    }
}

fn typed(name: &str, members: JsonValue) -> JsonValue {
    let mut object = JsonObject::new();
    object.insert("type".to_owned(), name.into());
    if let JsonValue::Object(members) = members {
        object.extend(members);
    }
    JsonValue::Object(object)
}

fn tag(tag: &Tag) -> JsonValue {
    let begin = match &tag.begin {
        Begin::Text(begin) => text(begin),
        Begin::Token(name) => typed("token", JsonValue::object([("token", token(name))])),
    };
    let end = match &tag.end {
        End::Texts(all) if all.len() == 1 => text(&all[0]),
        End::Texts(all) => texts(all),
        End::Token(name) => typed("token", JsonValue::object([("token", token(name))])),
    };
    typed("tag", JsonValue::object([("begin", begin), ("content", format(&tag.content)), ("end", end)]))
}

fn json_schema(it: &JsonSchemaFormat) -> JsonValue {
    let mut members = JsonValue::object([("json_schema", JsonValue::clone(it.schema.value()))]);
    if it.style != Style::Json {
        members.insert("style", it.style.name());
    }
    if it.key_order == MemberOrder::Any {
        members.insert("any_order", true);
    }
    if let Some(spelling) = it.spelling {
        members.insert("spelling", spelling.name());
    }
    put_number(&mut members, "max_whitespace_cnt", it.max_whitespace);
    put_list(&mut members, "excludes", &it.excludes);
    members
}

fn list(formats: &[Format]) -> Vec<JsonValue> {
    formats.iter().map(format).collect()
}

fn tags(tags: &[Tag]) -> Vec<JsonValue> {
    tags.iter().map(tag).collect()
}

fn token(token: &TokenRef) -> JsonValue {
    match token {
        TokenRef::Id(id) => (*id).into(),
        TokenRef::Name(name) | TokenRef::Special(name) => text(name),
    }
}

fn tokens(all: &[TokenRef]) -> Vec<JsonValue> {
    all.iter().map(token).collect()
}

fn put_bounds(members: &mut JsonValue, minimum: Minimum, after_match: AfterMatch) {
    if minimum == Minimum::One {
        members.insert("at_least_one", true);
    }
    if after_match == AfterMatch::Stop {
        members.insert("stop_after_first", true);
    }
}

fn put_loop(members: &mut JsonValue, after_match: AfterMatch) {
    if after_match == AfterMatch::Stop {
        members.insert("loop", false);
    }
}

fn text(text: &str) -> JsonValue {
    text.into()
}

fn texts(all: &[Box<str>]) -> JsonValue {
    all.iter().map(|text| &**text).collect()
}

fn put_list(members: &mut JsonValue, key: &str, all: &[Box<str>]) {
    if !all.is_empty() {
        members.insert(key, texts(all));
    }
}

fn put_tokens(members: &mut JsonValue, all: &[TokenRef]) {
    if !all.is_empty() {
        members.insert("exclude_tokens", tokens(all));
    }
}

fn put_number(members: &mut JsonValue, key: &str, number: Option<u32>) {
    if let Some(number) = number {
        members.insert(key, number);
    }
}
