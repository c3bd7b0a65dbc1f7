//! Items and names that differ: masks against all documents there are.
//!
//! The judge knows nothing of scopes. It takes the same grammar without marks, has it spell every document, reads each one
//! with a reader of its own, and drops those in which something occurs twice. A text is right if it begins one of the rest.

use std::collections::BTreeSet;

use grammask_grammar_frontends::ebnf::EbnfOptions;
use grammask_grammar_frontends::json_schema::JsonSchemaOptions;
use grammask_grammar_ir::Interrupt;
use grammask_grammar_ir::hash::HashSet;
use grammask_mask_cache::{TokenId, TokenMask, Vocabulary, VocabularyOptions, words_for};
use grammask_matcher::{
    BatchMatcher, BatchRow, BuildBackend, ByteSet, CompiledGrammar, Compiler, DraftTree, Explanation, Limits,
    MatchError, Matcher, OtherRows,
};
use grammask_parser_backend::StepError;

use crate::random::Random;

/// The meaning of a document.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Number(f64),
    Text(String),
    Word(String),
    Array(Vec<Value>),
    Object(Vec<(String, Value)>),
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Number(one), Self::Number(other)) => one == other,
            (Self::Text(one), Self::Text(other)) | (Self::Word(one), Self::Word(other)) => one == other,
            (Self::Array(one), Self::Array(other)) => one == other,
            // In any order; no name occurs twice where objects are compared.
            (Self::Object(one), Self::Object(other)) => {
                one.len() == other.len() && one.iter().all(|member| other.contains(member))
            }
            _ => false,
        }
    }
}

fn repeats_names(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(repeats_names),
        Value::Object(members) => {
            let repeats = |at: usize| members[..at].iter().any(|(name, _)| *name == members[at].0);
            (0..members.len()).any(repeats) || members.iter().any(|(_, value)| repeats_names(value))
        }
        _ => false,
    }
}

pub(crate) struct Reader<'t> {
    pub(crate) text: &'t [u8],
    pub(crate) at: usize,
}

impl Reader<'_> {
    fn next(&mut self) -> u8 {
        while self.text[self.at] == b' ' {
            self.at += 1;
        }
        self.text[self.at]
    }

    pub(crate) fn value(&mut self) -> Value {
        match self.next() {
            b'[' => {
                let mut items = Vec::new();
                while self.separator(b']') {
                    items.push(self.value());
                }
                Value::Array(items)
            }
            b'{' => {
                let mut members = Vec::new();
                while self.separator(b'}') {
                    let name = self.string();
                    assert_eq!(self.next(), b':');
                    self.at += 1;
                    members.push((name, self.value()));
                }
                Value::Object(members)
            }
            b'"' => Value::Text(self.string()),
            _ => {
                let start = self.at;
                while !b",]}: ".contains(&self.text[self.at]) {
                    self.at += 1;
                }
                let word = std::str::from_utf8(&self.text[start..self.at]).unwrap();
                // Adding 0 makes -0 of it 0.
                word.parse()
                    .map_or_else(|_| Value::Word(word.to_owned()), |number: f64| Value::Number(number + 0.0))
            }
        }
    }

    /// Goes behind a bracket or comma; false at the end.
    fn separator(&mut self, end: u8) -> bool {
        let sign = self.next();
        self.at += 1;
        if sign != end && self.next() == end {
            self.at += 1;
            return false;
        }
        sign != end
    }

    fn string(&mut self) -> String {
        assert_eq!(self.next(), b'"');
        let mut units = Vec::new();
        self.at += 1;
        loop {
            let rest = std::str::from_utf8(&self.text[self.at..]).unwrap();
            let character = rest.chars().next().unwrap();
            self.at += character.len_utf8();
            match character {
                '"' => return String::from_utf16(&units).unwrap(),
                '\\' if rest.as_bytes()[1] == b'u' => {
                    units.push(u16::from_str_radix(&rest[2..6], 16).unwrap());
                    self.at += 5;
                }
                '\\' => {
                    units.push(if rest.as_bytes()[1] == b'n' { 10 } else { u16::from(rest.as_bytes()[1]) });
                    self.at += 1;
                }
                character => units.extend(character.encode_utf16(&mut [0; 2]).iter()),
            }
        }
    }
}

/// Whether nothing occurs twice: items where arrays are compared (at a depth), names where objects are, and names of
/// objects that are in items which are compared.
pub(crate) fn differs(value: &Value, depth: usize, compared: fn(usize) -> bool) -> bool {
    match value {
        Value::Array(items) => {
            let repeats = items.iter().enumerate().any(|(at, item)| items[..at].contains(item));
            let unclear = items.iter().any(repeats_names);
            !(compared(depth) && (repeats || unclear))
                && items.iter().all(|item| differs(item, depth + 1, compared))
        }
        Value::Object(members) => {
            let mut names: Vec<&String> = members.iter().map(|(name, _)| name).collect();
            names.sort();
            let repeats = names.windows(2).any(|pair| pair[0] == pair[1]);
            !(compared(depth) && repeats)
                && members.iter().all(|(_, value)| differs(value, depth + 1, compared))
        }
        _ => true,
    }
}

pub(crate) fn bytes_of(bytes: ByteSet) -> Vec<u8> {
    bytes.iter().collect()
}

/// All documents of a grammar, which are few.
fn documents(source: &str) -> Vec<Vec<u8>> {
    let options = VocabularyOptions::default().stop_ids([]);
    let bytes = Vocabulary::from_tokens((0..=255u8).map(|byte| Some([byte])), &options).unwrap();
    let grammar = Compiler::builder(bytes).build().ebnf(source, &EbnfOptions::default()).unwrap();
    let mut stack = vec![(Vec::new(), grammar.matcher())];
    let mut found = Vec::new();
    while let Some((text, matcher)) = stack.pop() {
        if matcher.is_completed() {
            found.push(text.clone());
        }
        for byte in bytes_of(matcher.next_bytes()) {
            let mut next = matcher.fork();
            next.accept_bytes(&[byte]).unwrap();
            stack.push(([text.as_slice(), &[byte]].concat(), next));
        }
    }
    found
}

/// The judge's answer: the right documents, and all their beginnings.
struct Right {
    documents: HashSet<Vec<u8>>,
    beginnings: HashSet<Vec<u8>>,
}

impl Right {
    fn of(source: &str, compared: fn(usize) -> bool) -> Self {
        let free = source.replace("[distinct=items]", "").replace("[distinct=names]", "");
        let mut all = documents(&free);
        let count = all.len();
        all.retain(|text| differs(&Reader { text, at: 0 }.value(), 0, compared));
        assert!(all.len() < count && !all.is_empty(), "{} of {count} are right", all.len());
        let beginnings =
            all.iter().flat_map(|text| (0..=text.len()).map(|end| text[..end].to_vec())).collect();
        Self { documents: all.into_iter().collect(), beginnings }
    }

    /// The documents of two roots over some rules. Those of the second alone may repeat items.
    fn of_either(one: &str, other: &str, rules: &str, compared: fn(usize) -> bool) -> Self {
        let documents_of = |root: &str| {
            let source = format!("root ::= {root}\n{rules}");
            documents(&source.replace("[distinct=items]", ""))
        };
        let (mut all, free) = (documents_of(one), documents_of(other));
        let count = all.len();
        all.retain(|text| differs(&Reader { text, at: 0 }.value(), 0, compared));
        assert!(all.len() < count && !all.is_empty(), "{} of {count} are right", all.len());
        let repeated = free.iter().filter(|text| !differs(&Reader { text, at: 0 }.value(), 0, compared));
        assert!(repeated.count() > 0);
        all.extend(free);
        let beginnings =
            all.iter().flat_map(|text| (0..=text.len()).map(|end| text[..end].to_vec())).collect();
        Self { documents: all.into_iter().collect(), beginnings }
    }

    fn next_bytes(&self, text: &[u8]) -> Vec<u8> {
        let mut longer = [text, &[0]].concat();
        let mut follows = |byte: &u8| {
            longer[text.len()] = *byte;
            self.beginnings.contains(&longer)
        };
        (0..=255u8).filter(|byte| follows(byte)).collect()
    }
}

/// Every byte, stretches of documents, and some by hand; two of them twice.
fn vocabulary(right: &Right, random: &mut Random) -> Vocabulary {
    let mut sorted: Vec<&Vec<u8>> = right.documents.iter().collect();
    sorted.sort();
    // Where nobody writes a byte, nothing is told by it.
    let mut tokens: BTreeSet<Vec<u8>> =
        sorted.iter().flat_map(|text| text.iter().map(|&byte| vec![byte])).collect();
    tokens.extend((b'!'..b'*').map(|byte| vec![byte]));
    for _ in 0..40 {
        let text = sorted[random.below(sorted.len())];
        let start = random.below(text.len());
        let end = (start + 2 + random.below(12)).min(text.len());
        tokens.insert(text[start..end].to_vec());
    }
    tokens.extend(
        [&b"\",\""[..], b"\"a\",\"a\"", b"1,1", b"[\"a\",\"a", b"0,0", b"null,n"].map(<[u8]>::to_vec),
    );
    let twice: Vec<Vec<u8>> = vec![b"\",\"".to_vec(), b"a".to_vec()];
    let tokens: Vec<Vec<u8>> = tokens.into_iter().chain(twice).collect();
    let options = VocabularyOptions::default().stop_ids([tokens.len() as u32]);
    Vocabulary::from_tokens(tokens.into_iter().map(Some).chain([None]), &options).unwrap()
}

#[track_caller]
fn check(source: &str, compared: fn(usize) -> bool) {
    let right = Right::of(source, compared);
    check_on::<grammask_earley::Engine>(source, &right);
    check_on::<grammask_pda::Engine>(source, &right);
}

#[track_caller]
fn check_on<B: BuildBackend>(source: &str, right: &Right) {
    let mut random = Random::new(source.len() as u64);
    let compiler = Compiler::builder(vocabulary(right, &mut random)).backend::<B>().build();
    let grammar = compiler.ebnf(source, &EbnfOptions::default()).unwrap();
    for _ in 0..5 {
        walk(&grammar, right, &mut random);
    }
}

/// Walks at random, with steps back and forks.
#[track_caller]
fn walk<B: BuildBackend>(grammar: &CompiledGrammar<B>, right: &Right, random: &mut Random) {
    let vocabulary = grammar.vocabulary();
    let mut matcher = grammar.matcher();
    let mut texts: Vec<Vec<u8>> = vec![Vec::new()];
    let mut mask = TokenMask::new(vocabulary.len());
    for _ in 0..60 {
        let text = texts.last().unwrap().clone();
        let allowed = check_place(&mut matcher, right, &text, &mut mask);
        if allowed.is_empty() || random.below(6) == 0 {
            let back = random.below(texts.len());
            matcher.rollback(back).unwrap();
            texts.truncate(texts.len() - back);
            continue;
        }
        // Short tokens come through more places.
        let short: Vec<&TokenId> =
            allowed.iter().filter(|id| vocabulary.token_bytes(**id).len() < 3).collect();
        let id = match random.below(3) == 0 || short.is_empty() {
            true => allowed[random.below(allowed.len())],
            false => *short[random.below(short.len())],
        };
        if random.below(3) == 0 {
            matcher = matcher.fork();
        }
        let bytes = vocabulary.token_bytes(id);
        if random.below(4) == 0 {
            matcher.accept_bytes(bytes).unwrap();
        } else {
            matcher.accept_token(id).unwrap();
        }
        texts.push([text.as_slice(), bytes].concat());
    }
}

/// Compares all that the matcher says at a place, and returns the text tokens that are allowed.
#[track_caller]
fn check_place<B: BuildBackend>(
    matcher: &mut Matcher<B>,
    right: &Right,
    text: &[u8],
    mask: &mut TokenMask,
) -> Vec<TokenId> {
    let vocabulary = std::sync::Arc::clone(matcher.grammar().vocabulary());
    let shown = String::from_utf8_lossy(text);
    let is_whole = right.documents.contains(text);
    assert_eq!(matcher.is_completed(), is_whole, "{shown}");
    assert_eq!(bytes_of(matcher.next_bytes()), right.next_bytes(text), "{shown}");
    matcher.fill_mask(mask).unwrap();
    let mut words = vec![0; words_for(vocabulary.len())];
    matcher.fill_mask_words(&mut words).unwrap();
    assert_eq!(mask.as_words(), words, "{shown}");
    let shared = matcher.mask().unwrap();
    assert_eq!(shared.to_mask().as_words(), words, "{shown}");
    let known = matcher.cached_mask().map(|known| known.to_mask());
    assert!(known.is_none_or(|known| known.as_words() == words), "{shown}");
    let mut allowed = Vec::new();
    for id in (0..vocabulary.len() as u32).filter_map(|id| vocabulary.id(id)) {
        let bytes = vocabulary.token_bytes(id);
        let longer = [text, bytes].concat();
        let expected = match bytes.is_empty() {
            true => is_whole,
            false => right.beginnings.contains(&longer),
        };
        let token = String::from_utf8_lossy(bytes);
        assert_eq!(mask.contains(id), expected, "mask: {token:?} after {shown:?}");
        let mut fork = matcher.fork();
        assert_eq!(fork.accept_token(id).is_ok(), expected, "accept: {token:?} after {shown:?}");
        let explained = matcher.explain(id).unwrap();
        assert_eq!(explained == Explanation::Allowed, expected, "{token:?} after {shown:?}");
        if let Explanation::Refused { offset, possible, .. } = explained {
            let read = [text, &bytes[..offset]].concat();
            assert!(right.beginnings.contains(&read), "{token:?} after {shown:?}");
            assert_eq!(bytes_of(possible), right.next_bytes(&read), "{token:?} after {shown:?}");
            let refused = MatchError::ByteRefused { offset, byte: bytes[offset] };
            assert_eq!(matcher.accept_bytes(bytes), Err(refused), "{token:?} after {shown:?}");
        }
        if expected && !bytes.is_empty() {
            allowed.push(id);
        }
    }
    let mut forced = text.to_vec();
    while let [byte] = right.next_bytes(&forced)[..] {
        if right.documents.contains(&forced) {
            break;
        }
        forced.push(byte);
    }
    assert_eq!(matcher.jump_forward().unwrap(), forced[text.len()..], "{shown}");
    let ending = matcher.shortest_ending(1_000).unwrap().unwrap();
    assert!(right.documents.contains(&[text, &ending].concat()), "{shown} and {ending:?}");
    allowed
}

#[test]
fn strings_are_compared_by_what_they_mean() {
    check(
        r#"root ::= "[" items
items[distinct=items] ::= " "? ("]" | item ("," item){0,2} "]")
item ::= "\"" ("a" | "\\u0061" | "ab" | "\\n" | "\\u000A" | "b"){1} "\"""#,
        |_| true,
    );
}

#[test]
fn a_string_that_can_only_end_as_a_known_one_is_not_begun() {
    check(
        r#"root ::= "[" items
items[distinct=items] ::= item ("," item){2} "]"
item ::= "\"" ("a" [bc]? | "\\u0061" "d" | "\\ud83d\\ude00" | "é" | "è")  "\"""#,
        |_| true,
    );
}

#[test]
fn numbers_are_compared_by_their_values() {
    check(
        r#"root ::= "[" items
items[distinct=items] ::= item "," item "]" | "0," item "," item "]"
item ::= "-"? ("0" | "5") (".0" "0"? | ".5")? ([eE] "-"? "1")?"#,
        |_| true,
    );
    check(
        r#"root ::= "[" items
items[distinct=items] ::= item ("," item){2} "]"
item ::= "1" ("0" | ".0"){0,2} | "0" ".0"? | "-0" | "-5""#,
        |_| true,
    );
}

/// Texts of one line are one number.
#[test]
fn numbers_of_all_spellings_are_compared() {
    let texts = [
        "0 -0 0.0 -0.00e7 0e-999999999999999999",
        "1 1.0 1e0 1.00E+0 0.1e1 10e-1 0.0001e4",
        "-120 -12e1 -1.2E2 -120.0",
        "1e999999999999999999 10e999999999999999998",
        "1.05 1.050 105e-2 10.5E-1",
        "7\n0.00105\n-1.050e+12\n900700 9007e2\n1e18\n12\n123\n12003\n120",
    ];
    let source = r#"root ::= "[" items
items[distinct=items] ::= item "," item "]"
item ::= "-"? [0-9]+ ("." [0-9]+)? ([eE] [+-]? [0-9]+)?"#;
    let tokens = (0..=255u8).map(|byte| Some([byte]));
    let vocabulary = Vocabulary::from_tokens(tokens, &VocabularyOptions::default().stop_ids([])).unwrap();
    let grammar = Compiler::new(vocabulary).ebnf(source, &EbnfOptions::default()).unwrap();
    let numbers = || texts.iter().flat_map(|text| text.lines()).enumerate();
    let numbers = || numbers().flat_map(|(number, texts)| texts.split(' ').map(move |text| (number, text)));
    for (one, first) in numbers() {
        let mut matcher = grammar.matcher();
        matcher.accept_bytes(format!("[{first},").as_bytes()).unwrap();
        for (other, second) in numbers() {
            let accepted = matcher.fork().accept_bytes(format!("{second}]").as_bytes());
            assert_eq!(accepted.is_ok(), one != other, "{first} and {second}: {accepted:?}");
        }
    }
}

#[test]
fn numbers_are_told_apart_by_their_first_digits() {
    check(
        r#"root ::= "[" items
items[distinct=items] ::= item ("," item){1,2} "]"
item ::= "-"? "1" [23] | "1" "20"? "0" | "1.2" "0"? "e" [12] | "0.12e2""#,
        |_| true,
    );
    // The only ways on from a beginning that two numbers share, and one that is taken by both.
    check(
        r#"root ::= "[" items
items[distinct=items] ::= item ("," item){2} "]"
item ::= "100" [13] | "1001.0" | "1003" "e0" | "0.0" "5"? | "50e-3""#,
        |_| true,
    );
    check(
        r#"root ::= "[" items
items[distinct=items] ::= item "," item "]"
item ::= "[" one ("," one)? "]" | "{\"a\":" one "}" | one
one ::= "1" [02] | "12.0" | "120" "e-1"? | "-12""#,
        |depth| depth == 0,
    );
}

/// The naive search tries all numbers with fewer digits than the shortest one there is, or digit after digit those that
/// never end well.
#[test]
fn numbers_with_many_digits_are_kept_apart() {
    let limits = Limits::default().max_work_per_call(20_000);
    for (item, one, other) in [
        (r#"{"type": "integer", "minimum": 1000000000000000}"#, "1000000000000000", "1000000000000007"),
        (
            r#"{"type": "integer", "multipleOf": 4, "maximum": -1000000000000}"#,
            "-1000000000004",
            "-1000000000008",
        ),
        (
            r#"{"type": "array", "prefixItems": [{"multipleOf": 2}], "items": {"type": "boolean"}}"#,
            "[[82982]]",
            "[18]",
        ),
        (
            r#"{"type": "object", "properties": {"a": {"multipleOf": 2}}, "required": ["a"]}"#,
            r#"{"a":1000000000}"#,
            r#"{"a":1000000002}"#,
        ),
    ] {
        let schema = format!(r#"{{"type": "array", "uniqueItems": true, "items": {item}}}"#);
        let grammar = compiler(limits).json_schema(&schema, &JsonSchemaOptions::default()).unwrap();
        let mut matcher = grammar.matcher();
        matcher.accept_bytes(format!("[{one},").as_bytes()).unwrap();
        assert!(matcher.fork().accept_bytes(format!("{one},").as_bytes()).is_err(), "{schema}");
        for &byte in other.as_bytes() {
            let mut mask = TokenMask::new(grammar.vocabulary().len());
            matcher.fill_mask(&mut mask).unwrap();
            matcher.accept_bytes(&[byte]).unwrap();
        }
        matcher.accept_bytes(b"]").unwrap();
        assert!(matcher.is_completed(), "{schema}");
    }
}

#[test]
fn values_of_all_types_stand_side_by_side() {
    check(
        r#"root ::= "[" items
items[distinct=items] ::= item (", " item){0,2} " "? "]"
item ::= "null" | "true" | "false" | "1" | "\"1\"" | "\"null\"" | "10e-1" | "{\"a\":1}""#,
        |_| true,
    );
}

#[test]
fn arrays_in_arrays_are_compared_each_for_itself() {
    check(
        r#"root ::= "[" outer
outer[distinct=items] ::= one ("," one){1,2} "]"
one ::= "\"a\"" | "\"b\"" | "[" inner | "{\"a\":[" inner "}"
inner[distinct=items] ::= two ("," two)? "]"
two ::= "\"a\"" | "\"b\"""#,
        |_| true,
    );
    // The arrays inside are free.
    check(
        r#"root ::= "[" outer
outer[distinct=items] ::= one ("," one){1,2} "]"
one ::= "1" | "2" | "[" two "," two "]"
two ::= "1" | "2""#,
        |depth| depth == 0,
    );
}

#[test]
fn objects_are_compared_by_their_members() {
    // Closed objects: which values are left shows long before the end.
    check(
        r#"root ::= "[" items
items[distinct=items] ::= item ("," item){0,2} "]"
item ::= "{\"a\":" ("1" | "1.0" | "2") (",\"b\":" ("true" | "null"))? "}""#,
        |_| true,
    );
    // Members in two orders, a name that is spelled in two ways, and an order in which all are taken sooner.
    check(
        r#"root ::= "[" items
items[distinct=items] ::= item "," item ("," item)? " "? "]"
item ::= "{" (a "," b | b "," a | a) "}" | "{ }"
a ::= "\"" ("a" | "\\u0061") "\":" "\"x" "y"? "\""
b ::= "\"b\":" [12]"#,
        |_| true,
    );
}

#[test]
fn names_inside_of_items_do_not_repeat() {
    check(
        r#"root ::= "[" items
items[distinct=items] ::= item "," item "]"
item ::= "{" member ("," member)? "}" | "[{" member "}]" | "7"
member ::= "\"" [ab] "c"? "\":1""#,
        |_| true,
    );
}

#[test]
fn arrays_are_compared_by_their_items() {
    check(
        r#"root ::= "[" items
items[distinct=items] ::= item ("," item){1,2} "]"
item ::= "[" (one ("," one)?)? "]" | one
one ::= "1" | "10" | "\"a\"" | "[]""#,
        |depth| depth == 0,
    );
    // Sets in a set.
    check(
        r#"root ::= "[" outer
outer[distinct=items] ::= one "," one ("," one)? "]"
one ::= "[" inner | "{\"a\":[" inner "}"
inner[distinct=items] ::= two ("," two)? "]"
two ::= "1" | "2" | "[3]""#,
        |_| true,
    );
}

#[test]
fn a_fraction_may_grow_until_an_item_is_new() {
    check(
        r#"root ::= "[" items
items[distinct=items] ::= item ("," item){1} " ]"
item ::= "[" ("1.0"{0,3} | "5" "0"{0,2} | "0e" [12]? "0") "]""#,
        |_| true,
    );
}

#[test]
fn names_differ_and_values_are_free() {
    check(
        r#"root ::= "{" members
members[distinct=names] ::= "}" | member ("," member){0,2} "}"
member ::= "\"" ("a" | "\\u0061" | "b" | "bc") "\":" ("1" | "\"a\"" | "[1,1]" | "{\"a\":1,\"a\":1}")"#,
        |depth| depth == 0,
    );
}

/// A compiler over bytes and a few tokens.
pub(crate) fn compiler(limits: Limits) -> Compiler {
    let more = ["\"a\"", "\",\"", "\",", "\"a\",\"a", "ab", "[\"a\",\"b", "\"]"]
        .map(|token| Some(token.as_bytes().to_vec()));
    let tokens = (0..=255u8).map(|byte| Some(vec![byte])).chain(more).chain([None]);
    let vocabulary =
        Vocabulary::from_tokens(tokens, &VocabularyOptions::default().stop_ids([256 + 7])).unwrap();
    Compiler::builder(vocabulary).limits(limits).build()
}

fn strings(limits: Limits) -> CompiledGrammar {
    let schema = r#"{"items": {"type": "string"}, "type": "array", "uniqueItems": true}"#;
    compiler(limits).json_schema(schema, &JsonSchemaOptions::default()).unwrap()
}

#[test]
fn ten_thousand_items_are_kept_apart() {
    let mut matcher = strings(Limits::default()).matcher();
    matcher.accept_bytes(b"[").unwrap();
    for item in 0..10_000 {
        matcher.accept_bytes(format!("\"item {item}\",").as_bytes()).unwrap();
    }
    let again = MatchError::ByteRefused { offset: 10, byte: b'"' };
    assert_eq!(matcher.accept_bytes(b"\"item 9876\""), Err(again));
    matcher.rollback(200).unwrap();
    matcher.accept_bytes(b"\"item 9876\"]").unwrap();
    assert!(matcher.is_completed());
}

/// A text that is read at once stops at the byte at which it stops when it is read byte by byte.
#[test]
fn texts_are_refused_at_the_same_byte_as_their_bytes() {
    let schema = r#"{"type": "array", "uniqueItems": true,
        "items": {"anyOf": [{"enum": ["a", "ab", [1], [1, 2]]}, {"type": "integer"}]}}"#;
    let grammar = compiler(Limits::default()).json_schema(schema, &JsonSchemaOptions::default()).unwrap();
    let items = ["1", "12", "121", "-5", "\"a\"", "\"ab\"", "[1]", "[1,2]", "[1, 2]", "7", "x", ""];
    let mut random = Random::new(4);
    let mut refused = 0;
    for _ in 0..3_000 {
        let count = random.below(8);
        let texts: Vec<&str> = (0..count).map(|_| items[random.below(items.len())]).collect();
        let text = format!("[{}]", texts.join(", "));
        let mut bytewise = grammar.matcher();
        let stop = text.bytes().position(|byte| bytewise.accept_bytes(&[byte]).is_err());
        let mut whole = grammar.matcher();
        let expected = match stop {
            Some(offset) => Err(MatchError::ByteRefused { offset, byte: text.as_bytes()[offset] }),
            None => Ok(()),
        };
        assert_eq!(whole.accept_bytes(text.as_bytes()), expected, "{text}");
        refused += usize::from(stop.is_some());
        if let Some(offset) = stop {
            whole.accept_bytes(&text.as_bytes()[..offset]).unwrap();
            assert_eq!(whole.next_bytes(), bytewise.next_bytes(), "{text}");
        }
    }
    assert!((500..2_900).contains(&refused), "{refused}");
}

#[test]
fn a_limit_on_what_has_occurred_is_an_error_that_names_it() {
    let mut matcher = strings(Limits::default().max_distinct_bytes(200)).matcher();
    matcher.accept_bytes(b"[\"one\",\"two\",").unwrap();
    let long = "x".repeat(150);
    let error = matcher.accept_bytes(format!("\"{long}\"").as_bytes()).unwrap_err();
    assert!(matches!(error, MatchError::Limit(StepError::TooManyDistinct { limit: 200, .. })), "{error}");
    assert!(error.to_string().contains("max_distinct_bytes"));
    // The matcher is where it was, and what has occurred is forgotten with the array.
    assert!(matcher.accept_bytes(b"\"one\"").is_err());
    matcher.accept_bytes(b"\"three\"]").unwrap();
}

#[test]
fn drafts_and_batches_see_what_a_matcher_of_their_own_sees() {
    let grammar = strings(Limits::default());
    let vocabulary = grammar.vocabulary();
    let id = |text: &[u8]| vocabulary.text_token(text).unwrap();
    let mut matcher = grammar.matcher();
    matcher.accept_bytes(b"[\"a\",\"b").unwrap();
    // b , ", then two ways on: a and ab; behind a: a quote, which is refused, and a letter.
    let tokens: Vec<i64> = [b"b".as_slice(), b"\",\"", b"a", b"\"", b"b", b"ab", b"\"", b"\",\""]
        .map(|text| i64::from(id(text).get()))
        .into();
    let child = [1, 2, 3, -1, -1, 6, -1, -1];
    let sibling = [-1, -1, 5, 4, -1, -1, 7, -1];
    let stride = words_for(vocabulary.len());
    let mut words = vec![0; tokens.len() * stride];
    let tree = DraftTree::from_arrays(&child, &sibling, &tokens).unwrap();
    matcher.fill_draft_masks(&tree, &mut words, stride, OtherRows::Clear, &Interrupt::never()).unwrap();
    let paths: [&[usize]; 8] = [&[], &[1], &[1, 2], &[1, 2, 3], &[1, 2, 4], &[1, 5], &[1, 5, 6], &[1, 5, 7]];
    for (place, path) in paths.into_iter().enumerate() {
        let mut fork = matcher.fork();
        let is_read =
            path.iter().all(|&node| fork.accept_token(vocabulary.id(tokens[node] as u32).unwrap()).is_ok());
        let mut row = vec![0; stride];
        if is_read {
            fork.fill_mask_words(&mut row).unwrap();
        }
        assert_eq!(words[place * stride..][..stride], row, "node {place}");
        assert_eq!(is_read, place != 3, "node {place}");
    }
    // Two texts in one state of the parser, of which one has written `ab`.
    let mut other = grammar.matcher();
    other.accept_bytes(b"[\"ab\",\"a").unwrap();
    matcher.accept_bytes(b"\",\"a").unwrap();
    let (mut first, mut second) = (vec![0; stride], vec![0; stride]);
    let mut rows = [
        BatchRow { matcher: &mut matcher, words: &mut first },
        BatchRow { matcher: &mut other, words: &mut second },
    ];
    let answers =
        BatchMatcher::new(std::sync::Arc::clone(compiler(Limits::default()).threads())).fill(&mut rows);
    assert!(answers.iter().all(Result::is_ok));
    for (matcher, words) in [(&matcher, first), (&other, second)] {
        for at in 0..vocabulary.len() as u32 {
            let id = vocabulary.id(at).unwrap();
            let bit = words[at as usize / 32] >> (at % 32) & 1 == 1;
            assert_eq!(matcher.fork().accept_token(id).is_ok(), bit, "{}", vocabulary.token_name(id));
        }
    }
}

#[test]
fn a_rule_that_is_not_behind_its_bracket_is_refused() {
    let source = "root ::= \"[\" \" \"? items\nitems[distinct=items] ::= \"1\" \"]\"";
    let error = compiler(Limits::default()).ebnf(source, &EbnfOptions::default()).unwrap_err();
    assert!(error.to_string().contains("directly behind its bracket"), "{error}");
}

#[test]
fn readings_that_do_not_agree_are_an_error() {
    let compile = |before: &str| {
        let source = format!(
            "root ::= \"{before}\" (\"[\" items | \"[1,\" \"2\" \"]\")\nitems[distinct=items] ::= \"1,1]\""
        );
        compiler(Limits::default()).ebnf(&source, &EbnfOptions::default())
    };
    let mut matcher = compile("1").unwrap().matcher();
    matcher.accept_bytes(b"1").unwrap();
    assert_eq!(matcher.accept_bytes(b"["), Err(MatchError::Limit(StepError::UnclearDistinct)));
    // Where a text begins with them, it is seen at once.
    assert!(compile("").unwrap_err().to_string().contains("in several ways"));
}

/// Derivations beside one another, of which only the first forbid that items repeat.
#[track_caller]
fn check_beside(one: &str, other: &str, rules: &str, compared: fn(usize) -> bool) {
    let right = Right::of_either(one, other, rules, compared);
    check_on::<grammask_earley::Engine>(&format!("root ::= {one} | {other}\n{rules}"), &right);
}

#[test]
fn items_that_differ_in_one_of_two_readings() {
    // Scalars; the end of the array tells the readings apart, or what follows it, or nothing does.
    let scalars = r#"
        one[distinct=items] ::= (item ("," item ("," item)?)?)? "]"
        item ::= "\"a\"" | "\"ab\"" | "1" | "12" | "null" | "true"
        other ::= (free ("," free ("," free ("," free)?)?)?)? "]"
        free ::= ("\"a\"" | "\"b\"" | "1" | "1.0" | "null" | "false") Token(4294967295)?"#;
    check_beside(r#""[" one"#, r#""[" other"#, scalars, |depth| depth == 0);
    let (one, other) = (r#""{\"i\":[" one ",\"k\":1}""#, r#""{\"i\":[" other ",\"k\":2}""#);
    check_beside(one, other, scalars, |depth| depth == 1);
    // Some items may not repeat in the other reading either.
    let some = r#"
        one[distinct=items] ::= item ("," item)? "]"
        item ::= "\"a\"" | "\"b\"" | "7" | "true"
        other ::= "\"a\"," ("\"a\"" Token(4294967295)? | "7") "]" | "7,70]" | "true,true" Token(4294967295)? "]""#;
    check_beside(r#""[" one"#, r#""[" other"#, some, |depth| depth == 0);
    // Items that are arrays and objects.
    let nested = r#"
        one[distinct=items] ::= item ("," item)? "]"
        item ::= "[" pair | "{\"x\":" ("1" | "[1]") "}" | "null"
        pair ::= ("1" | "2") Token(4294967295)? ("," ("1" | "2") Token(4294967295)?)? "]"
        inner ::= ("1" | "2" | "1,2" | "2,1") "]"
        other ::= free ("," free)? "]"
        free ::= ("[" pair | "{\"x\":1}" | "{\"y\":[" inner "}" | "null") Token(4294967295)?"#;
    check_beside(r#""[" one"#, r#""[" other"#, nested, |depth| depth == 0);
    // Arrays inside of arrays, both of which may repeat items in the other reading.
    let both = r#"
        one[distinct=items] ::= item ("," item)? "]"
        item ::= "[" inner | "null"
        inner[distinct=items] ::= ("1" | "2" | "3") ("," ("1" | "2" | "3"))? "]"
        other ::= free ("," free)? "]"
        free ::= ("[" pair | "null") Token(4294967295)?
        pair ::= ("1" | "2") Token(4294967295)? ("," ("1" | "2") Token(4294967295)?)? "]""#;
    check_beside(r#""[" one"#, r#""[" other"#, both, |_| true);
}
