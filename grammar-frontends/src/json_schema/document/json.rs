//! JSON values that borrow from their text.
//!
//! A schema is read once, walked and dropped. A general tree owns each name and each text and hashes the names of
//! every object, which together takes as long as to lower the schema: here what has no escapes is borrowed, the members
//! of an object lie side by side, and only large objects have their names sorted. What is not borrowed stands in an
//! arena, in the order in which it was read, so that dropping a tree is dropping a few blocks of memory, which had taken
//! two thirds of the time of reading it. Texts that are not quite ordinary (broken ones, deep ones, names that repeat)
//! are left to `serde_json`, which knows all the rules and reports the fault.

use bumpalo::Bump;
use serde_json::Value as Owned;

use super::equality;

/// A value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value<'t> {
    Null,
    Bool(bool),
    /// As it is written.
    Number(&'t str),
    String(&'t str),
    Array(&'t [Value<'t>]),
    Object(&'t Members<'t>),
}

impl<'t> Value<'t> {
    pub(crate) fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn as_number(&self) -> Option<&str> {
        match self {
            Self::Number(number) => Some(number),
            _ => None,
        }
    }

    pub(crate) fn as_array(&self) -> Option<&[Value<'t>]> {
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    pub(crate) fn as_object(&self) -> Option<&Members<'t>> {
        match self {
            Self::Object(members) => Some(members),
            _ => None,
        }
    }

    pub(crate) fn is_true(&self) -> bool {
        matches!(self, Self::Bool(true))
    }

    pub(crate) fn is_boolean(&self) -> bool {
        matches!(self, Self::Bool(_))
    }

    pub(crate) fn is_array(&self) -> bool {
        matches!(self, Self::Array(_))
    }

    pub(crate) fn is_object(&self) -> bool {
        matches!(self, Self::Object(_))
    }

    /// Whether it holds other values.
    pub(crate) fn is_container(&self) -> bool {
        matches!(self, Self::Object(_) | Self::Array(_))
    }
}

/// The members of an object, in the order of the text, each name once.
#[derive(Debug)]
pub(crate) struct Members<'t> {
    entries: &'t [Member<'t>],
    /// The places of the members in the order of their names, where there are many.
    sorted: &'t [u32],
    /// The [`mark`]s of all names: most names that are looked for are not there.
    marks: u64,
    /// See [`equality`].
    fingerprint: u32,
}

/// One of 64 bits, by the length of a name and its ends.
fn mark(name: &str) -> u64 {
    let bytes = name.as_bytes();
    let ends = bytes.first().zip(bytes.last()).map_or(0, |(&first, &last)| first ^ last << 1);
    1 << ((name.len() ^ usize::from(ends)) & 63)
}

type Member<'t> = (&'t str, Value<'t>);

/// Members up to which a name is looked for one by one.
const MIN_SORTED: usize = 16;

impl<'t> Members<'t> {
    /// `None` where a name repeats.
    fn new(entries: &'t [Member<'t>], arena: &'t Bump) -> Option<&'t Self> {
        let mut sorted: &[u32] = &[];
        if entries.len() < MIN_SORTED {
            for (at, (name, _)) in entries.iter().enumerate() {
                if entries[..at].iter().any(|(other, _)| other == name) {
                    return None;
                }
            }
        } else {
            // Texts are bounded to far fewer than 2^32 bytes.
            let places = arena.alloc_slice_fill_with(entries.len(), |place| place as u32);
            let name = |place: &u32| entries[*place as usize].0;
            places.sort_unstable_by(|one, other| name(one).cmp(name(other)));
            if places.windows(2).any(|pair| name(&pair[0]) == name(&pair[1])) {
                return None;
            }
            sorted = places;
        }
        let marks = entries.iter().fold(0, |marks, (name, _)| marks | mark(name));
        let fingerprint = equality::fingerprint(entries);
        Some(arena.alloc(Self { entries, sorted, marks, fingerprint }))
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Value<'t>> {
        if self.marks & mark(name) == 0 {
            return None;
        }
        if self.entries.len() < MIN_SORTED {
            return self.entries.iter().find(|(key, _)| *key == name).map(|(_, value)| value);
        }
        let at = |place: &u32| &self.entries[*place as usize];
        let place = self.sorted.binary_search_by(|place| at(place).0.cmp(name)).ok()?;
        Some(&at(&self.sorted[place]).1)
    }

    /// Equal for schemas that assert the same; or [`equality::NO_FINGERPRINT`].
    pub(crate) fn fingerprint(&self) -> u32 {
        self.fingerprint
    }

    pub(crate) fn contains_key(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|(name, _)| *name)
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &Value<'t>> {
        self.entries.iter().map(|(_, value)| value)
    }
}

impl<'m, 't> IntoIterator for &'m Members<'t> {
    type Item = (&'m str, &'m Value<'t>);
    type IntoIter = std::iter::Map<std::slice::Iter<'m, Member<'t>>, fn(&'m Member<'t>) -> Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.iter().map(|(name, value)| (name, value))
    }
}

/// A value as another tree holds it.
pub(crate) fn borrowed<'t>(value: &'t Owned, arena: &'t Bump) -> Value<'t> {
    copy(value, arena, |text| text)
}

/// A value that borrows from the arena alone.
pub(crate) fn owned<'t>(value: &Owned, arena: &'t Bump) -> Value<'t> {
    copy(value, arena, |text| arena.alloc_str(text))
}

/// An array or object whose items are being copied, and where those stand on the stack that are done.
enum OpenContainer<'v> {
    Array(std::slice::Iter<'v, Owned>, usize),
    Object(serde_json::map::Iter<'v>, usize),
}

/// Copies a tree, however deep.
fn copy<'v, 't>(root: &'v Owned, arena: &'t Bump, text: impl Fn(&'v str) -> &'t str) -> Value<'t> {
    let mut open: Vec<OpenContainer<'v>> = Vec::new();
    // Items have no names.
    let mut done: Vec<Member<'t>> = Vec::new();
    let mut next = Some(("", root));
    loop {
        while let Some((name, value)) = next.take() {
            let name = text(name);
            let leaf = match value {
                Owned::Null => Value::Null,
                Owned::Bool(value) => Value::Bool(*value),
                Owned::Number(number) => Value::Number(text(number.as_str())),
                Owned::String(value) => Value::String(text(value)),
                Owned::Array(items) => {
                    done.push((name, Value::Null));
                    open.push(OpenContainer::Array(items.iter(), done.len()));
                    break;
                }
                Owned::Object(members) => {
                    done.push((name, Value::Null));
                    open.push(OpenContainer::Object(members.iter(), done.len()));
                    break;
                }
            };
            done.push((name, leaf));
        }
        let Some(last) = open.last_mut() else { break };
        next = match last {
            OpenContainer::Array(items, _) => items.next().map(|item| ("", item)),
            OpenContainer::Object(members, _) => members.next().map(|(name, value)| (name.as_str(), value)),
        };
        if next.is_some() {
            continue;
        }
        let value = match open.pop() {
            Some(OpenContainer::Array(_, start)) => {
                Value::Array(arena.alloc_slice_fill_iter(done.drain(start..).map(|(_, item)| item)))
            }
            Some(OpenContainer::Object(_, start)) => {
                let entries = arena.alloc_slice_fill_iter(done.drain(start..));
                // The names of a map do not repeat.
                Members::new(entries, arena).map_or(Value::Null, Value::Object)
            }
            None => break,
        };
        if let Some(place) = done.last_mut() {
            place.1 = value;
        }
    }
    done.pop().map_or(Value::Null, |(_, value)| value)
}

/// Reads a JSON text.
pub(crate) fn parse<'t>(text: &'t str, arena: &'t Bump) -> Result<Value<'t>, serde_json::Error> {
    let mut parser = JsonParser { text, arena, at: 0, items: Vec::new(), members: Vec::new() };
    let value = parser.value(0);
    parser.skip_space();
    match value {
        Some(value) if parser.at == text.len() => Ok(value),
        _ => serde_json::from_str::<Owned>(text).map(|value| owned(&value, arena)),
    }
}

/// Nesting from which on `serde_json` reads the text.
const MAX_DEPTH: u32 = 100;

struct JsonParser<'t> {
    text: &'t str,
    arena: &'t Bump,
    at: usize,
    /// Items and members of the arrays and objects that are being read.
    items: Vec<Value<'t>>,
    members: Vec<Member<'t>>,
}

/// Every method but `skip_space` answers `None` where the text is not ordinary.
impl<'t> JsonParser<'t> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    fn value(&mut self, depth: u32) -> Option<Value<'t>> {
        self.skip_space();
        match self.peek()? {
            b'"' => self.string().map(Value::String),
            b'{' if depth < MAX_DEPTH => self.object(depth + 1),
            b'[' if depth < MAX_DEPTH => self.array(depth + 1),
            b'n' => self.word("null", Value::Null),
            b't' => self.word("true", Value::Bool(true)),
            b'f' => self.word("false", Value::Bool(false)),
            b'-' | b'0'..=b'9' => self.number(),
            _ => None,
        }
    }

    fn word(&mut self, word: &str, value: Value<'t>) -> Option<Value<'t>> {
        let is_word = self.text.as_bytes()[self.at..].starts_with(word.as_bytes());
        self.at += word.len();
        is_word.then_some(value)
    }

    fn array(&mut self, depth: u32) -> Option<Value<'t>> {
        let start = self.items.len();
        self.at += 1;
        self.skip_space();
        if self.peek()? == b']' {
            self.at += 1;
            return Some(Value::Array(&[]));
        }
        loop {
            let item = self.value(depth)?;
            self.items.push(item);
            self.skip_space();
            match self.peek()? {
                b',' => self.at += 1,
                b']' => break,
                _ => return None,
            }
        }
        self.at += 1;
        Some(Value::Array(self.arena.alloc_slice_fill_iter(self.items.drain(start..))))
    }

    fn object(&mut self, depth: u32) -> Option<Value<'t>> {
        let start = self.members.len();
        self.at += 1;
        self.skip_space();
        if self.peek()? == b'}' {
            self.at += 1;
        } else {
            loop {
                self.skip_space();
                let name = self.string()?;
                self.skip_space();
                self.take(b':')?;
                let value = self.value(depth)?;
                self.members.push((name, value));
                self.skip_space();
                match self.peek()? {
                    b',' => self.at += 1,
                    b'}' => break,
                    _ => return None,
                }
            }
            self.at += 1;
        }
        let entries = self.arena.alloc_slice_fill_iter(self.members.drain(start..));
        Members::new(entries, self.arena).map(Value::Object)
    }

    fn string(&mut self) -> Option<&'t str> {
        self.take(b'"')?;
        let start = self.at;
        self.skip_plain();
        if self.peek()? == b'"' {
            self.at += 1;
            return Some(&self.text[start..self.at - 1]);
        }
        let mut text = self.text[start..self.at].to_owned();
        loop {
            let plain = self.at;
            self.skip_plain();
            text.push_str(&self.text[plain..self.at]);
            match self.peek()? {
                b'"' => break,
                b'\\' => text.push(self.escape()?),
                _ => return None,
            }
        }
        self.at += 1;
        Some(self.arena.alloc_str(&text))
    }

    /// Skips unescaped characters of a string, eight bytes at a time.
    fn skip_plain(&mut self) {
        const ONES: u64 = u64::from_le_bytes([1; 8]);
        let bytes = self.text.as_bytes();
        while let Some(&chunk) = bytes[self.at..].first_chunk::<8>() {
            let word = u64::from_le_bytes(chunk);
            let zeros = |word: u64| word.wrapping_sub(ONES) & !word;
            let quotes = zeros(word ^ (ONES * u64::from(b'"')));
            let backslashes = zeros(word ^ (ONES * u64::from(b'\\')));
            // Bytes below 0x20. As with the others, the lowest bit that is found is right.
            let controls = word.wrapping_sub(ONES * 0x20) & !word;
            let found = (quotes | backslashes | controls) & (ONES << 7);
            if found != 0 {
                self.at += found.trailing_zeros() as usize / 8;
                return;
            }
            self.at += 8;
        }
        while let Some(byte) = self.peek() {
            if byte == b'"' || byte == b'\\' || byte < 0x20 {
                return;
            }
            self.at += 1;
        }
    }

    /// The character that an escape stands for.
    fn escape(&mut self) -> Option<char> {
        self.take(b'\\')?;
        let letter = self.peek()?;
        self.at += 1;
        Some(match letter {
            b'"' | b'\\' | b'/' => char::from(letter),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let unit = self.unit()?;
                match char::from_u32(unit) {
                    Some(character) => character,
                    None => {
                        self.take(b'\\')?;
                        self.take(b'u')?;
                        let pair = [unit as u16, self.unit()? as u16];
                        char::decode_utf16(pair).next()?.ok()?
                    }
                }
            }
            _ => return None,
        })
    }

    /// Four hexadecimal digits.
    fn unit(&mut self) -> Option<u32> {
        let digits = self.text.as_bytes().get(self.at..self.at + 4)?;
        self.at += 4;
        digits.iter().try_fold(0, |unit, &digit| Some(unit << 4 | char::from(digit).to_digit(16)?))
    }

    fn number(&mut self) -> Option<Value<'t>> {
        let start = self.at;
        if self.peek()? == b'-' {
            self.at += 1;
        }
        match self.peek()? {
            b'0' => self.at += 1,
            _ => self.digits()?,
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits()?;
        }
        Some(Value::Number(&self.text[start..self.at]))
    }

    /// One digit or more.
    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        (self.at > start).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The value as the other tree.
    fn back(value: &Value<'_>) -> Owned {
        match value {
            Value::Null => Owned::Null,
            Value::Bool(value) => Owned::Bool(*value),
            Value::Number(number) => serde_json::from_str(number).expect("a number as it was written"),
            Value::String(text) => Owned::String(text.to_string()),
            Value::Array(items) => items.iter().map(back).collect(),
            Value::Object(members) => {
                assert!(members.keys().all(|name| members.contains_key(name)));
                assert!(!members.contains_key("no such name"));
                members.into_iter().map(|(name, value)| (name.to_owned(), back(value))).collect()
            }
        }
    }

    fn check(text: &str) {
        let arena = Bump::new();
        match (parse(text, &arena), serde_json::from_str::<Owned>(text)) {
            (Ok(ours), Ok(theirs)) => {
                assert_eq!(back(&ours), theirs, "{text}");
                assert_eq!(back(&borrowed(&theirs, &arena)), theirs, "{text}");
                let names =
                    |value: &Owned| value.as_object().map(|map| map.keys().cloned().collect::<Vec<_>>());
                assert_eq!(names(&back(&ours)), names(&theirs), "{text}");
            }
            (Err(ours), Err(theirs)) => assert_eq!(ours.to_string(), theirs.to_string(), "{text}"),
            (ours, theirs) => panic!("{text}: {ours:?} and {theirs:?}"),
        }
    }

    #[test]
    fn texts_are_what_they_are_elsewhere() {
        for text in [
            r#" {"a" : [1, -0.5e+3, 0, "x\n\u00e9\ud83d\ude00\/", null, true, false, {}, []], "b": {"c": "d"}} "#,
            r#""plain text that is longer than eight bytes, \"quoted\" and déjà vu""#,
            r#"{"a": 1, "b": 2, "a": 3}"#,
            r#"{"a": 1"#,
            r#"{"a" 1}"#,
            r#"{"a": 01}"#,
            r#"[1, 2,]"#,
            r#"{"a": 1,}"#,
            r#"{,}"#,
            r#"[1 2]"#,
            r#"["\ud800"]"#,
            r#"["\ud800\u0041"]"#,
            r#"["\x"]"#,
            "[\"a\nb\"]",
            "[\"\u{7f}\u{80}\u{2028}\"]",
            "nul",
            "truer",
            "-",
            "1.",
            "1e",
            ".5",
            "",
            "1 1",
            r#""open"#,
            "\u{feff}1",
        ] {
            check(text);
        }
    }

    #[test]
    fn large_objects_and_deep_texts_are_read() {
        let members: Vec<String> = (0..100).map(|at| format!("\"n{}\": {at}", at * 37 % 100)).collect();
        check(&format!("{{{}}}", members.join(",")));
        check(&format!("{{{}, \"n5\": 1}}", members.join(",")));
        for depth in [99, 100, 101, 126, 127, 128, 1000] {
            check(&format!("{}1{}", "[".repeat(depth), "]".repeat(depth)));
        }
    }

    #[test]
    fn every_beginning_of_a_text_is_judged_alike() {
        let text = r#"{"a": [1.5e-7, "b\\\u0041\ud83d\ude00 cdefghijk", {"x": null}], "d": tru"#;
        for end in 0..=text.len() {
            check(&text[..end]);
        }
        for end in 0..text.len() {
            check(&format!("{}{}", &text[..end], &text[end + 1..]));
        }
    }
}
