//! Lazy rules commit.
//!
//! Three attributes make a rule lazy: `lazy`, `suffix` and `stop`. After the parser has read the shortest text of such a
//! rule, no other terminal that began at the same place may continue. For example, `start: call* rest` has calls that
//! begin with the lazy `/(.|\n)*/ "<call>"`, and a `rest` of any text. Then a `<call>` in the text must begin a call.
//!
//! The naive way is a lexer. It tries all terminals that the parser allows, and stops at the first lazy match. We have
//! no lexer: a grammar describes all texts that can be read in some way. So we remove texts from the other terminals.
//! Let `L` be the texts of the lazy rules that may begin where the terminal `B` begins.
//!
//! * We remove from `B` each text that begins with a text of `L`. If `B` is lazy itself, we keep the texts of `L` and
//!   remove only longer ones.
//! * This is right only if a lazy rule may begin *everywhere* that `B` may begin. If `B` also begins elsewhere, and shares
//!   texts with `L`, then we refuse the grammar.
//! * The terminals after `B` must not read the removed texts together with `B`. For example, `/./` repeated reads every
//!   text. We accept the grammar if one of four conditions holds, and refuse it otherwise:
//!   1. no text of `B` is the beginning of a longer text of `L`;
//!   2. nothing follows `B`;
//! 3. everything after `B` begins where the lazy rules may begin. If a text of `L` begins with a text of `B`,
//!    then its remainder begins with a text of `L`;
//!   4. `B` and all terminals after it, in any order, have no text that begins with a text of `L`.
//!
//! [`Places`] says which terminals begin at the same place. It gives two answers, *certainly* and *perhaps*, because it
//! does not follow from which place a rule was called.

use std::collections::BTreeMap;

use grammask_fsm::TextLimits;
use grammask_fsm::text::TextAutomaton;
use grammask_grammar_ir::{Expr, ExprId, Grammar, GrammarBuilder, GrammarError, RuleId, Span, passes};

use super::fault::Fault;
use super::places::{Competitors, Places};

/// A terminal, literal or structure where a rule uses it. It is a rule of its own, whose texts are decided last.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leaf {
    /// The rule; declared, and defined by [`commit`].
    pub(super) rule: RuleId,
    /// The body of the rule, if it loses no texts.
    pub(super) body: ExprId,
    /// The same texts, without captures and counts; the body itself, if it has none.
    pub(super) texts: ExprId,
    pub(super) kind: LeafKind,
    /// Where it is written, if that is the source that was given.
    pub(super) span: Option<Span>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LeafKind {
    /// A rule that commits.
    Lazy,
    /// Another terminal.
    Text,
    /// A structure of JSON.
    Json,
    /// Tokens, which share no texts with anything.
    Token,
    /// A grammar that was given as data.
    Foreign,
}

/// Steps spent on all languages of one grammar, up to 80 ns each.
const MAX_STEPS: usize = 4_000_000;

/// Takes from each terminal what lazy rules take over, and defines all leaves; or does nothing and says so, if none
/// loses a text or the grammar is broken.
pub(super) fn commit(
    builder: &mut GrammarBuilder,
    root: RuleId,
    leaves: &[Leaf],
    source: &str,
) -> Result<bool, Fault> {
    let lost = lost(builder, root, leaves, source)?;
    if lost.is_empty() {
        return Ok(false);
    }
    for (index, leaf) in leaves.iter().enumerate() {
        let body = match lost.get(&index) {
            None => leaf.body,
            Some(Lost { lazy, least }) => {
                let lazy: Vec<ExprId> = lazy.iter().map(|&index| leaves[index].texts).collect();
                let lazy = builder.choice(lazy);
                without(builder, leaf.texts, lazy, *least)
            }
        };
        builder.define(leaf.rule, body).map_err(|error| no_room(&error))?;
    }
    Ok(true)
}

/// The texts that a terminal loses.
struct Lost {
    /// The lazy rules whose texts it loses.
    lazy: Vec<usize>,
    /// A lost text has at least this many characters after a lazy text.
    least: u32,
}

fn without(builder: &mut GrammarBuilder, texts: ExprId, lazy: ExprId, least: u32) -> ExprId {
    let longer = followed(builder, lazy, least);
    let others = builder.complement(longer);
    builder.intersection([texts, others])
}

/// Texts, each with `least` or more characters after it.
fn followed(builder: &mut GrammarBuilder, texts: ExprId, least: u32) -> ExprId {
    let any = builder.any_char();
    let anything = builder.repeat(any, least, None);
    builder.sequence([texts, anything])
}

fn no_room(error: &GrammarError) -> Fault {
    Fault::limit(error.to_string(), "make the grammar smaller")
}

/// The texts that terminals lose, by the number of the leaf.
fn lost(
    builder: &GrammarBuilder,
    root: RuleId,
    leaves: &[Leaf],
    source: &str,
) -> Result<BTreeMap<usize, Lost>, Fault> {
    if leaves.iter().all(|leaf| leaf.kind != LeafKind::Lazy) {
        return Ok(BTreeMap::new());
    }
    let mut unchanged = builder.clone();
    for leaf in leaves {
        unchanged.define(leaf.rule, leaf.body).map_err(|error| no_room(&error))?;
    }
    // The caller finishes the grammar later, and reports the error then.
    let Ok(grammar) = unchanged.clone().finish(root) else { return Ok(BTreeMap::new()) };
    let mut places = Places::new(&grammar, leaves);
    let competitors = places.competitors(leaves)?;
    // Terminals that compete with the same lazy rules are tested together first, because most share no text with them.
    let mut groups: BTreeMap<(LeafKind, Competitors), Vec<usize>> = BTreeMap::new();
    for (index, competitors) in competitors.into_iter().enumerate() {
        if leaves[index].kind != LeafKind::Token && !competitors.is_empty() {
            groups.entry((leaves[index].kind, competitors)).or_default().push(index);
        }
    }
    let mut judge = Judge::new(unchanged, &grammar, leaves, &places, source)?;
    for ((kind, competitors), members) in groups {
        judge.group(kind, &competitors, &members)?;
    }
    Ok(judge.lost)
}

/// Decides what terminals lose.
struct Judge<'j> {
    /// The texts of all leaves, and no other rules.
    languages: GrammarBuilder,
    /// The texts of each leaf there, or of a language around them.
    texts: Vec<ExprId>,
    grammar: &'j Grammar,
    leaves: &'j [Leaf],
    places: &'j Places,
    source: &'j str,
    /// Steps that are left.
    steps: usize,
    lost: BTreeMap<usize, Lost>,
}

impl<'j> Judge<'j> {
    fn new(
        mut unchanged: GrammarBuilder,
        grammar: &'j Grammar,
        leaves: &'j [Leaf],
        places: &'j Places,
        source: &'j str,
    ) -> Result<Self, Fault> {
        let mut rules = Vec::with_capacity(leaves.len());
        for leaf in leaves {
            let texts = around(&mut unchanged, leaf);
            rules.push(unchanged.declare_fresh("texts").map_err(|error| no_room(&error))?);
            unchanged.define(rules[rules.len() - 1], texts).map_err(|error| no_room(&error))?;
        }
        let all: Vec<ExprId> = rules.iter().map(|&rule| unchanged.rule(rule)).collect();
        let all = unchanged.choice(all);
        let root = unchanged.declare_fresh("texts").map_err(|error| no_room(&error))?;
        unchanged.define(root, all).map_err(|error| no_room(&error))?;
        let all = unchanged.finish(root).map_err(|error| no_room(&error))?;
        // Questions are asked over these languages again and again, so the rest of the grammar is left out of
        // them.
        let small = passes::drop_unreachable(&all)
            .map_err(|error| Fault::limit(error.to_string(), "make the grammar smaller"))?;
        let mut languages = GrammarBuilder::new();
        passes::append(&mut languages, &small).map_err(|error| no_room(&error))?;
        let texts = rules.iter().map(|&rule| languages.rule_by_name(all.rule(rule).name()));
        let texts: Option<Vec<RuleId>> = texts.collect();
        let texts = texts.unwrap_or_default().into_iter().map(|rule| languages.rule(rule)).collect();
        Ok(Self {
            languages,
            texts,
            grammar,
            leaves,
            places,
            source,
            steps: MAX_STEPS,
            lost: BTreeMap::new(),
        })
    }

    fn group(&mut self, kind: LeafKind, competitors: &Competitors, members: &[usize]) -> Result<(), Fault> {
        let least = u32::from(kind == LeafKind::Lazy);
        let all: Vec<usize> = competitors.all().collect();
        let shares = self.shares(members, &all, least)?;
        if !shares && (kind == LeafKind::Lazy || !self.escapes(members, &all, &[])?) {
            return Ok(());
        }
        let &[index] = members else {
            // Some of them do; each is looked at for itself.
            return members.iter().try_for_each(|&index| self.group(kind, competitors, &[index]));
        };
        if !competitors.perhaps.is_empty() && self.shares(members, &competitors.perhaps, least)? {
            return Err(self.refused(index, &all, "begins in other places, too"));
        }
        if !shares || !self.can_lose(index) {
            return Err(self.refused(index, &all, "reads texts that cannot be taken from it"));
        }
        if kind != LeafKind::Lazy && self.escapes(members, &all, &competitors.certain)? {
            return Err(self.refused(index, &all, "and what follows it read such texts together"));
        }
        self.lost.insert(index, Lost { lazy: competitors.certain.clone(), least });
        Ok(())
    }

    /// Whether a text of one of the leaves begins with a text of lazy rules.
    fn shares(&mut self, members: &[usize], lazy: &[usize], least: u32) -> Result<bool, Fault> {
        self.any(members, |builder, texts| {
            let (own, lazy) = (choice(builder, texts, members), choice(builder, texts, lazy));
            let longer = followed(builder, lazy, least);
            builder.intersection([own, longer])
        })
    }

    /// Whether leaves that have lost the texts of some lazy rules read a text of lazy rules together with what follows.
    fn escapes(&mut self, members: &[usize], lazy: &[usize], lost: &[usize]) -> Result<bool, Fault> {
        let own = |builder: &mut GrammarBuilder, texts: &[ExprId]| {
            let own = choice(builder, texts, members);
            if lost.is_empty() {
                return own;
            }
            let lost = choice(builder, texts, lost);
            without(builder, own, lost, 0)
        };
        let following = self.places.following(members);
        if following.is_empty() {
            return Ok(false);
        }
        let begins_longer = self.any(members, |builder, texts| {
            let (own, lazy) = (own(builder, texts), choice(builder, texts, lazy));
            let longer = followed(builder, own, 1);
            builder.intersection([lazy, longer])
        })?;
        // The cheap questions first; most grammars end here.
        if !begins_longer {
            return Ok(false);
        }
        if members.iter().all(|&index| lazy.iter().all(|&lazy| self.places.surely_follows(index, lazy))) {
            let goes_on_otherwise = self.any(members, |builder, texts| {
                let (own, lazy) = (own(builder, texts), choice(builder, texts, lazy));
                let committed = followed(builder, lazy, 0);
                let other = builder.complement(committed);
                let split = builder.sequence([own, other]);
                builder.intersection([lazy, split])
            })?;
            if !goes_on_otherwise {
                return Ok(false);
            }
        }
        self.any(members, |builder, texts| {
            let (own, lazy) = (own(builder, texts), choice(builder, texts, lazy));
            let next = choice(builder, texts, &following);
            let more = builder.repeat(next, 0, None);
            let read = builder.sequence([own, more]);
            let committed = followed(builder, lazy, 0);
            builder.intersection([read, committed])
        })
    }

    /// Whether a language has a text.
    fn any(
        &mut self,
        members: &[usize],
        make: impl FnOnce(&mut GrammarBuilder, &[ExprId]) -> ExprId,
    ) -> Result<bool, Fault> {
        let mut builder = self.languages.clone();
        let language = make(&mut builder, &self.texts);
        let undecided = |judge: &Self| {
            let name = judge.name(members[0]);
            let message = format!("it takes too much work to tell which texts lazy rules take from `{name}`");
            let hint = "make the patterns of the lazy rules and of what they compete with simpler";
            Fault::placed("lark/limit", message, hint, judge.leaves[members[0]].span)
        };
        let root = builder.add_rule("language", language).map_err(|error| no_room(&error))?;
        let grammar = builder.finish(root).map_err(|_| undecided(self))?;
        let limits = TextLimits::default().max_steps(self.steps);
        let (texts, steps) = TextAutomaton::from_expr_counted(&grammar, grammar.rule(root).body(), &limits);
        self.steps = self.steps.saturating_sub(steps + grammar.expr_count());
        texts.map(|texts| !texts.is_empty()).map_err(|_| undecided(self))
    }

    /// Whether texts can be taken from a leaf: not where parts of it are captured or counted.
    fn can_lose(&self, index: usize) -> bool {
        let leaf = self.leaves[index];
        let mut is_met = vec![false; self.grammar.rule_count()];
        let mut stack = vec![leaf.body];
        while let Some(expr) = stack.pop() {
            if let Some(rule) = self.grammar.as_rule(expr)
                && !std::mem::replace(&mut is_met[rule.index()], true)
            {
                let rule = self.grammar.rule(rule);
                if !rule.options().is_empty() {
                    return false;
                }
                stack.push(rule.body());
            }
            stack.extend(self.grammar.operands(expr));
        }
        matches!(leaf.kind, LeafKind::Text | LeafKind::Lazy)
    }

    /// A leaf as it is written, or the rule that was made for it.
    fn name(&self, index: usize) -> &'j str {
        let leaf = self.leaves[index];
        match leaf.span {
            Some(span) => &self.source[span.start as usize..span.end as usize],
            None => self.grammar.rule(leaf.rule).name(),
        }
    }

    fn refused(&self, index: usize, lazy: &[usize], why: &str) -> Fault {
        let (own, lazy) = (self.name(index), self.name(lazy[0]));
        let message = format!(
            "the lazy rule `{lazy}` takes the text as soon as it matches, but `{own}`, which may begin where it does, {why}"
        );
        let hint = "let other text stand in one terminal that ends the rule, as in `start: call* rest`, or leave its texts out of it with `& ~`";
        Fault::placed("lark/lazy", message, hint, self.leaves[index].span)
    }
}

fn choice(builder: &mut GrammarBuilder, texts: &[ExprId], members: &[usize]) -> ExprId {
    let members: Vec<ExprId> = members.iter().map(|&index| texts[index]).collect();
    builder.choice(members)
}

/// A regular language that has all texts of a leaf: those, or all with their first characters.
fn around(builder: &mut GrammarBuilder, leaf: &Leaf) -> ExprId {
    match leaf.kind {
        LeafKind::Lazy | LeafKind::Text => match builder.expr(leaf.texts) {
            // Captures and counts of a terminal do not change its language.
            Expr::Rule(rule) => builder.body(rule).unwrap_or(leaf.texts),
            _ => leaf.texts,
        },
        LeafKind::Token => builder.never(),
        LeafKind::Json => {
            let blank = builder.class([(' ', ' '), ('\t', '\t'), ('\n', '\n'), ('\r', '\r')]);
            let blanks = builder.repeat(blank, 0, None);
            let first = ['"', '-', '[', 'f', 'n', 't', '{'].map(|first| (first, first));
            let first = builder.class(first.into_iter().chain([('0', '9')]));
            let begun = builder.sequence([blanks, first]);
            followed(builder, begun, 0)
        }
        LeafKind::Foreign => {
            let any = builder.any_char();
            builder.repeat(any, 0, None)
        }
    }
}
