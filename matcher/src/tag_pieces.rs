//! The pieces of structural tags that were compiled before, by their texts.
//!
//! To find a tag in a document it is not even read: where a tag begins with the bytes of a known one, it is that one,
//! for a JSON object ends where it ends.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use grammask_fsm::{ProgramTemplate, TemplateArm};
use grammask_grammar_frontends::structural_tag::TagExtent;
use grammask_grammar_ir::hash::HashMap;
use hashbrown::HashTable;

use crate::content_hash::content_hash;

/// So many bytes at the beginning of a tag find it. The tags of a request differ from each other by their names, which
/// stand in front.
const PREFIX: usize = 128;

/// Most tags with one such beginning.
const MAX_ALIKE: usize = 64;

/// Frames and tags that were compiled. Past the bound everything is forgotten.
#[derive(Debug)]
pub(crate) struct KnownPieces {
    max_bytes: usize,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    frames: HashMap<Box<str>, Arc<KnownFrame>>,
    tags: HashTable<Alike>,
    bytes: usize,
}

/// Tags that begin alike, the newest last.
#[derive(Debug)]
struct Alike {
    hash: u64,
    tags: Vec<Arc<KnownTag>>,
}

/// What stands around tags.
#[derive(Debug)]
pub(crate) struct KnownFrame {
    pub(crate) frame: ProgramTemplate,
    pub(crate) reach: TagExtent,
    /// What a tag's branch depends on beside its text: the options and the reach.
    pub(crate) kind: Arc<str>,
}

/// A tag that was compiled. All of it stands in one place: whoever puts many together waits for memory.
#[derive(Debug)]
pub(crate) struct KnownTag {
    pub(crate) text: Box<str>,
    pub(crate) kind: Arc<str>,
    pub(crate) branch: TemplateArm,
    /// How many schemas it holds.
    pub(crate) schemas: u64,
    /// Bytes of its automata.
    pub(crate) size: usize,
}

impl KnownTag {
    fn is_kind(&self, kind: &Arc<str>) -> bool {
        Arc::ptr_eq(&self.kind, kind) || self.kind == *kind
    }
}

impl KnownPieces {
    pub(crate) fn new(max_bytes: usize) -> Self {
        Self { max_bytes, inner: Mutex::default() }
    }

    pub(crate) fn clear(&self) {
        *self.lock() = Inner::default();
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The tag with which a text begins, if one is known that is as long as what finds it.
    pub(crate) fn tag(&self, text: &str) -> Option<Arc<KnownTag>> {
        let prefix = text.as_bytes().get(..PREFIX)?;
        let hash = content_hash([prefix]);
        let inner = self.lock();
        inner.alike(hash)?.iter().find(|tag| text.starts_with(&*tag.text)).cloned()
    }

    /// The tags that texts are, where they are known. `found` is what was [found](Self::tag) at the beginning of each.
    pub(crate) fn tags(
        &self,
        texts: &[&str],
        found: Vec<Option<Arc<KnownTag>>>,
        kind: &Arc<str>,
    ) -> Vec<Option<Arc<KnownTag>>> {
        let find = |(text, found): (&&str, Option<Arc<KnownTag>>)| match found {
            Some(tag) if tag.is_kind(kind) => Some(tag),
            // The same text can be known in another frame, and short ones were not looked for.
            _ => {
                let hash = hash(text);
                let inner = self.lock();
                inner.alike(hash)?.iter().find(|tag| tag.is_kind(kind) && *tag.text == **text).cloned()
            }
        };
        texts.iter().zip(found).map(find).collect()
    }

    pub(crate) fn keep_tag(&self, tag: &Arc<KnownTag>) {
        let size = tag.text.len() + tag.branch.memory_usage() + tag.size + 2 * size_of::<KnownTag>();
        let hash = hash(&tag.text);
        let mut inner = self.lock();
        if !inner.make_room(size, self.max_bytes) {
            return;
        }
        let entry = inner.tags.entry(hash, |alike| alike.hash == hash, |alike| alike.hash);
        let alike = &mut entry.or_insert_with(|| Alike { hash, tags: Vec::new() }).into_mut().tags;
        if alike.len() == MAX_ALIKE {
            // Its bytes count until everything is forgotten.
            alike.remove(0);
        }
        alike.push(Arc::clone(tag));
    }

    pub(crate) fn frame(&self, key: &str) -> Option<Arc<KnownFrame>> {
        self.lock().frames.get(key).cloned()
    }

    pub(crate) fn keep_frame(&self, key: &str, frame: &Arc<KnownFrame>) {
        let size = key.len() + frame.kind.len() + frame.frame.memory_usage() + size_of::<KnownFrame>();
        let mut inner = self.lock();
        if inner.make_room(size, self.max_bytes) {
            inner.frames.insert(key.into(), Arc::clone(frame));
        }
    }
}

/// What finds a tag.
fn hash(text: &str) -> u64 {
    content_hash([&text.as_bytes()[..text.len().min(PREFIX)]])
}

impl Inner {
    /// The tags with such a beginning.
    fn alike(&self, hash: u64) -> Option<&[Arc<KnownTag>]> {
        self.tags.find(hash, |alike| alike.hash == hash).map(|alike| &*alike.tags)
    }

    fn make_room(&mut self, size: usize, max_bytes: usize) -> bool {
        if size > max_bytes {
            return false;
        }
        if self.bytes + size > max_bytes {
            *self = Self::default();
        }
        self.bytes += size;
        true
    }
}
