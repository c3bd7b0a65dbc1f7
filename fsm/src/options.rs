//! Options for a caller.

use grammask_grammar_ir::{Interrupt, Toggle};

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
    /// Rules that a frontend says to be common are compiled once for the process, and their automata copied
    /// (default: on). A fifth of the work of compiling JSON schemas.
    pub shared_rules: Toggle,
    /// Small fragments without calls are determinised and minimised where they do not grow (default: on).
    pub determinization: Toggle,
    /// Programs that others refer to ([`DeferredProgram`](crate::DeferredProgram)) are compiled when they are first read, where
    /// a look at the grammar tells all that must be known before (default: on). Off: at once. Two fifths of the work for
    /// a set of new tools wait until one is called, and then a mask waits for that one.
    pub deferred_programs: Toggle,
    /// The size from which rules of a large grammar ([`compile_deferred`](crate::compile_deferred)) are
    /// compiled when they are first read, if [`deferred_programs`](Self::deferred_programs) is on. It is
    /// counted in states before any are merged (default: 1,024). A grammar is large if it is written in 48
    /// times as many, half a millisecond of work. Zero: every rule that can wait waits.
    pub deferred_min_states: u32,
    /// A rule that is used more than once is inlined if its automaton has about this many states or fewer
    /// (default: 8).
    pub inline_states: u32,
    /// A bounded repeat is written out if its copies have about this many states or fewer taken together
    /// (default: 32); otherwise it becomes a counted fragment. A repeat of at most one time is always
    /// written out.
    pub expand_states: u32,
    /// A fragment without calls is determinised if it has this many states or fewer (default: 64).
    pub determinize_states: u32,
    /// Most states of all automata taken together while they are built (default: 2,500,000).
    pub max_states: usize,
    /// Most edges of all automata taken together while they are built (default: 6,500,000).
    pub max_edges: usize,
    /// Limits on the cost of intersections and complements.
    pub text: TextLimits,
    /// Stops the work from outside (default: never).
    pub interrupt: Interrupt,
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
            deferred_min_states: 1 << 10,
            inline_states: 8,
            expand_states: 32,
            determinize_states: 64,
            max_states: 2_500_000,
            max_edges: 6_500_000,
            text: TextLimits::default(),
            interrupt: Interrupt::never(),
        }
    }
}

impl CompileOptions {
    /// Sets [`literal_tries`](Self::literal_tries).
    #[must_use]
    pub fn literal_tries(mut self, literal_tries: Toggle) -> Self {
        self.literal_tries = literal_tries;
        self
    }

    /// Sets [`inlining`](Self::inlining).
    #[must_use]
    pub fn inlining(mut self, inlining: Toggle) -> Self {
        self.inlining = inlining;
        self
    }

    /// Sets [`epsilon_removal`](Self::epsilon_removal).
    #[must_use]
    pub fn epsilon_removal(mut self, epsilon_removal: Toggle) -> Self {
        self.epsilon_removal = epsilon_removal;
        self
    }

    /// Sets [`prefix_merging`](Self::prefix_merging).
    #[must_use]
    pub fn prefix_merging(mut self, prefix_merging: Toggle) -> Self {
        self.prefix_merging = prefix_merging;
        self
    }

    /// Sets [`suffix_merging`](Self::suffix_merging).
    #[must_use]
    pub fn suffix_merging(mut self, suffix_merging: Toggle) -> Self {
        self.suffix_merging = suffix_merging;
        self
    }

    /// Sets [`shared_rules`](Self::shared_rules).
    #[must_use]
    pub fn shared_rules(mut self, shared_rules: Toggle) -> Self {
        self.shared_rules = shared_rules;
        self
    }

    /// Sets [`determinization`](Self::determinization).
    #[must_use]
    pub fn determinization(mut self, determinization: Toggle) -> Self {
        self.determinization = determinization;
        self
    }

    /// Sets [`deferred_programs`](Self::deferred_programs).
    #[must_use]
    pub fn deferred_programs(mut self, deferred_programs: Toggle) -> Self {
        self.deferred_programs = deferred_programs;
        self
    }

    /// Sets [`deferred_min_states`](Self::deferred_min_states).
    #[must_use]
    pub fn deferred_min_states(mut self, deferred_min_states: u32) -> Self {
        self.deferred_min_states = deferred_min_states;
        self
    }

    /// Sets [`inline_states`](Self::inline_states).
    #[must_use]
    pub fn inline_states(mut self, inline_states: u32) -> Self {
        self.inline_states = inline_states;
        self
    }

    /// Sets [`expand_states`](Self::expand_states).
    #[must_use]
    pub fn expand_states(mut self, expand_states: u32) -> Self {
        self.expand_states = expand_states;
        self
    }

    /// Sets [`determinize_states`](Self::determinize_states).
    #[must_use]
    pub fn determinize_states(mut self, determinize_states: u32) -> Self {
        self.determinize_states = determinize_states;
        self
    }

    /// Sets [`max_states`](Self::max_states).
    #[must_use]
    pub fn max_states(mut self, max_states: usize) -> Self {
        self.max_states = max_states;
        self
    }

    /// Sets [`max_edges`](Self::max_edges).
    #[must_use]
    pub fn max_edges(mut self, max_edges: usize) -> Self {
        self.max_edges = max_edges;
        self
    }

    /// Sets [`text`](Self::text).
    #[must_use]
    pub fn text(mut self, text: TextLimits) -> Self {
        self.text = text;
        self
    }

    /// Sets [`interrupt`](Self::interrupt).
    #[must_use]
    pub fn interrupt(mut self, interrupt: Interrupt) -> Self {
        self.interrupt = interrupt;
        self
    }

    /// Whether both compile to the same, interrupts apart.
    pub(crate) fn is_equivalent(&self, other: &Self) -> bool {
        let key = |options: &Self| {
            let Self {
                literal_tries,
                inlining,
                epsilon_removal,
                prefix_merging,
                suffix_merging,
                shared_rules,
                determinization,
                // The time of a compilation does not change its result.
                deferred_programs: _,
                deferred_min_states: _,
                inline_states,
                expand_states,
                determinize_states,
                max_states,
                max_edges,
                text,
                interrupt: _,
            } = *options;
            let passes = [
                literal_tries,
                inlining,
                epsilon_removal,
                prefix_merging,
                suffix_merging,
                shared_rules,
                determinization,
            ];
            (passes, [inline_states, expand_states, determinize_states], [max_states, max_edges], text)
        };
        key(self) == key(other)
    }
}

/// Limits on the work that one [`TextAutomaton`](crate::text::TextAutomaton) may cost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct TextLimits {
    /// Most states of any one automaton, deterministic or not (default: 50,000). Intermediate automata
    /// before they are determinised may have four times as many.
    pub max_states: usize,
    /// Most steps of work taken together, 20 to 40 ns each (default: 20,000,000).
    pub max_steps: usize,
    /// Most steps of work for all intersections, complements and JSON escapings of one grammar taken together
    /// (default: 20,000,000).
    pub max_total_steps: usize,
}

impl Default for TextLimits {
    fn default() -> Self {
        Self { max_states: 50_000, max_steps: 20_000_000, max_total_steps: 20_000_000 }
    }
}

impl TextLimits {
    /// Sets [`max_states`](Self::max_states).
    #[must_use]
    pub fn max_states(mut self, max_states: usize) -> Self {
        self.max_states = max_states;
        self
    }

    /// Sets [`max_steps`](Self::max_steps).
    #[must_use]
    pub fn max_steps(mut self, max_steps: usize) -> Self {
        self.max_steps = max_steps;
        self
    }

    /// Sets [`max_total_steps`](Self::max_total_steps).
    #[must_use]
    pub fn max_total_steps(mut self, max_total_steps: usize) -> Self {
        self.max_total_steps = max_total_steps;
        self
    }
}
