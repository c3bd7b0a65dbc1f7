//! States with their edges, copied from some tables to others.
//!
//! Automata that were made before come into a draft, into a program, or from a draft into its program. The tables are
//! the same everywhere, and so is the copy: each row keeps its distance to the first one, and the numbers of states
//! and of called fragments move.

use crate::ids::{Id, Offset};
use crate::program::tables::{ByteEdge, Call, FragmentId, Program, StateId, StateRow, TokenEdge};

/// States and their edges, but for edges by tokens, whose labels belong to a program.
#[derive(Clone, Copy)]
pub(crate) struct StateTables<'t> {
    /// A row has the places where its edges begin. They end where those of the next row begin, those of the last one at
    /// the end of each table.
    pub(crate) rows: &'t [StateRow],
    pub(crate) byte_edges: &'t [ByteEdge],
    pub(crate) epsilons: &'t [StateId],
    pub(crate) calls: &'t [Call],
}

/// Tables to which states are added.
pub(crate) struct StateTablesMut<'t> {
    pub(crate) rows: &'t mut Vec<StateRow>,
    pub(crate) byte_edges: &'t mut Vec<ByteEdge>,
    pub(crate) epsilons: &'t mut Vec<StateId>,
    pub(crate) calls: &'t mut Vec<Call>,
    pub(crate) token_edges: &'t [TokenEdge],
}

impl Program {
    pub(crate) fn tables_mut(&mut self) -> StateTablesMut<'_> {
        let Self { states: rows, byte_edges, epsilons, calls, token_edges, .. } = self;
        StateTablesMut { rows, byte_edges, epsilons, calls, token_edges }
    }
}

impl StateTablesMut<'_> {
    /// Adds states after the others. The token edges of their rows begin after those that there are.
    pub(crate) fn extend(
        self,
        from: StateTables<'_>,
        state: impl Fn(StateId) -> StateId,
        fragment: impl Fn(FragmentId) -> FragmentId,
    ) {
        let Some(&first) = from.rows.first() else { return };
        // The limits keep all tables within 32 bits.
        let base = StateRow {
            bytes: Offset::from_index(self.byte_edges.len()),
            epsilons: Offset::from_index(self.epsilons.len()),
            calls: Offset::from_index(self.calls.len()),
            tokens: Offset::from_index(self.token_edges.len()),
            is_final: false,
        };
        self.rows.extend(from.rows.iter().map(|row| StateRow {
            bytes: row.bytes.rebased(first.bytes, base.bytes),
            epsilons: row.epsilons.rebased(first.epsilons, base.epsilons),
            calls: row.calls.rebased(first.calls, base.calls),
            tokens: row.tokens.rebased(first.tokens, base.tokens),
            is_final: row.is_final,
        }));
        let edges = from.byte_edges.iter();
        self.byte_edges.extend(edges.map(|edge| ByteEdge { target: state(edge.target), ..*edge }));
        self.epsilons.extend(from.epsilons.iter().map(|&target| state(target)));
        let calls = from.calls.iter();
        self.calls
            .extend(calls.map(|call| Call { fragment: fragment(call.fragment), target: state(call.target) }));
    }
}
