//! Automata that are written once, in their final form.
//!
//! The passes look for what can be merged or removed, edge by edge. For parts whose best form is known
//! beforehand (escapes, the names that differ from a list of others) that is most of the time of a
//! compilation and finds nothing. Such parts are fragments whose states are in a table of their own, with
//! their edges in final order: no pass sees them, and emission copies rows.

use crate::draft::ids::DraftFragmentId;
use crate::ids::{Id, Offset};
use crate::program::state_tables::{StateTables, StateTablesMut};
use crate::program::tables::{ByteEdge, Call, FragmentId, StateId, StateRow};

/// The tables of all prebuilt fragments. Targets are states of these tables, callees are fragments of the
/// draft.
#[derive(Clone, Debug, Default)]
pub(crate) struct Prebuilt {
    rows: Vec<StateRow>,
    byte_edges: Vec<ByteEdge>,
    epsilons: Vec<StateId>,
    calls: Vec<Call>,
    /// Where the edges of the state begin that is being written.
    open: (Offset, Offset, Offset),
}

/// The states of one prebuilt fragment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PrebuiltStates {
    pub(crate) first: StateId,
    pub(crate) end: StateId,
}

/// One prebuilt fragment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PrebuiltFragment {
    pub(crate) states: PrebuiltStates,
    /// First state in the order of reading.
    pub(crate) start: StateId,
}

impl Prebuilt {
    pub(crate) fn with_capacity(states: usize) -> Self {
        Self {
            rows: Vec::with_capacity(states),
            byte_edges: Vec::with_capacity(2 * states),
            calls: Vec::with_capacity(states),
            ..Self::default()
        }
    }

    /// Makes room for more states, and their byte edges and calls.
    pub(crate) fn reserve(&mut self, states: usize, bytes: usize, calls: usize) {
        self.rows.reserve(states);
        self.byte_edges.reserve(bytes);
        self.calls.reserve(calls);
    }

    /// Adds the states of other tables, which call one fragment at most: `callee`. The number of the first.
    pub(crate) fn instantiate(&mut self, template: &Self, callee: DraftFragmentId) -> StateId {
        self.extend(template.all(), |_| of_draft(callee))
    }

    /// Adds the tables of a program, whose last row ends the others. Its fragments get numbers from
    /// `first_fragment` on. Returns the shift of the numbers of its states.
    pub(crate) fn append(&mut self, tables: StateTables<'_>, first_fragment: DraftFragmentId) -> StateId {
        // The last row of a program is only an end.
        let rows = tables.rows.split_last().map_or(tables.rows, |(_, others)| others);
        self.extend(StateTables { rows, ..tables }, |id| of_draft(first_fragment.plus(id.index())))
    }

    fn extend(&mut self, from: StateTables<'_>, fragment: impl Fn(FragmentId) -> FragmentId) -> StateId {
        let shift = self.next_state();
        let Self { rows, byte_edges, epsilons, calls, .. } = self;
        // Prebuilt fragments read no tokens.
        let tables = StateTablesMut { rows, byte_edges, epsilons, calls, token_edges: &[] };
        tables.extend(from, |state| state.plus(shift.index()), fragment);
        self.open = self.lengths();
        shift
    }

    fn all(&self) -> StateTables<'_> {
        let Self { rows, byte_edges, epsilons, calls, .. } = self;
        StateTables { rows, byte_edges, epsilons, calls }
    }

    /// The number of the next state.
    pub(crate) fn next_state(&self) -> StateId {
        StateId::from_index(self.rows.len())
    }

    /// Adds a byte edge to the state that is being written, after those of smaller bytes.
    pub(crate) fn bytes(&mut self, start: u8, end: u8, target: StateId) {
        self.byte_edges.push(ByteEdge { start, end, target });
    }

    pub(crate) fn epsilon(&mut self, target: StateId) {
        self.epsilons.push(target);
    }

    pub(crate) fn call(&mut self, fragment: DraftFragmentId, target: StateId) {
        self.calls.push(Call { fragment: of_draft(fragment), target });
    }

    pub(crate) fn end_state(&mut self, ending: Ending) {
        let (bytes, epsilons, calls) = self.open;
        let row = StateRow::new([bytes, epsilons, calls, Offset::FIRST]);
        self.rows.push(row.final_if(ending == Ending::Final).counting_if(ending == Ending::Counts));
        self.open = self.lengths();
    }

    pub(crate) fn is_final(&self, state: StateId) -> bool {
        self.rows[state.index()].is_final()
    }

    pub(crate) fn epsilon_count(&self) -> usize {
        self.epsilons.len()
    }

    pub(crate) fn call_count(&self) -> usize {
        self.calls.len()
    }

    pub(crate) fn edge_count(&self) -> usize {
        self.byte_edges.len() + self.epsilons.len() + self.calls.len()
    }

    /// The calls that fragments make.
    pub(crate) fn calls(&self, states: PrebuiltStates) -> &[Call] {
        let at =
            |state: StateId| self.rows.get(state.index()).map_or(self.calls.len(), |row| row.calls.index());
        &self.calls[at(states.first)..at(states.end)]
    }

    pub(crate) fn tables(&self, states: PrebuiltStates) -> StateTables<'_> {
        let at = |state: StateId| match self.rows.get(state.index()) {
            Some(row) => (row.bytes.index(), row.epsilons.index(), row.calls.index()),
            None => (self.byte_edges.len(), self.epsilons.len(), self.calls.len()),
        };
        let (start, end) = (at(states.first), at(states.end));
        StateTables {
            rows: &self.rows[states.first.index()..states.end.index()],
            byte_edges: &self.byte_edges[start.0..end.0],
            epsilons: &self.epsilons[start.1..end.1],
            calls: &self.calls[start.2..end.2],
        }
    }

    fn lengths(&self) -> (Offset, Offset, Offset) {
        let length = Offset::from_index;
        (length(self.byte_edges.len()), length(self.epsilons.len()), length(self.calls.len()))
    }
}

/// A fragment of the draft as a callee. It becomes one of the program when the tables are written.
fn of_draft(fragment: DraftFragmentId) -> FragmentId {
    FragmentId::from_raw(fragment.raw())
}

/// The fragment of the draft that a prebuilt state calls.
pub(crate) fn callee(fragment: FragmentId) -> DraftFragmentId {
    DraftFragmentId::from_raw(fragment.raw())
}

/// Whether a fragment may end in a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ending {
    Final,
    Inner,
    /// A character that counts has ended.
    Counts,
}
