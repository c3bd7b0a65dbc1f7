//! The schema document: its nodes, their places, and what references lead to.
//!
//! Nothing is visited before something asks for it: a node is made for a schema when the lowering reaches
//! it, so that a document of 50,000 definitions costs what the ten that are used cost. Only a reference that
//! is not a plain pointer (`$anchor`, `$id`) makes one pass over the whole document, to index the names.

use std::collections::HashMap;

use serde_json::Value;

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

    /// The keyword that names a schema.
    fn id_keyword(self) -> &'static str {
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
    value: &'s Value,
    parent: Option<(NodeId, Step<'s>)>,
    /// The schema whose `$id` is in force here: what `#` means.
    resource: NodeId,
}

/// Schemas with names, found by one pass over the document.
#[derive(Default)]
struct Names<'s> {
    /// By absolute URI without fragment.
    resources: HashMap<String, (&'s Value, String)>,
    /// By absolute URI with the anchor as fragment.
    anchors: HashMap<String, (&'s Value, String)>,
}

/// Why a reference leads nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RefError {
    /// Nothing stands there.
    Missing,
    /// Another document is meant.
    Remote,
}

pub(super) struct Document<'s> {
    root: &'s Value,
    draft: Draft,
    nodes: Vec<Node<'s>>,
    by_address: HashMap<*const Value, NodeId>,
    names: Option<Names<'s>>,
}

impl<'s> Document<'s> {
    pub(super) const ROOT: NodeId = NodeId(0);

    pub(super) fn new(root: &'s Value, draft: Draft) -> Self {
        let node = Node { value: root, parent: None, resource: NodeId(0) };
        let by_address = HashMap::from([(std::ptr::from_ref(root), NodeId(0))]);
        Self { root, draft, nodes: vec![node], by_address, names: None }
    }

    pub(super) fn draft(&self) -> Draft {
        self.draft
    }

    pub(super) fn value(&self, node: NodeId) -> &'s Value {
        self.nodes[node.index()].value
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The JSON pointer of a node.
    pub(super) fn pointer(&self, node: NodeId) -> String {
        let mut steps = Vec::new();
        let mut at = node;
        while let Some((parent, step)) = &self.nodes[at.index()].parent {
            steps.push(step);
            at = *parent;
        }
        let mut pointer = String::new();
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

    /// The node of a value below another one. A value has one node, by whichever way it is reached first.
    pub(super) fn child(&mut self, parent: NodeId, step: Step<'s>, value: &'s Value) -> NodeId {
        if let Some(&known) = self.by_address.get(&std::ptr::from_ref(value)) {
            return known;
        }
        // Documents are bounded to far fewer than 2^32 bytes, so their nodes can be numbered.
        let id = NodeId(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        let inherited = self.nodes[parent.index()].resource;
        let resource = if embedded_id(value, self.draft).is_some() { id } else { inherited };
        self.nodes.push(Node { value, parent: Some((parent, step)), resource });
        self.by_address.insert(std::ptr::from_ref(value), id);
        id
    }

    /// What a `$ref` that stands in `from` leads to.
    pub(super) fn resolve(&mut self, from: NodeId, reference: &str) -> Result<NodeId, RefError> {
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
        let names = self.names.get_or_insert_with(|| collect_names(self.root, self.draft));
        if !fragment.is_empty() && !fragment.starts_with('/') {
            let found = names.anchors.get(&format!("{target}#{fragment}"));
            let known = target.is_empty() || names.resources.contains_key(target);
            let error = if known { RefError::Missing } else { RefError::Remote };
            let (value, pointer) = found.cloned().ok_or(error)?;
            return self.named_node(value, pointer);
        }
        let (value, pointer) = names.resources.get(target).cloned().ok_or(RefError::Remote)?;
        let node = self.named_node(value, pointer)?;
        self.follow(node, &fragment)
    }

    /// The node of a value that the index found. Its resource is looked up by walking down to it.
    fn named_node(&mut self, value: &'s Value, pointer: String) -> Result<NodeId, RefError> {
        match self.by_address.get(&std::ptr::from_ref(value)) {
            Some(&known) => Ok(known),
            None => self.follow(Self::ROOT, &pointer),
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
            let token = token.replace("~1", "/").replace("~0", "~");
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
            if embedded_id(value, self.draft).is_some() {
                let step = Step::Pointer(std::mem::take(&mut walked).into());
                parent = self.child(parent, step, value);
            }
        }
        if walked.is_empty() {
            return Ok(parent);
        }
        Ok(self.child(parent, Step::Pointer(walked.into()), value))
    }

    fn base_uri(&self, node: NodeId) -> String {
        let mut chain = Vec::new();
        let mut at = node;
        loop {
            let resource = self.nodes[at.index()].resource;
            chain.extend(embedded_id(self.value(resource), self.draft));
            match &self.nodes[resource.index()].parent {
                Some((parent, _)) => at = *parent,
                None => break,
            }
        }
        let base = chain.into_iter().rev().fold(String::new(), |base, id| uri::resolve(&base, id));
        base.split('#').next().unwrap_or_default().to_owned()
    }
}

/// The `$id` that makes a schema a resource of its own; an `$id` that is only a fragment is an anchor.
fn embedded_id(value: &Value, draft: Draft) -> Option<&str> {
    let object = value.as_object()?;
    if draft.ref_hides_siblings() && object.contains_key("$ref") {
        return None;
    }
    object.get(draft.id_keyword())?.as_str().filter(|id| !id.starts_with('#') && !id.is_empty())
}

/// Keywords whose value is a schema, a list of schemas, or either.
const SCHEMAS: &[&str] = &[
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "oneOf",
    "prefixItems",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// Keywords whose value is an object of schemas.
const SCHEMA_MAPS: &[&str] =
    &["$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"];

/// Finds the names in all schemas. What stands under other keywords is no schema, whatever it looks like.
fn collect_names(root: &Value, draft: Draft) -> Names<'_> {
    let mut names = Names::default();
    names.resources.insert(String::new(), (root, String::new()));
    let mut stack = vec![(root, String::new(), String::new())];
    while let Some((value, pointer, mut base)) = stack.pop() {
        let Value::Object(members) = value else { continue };
        if let Some(id) = embedded_id(value, draft) {
            base = uri::resolve(&base, id);
            base.truncate(base.find('#').unwrap_or(base.len()));
            names.resources.entry(base.clone()).or_insert_with(|| (value, pointer.clone()));
        }
        let id = members.get(draft.id_keyword()).and_then(Value::as_str);
        let fragment = id.and_then(|id| id.strip_prefix('#')).filter(|_| draft.ref_hides_siblings());
        let anchors =
            ["$anchor", "$dynamicAnchor"].map(|keyword| members.get(keyword).and_then(Value::as_str));
        for anchor in anchors.into_iter().flatten().chain(fragment) {
            let entry = names.anchors.entry(format!("{base}#{anchor}"));
            entry.or_insert_with(|| (value, pointer.clone()));
        }
        for (keyword, member) in members {
            let mut push = |schema, step: &str| {
                stack.push((schema, format!("{pointer}/{keyword}{step}"), base.clone()));
            };
            match member {
                Value::Object(schemas) if SCHEMA_MAPS.contains(&keyword.as_str()) => {
                    let schemas = schemas.iter().filter(|(_, schema)| schema.is_object());
                    schemas.for_each(|(name, schema)| push(schema, &format!("/{}", escape(name))));
                }
                Value::Object(_) if SCHEMAS.contains(&keyword.as_str()) => push(member, ""),
                Value::Array(schemas) if SCHEMAS.contains(&keyword.as_str()) => {
                    let schemas = schemas.iter().enumerate().filter(|(_, schema)| schema.is_object());
                    schemas.for_each(|(index, schema)| push(schema, &format!("/{index}")));
                }
                _ => {}
            }
        }
    }
    names
}

/// Escapes a name for a JSON pointer.
pub(super) fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// Decodes `%XX`; what is no valid escape or no UTF-8 stays as it stands.
fn percent_decode(text: &str) -> String {
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
