//! Tag dispatch against its definition.

use grammask_fsm::{Cause, CompileOptions, Program, Toggle, compile};
use grammask_grammar_ir::{AfterDispatch, DispatchEnd, Grammar, TagDispatch};
use grammask_oracle::random::{self, GrammarOptions, Rng};
use grammask_oracle::{Recogniser, random::walk};

use crate::{built, grammar, no_passes, simulate};

/// Compares what is accepted with the oracle.
fn check(grammar: &Grammar, texts: &[Vec<u8>]) {
    let recogniser = Recogniser::new(grammar);
    for options in [CompileOptions::default(), no_passes()] {
        let program = match compile(grammar, &options) {
            Ok(program) => program,
            Err(error) => {
                assert_eq!(error.cause(), Cause::EmptyLanguage, "{error}");
                assert!(recogniser.is_language_empty(), "{grammar}");
                continue;
            }
        };
        assert!(!recogniser.is_language_empty(), "{grammar}");
        simulate::check_invariants(&program);
        for text in texts {
            let expected = recogniser.accepts(text);
            assert_eq!(simulate::accepts(&program, text), expected, "\"{}\" {grammar}", text.escape_ascii());
        }
    }
}

/// Past the limit on all texts of a grammar small automata stay as they are, and read the same.
#[test]
fn small_automata_are_made_smaller_within_a_limit() {
    let grammar = grammar(|builder| {
        let texts = (b'b'..=b'z').map(|letter| {
            let excluded = format!("a{}", char::from(letter));
            let dispatch = TagDispatch::new().stop("<>").exclude(excluded.as_str());
            builder.tag_dispatch(dispatch)
        });
        let texts: Vec<_> = texts.collect();
        builder.sequence(texts)
    });
    let options = CompileOptions::default();
    let some = options.clone().text(options.text.max_total_steps(10_000));
    let none = options.clone().determinization(Toggle::Off);
    let programs = [options, some, none].map(|options| compile(&grammar, &options).unwrap());
    let [all, some, none] = programs.each_ref().map(Program::state_count);
    assert!(all < some && some < none, "{all}, {some} and {none} states");
    let text: String = (b'b'..=b'z').map(|letter| format!("a-{}<>", char::from(letter))).collect();
    for program in &programs {
        assert!(simulate::accepts(program, text.as_bytes()));
        assert!(!simulate::accepts(program, text.replace('-', "").as_bytes()));
    }
}

#[test]
fn random_grammars_with_tags() {
    let mut accepted = 0;
    let options = GrammarOptions { rules: 2, depth: 2, ..GrammarOptions::with_tags() };
    for seed in 0..200 {
        let mut rng = Rng::new(seed);
        let grammar = random::any_grammar(&mut rng, &options);
        let recogniser = Recogniser::new(&grammar);
        let mut texts: Vec<Vec<u8>> = (0..6).map(|_| walk(&mut rng, &recogniser, 6)).collect();
        texts.extend((0..4).map(|at: usize| random::mutate(&mut rng, &texts[at])).collect::<Vec<_>>());
        accepted += texts.iter().filter(|text| recogniser.accepts(text)).count();
        check(&grammar, &texts);
    }
    assert!(accepted > 300, "{accepted}");
}

/// All texts of up to five characters out of a few.
fn short_texts(letters: &[&str]) -> Vec<Vec<u8>> {
    let mut all = vec![Vec::new()];
    let mut from = 0;
    for _ in 0..5 {
        let to = all.len();
        for at in from..to {
            for letter in letters {
                let text: Vec<u8> = [&all[at][..], letter.as_bytes()].concat();
                all.push(text);
            }
        }
        from = to;
    }
    all
}

#[test]
fn every_short_text() {
    let dispatch = |write: fn(TagDispatch, grammask_grammar_ir::ExprId) -> TagDispatch| {
        grammar(|builder| {
            let body = builder.literal("c");
            builder.tag_dispatch(write(TagDispatch::new(), body))
        })
    };
    let texts = short_texts(&["a", "b", "c", "é"]);
    check(&dispatch(|tags, body| tags.trigger("ab", body)), &texts);
    check(&dispatch(|tags, body| tags.trigger("aab", body).trigger("ab", body).trigger("b", body)), &texts);
    check(&dispatch(|tags, body| tags.trigger("ab", body).exclude("ba").exclude("é")), &texts);
    check(&dispatch(|tags, body| tags.trigger("a", body).stop("b").end(DispatchEnd::AtStop)), &texts);
    check(&dispatch(|tags, body| tags.trigger("ba", body).stop("a").at_least(1)), &texts);
    check(&dispatch(|tags, body| tags.trigger("éa", body).after(AfterDispatch::End)), &texts);
    check(&dispatch(|tags, body| tags.trigger("a", body).after(AfterDispatch::End).at_least(1)), &texts);
}

#[test]
fn tags_are_calls() {
    let names: Vec<String> = (0..400).map(|number| format!("<function=tool_number_{number}>")).collect();
    let grammar = grammar(|builder| {
        let digits = builder.class([('0', '9')]);
        let body = builder.repeat(digits, 1, None);
        let tags = names.iter().fold(TagDispatch::new(), |tags, name| tags.trigger(&**name, body));
        builder.tag_dispatch(tags)
    });
    let program = built(&grammar);
    assert!(program.state_count() < 1_000, "{}", program.state_count());
    assert_eq!(program.fragment_count(), 3, "the root, the free text, the one body");
    assert!(simulate::accepts(&program, b"see <function=tool_number_399>12 and <function=tool_number_3>4"));
    assert!(!simulate::accepts(&program, b"see <function=tool_number_399>x"));
}
