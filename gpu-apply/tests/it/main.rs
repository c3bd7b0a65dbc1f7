//! Everything that this crate does, against definitions that are spelled out bit by bit.
#![expect(clippy::unwrap_used, reason = "a test may stop where it fails")]

mod applying;
mod choosing;
#[cfg(all(feature = "cuda", target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod device;
#[cfg(unix)]
mod forks;
mod reference;
mod sampling;
