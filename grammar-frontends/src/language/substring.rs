//! Runs of chunks: every stretch of a sequence of texts, from some chunk to some later one, or nothing.
//!
//! Written out, a sequence of n chunks has n² stretches. The suffix automaton of the sequence (Blumer et al.,
//! "The smallest automaton recognizing the subwords of a text", 1985) has at most 2n states. Stretches that
//! end at the same places share one, since the same chunks can follow. Each state becomes a rule that is
//! empty or reads a chunk and goes on as the next state. Right recursion of this kind costs the engines
//! nothing.

use std::collections::HashMap;

use grammask_grammar_ir::{ExprId, GrammarBuilder, GrammarError};

/// A state of the automaton: a set of places at which equal stretches end.
#[derive(Clone, Debug, Default)]
struct SuffixState {
    /// Length of the longest stretch that leads here.
    longest: usize,
    /// The state of the longest end of that stretch that ends at more places; none for the start.
    link: Option<usize>,
    /// Where each chunk leads.
    next: HashMap<usize, usize>,
}

/// The stretches of `chunks`. Empty chunks are left out.
///
/// # Errors
///
/// Where the builder has no room for two rules a chunk.
pub(crate) fn substring<'c>(
    builder: &mut GrammarBuilder,
    chunks: impl IntoIterator<Item = &'c str>,
) -> Result<ExprId, GrammarError> {
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    let mut texts: Vec<&str> = Vec::new();
    let mut sequence = Vec::new();
    for chunk in chunks.into_iter().filter(|chunk| !chunk.is_empty()) {
        let number = *numbers.entry(chunk).or_insert_with(|| {
            texts.push(chunk);
            texts.len() - 1
        });
        sequence.push(number);
    }
    let states = automaton(&sequence);
    let mut rules = Vec::with_capacity(states.len());
    for _ in &states {
        rules.push(builder.declare_fresh("substring")?);
    }
    let literals: Vec<ExprId> = texts.iter().map(|text| builder.literal(text)).collect();
    for (state, &rule) in states.iter().zip(&rules) {
        let mut alternatives = vec![builder.empty()];
        // In the order of the numbers, so that equal inputs give equal grammars.
        let mut steps: Vec<(usize, usize)> =
            state.next.iter().map(|(&chunk, &target)| (chunk, target)).collect();
        steps.sort_unstable();
        for (chunk, target) in steps {
            let rest = builder.rule(rules[target]);
            alternatives.push(builder.sequence([literals[chunk], rest]));
        }
        let body = builder.choice(alternatives);
        builder.define(rule, body)?;
    }
    Ok(builder.rule(rules[0]))
}

/// The suffix automaton; the first state is the start.
fn automaton(sequence: &[usize]) -> Vec<SuffixState> {
    let mut states = vec![SuffixState::default()];
    let mut last = 0;
    for &chunk in sequence {
        let current = states.len();
        states.push(SuffixState { longest: states[last].longest + 1, ..SuffixState::default() });
        let mut from = Some(last);
        while let Some(state) = from
            && !states[state].next.contains_key(&chunk)
        {
            states[state].next.insert(chunk, current);
            from = states[state].link;
        }
        let link = match from {
            None => 0,
            Some(state) => link_target(&mut states, state, chunk),
        };
        states[current].link = Some(link);
        last = current;
    }
    states
}

/// The state that stretches which end with `chunk` after `state` share; split off if longer ones share it too.
fn link_target(states: &mut Vec<SuffixState>, state: usize, chunk: usize) -> usize {
    let target = states[state].next[&chunk];
    if states[target].longest == states[state].longest + 1 {
        return target;
    }
    let split = states.len();
    states.push(SuffixState { longest: states[state].longest + 1, ..states[target].clone() });
    let mut from = Some(state);
    while let Some(state) = from
        && states[state].next.get(&chunk) == Some(&target)
    {
        states[state].next.insert(chunk, split);
        from = states[state].link;
    }
    states[target].link = Some(split);
    split
}
