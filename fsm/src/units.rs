//! Programs inside of a program, by reference.
//!
//! A request offers fifty tools, of which one or two are called, and nearly all were offered before. To copy the
//! automata of each into the tables of the request costs more than all else that the request needs. So a program may
//! have *units*: programs that it shares with others, whose states and fragments have numbers behind its own. Until
//! something of a unit is read it costs an entry in a list; then its edges are copied once with their numbers moved,
//! since whoever reads edges wants numbers of the whole. The rows, which are numbers into the unit's own tables, stay
//! where they are.
//!
//! Units are called, and call nothing but themselves.

use std::sync::{Arc, OnceLock};

use crate::program::StateRow;
use crate::{
    ByteEdge, Call, Fragment, FragmentId, LabelId, Program, Role, State, StateId, TokenEdge, Unordered,
};

/// The units of a program, in the order of their numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Units {
    list: Vec<Unit>,
}

/// A program whose numbers begin somewhere.
#[derive(Clone, Debug)]
struct Unit {
    program: Arc<Program>,
    has_options: bool,
    first_state: u32,
    first_fragment: u32,
    first_label: u32,
    moved: OnceLock<Box<Moved>>,
}

/// What speaks of numbers, in numbers of the whole.
#[derive(Clone, Debug)]
struct Moved {
    byte_edges: Box<[ByteEdge]>,
    epsilons: Box<[StateId]>,
    calls: Box<[Call]>,
    token_edges: Box<[TokenEdge]>,
    fragments: Box<[Fragment]>,
}

/// Where the numbers of the next unit begin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Begin {
    pub(crate) state: u32,
    pub(crate) fragment: u32,
    pub(crate) label: u32,
}

impl Units {
    pub(crate) fn with_capacity(units: usize) -> Self {
        Self { list: Vec::with_capacity(units) }
    }

    /// Adds a unit that has no units itself; its states and fragments come after those of all others.
    pub(crate) fn push(&mut self, program: &Arc<Program>, begin: Begin) {
        debug_assert!(program.units.list.is_empty() && !program.left_corners().has_cycles());
        self.list.push(Unit {
            program: Arc::clone(program),
            has_options: program.own_options(),
            first_state: begin.state,
            first_fragment: begin.fragment,
            first_label: begin.label,
            moved: OnceLock::new(),
        });
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The number behind the last state, where there are units.
    pub(crate) fn state_end(&self) -> Option<u32> {
        self.list.last().map(|unit| unit.first_state + unit.program.own_state_count() as u32)
    }

    /// The number behind the last fragment, where there are units.
    pub(crate) fn fragment_end(&self) -> Option<u32> {
        self.list.last().map(|unit| unit.first_fragment + unit.program.fragments.len() as u32)
    }

    #[inline(never)]
    pub(crate) fn state(&self, id: StateId) -> State<'_> {
        let at = self.list.partition_point(|unit| unit.first_state <= id.raw());
        self.list[at - 1].state(id)
    }

    #[inline(never)]
    pub(crate) fn fragment(&self, id: FragmentId) -> &Fragment {
        let unit = self.of_fragment(id);
        &unit.moved().fragments[(id.raw() - unit.first_fragment) as usize]
    }

    /// The place of a fragment in the order of prediction. No unit has more places than fragments.
    #[inline(never)]
    pub(crate) fn component(&self, id: FragmentId) -> u32 {
        let unit = self.of_fragment(id);
        let inside = FragmentId::from_raw(id.raw() - unit.first_fragment);
        unit.first_fragment + unit.program.left_corners().own_component(inside).unwrap_or(0)
    }

    fn of_fragment(&self, id: FragmentId) -> &Unit {
        let at = self.list.partition_point(|unit| unit.first_fragment <= id.raw());
        &self.list[at - 1]
    }

    pub(crate) fn has_options(&self) -> bool {
        self.list.iter().any(|unit| unit.has_options)
    }

    pub(crate) fn memory_usage(&self) -> usize {
        let tables = self.list.iter().map(|unit| unit.program.table_bytes()).sum::<usize>();
        tables + self.list.capacity() * size_of::<Unit>()
    }

    /// Adds the tables of all units to those of a program, which end in a row that belongs to no state.
    pub(crate) fn append_to(&self, whole: &mut Program) {
        for unit in &self.list {
            let moved = unit.moved();
            let end = whole.states.pop().unwrap_or(StateRow::EMPTY);
            whole.states.extend(unit.program.states.iter().map(|row| StateRow {
                bytes: end.bytes + row.bytes,
                epsilons: end.epsilons + row.epsilons,
                calls: end.calls + row.calls,
                tokens: end.tokens + row.tokens,
                is_final: row.is_final,
            }));
            whole.byte_edges.extend_from_slice(&moved.byte_edges);
            whole.epsilons.extend_from_slice(&moved.epsilons);
            whole.calls.extend_from_slice(&moved.calls);
            whole.token_edges.extend_from_slice(&moved.token_edges);
            whole.fragments.extend_from_slice(&moved.fragments);
        }
    }
}

impl Unit {
    fn state(&self, id: StateId) -> State<'_> {
        let at = (id.raw() - self.first_state) as usize;
        let (row, next) = (self.program.states[at], self.program.states[at + 1]);
        let moved = self.moved();
        State {
            is_final: row.is_final,
            bytes: &moved.byte_edges[row.bytes as usize..next.bytes as usize],
            epsilons: &moved.epsilons[row.epsilons as usize..next.epsilons as usize],
            calls: &moved.calls[row.calls as usize..next.calls as usize],
            tokens: &moved.token_edges[row.tokens as usize..next.tokens as usize],
        }
    }

    fn moved(&self) -> &Moved {
        self.moved.get_or_init(|| {
            let Program { byte_edges, epsilons, calls, token_edges, fragments, .. } = &*self.program;
            let state = |id: StateId| StateId::from_raw(self.first_state + id.raw());
            let fragment = |id: FragmentId| FragmentId::from_raw(self.first_fragment + id.raw());
            let label = |id: LabelId| LabelId::from_raw(self.first_label + id.raw());
            Box::new(Moved {
                byte_edges: byte_edges
                    .iter()
                    .map(|edge| ByteEdge { target: state(edge.target), ..*edge })
                    .collect(),
                epsilons: epsilons.iter().map(|&target| state(target)).collect(),
                calls: calls
                    .iter()
                    .map(|call| Call { fragment: fragment(call.fragment), target: state(call.target) })
                    .collect(),
                token_edges: token_edges
                    .iter()
                    .map(|edge| TokenEdge { label: label(edge.label), target: state(edge.target) })
                    .collect(),
                fragments: fragments.iter().map(|it| self.moved_fragment(it)).collect(),
            })
        })
    }

    fn moved_fragment(&self, fragment: &Fragment) -> Fragment {
        let moved = |id: FragmentId| FragmentId::from_raw(self.first_fragment + id.raw());
        let role = match &fragment.role {
            Role::Unordered(unordered) => Role::Unordered(Box::new(Unordered {
                parts: unordered.parts.iter().map(|part| part.map(moved)).collect(),
                separator: unordered.separator.map(moved),
                ..(**unordered).clone()
            })),
            other => other.clone(),
        };
        let start = StateId::from_raw(self.first_state + fragment.start.raw());
        Fragment { name: fragment.name.clone(), start, role, options: fragment.options.clone(), ..*fragment }
    }
}
