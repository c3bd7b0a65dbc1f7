//! Programs inside of a program, by reference.
//!
//! A request offers fifty tools, of which one or two are called, and nearly all were offered before. To copy
//! the automata of each into the tables of the request costs more than the rest of the request. So a program
//! may have *sub-programs*: programs that it shares with others, whose states and fragments have numbers
//! after its own. Until some part of a sub-program is read, it costs an entry in a list, and need not even be
//! [compiled](crate::DeferredProgram). Then its edges are copied once with their numbers moved, since readers
//! of edges want numbers of the whole. The rows, which are numbers into the sub-program's own tables, are not
//! copied.
//!
//! Sub-programs are called, and call nothing but themselves. A deferred one reserves more numbers than it
//! needs. Between its last state and the first one of the next sub-program are numbers that belong to
//! nothing.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use crate::error::AutomataError;
use crate::ids::Id;
use crate::program::deferred::DeferredProgram;
use crate::program::deferred::{IdReservation, StepOutcome, Urgency};
use crate::program::fragment_name::FragmentName;
use crate::program::tables::StateRow;
use crate::program::tables::{
    ByteEdge, Call, Fragment, FragmentId, LabelId, Permutation, Program, Role, State, StateId, TokenEdge,
};

/// The sub-programs of a program, in the order of their numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct SubPrograms {
    list: Vec<SubProgram>,
    last: LastFound,
    /// The error of a deferred sub-program whose compilation failed.
    failure: OnceLock<AutomataError>,
}

/// The place of the sub-program that was looked for last. A reader of edges mostly stays in one sub-program.
#[derive(Debug, Default)]
struct LastFound(AtomicUsize);

impl Clone for LastFound {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// A program whose numbers begin somewhere.
#[derive(Clone, Debug)]
struct SubProgram {
    source: Arc<DeferredProgram>,
    has_options: bool,
    first_state: StateId,
    first_fragment: FragmentId,
    first_label: LabelId,
    loaded: OnceLock<Box<Loaded>>,
}

/// A sub-program that is read.
#[derive(Clone, Debug)]
struct Loaded {
    program: Arc<Program>,
    moved: Renumbered,
}

/// The tables that contain ids, with the ids of the whole.
#[derive(Clone, Debug)]
struct Renumbered {
    byte_edges: Box<[ByteEdge]>,
    epsilons: Box<[StateId]>,
    calls: Box<[Call]>,
    token_edges: Box<[TokenEdge]>,
    fragments: Box<[Fragment]>,
}

/// Where the numbers of the next sub-program begin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FirstIds {
    pub(crate) state: StateId,
    pub(crate) fragment: FragmentId,
    pub(crate) label: LabelId,
}

impl FirstIds {
    /// After the states and fragments of a program's own.
    pub(crate) fn behind(program: &Program) -> Self {
        Self {
            state: StateId::from_index(program.own_state_count()),
            fragment: FragmentId::from_index(program.fragments.len()),
            label: LabelId::FIRST,
        }
    }
}

/// A state that no number belongs to.
const NO_STATE: State<'static> =
    State { is_final: false, bytes: &[], epsilons: &[], calls: &[], tokens: &[] };

/// A fragment that no number belongs to, instead of one that could not be compiled: it reads nothing.
static NO_FRAGMENT: Fragment = Fragment {
    name: FragmentName::fixed("nothing"),
    start: StateId::NEVER,
    nullable: false,
    count: None,
    role: Role::None,
    options: None,
};

impl SubPrograms {
    pub(crate) fn with_capacity(sub_programs: usize) -> Self {
        Self { list: Vec::with_capacity(sub_programs), ..Self::default() }
    }

    /// Adds a sub-program that others may refer to; its states and fragments come after those of all others. Where those of
    /// the next one begin.
    pub(crate) fn push(
        &mut self,
        source: &Arc<DeferredProgram>,
        reservation: &IdReservation,
        begin: FirstIds,
    ) -> FirstIds {
        debug_assert!(source.can_be_referred_to());
        let IdReservation { states, fragments, has_options, .. } = *reservation;
        self.list.push(SubProgram {
            source: Arc::clone(source),
            has_options,
            first_state: begin.state,
            first_fragment: begin.fragment,
            first_label: begin.label,
            loaded: OnceLock::new(),
        });
        // The range is that of the reservation, not of the program, which may not exist yet. Numbers that it
        // does not use belong to nothing.
        FirstIds {
            state: begin.state.plus(states.index()),
            fragment: begin.fragment.plus(fragments.index()),
            label: begin.label,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// How many there are, and how many of them are compiled.
    pub(crate) fn count(&self) -> (usize, usize) {
        (self.list.len(), self.list.iter().filter(|sub_program| sub_program.source.is_compiled()).count())
    }

    /// The number after the last state, if there are sub-programs.
    pub(crate) fn state_end(&self) -> Option<StateId> {
        let last = self.list.last()?;
        Some(last.first_state.plus(last.source.footprint().states.index()))
    }

    /// The number after the last fragment, if there are sub-programs.
    pub(crate) fn fragment_end(&self) -> Option<FragmentId> {
        let last = self.list.last()?;
        Some(last.first_fragment.plus(last.source.footprint().fragments.index()))
    }

    #[inline(never)]
    pub(crate) fn state(&self, id: StateId) -> State<'_> {
        let sub_program = self.find(|sub_program| sub_program.first_state <= id);
        sub_program
            .and_then(|sub_program| self.loaded(sub_program)?.state(id.since(sub_program.first_state)))
            .unwrap_or(NO_STATE)
    }

    #[inline(never)]
    pub(crate) fn fragment(&self, id: FragmentId) -> &Fragment {
        let found = self.of_fragment(id).and_then(|sub_program| {
            self.loaded(sub_program)?.moved.fragments.get(id.since(sub_program.first_fragment))
        });
        found.unwrap_or(&NO_FRAGMENT)
    }

    /// The place of a fragment in the order of prediction. No sub-program has more places than fragments.
    #[inline(never)]
    pub(crate) fn component(&self, id: FragmentId) -> u32 {
        let Some(sub_program) = self.of_fragment(id) else { return id.raw() };
        let first = sub_program.first_fragment;
        let Some(loaded) = self.loaded(sub_program) else { return first.raw() };
        let inside = FragmentId::from_index(id.since(first));
        // Components of a sub-program follow those of all programs before it. That is a valid order, because
        // a sub-program calls nothing outside of itself.
        first.raw() + loaded.program.left_corners().own_component(inside).map_or(0, Id::raw)
    }

    /// Whether something of the sub-program that a fragment belongs to was read.
    pub(crate) fn is_read(&self, id: FragmentId) -> bool {
        self.of_fragment(id).is_some_and(|sub_program| sub_program.loaded.get().is_some())
    }

    fn of_fragment(&self, id: FragmentId) -> Option<&SubProgram> {
        self.find(|sub_program| sub_program.first_fragment <= id)
    }

    /// The last sub-program that begins before something does, or with it.
    #[inline]
    fn find(&self, begins: impl Fn(&SubProgram) -> bool) -> Option<&SubProgram> {
        // A hint that all threads share. Relaxed, because any value is right: the sub-program at the place is
        // checked, and another one is searched if it is the wrong one.
        let last = self.last.0.load(Ordering::Relaxed);
        if let [sub_program, next @ ..] = self.list.get(last..)?
            && begins(sub_program)
            && !next.first().is_some_and(&begins)
        {
            return Some(sub_program);
        }
        // The list is sorted by first ids, so the last sub-program that begins at or before the id has it in
        // its range.
        let at = self.list.partition_point(begins).checked_sub(1)?;
        self.last.0.store(at, Ordering::Relaxed);
        self.list.get(at)
    }

    /// The sub-program, compiled. `None` where that failed, which is remembered.
    fn loaded<'u>(&'u self, sub_program: &'u SubProgram) -> Option<&'u Loaded> {
        if let Some(loaded) = sub_program.loaded.get() {
            return Some(loaded);
        }
        match sub_program.source.program() {
            // `OnceLock` publishes the tables: a thread that finds them sees them whole. Two threads may
            // renumber at the same time, and one result is kept.
            Ok(program) => Some(sub_program.loaded.get_or_init(|| {
                let moved = sub_program.moved(program, sub_program.begin());
                Box::new(Loaded { program: Arc::clone(program), moved })
            })),
            Err(error) => {
                // Readers of states have no way to report an error, so they see a state that reads nothing,
                // and the engine asks for the failure before it interns a set.
                self.failure.get_or_init(|| error.clone());
                None
            }
        }
    }

    /// Does a piece of the work that reading a fragment will need, if some is left and no other thread is
    /// working on it.
    pub(crate) fn precompile_step(&self, id: FragmentId, urgency: Urgency) {
        if let Some(sub_program) = self.of_fragment(id)
            && sub_program.loaded.get().is_none()
            && sub_program.source.precompile_step(urgency) == StepOutcome::Ready
        {
            self.loaded(sub_program);
        }
    }

    pub(crate) fn failure(&self) -> Option<&AutomataError> {
        self.failure.get()
    }

    /// All fragments that there are, with their numbers.
    pub(crate) fn fragments(&self) -> impl Iterator<Item = (FragmentId, &Fragment)> + Clone {
        self.list.iter().flat_map(|sub_program| {
            let fragments = self.loaded(sub_program).map_or(&[][..], |loaded| &loaded.moved.fragments);
            (sub_program.first_fragment.raw()..).map(FragmentId::from_raw).zip(fragments)
        })
    }

    pub(crate) fn has_options(&self) -> bool {
        self.list.iter().any(|sub_program| sub_program.has_options)
    }

    pub(crate) fn memory_usage(&self) -> usize {
        let tables = self.list.iter().map(|sub_program| sub_program.source.memory_usage()).sum::<usize>();
        tables + self.list.capacity() * size_of::<SubProgram>()
    }

    /// Adds the tables of all sub-programs to those of a program, which end in a row that belongs to no state. The numbers that
    /// things got.
    pub(crate) fn append_to(&self, whole: &mut Program) -> Result<IdMap, AutomataError> {
        let mut numbers = IdMap::default();
        let mut begin = FirstIds::behind(whole);
        for sub_program in &self.list {
            let program = sub_program.source.program().map_err(Clone::clone)?;
            let Program { states, fragments, .. } = &**program;
            let counts = (states.len() - 1, fragments.len());
            numbers.states.push(IdShift { from: sub_program.first_state, to: begin.state, count: counts.0 });
            numbers.fragments.push(IdShift {
                from: sub_program.first_fragment,
                to: begin.fragment,
                count: counts.1,
            });
            // Labels of sub-programs are in the tables of the whole already; only states and fragments move.
            begin.label = sub_program.first_label;
            let moved = sub_program.moved(program, begin);
            // The last row of a table only ends the row before it. The first row of the next program takes
            // its place, and brings its own last row along.
            let end = whole.states.pop().unwrap_or(StateRow::EMPTY);
            whole.states.extend(states.iter().map(|row| StateRow {
                bytes: end.bytes.plus(row.bytes.index()),
                epsilons: end.epsilons.plus(row.epsilons.index()),
                calls: end.calls.plus(row.calls.index()),
                tokens: end.tokens.plus(row.tokens.index()),
                is_final: row.is_final,
            }));
            whole.byte_edges.extend_from_slice(&moved.byte_edges);
            whole.epsilons.extend_from_slice(&moved.epsilons);
            whole.calls.extend_from_slice(&moved.calls);
            whole.token_edges.extend_from_slice(&moved.token_edges);
            whole.fragments.extend(moved.fragments);
            begin.state = begin.state.plus(counts.0);
            begin.fragment = begin.fragment.plus(counts.1);
        }
        Ok(numbers)
    }
}

/// From the numbers of a program with sub-programs to those of the same program with all tables its own: the same, but for
/// those that belong to nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct IdMap {
    states: Vec<IdShift<StateId>>,
    fragments: Vec<IdShift<FragmentId>>,
}

/// This many numbers from one on become others.
#[derive(Clone, Copy, Debug)]
struct IdShift<I> {
    from: I,
    to: I,
    count: usize,
}

impl IdMap {
    /// A state's number in its own tables. `None` for a number that belongs to nothing.
    pub(crate) fn state(&self, id: StateId) -> Option<StateId> {
        shifted(&self.states, id)
    }

    /// A fragment's number in its own tables. `None` for a number that belongs to nothing.
    pub(crate) fn fragment(&self, id: FragmentId) -> Option<FragmentId> {
        shifted(&self.fragments, id)
    }

    /// The fragment that has a number in its own tables.
    pub(crate) fn fragment_back(&self, id: FragmentId) -> FragmentId {
        // Shifts keep the order, so the list is sorted by the new numbers, too.
        let at = self.fragments.partition_point(|moves| moves.to <= id);
        let moves = at.checked_sub(1).and_then(|at| self.fragments.get(at));
        moves.map_or(id, |moves| id.rebased(moves.to, moves.from))
    }
}

fn shifted<I: Id>(all: &[IdShift<I>], id: I) -> Option<I> {
    let at = all.partition_point(|moves| moves.from <= id);
    let Some(moves) = at.checked_sub(1).and_then(|at| all.get(at)) else { return Some(id) };
    (id.since(moves.from) < moves.count).then(|| id.rebased(moves.from, moves.to))
}

impl Loaded {
    fn state(&self, at: usize) -> Option<State<'_>> {
        let Self { program, moved } = self;
        // The rows are those of the sub-program's own tables: they hold places in tables, which the
        // renumbered copies share.
        let (row, next) = (program.states.get(at)?, program.states.get(at + 1)?);
        Some(State {
            is_final: row.is_final,
            bytes: &moved.byte_edges[row.bytes.index()..next.bytes.index()],
            epsilons: &moved.epsilons[row.epsilons.index()..next.epsilons.index()],
            calls: &moved.calls[row.calls.index()..next.calls.index()],
            tokens: &moved.token_edges[row.tokens.index()..next.tokens.index()],
        })
    }
}

impl SubProgram {
    fn begin(&self) -> FirstIds {
        FirstIds { state: self.first_state, fragment: self.first_fragment, label: self.first_label }
    }

    fn moved(&self, program: &Program, begin: FirstIds) -> Renumbered {
        let Program { byte_edges, epsilons, calls, token_edges, fragments, .. } = program;
        let state = |id: StateId| begin.state.plus(id.index());
        let fragment = |id: FragmentId| begin.fragment.plus(id.index());
        let label = |id: LabelId| begin.label.plus(id.index());
        Renumbered {
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

fn moved_fragment(fragment: &Fragment, begin: FirstIds) -> Fragment {
    let moved = |id: FragmentId| begin.fragment.plus(id.index());
    let role = match &fragment.role {
        Role::Permutation(permutation) => Role::Permutation(Box::new(Permutation {
            parts: permutation.parts.iter().map(|part| part.map(moved)).collect(),
            separator: permutation.separator.map(moved),
            ..(**permutation).clone()
        })),
        other => other.clone(),
    };
    let start = begin.state.plus(fragment.start.index());
    Fragment { name: fragment.name.clone(), start, role, options: fragment.options.clone(), ..*fragment }
}
