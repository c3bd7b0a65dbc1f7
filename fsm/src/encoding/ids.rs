//! The ids of the parts of large texts in JSON strings.

use crate::ids::define_id;

define_id! {
    /// A class of characters.
    CharClassId
}

define_id! {
    /// A layout of the edges of a state.
    LayoutId
}

define_id! {
    /// One of the ways on of a state.
    WayId
}
