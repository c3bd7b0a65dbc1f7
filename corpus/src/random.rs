//! Random grammars, put to a backend and to the naive recogniser at once.

use grammask_grammar_ir::Grammar;
use grammask_oracle::Recogniser;
use grammask_oracle::random::{self, GrammarOptions, Rng, VocabularyOptions};
use grammask_parser_backend::Backend;

use crate::minimise::minimise;
use crate::report::guarded;
use crate::runner::{look_closely, quoted};
use crate::subject::{BackendSubject, Subject};

/// Bytes of the longest text of a case: enough to go round every loop of a small grammar several times.
const LONG_WALK: usize = 40;

/// The beginning of the message for a limit that was reached.
const INDETERMINATE: &str = "indeterminate";

/// The beginning of the problem with a grammar that the backend refuses.
const REFUSED: &str = "a grammar that has sentences is refused: ";

/// A part of the message for a grammar whose automata reach a limit.
const LIMIT: &str = "limit reached";

/// The counts of a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Grammars.
    pub grammars: usize,
    /// Those of them that the backend declines.
    pub declined: usize,
    /// Pairs of a grammar and a text (tokens of the vocabulary count as ways on, see [`compare`]).
    pub texts: usize,
    /// Texts at which a limit of the backend was reached. Nothing was decided about what follows there.
    pub indeterminate: usize,
    /// Positions at which the next bytes and completeness were compared.
    pub positions: usize,
}

/// Compares a backend with the naive recogniser on the random cases of some seeds. At each position of every
/// text it compares all 256 bytes, and whether the text so far is a sentence. Texts are the case's own text,
/// a long random walk, and the case's prefix alone and followed by some tokens of the vocabulary.
///
/// A grammar that the backend refuses because of a limit, or with what `declines` begins with, counts as declined; any
/// other refusal is a difference.
///
/// The first difference ends it, with a grammar and a text made as small as a quick search can.
pub fn compare<B: Backend>(
    seeds: impl IntoIterator<Item = u64>,
    options: &GrammarOptions,
    declines: Option<&str>,
    build: impl Fn(&Grammar) -> Result<B, String>,
) -> Result<Tally, String> {
    let mut tally = Tally::default();
    let vocabulary_options = VocabularyOptions::default();
    for seed in seeds {
        let case = random::case_with(seed, options, &vocabulary_options);
        let recogniser = Recogniser::new(&case.grammar);
        tally.grammars += 1;
        let subject = built(&case.grammar, &build);
        if let Err(problem) = &subject
            && let Some(error) = problem.strip_prefix(REFUSED)
            && (error.contains(LIMIT) || declines.is_some_and(|declines| error.starts_with(declines)))
        {
            tally.declined += 1;
            continue;
        }
        let tokens = case.vocabulary.iter().step_by(5).take(3);
        let long_walk = random::walk(&mut Rng::new(seed), &recogniser, LONG_WALK);
        let longer = tokens.map(|token| [case.prefix.as_slice(), token].concat());
        for text in [case.text.clone(), case.prefix.clone(), long_walk].into_iter().chain(longer) {
            tally.texts += 1;
            match outcome(subject.as_ref(), &recogniser, &text) {
                Ok(positions) => tally.positions += positions,
                Err(problem) if problem.starts_with(INDETERMINATE) => tally.indeterminate += 1,
                Err(problem) => return Err(explain(seed, &case.grammar, &text, &problem, &build)),
            }
        }
    }
    Ok(tally)
}

/// Reads a text with both, up to where it dies, and compares them at each position. Returns how many positions
/// that were, or what differs and after what.
pub fn difference<S: Subject>(subject: &S, recogniser: &Recogniser, text: &[u8]) -> Result<usize, String> {
    let (mut state, mut chart) = (subject.start(), recogniser.begin());
    for at in 0..=text.len() {
        // Whether the two read the same next byte is a part of what is compared.
        if let Some(problem) = look_closely(subject, &state, Some(&chart))? {
            return Err(format!("{}: {problem}", quoted(&text[..at])));
        }
        let Some(&byte) = text.get(at) else { break };
        let after = subject.step(&state, byte)?;
        match (after, chart.push(byte)) {
            (Some(after), true) => state = after,
            _ => return Ok(at + 1),
        }
    }
    Ok(text.len() + 1)
}

/// The backend of a grammar that has sentences, or why there is none.
fn built<B: Backend>(
    grammar: &Grammar,
    build: impl Fn(&Grammar) -> Result<B, String>,
) -> Result<BackendSubject<B>, String> {
    match guarded(|| build(grammar)) {
        Ok(Ok(backend)) => Ok(BackendSubject(backend)),
        Ok(Err(error)) => Err(format!("{REFUSED}{error}")),
        Err(panic) => Err(panic),
    }
}

fn outcome<S: Subject>(
    subject: Result<&S, &String>,
    recogniser: &Recogniser,
    text: &[u8],
) -> Result<usize, String> {
    let subject = subject.map_err(String::clone)?;
    guarded(|| difference(subject, recogniser, text)).and_then(|outcome| outcome)
}

fn explain<B: Backend>(
    seed: u64,
    grammar: &Grammar,
    text: &[u8],
    problem: &str,
    build: impl Fn(&Grammar) -> Result<B, String>,
) -> String {
    let differs = |grammar: &Grammar, text: &[u8]| {
        let recogniser = Recogniser::new(grammar);
        if recogniser.is_language_empty() {
            return None;
        }
        outcome(built(grammar, &build).as_ref(), &recogniser, text).err()
    };
    let (smaller, shorter) = minimise(grammar, text, |grammar, text| differs(grammar, text).is_some());
    let smaller_problem = differs(&smaller, &shorter).unwrap_or_default();
    format!(
        "seed {seed}, text {}: {problem}\n{grammar}\nsmaller, text {}: {smaller_problem}\n{smaller}",
        quoted(text),
        quoted(&shorter)
    )
}
