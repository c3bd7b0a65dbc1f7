//! The size of the libraries: lines that hold code, and how long functions are.
//!
//! A line counts if some token is on it that is compiled outside of tests. Blank lines, comments and documentation
//! do not count. A function is as long as the code lines from its signature to its last brace.

use std::collections::BTreeSet;

use anyhow::{Context, Result};
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use super::crate_tree::CrateTree;
use super::layers;
use super::test_code::remove_test_code;
use crate::workspace::Workspace;

/// The sizes of one crate or of several.
#[derive(Default)]
struct Size {
    files: usize,
    lines: usize,
    /// The length of each function.
    functions: Vec<usize>,
}

/// A table with a row for each library crate, and their sum.
pub(super) fn table(workspace: &Workspace, trees: &[CrateTree]) -> Result<String> {
    let mut page = format!("{:<18} files   lines  functions   p50   p90   max\n", "crate");
    let mut sum = Size::default();
    for tree in trees.iter().filter(|tree| layers::is_library(&tree.name)) {
        let mut size = Size { files: tree.files.len(), ..Size::default() };
        for file in &tree.files {
            let text = std::fs::read_to_string(workspace.root().join(file))?;
            size.add(&text).with_context(|| format!("cannot parse {file}"))?;
        }
        page += &size.row(&tree.name);
        sum.files += size.files;
        sum.lines += size.lines;
        sum.functions.append(&mut size.functions);
    }
    page += &sum.row("all");
    Ok(page)
}

impl Size {
    fn add(&mut self, text: &str) -> syn::Result<()> {
        let mut file = syn::parse_file(text)?;
        remove_test_code(&mut file);
        let mut lines = BTreeSet::new();
        add_lines(file.to_token_stream(), &mut lines);
        self.lines += lines.len();
        let mut functions = Functions { lines: &lines, lengths: &mut self.functions };
        functions.visit_file(&file);
        Ok(())
    }

    fn row(&mut self, name: &str) -> String {
        self.functions.sort_unstable();
        let count = self.functions.len();
        let at = |percent: usize| self.functions.get(count * percent / 100).copied().unwrap_or(0);
        let longest = self.functions.last().copied().unwrap_or(0);
        format!(
            "{name:<18} {:>5} {:>7} {count:>10} {:>5} {:>5} {longest:>5}\n",
            self.files,
            self.lines,
            at(50),
            at(90)
        )
    }
}

/// The lines of all tokens but documentation, which the parser turns into attributes.
fn add_lines(tokens: TokenStream, lines: &mut BTreeSet<usize>) {
    let mut held: Vec<TokenTree> = Vec::new();
    for token in tokens {
        match &token {
            TokenTree::Punct(sign) if matches!(sign.as_char(), '#' | '!') => {
                held.push(token);
                continue;
            }
            TokenTree::Group(group) if !held.is_empty() && is_documentation(group) => {
                held.clear();
                continue;
            }
            TokenTree::Group(group) => {
                lines.insert(group.span_open().start().line);
                lines.insert(group.span_close().end().line);
                add_lines(group.stream(), lines);
            }
            // A string may go over many lines.
            _ => lines.extend(token.span().start().line..=token.span().end().line),
        }
        lines.extend(held.drain(..).map(|sign| sign.span().start().line));
    }
    lines.extend(held.iter().map(|sign| sign.span().start().line));
}

fn is_documentation(group: &proc_macro2::Group) -> bool {
    let first = group.stream().into_iter().next();
    group.delimiter() == Delimiter::Bracket && matches!(first, Some(TokenTree::Ident(name)) if name == "doc")
}

struct Functions<'l> {
    lines: &'l BTreeSet<usize>,
    lengths: &'l mut Vec<usize>,
}

impl Functions<'_> {
    fn add(&mut self, signature: &syn::Signature, body: &syn::Block) {
        let last = body.brace_token.span.close().end().line;
        self.lengths.push(self.lines.range(signature.span().start().line..=last).count());
    }
}

impl<'ast> Visit<'ast> for Functions<'_> {
    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        self.add(&function.sig, &function.block);
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        self.add(&function.sig, &function.block);
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast syn::TraitItemFn) {
        if let Some(body) = &function.default {
            self.add(&function.sig, body);
        }
        visit::visit_trait_item_fn(self, function);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> (usize, Vec<usize>) {
        let mut size = Size::default();
        size.add(text).unwrap();
        (size.lines, size.functions)
    }

    #[test]
    fn only_lines_with_code_count() {
        assert_eq!(check("//! A\n\n// b\n/// C\n#[derive(Clone)]\nstruct D; // e\n"), (2, vec![]));
        assert_eq!(check("#![expect(a)]\nmacro_rules! b {\n /// C\n () => {\n  !d\n };\n}\n"), (6, vec![]));
        assert_eq!(check("const A: &str = \"b\nc\nd\";\n/* e */\n"), (3, vec![]));
        assert_eq!(check("#[cfg(test)]\nmod a {\n fn b() {}\n}\n"), (0, vec![]));
    }

    #[test]
    fn functions_are_as_long_as_their_code() {
        assert_eq!(check("/// A\nfn b() {\n // c\n\n fn d() {}\n}\n"), (3, vec![3, 1]));
        assert_eq!(check("trait A { fn b(); fn c() {\n} }\n"), (2, vec![2]));
    }
}
