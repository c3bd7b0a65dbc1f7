//! The schema document: its nodes, their places, and what references lead to.
//!
//! Nothing is visited before something asks for it: a node is made for a schema when the lowering reaches
//! it, so that a document of 50,000 definitions costs what the ten that are used cost. Only a reference that
//! is not a plain pointer (`$anchor`, `$id`) makes one pass over the whole document, to index the names.
//!
//! A dynamic reference means different schemas on different ways to it. A node is therefore a place in the
//! document *and* a scope: which schema each dynamic anchor names there. Documents without dynamic references
//! have one scope, so that each place has one node.

use std::borrow::Cow;

use bumpalo::Bump;
use grammask_grammar_ir::hash::{HashMap, Hashing};

use super::goal::GOALS;
use super::json::{self, Members, Value};
use super::names::{self, Names, Place};
use super::retriever::Retriever;
use super::same;
use super::scope::{Scope, Scopes};
use super::uri;

/// The dialects of JSON Schema that differ in what this frontend reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Draft {
    Draft4,
    Draft6,
    Draft7,
    Draft2019,
    Draft2020,
}

impl Draft {
    /// The dialect that `$schema` names; `None` for a name that is not known.
    pub(super) fn from_uri(uri: &str) -> Option<Self> {
        let name = uri.trim_end_matches('#').trim_end_matches('/');
        let name = name.strip_prefix("https://").or_else(|| name.strip_prefix("http://"))?;
        match name.strip_prefix("json-schema.org/")? {
            "draft-04/schema" | "draft-04/hyper-schema" => Some(Draft::Draft4),
            "draft-05/schema" | "draft-06/schema" | "draft-06/hyper-schema" => Some(Draft::Draft6),
            "draft-07/schema" | "draft-07/hyper-schema" => Some(Draft::Draft7),
            "draft/2019-09/schema" | "draft/2019-09/hyper-schema" => Some(Draft::Draft2019),
            "draft/2020-12/schema" | "draft/2020-12/hyper-schema" | "schema" => Some(Draft::Draft2020),
            _ => None,
        }
    }

    /// As its documents call it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Draft::Draft4 => "4",
            Draft::Draft6 => "6",
            Draft::Draft7 => "7",
            Draft::Draft2019 => "2019-09",
            Draft::Draft2020 => "2020-12",
        }
    }

    /// The keyword that names a schema.
    pub(super) fn id_keyword(self) -> &'static str {
        if self == Draft::Draft4 { "id" } else { "$id" }
    }

    /// Whether a `$ref` hides the keywords beside it.
    pub(super) fn ref_hides_siblings(self) -> bool {
        self <= Draft::Draft7
    }
}

/// A value of the document that was reached, as a schema or as a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct NodeId(u32);

impl NodeId {
    fn index(self) -> usize {
        self.0 as usize
    }
}

/// How a node is reached from its parent.
#[derive(Clone, Debug)]
pub(super) enum Step<'s> {
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
    parent: Option<(NodeId, Step<'s>)>,
    /// The schema whose `$id` is in force here: what `#` means. A node outside of any scope.
    resource: NodeId,
    /// The same place outside of any scope.
    fixed: NodeId,
    /// What dynamic references mean here.
    scope: Scope,
    draft: Draft,
}

/// Why a reference leads nowhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RefError {
    /// Nothing stands there.
    Missing,
    /// Another document is meant, and no retriever was given.
    Remote,
    /// The retriever did not give the document.
    Retrieval(String),
    /// More documents than the limit.
    TooMany(usize),
}

/// Where documents come from that a reference leads to.
pub(super) struct Sources<'s> {
    pub(super) retriever: Option<Retriever>,
    /// Where they are kept.
    pub(super) arena: &'s Bump,
    /// Most documents that are fetched.
    pub(super) documents: usize,
    /// Most values in one of them.
    pub(super) values: usize,
}

pub(super) struct Document<'s> {
    nodes: Vec<Node<'s>>,
    by_address: HashMap<(*const Value<'s>, Scope), NodeId>,
    /// The first schema of each fingerprint in the resource of the root; see [`same`].
    by_print: HashMap<u32, NodeId>,
    names: Option<Names<'s>>,
    scopes: Scopes,
    sources: Sources<'s>,
    /// The roots of documents that were fetched, and their addresses.
    fetched: HashMap<NodeId, String>,
    /// Documents that could not be fetched are not asked for again.
    failed: HashMap<String, RefError>,
}

impl<'s> Document<'s> {
    pub(super) const ROOT: NodeId = NodeId(0);

    pub(super) fn new(root: &'s Value<'s>, draft: Draft, sources: Sources<'s>) -> Self {
        let mut document = Self {
            nodes: Vec::with_capacity(GOALS),
            by_address: HashMap::with_capacity_and_hasher(GOALS, Hashing),
            by_print: HashMap::with_capacity_and_hasher(GOALS, Hashing),
            names: None,
            scopes: Scopes::default(),
            sources,
            fetched: HashMap::default(),
            failed: HashMap::default(),
        };
        document.add_root(root, draft);
        // A document that was fetched may refer to what is dynamic in this one.
        if document.sources.retriever.is_some() || names::has_dynamic_keywords(root) {
            document.names();
        }
        document
    }

    /// The first node of a document.
    fn add_root(&mut self, value: &'s Value<'s>, draft: Draft) -> NodeId {
        let id = self.next_id();
        self.nodes.push(Node { value, parent: None, resource: id, fixed: id, scope: Scope::NONE, draft });
        self.by_address.insert((std::ptr::from_ref(value), Scope::NONE), id);
        id
    }

    fn next_id(&self) -> NodeId {
        // Documents are bounded to far fewer than 2^32 bytes, so their nodes can be numbered.
        NodeId(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX))
    }

    fn names(&mut self) -> &Names<'s> {
        let root = &self.nodes[Self::ROOT.index()];
        self.names.get_or_insert_with(|| {
            let mut names = Names::default();
            names.collect(root.value, Self::ROOT, "", root.draft);
            names
        })
    }

    /// The whole document, as a schema that is evaluated first.
    pub(super) fn entry(&mut self) -> NodeId {
        let scope = self.entered(Scope::NONE, Self::ROOT);
        self.scoped(Self::ROOT, scope)
    }

    /// The dialect of a schema.
    pub(super) fn draft(&self, node: NodeId) -> Draft {
        self.nodes[node.index()].draft
    }

    pub(super) fn value(&self, node: NodeId) -> &'s Value<'s> {
        self.nodes[node.index()].value
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// One node for all that stand for the same place.
    pub(super) fn place(&self, node: NodeId) -> NodeId {
        self.nodes[node.index()].fixed
    }

    /// The JSON pointer of a node; after the address of its document and `#`, where that was fetched.
    pub(super) fn pointer(&self, node: NodeId) -> String {
        let mut steps = Vec::new();
        let mut at = self.place(node);
        while let Some((parent, step)) = &self.nodes[at.index()].parent {
            steps.push(step);
            at = *parent;
        }
        let mut pointer = self.fetched.get(&at).map_or_else(String::new, |address| format!("{address}#"));
        for step in steps.into_iter().rev() {
            match step {
                Step::Keyword(keyword) => pointer.push_str(&format!("/{keyword}")),
                Step::Member(keyword, name) => pointer.push_str(&format!("/{keyword}/{}", escape(name))),
                Step::Index(keyword, index) => pointer.push_str(&format!("/{keyword}/{index}")),
                Step::Item(index) => pointer.push_str(&format!("/{index}")),
                Step::Name(name) => pointer.push_str(&format!("/{}", escape(name))),
                Step::Pointer(text) => pointer.push_str(text),
            }
        }
        pointer
    }

    /// The node of a value below another one. In one scope a value has one node, by whichever way it is
    /// reached first.
    pub(super) fn child(&mut self, parent: NodeId, step: Step<'s>, value: &'s Value<'s>) -> NodeId {
        let (fixed, scope) = (self.place(parent), self.nodes[parent.index()].scope);
        let child = self.fixed_child(fixed, step, value);
        let scope =
            if self.nodes[child.index()].resource == child { self.entered(scope, child) } else { scope };
        self.scoped(child, scope)
    }

    /// As [`child`](Self::child) for a schema; or the node of one that was met before and says the same.
    pub(super) fn schema(
        &mut self,
        parent: NodeId,
        step: Step<'s>,
        value: &'s Value<'s>,
        members: &'s Members<'s>,
    ) -> NodeId {
        let Node { resource, scope, draft, .. } = self.nodes[parent.index()];
        let root = &self.nodes[Self::ROOT.index()];
        let print = members.fingerprint();
        if print == same::UNIQUE || (resource, scope, draft) != (Self::ROOT, Scope::NONE, root.draft) {
            return self.child(parent, step, value);
        }
        if let Some(&known) = self.by_print.get(&print) {
            let before = self.value(known);
            let is_same = std::ptr::eq(before, value)
                || before.as_object().is_some_and(|before| same::say_the_same(before, members));
            return if is_same { known } else { self.child(parent, step, value) };
        }
        let child = self.child(parent, step, value);
        self.by_print.insert(print, child);
        child
    }

    fn fixed_child(&mut self, parent: NodeId, step: Step<'s>, value: &'s Value<'s>) -> NodeId {
        let key = (std::ptr::from_ref(value), Scope::NONE);
        if let Some(&known) = self.by_address.get(&key) {
            return known;
        }
        let id = self.next_id();
        let Node { resource, draft, .. } = self.nodes[parent.index()];
        let (embedded, draft) = names::resource(value, draft);
        let resource = if embedded.is_some() { id } else { resource };
        let parent = Some((parent, step));
        self.nodes.push(Node { value, parent, resource, fixed: id, scope: Scope::NONE, draft });
        self.by_address.insert(key, id);
        id
    }

    /// A place in a scope.
    fn scoped(&mut self, fixed: NodeId, scope: Scope) -> NodeId {
        let Node { value, resource, draft, .. } = self.nodes[fixed.index()];
        let id = self.next_id();
        let known = *self.by_address.entry((std::ptr::from_ref(value), scope)).or_insert(id);
        if known == id {
            self.nodes.push(Node { value, parent: None, resource, fixed, scope, draft });
        }
        known
    }

    /// The scope inside a resource that is entered from a scope: the outermost dynamic anchors count.
    fn entered(&mut self, scope: Scope, resource: NodeId) -> Scope {
        let value = std::ptr::from_ref(self.value(resource));
        match &self.names {
            Some(names) => self.scopes.entered(scope, names.dynamic_anchors(value)),
            None => scope,
        }
    }

    fn entered_at(&mut self, scope: Scope, target: NodeId) -> NodeId {
        let resource = self.nodes[target.index()].resource;
        let scope = self.entered(scope, resource);
        self.scoped(target, scope)
    }

    /// What a `$ref` that stands in `from` leads to.
    pub(super) fn resolve(&mut self, from: NodeId, reference: &str) -> Result<NodeId, RefError> {
        let scope = self.nodes[from.index()].scope;
        let target = self.resolve_fixed(self.place(from), reference)?;
        Ok(self.entered_at(scope, target))
    }

    /// What a `$dynamicRef` or `$recursiveRef` that stands in `from` leads to: as a `$ref`, and where that
    /// leads to a dynamic anchor, to the one of its name in the outermost resource that was entered on the
    /// way here.
    pub(super) fn resolve_dynamic(
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
            "$recursiveRef" => names::RECURSIVE.to_owned(),
            _ => percent_decode(reference.split_once('#').map_or("", |(_, fragment)| fragment)),
        };
        let (value, anchors) = (self.value(first), std::ptr::from_ref(self.value(resource)));
        let anchors = self.names().dynamic_anchors(anchors);
        let is_dynamic =
            anchors.iter().any(|known| known.name == anchor && std::ptr::eq(known.place.value, value));
        let outermost = self.scopes.find(scope, &anchor).filter(|_| is_dynamic);
        let Some(target) = outermost else { return Ok(self.scoped(first, scope)) };
        let place = self.names().dynamic_place(target);
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
        let target = uri::resolve(&base, reference);
        let (target, fragment) = target.split_once('#').unwrap_or((&target, ""));
        let fragment = percent_decode(fragment);
        if !self.names().resources.contains_key(target) {
            self.fetch(target)?;
        }
        if !fragment.is_empty() && !fragment.starts_with('/') {
            let found = self.names().anchors.get(&format!("{target}#{fragment}")).cloned();
            return self.named_node(&found.ok_or(RefError::Missing)?);
        }
        let place = self.names().resources.get(target).cloned().ok_or(RefError::Missing)?;
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
            match names::holds_at_most(&value, limit) {
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
        let draft = names::declared_draft(value).unwrap_or(self.nodes[Self::ROOT.index()].draft);
        let root = self.add_root(value, draft);
        self.fetched.insert(root, address.to_owned());
        self.names();
        if let Some(names) = &mut self.names {
            names.collect(value, root, address, draft);
        }
        Ok(())
    }

    /// The node of a value that the index found. Its resource is looked up by walking down to it.
    fn named_node(&mut self, place: &Place<'s>) -> Result<NodeId, RefError> {
        match self.by_address.get(&(std::ptr::from_ref(place.value), Scope::NONE)) {
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
                Value::Object(members) => member(members, &token).ok_or(RefError::Missing)?,
                Value::Array(items) => {
                    let digits = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_digit());
                    let plain = digits && (token == "0" || !token.starts_with('0'));
                    let index = plain.then(|| token.parse::<usize>().ok()).flatten();
                    index.and_then(|index| items.get(index)).ok_or(RefError::Missing)?
                }
                _ => return Err(RefError::Missing),
            };
            if names::resource(value, self.nodes[parent.index()].draft).0.is_some() {
                let step = Step::Pointer(std::mem::take(&mut walked).into());
                parent = self.fixed_child(parent, step, value);
            }
        }
        if walked.is_empty() {
            return Ok(parent);
        }
        Ok(self.fixed_child(parent, Step::Pointer(walked.into()), value))
    }

    fn base_uri(&self, node: NodeId) -> String {
        let mut chain = Vec::new();
        let mut at = node;
        let address = loop {
            let resource = self.nodes[at.index()].resource;
            let node = &self.nodes[resource.index()];
            chain.extend(names::embedded_id(node.value, node.draft));
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

/// The member of a name.
pub(super) fn member<'s>(members: &'s Members<'s>, name: &str) -> Option<&'s Value<'s>> {
    members.get(name)
}

/// Escapes a name for a JSON pointer.
pub(super) fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// Decodes `%XX`; what is no valid escape or no UTF-8 stays as it stands.
fn percent_decode(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = bytes.get(at + 1..at + 3).and_then(|pair| std::str::from_utf8(pair).ok());
        match hex.and_then(|pair| u8::from_str_radix(pair, 16).ok()).filter(|_| bytes[at] == b'%') {
            Some(byte) => {
                decoded.push(byte);
                at += 3;
            }
            None => {
                decoded.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8(decoded).unwrap_or_else(|_| text.to_owned())
}
