//! From derivations to a configuration, which says where the text ends without the numbers of an automaton.

use grammask_fsm::Role;
use grammask_grammar_ir::hash::HashMap;
use grammask_parser_backend::{Configuration, OpenCall, OpenGroup, Progress};

use super::ids::GroupId;
use super::parse::{Call, Derivations, Waiter};
use crate::tables::ids::number;

impl Derivations {
    /// The place at which the text ends.
    pub fn configuration(&self) -> Configuration {
        let mut groups: HashMap<GroupId, u32> = HashMap::default();
        let mut calls: HashMap<Call, u32> = HashMap::default();
        let mut order = Vec::new();
        let mut number_of = |call: Call, order: &mut Vec<Call>| {
            let next = number(calls.len());
            *calls.entry(call).or_insert_with(|| {
                order.push(call);
                next
            })
        };
        let mut configuration = Configuration { is_complete: self.is_complete(), ..Configuration::default() };
        let alive = self.alive_groups(self.items_of(self.last_position()).map(|item| item.call.group));
        // An item that reads nothing has done its work in this set: all that follows from it is there, too.
        for &item in self.items_of(self.last_position()) {
            if self.reads(item) && alive.contains(&item.call.group) {
                configuration.items.push((item.state.raw(), number_of(item.call, &mut order)));
            }
        }
        let mut next = 0;
        // Breadth first outwards. A call gets its number where it is first named, so numbers and the order of
        // the list agree. The list grows while it is read.
        while let Some(&call) = order.get(next) {
            next += 1;
            let group = match groups.get(&call.group) {
                Some(&known) => known,
                None => {
                    let new = number(configuration.groups.len());
                    groups.insert(call.group, new);
                    let group = self.groups[call.group.index()];
                    // Callers that were dropped, or whose groups lead to closed ones alone, are no part of the place.
                    let is_open =
                        |waiting: &Waiter| self.is_open(*waiting) && alive.contains(&waiting.call.group);
                    let open = self.waiting(call.group).filter(is_open);
                    let waiting = open
                        .map(|waiting| (waiting.target.raw(), number_of(waiting.call, &mut order)))
                        .collect();
                    let is_text = group.begin.index() == 0 && group.fragment == self.program.root();
                    configuration.groups.push(OpenGroup { fragment: group.fragment.raw(), waiting, is_text });
                    new
                }
            };
            let fragment = self.program.fragment(self.groups[call.group.index()].fragment);
            let progress = match (&fragment.role, fragment.counting()) {
                (Role::Permutation(_), _) => self.subsets.get(call.progress).to_progress(),
                (_, Some(_)) => Progress::Iterations(call.progress),
                (_, None) => Progress::None,
            };
            configuration.calls.push(OpenCall { group, progress });
        }
        configuration
    }
}
