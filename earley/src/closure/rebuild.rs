//! Contexts made anew: with their counts inside, or in another automaton.

use grammask_grammar_ir::hash::HashMap;

use crate::tables::context_order::post_order;
use crate::tables::contexts::{Context, Contexts, CountKind, Counter, Entry, OpenPermutation};
use crate::tables::ids::{ContextId, LOCAL, ROOT, SLOTS};
use crate::tables::items::Item;

/// The items with the counts of slots written into their contexts, and how many contexts that took.
pub(crate) fn with_exact_counts(
    contexts: &mut Contexts,
    items: &[Item],
    counts: &[u32; SLOTS],
) -> (Vec<Item>, usize) {
    let mut rebuilt_ids = RebuiltIds::default();
    for item in items {
        // A context without slots, in itself and in all that it leads to, has nothing to write in and keeps
        // its number.
        let order = post_order(contexts, item.context, |id| {
            rebuilt_ids.contains_key(&id) || contexts.slots(id).is_empty()
        });
        for id in order {
            let context = contexts.get(id);
            let rebuilt = match context {
                Context::Root | Context::Local => id,
                Context::Counter(counter) => {
                    let count = match counter.count {
                        CountKind::Slot(slot) => CountKind::Exact(counts[slot.index()]),
                        other => other,
                    };
                    let parent = translate(&rebuilt_ids, counter.parent);
                    contexts.counter(Counter { count, parent, ..counter })
                }
                Context::Permutation(open) => contexts
                    .permutation(OpenPermutation { parent: translate(&rebuilt_ids, open.parent), ..open }),
                Context::List(range) => {
                    let entries = translate_entries(&rebuilt_ids, contexts.entries(range));
                    contexts.list(&entries)
                }
                // Members refer to one another, so they are made together, and all of them are recorded.
                Context::Block { first, .. } => {
                    let members = block_members(contexts, first, |id| translate(&rebuilt_ids, id));
                    record_block(&mut rebuilt_ids, first, members.len(), contexts.block(&members));
                    continue;
                }
            };
            rebuilt_ids.insert(id, rebuilt);
        }
    }
    (translate_items(&rebuilt_ids, items), rebuilt_ids.len())
}

/// Which context of one arena is which of another.
pub(crate) struct ImportedContexts(RebuiltIds);

impl Default for ImportedContexts {
    fn default() -> Self {
        Self(RebuiltIds::from_iter([(ROOT, ROOT), (LOCAL, LOCAL)]))
    }
}

impl ImportedContexts {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

/// The items with their contexts made in another arena, if they are not known there yet.
pub(crate) fn import_items(
    from: &Contexts,
    to: &mut Contexts,
    items: &[Item],
    ImportedContexts(rebuilt_ids): &mut ImportedContexts,
) -> Vec<Item> {
    for item in items {
        if rebuilt_ids.contains_key(&item.context) {
            continue;
        }
        for id in post_order(from, item.context, |id| rebuilt_ids.contains_key(&id)) {
            let rebuilt = match from.get(id) {
                Context::Root | Context::Local => id,
                Context::Counter(counter) => {
                    let parent = translate(rebuilt_ids, counter.parent);
                    to.counter(Counter { parent, ..counter })
                }
                Context::Permutation(open) => {
                    // Numbers of subsets belong to an arena; the content moves.
                    let subset = to.subset_id(from.subset(open.subset).clone());
                    to.permutation(OpenPermutation {
                        parent: translate(rebuilt_ids, open.parent),
                        subset,
                        ..open
                    })
                }
                Context::List(range) => {
                    let entries = translate_entries(rebuilt_ids, from.entries(range));
                    to.list(&entries)
                }
                Context::Block { first, .. } => {
                    let members = block_members(from, first, |id| translate(rebuilt_ids, id));
                    record_block(rebuilt_ids, first, members.len(), to.block(&members));
                    continue;
                }
            };
            rebuilt_ids.insert(id, rebuilt);
        }
    }
    translate_items(rebuilt_ids, items)
}

type RebuiltIds = HashMap<ContextId, ContextId>;

/// A context that was not made anew keeps its number.
fn translate(rebuilt_ids: &RebuiltIds, id: ContextId) -> ContextId {
    rebuilt_ids.get(&id).copied().unwrap_or(id)
}

fn translate_entries(rebuilt_ids: &RebuiltIds, entries: &[Entry]) -> Vec<Entry> {
    let mut rebuilt: Vec<Entry> = entries
        .iter()
        .map(|entry| Entry { context: translate(rebuilt_ids, entry.context), ..*entry })
        .collect();
    // Two contexts may become one, as one with a count in a slot and one with the same count inside. Numbers
    // come in another order, too.
    rebuilt.sort_unstable();
    rebuilt.dedup();
    rebuilt
}

fn translate_items(rebuilt_ids: &RebuiltIds, items: &[Item]) -> Vec<Item> {
    let mut rebuilt: Vec<Item> =
        items.iter().map(|item| Item { context: translate(rebuilt_ids, item.context), ..*item }).collect();
    rebuilt.sort_unstable();
    rebuilt.dedup();
    rebuilt
}

/// The members of a block as [`Contexts::block`] takes them, outside references translated.
fn block_members(
    contexts: &Contexts,
    first: ContextId,
    translate: impl Fn(ContextId) -> ContextId,
) -> Vec<Vec<Entry>> {
    let len = contexts.block_len(first);
    let inside = first..first.member(len);
    let member = |place: usize| -> Vec<Entry> {
        let Context::Block { entries, .. } = contexts.get(first.member(place)) else {
            return Vec::new();
        };
        let mut list: Vec<Entry> = contexts
            .entries(entries)
            .iter()
            .map(|&Entry { state, context }| {
                let context = if inside.contains(&context) {
                    ContextId::in_block(context.index() - first.index())
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

fn record_block(rebuilt_ids: &mut RebuiltIds, first: ContextId, len: usize, rebuilt: ContextId) {
    for place in 0..len {
        rebuilt_ids.insert(first.member(place), rebuilt.member(place));
    }
}
