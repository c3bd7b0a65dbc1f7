//! The engines side by side, behind one small trait.
//!
//! A grammar in the dialect of each engine and a tokenizer come in, and masks go out. An engine is a file of its own and
//! can be changed alone. Imports nothing of this program.

mod interface;
#[cfg(feature = "llguidance")]
pub(crate) mod llguidance;
mod load;
#[cfg(not(feature = "llguidance"))]
pub(crate) mod no_llguidance;
pub(crate) mod ours;
pub(crate) mod tokenizer;

pub(crate) use interface::{Backend, Engine, EngineId, KeyOrder, PLACE, Source};
pub(crate) use load::{load, over};
#[cfg(not(feature = "llguidance"))]
pub(crate) use no_llguidance as llguidance;
