//! One name, one thing: how often a type's name may be used in a crate, and how constants are not called.

use std::collections::BTreeMap;

use proc_macro2::Ident;
use syn::visit::{self, Visit};
use syn::{
    ImplItemConst, ItemConst, ItemEnum, ItemStatic, ItemStruct, ItemTrait, ItemType, ItemUnion,
    TraitItemConst,
};

use super::crate_tree::CrateTree;
use super::finding::Finding;

/// A name that is used for more things than this tells nobody which one is meant.
const MAX_USES: usize = 2;

/// A limit begins with `MAX_` or `MIN_`; each prefix here with the one to take.
const PREFIXES: [(&str, &str); 2] = [("MOST_", "MAX_"), ("LEAST_", "MIN_")];

/// Means the same in every file that has one: what a verb of a program takes.
const IN_EVERY_FILE: [&str; 1] = ["Arguments"];

pub(super) fn check(trees: &[CrateTree]) -> Vec<Finding> {
    trees.iter().flat_map(check_crate).collect()
}

fn check_crate(tree: &CrateTree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut types: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for module in &tree.modules {
        let mut names = Names::default();
        module.items.iter().for_each(|item| names.visit_item(item));
        let file = &tree.files[module.file];
        for (name, line) in names.types {
            types.entry(name).or_default().push(format!("{file}:{line}"));
        }
        for (name, line) in names.constants {
            if let Some((prefix, better)) = PREFIXES.iter().find(|(prefix, _)| name.starts_with(prefix)) {
                let message = format!("`{name}` begins with `{prefix}`; begin it with `{better}`");
                findings.push(Finding::new(format!("{file}:{line}"), message));
            }
        }
    }
    types.retain(|name, places| places.len() > MAX_USES && !IN_EVERY_FILE.contains(&name.as_str()));
    for (name, places) in types {
        let message =
            format!("{} types are called `{name}` (limit {MAX_USES}): {}", places.len(), places.join(", "));
        findings.push(Finding::new(&tree.name, message));
    }
    findings
}

/// The names that are defined, with their lines. Associated types are left out.
#[derive(Default)]
struct Names {
    types: Vec<(String, usize)>,
    constants: Vec<(String, usize)>,
}

impl Names {
    fn add_type(&mut self, name: &Ident) {
        self.types.push((name.to_string(), name.span().start().line));
    }

    fn add_constant(&mut self, name: &Ident) {
        self.constants.push((name.to_string(), name.span().start().line));
    }
}

impl<'a> Visit<'a> for Names {
    fn visit_item_struct(&mut self, item: &'a ItemStruct) {
        self.add_type(&item.ident);
    }

    fn visit_item_enum(&mut self, item: &'a ItemEnum) {
        self.add_type(&item.ident);
    }

    fn visit_item_union(&mut self, item: &'a ItemUnion) {
        self.add_type(&item.ident);
    }

    fn visit_item_type(&mut self, item: &'a ItemType) {
        self.add_type(&item.ident);
    }

    fn visit_item_trait(&mut self, item: &'a ItemTrait) {
        self.add_type(&item.ident);
        visit::visit_item_trait(self, item);
    }

    fn visit_item_const(&mut self, item: &'a ItemConst) {
        self.add_constant(&item.ident);
        visit::visit_item_const(self, item);
    }

    fn visit_item_static(&mut self, item: &'a ItemStatic) {
        self.add_constant(&item.ident);
        visit::visit_item_static(self, item);
    }

    fn visit_impl_item_const(&mut self, item: &'a ImplItemConst) {
        self.add_constant(&item.ident);
        visit::visit_impl_item_const(self, item);
    }

    fn visit_trait_item_const(&mut self, item: &'a TraitItemConst) {
        self.add_constant(&item.ident);
        visit::visit_trait_item_const(self, item);
    }
}

#[cfg(test)]
mod tests {
    use super::super::crate_tree::planted;
    use super::*;

    fn check(files: &[(&str, &str)]) -> Vec<String> {
        let findings = check_crate(&planted(files));
        findings.into_iter().map(|finding| format!("{}: {}", finding.place, finding.message)).collect()
    }

    #[test]
    fn a_name_may_stand_for_two_things_but_not_for_three() {
        let two = [("lib.rs", "mod a; struct Part;"), ("a.rs", "enum Part {}")];
        assert!(check(&two).is_empty());
        let three = [("lib.rs", "mod a; struct Part;"), ("a.rs", "enum Part {}\nfn f() { trait Part {} }")];
        assert_eq!(check(&three), ["planted: 3 types are called `Part` (limit 2): lib.rs:1, a.rs:1, a.rs:2"]);
    }

    #[test]
    fn associated_types_and_test_code_are_left_out() {
        let text = "type Item = u8; struct Item1; impl Iterator for A { type Item = u8; } \
                    impl Iterator for B { type Item = u8; } trait T { type Item; } \
                    #[cfg(test)] mod tests { struct Item1; struct Item1; }";
        assert!(check(&[("lib.rs", text)]).is_empty());
    }

    #[test]
    fn limits_begin_with_max_and_min() {
        let text =
            "const MOST_STATES: u8 = 1;\nimpl A { const LEAST_WIDTH: u8 = 1; }\nstatic ALMOST_ALL: u8 = 1;";
        let expected = [
            "lib.rs:1: `MOST_STATES` begins with `MOST_`; begin it with `MAX_`",
            "lib.rs:2: `LEAST_WIDTH` begins with `LEAST_`; begin it with `MIN_`",
        ];
        assert_eq!(check(&[("lib.rs", text)]), expected);
    }
}
