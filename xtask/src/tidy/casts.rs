//! Casts between integers belong inside id types, where a constructor says what fits.
//!
//! A cast is an `as` with an integer type after it; casts to floats and pointers are left out. It may be in an
//! `impl` of an id type, which is a tuple struct with one integer field, or in a `macro_rules` that defines a
//! struct. The others are counted, and a count may only go down.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{ExprCast, Fields, Item, ItemImpl, ItemMacro, ItemStruct, Macro, Type};

use super::crate_tree::CrateTree;
use super::finding::Finding;

/// How many casts each crate has outside of id types. To be lowered, never raised.
const CEILINGS: [(&str, usize); 2] = [("earley", 7), ("fsm", 17)];

const INTEGERS: [&str; 12] =
    ["u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize"];

pub(super) fn check(trees: &[CrateTree]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (name, ceiling) in CEILINGS {
        match trees.iter().find(|tree| tree.name == name) {
            Some(tree) => findings.extend(compare(tree, ceiling)),
            None => findings.push(Finding::new(name, "has a ceiling for casts, and does not exist")),
        }
    }
    findings
}

fn compare(tree: &CrateTree, ceiling: usize) -> Option<Finding> {
    let casts = casts(tree);
    let count: usize = casts.values().map(Vec::len).sum();
    if count == ceiling {
        return None;
    }
    if count < ceiling {
        let message = format!("{count} casts are left outside of id types; lower the ceiling to {count}");
        return Some(Finding::new(&tree.name, message));
    }
    let files = casts.iter().map(|(file, lines)| {
        let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
        format!("{file}:{}", lines.join(","))
    });
    let message = format!(
        "{count} casts between integers outside of id types (ceiling {ceiling}); convert in a constructor or an \
         accessor of an id type: {}",
        files.collect::<Vec<_>>().join(" ")
    );
    Some(Finding::new(&tree.name, message))
}

/// The lines of the casts outside of id types, by file.
fn casts(tree: &CrateTree) -> BTreeMap<&str, Vec<usize>> {
    let items = tree.modules.iter().flat_map(|module| &module.items);
    let ids: BTreeSet<String> = items.filter_map(id_type).collect();
    let mut casts: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for module in &tree.modules {
        let mut finder = Casts { ids: &ids, lines: Vec::new() };
        module.items.iter().for_each(|item| finder.visit_item(item));
        if !finder.lines.is_empty() {
            casts.entry(&tree.files[module.file]).or_default().extend(finder.lines);
        }
    }
    casts
}

/// The name of a tuple struct with one integer field.
fn id_type(item: &Item) -> Option<String> {
    let Item::Struct(ItemStruct { ident, fields: Fields::Unnamed(fields), .. }) = item else { return None };
    let mut fields = fields.unnamed.iter();
    let (Some(field), None) = (fields.next(), fields.next()) else { return None };
    let name = type_name(&field.ty)?;
    (is_integer(&name) || name.starts_with("NonZero")).then(|| ident.to_string())
}

fn type_name(ty: &Type) -> Option<String> {
    let Type::Path(path) = ty else { return None };
    path.path.segments.last().map(|segment| segment.ident.to_string())
}

fn is_integer(name: &str) -> bool {
    INTEGERS.contains(&name)
}

struct Casts<'i> {
    ids: &'i BTreeSet<String>,
    lines: Vec<usize>,
}

impl Casts<'_> {
    /// Counts the casts in a macro's tokens, which are not parsed.
    fn scan(&mut self, tokens: TokenStream) {
        let mut after_as = false;
        for token in tokens {
            let name = match &token {
                TokenTree::Ident(name) => name.to_string(),
                TokenTree::Group(group) => {
                    self.scan(group.stream());
                    String::new()
                }
                _ => String::new(),
            };
            if after_as && is_integer(&name) {
                self.lines.push(token.span().start().line);
            }
            after_as = name == "as";
        }
    }
}

impl<'a> Visit<'a> for Casts<'_> {
    fn visit_item_impl(&mut self, block: &'a ItemImpl) {
        if !type_name(&block.self_ty).is_some_and(|name| self.ids.contains(&name)) {
            visit::visit_item_impl(self, block);
        }
    }

    fn visit_item_macro(&mut self, item: &'a ItemMacro) {
        if item.ident.is_none() || !contains_word(item.mac.tokens.clone(), "struct") {
            visit::visit_item_macro(self, item);
        }
    }

    fn visit_expr_cast(&mut self, cast: &'a ExprCast) {
        if type_name(&cast.ty).is_some_and(|name| is_integer(&name)) {
            self.lines.push(cast.as_token.span.start().line);
        }
        visit::visit_expr_cast(self, cast);
    }

    fn visit_macro(&mut self, call: &'a Macro) {
        self.scan(call.tokens.clone());
    }
}

fn contains_word(tokens: TokenStream, word: &str) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(name) => name == word,
        TokenTree::Group(group) => contains_word(group.stream(), word),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::super::crate_tree::planted;
    use super::*;

    fn count(text: &str) -> usize {
        casts(&planted(&[("lib.rs", text)])).values().map(Vec::len).sum()
    }

    #[test]
    fn casts_to_integers_are_counted() {
        assert_eq!(count("fn f(a: u8) -> u32 { (a as usize + (a as u16) as usize) as u32 }"), 4);
        assert_eq!(count("fn f(a: u8) { vec![0; a as usize]; assert!(g(a as u32)); }"), 2, "in a macro");
        assert_eq!(count("macro_rules! low { ($x:expr) => { $x as u8 }; }"), 1, "in a macro's definition");
        assert_eq!(count("impl Table { fn f(self) -> u32 { self.0 as u32 } }"), 1, "in an ordinary type");
    }

    #[test]
    fn id_types_may_cast() {
        let id = "struct Id(u32); impl Id { fn new(i: usize) -> Self { Self(i as u32) } } \
                  impl From<Id> for usize { fn from(id: Id) -> usize { id.0 as usize } } \
                  impl Into<usize> for Id { fn into(self) -> usize { self.0 as usize } }";
        assert_eq!(count(id), 1, "only the one in an `impl` of another type");
        assert_eq!(count("macro_rules! id { () => { struct X(u32); impl X { f(x as u32) } }; }"), 0);
        assert_eq!(count("struct Pair(u32, u32); impl Pair { fn f(self) -> u8 { self.0 as u8 } }"), 1);
    }

    #[test]
    fn floats_pointers_imports_and_tests_are_left_out() {
        assert_eq!(count("use a as b; fn f(a: u8) -> f64 { g(a as *const u8); a as f64 }"), 0);
        assert_eq!(count("#[cfg(test)] mod t { fn f(a: u8) -> u32 { a as u32 } }"), 0);
    }

    #[test]
    fn the_count_may_only_go_down() {
        let tree = planted(&[("lib.rs", "fn f(a: u8) -> u32 {\n a as u32 }")]);
        assert_eq!(compare(&tree, 1), None);
        assert!(compare(&tree, 2).unwrap().message.ends_with("lower the ceiling to 1"));
        assert!(compare(&tree, 0).unwrap().message.ends_with("lib.rs:2"));
    }
}
