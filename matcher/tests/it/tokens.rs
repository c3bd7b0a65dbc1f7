//! Tokens that the grammar takes as a whole, against the naive recogniser.

use grammask_grammar_frontends::lark::LarkOptions;
use grammask_grammar_ir::passes::{TokenNames, TokenSort, resolve_tokens};
use grammask_grammar_ir::{DispatchEnd, Grammar, GrammarBuilder, TagDispatch};
use grammask_mask_cache::{TokenMask, Vocabulary, VocabularyOptions};
use grammask_matcher::{CompiledGrammar, Compiler, MatchError, StopTokens};
use grammask_oracle::random::{self, GrammarOptions, Rng};
use grammask_oracle::{Derivations, Recogniser};
use grammask_parser_backend::StepError;

const SPECIAL: [u32; 2] = [0, 1];
const STOP: u32 = 2;

/// Two special tokens, a stop token, then text tokens.
struct Tokens {
    bytes: Vec<Vec<u8>>,
}

impl Tokens {
    fn new(text: impl IntoIterator<Item = Vec<u8>>) -> Self {
        let named = ["<s>", "<t>", "<stop>"].map(|name| name.as_bytes().to_vec());
        Self { bytes: named.into_iter().chain(text).collect() }
    }

    fn vocabulary(&self) -> Vocabulary {
        let options = VocabularyOptions::default().special_ids(SPECIAL).stop_ids([STOP]);
        Vocabulary::from_tokens(self.bytes.iter().map(Some), &options).unwrap()
    }

    fn ids(&self) -> std::ops::Range<u32> {
        0..self.bytes.len() as u32
    }

    /// The bytes of a text token.
    fn text(&self, id: u32) -> &[u8] {
        if id <= STOP { &[] } else { &self.bytes[id as usize] }
    }
}

impl TokenNames for Tokens {
    fn special(&self) -> Vec<(&str, u32)> {
        self.ids().take(3).map(|id| (std::str::from_utf8(&self.bytes[id as usize]).unwrap(), id)).collect()
    }

    fn text(&self, bytes: &[u8]) -> Option<u32> {
        self.ids().find(|&id| id > STOP && self.bytes[id as usize] == bytes)
    }

    fn kind(&self, id: u32) -> TokenSort {
        match id {
            0 | 1 => TokenSort::Special,
            STOP => TokenSort::Stop,
            _ if !self.ids().contains(&id) || self.text(id).is_empty() => TokenSort::Nothing,
            _ => TokenSort::Text,
        }
    }

    fn stop(&self) -> Vec<u32> {
        vec![STOP]
    }

    fn count(&self) -> usize {
        self.ids().filter(|&id| matches!(self.kind(id), TokenSort::Text | TokenSort::Special)).count()
    }
}

/// Follows a text of tokens that `choose` picks among the allowed ones, and compares every mask, and what becomes
/// of every token, with the oracle's. Returns how many masks were compared.
fn check(
    context: &str,
    tokens: &Tokens,
    grammar: &CompiledGrammar,
    recogniser: &Recogniser,
    mut choose: impl FnMut(&[u32]) -> Option<u32>,
) -> usize {
    let mut matcher = grammar.matcher();
    let mut derivations = Derivations::new(recogniser);
    let mut text: Vec<u32> = Vec::new();
    for compared in 0.. {
        let place = || format!("{context} after {text:?} of {:?}\n{}", tokens.bytes, recogniser.grammar());
        let is_allowed = |id: u32| match id {
            STOP => derivations.allows_as_itself(STOP) || derivations.is_complete(),
            _ => derivations.allows(id, tokens.text(id)),
        };
        let expected: Vec<u32> = tokens.ids().filter(|&id| is_allowed(id)).collect();
        let mut mask = TokenMask::new(tokens.bytes.len());
        match matcher.fill_mask(&mut mask) {
            Ok(_) => {
                let vocabulary = grammar.vocabulary();
                let found: Vec<u32> =
                    tokens.ids().filter(|&id| mask.contains(vocabulary.id(id).unwrap())).collect();
                assert_eq!(found, expected, "{}", place());
            }
            Err(MatchError::Limit(StepError::Unspellable { .. } | StepError::NoStopToken)) => {
                assert!(expected.is_empty(), "{}", place());
            }
            Err(error) => panic!("{error}, {}", place()),
        }
        for id in tokens.ids() {
            let is_accepted = matcher.fork().accept_token(grammar.vocabulary().id(id).unwrap()).is_ok();
            assert_eq!(is_accepted, expected.contains(&id), "token {id}, {}", place());
        }
        let Some(id) = choose(&expected) else { return compared + 1 };
        let is_end = id == STOP && !derivations.allows_as_itself(STOP);
        assert!(is_end || derivations.push(id, tokens.text(id)));
        text.push(id);
        matcher.accept_token(grammar.vocabulary().id(id).unwrap()).unwrap();
        let is_over = is_end || id == STOP && derivations.is_complete();
        assert_eq!(matcher.is_terminated(), is_over, "{context} after {text:?}\n{}", recogniser.grammar());
        if is_over {
            return compared + 1;
        }
        assert_eq!(matcher.is_completed(), derivations.is_complete(), "{context} after {text:?}");
    }
    0
}

#[test]
fn masks_equal_the_oracle_on_random_grammars_with_tokens() {
    let mut compared = 0;
    for seed in 0..700 {
        let mut rng = Rng::new(seed);
        // Every second grammar is rich in intersections, whose operands hold tokens.
        let mut options = GrammarOptions::with_tokens(8);
        options.intersection_weight *= 1 + 6 * (seed as u32 % 2);
        let grammar = random::any_grammar(&mut rng, &options);
        let options = random::VocabularyOptions { tokens: 20, empty_percent: 0, ..Default::default() };
        let mut text = random::vocabulary(&mut rng, &Recogniser::new(&grammar), &options);
        text.retain(|bytes| !bytes.is_empty());
        text.extend(["a", "b", "c", "ab", "é"].map(|text| text.as_bytes().to_vec()));
        let tokens = Tokens::new(text);
        let resolved = resolve_tokens(&grammar, &tokens).unwrap();
        let recogniser = Recogniser::new(&resolved);
        let compiled = match Compiler::new(tokens.vocabulary()).grammar(&grammar) {
            Ok(compiled) => compiled,
            Err(error) => {
                assert!(recogniser.is_language_empty(), "seed {seed}: {error}\n{grammar}");
                continue;
            }
        };
        for walk in 0..2 {
            let mut left = 7;
            compared += check(&format!("seed {seed}.{walk}"), &tokens, &compiled, &recogniser, |allowed| {
                left -= 1;
                rng.pick(allowed).copied().filter(|_| left > 0)
            });
        }
    }
    assert!(compared > 3_000, "{compared}");
}

/// A compiled grammar and what judges it.
fn compile(tokens: &Tokens, grammar: &Grammar) -> (CompiledGrammar, Recogniser) {
    let resolved = resolve_tokens(grammar, tokens).unwrap();
    (Compiler::new(tokens.vocabulary()).grammar(grammar).unwrap(), Recogniser::new(&resolved))
}

/// All texts of up to `longest` tokens.
fn check_all(tokens: &Tokens, grammar: &Grammar, longest: usize) -> usize {
    let (compiled, recogniser) = compile(tokens, grammar);
    let mut compared = 0;
    let mut pending: Vec<Vec<u32>> = vec![Vec::new()];
    while let Some(path) = pending.pop() {
        let mut at = 0;
        compared += check("all texts", tokens, &compiled, &recogniser, |allowed| {
            let next = path.get(at).copied();
            at += 1;
            if next.is_none() && path.len() < longest {
                pending.extend(allowed.iter().map(|&id| [&path[..], &[id]].concat()));
            }
            next
        });
    }
    compared
}

fn dispatch(write: impl FnOnce(&mut GrammarBuilder) -> TagDispatch) -> Grammar {
    let mut builder = GrammarBuilder::new();
    let tags = write(&mut builder);
    let body = builder.tag_dispatch(tags);
    let root = builder.add_rule("root", body).unwrap();
    builder.finish(root).unwrap()
}

#[test]
fn tags_split_over_tokens_in_all_ways() {
    let pieces = ["[", "a", "]", "[a", "a]", "[a]", "x[", "]x", "7"];
    let tokens = Tokens::new(pieces.map(|piece| piece.as_bytes().to_vec()));
    let call = |builder: &mut GrammarBuilder| builder.literal("7");
    check_all(&tokens, &dispatch(|builder| TagDispatch::new().trigger("[a]", call(builder))), 3);
    check_all(
        &tokens,
        &dispatch(|builder| {
            TagDispatch::new().trigger("[a]", call(builder)).stop("]").exclude("x[").end(DispatchEnd::AtStop)
        }),
        3,
    );
    // The tag is a special token, and its name in bytes is free text.
    check_all(
        &tokens,
        &dispatch(|builder| TagDispatch::new().trigger("<s>a", call(builder)).stop("<stop>")),
        3,
    );
    check_all(
        &tokens,
        &dispatch(|builder| {
            let body = builder.exclude_token(["a", "<s>"]);
            TagDispatch::new().trigger("<s>", body).trigger("x<s>", body).at_least(1).stop("a<t>")
        }),
        3,
    );
}

#[test]
fn named_stop_tokens_are_read_and_end_whole_texts() {
    let tokens = Tokens::new(["a", "b"].map(|text| text.as_bytes().to_vec()));
    let mut builder = GrammarBuilder::new();
    let (a, stop) = (builder.literal("a"), builder.token(["<stop>"]));
    let one = builder.sequence([a, stop]);
    let body = builder.repeat(one, 2, Some(2));
    let root = builder.add_rule("root", body).unwrap();
    let (compiled, _) = compile(&tokens, &builder.finish(root).unwrap());
    let id = |id| compiled.vocabulary().id(id).unwrap();
    let never = StopTokens::Never([id(4), id(STOP)].into());
    for own in [StopTokens::Vocabulary, StopTokens::Own([id(4)].into()), StopTokens::None, never] {
        let ends = own == StopTokens::Vocabulary;
        let mut matcher = compiled.matcher().with_stop_tokens(own);
        assert!(matcher.accept_token(id(STOP)).is_err());
        for step in 0..4 {
            let next = id(if step % 2 == 0 { 3 } else { STOP });
            let mut mask = TokenMask::new(5);
            matcher.fill_mask(&mut mask).unwrap();
            assert!(mask.contains(next) && mask.count() == 1, "{mask:?}");
            matcher.accept_token(next).unwrap();
            assert!(step == 3 || !matcher.is_terminated());
        }
        assert!(matcher.is_completed());
        assert_eq!(matcher.is_terminated(), ends);
        matcher.rollback(2).unwrap();
        assert!(!matcher.is_terminated() && !matcher.is_completed());
        assert_eq!(matcher.jump_forward().unwrap(), b"a");
    }
}

/// The special token that a tag begins with, and its text with what must follow.
type Tag = (Option<u32>, Vec<u8>);

/// Four hundred tags of five bytes, `<`, three letters and `>`, each followed by a `7`. Every fourth begins with a
/// special token instead of `<`.
fn many_tags() -> (Grammar, Vec<Tag>) {
    let letters = b"abcdefgh";
    let tags: Vec<Tag> = (0..400_usize)
        .map(|number| {
            let name = [number / 64 % 8, number / 8 % 8, number % 8].map(|place| letters[place]);
            let rest = [&name[..], b">7"].concat();
            match number % 4 {
                0 => (Some(SPECIAL[0]), rest),
                _ => (None, [b"<", &rest[..]].concat()),
            }
        })
        .collect();
    let grammar = dispatch(|builder| {
        let body = builder.literal("7");
        tags.iter().fold(TagDispatch::new(), |all, (special, text)| {
            let text = std::str::from_utf8(&text[..text.len() - 1]).unwrap();
            all.trigger(format!("{}{text}", if special.is_some() { "<s>" } else { "" }).as_str(), body)
        })
    });
    (grammar, tags)
}

/// All ways to cut a text into pieces.
fn cuts(text: &[u8]) -> impl Iterator<Item = Vec<&[u8]>> {
    (0..1_u32 << (text.len() - 1)).map(move |cut| {
        let ends = (1..=text.len()).filter(move |&end| end == text.len() || cut >> (end - 1) & 1 == 1);
        let mut from = 0;
        ends.map(|end| &text[std::mem::replace(&mut from, end)..end]).collect()
    })
}

#[test]
fn each_of_many_tags_is_read_in_all_cuts() {
    let (grammar, tags) = many_tags();
    let strange: [&[u8]; 2] = [b"<hhh>7", b"<<aab"];
    let texts = || tags.iter().map(|(_, text)| &text[..]).chain(strange);
    let pieces: std::collections::BTreeSet<Vec<u8>> = texts()
        .flat_map(|text| {
            (0..text.len())
                .flat_map(move |from| (from + 1..=text.len()).map(move |to| text[from..to].to_vec()))
        })
        .collect();
    let tokens = Tokens::new(pieces);
    let ids: std::collections::HashMap<&[u8], u32> =
        tokens.ids().filter(|&id| id > STOP).map(|id| (tokens.text(id), id)).collect();
    let (compiled, _) = compile(&tokens, &grammar);
    let id = |id| compiled.vocabulary().id(id).unwrap();
    // Masks depend on what was read, not on how it was cut.
    let mut known: std::collections::HashMap<(Option<u32>, Vec<u8>), Vec<u32>> =
        std::collections::HashMap::new();
    let is_known_name = |text: &[u8]| tags.iter().any(|(special, tag)| special.is_none() && tag == text);
    let cases =
        tags.iter().map(|(special, text)| (*special, &text[..])).chain(strange.map(|text| (None, text)));
    for (special, text) in cases {
        let is_tag = special.is_some() || is_known_name(text);
        for cut in cuts(text) {
            let mut matcher = compiled.matcher();
            if let Some(special) = special {
                matcher.accept_token(id(special)).unwrap();
            }
            let mut read = 0;
            for piece in cut {
                let mut mask = TokenMask::new(tokens.bytes.len());
                matcher.fill_mask(&mut mask).unwrap();
                let words = mask.as_words().to_vec();
                let before = text[..read].to_vec();
                assert_eq!(*known.entry((special, before)).or_insert_with(|| words.clone()), words);
                assert!(mask.contains(id(ids[piece])), "{piece:?} after {:?} of {text:?}", &text[..read]);
                if is_tag && read + 1 == text.len() {
                    // The tag was read: what follows is its content, and nothing else.
                    let allowed = tokens.ids().filter(|&token| mask.contains(id(token)));
                    assert!(allowed.map(|token| tokens.text(token)).all(|bytes| bytes.starts_with(b"7")));
                    assert!(!matcher.is_completed());
                }
                matcher.accept_token(id(ids[piece])).unwrap();
                read += piece.len();
            }
            assert!(matcher.is_completed());
            let mut mask = TokenMask::new(tokens.bytes.len());
            matcher.fill_mask(&mut mask).unwrap();
            let special = [SPECIAL[0], SPECIAL[1], STOP].map(|token| mask.contains(id(token)));
            assert_eq!(special, [true, false, true], "{text:?}");
        }
    }
}

#[test]
fn masks_among_many_tags_equal_the_oracle() {
    let (grammar, tags) = many_tags();
    let chosen: Vec<&Tag> = [0, 1, 7, 8, 65, 399].iter().map(|&at| &tags[at]).collect();
    let pieces = chosen.iter().flat_map(|(_, text)| {
        (0..text.len()).flat_map(move |from| (from + 1..=text.len()).map(move |to| text[from..to].to_vec()))
    });
    let others = ["x<", "<<", "7<a", "hh", "\u{e9}"].map(|text| text.as_bytes().to_vec());
    let pieces: std::collections::BTreeSet<Vec<u8>> = pieces.chain(others).collect();
    let tokens = Tokens::new(pieces);
    let (compiled, recogniser) = compile(&tokens, &grammar);
    let mut compared = 0;
    for (number, (special, text)) in chosen.into_iter().enumerate() {
        // One byte at a time, so that every place in the tag is seen, and in one piece.
        let bytes: Vec<&[u8]> = text.chunks(1).collect();
        for pieces in [bytes, vec![&text[..]]] {
            let find = |piece: &[u8]| tokens.ids().find(|&id| tokens.text(id) == piece);
            let mut path = special.iter().copied().chain(pieces.into_iter().filter_map(find));
            compared += check(&format!("tag {number}"), &tokens, &compiled, &recogniser, |_| path.next());
        }
    }
    assert!(compared > 50, "{compared}");
}

/// A lazy rule in Lark ends with a special token, and the rest of the text reads no such token. Where it is text, nothing is
/// compiled.
#[test]
fn special_tokens_end_lazy_rules_of_lark() {
    let source =
        "start: tool* tail\ntool: head \"{}\" </T>\nhead[lazy]: TEXT <T>\ntail: TEXT\nTEXT: /(.|\\n)*/\n";
    let tokens = ["<T>", "</T>", "<", "T", ">", "{}", "a", "\n"];
    let compile = |special: &[u32]| {
        let options = VocabularyOptions::default().special_ids(special.iter().copied()).stop_ids([]);
        let vocabulary = Vocabulary::from_tokens(tokens.map(Some), &options).unwrap();
        Compiler::new(vocabulary).lark(source, &LarkOptions::default())
    };
    let compiled = compile(&[0, 1]).unwrap();
    let accepts = |ids: &[u32]| {
        let mut matcher = compiled.matcher();
        let read = |id: u32| compiled.vocabulary().id(id).unwrap();
        let read = ids.iter().take_while(|&&id| matcher.accept_token(read(id)).is_ok()).count();
        (read, matcher.is_completed())
    };
    for (ids, wanted) in [
        (&[6, 7, 2, 3, 4, 5][..], (6, true)),
        (&[6, 0, 5, 1, 6, 0, 5, 1, 7], (9, true)),
        (&[6, 0, 6], (2, false)),
        (&[0, 5, 6], (2, false)),
        (&[6, 1], (1, true)),
    ] {
        assert_eq!(accepts(ids), wanted, "{ids:?}");
    }
    let refused = compile(&[1]).unwrap_err().to_string();
    assert!(refused.contains("the vocabulary's token \"<T>\" is text"), "{refused}");
}
