//! Formats as JSON, in the form that is read. Fields with their default are left out.

use grammask_grammar_ir::TokenRef;
use serde_json::{Map, Value, json};

use super::format::{AfterMatch, Begin, End, Format, JsonSchemaFormat, MemberOrder, Minimum, Style, Tag};

/// The format as JSON.
pub(super) fn format(format: &Format) -> Value {
    let members = match format {
        Format::ConstString(value) => json!({"value": value}),
        Format::JsonSchema(schema) => json_schema(schema),
        Format::Grammar(grammar) => json!({"grammar": grammar}),
        Format::Regex(pattern) => json!({"pattern": pattern}),
        Format::AnyText(text) => {
            let mut members = json!({});
            put_list(&mut members, "excludes", &text.excludes);
            put_number(&mut members, "max_tokens", text.max_tokens);
            put_number(&mut members, "max_chars", text.max_chars);
            members
        }
        Format::Sequence(elements) | Format::Or(elements) => json!({"elements": list(elements)}),
        Format::Tag(it) => return tag(it),
        Format::TriggeredTags(it) => {
            let mut members = json!({"triggers": it.triggers, "tags": tags(&it.tags)});
            put_bounds(&mut members, it.minimum, it.after_match);
            put_list(&mut members, "excludes", &it.excludes);
            members
        }
        Format::TokenTriggeredTags(it) => {
            let mut members = json!({"trigger_tokens": tokens(&it.triggers), "tags": tags(&it.tags)});
            put_bounds(&mut members, it.minimum, it.after_match);
            put_tokens(&mut members, &it.excludes);
            members
        }
        Format::TagsWithSeparator(it) => {
            let mut members = json!({"tags": tags(&it.tags), "separator": it.separator});
            put_bounds(&mut members, it.minimum, it.after_match);
            members
        }
        Format::Optional(content) | Format::Plus(content) | Format::Star(content) => {
            json!({"content": self::format(content)})
        }
        Format::Repeat(repeat) => {
            let max = repeat.max.map_or(json!(-1), |max| json!(max));
            json!({"min": repeat.min, "max": max, "content": self::format(&repeat.content)})
        }
        Format::Dispatch(it) => {
            let rules: Vec<Value> =
                it.rules.iter().map(|(begin, content)| json!([begin, self::format(content)])).collect();
            let mut members = json!({"rules": rules});
            put_loop(&mut members, it.after_match);
            put_list(&mut members, "excludes", &it.excludes);
            members
        }
        Format::TokenDispatch(it) => {
            let rule = |(begin, content): &(TokenRef, Format)| json!([token(begin), self::format(content)]);
            let rules: Vec<Value> = it.rules.iter().map(rule).collect();
            let mut members = json!({"rules": rules});
            put_loop(&mut members, it.after_match);
            put_tokens(&mut members, &it.excludes);
            members
        }
        Format::Token(name) => json!({"token": token(name)}),
        Format::ExcludeToken(excluded) => json!({"exclude_tokens": tokens(excluded)}),
        Format::AnyTokens(it) => {
            let mut members = json!({});
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

fn typed(name: &str, members: Value) -> Value {
    let mut object = Map::new();
    object.insert("type".to_owned(), json!(name));
    if let Value::Object(members) = members {
        object.extend(members);
    }
    Value::Object(object)
}

fn tag(tag: &Tag) -> Value {
    let begin = match &tag.begin {
        Begin::Text(text) => json!(text),
        Begin::Token(name) => typed("token", json!({"token": token(name)})),
    };
    let end = match &tag.end {
        End::Texts(texts) if texts.len() == 1 => json!(texts[0]),
        End::Texts(texts) => json!(texts),
        End::Token(name) => typed("token", json!({"token": token(name)})),
    };
    typed("tag", json!({"begin": begin, "content": format(&tag.content), "end": end}))
}

fn json_schema(it: &JsonSchemaFormat) -> Value {
    let mut members = json!({"json_schema": **it.schema.value()});
    if it.style != Style::Json {
        members["style"] = json!(it.style.name());
    }
    if it.key_order == MemberOrder::Any {
        members["any_order"] = json!(true);
    }
    if let Some(spelling) = it.spelling {
        members["spelling"] = json!(spelling.name());
    }
    put_number(&mut members, "max_whitespace_cnt", it.max_whitespace);
    put_list(&mut members, "excludes", &it.excludes);
    members
}

fn list(formats: &[Format]) -> Vec<Value> {
    formats.iter().map(format).collect()
}

fn tags(tags: &[Tag]) -> Vec<Value> {
    tags.iter().map(tag).collect()
}

fn token(token: &TokenRef) -> Value {
    match token {
        TokenRef::Id(id) => json!(id),
        TokenRef::Name(name) => json!(name),
    }
}

fn tokens(all: &[TokenRef]) -> Vec<Value> {
    all.iter().map(token).collect()
}

fn put_bounds(members: &mut Value, minimum: Minimum, after_match: AfterMatch) {
    if minimum == Minimum::One {
        members["at_least_one"] = json!(true);
    }
    if after_match == AfterMatch::Stop {
        members["stop_after_first"] = json!(true);
    }
}

fn put_loop(members: &mut Value, after_match: AfterMatch) {
    if after_match == AfterMatch::Stop {
        members["loop"] = json!(false);
    }
}

fn put_list(members: &mut Value, key: &str, texts: &[Box<str>]) {
    if !texts.is_empty() {
        members[key] = json!(texts);
    }
}

fn put_tokens(members: &mut Value, all: &[TokenRef]) {
    if !all.is_empty() {
        members["exclude_tokens"] = json!(tokens(all));
    }
}

fn put_number(members: &mut Value, key: &str, number: Option<u32>) {
    if let Some(number) = number {
        members[key] = json!(number);
    }
}
