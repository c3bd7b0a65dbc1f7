//! Marks of arrays and objects whose items or names are compared while the text is written.

use std::rc::Rc;

use grammask_grammar_ir::hash::{HashMap, HashSet};
use grammask_grammar_ir::{Distinct, RuleId};

use crate::json_schema::document::ids::NodeId;
use crate::json_schema::sets::goals::GoalId;
use crate::json_schema::sets::normal_form::NormalForm;
use crate::json_schema::value_syntax::{ItemComparison, ValueSyntax};

/// Marked arrays and objects, and the arrays and objects that may contain them.
pub(super) struct DistinctItems<'s> {
    pub(super) comparison: ItemComparison,
    /// The marked insides that may be read beside unmarked ones, with the keyword that asks for them.
    pub(super) marked: HashMap<RuleId, DistinctMark>,
    /// Arrays and objects that are read beside others of their type, with the normal form that lists them.
    pub(super) alternatives: Vec<(Rc<NormalForm<'s>>, Vec<RuleId>)>,
    /// Arrays and objects whose items or members are read in several ways.
    pub(super) ambiguous: HashSet<RuleId>,
    /// Goals inside of which names do not run out.
    pub(super) with_names: HashSet<GoalId>,
}

/// A mark: which values are compared, and the keyword that asks for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct DistinctMark {
    pub(super) what: Distinct,
    pub(super) node: NodeId,
    pub(super) keyword: &'static str,
}

impl<'s> DistinctItems<'s> {
    pub(super) fn new(comparison: ItemComparison, syntax: ValueSyntax) -> Self {
        let comparison = match syntax {
            ValueSyntax::Json => comparison,
            ValueSyntax::Markup(_) | ValueSyntax::Notation(_) => ItemComparison::Impossible,
        };
        Self {
            comparison,
            marked: HashMap::default(),
            alternatives: Vec::new(),
            ambiguous: HashSet::default(),
            with_names: HashSet::default(),
        }
    }

    /// The arrays and objects are alternatives of a normal form.
    pub(super) fn add_alternatives(&mut self, norm: &Rc<NormalForm<'s>>, rules: Vec<RuleId>) {
        self.alternatives.push((Rc::clone(norm), rules));
    }

    /// The items or members of the array or object are read in several ways.
    pub(super) fn add_ambiguous(&mut self, rule: RuleId) {
        self.ambiguous.insert(rule);
    }
}
