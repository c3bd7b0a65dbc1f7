//! Parts that grammars have in common: copied tables read what written ones read, and no part is taken for another.

use grammask_fsm::{CompileOptions, Program, Toggle, compile};
use grammask_grammar_ir::{Grammar, GrammarBuilder};

use crate::{built, check};

/// Lists of a letter, in brackets, nested, with blanks that are counted, inside a text that a grammar has for
/// itself. The common rule is the list; `extra` rules before it move its number.
fn lists(letter: &str, extra: usize, most_blanks: u32) -> Grammar {
    let mut builder = GrammarBuilder::new();
    let root = builder.declare("root").unwrap();
    for index in 0..extra {
        let literal = builder.literal("x");
        builder.add_rule(&format!("extra{index}"), literal).unwrap();
    }
    let list = builder.declare_fresh("list").unwrap();
    let blank = builder.class([(' ', ' ')]);
    let blanks = builder.repeat(blank, 0, Some(most_blanks));
    let blanks = builder.add_rule("blanks", blanks).unwrap();
    let blanks = builder.rule(blanks);
    let (open, close) = (builder.literal("["), builder.literal("]"));
    let again = builder.rule(list);
    let word = builder.literal(letter);
    let item = builder.choice([word, again]);
    let items = builder.sequence([item, blanks]);
    let items = builder.repeat(items, 0, None);
    let body = builder.sequence([open, blanks, items, close]);
    builder.define(list, body).unwrap();
    builder.add_common(list);
    let own = builder.literal("=");
    let text = builder.sequence([own, blanks, again, blanks, own]);
    builder.define(root, text).unwrap();
    builder.finish(root).unwrap()
}

fn texts(letter: &str) -> Vec<Vec<u8>> {
    let many = " ".repeat(41);
    ["=[]=", "= [ L] =", "=[L[L L]L]=", "=[[]=", "=L=", "[]", "=[]", "=[M]=", "=[L@]=", "=@[]="]
        .map(|text| text.replace('L', letter).replace('@', &many).into_bytes())
        .to_vec()
}

#[test]
fn copied_parts_read_what_written_ones_read() {
    for (letter, extra, blanks) in [("a", 0, 40), ("a", 3, 40), ("b", 1, 40), ("a", 2, 41), ("a", 5, 3)] {
        let grammar = lists(letter, extra, blanks);
        let texts = texts(letter);
        check(&grammar, texts.iter().map(Vec::as_slice));
        let copied = built(&grammar);
        let written = compile(&grammar, &CompileOptions::default().shared_rules(Toggle::Off));
        let counted =
            |program: &Program| program.fragments().filter(|fragment| fragment.count.is_some()).count();
        // Expressions outside of the part use its fragments, too.
        assert_eq!(counted(&copied), counted(&written.unwrap()), "{letter} {extra} {blanks}");
    }
}

#[test]
fn programs_do_not_depend_on_what_was_compiled_before() {
    let fingerprint = |extra| built(&lists("c", extra, 50)).fingerprint();
    let first = fingerprint(0);
    assert_eq!(fingerprint(4), first);
    // More parts than are kept.
    for blanks in 100..120 {
        check(&lists("c", 1, blanks), [b"=[c]=".as_slice(), b"=[c"]);
    }
    assert_eq!(fingerprint(7), first);
}

#[test]
fn a_part_keeps_the_names_of_its_rules() {
    let program = built(&lists("d", 2, 60));
    let names: Vec<&str> = program.fragments().map(|fragment| &*fragment.name).collect();
    assert_eq!(names, ["root", "blanks", "list"]);
}

/// A long word, and lists of them: the list is common as a whole, and so is the word, which is a part of it.
fn words(first: &str) -> Grammar {
    let mut builder = GrammarBuilder::new();
    let root = builder.declare("root").unwrap();
    let letter = builder.class([('a', 'z')]);
    let letters = builder.repeat(letter, 2, Some(90));
    let (begin, end) = (builder.literal("begin "), builder.literal(" end"));
    let word = builder.sequence([begin, letters, end]);
    let word = builder.add_rule("word", word).unwrap();
    let read = builder.rule(word);
    let list = builder.declare("list").unwrap();
    let again = builder.rule(list);
    let item = builder.choice([read, again]);
    let items = builder.repeat(item, 0, None);
    let (open, close) = (builder.literal("["), builder.literal("]"));
    let body = builder.sequence([open, items, close]);
    builder.define(list, body).unwrap();
    let order = if first == "list" { [list, word] } else { [word, list] };
    order.into_iter().for_each(|rule| builder.add_common(rule));
    let text = builder.sequence([read, again]);
    builder.define(root, text).unwrap();
    builder.finish(root).unwrap()
}

#[test]
fn a_part_of_a_common_rule_is_copied_with_it() {
    let texts = [
        "begin abc end[]",
        "begin abc end[begin de end[begin fgh end]]",
        "begin a end[]",
        "begin abc end[begin d end]",
        "begin abc end[[]",
        "[begin abc end]",
    ];
    for first in ["list", "word"] {
        let grammar = words(first);
        check(&grammar, texts.iter().map(|text| text.as_bytes()));
        // The word is written once, not in the list again.
        let written = compile(&grammar, &CompileOptions::default().shared_rules(Toggle::Off)).unwrap();
        assert_eq!(built(&grammar).state_count(), written.state_count(), "{first}");
    }
}

/// Common rules that refer to one another, in a ring.
#[test]
fn common_rules_in_a_ring() {
    const RULES: usize = 2_000;
    let mut builder = GrammarBuilder::new();
    let root = builder.declare("root").unwrap();
    let rules: Vec<_> = (0..RULES).map(|at| builder.declare(&format!("r{at}")).unwrap()).collect();
    let ends = [builder.literal("("), builder.literal(")")];
    for (at, &rule) in rules.iter().enumerate() {
        let next = builder.rule(rules[(at + 1) % RULES]);
        let inside = builder.optional(next);
        let body = builder.sequence([ends[0], inside, ends[1]]);
        builder.define(rule, body).unwrap();
        builder.add_common(rule);
    }
    let first = builder.rule(rules[0]);
    let text = builder.sequence([first, first]);
    builder.define(root, text).unwrap();
    check(&builder.finish(root).unwrap(), [b"()()".as_slice(), b"((()))(())", b"(()", b"()"]);
}
