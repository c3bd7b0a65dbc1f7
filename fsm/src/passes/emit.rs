//! Writes the flat tables of a program.
//!
//! Fragments are numbered as they are met from the root on, states breadth-first inside their fragment, so
//! that neighbours lie side by side. What is not reached is not written.

use std::sync::{Arc, OnceLock};

use grammask_grammar_ir::{Grammar, RuleId};

use crate::draft::automata::{Draft, DraftRole, Label};
use crate::draft::names::is_plain;
use crate::draft::prebuilt::{PrebuiltStates, PrebuiltTables};
use crate::ids::NONE;
use crate::link::scope::{Linked, Parts};
use crate::program::byte_classes::ByteClasses;
use crate::program::distinct::Distinct;
use crate::program::fragment_name::FragmentName;
use crate::program::sub_programs::{FirstIds, SubPrograms};
use crate::program::tables::StateRow;
use crate::program::tables::{
    ByteEdge, Call, Fragment, FragmentId, LabelId, Options, Permutation, Program, Role, StateId, TokenEdge,
};

/// Which fragments of the draft became which of the program, and their states there.
pub(crate) struct FragmentNumbers {
    /// The states of each fragment of the program.
    pub(crate) ranges: Vec<PrebuiltStates>,
    /// The number in the program of each fragment of the draft.
    pub(crate) numbers: Vec<u32>,
    /// The fragments that parts became.
    pub(crate) parts: Vec<u32>,
}

pub(crate) fn emit(mut draft: Draft, grammar: &Grammar, parts: &Parts<'_>) -> (Program, FragmentNumbers) {
    let mut numbering = Numbering::new(&draft, parts);
    let linked = numbering.linked(&draft, parts);
    numbering.sub_programs_after(
        parts,
        linked.last().map(|part| part.others + part.program.fragments.len() as u32 - 1),
    );
    let mut next_linked = linked.iter();
    let mut program = Program {
        states: Vec::with_capacity(numbering.state_count as usize + 1),
        byte_edges: Vec::with_capacity(draft.edges.len() + draft.names.edges + draft.prebuilt.edge_count()),
        epsilons: Vec::with_capacity(draft.prebuilt.epsilon_count()),
        calls: Vec::with_capacity(
            draft.prebuilt.call_count() + 2 * numbering.fragments.len() + numbering.chain_bytes as usize,
        ),
        token_edges: Vec::new(),
        labels: std::mem::take(&mut draft.labels).into_labels(),
        fragments: Vec::with_capacity(numbering.fragments.len()),
        root: FragmentId::from_raw(0),
        byte_classes: ByteClasses::from_ranges([]),
        sub_programs: SubPrograms::default(),
        corners: OnceLock::new(),
    };
    let names = rule_names(&draft, &numbering, grammar);
    let mut name_at = 0;
    let mut edges = Vec::new();
    let mut states = numbering.states.iter();
    for &(old, first, end) in &numbering.fragments {
        let fragment = &mut draft.fragments[old as usize];
        let name = fragment.name.take().or_else(|| {
            let rule = rule_of(grammar, fragment.rule)?;
            let start = name_at;
            name_at += grammar.rule(rule).name().len();
            Some(FragmentName::part(&names, start, name_at))
        });
        if fragment.linked.is_some()
            && let Some(part) = next_linked.next()
        {
            let root = part.root();
            // What a part says of its own root goes before what the whole says of its rule.
            let options = root.options.clone().or_else(|| options(grammar, fragment.rule));
            program.fragments.push(Fragment { options, ..root });
            part.push_states(&mut program);
            continue;
        }
        let start = match fragment.prebuilt {
            Some(states) => first + fragment.start - states.first,
            None => numbering.state(fragment.start).raw(),
        };
        program.fragments.push(Fragment {
            name: name.unwrap_or(FragmentName::fixed("")),
            start: StateId::from_raw(start),
            nullable: fragment.nullable,
            count: fragment.count,
            role: role(&fragment.role, &numbering),
            options: if fragment.stands_for_rule { options(grammar, fragment.rule) } else { None },
        });
        if let Some(states) = fragment.prebuilt {
            push_prebuilt(
                &mut program,
                draft.prebuilt.tables(states),
                first.wrapping_sub(states.first),
                &numbering,
            );
            continue;
        }
        while program.states.len() < end as usize
            && let Some(&state) = states.next()
        {
            if state & CHAIN != 0 {
                push_chain(&mut program, &draft, &numbering, numbering.chains[(state & !CHAIN) as usize]);
                continue;
            }
            program.push_row(draft.states[state as usize].is_final);
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
            edges.sort_unstable();
            edges.dedup();
            for &edge in &edges {
                push_edge(&mut program, first, edge, &numbering);
            }
        }
    }
    program.fragments.extend(linked.iter().flat_map(Linked::others));
    program.push_row(false);
    program.byte_edges.shrink_to_fit();
    program.byte_classes =
        ByteClasses::from_ranges(program.byte_edges.iter().map(|edge| (edge.start, edge.end)));
    refer(&mut program, &numbering.sub_programs, parts);
    draft.put_away();
    let ranges = numbering.fragments.into_iter().map(|(_, first, end)| PrebuiltStates { first, end });
    let parts = linked.iter().map(|part| part.root).collect();
    (program, FragmentNumbers { ranges: ranges.collect(), numbers: numbering.fragment_number, parts })
}

/// Puts the parts that are referred to behind everything else.
fn refer(program: &mut Program, sub_programs: &[(u32, u32)], parts: &Parts<'_>) {
    if sub_programs.is_empty() {
        return;
    }
    let mut begin = FirstIds {
        state: program.own_state_count() as u32,
        fragment: program.fragments.len() as u32,
        label: 0,
    };
    let mut all = SubPrograms::with_capacity(sub_programs.len());
    let mut classes = vec![&program.byte_classes];
    for &(_, part) in sub_programs {
        let Some(unit) = parts.referred(part) else { continue };
        begin.label = program.labels.len() as u32;
        program.labels.extend_from_slice(unit.labels());
        begin = all.push(unit, &unit.footprint().reservation(), begin);
        classes.push(&unit.footprint().classes);
    }
    program.byte_classes = ByteClasses::finer(classes);
    program.sub_programs = all;
}

/// The names of the rules that fragments are called after, one behind the other in the order of the fragments.
fn rule_names(draft: &Draft, numbering: &Numbering, grammar: &Grammar) -> Arc<str> {
    let mut names = String::with_capacity(16 * numbering.fragments.len());
    for &(old, ..) in &numbering.fragments {
        let fragment = &draft.fragments[old as usize];
        if fragment.name.is_none()
            && let Some(rule) = rule_of(grammar, fragment.rule)
        {
            names.push_str(grammar.rule(rule).name());
        }
    }
    names.into()
}

/// The rule of that number, if there is one.
fn rule_of(grammar: &Grammar, rule: u32) -> Option<RuleId> {
    RuleId::new(rule as usize).filter(|rule| rule.index() < grammar.rule_count())
}

/// The options of a rule, if it has any.
fn options(grammar: &Grammar, rule: u32) -> Option<Box<Options>> {
    let options = grammar.rule(rule_of(grammar, rule)?).options();
    let kept = Options {
        max_tokens: options.max_tokens.map_or(0, std::num::NonZeroU32::get),
        capture: options.capture.as_ref().map(|capture| (capture.name.clone(), capture.hidden_suffix)),
        end_capture: options.end_capture.as_ref().map(|end| (end.name.clone(), end.bytes)),
        temperature: options.temperature.map(|temperature| temperature.value().to_bits()),
        distinct: options.distinct.map(Distinct::of),
    };
    (!options.is_empty()).then(|| Box::new(kept))
}

/// A part that nothing reaches derives nothing.
fn role(role: &DraftRole, numbering: &Numbering) -> Role {
    let number =
        |fragment: u32| Some(numbering.fragment_number[fragment as usize]).filter(|&new| new != NONE);
    match role {
        DraftRole::None => Role::None,
        DraftRole::Part(index) => Role::Part(*index),
        DraftRole::Separator => Role::Separator,
        DraftRole::Permutation(permutation) => {
            let parts = permutation.parts.iter().map(|&part| number(part).map(FragmentId::from_raw));
            let separator = number(permutation.separator).map(FragmentId::from_raw);
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
    fragments: Vec<(u32, u32, u32)>,
    /// Old numbers of the states that are not finished, in their new order, and [`CHAIN`] with the number of a chain for
    /// the states inside of it.
    states: Vec<u32>,
    /// The texts that are written out.
    chains: Vec<Chain>,
    /// The lengths of all of them.
    chain_bytes: u32,
    /// For each state the last chain that leads to it; none before the first chain.
    chain_to: Vec<u32>,
    state_count: u32,
    fragment_number: Vec<u32>,
    state_number: Vec<u32>,
    /// The parts that are referred to: their fragments of the draft, and which parts they are.
    sub_programs: Vec<(u32, u32)>,
}

impl Numbering {
    fn new(draft: &Draft, parts: &Parts<'_>) -> Self {
        let mut this = Self {
            fragments: Vec::with_capacity(draft.fragments.len()),
            states: Vec::with_capacity(draft.states.len()),
            chains: Vec::with_capacity(draft.names.len()),
            chain_bytes: 0,
            chain_to: Vec::new(),
            state_count: 0,
            fragment_number: vec![NONE; draft.fragments.len()],
            state_number: vec![NONE; draft.states.len()],
            sub_programs: Vec::new(),
        };
        this.reach_fragment(draft, parts, 0);
        let mut next = 0;
        while let Some(&(old, ..)) = this.fragments.get(next) {
            let first = this.state_count;
            let fragment = &draft.fragments[old as usize];
            match (fragment.linked, fragment.prebuilt) {
                (Some(part), _) => {
                    this.state_count += parts.copied(part).map_or(0, |part| part.own_state_count() as u32);
                }
                (None, Some(states)) => {
                    this.state_count += states.end - states.first;
                    for call in draft.prebuilt.calls(states) {
                        this.reach_fragment(draft, parts, call.fragment.raw());
                    }
                }
                (None, None) => this.number_states(draft, parts, fragment.start),
            }
            this.fragments[next] = (old, first, this.state_count);
            next += 1;
        }
        this
    }

    fn state(&self, old: u32) -> StateId {
        StateId::from_raw(self.state_number[old as usize])
    }

    /// The parts that are reached, in the order of their fragments.
    fn linked<'p>(&self, draft: &Draft, parts: &'p Parts<'_>) -> Vec<Linked<'p>> {
        let fragments = self.fragments.iter().zip(0..);
        let roots = fragments.filter_map(|(&(old, first, _), root)| {
            let part = draft.fragments[old as usize].linked?;
            Some((root, first, parts.copied(part)?))
        });
        Linked::all(roots, self.fragments.len() as u32)
    }

    fn number_states(&mut self, draft: &Draft, parts: &Parts<'_>, start: u32) {
        let mut next = self.states.len();
        self.reach(start);
        while let Some(&state) = self.states.get(next) {
            next += 1;
            if state & CHAIN != 0 {
                continue;
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

    fn reach(&mut self, state: u32) {
        let number = &mut self.state_number[state as usize];
        if *number == NONE {
            *number = self.state_count;
            self.state_count += 1;
            self.states.push(state);
        }
    }

    /// Numbers the states inside a text, unless one that leads to the same state has been.
    fn reach_chain(&mut self, draft: &Draft, parts: &Parts<'_>, name: u32, to: u32) {
        if self.chain_to.is_empty() {
            self.chain_to.resize(draft.states.len(), NONE);
        }
        if self.known_chain(name, to).is_some() {
            return;
        }
        let number = self.chains.len() as u32;
        let before = std::mem::replace(&mut self.chain_to[to as usize], number);
        self.chains.push(Chain { name, to, first: self.state_count, before });
        self.states.push(CHAIN | number);
        let text = draft.names.text(name);
        self.chain_bytes += text.len() as u32;
        self.state_count += 2 * text.len() as u32 - 1;
        for &byte in text {
            self.reach_fragment(draft, parts, draft.names.escape(byte));
        }
    }

    fn known_chain(&self, name: u32, to: u32) -> Option<Chain> {
        let mut at = self.chain_to[to as usize];
        while let Some(&chain) = self.chains.get(at as usize) {
            if chain.name == name {
                return Some(chain);
            }
            at = chain.before;
        }
        None
    }

    /// A text that was reached.
    fn chain(&self, name: u32, to: u32) -> Chain {
        self.known_chain(name, to).expect("every edge of a state that is written was reached")
    }

    fn reach_fragment(&mut self, draft: &Draft, parts: &Parts<'_>, fragment: u32) {
        let number = &mut self.fragment_number[fragment as usize];
        if *number != NONE {
            return;
        }
        let part = draft.fragments[fragment as usize].linked;
        match part.and_then(|part| Some((part, parts.referred(part)?))) {
            // For now the number that it has among the sub_programs. The root of all is among the fragments.
            Some((part, _)) => {
                *number = self.sub_programs.len() as u32;
                self.sub_programs.push((fragment, part));
            }
            None => {
                *number = self.fragments.len() as u32;
                self.fragments.push((fragment, 0, 0));
            }
        }
    }

    /// Gives the fragments of sub-programs their numbers, which come after `end`, or after those that were met.
    fn sub_programs_after(&mut self, parts: &Parts<'_>, end: Option<u32>) {
        let mut next = end.unwrap_or(self.fragments.len() as u32);
        for &(fragment, part) in &self.sub_programs {
            let Some(unit) = parts.referred(part) else { continue };
            let footprint = unit.footprint();
            self.fragment_number[fragment as usize] = next + footprint.root;
            next += footprint.fragments;
        }
    }
}

/// A text in a JSON string, written out: one behind the other, the state behind a backslash in its first state, the state
/// behind its first character, the one behind a backslash there, and so on.
#[derive(Clone, Copy)]
struct Chain {
    name: u32,
    to: u32,
    /// The new number of its first state.
    first: u32,
    /// Another one that leads to the same state.
    before: u32,
}

/// Marks numbers of chains among those of states.
const CHAIN: u32 = 1 << 31;

impl Chain {
    /// The first character, the state behind it, and the one behind a backslash.
    fn begin(self, draft: &Draft, numbering: &Numbering) -> (u8, StateId, StateId) {
        let text = draft.names.text(self.name);
        (text[0], self.behind(0, text, numbering), StateId::from_raw(self.first))
    }

    /// The state behind a character.
    fn behind(self, at: usize, text: &[u8], numbering: &Numbering) -> StateId {
        match at + 1 == text.len() {
            true => numbering.state(self.to),
            false => StateId::from_raw(self.first + 2 * at as u32 + 1),
        }
    }
}

/// Writes the rows of a text: all tables at once, since the states inside of names are most of a schema's.
fn push_chain(program: &mut Program, draft: &Draft, numbering: &Numbering, chain: Chain) {
    let text = draft.names.text(chain.name);
    let (epsilons, tokens) = (program.epsilons.len() as u32, program.token_edges.len() as u32);
    let row = |bytes: usize, calls: usize| StateRow {
        bytes: bytes as u32,
        epsilons,
        calls: calls as u32,
        tokens,
        is_final: false,
    };
    let (bytes, calls) = (program.byte_edges.len(), program.calls.len());
    let behind = |at: usize| chain.behind(at, text, numbering);
    let escape = |at: usize| StateId::from_raw(chain.first + 2 * at as u32);
    program.calls.extend(text.iter().enumerate().map(|(at, &byte)| {
        let fragment = numbering.fragment_number[draft.names.escape(byte) as usize];
        Call { fragment: FragmentId::from_raw(fragment), target: behind(at) }
    }));
    program.states.push(row(bytes, calls));
    // The state before the character at `at + 1`, and the one behind a backslash there.
    let inner = &text[1..];
    if inner.iter().all(|&byte| is_plain(byte)) {
        program.states.extend((0..inner.len()).flat_map(|at| {
            let begin = bytes + 2 * at;
            [row(begin, calls + at + 1), row(begin + 2, calls + at + 1)]
        }));
        program.byte_edges.extend(inner.iter().zip(1..).flat_map(|(&byte, at)| {
            let backslash = ByteEdge { start: b'\\', end: b'\\', target: escape(at) };
            let plain = ByteEdge { start: byte, end: byte, target: behind(at) };
            if byte < b'\\' { [plain, backslash] } else { [backslash, plain] }
        }));
        return;
    }
    for (&byte, at) in inner.iter().zip(1..) {
        program.states.push(row(program.byte_edges.len(), calls + at));
        push_character(program, byte, behind(at), escape(at));
        program.states.push(row(program.byte_edges.len(), calls + at));
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

/// Copies finished rows, whose states are moved by `shift`.
fn push_prebuilt(program: &mut Program, tables: PrebuiltTables<'_>, shift: u32, numbering: &Numbering) {
    let moved = |state: StateId| StateId::from_raw(state.raw().wrapping_add(shift));
    let Some(&first) = tables.rows.first() else { return };
    let shifts = [
        (program.byte_edges.len() as u32).wrapping_sub(first.bytes),
        (program.epsilons.len() as u32).wrapping_sub(first.epsilons),
        (program.calls.len() as u32).wrapping_sub(first.calls),
    ];
    // No prebuilt fragment reads tokens.
    let tokens = program.token_edges.len() as u32;
    program.states.extend(tables.rows.iter().map(|row| StateRow {
        tokens,
        bytes: row.bytes.wrapping_add(shifts[0]),
        epsilons: row.epsilons.wrapping_add(shifts[1]),
        calls: row.calls.wrapping_add(shifts[2]),
        is_final: row.is_final,
    }));
    let edges = tables.byte_edges.iter();
    program.byte_edges.extend(edges.map(|edge| ByteEdge { target: moved(edge.target), ..*edge }));
    program.epsilons.extend(tables.epsilons.iter().map(|&state| moved(state)));
    program.calls.extend(tables.calls.iter().map(|call| Call {
        fragment: FragmentId::from_raw(numbering.fragment_number[call.fragment.index()]),
        target: moved(call.target),
    }));
}

/// Adds an edge to the state whose byte edges begin at `first`, after the edges that stand before it in order.
fn push_edge(program: &mut Program, first: usize, (label, target): (Label, StateId), numbering: &Numbering) {
    if let Some((start, end)) = label.as_bytes() {
        match program.byte_edges[first..].last_mut() {
            Some(last) if last.target == target && u16::from(last.end) + 1 == u16::from(start) => {
                last.end = end;
            }
            _ => program.byte_edges.push(ByteEdge { start, end, target }),
        }
    } else if let Some(callee) = label.as_call() {
        let fragment = FragmentId::from_raw(numbering.fragment_number[callee as usize]);
        program.calls.push(Call { fragment, target });
    } else if let Some(label) = label.as_token() {
        program.token_edges.push(TokenEdge { label: LabelId::from_raw(label), target });
    } else {
        program.epsilons.push(target);
    }
}
