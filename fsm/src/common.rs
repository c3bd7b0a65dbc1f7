//! Parts that many grammars have in common, compiled once for the process.
//!
//! Nearly every JSON schema leaves some value open, and then its grammar holds the rules of any JSON value: of a
//! schema of the median size they are a third of the states. Naively each grammar has them built, and every pass
//! looks at them. A frontend can name such a rule ([`Grammar::common`]); it is compiled by itself, once, and its
//! tables are copied into each grammar that says the same, as finished fragments that no pass looks at.
//!
//! Whether a grammar says the same is not guessed: its rules are compared with those that the tables were made of.
//! What a grammar compiles to does not depend on what was compiled before: a part that is not kept yet is compiled
//! first, and copied then.

use std::sync::{Arc, Mutex, PoisonError};

use grammask_grammar_ir::{Counterparts, ExprId, Grammar, Interrupt, RuleId, passes};

use crate::compile::{Made, compile_with_places};
use crate::draft::{Draft, DraftFragment, DraftRole, NONE};
use crate::finished::FinishedStates;
use crate::{CompileOptions, Count, Program, Role, Toggle};

/// Parts that are kept; the oldest goes first. Few kinds of whitespace and of numbers are in use.
const MAX_KEPT: usize = 16;

/// Expressions of a part. Larger ones are written where they stand.
const MAX_EXPRESSIONS: usize = 1024;

static KEPT: Mutex<Vec<Arc<Common>>> = Mutex::new(Vec::new());

/// A part, compiled by itself.
pub(crate) struct Common {
    options: CompileOptions,
    grammar: Grammar,
    program: Program,
    /// The states of each fragment.
    ranges: Vec<FinishedStates>,
    /// The rule that each fragment is called after.
    named: Vec<Option<RuleId>>,
    /// The fragment of each rule that has one.
    rules: Vec<Option<u32>>,
    /// The fragments of repeats, with their bodies.
    counted: Vec<(ExprId, Count, u32)>,
    any_escape: Option<u32>,
}

/// A part in a draft.
pub(crate) struct Copied {
    /// Rules and their fragments.
    pub(crate) rules: Vec<(RuleId, u32)>,
    /// Repeated bodies and their fragments.
    pub(crate) counted: Vec<(ExprId, Count, u32)>,
    pub(crate) any_escape: Option<u32>,
}

/// A part that a grammar has, and what stands for what.
pub(crate) struct Found {
    common: Arc<Common>,
    counterparts: Counterparts,
}

/// What a grammar has in common with others.
pub(crate) fn find_common(grammar: &Grammar, root: RuleId, options: &CompileOptions) -> Option<Found> {
    let rule = grammar.common().filter(|&rule| rule != root)?;
    if options.common_parts == Toggle::Off {
        return None;
    }
    let same = |common: &Arc<Common>| {
        let is_alike = common.options.is_alike(options);
        is_alike.then(|| grammar.counterparts(rule, &common.grammar, MAX_EXPRESSIONS)).flatten()
    };
    let lock = || KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let known =
        |common: &Arc<Common>| Some(Found { counterparts: same(common)?, common: Arc::clone(common) });
    let kept = lock().iter().rev().find_map(known);
    if kept.is_some() {
        return kept;
    }
    let found = known(&Arc::new(Common::new(grammar, rule, options)?))?;
    let mut kept = lock();
    if kept.len() == MAX_KEPT {
        kept.remove(0);
    }
    kept.push(Arc::clone(&found.common));
    Some(found)
}

impl Found {
    /// Writes the part into a draft that has a root.
    pub(crate) fn copy(&self, draft: &mut Draft) -> Copied {
        self.common.copy(draft, &self.counterparts)
    }
}

impl Common {
    fn new(grammar: &Grammar, rule: RuleId, options: &CompileOptions) -> Option<Self> {
        let grammar = passes::below(grammar, rule).ok()?;
        if grammar.expr_count() > MAX_EXPRESSIONS {
            return None;
        }
        // Small as it is, an interrupt can wait: it must not decide what is kept.
        let options = CompileOptions { interrupt: Interrupt::never(), ..options.clone() };
        let (program, made) = compile_with_places(&grammar, &options).ok()?;
        let is_plain = program.token_edges.is_empty()
            && program.labels.is_empty()
            && program
                .fragments
                .iter()
                .all(|fragment| fragment.role == Role::None && fragment.options.is_none());
        if !is_plain {
            return None;
        }
        let Made { rules, counted, any_escape, ranges, numbers } = made;
        let place = |old: u32| numbers.get(old as usize).copied().filter(|&new| new != NONE);
        // A repeat of what may read nothing has got another minimum, and one that counts itself no count.
        let counts_so = |new: u32, count: Count| program.fragments[new as usize].count == Some(count);
        let named = program
            .fragments
            .iter()
            .map(|fragment| grammar.rule_ids().find(|&rule| grammar.rule(rule).name() == &*fragment.name));
        Some(Self {
            options,
            ranges,
            named: named.collect(),
            rules: rules.into_iter().map(place).collect(),
            counted: counted
                .into_iter()
                .filter_map(|(body, count, old)| Some((body, count, place(old)?)))
                .filter(|&(_, count, new)| counts_so(new, count))
                .collect(),
            any_escape: place(any_escape),
            program,
            grammar,
        })
    }

    fn copy(&self, draft: &mut Draft, counterparts: &Counterparts) -> Copied {
        let Program { states, byte_edges, epsilons, calls, fragments, .. } = &self.program;
        let first = draft.fragments.len() as u32;
        let moved = draft.finished.append(states, byte_edges, epsilons, calls, first);
        let rule_of = |rule: RuleId| counterparts.rules[rule.index()];
        for (index, fragment) in fragments.iter().enumerate() {
            let rule = self.named[index].and_then(rule_of);
            let FinishedStates { first, end } = self.ranges[index];
            draft.fragments.push(DraftFragment {
                rule: rule.map_or(NONE, |rule| rule.index() as u32),
                name: rule.is_none().then(|| fragment.name.clone()),
                finished: Some(FinishedStates { first: first + moved, end: end + moved }),
                linked: None,
                start: fragment.start.raw() + moved,
                count: fragment.count,
                nullable: fragment.nullable,
                role: DraftRole::None,
                stands_for_rule: false,
            });
        }
        let rules = counterparts.rules.iter().zip(&self.rules);
        let rules = rules.filter_map(|(&rule, &fragment)| Some((rule?, fragment? + first)));
        let counted = self.counted.iter().flat_map(|&(body, count, fragment)| {
            let ours = counterparts.repeated.iter().filter(move |pair| pair.1 == body);
            ours.map(move |&(ours, _)| (ours, count, fragment + first))
        });
        Copied {
            rules: rules.collect(),
            counted: counted.collect(),
            any_escape: self.any_escape.map(|fragment| fragment + first),
        }
    }
}
