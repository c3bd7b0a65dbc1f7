//! The whole, from outside: what a hostile or careless user meets.

mod bounds;
mod common;
mod memory;
