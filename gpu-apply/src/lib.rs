//! Token masks onto logits at the speed of memory, and one token chosen from them.
//!
//! A *mask* says for every token whether it may come next: words of 32 bits, least significant bit first, 1
//! for allowed. This crate puts masks on logits (`f32`, `f16`, `bf16`) by writing minus infinity over what is
//! forbidden, and chooses tokens for programs that have no sampler. It works on plain memory and knows
//! nothing of grammars or tokenizers: an engine with a matcher of its own can take just this crate.
//!
//! Where the framework that owns the logits has a sampler, [`apply_mask`] is all that you need. Where it has
//! a fused kernel that takes packed masks, you do not need this crate.
//!
//! # Example
//!
//! ```
//! use grammask_gpu_apply::{Layout, Processor, Sampling, apply_mask, argmax, sample};
//!
//! // Two rows of three logits; the masks allow tokens 0 and 2, and token 1.
//! let mut logits = [0.5_f32, 2.0, 1.5, 0.1, 0.2, 0.3];
//! let masks = [0b101, 0b010];
//! let (processor, layout) = (Processor::default(), Layout::new(2, 3));
//!
//! let mut best = [0; 2];
//! argmax(processor, &logits, &masks, &layout, &mut best)?;
//! assert_eq!(best, [2, 1]);
//!
//! let settings = [Sampling::default().temperature(0.8).top_k(40).top_p(0.95).seed(7); 2];
//! let mut drawn = [0; 2];
//! sample(processor, &logits, &masks, &layout, &settings, &mut drawn)?;
//! assert_eq!(drawn[1], 1);
//!
//! apply_mask(processor, &mut logits, &masks, &layout)?;
//! assert_eq!(logits[1], f32::NEG_INFINITY);
//! # Ok::<(), grammask_gpu_apply::ApplyError>(())
//! ```
//!
//! # Layout
//!
//! A [`Layout`] describes the rows: shape, strides of logits and masks, number of tokens in the masks,
//! selected rows ([`Rows`]). It also sets the treatment of logits past the end of the vocabulary
//! ([`Padding`]: forbidden by default). [`apply_mask_raw`] takes addresses, for tensors.
//!
//! # What happens to special values
//!
//! * Applying a mask changes no allowed logit: NaN keeps its payload, infinities and both zeros their signs.
//!   A forbidden logit becomes minus infinity whatever it was.
//! * Choosing passes NaN over, as if it were minus infinity. Neither is ever chosen. Both zeros are equal,
//!   and of equal logits the smaller id is better. Where allowed logits are plus infinity, only they are
//!   chosen, all with the same probability.
//! * A mask that allows nothing is an error for choosing, and so is a row whose allowed logits are all minus
//!   infinity or NaN. Applying such a mask is no error: the row becomes minus infinity.
//!
//! # Reproducible
//!
//! Instructions (AVX-512, AVX2, NEON, plain ones) are chosen at run time and never change a result, not by a
//! bit; nor does the number of threads. A draw depends on the row, its mask and its [`Sampling`] alone.
//!
//! # Errors
//!
//! [`ApplyError`] says what to change, [`ApplyError::kind`] what happened. When applying a mask fails,
//! nothing was written.
//!
//! # Limits
//!
//! Fewer than 2^32 rows and columns; in device memory rows of fewer than 2^30 logits. A token whose
//! probability is below `e^-87` of the best one's is never drawn.
//!
//! # Features
//!
//! * `cuda`, off by default: the module `cuda`, the same on NVIDIA devices, on Linux (x86-64, aarch64).
//!   Building needs no CUDA and no C++, and a program that is built with it starts without a driver.
#![deny(missing_docs)]

// In the order in which they build on one another.

// Errors and the rows of a call: they import nothing above.
mod error;
mod layout;
// Threads of a call.
mod share_out;
// Instruction sets.
mod simd;
// The types of logits.
mod logit;
// Masks put on logits.
mod apply;
// Weights of tokens, and choices by them.
mod weights;
// The best token, and probabilities.
mod choose;
// Sampling.
mod sample;
// The same on devices.
#[cfg(all(feature = "cuda", target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
pub mod cuda;

pub use half;

pub use crate::apply::{Processor, Threading, apply_mask, apply_mask_raw};
pub use crate::choose::{argmax, softmax};
pub use crate::error::{ApplyError, ApplyErrorKind};
pub use crate::layout::{Layout, Padding, Rows};
pub use crate::logit::Logit;
pub use crate::sample::{Sampling, sample};
pub use crate::simd::Instructions;
