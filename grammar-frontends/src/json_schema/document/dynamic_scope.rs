//! Dynamic scopes: which schema each dynamic anchor names, and how an option closes objects.
//!
//! The specification keeps the whole way that evaluation took. All that a reference can ask of it is the
//! outermost resource with an anchor of its name, so a scope is the list of the anchors met first. There are
//! finitely many of them, however long the way.
//!
//! An option closes objects that declare members. The members that a schema then allows depend on where it is applied, so a
//! scope has its [`Closing`], too.

use grammask_grammar_ir::hash::HashMap;

use super::identifiers::DynamicAnchor;

/// An interned scope.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct DynamicScope(u32);

impl DynamicScope {
    /// No dynamic anchor was met.
    pub(crate) const NONE: DynamicScope = DynamicScope(0);
}

/// How an option that closes objects treats a schema that declares members.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Closing {
    /// The object has the declared members alone.
    #[default]
    Alone,
    /// It may have others, too, which schemas for the same object declare: a number that the caller gives them.
    Beside(u32),
    /// The schema chooses among values, as all inside of it does. Closed, it would let more values through and not fewer.
    Never,
}

#[derive(Clone, Default, PartialEq, Eq, Hash)]
struct Bindings {
    /// The anchors with their numbers, sorted by name.
    anchors: Vec<(String, u32)>,
    closing: Closing,
}

/// All scopes.
pub(crate) struct DynamicScopes {
    bindings: Vec<Bindings>,
    /// All of them.
    known: HashMap<Bindings, DynamicScope>,
}

impl Default for DynamicScopes {
    fn default() -> Self {
        let known = HashMap::from_iter([(Bindings::default(), DynamicScope::NONE)]);
        Self { bindings: vec![Bindings::default()], known }
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
            let known = &mut bindings.anchors;
            if let Err(at) = known.binary_search_by(|(name, _)| name.as_str().cmp(&anchor.name)) {
                known.insert(at, (anchor.name.clone(), anchor.number));
            }
        }
        self.interned(bindings)
    }

    /// The same anchors where objects are closed in another way.
    pub(crate) fn closing(&mut self, scope: DynamicScope, closing: Closing) -> DynamicScope {
        let bindings = &self.bindings[scope.0 as usize];
        if bindings.closing == closing {
            return scope;
        }
        let anchors = bindings.anchors.clone();
        self.interned(Bindings { anchors, closing })
    }

    pub(crate) fn closing_of(&self, scope: DynamicScope) -> Closing {
        self.bindings[scope.0 as usize].closing
    }

    fn interned(&mut self, bindings: Bindings) -> DynamicScope {
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
        let bindings = &self.bindings[scope.0 as usize].anchors;
        let at = bindings.binary_search_by(|(known, _)| known.as_str().cmp(name)).ok()?;
        Some(bindings[at].1)
    }
}
