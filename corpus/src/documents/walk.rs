//! A random sentence of a subject, byte by byte.

use grammask_oracle::random::Rng;

use crate::subject::Subject;

/// Walks along bytes that the subject allows, and after `budget` of them the shortest way to an end.
///
/// A subject that does not know the distance to an end may be left without one. The answer is `None` then,
/// and also if the end is further than `budget` times sixteen.
///
/// # Errors
///
/// Where a limit of the subject is reached.
pub fn walk<S: Subject>(subject: &S, rng: &mut Rng, budget: usize) -> Result<Option<Vec<u8>>, String> {
    let mut text = Vec::new();
    let mut state = subject.start();
    // Of the same grammar short and long texts are wanted.
    let budget_of_this = rng.below(budget + 1);
    loop {
        let late = text.len() >= budget_of_this;
        if subject.is_complete(&state) && (late || rng.percent(10)) {
            return Ok(Some(text));
        }
        if text.len() > budget.saturating_mul(16) {
            return Ok(None);
        }
        if late && let Some(ending) = subject.finish(&state) {
            text.extend(ending);
            return Ok(Some(text));
        }
        let bytes = subject.next_bytes(&state);
        let allowed: Vec<u8> = (0..=255).filter(|&byte| bytes.contains(byte)).collect();
        let chosen = if late { nearest(subject, &state, &allowed)? } else { likely(rng, &allowed) };
        let Some(byte) = chosen else { return Ok(None) };
        let Some(next) = subject.step(&state, byte)? else {
            return Err(format!("byte {byte:#x} is among the next bytes and is refused"));
        };
        text.push(byte);
        state = next;
    }
}

/// Signs and letters of ASCII are likely; whitespace, escapes and parts of longer characters are not.
fn likely(rng: &mut Rng, allowed: &[u8]) -> Option<u8> {
    let weights: Vec<u32> = allowed
        .iter()
        .map(|byte| match byte {
            b'"' => 60,
            b',' | b'}' | b']' => 20,
            b'a'..=b'f' | b'x' | b'_' | b'0'..=b'9' => 12,
            b'\\' => 6,
            b' '..=b'~' => {
                if *byte == b' ' {
                    3
                } else {
                    4
                }
            }
            _ => 1,
        })
        .collect();
    rng.weighted(&weights).map(|at| allowed[at])
}

/// The byte after which an end is nearest.
fn nearest<S: Subject>(subject: &S, state: &S::State, allowed: &[u8]) -> Result<Option<u8>, String> {
    let mut best: Option<(u64, u8)> = None;
    for &byte in allowed {
        let Some(next) = subject.step(state, byte)? else { continue };
        let Some(distance) = subject.shortest_completion_len(&next) else { continue };
        if best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, byte));
        }
    }
    Ok(best.map(|(_, byte)| byte))
}
