//! Writes the flat tables of a program.
//!
//! Fragments are numbered as they are met from the root on, states breadth-first inside their fragment, so
//! that neighbours lie side by side. Unreachable parts are not written.

use std::sync::Arc;

use grammask_grammar_ir::{Grammar, RuleId};

use crate::draft::automata::{Draft, DraftRole, Label};
use crate::draft::ids::{DraftFragmentId, DraftStateId, NameId};
use crate::draft::names::is_plain;
use crate::draft::prebuilt::{PrebuiltStates, callee};
use crate::error::AutomataError;
use crate::ids::{Id, IdVec, PartId};
use crate::link::scope::Parts;
use crate::pace::Pace;
use crate::passes::ids::ChainId;
use crate::program::byte_classes::ByteClasses;
use crate::program::fragment_name::FragmentName;
use crate::program::state_tables::Linked;
use crate::program::sub_programs::SubPrograms;
use crate::program::tables::{
    ByteEdge, Call, Fragment, FragmentId, LabelId, Options, Permutation, Program, Role, StateId, TokenEdge,
};

/// Which fragments of the draft became which of the program, and their states there.
pub(crate) struct FragmentNumbers {
    /// The states of each fragment of the program.
    pub(crate) ranges: IdVec<FragmentId, PrebuiltStates>,
    /// The fragment of the program that each fragment of the draft became, if it is reached.
    pub(crate) numbers: IdVec<DraftFragmentId, FragmentId>,
    /// The fragments that parts became.
    pub(crate) parts: Vec<FragmentId>,
}

pub(crate) fn emit(
    mut draft: Draft,
    grammar: &Grammar,
    parts: &Parts<'_>,
    pace: &mut Pace<'_>,
) -> Result<(Program, FragmentNumbers), AutomataError> {
    // Two sweeps: the first one gives every reachable fragment and state its number, in the order in which
    // the second one writes them. So an edge can be written before its target is.
    let mut numbering = Numbering::new(&draft, parts, pace);
    pace.check()?;
    let labels = std::mem::take(&mut draft.labels).into_labels();
    let linked = numbering.linked(&draft, parts, labels.len());
    // Numbers of sub-programs come last of all, after the fragments of linked parts, whose count is known
    // only now.
    numbering.sub_programs_after(linked.last().map(Linked::others_end));
    let mut next_linked = linked.iter();
    let mut program = Program {
        states: Vec::with_capacity(numbering.next_state.index() + 1),
        byte_edges: Vec::with_capacity(draft.edges.len() + draft.names.edges + draft.prebuilt.edge_count()),
        epsilons: Vec::with_capacity(draft.prebuilt.epsilon_count()),
        calls: Vec::with_capacity(
            draft.prebuilt.call_count() + 2 * numbering.fragments.len() + numbering.chain_bytes,
        ),
        labels,
        fragments: Vec::with_capacity(numbering.fragments.len()),
        cost: draft.cost,
        ..Program::empty()
    };
    let names = rule_names(&draft, &numbering, grammar);
    let mut name_at = 0;
    let mut edges = Vec::new();
    let mut states = numbering.states.iter();
    for &(old, first, end) in numbering.fragments.iter() {
        let fragment = &mut draft.fragments[old];
        let name = fragment.name.take().or_else(|| {
            let rule = fragment.rule?;
            let start = name_at;
            name_at += grammar.rule(rule).name().len();
            Some(FragmentName::part(&names, start, name_at))
        });
        if fragment.linked.is_some()
            && let Some(part) = next_linked.next()
        {
            let root = part.root();
            // The options of a part's own root go before those of its rule in the whole.
            let options = root.options.clone().or_else(|| options(grammar, fragment.rule));
            program.fragments.push(Fragment { options, ..root });
            part.push_states(&mut program);
            // Labels are few: those of the whole come first, then each part's.
            program.labels.extend_from_slice(&part.program.labels);
            continue;
        }
        let start = match fragment.prebuilt {
            Some(finished) => finished.start.rebased(finished.states.first, first),
            None => numbering.state(fragment.start),
        };
        program.fragments.push(Fragment {
            name: name.unwrap_or(FragmentName::fixed("")),
            start,
            nullable: fragment.nullable,
            count: fragment.count,
            role: role(&fragment.role, &numbering),
            options: if fragment.stands_for_rule { options(grammar, fragment.rule) } else { None },
        });
        if let Some(finished) = fragment.prebuilt {
            let PrebuiltStates { first: from, .. } = finished.states;
            let to_program = |fragment| numbering.fragment_number[callee(fragment)];
            let tables = draft.prebuilt.tables(finished.states);
            program.tables_mut().extend(tables, |state| state.rebased(from, first), to_program);
            continue;
        }
        // `states` has the states of all fragments in a row; those of this fragment end at its last number.
        while program.states.len() < end.index()
            && let Some(&written) = states.next()
        {
            if !pace.goes_on_at(StateId::from_index(program.states.len())) {
                pace.check()?;
            }
            let state = match written.get() {
                StateOrChain::State(state) => state,
                StateOrChain::Chain(chain) => {
                    push_chain(&mut program, &draft, &numbering, numbering.chains[chain]);
                    continue;
                }
            };
            program.push_row(draft.states[state].is_final());
            let first = program.byte_edges.len();
            let mut out = draft.edges(state);
            let (Some(one), second) = (out.next(), out.next()) else { continue };
            // Most states have one edge, which needs no order.
            if second.is_none() {
                match one.label.as_name() {
                    None => push_edge(&mut program, first, (one.label, numbering.state(one.to)), &numbering),
                    Some(name) => {
                        let chain = numbering.chain(name, one.to);
                        let (byte, inside, escape) = chain.begin(&draft, &numbering);
                        push_character(&mut program, byte, inside, escape);
                    }
                }
                continue;
            }
            edges.clear();
            for edge in [one].into_iter().chain(second).chain(out) {
                match edge.label.as_name() {
                    None => edges.push((edge.label, numbering.state(edge.to))),
                    Some(name) => {
                        let chain = numbering.chain(name, edge.to);
                        let (byte, inside, escape) = chain.begin(&draft, &numbering);
                        edges.extend(is_plain(byte).then_some((Label::bytes(byte, byte), inside)));
                        edges.push((Label::bytes(b'\\', b'\\'), escape));
                    }
                }
            }
            // Names become the edges of their first character and of the backslash. Sorting by label puts
            // byte edges in the order of their starts, as readers expect, and equal edges side by side.
            edges.sort_unstable();
            edges.dedup();
            for &edge in &edges {
                push_edge(&mut program, first, edge, &numbering);
            }
        }
    }
    // The roots of linked parts take the place of their rules; all their other fragments follow the
    // fragments of the draft.
    program.fragments.extend(linked.iter().flat_map(Linked::others));
    program.push_row(false);
    program.byte_edges.shrink_to_fit();
    program.byte_classes =
        ByteClasses::from_ranges(program.byte_edges.iter().map(|edge| (edge.start, edge.end)));
    refer(&mut program, &numbering.sub_programs, parts);
    let ranges = numbering.fragments.iter().map(|&(_, first, end)| PrebuiltStates { first, end });
    let parts = linked.iter().map(|part| part.root).collect();
    Ok((program, FragmentNumbers { ranges: ranges.collect(), numbers: numbering.fragment_number, parts }))
}

/// Puts the parts that are referred to after everything else.
fn refer(program: &mut Program, sub_programs: &[(DraftFragmentId, PartId)], parts: &Parts<'_>) {
    if sub_programs.is_empty() {
        return;
    }
    let mut all = SubPrograms::behind(program.own_ends(), sub_programs.len());
    let mut classes = vec![&program.byte_classes];
    for &(_, part) in sub_programs {
        let Some(unit) = parts.referred(part) else { continue };
        // Labels are few, so those of sub-programs are copied into the whole, and token sets can be asked for
        // by one number.
        let first_label = LabelId::from_index(program.labels.len());
        program.labels.extend_from_slice(unit.labels());
        all.push(unit, unit.footprint().has_options, first_label);
        classes.push(&unit.footprint().classes);
    }
    program.byte_classes = ByteClasses::finer(classes);
    program.sub_programs = all;
}

/// The names of the rules that fragments are called after, one after the other in the order of the fragments.
fn rule_names(draft: &Draft, numbering: &Numbering, grammar: &Grammar) -> Arc<str> {
    let mut names = String::with_capacity(16 * numbering.fragments.len());
    for &(old, ..) in numbering.fragments.iter() {
        let fragment = &draft.fragments[old];
        if fragment.name.is_none()
            && let Some(rule) = fragment.rule
        {
            names.push_str(grammar.rule(rule).name());
        }
    }
    names.into()
}

/// The options of a rule, if it has any.
fn options(grammar: &Grammar, rule: Option<RuleId>) -> Option<Box<Options>> {
    let options = grammar.rule(rule?).options();
    let kept = Options {
        max_tokens: options.max_tokens.map_or(0, std::num::NonZeroU32::get),
        capture: options.capture.as_ref().map(|capture| (capture.name.clone(), capture.hidden_suffix)),
        end_capture: options.end_capture.as_ref().map(|end| (end.name.clone(), end.bytes)),
        temperature: options.temperature.map(|temperature| temperature.value().to_bits()),
        distinct: options.distinct,
    };
    (!options.is_empty()).then(|| Box::new(kept))
}

/// A part that nothing reaches derives nothing.
fn role(role: &DraftRole, numbering: &Numbering) -> Role {
    let number = |fragment: DraftFragmentId| numbering.fragment_number[fragment].known();
    match role {
        DraftRole::None => Role::None,
        DraftRole::Part(index) => Role::Part(*index),
        DraftRole::Separator => Role::Separator,
        DraftRole::Measured(limit) => Role::Measured(*limit),
        DraftRole::Permutation(permutation) => {
            let parts = permutation.parts.iter().map(|&part| number(part));
            let separator = number(permutation.separator);
            // A separator that derives nothing allows one part only.
            let max = if separator.is_some() { permutation.max } else { Some(1) };
            Role::Permutation(Box::new(Permutation {
                parts: parts.collect(),
                separator,
                required: permutation.required,
                once: permutation.once,
                min: permutation.min,
                max,
            }))
        }
    }
}

struct Numbering {
    /// The fragments in their new order: old number, first state and the end of its states.
    fragments: IdVec<FragmentId, (DraftFragmentId, StateId, StateId)>,
    /// The states that are not prebuilt, in their new order, and a chain for the states inside of it.
    states: Vec<Written>,
    /// The texts that are written out.
    chains: IdVec<ChainId, Chain>,
    /// The lengths of all of them.
    chain_bytes: usize,
    /// For each state the last chain that leads to it; none before the first chain.
    chain_to: IdVec<DraftStateId, ChainId>,
    next_state: StateId,
    fragment_number: IdVec<DraftFragmentId, FragmentId>,
    state_number: IdVec<DraftStateId, StateId>,
    /// The parts that are referred to: their fragments of the draft, and which parts they are.
    sub_programs: Vec<(DraftFragmentId, PartId)>,
}

impl Numbering {
    fn new(draft: &Draft, parts: &Parts<'_>, pace: &mut Pace<'_>) -> Self {
        let mut this = Self {
            fragments: IdVec::with_capacity(draft.fragments.len()),
            states: Vec::with_capacity(draft.states.len()),
            chains: IdVec::with_capacity(draft.names.len()),
            chain_bytes: 0,
            chain_to: IdVec::default(),
            next_state: StateId::FIRST,
            fragment_number: IdVec::of(FragmentId::NONE, draft.fragments.len()),
            state_number: IdVec::of(StateId::NONE, draft.states.len()),
            sub_programs: Vec::new(),
        };
        // The root has the number 0. A fragment is numbered when it is first met, and its states when its
        // turn comes, so that the states of one fragment are neighbours.
        this.reach_fragment(draft, parts, DraftFragmentId::FIRST);
        let mut next = FragmentId::FIRST;
        while let Some(&(old, ..)) = this.fragments.get(next) {
            let first = this.next_state;
            let fragment = &draft.fragments[old];
            match (fragment.linked, fragment.prebuilt) {
                (Some(part), _) => {
                    let states = parts.copied(part).map_or(0, Program::own_state_count);
                    this.next_state = this.next_state.plus(states);
                }
                (None, Some(finished)) => {
                    let PrebuiltStates { first, end } = finished.states;
                    this.next_state = this.next_state.plus(end.since(first));
                    for call in draft.prebuilt.calls(finished.states) {
                        this.reach_fragment(draft, parts, callee(call.fragment));
                    }
                }
                (None, None) => this.number_states(draft, parts, fragment.start, pace),
            }
            this.fragments[next] = (old, first, this.next_state);
            next = next.plus(1);
        }
        this
    }

    fn state(&self, old: DraftStateId) -> StateId {
        self.state_number[old]
    }

    /// The parts that are reached, in the order of their fragments.
    fn linked<'p>(&self, draft: &Draft, parts: &'p Parts<'_>, labels: usize) -> Vec<Linked<'p>> {
        let (mut others, mut first_label) = (self.fragments.next_id(), LabelId::from_index(labels));
        let linked = self.fragments.entries().filter_map(|(root, &(old, first_state, _))| {
            let program = parts.copied(draft.fragments[old].linked?)?;
            let linked = Linked { program, root, others, first_state, first_label };
            (others, first_label) = (linked.others_end(), first_label.plus(program.labels.len()));
            Some(linked)
        });
        linked.collect()
    }

    fn number_states(&mut self, draft: &Draft, parts: &Parts<'_>, start: DraftStateId, pace: &mut Pace<'_>) {
        let mut next = self.states.len();
        self.reach(start);
        while let Some(&written) = self.states.get(next) {
            next += 1;
            let StateOrChain::State(state) = written.get() else { continue };
            if !pace.goes_on_at(state) {
                break;
            }
            for edge in draft.edges(state) {
                if let Some(name) = edge.label.as_name() {
                    self.reach_chain(draft, parts, name, edge.to);
                }
                self.reach(edge.to);
                if let Some(callee) = edge.label.as_call() {
                    self.reach_fragment(draft, parts, callee);
                }
            }
        }
    }

    fn reach(&mut self, state: DraftStateId) {
        let number = &mut self.state_number[state];
        if *number == StateId::NONE {
            *number = self.next_state;
            self.next_state = self.next_state.plus(1);
            self.states.push(Written::state(state));
        }
    }

    /// Numbers the states inside a text, unless a text to the same state has been numbered.
    fn reach_chain(&mut self, draft: &Draft, parts: &Parts<'_>, name: NameId, to: DraftStateId) {
        if self.chain_to.is_empty() {
            self.chain_to = IdVec::of(ChainId::NONE, draft.states.len());
        }
        if self.known_chain(name, to).is_some() {
            return;
        }
        let before = self.chain_to[to];
        let chain = self.chains.push(Chain { name, to, first: self.next_state, before });
        self.chain_to[to] = chain;
        self.states.push(Written::chain(chain));
        let text = draft.names.text(name);
        self.chain_bytes += text.len();
        // For each character the state after a backslash, and between two characters the state before the
        // next one.
        self.next_state = self.next_state.plus(2 * text.len() - 1);
        for &byte in text {
            self.reach_fragment(draft, parts, draft.names.escape(byte));
        }
    }

    fn known_chain(&self, name: NameId, to: DraftStateId) -> Option<Chain> {
        // The chains into one state form a list, which is short: they are the names that lead to the same
        // member.
        let mut at = self.chain_to[to];
        while let Some(&chain) = self.chains.get(at) {
            if chain.name == name {
                return Some(chain);
            }
            at = chain.before;
        }
        None
    }

    /// A text that was reached.
    fn chain(&self, name: NameId, to: DraftStateId) -> Chain {
        self.known_chain(name, to).expect("every edge of a state that is written was reached")
    }

    fn reach_fragment(&mut self, draft: &Draft, parts: &Parts<'_>, fragment: DraftFragmentId) {
        let number = &mut self.fragment_number[fragment];
        if *number != FragmentId::NONE {
            return;
        }
        let part = draft.fragments[fragment].linked;
        match part.and_then(|part| Some((part, parts.referred(part)?))) {
            // For now its place in the list, which no edge has read yet. The root of all is among the fragments.
            Some((part, _)) => {
                *number = FragmentId::from_index(self.sub_programs.len());
                self.sub_programs.push((fragment, part));
            }
            None => {
                *number = self.fragments.push((fragment, StateId::FIRST, StateId::FIRST));
            }
        }
    }

    /// Gives the roots of sub-programs their numbers, which come after `end`, or after those that were met.
    fn sub_programs_after(&mut self, end: Option<FragmentId>) {
        let first = end.unwrap_or(self.fragments.next_id());
        for (at, &(fragment, _)) in self.sub_programs.iter().enumerate() {
            self.fragment_number[fragment] = first.plus(at);
        }
    }
}

/// The states of a text in a JSON string, written out, one after the other. First comes the state after a
/// backslash in its first state, then the state after its first character, the one after a backslash there,
/// and so on.
#[derive(Clone, Copy)]
struct Chain {
    name: NameId,
    to: DraftStateId,
    /// The new number of its first state.
    first: StateId,
    /// Another one that leads to the same state.
    before: ChainId,
}

/// The next thing to write, in 32 bits: a state, or a chain, which has the highest bit.
#[derive(Clone, Copy)]
struct Written(u32);

enum StateOrChain {
    State(DraftStateId),
    Chain(ChainId),
}

impl Written {
    const CHAIN: u32 = 1 << 31;

    fn state(state: DraftStateId) -> Self {
        Self(state.raw())
    }

    fn chain(chain: ChainId) -> Self {
        Self(Self::CHAIN | chain.raw())
    }

    #[inline]
    fn get(self) -> StateOrChain {
        match self.0 & Self::CHAIN {
            0 => StateOrChain::State(DraftStateId::from_raw(self.0)),
            _ => StateOrChain::Chain(ChainId::from_raw(self.0 & !Self::CHAIN)),
        }
    }
}

impl Chain {
    /// The first character, the state after it, and the one after a backslash.
    fn begin(self, draft: &Draft, numbering: &Numbering) -> (u8, StateId, StateId) {
        let text = draft.names.text(self.name);
        (text[0], self.behind(0, text, numbering), self.first)
    }

    /// The state after a character.
    fn behind(self, at: usize, text: &[u8], numbering: &Numbering) -> StateId {
        match at + 1 == text.len() {
            true => numbering.state(self.to),
            false => self.first.plus(2 * at + 1),
        }
    }
}

/// Writes the rows of a text: all tables at once, since the states inside of names are most of a schema's.
fn push_chain(program: &mut Program, draft: &Draft, numbering: &Numbering, chain: Chain) {
    let text = draft.names.text(chain.name);
    // The first state is the one after a backslash in the state before the chain: it has a call and no bytes.
    let first = program.tables_mut().next_row();
    program.states.push(first);
    let bytes = program.byte_edges.len();
    let behind = |at: usize| chain.behind(at, text, numbering);
    let escape = |at: usize| chain.first.plus(2 * at);
    // One call a character, in the order of the states after a backslash, so their rows differ by one.
    program.calls.extend(text.iter().enumerate().map(|(at, &byte)| {
        let fragment = numbering.fragment_number[draft.names.escape(byte)];
        Call { fragment, target: behind(at) }
    }));
    // The state before the character at `at + 1`, and the one after a backslash there.
    let inner = &text[1..];
    if inner.iter().all(|&byte| is_plain(byte)) {
        program.states.extend(
            (0..inner.len()).flat_map(|at| [first.plus(2 * at, at + 1), first.plus(2 * at + 2, at + 1)]),
        );
        program.byte_edges.extend(inner.iter().zip(1..).flat_map(|(&byte, at)| {
            let backslash = ByteEdge { start: b'\\', end: b'\\', target: escape(at) };
            let plain = ByteEdge { start: byte, end: byte, target: behind(at) };
            if byte < b'\\' { [plain, backslash] } else { [backslash, plain] }
        }));
        return;
    }
    for (&byte, at) in inner.iter().zip(1..) {
        program.states.push(first.plus(program.byte_edges.len() - bytes, at));
        push_character(program, byte, behind(at), escape(at));
        program.states.push(first.plus(program.byte_edges.len() - bytes, at));
    }
}

/// Adds the edges of a state that reads a character, or a backslash and an escape of it.
fn push_character(program: &mut Program, byte: u8, behind: StateId, escape: StateId) {
    let backslash = ByteEdge { start: b'\\', end: b'\\', target: escape };
    let plain = ByteEdge { start: byte, end: byte, target: behind };
    match is_plain(byte) {
        true if byte < b'\\' => program.byte_edges.extend([plain, backslash]),
        true => program.byte_edges.extend([backslash, plain]),
        false => program.byte_edges.push(backslash),
    }
}

/// Adds an edge to the state whose byte edges begin at `first`, after the edges that precede it in order.
fn push_edge(program: &mut Program, first: usize, (label, target): (Label, StateId), numbering: &Numbering) {
    if let Some((start, end)) = label.as_bytes() {
        match program.byte_edges[first..].last_mut() {
            // Edges come sorted, so touching ranges to one target become one edge.
            Some(last) if last.target == target && u16::from(last.end) + 1 == u16::from(start) => {
                last.end = end;
            }
            _ => program.byte_edges.push(ByteEdge { start, end, target }),
        }
    } else if let Some(callee) = label.as_call() {
        program.calls.push(Call { fragment: numbering.fragment_number[callee], target });
    } else if let Some(label) = label.as_token() {
        program.token_edges.push(TokenEdge { label, target });
    } else {
        program.epsilons.push(target);
    }
}
