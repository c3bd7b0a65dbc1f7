//! Tools that are added to a text, and taken from it, while it is written.

use grammask_grammar_frontends::structural_tag::StructuralTagOptions;
use grammask_mask_cache::{TokenMask, Vocabulary, VocabularyOptions};
use grammask_matcher::{CompiledGrammar, Compiler, MatchError, Matcher, Replay};
use serde_json::{Value, json};

/// Single bytes, some pieces, a special token that begins calls, and a stop token.
fn vocabulary(pieces: &[&str]) -> Vocabulary {
    let bytes = (0..=255_u8).map(|byte| vec![byte]);
    let pieces = pieces.iter().map(|piece| piece.as_bytes().to_vec());
    let all: Vec<Vec<u8>> = bytes.chain(pieces).chain([b"<call>".to_vec(), b"<stop>".to_vec()]).collect();
    let count = u32::try_from(all.len()).unwrap();
    let options = VocabularyOptions::default().special_ids([count - 2]).stop_ids([count - 1]);
    Vocabulary::from_tokens(all.into_iter().map(Some), &options).unwrap()
}

const PIECES: &[&str] = &["<to", "ol:", ">{", "\"a\": ", "add", "/tool>", "hi "];

/// Free text with calls, each tool with one argument of its own name.
fn tag(tools: &[&str]) -> String {
    let tag = |name: &&str| -> Value {
        let schema = json!({
            "type": "object",
            "properties": {*name: {"type": "integer"}},
            "required": [name],
        });
        let content = json!({"type": "json_schema", "json_schema": schema});
        json!({"begin": format!("<tool:{name}>"), "content": content, "end": "</tool>"})
    };
    let tags: Vec<Value> = tools.iter().map(tag).collect();
    json!({"format": {"type": "triggered_tags", "triggers": ["<tool:"], "tags": tags}}).to_string()
}

fn compile(compiler: &Compiler, tools: &[&str]) -> CompiledGrammar {
    compiler.structural_tag(&tag(tools), &StructuralTagOptions::default()).unwrap()
}

fn call(name: &str) -> String {
    format!("<tool:{name}>{{\"{name}\": 12}}</tool>")
}

/// Reads a text as the longest tokens.
fn read(matcher: &mut Matcher, text: &str) {
    let vocabulary = matcher.grammar().vocabulary().clone();
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        let ids = (0..u32::try_from(vocabulary.len()).unwrap()).filter_map(|id| vocabulary.id(id));
        let fits = ids.filter(|&id| !vocabulary.token_bytes(id).is_empty());
        let longest = fits
            .filter(|&id| rest.starts_with(vocabulary.token_bytes(id)))
            .max_by_key(|&id| vocabulary.token_bytes(id).len())
            .unwrap();
        matcher.accept_token(longest).unwrap();
        rest = &rest[vocabulary.token_bytes(longest).len()..];
    }
}

fn mask(matcher: &mut Matcher) -> Vec<u32> {
    let mut mask = TokenMask::new(matcher.grammar().vocabulary().len());
    matcher.fill_mask(&mut mask).unwrap();
    mask.as_words().to_vec()
}

fn same(switched: &mut Matcher, fresh: &mut Matcher) {
    assert_eq!(mask(switched), mask(fresh));
    assert_eq!(switched.is_completed(), fresh.is_completed());
}

#[test]
fn only_what_is_new_is_compiled() {
    let compiler = Compiler::new(vocabulary(PIECES));
    let compiled = |tools: &[&str]| {
        let before = compiler.stats();
        compile(&compiler, tools);
        let after = compiler.stats();
        (after.schema_misses - before.schema_misses, after.schema_hits - before.schema_hits)
    };
    assert_eq!(compiled(&["add", "sub"]), (2, 0));
    assert_eq!(compiled(&["add", "sub", "mul"]), (1, 2));
    assert_eq!(compiled(&["mul", "add"]), (0, 2));
    assert_eq!(compiled(&["mul", "div", "add"]), (1, 2));
    // The very same set is not even linked again.
    assert_eq!(compiled(&["mul", "div", "add"]), (0, 0));
}

#[test]
fn a_tool_is_added_anywhere_in_the_text() {
    let compiler = Compiler::new(vocabulary(PIECES));
    let (old, new) = (compile(&compiler, &["add"]), compile(&compiler, &["add", "sub"]));
    let text = format!("hi {} <to {}", call("add"), call("add"));
    for at in 0..=text.len() {
        for replay in [Replay::All, Replay::SinceReturn] {
            let mut matcher = old.matcher();
            read(&mut matcher, &text[..at]);
            matcher.switch_to(&new, replay).unwrap();
            let mut fresh = new.matcher();
            read(&mut fresh, &text[..at]);
            same(&mut matcher, &mut fresh);
            read(&mut matcher, &format!("{}{}", &text[at..], call("sub")));
            assert!(matcher.is_completed());
        }
    }
}

#[test]
fn a_tool_is_taken_away() {
    let compiler = Compiler::new(vocabulary(PIECES));
    let (old, new) = (compile(&compiler, &["add", "sub"]), compile(&compiler, &["add"]));
    let called = format!("hi {}", call("sub"));
    // Between calls: the finished one is in the text, and the new grammar does not know it.
    let mut matcher = old.matcher();
    read(&mut matcher, &format!("{called} <to"));
    let before = matcher.steps();
    let refused = matcher.switch_to(&new, Replay::All).unwrap_err();
    assert!(matches!(refused, MatchError::TextRefused { step } if step < before), "{refused}");
    assert_eq!(matcher.steps(), before);
    read(&mut matcher.fork(), &format!("ol:{}", &call("sub")[6..]));
    matcher.switch_to(&new, Replay::SinceReturn).unwrap();
    let mut fresh = new.matcher();
    read(&mut fresh, " <to");
    same(&mut matcher, &mut fresh);
    assert!(matcher.fork().accept_bytes(b"ol:sub").is_err());
    assert!(matcher.accept_bytes(b"ol:add>").is_ok());
    // Text that was not read again cannot be taken back.
    assert!(matcher.rollback(before).is_err());
    matcher.rollback(matcher.steps()).unwrap();
    same(&mut matcher, &mut new.matcher());
    // In the midst of a call of the tool that goes.
    let mut matcher = old.matcher();
    read(&mut matcher, "hi <tool:sub>{\"su");
    let stays = mask(&mut matcher);
    for replay in [Replay::All, Replay::SinceReturn] {
        assert!(matches!(matcher.switch_to(&new, replay), Err(MatchError::TextRefused { .. })));
        assert_eq!(mask(&mut matcher), stays);
    }
}

#[test]
fn steps_of_all_kinds_are_read_again() {
    let compiler = Compiler::new(vocabulary(PIECES));
    let (old, new) = (compile(&compiler, &["add"]), compile(&compiler, &["add", "sub"]));
    let mut matcher = old.matcher();
    matcher.accept_bytes(b"h").unwrap();
    read(&mut matcher, "x");
    matcher.rollback(1).unwrap();
    matcher.accept_bytes("\u{e9} ".as_bytes()).unwrap();
    read(&mut matcher, "hi ");
    let stop = matcher.grammar().vocabulary().stop_tokens()[0];
    let mut ended = matcher.fork();
    ended.accept_token(stop).unwrap();
    ended.switch_to(&new, Replay::All).unwrap();
    assert!(ended.is_terminated() && ended.steps() == 4);
    ended.rollback(1).unwrap();
    same(&mut ended, &mut matcher.fork());
    assert_eq!(
        matcher.switch_to(&new, Replay::Last(4)),
        Err(MatchError::RollbackTooFar { asked: 4, taken: 3 })
    );
    matcher.switch_to(&new, Replay::Last(1)).unwrap();
    assert_eq!(matcher.steps(), 1);
    let other = compile(&Compiler::new(vocabulary(&["other"])), &["add"]);
    assert_eq!(matcher.switch_to(&other, Replay::All), Err(MatchError::OtherVocabulary));
}

/// How many tokens a rule has read is no part of a state, so that a text with such rules is read again as a whole.
#[test]
fn bounds_on_tokens_are_not_forgotten() {
    let compiler = Compiler::new(vocabulary(PIECES));
    let few = |most: u32| {
        let tag = json!({"format": {"type": "any_text", "max_tokens": most}}).to_string();
        compiler.structural_tag(&tag, &StructuralTagOptions::default()).unwrap()
    };
    let mut matcher = few(3).matcher();
    read(&mut matcher, "xx");
    matcher.switch_to(&few(4), Replay::SinceReturn).unwrap();
    assert_eq!(matcher.steps(), 2);
}
