//! The treatment of every keyword.

use crate::json::JsonValue;
use grammask_grammar_ir::hash::HashSet;

use super::options::Unsupported;

/// The treatment of one keyword.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Treatment {
    /// Every text of the grammar obeys it, and it excludes nothing else.
    Enforced,
    /// It asserts nothing.
    Annotation,
    /// It asserts nothing in the draft of its schema, and something in another one.
    OtherDraft,
    /// It asserts something that is *not* enforced, because the caller asked for
    /// [`Unsupported::Ignore`](super::Unsupported::Ignore).
    Ignored,
    /// The schema is refused because of it. In the report of [`report`](super::report()) only.
    Refused,
}

impl Treatment {
    /// `enforced`, `annotation`, `other-draft`, `ignored` or `refused`.
    pub fn name(self) -> &'static str {
        match self {
            Treatment::Enforced => "enforced",
            Treatment::Annotation => "annotation",
            Treatment::OtherDraft => "other-draft",
            Treatment::Ignored => "ignored",
            Treatment::Refused => "refused",
        }
    }
}

/// The note of a keyword that another draft gives its meaning.
pub(crate) const OTHER_DRAFT: &str = "not a keyword of this draft";

/// One keyword of one schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportEntry {
    /// JSON pointer of the keyword; of one of more than 1,024 bytes, and of names of more than 320, the beginning and
    /// the end.
    pub pointer: String,
    /// Its name.
    pub keyword: String,
    /// Its treatment.
    pub treatment: Treatment,
    /// Why, where that is not obvious.
    pub note: Option<String>,
}

/// The treatment of every keyword of every schema that the root reaches, in the order in which they were met.
///
/// Schemas that nothing refers to, and keywords of types that a schema excludes, are not read and not listed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    entries: Vec<ReportEntry>,
    /// Whether there are entries for warnings alone, which takes less time: equal schemas are read once.
    of_warnings: bool,
    /// Warnings beyond the most that are listed. One keyword may count several times.
    omitted: usize,
    /// The treatment that the schema itself asks for, where the report goes on after keywords that are refused.
    pub(super) asked: Asked,
}

/// Whether the options of a schema say what happens to keywords that cannot be enforced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Asked {
    /// They do, and are followed.
    #[default]
    Followed,
    /// They would, and the report says what they say, or `None`.
    Reported(Option<Unsupported>),
}

/// The most warnings that are listed. A last one says that there are more.
const MAX_WARNINGS: usize = 1_000;

impl Report {
    /// A report of what [`warnings`](Self::warnings) names, and nothing else.
    pub(super) fn of_warnings() -> Self {
        Self { of_warnings: true, ..Self::default() }
    }

    /// A report that goes on after keywords that are refused.
    pub(super) fn that_goes_on() -> Self {
        Self { asked: Asked::Reported(None), ..Self::default() }
    }

    /// Whether it goes on after keywords that are refused.
    pub(super) fn goes_on(&self) -> bool {
        self.asked != Asked::Followed
    }

    /// Whether it has an entry for every place of a schema.
    pub(super) fn is_whole(&self) -> bool {
        !self.of_warnings
    }

    /// Adds an entry, if entries of its treatment are listed. There are at most [`MAX_WARNINGS`] warnings.
    pub(super) fn push(&mut self, treatment: Treatment, entry: impl FnOnce() -> ReportEntry) {
        if !self.is_whole() && !matches!(treatment, Treatment::Ignored | Treatment::OtherDraft) {
            return;
        }
        if !self.is_whole() && self.entries.len() >= MAX_WARNINGS {
            // One keyword may be met many times. Once most entries are of different ones, no more are added.
            if self.omitted == 0 {
                self.settle();
            }
            if self.omitted > 0 || self.entries.len() > MAX_WARNINGS / 2 {
                self.omitted += 1;
                return;
            }
        }
        self.entries.push(entry());
    }

    /// Takes back that a keyword is enforced where it turned out to be ignored or refused.
    pub(super) fn settle(&mut self) {
        let is_dropped = |treatment| matches!(treatment, Treatment::Ignored | Treatment::Refused);
        let dropped = self.entries.iter().filter(|entry| is_dropped(entry.treatment));
        let dropped: HashSet<String> = dropped.map(|entry| entry.pointer.clone()).collect();
        let (mut seen, entries) = (HashSet::default(), std::mem::take(&mut self.entries));
        self.entries = entries
            .into_iter()
            .filter(|entry| match entry.treatment {
                treatment if is_dropped(treatment) => {
                    seen.insert((entry.pointer.clone(), entry.note.clone()))
                }
                _ => !dropped.contains(&entry.pointer),
            })
            .collect();
    }

    pub(super) fn refuse_ignored(&mut self) {
        for entry in &mut self.entries {
            if entry.treatment == Treatment::Ignored {
                entry.treatment = Treatment::Refused;
            }
        }
    }

    /// All entries.
    pub fn entries(&self) -> &[ReportEntry] {
        &self.entries
    }

    /// The entries of one treatment.
    pub fn with_treatment(&self, treatment: Treatment) -> impl Iterator<Item = &ReportEntry> {
        self.entries.iter().filter(move |entry| entry.treatment == treatment)
    }

    /// Warnings for the caller, a sentence each: keywords that are ignored by request, and keywords and
    /// formats of other drafts.
    pub fn warnings(&self) -> impl Iterator<Item = String> + '_ {
        self.warnings_at("")
    }

    /// The warnings of a schema at a place of a document.
    pub(crate) fn warnings_at(&self, place: &str) -> impl Iterator<Item = String> {
        let omitted =
            (self.omitted > 0).then(|| format!("up to {} more warnings are left out", self.omitted));
        let listed = self.entries.iter().filter_map(move |entry| {
            let ReportEntry { pointer, keyword, treatment, note } = entry;
            let (what, otherwise) = match treatment {
                Treatment::Ignored => ("is ignored", "it cannot be enforced"),
                Treatment::OtherDraft => ("asserts nothing", OTHER_DRAFT),
                _ => return None,
            };
            Some(format!(
                "`{keyword}` at `{place}{pointer}` {what}: {}",
                note.as_deref().unwrap_or(otherwise)
            ))
        });
        listed.chain(omitted)
    }

    /// Bytes of memory, about.
    pub fn memory_usage(&self) -> usize {
        let texts = |entry: &ReportEntry| {
            entry.pointer.len() + entry.keyword.len() + entry.note.as_ref().map_or(0, String::len)
        };
        self.entries.len() * size_of::<ReportEntry>() + self.entries.iter().map(texts).sum::<usize>()
    }

    /// A JSON array of objects with the keys `pointer`, `keyword`, `treatment` and, where there is one,
    /// `note`.
    pub fn to_json(&self) -> JsonValue {
        self.entries.iter().map(entry_json).collect()
    }
}

fn entry_json(entry: &ReportEntry) -> JsonValue {
    let mut object = JsonValue::object([
        ("pointer", (*entry.pointer).into()),
        ("keyword", (*entry.keyword).into()),
        ("treatment", entry.treatment.name().into()),
    ]);
    if let Some(note) = &entry.note {
        object.insert("note", &**note);
    }
    object
}
