//! Dynamic scopes: which schema each dynamic anchor names.
//!
//! The specification keeps the whole way that evaluation took. All that a reference can ask of it is the
//! outermost resource with an anchor of its name, so a scope is the list of the anchors met first. There are
//! finitely many of them, however long the way.

use grammask_grammar_ir::hash::HashMap;

use super::identifiers::DynamicAnchor;

/// An interned scope.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct DynamicScope(u32);

impl DynamicScope {
    /// No dynamic anchor was met.
    pub(crate) const NONE: DynamicScope = DynamicScope(0);
}

/// The anchors of a scope with their numbers, sorted by name.
type Bindings = Vec<(String, u32)>;

/// All scopes.
pub(crate) struct DynamicScopes {
    bindings: Vec<Bindings>,
    /// All but the first, which has no anchor.
    known: HashMap<Bindings, DynamicScope>,
}

impl Default for DynamicScopes {
    fn default() -> Self {
        Self { bindings: vec![Vec::new()], known: HashMap::default() }
    }
}

impl DynamicScopes {
    /// The scope after a resource with such anchors was entered.
    pub(crate) fn entered(&mut self, scope: DynamicScope, anchors: &[DynamicAnchor<'_>]) -> DynamicScope {
        if anchors.is_empty() {
            return scope;
        }
        let mut bindings = self.bindings[scope.0 as usize].clone();
        for anchor in anchors {
            if let Err(at) = bindings.binary_search_by(|(name, _)| name.as_str().cmp(&anchor.name)) {
                bindings.insert(at, (anchor.name.clone(), anchor.number));
            }
        }
        if let Some(&known) = self.known.get(&bindings) {
            return known;
        }
        // Each new scope comes with a new node, and nodes are bounded.
        let scope = DynamicScope(u32::try_from(self.bindings.len()).unwrap_or(u32::MAX));
        self.bindings.push(bindings.clone());
        self.known.insert(bindings, scope);
        scope
    }

    /// The number of the anchor of a name.
    pub(crate) fn find(&self, scope: DynamicScope, name: &str) -> Option<u32> {
        let bindings = &self.bindings[scope.0 as usize];
        let at = bindings.binary_search_by(|(known, _)| known.as_str().cmp(name)).ok()?;
        Some(bindings[at].1)
    }
}
