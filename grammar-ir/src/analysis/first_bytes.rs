//! With which bytes a sentence can begin.

use petgraph::algo::kosaraju_scc;
use petgraph::graph::DiGraph;

use super::left_recursion::each_beginning;
use super::{nullable, productive};
use crate::byte_set::{add_range, single};
use crate::char_class::CharRange;
use crate::grammar::{Expr, Grammar};
use crate::ids::{ExprId, RuleId};

/// For every expression that a rule mentions, the bytes with which its sentences can begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstBytes {
    by_expr: Vec<[u64; 4]>,
    bodies: Vec<ExprId>,
}

impl FirstBytes {
    /// The bytes of an expression: bit `b % 64` of word `b / 64`. Panics for an id of another, larger grammar.
    pub fn expr(&self, id: ExprId) -> [u64; 4] {
        self.by_expr[id.index()]
    }

    /// The bytes of a rule. Panics for an id of another, larger grammar.
    pub fn rule(&self, id: RuleId) -> [u64; 4] {
        self.expr(self.bodies[id.index()])
    }
}

/// The bytes with which sentences can begin. No byte is missing. Only regular operators and tag dispatches
/// can add bytes that are too many. The analysis takes an intersection to begin as all its operands do, and a
/// complement or a tag dispatch to begin with any byte of text. Tokens that are taken as a whole are no
/// bytes.
pub fn first_bytes(grammar: &Grammar) -> FirstBytes {
    let (nullable, productive) = (nullable(grammar), productive(grammar));
    let mut graph: DiGraph<(), (), u32> = DiGraph::with_capacity(grammar.expr_count(), 0);
    let nodes: Vec<_> = (0..grammar.expr_count()).map(|_| graph.add_node(())).collect();
    // An expression that derives nothing begins with nothing, so it gets no edges.
    for id in super::operands_first(grammar).into_iter().filter(|&id| productive.expr(id)) {
        each_beginning(grammar, &nullable, id, |begins| {
            graph.add_edge(nodes[id.index()], nodes[begins.index()], ());
        });
    }
    let mut by_expr = vec![[0; 4]; grammar.expr_count()];
    // Components come in an order in which those that an expression can begin with come before it. All of a
    // component begin alike, since each can begin with each; regular operators are alone in theirs.
    for component in kosaraju_scc(&graph) {
        let ids = || component.iter().filter_map(|node| ExprId::new(node.index()));
        let mut bytes = [0; 4];
        for id in ids().filter(|&id| productive.expr(id)) {
            bytes = union(bytes, own_bytes(grammar, id, &by_expr));
            if !is_operator(grammar, id) {
                each_beginning(grammar, &nullable, id, |begins| {
                    bytes = union(bytes, by_expr[begins.index()]);
                });
            }
        }
        ids().for_each(|id| by_expr[id.index()] = bytes);
    }
    let bodies = grammar.rule_ids().map(|rule| grammar.rule(rule).body()).collect();
    FirstBytes { by_expr, bodies }
}

fn is_operator(grammar: &Grammar, id: ExprId) -> bool {
    matches!(grammar.expr(id), Expr::Intersection(_) | Expr::Complement(_) | Expr::JsonEscaped(..))
}

/// The bytes with which a leaf or a regular operator begins.
fn own_bytes(grammar: &Grammar, id: ExprId, by_expr: &[[u64; 4]]) -> [u64; 4] {
    let any_text = || class_bytes(&[('\0', char::MAX)]);
    match grammar.expr(id) {
        Expr::Bytes(bytes) => bytes.first().map_or([0; 4], |&byte| single(byte)),
        Expr::Class(ranges) => class_bytes(ranges),
        Expr::Intersection(parts) => {
            let sets = parts.iter().map(|part| by_expr[part.index()]);
            sets.fold(any_text(), |all, set| std::array::from_fn(|word| all[word] & set[word]))
        }
        Expr::Complement(_) | Expr::TagDispatch(_) => any_text(),
        Expr::TagText(text) => text.bytes().next().map_or([0; 4], single),
        Expr::JsonEscaped(operand, escapes) => {
            let decoded = by_expr[operand.index()];
            let escaped = class_bytes(escapes.escaped());
            let mut is_escaped = decoded.iter().zip(escaped).map(|(decoded, escaped)| decoded & escaped != 0);
            // Those that JSON allows can be themselves.
            let mut raw = decoded;
            raw[0] &= !(0xFFFF_FFFF | 1 << b'"');
            raw[1] &= !(1 << (b'\\' - 64));
            if is_escaped.any(|is| is) { union(raw, single(b'\\')) } else { raw }
        }
        _ => [0; 4],
    }
}

/// The first bytes of the characters of a class: UTF-8 sorts like code points.
fn class_bytes(ranges: &[CharRange]) -> [u64; 4] {
    let lead = |character: char| {
        let mut buffer = [0; 4];
        character.encode_utf8(&mut buffer).as_bytes()[0]
    };
    let mut bytes = [0; 4];
    for &(low, high) in ranges {
        let mut set = [0; 4];
        add_range(&mut set, lead(low), lead(high));
        // No encoding begins with 0x80 to 0xC1.
        set[2] = 0;
        set[3] &= !0b11;
        bytes = union(bytes, set);
    }
    bytes
}

fn union(left: [u64; 4], right: [u64; 4]) -> [u64; 4] {
    std::array::from_fn(|word| left[word] | right[word])
}
