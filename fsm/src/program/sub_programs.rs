//! Programs inside of a program, by reference.
//!
//! A request offers fifty tools, of which one or two are called, and nearly all were offered before. To copy
//! the automata of each into the tables of the request costs more than the rest of the request. So a program
//! may have *sub-programs*: programs that it shares with others. Until some part of a sub-program is read, it
//! costs an entry in a list, and need not even be [compiled](crate::DeferredProgram). Then its tables are
//! [copied with other numbers](crate::program::state_tables), since readers of edges want numbers of the whole.
//!
//! Sub-programs are called, and call nothing but themselves. So the whole must know one number of each before
//! it is compiled: that of its root. Roots are numbered after the fragments of the program's own. All other
//! numbers are given when a sub-program is first read, after those of the sub-programs that were read before.
//! No number has to be reserved, and no sub-program can turn out too large for its numbers.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use arc_swap::ArcSwap;
use once_cell::race::OnceBox;

use crate::error::{AutomataError, Failure};
use crate::ids::{Id, MAX_NUMBERS};
use crate::program::deferred::DeferredProgram;
use crate::program::fragment_name::FragmentName;
use crate::program::state_tables::Linked;
use crate::program::tables::{Fragment, FragmentId, LabelId, Program, Role, State, StateId};

/// The sub-programs of a program, in the order of their roots.
#[derive(Debug)]
pub(crate) struct SubPrograms {
    list: Vec<SubProgram>,
    /// The number of the first root.
    first_root: FragmentId,
    /// The number after the states of the program's own.
    own_states: StateId,
    /// The numbers of those that were read, in their order. A table that readers take as it is: after a fork
    /// there may be no thread that would release a lock.
    places: ArcSwap<Vec<Place>>,
    /// The sub-program that was looked for last. A reader of edges mostly stays in one.
    last: AtomicUsize,
    /// The error of a deferred sub-program whose compilation failed.
    failure: OnceLock<AutomataError>,
}

/// A program that the whole refers to.
#[derive(Clone, Debug)]
struct SubProgram {
    source: Arc<DeferredProgram>,
    has_options: bool,
    first_label: LabelId,
    loaded: OnceBox<Loaded>,
}

/// A sub-program that is read.
#[derive(Clone, Debug)]
struct Loaded {
    program: Arc<Program>,
    place: Place,
    /// The tables with the numbers of the whole. The root comes first among the fragments.
    tables: Program,
}

/// The numbers of a sub-program: its states, and its fragments but the root.
#[derive(Clone, Debug)]
struct Place {
    sub_program: usize,
    states: Range<StateId>,
    fragments: Range<FragmentId>,
}

/// The order in which tables of sub-programs are put together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TableOrder {
    /// That of their roots, which does not depend on the text.
    Listed,
    /// That in which they were read, so that all numbers stay.
    Read,
}

/// A state that no number belongs to.
const NO_STATE: State<'static> =
    State { is_final: false, counts: false, bytes: &[], epsilons: &[], calls: &[], tokens: &[] };

/// A fragment that no number belongs to, instead of one that could not be compiled: it reads nothing.
static NO_FRAGMENT: Fragment = Fragment {
    name: FragmentName::fixed("nothing"),
    start: StateId::NEVER,
    nullable: false,
    count: None,
    role: Role::None,
    options: None,
};

impl Clone for SubPrograms {
    fn clone(&self) -> Self {
        let list = self.list.clone();
        // After the list, so that everything that is loaded in it has a place.
        let places = ArcSwap::new(self.places.load_full());
        let &Self { first_root, own_states, .. } = self;
        Self {
            list,
            first_root,
            own_states,
            places,
            last: AtomicUsize::new(0),
            failure: self.failure.clone(),
        }
    }
}

impl SubPrograms {
    pub(crate) fn none() -> Self {
        Self::behind((StateId::FIRST, FragmentId::FIRST), 0)
    }

    /// No sub-programs yet. Their numbers begin after some states and fragments.
    pub(crate) fn behind((own_states, first_root): (StateId, FragmentId), capacity: usize) -> Self {
        Self {
            list: Vec::with_capacity(capacity),
            first_root,
            own_states,
            places: ArcSwap::default(),
            last: AtomicUsize::new(0),
            failure: OnceLock::new(),
        }
    }

    /// Adds a sub-program that others may refer to. Returns the number of its root.
    pub(crate) fn push(
        &mut self,
        source: &Arc<DeferredProgram>,
        has_options: bool,
        first_label: LabelId,
    ) -> FragmentId {
        debug_assert!(source.can_be_referred_to());
        let root = self.first_root.plus(self.list.len());
        let source = Arc::clone(source);
        self.list.push(SubProgram { source, has_options, first_label, loaded: OnceBox::new() });
        root
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// How many there are, and how many of them are compiled.
    pub(crate) fn count(&self) -> (usize, usize) {
        (self.list.len(), self.list.iter().filter(|sub_program| sub_program.source.is_compiled()).count())
    }

    /// The numbers after the last state and the last fragment, of those that were read so far.
    pub(crate) fn ends(&self) -> (StateId, FragmentId) {
        self.ends_of(&self.places.load())
    }

    fn ends_of(&self, places: &[Place]) -> (StateId, FragmentId) {
        let roots_end = self.first_root.plus(self.list.len());
        places.last().map_or((self.own_states, roots_end), |last| (last.states.end, last.fragments.end))
    }

    #[inline(never)]
    pub(crate) fn state(&self, id: StateId) -> State<'_> {
        let found = self.find(id, |place| &place.states);
        found
            .and_then(|loaded| loaded.tables.own_state(id.since(loaded.place.states.start)))
            .unwrap_or(NO_STATE)
    }

    #[inline(never)]
    pub(crate) fn fragment(&self, id: FragmentId) -> &Fragment {
        let found = self.with_fragment(id);
        found.and_then(|(loaded, place)| loaded.tables.fragments.get(place)).unwrap_or(&NO_FRAGMENT)
    }

    /// The place of a fragment in the order of prediction.
    #[inline(never)]
    pub(crate) fn component(&self, id: FragmentId) -> u32 {
        let Some((loaded, place)) = self.with_fragment(id) else { return id.raw() };
        // The root comes first in the tables; in the program's own order it has its own number.
        let root = loaded.program.root().index();
        let inside = match place {
            0 => root,
            _ => place - usize::from(place <= root),
        };
        let own = loaded.program.left_corners().own_component(FragmentId::from_index(inside));
        // Components of a sub-program follow those of all programs before it. That is a valid order, because
        // a sub-program calls nothing outside of itself. Each component has a state, so that numbers of states
        // are enough for all.
        loaded.place.states.start.raw() + own.map_or(0, Id::raw)
    }

    /// Whether something of the sub-program that a fragment belongs to was read.
    pub(crate) fn is_read(&self, id: FragmentId) -> bool {
        // All numbers but those of roots are given when something is read.
        self.root(id).and_then(|at| self.list.get(at)).is_none_or(|root| root.loaded.get().is_some())
    }

    /// The sub-program that has the number as that of its root.
    pub(crate) fn root(&self, id: FragmentId) -> Option<usize> {
        let is_root = id >= self.first_root && id < self.first_root.plus(self.list.len());
        is_root.then(|| id.since(self.first_root))
    }

    /// The sub-program of a fragment, and the place of the fragment in its tables.
    fn with_fragment(&self, id: FragmentId) -> Option<(&Loaded, usize)> {
        if let Some(root) = self.root(id) {
            return Some((self.loaded(root)?, 0));
        }
        let loaded = self.find(id, |place| &place.fragments)?;
        Some((loaded, 1 + id.since(loaded.place.fragments.start)))
    }

    /// The sub-program that has a number in its range.
    #[inline]
    fn find<I: Id>(&self, id: I, range: impl Fn(&Place) -> &Range<I>) -> Option<&Loaded> {
        // A hint that all threads share. Relaxed, because any value is right: the sub-program at the place is
        // checked, and another one is searched if it is the wrong one.
        let last = self.list.get(self.last.load(Ordering::Relaxed))?.loaded.get();
        if let Some(last) = last
            && range(&last.place).contains(&id)
        {
            return Some(last);
        }
        // Ranges are sorted. Where some are empty, the last one that begins at the id or before it has it.
        let places = self.places.load();
        let at = places.partition_point(|place| range(place).start <= id).checked_sub(1)?;
        let at = places[at].sub_program;
        self.last.store(at, Ordering::Relaxed);
        self.loaded(at)
    }

    /// A sub-program, compiled and with numbers. `None` where that failed, which is remembered.
    fn loaded(&self, at: usize) -> Option<&Loaded> {
        let sub_program = self.list.get(at)?;
        if let Some(loaded) = sub_program.loaded.get() {
            return Some(loaded);
        }
        let program = self.compiled(at)?;
        self.give_numbers(&[(at, program)]);
        let place = self.places.load().iter().rfind(|place| place.sub_program == at).cloned()?;
        // `OnceBox` publishes the tables: a thread that finds them sees them whole. Two threads may renumber at the
        // same time, to the same numbers, and one result is kept.
        Some(
            sub_program
                .loaded
                .get_or_init(|| Box::new(Loaded::new(program, self.linked(program, &place), place))),
        )
    }

    /// A sub-program without numbers.
    fn compiled(&self, at: usize) -> Option<&Arc<Program>> {
        // Readers of states have no way to report an error, so they see a state that reads nothing, and the engine asks
        // for the failure before it interns a set.
        let program = self.list[at].source.program();
        program.map_err(|error| self.failure.get_or_init(|| error.clone())).ok()
    }

    /// Gives numbers to the sub-programs that have none, all at once: each time the list of places is copied.
    fn give_numbers(&self, programs: &[(usize, &Arc<Program>)]) {
        self.places.rcu(|places| {
            let mut has_place = vec![false; self.list.len()];
            places.iter().for_each(|place| has_place[place.sub_program] = true);
            let new = || programs.iter().filter(|&&(at, _)| !has_place[at]);
            let mut more = Vec::with_capacity(places.len() + new().count());
            more.extend_from_slice(places);
            for &(sub_program, program) in new() {
                let (state, fragment) = self.ends_of(&more);
                if program.own_state_count() + program.fragments.len() > MAX_NUMBERS - state.index() {
                    let failure = Failure::Limit { what: "states", limit: MAX_NUMBERS, knob: None };
                    self.failure.get_or_init(|| failure.alone());
                    break;
                }
                more.push(Place {
                    sub_program,
                    states: state..state.plus(program.own_state_count()),
                    fragments: fragment..fragment.plus(program.fragments.len() - 1),
                });
            }
            more
        });
    }

    /// All sub-programs that can be compiled, with numbers.
    fn all_compiled(&self) -> Vec<(usize, &Arc<Program>)> {
        let programs = (0..self.list.len()).filter_map(|at| Some((at, self.compiled(at)?)));
        let programs = programs.collect::<Vec<_>>();
        self.give_numbers(&programs);
        programs
    }

    /// A program with the numbers of a place.
    fn linked<'p>(&self, program: &'p Program, place: &Place) -> Linked<'p> {
        Linked {
            program,
            root: self.first_root.plus(place.sub_program),
            others: place.fragments.start,
            first_state: place.states.start,
            first_label: self.list[place.sub_program].first_label,
        }
    }

    pub(crate) fn failure(&self) -> Option<&AutomataError> {
        self.failure.get()
    }

    /// All fragments that there are, with their numbers.
    pub(crate) fn fragments(&self) -> impl Iterator<Item = (FragmentId, &Fragment)> + Clone {
        self.all_compiled();
        let ids = (self.first_root.raw()..self.ends().1.raw()).map(FragmentId::from_raw);
        ids.map(|id| (id, self.fragment(id))).filter(|(_, it)| it.start != StateId::NEVER)
    }

    pub(crate) fn has_options(&self) -> bool {
        self.list.iter().any(|sub_program| sub_program.has_options)
    }

    pub(crate) fn memory_usage(&self) -> usize {
        let tables = self.list.iter().map(|sub_program| sub_program.source.memory_usage()).sum::<usize>();
        tables + self.list.capacity() * size_of::<SubProgram>()
    }

    /// All of them, in the order of their numbers. Those that have none are given some.
    pub(crate) fn as_read(&self) -> Result<Vec<Linked<'_>>, AutomataError> {
        let programs = self.all_compiled();
        match self.failure() {
            Some(error) => Err(error.clone()),
            // Each is compiled, so each is at its own number.
            None => {
                let linked = |place: &Place| self.linked(programs[place.sub_program].1, place);
                Ok(self.places.load().iter().map(linked).collect())
            }
        }
    }

    /// Adds the tables of all sub-programs to those of a program, which end in a row that belongs to no state.
    pub(crate) fn append_to(&self, whole: &mut Program, order: TableOrder) -> Result<(), AutomataError> {
        let mut all = self.as_read()?;
        if order == TableOrder::Listed {
            all.sort_unstable_by_key(|linked| linked.root);
            let (mut first_state, mut others) = (self.own_states, self.first_root.plus(self.list.len()));
            for linked in &mut all {
                (linked.first_state, linked.others) = (first_state, others);
                (first_state, others) =
                    (first_state.plus(linked.program.own_state_count()), linked.others_end());
            }
        }
        whole.states.pop();
        all.iter().for_each(|linked| linked.push_states(whole));
        whole.push_row(false);
        let others: Vec<Fragment> = all.iter().flat_map(Linked::others).collect();
        all.sort_unstable_by_key(|linked| linked.root);
        whole.fragments.extend(all.iter().map(Linked::root));
        whole.fragments.extend(others);
        Ok(())
    }
}

impl Loaded {
    fn new(program: &Arc<Program>, linked: Linked<'_>, place: Place) -> Self {
        let mut tables = Program::empty();
        linked.push_states(&mut tables);
        tables.push_row(false);
        tables.fragments = std::iter::once(linked.root()).chain(linked.others()).collect();
        Self { program: Arc::clone(program), place, tables }
    }
}
