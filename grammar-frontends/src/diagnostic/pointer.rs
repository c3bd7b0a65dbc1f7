//! Finding the text of the value at a JSON pointer.
//!
//! A JSON parser into a tree forgets where values stood, so this scans the text. It is only used to show a
//! place to a person: on text that is not JSON it finds nothing, and it checks no more than it must.

use grammask_grammar_ir::Span;

/// The bytes of the value at `pointer` in the JSON text `source`. The last of equal keys counts, as in
/// `serde_json`.
pub(super) fn locate(source: &str, pointer: &str) -> Option<Span> {
    let mut scanner = JsonScanner { source, position: 0 };
    scanner.whitespace();
    if !pointer.is_empty() {
        for segment in pointer.strip_prefix('/')?.split('/') {
            scanner.descend(&segment.replace("~1", "/").replace("~0", "~"))?;
        }
    }
    let start = scanner.position;
    scanner.value()?;
    Some(Span::new(start, scanner.position))
}

struct JsonScanner<'s> {
    source: &'s str,
    position: usize,
}

impl<'s> JsonScanner<'s> {
    fn peek(&self) -> Option<u8> {
        self.source.as_bytes().get(self.position).copied()
    }

    fn eat(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.position += 1)
    }

    fn whitespace(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.position += 1;
        }
    }

    /// Moves from the start of an object or array to the start of one of its members.
    fn descend(&mut self, segment: &str) -> Option<()> {
        match self.peek()? {
            b'{' => self.descend_object(segment),
            b'[' => self.descend_array(segment.parse().ok()?),
            _ => None,
        }
    }

    fn descend_object(&mut self, wanted: &str) -> Option<()> {
        self.eat(b'{')?;
        let mut found = None;
        loop {
            self.whitespace();
            if self.peek()? == b'}' {
                break;
            }
            let key = self.string()?;
            self.whitespace();
            self.eat(b':')?;
            self.whitespace();
            if serde_json::from_str::<String>(key).is_ok_and(|key| key == wanted) {
                found = Some(self.position);
            }
            self.value()?;
            self.whitespace();
            if self.eat(b',').is_none() {
                break;
            }
        }
        self.position = found?;
        Some(())
    }

    fn descend_array(&mut self, index: usize) -> Option<()> {
        self.eat(b'[')?;
        self.whitespace();
        for _ in 0..index {
            self.value()?;
            self.whitespace();
            self.eat(b',')?;
            self.whitespace();
        }
        (self.peek()? != b']').then_some(())
    }

    /// Skips one string and returns it with its quotes.
    fn string(&mut self) -> Option<&'s str> {
        let start = self.position;
        self.eat(b'"')?;
        loop {
            match self.peek()? {
                b'"' => break,
                b'\\' => self.position += 2,
                _ => self.position += 1,
            }
        }
        self.position += 1;
        self.source.get(start..self.position)
    }

    /// Skips one value. Brackets are counted, not parsed, so that depth costs nothing.
    fn value(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            match self.peek()? {
                b'"' => {
                    self.string()?;
                }
                b'{' | b'[' => {
                    depth += 1;
                    self.position += 1;
                }
                b'}' | b']' => {
                    depth = depth.checked_sub(1)?;
                    self.position += 1;
                }
                b',' | b':' if depth > 0 => self.position += 1,
                byte if byte.is_ascii_whitespace() => self.position += 1,
                byte if byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.') => self.scalar(),
                _ => return None,
            }
            if depth == 0 {
                return Some(());
            }
        }
    }

    fn scalar(&mut self) {
        while self
            .peek()
            .is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
        {
            self.position += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at<'s>(source: &'s str, pointer: &str) -> Option<&'s str> {
        locate(source, pointer).map(|span| &source[span.range()])
    }

    #[test]
    fn finds_values() {
        let source = r#" {"a": [1, {"b/c": true}], "~": "x\"y", "\u0065": null, "a2": {}, "a2": [ [] ]} "#;
        assert_eq!(at(source, ""), Some(source.trim()));
        assert_eq!(at(source, "/a"), Some(r#"[1, {"b/c": true}]"#));
        assert_eq!(at(source, "/a/0"), Some("1"));
        assert_eq!(at(source, "/a/1/b~1c"), Some("true"));
        assert_eq!(at(source, "/~0"), Some(r#""x\"y""#));
        assert_eq!(at(source, "/e"), Some("null"));
        assert_eq!(at(source, "/a2/0"), Some("[]"), "the last of equal keys");
        for missing in ["/b", "/a/2", "/a/x", "/~0/0", "a", "/a/1/b~1c/d"] {
            assert_eq!(at(source, missing), None, "{missing}");
        }
    }

    #[test]
    fn broken_text_is_not_found() {
        for source in ["", "{", "[", "{\"a\"", "{\"a\":", "\"", "\"\\", "}", "[1,", "\u{e9}"] {
            for pointer in ["", "/a", "/1"] {
                assert_eq!(at(source, pointer), None, "{source}");
            }
        }
        let deep = "[".repeat(1_000_000);
        assert_eq!(at(&deep, "/0/0"), None);
    }
}
