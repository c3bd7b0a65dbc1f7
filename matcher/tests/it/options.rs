//! Options of rules: captures, temperatures and bounds on tokens.

use std::collections::BTreeSet;
use std::sync::Arc;

use grammask_fsm::CompileOptions;
use grammask_grammar_frontends::ebnf::{self, EbnfOptions};
use grammask_grammar_frontends::lark::{self, LarkOptions};
use grammask_grammar_frontends::regex::{Dialect, Groups, Matching, RegexOptions};
use grammask_grammar_ir::{Expr, ExprId, Grammar, RuleId};
use grammask_mask_cache::{TokenMask, Vocabulary, VocabularyOptions};
use grammask_matcher::{CaptureEnds, Compiler, CompilerBuilder, MatchError, Matcher};
use grammask_oracle::Recogniser;
use grammask_oracle::random::Rng;

fn builder(tokens: &[&str]) -> CompilerBuilder {
    let options = VocabularyOptions::default().stop_ids([tokens.len() as u32]);
    let tokens = tokens.iter().map(|token| Some(token.as_bytes().to_vec())).chain([None]);
    Compiler::builder(Vocabulary::from_tokens(tokens, &options).unwrap())
}

fn compiler(tokens: &[&str]) -> Compiler {
    builder(tokens).build()
}

fn matcher(source: &str, tokens: &[&str]) -> Matcher {
    compiler(tokens).ebnf(source, &EbnfOptions::default()).unwrap().matcher()
}

/// Captures as `name=text`, with their places.
fn captured(matcher: &mut Matcher, ends: CaptureEnds) -> Vec<String> {
    let captures = matcher.captures(ends).unwrap();
    let told = captures.into_iter().map(|capture| {
        assert_eq!(capture.bytes.len(), capture.range.len());
        format!("{}={}@{}", capture.name, String::from_utf8_lossy(&capture.bytes), capture.range.start)
    });
    told.collect()
}

#[track_caller]
fn check_captures(source: &str, text: &str, wanted: &[&str]) {
    let mut matcher = matcher(source, &["a"]);
    matcher.accept_bytes(text.as_bytes()).unwrap();
    assert_eq!(captured(&mut matcher, CaptureEnds::Longest), wanted, "{source} {text:?}");
}

/// Rules of different derivations that read the same bytes have no order.
#[track_caller]
fn check_in_any_order(source: &str, text: &str, wanted: &[&str]) {
    let mut matcher = matcher(source, &["a"]);
    matcher.accept_bytes(text.as_bytes()).unwrap();
    let mut found = captured(&mut matcher, CaptureEnds::Longest);
    found.sort();
    assert_eq!(found, wanted, "{source} {text:?}");
}

#[test]
fn what_a_rule_has_read_is_captured() {
    let source = "root ::= \"<\" name \">\" list\nname[capture] ::= [a-z]+\n\
        list[capture=\"all\"] ::= (item \",\")* item\nitem[capture] ::= [0-9]+ | \"(\" list \")\"";
    // It may have ended here.
    check_captures(source, "<ab", &["name=ab@1"]);
    check_captures(source, "<ab>", &["name=ab@1"]);
    check_captures(source, "<ab>12,", &["name=ab@1", "item=12@4"]);
    check_captures(source, "<ab>12,3", &["name=ab@1", "item=12@4", "item=3@7", "all=12,3@4"]);
    check_captures(
        source,
        "<ab>(1,2)",
        &["name=ab@1", "item=1@5", "item=2@7", "all=1,2@5", "item=(1,2)@4", "all=(1,2)@4"],
    );
}

#[test]
fn groups_with_names_are_captured() {
    let check = |options: &RegexOptions, pattern: &str, text: &str, wanted: &[&str]| {
        let mut matcher = compiler(&["a"]).regex(pattern, options).unwrap().matcher();
        matcher.accept_bytes(text.as_bytes()).unwrap();
        assert_eq!(captured(&mut matcher, CaptureEnds::Longest), wanted, "{pattern} {text:?}");
    };
    let perl = RegexOptions::default().groups(Groups::Captured);
    let ecma = perl.clone().dialect(Dialect::Ecma);
    let date = r"(?<year>[0-9]{4})-(?<month>[0-9]{2})(T([0-9]))?";
    for options in [&perl, &ecma] {
        check(options, date, "2024-07T1", &["year=2024@0", "month=07@5"]);
        check(
            options,
            "(?:(?P<word>[a-z]+),)*(?<last>[a-z]+);",
            "ab,c,d;",
            &["word=ab@0", "word=c@3", "last=d@5"],
        );
        check(options, "(?<all>(?<a>a*)b)?", "aab", &["a=aa@0", "all=aab@0"]);
        // Each way to need an anchor is a rule of its own.
        check(options, "(?<a>^a|b)c|(?<d>d$)", "ac", &["a=a@0"]);
        check(options, "(?<a>^a|b)c|(?<d>d$)", "d", &["d=d@0"]);
        // A group beside an anchor may have no text but the empty one.
        for (pattern, text, wanted) in [
            ("b$(?<g>x*)", "b", ["g=@1"]),
            ("(?<g>a*)^b", "b", ["g=@0"]),
            ("(?<g>a?)$", "a", ["g=a@0"]),
            ("(a|$)(?<g>b?)", "a", ["g=@1"]),
            ("(a|$)(?<g>b?)", "ab", ["g=b@1"]),
            ("(a|$)(?<g>b?)", "", ["g=@0"]),
            ("$(?<g>(?:x|y*)c*)^", "", ["g=@0"]),
        ] {
            check(options, pattern, text, &wanted);
        }
        // They read the same texts as plain ones.
        check(&options.clone().groups(Groups::Plain), date, "2024-07", &[]);
    }
    let search = perl.clone().matching(Matching::Search);
    check(&search, "<(?<tag>[a-z])>", "x<a>y<b>", &["tag=a@2", "tag=b@6"]);
    check(&search, "(?<a>a*)$", "b", &["a=@1"]);
    let refused =
        [("(?=a)(?<a>a)", "captures no groups"), ("(?<a$>a)", "name"), ("(?<a>a)|(?<a>b)", "taken")];
    for (pattern, part) in refused {
        let error = compiler(&["a"]).regex(pattern, &ecma).unwrap_err().to_string();
        assert!(error.contains(part), "{pattern}: {error}");
        assert!(compiler(&["a"]).regex(pattern, &ecma.clone().groups(Groups::Plain)).is_ok(), "{pattern}");
    }
}

#[test]
fn a_reading_that_is_dead_captures_nothing() {
    let source = "root ::= one \"x\" | two \"y\"\none[capture] ::= [ab]+\ntwo[capture] ::= [bc]+";
    check_in_any_order(source, "bx", &["one=b@0"]);
    check_in_any_order(source, "by", &["two=b@0"]);
    check_in_any_order(source, "b", &["one=b@0", "two=b@0"]);
    check_in_any_order(source, "bb", &["one=bb@0", "two=bb@0"]);
    check_in_any_order(source, "bbc", &["two=bbc@0"]);
    check_in_any_order(
        "root ::= one \"xx\" | two \"y\"\none[capture] ::= [a]\ntwo[capture] ::= [a] \"b\"",
        "a",
        &["one=a@0"],
    );
}

#[test]
fn captures_of_nothing_and_of_many_iterations() {
    check_captures("root ::= a \"x\"\na[capture] ::= \"b\"?", "x", &["a=@0"]);
    check_captures("root ::= a \"x\"\na ::= b?\nb[capture] ::= \"c\"*", "x", &["b=@0"]);
    check_captures("root[capture] ::= \"\"", "", &["root=@0"]);
    check_captures(
        "root ::= (w \" \"){2,100}\nw[capture] ::= [a-z]{1,40}",
        "ab c de ",
        &["w=ab@0", "w=c@3", "w=de@5"],
    );
    check_captures("root ::= w{0,90} \".\"\nw[capture] ::= [a-z]?", "ab.", &["w=a@0", "w=b@1"]);
}

#[test]
fn left_recursion_right_recursion_and_parts_in_any_order() {
    let left = "root ::= sum\nsum[capture] ::= sum \"+\" n | n\nn[capture] ::= [0-9]";
    check_captures(left, "1+2", &["n=1@0", "n=2@2", "sum=1+2@0"]);
    let right = "root ::= list\nlist[capture] ::= n \",\" list | n\nn ::= [0-9]";
    check_captures(right, "1,2,3", &["list=3@4", "list=2,3@2", "list=1,2,3@0"]);
    let any = "root ::= \"{\" Permutation(\",\", Required(a), Optional(b)) \"}\"\na[capture] ::= \"a\" [0-9]\nb[capture] ::= \"b\"";
    check_captures(any, "{b,a1}", &["b=b@1", "a=a1@3"]);
    check_captures(any, "{a1,b}", &["a=a1@1", "b=b@4"]);
}

#[test]
fn all_ends_of_an_ambiguous_capture() {
    let mut matcher = matcher("root ::= a [x]*\na[capture] ::= [x]+", &["x"]);
    matcher.accept_bytes(b"xxx").unwrap();
    assert_eq!(captured(&mut matcher, CaptureEnds::All), ["a=x@0", "a=xx@0", "a=xxx@0"]);
    assert_eq!(captured(&mut matcher, CaptureEnds::Longest), ["a=xxx@0"]);
    matcher.rollback(1).unwrap();
    assert_eq!(captured(&mut matcher, CaptureEnds::All), [""; 0]);
    matcher.accept_bytes(b"x").unwrap();
    let mut fork = matcher.fork();
    fork.accept_bytes(b"x").unwrap();
    assert_eq!(captured(&mut matcher, CaptureEnds::All), ["a=x@0"]);
    assert_eq!(captured(&mut fork, CaptureEnds::All), ["a=x@0", "a=xx@0"]);
    fork.reset();
    assert_eq!(captured(&mut fork, CaptureEnds::All), [""; 0]);
}

#[test]
fn what_ends_a_rule_of_lark_is_hidden() {
    let source = "start: thought answer\nthought[suffix=\"</think>\", capture=\"reasoning\"]: /(.|\\n)*/\nanswer[capture]: /[a-z]+/";
    let grammar = compiler(&["a"]).lark(source, &LarkOptions::default()).unwrap();
    let mut matcher = grammar.matcher();
    matcher.accept_bytes(b"so be it</think>yes").unwrap();
    assert_eq!(captured(&mut matcher, CaptureEnds::Longest), ["reasoning=so be it@0", "answer=yes@16"]);
}

/// All texts of at most this many of the letters.
fn texts(letters: &str, most: usize) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut last = all.clone();
    for _ in 0..most {
        last = last
            .iter()
            .flat_map(|text| letters.chars().map(move |letter| format!("{text}{letter}")))
            .collect();
        all.extend(last.iter().cloned());
    }
    all
}

#[test]
fn a_text_is_cut_where_its_end_begins_first() {
    let language =
        |pattern: &str| lark::parse(&format!("start: {pattern}"), &LarkOptions::default()).unwrap();
    for (body, end, letters) in [
        ("/.*/", "/[.!]/", "a.!"),
        ("/.*/", "/a?b/", "abc"),
        ("/[ab]*/", "/b|abc|cc?/", "abc"),
        ("/a*/", "/a{1,3}b/", "ab"),
        ("/.*/", "\"aba\"", "ab"),
        ("/.*/", "\"AbA\"i", "aAb"),
        ("/[ab]{0,2}/", "/.{1,2}c/", "abc"),
        ("/(é|a)*/", "/é|aé/", "aé"),
        ("/(ab|b)*/", "/a?/", "ab"),
        ("/.*/", "/b{2}|ab/", "ab"),
        ("/[ab]*/", "/a?b+/", "abc"),
        ("/(a|bb)*/", "/b+a*/", "ab"),
    ] {
        let [before, last] = [body, end].map(language);
        let [before, last] = [Recogniser::new(&before), Recogniser::new(&last)];
        let cut = |text: &str| {
            let places = text.char_indices().map(|(place, _)| place).chain([text.len()]);
            let mut cuts = places.map(|place| text.split_at(place));
            cuts.find(|(one, two)| before.accepts(one.as_bytes()) && last.accepts(two.as_bytes()))
                .map(|(one, two)| (one.to_owned(), two.to_owned()))
        };
        let source = format!("start: text\ntext[capture, stop={end}, stop_capture=\"end\"]: {body}");
        let compiled = compiler(&["a"]).lark(&source, &LarkOptions::default()).unwrap();
        let mut cuts = 0;
        for text in texts(letters, 5) {
            let is_shortest =
                !(0..text.len()).any(|end| text.is_char_boundary(end) && cut(&text[..end]).is_some());
            let wanted = cut(&text).filter(|_| is_shortest);
            let mut matcher = compiled.matcher();
            let is_whole = matcher.accept_bytes(text.as_bytes()).is_ok() && matcher.is_completed();
            assert_eq!(is_whole, wanted.is_some(), "{source} {text:?}");
            if let Some((one, two)) = wanted {
                let told = captured(&mut matcher, CaptureEnds::All);
                assert_eq!(
                    told,
                    [format!("end={two}@{}", one.len()), format!("text={one}@0")],
                    "{source} {text:?}"
                );
                cuts += 1;
            }
        }
        assert!(cuts > 0, "{source}");
    }
}

#[test]
fn the_text_before_an_end_has_a_bound() {
    let tokens = ["a", "aa", "<", "/t>", "</t>", "a<", "b"];
    let source =
        "start: think \"b\"\nthink[suffix=\"</t>\", max_tokens=2, capture, stop_capture=\"end\"]: /[^x]*/";
    let compiled = compiler(&tokens).lark(source, &LarkOptions::default()).unwrap();
    let mut matcher = compiled.matcher();
    assert_eq!(allowed(&mut matcher, &tokens).unwrap(), ["a", "aa", "<", "/t>", "</t>", "a<", "b"]);
    accept(&mut matcher, &tokens, "a");
    accept(&mut matcher, &tokens, "a<");
    // Two tokens were read of the text, so that the end must follow, or go on.
    assert_eq!(allowed(&mut matcher, &tokens).unwrap(), ["<", "/t>", "</t>"]);
    let mut fork = matcher.fork();
    accept(&mut fork, &tokens, "</t>");
    assert_eq!(allowed(&mut fork, &tokens).unwrap(), ["b"]);
    assert_eq!(captured(&mut fork, CaptureEnds::All), ["end=</t>@3", "think=aa<@0"]);
    accept(&mut matcher, &tokens, "/t>");
    assert_eq!(allowed(&mut matcher, &tokens).unwrap(), ["b"]);
    assert_eq!(captured(&mut matcher, CaptureEnds::All), ["end=</t>@2", "think=aa@0"]);
}

#[test]
fn a_bound_on_characters_may_be_far() {
    let tokens = ["a", "<", "</", "think>", "a</think>"];
    let source = "start: think\nthink[suffix=\"</think>\", max_chars=5000, capture]: /(?s:.*)/";
    let compiled = compiler(&tokens).lark(source, &LarkOptions::default()).unwrap();
    let mut matcher = compiled.matcher();
    matcher.accept_bytes(&[b'a'; 4999]).unwrap();
    assert_eq!(allowed(&mut matcher, &tokens).unwrap(), ["a", "<", "</", "a</think>"]);
    accept(&mut matcher, &tokens, "<");
    // The end may have begun with it, or it was the last character before the end.
    assert_eq!(allowed(&mut matcher, &tokens).unwrap(), ["<", "</"]);
    accept(&mut matcher, &tokens, "</");
    accept(&mut matcher, &tokens, "think>");
    let captures = matcher.captures(CaptureEnds::All).unwrap();
    assert_eq!(captures.len(), 1);
    assert_eq!(captures[0].range, 0..5000);
}

#[test]
fn the_innermost_temperature_counts() {
    let source = "root[temperature=1] ::= \"a\" (inner | \"b\") \"c\" tail\ninner[temperature=0.25] ::= [xb]+\ntail ::= \"d\"\n";
    let mut matcher = matcher(source, &["a", "b", "c", "d", "x"]);
    let mut temperatures = Vec::new();
    for text in ["a", "x", "c", "d"] {
        temperatures.push(matcher.temperature().unwrap());
        matcher.accept_bytes(text.as_bytes()).unwrap();
    }
    temperatures.push(matcher.temperature().unwrap());
    // Within `inner` its own; but it may have ended there, and then it is that of `root`.
    assert_eq!(temperatures, [Some(1.0), Some(1.0), Some(1.0), Some(1.0), None]);

    let mut matcher =
        self::matcher("root ::= \"<\" think \">\" [a-z]*\nthink[temperature=0.5] ::= [a-z]* \".\"", &["a"]);
    assert_eq!(matcher.temperature().unwrap(), None);
    matcher.accept_bytes(b"<").unwrap();
    assert_eq!(matcher.temperature().unwrap(), Some(0.5));
    matcher.accept_bytes(b"ab").unwrap();
    assert_eq!(matcher.temperature().unwrap(), Some(0.5));
    matcher.accept_bytes(b".").unwrap();
    assert_eq!(matcher.temperature().unwrap(), None);
}

/// Which tokens are allowed, by their texts; `$` for the stop token.
fn allowed(matcher: &mut Matcher, tokens: &[&str]) -> Result<Vec<String>, MatchError> {
    let mut mask = TokenMask::new(tokens.len() + 1);
    matcher.fill_mask(&mut mask)?;
    Ok(mask
        .iter()
        .map(|id| tokens.get(id.index()).map_or("$".to_owned(), |text| (*text).to_owned()))
        .collect())
}

fn accept(matcher: &mut Matcher, tokens: &[&str], text: &str) {
    let index = tokens.iter().position(|token| *token == text).unwrap();
    let id = matcher.grammar().vocabulary().id(index as u32).unwrap();
    matcher.accept_token(id).unwrap();
}

#[test]
fn a_bound_on_tokens_ends_a_rule() {
    let tokens = ["a", "aa", "<", "<a", "b"];
    let mut matcher = matcher("root ::= think \"<\" \"a\"* \"b\"\nthink[max_tokens=2] ::= [a]*", &tokens);
    assert_eq!(allowed(&mut matcher, &tokens).unwrap(), ["a", "aa", "<", "<a"]);
    accept(&mut matcher, &tokens, "aa");
    assert_eq!(allowed(&mut matcher, &tokens).unwrap(), ["a", "aa", "<", "<a"]);
    accept(&mut matcher, &tokens, "a");
    assert_eq!(allowed(&mut matcher, &tokens).unwrap(), ["<", "<a"]);
    assert!(matcher.accept_bytes(b"a").is_err(), "what has ended has ended");
    accept(&mut matcher, &tokens, "<a");
    assert_eq!(allowed(&mut matcher, &tokens).unwrap(), ["a", "aa", "b"]);
    matcher.rollback(2).unwrap();
    assert_eq!(allowed(&mut matcher, &tokens).unwrap(), ["a", "aa", "<", "<a"]);
    // Bytes are not counted.
    matcher.accept_bytes(b"aaaa").unwrap();
    assert_eq!(allowed(&mut matcher, &tokens).unwrap(), ["a", "aa", "<", "<a"]);
    accept(&mut matcher, &tokens, "a");
    assert_eq!(allowed(&mut matcher, &tokens).unwrap(), ["<", "<a"]);
}

#[test]
fn a_bound_waits_where_a_rule_cannot_end() {
    let tokens = ["(", ")", "x", "x)", ")y", "y"];
    let mut matcher =
        matcher("root ::= call \"y\"\ncall[max_tokens=1] ::= \"(\" \"x\"* \")\" \"x\"*", &tokens);
    for text in ["(", "x", "x"] {
        accept(&mut matcher, &tokens, text);
        assert_eq!(allowed(&mut matcher, &tokens).unwrap(), [")", "x", "x)", ")y"]);
    }
    accept(&mut matcher, &tokens, "x)");
    assert_eq!(allowed(&mut matcher, &tokens).unwrap(), ["y"]);
    accept(&mut matcher, &tokens, "y");
    assert_eq!(allowed(&mut matcher, &tokens).unwrap(), ["$"]);
}

#[test]
fn bounds_of_structural_tags() {
    let tokens = ["a", "<", "/t>", "</t>", "b"];
    let tag = r#"{"type": "structural_tag", "format": {"type": "tag", "begin": "b", "end": "</t>", "content":
        {"type": "any_text", "max_tokens": 2}}}"#;
    let compiled = compiler(&tokens).structural_tag(tag, &Default::default()).unwrap();
    let mut matcher = compiled.matcher();
    accept(&mut matcher, &tokens, "b");
    accept(&mut matcher, &tokens, "a");
    assert_eq!(allowed(&mut matcher, &tokens).unwrap(), tokens);
    accept(&mut matcher, &tokens, "<");
    // The text has ended before this token or behind it.
    assert_eq!(allowed(&mut matcher, &tokens).unwrap(), ["<", "/t>", "</t>"]);
    accept(&mut matcher, &tokens, "/t>");
    assert_eq!(allowed(&mut matcher, &tokens).unwrap(), ["$"]);
}

/// The derivations of a text, each as what is still to be read, from the definition of bounds on tokens. Exponential, and
/// without left recursion.
struct Naive<'g> {
    grammar: &'g Grammar,
    at: usize,
    starts: Vec<usize>,
    derivations: BTreeSet<Reading>,
}

/// The parts that are still to be read, the next last, and the texts that rules with a name have read: rule,
/// beginning and end.
type Reading = (Vec<Todo>, BTreeSet<(u32, usize, usize)>);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Todo {
    Read(u32),
    Bytes(u32, usize),
    /// At least this many times, at most this many.
    Repeat(u32, u32, Option<u32>),
    /// The end of a rule, and where it began.
    End(u32, usize),
}

impl<'g> Naive<'g> {
    fn new(grammar: &'g Grammar) -> Self {
        let root =
            vec![Todo::End(grammar.root().index() as u32, 0), Todo::Read(body(grammar, grammar.root()))];
        let mut naive = Self { grammar, at: 0, starts: Vec::new(), derivations: BTreeSet::new() };
        (naive.derivations, _) = naive.spread([(root, BTreeSet::new())].into());
        naive
    }

    /// Derivations at whose top a byte is read, or which are over; and the rules that ended.
    fn spread(&self, from: BTreeSet<Reading>) -> (BTreeSet<Reading>, BTreeSet<(u32, usize)>) {
        let (mut met, mut ready, mut ended) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        let mut pending: Vec<Reading> = from.into_iter().collect();
        while let Some((mut todo, mut captured)) = pending.pop() {
            let whole = (todo.clone(), captured.clone());
            if !met.insert(whole.clone()) {
                continue;
            }
            let id = |raw: u32| ExprId::new(raw as usize).unwrap();
            let raw = |id: &ExprId| id.index() as u32;
            match todo.pop() {
                None => _ = ready.insert(whole),
                Some(Todo::End(rule, begin)) => {
                    ended.insert((rule, begin));
                    if self.rule(rule).options().capture.is_some() {
                        captured.insert((rule, begin, self.at));
                    }
                    pending.push((todo, captured));
                }
                Some(Todo::Bytes(..)) => _ = ready.insert(whole),
                Some(Todo::Repeat(one, least, most)) => {
                    if least == 0 {
                        pending.push((todo.clone(), captured.clone()));
                    }
                    if most != Some(0) {
                        let most = most.map(|most| most - 1);
                        todo.extend([Todo::Repeat(one, least.saturating_sub(1), most), Todo::Read(one)]);
                        pending.push((todo, captured));
                    }
                }
                Some(Todo::Read(expr)) => match self.grammar.expr(id(expr)) {
                    Expr::Empty => pending.push((todo, captured)),
                    Expr::Bytes(_) | Expr::Class(_) => {
                        todo.push(Todo::Bytes(expr, 0));
                        pending.push((todo, captured));
                    }
                    Expr::Sequence(parts) => {
                        todo.extend(parts.iter().rev().map(|part| Todo::Read(raw(part))));
                        pending.push((todo, captured));
                    }
                    Expr::Choice(parts) => pending.extend(parts.iter().map(|part| {
                        let mut todo = todo.clone();
                        todo.push(Todo::Read(raw(part)));
                        (todo, captured.clone())
                    })),
                    Expr::Repeat { body, min, max } => {
                        todo.push(Todo::Repeat(raw(&body), min, max));
                        pending.push((todo, captured));
                    }
                    Expr::Rule(rule) => {
                        todo.extend([
                            Todo::End(rule.index() as u32, self.at),
                            Todo::Read(body(self.grammar, rule)),
                        ]);
                        pending.push((todo, captured));
                    }
                    _ => panic!("the tests have no such expressions"),
                },
            }
        }
        (ready, ended)
    }

    /// The derivations after a token, if there are any.
    fn after(&self, token: &str) -> Option<Self> {
        let mut next = Self {
            grammar: self.grammar,
            at: self.at,
            starts: self.starts.clone(),
            derivations: BTreeSet::new(),
        };
        next.starts.push(self.at);
        next.derivations = self.derivations.clone();
        let mut ended = BTreeSet::new();
        for byte in token.bytes() {
            let read = next.derivations.iter().filter_map(|(todo, captured)| {
                let mut todo = todo.clone();
                let Some(Todo::Bytes(expr, done)) = todo.pop() else { return None };
                match self.grammar.expr(ExprId::new(expr as usize).unwrap()) {
                    Expr::Bytes(bytes) => {
                        (bytes[done] == byte).then_some(())?;
                        if done + 1 < bytes.len() {
                            todo.push(Todo::Bytes(expr, done + 1));
                        }
                    }
                    Expr::Class(ranges) => {
                        let inside = |&(low, high): &(char, char)| (low..=high).contains(&char::from(byte));
                        ranges.iter().any(inside).then_some(())?;
                    }
                    _ => return None,
                }
                Some((todo, captured.clone()))
            });
            let read: BTreeSet<_> = read.collect();
            next.at += 1;
            (next.derivations, ended) = next.spread(read);
        }
        // A reading in which a rule goes on that may have ended here, with its tokens spent, is none.
        let is_spent = |rule: u32, begin: usize| {
            let most = self.rule(rule).options().max_tokens;
            let counted = next.starts.iter().filter(|&&start| start >= begin).count();
            most.is_some_and(|most| counted >= most.get() as usize) && ended.contains(&(rule, begin))
        };
        let goes_on = |(todo, _): &Reading| {
            todo.iter().any(|todo| matches!(*todo, Todo::End(rule, begin) if is_spent(rule, begin)))
        };
        let kept = next.derivations.iter().filter(|todo| !goes_on(todo)).cloned().collect();
        next.derivations = kept;
        (!next.derivations.is_empty()).then_some(next)
    }

    fn is_complete(&self) -> bool {
        self.derivations.iter().any(|(todo, _)| todo.is_empty())
    }

    fn rule(&self, rule: u32) -> &grammask_grammar_ir::Rule {
        self.grammar.rule(RuleId::new(rule as usize).unwrap())
    }

    /// The texts that rules with a name have read in some reading.
    fn captures(&self, has_ended: bool) -> BTreeSet<(String, usize, usize)> {
        let readings = self.derivations.iter().filter(|(todo, _)| !has_ended || todo.is_empty());
        let captured = readings.flat_map(|(_, captured)| captured);
        let named = captured.map(|&(rule, begin, end)| {
            let name = &self.rule(rule).options().capture.as_ref().unwrap().name;
            (name.to_string(), begin, end)
        });
        named.collect()
    }
}

fn body(grammar: &Grammar, rule: RuleId) -> u32 {
    grammar.rule(rule).body().index() as u32
}

#[test]
fn masks_equal_those_of_all_readings_written_out() {
    let tokens = ["a", "b", "c", "ab", "ba", "bc", "aab", "cc"];
    for (source, seed) in [
        ("root ::= x \"c\"\nx[max_tokens=2] ::= [ab]*", 1),
        ("root ::= [ab]* x \"c\"\nx[max_tokens=2] ::= [ab]*", 2),
        ("root ::= (x \"c\")*\nx[max_tokens=1] ::= \"a\" [ab]* \"b\"", 3),
        ("root ::= x\nx[max_tokens=3] ::= \"a\" x \"c\" | y\ny[max_tokens=1] ::= [b]*", 4),
        ("root ::= (x | y)* \"c\"\nx[max_tokens=1] ::= \"a\"+\ny[max_tokens=2] ::= (\"a\" | \"b\" x)+", 5),
        ("root ::= x{1,3} [c]*\nx[max_tokens=2] ::= \"a\" \"b\"* | \"b\" root? \"c\"", 6),
        ("root ::= x [abc]*\nx[max_tokens=1] ::= ([ab]{2} | \"c\"){1,40}", 7),
        // Rules that are read for a rule with a bound, and for another one.
        ("root ::= n \"c\" | x \"b\"\nx[max_tokens=2] ::= n\nn ::= \"a\" n | \"a\"", 8),
        ("root ::= n \"c\" | x \"b\"\nx[max_tokens=2] ::= m\nm ::= n | n \"bc\"\nn ::= \"a\" n | \"a\"", 9),
        (
            "root ::= x | n \"c\"\nx[max_tokens=1] ::= m \"b\"?\nm ::= n \"c\"?\nn ::= \"a\" n | \"a\" | \"ab\"",
            10,
        ),
        (
            "root ::= x \"c\" | y \"b\" | n\nx[max_tokens=1] ::= n\ny[max_tokens=3] ::= n \"a\"*\nn ::= \"b\" n | \"a\"",
            11,
        ),
    ] {
        let grammar = ebnf::parse(source, &EbnfOptions::default()).unwrap();
        let compiled = compiler(&tokens).grammar(&grammar).unwrap();
        let mut rng = Rng::new(seed);
        for _ in 0..60 {
            let (mut matcher, mut naive) = (compiled.matcher(), Naive::new(&grammar));
            for step in 0..7 {
                let mut wanted: Vec<String> = Vec::new();
                let ways: Vec<_> = tokens.iter().map(|token| naive.after(token)).collect();
                wanted.extend(
                    tokens
                        .iter()
                        .zip(&ways)
                        .filter(|(_, way)| way.is_some())
                        .map(|(token, _)| (*token).to_owned()),
                );
                if naive.is_complete() {
                    wanted.push("$".to_owned());
                }
                if wanted.is_empty() {
                    break;
                }
                assert_eq!(
                    allowed(&mut matcher, &tokens).unwrap_or_default(),
                    wanted,
                    "{source} step {step}"
                );
                let open: Vec<usize> = (0..tokens.len()).filter(|&token| ways[token].is_some()).collect();
                if open.is_empty() {
                    break;
                }
                let token = open[rng.below(open.len())];
                accept(&mut matcher, &tokens, tokens[token]);
                if step % 3 == 1 {
                    matcher.rollback(1).unwrap();
                    accept(&mut matcher, &tokens, tokens[token]);
                }
                naive = ways.into_iter().nth(token).flatten().unwrap();
            }
        }
    }
}

#[test]
fn backends_that_do_not_count_tokens_say_so() {
    let vocabulary: Arc<Vocabulary> = Arc::clone(compiler(&["a"]).vocabulary());
    let compiler = Compiler::builder(vocabulary).backend::<grammask_pda::Engine>().build();
    let options = EbnfOptions::default();
    let refused = compiler.ebnf("root[max_tokens=3] ::= \"a\"+", &options).map(|_| ()).unwrap_err();
    assert!(refused.to_string().contains("max_tokens"), "{refused}");
    let mut matcher = compiler
        .ebnf("root ::= a \"b\"\na[capture, temperature=0.5] ::= \"a\"+", &options)
        .unwrap()
        .matcher();
    matcher.accept_bytes(b"aa").unwrap();
    assert_eq!(matcher.temperature().unwrap(), Some(0.5));
    matcher.accept_bytes(b"b").unwrap();
    assert_eq!(matcher.captures(CaptureEnds::Longest).unwrap()[0].bytes, b"aa");
}

#[test]
fn captures_equal_those_of_all_readings_written_out() {
    let tokens = ["a", "b", "c", "ab", "ba", "bc", "aab", "cc"];
    for (source, seed) in [
        ("root ::= x y\nx[capture] ::= [ab]*\ny[capture] ::= [bc]*", 1),
        ("root[capture] ::= x root? | y\nx[capture] ::= \"a\" | \"ab\"\ny[capture] ::= \"b\"+ \"c\"", 2),
        ("root ::= (x | y){1,40} \"cc\"\nx[capture] ::= \"a\"{1,3}\ny[capture] ::= x \"b\" | \"c\" x?", 3),
        (
            "root ::= \"a\" x \"c\" | \"a\" y\nx[capture] ::= z? \"b\"\ny[capture] ::= z \"b\"\nz[capture] ::= [ab]",
            4,
        ),
        ("root ::= x\nx[capture] ::= \"a\" x x? | \"b\"", 5),
        ("root ::= x [abc]*\nx[capture, max_tokens=2] ::= [ab]{0,50}", 6),
    ] {
        let grammar = ebnf::parse(source, &EbnfOptions::default()).unwrap();
        let joined = CompileOptions::default().min_joined_rules(0);
        let compilers = [compiler(&tokens), builder(&tokens).automata(joined).build()];
        let compiled = compilers.map(|compiler| compiler.grammar(&grammar).unwrap());
        let mut rng = Rng::new(seed);
        for compiled in compiled.iter().cycle().take(40) {
            let (mut matcher, mut naive) = (compiled.matcher(), Naive::new(&grammar));
            for _ in 0..6 {
                let captures = |matcher: &mut Matcher| -> BTreeSet<(String, usize, usize)> {
                    let captures = matcher.captures(CaptureEnds::All).unwrap().into_iter();
                    captures.map(|capture| (capture.name, capture.range.start, capture.range.end)).collect()
                };
                assert_eq!(
                    captures(&mut matcher),
                    naive.captures(false),
                    "{source} after {} bytes",
                    naive.at
                );
                if matcher.is_completed() {
                    let mut ended = matcher.fork();
                    ended.accept_token(ended.grammar().vocabulary().stop_tokens()[0]).unwrap();
                    assert_eq!(
                        captures(&mut ended),
                        naive.captures(true),
                        "{source}, all {} bytes",
                        naive.at
                    );
                }
                let open: Vec<&&str> = tokens.iter().filter(|token| naive.after(token).is_some()).collect();
                let Some(token) = rng.pick(&open) else { break };
                accept(&mut matcher, &tokens, token);
                naive = naive.after(token).unwrap();
            }
        }
    }
}
