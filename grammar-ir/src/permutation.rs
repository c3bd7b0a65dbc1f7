//! Parts in any order.

use crate::ids::ExprId;

/// How often a part of [`Expr::Permutation`](crate::Expr::Permutation) occurs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Occurrence {
    /// Once.
    Required,
    /// Once or not at all.
    Optional,
    /// Any number of times.
    Repeatable,
}

/// Parts in any order, with a separator between any two of them: the members of a JSON object, say. At least one
/// part occurs.
///
/// Written with sequences and choices this takes an expression for every subset of the parts. A parser that
/// remembers which parts it has read needs none of them before it meets them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Permutation<'g> {
    /// The separator, then the parts: required ones, optional ones, repeatable ones.
    pub(crate) operands: &'g [ExprId],
    pub(crate) counts: Counts,
}

/// Facts about all parts together.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Counts {
    pub(crate) required: u32,
    pub(crate) optional: u32,
    pub(crate) min: u32,
    pub(crate) max: Option<u32>,
}

impl<'g> Permutation<'g> {
    /// The expression between two parts.
    pub fn separator(&self) -> ExprId {
        self.operands[0]
    }

    /// The parts: required ones first, then optional ones, then repeatable ones. None of them derives the empty
    /// string.
    pub fn parts(&self) -> &'g [ExprId] {
        &self.operands[1..]
    }

    /// How often the part at an index of [`parts`](Self::parts) occurs.
    pub fn occurrence(&self, index: usize) -> Occurrence {
        let once = self.required() + self.counts.optional as usize;
        match index {
            _ if index < self.required() => Occurrence::Required,
            _ if index < once => Occurrence::Optional,
            _ => Occurrence::Repeatable,
        }
    }

    /// How many parts are required.
    pub fn required(&self) -> usize {
        self.counts.required as usize
    }

    /// How many parts occur at most once, required ones included.
    pub fn once(&self) -> usize {
        self.required() + self.counts.optional as usize
    }

    /// Least number of parts that occur, at least 1.
    pub fn min(&self) -> u32 {
        self.counts.min
    }

    /// Greatest number of parts that occur, `None` for any.
    pub fn max(&self) -> Option<u32> {
        self.counts.max
    }

    /// The required parts.
    pub(crate) fn needed(&self) -> &'g [ExprId] {
        &self.operands[1..=self.required()]
    }
}
