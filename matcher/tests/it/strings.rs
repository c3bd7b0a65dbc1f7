//! Masks inside strings, where slices and local parts come in: every token of up to three letters.

use grammask_fsm::CompileOptions;
use grammask_grammar_frontends::ebnf;
use grammask_mask_cache::{MaskOptions, Toggle, TokenMask, Vocabulary, VocabularyOptions};
use grammask_matcher::{BuildBackend, CompiledGrammar, Compiler};
use grammask_oracle::random::Rng;

const ALPHABET: [&[u8]; 9] = [b"a", b"b", b"\"", b":", b",", b"{", b"}", "é".as_bytes(), b"\xc3"];

fn vocabulary() -> Vocabulary {
    let mut tokens: Vec<Vec<u8>> = vec![Vec::new()];
    for _ in 0..3 {
        let longer: Vec<Vec<u8>> = tokens
            .iter()
            .flat_map(|token| ALPHABET.iter().map(move |letter| [token, *letter].concat()))
            .collect();
        tokens.extend(longer);
        tokens.sort();
        tokens.dedup();
    }
    // A string may begin behind a space.
    let spaced = tokens.iter().filter(|token| token.first() == Some(&b'"'));
    let spaced: Vec<Vec<u8>> = spaced.map(|token| [b" ".as_slice(), token].concat()).collect();
    tokens.extend(spaced);
    // Every byte that the class of the strings' inside can begin with, so that slices apply.
    tokens.extend((0..=255u8).map(|byte| vec![byte]));
    // Some tokens twice, and one too long for a trie.
    tokens.extend([b"a\",".to_vec(), b"ab".to_vec(), [b"b".repeat(300), b"\"}".to_vec()].concat()]);
    // Some that a bound on a string's length lets pass only sometimes.
    tokens.extend([17, 20, 33, 45].map(|length| b"a".repeat(length)));
    tokens.extend([10, 21].map(|length| b"ab".repeat(length)));
    let stop = tokens.len() as u32;
    let options = VocabularyOptions::default().stop_ids([stop]);
    Vocabulary::from_tokens(tokens.into_iter().map(Some).chain([None]), &options).unwrap()
}

/// Walks a grammar at random, comparing every mask with what the matcher accepts: with both backends, without context
/// expansion and with it. Returns how many uncertain tokens there were, and how many context expansion left.
#[track_caller]
fn check(source: &str) -> [u64; 2] {
    check_on::<grammask_pda::Engine>(source, Toggle::Off);
    check_on::<grammask_earley::Engine>(source, Toggle::Off);
    let [of_stacks, of_items] = [
        check_on::<grammask_pda::Engine>(source, Toggle::On),
        check_on::<grammask_earley::Engine>(source, Toggle::On),
    ];
    [0, 1].map(|index| of_stacks[index] + of_items[index])
}

#[track_caller]
fn check_on<B: BuildBackend>(source: &str, expansion: Toggle) -> [u64; 2] {
    let mut options = MaskOptions::default();
    options.context_expansion = expansion;
    // However short a bound on a length is, it is counted.
    let automata = CompileOptions::default().min_counted_pairs(0);
    let builder = Compiler::builder(vocabulary()).masks(options).automata(automata);
    let compiler = builder.backend::<B>().build();
    let grammar = compiler.grammar(&ebnf::parse(source, &Default::default()).unwrap()).unwrap();
    let mut rng = Rng::new(source.len() as u64);
    for _ in 0..6 {
        walk(&grammar, &mut rng, source);
    }
    let masks = grammar.stats().masks;
    assert!(expansion == Toggle::On || masks.uncertain_left == masks.uncertain, "nothing is narrowed");
    [masks.uncertain, masks.uncertain_left]
}

fn walk<B: BuildBackend>(grammar: &CompiledGrammar<B>, rng: &mut Rng, source: &str) {
    let vocabulary = grammar.vocabulary();
    let mut matcher = grammar.matcher();
    let mut text = Vec::new();
    // One mask for the whole walk: filling it builds on what it held.
    let mut mask = TokenMask::new(vocabulary.len());
    for _ in 0..25 {
        matcher.fill_mask(&mut mask).unwrap();
        let mut allowed = Vec::new();
        for id in (0..vocabulary.len() as u32).filter_map(|id| vocabulary.id(id)) {
            // A refused token changes nothing, and one step back undoes another: a fork for each takes twice the time.
            let accepted = matcher.accept_token(id).is_ok();
            if accepted {
                matcher.rollback(1).unwrap();
            }
            assert_eq!(
                mask.contains(id),
                accepted,
                "{source}: {:?} after {:?}",
                String::from_utf8_lossy(vocabulary.token_bytes(id)),
                String::from_utf8_lossy(&text)
            );
            // Longer texts come of letters that have a token of their own.
            if accepted && vocabulary.token_bytes(id).iter().all(|byte| byte.is_ascii_graphic()) {
                allowed.push(id);
            }
        }
        let Some(&id) = rng.pick(&allowed) else { return };
        if matcher.accept_token(id).is_err() || matcher.is_terminated() {
            return;
        }
        text.extend_from_slice(vocabulary.token_bytes(id));
    }
}

const OBJECT: &str = r#"
root ::= "{" (pair ("," pair)*)? "}"
pair ::= name ":" (text | root | number)
number ::= [0-9]+
"#;

#[test]
fn free_strings() {
    let [uncertain, left] =
        check(&format!("{OBJECT}\nname ::= text\ntext ::= \"\\\"\" [^\"\\\\\\x00-\\x1f]* \"\\\"\""));
    // Tokens that go on with a letter are not uncertain: behind a string come a colon, a comma or a bracket.
    assert!(0 < left && left <= uncertain, "{left} of {uncertain}");
}

#[test]
fn counted_strings() {
    for bounds in ["{0,40}", "{20,}", "{18,37}", "{3,200}", "{50}"] {
        check(&format!("{OBJECT}\nname ::= text\ntext ::= \"\\\"\" [^\"\\\\\\x00-\\x1f]{bounds} \"\\\"\""));
    }
}

#[test]
fn counted_strings_in_counted_lists() {
    check(
        "root ::= \"{\" (item \",\"){2,40} item \"}\"\nitem ::= text | \"{\" text \":\" text \"}\"\n\
         text ::= \"\\\"\" [^\"\\\\\\x00-\\x1f]{0,30} \"\\\"\"",
    );
}

/// Words under a bound on their number, or on the length of all of them: texts of many characters pass for certain.
#[test]
fn words_under_a_bound() {
    for (bound, all) in [("{0,30}", ""), ("{0,18}", ""), ("{0,5}", "{0,40}"), ("{0,20}", "{3,60}")] {
        let words = format!("([^b\"\\\\\\x00-\\x1f]+ \"b\"+){bound} [^b\"\\\\\\x00-\\x1f]+");
        let bounded = if all.is_empty() {
            format!("JsonEscaped({words})")
        } else {
            format!("JsonEscaped(Intersection({words}, [^]{all}))")
        };
        check(&format!("{OBJECT}\nname ::= text\ntext ::= \"\\\"\" {bounded} \"\\\"\""));
        if all.is_empty() {
            check(&format!("{OBJECT}\nname ::= text\ntext ::= \"\\\"\" {words} \"\\\"\""));
        }
    }
}

/// The spellings of strings.
const SPELLINGS: [&str; 4] = ["JsonEscaped", "JsonPrinted", "JsonNeeded", "JsonAscii"];

/// Patterns with a bound on their length, in strings and outside of them, in repeats and in recursion.
#[test]
fn measured_texts() {
    let patterns = [
        ("[^]* \"b\"", "{0,40}"),
        ("([a-c]+ \":\")* [^b]+", "{2,50}"),
        ("\"a\"* \"b\"* \"é\"* \"ab\"?", "{0,23}"),
        ("(\"ab\" | \"b\" \"a\"+)*", "{0,61}"),
        ("[^a]* \"abba\" [^]*", "{3,30}"),
    ];
    for (pattern, length) in patterns {
        let bounded = format!("Intersection({pattern}, [^]{length})");
        let inside = format!("JsonEscaped(Intersection({pattern}, [^\"\\\\\\x00-\\x1f]*, [^]{length}))");
        for spelled in SPELLINGS {
            check(&format!("{OBJECT}\nname ::= text\ntext ::= \"\\\"\" {spelled}({bounded}) \"\\\"\""));
        }
        check(&format!("{OBJECT}\nname ::= text\ntext ::= \"\\\"\" {inside} \"\\\"\""));
        check(&format!("root ::= \"{{\" (text \",\"){{0,9}} text \"}}\"\ntext ::= {bounded}"));
        check(&format!(
            "root ::= text | text \",\" root\ntext ::= {bounded} \"}}\" | \"{{\" root \"}}\" {bounded}"
        ));
    }
}

#[test]
fn excluded_names() {
    for spelled in SPELLINGS {
        for names in ["\"ab\" | \"abba\" | \"b\" | \"é\"", "\"ab\" | \"abba\" | \"b\" | \"}\""] {
            check(&format!(
                "{OBJECT}\nname ::= \"\\\"\" {spelled}(Complement({names})) \"\\\"\"\n\
                 text ::= \"\\\"\" {spelled}([^]*) \"\\\"\""
            ));
        }
    }
}

/// Tokens that open a string are known beforehand, by themselves and behind a space.
#[test]
fn strings_behind_whitespace() {
    let text = r#"text ::= "\"" [^"\\\x00-\x1f]"#;
    let name = r#"name ::= "\"" JsonEscaped(Complement("ab" | "b" | "é")) "\"" | "\"ab\"""#;
    for (spaces, bound) in
        [("*", "*"), ("{0,3}", "{0,40}"), ("{0,2}", "{0,1}"), ("?", "{0}"), ("{0,30}", "{2,}")]
    {
        check(&format!(
            r#"root ::= "{{" ws (pair ("," ws pair)*)? "}}" ws
pair ::= name ws ":" ws (text | root | [0-9]+) ws
ws ::= [ \t\n\r]{spaces}
{text}{bound} "\""
{name}"#
        ));
    }
}

#[test]
fn texts_that_may_end_anywhere() {
    // The rest after such a text may begin like its continuation.
    check("root ::= word (\":\" word)*\nword ::= [^:\"]* | \"\\\"\" word \"\\\"\"");
    check("root ::= line (\",\" line)* \"}\"\nline ::= [^\"]* | \"\\\"\" [^\"]* \"\\\"\" line");
}

/// A token may begin inside a counted rule that is nearly full and end behind it.
#[test]
fn tokens_reach_over_the_bound_of_a_rule() {
    let source = r#"root ::= "{" word [ab]* "}" | ":" word "b" "}"
        word ::= [ab]{1,40}"#;
    let compiler = Compiler::new(vocabulary());
    let grammar = compiler.grammar(&ebnf::parse(source, &Default::default()).unwrap()).unwrap();
    let vocabulary = grammar.vocabulary();
    for begin in ["{", ":"] {
        // Local parts are made when they are met for the second time.
        for length in (34..=40).chain(34..=40) {
            let mut matcher = grammar.matcher();
            matcher.accept_bytes(format!("{begin}{}", "a".repeat(length)).as_bytes()).unwrap();
            let mut mask = TokenMask::new(vocabulary.len());
            matcher.fill_mask(&mut mask).unwrap();
            for id in (0..vocabulary.len() as u32).filter_map(|id| vocabulary.id(id)) {
                let token = String::from_utf8_lossy(vocabulary.token_bytes(id));
                let accepted = matcher.fork().accept_token(id).is_ok();
                assert_eq!(mask.contains(id), accepted, "{token:?} after {begin} and {length} letters");
            }
        }
    }
}
