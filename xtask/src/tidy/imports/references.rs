//! Collects what the code of a module names: its `use` declarations and its paths.
//!
//! Nothing is resolved here. Attributes and visibilities are left out. Token streams of macros are scanned for
//! what looks like a path, since they are not parsed.

use std::collections::HashSet;

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{
    Attribute, Block, ExprPath, ImplItemFn, Item, ItemFn, ItemUse, Macro, PatIdent, Path, Signature,
    TraitItemFn, UseTree, Visibility,
};

/// The names that a module mentions.
#[derive(Default)]
pub(super) struct References {
    pub(super) uses: Vec<Use>,
    pub(super) paths: Vec<NamedPath>,
}

/// One leaf of a `use` declaration.
pub(super) struct Use {
    pub(super) path: Vec<String>,
    pub(super) binding: Binding,
    /// Whether only this module and those below it see the name.
    pub(super) is_private: bool,
    pub(super) line: usize,
}

/// The names that a `use` brings into the module.
#[derive(PartialEq, Eq)]
pub(super) enum Binding {
    Name(String),
    /// `use a::b as _`
    Nothing,
    Glob,
}

/// A path in code.
pub(super) struct NamedPath {
    pub(super) segments: Vec<String>,
    pub(super) is_macro: bool,
    pub(super) line: usize,
}

impl References {
    pub(super) fn of(items: &[Item]) -> Self {
        let mut collector = Collector::default();
        for item in items {
            collector.visit_item(item);
        }
        collector.references
    }
}

#[derive(Default)]
struct Collector {
    references: References,
    /// The variables of the function around, which hide items of the same name.
    variables: HashSet<String>,
}

impl Collector {
    fn add(&mut self, segments: Vec<String>, is_macro: bool, line: usize) {
        self.references.paths.push(NamedPath { segments, is_macro, line });
    }

    /// Runs a function while the variables of a function's signature and body are known.
    fn within(&mut self, signature: &Signature, body: Option<&Block>, visit: impl FnOnce(&mut Self)) {
        let mut variables = Variables::default();
        variables.visit_signature(signature);
        if let Some(body) = body {
            variables.visit_block(body);
        }
        let added: Vec<String> =
            variables.names.into_iter().filter(|name| self.variables.insert(name.clone())).collect();
        visit(self);
        for name in added {
            self.variables.remove(&name);
        }
    }

    fn add_use(&mut self, tree: &UseTree, prefix: &[String], is_private: bool) {
        let (name, alias) = match tree {
            UseTree::Path(path) => {
                let prefix = [prefix, &[path.ident.to_string()]].concat();
                return self.add_use(&path.tree, &prefix, is_private);
            }
            UseTree::Group(group) => {
                return group.items.iter().for_each(|tree| self.add_use(tree, prefix, is_private));
            }
            UseTree::Glob(glob) => {
                let line = glob.star_token.span().start().line;
                let path = prefix.to_vec();
                self.references.uses.push(Use { path, binding: Binding::Glob, is_private, line });
                return;
            }
            UseTree::Name(name) => (&name.ident, &name.ident),
            UseTree::Rename(rename) => (&rename.ident, &rename.rename),
        };
        let mut path = prefix.to_vec();
        if name != "self" || path.is_empty() {
            path.push(name.to_string());
        }
        let binding = match alias.to_string().as_str() {
            "_" => Binding::Nothing,
            "self" => path.last().cloned().map_or(Binding::Nothing, Binding::Name),
            alias => Binding::Name(alias.to_owned()),
        };
        let line = name.span().start().line;
        self.references.uses.push(Use { path, binding, is_private, line });
    }

    /// Adds what looks like a path to an item of this crate.
    fn scan(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            match &tokens[at] {
                TokenTree::Group(group) => self.scan(group.stream()),
                TokenTree::Ident(first) => {
                    let length = self.scan_path(&tokens, at, first);
                    at += length;
                    continue;
                }
                _ => {}
            }
            at += 1;
        }
    }

    /// Adds the path that begins at a place, and answers how many tokens long it is.
    fn scan_path(&mut self, tokens: &[TokenTree], start: usize, first: &Ident) -> usize {
        let mut segments = vec![first.to_string()];
        let mut end = start + 1;
        while let (true, Some(TokenTree::Ident(next))) = (is_separator(tokens, end), tokens.get(end + 2)) {
            segments.push(next.to_string());
            end += 3;
        }
        let before = start.checked_sub(1).map(|before| &tokens[before]);
        let is_item = match before {
            Some(TokenTree::Punct(punct)) => match punct.as_char() {
                // A field or a method, a lifetime, a variable of the macro, the rest of a longer path.
                '.' => start >= 2 && is_char(&tokens[start - 2], '.'),
                '\'' => false,
                '$' => segments[0] == "crate",
                ':' => !(start >= 2 && is_char(&tokens[start - 2], ':')),
                _ => true,
            },
            _ => true,
        };
        let is_macro = tokens.get(end).is_some_and(|token| is_char(token, '!'))
            && matches!(tokens.get(end + 1), Some(TokenTree::Group(_)));
        let is_call = matches!(tokens.get(end), Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis);
        let is_name = segments.len() > 1 || is_macro || is_call || begins_upper(&segments[0]);
        if is_item && is_name && !(segments.len() == 1 && self.variables.contains(&segments[0])) {
            self.add(segments, is_macro, first.span().start().line);
        }
        end - start
    }
}

impl<'a> Visit<'a> for Collector {
    fn visit_attribute(&mut self, _: &'a Attribute) {}

    fn visit_visibility(&mut self, _: &'a Visibility) {}

    fn visit_item_fn(&mut self, function: &'a ItemFn) {
        self.within(&function.sig, Some(&function.block), |this| visit::visit_item_fn(this, function));
    }

    fn visit_impl_item_fn(&mut self, function: &'a ImplItemFn) {
        self.within(&function.sig, Some(&function.block), |this| visit::visit_impl_item_fn(this, function));
    }

    fn visit_trait_item_fn(&mut self, function: &'a TraitItemFn) {
        let body = function.default.as_ref();
        self.within(&function.sig, body, |this| visit::visit_trait_item_fn(this, function));
    }

    fn visit_item_use(&mut self, item: &'a ItemUse) {
        if item.leading_colon.is_none() {
            let is_private = match &item.vis {
                Visibility::Inherited => true,
                Visibility::Restricted(to) => to.path.is_ident("self"),
                Visibility::Public(_) => false,
            };
            self.add_use(&item.tree, &[], is_private);
        }
    }

    fn visit_expr_path(&mut self, path: &'a ExprPath) {
        let variable = path.path.get_ident().is_some_and(|name| self.variables.contains(&name.to_string()));
        if !variable {
            visit::visit_expr_path(self, path);
        }
    }

    fn visit_pat_ident(&mut self, pattern: &'a PatIdent) {
        let name = pattern.ident.to_string();
        if begins_upper(&name) {
            self.add(vec![name], false, pattern.ident.span().start().line);
        }
        visit::visit_pat_ident(self, pattern);
    }

    fn visit_path(&mut self, path: &'a Path) {
        if path.leading_colon.is_none() {
            self.add(names(path), false, path.span().start().line);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'a Macro) {
        if call.path.leading_colon.is_none() {
            self.add(names(&call.path), true, call.path.span().start().line);
        }
        self.scan(call.tokens.clone());
    }
}

fn names(path: &Path) -> Vec<String> {
    path.segments.iter().map(|segment| segment.ident.to_string()).collect()
}

fn is_separator(tokens: &[TokenTree], at: usize) -> bool {
    tokens.get(at..at + 2).is_some_and(|pair| pair.iter().all(|token| is_char(token, ':')))
}

fn is_char(token: &TokenTree, expected: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == expected)
}

pub(super) fn begins_upper(name: &str) -> bool {
    name.starts_with(|first: char| first.is_uppercase())
}

/// The names that patterns bind; constants, which begin with a capital, are none.
#[derive(Default)]
struct Variables {
    names: HashSet<String>,
}

impl<'a> Visit<'a> for Variables {
    fn visit_pat_ident(&mut self, pattern: &'a PatIdent) {
        let name = pattern.ident.to_string();
        if !begins_upper(&name) {
            self.names.insert(name);
        }
        visit::visit_pat_ident(self, pattern);
    }
}
