//! The lazy automaton: its tables, and the lock that writers take.

use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use grammask_fsm::{ByteClasses, FragmentId, Program};
use grammask_grammar_ir::shorten;
use grammask_parser_backend::{BuildError, Fuel};

use crate::closure::closure_cache::ClosureCache;
use crate::closure::set_closure::{Closure, Grammar, SlotConflict};
use crate::config::{Config, MAX_TOKEN};
use crate::tables::contexts::Contexts;
use crate::tables::ids::{SLOTS, SetId};
use crate::tables::sets::{Set, SetIndex, Sets};
use crate::tables::state::State;

/// Work of finding the set that every text begins in, which belongs to no call: about a second.
const MAX_START_WORK: u64 = 20_000_000;

/// A lazy automaton whose states are interned Earley sets with counts.
pub(crate) struct Automaton {
    pub(crate) program: Arc<Program>,
    pub(crate) config: Config,
    pub(crate) sets: Sets,
    /// The program's, here to save a read on every step.
    pub(super) classes: ByteClasses,
    /// Whether the program names any token.
    pub(crate) names_tokens: bool,
    pub(crate) start: State,
    /// Bytes held by queries over the automaton, which count towards its limit.
    pub(crate) query_bytes: AtomicUsize,
    /// In a box, since an engine is moved several times before it rests.
    builder: Mutex<Box<Builder>>,
}

/// The writer's part of the tables: one thread at a time makes new sets and transitions.
pub(crate) struct Builder {
    pub(crate) contexts: Contexts,
    pub(crate) index: SetIndex,
    pub(crate) closure: Closure,
    pub(super) closures: ClosureCache,
}

impl Builder {
    fn new() -> Self {
        Self {
            contexts: Contexts::new(),
            index: SetIndex::new(),
            closure: Closure::default(),
            closures: ClosureCache::default(),
        }
    }
}

impl Automaton {
    /// The automaton of a program, with the set that every text begins in.
    ///
    /// # Errors
    ///
    /// Where a counted repeat can begin with itself, a setting is out of range, or the first set takes too much work.
    pub(crate) fn new(program: Arc<Program>, config: Config) -> Result<Self, BuildError> {
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
                    shorten(&fragment.name)
                )));
            }
        }
        let sets = Sets::new(&program);
        let names_tokens = !program.labels().is_empty();
        let program_classes = program.byte_classes().clone();
        let mut automaton = Self {
            program,
            config,
            sets,
            classes: program_classes,
            names_tokens,
            start: State { set: SetId::new(0), counts: [0; SLOTS] },
            query_bytes: AtomicUsize::new(0),
            builder: Mutex::new(Box::new(Builder::new())),
        };
        let first = {
            let mut builder = automaton.lock();
            // The first set is not the target of a byte: its kernel is empty, and the root is predicted.
            builder.closure.begin();
            builder.closure.push_root(&automaton.grammar());
            automaton.close(&mut builder, &[0; SLOTS], &mut Fuel::new(MAX_START_WORK))
        };
        // There is no set with exact counts to fall back to, so a conflict here is an error of the grammar.
        automaton.start.set = match first {
            Ok(Ok((set, _))) => set,
            Ok(Err(SlotConflict)) => {
                return Err(BuildError::new("repeats at the start of the grammar disagree on their counts"));
            }
            Err(limit) => return Err(BuildError::new(limit.to_string())),
        };
        Ok(automaton)
    }

    pub(crate) fn set(&self, state: State) -> &Set {
        self.sets.sets.get(state.set.index())
    }

    pub(crate) fn grammar(&self) -> Grammar<'_> {
        Grammar { program: &self.program, corners: self.program.left_corners() }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Box<Builder>> {
        // A panic below the lock is a bug; the tables are append-only and stay readable.
        self.builder.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
