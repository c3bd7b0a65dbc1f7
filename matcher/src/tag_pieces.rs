//! The pieces of structural tags that were compiled before, by their texts.
//!
//! To find a tag in a document it is not even read: where a tag begins with the bytes of a known one, it is that one,
//! for a JSON object ends where it ends.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ahash::AHashMap;
use grammask_fsm::{Branch, Frame};
use grammask_grammar_frontends::structural_tag::TagReach;

/// So many bytes at the beginning of a tag find it. The tags of a request differ from each other by their names, which
/// stand in front.
const PREFIX: usize = 128;

/// Most tags with one such beginning.
const MOST_ALIKE: usize = 64;

/// Frames and tags that were compiled. Past the bound everything is forgotten.
#[derive(Debug)]
pub(crate) struct KnownPieces {
    max_bytes: usize,
    hasher: ahash::RandomState,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    frames: AHashMap<Box<str>, Arc<KnownFrame>>,
    tags: AHashMap<u64, Vec<KnownTag>>,
    bytes: usize,
}

/// What stands around tags.
#[derive(Debug)]
pub(crate) struct KnownFrame {
    pub(crate) frame: Frame,
    pub(crate) reach: TagReach,
    /// What a tag's branch depends on beside its text: the options and the reach.
    pub(crate) kind: Arc<str>,
}

#[derive(Clone, Debug)]
pub(crate) struct KnownTag {
    pub(crate) text: Arc<str>,
    kind: Arc<str>,
    branch: Arc<KnownBranch>,
}

/// A tag that was compiled.
#[derive(Debug)]
pub(crate) struct KnownBranch {
    pub(crate) branch: Branch,
    /// How many schemas it holds.
    pub(crate) schemas: u64,
    /// Bytes of its automata.
    pub(crate) size: usize,
}

impl KnownPieces {
    pub(crate) fn new(max_bytes: usize) -> Self {
        Self { max_bytes, hasher: ahash::RandomState::new(), inner: Mutex::default() }
    }

    pub(crate) fn clear(&self) {
        *self.lock() = Inner::default();
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The tag with which a text begins, if one is known that is as long as what finds it.
    pub(crate) fn tag(&self, text: &str) -> Option<KnownTag> {
        let prefix = text.as_bytes().get(..PREFIX)?;
        let inner = self.lock();
        let alike = inner.tags.get(&self.hasher.hash_one(prefix))?;
        alike.iter().find(|tag| text.starts_with(&*tag.text)).cloned()
    }

    /// The branches of tags, where they are known. `found` is what was [found](Self::tag) at the beginning of each.
    pub(crate) fn branches(
        &self,
        tags: &[&str],
        found: Vec<Option<KnownTag>>,
        kind: &Arc<str>,
    ) -> Vec<Option<Arc<KnownBranch>>> {
        let is_kind = |tag: &KnownTag| Arc::ptr_eq(&tag.kind, kind) || tag.kind == *kind;
        let find = |(text, found): (&&str, Option<KnownTag>)| match found {
            Some(tag) if is_kind(&tag) => Some(tag.branch),
            // The same text can be known in another frame, and short ones were not looked for.
            _ => {
                let inner = self.lock();
                let alike = inner.tags.get(&self.key(text))?;
                let mut alike = alike.iter().filter(|tag| is_kind(tag) && *tag.text == **text);
                alike.next().map(|tag| Arc::clone(&tag.branch))
            }
        };
        tags.iter().zip(found).map(find).collect()
    }

    fn key(&self, text: &str) -> u64 {
        self.hasher.hash_one(&text.as_bytes()[..text.len().min(PREFIX)])
    }

    pub(crate) fn keep_branch(&self, text: &str, kind: &Arc<str>, branch: &Arc<KnownBranch>) {
        let size = 2 * text.len() + branch.branch.memory_usage() + branch.size + 4 * size_of::<KnownTag>();
        let mut inner = self.lock();
        if !inner.make_room(size, self.max_bytes) {
            return;
        }
        let alike = inner.tags.entry(self.key(text)).or_default();
        if alike.len() == MOST_ALIKE {
            // Its bytes count until everything is forgotten.
            alike.remove(0);
        }
        alike.push(KnownTag { text: text.into(), kind: Arc::clone(kind), branch: Arc::clone(branch) });
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

impl Inner {
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
