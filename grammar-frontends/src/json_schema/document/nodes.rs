//! The schema document: its nodes, their places, and the targets of references.
//!
//! Nothing is visited before it is needed. A node is made for a schema when the lowering reaches it, so a
//! document of 50,000 definitions costs only as much as the ten that are used. Only a reference that is not a
//! plain pointer (`$anchor`, `$id`) makes one pass over the whole document, to index the names.
//!
//! A dynamic reference means different schemas on different ways to it. A node is therefore a place in the
//! document *and* a scope: which schema each dynamic anchor names there. Documents without dynamic references
//! have one scope, so that each place has one node. An option that closes objects adds others.

use std::borrow::Cow;

use bumpalo::Bump;
use grammask_grammar_ir::hash::{HashMap, Hashing};
use grammask_grammar_ir::shorten;

use super::dynamic_scope::{Closing, DynamicScope, DynamicScopes};
use super::identifiers::{self, Identifiers, SchemaLocation};
use super::ids::{Draft, NodeId};
use super::json::{self, Members, Value};
use super::pointer::{escape, percent_decode};
use super::{equality, uri};
use crate::json_schema::options::EXPECTED_GOALS;
use crate::json_schema::retriever::Retriever;
use crate::json_schema::work::Work;

/// Bytes of the longest pointer that a report has whole.
const MAX_SHORT_POINTER: usize = 1 << 10;

/// How a node is reached from its parent.
#[derive(Clone, Debug)]
pub(crate) enum PathStep<'s> {
    Keyword(&'static str),
    Member(&'static str, &'s str),
    Index(&'static str, usize),
    /// An item of a constant.
    Item(usize),
    /// A member of a constant.
    Name(&'s str),
    /// A JSON pointer, still escaped.
    Pointer(Box<str>),
}

struct Node<'s> {
    value: &'s Value<'s>,
    parent: Option<(NodeId, PathStep<'s>)>,
    /// The schema whose `$id` is in force here: what `#` means. A node outside of any scope.
    resource: NodeId,
    /// The same place outside of any scope.
    fixed: NodeId,
    /// The scope for dynamic references here.
    scope: DynamicScope,
    draft: Draft,
}

/// Why a reference leads nowhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RefError {
    /// The document has nothing there.
    Missing,
    /// Another document is meant, and no retriever was given.
    Remote,
    /// The retriever did not give the document.
    Retrieval(String),
    /// More documents than the limit.
    TooMany(usize),
}

/// Where documents come from that a reference leads to.
pub(crate) struct Sources<'s> {
    pub(crate) retriever: Option<Retriever>,
    /// Where they are kept.
    pub(crate) arena: &'s Bump,
    /// Most documents that are fetched.
    pub(crate) documents: usize,
    /// Most values in one of them.
    pub(crate) values: usize,
    pub(crate) work: Work,
}

pub(crate) struct Document<'s> {
    nodes: Vec<Node<'s>>,
    by_address: HashMap<(*const Value<'s>, DynamicScope), NodeId>,
    /// The first schema of each fingerprint in the resource of the root; see [`equality`].
    by_fingerprint: HashMap<u32, NodeId>,
    identifiers: Option<Identifiers<'s>>,
    scopes: DynamicScopes,
    sources: Sources<'s>,
    /// The roots of documents that were fetched, and their addresses.
    fetched: HashMap<NodeId, String>,
    /// Documents that could not be fetched are not asked for again.
    failed: HashMap<String, RefError>,
}

impl<'s> Document<'s> {
    pub(crate) const ROOT: NodeId = NodeId::ROOT;

    /// A text that lives as long as the documents.
    pub(crate) fn kept_text(&self, text: Cow<'s, str>) -> &'s str {
        match text {
            Cow::Borrowed(text) => text,
            Cow::Owned(text) => self.sources.arena.alloc_str(&text),
        }
    }

    pub(crate) fn new(root: &'s Value<'s>, draft: Draft, sources: Sources<'s>) -> Self {
        let mut document = Self {
            nodes: Vec::with_capacity(EXPECTED_GOALS),
            by_address: HashMap::with_capacity_and_hasher(EXPECTED_GOALS, Hashing),
            by_fingerprint: HashMap::with_capacity_and_hasher(EXPECTED_GOALS, Hashing),
            identifiers: None,
            scopes: DynamicScopes::default(),
            sources,
            fetched: HashMap::default(),
            failed: HashMap::default(),
        };
        document.add_root(root, draft);
        // A document that was fetched may refer to what is dynamic in this one.
        if document.sources.retriever.is_some() || identifiers::has_dynamic_keywords(root) {
            document.identifiers();
        }
        document
    }

    /// The first node of a document.
    fn add_root(&mut self, value: &'s Value<'s>, draft: Draft) -> NodeId {
        let id = self.next_id();
        self.nodes.push(Node {
            value,
            parent: None,
            resource: id,
            fixed: id,
            scope: DynamicScope::NONE,
            draft,
        });
        self.by_address.insert((std::ptr::from_ref(value), DynamicScope::NONE), id);
        id
    }

    fn next_id(&self) -> NodeId {
        NodeId::new(self.nodes.len())
    }

    fn identifiers(&mut self) -> &Identifiers<'s> {
        let root = &self.nodes[Self::ROOT.index()];
        self.identifiers.get_or_insert_with(|| {
            let mut names = Identifiers::default();
            names.collect(root.value, Self::ROOT, "", root.draft, &self.sources.work);
            names
        })
    }

    /// The whole document, as a schema that is evaluated first.
    pub(crate) fn entry(&mut self) -> NodeId {
        let scope = self.entered(DynamicScope::NONE, Self::ROOT);
        self.scoped(Self::ROOT, scope)
    }

    /// The dialect of a schema.
    pub(crate) fn draft(&self, node: NodeId) -> Draft {
        self.nodes[node.index()].draft
    }

    pub(crate) fn value(&self, node: NodeId) -> &'s Value<'s> {
        self.nodes[node.index()].value
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// One node for all nodes of the same place.
    pub(crate) fn place(&self, node: NodeId) -> NodeId {
        self.nodes[node.index()].fixed
    }

    /// The JSON pointer of a node; after the address of its document and `#`, where that was fetched.
    pub(crate) fn pointer(&self, node: NodeId) -> String {
        self.written_pointer(node, |name| name.into())
    }

    /// The pointer in a report, which has one for many nodes: long names, and what is long as a whole, are shortened.
    pub(crate) fn short_pointer(&self, node: NodeId) -> String {
        let pointer = self.written_pointer(node, shorten);
        if pointer.len() <= MAX_SHORT_POINTER { pointer } else { shorten(&pointer).into_owned() }
    }

    fn written_pointer(&self, node: NodeId, name: for<'n> fn(&'n str) -> Cow<'n, str>) -> String {
        let mut steps = Vec::new();
        let mut at = self.place(node);
        while let Some((parent, step)) = &self.nodes[at.index()].parent {
            steps.push(step);
            at = *parent;
        }
        let mut pointer = self.fetched.get(&at).map_or_else(String::new, |address| format!("{address}#"));
        for step in steps.into_iter().rev() {
            match step {
                PathStep::Keyword(keyword) => pointer.push_str(&format!("/{keyword}")),
                PathStep::Member(keyword, member) => {
                    pointer.push_str(&format!("/{keyword}/{}", escape(&name(member))));
                }
                PathStep::Index(keyword, index) => pointer.push_str(&format!("/{keyword}/{index}")),
                PathStep::Item(index) => pointer.push_str(&format!("/{index}")),
                PathStep::Name(member) => pointer.push_str(&format!("/{}", escape(&name(member)))),
                PathStep::Pointer(text) => pointer.push_str(&name(text)),
            }
        }
        pointer
    }

    /// The node of a value below another one. In one scope a value has one node, by whichever way it is
    /// reached first.
    pub(crate) fn child(&mut self, parent: NodeId, step: PathStep<'s>, value: &'s Value<'s>) -> NodeId {
        let (fixed, scope) = (self.place(parent), self.nodes[parent.index()].scope);
        let child = self.fixed_child(fixed, step, value);
        let scope =
            if self.nodes[child.index()].resource == child { self.entered(scope, child) } else { scope };
        self.scoped(child, scope)
    }

    /// As [`child`](Self::child) for a schema; or the node of an equal schema that was met before.
    pub(crate) fn schema(
        &mut self,
        parent: NodeId,
        step: PathStep<'s>,
        value: &'s Value<'s>,
        members: &'s Members<'s>,
    ) -> NodeId {
        let Node { resource, scope, draft, .. } = self.nodes[parent.index()];
        let root = &self.nodes[Self::ROOT.index()];
        let fingerprint = members.fingerprint();
        if fingerprint == equality::NO_FINGERPRINT
            || (resource, scope, draft) != (Self::ROOT, DynamicScope::NONE, root.draft)
        {
            return self.child(parent, step, value);
        }
        if let Some(&known) = self.by_fingerprint.get(&fingerprint) {
            let before = self.value(known);
            let is_same = std::ptr::eq(before, value)
                || before.as_object().is_some_and(|before| equality::schemas_equal(before, members));
            return if is_same { known } else { self.child(parent, step, value) };
        }
        let child = self.child(parent, step, value);
        self.by_fingerprint.insert(fingerprint, child);
        child
    }

    fn fixed_child(&mut self, parent: NodeId, step: PathStep<'s>, value: &'s Value<'s>) -> NodeId {
        let key = (std::ptr::from_ref(value), DynamicScope::NONE);
        if let Some(&known) = self.by_address.get(&key) {
            return known;
        }
        let id = self.next_id();
        let Node { resource, draft, .. } = self.nodes[parent.index()];
        let (embedded, draft) = identifiers::resource(value, draft);
        let resource = if embedded.is_some() { id } else { resource };
        let parent = Some((parent, step));
        self.nodes.push(Node { value, parent, resource, fixed: id, scope: DynamicScope::NONE, draft });
        self.by_address.insert(key, id);
        id
    }

    /// The same schema where objects are closed in another way.
    pub(crate) fn with_closing(&mut self, node: NodeId, closing: Closing) -> NodeId {
        let Node { fixed, scope, .. } = self.nodes[node.index()];
        match self.scopes.closing(scope, closing) {
            same if same == scope => node,
            other => self.scoped(fixed, other),
        }
    }

    /// How objects are closed at a schema.
    pub(crate) fn closing(&self, node: NodeId) -> Closing {
        self.scopes.closing_of(self.nodes[node.index()].scope)
    }

    /// A place in a scope.
    fn scoped(&mut self, fixed: NodeId, scope: DynamicScope) -> NodeId {
        let Node { value, resource, draft, .. } = self.nodes[fixed.index()];
        let id = self.next_id();
        let known = *self.by_address.entry((std::ptr::from_ref(value), scope)).or_insert(id);
        if known == id {
            self.nodes.push(Node { value, parent: None, resource, fixed, scope, draft });
        }
        known
    }

    /// The scope inside a resource that is entered from a scope: the outermost dynamic anchors count.
    fn entered(&mut self, scope: DynamicScope, resource: NodeId) -> DynamicScope {
        let value = std::ptr::from_ref(self.value(resource));
        match &self.identifiers {
            Some(names) => self.scopes.entered(scope, names.dynamic_anchors(value)),
            None => scope,
        }
    }

    fn entered_at(&mut self, scope: DynamicScope, target: NodeId) -> NodeId {
        let resource = self.nodes[target.index()].resource;
        let scope = self.entered(scope, resource);
        self.scoped(target, scope)
    }

    /// The target of a `$ref` in `from`.
    pub(crate) fn resolve(&mut self, from: NodeId, reference: &str) -> Result<NodeId, RefError> {
        let scope = self.nodes[from.index()].scope;
        let target = self.resolve_fixed(self.place(from), reference)?;
        Ok(self.entered_at(scope, target))
    }

    /// The target of a `$dynamicRef` or `$recursiveRef` in `from`. It is that of a `$ref`. If that is a
    /// dynamic anchor, it is the anchor of the same name in the outermost resource that was entered on the
    /// way here.
    pub(crate) fn resolve_dynamic(
        &mut self,
        from: NodeId,
        keyword: &str,
        reference: &str,
    ) -> Result<NodeId, RefError> {
        let scope = self.nodes[from.index()].scope;
        let first = self.resolve_fixed(self.place(from), reference)?;
        let resource = self.nodes[first.index()].resource;
        let scope = self.entered(scope, resource);
        let anchor = match keyword {
            "$recursiveRef" => identifiers::RECURSIVE.to_owned(),
            _ => percent_decode(reference.split_once('#').map_or("", |(_, fragment)| fragment)),
        };
        let (value, anchors) = (self.value(first), std::ptr::from_ref(self.value(resource)));
        let anchors = self.identifiers().dynamic_anchors(anchors);
        let is_dynamic =
            anchors.iter().any(|known| known.name == anchor && std::ptr::eq(known.place.value, value));
        let outermost = self.scopes.find(scope, &anchor).filter(|_| is_dynamic);
        let Some(target) = outermost else { return Ok(self.scoped(first, scope)) };
        let place = self.identifiers().dynamic_place(target);
        let target = match place {
            Some(place) => self.named_node(&place)?,
            None => first,
        };
        Ok(self.entered_at(scope, target))
    }

    fn resolve_fixed(&mut self, from: NodeId, reference: &str) -> Result<NodeId, RefError> {
        let resource = self.nodes[from.index()].resource;
        if let Some(fragment) = reference.strip_prefix('#') {
            let fragment = percent_decode(fragment);
            if fragment.is_empty() || fragment.starts_with('/') {
                return self.follow(resource, &fragment);
            }
        }
        let base = self.base_uri(from);
        self.sources.work.charge((base.len() + reference.len()) / 8);
        if self.sources.work.is_spent() {
            return Err(RefError::Missing);
        }
        let target = uri::resolve(&base, reference);
        let (target, fragment) = target.split_once('#').unwrap_or((&target, ""));
        let fragment = percent_decode(fragment);
        if !self.identifiers().resources.contains_key(target) {
            self.fetch(target)?;
        }
        if !fragment.is_empty() && !fragment.starts_with('/') {
            let found = self.identifiers().anchors.get(&format!("{target}#{fragment}")).cloned();
            return self.named_node(&found.ok_or(RefError::Missing)?);
        }
        let place = self.identifiers().resources.get(target).cloned().ok_or(RefError::Missing)?;
        let node = self.named_node(&place)?;
        self.follow(node, &fragment)
    }

    /// Asks the retriever for a document and takes up its names.
    fn fetch(&mut self, address: &str) -> Result<(), RefError> {
        let Some(retriever) = &self.sources.retriever else { return Err(RefError::Remote) };
        if let Some(error) = self.failed.get(address) {
            return Err(error.clone());
        }
        if self.fetched.len() >= self.sources.documents {
            return Err(RefError::TooMany(self.sources.documents));
        }
        let fetched = retriever.retrieve(address).and_then(|value| {
            let (value, limit) = (json::owned(&value, self.sources.arena), self.sources.values);
            match identifiers::holds_at_most(&value, limit) {
                true => Ok(value),
                false => Err(format!("it holds more than {limit} values")),
            }
        });
        let value = match fetched {
            Ok(value) => &*self.sources.arena.alloc(value),
            Err(reason) => {
                let error = RefError::Retrieval(reason);
                self.failed.insert(address.to_owned(), error.clone());
                return Err(error);
            }
        };
        // A document that does not say its dialect has that of the one that refers to it first.
        let draft = identifiers::declared_draft(value).unwrap_or(self.nodes[Self::ROOT.index()].draft);
        let root = self.add_root(value, draft);
        self.fetched.insert(root, address.to_owned());
        self.identifiers();
        if let Some(names) = &mut self.identifiers {
            names.collect(value, root, address, draft, &self.sources.work);
        }
        Ok(())
    }

    /// The node of a value that the index found. Its resource is looked up by walking down to it.
    fn named_node(&mut self, place: &SchemaLocation<'s>) -> Result<NodeId, RefError> {
        match self.by_address.get(&(std::ptr::from_ref(place.value), DynamicScope::NONE)) {
            Some(&known) => Ok(known),
            None => self.follow(place.root, &place.pointer),
        }
    }

    /// Follows a decoded JSON pointer down from a node.
    fn follow(&mut self, from: NodeId, pointer: &str) -> Result<NodeId, RefError> {
        let mut value = self.value(from);
        let mut parent = from;
        // The way from `parent` on: an `$id` on the way makes a node of its own.
        let mut walked = String::new();
        for token in pointer.split('/').skip(1) {
            walked.push('/');
            walked.push_str(token);
            let token = match token.contains('~') {
                true => Cow::Owned(token.replace("~1", "/").replace("~0", "~")),
                false => Cow::Borrowed(token),
            };
            value = match value {
                Value::Object(members) => members.get(&token).ok_or(RefError::Missing)?,
                Value::Array(items) => {
                    let digits = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_digit());
                    let plain = digits && (token == "0" || !token.starts_with('0'));
                    let index = plain.then(|| token.parse::<usize>().ok()).flatten();
                    index.and_then(|index| items.get(index)).ok_or(RefError::Missing)?
                }
                _ => return Err(RefError::Missing),
            };
            if identifiers::resource(value, self.nodes[parent.index()].draft).0.is_some() {
                let step = PathStep::Pointer(std::mem::take(&mut walked).into());
                parent = self.fixed_child(parent, step, value);
            }
        }
        if walked.is_empty() {
            return Ok(parent);
        }
        Ok(self.fixed_child(parent, PathStep::Pointer(walked.into()), value))
    }

    fn base_uri(&self, node: NodeId) -> String {
        let mut chain = Vec::new();
        let mut at = node;
        let address = loop {
            let resource = self.nodes[at.index()].resource;
            let node = &self.nodes[resource.index()];
            chain.extend(identifiers::embedded_id(node.value, node.draft));
            match &node.parent {
                Some((parent, _)) => at = *parent,
                None => break self.fetched.get(&resource),
            }
        };
        let address = address.cloned().unwrap_or_default();
        let base = chain.into_iter().rev().fold(address, |base, id| uri::resolve(&base, id));
        base.split('#').next().unwrap_or_default().to_owned()
    }
}
