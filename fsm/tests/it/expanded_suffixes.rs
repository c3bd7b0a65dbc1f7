//! The texts that may follow a rule, in all of its places.

use grammask_fsm::{CompileOptions, ExpandedSuffixes, FragmentId, Program, Toggle, compile};
use grammask_grammar_ir::{Grammar, GrammarBuilder};

/// `root ::= "[" (item ",")* item "]"`, `item ::= "a"+ | "(" item{2,3} "!" ")" | root`, where items have a rule of their
/// own.
fn lists() -> Grammar {
    let mut builder = GrammarBuilder::new();
    let root = builder.declare("root").unwrap();
    let item = builder.declare("item").unwrap();
    let [open, close, comma, left, right, bang, letter] =
        ["[", "]", ",", "(", ")", "!", "a"].map(|text| builder.literal(text));
    let (item_again, root_again) = (builder.rule(item), builder.rule(root));
    let separated = builder.sequence([item_again, comma]);
    let separated = builder.repeat(separated, 0, None);
    let body = builder.sequence([open, separated, item_again, close]);
    builder.define(root, body).unwrap();
    let letters = builder.repeat(letter, 1, None);
    let counted = builder.repeat(item_again, 2, Some(3));
    let counted = builder.sequence([left, counted, bang, right]);
    let body = builder.choice([letters, counted, root_again]);
    builder.define(item, body).unwrap();
    builder.finish(root).unwrap()
}

fn program(grammar: &Grammar) -> Program {
    // Repeats stay counted, and rules stay rules.
    let options = CompileOptions::default().expand_states(0).inlining(Toggle::Off);
    compile(grammar, &options).unwrap()
}

fn named(program: &Program, name: &str) -> FragmentId {
    let found = program.fragments().position(|fragment| fragment.name == name && fragment.count.is_none());
    FragmentId::new(found.unwrap()).unwrap()
}

/// Those of the texts that may follow a rule.
fn following<'t>(rule: &str, texts: &[&'t str], max_work: u64) -> Vec<&'t str> {
    let program = program(&lists());
    let suffixes = ExpandedSuffixes::new(&program);
    let bytes: Vec<&[u8]> = texts.iter().map(|text| text.as_bytes()).collect();
    let found = suffixes.may_follow(&program, named(&program, rule), &bytes, max_work);
    assert_eq!(found.may_follow.len(), texts.len());
    texts.iter().zip(found.may_follow).filter(|&(_, may)| may).map(|(text, _)| *text).collect()
}

const TEXTS: [&str; 16] =
    ["", "!", "!)", "!)]", "!a", "(", "(a", ")", ",", ",[a", ",]", "]", "]!)", "]]],a", "]]a", "a"];

#[test]
fn what_follows_in_some_place_may_follow() {
    // After an item: the end of a list, another item of a list, another or the end of a counted repeat.
    let expected = ["", "!", "!)", "!)]", "(", "(a", ",", ",[a", "]", "]!)", "]]],a", "]]a", "a"];
    assert_eq!(following("item", &TEXTS, 1 << 20), expected);
    // A list is an item.
    assert_eq!(following("root", &TEXTS, 1 << 20), expected);
}

#[test]
fn nothing_follows_a_rule_that_stands_in_one_place_but_what_stands_there() {
    let mut builder = GrammarBuilder::new();
    let root = builder.declare("root").unwrap();
    let (word, end) = (builder.literal("w"), builder.literal("-."));
    let word = builder.add_rule("word", word).unwrap();
    let maybe = builder.literal("+");
    let maybe = builder.repeat(maybe, 0, Some(1));
    let maybe = builder.add_rule("maybe", maybe).unwrap();
    let (word, maybe) = (builder.rule(word), builder.rule(maybe));
    let body = builder.sequence([word, maybe, end]);
    builder.define(root, body).unwrap();
    let program = program(&builder.finish(root).unwrap());
    let suffixes = ExpandedSuffixes::new(&program);
    let texts: [&[u8]; 9] = [b"", b"+", b"++", b"+-", b"+-.", b"+-..", b"-.", b".", b"w"];
    let found = suffixes.may_follow(&program, named(&program, "word"), &texts, 1 << 20);
    assert_eq!(found.may_follow, [true, true, false, true, true, false, true, false, false]);
    // Nobody waits for the root.
    let found = suffixes.may_follow(&program, program.root(), &texts, 1 << 20);
    assert_eq!(found.may_follow, [true, false, false, false, false, false, false, false, false]);
}

#[test]
fn past_the_bound_on_work_every_text_may_follow() {
    assert_eq!(following("item", &TEXTS, 0), TEXTS);
    let all = following("item", &TEXTS, 1 << 20);
    for max_work in 1..200 {
        let found = following("item", &TEXTS, max_work);
        assert!(all.iter().all(|text| found.contains(text)), "{max_work}: {found:?}");
    }
}

#[test]
fn every_state_belongs_to_the_fragment_that_leads_to_it() {
    let program = program(&lists());
    let suffixes = ExpandedSuffixes::new(&program);
    for (index, fragment) in program.fragments().enumerate() {
        assert_eq!(suffixes.fragment_of(fragment.start), FragmentId::new(index));
    }
}
