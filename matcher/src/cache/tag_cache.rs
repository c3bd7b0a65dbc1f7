//! Structural tags that were compiled before, by their texts, and the templates around them.
//!
//! A known tag in a document is found without reading it. A text that begins with the bytes of a known tag
//! has that tag, because a JSON object ends where it ends.

use std::sync::{Arc, Mutex, MutexGuard};

use grammask_fsm::{ProgramTemplate, TemplateArm};
use grammask_grammar_frontends::structural_tag::TagExtent;
use grammask_grammar_ir::PerProcess;
use grammask_grammar_ir::hash::HashMap;
use hashbrown::HashTable;

use crate::base::content_hash::content_hash;

/// This number of bytes at the beginning of a tag finds it. The tags of a request differ from each other by
/// their names, which are at the front.
const PREFIX_LEN: usize = 128;

/// Most tags with one such beginning.
const MAX_TAGS_PER_PREFIX: usize = 64;

/// Templates and tags that were compiled. Past the bound everything is forgotten.
#[derive(Debug)]
pub(crate) struct TagCache {
    max_bytes: usize,
    inner: PerProcess<Mutex<TagCacheInner>>,
}

#[derive(Debug, Default)]
struct TagCacheInner {
    templates: HashMap<Box<str>, Arc<CachedTemplate>>,
    tags: HashTable<PrefixBucket>,
    bytes: usize,
}

/// Tags that begin with the same bytes, the newest last.
#[derive(Debug)]
struct PrefixBucket {
    hash: u64,
    tags: Vec<Arc<CachedTag>>,
}

/// The compiled text around tags.
#[derive(Debug)]
pub(crate) struct CachedTemplate {
    pub(crate) template: ProgramTemplate,
    pub(crate) reach: TagExtent,
    /// Everything but its text on which the meaning of a tag depends: the options and the reach, printed.
    pub(crate) context: Arc<str>,
}

/// A compiled tag. All of it is in one place, because putting many tags together waits for memory.
#[derive(Debug)]
pub(crate) struct CachedTag {
    pub(crate) text: Box<str>,
    pub(crate) context: Arc<str>,
    pub(crate) arm: TemplateArm,
    /// How many schemas it holds.
    pub(crate) schemas: u64,
    /// Bytes of its automata.
    pub(crate) size: usize,
}

impl CachedTag {
    fn has_context(&self, context: &Arc<str>) -> bool {
        Arc::ptr_eq(&self.context, context) || self.context == *context
    }
}

impl TagCache {
    pub(crate) fn new(max_bytes: usize) -> Self {
        Self { max_bytes, inner: PerProcess::default() }
    }

    pub(crate) fn clear(&self) {
        *self.lock() = TagCacheInner::default();
    }

    fn lock(&self) -> MutexGuard<'_, TagCacheInner> {
        self.inner.lock()
    }

    /// The known tag with which a text begins, if it is at least as long as the prefix that finds it.
    pub(crate) fn tag(&self, text: &str) -> Option<Arc<CachedTag>> {
        let prefix = text.as_bytes().get(..PREFIX_LEN)?;
        let hash = content_hash([prefix]);
        let inner = self.lock();
        // The hash only picks the bucket. A tag counts if its whole text is there.
        inner.bucket(hash)?.iter().find(|tag| text.starts_with(&*tag.text)).cloned()
    }

    /// For each text, the known tag that is equal to all of it. `found` are the tags [found](Self::tag) at the
    /// beginning of each.
    pub(crate) fn tags(
        &self,
        texts: &[&str],
        found: Vec<Option<Arc<CachedTag>>>,
        context: &Arc<str>,
    ) -> Vec<Option<Arc<CachedTag>>> {
        let find = |(text, found): (&&str, Option<Arc<CachedTag>>)| match found {
            Some(tag) if tag.has_context(context) => Some(tag),
            // The same text can be known in another context, and short ones were not looked for.
            _ => {
                let hash = prefix_hash(text);
                let inner = self.lock();
                inner
                    .bucket(hash)?
                    .iter()
                    .find(|tag| tag.has_context(context) && *tag.text == **text)
                    .cloned()
            }
        };
        texts.iter().zip(found).map(find).collect()
    }

    pub(crate) fn insert_tag(&self, tag: &Arc<CachedTag>) {
        let size = tag.text.len() + tag.arm.memory_usage() + tag.size + 2 * size_of::<CachedTag>();
        let hash = prefix_hash(&tag.text);
        let mut inner = self.lock();
        if !inner.make_room(size, self.max_bytes) {
            return;
        }
        let entry = inner.tags.entry(hash, |bucket| bucket.hash == hash, |bucket| bucket.hash);
        let bucket = &mut entry.or_insert_with(|| PrefixBucket { hash, tags: Vec::new() }).into_mut().tags;
        if bucket.len() == MAX_TAGS_PER_PREFIX {
            // Its bytes count until everything is forgotten.
            bucket.remove(0);
        }
        bucket.push(Arc::clone(tag));
    }

    pub(crate) fn template(&self, key: &str) -> Option<Arc<CachedTemplate>> {
        self.lock().templates.get(key).cloned()
    }

    pub(crate) fn insert_template(&self, key: &str, template: &Arc<CachedTemplate>) {
        let size = key.len()
            + template.context.len()
            + template.template.memory_usage()
            + size_of::<CachedTemplate>();
        let mut inner = self.lock();
        if inner.make_room(size, self.max_bytes) {
            inner.templates.insert(key.into(), Arc::clone(template));
        }
    }
}

/// The hash by which a tag is found.
fn prefix_hash(text: &str) -> u64 {
    content_hash([&text.as_bytes()[..text.len().min(PREFIX_LEN)]])
}

impl TagCacheInner {
    /// The tags whose beginning has this hash.
    fn bucket(&self, hash: u64) -> Option<&[Arc<CachedTag>]> {
        self.tags.find(hash, |bucket| bucket.hash == hash).map(|bucket| &*bucket.tags)
    }

    fn make_room(&mut self, size: usize, max_bytes: usize) -> bool {
        if size > max_bytes {
            return false;
        }
        if self.bytes + size > max_bytes {
            // Everything is forgotten at once: no order of use is kept, and a tag that is still in use is
            // compiled again.
            *self = Self::default();
        }
        self.bytes += size;
        true
    }
}
