//! The engine: memoised steps over interned sets.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use grammask_fsm::{ByteClasses, ExpandedSuffixes, FragmentId, Program, TokenLabel, TokenSide};
use grammask_parser_backend::{
    Backend, BuildError, CharClass, Configuration, DistinctScope, Fuel, MaskKey, Requirement, Run, Split,
    StepError, TableCounts, TokenSet,
};

use crate::Config;
use crate::alike::Alike;
use crate::any::Chars;
use crate::closure::{Closure, Grammar, Item, SlotConflict};
use crate::context::Contexts;
use crate::ending::{Costs, Endings};
use crate::kernels::Kernels;
use crate::loops::Loops;
use crate::reach::Reaches;
use crate::runs::{RunShape, Runs};
use crate::sets::{
    DEAD, EXACT, Ends, FIRST_SET, GUARDED, GuardedTransition, Set, SetIndex, Sets, UNKNOWN, apply, follow,
    unguarded,
};
use crate::slots::{SLOTS, SlotChange};

/// A configuration: a set and the counts of the repeats that it has open. 16 bytes; equal configurations have
/// equal futures. It belongs to the engine that made it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct State {
    pub(crate) set: u32,
    /// Slots that the set does not use are 0.
    pub(crate) counts: [u32; SLOTS],
}

/// A lazy automaton over interned Earley sets. See the crate documentation.
pub struct Engine {
    pub(crate) program: Arc<Program>,
    config: Config,
    pub(crate) sets: Sets,
    /// The program's, here to save a read on every step.
    classes: ByteClasses,
    /// Whether the program names any token.
    names_tokens: bool,
    start: State,
    /// Bytes of the program, which are counted part by part.
    program_bytes: usize,
    /// Made when an ending is first asked for.
    endings: OnceLock<Endings>,
    /// Made when it is first asked what may follow a rule.
    suffixes: OnceLock<ExpandedSuffixes>,
    /// Apart, since an engine is moved some times before it rests.
    builder: Mutex<Box<Builder>>,
}

/// What makes new sets and transitions; one thread at a time.
pub(crate) struct Builder {
    pub(crate) contexts: Contexts,
    pub(crate) index: SetIndex,
    pub(crate) closure: Closure,
    runs: Runs,
    loops: Loops,
    reaches: Reaches,
    /// Descriptions of text that came out too long.
    pub(crate) long_texts: usize,
    costs: Costs,
    kernels: Kernels,
    pub(crate) chars: Chars,
}

impl Builder {
    fn new() -> Self {
        Self {
            contexts: Contexts::new(),
            index: SetIndex::new(),
            closure: Closure::default(),
            runs: Runs::default(),
            loops: Loops::default(),
            reaches: Reaches::default(),
            long_texts: 0,
            costs: Costs::default(),
            kernels: Kernels::default(),
            chars: Chars::default(),
        }
    }
}

impl Engine {
    /// An engine for a program.
    ///
    /// # Errors
    ///
    /// Where a counted repeat can begin with itself, or a setting is out of range.
    pub fn new(program: Arc<Program>, config: Config) -> Result<Self, BuildError> {
        if config.longest_token > MAX_TOKEN {
            return Err(BuildError::new(format!(
                "the longest token has {} bytes, more than {MAX_TOKEN}; leave longer tokens out of the vocabulary",
                config.longest_token
            )));
        }
        let corners = program.left_corners();
        // Most programs have no recursion to look for, and parts by reference never have.
        let ids = (0..program.fragment_count()).take_while(|_| corners.has_cycles());
        for id in ids.filter_map(FragmentId::new).filter(|&id| corners.is_left_recursive(id)) {
            let fragment = program.fragment(id);
            if fragment.count.is_some() {
                return Err(BuildError::new(format!(
                    "rule `{}`: a counted repeat begins with itself; write it without left recursion",
                    fragment.name
                )));
            }
        }
        let sets = Sets::new(&program);
        let names_tokens = !program.labels().is_empty();
        let program_classes = program.byte_classes().clone();
        let mut engine = Self {
            program_bytes: program.memory_usage(),
            program,
            config,
            sets,
            classes: program_classes,
            names_tokens,
            start: State { set: 0, counts: [0; SLOTS] },
            endings: OnceLock::new(),
            suffixes: OnceLock::new(),
            builder: Mutex::new(Box::new(Builder::new())),
        };
        let first = {
            let mut builder = engine.lock();
            builder.closure.begin();
            builder.closure.push_root(&engine.grammar());
            engine.close(&mut builder, &[0; SLOTS], &mut Fuel::unlimited())
        };
        engine.start.set = match first {
            Ok(Ok((set, _))) => set,
            Ok(Err(SlotConflict)) => {
                return Err(BuildError::new("repeats at the start of the grammar disagree on their counts"));
            }
            Err(limit) => return Err(BuildError::new(limit.to_string())),
        };
        Ok(engine)
    }

    /// The program that the engine runs.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// How many sets were made so far.
    pub fn set_count(&self) -> usize {
        self.lock().index.len()
    }

    /// How many contexts were made so far.
    pub fn context_count(&self) -> usize {
        self.lock().contexts.len()
    }

    /// How many items the set of a state holds.
    pub fn item_count(&self, state: State) -> usize {
        self.set(state).items.len()
    }

    pub(crate) fn set(&self, state: State) -> &Set {
        self.sets.sets.get(state.set as usize)
    }

    pub(crate) fn grammar(&self) -> Grammar<'_> {
        Grammar { program: &self.program, corners: self.program.left_corners() }
    }

    pub(crate) fn suffixes(&self) -> &ExpandedSuffixes {
        self.suffixes.get_or_init(|| ExpandedSuffixes::new(&self.program))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Box<Builder>> {
        // A panic below the lock is a bug; the tables are append-only and stay readable.
        self.builder.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Every step that is not a plain table look-up.
    #[cold]
    fn step_slowly(&self, state: State, byte: u8, fuel: &mut Fuel) -> Result<Option<State>, StepError> {
        let class = self.classes.class(byte);
        let word = &self.row(state)[usize::from(class)];
        let mut builder = self.lock();
        let builder = &mut *builder;
        // Another thread may have taken the step before the lock was free.
        if let Some(known) = self.step_known(state, word) {
            return Ok(known);
        }
        if word.load(Ordering::Acquire) != EXACT {
            match self.compute(builder, state, byte, fuel)? {
                Ok(next) => return Ok(next),
                Err(SlotConflict) => word.store(EXACT, Ordering::Release),
            }
        }
        let exact = self.make_exact(builder, state, fuel)?;
        if let Some(known) = self.step_known(exact, &self.row(exact)[usize::from(class)]) {
            return Ok(known);
        }
        match self.compute(builder, exact, byte, fuel)? {
            Ok(next) => Ok(next),
            // Nothing in an exact set counts in a slot, so whatever begins can only agree.
            Err(SlotConflict) => Err(StepError::OutOfWork { limit: 0 }),
        }
    }

    /// The step, if it was computed before. `None`: not known.
    fn step_known(&self, state: State, word: &AtomicU32) -> Option<Option<State>> {
        match word.load(Ordering::Acquire) {
            UNKNOWN | EXACT => None,
            DEAD => Some(None),
            entry if entry & GUARDED == 0 => {
                let (set, counts) = follow(entry, state.counts);
                Some(Some(State { set, counts }))
            }
            entry => self.step_guarded(state, entry).map(Some),
        }
    }

    /// A step whose target depends on counts. `None`: not known for these.
    #[inline(never)]
    fn step_guarded(&self, state: State, entry: u32) -> Option<State> {
        let mut transition = self.sets.guarded.get((entry & !GUARDED) as usize);
        loop {
            if let Some(counts) = transition.apply(&state.counts) {
                return Some(State { set: transition.target, counts });
            }
            transition = self.sets.guarded.get(*transition.next.get()? as usize);
        }
    }

    /// Lowers the counts to the greatest ones for which an entry of the table that was just used, for a step from a state,
    /// says the same of all counts in between.
    pub(crate) fn lower(&self, greatest: &mut [u32; SLOTS], state: State, entry: u32) {
        if entry & GUARDED == 0 {
            return;
        }
        let mut next = Some(entry & !GUARDED);
        while let Some(index) = next {
            let transition = self.sets.guarded.get(index as usize);
            if transition.apply(&state.counts).is_some() {
                for (greatest, &most) in greatest.iter_mut().zip(transition.greatest()) {
                    *greatest = most.min(*greatest);
                }
                return;
            }
            next = transition.next.get().copied();
        }
        // The entry does not know these counts.
        *greatest = state.counts;
    }

    /// Computes a transition and records it.
    fn compute(
        &self,
        builder: &mut Builder,
        state: State,
        byte: u8,
        fuel: &mut Fuel,
    ) -> Result<Result<Option<State>, SlotConflict>, StepError> {
        let set = self.set(state);
        builder.closure.begin();
        let mut alike = Alike::new();
        for &item in &set.items {
            // Edges are sorted by their start.
            let edges = self.program.byte_edges(item.state).iter().take_while(|edge| edge.start <= byte);
            for edge in edges.filter(|edge| byte <= edge.end) {
                builder.closure.push_kernel(Item { state: edge.target, ..item });
                alike.inside(edge.start, edge.end);
            }
        }
        // Most bytes that are stepped by are letters of names, and alike to no other.
        let (first, last) = alike.bytes();
        if self.classes.class(first) != self.classes.class(last) {
            let edges = set.items.iter().flat_map(|item| {
                self.program.byte_edges(item.state).iter().take_while(|edge| edge.start <= last)
            });
            for edge in edges.filter(|edge| first <= edge.end && (byte < edge.start || edge.end < byte)) {
                alike.outside((self.classes.class(edge.start), self.classes.class(edge.end)));
            }
        }
        fuel.burn(set.items.len() as u64)?;
        let is_plain = builder.closure.is_plain(&self.program);
        let Builder { kernels, closure, .. } = builder;
        let known = if is_plain { None } else { kernels.get(closure.kernel(), &state.counts) };
        let (target, changes) = match known {
            Some((target, changes, guards)) => {
                closure.guards.extend_from_slice(guards);
                (target, changes)
            }
            None => match self.close(builder, &state.counts, fuel)? {
                Ok((target, changes)) => {
                    if !is_plain {
                        builder.kernels.keep(target, changes, &builder.closure.guards);
                    }
                    (target, changes)
                }
                Err(conflict) => return Ok(Err(conflict)),
            },
        };
        let class = self.classes.class(byte);
        let row = self.row(state);
        let word = &row[usize::from(class)];
        let guards = &builder.closure.guards;
        let plain = if guards.is_empty() { unguarded(set.slots, &changes, target) } else { None };
        let counts = apply(&changes, &state.counts);
        let entry = plain.unwrap_or_else(|| {
            let head = Some(word.load(Ordering::Acquire)).filter(|entry| entry & GUARDED != 0);
            let transition = GuardedTransition::new(guards, &changes, target);
            let head = builder.index.add_guarded(&self.sets, head.map(|entry| entry & !GUARDED), transition);
            head | GUARDED
        });
        word.store(entry, Ordering::Release);
        self.share(row, &alike, entry);
        Ok(Ok(Some(State { set: target, counts })))
    }

    /// Gives a transition that was just computed to the other classes of bytes that match the same edges. "Any
    /// other character" covers half of all classes; to compute each of them costs more than to walk the trie.
    fn share(&self, row: &[AtomicU32], alike: &Alike, entry: u32) {
        for classes in alike.classes(&self.classes) {
            let end = classes.end.min(row.len());
            for word in row.get(classes.start..end).unwrap_or_default() {
                if word.load(Ordering::Relaxed) == UNKNOWN {
                    word.store(entry, Ordering::Release);
                }
            }
        }
    }

    /// Runs the closure that was begun, and interns its result.
    #[allow(clippy::type_complexity, reason = "two kinds of failure: a limit, and a conflict to resolve")]
    pub(crate) fn close(
        &self,
        builder: &mut Builder,
        counts: &[u32; SLOTS],
        fuel: &mut Fuel,
    ) -> Result<Result<(u32, [Option<SlotChange>; SLOTS]), SlotConflict>, StepError> {
        let limit = self.config.max_items_per_set;
        let Builder { contexts, closure, .. } = builder;
        let closed = closure.run(&self.grammar(), contexts, counts, limit, fuel.left());
        fuel.burn(closure.work())?;
        self.check_items(closure.items.len())?;
        if let Err(conflict) = closed {
            return Ok(Err(conflict));
        }
        let items = std::mem::take(&mut builder.closure.items);
        let ends = Ends { complete: builder.closure.complete, leaves: builder.closure.leaves };
        let set = self.intern(builder, &items, ends);
        builder.closure.items = items;
        let set = set?;
        let mut changes = [None; SLOTS];
        for slot in self.sets.sets.get(set as usize).slots.iter() {
            changes[usize::from(slot)] = Some(builder.closure.slot_change(slot));
        }
        Ok(Ok((set, changes)))
    }

    pub(crate) fn intern(&self, builder: &mut Builder, items: &[Item], ends: Ends) -> Result<u32, StepError> {
        let bytes = builder.index.bytes() + builder.contexts.bytes() + builder.closure.bytes();
        let bytes = bytes + builder.costs.capacity() * size_of::<(u32, u64)>() + builder.kernels.bytes();
        self.sets.bytes.store(bytes, Ordering::Relaxed);
        check_parts(&self.program)?;
        let limit = self.config.max_bytes;
        if bytes > limit {
            return Err(StepError::OutOfMemory { bytes, limit });
        }
        builder
            .index
            .intern(&self.sets, &self.program, &builder.contexts, items, ends)
            .ok_or(StepError::OutOfMemory { bytes, limit })
    }

    pub(crate) fn check_items(&self, items: usize) -> Result<(), StepError> {
        let limit = self.config.max_items_per_set;
        if items > limit { Err(StepError::TooManyItems { items, limit }) } else { Ok(()) }
    }

    /// The same configuration with its counts in the contexts.
    pub(crate) fn make_exact(
        &self,
        builder: &mut Builder,
        state: State,
        fuel: &mut Fuel,
    ) -> Result<State, StepError> {
        let set = self.set(state);
        let (items, contexts) = crate::rebuild::exact(&mut builder.contexts, &set.items, &state.counts);
        fuel.burn((items.len() + 2 * contexts) as u64)?;
        let set = self.intern(builder, &items, set.ends())?;
        Ok(State { set, counts: [0; SLOTS] })
    }
}

/// Fails where a part was to be compiled late and could not be: what is new since then is not to be trusted.
pub(crate) fn check_parts(program: &Program) -> Result<(), StepError> {
    match program.failure() {
        None => Ok(()),
        Some(error) => Err(StepError::DeferredCompileFailed { reason: error.to_string().into() }),
    }
}

/// Mask keys keep distances to a bound in 13 bits.
const MAX_TOKEN: u32 = (1 << 13) - 1;

impl Backend for Engine {
    type State = State;

    type Row<'e> = &'e [AtomicU32];

    fn start(&self) -> State {
        self.start
    }

    #[inline]
    fn row(&self, state: State) -> &[AtomicU32] {
        self.sets.rows.row(state.set as usize)
    }

    #[inline]
    fn row_from<'e>(&'e self, known: State, row: &'e [AtomicU32], state: State) -> &'e [AtomicU32] {
        // Counts have no part in it.
        if known.set == state.set { row } else { self.row(state) }
    }

    #[inline]
    fn step_in(
        &self,
        row: &[AtomicU32],
        state: State,
        byte: u8,
        fuel: &mut Fuel,
    ) -> Result<Option<State>, StepError> {
        let entry = row[usize::from(self.classes.class(byte))].load(Ordering::Acquire);
        if entry == DEAD {
            return Ok(None);
        }
        if (FIRST_SET..GUARDED).contains(&entry) {
            let (set, counts) = follow(entry, state.counts);
            return Ok(Some(State { set, counts }));
        }
        if entry & GUARDED != 0
            && let Some(next) = self.step_guarded(state, entry)
        {
            return Ok(Some(next));
        }
        self.step_slowly(state, byte, fuel)
    }

    // Inlined, so that the state stays in registers: written in parts and read as a whole, it would wait for the writes.
    #[inline]
    fn read_known(&self, state: State, text: &[u8]) -> Option<State> {
        let State { mut set, mut counts } = state;
        let mut row = self.sets.rows.row(set as usize);
        for &byte in text {
            let entry = row[usize::from(self.classes.class(byte))].load(Ordering::Acquire);
            // Within a string every byte leads back to its set: a branch that is foreseen does not wait for the row.
            if entry == set + FIRST_SET {
                continue;
            }
            if (FIRST_SET..GUARDED).contains(&entry) {
                (set, counts) = follow(entry, counts);
            } else if entry & GUARDED != 0 {
                let transition = self.sets.guarded.get((entry & !GUARDED) as usize);
                match transition.apply(&counts) {
                    Some(after) => (set, counts) = (transition.target, after),
                    None => State { set, counts } = self.step_guarded(State { set, counts }, entry)?,
                }
            } else {
                return None;
            }
            row = self.sets.rows.row(set as usize);
        }
        Some(State { set, counts })
    }

    #[inline]
    fn is_complete(&self, state: State) -> bool {
        self.set(state).complete
    }

    fn next_bytes(&self, state: State) -> [u64; 4] {
        self.set(state).next_bytes
    }

    fn mask_key(&self, state: State) -> MaskKey {
        let set = self.set(state);
        let mut detail = 0;
        for slot in set.slots.iter() {
            let thresholds = &set.thresholds[usize::from(slot)];
            let count = state.counts[usize::from(slot)];
            detail = detail << 21 | slot_detail(thresholds, count, self.config.longest_token);
        }
        MaskKey { set: state.set, detail }
    }

    fn run_over(&self, state: State, class: &CharClass, fuel: &mut Fuel) -> Run {
        let zones = crate::runs::zones(self, state);
        {
            let mut builder = self.lock();
            let builder = &mut **builder;
            if let Some(known) = builder.runs.known(state.set, zones, class) {
                return known.at(&state.counts);
            }
            let items = &self.set(state).items;
            if items.iter().any(|item| builder.loops.contains(&self.program, item.state, class)) {
                builder.runs.record(state.set, zones, class, RunShape::Unbounded);
                return Run::Unbounded;
            }
            let Builder { reaches, runs, .. } = builder;
            if let Some(shape) = crate::reach::of_items(reaches, &self.program, items, class) {
                runs.record(state.set, zones, class, shape);
                return shape.at(&state.counts);
            }
        }
        let mut shape = crate::runs::explore(self, state, class, fuel);
        let mut builder = self.lock();
        let Builder { reaches, contexts, runs, .. } = &mut **builder;
        if shape == RunShape::Unknown {
            let items = &self.set(state).items;
            let repeats = crate::reach::of_repeats(reaches, &self.program, contexts, items, class);
            shape = repeats.unwrap_or(shape);
        }
        runs.record(state.set, zones, class, shape);
        shape.at(&state.counts)
    }

    fn step_class(
        &self,
        state: State,
        class: &CharClass,
        fuel: &mut Fuel,
    ) -> Result<Option<State>, StepError> {
        crate::any::step_class(self, state, class, fuel)
    }

    fn step_class_n(
        &self,
        state: State,
        class: &CharClass,
        most: u32,
        fuel: &mut Fuel,
    ) -> Result<Option<Vec<State>>, StepError> {
        crate::any::step_class_n(self, state, class, most, fuel)
    }

    fn split(&self, state: State, fuel: &mut Fuel) -> Result<Option<Split<State>>, StepError> {
        crate::split::split(self, state, fuel)
    }

    fn canonical_form(&self, local: State) -> Option<Vec<u32>> {
        crate::structure::structure(self, local, self.mask_key(local).detail)
    }

    fn may_complete(&self, state: State) -> bool {
        self.set(state).leaves
    }

    fn may_follow(&self, local: State, texts: &[&[u8]], fuel: &mut Fuel) -> Vec<bool> {
        crate::follow::may_follow(self, local, texts, fuel)
    }

    #[inline]
    fn token_labels(&self, state: State) -> &[u32] {
        match self.names_tokens {
            true => &self.set(state).labels,
            false => &[],
        }
    }

    fn token_set(&self, label: u32) -> TokenSet<'_> {
        match self.program.labels().get(label as usize) {
            Some(TokenLabel { ids, side: TokenSide::Inside }) => TokenSet::Inside(ids),
            Some(TokenLabel { ids, side: TokenSide::Outside }) => TokenSet::Outside(ids),
            None => TokenSet::Inside(&[]),
        }
    }

    fn step_token(&self, state: State, id: u32, fuel: &mut Fuel) -> Result<Option<State>, StepError> {
        crate::tokens::step(self, state, id, fuel)
    }

    fn join(&self, one: State, other: State, fuel: &mut Fuel) -> Result<State, StepError> {
        crate::tokens::join(self, one, other, fuel)
    }

    fn shortest_completion_len(&self, state: State, fuel: &mut Fuel) -> Result<u64, StepError> {
        let endings = self.endings.get_or_init(|| Endings::new(&self.program));
        let set = self.set(state);
        let mut builder = self.lock();
        let Builder { contexts, costs, .. } = &mut **builder;
        endings.of_set(&self.program, contexts, set, &state.counts, costs, fuel)
    }

    fn distinct_scope_at(&self, state: State, byte: u8) -> DistinctScope {
        use grammask_fsm::{Distinct, DistinctScope as Scope};
        match self.program.distinct_scope_at(self.set(state).items.iter().map(|item| item.state), byte) {
            Scope::Nothing => DistinctScope::Nothing,
            Scope::Of(Distinct::Items) => DistinctScope::Items,
            Scope::Of(Distinct::Names) => DistinctScope::Names,
            Scope::Ambiguous => DistinctScope::Ambiguous,
        }
    }

    fn precompile_step(&self, state: State) {
        // In the middle of a name that leads there the text is in one place.
        if let [item] = *self.set(state).items {
            self.program.precompile_step(item.state);
        }
    }

    fn assemble(&self, configuration: &Configuration, fuel: &mut Fuel) -> Result<Option<State>, StepError> {
        crate::derivations::assemble(self, configuration, fuel)
    }

    fn fresh(&self) -> Result<Self, BuildError> {
        Self::new(Arc::clone(&self.program), self.config)
    }

    fn import(&self, other: &Self, state: State) -> Result<State, StepError> {
        let theirs = other.lock();
        let mut builder = self.lock();
        let builder = &mut *builder;
        let set = other.set(state);
        let items = crate::rebuild::import(&theirs.contexts, &mut builder.contexts, &set.items);
        let set = self.intern(builder, &items, set.ends())?;
        Ok(State { set, counts: state.counts })
    }

    fn serves(&self, requirement: Requirement) -> bool {
        matches!(
            requirement,
            Requirement::Counts
                | Requirement::LeftRecursion
                | Requirement::Tokens
                | Requirement::Distinct
                | Requirement::Attributes
        )
    }

    fn memory_usage(&self) -> usize {
        self.sets.bytes.load(Ordering::Relaxed) + self.program_bytes
    }

    fn table_counts(&self) -> TableCounts {
        TableCounts { sets: self.set_count(), contexts: self.context_count() }
    }
}

/// What a mask depends on in one slot, in 21 bits: how many thresholds are passed, and how far the next one
/// is if a token can reach it. `count + 1` is the number that the next guard compares.
fn slot_detail(thresholds: &[u32], count: u32, longest_token: u32) -> u64 {
    let done = count.saturating_add(1);
    let passed = thresholds.partition_point(|&threshold| threshold <= done);
    let near = match thresholds.get(passed) {
        Some(&next) if next - count <= longest_token => next - count,
        _ => 0,
    };
    (passed as u64) << 13 | u64::from(near)
}
