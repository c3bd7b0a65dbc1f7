//! Local parts as expressions: look-around is written with the parts beside it.

use grammask_grammar_ir::ExprId;
use regex_syntax::hir::{Hir, HirKind, Look};

use super::anchors::{self, Problem};
use super::assertions::AssertionCompiler;
use super::look_around::{PatternPart, Polarity, Side, Stretch, stretches};
use super::options::{Matching, RegexOptions};

impl AssertionCompiler<'_> {
    /// The language of a local part.
    pub(super) fn local(&mut self, node: &PatternPart<'_>) -> Result<ExprId, Problem> {
        if let Some(&written) = node.written.get() {
            return Ok(written);
        }
        let written = if node.is_plain() { self.plain(node.hir) } else { self.with_look_around(node) }?;
        Ok(*node.written.get_or_init(|| written))
    }

    /// The language of a local part with look-around inside. Nesting is bounded by the parser.
    fn with_look_around(&mut self, node: &PatternPart<'_>) -> Result<ExprId, Problem> {
        self.left = self.left.checked_sub(1).ok_or(Problem::TooLarge)?;
        match (node.hir.kind(), node.inner.as_slice()) {
            (HirKind::Capture(_), [group]) => self.local(group),
            (HirKind::Repetition(repetition), [round]) => {
                let round = self.local(round)?;
                Ok(self.builder.repeat(round, repetition.min, repetition.max))
            }
            (HirKind::Alternation(_), branches) => {
                let branches = branches.iter().map(|branch| self.local(branch));
                let branches = branches.collect::<Result<Vec<ExprId>, _>>()?;
                Ok(self.builder.choice(branches))
            }
            (HirKind::Concat(_), parts) => {
                let stretches = stretches(parts);
                let mut runs = Vec::new();
                for (at, stretch) in stretches.iter().enumerate() {
                    let Stretch::Run(range, _) = stretch else { continue };
                    let before = at.checked_sub(1).and_then(|at| stretches.get(at));
                    let ahead: Vec<&PatternPart<'_>> = node.look_around(before, Side::Ahead).collect();
                    let behind: Vec<&PatternPart<'_>> =
                        node.look_around(stretches.get(at + 1), Side::Behind).collect();
                    runs.push(self.looked_around(&parts[range.clone()], &ahead, &behind)?);
                }
                Ok(self.builder.sequence(runs))
            }
            _ => Err(Problem::Unsupported),
        }
    }

    /// The language of local parts between look-ahead and look-behind that concerns them alone.
    pub(super) fn looked_around(
        &mut self,
        parts: &[PatternPart<'_>],
        ahead: &[&PatternPart<'_>],
        behind: &[&PatternPart<'_>],
    ) -> Result<ExprId, Problem> {
        let exprs = parts.iter().map(|part| self.local(part)).collect::<Result<Vec<ExprId>, _>>()?;
        let mut demanded = vec![self.builder.sequence(exprs)];
        for look in ahead.iter().chain(behind) {
            demanded.push(self.allowed_beside(look)?);
        }
        Ok(match *demanded {
            [only] => only,
            _ => self.builder.intersection(demanded),
        })
    }

    /// The texts that look-around beside them allows.
    fn allowed_beside(&mut self, look: &PatternPart<'_>) -> Result<ExprId, Problem> {
        if let Some(&written) = look.written.get() {
            return Ok(written);
        }
        let (Some((side, polarity)), [sub]) = (look.look, look.inner.as_slice()) else {
            return Err(Problem::Unsupported);
        };
        let texts = match side {
            Side::Ahead => {
                let (begin, any) = (self.plain(sub.hir)?, self.builder.any_char());
                let any = self.builder.repeat(any, 0, None);
                self.builder.sequence([begin, any])
            }
            Side::Behind => self.ending_with(sub)?,
        };
        let demanded = match polarity {
            Polarity::Matches => texts,
            Polarity::DoesNotMatch => self.builder.complement(texts),
        };
        Ok(*look.written.get_or_init(|| demanded))
    }

    /// The texts that end with a match. They are all of the text before, so `^` is their beginning.
    fn ending_with(&mut self, node: &PatternPart<'_>) -> Result<ExprId, Problem> {
        let looks = node.hir.properties().look_set();
        if node.holds_look_around || looks.iter().any(|look| look != Look::Start) {
            return Err(Problem::LookBehind);
        }
        self.left = self.left.checked_sub(1).ok_or(Problem::TooLarge)?;
        let ended = Hir::concat(vec![node.hir.clone(), Hir::look(Look::End)]);
        let options =
            RegexOptions { limits: self.limits, matching: Matching::Search, ..RegexOptions::default() };
        anchors::compile(self.builder, &ended, &options)
    }

    fn plain(&mut self, hir: &Hir) -> Result<ExprId, Problem> {
        let options = RegexOptions { limits: self.limits, ..RegexOptions::default() };
        anchors::compile(self.builder, hir, &options)
    }
}
