//! Everything that this crate does, against definitions that are spelled out bit by bit.

mod applying;
mod choosing;
mod reference;
mod sampling;
