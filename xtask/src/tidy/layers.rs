//! Which crate may link which: the one table of layers, and the check that the manifests obey it.

use std::collections::BTreeMap;

use super::finding::Finding;
use crate::workspace::{Member, Workspace};

/// The users of a crate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Audience {
    /// Published; may link published crates of a smaller layer.
    Users,
    /// Published, and sees the workspace through the facade alone, as any user would.
    FacadeOnly,
    /// Tests, benchmarks and automation; published crates may use it in their tests only.
    Developers,
}

use Audience::{Developers, FacadeOnly, Users};

/// Folder, layer, audience. A crate may link (normally or from a build script) only crates of a smaller
/// layer; its tests may use any crate.
const LAYERS: [(&str, u8, Audience); 17] = [
    ("gpu-apply", 1, Users),
    ("grammar-ir", 1, Users),
    ("parser-backend", 1, Users),
    ("fsm", 2, Users),
    ("oracle", 2, Developers),
    ("grammar-frontends", 3, Users),
    ("earley", 3, Users),
    ("pda", 3, Users),
    ("mask-cache", 3, Users),
    ("matcher", 4, Users),
    ("vocabularies", 4, Users),
    ("grammask", 5, Users),
    ("bindings/python", 6, FacadeOnly),
    ("cli", 6, FacadeOnly),
    ("corpus", 6, Developers),
    ("bench", 7, Developers),
    ("xtask", 8, Developers),
];

/// The crate that users add.
const FACADE: &str = "grammask";

pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    let members: BTreeMap<&str, Member<'_>> =
        workspace.members().map(|member| (member.package.name.as_str(), member)).collect();
    let mut findings = Vec::new();
    for member in members.values() {
        let place = format!("{}/Cargo.toml", member.folder);
        let expected = package_name(&member.folder);
        if member.package.name.as_str() != expected {
            findings.push(Finding::new(&place, format!("the package must be named `{expected}`")));
        }
        let Some((layer, audience)) = layer_of(&member.folder) else {
            let message = "the crate has no layer; add it to the table in `xtask/src/tidy/layers.rs`";
            findings.push(Finding::new(&place, message));
            continue;
        };
        if member.is_published() == (audience == Developers) {
            let message = "`publish` and the table of layers disagree on whom the crate is for";
            findings.push(Finding::new(&place, message));
        }
        for dependency in member.linked_paths() {
            let Some(other) = members.get(dependency) else { continue };
            let Some(target) = layer_of(&other.folder) else { continue };
            if let Some(message) = refuse((layer, audience), &other.folder, target) {
                findings.push(Finding::new(&place, message));
            }
        }
    }
    for (folder, _, _) in LAYERS {
        if !members.values().any(|member| member.folder == folder) {
            findings.push(Finding::new(folder, "the table of layers names it, and no such crate exists"));
        }
    }
    findings
}

/// Why a crate may not link another, if so.
fn refuse(from: (u8, Audience), folder: &str, to: (u8, Audience)) -> Option<String> {
    let (layer, audience) = from;
    let (target_layer, target_audience) = to;
    if target_layer >= layer {
        return Some(format!(
            "links `{folder}` of layer {target_layer} from layer {layer}; arrows point to smaller layers"
        ));
    }
    if audience != Developers && target_audience == Developers {
        return Some(format!("links `{folder}`, which is for tests; make it a development dependency"));
    }
    if audience == FacadeOnly && package_name(folder) != FACADE {
        return Some(format!("links `{folder}`; it may see the workspace through `{FACADE}` alone"));
    }
    None
}

/// Whether a folder holds a library that Rust programs may link.
pub(super) fn is_library(folder: &str) -> bool {
    layer_of(folder).is_some_and(|(_, audience)| audience == Users)
}

fn layer_of(folder: &str) -> Option<(u8, Audience)> {
    LAYERS.iter().find(|(name, _, _)| *name == folder).map(|&(_, layer, audience)| (layer, audience))
}

/// A package is named after its folder, the facade and the automation excepted.
fn package_name(folder: &str) -> String {
    match folder {
        FACADE | "xtask" => folder.to_owned(),
        _ => format!("grammask-{}", folder.rsplit('/').next().unwrap_or(folder)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(from: &str, to: &str) -> Option<String> {
        refuse(layer_of(from).unwrap(), to, layer_of(to).unwrap())
    }

    #[test]
    fn arrows_point_down() {
        assert_eq!(check("matcher", "earley"), None);
        assert_eq!(check("bench", "oracle"), None);
        assert!(check("earley", "matcher").unwrap().contains("smaller layers"));
        assert!(check("earley", "mask-cache").unwrap().contains("smaller layers"), "equal layers");
    }

    #[test]
    fn crates_for_tests_and_inner_crates_stay_out_of_reach() {
        assert!(check("matcher", "oracle").unwrap().contains("for tests"));
        assert!(check("cli", "matcher").unwrap().contains("alone"));
        assert_eq!(check("cli", "grammask"), None);
    }

    #[test]
    fn packages_are_named_after_folders() {
        assert_eq!(package_name("fsm"), "grammask-fsm");
        assert_eq!(package_name("bindings/python"), "grammask-python");
        assert_eq!(package_name("grammask"), "grammask");
    }
}
