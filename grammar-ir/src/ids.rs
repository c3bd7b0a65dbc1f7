//! Checked 32-bit indices.

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(u32);

        impl $name {
            /// The id of the item at `index`, or `None` where the index does not fit.
            pub fn new(index: usize) -> Option<Self> {
                u32::try_from(index).ok().filter(|&raw| raw != u32::MAX).map(Self)
            }

            /// The position of the item in its arena.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id! {
    /// A rule (nonterminal) of one [`Grammar`](crate::Grammar).
    RuleId
}
id! {
    /// An expression of one [`Grammar`](crate::Grammar).
    ExprId
}
