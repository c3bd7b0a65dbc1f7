//! The ids of tables that passes keep beside the draft.

use crate::ids::define_id;

define_id! {
    /// A state that waits for a fragment, in a list of such states.
    EntryId
}

define_id! {
    /// Parts in any order that lack something.
    WholeId
}

define_id! {
    /// A power of two.
    PowerId
}

define_id! {
    /// A text in a JSON string that is written out.
    ChainId
}
