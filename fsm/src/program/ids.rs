//! Ids of facts about a program beside its tables.

use crate::ids::define_id;

define_id! {
    /// A component of the left-corner graph.
    ComponentId
}
