//! JSON documents read by a matcher.

use grammask::Matcher;
use grammask_corpus::documents::{self, Spelled, Spelling};
use grammask_corpus::{ByteSet, Subject};
use serde_json::Value;

/// Whether some order of the members of its objects makes a document that the matcher accepts as a whole.
pub(crate) fn accepts_some_order(matcher: &Matcher, document: &Value) -> bool {
    let document = Spelled::new(document, &mut Spelling::Plain);
    documents::accepts_some_order(&MatcherSubject(matcher), &document).unwrap_or(false)
}

/// A matcher as a subject: its states are its forks.
struct MatcherSubject<'m>(&'m Matcher);

impl Subject for MatcherSubject<'_> {
    type State = Matcher;

    fn start(&self) -> Matcher {
        self.0.fork()
    }

    fn step(&self, state: &Matcher, byte: u8) -> Result<Option<Matcher>, String> {
        let mut next = state.fork();
        Ok(next.accept_bytes(&[byte]).is_ok().then_some(next))
    }

    fn is_complete(&self, state: &Matcher) -> bool {
        state.is_completed()
    }

    fn next_bytes(&self, state: &Matcher) -> ByteSet {
        ByteSet(state.next_bytes().words())
    }
}
