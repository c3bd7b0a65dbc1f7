//! Small tables that programs are made of: classes of bytes, and names.

use grammask_fsm::{ByteClasses, CompileOptions, FragmentName, Program, Toggle, compile};
use grammask_grammar_ir::GrammarBuilder;

#[test]
fn classes_split_at_both_ends() {
    let classes = ByteClasses::from_ranges([(b'a', b'c'), (b'c', 255)]);
    assert_eq!(classes.count(), 4);
    assert_eq!(classes.representatives().collect::<Vec<_>>(), [0, b'a', b'c', b'd']);
    assert_ne!(classes.class(b'b'), classes.class(b'c'));
    assert_eq!(ByteClasses::from_ranges((0..=255).map(|byte| (byte, byte))).count(), 256);
    assert_eq!(ByteClasses::from_ranges([]).count(), 1);
    assert_eq!(classes.first_of_each(*b"cbacab~").collect::<Vec<_>>(), [b'c', b'b', b'~']);
}

#[test]
fn a_name_is_a_text_of_three_words() {
    let name = FragmentName::from("value".to_owned());
    assert_eq!(name, FragmentName::fixed("value"));
    assert_eq!(format!("{name:?} {name:>6}"), "\"value\"  value");
    assert_eq!(FragmentName::from(String::new()), "");
    assert_eq!(size_of::<FragmentName>(), 3 * size_of::<usize>());
}

#[test]
fn every_fragment_has_its_name() {
    let program = |names: [&str; 3]| -> Program {
        let mut builder = GrammarBuilder::new();
        let rules = names.map(|name| builder.declare(name).unwrap());
        for (at, rule) in rules.into_iter().enumerate() {
            let letter = builder.literal(["a", "b", "c"][at]);
            let next = rules.get(at + 1).map(|&next| builder.rule(next));
            let body = builder.sequence([Some(letter), next].into_iter().flatten());
            builder.define(rule, body).unwrap();
        }
        let grammar = builder.finish(rules[0]).unwrap();
        compile(&grammar, &CompileOptions::default().inlining(Toggle::Off)).unwrap()
    };
    let names = ["root", "value", "\u{e9}"];
    let short = program(names);
    assert!(short.fragments().map(|fragment| &*fragment.name).eq(names));
    // Names count as memory, each once.
    let long = program(["root", "value_of_a_longer_name", "\u{e9}"]);
    assert_eq!(long.memory_usage() - short.memory_usage(), "_of_a_longer_name".len());
}
