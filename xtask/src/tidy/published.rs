//! The duties of a published crate to its users.

use std::fs;

use anyhow::{Context, Result, ensure};

use super::finding::Finding;
use crate::shell::cargo;
use crate::workspace::{Member, Workspace};

pub(super) fn check(workspace: &Workspace) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for member in workspace.members() {
        let manifest = format!("{}/Cargo.toml", member.folder);
        let text = fs::read_to_string(&member.package.manifest_path)?;
        // Tools for our own use may need a newer compiler than the libraries.
        if member.is_published() && !text.contains("rust-version.workspace = true") {
            findings.push(Finding::new(&manifest, "take `rust-version` from the workspace"));
        }
        if !text.contains("[lints]\nworkspace = true") {
            findings.push(Finding::new(&manifest, "take `[lints]` from the workspace"));
        }
        findings.extend(documentation(&member)?);
        if member.is_published() {
            findings.extend(publication(workspace, &member, &manifest));
            findings.extend(shared_features(workspace, &member, &manifest)?);
        }
    }
    Ok(findings)
}

/// Features of `serde_json` that change what it does for every crate of a user's program.
const CHANGING_FEATURES: [&str; 3] = ["arbitrary_precision", "float_roundtrip", "preserve_order"];

/// Neither a published crate nor anything that it links asks for such a feature.
fn shared_features(workspace: &Workspace, member: &Member<'_>, manifest: &str) -> Result<Vec<Finding>> {
    let mut tree = cargo(workspace, ["tree", "--locked", "--all-features", "--edges", "no-dev"]);
    tree.args(["--prefix", "none", "--format", "{p} {f}", "--package", &member.package.name]);
    let output = tree.output().context("`cargo tree` does not start")?;
    ensure!(output.status.success(), "cargo tree: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout)?;
    let asked = text.lines().filter(|line| line.starts_with("serde_json "));
    let changing = CHANGING_FEATURES
        .iter()
        .filter(|&&feature| asked.clone().any(|line| line.split([' ', ',']).any(|asked| asked == feature)));
    let finding = |feature| {
        let message =
            format!("links `serde_json` with `{feature}`, which changes it for a user's whole program");
        Finding::new(manifest, message)
    };
    Ok(changing.map(finding).collect())
}

fn documentation(member: &Member<'_>) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    let Some(root) = member.crate_root() else { return Ok(findings) };
    let text = fs::read_to_string(&root)?;
    let place = format!("{}/src", member.folder);
    let documented =
        text.lines().find(|line| !line.trim().is_empty()).is_some_and(|line| line.starts_with("//!"));
    if !documented {
        findings
            .push(Finding::new(&place, "the crate's first file begins with `//!` and says what it is for"));
    }
    if member.is_published() && member.has_library() && !text.contains("#![deny(missing_docs)]") {
        findings.push(Finding::new(&place, "a published library has `#![deny(missing_docs)]`"));
    }
    Ok(findings)
}

fn publication(workspace: &Workspace, member: &Member<'_>, manifest: &str) -> Vec<Finding> {
    let package = member.package;
    let mut findings = Vec::new();
    if package.description.as_deref().is_none_or(|text| text.trim().is_empty()) {
        findings.push(Finding::new(manifest, "a published crate has a `description`"));
    }
    if package.license.is_none() {
        findings.push(Finding::new(manifest, "take `license` from the workspace"));
    }
    let changelog = workspace.root().join(&member.folder).join("CHANGELOG.md");
    match fs::read_to_string(changelog) {
        Err(_) => findings.push(Finding::new(&member.folder, "a published crate has a `CHANGELOG.md`")),
        Ok(text) if !text.contains(&package.version.to_string()) => {
            let message = format!("lacks an entry for version {}", package.version);
            findings.push(Finding::new(format!("{}/CHANGELOG.md", member.folder), message));
        }
        Ok(_) => {}
    }
    findings
}
