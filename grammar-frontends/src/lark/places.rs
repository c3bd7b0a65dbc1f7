//! Where the terminals of a grammar begin.
//!
//! We draw the rules as one graph. A node is a place in a rule. An arrow reads a leaf, calls a rule, returns from a rule,
//! or reads nothing. Two leaves begin at the same place of a text if both can be reached, without reading anything, from
//! the first node or from a node after a leaf. A return leads to all places after calls of the rule, so we find more
//! than there is.
//!
//! A lazy rule *surely* begins where another leaf begins if each way to that leaf passes a node from which
//! the lazy rule can be reached without returns. It is then in the same rule, or in rules that are called
//! there.
//!
//! A text may be cut in several ways. In `"b"? "b" x "c"` the rule `x` and the second `"b"` begin at one place of the text,
//! after one `"b"`, though at different nodes. [`Beginnings`] are what such pairs of nodes are found from.

use std::collections::BTreeMap;

use grammask_grammar_ir::analysis::{Facts, nullable};
use grammask_grammar_ir::hash::HashMap;
use grammask_grammar_ir::{Expr, ExprId, Grammar, RuleId};

use super::commit::{Leaf, LeafKind};
use super::fault::Fault;

/// The lazy rules that may begin where a leaf begins.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Competitors {
    /// Those that may begin wherever the leaf may.
    pub(super) certain: Vec<usize>,
    /// Those that may begin at some of its places, or perhaps at none.
    pub(super) perhaps: Vec<usize>,
}

impl Competitors {
    pub(super) fn is_empty(&self) -> bool {
        self.certain.is_empty() && self.perhaps.is_empty()
    }

    pub(super) fn add_perhaps(&mut self, lazy: usize) {
        if !self.perhaps.contains(&lazy) {
            self.certain.retain(|&known| known != lazy);
            self.perhaps.push(lazy);
            self.perhaps.sort_unstable();
        }
    }

    /// Some of them.
    pub(super) fn filtered(&self, is_wanted: impl Fn(usize) -> bool) -> Self {
        let some = |lazy: &[usize]| lazy.iter().copied().filter(|&lazy| is_wanted(lazy)).collect();
        Self { certain: some(&self.certain), perhaps: some(&self.perhaps) }
    }

    pub(super) fn all(&self) -> impl Iterator<Item = usize> {
        self.certain.iter().chain(&self.perhaps).copied()
    }
}

/// Most nodes and leaves looked at, over all lazy rules.
const MAX_LOOKS: usize = 50_000_000;

/// Most pairs of a place and a leaf that begins there.
const MAX_BEGUN: usize = 1 << 21;

type Node = usize;

/// An arrow that reads no leaf.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Blank {
    /// It may always be taken.
    Certain,
    /// It may be taken at some times: back into a repeat that has a bound, or from the end of a rule to a place after one
    /// of its calls.
    Perhaps,
}

/// The places of a grammar's rules.
pub(super) struct Places {
    /// The arrows from each node that read nothing, and the same arrows by the nodes that they lead to.
    blanks: Vec<Vec<(Node, Blank)>>,
    back: Vec<Vec<(Node, Blank)>>,
    /// From where to where each leaf is read.
    reads: Vec<Vec<(Node, Node)>>,
    /// The leaves that are read from each node.
    read_from: Vec<Vec<usize>>,
    /// The first node of the start rule, and each node after something that is read.
    entries: Vec<Node>,
    /// For each lazy leaf: after which leaves it may begin wherever anything begins.
    followed: BTreeMap<usize, Vec<bool>>,
    /// Leaves that a rule may also pass over where it reads them.
    may_be_skipped: Vec<bool>,
    /// Where each leaf and each rule is mentioned.
    leaf_mentions: Vec<Mentions>,
    rule_mentions: Vec<Mentions>,
    root: RuleId,
}

/// Which leaves begin together.
pub(super) struct Beginnings {
    /// The number of the first place.
    pub(super) start: usize,
    /// For each number, the leaves that begin there, each with the number of the place after it.
    pub(super) begun: Vec<Vec<(usize, usize)>>,
}

/// Where a rule is mentioned.
#[derive(Clone, Copy, Default)]
enum Mentions {
    #[default]
    None,
    /// Once, in a rule, and perhaps in a repeat that counts.
    One {
        rule: RuleId,
        is_counted: bool,
    },
    Several,
}

impl Mentions {
    fn add(&mut self, rule: RuleId, is_counted: bool) {
        *self = match self {
            Mentions::None => Mentions::One { rule, is_counted },
            _ => Mentions::Several,
        };
    }
}

impl Places {
    pub(super) fn new(grammar: &Grammar, leaves: &[Leaf]) -> Self {
        let count = grammar.rule_count();
        let mut leaf_of = vec![None; count];
        for (index, leaf) in leaves.iter().enumerate() {
            leaf_of[leaf.rule.index()] = Some(index);
        }
        let places = Self {
            blanks: Vec::new(),
            back: Vec::new(),
            reads: vec![Vec::new(); leaves.len()],
            read_from: Vec::new(),
            entries: Vec::new(),
            followed: BTreeMap::new(),
            may_be_skipped: vec![false; leaves.len()],
            leaf_mentions: vec![Mentions::None; leaves.len()],
            rule_mentions: vec![Mentions::None; count],
            root: grammar.root(),
        };
        let nullable = nullable(grammar);
        let ends = vec![None; count];
        let rule = grammar.root();
        let mut drawing =
            Drawing { grammar, nullable, leaf_of, waiting: Vec::new(), ends, rule, counting: 0, places };
        let (start, _) = drawing.ends_of(grammar.root());
        drawing.places.entries.push(start);
        while let Some(rule) = drawing.waiting.pop() {
            let (first, last) = drawing.ends_of(rule);
            drawing.rule = rule;
            drawing.expression(grammar.rule(rule).body(), first, last);
        }
        drawing.places
    }

    /// For each leaf, the lazy rules of a kind that may begin where it begins.
    pub(super) fn competitors(&mut self, leaves: &[Leaf], kind: LeafKind) -> Result<Vec<Competitors>, Fault> {
        let mut all = vec![Competitors::default(); leaves.len()];
        let mut looks = 0_usize;
        for lazy in (0..leaves.len()).filter(|&index| leaves[index].kind == kind) {
            looks += 5 * self.blanks.len() + leaves.len();
            if looks > MAX_LOOKS {
                let message = format!("it takes more than {MAX_LOOKS} steps to tell where lazy rules begin");
                return Err(Fault::limit(message, "write fewer lazy rules, or a smaller grammar"));
            }
            let begins: Vec<Node> = self.reads[lazy].iter().map(|&(from, _)| from).collect();
            let sure = reached(&self.back, &begins, |_, blank| blank == Blank::Certain);
            let possible = reached(&self.back, &begins, |_, _| true);
            let entries = |wanted: &dyn Fn(Node) -> bool| -> Vec<Node> {
                self.entries.iter().copied().filter(|&entry| wanted(entry)).collect()
            };
            let together = reached(&self.blanks, &entries(&|entry| possible[entry]), |_, _| true);
            let apart = reached(&self.blanks, &entries(&|entry| !sure[entry]), |to, _| !sure[to]);
            for (index, competitors) in all.iter_mut().enumerate().filter(|&(index, _)| index != lazy) {
                let begins = self.reads[index].iter().map(|&(from, _)| from);
                if begins.clone().any(|from| together[from]) {
                    match begins.clone().any(|from| apart[from]) {
                        true => competitors.perhaps.push(lazy),
                        false => competitors.certain.push(lazy),
                    }
                }
            }
            let followed = self.surely_followed(&sure);
            self.followed.insert(lazy, followed);
        }
        Ok(all)
    }

    /// After which leaves a lazy rule may begin wherever anything begins. It may begin at the nodes in `sure`.
    fn surely_followed(&self, sure: &[bool]) -> Vec<bool> {
        let elsewhere: Vec<Node> =
            (0..sure.len()).filter(|&node| !sure[node] && !self.read_from[node].is_empty()).collect();
        let elsewhere = reached(&self.back, &elsewhere, |to, _| !sure[to]);
        self.reads.iter().map(|reads| reads.iter().all(|&(_, to)| !elsewhere[to])).collect()
    }

    /// Whether a lazy rule may begin wherever anything begins after a leaf.
    pub(super) fn surely_follows(&self, leaf: usize, lazy: usize) -> bool {
        self.followed.get(&lazy).is_some_and(|followed| followed[leaf])
    }

    /// Whether a text goes on in the same ways after the lazy rule, be it read in place of a leaf or after it. It is so
    /// where the leaf may be skipped, since the same rule is then reached in the same way. It is also so where there is only
    /// one way to go on: the lazy rule is mentioned once, in a rule that is mentioned once, and so on. No repeat on this way
    /// may count.
    pub(super) fn goes_on_alike(&self, leaf: usize, lazy: usize) -> bool {
        if self.may_be_skipped[leaf] {
            return true;
        }
        let mut mentions = self.leaf_mentions[lazy];
        loop {
            match mentions {
                Mentions::One { rule, is_counted: false } if rule == self.root => {
                    return matches!(self.rule_mentions[rule.index()], Mentions::None);
                }
                Mentions::One { rule, is_counted: false } => mentions = self.rule_mentions[rule.index()],
                _ => return false,
            }
        }
    }

    /// The leaves that may be read from the first node of the start rule, and from the nodes after each of them. A number
    /// stands for all nodes from which the same leaves are read.
    pub(super) fn beginnings(&self) -> Result<Beginnings, Fault> {
        let mut numbers: HashMap<Vec<(usize, Node)>, usize> = HashMap::default();
        let mut of_nodes: HashMap<Node, usize> = HashMap::default();
        let reads = self.reads.iter().enumerate();
        let reads: Vec<_> =
            reads.flat_map(|(leaf, reads)| reads.iter().map(move |&read| (leaf, read))).collect();
        let (mut looks, mut kept) = (0, 0);
        for &entry in &self.entries {
            let nodes = reached(&self.blanks, &[entry], |_, _| true);
            let begun = reads.iter().filter(|&&(_, (from, _))| nodes[from]);
            let begun: Vec<(usize, Node)> = begun.map(|&(leaf, (_, to))| (leaf, to)).collect();
            looks += self.blanks.len() + reads.len();
            kept += begun.len();
            if looks > MAX_LOOKS || kept > MAX_BEGUN {
                let message =
                    format!("it takes more than {MAX_LOOKS} steps to tell which terminals begin together");
                return Err(Fault::limit(message, "write fewer lazy rules, or a smaller grammar"));
            }
            let next = numbers.len();
            of_nodes.insert(entry, *numbers.entry(begun).or_insert(next));
        }
        let mut begun = vec![Vec::new(); numbers.len()];
        for (leaves, number) in numbers {
            begun[number] = leaves.into_iter().map(|(leaf, to)| (leaf, of_nodes[&to])).collect();
            begun[number].sort_unstable();
            begun[number].dedup();
        }
        Ok(Beginnings { start: of_nodes[&self.entries[0]], begun })
    }

    /// The lazy rules that may begin directly after some leaves.
    pub(super) fn lazy_after(&self, members: &[usize]) -> Vec<usize> {
        let behind: Vec<Node> =
            members.iter().flat_map(|&leaf| self.reads[leaf].iter().map(|&(_, to)| to)).collect();
        let next = reached(&self.blanks, &behind, |_, _| true);
        let begins = |lazy: usize| self.reads[lazy].iter().any(|&(from, _)| next[from]);
        self.followed.keys().copied().filter(|&lazy| begins(lazy)).collect()
    }

    /// Whether a rule may pass over a leaf where it reads it.
    pub(super) fn is_skipped(&self, leaf: usize) -> bool {
        self.may_be_skipped[leaf]
    }

    /// How many places there are.
    pub(super) fn size(&self) -> usize {
        self.blanks.len()
    }

    /// The leaves that may follow some leaves, directly or after others that are not `last`.
    pub(super) fn following(&self, leaves: &[usize], is_last: impl Fn(usize) -> bool) -> Vec<usize> {
        let mut is_following = vec![false; self.reads.len()];
        let mut is_met = vec![false; self.blanks.len()];
        let mut stack: Vec<Node> = Vec::new();
        let behind = |leaf: usize| self.reads[leaf].iter().map(|&(_, to)| to);
        stack.extend(leaves.iter().copied().flat_map(behind));
        while let Some(node) = stack.pop() {
            if std::mem::replace(&mut is_met[node], true) {
                continue;
            }
            stack.extend(self.blanks[node].iter().map(|&(to, _)| to));
            for &leaf in &self.read_from[node] {
                if !std::mem::replace(&mut is_following[leaf], true) && !is_last(leaf) {
                    stack.extend(behind(leaf));
                }
            }
        }
        (0..is_following.len()).filter(|&leaf| is_following[leaf]).collect()
    }
}

/// The nodes that arrows lead to from some nodes, and those nodes.
fn reached(arrows: &[Vec<(Node, Blank)>], from: &[Node], may_go: impl Fn(Node, Blank) -> bool) -> Vec<bool> {
    let mut is_reached = vec![false; arrows.len()];
    let mut stack = from.to_vec();
    while let Some(node) = stack.pop() {
        if !std::mem::replace(&mut is_reached[node], true) {
            let next = arrows[node].iter().filter(|&&(to, blank)| may_go(to, blank));
            stack.extend(next.map(|&(to, _)| to));
        }
    }
    is_reached
}

/// Draws the graph.
struct Drawing<'g> {
    grammar: &'g Grammar,
    nullable: Facts,
    /// The leaf that a rule is.
    leaf_of: Vec<Option<usize>>,
    /// Rules that are called and not drawn yet.
    waiting: Vec<RuleId>,
    /// The first and last node of each rule that is called.
    ends: Vec<Option<(Node, Node)>>,
    /// The rule that is being drawn.
    rule: RuleId,
    /// Repeats around the expression that is being drawn that count: others than `*` and `+`.
    counting: u32,
    places: Places,
}

impl Drawing<'_> {
    fn node(&mut self) -> Node {
        let places = &mut self.places;
        places.blanks.push(Vec::new());
        places.back.push(Vec::new());
        places.read_from.push(Vec::new());
        places.blanks.len() - 1
    }

    fn blank(&mut self, from: Node, to: Node, blank: Blank) {
        self.places.blanks[from].push((to, blank));
        self.places.back[to].push((from, blank));
    }

    /// The first and last node of a rule.
    fn ends_of(&mut self, rule: RuleId) -> (Node, Node) {
        if let Some(ends) = self.ends[rule.index()] {
            return ends;
        }
        let ends = (self.node(), self.node());
        self.ends[rule.index()] = Some(ends);
        self.waiting.push(rule);
        ends
    }

    /// Draws an expression between two nodes. Recurses as deep as brackets nest.
    fn expression(&mut self, expr: ExprId, from: Node, to: Node) {
        match self.grammar.expr(expr) {
            Expr::Empty => self.blank(from, to, Blank::Certain),
            Expr::Sequence(parts) => {
                let mut from = from;
                for (number, &part) in parts.iter().enumerate() {
                    let next = if number + 1 == parts.len() { to } else { self.node() };
                    self.expression(part, from, next);
                    from = next;
                }
            }
            Expr::Choice(alternatives) => {
                for &alternative in alternatives {
                    self.expression(alternative, from, to);
                }
            }
            Expr::Repeat { body, min, max } => self.repeat(body, (min, max), from, to),
            Expr::Rule(rule) => self.mention(rule, from, to),
            // Other expressions occur only inside leaves.
            _ => self.places.entries.push(to),
        }
    }

    fn repeat(&mut self, body: ExprId, (min, max): (u32, Option<u32>), from: Node, to: Node) {
        let (first, last) = (self.node(), self.node());
        self.blank(from, first, Blank::Certain);
        if min == 0 {
            self.blank(first, to, if max.is_none() { Blank::Certain } else { Blank::Perhaps });
            self.blank(from, to, Blank::Certain);
        }
        if max == Some(0) {
            return;
        }
        let is_counted = min > 1 || max.is_some_and(|max| max > 1);
        self.counting += u32::from(is_counted);
        self.expression(body, first, last);
        self.counting -= u32::from(is_counted);
        match max {
            None => self.blank(last, first, Blank::Certain),
            Some(2..) => self.blank(last, first, Blank::Perhaps),
            _ => {}
        }
        self.blank(last, to, if min <= 1 { Blank::Certain } else { Blank::Perhaps });
    }

    fn mention(&mut self, rule: RuleId, from: Node, to: Node) {
        if self.nullable.rule(rule) {
            self.blank(from, to, Blank::Certain);
        }
        let is_counted = self.counting > 0;
        if let Some(leaf) = self.leaf_of[rule.index()] {
            self.places.may_be_skipped[leaf] = self.nullable.rule(rule);
            self.places.leaf_mentions[leaf].add(self.rule, is_counted);
            self.places.reads[leaf].push((from, to));
            self.places.read_from[from].push(leaf);
            self.places.entries.push(to);
            return;
        }
        self.places.rule_mentions[rule.index()].add(self.rule, is_counted);
        let (first, last) = self.ends_of(rule);
        self.blank(from, first, Blank::Certain);
        self.blank(last, to, Blank::Perhaps);
    }
}
