//! Turns of models as the vendors' templates write them: each is read to its end, and spoilt ones die where they are spoilt.
//! Masks are compared with the naive recogniser on the way, with marks as special tokens and as text.

use std::collections::{BTreeSet, HashMap, HashSet};

use grammask_corpus::{Case, Expectation, Rejected, tool_turns};
use grammask_grammar_frontends::structural_tag::StructuralTagOptions;
use grammask_grammar_frontends::tool_formats::ToolFormat;
use grammask_grammar_ir::passes::resolve_tokens;
use grammask_mask_cache::{TokenId, TokenMask, Vocabulary, VocabularyOptions};
use grammask_matcher::{CompiledGrammar, Compiler};
use grammask_oracle::{Derivations, Recogniser};

/// Tokens of several bytes, beside all bytes.
const PIECES: &[&str] = &[
    "weather",
    "wea",
    "Paris",
    "Par",
    "\": ",
    "\", \"",
    "{\"",
    "\"}",
    "}}",
    "city",
    "days",
    " 3",
    "3}",
    "}\n",
    ">{",
    "name",
    "\"name\": \"",
    "arguments",
    "=weather>",
    "</",
    "celsius",
    "\n",
    "Hm.",
    "<",
    ">",
    "]",
    "[{\"",
    "now",
    "<tool",
    "_call>",
    "<|",
    "|>",
    "functions.",
    "to=",
    " json",
    "lat",
    "\u{6771}\u{4eac}",
    "_call",
    "\n\n",
    ", ",
];

/// Whether marks are special tokens.
#[derive(Clone, Copy, PartialEq)]
enum Marks {
    Special,
    Text,
}

/// A vocabulary of bytes, pieces and marks.
struct Words {
    compiler: Compiler,
    bytes: Vec<Vec<u8>>,
    first_special: usize,
}

impl Words {
    fn new(marks: &BTreeSet<&str>) -> Self {
        let mut bytes: Vec<Vec<u8>> = (0..=255).map(|byte: u8| vec![byte]).collect();
        bytes.extend(PIECES.iter().filter(|piece| piece.len() > 1).map(|piece| piece.as_bytes().to_vec()));
        let first_special = bytes.len();
        bytes.extend(marks.iter().map(|mark| mark.as_bytes().to_vec()));
        bytes.push(b"<stop>".to_vec());
        let count = u32::try_from(bytes.len()).unwrap();
        let special = u32::try_from(first_special).unwrap()..count;
        let options = VocabularyOptions::default().special_ids(special).stop_ids([count - 1]);
        let vocabulary = Vocabulary::from_tokens(bytes.iter().map(Some), &options).unwrap();
        Self { compiler: Compiler::new(vocabulary), bytes, first_special }
    }

    fn ids(&self) -> impl Iterator<Item = TokenId> + '_ {
        (0..u32::try_from(self.bytes.len()).unwrap()).filter_map(|id| self.compiler.vocabulary().id(id))
    }

    fn bytes(&self, id: TokenId) -> &[u8] {
        &self.bytes[usize::try_from(id.get()).unwrap()]
    }

    /// The token of a byte.
    fn byte(&self, byte: u8) -> TokenId {
        self.compiler.vocabulary().id(u32::from(byte)).unwrap()
    }

    fn spelled(&self, tokens: &[TokenId]) -> String {
        tokens.iter().map(|&id| self.bytes(id).escape_ascii().to_string()).collect()
    }

    fn is_special(&self, id: TokenId) -> bool {
        usize::try_from(id.get()).unwrap() >= self.first_special
    }

    /// The text of a token, which special ones do not have.
    fn text(&self, id: TokenId) -> &[u8] {
        if self.is_special(id) { &[] } else { self.bytes(id) }
    }

    fn stop(&self) -> TokenId {
        self.compiler.vocabulary().stop_tokens()[0]
    }

    /// A text as tokens: marks as themselves, the rest cut at random.
    fn cut(&self, text: &[u8], random: &mut fastrand::Rng) -> Vec<TokenId> {
        let mut rest = text;
        let mut tokens = Vec::new();
        // The length of the text before the next mark.
        let mut free = 0;
        while !rest.is_empty() {
            if free == 0 {
                let starts_mark = |at: &usize| {
                    self.bytes[self.first_special..].iter().any(|mark| rest[*at..].starts_with(mark))
                };
                free = (0..rest.len()).find(starts_mark).unwrap_or(rest.len());
            }
            let spelled = self.ids().filter(|&id| rest.starts_with(self.bytes(id)));
            let id = match free {
                0 => {
                    spelled.filter(|&id| self.is_special(id)).max_by_key(|&id| self.bytes(id).len()).unwrap()
                }
                // A piece must not swallow the beginning of a mark.
                _ => {
                    let pieces: Vec<TokenId> = spelled.filter(|&id| self.bytes(id).len() <= free).collect();
                    pieces[random.usize(..pieces.len())]
                }
            };
            tokens.push(id);
            let length = self.bytes(id).len();
            free = free.saturating_sub(length);
            rest = &rest[length..];
        }
        tokens
    }
}

/// Marks that look like no others: of MiniMax M3 and of Gemma 4.
const ODD_MARKS: [&str; 2] = ["]<]minimax[>[", "<|\"|>"];

/// The marks of a text: what is between angle brackets, or capitals between square ones.
fn marks(text: &str) -> impl Iterator<Item = &str> {
    text.char_indices().filter_map(|(at, first)| {
        let rest = &text[at..];
        if let Some(mark) = ODD_MARKS.iter().find(|mark| rest.starts_with(**mark)) {
            return Some(&rest[..mark.len()]);
        }
        let close = match first {
            '<' => '>',
            '[' => ']',
            _ => return None,
        };
        let (inside, _) = rest[1..].split_once(close)?;
        let is_mark = match first {
            '<' => {
                !inside.is_empty() && !inside.contains(|c: char| c.is_whitespace() || "<>=\"[]".contains(c))
            }
            _ => inside.len() > 2 && inside.chars().all(|c| c.is_ascii_uppercase() || "_/".contains(c)),
        };
        is_mark.then(|| &rest[..inside.len() + 2])
    })
}

/// A case over a vocabulary.
struct Walk<'w> {
    words: &'w Words,
    compiled: CompiledGrammar,
    recogniser: Recogniser,
}

impl<'w> Walk<'w> {
    fn new(case: &Case, choice: &str, words: &'w Words) -> Self {
        let options = StructuralTagOptions::default();
        let tag = case.structural_tag(choice).unwrap();
        let compiled = words.compiler.tag(&tag, &options).unwrap();
        let recogniser = Recogniser::new(
            &resolve_tokens(&tag.grammar(&options).unwrap(), &**words.compiler.vocabulary()).unwrap(),
        );
        Self { words, compiled, recogniser }
    }

    /// Reads tokens: whether they are a sentence, or the offset of the one that is refused. One mask is compared with the
    /// naive recogniser, which follows every token.
    fn read(&self, tokens: &[TokenId], random: &mut fastrand::Rng) -> Result<bool, usize> {
        let compared = random.usize(..=tokens.len());
        let mut matcher = self.compiled.matcher();
        let mut readings = Derivations::new(&self.recogniser);
        let mut mask = TokenMask::new(self.words.bytes.len());
        let mut offset = 0;
        for (at, &token) in tokens.iter().enumerate() {
            matcher.fill_mask(&mut mask).unwrap();
            if at == compared {
                self.compare(&mask, &readings);
            }
            let is_read = readings.push(token.get(), self.words.text(token));
            let is_accepted = matcher.accept_token(token).is_ok();
            let place = || format!("token {at} of {}", self.words.spelled(tokens));
            assert_eq!((is_accepted, mask.contains(token)), (is_read, is_read), "{}", place());
            if !is_read {
                return Err(offset);
            }
            offset += self.words.bytes(token).len();
        }
        assert_eq!(readings.is_complete(), matcher.is_completed(), "{}", self.words.spelled(tokens));
        Ok(matcher.is_completed())
    }

    fn compare(&self, mask: &TokenMask, readings: &Derivations<'_>) {
        for id in self.words.ids() {
            let is_allowed = match id == Words::stop(self.words) {
                true => readings.allows_as_itself(id.get()) || readings.is_complete(),
                false => readings.allows(id.get(), self.words.text(id)),
            };
            assert_eq!(mask.contains(id), is_allowed, "token \"{}\"", self.words.bytes(id).escape_ascii());
        }
    }
}

/// Follows all turns, and reports every one that is read otherwise.
fn check(marks: Marks) {
    let cases = tool_turns().unwrap();
    let texts = |case: &Case| match case.expectation() {
        Expectation::Texts { accepted, .. } => accepted.clone(),
        Expectation::Refusal(_) => Vec::new(),
    };
    let all: Vec<String> =
        cases.iter().flat_map(texts).map(|text| String::from_utf8(text).unwrap()).collect();
    let special: BTreeSet<&str> = match marks {
        Marks::Special => all.iter().flat_map(|text| self::marks(text)).collect(),
        Marks::Text => BTreeSet::new(),
    };
    let words = Words::new(&special);
    let mut random = fastrand::Rng::with_seed(1);
    let mut problems = Vec::new();
    let mut walks = HashMap::new();
    // Many templates write the same turns.
    let mut seen = HashSet::new();
    let (mut read, mut refused) = (0, 0);
    for case in &cases {
        let (walk, required) = walks
            .entry((case.source(), case.options()))
            .or_insert_with(|| (Walk::new(case, "auto", &words), Walk::new(case, "required", &words)));
        let Expectation::Texts { accepted, rejected, .. } = case.expectation() else { continue };
        for text in accepted {
            read += 1;
            if !seen.insert((case.source(), case.options(), text)) {
                continue;
            }
            let outcome = walk.read(&words.cut(text, &mut random), &mut random);
            // A call that is required comes first.
            let shown = String::from_utf8_lossy(text);
            let is_text = shown.contains("sunny");
            let is_call = !is_text && !shown.contains("Let me see");
            let alone = required.read(&words.cut(text, &mut random), &mut random);
            if outcome != Ok(true) || is_call && alone != Ok(true) || is_text && alone == Ok(true) {
                problems.push(format!("{}: {outcome:?}, required: {alone:?} for {shown:?}", case.id()));
            }
        }
        for Rejected { text, dies_at } in rejected {
            refused += 1;
            if !seen.insert((case.source(), case.options(), text)) {
                continue;
            }
            let outcome = match marks {
                Marks::Special => walk.read(&words.cut(text, &mut random), &mut random),
                Marks::Text => {
                    let bytes: Vec<TokenId> = text.iter().map(|&byte| words.byte(byte)).collect();
                    walk.read(&bytes, &mut random)
                }
            };
            let is_right = match (outcome, dies_at) {
                (Ok(is_complete), None) => !is_complete,
                (Err(found), Some(at)) if marks == Marks::Text => found == *at,
                // Tokens begin before the byte that is refused, and a mark that is cut or changed is none.
                (Err(found), at) if marks == Marks::Special => at.is_none_or(|at| found <= at),
                _ => false,
            };
            if !is_right {
                let shown = String::from_utf8_lossy(text);
                problems.push(format!("{}: {outcome:?}, not {dies_at:?} for {shown:?}", case.id()));
            }
        }
    }
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
    assert!(read > 400 && refused > 300, "{read} {refused}");
}

/// A call that Llama writes without spaces is a call: a spoilt one dies where it is spoilt.
#[test]
fn calls_of_llama_are_read_without_spaces() {
    let cases = tool_turns().unwrap();
    let case = cases.iter().find(|case| case.source() == "llama").unwrap();
    let words = Words::new(&BTreeSet::new());
    let walks = ["auto", "required"].map(|choice| Walk::new(case, choice, &words));
    let mut random = fastrand::Rng::with_seed(2);
    let mut read = |walk: &Walk<'_>, text: &str| {
        let bytes: Vec<TokenId> = text.bytes().map(|byte| words.byte(byte)).collect();
        walk.read(&bytes, &mut random)
    };
    for opening in [
        "{\"name\": ",
        "{\"name\":",
        "{\"type\": \"function\", \"name\": ",
        "{\"type\":\"function\",\"name\":",
        "{\"type\":\"function\", \"name\": ",
        "{\"type\": \"function\",\"name\":",
    ] {
        // As before the name.
        let (space, other) = if opening.ends_with(' ') { (" ", "") } else { ("", " ") };
        let call = |name: &str, arguments: &str| {
            format!("{opening}\"{name}\",{space}\"parameters\":{space}{arguments}}}")
        };
        let good = call("weather", "{\"city\": \"Paris\", \"days\": 3}");
        for walk in &walks {
            assert_eq!(read(walk, &good), Ok(true), "{good}");
            assert_eq!(read(walk, &good[..good.len() - 1]), Ok(false), "{good}");
        }
        for (spoilt, from) in [
            (call("whether", "{\"city\": \"Paris\"}"), "hether"),
            (call("weather", "{\"days\": 3}"), "days"),
            (call("weather", "{\"city\": 3}"), "3}"),
            (call("weather", "{\"city\": \"Paris\", \"unit\": \"kelvin\"}"), "kelvin"),
            (good.replace("parameters", "arguments"), "arguments"),
            (
                format!("{opening}\"weather\",{other}\"parameters\":"),
                if other.is_empty() { "\"parameters" } else { " \"parameters" },
            ),
        ] {
            assert_eq!(read(&walks[0], &spoilt), Err(spoilt.find(from).unwrap()), "{spoilt}");
        }
    }
    // Other JSON is text.
    assert_eq!(read(&walks[0], "{\"type\":\"object\",\"name\":3}"), Ok(true));
}

#[test]
fn turns_are_read_with_marks_as_special_tokens() {
    check(Marks::Special);
}

#[test]
fn turns_are_read_with_marks_as_text() {
    check(Marks::Text);
}

/// The page of documentation names every family, with its templates.
#[test]
fn the_page_lists_families_and_templates() {
    let page = include_str!("../../../docs/tool-formats.md");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `"));
    let rows: Vec<Vec<&str>> = rows.map(|row| row.split(" | ").collect()).collect();
    let cases = tool_turns().unwrap();
    let template =
        |case: &Case| case.id().trim_start_matches("turns/").trim_end_matches(", with thoughts").to_owned();
    let all: BTreeSet<String> = cases.iter().map(template).collect();
    for format in ToolFormat::all() {
        let row = rows.iter().find(|row| row[0].split('`').next() == Some(format.name()));
        let row = row.unwrap_or_else(|| panic!("{} is missing in docs/tool-formats.md", format.name()));
        for alias in format.aliases() {
            assert!(row[0].contains(&format!("`{alias}`")), "{alias}");
        }
        assert_eq!(row[1], format.models());
        let held: BTreeSet<String> = row[3].split('`').skip(1).step_by(2).map(str::to_owned).collect();
        let expected = cases.iter().filter(|case| case.source() == format.name()).map(template);
        let listed: BTreeSet<String> = held.intersection(&all).cloned().collect();
        assert_eq!(listed, expected.collect(), "{}", format.name());
        assert!(!held.is_empty(), "{} has no source", format.name());
    }
    assert_eq!(rows.len(), ToolFormat::all().len());
}
