//! Commitment of lazy rules, against a reader that tries all ways to cut a text into terminals.
//!
//! The reader follows the definition word by word. It keeps every reading of the text so far: where its terminals began, and
//! which they were. As soon as a lazy rule matches, every other reading ends that cut the text in the same places before, and there began
//! another terminal.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use grammask_grammar_frontends::ebnf::{self, EbnfOptions};
use grammask_grammar_frontends::lark::{LarkOptions, parse};
use grammask_grammar_ir::passes::{TokenNames, TokenSort, resolve_tokens};
use grammask_oracle::Recogniser;
use grammask_oracle::random::Rng;

/// A terminal, as it is written in a rule, and its texts.
struct Terminal {
    written: &'static str,
    /// The definition, if it is a lazy rule.
    lazy: Option<&'static str>,
    has: fn(&[u8]) -> bool,
}

const fn plain(written: &'static str, has: fn(&[u8]) -> bool) -> Terminal {
    Terminal { written, lazy: None, has }
}

const fn lazy(written: &'static str, definition: &'static str, has: fn(&[u8]) -> bool) -> Terminal {
    Terminal { written, lazy: Some(definition), has }
}

fn only(text: &[u8], letters: &[u8]) -> bool {
    text.iter().all(|letter| letters.contains(letter))
}

fn ends(text: &[u8], letters: &[u8], end: &[u8]) -> bool {
    text.strip_suffix(end).is_some_and(|before| only(before, letters))
}

const TERMINALS: &[Terminal] = &[
    plain("/ +/", |text| only(text, b" ")),
    plain("\"a\"", |text| text == b"a"),
    plain("\"b\"", |text| text == b"b"),
    plain("\"c\"", |text| text == b"c"),
    plain("\"ab\"", |text| text == b"ab"),
    plain("/[ab]+/", |text| only(text, b"ab")),
    plain("/[abc]+/", |text| only(text, b"abc")),
    plain("/[ac]*b/", |text| ends(text, b"ac", b"b")),
    plain("<T>", |text| text == b"T"),
    lazy("v", "v[lazy]: \"b\"", |text| text == b"b"),
    lazy("w", "w[lazy]: /[abc]*ca/", |text| ends(text, b"abc", b"ca")),
    lazy("x", "x[suffix=\"c\"]: /[ab]*/", |text| ends(text, b"ab", b"c")),
    lazy("y", "y[lazy]: /[ab]*c/", |text| ends(text, b"ab", b"c")),
    lazy("z", "z[stop=\"b\"]: /[a ]*/", |text| ends(text, b"a ", b"b")),
    lazy("h", "h[lazy]: /[abc]*/ <T>", |text| ends(text, b"abc", b"T")),
    lazy("m", "m[lazy, max_chars=2]: /[ab]*/ <T>", |text| text.len() <= 3 && ends(text, b"ab", b"T")),
    lazy("k", "k[lazy]: \"a\" /b*/ <T>", |text| {
        text.strip_prefix(b"a").is_some_and(|text| ends(text, b"b", b"T"))
    }),
];

/// The special token, which texts have as the letter `T`.
const TOKEN: u32 = 7;

struct Names;

impl TokenNames for Names {
    fn special(&self) -> Vec<(&str, u32)> {
        vec![("<T>", TOKEN)]
    }

    fn text(&self, _: &[u8]) -> Option<u32> {
        None
    }

    fn kind(&self, id: u32) -> TokenSort {
        if id == TOKEN { TokenSort::Special } else { TokenSort::Nothing }
    }

    fn stop(&self) -> Vec<u32> {
        Vec::new()
    }

    fn count(&self) -> usize {
        1
    }
}

/// The terminal that `%ignore` skips.
const IGNORED: usize = 0;

enum Shape {
    Terminal(usize),
    Sequence(Vec<Shape>),
    Choice(Vec<Shape>),
    Repeat(Box<Shape>, usize, Option<usize>),
    Rule(usize),
}

fn shape(rng: &mut Rng, depth: usize, rules: usize) -> Shape {
    let parts = |rng: &mut Rng| (0..rng.between(2, 3)).map(|_| shape(rng, depth - 1, rules)).collect();
    match rng.below(if depth == 0 { 4 } else { 9 }) {
        0 if rules > 0 => Shape::Rule(rng.below(rules)),
        0..=2 => Shape::Terminal(rng.between(1, 8)),
        3 => Shape::Terminal(rng.between(9, TERMINALS.len() - 1)),
        4 | 5 => Shape::Sequence(parts(rng)),
        6 | 7 => Shape::Choice(parts(rng)),
        _ => {
            let (min, max) = [(0, None), (0, Some(1)), (1, None), (0, Some(2)), (2, None)][rng.below(5)];
            Shape::Repeat(Box::new(shape(rng, depth - 1, rules)), min, max)
        }
    }
}

fn write(shape: &Shape, out: &mut String) {
    let list = |parts: &[Shape], between: &str, out: &mut String| {
        out.push('(');
        for (index, part) in parts.iter().enumerate() {
            out.push_str(if index > 0 { between } else { "" });
            write(part, out);
        }
        out.push(')');
    };
    match shape {
        &Shape::Terminal(terminal) => out.push_str(TERMINALS[terminal].written),
        Shape::Sequence(parts) => list(parts, " ", out),
        Shape::Choice(parts) => list(parts, " | ", out),
        Shape::Repeat(body, min, max) => {
            list(std::slice::from_ref(body), "", out);
            let max = max.map_or(String::new(), |max| max.to_string());
            write!(out, "{{{min},{max}}}").unwrap();
        }
        Shape::Rule(rule) => write!(out, "r{rule}").unwrap(),
    }
}

/// A step of a reader: nothing is read, or a terminal.
type Arrow = (usize, Option<usize>, usize);

/// The rules as one automaton over terminals.
struct Automaton<'s> {
    rules: &'s [Shape],
    skips: bool,
    states: usize,
    arrows: Vec<Arrow>,
}

impl Automaton<'_> {
    fn state(&mut self) -> usize {
        self.states += 1;
        self.states - 1
    }

    /// Draws a shape from a state, and returns the state after it.
    fn draw(&mut self, shape: &Shape, from: usize) -> usize {
        match shape {
            &Shape::Terminal(terminal) => {
                let to = self.state();
                self.arrows.push((from, Some(terminal), to));
                if self.skips {
                    let after = self.state();
                    self.arrows.push((to, Some(IGNORED), after));
                    self.arrows.push((to, None, after));
                    return after;
                }
                to
            }
            Shape::Sequence(parts) => parts.iter().fold(from, |from, part| self.draw(part, from)),
            Shape::Choice(parts) => {
                let to = self.state();
                for part in parts {
                    let end = self.draw(part, from);
                    self.arrows.push((end, None, to));
                }
                to
            }
            Shape::Repeat(body, min, max) => {
                let mut at = from;
                for _ in 0..*min {
                    at = self.draw(body, at);
                }
                let to = self.state();
                self.arrows.push((at, None, to));
                match max {
                    Some(max) => {
                        for _ in *min..*max {
                            at = self.draw(body, at);
                            self.arrows.push((at, None, to));
                        }
                    }
                    None => {
                        let first = self.state();
                        self.arrows.push((at, None, first));
                        let last = self.draw(body, first);
                        self.arrows.push((last, None, first));
                        self.arrows.push((last, None, to));
                    }
                }
                to
            }
            &Shape::Rule(rule) => {
                let rules = self.rules;
                self.draw(&rules[rule], from)
            }
        }
    }

    /// The states that are reached from one without reading.
    fn closure(&self, from: usize) -> BTreeSet<usize> {
        let (mut met, mut stack) = (BTreeSet::new(), vec![from]);
        while let Some(state) = stack.pop() {
            if met.insert(state) {
                let next = self.arrows.iter().filter(|arrow| arrow.0 == state && arrow.1.is_none());
                stack.extend(next.map(|arrow| arrow.2));
            }
        }
        met
    }
}

/// A reading of a text so far.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Reading {
    /// Where its terminals began, and which they are.
    cut: Vec<(usize, usize)>,
    /// The state after the last of them.
    state: usize,
    /// Whether that one may end here. The same reading where it goes on stands for itself.
    has_ended: bool,
}

fn accepts(automaton: &Automaton<'_>, last: usize, text: &[u8]) -> bool {
    let begin = |reading: &Reading, at: usize| -> Vec<Reading> {
        let reached = automaton.closure(reading.state);
        let arrows = automaton.arrows.iter().filter(|arrow| reached.contains(&arrow.0));
        let begun = arrows.filter_map(|&(_, terminal, state)| {
            let mut cut = reading.cut.clone();
            cut.push((at, terminal?));
            Some(Reading { cut, state, has_ended: false })
        });
        begun.collect()
    };
    let start = Reading { cut: Vec::new(), state: 0, has_ended: true };
    let mut readings: BTreeSet<Reading> = begin(&start, 0).into_iter().collect();
    let mut ended: Vec<Reading> = vec![start];
    for end in 1..=text.len() {
        let does_end = |reading: &Reading| {
            let &(from, terminal) = reading.cut.last().unwrap();
            (TERMINALS[terminal].has)(&text[from..end])
        };
        let is_lazy = |reading: &Reading| TERMINALS[reading.cut.last().unwrap().1].lazy.is_some();
        ended = readings.iter().filter(|reading| does_end(reading)).cloned().collect();
        ended.iter_mut().for_each(|reading| reading.has_ended = true);
        readings.retain(|reading| !does_end(reading) || !is_lazy(reading));
        let committed: BTreeSet<Vec<(usize, usize)>> =
            ended.iter().filter(|reading| is_lazy(reading)).map(|reading| reading.cut.clone()).collect();
        let survives = |reading: &Reading| {
            let took = reading.has_ended && committed.contains(&reading.cut);
            let is_beside = |taken: &Vec<(usize, usize)>| {
                let place = taken.len() - 1;
                let began = reading.cut.get(place).is_some_and(|other| other.0 == taken[place].0);
                let is_cut_alike = |index: usize| reading.cut[index].0 == taken[index].0;
                began && (0..place).all(is_cut_alike)
            };
            took || !committed.iter().any(is_beside)
        };
        ended.retain(survives);
        readings.retain(survives);
        for reading in &ended {
            readings.extend(begin(reading, end));
        }
    }
    ended.iter().any(|reading| automaton.closure(reading.state).contains(&last))
}

fn texts(letters: &[u8], longest: usize) -> Vec<Vec<u8>> {
    let (mut texts, mut last) = (vec![Vec::new()], vec![Vec::new()]);
    for _ in 0..longest {
        let longer = |text: &Vec<u8>| {
            letters.iter().map(|&letter| [&text[..], &[letter]].concat()).collect::<Vec<Vec<u8>>>()
        };
        last = last.iter().flat_map(longer).collect();
        texts.extend_from_slice(&last);
    }
    texts
}

/// A number that a longer run asks for: `GRAMMASK_CASES`, `GRAMMASK_SEED`.
fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(usual)
}

/// A terminal that ends a rule is as good as its own text or pattern.
#[test]
fn terminals_end_rules() {
    for end in ["\"b\"", "\"B\"i", "/b+c?/"] {
        for attribute in ["suffix", "stop"] {
            let read = |end: &str, terminal: &str| {
                let source = format!("start: t \"a\"\nt[{attribute}={end}]: /[abc]*/\n{terminal}");
                parse(&source, &LarkOptions::default())
            };
            let (named, written) = (read("END", &format!("END: {end}")).unwrap(), read(end, "").unwrap());
            let (named, written) = (Recogniser::new(&named), Recogniser::new(&written));
            for text in texts(b"abc", 5) {
                assert_eq!(named.accepts(&text), written.accepts(&text), "{end} {:?}", text.escape_ascii());
            }
            // Compound terminals end no rule.
            for other in ["END: \"b\" | \"c\"", "END[lazy]: \"b\"", "END: OTHER\nOTHER: \"b\"", ""] {
                let refused = read("END", other).unwrap_err().to_string();
                assert!(refused.contains("a terminal that is one of these"), "{refused}");
            }
        }
    }
}

/// A rule that ends with a special token commits, too: alone where it may begin, or nothing is compiled.
#[test]
fn special_tokens_end_lazy_rules() {
    let read = |source: &str| parse(source, &LarkOptions::default());
    let call = "tool: head \"{}\" </T>\nhead[lazy]: TEXT <T>\nTEXT: /(.|\\n)*/\n";
    for start in [
        "start: tool* tail\ntail: TEXT",
        "start: (think | tool)* tail\nthink[lazy]: TEXT \"<think>\"\ntail: TEXT",
        "start: tool* tail\ntail: TEXT\n%ignore \" \"",
        "start: (other | tool)* tail\nother: other_head \"[]\"\nother_head[lazy]: TEXT <U>\ntail: TEXT",
        "start: (text | tool)*\ntext: TEXT",
        "start: think? tool* tail\nthink: <think> TEXT </think>\ntail: TEXT",
    ] {
        let grammar = read(&format!("{start}\n{call}")).unwrap().to_string();
        assert!(grammar.contains("Token(SpecialToken(\"<T>\"))"), "{grammar}");
        let again = ebnf::parse(&grammar, &EbnfOptions::default()).unwrap();
        assert_eq!(again.to_string(), grammar);
    }
    let refused = |source: &str| read(source).unwrap_err().to_string();
    for (start, part) in [
        ("start: tool* tail (<T> TEXT)?\ntail: TEXT", "1:20: error: the lazy rule `head`"),
        ("start: tool* <[*]>*", "1:14: error: the lazy rule `head`"),
        ("start: tool* tail <[5-9]>?\ntail: TEXT", "1:19: error: the lazy rule `head`"),
        ("start: tool* | /[a-z]/ tool", "1:16: error: the lazy rule `head`"),
    ] {
        let report = refused(&format!("{start}\n{call}"));
        assert!(report.starts_with(part) && report.contains("special token"), "{start}: {report}");
    }
    for (head, part) in [
        ("head[lazy]: /a/ <[5]>", "2:17: error: a lazy rule ends with a special token that has a name"),
        ("head[lazy]: <T> /a/", "2:13: error: this can stand in a rule, but not in a terminal"),
        ("head[stop=\"b\"]: /a*/ <T>", "2:22: error: this can stand in a rule, but not in a terminal"),
    ] {
        let report = refused(&format!("start: head\n{head}"));
        assert!(report.starts_with(part), "{head}: {report}");
    }
}

#[test]
fn lazy_rules_commit_as_defined() {
    let (cases, seed) = (number("GRAMMASK_CASES", 1_000), number("GRAMMASK_SEED", 0));
    let [plain, spaced] = [texts(b"abc", 5), texts(b"abc ", 4)];
    let [marked, spaced_marked] = [texts(b"abcT", 4), texts(b"abcT ", 3)];
    let (mut with_lazy, mut compiled) = (0, 0);
    for seed in seed..seed + cases {
        let mut rng = Rng::new(seed);
        let rules: Vec<Shape> = (0..rng.below(3))
            .scan(0, |count, _| {
                *count += 1;
                Some(shape(&mut rng, 1, *count - 1))
            })
            .collect();
        let start = shape(&mut rng, 2, rules.len());
        let skips = rng.below(3) == 0;
        let mut source = String::from("start: ");
        write(&start, &mut source);
        for (index, rule) in rules.iter().enumerate() {
            write!(source, "\nr{index}: ").unwrap();
            write(rule, &mut source);
        }
        let (used, mut has_lazy) = (source.clone(), false);
        for terminal in TERMINALS {
            if let Some(definition) = terminal.lazy
                && used.contains(terminal.written)
            {
                write!(source, "\n{definition}").unwrap();
                has_lazy = true;
            }
        }
        if skips {
            source += "\n%ignore \" \"";
        }
        with_lazy += usize::from(has_lazy);
        let Ok(grammar) = parse(&source, &LarkOptions::default()) else { continue };
        compiled += usize::from(has_lazy);
        let mut automaton = Automaton { rules: &rules, skips, states: 1, arrows: Vec::new() };
        let last = automaton.draw(&start, 0);
        let resolved = resolve_tokens(&grammar, &Names).unwrap();
        let recogniser = Recogniser::new(&resolved);
        let has_token = source.contains("<T>");
        let read = |text: &[u8]| {
            let mut chart = recogniser.begin();
            let mut symbols = text.iter();
            symbols.all(|&symbol| if symbol == b'T' { chart.push_token(TOKEN) } else { chart.push(symbol) })
                && chart.is_complete()
        };
        for text in match (skips, has_token) {
            (false, false) => &plain,
            (false, true) => &marked,
            (true, false) => &spaced,
            (true, true) => &spaced_marked,
        } {
            let wanted = accepts(&automaton, last, text);
            let is_read = read(text);
            let text = String::from_utf8_lossy(text);
            assert_eq!(is_read, wanted, "seed {seed}, {text:?}\n{source}\n{grammar}");
        }
    }
    assert!(3 * compiled > with_lazy, "{compiled} of {with_lazy} are read");
}

/// `ignore_once` skips once, and `allow_invalid_utf8` allows no pattern that no text matches.
#[test]
fn options_of_llguidance_are_honoured() {
    let accepts = |options: &str, rest: &str, text: &str| {
        let source = format!("%llguidance {options}\n{rest}");
        let grammar = parse(&source, &LarkOptions::default()).unwrap();
        Recogniser::new(&grammar).accepts(text.as_bytes())
    };
    let spaced = "start: \"a\" \"b\"\n%ignore \" \"\n%ignore /-+/";
    for (text, once, often) in [
        ("ab", true, true),
        ("a b", true, true),
        ("a--b", true, true),
        ("a  b", false, true),
        ("a -b", false, true),
    ] {
        assert_eq!(accepts("{\"ignore_once\": true}", spaced, text), once, "{text}");
        assert_eq!(accepts("{\"ignore_once\": false}", spaced, text), often, "{text}");
    }
    assert!(!accepts("{\"ignore_once\": true, \"allow_initial_skip\": true}", spaced, "  ab"));
    assert!(accepts("{\"ignore_once\": true, \"allow_initial_skip\": true}", spaced, " ab"));
    assert!(accepts("{\"allow_invalid_utf8\": true}", "start: /./", "\u{ff}"));
    let source = "%llguidance {\"allow_invalid_utf8\": true}\nstart: /(?-u:\\xff)/";
    let refused = parse(source, &LarkOptions::default()).unwrap_err().to_string();
    assert!(refused.starts_with("2:"), "{refused}");
}
