//! The import graph of a crate, and the circles in it.
//!
//! A parsed crate goes in; findings and figures come out. The steps: `references` collects the names in each
//! module, `scope` resolves them through re-exports to the file that defines them, `graph` keeps one arrow
//! for each pair of files. Then `groups` joins files to the entries of each folder, `circles` finds circles
//! in either, and `rules` says which of them are to be mended. Only `rules` holds tables of crates; it may
//! change without care. May import `crate_tree`, `test_code` and `finding`.
//!
//! A method that is called on a value cannot be seen without types, and neither can a trait that only brings in
//! methods. An `impl` outside of its type's file is seen, by the path of the type.

mod circles;
mod references;
mod scope;
mod graph;
mod groups;
mod rules;
mod figures;
#[cfg(test)]
mod tests;

pub(crate) use figures::{Detail, figures};
pub(super) use rules::check;
