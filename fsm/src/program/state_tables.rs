//! States with their edges, copied from some tables to others.
//!
//! Automata that were made before come into a draft, into a program, or from a draft into its program. The tables are
//! the same everywhere, and so is the copy: each row keeps its distance to the first one, and the numbers of states
//! and of called fragments move.
//!
//! A compiled program gets into another one as a [`Linked`] one. Its root takes the number of the fragment that it
//! stands for; its other fragments and its states follow in their order from some numbers on. Tables that are copied
//! into a program are renumbered when it is written, those of a [sub-program](crate::program::sub_programs) when
//! something of it is first read.

use crate::ids::{Id, Offset};
use crate::program::tables::{
    ByteEdge, Call, Fragment, FragmentId, LabelId, Permutation, Program, Role, StateId, StateRow, TokenEdge,
};

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
    /// The row of a state whose edges come next.
    pub(crate) fn next_row(&self) -> StateRow {
        // The limits of the build keep all tables within 30 bits.
        let lengths = [self.byte_edges.len(), self.epsilons.len(), self.calls.len(), self.token_edges.len()];
        StateRow::new(lengths.map(Offset::from_index))
    }

    /// Adds states after the others. The token edges of their rows begin after those that there are.
    pub(crate) fn extend(
        self,
        from: StateTables<'_>,
        state: impl Fn(StateId) -> StateId,
        fragment: impl Fn(FragmentId) -> FragmentId,
    ) {
        let Some(&first) = from.rows.first() else { return };
        let base = self.next_row();
        self.rows.extend(from.rows.iter().map(|row| row.rebased(first, base)));
        let edges = from.byte_edges.iter();
        self.byte_edges.extend(edges.map(|edge| ByteEdge { target: state(edge.target), ..*edge }));
        self.epsilons.extend(from.epsilons.iter().map(|&target| state(target)));
        let calls = from.calls.iter();
        self.calls
            .extend(calls.map(|call| Call { fragment: fragment(call.fragment), target: state(call.target) }));
    }
}

/// Where the numbers of a program begin in the one that it is put into.
pub(crate) struct Linked<'p> {
    pub(crate) program: &'p Program,
    /// The number of its root.
    pub(crate) root: FragmentId,
    /// The first of the numbers of its other fragments.
    pub(crate) others: FragmentId,
    /// The number of its first state.
    pub(crate) first_state: StateId,
    /// The number of its first label.
    pub(crate) first_label: LabelId,
}

impl Linked<'_> {
    /// The number after those of its other fragments.
    pub(crate) fn others_end(&self) -> FragmentId {
        self.others.plus(self.program.fragments.len() - 1)
    }

    /// The number of one of its fragments.
    pub(crate) fn fragment(&self, id: FragmentId) -> FragmentId {
        // The other fragments follow without a gap where the root was.
        match id.cmp(&self.program.root) {
            std::cmp::Ordering::Equal => self.root,
            std::cmp::Ordering::Less => self.others.plus(id.index()),
            std::cmp::Ordering::Greater => self.others.plus(id.index() - 1),
        }
    }

    fn state(&self, id: StateId) -> StateId {
        self.first_state.plus(id.index())
    }

    /// The root as a fragment of the whole.
    pub(crate) fn root(&self) -> Fragment {
        self.moved(self.program.fragment(self.program.root))
    }

    /// The other fragments, in the order of their new numbers.
    pub(crate) fn others(&self) -> impl Iterator<Item = Fragment> + '_ {
        let root = self.program.root.index();
        let others = self.program.fragments.iter().enumerate().filter(move |&(index, _)| index != root);
        others.map(|(_, fragment)| self.moved(fragment))
    }

    fn moved(&self, fragment: &Fragment) -> Fragment {
        let role = match &fragment.role {
            Role::Permutation(permutation) => Role::Permutation(Box::new(Permutation {
                parts: permutation.parts.iter().map(|part| part.map(|id| self.fragment(id))).collect(),
                separator: permutation.separator.map(|id| self.fragment(id)),
                ..(**permutation).clone()
            })),
            other => other.clone(),
        };
        Fragment {
            name: fragment.name.clone(),
            start: self.state(fragment.start),
            role,
            options: fragment.options.clone(),
            ..*fragment
        }
    }

    /// Adds its states to tables; the row after the last one is not among them.
    pub(crate) fn push_states(&self, to: &mut Program) {
        let Program { byte_edges, epsilons, calls, token_edges, .. } = self.program;
        let rows = &self.program.states[..self.program.own_state_count()];
        let tables = StateTables { rows, byte_edges, epsilons, calls };
        to.tables_mut().extend(tables, |state| self.state(state), |fragment| self.fragment(fragment));
        to.token_edges.extend(token_edges.iter().map(|edge| TokenEdge {
            label: self.first_label.plus(edge.label.index()),
            target: self.state(edge.target),
        }));
    }
}
