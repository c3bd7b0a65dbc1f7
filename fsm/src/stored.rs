//! Programs that come from outside: from a file, from another process.
//!
//! Engines use the numbers in a program as indices and rely on its invariants: an index out of range would be
//! a panic, a dead end a wrong mask. So a program is read into untrusted tables. It becomes a [`Program`]
//! only after every index was looked at and every invariant was found to hold, in time linear in its size. A
//! file cannot show whether it holds the grammar that its reader has in mind; the owner of the file has to
//! ensure that.

use std::fmt;

use once_cell::race::OnceBox;

use crate::ids::{Grouped, Id, IdVec, Offset, ids};
use crate::program::byte_classes::ByteClasses;
use crate::program::missing_parts::MissingParts;
use crate::program::sub_programs::SubPrograms;
use crate::program::tables::{BuildCost, StateRow};
use crate::program::tables::{
    ByteEdge, Call, Fragment, FragmentId, Permutation, Program, Role, State, StateId, TokenEdge, TokenLabel,
};

/// The tables of a program as they were read.
#[derive(serde::Deserialize)]
pub(crate) struct Unchecked {
    states: Vec<StateRow>,
    byte_edges: Vec<ByteEdge>,
    epsilons: Vec<StateId>,
    calls: Vec<Call>,
    token_edges: Vec<TokenEdge>,
    labels: Vec<TokenLabel>,
    fragments: Vec<Fragment>,
    root: FragmentId,
}

/// The tables of a program as they are written, all its own.
#[derive(serde::Serialize)]
struct StoredTables<'p> {
    states: &'p [StateRow],
    byte_edges: &'p [ByteEdge],
    epsilons: &'p [StateId],
    calls: &'p [Call],
    token_edges: &'p [TokenEdge],
    labels: &'p [TokenLabel],
    fragments: &'p [Fragment],
    root: FragmentId,
}

impl serde::Serialize for Program {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Program { states, byte_edges, epsilons, calls, token_edges, labels, fragments, root, .. } =
            &*self.whole().map_err(serde::ser::Error::custom)?;
        let root = *root;
        StoredTables { states, byte_edges, epsilons, calls, token_edges, labels, fragments, root }
            .serialize(serializer)
    }
}

/// The error in a program that was read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Malformed(&'static str);

impl fmt::Display for Malformed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "not a program ({}); write it anew", self.0)
    }
}

impl<'de> serde::Deserialize<'de> for Program {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::try_from(<Unchecked as serde::Deserialize>::deserialize(deserializer)?)
            .map_err(serde::de::Error::custom)
    }
}

impl TryFrom<Unchecked> for Program {
    type Error = Malformed;

    fn try_from(read: Unchecked) -> Result<Self, Malformed> {
        let Unchecked { states, byte_edges, epsilons, calls, token_edges, labels, fragments, root } = read;
        // From here on every range of a row lies within its table. The order of the checks matters: each may
        // index what those before it have checked.
        check_rows(&states, [byte_edges.len(), epsilons.len(), calls.len(), token_edges.len()])?;
        let last = states.len() - 1;
        let is_state = |state: StateId| state.index() < last;
        let is_fragment = |fragment: FragmentId| fragment.index() < fragments.len();
        require(
            byte_edges.iter().all(|edge| edge.start <= edge.end && is_state(edge.target)),
            "a byte edge",
        )?;
        require(epsilons.iter().all(|&target| is_state(target)), "an empty edge")?;
        require(calls.iter().all(|call| is_fragment(call.fragment) && is_state(call.target)), "a call")?;
        let is_sound = |edge: &TokenEdge| edge.label.index() < labels.len() && is_state(edge.target);
        require(token_edges.iter().all(is_sound), "a token edge")?;
        require(labels.iter().all(|label| label.ids.is_sorted_by(|a, b| a < b)), "a set of tokens")?;
        require(fragments.iter().all(|fragment| is_state(fragment.start)), "the start of a fragment")?;
        require(is_fragment(root) && fragments[root.index()].counting().is_none(), "the root")?;
        require(fragments.iter().all(has_sound_count), "a count")?;
        require(fragments.iter().all(has_sound_options), "the options of a rule")?;
        let byte_classes = ByteClasses::from_ranges(byte_edges.iter().map(|edge| (edge.start, edge.end)));
        let program = Program {
            states,
            byte_edges,
            epsilons,
            calls,
            token_edges,
            labels,
            fragments,
            root,
            byte_classes,
            sub_programs: SubPrograms::none(),
            corners: OnceBox::new(),
            cost: BuildCost::default(),
        };
        let sorted = |state: StateId| program.state(state).bytes.is_sorted();
        require(state_ids(&program).all(sorted), "the order of byte edges")?;
        // Indices are right now, so the program can be walked. The checks below are of the invariants on
        // which exact masks rely.
        let owner = check_owners(&program)?;
        let wholes = PermutationOwners::new(&program)?;
        check_endings(&program, &wholes)?;
        check_left_recursion(&program)?;
        check_counting(&program, &owner)?;
        require(program.check_distinct().is_ok(), "the place of a rule whose items differ")?;
        Ok(program)
    }
}

fn require(holds: bool, what: &'static str) -> Result<(), Malformed> {
    if holds { Ok(()) } else { Err(Malformed(what)) }
}

fn state_ids(program: &Program) -> impl Iterator<Item = StateId> + use<> {
    (0..program.state_count()).filter_map(StateId::new)
}

/// Rows begin at 0, never go back, and end where the tables end; the last one belongs to no state.
fn check_rows(states: &[StateRow], lengths: [usize; 4]) -> Result<(), Malformed> {
    let begins = |row: &StateRow| row.begins();
    let (Some(first), Some(last)) = (states.first(), states.last()) else {
        return Err(Malformed("no states"));
    };
    require(StateId::new(states.len()).is_some(), "too many states")?;
    require(begins(first) == [Offset::FIRST; 4], "the first row")?;
    require(begins(last).map(Id::index) == lengths && !last.is_final(), "the last row")?;
    let grows = |pair: &[StateRow]| {
        let (here, next) = (begins(&pair[0]), begins(&pair[1]));
        (0..4).all(|table| here[table] <= next[table])
    };
    require(states.windows(2).all(grows), "the order of rows")
}

fn has_sound_options(fragment: &Fragment) -> bool {
    let temperature = fragment.options.as_ref().and_then(|options| options.temperature).map(f32::from_bits);
    temperature.is_none_or(|temperature| temperature.is_finite() && temperature >= 0.0)
}

fn has_sound_count(fragment: &Fragment) -> bool {
    fragment.count.is_none_or(|count| {
        count.max.is_none_or(|max| count.min <= max)
            && !(fragment.nullable && count.min > 0)
            && fragment.role == Role::None
    })
}

/// Every state belongs to one fragment: the one whose start leads to it over edges.
fn check_owners(program: &Program) -> Result<IdVec<StateId, FragmentId>, Malformed> {
    let owners = program.owners();
    require(owners.iter().all(|&owner| owner != FragmentId::NONE), "a state that nothing leads to")?;
    let stays = |id: StateId, owner| program.state(id).targets().all(|target| owners[target] == owner);
    let is_sound = owners.entries().all(|(id, &owner)| stays(id, owner))
        && program.own_fragments().all(|(id, fragment)| owners[fragment.start] == id);
    require(is_sound, "a state of two fragments")?;
    Ok(owners)
}

/// States that count have one or two ways on and belong to measured text, in which nothing counts after a second one.
fn check_counting(program: &Program, owner: &IdVec<StateId, FragmentId>) -> Result<(), Malformed> {
    const WHAT: &str = "text whose characters are counted";
    let is_measured = |fragment: &Fragment| matches!(fragment.role, Role::Measured(_));
    require(program.fragments.iter().all(|it| it.role != Role::Measured(0)), WHAT)?;
    let mut rests = Vec::new();
    for (id, &owner) in owner.entries() {
        let state = program.state(id);
        if !state.counts {
            require(state.epsilons.iter().all(|&target| !program.state(target).counts), WHAT)?;
            continue;
        }
        let is_bare = state.bytes.is_empty() && state.calls.is_empty() && state.tokens.is_empty();
        require(is_bare && !state.is_final && is_measured(program.fragment(owner)), WHAT)?;
        require(matches!(state.epsilons.len(), 1 | 2), WHAT)?;
        require(state.epsilons.iter().all(|&target| !program.state(target).counts), WHAT)?;
        rests.extend(state.epsilons.get(1));
    }
    let mut reached: IdVec<StateId, bool> = IdVec::of(false, owner.len());
    while let Some(id) = rests.pop() {
        if std::mem::replace(&mut reached[id], true) {
            continue;
        }
        let state = program.state(id);
        require(!state.counts, WHAT)?;
        rests.extend(state.targets());
    }
    // Text that counts does not begin with its rest, or with a state that counts.
    let begins = |it: &Fragment| !reached[it.start] && !program.state(it.start).counts;
    require(program.fragments.iter().filter(|it| is_measured(it)).all(begins), WHAT)
}

/// Parts in any order, and counted repeats, do not call themselves before a byte is read.
fn check_left_recursion(program: &Program) -> Result<(), Malformed> {
    let is_plain = |fragment: &Fragment| fragment.count.is_none() && fragment.role == Role::None;
    if program.fragments.iter().all(is_plain) {
        return Ok(());
    }
    // The flags of the fragments were checked before, so the calls that may read nothing are known.
    let corners = program.left_corners();
    let is_sound = |(id, fragment): (_, &Fragment)| is_plain(fragment) || !corners.is_left_recursive(id);
    require(program.own_fragments().all(is_sound), "left recursion")
}

/// Which whole each part in any order and each separator belongs to.
struct PermutationOwners {
    owner_of: IdVec<FragmentId, Option<FragmentId>>,
}

impl PermutationOwners {
    /// A whole is two states: all parts lead from the first to the second, the separator back. Engines rely
    /// on it that nothing else calls them.
    fn new(program: &Program) -> Result<Self, Malformed> {
        const WHAT: &str = "parts in any order";
        let mut this = Self { owner_of: IdVec::of(None, program.fragments.len()) };
        let mut calls = 0;
        for (number, whole) in ids(program.fragments.len()).zip(&program.fragments) {
            let Role::Permutation(permutation) = &whole.role else { continue };
            require(has_sound_bounds(permutation), WHAT)?;
            let mut expected = Vec::new();
            for (index, part) in (0..).zip(&permutation.parts) {
                let Some(part) = *part else { continue };
                let is_part =
                    |fragment: &Fragment| fragment.role == Role::Part(index) && !fragment.call_is_nullable();
                require(program.fragments.get(part.index()).is_some_and(is_part), WHAT)?;
                require(this.claim(part, number), WHAT)?;
                expected.push(part);
            }
            let first = program.state(whole.start);
            let after = first.calls.first().map(|call| call.target).ok_or(Malformed(WHAT))?;
            let mut called: Vec<FragmentId> = first.calls.iter().map(|call| call.fragment).collect();
            called.sort_unstable();
            expected.sort_unstable();
            require(called == expected && first.calls.iter().all(|call| call.target == after), WHAT)?;
            let is_bare = |state: &State<'_>| {
                state.bytes.is_empty() && state.epsilons.is_empty() && state.tokens.is_empty()
            };
            let second = program.state(after);
            require(is_bare(&first) && is_bare(&second) && second.is_final && !first.is_final, WHAT)?;
            let back: Vec<Call> = second.calls.to_vec();
            match permutation.separator {
                None => require(back.is_empty(), WHAT)?,
                Some(separator) => {
                    let role = program.fragments.get(separator.index()).map(|fragment| &fragment.role);
                    require(role == Some(&Role::Separator) && this.claim(separator, number), WHAT)?;
                    require(back == [Call { fragment: separator, target: whole.start }], WHAT)?;
                }
            }
            calls += called.len() + back.len();
        }
        // The calls that belong to wholes were counted above; if there were another one, the numbers would
        // differ.
        let has_whole = |call: &&Call| this.owner_of[call.fragment].is_some();
        require(program.calls.iter().filter(has_whole).count() == calls, WHAT)?;
        let is_whole = |(fragment, whole): (&Fragment, &Option<FragmentId>)| {
            matches!(fragment.role, Role::Part(_) | Role::Separator) == whole.is_some()
        };
        require(program.fragments.iter().zip(this.owner_of.iter()).all(is_whole), WHAT)?;
        Ok(this)
    }

    fn claim(&mut self, part: FragmentId, whole: FragmentId) -> bool {
        self.owner_of[part].replace(whole).is_none()
    }
}

fn has_sound_bounds(permutation: &Permutation) -> bool {
    let Permutation { parts, separator, required, once, min, max } = permutation;
    required <= once
        && u32::try_from(parts.len()).is_ok_and(|count| *once <= count)
        && parts.iter().zip(0..*required).all(|(part, _)| part.is_some())
        && *min >= 1
        && max.is_none_or(|max| (*min).max(*required) <= max)
        && (separator.is_some() || *max == Some(1))
}

/// The endings of a state: whether it leads to a final state at all, and whether it does so without reading a
/// byte. Both are least fixpoints over the same edges.
fn check_endings(program: &Program, wholes: &PermutationOwners) -> Result<(), Malformed> {
    let backwards = Backwards::new(program);
    let ends = backwards.closure(program, wholes, Edges::All);
    require(ends.iter().all(|&ends| ends), "a dead end")?;
    // Equal, and not only implied: engines skip calls that may be empty, and never complete them.
    let empty = backwards.closure(program, wholes, Edges::Empty);
    let right = |fragment: &Fragment| fragment.nullable == empty[fragment.start];
    require(program.fragments.iter().all(right), "which fragments may be empty")
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Edges {
    /// All of them; a call once its fragment ends.
    All,
    /// Those that may read nothing.
    Empty,
}

/// Edges the other way round, in rows: from a state, and from a fragment, to the edges that wait for it.
struct Backwards {
    edges: Grouped<StateId, (StateId, Kind)>,
    calls: Grouped<FragmentId, (StateId, StateId)>,
    starts: Grouped<StateId, FragmentId>,
}

#[derive(Clone, Copy)]
enum Kind {
    /// A byte or a token.
    Reads,
    Epsilon,
    Call(FragmentId),
}

impl Backwards {
    fn new(program: &Program) -> Self {
        let mut edges: Vec<(StateId, (StateId, Kind))> = Vec::new();
        let mut calls: Vec<(FragmentId, (StateId, StateId))> = Vec::new();
        for id in state_ids(program) {
            let (state, from) = (program.state(id), id);
            let mut push = |to: StateId, kind| edges.push((to, (from, kind)));
            state.bytes.iter().for_each(|edge| push(edge.target, Kind::Reads));
            state.tokens.iter().for_each(|edge| push(edge.target, Kind::Reads));
            state.epsilons.iter().for_each(|&target| push(target, Kind::Epsilon));
            state.calls.iter().for_each(|call| push(call.target, Kind::Call(call.fragment)));
            calls.extend(state.calls.iter().map(|call| (call.fragment, (from, call.target))));
        }
        let numbered = program.fragments.iter().zip(ids(program.fragments.len()));
        let starts = numbered.map(|(fragment, number)| (fragment.start, number));
        Self {
            edges: Grouped::new(program.state_count(), edges.iter().copied()),
            calls: Grouped::new(program.fragments.len(), calls.iter().copied()),
            starts: Grouped::new(program.state_count(), starts),
        }
    }

    /// The states from which a final state is reached over the edges given.
    fn closure(&self, program: &Program, wholes: &PermutationOwners, over: Edges) -> IdVec<StateId, bool> {
        let mut marks = ClosureState::new(program);
        let ended = |fragment: FragmentId, marks: &mut ClosureState| {
            for &(from, to) in self.calls.of(fragment) {
                if marks.reached[to] {
                    marks.reach(from);
                }
            }
        };
        while let Some(state) = marks.stack.pop() {
            for &(from, kind) in self.edges.of(state) {
                let open = match kind {
                    Kind::Epsilon => true,
                    Kind::Reads => over == Edges::All,
                    Kind::Call(fragment) => marks.passes[fragment],
                };
                if open {
                    marks.reach(from);
                }
            }
            for &fragment in self.starts.of(state) {
                let is_whole = matches!(program.fragments[fragment.index()].role, Role::Permutation(_));
                if over == Edges::Empty || !is_whole {
                    if marks.pass(fragment) {
                        ended(fragment, &mut marks);
                    }
                    // A part may be the one that its whole was missing.
                    if let Some(whole) = wholes.owner_of[fragment]
                        && over == Edges::All
                        && marks.learn(program, fragment, whole)
                        && marks.pass(whole)
                    {
                        ended(whole, &mut marks);
                    }
                }
            }
        }
        marks.reached
    }
}

/// The state of a closure.
struct ClosureState {
    reached: IdVec<StateId, bool>,
    /// Fragments whose calls can be passed.
    passes: IdVec<FragmentId, bool>,
    /// The parts of a whole that do not end.
    missing: IdVec<FragmentId, MissingParts>,
    stack: Vec<StateId>,
}

impl ClosureState {
    fn new(program: &Program) -> Self {
        let optional = |fragment: &Fragment| fragment.count.is_some_and(|count| count.min == 0);
        let missing = |fragment: &Fragment| match &fragment.role {
            Role::Permutation(whole) => MissingParts::of(whole.required, whole.once, whole.min),
            _ => MissingParts::default(),
        };
        let mut this = Self {
            reached: IdVec::of(false, program.state_count()),
            passes: program.fragments.iter().map(optional).collect(),
            missing: program.fragments.iter().map(missing).collect(),
            stack: Vec::new(),
        };
        for state in state_ids(program).filter(|&state| program.state(state).is_final) {
            this.reach(state);
        }
        this
    }

    fn reach(&mut self, state: StateId) {
        if !std::mem::replace(&mut self.reached[state], true) {
            self.stack.push(state);
        }
    }

    /// Notes that a call of a fragment can be passed. Whether that is new.
    fn pass(&mut self, fragment: FragmentId) -> bool {
        !std::mem::replace(&mut self.passes[fragment], true)
    }

    /// Notes that a part or a separator ends. Whether its whole can end then.
    fn learn(&mut self, program: &Program, inside: FragmentId, whole: FragmentId) -> bool {
        self.missing[whole].take(program.fragment(inside).role.as_part())
    }
}
