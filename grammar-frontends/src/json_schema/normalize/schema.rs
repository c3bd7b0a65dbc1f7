//! One schema: its report, the assertions on single types, then the applicators in the order of their table.

use grammask_grammar_ir::shorten;

use super::applicators::{UNTYPED_KEYWORDS, all_of};
use super::normalizer::{KeywordAt, Normalizer};
use super::{arrays, numbers, objects, strings, unevaluated};
use crate::diagnostic::Result;
use crate::json_schema::document::ids::NodeId;
use crate::json_schema::document::json::{Members, Value};
use crate::json_schema::document::keyword_table;
use crate::json_schema::document::nodes::PathStep;
use crate::json_schema::document::pointer::escape;
use crate::json_schema::report::{OTHER_DRAFT, ReportEntry, Treatment};
use crate::json_schema::sets::goals::{Atom, GoalId};
use crate::json_schema::sets::normal_form::{NormalForm, TooManyAlternatives};

impl<'s> Normalizer<'s> {
    pub(super) fn schema_norm(&mut self, node: NodeId) -> Result<NormalForm<'s>> {
        let members = match self.document.value(node) {
            Value::Bool(true) => return Ok(NormalForm::any()),
            Value::Bool(false) => return Ok(NormalForm::never()),
            Value::Object(members) => members,
            _ => return Err(self.malformed(node, "", "a schema: an object, `true` or `false`")),
        };
        self.report_keywords(node, members);
        if let Some(reference) = members.get("$ref")
            && self.document.draft(node).ref_hides_siblings()
        {
            let goal = self.reference(node, "$ref", reference)?;
            return self.norm_copy(goal);
        }
        if unevaluated::has_unevaluated_keyword(members, self.document.draft(node)) {
            return unevaluated::schema_norm(self, node);
        }
        let norm = self.typed_keywords(node, members)?;
        self.untyped_keywords(node, members, norm)
    }

    /// A schema with `oneOf` that can be read within a context.
    pub(crate) fn with_one_of(&self, goal: GoalId) -> Option<(NodeId, &'s Members<'s>)> {
        let &[Atom::Schema(node)] = self.algebra.goals.atoms(goal) else { return None };
        let members = self.document.value(node).as_object()?;
        let draft = self.document.draft(node);
        let is_other = unevaluated::has_unevaluated_keyword(members, draft)
            || members.contains_key("$ref") && draft.ref_hides_siblings();
        (!is_other && members.contains_key("oneOf")).then_some((node, members))
    }

    /// The values of a context that satisfy such a schema. The context tells its alternatives apart by the members that it
    /// requires.
    pub(crate) fn one_of_within(
        &mut self,
        (node, members): (NodeId, &'s Members<'s>),
        context: &NormalForm<'s>,
    ) -> Result<Result<NormalForm<'s>, TooManyAlternatives>> {
        self.report_keywords(node, members);
        let typed = self.typed_keywords(node, members)?;
        let Ok(norm) = self.conjoin(context, &typed) else { return Ok(Err(TooManyAlternatives)) };
        self.opened(Atom::Schema(node), |this| this.untyped_keywords(node, members, norm)).map(Ok)
    }

    /// The values of a normal form that satisfy the keywords that speak about every type.
    fn untyped_keywords(
        &mut self,
        node: NodeId,
        members: &'s Members<'s>,
        mut norm: NormalForm<'s>,
    ) -> Result<NormalForm<'s>> {
        for &(keyword, since, read) in UNTYPED_KEYWORDS {
            let Some(value) = members.get(keyword) else { continue };
            if self.document.draft(node) < since {
                continue;
            }
            if norm.is_never() {
                break;
            }
            if keyword == "oneOf" {
                norm = self.one_of(node, value, &norm)?;
            } else if keyword == "allOf" {
                norm = all_of(self, KeywordAt { node, members, keyword, value }, norm)?;
            } else if keyword == "not" {
                let goal = self.subschema(node, PathStep::Keyword("not"), value)?;
                match self.subtract_goal(&norm, goal)? {
                    Ok(left) => norm = left,
                    Err(TooManyAlternatives) => self.too_many(node, Some(keyword))?,
                }
            } else {
                let part = read(self, KeywordAt { node, members, keyword, value })?;
                match self.conjoin(&norm, &part) {
                    Ok(both) => norm = both,
                    Err(TooManyAlternatives) => self.too_many(node, Some(keyword))?,
                }
            }
            if norm.is_never() {
                let message = match value {
                    Value::Array(values) if keyword == "enum" && values.is_empty() => {
                        "nothing satisfies an `enum` without values".to_owned()
                    }
                    _ => format!("nothing satisfies `{keyword}` and the keywords beside it"),
                };
                self.conflict(node, &message);
            }
        }
        Ok(norm)
    }

    pub(crate) fn report_keywords(&mut self, node: NodeId, members: &Members<'_>) {
        let draft = self.document.draft(node);
        let hidden = draft.ref_hides_siblings() && members.contains_key("$ref");
        if !self.report.is_whole() {
            // For warnings it is enough to look for the few keywords of other drafts.
            let others = keyword_table::of_other_drafts(draft).iter();
            let mut others = others.filter(|other| !hidden && members.contains_key(other)).peekable();
            if others.peek().is_some() && self.reported.insert(self.document.place(node)) {
                others.for_each(|other| {
                    self.report_keyword(node, other, Treatment::OtherDraft, Some(OTHER_DRAFT))
                });
            }
            return;
        }
        if !self.reported.insert(self.document.place(node)) {
            return;
        }
        for keyword in members.keys() {
            let (treatment, note) = if hidden && keyword != "$ref" {
                (Treatment::Annotation, Some("hidden by `$ref` in this draft"))
            } else {
                match keyword_table::classify(keyword, draft) {
                    keyword_table::KeywordClass::Assertion => (Treatment::Enforced, None),
                    keyword_table::KeywordClass::Annotation => (Treatment::Annotation, None),
                    keyword_table::KeywordClass::OtherDraft => (Treatment::OtherDraft, Some(OTHER_DRAFT)),
                    keyword_table::KeywordClass::Unknown => {
                        (Treatment::Annotation, Some("not a keyword of JSON Schema"))
                    }
                    // These report themselves.
                    keyword_table::KeywordClass::Special => continue,
                }
            };
            self.report_keyword(node, keyword, treatment, note);
        }
    }

    fn report_keyword(&mut self, node: NodeId, keyword: &str, treatment: Treatment, note: Option<&str>) {
        self.report.push(treatment, || ReportEntry {
            pointer: format!("{}/{}", self.document.short_pointer(node), escape(&shorten(keyword))),
            keyword: keyword.to_owned(),
            treatment,
            note: note.map(str::to_owned),
        });
    }

    /// The normal form of `type` and of all keywords that speak about one type.
    pub(crate) fn typed_keywords(
        &mut self,
        node: NodeId,
        members: &'s Members<'s>,
    ) -> Result<NormalForm<'s>> {
        let mut norm = match members.get("type") {
            Some(value) => self.types(node, value)?,
            None => NormalForm::any(),
        };
        if norm.is_never() {
            self.conflict(node, "nothing satisfies a `type` without names");
        }
        if !norm.numbers.is_empty() {
            let shape = numbers::read(self, node, members)?;
            let numbers = norm.numbers.iter().map(|kind| kind.and(&shape));
            let digits = self.options.limits.digits;
            norm.numbers = numbers.filter(|shape| !shape.is_empty(digits)).collect();
            if norm.numbers.is_empty() {
                self.conflict_of(node, members, "number");
            }
        }
        if !norm.strings.is_empty() {
            let shape = strings::read(self, node, members)?;
            norm.strings = if shape.is_empty(&self.algebra.tests) { Vec::new() } else { vec![shape] };
            if norm.strings.is_empty() {
                self.conflict_of(node, members, "string");
            }
        }
        if !norm.arrays.is_empty() {
            let shape = arrays::read(self, node, members)?;
            norm.arrays = if shape.is_empty() { Vec::new() } else { vec![shape] };
            if norm.arrays.is_empty() {
                self.conflict_of(node, members, "array");
            }
        }
        if !norm.objects.is_empty() {
            let shape = objects::read(self, node, members)?;
            norm.objects = if shape.is_empty() { Vec::new() } else { vec![shape] };
            if norm.objects.is_empty() {
                self.conflict_of(node, members, "object");
            }
        }
        Ok(norm)
    }

    /// No value of one type satisfies the schema's keywords on that type.
    fn conflict_of(&mut self, node: NodeId, members: &Members<'_>, kind: &str) {
        let keywords = keyword_table::on_type(members, kind);
        self.conflict(node, &format!("no {kind} satisfies {keywords} together"));
    }
}
