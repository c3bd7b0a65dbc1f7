//! Token masks onto logits, on the CPU.
#![deny(missing_docs)]

mod apply;
mod choose;
#[cfg(all(feature = "cuda", target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
pub mod cuda;
mod error;
mod layout;
mod logit;
mod sample;
mod simd;
mod weights;

pub use crate::apply::{Processor, Threads, apply_mask, apply_mask_raw};
pub use crate::choose::{argmax, softmax};
pub use crate::error::{ApplyError, ApplyErrorKind};
pub use crate::layout::{Layout, Padding, Rows};
pub use crate::logit::Logit;
pub use crate::sample::{Sampling, sample};
pub use crate::simd::Instructions;
pub use half;
