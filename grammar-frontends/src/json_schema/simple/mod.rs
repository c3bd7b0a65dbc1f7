//! The fast path for simple schemas. A schema without anything to compute comes in, as most schemas of tools are; an
//! estimate of its size or its grammar goes out, without normal forms. Which schemas count as simple may change here
//! alone. The grammar must be the one that `lower` writes, rule by rule. Imports `document`, `sets` and the writers of
//! `lower`.

pub(super) mod estimate;
pub(super) mod one_sweep;
