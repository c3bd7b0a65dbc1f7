//! Goals: conjunctions of schemas that a value must satisfy, not yet read.
//!
//! A child of a shape (a property's value, an item) is a *conjunction of schemas that are not read yet*.
//! Conjoining two shapes joins the goals of their children as sets of names, without touching the schemas
//! that they name. That makes references lazy, recursion harmless and equal parts equal: there are finitely
//! many schemas, so there are finitely many goals, and each gets one rule.

use grammask_grammar_ir::hash::{HashMap, HashSet, Hashing};
use smallvec::SmallVec;

use crate::json_schema::document::ids::NodeId;
use crate::json_schema::options::EXPECTED_GOALS;
use crate::json_schema::work::Work;

/// One condition on a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Atom {
    /// It satisfies the schema at the node.
    Schema(NodeId),
    /// It equals the value at the node.
    Const(NodeId),
    /// It does not satisfy the goal.
    Not(GoalId),
}

/// A conjunction of atoms, interned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct GoalId(u32);

impl GoalId {
    /// Every value.
    pub(crate) const ANY: GoalId = GoalId(0);
    /// No value.
    pub(crate) const NEVER: GoalId = GoalId(1);

    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// Most goals are one schema.
type Atoms = SmallVec<[Atom; 2]>;

/// All goals.
pub(crate) struct Goals {
    atoms: Vec<Atoms>,
    ids: HashMap<Atoms, GoalId>,
    /// Shared with whatever conjoins goals.
    pub(crate) work: Work,
}

impl Goals {
    pub(crate) fn new(work: Work) -> Self {
        let any = Atoms::new();
        // `NEVER` is found by its id only; its entry keeps the numbering dense.
        let mut ids = HashMap::with_capacity_and_hasher(EXPECTED_GOALS, Hashing);
        ids.insert(any.clone(), GoalId::ANY);
        let mut atoms = Vec::with_capacity(EXPECTED_GOALS);
        atoms.extend([any.clone(), any]);
        Self { atoms, ids, work }
    }

    pub(crate) fn len(&self) -> usize {
        self.atoms.len()
    }

    /// The atoms of a goal, in the order in which they were conjoined: the order of an object's keys follows
    /// it.
    pub(crate) fn atoms(&self, goal: GoalId) -> &[Atom] {
        &self.atoms[goal.index()]
    }

    pub(crate) fn atom(&mut self, atom: Atom) -> GoalId {
        self.intern(SmallVec::from_slice(&[atom]))
    }

    /// Whether a goal is its conjunction with another one.
    pub(crate) fn implies(&self, goal: GoalId, other: GoalId) -> bool {
        let (atoms, others) = (self.atoms(goal), self.atoms(other));
        match (goal, other) {
            (GoalId::NEVER, _) => true,
            (_, GoalId::NEVER) => false,
            _ if goal == other => true,
            _ => {
                self.charge(atoms.len(), others.len());
                others.iter().all(|atom| atoms.contains(atom))
            }
        }
    }

    /// The conjunction of two goals.
    pub(crate) fn and(&mut self, left: GoalId, right: GoalId) -> GoalId {
        match (left, right) {
            (GoalId::NEVER, _) | (_, GoalId::NEVER) => return GoalId::NEVER,
            (GoalId::ANY, other) | (other, GoalId::ANY) => return other,
            _ if left == right => return left,
            _ => {}
        }
        self.charge(self.atoms(left).len(), self.atoms(right).len());
        if self.work.is_spent() {
            return left;
        }
        let mut atoms = Atoms::from_slice(self.atoms(left));
        for &atom in self.atoms(right) {
            if !atoms.contains(&atom) {
                atoms.push(atom);
            }
        }
        let contradicts = |atom: &Atom| matches!(atom, Atom::Not(goal) if *goal == left || *goal == right);
        if atoms.iter().any(contradicts) {
            return GoalId::NEVER;
        }
        self.intern(atoms)
    }

    /// The conjunction of all. As [`and`](Self::and) one by one, without a goal for every step.
    pub(crate) fn all(&mut self, first: GoalId, others: &[GoalId]) -> GoalId {
        let goals: HashSet<GoalId> = others.iter().copied().chain([first]).collect();
        if goals.contains(&GoalId::NEVER) {
            return GoalId::NEVER;
        }
        let atoms: usize = goals.iter().map(|&goal| self.atoms(goal).len()).sum();
        self.work.charge(1 + others.len() + atoms);
        let mut atoms = Atoms::from_slice(self.atoms(first));
        let mut met: HashSet<Atom> = atoms.iter().copied().collect();
        for &other in others {
            atoms.extend(self.atoms(other).iter().copied().filter(|&atom| met.insert(atom)));
        }
        if atoms.iter().any(|atom| matches!(atom, Atom::Not(goal) if goals.contains(goal))) {
            return GoalId::NEVER;
        }
        self.intern(atoms)
    }

    /// The complement of the goal.
    pub(crate) fn not(&mut self, goal: GoalId) -> GoalId {
        match (goal, self.atoms(goal)) {
            (GoalId::NEVER, _) => GoalId::ANY,
            (_, []) => GoalId::NEVER,
            (_, &[Atom::Not(inner)]) => inner,
            _ => self.atom(Atom::Not(goal)),
        }
    }

    /// The values that satisfy one goal and not the other.
    pub(crate) fn without(&mut self, goal: GoalId, other: GoalId) -> GoalId {
        let not = self.not(other);
        self.and(goal, not)
    }

    /// Charges the work of comparing the atoms of two goals pair by pair, and of interning their union.
    fn charge(&self, left: usize, right: usize) {
        self.work.charge(2 + left + right + left.saturating_mul(right) / 32);
    }

    fn intern(&mut self, atoms: Atoms) -> GoalId {
        if let Some(&known) = self.ids.get(&atoms) {
            return known;
        }
        // The limit on goals keeps their number far below 2^32.
        let id = GoalId(u32::try_from(self.atoms.len()).unwrap_or(u32::MAX));
        self.atoms.push(atoms.clone());
        self.ids.insert(atoms, id);
        id
    }
}
