//! The algebra of texts.

use grammask_fsm::text::TextAutomaton;
use grammask_fsm::{AutomataError, Cause, TextLimits};
use grammask_grammar_ir::{ExprId, GrammarBuilder};
use grammask_oracle::random::Rng;

use crate::simulate::accepts;
use crate::{built, check, grammar};

fn automaton(write: impl FnOnce(&mut GrammarBuilder) -> ExprId) -> TextAutomaton {
    let grammar = grammar(write);
    TextAutomaton::from_expr(&grammar, grammar.rule(grammar.root()).body(), &TextLimits::default())
        .expect("small enough")
}

#[test]
fn equal_languages_are_equal() -> Result<(), AutomataError> {
    // (a|b)* written in two ways.
    let one = automaton(|builder| {
        let any = builder.class([('a', 'b')]);
        builder.repeat(any, 0, None)
    });
    let other = automaton(|builder| {
        let (a, b) = (builder.literal("a"), builder.literal("b"));
        let (many, again) = (builder.repeat(a, 0, None), builder.repeat(a, 0, None));
        let pair = builder.sequence([b, many]);
        let pairs = builder.repeat(pair, 0, None);
        builder.sequence([again, pairs])
    });
    assert_eq!(one, other);
    assert_eq!(one.state_count(), 1);
    let limits = TextLimits::default();
    assert_eq!(one.union(&one.complement(), &limits)?, TextAutomaton::everything());
    assert_eq!(one.intersect(&one.complement(), &limits)?, TextAutomaton::nothing());
    assert_eq!(TextAutomaton::nothing().complement(), TextAutomaton::everything());
    Ok(())
}

/// Each search goes on after it has found its letter, and nothing that another one finds matters any more.
#[test]
fn many_searches_have_few_states() {
    let searches = automaton(|builder| {
        let searches: Vec<ExprId> = ('a'..='t')
            .map(|letter| {
                let any = builder.any_char();
                let (before, letter, after) = (
                    builder.repeat(any, 0, None),
                    builder.class([(letter, letter)]),
                    builder.repeat(any, 0, None),
                );
                builder.sequence([before, letter, after])
            })
            .collect();
        builder.choice(searches)
    });
    assert_eq!(searches.state_count(), 2);
    assert!(searches.accepts("uvtw") && !searches.accepts("uvw"));
}

#[test]
fn bytes_that_are_not_text_are_refused() {
    let grammar = grammar(|builder| builder.bytes(b"a\xFF"));
    let body = grammar.rule(grammar.root()).body();
    let error = TextAutomaton::from_expr(&grammar, body, &TextLimits::default()).expect_err("not text");
    assert_eq!(error.cause(), Cause::NotText);
    insta::assert_snapshot!(error, @r#"the literal "a\xff" below an intersection, a complement or JSON escaping is not valid UTF-8; write whole characters there"#);
}

#[test]
fn tokens_are_not_text() {
    let grammar = grammar(|builder| {
        let (letter, token) = (builder.literal("a"), builder.token([5]));
        builder.sequence([letter, token])
    });
    let body = grammar.rule(grammar.root()).body();
    let error = TextAutomaton::from_expr(&grammar, body, &TextLimits::default()).expect_err("not text");
    assert_eq!(error.cause(), Cause::NotText);
    insta::assert_snapshot!(error, @"the expression holds a token, which is no text; leave it out");
}

#[test]
fn large_products_are_minimal() -> Result<(), AutomataError> {
    // At most 40 characters, at most 20 pairs of a word character and another: 800 pairs of states.
    let is_word = [('0', '9'), ('A', 'Z'), ('a', 'z')];
    let pairs = |builder: &mut GrammarBuilder| {
        let (word, other) = (builder.class(is_word), builder.negated_class(is_word));
        let pair = builder.sequence([word, other]);
        builder.repeat(pair, 0, Some(20))
    };
    let short = |builder: &mut GrammarBuilder| {
        let any = builder.any_char();
        builder.repeat(any, 0, Some(31))
    };
    let product = automaton(|builder| {
        let operands = [pairs(builder), short(builder)];
        builder.intersection(operands)
    });
    let expected = automaton(|builder| {
        let (word, other) = (builder.class(is_word), builder.negated_class(is_word));
        let pair = builder.sequence([word, other]);
        builder.repeat(pair, 0, Some(15))
    });
    assert_eq!(product, expected);
    let limits = TextLimits::default();
    assert_eq!(automaton(pairs).intersect(&automaton(short), &limits)?, expected);
    assert_eq!(automaton(pairs).union(&expected, &limits)?, automaton(pairs));
    assert!(automaton(pairs).intersect(&automaton(pairs).complement(), &limits)?.is_empty());
    Ok(())
}

#[test]
fn lengths_and_examples() {
    let words = TextAutomaton::from_literals(["no", "none", "", "né"]);
    assert_eq!(words.length_range(), Some((0, Some(4))));
    assert_eq!(words.complement().length_range(), Some((1, None)));
    assert_eq!(words.complement().shortest_text().as_deref(), Some("a"));
    assert_eq!(TextAutomaton::nothing().length_range(), None);
    assert_eq!(TextAutomaton::from_literals([""]).length_range(), Some((0, Some(0))));
}

#[test]
fn few_texts_are_listed() {
    let words = ["", "no", "none", "né"];
    let listed: Vec<String> = words.map(str::to_owned).into();
    assert_eq!(TextAutomaton::from_literals(words).texts(4), Some(listed));
    assert_eq!(TextAutomaton::from_literals(words).texts(3), None);
    assert_eq!(TextAutomaton::nothing().texts(0), Some(Vec::new()));
    assert_eq!(TextAutomaton::everything().texts(1_000_000), None);
    let digits = automaton(|builder| {
        let digit = builder.class([('0', '9')]);
        builder.repeat(digit, 2, Some(2))
    });
    let texts = digits.texts(100).unwrap_or_default();
    assert_eq!((texts.len(), texts[0].as_str(), texts[99].as_str()), (100, "00", "99"));
    assert_eq!(digits.texts(99), None);
}

#[test]
fn few_rows_of_classes_are_listed() {
    let words = automaton(|builder| {
        let (digit, sign) = (builder.class([('0', '9')]), builder.class([('+', '+'), ('-', '-')]));
        let word = builder.literal("no");
        let number = builder.sequence([sign, digit]);
        builder.choice([word, number])
    });
    let mut rows = words.rows(2, 2).unwrap_or_default();
    rows.sort();
    let wanted = [[vec![('+', '+'), ('-', '-')], vec![('0', '9')]], [vec![('n', 'n')], vec![('o', 'o')]]];
    assert_eq!(rows, wanted);
    assert_eq!(words.rows(1, 2), None);
    assert_eq!(words.rows(2, 1), None);
    assert_eq!(TextAutomaton::everything().rows(100, u32::MAX), None);
    assert_eq!(TextAutomaton::nothing().rows(0, 0), Some(Vec::new()));
    assert_eq!(TextAutomaton::from_literals([""]).rows(1, 0), Some(vec![Vec::new()]));
}

#[test]
fn names_that_differ_from_others() {
    let names = ["id", "idx", "name", "n\"", "é"];
    let grammar = grammar(|builder| {
        let names = names.map(|name| builder.literal(name));
        let names = builder.choice(names);
        let others = builder.complement(names);
        builder.json_escaped(others)
    });
    let texts = [
        "id",
        "i",
        "",
        "idx",
        "idxy",
        "idy",
        "\\u0069d",
        "\\u0069\\u0064",
        "\\u0069\\u0065",
        "n\\\"",
        "n\\\"x",
        "n\\n",
        "n\\u0022",
        "é",
        "\\u00e9",
        "\\u00E9a",
        "è",
        "\\ud834\\udd1e",
        "\"",
        "i\\/",
        "\\u0049d",
    ];
    check(&grammar, texts.map(str::as_bytes));
}

/// Large sets of names must not cost more than their share: no table is quadratic.
#[test]
fn many_names_stay_small() {
    let grammar = |count: u32| {
        grammar(|builder| {
            let name = |number: u32| format!("{:08x}", number.wrapping_mul(0x9E37_79B1));
            let names: Vec<ExprId> = (0..count).map(|number| builder.literal(&name(number))).collect();
            let names = builder.choice(names);
            let others = builder.complement(names);
            builder.json_escaped(others)
        })
    };
    let states = |count| crate::built(&grammar(count)).state_count();
    let (few, many) = (states(500), states(4_000));
    assert!(many < 9 * few, "{few} states for 500 names, {many} for 4,000");
}

/// Only the part of a pattern that loops is multiplied with a bound on the length.
#[test]
fn a_far_bound_costs_what_loops() {
    let limits = TextLimits::default();
    // `a*` and up to 60 characters in one of many ways.
    let tail = |builder: &mut GrammarBuilder, most: u32| {
        let words: Vec<ExprId> = (0..26u8)
            .map(|word| {
                builder.literal(&format!(
                    "x{}",
                    char::from(b'b' + word % 25).to_string().repeat(usize::from(word))
                ))
            })
            .collect();
        let word = builder.choice(words);
        builder.repeat(word, 0, Some(most))
    };
    let pattern = automaton(|builder| {
        let a = builder.literal("a");
        let many = builder.repeat(a, 0, None);
        let tail = tail(builder, 2);
        builder.sequence([many, tail])
    });
    for (min, max) in [(0, 3_000), (2, 3_000), (40, 60), (0, 3), (7, 7)] {
        let bound = automaton(|builder| {
            let any = builder.any_char();
            builder.repeat(any, min, Some(max))
        });
        let bounded = pattern.intersect(&bound, &limits).expect("small enough");
        assert_eq!(bounded, bound.intersect(&pattern, &limits).expect("small enough"));
        assert_eq!(bounded.length_range().map(|range| range.0), Some(min));
        for letters in [0, 1, 2, max.saturating_sub(27), max.saturating_sub(3), max - 1, max, max + 1] {
            for end in ["", "x", "xb", "xxb", "xcc", "xyyyyyyyyyyyyyyyyyyyyyyyy", "xcxb"] {
                let text = format!("{}{end}", "a".repeat(letters as usize));
                let length = text.len() as u32;
                let expected = pattern.accepts(&text) && (min..=max).contains(&length);
                assert_eq!(bounded.accepts(&text), expected, "{min} to {max}: {letters} letters and {end}");
            }
        }
    }
}

/// Which letters were met tells sets apart, and not in which order. A long text among them moves their states apart.
#[test]
fn sets_do_not_depend_on_the_order_of_letters() {
    for (letters, ends, long, sets) in [(8, 1, 0, 513), (3, 10, 20_000, 20_016)] {
        let grammar = grammar(|builder| {
            let searches =
                ('a'..).take(letters).flat_map(|letter| ('0'..).take(ends).map(move |end| (letter, end)));
            let ways = searches.map(|(letter, end)| {
                let before = builder.negated_class([('!', '!'), (letter, letter)]);
                let before = builder.repeat(before, 0, None);
                let after = [[('\0', ' '), ('"', 'x')], [('"', '~'), ('"', char::MAX)]];
                let after = after.map(|ranges| builder.class(ranges));
                let after = builder.choice(after);
                let after = builder.repeat(after, 0, None);
                let (letter, end) = (builder.class([(letter, letter)]), builder.literal(&format!("!{end}")));
                builder.sequence([before, letter, after, end])
            });
            let mut ways: Vec<ExprId> = ways.collect();
            ways.insert(ways.len() / 2, builder.literal(&"!".repeat(long)));
            builder.choice(ways)
        });
        let body = grammar.rule(grammar.root()).body();
        let states = |limit| {
            let limits = TextLimits::default().max_states(limit);
            TextAutomaton::from_expr(&grammar, body, &limits).map(|automaton| automaton.state_count()).ok()
        };
        // A letter is met or not, and then the end begins and is whole.
        assert_eq!([states(sets - 1), states(sets)], [None, Some(long.max(1) + 4)]);
    }
}

/// Of each state: where five letters lead, and whether it is final. The last is dead.
type Table = Vec<([usize; 5], bool)>;

/// A chain of states, in the manner of a random number: the first four letters lead to the state itself or a later one.
fn without_long_loops(seed: u64) -> Table {
    let mut rng = Rng::new(seed);
    let dead = rng.between(2, 10);
    let mut table: Table = Vec::new();
    for state in 0..dead {
        let mut to = [dead; 5];
        to[..4].fill_with(|| if rng.below(4) > 0 { (state + rng.below(4)).min(dead) } else { dead });
        table.push((to, rng.below(3) == 0));
    }
    table.push(([dead; 5], false));
    table
}

/// The texts of a chain, each with the fifth letter after it, in a row.
fn in_a_loop(chain: &Table) -> Table {
    // The first state stands before the others, and is where each text begins.
    let after = |&(to, is_final): &([usize; 5], bool)| {
        let mut to = to.map(|to| to + 1);
        to[4] = if is_final { 0 } else { chain.len() };
        (to, false)
    };
    let first = (after(&chain[0]).0, true);
    std::iter::once(first).chain(chain.iter().map(after)).collect()
}

/// The texts of a chain as an expression.
fn texts_of(chain: &Table, builder: &mut GrammarBuilder) -> ExprId {
    let dead = chain.len() - 1;
    let mut bodies: Vec<ExprId> = vec![builder.empty(); dead];
    for (state, (to, is_final)) in chain.iter().enumerate().take(dead).rev() {
        let mut class = |which: usize| {
            let letters = ('a'..='e').zip(to).filter(|&(_, &to)| to == which);
            builder.class(letters.map(|(letter, _)| (letter, letter)))
        };
        let own = class(state);
        let later: Vec<_> = (state + 1..dead).map(|later| [class(later), bodies[later]]).collect();
        let mut ways: Vec<ExprId> = later.into_iter().map(|way| builder.sequence(way)).collect();
        ways.extend(is_final.then(|| builder.empty()));
        let (own, ways) = (builder.repeat(own, 0, None), builder.choice(ways));
        bodies[state] = builder.sequence([own, ways]);
    }
    bodies[0]
}

/// How many states no text makes equal, without the dead one and those that the start does not reach (Moore 1956).
fn least_states(table: &Table) -> usize {
    let mut class: Vec<usize> = table.iter().map(|state| usize::from(state.1)).collect();
    for _ in table {
        let keys: Vec<_> =
            table.iter().zip(&class).map(|((to, _), own)| (*own, to.map(|to| class[to]))).collect();
        let first = |key| keys.iter().position(|other| other == key).unwrap_or(0);
        class = keys.iter().map(first).collect();
    }
    let (mut live, mut stack) = (std::collections::BTreeSet::new(), vec![0]);
    while let Some(state) = stack.pop() {
        if class[state] != class[table.len() - 1] && live.insert(class[state]) {
            stack.extend(table[state].0);
        }
    }
    live.len()
}

#[test]
fn automata_have_the_least_states() {
    let mut texts = vec![String::new()];
    for at in 0..1 + 5 + 25 + 125 {
        texts.extend(["a", "b", "c", "d", "e"].map(|letter| format!("{}{letter}", texts[at])));
    }
    for seed in 0..2_000 {
        let chain = without_long_loops(seed);
        let alone = automaton(|builder| texts_of(&chain, builder));
        let repeated = automaton(|builder| {
            let (text, last) = (texts_of(&chain, builder), builder.literal("e"));
            let text = builder.sequence([text, last]);
            builder.repeat(text, 0, None)
        });
        for (table, automaton) in [(&in_a_loop(&chain), repeated), (&chain, alone)] {
            let live = least_states(table);
            assert_eq!(automaton.is_empty(), live == 0, "{table:?}");
            assert_eq!(automaton.state_count(), live.max(1), "{table:?}");
            for text in &texts {
                let end = text.bytes().fold(0, |state: usize, byte| table[state].0[usize::from(byte - b'a')]);
                assert_eq!(automaton.accepts(text), table[end].1, "{text} {table:?}");
            }
        }
    }
}

/// A complement of a text ends in a state that accepts everything.
#[test]
fn complements_of_long_texts_take_linear_work() {
    const LENGTH: usize = 20_000;
    let grammar = grammar(|builder| {
        let text = builder.literal(&"a".repeat(LENGTH));
        builder.complement(text)
    });
    let body = grammar.rule(grammar.root()).body();
    let (complement, steps) = TextAutomaton::from_expr_counted(&grammar, body, &TextLimits::default());
    assert_eq!(complement.map(|complement| complement.state_count()), Ok(LENGTH + 2));
    assert!(steps < 5 * LENGTH, "{steps} steps for {LENGTH} characters");
}

/// Brackets around one of a few letters, nested so deep that there are many ways; all of them share their parts.
fn nested(builder: &mut GrammarBuilder, depth: u32) -> ExprId {
    let letter = builder.class([('a', 'c'), ('é', 'é')]);
    let two = builder.literal("aé");
    let mut inside = builder.choice([letter, two]);
    for _ in 0..depth {
        let pairs = [("(", ")"), ("<", ">"), ("", "")].map(|(open, close)| {
            let (open, close) = (builder.literal(open), builder.literal(close));
            builder.sequence([open, inside, close])
        });
        inside = builder.choice(pairs);
    }
    inside
}

#[test]
fn products_with_shared_parts_read_what_both_read() {
    const DEPTH: u32 = 9;
    let any = |builder: &mut GrammarBuilder, min| {
        let any = builder.any_char();
        builder.repeat(any, min, None)
    };
    type Other = fn(&mut GrammarBuilder, &dyn Fn(&mut GrammarBuilder, u32) -> ExprId) -> ExprId;
    type Judge = fn(&str) -> bool;
    let others: [(Other, Judge); 4] = [
        (|builder, any| any(builder, 3), |text| text.chars().count() >= 3),
        (
            |builder, any| {
                let (open, rest) = (builder.literal("<"), any(builder, 0));
                builder.sequence([open, rest])
            },
            |text| text.starts_with('<'),
        ),
        (
            |builder, any| {
                let (before, letters, after) = (any(builder, 0), builder.literal("aé"), any(builder, 0));
                let within = builder.sequence([before, letters, after]);
                builder.complement(within)
            },
            |text| !text.contains("aé"),
        ),
        (|builder, _| builder.literal("nothing"), |_| false),
    ];
    let mut texts: Vec<String> = Vec::new();
    for number in 0..3_usize.pow(6) {
        let mut text = ["a", "aé", "é", "éa", "b"][number % 5].to_owned();
        // Every depth up to one too many.
        for level in 0..number % 11 {
            text = [format!("({text})"), format!("<{text}>"), format!("(<{text}>")]
                [(number / 11 + level * number) % if number % 13 == 0 { 3 } else { 2 }]
            .clone();
        }
        texts.push(text);
    }
    for (other, obeys) in others {
        let written = grammar(|builder| {
            let (nested, other) = (nested(builder, DEPTH), other(builder, &any));
            let (x, both) = (builder.literal("x"), builder.intersection([nested, other]));
            builder.choice([x, both])
        });
        let escaped = grammar(|builder| {
            let (nested, other) = (nested(builder, DEPTH), other(builder, &any));
            let (x, both) = (builder.literal("x"), builder.intersection([nested, other]));
            let once = builder.json_escaped(both);
            let twice = builder.json_escaped(once);
            let twice_again = builder.sequence([x, twice]);
            builder.choice([x, once, twice_again])
        });
        let alone = grammar(|builder| nested(builder, DEPTH));
        let [written, escaped, alone] = [&written, &escaped, &alone].map(built);
        for text in &texts {
            let is_read = accepts(&alone, text.as_bytes());
            let expected = is_read && obeys(text);
            assert_eq!(accepts(&written, text.as_bytes()), expected, "{text}");
            assert_eq!(accepts(&escaped, text.as_bytes()), expected, "{text}");
            assert_eq!(
                accepts(&escaped, format!("x{}", text.replace('a', "\\u0061")).as_bytes()),
                expected,
                "{text}"
            );
        }
    }
}
