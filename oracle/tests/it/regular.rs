//! Against the automata of `regex-automata`, which decide viability by dead states.

use std::cell::RefCell;
use std::collections::HashMap;

use grammask_grammar_ir::{Expr, ExprId, Grammar, GrammarBuilder};
use grammask_oracle::{Recogniser, random};
use regex_automata::dfa::{Automaton, dense};
use regex_automata::util::primitives::StateID;
use regex_automata::{Anchored, util::start};

/// A minimal automaton.
pub(crate) struct Judge {
    dfa: dense::DFA<Vec<u32>>,
    dead: RefCell<HashMap<StateID, bool>>,
}

impl Judge {
    pub(crate) fn new(pattern: &str) -> Self {
        let config = dense::Config::new()
            .minimize(true)
            .start_kind(regex_automata::dfa::StartKind::Anchored)
            .match_kind(regex_automata::MatchKind::All);
        let dfa = dense::Builder::new().configure(config).build(pattern).unwrap();
        Self { dfa, dead: RefCell::default() }
    }

    pub(crate) fn start(&self) -> StateID {
        self.dfa.start_state(&start::Config::new().anchored(Anchored::Yes)).unwrap()
    }

    pub(crate) fn step(&self, state: StateID, byte: u8) -> StateID {
        self.dfa.next_state(state, byte)
    }

    /// Whether no match can come any more. These automata report a match one byte late, in a state that may
    /// have no other use: it is not the dead state yet, but there is nothing behind it.
    pub(crate) fn is_dead(&self, state: StateID) -> bool {
        let decide = || {
            let leads_on = |byte| !self.dfa.is_dead_state(self.step(state, byte));
            self.dfa.is_dead_state(state) || !(self.accepts(state) || (0..=255).any(leads_on))
        };
        *self.dead.borrow_mut().entry(state).or_insert_with(decide)
    }

    pub(crate) fn accepts(&self, state: StateID) -> bool {
        self.dfa.is_match_state(self.dfa.next_eoi_state(state))
    }

    pub(crate) fn read(&self, text: &[u8]) -> StateID {
        text.iter().fold(self.start(), |state, &byte| self.step(state, byte))
    }
}

/// The pattern of a regular expression without regular operators.
pub(crate) fn pattern(grammar: &Grammar, expr: ExprId) -> String {
    let character = |character: char| format!("\\x{{{:X}}}", character as u32);
    match grammar.expr(expr) {
        Expr::Empty => "(?:)".to_owned(),
        Expr::Bytes(bytes) => std::str::from_utf8(bytes).unwrap().chars().map(character).collect(),
        Expr::Class([]) => "[^\\x{0}-\\x{10FFFF}]".to_owned(),
        Expr::Class(ranges) => {
            let ranges = ranges.iter().map(|&(low, high)| format!("{}-{}", character(low), character(high)));
            format!("[{}]", ranges.collect::<String>())
        }
        Expr::Sequence(parts) => parts.iter().map(|&part| pattern(grammar, part)).collect(),
        Expr::Choice(parts) => {
            let parts: Vec<_> = parts.iter().map(|&part| pattern(grammar, part)).collect();
            format!("(?:{})", parts.join("|"))
        }
        Expr::Repeat { body, min, max } => {
            let max = max.map_or(String::new(), |max| max.to_string());
            format!("(?:{}){{{min},{max}}}", pattern(grammar, body))
        }
        other => panic!("{other:?} has no pattern"),
    }
}

/// Options for regular expressions without regular operators.
pub(crate) fn plain() -> random::GrammarOptions {
    random::GrammarOptions {
        intersection_weight: 0,
        complement_weight: 0,
        json_weight: 0,
        unicode_percent: 25,
        count: 3,
        depth: 3,
        ..random::GrammarOptions::regular()
    }
}

/// Copies the body of a grammar of one rule into a builder. Test expressions are shallow.
pub(crate) fn copy(from: &Grammar, expr: ExprId, into: &mut GrammarBuilder) -> ExprId {
    let operands: Vec<_> = from.operands(expr).iter().map(|&operand| copy(from, operand, into)).collect();
    match from.expr(expr) {
        Expr::Empty => into.empty(),
        Expr::Bytes(bytes) => into.bytes(bytes),
        Expr::Class(ranges) => into.class(ranges.iter().copied()),
        Expr::Sequence(_) => into.sequence(operands),
        Expr::Choice(_) => into.choice(operands),
        Expr::Repeat { min, max, .. } => into.repeat(operands[0], min, max),
        other => panic!("{other:?} is not copied"),
    }
}

#[test]
fn random_regular_expressions() {
    for seed in 0..400 {
        let mut rng = random::Rng::new(seed);
        let grammar = random::any_grammar(&mut rng, &plain());
        let body = grammar.rule(grammar.root()).body();
        let judge = Judge::new(&pattern(&grammar, body));
        // Once as rules are read, and once as what stands below an operator is: both must agree.
        let below = crate::grammar(|builder, _| {
            let operand = copy(&grammar, body, builder);
            let complement = builder.complement(operand);
            builder.complement(complement)
        });
        for recogniser in [Recogniser::new(&grammar), Recogniser::new(&below)] {
            check(seed, &mut rng, &recogniser, &judge);
        }
    }
}

fn check(seed: u64, rng: &mut random::Rng, recogniser: &Recogniser, judge: &Judge) {
    let context = || format!("seed {seed}\n{}", recogniser.grammar());
    assert_eq!(recogniser.is_language_empty(), judge.is_dead(judge.start()), "{}", context());
    for _ in 0..3 {
        let text = random::walk(rng, recogniser, 8);
        let mut chart = recogniser.begin();
        let mut state = judge.start();
        for &byte in &text {
            assert_eq!(chart.is_complete(), judge.accepts(state), "{text:?} {}", context());
            let expected: Vec<u8> =
                (0..=255).filter(|&byte| !judge.is_dead(judge.step(state, byte))).collect();
            assert_eq!(chart.next_bytes(), expected, "{text:?} {}", context());
            assert!(chart.push(byte));
            state = judge.step(state, byte);
        }
        assert_eq!(chart.is_complete(), judge.accepts(state), "{text:?} {}", context());
    }
}
