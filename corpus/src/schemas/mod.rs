//! Random schemas and instances: a grammar made of a schema and a judge of values must agree.
//!
//! The naive test writes schemas with instances by hand, and finds only the mistakes that its writer thought
//! of. Here schemas are random, over all keywords or over objects that are hard to distinguish ([`Family`]).
//! Valid instances come from a guide that reads the schema without any engine, and from walks through the
//! grammar; invalid ones are valid ones with a change. The judge, a validator that the caller brings, says
//! which is which.
//!
//! A seed and a judge come in, and a comparison goes out. Imports `documents`, `subject`, `subjects` and `report`.

mod compare;
mod generate;
mod instance;
mod objects;
mod pools;

pub use compare::{Comparison, Disagreement, Family, Judge, compare};
pub use generate::KEYWORDS;
