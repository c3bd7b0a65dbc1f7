//! The bytes that texts of a program may have.

use grammask_grammar_ir::byte_set::{self, ByteSet};

use crate::error::AutomataError;
use crate::ids::IdVec;
use crate::program::tables::{Program, StateId};

impl Program {
    /// The bytes on all edges that can be reached from the root. No text of the program has any other byte. Each of these
    /// stands in some text, unless it is in a part that a count, the parts read before, or distinct items rule out.
    ///
    /// Takes time in proportion to the program. Deferred programs are compiled now.
    ///
    /// # Errors
    ///
    /// As for [`whole`](Self::whole).
    pub fn used_bytes(&self) -> Result<ByteSet, AutomataError> {
        let whole = self.whole()?;
        let mut bytes = ByteSet::default();
        let mut seen: IdVec<StateId, bool> = IdVec::of(false, whole.state_count());
        let mut stack = vec![whole.fragment(whole.root()).start];
        while let Some(id) = stack.pop() {
            if std::mem::replace(&mut seen[id], true) {
                continue;
            }
            let state = whole.state(id);
            for edge in state.bytes {
                byte_set::add_range(&mut bytes, edge.start, edge.end);
                stack.push(edge.target);
            }
            stack.extend(state.epsilons);
            stack.extend(state.tokens.iter().map(|edge| edge.target));
            // Dead ends are gone from a program, so each call returns.
            stack.extend(
                state.calls.iter().flat_map(|call| [whole.fragment(call.fragment).start, call.target]),
            );
        }
        Ok(bytes)
    }
}
