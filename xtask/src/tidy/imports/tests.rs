//! Planted crates with and without circles.

use super::figures::{Detail, figures};
use super::graph::ImportGraph;
use super::groups::levels;
use super::rules::{arrows_against_the_order, knots};
use crate::tidy::crate_tree::{CrateTree, planted};

/// All arrows, as `importing -> imported`.
fn arrows(files: &[(&str, &str)]) -> Vec<String> {
    let tree = planted(files);
    let graph = ImportGraph::new(&tree);
    assert!(graph.unresolved.is_empty(), "{:?}", graph.unresolved);
    graph.arrows.keys().map(|&(from, to)| format!("{} -> {}", tree.files[from], tree.files[to])).collect()
}

fn messages(tree: &CrateTree) -> Vec<String> {
    let findings = knots(tree, &ImportGraph::new(tree));
    findings.into_iter().map(|finding| format!("{}: {}", finding.place, finding.message)).collect()
}

/// A folder whose files import one another in a ring.
fn ring(length: usize) -> CrateTree {
    let names: Vec<String> = (0..length).map(|index| format!("m{index}")).collect();
    let facade: String = names.iter().map(|name| format!("mod {name};")).collect();
    let mut files = vec![("lib.rs".to_owned(), "mod ring;".to_owned()), ("ring/mod.rs".to_owned(), facade)];
    for (index, name) in names.iter().enumerate() {
        let next = (index + 1) % length;
        files.push((
            format!("ring/{name}.rs"),
            format!("use super::m{next}::S{next};\npub(super) struct S{index};"),
        ));
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    planted(&files)
}

#[test]
fn a_circle_of_six_files_is_found_and_one_of_five_passes() {
    let found = messages(&ring(6));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("planted: 6 files import one another in a circle (limit 5): "), "{found:?}");
    assert!(found[0].contains("ring/m5.rs:1 imports `super::m0::S0` of ring/m0.rs"), "{found:?}");
    assert!(messages(&ring(5)).is_empty());
}

#[test]
fn a_circle_between_folders_is_found() {
    let tree = planted(&[
        ("lib.rs", "mod a; mod b;"),
        ("a/mod.rs", "mod x;\npub(crate) use x::X;"),
        ("a/x.rs", "use crate::b::Y;\n\npub(crate) struct X;"),
        ("b/mod.rs", "mod y; mod z;\npub(crate) use self::y::*;"),
        ("b/y.rs", "pub(crate) struct Y;"),
        ("b/z.rs", "\nfn f() -> crate::a::X {}"),
    ]);
    let expected = "planted: these import one another in a circle: a, b; a/x.rs:1 imports `crate::b::Y` of b/y.rs; \
                    b/z.rs:2 imports `crate::a::X` of a/x.rs";
    assert_eq!(messages(&tree), [expected]);
}

#[test]
fn a_folder_in_a_folder_is_in_no_circle_with_its_siblings() {
    let tree = |back: &str| {
        planted(&[
            ("lib.rs", "mod a;"),
            ("a/mod.rs", "mod in_file; mod in_folder;"),
            ("a/in_file.rs", "use super::in_folder::deep::D; pub(super) struct F;"),
            ("a/in_folder/mod.rs", "pub(super) mod deep;"),
            ("a/in_folder/deep.rs", back),
        ])
    };
    assert!(messages(&tree("pub(crate) struct D;")).is_empty());
    let found = messages(&tree("pub(crate) struct D(super::super::in_file::F);"));
    assert!(found[0].starts_with("planted: a: these import one another in a circle: in_file, in_folder;"));
}

#[test]
fn re_exports_are_followed_and_are_no_imports() {
    let files = [
        ("lib.rs", "mod a; mod b; mod c; pub use a::A as Renamed; pub use b::*;"),
        ("a.rs", "pub struct A;"),
        ("b.rs", "pub use crate::c::C; pub fn b() { crate::Renamed::new(); }"),
        ("c.rs", "use crate::{C as _, Renamed, b}; pub enum C { Variant } fn f() { b::b(); }"),
    ];
    assert_eq!(arrows(&files), ["b.rs -> a.rs", "c.rs -> a.rs", "c.rs -> b.rs"]);
}

#[test]
fn names_through_a_glob_lead_to_their_files() {
    let files = [
        ("lib.rs", "mod a;"),
        ("a/mod.rs", "mod b; mod c; use c::C; fn helper() {} struct Unused;"),
        ("a/b.rs", "use super::*; fn f(c: C) {}"),
        ("a/c.rs", "use super::*; pub struct C; fn f(helper: u8) { helper; }"),
    ];
    let expected = ["a/mod.rs -> a/c.rs", "a/b.rs -> a/c.rs", "a/c.rs -> a/mod.rs"];
    let mut found = arrows(&files);
    found.sort();
    let mut expected = expected.map(str::to_owned).to_vec();
    expected.sort();
    assert_eq!(found, expected);
    let used =
        [files[0], files[1], ("a/b.rs", "use super::*; fn f() { helper(); }"), ("a/c.rs", "pub struct C;")];
    assert!(arrows(&used).contains(&"a/b.rs -> a/mod.rs".to_owned()));
}

#[test]
fn code_for_tests_only_is_left_out() {
    let files = [
        ("lib.rs", "mod a; mod b;"),
        (
            "a.rs",
            "pub struct A; #[cfg(test)] use crate::b::B; #[cfg(any(test, unix))] mod tests { use crate::b::B; }",
        ),
        ("b.rs", "use crate::a::A; pub struct B; impl B { #[cfg(test)] fn f() { crate::c::nothing() } }"),
    ];
    assert_eq!(arrows(&files), ["b.rs -> a.rs"]);
}

#[test]
fn macros_are_searched_and_found() {
    let files = [
        ("lib.rs", "#[macro_use] mod a; mod b; mod c;"),
        ("a.rs", "macro_rules! make { () => { $crate::c::C } }"),
        ("b.rs", "fn f() { make!(); println!(\"{}\", crate::c::count(1)); }"),
        ("c.rs", "pub struct C; pub fn count(n: u8) {} fn f(x: X) { matches!(x.b, crate::b::Missing); }"),
    ];
    let tree = planted(&files);
    let graph = ImportGraph::new(&tree);
    let found: Vec<_> =
        graph.arrows.keys().map(|&(from, to)| (&*tree.files[from], &*tree.files[to])).collect();
    let mut found: Vec<_> = found.into_iter().collect();
    found.sort_unstable();
    assert_eq!(found, [("a.rs", "c.rs"), ("b.rs", "a.rs"), ("b.rs", "c.rs")]);
    assert_eq!(graph.unresolved[0].1.name, "crate::b::Missing");
}

#[test]
fn names_that_a_macro_defines_belong_to_its_caller() {
    let files = [
        ("lib.rs", "mod ids; mod user; pub use ids::RuleId;"),
        ("ids.rs", "macro_rules! id { ($n:ident) => { pub struct $n(u32); } } id!(RuleId);"),
        ("user.rs", "use crate::RuleId;"),
    ];
    assert_eq!(arrows(&files), ["user.rs -> ids.rs"]);
}

#[test]
fn modules_functions_and_other_crates_of_one_name_are_told_apart() {
    let files = [
        ("lib.rs", "mod compile; mod regex; mod user; use compile::compile; pub use regex::Regex;"),
        (
            "compile.rs",
            "pub fn compile() { std::mem::take(); self::inner::f(); } mod inner { pub fn f() { super::g() } } fn g() {}",
        ),
        ("regex.rs", "pub use std::fmt as Regex; pub struct Own;"),
        ("user.rs", "use crate::compile; use crate::Regex; use crate::regex; fn f() { compile::compile(); }"),
    ];
    assert_eq!(arrows(&files), ["lib.rs -> compile.rs", "user.rs -> compile.rs", "user.rs -> regex.rs"]);
}

#[test]
fn an_item_of_the_root_makes_the_root_part_of_a_circle() {
    let tree = planted(&[
        ("lib.rs", "mod a; use a::A; pub struct Options;"),
        ("a.rs", "use crate::Options; pub struct A;"),
    ]);
    assert!(messages(&tree)[0].starts_with("planted: these import one another in a circle: lib.rs, a;"));
}

#[test]
fn an_implementation_elsewhere_imports_the_type() {
    let files = [
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "pub struct A;"),
        ("b.rs", "use std::fmt; impl fmt::Debug for crate::a::A {} impl super::a::A { fn f(&self) {} }"),
    ];
    assert_eq!(arrows(&files), ["b.rs -> a.rs"]);
}

#[test]
fn arrows_point_to_lines_above() {
    let order = |root: &str| {
        let tree =
            planted(&[("lib.rs", root), ("low.rs", "pub struct L;"), ("high.rs", "\nuse crate::low::L;")]);
        let level = levels(&tree, &ImportGraph::new(&tree)).remove(0);
        let findings = arrows_against_the_order(&tree, &level);
        findings
            .into_iter()
            .map(|finding| format!("{}: {}", finding.place, finding.message))
            .collect::<Vec<_>>()
    };
    assert!(order("mod low;\nmod high;").is_empty());
    let expected = "high.rs:2: `high` is listed before `low` and imports `crate::low::L` of low.rs";
    assert_eq!(order("mod high;\nmod low;"), [expected]);
}

#[test]
fn the_page_tells_the_size_of_the_largest_circle() {
    let page = figures(&ring(6), Detail::Circles);
    assert!(page.contains("largest circle of files 6, circles between folders 0"), "{page}");
    assert!(page.contains("circle of 6 files: ring/"), "{page}");
}
