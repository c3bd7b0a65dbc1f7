//! The whole, from outside: what a hostile or careless user meets.

mod bounds;
mod broken;
mod common;
mod exact;
mod memory;
mod threads;
