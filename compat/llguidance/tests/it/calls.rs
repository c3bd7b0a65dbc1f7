//! Calls in every order.

use fastrand::Rng;

use crate::support::{
    Answer, CALL, Call, END, Subject, TURN, bytes, environment, lark, ours, schema, theirs,
};

/// Both libraries answer some calls alike.
#[track_caller]
fn alike(request: &str, calls: &[Call]) -> Vec<Answer> {
    let environment = environment();
    let (mut one, mut other) = (ours(&environment, request), theirs(&environment, request));
    let mut answers = vec![one.state(None)];
    assert_eq!(answers[0], other.state(None), "at first\n{request}");
    for (number, call) in calls.iter().enumerate() {
        let answer = one.answer(call);
        assert_eq!(answer, other.answer(call), "call {number} of {calls:?}\n{request}");
        answers.push(answer);
    }
    answers
}

fn eat(text: &str) -> Call {
    Call::Consume(bytes(text))
}

#[test]
fn a_text_that_can_only_end_has_stopped() {
    let request = lark(r#"start: "abc""#);
    let calls = [eat("abc"), Call::MaskOrEnd, Call::Validate(bytes("a")), Call::TryConsume(bytes("a"))];
    let answers = alike(&request, &calls);
    assert_eq!(answers[1].stop, "NoExtension");
    assert_eq!(answers[2].value, Some(vec![END, TURN]));
    alike(&request, &[eat("abc"), Call::Rollback(1), Call::Mask, eat("c"), Call::Reset, Call::Mask]);
    alike(
        &lark(r#"start: "a" <|call|>"#),
        &[eat("a"), Call::Mask, Call::Consume(vec![CALL]), Call::MaskOrEnd],
    );
    alike(&lark(r#"start: "a" <|call|>*"#), &[eat("a"), Call::Mask, Call::Consume(vec![CALL]), Call::Mask]);
    alike(
        &lark(r#"start: "a" <|end|> "b""#),
        &[eat("a"), Call::Mask, Call::Consume(vec![END]), Call::Mask, eat("b")],
    );
    alike(&lark(r#"start: """#), &[Call::Mask, Call::Validate(vec![END]), Call::Consume(vec![END])]);
}

#[test]
fn the_end_may_be_taken_back() {
    let request = lark("start: /[a-c]*/");
    let calls = [
        eat("ab"),
        Call::Consume(vec![TURN]),
        Call::Validate(vec![END]),
        Call::TryConsume(bytes("a")),
        Call::MaskOrEnd,
        Call::Rollback(1),
        Call::Mask,
        Call::TryConsume(vec![97, END, 97]),
        Call::Rollback(0),
        Call::Reset,
        Call::Validate(vec![97, 98, 100]),
    ];
    let answers = alike(&request, &calls);
    assert_eq!(answers[2].stop, "EndOfSentence");
    assert_eq!(answers[6].stop, "NotStopped");
}

#[test]
fn errors_stay() {
    let request = lark("start: /[a-c]*/");
    let after =
        [Call::Mask, Call::MaskOrEnd, Call::Reset, Call::Rollback(0), Call::Validate(vec![]), Call::Clone];
    let wrong = [
        eat("x"),
        Call::Consume(vec![CALL]),
        Call::Rollback(1),
        Call::Consume(vec![100_000]),
        Call::Validate(vec![97, 100_000]),
        Call::TryConsume(vec![100_000]),
    ];
    for call in wrong {
        let calls: Vec<Call> = std::iter::once(call).chain(after.clone()).collect();
        let answers = alike(&request, &calls);
        assert!(answers[1..].iter().all(|answer| answer.is_error && answer.stop == "InternalError"));
    }
    let ended = [Call::Consume(vec![END]), Call::Mask, Call::Reset];
    assert!(alike(&request, &ended)[2].is_error, "a mask after the end");
    assert!(alike(&lark(r#"start: "a"#), &after)[0].is_error, "a broken grammar");
}

#[test]
fn the_end_is_accepted_where_a_text_can_only_end() {
    let mut matcher = ours(&environment(), &lark(r#"start: "a""#));
    matcher.consume_tokens(&[97]).unwrap();
    assert_eq!(matcher.validate_tokens(&[END, END]).unwrap(), 1);
    matcher.consume_token(TURN).unwrap();
    assert!(matcher.is_stopped() && !matcher.is_error());
    matcher.rollback(2).unwrap();
    assert!(!matcher.is_stopped());
}

#[test]
fn a_text_of_most_tokens_is_stopped() {
    let request = r#"{"grammars": [{"lark_grammar": "start: /[ab]*/"}], "max_tokens": 2}"#;
    let mut matcher = ours(&environment(), request);
    assert_eq!(matcher.validate_tokens(&[97, 97, 97]).unwrap(), 2);
    assert_eq!(matcher.validate_tokens(&[97, 97, END]).unwrap(), 3);
    matcher.consume_tokens(&[97, 97]).unwrap();
    assert_eq!(matcher.stop_reason(), llguidance::api::StopReason::MaxTokensTotal);
    assert_eq!(matcher.compute_mask_or_eos().unwrap().to_list(), [END, TURN]);
    assert_eq!(matcher.try_consume_tokens(&[97]).unwrap(), 0);
    matcher.rollback(1).unwrap();
    matcher.consume_tokens(&[98, END]).unwrap();
    assert!(matcher.consume_token(97).is_err());
    // The limit comes before the text is whole.
    let request = r#"{"grammars": [{"lark_grammar": "start: \"aaa\""}], "max_tokens": 2}"#;
    let mut matcher = ours(&environment(), request);
    matcher.consume_tokens(&[97, 97]).unwrap();
    assert!(matcher.is_stopped());
    assert_eq!(matcher.validate_tokens(&[97]).unwrap(), 0);
    assert!(matcher.consume_token(97).is_err());
    let none = r#"{"grammars": [{"lark_grammar": "start: /[ab]*/"}], "max_tokens": 0}"#;
    assert!(ours(&environment(), none).is_stopped());
}

/// A call that some text could need, and seldom one that is wrong.
fn any_call(rng: &mut Rng, matcher: &mut impl Subject) -> Call {
    let mut tokens = Vec::new();
    let allowed = matcher.clone().mask_or_end().map_or(Vec::new(), |mask| mask.to_list());
    for _ in 0..rng.usize(1..4) {
        let is_wrong = allowed.is_empty() || rng.usize(0..12) == 0;
        tokens.push(if is_wrong { rng.u32(0..274) } else { allowed[rng.usize(..allowed.len())] });
    }
    match rng.u32(0..40) {
        0..16 if allowed.is_empty() || rng.usize(0..60) == 0 => Call::Consume(tokens),
        0..16 => Call::Consume(vec![allowed[rng.usize(..allowed.len())]]),
        16..20 => Call::TryConsume(tokens),
        20..25 => Call::Validate(tokens),
        25..30 => Call::MaskOrEnd,
        30..33 if !matcher.is_stopped() => Call::Mask,
        33..36 => Call::Rollback(rng.usize(0..3)),
        36..37 => Call::Reset,
        _ => Call::Clone,
    }
}

/// Whether the call gives the end to a text that can only end: this crate does more there. Or whether it may go on after
/// the end in one call, which llguidance leaves unseen.
fn ends_the_text(call: &Call, before: &Answer) -> bool {
    let (Call::Consume(tokens) | Call::TryConsume(tokens) | Call::Validate(tokens)) = call else {
        return false;
    };
    let has_end = tokens.iter().any(|token| [END, TURN].contains(token));
    has_end && (before.stop == "NoExtension" || tokens.len() > 1)
}

#[test]
fn any_calls_are_answered_alike() {
    let requests = [
        lark(
            r#"start: "<" NAME ("," NAME)* ">" | <|call|> tail
tail: /[0-9]{1,3}/ "."?
NAME: /[a-z]{1,4}/"#,
        ),
        lark("start: /([ab]|é)*/"),
        lark(
            r#"start: item+ <|call|>?
item: "x" | "y" item "z" | "ab" "true""#,
        ),
        schema(&serde_json::json!({
            "type": "object", "additionalProperties": false, "required": ["name", "arguments"],
            "properties": {"name": {"enum": ["ab", "true"]}, "arguments": {"type": "array", "items": {"type": "boolean"}}},
            "x-guidance": {"whitespace_flexible": false},
        })),
    ];
    let environment = environment();
    let mut compared = 0;
    for (seed, request) in (0..200).flat_map(|seed| requests.iter().map(move |request| (seed, request))) {
        let mut rng = Rng::with_seed(seed);
        let (mut one, mut other) = (ours(&environment, request), theirs(&environment, request));
        let mut before = one.state(None);
        assert_eq!(before, other.state(None), "{request}");
        let mut calls = Vec::new();
        for _ in 0..30 {
            let call = any_call(&mut rng, &mut one);
            if before.is_error {
                break;
            }
            if ends_the_text(&call, &before) {
                continue;
            }
            calls.push(call.clone());
            before = one.answer(&call);
            assert_eq!(before, other.answer(&call), "seed {seed}: {calls:?}\n{request}");
            compared += 1;
        }
    }
    assert!(compared > 5_000, "only {compared} calls were compared");
}

/// A bit is set if and only if the token would be accepted.
#[test]
fn masks_are_exact() {
    let request = schema(&serde_json::json!({"type": "object", "properties": {"name": {"type": "string"}}}));
    let environment = environment();
    let size = u32::try_from(environment.tok_trie().vocab_size()).unwrap();
    for seed in 0..10 {
        let mut rng = Rng::with_seed(seed);
        let mut matcher = ours(&environment, &request);
        for _ in 0..12 {
            let mask = matcher.compute_mask_or_eos().unwrap();
            assert_eq!(mask.len(), environment.tok_trie().vocab_size());
            for id in 0..size {
                let is_accepted = matcher.deep_clone().consume_token(id).is_ok();
                assert_eq!(mask.is_allowed(id), is_accepted, "token {id}");
                assert_eq!(mask.is_allowed(id), matcher.validate_tokens(&[id]).unwrap() == 1, "token {id}");
            }
            let allowed = mask.to_list();
            assert_eq!(allowed.len(), mask.num_set());
            matcher.consume_token(allowed[rng.usize(..allowed.len())]).unwrap();
            if matcher.is_stopped() {
                break;
            }
        }
    }
}
