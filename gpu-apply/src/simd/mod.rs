//! Writing minus infinity over forbidden logits, with the widest instructions that the processor has.
//!
//! The naive way asks for every token whether its bit is set and writes if not. For masks without a pattern
//! the branch is mispredicted half of the time, some 5 nanoseconds a token. Without the branch (write what is
//! chosen between the logit and minus infinity) a compiler still shifts bits one by one. The instruction sets
//! can do better. AVX-512 takes bits of a word of the mask directly and stores under them; AVX2 and NEON
//! widen them to lanes with one comparison and blend. A whole word of ones costs nothing, so that nearly full
//! masks read little more than the mask.
//!
//! # In this folder
//!
//! A row of lanes and the words of a mask come in; forbidden lanes are overwritten. An instruction set is a file of its
//! own and can be added or changed alone, as long as it writes the same bits as `scalar`. Imports nothing of this crate.

mod instructions;
mod lane;
#[cfg(target_arch = "aarch64")]
mod neon;
mod scalar;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use instructions::Instructions;
pub(crate) use lane::Lane;
