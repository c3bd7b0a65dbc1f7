//! The compiled form of a grammar: one byte automaton a rule, in flat tables.

use std::borrow::Cow;

use grammask_grammar_ir::Distinct;
use once_cell::race::OnceBox;

use crate::error::AutomataError;
use crate::ids::{Id, IdVec, Offset, define_id};
use crate::program::byte_classes::ByteClasses;
use crate::program::fragment_name::FragmentName;
use crate::program::left_corners::LeftCorners;
use crate::program::sub_programs::{SubPrograms, TableOrder};

define_id! {
    /// A state of a [`Program`]. Ids are global: no two fragments share one.
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    pub StateId
}
impl StateId {
    /// A number that no state has: those of all tables have two bits to spare.
    pub(crate) const NEVER: Self = Self(1 << 30);
}

define_id! {
    /// A token label of a [`Program`].
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    pub LabelId
}
define_id! {
    /// A fragment of a [`Program`]: the automaton of a rule or of the body of a counted repeat.
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    pub FragmentId
}

/// Reads one byte out of an inclusive range.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ByteEdge {
    /// Least byte.
    pub start: u8,
    /// Greatest byte.
    pub end: u8,
    /// Where it leads.
    pub target: StateId,
}

/// Reads one token out of a label's, as a whole.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TokenEdge {
    /// Which tokens.
    pub label: LabelId,
    /// Where it leads.
    pub target: StateId,
}

/// A set of token ids, as the grammar gives it. Automata do not look into it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TokenLabel {
    /// The ids, sorted, each once.
    pub ids: Box<[u32]>,
    /// Which side of the set is meant.
    pub side: TokenSide,
}

/// Which side of a set of tokens is meant.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum TokenSide {
    /// The tokens of the set.
    Inside,
    /// All others.
    Outside,
}

impl TokenLabel {
    /// Whether the token with an id is among those of the label.
    pub fn contains(&self, id: u32) -> bool {
        self.ids.binary_search(&id).is_ok() == (self.side == TokenSide::Inside)
    }
}

/// Reads one sentence of a fragment (for a counted fragment: of its repeat), then goes on at `target`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Call {
    /// The fragment that is read.
    pub fragment: FragmentId,
    /// Where the caller goes on.
    pub target: StateId,
}

/// The automaton of a rule, or of the body of a counted repeat.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Fragment {
    /// The rule's name. A repeat, a set of other names or a large text has the name of the rule that it was
    /// first met in. Fragments that all rules share, such as the escapes of a character in JSON strings, have
    /// words that say so.
    pub name: FragmentName,
    /// First state.
    pub start: StateId,
    /// Whether the *body* (one iteration) derives the empty string.
    pub nullable: bool,
    /// `Some` where a call reads the body many times.
    pub count: Option<Count>,
    /// The role of the fragment among parts in any order.
    pub role: Role,
    /// The options of its rule. Automata ignore them; a fragment with options is called wherever the grammar
    /// mentions its rule.
    pub options: Option<Box<Options>>,
}

/// The options of a rule, as [`RuleOptions`](grammask_grammar_ir::RuleOptions) describes them.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Options {
    /// Most tokens of one occurrence; 0 for any number.
    pub max_tokens: u32,
    /// The name under which the text is handed out, and how many bytes at its end are not.
    pub capture: Option<(Box<str>, u32)>,
    /// The name under which the end of the text is returned, and its number of bytes.
    pub end_capture: Option<(Box<str>, u32)>,
    /// The bits of the temperature, a number of 32 bits.
    pub temperature: Option<u32>,
    /// The values that do not repeat in the array or object whose inside the fragment is.
    pub distinct: Option<Distinct>,
}

impl Fragment {
    /// The bounds between which the engine counts in the fragment, if it does.
    #[inline]
    pub fn counting(&self) -> Option<Count> {
        match self.role {
            Role::Measured(limit) => Some(Count { min: 0, max: Some(limit) }),
            _ => self.count,
        }
    }

    /// Whether a *call* of the fragment may read nothing.
    #[inline]
    pub fn call_is_nullable(&self) -> bool {
        self.nullable || self.count.is_some_and(|count| count.min == 0)
    }

    fn memory_usage(&self) -> usize {
        let names = |options: &Options| -> usize {
            let captures = [&options.capture, &options.end_capture];
            captures.into_iter().flatten().map(|(name, _)| name.len()).sum()
        };
        let options = self.options.as_ref().map_or(0, |options| size_of::<Options>() + names(options));
        size_of::<Self>() + self.name.memory_usage() + options
    }
}

/// The role of a fragment among parts in any order.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Role {
    /// Nothing.
    None,
    /// The whole. Its automaton reads any parts with separators between them. The engine keeps, for each open
    /// call, which parts were read. It follows a call of a [`Part`](Role::Part) or a
    /// [`Separator`](Role::Separator) only where [`Permutation`] allows it, and lets the call end only where
    /// it says so.
    Permutation(Box<Permutation>),
    /// The part at that index of the whole. Only the whole calls it.
    Part(u32),
    /// The separator. Only the whole calls it.
    Separator,
    /// Text whose characters are counted. The engine keeps a count for each open call, from 0 on, which goes up
    /// by one at each state that [counts](State::counts). While it is smaller than this number, the first edge of such
    /// a state is followed, and then the second one. After the second one nothing counts.
    Measured(u32),
}

impl Role {
    /// The index of a part in its whole.
    pub(crate) fn as_part(&self) -> Option<u32> {
        match self {
            Self::Part(index) => Some(*index),
            _ => None,
        }
    }
}

/// Parts in any order. Parts before `once` occur at most once, those before `required` exactly once, others any
/// number of times.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Permutation {
    /// The parts; `None` for one that derives nothing.
    pub parts: Box<[Option<FragmentId>]>,
    /// The fragment between two parts; `None` if it derives nothing.
    pub separator: Option<FragmentId>,
    /// How many parts are required; they come first, and all derive something.
    pub required: u32,
    /// How many parts occur at most once.
    pub once: u32,
    /// Least number of parts read, at least 1.
    pub min: u32,
    /// Greatest number of parts read, `None` for any.
    pub max: Option<u32>,
}

impl Permutation {
    /// How many parts and separators a shortest text has.
    pub(crate) fn numbers(&self) -> (u32, u32) {
        (self.min, self.min.saturating_sub(1))
    }
}

/// How often the body of a counted fragment is read. Iterations that read nothing are not counted; where the
/// body is nullable, `min` is 0.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Count {
    /// Least number of iterations.
    pub min: u32,
    /// Greatest number, `None` for any.
    pub max: Option<u32>,
}

/// One state's edges.
#[derive(Clone, Copy, Debug)]
pub struct State<'p> {
    /// Whether the fragment may end here.
    pub is_final: bool,
    /// Whether a character of [measured](Role::Measured) text has ended here. There are one or two edges, which read
    /// nothing: the way on for further characters that count, and the one for the rest of the text. Without
    /// the second one the count is always small enough here.
    pub counts: bool,
    /// Byte edges, sorted. Ranges may overlap: the automaton need not be deterministic.
    pub bytes: &'p [ByteEdge],
    /// Edges that read nothing. They may form cycles.
    pub epsilons: &'p [StateId],
    /// Edges that read a fragment.
    pub calls: &'p [Call],
    /// Edges that read a token as a whole.
    pub tokens: &'p [TokenEdge],
}

impl State<'_> {
    /// As [`Program::only_reads`].
    pub fn only_reads(&self) -> bool {
        let reads = !(self.bytes.is_empty() && self.tokens.is_empty());
        reads && !self.is_final && self.epsilons.is_empty() && self.calls.is_empty()
    }

    /// Whether the state is final and has no way on: a call that returns here is a tail call.
    pub fn is_pure_final(&self) -> bool {
        self.is_final
            && self.bytes.is_empty()
            && self.epsilons.is_empty()
            && self.calls.is_empty()
            && self.tokens.is_empty()
    }

    /// The states of its fragment that it leads to.
    pub(crate) fn targets(&self) -> impl Iterator<Item = StateId> {
        let bytes = self.bytes.iter().map(|edge| edge.target);
        let calls = self.calls.iter().map(|call| call.target);
        let tokens = self.tokens.iter().map(|edge| edge.target);
        bytes.chain(self.epsilons.iter().copied()).chain(calls).chain(tokens)
    }
}

/// All automata of a grammar in flat tables. Immutable and `Sync`.
///
/// **Invariant:** there are no dead ends, and the root fragment is not counted. Every state is on a path from
/// its fragment's start to a final state, and every call on that path reads a fragment that derives
/// something.
#[derive(Clone, Debug)]
pub struct Program {
    pub(crate) states: Vec<StateRow>,
    pub(crate) byte_edges: Vec<ByteEdge>,
    pub(crate) epsilons: Vec<StateId>,
    pub(crate) calls: Vec<Call>,
    pub(crate) token_edges: Vec<TokenEdge>,
    pub(crate) labels: Vec<TokenLabel>,
    pub(crate) fragments: Vec<Fragment>,
    pub(crate) root: FragmentId,
    /// Follows from the byte edges.
    pub(crate) byte_classes: ByteClasses,
    /// Programs that others share, whose states and fragments come after those of the tables above.
    pub(crate) sub_programs: SubPrograms,
    /// Found when first asked for.
    pub(crate) corners: OnceBox<LeftCorners>,
    /// Nothing where it was loaded.
    pub(crate) cost: BuildCost,
}

/// The work of compiling a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BuildCost {
    /// Steps of work on intersections and complements, and the states and edges that were written for them.
    /// [`TextLimits`](crate::TextLimits) bounds their sum for one grammar.
    pub text_steps: usize,
    /// States that were written, before equal ones were merged.
    pub states: usize,
}

/// Where a state's edges begin; they end where the next state's begin. The table has one row more than
/// there are states.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct StateRow {
    pub(crate) bytes: Offset,
    pub(crate) epsilons: Offset,
    pub(crate) calls: Offset,
    /// Where the token edges begin, which leaves two bits to spare: whether the state is final, and whether it
    /// counts.
    tokens: Offset,
}

impl StateRow {
    const FINAL: u32 = 1 << 31;
    const COUNTS: u32 = 1 << 30;

    /// A state whose byte edges, epsilons, calls and token edges begin there.
    #[inline]
    pub(crate) fn new([bytes, epsilons, calls, tokens]: [Offset; 4]) -> Self {
        Self { bytes, epsilons, calls, tokens }
    }

    #[inline]
    pub(crate) fn final_if(self, is_final: bool) -> Self {
        self.with(if is_final { Self::FINAL } else { 0 })
    }

    #[inline]
    pub(crate) fn counting_if(self, counts: bool) -> Self {
        self.with(if counts { Self::COUNTS } else { 0 })
    }

    fn with(self, mark: u32) -> Self {
        Self { tokens: Offset::from_raw(self.tokens.raw() | mark), ..self }
    }

    #[inline]
    pub(crate) fn is_final(self) -> bool {
        self.tokens.raw() & Self::FINAL != 0
    }

    #[inline]
    pub(crate) fn counts(self) -> bool {
        self.tokens.raw() & Self::COUNTS != 0
    }

    #[inline]
    pub(crate) fn tokens(self) -> Offset {
        Offset::from_raw(self.tokens.raw() & !(Self::FINAL | Self::COUNTS))
    }

    /// The row of a state alike whose byte edges and calls begin this many later.
    #[inline]
    pub(crate) fn plus(self, bytes: usize, calls: usize) -> Self {
        Self { bytes: self.bytes.plus(bytes), calls: self.calls.plus(calls), ..self }
    }

    /// The row of an equal state in tables where the edges of `from` are those of `to`.
    #[inline]
    pub(crate) fn rebased(self, from: Self, to: Self) -> Self {
        Self {
            bytes: self.bytes.rebased(from.bytes, to.bytes),
            epsilons: self.epsilons.rebased(from.epsilons, to.epsilons),
            calls: self.calls.rebased(from.calls, to.calls),
            // The marks stay where they are, because there is no carry into them.
            tokens: self.tokens.rebased(from.tokens(), to.tokens()),
        }
    }

    /// Where its edges begin.
    #[inline]
    pub(crate) fn begins(self) -> [Offset; 4] {
        [self.bytes, self.epsilons, self.calls, self.tokens()]
    }
}

/// How many programs another one refers to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SubProgramCounts {
    /// All of them.
    pub all: usize,
    /// Those that are compiled; others wait until they are read.
    pub compiled: usize,
}

impl Program {
    /// The start fragment.
    pub fn root(&self) -> FragmentId {
        self.root
    }

    /// The numbers of states are smaller than this. It grows when a [program](crate::DeferredProgram) that
    /// this one refers to is first read.
    pub fn state_count(&self) -> usize {
        if self.sub_programs.is_empty() { self.own_state_count() } else { self.sub_programs.ends().0.index() }
    }

    /// Whether a state is one of a program that it refers to. To look such states up takes longer.
    #[inline]
    pub fn is_far(&self, state: StateId) -> bool {
        state.index() >= self.own_state_count()
    }

    /// The number of states in its own tables.
    #[inline]
    pub(crate) fn own_state_count(&self) -> usize {
        self.states.len() - 1
    }

    /// The numbers of fragments are smaller than this; see [`state_count`](Self::state_count).
    pub fn fragment_count(&self) -> usize {
        if self.sub_programs.is_empty() { self.fragments.len() } else { self.sub_programs.ends().1.index() }
    }

    /// The fragments, in the order of their ids. Deferred programs are compiled now.
    pub fn fragments(&self) -> impl Iterator<Item = &Fragment> + Clone {
        self.fragments_with_ids().map(|(_, fragment)| fragment)
    }

    /// As [`fragments`](Self::fragments), with their ids.
    pub fn fragments_with_ids(&self) -> impl Iterator<Item = (FragmentId, &Fragment)> + Clone {
        self.own_fragments().chain(self.sub_programs.fragments())
    }

    /// Those in its own tables.
    pub(crate) fn own_fragments(&self) -> impl Iterator<Item = (FragmentId, &Fragment)> + Clone {
        (0..).map(FragmentId).zip(&self.fragments)
    }

    /// The fragment that each state of its own tables belongs to: the first one whose start leads to it. None for a state
    /// that nothing leads to.
    pub(crate) fn owners(&self) -> IdVec<StateId, FragmentId> {
        let mut owners = IdVec::of(FragmentId::NONE, self.own_state_count());
        let mut open = Vec::new();
        for (id, fragment) in self.own_fragments() {
            open.push(fragment.start);
            // A call does not lead into the callee, so a walk stays inside of one fragment.
            while let Some(state) = open.pop() {
                if owners[state] == FragmentId::NONE {
                    owners[state] = id;
                    open.extend(self.state(state).targets());
                }
            }
        }
        owners
    }

    /// One fragment, compiled now if it was not before. For an id of another program it is any fragment or none, which
    /// reads nothing.
    #[inline]
    pub fn fragment(&self, id: FragmentId) -> &Fragment {
        match self.fragments.get(id.index()) {
            Some(fragment) => fragment,
            None => self.sub_programs.fragment(id),
        }
    }

    /// Whether a fragment is compiled, and its numbers are known here: to look at it costs nothing then.
    #[inline]
    pub fn is_read(&self, id: FragmentId) -> bool {
        id.index() < self.fragments.len() || self.sub_programs.is_read(id)
    }

    /// The reason why a deferred program could not be compiled, if there is one. It seems to read nothing
    /// then, and later answers are not to be trusted. No grammar is known for which this happens.
    #[inline]
    pub fn failure(&self) -> Option<&AutomataError> {
        self.sub_programs.failure()
    }

    /// How many programs it refers to, and how many of them are compiled.
    pub fn sub_program_counts(&self) -> SubProgramCounts {
        let (all, compiled) = self.sub_programs.count();
        SubProgramCounts { all, compiled }
    }

    /// One state, compiled now if it was not before. For an id of another program it is any state or none, which reads
    /// nothing.
    #[inline]
    pub fn state(&self, id: StateId) -> State<'_> {
        match self.own_state(id.index()) {
            Some(state) => state,
            None => self.sub_programs.state(id),
        }
    }

    /// A state of its own tables.
    #[inline]
    pub(crate) fn own_state(&self, at: usize) -> Option<State<'_>> {
        let next = self.states.get(at + 1)?;
        let row = self.states[at];
        Some(State {
            is_final: row.is_final(),
            counts: row.counts(),
            bytes: &self.byte_edges[row.bytes.index()..next.bytes.index()],
            epsilons: &self.epsilons[row.epsilons.index()..next.epsilons.index()],
            calls: &self.calls[row.calls.index()..next.calls.index()],
            tokens: &self.token_edges[row.tokens().index()..next.tokens().index()],
        })
    }

    /// The byte edges of one state alone, as [`state`](Self::state) has them.
    #[inline]
    pub fn byte_edges(&self, id: StateId) -> &[ByteEdge] {
        let Some(next) = self.states.get(id.index() + 1) else { return self.sub_programs.state(id).bytes };
        &self.byte_edges[self.states[id.index()].bytes.index()..next.bytes.index()]
    }

    /// Whether a state is left only by reading a byte or a token: an item in it is in no other state.
    #[inline]
    pub fn only_reads(&self, id: StateId) -> bool {
        let Some(next) = self.states.get(id.index() + 1) else {
            return self.sub_programs.state(id).only_reads();
        };
        let row = self.states[id.index()];
        let reads = row.bytes != next.bytes || row.tokens() != next.tokens();
        reads && !row.is_final() && row.epsilons == next.epsilons && row.calls == next.calls
    }

    /// The same program with all tables its own. Deferred programs are compiled now, and numbers of states
    /// and fragments may change.
    ///
    /// # Errors
    ///
    /// As for [`DeferredProgram::program`](crate::DeferredProgram::program).
    pub fn whole(&self) -> Result<Cow<'_, Self>, AutomataError> {
        self.with_all_tables(TableOrder::Listed)
    }

    /// As [`whole`](Self::whole), with the numbers that states and fragments have.
    pub(crate) fn whole_as_read(&self) -> Result<Cow<'_, Self>, AutomataError> {
        self.with_all_tables(TableOrder::Read)
    }

    fn with_all_tables(&self, order: TableOrder) -> Result<Cow<'_, Self>, AutomataError> {
        if self.sub_programs.is_empty() {
            return Ok(Cow::Borrowed(self));
        }
        let mut whole = self.own_tables();
        self.sub_programs.append_to(&mut whole, order)?;
        Ok(Cow::Owned(whole))
    }

    /// A program without anything, to be filled.
    pub(crate) fn empty() -> Self {
        Self {
            states: Vec::new(),
            byte_edges: Vec::new(),
            epsilons: Vec::new(),
            calls: Vec::new(),
            token_edges: Vec::new(),
            labels: Vec::new(),
            fragments: Vec::new(),
            root: FragmentId::FIRST,
            byte_classes: ByteClasses::from_ranges([]),
            sub_programs: SubPrograms::none(),
            corners: OnceBox::new(),
            cost: BuildCost::default(),
        }
    }

    /// The numbers after its own states and fragments.
    pub(crate) fn own_ends(&self) -> (StateId, FragmentId) {
        (StateId::from_index(self.own_state_count()), FragmentId::from_index(self.fragments.len()))
    }

    /// A new state whose edges come next.
    pub(crate) fn push_row(&mut self, is_final: bool) {
        let row = self.tables_mut().next_row().final_if(is_final);
        self.states.push(row);
    }

    /// A copy of its own tables.
    pub(crate) fn own_tables(&self) -> Self {
        Self {
            states: self.states.clone(),
            byte_edges: self.byte_edges.clone(),
            epsilons: self.epsilons.clone(),
            calls: self.calls.clone(),
            token_edges: self.token_edges.clone(),
            labels: self.labels.clone(),
            fragments: self.fragments.clone(),
            root: self.root,
            byte_classes: self.byte_classes.clone(),
            sub_programs: SubPrograms::none(),
            corners: OnceBox::new(),
            cost: self.cost,
        }
    }

    /// Which fragments can begin with which. Found once.
    pub fn left_corners(&self) -> &LeftCorners {
        self.corners.get_or_init(|| Box::new(LeftCorners::new(self)))
    }

    /// A fragment's place in the order of prediction. Callers have smaller numbers than the fragments with
    /// which they begin, and fragments that can begin with each other have the same one. Panics for an id of
    /// another program.
    #[inline]
    pub fn left_corner_component(&self, fragment: FragmentId) -> u32 {
        match self.left_corners().own_component(fragment) {
            Some(component) => component.raw(),
            None => self.sub_programs.component(fragment),
        }
    }

    /// The token labels, in the order of their ids.
    pub fn labels(&self) -> &[TokenLabel] {
        &self.labels
    }

    /// Classes of bytes that no edge tells apart.
    pub fn byte_classes(&self) -> &ByteClasses {
        &self.byte_classes
    }

    /// Whether a rule has options that say so.
    pub fn has_options(&self, which: impl Fn(&Options) -> bool) -> bool {
        let says_so = |fragment: &Fragment| fragment.options.as_deref().is_some_and(&which);
        // Deferred programs have none.
        self.fragments.iter().any(says_so)
            || self.sub_programs.has_options() && self.sub_programs.fragments().any(|(_, it)| says_so(it))
    }

    /// Whether any fragment of its own has options.
    pub(crate) fn own_options(&self) -> bool {
        self.fragments.iter().any(|fragment| fragment.options.is_some())
    }

    /// The number of edges in its own tables.
    pub(crate) fn edge_count(&self) -> usize {
        self.byte_edges.len() + self.epsilons.len() + self.calls.len() + self.token_edges.len()
    }

    /// Bytes of memory that the tables hold, with those of shared programs; an estimate for deferred ones.
    pub fn memory_usage(&self) -> usize {
        self.table_bytes() + self.sub_programs.memory_usage()
    }

    /// Bytes of memory that its own tables hold.
    pub(crate) fn table_bytes(&self) -> usize {
        self.states.capacity() * size_of::<StateRow>()
            + self.byte_edges.capacity() * size_of::<ByteEdge>()
            + self.epsilons.capacity() * size_of::<StateId>()
            + self.calls.capacity() * size_of::<Call>()
            + self.token_edges.capacity() * size_of::<TokenEdge>()
            + self
                .labels
                .iter()
                .map(|label| size_of::<TokenLabel>() + size_of_val(&*label.ids))
                .sum::<usize>()
            + self.fragments.iter().map(Fragment::memory_usage).sum::<usize>()
    }
}
