//! The tokens that end a text.

use grammask::StopTokens;
use pyo3::prelude::*;

use crate::engines::AnyGrammar;
use crate::errors::{is_compat, raise, warn};

/// A matcher whose text no token could end. xgrammar makes it, and its mask after a complete text allows nothing.
fn no_end(py: Python<'_>) -> PyResult<()> {
    let message = "the tokenizer has no stop token, so that no text could end; give `TokenizerInfo` its \
                   `stop_token_ids`, or the matcher `override_stop_tokens` or `terminate_without_stop_token=True`";
    if is_compat() { warn(py, message) } else { Err(raise(py, "MatcherError", message)) }
}

/// The stop tokens of a matcher, by what its caller asks for.
pub(crate) fn stop_policy(
    py: Python<'_>,
    compiled: &AnyGrammar,
    own: Option<Vec<u32>>,
    ends_when_whole: bool,
) -> PyResult<StopTokens> {
    let Some(own) = own else {
        if ends_when_whole {
            return Ok(StopTokens::None);
        }
        if compiled.vocabulary().stop_tokens().is_empty() {
            no_end(py)?;
        }
        return Ok(StopTokens::Vocabulary);
    };
    if own.is_empty() {
        return Err(raise(py, "MatcherError", "`override_stop_tokens` must not be empty; leave it out"));
    }
    let check = |id: u32| {
        let message = format!("stop token {id} is not in the vocabulary");
        compiled.vocabulary().id(id).ok_or_else(|| raise(py, "MatcherError", message))
    };
    let mut own = own.into_iter().map(check).collect::<PyResult<Vec<_>>>()?;
    own.sort_unstable();
    own.dedup();
    if ends_when_whole {
        return Ok(StopTokens::Never(own.into()));
    }
    // The common case, in which masks are shared as they are.
    if own == compiled.vocabulary().stop_tokens() {
        return Ok(StopTokens::Vocabulary);
    }
    Ok(StopTokens::Own(own.into()))
}
