//! `grammask vocab`

use std::io::Write;
use std::process::ExitCode;

use crate::engine::{TokenId, TokenKind};
use crate::output;
use anyhow::{Result, bail};
use serde_json::{Value, json};

use crate::arguments::{Global, VocabularyArguments};
use crate::engine::Vocabulary;
use crate::escape::{byte_set, quoted, shortened};
use crate::style;
use crate::table::{self, Column};

#[derive(clap::Args)]
pub(crate) struct VocabArguments {
    #[command(flatten)]
    vocabulary: VocabularyArguments,
    /// Shows these ids only, for example `--ids 0,7,100-120`
    #[arg(long, value_name = "IDS", value_delimiter = ',', value_parser = parse_range)]
    ids: Vec<(u32, u32)>,
    /// Shows the tokens that hold this text
    #[arg(long, value_name = "TEXT", conflicts_with = "ids", allow_hyphen_values = true)]
    find: Option<String>,
    /// Shows at most this many tokens in a list [default: 20, and all that `--ids` names]
    #[arg(long, value_name = "COUNT")]
    limit: Option<usize>,
}

fn parse_range(text: &str) -> Result<(u32, u32), String> {
    let (start, end) = text.split_once('-').unwrap_or((text, text));
    match (start.trim().parse(), end.trim().parse()) {
        (Ok(start), Ok(end)) if start <= end => Ok((start, end)),
        _ => Err("write an id or a range of ids such as `100-120`".to_owned()),
    }
}

pub(crate) fn run(global: &Global, arguments: &VocabArguments) -> Result<ExitCode> {
    let vocabulary = Vocabulary::load(&arguments.vocabulary)?;
    if !arguments.ids.is_empty() {
        let mut ids = numbered(&vocabulary, &arguments.ids)?;
        ids.truncate(arguments.limit.unwrap_or(usize::MAX));
        return list(global, &vocabulary, &ids);
    }
    let limit = arguments.limit.unwrap_or(20);
    if let Some(text) = &arguments.find {
        let holds = |id: &TokenId| contains(vocabulary.bytes(*id), text.as_bytes());
        let ids: Vec<TokenId> = vocabulary.ids().filter(holds).take(limit).collect();
        return list(global, &vocabulary, &ids);
    }
    summary(global, &vocabulary, limit)
}

/// The ids with these numbers.
fn numbered(vocabulary: &Vocabulary, ranges: &[(u32, u32)]) -> Result<Vec<TokenId>> {
    let mut ids = Vec::new();
    for number in ranges.iter().flat_map(|&(start, end)| start..=end) {
        match vocabulary.id(number) {
            Some(id) => ids.push(id),
            None => {
                let last = vocabulary.len().saturating_sub(1);
                bail!("there is no id {number}; the vocabulary has the ids 0 to {last}");
            }
        }
    }
    Ok(ids)
}

fn contains(bytes: &[u8], text: &[u8]) -> bool {
    text.is_empty() || bytes.windows(text.len()).any(|window| window == text)
}

/// Id, token and kind, as cells of a table.
pub(crate) fn row(vocabulary: &Vocabulary, id: TokenId) -> Vec<String> {
    let token = shortened(&quoted(vocabulary.label(id)), 60);
    vec![id.get().to_string(), token, kind_name(vocabulary.kind(id)).to_owned()]
}

fn kind_name(kind: TokenKind) -> &'static str {
    match kind {
        TokenKind::Text => "text",
        TokenKind::Special => "special",
        TokenKind::Stop => "stop",
        TokenKind::Empty => "empty",
    }
}

fn list(global: &Global, vocabulary: &Vocabulary, ids: &[TokenId]) -> Result<ExitCode> {
    if global.json {
        let tokens: Vec<Value> = ids.iter().map(|&id| describe(vocabulary, id)).collect();
        output::line(Value::Array(tokens))?;
        return Ok(ExitCode::SUCCESS);
    }
    let columns =
        [Column::right("id"), Column::left("token", style::TEXT), Column::left("kind", style::FAINT)];
    let rows: Vec<Vec<String>> = ids.iter().map(|&id| row(vocabulary, id)).collect();
    table::write(&mut anstream::stdout().lock(), &columns, &rows)?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn describe(vocabulary: &Vocabulary, id: TokenId) -> Value {
    let label = vocabulary.label(id);
    json!({
        "id": id.get(),
        "token": String::from_utf8_lossy(label),
        "bytes": label,
        "kind": kind_name(vocabulary.kind(id)),
    })
}

fn summary(global: &Global, vocabulary: &Vocabulary, limit: usize) -> Result<ExitCode> {
    let count = |kind| vocabulary.ids().filter(|&id| vocabulary.kind(id) == kind).count();
    let (text, empty) = (count(TokenKind::Text), count(TokenKind::Empty));
    let stops = vocabulary.stop_tokens();
    let special = count(TokenKind::Special) + stops.len();
    let mut missing_bytes = [0_u64; 4];
    for &byte in vocabulary.missing_bytes() {
        missing_bytes[usize::from(byte / 64)] |= 1 << (byte % 64);
    }
    let missing = byte_set(missing_bytes);
    let mut longest: Vec<TokenId> = vocabulary.ids().collect();
    longest.sort_by_key(|&id| std::cmp::Reverse(vocabulary.bytes(id).len()));
    longest.truncate(limit.min(text));
    if global.json {
        let tokens = |ids: &[TokenId]| ids.iter().map(|&id| describe(vocabulary, id)).collect::<Vec<_>>();
        let value = json!({
            "name": vocabulary.name(),
            "size": vocabulary.len(),
            "text": text,
            "special": special,
            "empty": empty,
            "stop": tokens(stops),
            "missing_bytes": missing,
            "longest": tokens(&longest),
        });
        output::line(value)?;
        return Ok(ExitCode::SUCCESS);
    }
    let head = style::HEAD;
    let mut out = anstream::stdout().lock();
    let mut field = |name: &str, value: String| writeln!(out, "{head}{name:<15}{head:#}{value}");
    field("vocabulary", vocabulary.name().to_owned())?;
    field("size", format!("{} ids", vocabulary.len()))?;
    field("text", text.to_string())?;
    field("special", special.to_string())?;
    field("empty", empty.to_string())?;
    let stop_names: Vec<String> =
        stops.iter().map(|&id| format!("{} {}", id.get(), quoted(vocabulary.label(id)))).collect();
    field("stop", if stops.is_empty() { "none".to_owned() } else { stop_names.join(", ") })?;
    let missing = if missing.is_empty() { "none".to_owned() } else { missing.join(", ") };
    field("missing bytes", missing)?;
    writeln!(out, "\n{head}longest tokens{head:#}")?;
    let columns = [Column::right("id"), Column::right("bytes"), Column::left("token", style::TEXT)];
    let rows: Vec<Vec<String>> = longest
        .iter()
        .map(|&id| {
            let bytes = vocabulary.bytes(id);
            vec![id.get().to_string(), bytes.len().to_string(), shortened(&quoted(bytes), 60)]
        })
        .collect();
    table::write(&mut out, &columns, &rows)?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_numbers_or_ranges() {
        assert_eq!(parse_range("7"), Ok((7, 7)));
        assert_eq!(parse_range("7-9"), Ok((7, 9)));
        assert!(parse_range("9-7").is_err());
        assert!(parse_range("x").is_err());
    }
}
