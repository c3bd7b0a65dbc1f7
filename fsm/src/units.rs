//! Programs inside of a program, by reference.
//!
//! A request offers fifty tools, of which one or two are called, and nearly all were offered before. To copy the
//! automata of each into the tables of the request costs more than all else that the request needs. So a program may
//! have *units*: programs that it shares with others, whose states and fragments have numbers behind its own. Until
//! something of a unit is read it costs an entry in a list, and need not even be [compiled](crate::DeferredProgram); then
//! its edges are copied once with their numbers moved, since whoever reads edges wants numbers of the whole. The rows,
//! which are numbers into the unit's own tables, stay where they are.
//!
//! SubPrograms are called, and call nothing but themselves. The numbers of one that is compiled late are more than it needs:
//! between its last state and the first one of the next unit are numbers that belong to nothing.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use crate::lazy::{Ahead, Space};
use crate::pieces::Time;
use crate::program::StateRow;
use crate::{
    BuildError, ByteEdge, Call, DeferredProgram, Fragment, FragmentId, FragmentName, LabelId, Permutation,
    Program, Role, State, StateId, TokenEdge,
};

/// The units of a program, in the order of their numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct SubPrograms {
    list: Vec<SubProgram>,
    last: Last,
    /// What was wrong with a unit that was compiled late.
    failure: OnceLock<BuildError>,
}

/// The place of the unit that was looked for last. Whoever reads edges mostly stays in one of many.
#[derive(Debug, Default)]
struct Last(AtomicUsize);

impl Clone for Last {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// A program whose numbers begin somewhere.
#[derive(Clone, Debug)]
struct SubProgram {
    source: Arc<DeferredProgram>,
    has_options: bool,
    first_state: u32,
    first_fragment: u32,
    first_label: u32,
    made: OnceLock<Box<Made>>,
}

/// A unit that is read.
#[derive(Clone, Debug)]
struct Made {
    program: Arc<Program>,
    moved: Moved,
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

/// A state that no number belongs to.
const NO_STATE: State<'static> =
    State { is_final: false, bytes: &[], epsilons: &[], calls: &[], tokens: &[] };

/// A fragment that no number belongs to, and what stands for one that could not be compiled: nothing is read.
static NO_FRAGMENT: Fragment = Fragment {
    name: FragmentName::fixed("nothing"),
    start: StateId::NEVER,
    nullable: false,
    count: None,
    role: Role::None,
    options: None,
};

impl SubPrograms {
    pub(crate) fn with_capacity(units: usize) -> Self {
        Self { list: Vec::with_capacity(units), ..Self::default() }
    }

    /// Adds a unit that others may refer to; its states and fragments come after those of all others. Where those of
    /// the next one begin.
    pub(crate) fn push(&mut self, source: &Arc<DeferredProgram>, space: &Space, begin: Begin) -> Begin {
        debug_assert!(source.can_be_referred_to());
        let Space { states, fragments, has_options, .. } = *space;
        self.list.push(SubProgram {
            source: Arc::clone(source),
            has_options,
            first_state: begin.state,
            first_fragment: begin.fragment,
            first_label: begin.label,
            made: OnceLock::new(),
        });
        Begin { state: begin.state + states, fragment: begin.fragment + fragments, label: begin.label }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// How many there are, and how many of them are compiled.
    pub(crate) fn count(&self) -> (usize, usize) {
        (self.list.len(), self.list.iter().filter(|unit| unit.source.is_made()).count())
    }

    /// The number behind the last state, where there are units.
    pub(crate) fn state_end(&self) -> Option<u32> {
        self.list.last().map(|unit| unit.first_state + unit.source.room().states)
    }

    /// The number behind the last fragment, where there are units.
    pub(crate) fn fragment_end(&self) -> Option<u32> {
        self.list.last().map(|unit| unit.first_fragment + unit.source.room().fragments)
    }

    #[inline(never)]
    pub(crate) fn state(&self, id: StateId) -> State<'_> {
        let unit = self.find(|unit| unit.first_state <= id.raw());
        unit.and_then(|unit| self.made(unit)?.state((id.raw() - unit.first_state) as usize))
            .unwrap_or(NO_STATE)
    }

    #[inline(never)]
    pub(crate) fn fragment(&self, id: FragmentId) -> &Fragment {
        let found = self
            .of_fragment(id)
            .and_then(|unit| self.made(unit)?.moved.fragments.get((id.raw() - unit.first_fragment) as usize));
        found.unwrap_or(&NO_FRAGMENT)
    }

    /// The place of a fragment in the order of prediction. No unit has more places than fragments.
    #[inline(never)]
    pub(crate) fn component(&self, id: FragmentId) -> u32 {
        let Some(unit) = self.of_fragment(id) else { return id.raw() };
        let Some(made) = self.made(unit) else { return unit.first_fragment };
        let inside = FragmentId::from_raw(id.raw() - unit.first_fragment);
        unit.first_fragment + made.program.left_corners().own_component(inside).unwrap_or(0)
    }

    /// Whether something of the unit that a fragment belongs to was read.
    pub(crate) fn is_read(&self, id: FragmentId) -> bool {
        self.of_fragment(id).is_some_and(|unit| unit.made.get().is_some())
    }

    fn of_fragment(&self, id: FragmentId) -> Option<&SubProgram> {
        self.find(|unit| unit.first_fragment <= id.raw())
    }

    /// The last unit that begins before something does, or with it.
    #[inline]
    fn find(&self, begins: impl Fn(&SubProgram) -> bool) -> Option<&SubProgram> {
        let last = self.last.0.load(Ordering::Relaxed);
        if let [unit, next @ ..] = self.list.get(last..)?
            && begins(unit)
            && !next.first().is_some_and(&begins)
        {
            return Some(unit);
        }
        let at = self.list.partition_point(begins).checked_sub(1)?;
        self.last.0.store(at, Ordering::Relaxed);
        self.list.get(at)
    }

    /// The unit, compiled. `None` where that failed, which is remembered.
    fn made<'u>(&'u self, unit: &'u SubProgram) -> Option<&'u Made> {
        if let Some(made) = unit.made.get() {
            return Some(made);
        }
        match unit.source.program() {
            Ok(program) => Some(unit.made.get_or_init(|| {
                let moved = unit.moved(program, unit.begin());
                Box::new(Made { program: Arc::clone(program), moved })
            })),
            Err(error) => {
                self.failure.get_or_init(|| error.clone());
                None
            }
        }
    }

    /// Does a piece of what reading a fragment will take, if something is left to do and nobody else is at it.
    pub(crate) fn precompile_step(&self, id: FragmentId, time: Time) {
        if let Some(unit) = self.of_fragment(id)
            && unit.made.get().is_none()
            && unit.source.precompile_step(time) == Ahead::Ready
        {
            self.made(unit);
        }
    }

    pub(crate) fn failure(&self) -> Option<&BuildError> {
        self.failure.get()
    }

    /// All fragments that there are, with their numbers.
    pub(crate) fn fragments(&self) -> impl Iterator<Item = (FragmentId, &Fragment)> + Clone {
        self.list.iter().flat_map(|unit| {
            let fragments = self.made(unit).map_or(&[][..], |made| &made.moved.fragments);
            (unit.first_fragment..).map(FragmentId::from_raw).zip(fragments)
        })
    }

    pub(crate) fn has_options(&self) -> bool {
        self.list.iter().any(|unit| unit.has_options)
    }

    pub(crate) fn memory_usage(&self) -> usize {
        let tables = self.list.iter().map(|unit| unit.source.memory_usage()).sum::<usize>();
        tables + self.list.capacity() * size_of::<SubProgram>()
    }

    /// Adds the tables of all units to those of a program, which end in a row that belongs to no state. The numbers that
    /// things got.
    pub(crate) fn append_to(&self, whole: &mut Program) -> Result<Numbers, BuildError> {
        let mut numbers = Numbers::default();
        let mut begin =
            Begin { state: whole.own_state_count() as u32, fragment: whole.fragments.len() as u32, label: 0 };
        for unit in &self.list {
            let program = unit.source.program().map_err(Clone::clone)?;
            let Program { states, fragments, .. } = &**program;
            let counts = (states.len() as u32 - 1, fragments.len() as u32);
            numbers.states.push(Moves { from: unit.first_state, to: begin.state, count: counts.0 });
            numbers.fragments.push(Moves { from: unit.first_fragment, to: begin.fragment, count: counts.1 });
            begin.label = unit.first_label;
            let moved = unit.moved(program, begin);
            let end = whole.states.pop().unwrap_or(StateRow::EMPTY);
            whole.states.extend(states.iter().map(|row| StateRow {
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
            whole.fragments.extend(moved.fragments);
            begin.state += counts.0;
            begin.fragment += counts.1;
        }
        Ok(numbers)
    }
}

/// From the numbers of a program with units to those of the same program with all tables its own: the same, but for
/// those that belong to nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Numbers {
    states: Vec<Moves>,
    fragments: Vec<Moves>,
}

/// So many numbers from one on become others.
#[derive(Clone, Copy, Debug)]
struct Moves {
    from: u32,
    to: u32,
    count: u32,
}

impl Numbers {
    /// A state's number in its own tables. `None` for a number that belongs to nothing.
    pub(crate) fn state(&self, id: StateId) -> Option<StateId> {
        there(&self.states, id.raw()).map(StateId::from_raw)
    }

    /// A fragment's number in its own tables. `None` for a number that belongs to nothing.
    pub(crate) fn fragment(&self, id: FragmentId) -> Option<FragmentId> {
        there(&self.fragments, id.raw()).map(FragmentId::from_raw)
    }

    /// The fragment that has a number in its own tables.
    pub(crate) fn fragment_back(&self, id: FragmentId) -> FragmentId {
        let at = self.fragments.partition_point(|moves| moves.to <= id.raw());
        let moves = at.checked_sub(1).and_then(|at| self.fragments.get(at));
        moves.map_or(id, |moves| FragmentId::from_raw(id.raw() - moves.to + moves.from))
    }
}

fn there(all: &[Moves], id: u32) -> Option<u32> {
    let at = all.partition_point(|moves| moves.from <= id);
    let Some(moves) = at.checked_sub(1).and_then(|at| all.get(at)) else { return Some(id) };
    (id - moves.from < moves.count).then(|| id - moves.from + moves.to)
}

impl Made {
    fn state(&self, at: usize) -> Option<State<'_>> {
        let Self { program, moved } = self;
        let (row, next) = (program.states.get(at)?, program.states.get(at + 1)?);
        Some(State {
            is_final: row.is_final,
            bytes: &moved.byte_edges[row.bytes as usize..next.bytes as usize],
            epsilons: &moved.epsilons[row.epsilons as usize..next.epsilons as usize],
            calls: &moved.calls[row.calls as usize..next.calls as usize],
            tokens: &moved.token_edges[row.tokens as usize..next.tokens as usize],
        })
    }
}

impl SubProgram {
    fn begin(&self) -> Begin {
        Begin { state: self.first_state, fragment: self.first_fragment, label: self.first_label }
    }

    fn moved(&self, program: &Program, begin: Begin) -> Moved {
        let Program { byte_edges, epsilons, calls, token_edges, fragments, .. } = program;
        let state = |id: StateId| StateId::from_raw(begin.state + id.raw());
        let fragment = |id: FragmentId| FragmentId::from_raw(begin.fragment + id.raw());
        let label = |id: LabelId| LabelId::from_raw(begin.label + id.raw());
        Moved {
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
            fragments: fragments.iter().map(|it| moved_fragment(it, begin)).collect(),
        }
    }
}

fn moved_fragment(fragment: &Fragment, begin: Begin) -> Fragment {
    let moved = |id: FragmentId| FragmentId::from_raw(begin.fragment + id.raw());
    let role = match &fragment.role {
        Role::Permutation(permutation) => Role::Permutation(Box::new(Permutation {
            parts: permutation.parts.iter().map(|part| part.map(moved)).collect(),
            separator: permutation.separator.map(moved),
            ..(**permutation).clone()
        })),
        other => other.clone(),
    };
    let start = StateId::from_raw(begin.state + fragment.start.raw());
    Fragment { name: fragment.name.clone(), start, role, options: fragment.options.clone(), ..*fragment }
}
