//! Numbers of the objects in the chart.

use crate::tables::ids::id;

id! {
    /// A position of the text. The first one is before the first byte.
    Position
}

id! {
    /// An item of some set.
    ItemId
}

id! {
    /// Where an item came from.
    LinkId
}

id! {
    /// All calls of one fragment that began at one place.
    GroupId
}

id! {
    /// A caller that waits for a group.
    WaiterId
}

impl Position {
    /// No position of any text.
    pub(crate) const NEVER: Self = Self::from_raw(u32::MAX);
}

impl LinkId {
    /// After the last link of an item.
    pub(crate) const NONE: Self = Self::from_raw(u32::MAX);
}

impl WaiterId {
    /// After the last waiter of a group.
    pub(crate) const NONE: Self = Self::from_raw(u32::MAX);
}
