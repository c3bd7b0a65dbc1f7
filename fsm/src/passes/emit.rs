//! Writes the flat tables of a program.
//!
//! Fragments are numbered as they are met from the root on, states breadth-first inside their fragment, so
//! that neighbours lie side by side. What is not reached is not written.

use grammask_grammar_ir::{Grammar, RuleId};

use crate::draft::{Draft, Label, NONE};
use crate::program::StateRow;
use crate::{ByteClasses, ByteEdge, Call, Fragment, FragmentId, Program, StateId};

pub(crate) fn emit(draft: &Draft, grammar: &Grammar) -> Program {
    let numbering = Numbering::new(draft);
    let name = |rule: u32| RuleId::new(rule as usize).map_or("", |rule| grammar.rule(rule).name());
    let fragments = numbering
        .fragments
        .iter()
        .map(|&old| {
            let fragment = &draft.fragments[old as usize];
            Fragment {
                name: match fragment.escaped {
                    Some(character) => format!("escape of {character:?}").into(),
                    None => name(fragment.rule).into(),
                },
                start: StateId::from_raw(numbering.state_number[fragment.start as usize]),
                nullable: fragment.nullable,
                count: fragment.count,
            }
        })
        .collect();
    let mut program = Program {
        states: Vec::with_capacity(numbering.states.len() + 1),
        byte_edges: Vec::with_capacity(draft.edges.len()),
        epsilons: Vec::new(),
        calls: Vec::new(),
        fragments,
        root: FragmentId::from_raw(0),
        byte_classes: ByteClasses::from_ranges([]),
    };
    let mut edges = Vec::new();
    for &state in &numbering.states {
        push_row(&mut program, draft.states[state as usize].is_final);
        edges.clear();
        edges.extend(draft.edges(state).map(|edge| (edge.label, numbering.state_number[edge.to as usize])));
        push_edges(&mut program, &mut edges, &numbering);
    }
    push_row(&mut program, false);
    program.byte_edges.shrink_to_fit();
    program.byte_classes =
        ByteClasses::from_ranges(program.byte_edges.iter().map(|edge| (edge.start, edge.end)));
    program
}

struct Numbering {
    /// Old numbers of fragments and states in their new order.
    fragments: Vec<u32>,
    states: Vec<u32>,
    fragment_number: Vec<u32>,
    state_number: Vec<u32>,
}

impl Numbering {
    fn new(draft: &Draft) -> Self {
        let mut this = Self {
            fragments: vec![0],
            states: Vec::with_capacity(draft.states.len()),
            fragment_number: vec![NONE; draft.fragments.len()],
            state_number: vec![NONE; draft.states.len()],
        };
        this.fragment_number[0] = 0;
        let mut fragment = 0;
        while let Some(&old) = this.fragments.get(fragment) {
            fragment += 1;
            let mut next = this.states.len();
            this.reach(draft.fragments[old as usize].start);
            while let Some(&state) = this.states.get(next) {
                next += 1;
                for edge in draft.edges(state) {
                    this.reach(edge.to);
                    if let Some(callee) = edge.label.as_call()
                        && this.fragment_number[callee as usize] == NONE
                    {
                        this.fragment_number[callee as usize] = this.fragments.len() as u32;
                        this.fragments.push(callee);
                    }
                }
            }
        }
        this
    }

    fn reach(&mut self, state: u32) {
        let number = &mut self.state_number[state as usize];
        if *number == NONE {
            *number = self.states.len() as u32;
            self.states.push(state);
        }
    }
}

fn push_row(program: &mut Program, is_final: bool) {
    // The limits of the build keep all tables within 32 bits.
    program.states.push(StateRow {
        bytes: program.byte_edges.len() as u32,
        epsilons: program.epsilons.len() as u32,
        calls: program.calls.len() as u32,
        is_final,
    });
}

fn push_edges(program: &mut Program, edges: &mut Vec<(Label, u32)>, numbering: &Numbering) {
    edges.sort_unstable();
    edges.dedup();
    let first = program.byte_edges.len();
    for &(label, target) in edges.iter() {
        let target = StateId::from_raw(target);
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
        } else {
            program.epsilons.push(target);
        }
    }
}
