//! Resolves a path to the modules and items that it means, through any number of re-exports.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use proc_macro2::{TokenStream, TokenTree};
use syn::{Item, ItemMacro, Visibility};

use super::references::{Binding, References, begins_upper};
use crate::tidy::crate_tree::CrateTree;

/// The meaning of a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Target {
    /// An index into the modules.
    Module(usize),
    /// An item that this module defines.
    ItemOf(usize),
    /// Something of another crate.
    Outside,
}

/// The names of all modules of a crate.
pub(super) struct Scope<'t> {
    tree: &'t CrateTree,
    names: Vec<HashMap<String, Vec<Definition>>>,
    globs: Vec<Vec<Glob>>,
    /// Where each `macro_rules` is, since a path is not the only way to reach it.
    macros: HashMap<String, Vec<usize>>,
    known: RefCell<HashMap<(usize, String), Vec<Target>>>,
}

struct Definition {
    meaning: Meaning,
    is_private: bool,
}

enum Meaning {
    Target(Target),
    Import(Vec<String>),
}

struct Glob {
    path: Vec<String>,
    is_private: bool,
}

/// The look-ups that are under way.
type UnderWay = HashSet<(usize, String)>;

impl<'t> Scope<'t> {
    pub(super) fn new(tree: &'t CrateTree, references: &[References]) -> Self {
        let mut scope = Self {
            tree,
            names: tree.modules.iter().map(|_| HashMap::new()).collect(),
            globs: tree.modules.iter().map(|_| Vec::new()).collect(),
            macros: HashMap::new(),
            known: RefCell::default(),
        };
        for (index, module) in tree.modules.iter().enumerate() {
            for item in &module.items {
                scope.define_item(index, item);
            }
            if let (Some(parent), Some(name)) = (module.parent, module.path.last()) {
                scope.define(parent, name, Target::Module(index), module.is_private);
            }
        }
        for (index, references) in references.iter().enumerate() {
            for import in &references.uses {
                let (path, is_private) = (import.path.clone(), import.is_private);
                match &import.binding {
                    Binding::Glob => scope.globs[index].push(Glob { path, is_private }),
                    Binding::Name(name) => {
                        let definition = Definition { meaning: Meaning::Import(path), is_private };
                        scope.names[index].entry(name.clone()).or_default().push(definition);
                    }
                    Binding::Nothing => {}
                }
            }
        }
        scope.define_generated();
        scope
    }

    fn define(&mut self, module: usize, name: &str, target: Target, is_private: bool) {
        let definition = Definition { meaning: Meaning::Target(target), is_private };
        self.names[module].entry(name.to_owned()).or_default().push(definition);
    }

    fn define_item(&mut self, module: usize, item: &Item) {
        let target = Target::ItemOf(module);
        let (name, visibility) = match item {
            Item::Const(item) => (&item.ident, &item.vis),
            Item::Enum(item) => (&item.ident, &item.vis),
            Item::Fn(item) => (&item.sig.ident, &item.vis),
            Item::Static(item) => (&item.ident, &item.vis),
            Item::Struct(item) => (&item.ident, &item.vis),
            Item::Trait(item) => (&item.ident, &item.vis),
            Item::TraitAlias(item) => (&item.ident, &item.vis),
            Item::Type(item) => (&item.ident, &item.vis),
            Item::Union(item) => (&item.ident, &item.vis),
            Item::Macro(ItemMacro { ident: Some(name), attrs, .. }) => {
                let name = name.to_string();
                self.define(module, &name, target, true);
                if attrs.iter().any(|attribute| attribute.path().is_ident("macro_export")) {
                    self.define(0, &name, target, false);
                }
                self.macros.entry(name).or_default().push(module);
                return;
            }
            _ => return,
        };
        self.define(module, &name.to_string(), target, matches!(visibility, Visibility::Inherited));
    }

    /// Takes names inside a macro call among items as items which the macro defines, where nothing
    /// else defines them.
    fn define_generated(&mut self) {
        for (index, module) in self.tree.modules.iter().enumerate() {
            for item in &module.items {
                let Item::Macro(ItemMacro { ident: None, mac, .. }) = item else { continue };
                let mut names = Vec::new();
                generated_names(mac.tokens.clone(), &mut names);
                for name in names {
                    if !self.names[index].contains_key(&name) {
                        self.define(index, &name, Target::ItemOf(index), false);
                    }
                }
            }
        }
    }

    /// The meanings of a path in a module; none where a module on the way lacks the next name.
    pub(super) fn resolve(&self, module: usize, path: &[String]) -> Vec<Target> {
        prefer_items(self.follow(module, path, &mut UnderWay::new()))
    }

    /// The module of a `macro_rules` that is called by its bare name.
    pub(super) fn textual_macro(&self, name: &str) -> Option<usize> {
        match self.macros.get(name)?.as_slice() {
            [module] => Some(*module),
            _ => None,
        }
    }

    /// Whether a name comes into a module through a glob of another one.
    pub(super) fn comes_through(&self, module: usize, name: &str, glob: usize) -> bool {
        !self.names[module].contains_key(name)
            && !self.look_up(glob, name, Some(module), &mut UnderWay::new()).is_empty()
    }

    fn follow(&self, module: usize, path: &[String], under_way: &mut UnderWay) -> Vec<Target> {
        let Some((first, rest)) = path.split_first() else { return Vec::new() };
        let mut targets = match first.as_str() {
            "crate" => vec![Target::Module(0)],
            "self" => vec![Target::Module(module)],
            "super" => self.parent(module).into_iter().collect(),
            "Self" => return Vec::new(),
            name => self.look_up(module, name, None, under_way),
        };
        if targets.is_empty() {
            return vec![Target::Outside];
        }
        for segment in rest {
            let mut next = Vec::new();
            for target in &targets {
                let Target::Module(within) = *target else { continue };
                match segment.as_str() {
                    "super" => next.extend(self.parent(within)),
                    name => next.extend(self.look_up(within, name, None, under_way)),
                }
            }
            if next.is_empty() {
                // Variants, associated functions and constants belong to the item before them.
                targets.retain(|target| !matches!(target, Target::Module(_)));
                break;
            }
            targets = next;
        }
        targets
    }

    fn parent(&self, module: usize) -> Option<Target> {
        self.tree.modules[module].parent.map(Target::Module)
    }

    /// The meanings of a name in a module. `asking` is the module whose glob this is, which sees private names only
    /// from below.
    fn look_up(
        &self,
        module: usize,
        name: &str,
        asking: Option<usize>,
        under_way: &mut UnderWay,
    ) -> Vec<Target> {
        let key = (module, name.to_owned());
        let is_first = under_way.is_empty() && asking.is_none();
        if let (true, Some(known)) = (is_first, self.known.borrow().get(&key)) {
            return known.clone();
        }
        let is_visible =
            |private: bool| !private || asking.is_none_or(|asking| self.tree.is_within(asking, module));
        let is_new = under_way.insert(key.clone());
        let mut found = Vec::new();
        for definition in self.names[module].get(name).into_iter().flatten() {
            match &definition.meaning {
                _ if !is_visible(definition.is_private) => {}
                Meaning::Target(target) => found.push(*target),
                Meaning::Import(path) if is_new => found.extend(self.follow(module, path, under_way)),
                Meaning::Import(_) => {}
            }
        }
        if found.is_empty() && is_new && !self.names[module].contains_key(name) {
            for glob in self.globs[module].iter().filter(|glob| is_visible(glob.is_private)) {
                for target in self.follow(module, &glob.path, under_way) {
                    let Target::Module(within) = target else { continue };
                    found.extend(self.look_up(within, name, Some(asking.unwrap_or(module)), under_way));
                }
            }
        }
        if is_new {
            under_way.remove(&key);
        }
        found.dedup();
        if is_first {
            self.known.borrow_mut().insert(key, found.clone());
        }
        found
    }
}

/// A name may mean a module and a function; a path that ends there means the function.
fn prefer_items(mut targets: Vec<Target>) -> Vec<Target> {
    let is_item = |target: &Target| matches!(target, Target::ItemOf(_));
    let is_ours = |target: &Target| *target != Target::Outside;
    if targets.iter().any(is_item) {
        targets.retain(is_item);
    } else if targets.iter().any(is_ours) {
        targets.retain(is_ours);
    }
    targets
}

/// Names that begin with a capital, and those after `fn`.
fn generated_names(tokens: TokenStream, names: &mut Vec<String>) {
    let mut after_fn = false;
    for token in tokens {
        match token {
            TokenTree::Group(group) => generated_names(group.stream(), names),
            TokenTree::Ident(name) => {
                let name = name.to_string();
                let is_fn = name == "fn";
                if after_fn || begins_upper(&name) {
                    names.push(name);
                }
                after_fn = is_fn;
                continue;
            }
            _ => {}
        }
        after_fn = false;
    }
}
