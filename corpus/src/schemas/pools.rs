//! Patterns and formats with texts that obey them, so that valid instances can be made without an engine.

use serde_json::{Map, Value};

/// The members of an object.
pub(super) type Members = Map<String, Value>;

/// ECMA-262 patterns with texts in which they find something.
pub(super) const PATTERNS: &[(&str, &[&str])] = &[
    ("^a+$", &["a", "aaa"]),
    ("b", &["b", "abc", "ab"]),
    ("^[a-c]{2,4}$", &["ab", "abca", "bb"]),
    ("^\\d{1,3}$", &["1", "007"]),
    ("^(ab|cd)*$", &["", "ab", "abcd"]),
    ("é", &["é", "aé"]),
    ("^x_", &["x_", "x_1"]),
    ("^\\p{L}+$", &["aé", "b"]),
    ("[^0-9]$", &["a", "1b", "é"]),
    ("^.{2}$", &["ab", "é1", "𝄞."]),
];

/// Formats with texts that both the standard and the judge take.
pub(super) const FORMATS: &[(&str, &[&str])] = &[
    ("date", &["2024-02-29", "1999-12-31"]),
    ("time", &["12:30:00Z", "23:59:59.5+01:00"]),
    ("date-time", &["2024-02-29T12:30:00Z"]),
    ("duration", &["P1D", "PT2H3M", "P2W"]),
    ("ipv4", &["1.2.3.4", "255.0.0.1"]),
    ("ipv6", &["::1", "fe80::1:2"]),
    ("uuid", &["123e4567-e89b-12d3-a456-426614174000"]),
    ("json-pointer", &["", "/a/b", "/~01"]),
    ("email", &["a@b.c", "x.y@example.com"]),
    ("hostname", &["a", "example.com"]),
    ("uri", &["a:b", "https://example.com/x?y#z"]),
    ("uri-reference", &["", "b", "a/b?c#d"]),
    ("iri", &["a:é", "https://example.com/é"]),
    ("iri-reference", &["é", "//a/b"]),
    ("uri-template", &["a", "x/{b}", "{+ab,cd*}"]),
    ("relative-json-pointer", &["0", "1#", "2/a"]),
    ("regex", &["a", "^[a-c]+$"]),
    ("color", &["red", ""]),
];

/// Steps of numbers.
pub(super) const STEPS: &[&str] = &["1", "2", "3", "5", "7", "8", "10", "25", "0.5", "0.1", "0.01", "2.5"];

/// Bounds of numbers.
pub(super) const BOUNDS: &[&str] = &["-10", "-3", "-1", "0", "0.5", "1", "2", "2.5", "5", "9", "99", "1000"];
