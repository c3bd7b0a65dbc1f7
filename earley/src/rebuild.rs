//! Contexts made anew: with their counts inside, or in another engine.

use crate::closure::Item;
use crate::context::{Context, ContextId, Contexts, CountKind, Counter, Entry, INSIDE, LOCAL, Open, ROOT};
use crate::slots::SLOTS;
use grammask_grammar_ir::hash::{HashMap, HashSet};

/// The items with the counts of slots written into their contexts, and how many contexts that took.
pub(crate) fn exact(contexts: &mut Contexts, items: &[Item], counts: &[u32; SLOTS]) -> (Vec<Item>, usize) {
    let mut done = Done::default();
    for item in items {
        let order =
            post_order(contexts, item.context, |id| done.contains_key(&id) || contexts.slots(id).is_empty());
        for id in order {
            let context = contexts.get(id);
            let made = match context {
                Context::Root | Context::Local => id,
                Context::Counter(counter) => {
                    let count = match counter.count {
                        CountKind::Slot(slot) => CountKind::Exact(counts[usize::from(slot)]),
                        other => other,
                    };
                    let parent = translate(&done, counter.parent);
                    contexts.counter(Counter { count, parent, ..counter })
                }
                Context::Open(open) => contexts.open(Open { parent: translate(&done, open.parent), ..open }),
                Context::List(range) => {
                    let entries = translate_entries(&done, contexts.entries(range));
                    contexts.list(&entries)
                }
                Context::Block { first, .. } => {
                    let members = block_members(contexts, first, |id| translate(&done, id));
                    record_block(&mut done, first, members.len(), contexts.block(&members));
                    continue;
                }
            };
            done.insert(id, made);
        }
    }
    (translate_items(&done, items), done.len())
}

/// The items with their contexts made in another arena.
pub(crate) fn import(from: &Contexts, to: &mut Contexts, items: &[Item]) -> Vec<Item> {
    let mut done = Done::from_iter([(ROOT, ROOT), (LOCAL, LOCAL)]);
    for item in items {
        for id in post_order(from, item.context, |id| done.contains_key(&id)) {
            let made = match from.get(id) {
                Context::Root | Context::Local => id,
                Context::Counter(counter) => {
                    let parent = translate(&done, counter.parent);
                    to.counter(Counter { parent, ..counter })
                }
                Context::Open(open) => {
                    let read = to.read_id(from.read(open.read).clone());
                    to.open(Open { parent: translate(&done, open.parent), read, ..open })
                }
                Context::List(range) => {
                    let entries = translate_entries(&done, from.entries(range));
                    to.list(&entries)
                }
                Context::Block { first, .. } => {
                    let members = block_members(from, first, |id| translate(&done, id));
                    record_block(&mut done, first, members.len(), to.block(&members));
                    continue;
                }
            };
            done.insert(id, made);
        }
    }
    translate_items(&done, items)
}

type Done = HashMap<ContextId, ContextId>;

/// A context that was left alone stands for itself.
fn translate(done: &Done, id: ContextId) -> ContextId {
    done.get(&id).copied().unwrap_or(id)
}

fn translate_entries(done: &Done, entries: &[Entry]) -> Vec<Entry> {
    let mut made: Vec<Entry> =
        entries.iter().map(|entry| Entry { context: translate(done, entry.context), ..*entry }).collect();
    made.sort_unstable();
    made.dedup();
    made
}

fn translate_items(done: &Done, items: &[Item]) -> Vec<Item> {
    let mut made: Vec<Item> =
        items.iter().map(|item| Item { context: translate(done, item.context), ..*item }).collect();
    made.sort_unstable();
    made.dedup();
    made
}

/// The members of a block as [`Contexts::block`] takes them, outside references translated.
fn block_members(
    contexts: &Contexts,
    first: ContextId,
    translate: impl Fn(ContextId) -> ContextId,
) -> Vec<Vec<Entry>> {
    let len = contexts.block_len(first) as u32;
    let inside = first.0..first.0 + len;
    let member = |place: u32| -> Vec<Entry> {
        let Context::Block { entries, .. } = contexts.get(ContextId(first.0 + place)) else {
            return Vec::new();
        };
        let mut list: Vec<Entry> = contexts
            .entries(entries)
            .iter()
            .map(|&Entry { state, context }| {
                let context = if inside.contains(&context.0) {
                    ContextId(INSIDE | (context.0 - first.0))
                } else {
                    translate(context)
                };
                Entry { state, context }
            })
            .collect();
        list.sort_unstable();
        list.dedup();
        list
    };
    (0..len).map(member).collect()
}

fn record_block(done: &mut Done, first: ContextId, len: usize, made: ContextId) {
    for place in 0..len as u32 {
        done.insert(ContextId(first.0 + place), ContextId(made.0 + place));
    }
}

/// The contexts that `root` leads to, itself included, without those that `skip` and what only they lead to;
/// ancestors first. A block stands in the order by its first member. Iterative: contexts nest as deep as the
/// text.
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
        if skip(id) || !entered.insert(id) {
            continue;
        }
        stack.push(Step::Leave(id));
        match contexts.get(id) {
            Context::Root | Context::Local => {}
            Context::Counter(counter) => stack.push(Step::Enter(counter.parent)),
            Context::Open(open) => stack.push(Step::Enter(open.parent)),
            Context::List(range) => {
                stack.extend(contexts.entries(range).iter().map(|entry| Step::Enter(entry.context)));
            }
            Context::Block { first, .. } => {
                for place in 0..contexts.block_len(first) as u32 {
                    if let Context::Block { entries, .. } = contexts.get(ContextId(first.0 + place)) {
                        stack
                            .extend(contexts.entries(entries).iter().map(|entry| Step::Enter(entry.context)));
                    }
                }
            }
        }
    }
    order
}
