//! The ids of the parts of a draft.

use crate::ids::define_id;

define_id! {
    /// A state of a draft that is not prebuilt.
    DraftStateId
}

define_id! {
    /// A fragment of a draft. The root is the first one.
    DraftFragmentId
}

define_id! {
    /// An edge of a draft.
    DraftEdgeId
}

define_id! {
    /// A text that is one edge while the passes run.
    NameId
}
