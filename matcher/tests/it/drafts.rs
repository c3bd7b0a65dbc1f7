//! Drafts: every row equals what a matcher of its own finds step by step.

use grammask_grammar_frontends::ebnf::EbnfOptions;
use grammask_grammar_ir::Interrupt;
use grammask_mask_cache::{TokenId, Vocabulary, VocabularyOptions, words_for};
use grammask_matcher::{
    CompiledGrammar, Compiler, DraftError, DraftRow, DraftTree, Limits, MaskKind, Matcher, OtherRows,
    StopTokens,
};

use crate::random::Random;

const STOP: u32 = 15;
const LEN: usize = 40;

fn grammar(limits: Limits) -> CompiledGrammar {
    let tokens =
        ["(", ")", "a", "b", "+", "((", "))", "a+", "+a", "(a", "b)", "a)", "ab", "+(", ")+", "</s>", "<x>"];
    let options = VocabularyOptions::default().special_ids([16]).stop_ids([STOP]).size(LEN);
    let vocabulary = Vocabulary::from_tokens(tokens.map(Some), &options).unwrap();
    let source = r#"root ::= sum
sum ::= term | sum "+" term
term ::= [ab]{1,3} | "(" sum ")""#;
    Compiler::builder(vocabulary).limits(limits).build().ebnf(source, &EbnfOptions::default()).unwrap()
}

/// With these, tables are begun anew every few steps.
fn tiny() -> Limits {
    Limits::default().max_table_bytes(6_000).max_mask_bytes(300).max_pool_bytes(300)
}

fn token(id: i64) -> TokenId {
    TokenId::new(u32::try_from(id).unwrap()).unwrap()
}

struct Tree {
    child: Vec<i64>,
    sibling: Vec<i64>,
    tokens: Vec<i64>,
    parent: Vec<Option<usize>>,
}

/// Each node hangs below an earlier one, as its last child; a few are not connected at all. Most tokens are what
/// the grammar allows, so that paths get long.
fn tree(random: &mut Random, start: &Matcher, nodes: usize) -> Tree {
    let mut tree =
        Tree { child: vec![-1; nodes], sibling: vec![-1; nodes], tokens: vec![0; nodes], parent: vec![None] };
    let mut matchers = vec![Some(start.clone())];
    for place in 1..nodes {
        if random.below(20) == 0 {
            tree.parent.push(None);
            matchers.push(None);
            continue;
        }
        // Deep trees as well as broad ones.
        let parent = if random.below(2) == 0 { place - 1 } else { random.below(place) };
        let mut matcher = matchers[parent].clone();
        let mut id = i64::try_from(random.below(19)).unwrap() - 1;
        if let Some(matcher) = &mut matcher
            && random.below(8) > 0
            && !matcher.is_terminated()
        {
            let allowed: Vec<u32> =
                (0..17).filter(|&id| matcher.fork().accept_token(token(id.into())).is_ok()).collect();
            id = i64::from(allowed[random.below(allowed.len())]);
        }
        let accepted = u32::try_from(id).is_ok()
            && matcher.as_mut().is_some_and(|matcher| matcher.accept_token(token(id)).is_ok());
        matchers.push(matcher.filter(|_| accepted));
        tree.tokens[place] = id;
        tree.parent.push(Some(parent));
        let place = i64::try_from(place).unwrap();
        if tree.child[parent] == -1 {
            tree.child[parent] = place;
            continue;
        }
        let mut last = usize::try_from(tree.child[parent]).unwrap();
        while tree.sibling[last] != -1 {
            last = usize::try_from(tree.sibling[last]).unwrap();
        }
        tree.sibling[last] = place;
    }
    tree
}

/// A node's row by a matcher that walks to it from the start.
fn alone(start: &Matcher, tree: &Tree, place: usize) -> (DraftRow, Vec<u32>) {
    let mut path = Vec::new();
    let mut at = place;
    while at != 0 {
        path.push(tree.tokens[at]);
        match tree.parent[at] {
            Some(parent) => at = parent,
            None => return (DraftRow::Skipped, vec![0; words_for(LEN)]),
        }
    }
    let mut matcher = start.fork();
    let mut words = vec![0; words_for(LEN)];
    for &id in path.iter().rev() {
        if !(0..40).contains(&id) || matcher.accept_token(token(id)).is_err() {
            return (DraftRow::Refused, words);
        }
    }
    if matcher.is_terminated() {
        return (DraftRow::Ended, words);
    }
    let mut fresh = matcher.fork().with_stop_tokens(matcher.stop_tokens().clone());
    let kind = fresh.fill_mask_words(&mut words).unwrap();
    (DraftRow::Filled(kind), words)
}

fn check(limits: Limits, stop: &StopTokens, seed: u64) {
    let grammar = grammar(limits);
    let mut random = Random::new(seed);
    let stride = words_for(LEN) + 3;
    for round in 0..30 {
        let mut matcher = grammar.matcher().with_stop_tokens(stop.clone());
        matcher.accept_bytes([&b""[..], b"(a+", b"((b)", b"ab"][round % 4]).unwrap();
        let nodes = 1 + random.below(60);
        let tree = tree(&mut random, &matcher, nodes);
        let draft = DraftTree::from_arrays(&tree.child, &tree.sibling, &tree.tokens).unwrap();
        let mut words = vec![0xdead_beef; nodes * stride];
        let rows = matcher
            .fill_draft_masks(&draft, &mut words, stride, OtherRows::Clear, &Interrupt::never())
            .unwrap();
        assert_eq!((matcher.steps(), matcher.is_terminated()), (1, false));
        for place in 0..nodes {
            let row = &words[place * stride..];
            let (want, mask) = alone(&matcher, &tree, place);
            assert_eq!((&rows[place], &row[..words_for(LEN)]), (&want, &*mask), "seed {seed}, node {place}");
            let gap = &row[words_for(LEN)..stride];
            assert!(gap.iter().all(|&word| word == 0xdead_beef), "between rows");
        }
    }
}

#[test]
fn rows_equal_those_found_step_by_step() {
    let ids = [token(16), token(2)];
    for seed in 0..4 {
        check(Limits::default(), &StopTokens::Vocabulary, seed);
        check(Limits::default(), &StopTokens::Own(ids.into()), seed);
        check(Limits::default(), &StopTokens::Never(ids.into()), seed);
    }
}

#[test]
fn and_while_tables_are_begun_anew() {
    for seed in 0..4 {
        check(tiny(), &StopTokens::Vocabulary, seed);
    }
}

#[test]
fn a_filled_mask_is_still_the_last_one_after_a_draft() {
    let mut matcher = grammar(Limits::default()).matcher();
    let mut words = vec![0; 2 * words_for(LEN)];
    matcher.fill_mask_words(&mut words).unwrap();
    let draft = DraftTree::from_arrays(&[1, -1], &[-1, -1], &[0, 0]).unwrap();
    let rows =
        matcher.fill_draft_masks(&draft, &mut words, words_for(LEN), OtherRows::Clear, &Interrupt::never());
    assert_eq!(rows.unwrap(), vec![DraftRow::Filled(MaskKind::Some); 2]);
    assert_eq!(matcher.fill_mask_words(&mut words), Ok(MaskKind::Unchanged));
}

#[test]
fn rows_that_hold_no_mask_are_cleared_or_kept() {
    let mut matcher = grammar(Limits::default()).matcher();
    // The root; `(` with a refused `)` and its child; a stop token.
    let draft = DraftTree::from_arrays(&[1, 2, 3, -1, -1], &[-1, 4, -1, -1, -1], &[0, 0, 1, 2, 15]).unwrap();
    for (others, want) in [(OtherRows::Clear, 0), (OtherRows::Keep, 7)] {
        let mut words = vec![7; 5 * words_for(LEN)];
        let rows = matcher
            .fill_draft_masks(&draft, &mut words, words_for(LEN), others, &Interrupt::never())
            .unwrap();
        let filled = DraftRow::Filled(MaskKind::Some);
        assert_eq!(rows, [filled.clone(), filled, DraftRow::Refused, DraftRow::Refused, DraftRow::Refused]);
        assert!(words[2 * words_for(LEN)..].iter().all(|&word| word == want));
    }
}

#[test]
fn interrupts_leave_the_rest_alone() {
    let mut matcher = grammar(Limits::default()).matcher();
    let interrupt = Interrupt::new();
    interrupt.cancel();
    let draft = DraftTree::from_arrays(&[-1], &[-1], &[0]).unwrap();
    let mut words = vec![7; words_for(LEN)];
    let rows = matcher.fill_draft_masks(&draft, &mut words, 0, OtherRows::Keep, &interrupt).unwrap();
    assert_eq!((rows, words), (vec![DraftRow::Skipped], vec![7; words_for(LEN)]));
}

#[test]
fn a_draft_of_any_depth() {
    let mut matcher = grammar(Limits::default()).matcher();
    let nodes = 20_000;
    let child: Vec<i64> = (1..=nodes).map(|place| if place == nodes { -1 } else { place }).collect();
    let (sibling, tokens) = (vec![-1; child.len()], vec![0; child.len()]);
    let draft = DraftTree::from_arrays(&child, &sibling, &tokens).unwrap();
    let mut words = vec![0; child.len() * words_for(LEN)];
    let rows =
        matcher.fill_draft_masks(&draft, &mut words, words_for(LEN), OtherRows::Clear, &Interrupt::never());
    assert!(rows.unwrap().iter().all(|row| matches!(row, DraftRow::Filled(_))));
    assert_eq!(matcher.steps(), 0);
}

#[test]
fn a_tree_that_is_built_has_the_masks_of_its_arrays() {
    let mut matcher = grammar(Limits::default()).matcher();
    let mut built = DraftTree::chain([token(0), token(2)]);
    assert_eq!(
        [built.add(1, token(1)), built.add(3, token(0)), built.add(9, token(0))],
        [Some(3), Some(4), None]
    );
    let arrays = DraftTree::from_arrays(&[1, 3, -1, 4, -1], &[-1, -1, -1, 2, -1], &[-1, 0, 2, 1, 0]).unwrap();
    let mut fill = |tree: &DraftTree| {
        let mut words = vec![0; 5 * words_for(LEN)];
        let never = Interrupt::never();
        let rows = matcher.fill_draft_masks(tree, &mut words, words_for(LEN), OtherRows::Clear, &never);
        (rows.unwrap(), words)
    };
    let (rows, words) = fill(&built);
    assert!(rows.contains(&DraftRow::Refused) && rows.iter().any(|row| matches!(row, DraftRow::Filled(_))));
    assert_eq!((rows, words), fill(&arrays));
    assert_eq!(fill(&DraftTree::default()).0, [DraftRow::Filled(MaskKind::Some)]);
}

#[test]
fn arrays_that_are_no_tree() {
    let tree =
        |child: &[i64], sibling: &[i64]| DraftTree::from_arrays(child, sibling, &[0, 0, 0]).map(|_| ());
    assert_eq!(tree(&[1, 2, -1], &[-1; 3]), Ok(()));
    assert!(matches!(tree(&[1, 2], &[-1; 3]), Err(DraftError::Lengths { first_child: 2, .. })));
    for (child, sibling) in [([1, 0, -1], [-1; 3]), ([1, 1, -1], [-1; 3]), ([1, 3, -1], [-1; 3])] {
        assert!(matches!(tree(&child, &sibling), Err(DraftError::NotATree { by: 1, .. })));
    }
    assert!(matches!(tree(&[1, -1, -1], &[-1, 2, 2]), Err(DraftError::NotATree { by: 2, named: 2 })));
    assert!(matches!(tree(&[1, -1, -1], &[2, -1, -1]), Err(DraftError::NotATree { by: 0, named: 2 })));
    assert!(matches!(tree(&[-2, -1, -1], &[-1; 3]), Err(DraftError::NotATree { by: 0, named: -2 })));
    let mut matcher = grammar(Limits::default()).matcher();
    let draft = DraftTree::from_arrays(&[1, -1], &[-1, -1], &[0, 0]).unwrap();
    for (words, stride) in
        [(2 * words_for(LEN) - 1, words_for(LEN)), (100, words_for(LEN) - 1), (9, usize::MAX)]
    {
        let filled = matcher.fill_draft_masks(
            &draft,
            &mut vec![0; words],
            stride,
            OtherRows::Clear,
            &Interrupt::never(),
        );
        assert!(matches!(filled, Err(DraftError::BufferTooSmall(_))), "{filled:?}");
    }
}

/// Rolls back at random, over stop tokens and over tables that were left, and compares with a matcher that never
/// rolls back.
#[test]
fn rollback_over_everything() {
    for limits in [Limits::default(), tiny()] {
        let grammar = grammar(limits);
        let mut random = Random::new(1);
        let mut matcher = grammar.matcher();
        let mut taken: Vec<u32> = Vec::new();
        let mut ended = 0;
        for _ in 0..1_500 {
            if matcher.is_terminated() || random.below(6) == 0 {
                ended += usize::from(matcher.is_terminated());
                let steps = random.below(taken.len().min(12) + 1);
                matcher.rollback(steps).unwrap();
                taken.truncate(taken.len() - steps);
                assert_eq!(matcher.is_terminated(), taken.last() == Some(&STOP));
            } else {
                let mut mask = grammask_mask_cache::TokenMask::new(LEN);
                matcher.fill_mask(&mut mask).unwrap();
                let allowed: Vec<u32> = mask.iter().map(TokenId::get).collect();
                let stop = allowed.contains(&STOP) && random.below(4) == 0;
                let id = if stop { STOP } else { allowed[random.below(allowed.len())] };
                matcher.accept_token(token(id.into())).unwrap();
                taken.push(id);
            }
            assert_eq!(matcher.steps(), taken.len());
            if random.below(10) == 0 && !matcher.is_terminated() {
                let mut fresh = grammar.matcher();
                taken.iter().for_each(|&id| fresh.accept_token(token(id.into())).unwrap());
                assert_eq!(matcher.mask().unwrap().to_mask(), fresh.mask().unwrap().to_mask());
            }
        }
        assert!(ended > 20, "{ended}");
        let held = grammar.usage().table_bytes;
        assert!(limits != Limits::default() || held > tiny().max_table_bytes, "{held}");
        assert!(matcher.rollback(taken.len() + 1).is_err());
        matcher.rollback(taken.len()).unwrap();
        assert_eq!(matcher.steps(), 0);
    }
}
