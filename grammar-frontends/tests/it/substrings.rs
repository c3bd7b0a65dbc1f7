//! Stretches of a text: every one of them, and no other, in few rules.

use std::collections::BTreeSet;

use grammask_fsm::TextLimits;
use grammask_fsm::text::TextAutomaton;
use grammask_grammar_frontends::lark::{self, LarkOptions};

#[test]
fn the_rules_spell_every_stretch_and_no_other() {
    for length in 0..=7_u32 {
        for number in 0..3_usize.pow(length) {
            let digits = (0..length).map(|digit| number / 3_usize.pow(digit) % 3);
            let text: String = digits.map(|digit| ["a", "b", "c"][digit]).collect();
            let stretches = (0..=text.len()).flat_map(|end| (0..=end).map(move |start| start..end));
            let wanted: BTreeSet<&str> = stretches.map(|range| &text[range]).collect();
            let source = format!("start: %regex {{\"substring_chars\": \"{text}\"}}");
            let grammar = lark::parse(&source, &LarkOptions::default()).unwrap();
            let body = grammar.rule(grammar.root()).body();
            let automaton = TextAutomaton::from_expr(&grammar, body, &TextLimits::default()).unwrap();
            let found = automaton.texts(100).unwrap();
            assert!(found.iter().eq(&wanted), "{text}: {found:?}");
            assert!(
                grammar.rule_count() <= 2 + 2 * text.len().max(1),
                "{text}: {} rules",
                grammar.rule_count()
            );
        }
    }
}
