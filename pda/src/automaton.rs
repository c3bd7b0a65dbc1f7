//! The automaton: remembered steps over interned lists of stacks.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use grammask_fsm::Program;
use grammask_grammar_ir::hash::HashMap;
use grammask_parser_backend::{BuildError, Fuel, StepError};

use crate::callers::{Callers, Rules};
use crate::closure::{Bounds, Closure, Phase};
use crate::config::Config;
use crate::stacks::{
    Acceptance, DEAD, ListId, ListIndex, Stack, StackList, StackLists, State, UNKNOWN, entry_of, list_of,
};
use crate::tree::{BOTTOM, MAX_NODES, Node, NodeId, Tree, units};

/// Work of finding the list that every text begins in, which belongs to no call: about a second.
const MAX_START_WORK: u64 = 20_000_000;

/// Byte edges that are read in the time of a unit of work.
const EDGES_READ: usize = 8;

/// Stacks that differ in a count have a mask each if there are as many as this. Fewer are followed together in less time.
const MIN_PARALLEL: usize = 8;

/// Lists of stacks, and the transitions between them.
pub(crate) struct Automaton {
    pub(crate) program: Arc<Program>,
    callers: Callers,
    pub(crate) config: Config,
    pub(crate) lists: StackLists,
    /// A byte of each class.
    representatives: Box<[u8]>,
    pub(crate) start: State,
    /// Bytes held by nodes, lists and rows.
    pub(crate) bytes: AtomicUsize,
    /// Bytes held by queries over the automaton, which count towards its limit.
    pub(crate) query_bytes: AtomicUsize,
    builder: Mutex<Builder>,
}

/// The writer's part: one thread at a time makes new lists and transitions.
pub(crate) struct Builder {
    pub(crate) tree: Tree,
    pub(crate) closure: Closure,
    index: ListIndex,
}

impl Automaton {
    /// The automaton of a program, which the caller has found to be served, with the list that every text begins in.
    pub(crate) fn new(program: Arc<Program>, config: Config) -> Result<Self, BuildError> {
        let builder = Builder {
            tree: Tree::new(config.longest_token),
            closure: Closure::default(),
            index: ListIndex::new(),
        };
        let mut automaton = Self {
            representatives: program.byte_classes().representatives().collect(),
            callers: Callers::new(&program),
            program,
            config,
            lists: StackLists::new(),
            start: State(ListId::new(0)),
            bytes: AtomicUsize::new(0),
            query_bytes: AtomicUsize::new(0),
            builder: Mutex::new(builder),
        };
        let start = {
            let mut builder = automaton.lock();
            let builder = &mut *builder;
            let root = automaton.program.fragment(automaton.program.root());
            builder.closure.begin();
            builder.closure.acceptance.complete = root.call_is_nullable();
            builder.closure.add(Stack { state: root.start, below: BOTTOM }, Phase::Fresh);
            automaton.close(builder, &mut Fuel::new(MAX_START_WORK))
        };
        automaton.start = State(start.map_err(|limit| BuildError::new(limit.to_string()))?);
        Ok(automaton)
    }

    pub(crate) fn rules(&self) -> Rules<'_> {
        Rules { program: &self.program, callers: &self.callers }
    }

    pub(crate) fn list(&self, state: State) -> &StackList {
        self.lists.get(state.0)
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Builder> {
        // A panic below the lock is a bug; nodes and lists are append-only and stay readable.
        self.builder.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn row(&self, state: State) -> &[AtomicU32] {
        &self.list(state).row
    }

    pub(crate) fn step(&self, state: State, byte: u8, fuel: &mut Fuel) -> Result<Option<State>, StepError> {
        self.step_in(self.row(state), state, byte, fuel)
    }

    #[inline]
    pub(crate) fn step_in(
        &self,
        row: &[AtomicU32],
        state: State,
        byte: u8,
        fuel: &mut Fuel,
    ) -> Result<Option<State>, StepError> {
        let class = self.program.byte_classes().class(byte);
        // Acquire, because the list that an entry names is read without a lock.
        match row[usize::from(class)].load(Ordering::Acquire) {
            DEAD => Ok(None),
            UNKNOWN => self.step_slowly(state, byte, class, fuel),
            entry => Ok(Some(State(list_of(entry)))),
        }
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
        if entry != DEAD && entry != UNKNOWN {
            return Ok(Some(State(list_of(entry))));
        }
        // A class that nothing reads has been DEAD since the list was made, so some stack goes on.
        let mut read = 0;
        builder.closure.begin();
        for stack in &list.stacks {
            let edges = self.program.state(stack.state).bytes;
            read += edges.len();
            for edge in edges {
                if edge.start <= byte && byte <= edge.end {
                    builder.closure.add(Stack { state: edge.target, ..*stack }, Phase::Read);
                }
            }
        }
        // They are read once more for the bytes that are alike.
        fuel.burn(units(2 * list.stacks.len() + read / EDGES_READ))?;
        let target = self.close(builder, fuel)?;
        list.record(&self.program, &self.representatives, byte, entry_of(target));
        Ok(Some(State(target)))
    }

    /// Runs the closure that was begun, and interns its result.
    pub(crate) fn close(&self, builder: &mut Builder, fuel: &mut Fuel) -> Result<ListId, StepError> {
        let bounds = Bounds { max_stacks: self.config.max_stacks, max_work: fuel.left() };
        let Builder { tree, closure, .. } = builder;
        let closed = closure.run(self.rules(), tree, bounds);
        // Burnt first, also for a closure that failed: work that was done counts.
        fuel.burn(closure.work())?;
        closed?;
        let stacks = std::mem::take(&mut builder.closure.stacks);
        let acceptance = builder.closure.acceptance;
        let list = self.intern(builder, &stacks, acceptance);
        // Taken for the call above only; the scratch memory is kept for the next closure.
        builder.closure.stacks = stacks;
        list
    }

    pub(crate) fn intern(
        &self,
        builder: &mut Builder,
        stacks: &[Stack],
        acceptance: Acceptance,
    ) -> Result<ListId, StepError> {
        let queries = self.query_bytes.load(Ordering::Relaxed);
        let bytes = builder.tree.bytes() + builder.index.bytes() + queries;
        self.bytes.store(bytes, Ordering::Relaxed);
        let limit = self.config.max_bytes;
        if bytes > limit || builder.tree.len() > MAX_NODES {
            return Err(StepError::OutOfMemory { bytes, limit });
        }
        let list =
            builder.index.intern(&self.lists, (&self.program, &self.representatives), stacks, acceptance);
        list.ok_or(StepError::OutOfMemory { bytes, limit })
    }

    /// The list that represents another one in the names of masks.
    pub(crate) fn representative(&self, state: State) -> ListId {
        let list = self.list(state);
        *list.representative.get_or_init(|| {
            let mut builder = self.lock();
            let builder = &mut *builder;
            let far = |stack: &Stack| Stack { below: builder.tree.representative(stack.below), ..*stack };
            let mut stacks: Vec<Stack> = list.stacks.iter().map(far).collect();
            stacks.sort_unstable();
            stacks.dedup();
            // A list may always represent itself; if there is no room for another list, the mask is kept once
            // more.
            self.intern(builder, &stacks, list.acceptance).unwrap_or(state.0)
        })
    }

    /// Each stack alone of those that differ in a count, if there are many, and all others together.
    pub(crate) fn parallel_states(&self, state: State, fuel: &mut Fuel) -> Result<Vec<State>, StepError> {
        // Counts far from a bound are equal there.
        let list = self.lists.get(self.representative(state));
        if list.stacks.len() < MIN_PARALLEL {
            return Ok(Vec::new());
        }
        fuel.burn(units(2 * list.stacks.len()))?;
        let mut builder = self.lock();
        let builder = &mut *builder;
        let counted = |stack: &Stack| match builder.tree.get(stack.below) {
            Node::Repeat { fragment, below, .. } => Some((stack.state, fragment, below)),
            Node::Bottom | Node::Local | Node::Return { .. } => None,
        };
        let mut sizes: HashMap<_, usize> = HashMap::default();
        for key in list.stacks.iter().filter_map(counted) {
            *sizes.entry(key).or_default() += 1;
        }
        let is_alone = |stack: &&Stack| {
            counted(stack).is_some_and(|key| sizes.get(&key).is_some_and(|&size| size >= MIN_PARALLEL))
        };
        let (alone, others): (Vec<&Stack>, Vec<&Stack>) = list.stacks.iter().partition(is_alone);
        if alone.is_empty() {
            return Ok(Vec::new());
        }
        let others: Vec<Stack> = others.into_iter().copied().collect();
        let parts =
            alone.into_iter().map(std::slice::from_ref).chain((!others.is_empty()).then_some(&*others));
        parts.map(|stacks| self.intern(builder, stacks, Acceptance::default()).map(State)).collect()
    }

    /// States of another automaton of the same program; see
    /// [`Tables::import`](grammask_parser_backend::Tables::import).
    pub(crate) fn import(
        &self,
        other: &Self,
        states: &[State],
        max_growth: usize,
        fuel: &mut Fuel,
    ) -> Result<Vec<State>, StepError> {
        let max_bytes = self.bytes.load(Ordering::Relaxed).saturating_add(max_growth);
        let mut nodes = ImportedNodes::default();
        let mut moved = Vec::with_capacity(states.len());
        for &state in states {
            if !moved.is_empty() && self.bytes.load(Ordering::Relaxed) >= max_bytes {
                break;
            }
            match self.import_list(other, other.list(state), &mut nodes, fuel) {
                Ok(list) => moved.push(State(list)),
                Err(error) if moved.is_empty() => return Err(error),
                Err(_) => break,
            }
        }
        Ok(moved)
    }

    fn import_list(
        &self,
        other: &Self,
        list: &StackList,
        imported: &mut ImportedNodes,
        fuel: &mut Fuel,
    ) -> Result<ListId, StepError> {
        fuel.burn(units(list.stacks.len()))?;
        // Both locks are never held at once, so that two engines may import from each other.
        let tops = list.stacks.iter().map(|stack| stack.below);
        let nodes = other.lock().tree.ancestors_first(tops, |id| imported.contains_key(&id));
        fuel.burn(units(nodes.len()))?;
        let mut builder = self.lock();
        let builder = &mut *builder;
        for (id, node) in nodes {
            // Ancestors come first, so the node below has its number here.
            let below = node.below().and_then(|below| imported.get(&below)).copied().unwrap_or(BOTTOM);
            imported.insert(id, builder.tree.push(&self.program, node.with_below(below)));
        }
        let moved = |stack: &Stack| Some(Stack { below: *imported.get(&stack.below)?, ..*stack });
        let mut stacks: Vec<Stack> = list.stacks.iter().filter_map(moved).collect();
        stacks.sort_unstable();
        self.intern(builder, &stacks, list.acceptance)
    }
}

/// The other automaton's nodes in this one.
type ImportedNodes = HashMap<NodeId, NodeId>;
