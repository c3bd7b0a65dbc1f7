//! Programs as a whole: sizes, bounds, emptiness, limits.

use grammask_fsm::{Cause, CompileOptions, Count, DeferredProgram, Program, TextLimits, compile};
use grammask_grammar_ir::{CharRange, ExprId, Grammar, GrammarBuilder, JsonEscapes, RuleId};

use crate::{built, check, grammar, no_passes, recursive_grammar, refused};

/// "fragments, states, edges" of a program.
fn size(program: &Program) -> String {
    let states = (0..program.state_count()).filter_map(grammask_fsm::StateId::new);
    let edges: usize = states
        .map(|id| program.state(id))
        .map(|state| state.bytes.len() + state.epsilons.len() + state.calls.len())
        .sum();
    format!("{} fragments, {} states, {edges} edges", program.fragment_count(), program.state_count())
}

#[test]
fn literals_share_prefixes_and_ends() {
    let grammar = grammar(|builder| {
        let words = ["true", "tree", "free", "fee", "t", "t"].map(|word| builder.literal(word));
        builder.choice(words)
    });
    let texts = ["true", "tree", "free", "fee", "t", "tr", "", "trueq", "ree"];
    check(&grammar, texts.map(str::as_bytes));
    insta::assert_snapshot!(size(&built(&grammar)), @"1 fragments, 7 states, 9 edges");
}

#[test]
fn long_literals_share_ends() {
    let words = ["aa", "ba", "bb"].map(|begin| begin.to_owned() + &"xyz".repeat(2_000));
    let grammar = grammar(|builder| {
        let words = words.each_ref().map(|word| builder.literal(word));
        builder.choice(words)
    });
    check(&grammar, [&*words[0], &words[2], &words[1][1..], "ab"].map(str::as_bytes));
    insta::assert_snapshot!(size(&built(&grammar)), @"1 fragments, 6004 states, 6004 edges");
    // Each character is itself or an escape, so two ways lead to each.
    let text = "\u{e9}".repeat(3_000);
    let words = ["a", "b"].map(|begin| begin.to_owned() + &text);
    let grammar = self::grammar(|builder| {
        let words = words.each_ref().map(|word| builder.literal(word));
        let escaped = words.map(|word| builder.json_escaped_as(word, JsonEscapes::Printed));
        builder.choice(escaped)
    });
    check(&grammar, [&*words[0], &words[1], &text].map(str::as_bytes));
    insta::assert_snapshot!(size(&built(&grammar)), @"2 fragments, 9008 states, 12007 edges");
}

#[test]
fn alternatives_that_begin_alike_are_one_way() {
    let grammar = recursive_grammar(|builder, root| {
        let word = |builder: &mut GrammarBuilder, ending: &str| {
            let (open, inner) = (builder.literal("("), builder.rule(root));
            let ending = builder.literal(ending);
            builder.sequence([open, inner, ending])
        };
        let words = [word(builder, "a"), word(builder, "b"), builder.literal("x")];
        builder.choice(words)
    });
    check(&grammar, ["x", "(xa", "(xb", "((xba", "(x", "(a", "((xa"].map(str::as_bytes));
    insta::assert_snapshot!(size(&built(&grammar)), @"1 fragments, 4 states, 4 edges");
}

#[test]
fn optional_passes_change_sizes_only() {
    let grammar = json();
    check(
        &grammar,
        [
            &b"{}"[..],
            br#"{"a":[1,-0.5e+3,null,true,"\u00e9\n"]}"#,
            br#"{"a":1,"b":{"c":[]}}"#,
            br#"{"a":1,}"#,
            br#"[01]"#,
            br#""\ud800""#,
            br#""\ud83d\udE00""#,
            b"\"\xC3\xA9\"",
            b"\"\xC3\"",
        ],
    );
    insta::assert_snapshot!(size(&built(&grammar)), @"3 fragments, 51 states, 111 edges");
    let plain = compile(&grammar, &no_passes()).expect("the grammar compiles");
    insta::assert_snapshot!(size(&plain), @"3 fragments, 64 states, 122 edges");
}

/// `count` rules of which each reads a letter and ends with another one; every third may end itself. `entries` of them are
/// called by the root.
fn right_linear(count: usize, entries: usize) -> Grammar {
    let mut builder = GrammarBuilder::new();
    let root = builder.declare("root").unwrap();
    let rules: Vec<RuleId> = (0..count).map(|at| builder.declare(&format!("s{at}")).unwrap()).collect();
    for (at, &rule) in rules.iter().enumerate() {
        let steps = [("a", at + 1), ("b", 7 * at + 3), ("b", at)];
        let ways = steps.map(|(letter, next)| {
            let (letter, next) = (builder.literal(letter), builder.rule(rules[next % count]));
            builder.sequence([letter, next])
        });
        let end = (at % 3 == 0).then(|| builder.empty());
        let body = builder.choice(ways.into_iter().chain(end));
        builder.define(rule, body).unwrap();
    }
    let calls: Vec<ExprId> = rules[..entries].iter().map(|&rule| builder.rule(rule)).collect();
    let (open, calls, close) = (builder.literal("<"), builder.choice(calls), builder.literal(">"));
    let body = builder.sequence([open, calls, close]);
    builder.define(root, body).unwrap();
    builder.finish(root).unwrap()
}

#[test]
fn rules_that_end_with_one_another_are_one_automaton() {
    let texts = ["<>", "<a>", "<aaa>", "<ab>", "<abbab>", "<bbbb>", "<abababababab>", "<aab", "<aab>>", "a"];
    let size_of = |count, entries| {
        let grammar = right_linear(count, entries);
        check(&grammar, texts.map(str::as_bytes));
        size(&built(&grammar))
    };
    insta::assert_snapshot!(size_of(40, 1), @"2 fragments, 84 states, 243 edges");
    // Called from two places, or few: each has a fragment of its own.
    insta::assert_snapshot!(size_of(40, 2), @"41 fragments, 164 states, 204 edges");
    insta::assert_snapshot!(size_of(20, 1), @"21 fragments, 84 states, 103 edges");
}

#[test]
fn joined_rules_that_do_not_end_derive_nothing() {
    // `root ::= "a" | first; first ::= "b" second; second ::= "c" first`, and the root alone: `root ::= root`.
    let mut builder = GrammarBuilder::new();
    let [root, first, second] = ["root", "first", "second"].map(|name| builder.declare(name).unwrap());
    for (rule, letter, next) in [(first, "b", second), (second, "c", first)] {
        let (letter, next) = (builder.literal(letter), builder.rule(next));
        let body = builder.sequence([letter, next]);
        builder.define(rule, body).unwrap();
    }
    let (end, call) = (builder.literal("a"), builder.rule(first));
    let body = builder.choice([end, call]);
    builder.define(root, body).unwrap();
    let endless = builder.finish(root).unwrap();
    check(&endless, ["a", "b", "bc", "bca"].map(str::as_bytes));
    let joined = CompileOptions::default().min_joined_rules(0);
    insta::assert_snapshot!(size(&compile(&endless, &joined).unwrap()), @"1 fragments, 2 states, 1 edges");
    let empty = recursive_grammar(|builder, root| builder.rule(root));
    assert_eq!(compile(&empty, &joined).unwrap_err().cause(), Cause::EmptyLanguage);
}

/// JSON without white space.
fn json() -> Grammar {
    recursive_grammar(|builder, root| {
        let list = |builder: &mut GrammarBuilder, open: &str, item: ExprId, close: &str| {
            let (comma, open, close) = (builder.literal(","), builder.literal(open), builder.literal(close));
            let more = builder.sequence([comma, item]);
            let more = builder.repeat(more, 0, None);
            let items = builder.sequence([item, more]);
            let items = builder.optional(items);
            builder.sequence([open, items, close])
        };
        let quote = builder.literal("\"");
        let any = builder.any_char();
        let text = builder.repeat(any, 0, None);
        let inside = builder.json_escaped(text);
        let string = builder.sequence([quote, inside, quote]);
        let string = builder.add_rule("string", string).expect("the name is free");
        let (name, colon, value) = (builder.rule(string), builder.literal(":"), builder.rule(root));
        let member = builder.sequence([name, colon, value]);
        let object = list(builder, "{", member, "}");
        let array = list(builder, "[", value, "]");
        let digit = builder.class([('0', '9')]);
        let digits = builder.repeat(digit, 1, None);
        let any_digits = builder.repeat(digit, 0, None);
        let (zero, first) = (builder.literal("0"), builder.class([('1', '9')]));
        let whole = builder.sequence([first, any_digits]);
        let whole = builder.choice([zero, whole]);
        let (minus, point) = (builder.literal("-"), builder.literal("."));
        let sign = builder.optional(minus);
        let fraction = builder.sequence([point, digits]);
        let fraction = builder.optional(fraction);
        let (mark, plus_minus) =
            (builder.class([('E', 'E'), ('e', 'e')]), builder.class([('+', '+'), ('-', '-')]));
        let plus_minus = builder.optional(plus_minus);
        let exponent = builder.sequence([mark, plus_minus, digits]);
        let exponent = builder.optional(exponent);
        let number = builder.sequence([sign, whole, fraction, exponent]);
        let words = ["true", "false", "null"].map(|word| builder.literal(word));
        let words = builder.choice(words);
        builder.choice([object, array, name, number, words])
    })
}

fn repeat_of(ranges: &[CharRange], min: u32, max: Option<u32>) -> Grammar {
    grammar(|builder| {
        let body = builder.class(ranges.iter().copied());
        builder.repeat(body, min, max)
    })
}

#[test]
fn long_repeats_are_counted() {
    let program = built(&repeat_of(&[('a', 'a')], 1_000_000_000, Some(1_000_000_000)));
    insta::assert_snapshot!(size(&program), @"2 fragments, 4 states, 2 edges");
    let count = program.fragments().find_map(|fragment| fragment.count);
    assert_eq!(count, Some(Count { min: 1_000_000_000, max: Some(1_000_000_000) }));
    let program = built(&repeat_of(&[('a', 'a')], 70, None));
    let count = program.fragments().find_map(|fragment| fragment.count);
    assert_eq!(count, Some(Count { min: 70, max: None }));
    let thirty: Vec<u8> = vec![b'a'; 30];
    check(&repeat_of(&[('a', 'a')], 30, Some(60)), [&thirty[..], &thirty[1..], &[b'a'; 60], &[b'a'; 61]]);
}

#[test]
fn counted_bodies_may_be_nullable_loops_or_repeats() {
    let grammar = grammar(|builder| {
        let (a, b) = (builder.literal("a"), builder.literal("b"));
        let many = builder.repeat(a, 0, None);
        let outer = builder.repeat(many, 500, Some(1000));
        let inner = builder.repeat(b, 2, Some(400));
        let end = builder.literal("c");
        let inner = builder.sequence([inner, end]);
        let nested = builder.repeat(inner, 0, Some(300));
        builder.sequence([outer, nested])
    });
    check(&grammar, ["", "a", "aaaa", "bbc", "bc", "abbbcbbc", "abbcb"].map(str::as_bytes));
}

#[test]
fn left_recursive_repeats_are_written_out() {
    let grammar = |min, max| {
        recursive_grammar(|builder, root| {
            let (a, inner) = (builder.literal("a"), builder.rule(root));
            let repeat = builder.repeat(inner, min, max);
            let b = builder.literal("b");
            let longer = builder.sequence([repeat, b]);
            builder.choice([a, longer])
        })
    };
    for (min, max) in [(3, Some(40)), (2, Some(100)), (40, None), (0, Some(37))] {
        let grammar = grammar(min, max);
        assert!(built(&grammar).fragments().all(|fragment| fragment.count.is_none()));
        check(&grammar, ["a", "ab", "b", "aab", "aaab", "aaabaab", "bb", "aaaab"].map(str::as_bytes));
    }
    let long = [vec![b'a'; 40], vec![b'b']].concat();
    check(
        &grammar(40, Some(41)),
        [&long[..], &long[1..], &[&b"a"[..], &long].concat(), &[&b"aa"[..], &long].concat()],
    );
    let program = built(&grammar(1_000_000_000, Some(2_000_000_000)));
    assert!(program.state_count() < 1_000, "logarithmic: {}", program.state_count());
}

#[test]
fn what_derives_nothing_is_removed() {
    let mut builder = GrammarBuilder::new();
    let root = builder.declare("root").expect("new");
    let endless = builder.declare("endless").expect("new");
    let (a, again) = (builder.literal("a"), builder.rule(endless));
    let body = builder.sequence([a, again]);
    builder.define(endless, body).expect("once");
    let none = builder.repeat(again, 0, Some(500));
    let some = builder.repeat(again, 3, Some(500));
    let (b, c, never) = (builder.literal("b"), builder.literal("c"), builder.never());
    let words =
        [builder.sequence([b, none]), builder.sequence([c, some]), builder.sequence([c, never]), again];
    let body = builder.choice(words);
    builder.define(root, body).expect("once");
    let grammar = builder.finish(root).expect("good");
    check(&grammar, ["b", "c", "ba", "a", ""].map(str::as_bytes));
    insta::assert_snapshot!(size(&built(&grammar)), @"1 fragments, 2 states, 1 edges");
}

#[test]
fn empty_languages_are_refused() {
    let error = refused(&recursive_grammar(|builder, root| {
        let (a, inner) = (builder.literal("a"), builder.rule(root));
        builder.sequence([a, inner])
    }));
    assert_eq!(error.cause(), Cause::EmptyLanguage);
    insta::assert_snapshot!(error, @"rule `root`: no text matches it, so the language is empty; give it an alternative that can be finished");
    let error = refused(&grammar(|builder| {
        let (a, b) = (builder.literal("a"), builder.literal("b"));
        let both = builder.intersection([a, b]);
        builder.repeat(both, 1, Some(1000))
    }));
    assert_eq!(error.cause(), Cause::EmptyLanguage);
}

#[test]
fn limits_are_reported() {
    let pattern = |builder: &mut GrammarBuilder| {
        // The classic exponential: an `a` that stands a number of places before the end.
        let any = builder.class([('a', 'b')]);
        let (a, many) = (builder.literal("a"), builder.repeat(any, 0, None));
        let tail = builder.repeat(any, 30, Some(30));
        let text = builder.sequence([many, a, tail]);
        builder.complement(text)
    };
    let error = refused(&grammar(pattern));
    assert_eq!((error.cause(), error.rule()), (Cause::LimitReached, Some("root")));
    insta::assert_snapshot!(error, @"rule `root`: limit reached, more than 50000 states for its text; simplify the rule or raise `text.max_states`");
    let options = CompileOptions::default().max_states(10);
    let error = compile(&json(), &options).expect_err("ten states are not enough");
    insta::assert_snapshot!(error, @"rule `root`: limit reached, more than 10 states; simplify the rule or raise `max_states`");
}

/// A class of a hundred ranges takes a hundred states or so, in a JSON string more.
#[test]
fn large_classes_have_few_copies() {
    let letter = |number: u32| char::from_u32(0x1000 + 3 * number).unwrap();
    let grammar = |times: usize| {
        grammar(|builder| {
            let pair = |builder: &mut GrammarBuilder| {
                let letters = builder.class((0..100).map(|number| (letter(number), letter(number))));
                let end = builder.literal("k");
                builder.sequence([letters, end])
            };
            let pairs: Vec<ExprId> = (0..times).map(|_| pair(builder)).collect();
            let plain = builder.sequence(pairs);
            let escaped = builder.json_escaped(plain);
            let (before, after) = (builder.literal("<"), builder.literal(">"));
            let escaped = builder.sequence([before, escaped, after]);
            builder.choice([plain, escaped])
        })
    };
    let [few, many] = [50, 500].map(|times| built(&grammar(times)).state_count());
    assert!(many < few + 450 * 8, "{few} and {many} states");
    let text = |last: char| format!("{}{last}k", format!("{}k", letter(7)).repeat(39));
    let escaped = |last: &str| format!("<{}{last}k>", format!("{}k", letter(7)).repeat(39));
    let wrong =
        [text('k'), text('\u{1001}'), escaped("\\u1001"), escaped("\\u10"), text(letter(8)).repeat(2)];
    let right = [text(letter(99)), escaped("\\u1006"), escaped(&letter(99).to_string())];
    assert!(right.iter().all(|text| crate::naive::accepts(&grammar(40), text.as_bytes())));
    check(&grammar(40), wrong.iter().chain(&right).map(|text| text.as_bytes()));
}

/// A pattern under many bounds on its length is multiplied once with what all of them have in common.
#[test]
fn one_pattern_under_many_lengths_is_read_once() {
    let least = |lengths: u32| {
        let grammar = grammar(|builder| {
            // Each may end after any letter, so the bound matters in its last two steps alone.
            let end = builder.literal("-");
            let words: Vec<ExprId> = ('a'..='z')
                .map(|letter| {
                    let letter = builder.literal(&letter.to_string());
                    let letters = builder.repeat(letter, 1, Some(20));
                    builder.sequence([letters, end])
                })
                .collect();
            let word = builder.choice(words);
            let words = builder.repeat(word, 0, None);
            let any = builder.any_char();
            let ways: Vec<ExprId> = (0..lengths)
                .map(|more| {
                    let short = builder.repeat(any, 0, Some(1_000 + more));
                    builder.intersection([words, short])
                })
                .collect();
            builder.choice(ways)
        });
        let within = |steps: usize| {
            let options = CompileOptions::default().min_counted_pairs(1_000);
            compile(&grammar, &options.text(TextLimits::default().max_total_steps(steps))).is_ok()
        };
        (1..).map(|steps| steps * 500).find(|&steps| within(steps)).unwrap()
    };
    let (one, many) = (least(1), least(11));
    assert!(many < 3 * one, "one length takes {one} steps, eleven take {many}");
}

/// Of the work of texts, writing their states is a part. In a JSON string there are more, because of escapes.
#[test]
fn states_that_are_written_count_as_work() {
    let cost = |is_escaped: bool| {
        let grammar = grammar(|builder| {
            let letters = builder.class([('\u{100}', '\u{FFFF}')]);
            let texts = builder.repeat(letters, 0, None);
            let any = builder.any_char();
            let short = builder.repeat(any, 0, Some(40));
            let both = builder.intersection([texts, short]);
            if is_escaped { builder.json_escaped(both) } else { both }
        });
        let program = DeferredProgram::new(grammar, &CompileOptions::default()).unwrap();
        (program.cost().text_steps, program.cost().states)
    };
    let ((plain_steps, plain_states), (steps, states)) = (cost(false), cost(true));
    assert!(states > plain_states, "{states} and {plain_states} states");
    assert!(steps - plain_steps >= states - plain_states, "{steps} and {plain_steps} steps");
}

/// A loop of many loops has a state with an edge to each, and each leads back to it.
#[test]
fn loops_inside_of_a_loop_take_time_in_proportion() {
    let seconds = |count: usize| {
        let grammar = grammar(|builder| {
            let any = builder.any_char();
            let ways: Vec<ExprId> = (0..count).map(|_| builder.repeat(any, 0, None)).collect();
            let way = builder.choice(ways);
            builder.repeat(way, 0, None)
        });
        let start = std::time::Instant::now();
        compile(&grammar, &CompileOptions::default()).unwrap();
        start.elapsed().as_secs_f64()
    };
    let least = |count: usize| (0..3).map(|_| seconds(count)).fold(f64::INFINITY, f64::min);
    let (few, many) = (least(500), least(5_000));
    assert!(many < 40.0 * few, "500 take {few} s, 5,000 take {many} s");
}

#[test]
fn shared_expressions_do_not_multiply_without_bound() {
    let grammar = grammar(|builder| {
        let mut part = builder.literal("a");
        for _ in 0..24 {
            let other = builder.optional(part);
            part = builder.choice([part, other]);
            part = builder.optional(part);
        }
        part
    });
    let options = CompileOptions::default().max_states(10_000).max_edges(10_000);
    let error = compile(&grammar, &options).expect_err("2^24 alternatives");
    assert_eq!(error.cause(), Cause::LimitReached);
}

#[test]
fn deep_and_long_grammars_do_not_overflow() {
    let nested = grammar(|builder| {
        let a = builder.literal("a");
        (0..20_000).fold(a, |inner, _| {
            let (open, close) = (builder.literal("("), builder.literal(")"));
            let inner = builder.sequence([open, inner, close]);
            builder.repeat(inner, 0, None)
        })
    });
    assert!(built(&nested).state_count() > 20_000);
    let mut builder = GrammarBuilder::new();
    let rules: Vec<RuleId> =
        (0..16_000).map(|number| builder.declare(&format!("r{number}")).expect("new")).collect();
    for (number, &rule) in rules.iter().enumerate() {
        let word = builder.literal(&format!(",\"p{number}\":1"));
        let rest = match rules.get(number + 1) {
            Some(&next) => builder.rule(next),
            None => builder.empty(),
        };
        let with = builder.sequence([word, rest]);
        let body = builder.choice([with, rest]);
        builder.define(rule, body).expect("once");
    }
    let grammar = builder.finish(rules[0]).expect("good");
    // Work per rule is constant: a minute would pass here otherwise.
    assert!(built(&grammar).state_count() > 16_000);
}

#[test]
fn a_long_row_of_optional_parts_stays_linear() {
    let grammar = grammar(|builder| {
        let parts: Vec<ExprId> = (0..5_000)
            .map(|number| {
                let word = builder.literal(&format!("<{number}>"));
                builder.optional(word)
            })
            .collect();
        builder.sequence(parts)
    });
    let program = built(&grammar);
    let states = (0..program.state_count()).filter_map(grammask_fsm::StateId::new);
    let edges: usize =
        states.map(|id| program.state(id).bytes.len() + program.state(id).epsilons.len()).sum();
    assert!(edges < 60_000, "{edges} edges");
}
