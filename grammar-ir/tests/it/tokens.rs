//! Tokens and tag dispatch: what is refused, and what a vocabulary makes of names.

use grammask_grammar_ir::passes::{TokenNames, TokenSort, resolve_tokens};
use grammask_grammar_ir::{
    AfterDispatch, DispatchEnd, Expr, ExprId, Grammar, GrammarBuilder, GrammarError, TagDispatch, TokenRef,
};

/// The grammar of one tag dispatch, whose triggers all lead to "b".
fn dispatch(build: impl FnOnce(TagDispatch, ExprId) -> TagDispatch) -> Result<Grammar, GrammarError> {
    let mut builder = GrammarBuilder::new();
    let body = builder.literal("b");
    let body = builder.tag_dispatch(build(TagDispatch::new(), body));
    let root = builder.add_rule("root", body)?;
    builder.finish(root)
}

#[track_caller]
fn check_refused(build: impl FnOnce(TagDispatch, ExprId) -> TagDispatch, message: &str) {
    assert_eq!(dispatch(build).unwrap_err().to_string(), message);
}

#[test]
fn patterns_that_cannot_be_completed_are_refused() {
    check_refused(
        |dispatch, body| dispatch.trigger("<function=", body).trigger("<fun", body),
        "rule `root`: the trigger \"<function=\" can never be completed, since the trigger \"<fun\" is completed \
         before it; take one of the two away",
    );
    check_refused(
        |dispatch, body| dispatch.trigger("ab", body).stop("xaby"),
        "rule `root`: the stop string \"xaby\" can never be completed, since the trigger \"ab\" is completed \
         before it; take one of the two away",
    );
    check_refused(
        |dispatch, body| dispatch.trigger("xab", body).exclude("ab"),
        "rule `root`: the trigger \"xab\" can never be completed, since the excluded string \"ab\" is completed \
         before it; take one of the two away",
    );
    check_refused(
        |dispatch, body| dispatch.trigger("", body),
        "rule `root`: a tag dispatch has an empty trigger; write at least one character or token",
    );
    check_refused(
        |dispatch, _| dispatch.end(DispatchEnd::AtStop),
        "rule `root`: a tag dispatch never ends; give it a stop string, let its free text end anywhere, or let it \
         end after the first tag",
    );
    check_refused(
        |dispatch, body| dispatch.trigger("a", body).after(AfterDispatch::End).at_least(2),
        "a tag dispatch that ends after its first tag cannot have at least 2 of them; ask for at most one, or let \
         it go on",
    );
    dispatch(|dispatch, body| dispatch.trigger("xab", body).trigger("ab", body).stop("b")).unwrap();
    dispatch(|dispatch, body| dispatch.exclude("a").exclude("aa").trigger("b", body)).unwrap();
}

#[test]
fn patterns_are_found_in_one_another_however_many_there_are() {
    let others = |count: usize, dispatch: TagDispatch, body| {
        (0..count).fold(dispatch, |dispatch, number| dispatch.trigger(&*format!("<{number:03}"), body))
    };
    // Triggers; excluded texts; of those that may not stand together, the first one as they are written, with the text
    // that ends first in it, and of those the longest.
    let cases = [
        ("xab ab", "", ""),
        ("xab", "ab", "xab ab"),
        ("ab ab", "ab", "ab ab"),
        ("zabcd abcd cab", "bc abc c", "zabcd abc"),
        ("abcd bc xbcx c", "", "abcd bc"),
        ("aaaa aa", "", "aaaa aa"),
        ("ba ca", "da aa", ""),
    ];
    for (triggers, excludes, expected) in cases {
        for count in [0, 20] {
            let found = dispatch(|dispatch, body| {
                let dispatch =
                    triggers.split_whitespace().fold(dispatch, |all, text| all.trigger(text, body));
                let dispatch = others(count, dispatch, body);
                excludes.split_whitespace().fold(dispatch, |all, text| all.exclude(text))
            });
            let message = found.err().map(|error| error.to_string()).unwrap_or_default();
            let quoted: Vec<&str> = message.split('"').skip(1).step_by(2).collect();
            assert_eq!(quoted.join(" "), expected, "{triggers}, {excludes}: {message}");
        }
    }
}

#[test]
fn tokens_do_not_stand_below_regular_operators() {
    let mut builder = GrammarBuilder::new();
    let token = builder.token(["<|call|>"]);
    let body = builder.complement(token);
    let root = builder.add_rule("root", body).unwrap();
    assert_eq!(
        builder.finish(root).unwrap_err().to_string(),
        "rule `root`: a complement is only defined for text, but its operand holds a token; move that out of the \
         operand"
    );
}

struct Names;

impl TokenNames for Names {
    fn special(&self) -> Vec<(&str, u32)> {
        vec![("<|a|>", 10), ("<|a|>b", 11), ("<|stop|>", 12)]
    }

    fn text(&self, bytes: &[u8]) -> Option<u32> {
        (bytes == b"hello").then_some(3)
    }

    fn kind(&self, id: u32) -> TokenSort {
        match id {
            0..=3 => TokenSort::Text,
            10 | 11 => TokenSort::Special,
            12 => TokenSort::Stop,
            _ => TokenSort::Nothing,
        }
    }

    fn stop(&self) -> Vec<u32> {
        vec![12]
    }

    fn count(&self) -> usize {
        6
    }
}

#[test]
fn names_become_ids() {
    let mut builder = GrammarBuilder::new();
    let parts = [
        builder.token(["hello", "<|stop|>"]),
        builder.exclude_token(["<|a|>"]),
        builder.exclude_token([0, 1, 2, 3, 10, 11]),
        builder.tag_text("x<|a|>bc<|a|>"),
    ];
    let choice = builder.choice(parts);
    let tags = TagDispatch::new().trigger("<|a|>n", choice).stop("<|stop|>").exclude("<|a|>x");
    let body = builder.tag_dispatch(tags);
    let root = builder.add_rule("root", body).unwrap();
    let grammar = builder.finish(root).unwrap();
    assert_eq!(
        grammar.to_string(),
        "root ::= TagDispatch((\"<|a|>n\", Token(\"<|stop|>\", \"hello\") | ExcludeToken(\"<|a|>\") | \
         ExcludeToken(0, 1, 2, 3, 10, 11) | TagText(\"x<|a|>bc<|a|>\")), stop_str=(\"<|stop|>\",), \
         excludes=(\"<|a|>x\",))\n"
    );
    let resolved = resolve_tokens(&grammar, &Names).unwrap();
    assert_eq!(
        resolved.to_string(),
        "root ::= TagDispatch((Token(10) \"n\", Token(3, 12) | ExcludeToken(10, 12) | [] | \
         \"x\" Token(11) \"c\" Token(10)), stop_str=(Token(12),), excludes=(\"<|a|>x\",))\n"
    );
    assert!(resolve_tokens(&resolved, &Names).unwrap().is_same(&resolved));
}

#[test]
fn unknown_tokens_are_refused() {
    for (token, shown) in [(TokenRef::from(9), "9"), (TokenRef::from("<|b|>"), "\"<|b|>\"")] {
        let mut builder = GrammarBuilder::new();
        let body = builder.token([token]);
        let root = builder.add_rule("root", body).unwrap();
        let error = resolve_tokens(&builder.finish(root).unwrap(), &Names).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "rule `root`: the vocabulary has no token {shown}; correct it, or declare it when the vocabulary \
                 is made"
            )
        );
    }
}

#[test]
fn a_least_number_of_tags_is_a_repeat_before_the_dispatch() {
    let grammar = dispatch(|dispatch, body| dispatch.trigger("a", body).stop("s").at_least(3)).unwrap();
    assert_eq!(
        grammar.to_string(),
        "root ::= TagDispatch((\"a\", \"b\"), stop_str=(\"s\",), loop_after_dispatch=false, at_least_one=true){3} \
         TagDispatch((\"a\", \"b\"), stop_str=(\"s\",))\n"
    );
    let body = grammar.rule(grammar.root()).body();
    assert!(matches!(grammar.expr(body), Expr::Sequence([_, _])));
}
