//! The text on an edge.

use crate::program::tables::{Count, Fragment, TokenLabel, TokenSide};

/// Byte ranges as a set: `a`, `[a-z_]`, `[\x80-\xBF]`.
pub(super) fn bytes(ranges: &[(u8, u8)]) -> String {
    if let [(start, end)] = *ranges
        && start == end
    {
        return byte(start);
    }
    let mut text = String::from("[");
    for &(start, end) in ranges {
        text.push_str(&inside(start));
        if end > start {
            if end > start + 1 {
                text.push('-');
            }
            text.push_str(&inside(end));
        }
    }
    text.push(']');
    text
}

/// A set of tokens: `token 5, 7`, or `no token 5`.
pub(super) fn token(label: &TokenLabel) -> String {
    let ids: Vec<String> = label.ids.iter().map(u32::to_string).collect();
    match label.side {
        TokenSide::Inside => format!("token {}", ids.join(", ")),
        TokenSide::Outside if ids.is_empty() => "any token".to_owned(),
        TokenSide::Outside => format!("any token but {}", ids.join(", ")),
    }
}

/// A call: the fragment's name, and how often its body is read.
pub(super) fn call(fragment: &Fragment) -> String {
    let bounds = match fragment.count {
        None => String::new(),
        Some(Count { min, max: Some(max) }) => format!("{{{min},{max}}}"),
        Some(Count { min, max: None }) => format!("{{{min},}}"),
    };
    format!("<{}>{bounds}", fragment.name)
}

fn byte(value: u8) -> String {
    match value {
        b'!'..=b'~' => char::from(value).to_string(),
        b'\n' => "\\n".to_owned(),
        b'\r' => "\\r".to_owned(),
        b'\t' => "\\t".to_owned(),
        _ => format!("\\x{value:02X}"),
    }
}

/// A byte inside brackets, where a few characters have a meaning.
fn inside(value: u8) -> String {
    if matches!(value, b'[' | b']' | b'\\' | b'-' | b'^') {
        return format!("\\{}", char::from(value));
    }
    byte(value)
}
