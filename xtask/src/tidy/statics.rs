//! A static that is made once must not make others wait.
//!
//! A process may be forked while one of its threads makes such a value. The child has no such thread, and would wait for it
//! without end. In `once_cell::race` nobody waits. Programs of our own, which fork nothing, may use what is handy.

use quote::ToTokens;
use syn::visit::{self, Visit};
use syn::{ItemStatic, Type};

use super::crate_tree::CrateTree;
use super::finding::Finding;

/// Types in which others wait for the one that makes the value.
const WAITING: [&str; 3] = ["LazyLock", "Once", "OnceLock"];

/// Folders of programs that fork nothing.
const PROGRAMS: [&str; 3] = ["bench", "cli", "xtask"];

pub(super) fn check(trees: &[CrateTree]) -> Vec<Finding> {
    let libraries = trees.iter().filter(|tree| !PROGRAMS.contains(&&*tree.folder));
    libraries.flat_map(find).collect()
}

fn find(tree: &CrateTree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for module in &tree.modules {
        let mut finder = Statics(Vec::new());
        module.items.iter().for_each(|item| finder.visit_item(item));
        let message = "a child that is forked meanwhile would wait for this static; use `once_cell::race`";
        let place = |line| format!("{}:{line}", tree.files[module.file]);
        findings.extend(finder.0.into_iter().map(|line| Finding::new(place(line), message)));
    }
    findings
}

/// The lines of such statics.
struct Statics(Vec<usize>);

impl<'a> Visit<'a> for Statics {
    fn visit_item_static(&mut self, item: &'a ItemStatic) {
        if waits(&item.ty) {
            self.0.push(item.static_token.span.start().line);
        }
        visit::visit_item_static(self, item);
    }
}

fn waits(ty: &Type) -> bool {
    let text = ty.to_token_stream().to_string();
    text.split(|sign: char| !sign.is_alphanumeric()).any(|word| WAITING.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::super::crate_tree::planted;
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        find(&planted(&[("lib.rs", text)])).into_iter().map(|finding| finding.place).collect()
    }

    #[test]
    fn statics_that_others_wait_for_are_found() {
        assert_eq!(lines("\nstatic A: OnceLock<u8> = OnceLock::new();"), ["lib.rs:2"]);
        assert_eq!(lines("fn f() { static A: [[std::sync::OnceLock<u8>; 2]; 3] = x(); }"), ["lib.rs:1"]);
        assert_eq!(lines("fn f() {\n static A: LazyLock<u8> = LazyLock::new(g); }"), ["lib.rs:2"]);
    }

    #[test]
    fn others_are_not() {
        assert!(lines("static A: OnceBox<u8> = OnceBox::new(); static B: AtomicU8 = x();").is_empty());
        assert!(lines("struct S { a: OnceLock<u8> }").is_empty(), "a field belongs to its owner");
        assert!(lines("#[cfg(test)] mod t { static A: LazyLock<u8> = LazyLock::new(g); }").is_empty());
    }
}
