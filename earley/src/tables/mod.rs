//! The data of the automaton: sets of items, their contexts, and rows of transitions, all interned and append-only.
//!
//! This folder gets items and contexts from the closure and hands out numbers for them; readers get them back without
//! a lock. The layout of a table may change here without care elsewhere, as long as numbers stay valid. A change of the
//! encoding of transitions also needs a look at `automaton/step.rs`. It imports nothing from other folders.

pub(crate) mod append_only;
pub(crate) mod context_order;
pub(crate) mod contexts;
pub(crate) mod guards;
pub(crate) mod ids;
pub(crate) mod items;
pub(crate) mod part_subset;
pub(crate) mod sets;
pub(crate) mod slots;
pub(crate) mod state;
pub(crate) mod transitions;
