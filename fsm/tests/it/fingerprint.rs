//! Fingerprints: equal for equal automata, and the same in every process.

use grammask_grammar_ir::GrammarBuilder;

use super::built;

/// The fingerprint of a rule of this name that repeats a text.
fn fingerprint(name: &str, text: &str) -> u128 {
    let mut builder = GrammarBuilder::new();
    let text = builder.literal(text);
    let many = builder.repeat(text, 3, Some(500));
    let root = builder.add_rule(name, many).unwrap();
    built(&builder.finish(root).unwrap()).fingerprint()
}

#[test]
fn equal_automata_have_one_fingerprint() {
    assert_eq!(fingerprint("root", "ab"), fingerprint("other", "ab"));
    assert_ne!(fingerprint("root", "ab"), fingerprint("root", "ac"));
}

/// Routers and files outlive a process. If this changes, change the words that the hash begins with.
#[test]
fn a_fingerprint_is_the_same_tomorrow() {
    insta::assert_snapshot!(format!("{:032x}", fingerprint("root", "ab")), @"3f22665f7298af547d19760d36994ac7");
}
