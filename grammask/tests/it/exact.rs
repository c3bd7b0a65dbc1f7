//! At every step of random documents, all that a matcher says agrees with what it does.
//!
//! For each of some 2,000 tokens the mask's bit is set if and only if accepting the token succeeds. That the
//! steps themselves are right is judged elsewhere, against a naive recogniser.

use grammask::ebnf::EbnfOptions;
use grammask::json_schema::JsonSchemaOptions;
use grammask::regex::RegexOptions;
use grammask::{CompiledGrammar, Explanation, MaskKind, Matcher, TokenId, TokenMask, Vocabulary};

use crate::common::{compiler, ids};

fn schema(source: &str) -> CompiledGrammar {
    compiler().json_schema(source, &JsonSchemaOptions::default()).unwrap()
}

fn ebnf(source: &str) -> CompiledGrammar {
    compiler().ebnf(source, &EbnfOptions::default()).unwrap()
}

fn regex(pattern: &str) -> CompiledGrammar {
    compiler().regex(pattern, &RegexOptions::default()).unwrap()
}

/// Walks random texts of a grammar and checks every step.
fn check(grammar: &CompiledGrammar) {
    for seed in 0..3 {
        let mut walk = Walk::new(grammar, seed);
        for _ in 0..40 {
            walk.look();
            walk.go_on();
        }
    }
}

struct Walk<'g> {
    vocabulary: &'g Vocabulary,
    random: fastrand::Rng,
    matcher: Matcher,
    /// The masks at each number of steps.
    history: Vec<TokenMask>,
    /// The mask that was filled last.
    filled: Option<TokenMask>,
}

impl<'g> Walk<'g> {
    fn new(grammar: &'g CompiledGrammar, seed: u64) -> Self {
        Self {
            vocabulary: grammar.vocabulary(),
            random: fastrand::Rng::with_seed(seed),
            matcher: grammar.matcher(),
            history: Vec::new(),
            filled: None,
        }
    }

    fn mask(&self) -> &TokenMask {
        &self.history[self.matcher.steps()]
    }

    /// Fills the mask and compares it with everything else that the matcher says.
    fn look(&mut self) {
        let mut mask = TokenMask::new(self.vocabulary.len());
        let kind = self.matcher.fill_mask(&mut mask).unwrap();
        assert_eq!(self.matcher.mask().unwrap().to_mask(), mask);
        match kind {
            MaskKind::All => assert_eq!(mask.count(), self.vocabulary.len()),
            MaskKind::Unchanged => assert_eq!(self.filled.as_ref(), Some(&mask)),
            MaskKind::Single(id) => assert_eq!(mask.iter().collect::<Vec<_>>(), [id]),
            MaskKind::Some => assert!(mask.count() > 1),
            other => panic!("no test for {other:?}"),
        }
        self.filled = Some(mask.clone());
        self.history.truncate(self.matcher.steps());
        self.history.push(mask);
        self.check_tokens();
        self.check_bytes();
        self.check_forced();
        self.check_ending();
    }

    fn check_tokens(&mut self) {
        let (mask, steps) = (self.mask().clone(), self.matcher.steps());
        let mut probe = self.matcher.fork();
        for id in ids(self.vocabulary) {
            let accepted = probe.accept_token(id).is_ok();
            assert_eq!(mask.contains(id), accepted, "{} after {steps} steps", self.vocabulary.token_name(id));
            if accepted {
                probe.rollback(1).unwrap();
            }
            assert_eq!(probe.steps(), steps);
        }
        let id = self.vocabulary.id(self.random.u32(..2_000)).unwrap();
        let explained = probe.explain(id).unwrap();
        assert_eq!(mask.contains(id), explained == Explanation::Allowed, "{explained:?}");
        for &stop in self.vocabulary.stop_tokens() {
            assert_eq!(mask.contains(stop), self.matcher.is_completed());
        }
    }

    /// Tokens of one byte are the first 256 ids.
    fn check_bytes(&self) {
        let next = self.matcher.next_bytes();
        for byte in 0..=255_u8 {
            let id = TokenId::new(u32::from(byte)).unwrap();
            assert_eq!(self.mask().contains(id), next.contains(byte), "byte {byte:#x}");
        }
    }

    /// Every way on begins with the forced text, and more is not forced.
    fn check_forced(&self) {
        let mut probe = self.matcher.fork();
        let forced = probe.jump_forward().unwrap();
        assert!(forced.is_empty() || !self.matcher.is_completed());
        for id in self.mask().iter() {
            let bytes = self.vocabulary.token_bytes(id);
            assert!(forced.starts_with(bytes) || bytes.starts_with(&forced), "{forced:?} against {bytes:?}");
        }
        if !forced.is_empty() {
            probe.accept_bytes(&forced).unwrap();
        }
        let ways = probe.next_bytes().iter().count();
        assert!(probe.is_completed() || ways > 1 || forced.len() >= 1 << 16, "{ways} ways after {forced:?}");
    }

    /// The ending completes the text, and no part of it does.
    fn check_ending(&self) {
        let mut probe = self.matcher.fork();
        let ending = probe.shortest_ending(1 << 16).unwrap().expect("endings are short here");
        if let Some(most) = ending.len().checked_sub(1) {
            assert_eq!(probe.shortest_ending(most).unwrap(), None);
        }
        for byte in &ending {
            assert!(!probe.is_completed());
            probe.accept_bytes(&[*byte]).unwrap();
        }
        assert!(probe.is_completed());
    }

    /// Accepts a random token; now and then goes back, in either of two ways.
    fn go_on(&mut self) {
        let allowed: Vec<TokenId> = self.mask().iter().collect();
        let mut choice = allowed[self.random.usize(..allowed.len())];
        // Without this most texts would end in long strings of rubbish.
        if self.random.bool() {
            let longest = allowed.iter().max_by_key(|&&id| self.vocabulary.token_bytes(id).len());
            choice = *longest.unwrap_or(&choice);
        }
        let fork = self.matcher.fork();
        self.matcher.accept_token(choice).unwrap();
        if self.random.u8(..4) == 0 {
            self.matcher = fork;
            self.same_as_before();
            self.matcher.accept_token(choice).unwrap();
        }
        if self.matcher.is_terminated() || self.random.u8(..6) == 0 {
            let steps = self.random.usize(1..=self.matcher.steps());
            self.matcher.rollback(steps).unwrap();
            self.same_as_before();
        }
    }

    /// A matcher that went back fills the mask that stood here before.
    fn same_as_before(&mut self) {
        let mut mask = TokenMask::new(self.vocabulary.len());
        self.matcher.fork().fill_mask(&mut mask).unwrap();
        assert_eq!(&mask, self.mask());
    }
}

#[test]
fn schemas() {
    for source in [
        "true",
        r#"{"type": "object", "properties": {"name": {"type": "string"}, "id": {"type": "integer"}}, "required": ["name"]}"#,
        r#"{"type": "object", "properties": {"a": {"type": "null"}}, "additionalProperties": {"type": "boolean"}}"#,
        r#"{"type": "array", "items": {"enum": ["red", "green", "blue", 1, 12, null]}, "minItems": 2, "maxItems": 4}"#,
        r#"{"type": "string", "minLength": 3, "maxLength": 5}"#,
        r#"{"type": "string", "maxLength": 40, "pattern": "^[a-e]+(ing|tion)?$"}"#,
        r#"{"type": "string", "not": {"pattern": "aa"}}"#,
        r#"{"type": "integer", "minimum": -12, "maximum": 2024}"#,
        r#"{"type": "number", "multipleOf": 0.25, "minimum": 0}"#,
        r#"{"format": "date-time", "type": "string"}"#,
        r##"{"$ref": "#/$defs/tree", "$defs": {"tree": {"type": "object", "properties": {"value": {"type": "integer"}, "list": {"type": "array", "items": {"$ref": "#/$defs/tree"}}}, "required": ["value"], "additionalProperties": false}}}"##,
        r#"{"anyOf": [{"type": "object", "properties": {"type": {"const": "a"}, "x": {"type": "number"}}, "required": ["type", "x"]}, {"type": "object", "properties": {"type": {"const": "b"}, "y": {"type": "string"}}, "required": ["type", "y"]}]}"#,
        r#"{"oneOf": [{"required": ["a"]}, {"required": ["b"]}], "type": "object"}"#,
        r#"{"type": "object", "patternProperties": {"^a": {"type": "integer"}}, "minProperties": 1}"#,
        "{\"enum\": [\"\u{4e2d}\u{6587}\", \"\u{e9}\", \"\u{1f600}\", \"\\u0000\"]}",
        r#"{"type": "string", "maxLength": 100000}"#,
    ] {
        check(&schema(source));
    }
}

#[test]
fn grammars() {
    for source in [
        r#"root ::= root root | "a" | "" | "b" root "b""#,
        r#"root ::= "(" root ")" | [a-z]+ | root "+" root"#,
        r#"root ::= sum
sum ::= sum ("+" | "-") product | product
product ::= product ("*" | "/") atom | atom
atom ::= [0-9]{1,3} | "(" sum ")" | [a-z]{2,4} "(" sum ")""#,
        r#"root ::= ("a" | "aa" | "ab"){3,7} "c"{2,} [^a-c]{0,3}"#,
        r#"root ::= (("a"{1,3} " "){2,4} "\n"){1,5}"#,
        r#"root ::= item{2,3}
item ::= "a" item? "b" | [\u4e00-\u9fff]{1,20}"#,
        r#"root ::= Intersection([a-z ]{3,30}, Complement([^]* "aa" [^]*)) ".""#,
        r#"root ::= "\"" JsonEscaped(Complement([^]* "\n" [^]*)) "\"""#,
        r#"root ::= Bytes("\xff\xfe") [^]* | Bytes("\xe4\xb8") Bytes("\xad") "a""#,
        r#"root ::= "alphabeta" ("gamma" | "gammb") "delta" "e""#,
    ] {
        check(&ebnf(source));
    }
}

#[test]
fn patterns() {
    for pattern in [
        "[^]*".replace("[^]", r"[\s\S]").as_str(),
        "a{0,1000000000}",
        "(a|b)*a(a|b){12}",
        r"\p{Han}{2,5}|[a-z]+( [a-z]+){0,3}",
        r"(?i)straße \d{4}-\d{2}",
        "(the|and|ing|tion){2,}",
        "a?{50}a{50}".replace("a?{50}", "(a?){50}").as_str(),
        "-?(0|[1-9][0-9]*)(\\.[0-9]{1,12})?([eE][+-]?[0-9]{1,3})?",
    ] {
        check(&regex(pattern));
    }
}
