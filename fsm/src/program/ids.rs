//! Ids of what is known of a program beside its tables.

use crate::ids::define_id;

define_id! {
    /// A component of the left-corner graph.
    ComponentId
}
