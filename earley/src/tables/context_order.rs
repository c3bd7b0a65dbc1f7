//! The contexts that a context leads to, in an order for computing over them.

use grammask_grammar_ir::hash::HashSet;

use super::contexts::{Context, Contexts};
use super::ids::ContextId;

/// The contexts that `root` leads to, itself included, without those that `skip` names and those that only
/// they lead to; ancestors first. A block is represented by its first member. Iterative: contexts nest as
/// deep as the text.
pub(crate) fn post_order(
    contexts: &Contexts,
    root: ContextId,
    skip: impl Fn(ContextId) -> bool,
) -> Vec<ContextId> {
    enum Step {
        Enter(ContextId),
        Leave(ContextId),
    }
    let mut order = Vec::new();
    let mut entered = HashSet::<ContextId>::default();
    let mut stack = vec![Step::Enter(root)];
    while let Some(step) = stack.pop() {
        let id = match step {
            Step::Leave(id) => {
                order.push(id);
                continue;
            }
            Step::Enter(id) => match contexts.get(id) {
                Context::Block { first, .. } => first,
                _ => id,
            },
        };
        // Only blocks refer in a circle, and a block is one step here. So everything else that a context
        // leads to has been left when the context is.
        if skip(id) || !entered.insert(id) {
            continue;
        }
        stack.push(Step::Leave(id));
        match contexts.get(id) {
            Context::Root | Context::Local => {}
            Context::Counter(counter) => stack.push(Step::Enter(counter.parent)),
            Context::Permutation(open) => stack.push(Step::Enter(open.parent)),
            Context::List(range) => {
                stack.extend(contexts.entries(range).iter().map(|entry| Step::Enter(entry.context)));
            }
            Context::Block { first, .. } => {
                // References inside the block come back to its first member, which was entered.
                for place in 0..contexts.block_len(first) {
                    if let Context::Block { entries, .. } = contexts.get(first.member(place)) {
                        stack
                            .extend(contexts.entries(entries).iter().map(|entry| Step::Enter(entry.context)));
                    }
                }
            }
        }
    }
    order
}
