//! Options for a caller.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, Mutex};

use grammask_grammar_ir::{Interrupt, PerProcess, Toggle, setters};

use crate::error::{AutomataError, Failure};
use crate::ids::MAX_NUMBERS;

/// Options of [`compile`](fn@crate::compile).
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct CompileOptions {
    /// Choices of literals become tries (default: on). Off: one chain a literal.
    pub literal_tries: Toggle,
    /// Small or once-used rules that are not recursive are written into their callers (default: on).
    pub inlining: Toggle,
    /// Edges that read nothing are removed where that does not add many others (default: on). On JSON schemas a
    /// tenth of the work of compiling; without it masks take 17% longer and parsers make 8% more sets.
    pub epsilon_removal: Toggle,
    /// States that are reached alike are merged (default: on). A twentieth of the work. JSON schemas gain
    /// nothing, since their names are written as tries; grammars with alternatives that begin alike do.
    pub prefix_merging: Toggle,
    /// States that go on alike are merged (default: on). A tenth of the work; without it masks take 14% longer,
    /// since equal ways on are different sets to the parser.
    pub suffix_merging: Toggle,
    /// Rules that a frontend says to be common are compiled once for these options and their clones, and their
    /// automata copied (default: on). A fifth of the work of compiling JSON schemas.
    pub shared_rules: Toggle,
    /// Small fragments without calls are determinised and minimised where they do not grow (default: on). This takes at
    /// most a quarter of the steps of [`TextLimits::max_total_steps`]; the fragments after that stay as they are.
    pub determinization: Toggle,
    /// Programs that others refer to ([`DeferredProgram`](crate::DeferredProgram)) are compiled when they are first read, where
    /// a look at the grammar tells all that must be known before (default: on). Off: at once. Two fifths of the work for
    /// a set of new tools wait until one is called, and then a mask waits for that one.
    pub deferred_programs: Toggle,
    /// The size from which rules of a large grammar ([`compile_deferred`](crate::compile_deferred)) are
    /// compiled when they are first read, if [`deferred_programs`](Self::deferred_programs) is on. It is
    /// counted in states before any are merged, as estimated (default: 512). A grammar is large if it is written in 48
    /// times as many, half a millisecond of work. Zero: every rule that can wait waits.
    pub deferred_min_states: u32,
    /// A rule that is used more than once is inlined if its automaton has about this many states or fewer
    /// (default: 8).
    pub inline_states: u32,
    /// Rules that end with one another become one automaton if a cycle of at least this many is among them (default: 32), as
    /// in a right-linear grammar. Fewer stay calls: their masks are shared between all places that call them.
    pub min_joined_rules: usize,
    /// A bounded repeat is written out if its copies have about this many states or fewer taken together
    /// (default: 32); otherwise it becomes a counted fragment. A repeat of at most one time is always
    /// written out.
    pub expand_states: u32,
    /// A fragment without calls is determinised if it has this many states or fewer (default: 64).
    pub determinize_states: u32,
    /// A bound on the length of a text that obeys other conditions, too, is counted beside the automaton of these. It must
    /// have at least this many pairs of a state and a length (default: 4,096). A smaller one has a state for each
    /// pair that is needed.
    pub min_counted_pairs: u32,
    /// Most states of all automata taken together while they are built (default: 2,500,000).
    pub max_states: usize,
    /// Most edges of all automata taken together while they are built (default: 6,500,000).
    pub max_edges: usize,
    /// Limits on the cost of intersections and complements.
    pub text: TextLimits,
    /// Stops the work from outside (default: never).
    pub interrupt: Interrupt,
    scratch: CompileScratch,
}

/// Results that later compilations can use, for all clones of some options. They do not change what is compiled.
#[derive(Clone, Default)]
struct CompileScratch(Arc<PerProcess<Mutex<Kept>>>);

/// Of any type: this file knows no automata.
type Kept = Vec<Arc<dyn Any + Send + Sync>>;

/// Results that are kept; the one that was not asked for longest goes first. Few kinds of whitespace, of numbers and of
/// formats are in use.
const MAX_KEPT: usize = 64;

impl PartialEq for CompileScratch {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for CompileScratch {}

impl fmt::Debug for CompileScratch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("CompileScratch")
    }
}

impl Default for CompileOptions {
    fn default() -> Self {
        Self {
            literal_tries: Toggle::On,
            inlining: Toggle::On,
            epsilon_removal: Toggle::On,
            prefix_merging: Toggle::On,
            suffix_merging: Toggle::On,
            shared_rules: Toggle::On,
            determinization: Toggle::On,
            deferred_programs: Toggle::On,
            deferred_min_states: 1 << 9,
            inline_states: 8,
            min_joined_rules: 32,
            expand_states: 32,
            determinize_states: 64,
            min_counted_pairs: 1 << 12,
            max_states: 2_500_000,
            max_edges: 6_500_000,
            text: TextLimits::default(),
            interrupt: Interrupt::never(),
            scratch: CompileScratch::default(),
        }
    }
}

impl CompileOptions {
    /// The result that is kept and of use; the one that was asked for last, if there are several.
    pub(crate) fn find_kept<T: Send + Sync + 'static, U>(
        &self,
        of_use: impl Fn(&Arc<T>) -> Option<U>,
    ) -> Option<U> {
        let mut kept = self.scratch.0.lock();
        let mut newest_first = kept.iter().enumerate().rev();
        let of_use = |it: &Arc<dyn Any + Send + Sync>| of_use(&Arc::clone(it).downcast().ok()?);
        let (place, found) = newest_first.find_map(|(place, it)| Some((place, of_use(it)?)))?;
        kept[place..].rotate_left(1);
        Some(found)
    }

    /// Keeps a result. It must not hold options that keep it.
    pub(crate) fn keep<T: Send + Sync + 'static>(&self, result: Arc<T>) {
        let mut kept = self.scratch.0.lock();
        if kept.len() == MAX_KEPT {
            kept.remove(0);
        }
        kept.push(result);
    }

    /// The same for work that goes on by itself: without an interrupt, and with nothing kept.
    pub(crate) fn alone(&self) -> Self {
        Self { interrupt: Interrupt::never(), scratch: CompileScratch::default(), ..self.clone() }
    }

    /// Whether programs of this size, taken together, are within the limits on states and edges.
    ///
    /// # Errors
    ///
    /// As for a program that is as large.
    pub fn check_parts(&self, size: PartSize) -> Result<(), AutomataError> {
        self.check_size(size).map_err(Failure::alone)
    }

    pub(crate) fn check_size(&self, PartSize { states, edges }: PartSize) -> Result<(), Failure> {
        let [max_states, max_edges] = [self.max_states, self.max_edges].map(|limit| limit.min(MAX_NUMBERS));
        if states > max_states {
            return Err(Failure::Limit { what: "states", limit: max_states, knob: Some("max_states") });
        }
        if edges > max_edges {
            return Err(Failure::Limit { what: "edges", limit: max_edges, knob: Some("max_edges") });
        }
        Ok(())
    }

    /// Whether both compile to the same, interrupts apart.
    pub(crate) fn is_equivalent(&self, other: &Self) -> bool {
        // The time of a compilation does not change its result.
        let timeless = |options: &Self| Self {
            deferred_programs: Toggle::On,
            deferred_min_states: 0,
            interrupt: Interrupt::never(),
            ..options.clone()
        };
        timeless(self) == timeless(other)
    }
}

setters! { CompileOptions {
    literal_tries: Toggle,
    inlining: Toggle,
    epsilon_removal: Toggle,
    prefix_merging: Toggle,
    suffix_merging: Toggle,
    shared_rules: Toggle,
    determinization: Toggle,
    deferred_programs: Toggle,
    deferred_min_states: u32,
    inline_states: u32,
    min_joined_rules: usize,
    expand_states: u32,
    determinize_states: u32,
    min_counted_pairs: u32,
    max_states: usize,
    max_edges: usize,
    text: TextLimits,
    interrupt: Interrupt,
} }

/// The size of automata, counted against the limits of [`CompileOptions`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PartSize {
    /// States and fragments.
    pub states: usize,
    /// Edges of all kinds.
    pub edges: usize,
}

impl std::ops::Add for PartSize {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let states = self.states.saturating_add(other.states);
        Self { states, edges: self.edges.saturating_add(other.edges) }
    }
}

impl std::iter::Sum for PartSize {
    fn sum<I: Iterator<Item = Self>>(sizes: I) -> Self {
        sizes.fold(Self::default(), |all, size| all + size)
    }
}

/// Limits on the work that one [`TextAutomaton`](crate::text::TextAutomaton) may cost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct TextLimits {
    /// Most states of any one automaton, deterministic or not (default: 50,000). Intermediate automata
    /// before they are determinised may have four times as many, and a pattern of few states with a bound on
    /// its length eight times as many.
    pub max_states: usize,
    /// Most steps of work taken together, 20 to 80 ns each (default: 8,000,000).
    pub max_steps: usize,
    /// Most steps of work for all intersections, complements and JSON escapings of one grammar taken together. States and
    /// edges that are written for them count (default: 8,000,000).
    pub max_total_steps: usize,
}

impl Default for TextLimits {
    fn default() -> Self {
        Self { max_states: 50_000, max_steps: 8_000_000, max_total_steps: 8_000_000 }
    }
}

setters! { TextLimits { max_states: usize, max_steps: usize, max_total_steps: usize } }
