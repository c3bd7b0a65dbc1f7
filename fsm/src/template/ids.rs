//! The ids for linking a template.

use crate::ids::define_id;

define_id! {
    /// A branch, in the order of the branches' beginnings.
    BranchId
}

define_id! {
    /// One of some texts that are put in order.
    TextId
}
