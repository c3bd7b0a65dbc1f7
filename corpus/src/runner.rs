//! Puts cases to a subject.
//!
//! The data says what is true of a text; the runner asks for more than the data spells out. At every prefix
//! of every text of a case the bytes that a backend says may come next must be those that it then reads. They
//! must be those of the naive recogniser, and both must agree on whether the prefix is a sentence.

use std::collections::HashSet;

use grammask_grammar_ir::Grammar;
use grammask_oracle::{Chart, Recogniser};
use grammask_parser_backend::Backend;

use crate::byte_set::ByteSet;
use crate::case::{Case, Expectation, Forced, Rejected};
use crate::report::{CaseFailure, Report};
use crate::subject::{BackendSubject, MatcherSubject, OracleSubject, Subject, asks_to_differ};

/// Most failures that one case reports; the first ones say enough.
const FAILURES_PER_CASE: usize = 5;

/// Runs cases on the naive recogniser. A failure is a mistake in the data, or in the recogniser.
pub fn check_oracle(cases: &[Case]) -> Report {
    Report::collect("oracle", cases, |case| {
        let grammar = match (case.grammar(), case.expectation()) {
            (Err(error), Expectation::Refusal(message)) => {
                return expect_message(&error.to_string(), message);
            }
            (Err(error), Expectation::Texts { .. }) => {
                return vec![format!("the frontend refuses it: {error}")];
            }
            (Ok(grammar), _) => grammar,
        };
        if asks_to_differ(&grammar) {
            return Vec::new();
        }
        let recogniser = Recogniser::new(&grammar);
        if let Expectation::Refusal(_) = case.expectation() {
            return match recogniser.is_language_empty() {
                // Refusing a grammar without sentences is the business of the compiler.
                true => Vec::new(),
                false => vec!["the frontend takes it, and it has sentences".to_owned()],
            };
        }
        check_case(case, &OracleSubject(&recogniser), None)
    })
}

/// Runs cases on a backend. `build` makes the backend of a grammar.
///
/// A case that asks for a refusal passes where the frontend or `build` fails with that message.
pub fn check_backend<B: Backend>(
    name: &str,
    cases: &[Case],
    build: impl Fn(&Grammar) -> Result<B, String>,
) -> Report {
    Report::collect(name, cases, |case| {
        let built = case.grammar().map_err(|error| error.to_string()).and_then(|grammar| {
            let backend = build(&grammar)?;
            Ok((grammar, backend))
        });
        match (built, case.expectation()) {
            (Err(error), Expectation::Refusal(message)) => expect_message(&error, message),
            (Err(error), Expectation::Texts { .. }) => vec![format!("it is refused: {error}")],
            (Ok(_), Expectation::Refusal(message)) => {
                vec![format!("it is built, and not refused with `{message}`")]
            }
            // A backend alone does not keep items apart: those cases are a matcher's.
            (Ok((grammar, _)), Expectation::Texts { .. }) if asks_to_differ(&grammar) => Vec::new(),
            (Ok((grammar, backend)), Expectation::Texts { .. }) => {
                check_case(case, &BackendSubject(backend), Some(&Recogniser::new(&grammar)))
            }
        }
    })
}

/// Runs those cases on a matcher in which items or names must differ, which backends and the recogniser leave out.
pub fn check_matcher(cases: &[Case]) -> Report {
    Report::collect("matcher", cases, |case| match case.grammar() {
        Ok(grammar) if asks_to_differ(&grammar) => match MatcherSubject::new(&grammar) {
            Ok(subject) => check_case(case, &subject, None),
            Err(error) => vec![format!("it is refused: {error}")],
        },
        _ => Vec::new(),
    })
}

fn expect_message(message: &str, part: &str) -> Vec<String> {
    match message.contains(part) {
        true => Vec::new(),
        false => vec![format!("it is refused, but not with `{part}`: {message}")],
    }
}

/// The problems of a subject with one case, a sentence each. Cases that ask for a refusal have no texts.
///
/// With a `judge`, every prefix of every text is compared with it.
pub fn check_case<S: Subject>(case: &Case, subject: &S, judge: Option<&Recogniser>) -> Vec<String> {
    let Expectation::Texts { accepted, rejected, forced } = case.expectation() else {
        return Vec::new();
    };
    let mut check = Check { subject, judge, seen: HashSet::new(), failures: Vec::new() };
    for text in accepted {
        check.accepted(text);
    }
    for text in rejected {
        check.rejected(text);
    }
    for text in forced {
        check.forced(text);
    }
    check.failures.truncate(FAILURES_PER_CASE);
    check.failures
}

struct Check<'c, S> {
    subject: &'c S,
    judge: Option<&'c Recogniser>,
    /// Prefixes that have been looked at.
    seen: HashSet<Vec<u8>>,
    failures: Vec<String>,
}

impl<S: Subject> Check<'_, S> {
    fn fail(&mut self, text: &[u8], problem: impl AsRef<str>) {
        self.failures.push(format!("{}: {}", quoted(text), problem.as_ref()));
    }

    fn accepted(&mut self, text: &[u8]) {
        match self.read(text) {
            Ok(state) if self.subject.is_complete(&state) => {}
            Ok(_) => self.fail(text, "is not accepted at its end"),
            Err(Stop::Refused(at)) => self.fail(text, format!("dies at byte {at}, and should be accepted")),
            Err(Stop::Error(error)) => self.fail(text, error),
        }
    }

    fn rejected(&mut self, rejected: &Rejected) {
        let text = &rejected.text;
        match (self.read(text), rejected.dies_at) {
            (Ok(state), None) if self.subject.is_complete(&state) => {
                self.fail(text, "is accepted, and should be incomplete");
            }
            (Ok(_), None) => {}
            (Ok(_), Some(at)) => self.fail(text, format!("is read to its end, and should die at byte {at}")),
            (Err(Stop::Refused(at)), expected) if expected != Some(at) => {
                let expected = expected.map_or("not at all".to_owned(), |at| format!("at byte {at}"));
                self.fail(text, format!("dies at byte {at}, and should die {expected}"));
            }
            (Err(Stop::Refused(_)), _) => {}
            (Err(Stop::Error(error)), _) => self.fail(text, error),
        }
    }

    /// Every byte but the last must be the only way on; after the last there must be another, or none.
    fn forced(&mut self, forced: &Forced) {
        let mut state = match self.read(&forced.after) {
            Ok(state) => state,
            Err(Stop::Refused(at)) => {
                return self
                    .fail(&forced.after, format!("dies at byte {at}, and something should be forced there"));
            }
            Err(Stop::Error(error)) => return self.fail(&forced.after, error),
        };
        let mut found = Vec::new();
        loop {
            let next = self.subject.next_bytes(&state);
            // One byte more than expected is enough to see that the text is too long.
            if next.len() != 1 || self.subject.is_complete(&state) || found.len() > forced.text.len() {
                break;
            }
            let Some(byte) = next.iter().next() else { break };
            match self.subject.step(&state, byte) {
                Ok(Some(after)) => state = after,
                Ok(None) => return self.fail(&forced.after, "a byte that may come next is refused"),
                Err(error) => return self.fail(&forced.after, error),
            }
            found.push(byte);
        }
        if found != forced.text {
            self.fail(
                &forced.after,
                format!("forces {}, and should force {}", quoted(&found), quoted(&forced.text)),
            );
        }
    }

    /// Reads a text, looking at every prefix that has not been looked at.
    fn read(&mut self, text: &[u8]) -> Result<S::State, Stop> {
        let mut state = self.subject.start();
        self.look(&[], &state)?;
        for (at, &byte) in text.iter().enumerate() {
            state = match self.subject.step(&state, byte).map_err(Stop::Error)? {
                Some(state) => state,
                None => return Err(Stop::Refused(at)),
            };
            self.look(&text[..=at], &state)?;
        }
        Ok(state)
    }

    fn look(&mut self, prefix: &[u8], state: &S::State) -> Result<(), Stop> {
        if !self.seen.insert(prefix.to_vec()) {
            return Ok(());
        }
        let chart = match self.judge.map(|judge| judge.read(prefix)) {
            None => None,
            Some(Some(chart)) => Some(chart),
            Some(None) => {
                self.fail(prefix, "is read, and begins no sentence");
                return Ok(());
            }
        };
        if let Some(problem) = look_closely(self.subject, state, chart.as_ref())? {
            self.fail(prefix, problem);
        }
        Ok(())
    }
}

enum Stop {
    Refused(usize),
    Error(String),
}

impl From<String> for Stop {
    fn from(error: String) -> Self {
        Self::Error(error)
    }
}

/// Longer endings are not read.
const LONGEST_ENDING: usize = 300;

/// The problems of a state: whether its answers fit together, and whether the judge gives the same.
pub(crate) fn look_closely<S: Subject>(
    subject: &S,
    state: &S::State,
    judge: Option<&Chart>,
) -> Result<Option<String>, String> {
    let said = subject.next_bytes(state);
    let mut read = ByteSet::default();
    let mut least_ending = None;
    for byte in 0..=255 {
        if let Some(after) = subject.step(state, byte)? {
            read.insert(byte);
            least_ending = least_ending.into_iter().chain(subject.shortest_completion_len(&after)).min();
        }
    }
    if said != read {
        return Ok(Some(format!("next_bytes says {said}, and step reads {read}")));
    }
    let is_complete = subject.is_complete(state);
    if let Some(ending) = subject.shortest_completion_len(state) {
        let expected = if is_complete { Some(0) } else { least_ending.map(|least| least.saturating_add(1)) };
        if Some(ending) != expected {
            return Ok(Some(format!(
                "ending says {ending}, and the states behind it make that {expected:?}"
            )));
        }
        if let Some(text) = subject.shortest_ending(state, LONGEST_ENDING) {
            let read = |state: S::State, &byte: &u8| subject.step(&state, byte).ok().flatten();
            let end = text.iter().try_fold(state.clone(), read);
            let ends = end.is_some_and(|end| subject.is_complete(&end));
            if !ends || text.len() as u64 != ending {
                return Ok(Some(format!("{} does not end the text in {ending} bytes", quoted(&text))));
            }
        }
    }
    let Some(chart) = judge else {
        return Ok(None);
    };
    let expected: ByteSet = chart.next_bytes().into_iter().collect();
    if said != expected {
        let (more, less) = (said.minus(&expected), expected.minus(&said));
        return Ok(Some(format!("wrongly goes on with {more}, and wrongly not with {less}")));
    }
    if chart.is_complete() != is_complete {
        return Ok(Some(format!("is_complete says {is_complete}, which is wrong")));
    }
    Ok(None)
}

pub(crate) fn quoted(text: &[u8]) -> String {
    match std::str::from_utf8(text) {
        Ok(text) => format!("{text:?}"),
        Err(_) => format!("b\"{}\"", text.escape_ascii()),
    }
}

impl CaseFailure {
    pub(crate) fn of(case: &Case, problems: Vec<String>) -> Option<Self> {
        (!problems.is_empty()).then(|| Self { case: case.id().to_owned(), problems })
    }
}
