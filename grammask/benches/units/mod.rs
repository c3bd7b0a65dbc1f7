//! Work that ends at its limit, after as many units as the limit says: what a unit takes, wherever it is charged.

use std::fmt::Display;

use grammask::fsm::TextLimits;
use grammask::tuning::CompileOptions;
use grammask::{Compiler, EbnfOptions, JsonSchemaOptions, Limits};

/// Units of every limit here. `cargo xtask bench instructions` divides by it.
pub(crate) const UNITS: u16 = 50_000;

/// A call that ends at its limit.
pub(crate) type Limited = Box<dyn FnOnce() -> Result<(), String>>;

fn said<T, E: Display>(result: Result<T, E>) -> Result<(), String> {
    result.map(drop).map_err(|error| error.to_string())
}

fn rules(count: usize, rule: impl Fn(usize) -> String) -> String {
    (0..count).map(|number| rule(number) + "\n").collect()
}

fn joined(count: usize, separator: &str, item: impl Fn(usize) -> String) -> String {
    (0..count).map(item).collect::<Vec<_>>().join(separator)
}

/// A limit of this many units on each call of a matcher.
fn on_calls() -> Limits {
    Limits::default().max_work_per_call(u64::from(UNITS))
}

/// The mask after a text of a grammar.
pub(crate) fn mask(source: &str, text: &str) -> Limited {
    let compiler = Compiler::builder(crate::vocabulary()).limits(on_calls()).build();
    let grammar = compiler.ebnf(source, &EbnfOptions::default()).expect("the grammar is sound");
    let mut matcher = grammar.matcher();
    matcher.accept_bytes(text.as_bytes()).expect("the text begins one of the grammar");
    Box::new(move || said(matcher.mask()))
}

/// A text of a grammar.
pub(crate) fn text(source: &str, text: String) -> Limited {
    let compiler = Compiler::builder(crate::vocabulary()).limits(on_calls()).build();
    let grammar = compiler.ebnf(source, &EbnfOptions::default()).expect("the grammar is sound");
    let mut matcher = grammar.matcher();
    Box::new(move || said(matcher.accept_bytes(text.as_bytes())))
}

/// The shortest ending of a grammar's text.
pub(crate) fn ending(source: &str) -> Limited {
    let compiler = Compiler::builder(crate::vocabulary()).limits(on_calls()).build();
    let grammar = compiler.ebnf(source, &EbnfOptions::default()).expect("the grammar is sound");
    // The first call also makes tables that later calls share. The second one is counted, without them.
    let _ = grammar.matcher().shortest_ending(100_000);
    let mut matcher = grammar.matcher();
    Box::new(move || said(matcher.shortest_ending(100_000)))
}

/// A schema whose alternatives are combined.
pub(crate) fn schema(source: String) -> Limited {
    let mut options = JsonSchemaOptions::default();
    options.limits.work = usize::from(UNITS);
    let compiler = crate::compiler();
    Box::new(move || said(compiler.json_schema(&source, &options)))
}

/// A grammar with operators on automata of texts.
pub(crate) fn operators(source: String) -> Limited {
    let text = TextLimits::default().max_total_steps(usize::from(UNITS));
    let automata = CompileOptions::default().text(text);
    let compiler = Compiler::builder(crate::vocabulary()).automata(automata).build();
    Box::new(move || said(compiler.ebnf(&source, &EbnfOptions::default())))
}

/// Rules of three parts that may each be empty, which call one another.
pub(crate) fn cubes() -> String {
    let names = joined(20_000, " | ", |n| format!("r{n}"));
    let cubes = rules(20_000, |n| {
        format!("r{n} ::= (x{n} x{n} x{n})*\nx{n} ::= \"a\"? \"b\"? r{}?", (7 * n + 1) % 20_000)
    });
    format!("root ::= ({names})*\n{cubes}")
}

/// Rules that may each be empty and call two others twice.
pub(crate) fn squares() -> String {
    let squares = rules(100, |n| {
        let next = format!("(r{} | r{})", (n + 1) % 100, (37 * n + 5) % 100);
        format!(r#"r{n} ::= {next} "a"? {next} | """#)
    });
    format!("root ::= r0\n{squares}")
}

/// A ring of rules that may each be empty, and another letter once round.
pub(crate) fn ring() -> String {
    let ring = rules(5_000, |n| format!(r#"r{n} ::= "a"? r{}?"#, n + 1));
    format!("root ::= r0\n{ring}r5000 ::= \"a\" | r0 \"b\"")
}

/// Rules that may each begin with many others.
pub(crate) fn dense_rules(count: usize) -> String {
    let dense = rules(count, |n| {
        let calls = joined(count, " | ", |m| format!("r{m} r{}", (7 * m + n) % count));
        format!("r{n} ::= \"a\" | {calls}")
    });
    format!("root ::= \"<\" r0\n{dense}")
}

/// A long chain of calls. Each rule ends with a call of another rule, or with letters.
pub(crate) fn many_calls() -> String {
    let rules = rules(30, |n| format!("r{n} ::= \"({n}\" (r{} | \"a\"+) \")\"", (n + 1) % 30));
    let calls = joined(30, " | ", |n| format!("r{n}"));
    format!("root ::= ({calls}){{20000}}\n{rules}")
}

/// Alternatives which all go on after each letter.
pub(crate) fn counts_in_step() -> String {
    let counts = joined(3_000, " | ", |n| format!("(\"a\"{{{},{}}} \"b\")", 2 * n + 40, 2 * n + 41));
    format!("root ::= {counts}")
}

/// A `oneOf` over objects; each of them has one name of its own.
pub(crate) fn one_of_objects() -> String {
    let objects = joined(200, ",", |n| {
        format!(r#"{{"type":"object","properties":{{"k{n}":{{"type":"integer"}}}},"required":["k{n}"]}}"#)
    });
    format!(r#"{{"oneOf":[{objects}]}}"#)
}

/// Names that demand one another.
pub(crate) fn chain_of_names() -> String {
    let names = joined(2_000, ",", |n| format!(r#""k{n}":["k{}"]"#, n + 1));
    format!(r#"{{"type":"object","dependentRequired":{{{names}}}}}"#)
}

/// Texts that are put to patterns.
pub(crate) fn texts_under_patterns() -> String {
    let patterns = joined(60, ",", |n| format!(r#"{{"not":{{"pattern":"^a*{n}b*$"}}}}"#));
    let texts = joined(2_000, ",", |n| format!(r#""aaaaaaaaaaaaaaa{n}""#));
    format!(r#"{{"allOf":[{patterns}],"enum":[{texts}]}}"#)
}

/// Names of properties that are put to patterns of names.
pub(crate) fn names_under_patterns() -> String {
    let patterns = joined(200, ",", |n| format!(r#""^n?a*{n}":{{"minimum":{n}}}"#));
    let names = joined(1_000, ",", |n| format!(r#""naaaaa{n}":{{}}"#));
    format!(r#"{{"type":"object","properties":{{{names}}},"patternProperties":{{{patterns}}}}}"#)
}

/// A complement that needs a state for each set of the last letters.
pub(crate) fn complement() -> String {
    "root ::= Complement(Regex(\"(a|b)*a(a|b){18}\"))".to_owned()
}

/// A complement whose states are large sets, spread over a large automaton.
pub(crate) fn search() -> String {
    let parts = joined(100, "", |_| ".*a.{100}b".to_owned());
    format!("root ::= Complement(Regex(\"{parts}\"))")
}
