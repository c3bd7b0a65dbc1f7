//! The engine: remembered steps over interned lists of stacks.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use grammask_fsm::{Distances, ExpandedSuffixes, Program};
use grammask_parser_backend::{
    Backend, BuildError, CharClass, DistinctScope, Fuel, MaskKey, Requirement, Run, Split, StepError,
    TableCounts,
};

use hashbrown::HashMap;

use crate::Config;
use crate::closure::{Bounds, Closure, Phase, Stack};
use crate::ending::Costs;
use crate::left_calls::{decline_left_recursion, decline_permutation};
use crate::stacks::{DEAD, Ends, FIRST_LIST, ListIndex, Lists, Stacks, UNKNOWN};
use crate::tree::{BOTTOM, NodeId, Tree};

/// A list of parallel stacks, by its number. It belongs to the engine that made it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct State(pub(crate) u32);

/// Parallel stacks in one persistent tree. See the crate documentation.
pub struct Engine {
    program: Arc<Program>,
    config: Config,
    pub(crate) lists: Lists,
    /// A byte of each class.
    representatives: Box<[u8]>,
    start: State,
    /// Bytes of the program, which are counted part by part.
    program_bytes: usize,
    /// Made when an ending is first asked for.
    distances: OnceLock<Distances>,
    /// Made when it is first asked what may follow a rule.
    suffixes: OnceLock<ExpandedSuffixes>,
    /// Bytes held by nodes, lists and rows.
    bytes: AtomicUsize,
    builder: Mutex<Builder>,
}

/// What makes new lists and transitions; one thread at a time.
pub(crate) struct Builder {
    pub(crate) tree: Tree,
    pub(crate) closure: Closure,
    index: ListIndex,
    costs: Costs,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Engine")
            .field("config", &self.config)
            .field("lists", &self.list_count())
            .field("memory_usage", &self.memory_usage())
            .finish_non_exhaustive()
    }
}

impl Engine {
    /// An engine for a program.
    ///
    /// # Errors
    ///
    /// Where a rule can begin with itself, directly or behind rules that may be empty; where the grammar names tokens
    /// that are taken as a whole; or where a limit is reached before the first byte.
    pub fn new(program: Arc<Program>, config: Config) -> Result<Self, BuildError> {
        if !program.labels().is_empty() {
            return Err(BuildError::new(
                "tokens that are taken as a whole: the backend `pda` reads bytes only; write the grammar without them",
            ));
        }
        // Whether rules begin with themselves is asked of all of them, so nothing is gained by references.
        let program = match program.whole() {
            Ok(Cow::Borrowed(_)) => program,
            Ok(Cow::Owned(whole)) => Arc::new(whole),
            Err(error) => return Err(BuildError::new(error.to_string())),
        };
        decline_left_recursion(&program)?;
        if !program.labels().is_empty() {
            return Err(BuildError::new(
                "this backend reads bytes only; write the grammar without tokens that are taken as a whole",
            ));
        }
        decline_permutation(&program)?;
        let builder = Builder {
            tree: Tree::new(config.longest_token),
            closure: Closure::default(),
            index: ListIndex::new(),
            costs: Costs::default(),
        };
        let mut engine = Self {
            representatives: program.byte_classes().representatives().collect(),
            program_bytes: program.memory_usage(),
            program,
            config,
            lists: Lists::new(),
            start: State(0),
            distances: OnceLock::new(),
            suffixes: OnceLock::new(),
            bytes: AtomicUsize::new(0),
            builder: Mutex::new(builder),
        };
        let start = {
            let mut builder = engine.lock();
            let builder = &mut *builder;
            let root = engine.program.fragment(engine.program.root());
            builder.closure.begin();
            builder.closure.ends.complete = root.call_is_nullable();
            builder.closure.add(Stack { state: root.start, below: BOTTOM }, Phase::Fresh);
            engine.close(builder, &mut Fuel::unlimited())
        };
        engine.start = State(start.map_err(|limit| BuildError::new(limit.to_string()))?);
        Ok(engine)
    }

    pub(crate) fn suffixes(&self) -> &ExpandedSuffixes {
        self.suffixes.get_or_init(|| ExpandedSuffixes::new(&self.program))
    }

    /// The program that the engine runs.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// How many lists of stacks were made so far.
    pub fn list_count(&self) -> usize {
        self.lists.len()
    }

    /// How many nodes the tree of stacks has.
    pub fn node_count(&self) -> usize {
        self.lock().tree.len()
    }

    /// How many stacks are alive in a state.
    pub fn stack_count(&self, state: State) -> usize {
        self.list(state).stacks.len()
    }

    pub(crate) fn list(&self, state: State) -> &Stacks {
        self.lists.get(state.0)
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Builder> {
        // A panic below the lock is a bug; nodes and lists are append-only and stay readable.
        self.builder.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A step that no table knows yet.
    #[cold]
    fn step_slowly(
        &self,
        state: State,
        byte: u8,
        class: u8,
        fuel: &mut Fuel,
    ) -> Result<Option<State>, StepError> {
        let list = self.list(state);
        let mut builder = self.lock();
        let builder = &mut *builder;
        // Another thread may have been here while this one waited.
        let entry = list.row[usize::from(class)].load(Ordering::Acquire);
        if entry >= FIRST_LIST {
            return Ok(Some(State(entry - FIRST_LIST)));
        }
        fuel.burn(list.stacks.len() as u64)?;
        builder.closure.begin();
        for stack in &list.stacks {
            for edge in self.program.state(stack.state).bytes {
                if edge.start <= byte && byte <= edge.end {
                    builder.closure.add(Stack { state: edge.target, ..*stack }, Phase::Read);
                }
            }
        }
        let target = self.close(builder, fuel)?;
        list.record(&self.program, &self.representatives, byte, target + FIRST_LIST);
        Ok(Some(State(target)))
    }

    /// Runs the closure that was begun, and interns its result.
    pub(crate) fn close(&self, builder: &mut Builder, fuel: &mut Fuel) -> Result<u32, StepError> {
        let bounds = Bounds { max_stacks: self.config.max_stacks, max_work: fuel.left() };
        let Builder { tree, closure, .. } = builder;
        let closed = closure.run(&self.program, tree, bounds);
        fuel.burn(closure.work())?;
        closed?;
        let stacks = std::mem::take(&mut builder.closure.stacks);
        let ends = builder.closure.ends;
        let list = self.intern(builder, &stacks, ends);
        builder.closure.stacks = stacks;
        list
    }

    pub(crate) fn intern(
        &self,
        builder: &mut Builder,
        stacks: &[Stack],
        ends: Ends,
    ) -> Result<u32, StepError> {
        let costs = builder.costs.capacity() * size_of::<(NodeId, u64)>();
        let bytes = builder.tree.bytes() + builder.index.bytes() + costs;
        self.bytes.store(bytes, Ordering::Relaxed);
        let limit = self.config.max_bytes;
        // Numbers of nodes have 32 bits; one closure makes far fewer than the half that is kept free.
        if bytes > limit || builder.tree.len() > u32::MAX as usize / 2 {
            return Err(StepError::OutOfMemory { bytes, limit });
        }
        let list = builder.index.intern(&self.lists, &self.program, stacks, ends);
        list.ok_or(StepError::OutOfMemory { bytes, limit })
    }

    /// The list that stands for another one in the names of masks.
    fn representative(&self, state: State) -> u32 {
        let list = self.list(state);
        *list.representative.get_or_init(|| {
            let mut builder = self.lock();
            let builder = &mut *builder;
            let far = |stack: &Stack| Stack { below: builder.tree.representative(stack.below), ..*stack };
            let mut stacks: Vec<Stack> = list.stacks.iter().map(far).collect();
            stacks.sort_unstable();
            stacks.dedup();
            // A list always stands for itself; without room for another one the mask is kept once more.
            self.intern(builder, &stacks, list.ends).unwrap_or(state.0)
        })
    }
}

impl Backend for Engine {
    type State = State;

    type Row<'e> = &'e [AtomicU32];

    fn start(&self) -> State {
        self.start
    }

    fn row(&self, state: State) -> &[AtomicU32] {
        &self.list(state).row
    }

    fn step_in(
        &self,
        row: &[AtomicU32],
        state: State,
        byte: u8,
        fuel: &mut Fuel,
    ) -> Result<Option<State>, StepError> {
        let class = self.program.byte_classes().class(byte);
        match row[usize::from(class)].load(Ordering::Acquire) {
            DEAD => Ok(None),
            UNKNOWN => self.step_slowly(state, byte, class, fuel),
            entry => Ok(Some(State(entry - FIRST_LIST))),
        }
    }

    fn is_complete(&self, state: State) -> bool {
        self.list(state).ends.complete
    }

    fn next_bytes(&self, state: State) -> [u64; 4] {
        self.list(state).next_bytes
    }

    fn mask_key(&self, state: State) -> MaskKey {
        MaskKey { set: self.representative(state), detail: 0 }
    }

    fn run_over(&self, state: State, class: &CharClass, fuel: &mut Fuel) -> Run {
        crate::runs::run_over(self, state, class, fuel)
    }

    fn split(&self, state: State, fuel: &mut Fuel) -> Result<Option<Split<State>>, StepError> {
        crate::split::split(self, state, fuel)
    }

    fn may_complete(&self, state: State) -> bool {
        self.list(state).ends.leaves
    }

    fn may_follow(&self, local: State, texts: &[&[u8]], fuel: &mut Fuel) -> Vec<bool> {
        crate::follow::may_follow(self, local, texts, fuel)
    }

    fn distinct_scope_at(&self, state: State, byte: u8) -> DistinctScope {
        use grammask_fsm::{Distinct, DistinctScope as Scope};
        match self.program.distinct_scope_at(self.list(state).stacks.iter().map(|stack| stack.state), byte) {
            Scope::Nothing => DistinctScope::Nothing,
            Scope::Of(Distinct::Items) => DistinctScope::Items,
            Scope::Of(Distinct::Names) => DistinctScope::Names,
            Scope::Ambiguous => DistinctScope::Ambiguous,
        }
    }

    fn shortest_completion_len(&self, state: State, fuel: &mut Fuel) -> Result<u64, StepError> {
        let distances = self.distances.get_or_init(|| Distances::new(&self.program));
        let mut builder = self.lock();
        let Builder { tree, costs, .. } = &mut *builder;
        crate::ending::shortest_completion_len(&self.program, distances, tree, costs, self.list(state), fuel)
    }

    fn fresh(&self) -> Result<Self, BuildError> {
        Self::new(Arc::clone(&self.program), self.config)
    }

    fn import(&self, other: &Self, state: State) -> Result<State, StepError> {
        let list = other.list(state);
        // Both locks are never held at once, so that two engines may import from each other.
        let nodes = other.lock().tree.ancestors_first(list.stacks.iter().map(|stack| stack.below));
        let mut builder = self.lock();
        let builder = &mut *builder;
        let mut ours: HashMap<NodeId, NodeId, ahash::RandomState> = HashMap::default();
        for (id, node) in nodes {
            let below = node.below().and_then(|below| ours.get(&below)).copied().unwrap_or(BOTTOM);
            ours.insert(id, builder.tree.push(&self.program, node.with_below(below)));
        }
        let moved = |stack: &Stack| Some(Stack { below: *ours.get(&stack.below)?, ..*stack });
        let mut stacks: Vec<Stack> = list.stacks.iter().filter_map(moved).collect();
        stacks.sort_unstable();
        Ok(State(self.intern(builder, &stacks, list.ends)?))
    }

    fn serves(&self, requirement: Requirement) -> bool {
        matches!(requirement, Requirement::Counts | Requirement::Distinct)
    }

    fn memory_usage(&self) -> usize {
        self.bytes.load(Ordering::Relaxed) + self.program_bytes
    }

    fn table_counts(&self) -> TableCounts {
        TableCounts { sets: self.list_count(), contexts: self.node_count() }
    }
}
