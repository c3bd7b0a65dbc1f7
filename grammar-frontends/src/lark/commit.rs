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
//!   3. everything after `B` begins where the lazy rules may begin, and goes on after them as from the place of `B`. If a
//!      lazy rule takes a text over that begins with a text of `B`, then it takes over the remainder after `B`, too,
//!      exactly and alone;
//!   4. `B` and all terminals after it, in any order, have no text that begins with a text of `L`.
//!
//! [`Places`] says which terminals begin at the same place. It gives two answers, *certainly* and *perhaps*, because it
//! does not follow from which place a rule was called. A text that can be cut in two ways leads to two places at once. At
//! the one a lazy rule may begin and at the other a terminal; that is *perhaps*, too.
//!
//! A lazy rule may also end with a special token, as in `head[lazy]: TEXT <tool_call>`. Let `X` be its text and `T` the token.
//! No terminal reads `T`, so no texts are removed. Another terminal that begins where `X` begins may end inside of it, and what
//! follows may read the remainder and then `T`. We refuse the grammar where that can happen, but for condition 3. The name
//! of `T` is a [`TokenRef::Special`](grammask_grammar_ir::TokenRef::Special), so a vocabulary where `T` is text is refused.

use std::collections::BTreeMap;

use grammask_fsm::TextLimits;
use grammask_fsm::text::TextAutomaton;
use grammask_grammar_ir::hash::{HashMap, HashSet};
use grammask_grammar_ir::{Expr, ExprId, Grammar, GrammarBuilder, RuleId, Span, TokenRef, passes};

use super::fault::Fault;
use super::places::{Beginnings, Competitors, Places};

/// A terminal, literal or structure where a rule uses it. It is a rule of its own, whose texts are decided last.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leaf {
    /// The rule; declared, and defined by [`commit`].
    pub(super) rule: RuleId,
    /// The body of the rule, if it loses no texts.
    pub(super) body: ExprId,
    /// The same texts, without captures and counts; the body itself, if it has none.
    pub(super) texts: ExprId,
    /// For a lazy rule a language of which these texts are the shortest: those that begin with no other one. A text begins
    /// with one of these if and only if it begins with one of those. Their union needs far smaller automata.
    pub(super) loose: ExprId,
    pub(super) kind: LeafKind,
    /// Where it is written, if that is the source that was given.
    pub(super) span: Option<Span>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LeafKind {
    /// A rule that commits.
    Lazy,
    /// The text of a rule that commits, before the special token that ends it. The next leaf is that token.
    Head,
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

/// Most pairs of lazy rules of which one loses texts to the other. Automata grow with each of them.
const MAX_LAZY_PAIRS: usize = 1 << 14;

/// Most pairs of terminals that are looked at because a text may be cut in two ways before them.
const MAX_PAIRS: usize = 10_000_000;

/// Expressions looked at for a literal, each in the one before.
const MAX_DEPTH: usize = 32;

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
                let lazy: Vec<ExprId> = lazy.iter().map(|&index| leaves[index].loose).collect();
                let lazy = builder.choice(lazy);
                without(builder, leaf.texts, lazy, *least)
            }
        };
        builder.define(leaf.rule, body).map_err(Fault::no_room)?;
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

/// The texts that terminals lose, by the number of the leaf.
fn lost(
    builder: &GrammarBuilder,
    root: RuleId,
    leaves: &[Leaf],
    source: &str,
) -> Result<BTreeMap<usize, Lost>, Fault> {
    let has = |kind: LeafKind| leaves.iter().any(|leaf| leaf.kind == kind);
    if !has(LeafKind::Lazy) && !has(LeafKind::Head) {
        return Ok(BTreeMap::new());
    }
    let mut unchanged = builder.clone();
    for leaf in leaves {
        unchanged.define(leaf.rule, leaf.body).map_err(Fault::no_room)?;
    }
    // The caller finishes the grammar later, and reports the error then.
    let Ok(grammar) = unchanged.clone().finish(root) else { return Ok(BTreeMap::new()) };
    let mut places = Places::new(&grammar, leaves);
    let mut competitors = places.competitors(leaves, LeafKind::Lazy)?;
    let mut beside_heads = places.competitors(leaves, LeafKind::Head)?;
    let beginnings = places.beginnings()?;
    let mut judge = Judge::new(unchanged, &grammar, leaves, &places, source)?;
    judge.cross(&beginnings, &mut competitors, LeafKind::Lazy)?;
    if has(LeafKind::Head) {
        judge.cross(&beginnings, &mut beside_heads, LeafKind::Head)?;
        let mut looks = 0;
        for (index, heads) in beside_heads.iter().enumerate() {
            judge.beside_heads(index, heads, &mut looks)?;
        }
    }
    // Terminals that compete with the same lazy rules.
    let mut groups: BTreeMap<(LeafKind, Competitors), Vec<usize>> = BTreeMap::new();
    for (index, competitors) in competitors.into_iter().enumerate() {
        match leaves[index].kind {
            LeafKind::Token => {}
            LeafKind::Lazy => judge.lazy_rule(&competitors, index)?,
            // They are tested together first, because most share no text with lazy rules.
            kind if !competitors.is_empty() => groups.entry((kind, competitors)).or_default().push(index),
            _ => {}
        }
    }
    for ((kind, competitors), members) in groups {
        let all: Vec<usize> = competitors.all().collect();
        if judge.shares(&members, &all, 0)? || judge.escapes(&members, &all, &[])? {
            members.iter().try_for_each(|&index| judge.member(kind, &competitors, index))?;
        }
    }
    Ok(judge.lost)
}

/// The texts of each leaf, or of a language around them.
#[derive(Clone, Default)]
struct Texts {
    own: Vec<ExprId>,
    /// For lazy rules as in [`Leaf::loose`].
    loose: Vec<ExprId>,
}

/// Decides what terminals lose.
struct Judge<'j> {
    /// The texts of all leaves, and no other rules.
    languages: GrammarBuilder,
    texts: Texts,
    grammar: &'j Grammar,
    leaves: &'j [Leaf],
    places: &'j Places,
    source: &'j str,
    /// Steps that are left.
    steps: usize,
    /// Pairs of lazy rules of which one loses texts to the other.
    pairs: usize,
    lost: BTreeMap<usize, Lost>,
    /// Answers about heads, by the languages in question.
    known: HashMap<HeadQuestion, bool>,
}

/// The languages of a leaf and of a head, and lazy rules that may begin after the leaf.
type HeadQuestion = ((bool, usize), (bool, usize), Option<Vec<usize>>);

impl<'j> Judge<'j> {
    fn new(
        mut unchanged: GrammarBuilder,
        grammar: &'j Grammar,
        leaves: &'j [Leaf],
        places: &'j Places,
        source: &'j str,
    ) -> Result<Self, Fault> {
        let mut rules = Vec::with_capacity(2 * leaves.len());
        let own: Vec<ExprId> = leaves.iter().map(|leaf| around(&mut unchanged, leaf)).collect();
        let loose =
            |(leaf, own): (&Leaf, &ExprId)| if leaf.kind == LeafKind::Lazy { leaf.loose } else { *own };
        let loose: Vec<ExprId> = leaves.iter().zip(&own).map(loose).collect();
        for texts in own.into_iter().chain(loose) {
            rules.push(unchanged.declare_fresh("texts").map_err(Fault::no_room)?);
            unchanged.define(rules[rules.len() - 1], texts).map_err(Fault::no_room)?;
        }
        let all: Vec<ExprId> = rules.iter().map(|&rule| unchanged.rule(rule)).collect();
        let all = unchanged.choice(all);
        let root = unchanged.declare_fresh("texts").map_err(Fault::no_room)?;
        unchanged.define(root, all).map_err(Fault::no_room)?;
        let all = unchanged.finish(root).map_err(Fault::no_room)?;
        // Questions are asked over these languages again and again, so the rest of the grammar is left out of
        // them.
        let small = passes::drop_unreachable(&all).map_err(Fault::no_room)?;
        let mut languages = GrammarBuilder::new();
        passes::append(&mut languages, &small).map_err(Fault::no_room)?;
        let texts = rules.iter().map(|&rule| languages.rule_by_name(all.rule(rule).name()));
        let texts: Option<Vec<RuleId>> = texts.collect();
        let texts = texts.unwrap_or_default().into_iter().filter_map(|rule| languages.body(rule));
        let mut own: Vec<ExprId> = texts.collect();
        let loose = own.split_off(own.len() / 2);
        let texts = Texts { own, loose };
        Ok(Self {
            languages,
            texts,
            grammar,
            leaves,
            places,
            source,
            steps: MAX_STEPS,
            pairs: 0,
            lost: BTreeMap::new(),
            known: HashMap::default(),
        })
    }

    /// Adds lazy rules that may begin beside a leaf because the text before was read in several ways. Two places are beside
    /// each other if both are after leaves that share a text, which begin at one place or at places beside each other.
    fn cross(
        &mut self,
        beginnings: &Beginnings,
        competitors: &mut [Competitors],
        kind: LeafKind,
    ) -> Result<(), Fault> {
        let first = (beginnings.start, beginnings.start);
        let (mut met, mut stack) = (HashSet::from_iter([first]), vec![first]);
        let mut known: HashMap<(usize, usize), bool> = HashMap::default();
        let mut looks = 0_usize;
        while let Some((one, other)) = stack.pop() {
            let (begun, beside) = (&beginnings.begun[one], &beginnings.begun[other]);
            looks += begun.len() * beside.len();
            if looks > MAX_PAIRS {
                let message = format!("more than {MAX_PAIRS} pairs of terminals may begin beside each other");
                return Err(Fault::limit(
                    message,
                    "write fewer terminals that may be left out, or fewer lazy rules",
                ));
            }
            for &(leaf, after) in begun {
                for &(second, after_second) in beside {
                    let pair = (leaf.min(second), leaf.max(second));
                    let next = (after.min(after_second), after.max(after_second));
                    if met.contains(&next) {
                        continue;
                    }
                    let overlaps = match known.get(&pair) {
                        Some(&overlaps) => overlaps,
                        None => *known.entry(pair).or_insert(self.overlap(pair)?),
                    };
                    if overlaps {
                        met.insert(next);
                        stack.push(next);
                    }
                }
            }
            if one == other {
                continue;
            }
            for (begun, beside) in [(begun, beside), (beside, begun)] {
                let begins_there = |lazy: usize| beside.iter().any(|&(leaf, _)| leaf == lazy);
                for &(lazy, _) in begun {
                    if self.leaves[lazy].kind == kind && !begins_there(lazy) {
                        beside.iter().for_each(|&(leaf, _)| competitors[leaf].add_perhaps(lazy));
                    }
                }
            }
        }
        Ok(())
    }

    /// Refuses a leaf that may begin where heads begin, if the leaf and what follows it read the text of one and its token
    /// together. Lazy rules took the text before, or end with the token themselves.
    fn beside_heads(&mut self, index: usize, heads: &Competitors, looks: &mut usize) -> Result<(), Fault> {
        let kind = self.leaves[index].kind;
        let ends_head = index > 0 && self.leaves[index - 1].kind == LeafKind::Head;
        if heads.is_empty() || ends_head || matches!(kind, LeafKind::Lazy | LeafKind::Head) {
            return Ok(());
        }
        // Leaves that may read a special token before any other one was read; by its name, if it has just one.
        let (mut by_name, mut others) = (HashMap::<&str, Vec<usize>>::default(), Vec::new());
        for met in self.places.following(&[index], |leaf| self.is_special(leaf)) {
            match (self.grammar.expr(self.leaves[met].body), self.leaves[met].kind) {
                (Expr::Token([TokenRef::Special(name)]), LeafKind::Token) => {
                    by_name.entry(name).or_default().push(met);
                }
                (_, LeafKind::Token | LeafKind::Foreign) => others.push(met),
                _ => {}
            }
        }
        let lazy: Vec<usize> = self.places.lazy_after(&[index]);
        let lazy: Vec<usize> =
            lazy.into_iter().filter(|&lazy| self.leaves[lazy].kind == LeafKind::Lazy).collect();
        *looks += self.places.size() + heads.all().count() * (1 + others.len());
        if *looks > MAX_PAIRS {
            let message = format!("it takes more than {MAX_PAIRS} steps to tell what reads special tokens");
            let hint = "write fewer lazy rules that end with a special token, or a smaller grammar";
            return Err(Fault::limit(message, hint));
        }
        for head in heads.all() {
            let token = head + 1;
            let mut meets: Vec<usize> = Vec::new();
            if let Expr::Token([TokenRef::Special(name)]) = self.grammar.expr(self.leaves[token].body) {
                meets.extend(by_name.get(&**name).into_iter().flatten());
            }
            for &met in &others {
                if self.leaves[met].kind == LeafKind::Foreign || self.overlap((met, token))? {
                    meets.push(met);
                }
            }
            let is_apart = match kind {
                LeafKind::Foreign => false,
                LeafKind::Token if self.places.is_skipped(head) && self.overlap((index, token))? => false,
                // Without a name that special tokens alone have, it may be text.
                LeafKind::Token => meets.is_empty() || self.is_special(index),
                _ => meets.is_empty() || !self.begins_head(index, head)?,
            };
            let is_alike = !is_apart
                && matches!(kind, LeafKind::Text | LeafKind::Json)
                && meets == [token]
                && self.places.surely_follows(index, head)
                && self.places.goes_on_alike(index, head);
            if !is_apart && (!is_alike || self.head_ends_otherwise(index, head, &lazy)?) {
                return self.refused_beside_head(index, head);
            }
        }
        Ok(())
    }

    fn refused_beside_head(&self, index: usize, head: usize) -> Result<(), Fault> {
        let (own, first) = (self.name(index), self.name(head));
        let message = format!(
            "the lazy rule {first} takes the text up to its special token, but {own}, which may begin where it does, and what follows it may read that token, too"
        );
        let hint = "let other text stand in one terminal that ends the rule, as in `start: call* rest`, or begin it with another character";
        let span = self.leaves[index].span.or(self.leaves[head].span);
        Err(Fault::placed("lark/lazy", message, hint, span))
    }

    /// Whether a leaf is a token that can be no text.
    fn is_special(&self, index: usize) -> bool {
        match self.grammar.expr(self.leaves[index].body) {
            Expr::Token(tokens) => tokens.iter().all(|token| matches!(token, TokenRef::Special(_))),
            _ => false,
        }
    }

    /// A number of a leaf's language: leaves with the same one have the same texts.
    fn language(&self, index: usize) -> (bool, usize) {
        let texts = self.leaves[index].texts;
        match self.grammar.as_rule(texts) {
            Some(rule) => (true, rule.index()),
            None => (false, texts.index()),
        }
    }

    /// Whether the text of a head begins with a text of a leaf.
    fn begins_head(&mut self, index: usize, head: usize) -> Result<bool, Fault> {
        let question = (self.language(index), self.language(head), None);
        if let Some(&known) = self.known.get(&question) {
            return Ok(known);
        }
        let begins = self.any(&[index], |builder, texts| {
            let own = not_empty(builder, texts.own[index]);
            let begun = followed(builder, own, 0);
            builder.intersection([texts.own[head], begun])
        })?;
        self.known.insert(question, begins);
        Ok(begins)
    }

    /// Whether the text of a head begins with a text of a leaf, and the remainder is no text of that head. Nor is it one if
    /// it begins with a text of some lazy rules.
    fn head_ends_otherwise(&mut self, index: usize, head: usize, lazy: &[usize]) -> Result<bool, Fault> {
        let question = (self.language(index), self.language(head), Some(lazy.to_vec()));
        if let Some(&known) = self.known.get(&question) {
            return Ok(known);
        }
        let ends_otherwise = self.any(&[index], |builder, texts| {
            let others = choice(builder, &texts.loose, lazy);
            let others = followed(builder, others, 0);
            let not_others = builder.complement(others);
            let alone = builder.intersection([texts.own[head], not_others]);
            let other = builder.complement(alone);
            let own = not_empty(builder, texts.own[index]);
            let split = builder.sequence([own, other]);
            builder.intersection([texts.own[head], split])
        })?;
        self.known.insert(question, ends_otherwise);
        Ok(ends_otherwise)
    }

    /// Whether two leaves have a text or token in common.
    fn overlap(&mut self, (one, other): (usize, usize)) -> Result<bool, Fault> {
        let kinds = [one, other].map(|index| self.leaves[index].kind);
        let is_plain = |kind: &LeafKind| matches!(kind, LeafKind::Head | LeafKind::Text);
        if one == other || kinds.iter().all(is_plain) && self.language(one) == self.language(other) {
            return Ok(true);
        }
        if kinds.contains(&LeafKind::Token) {
            let tokens = |index: usize| match self.grammar.expr(self.leaves[index].body) {
                Expr::Token(tokens) => Some(tokens),
                _ => None,
            };
            let (one, other) = (tokens(one), tokens(other));
            let is_shared = || match (one, other) {
                (Some(one), Some(other)) => {
                    one.iter().any(|token| other.iter().any(|other| may_be_same(token, other)))
                }
                // All tokens but some.
                _ => true,
            };
            return Ok(kinds == [LeafKind::Token; 2] && is_shared());
        }
        let both = [self.texts.loose[one], self.texts.loose[other]];
        if begin_apart(&self.languages, both[0], both[1]) || end_apart(&self.languages, both[0], both[1]) {
            return Ok(false);
        }
        self.any(&[one], |builder, _| builder.intersection(both))
    }

    /// A lazy rule loses the texts that another one takes over first, wherever it may have some. Whether it has is tested only
    /// where it must not lose them.
    fn lazy_rule(&mut self, competitors: &Competitors, index: usize) -> Result<(), Fault> {
        let texts = &self.texts.loose;
        let is_near = |lazy: usize| !begin_apart(&self.languages, texts[index], texts[lazy]);
        let near = competitors.filtered(is_near);
        if near.is_empty() {
            return Ok(());
        }
        if !near.perhaps.is_empty() || !self.can_lose(index) {
            return self.member(LeafKind::Lazy, &near, index);
        }
        self.pairs += near.certain.len();
        if self.pairs > MAX_LAZY_PAIRS {
            let message = format!("more than {MAX_LAZY_PAIRS} pairs of lazy rules may take the same text");
            let hint = "let the texts of lazy rules begin with different letters, or write fewer of them";
            return Err(Fault::placed("lark/limit", message, hint, self.leaves[index].span));
        }
        self.lost.insert(index, Lost { lazy: near.certain, least: 1 });
        Ok(())
    }

    fn member(&mut self, kind: LeafKind, competitors: &Competitors, index: usize) -> Result<(), Fault> {
        let least = u32::from(kind == LeafKind::Lazy);
        let all: Vec<usize> = competitors.all().collect();
        let members = &[index];
        let shares = self.shares(members, &all, least)?;
        if !shares && (kind == LeafKind::Lazy || !self.escapes(members, &all, &[])?) {
            return Ok(());
        }
        if !competitors.perhaps.is_empty() && self.shares(members, &competitors.perhaps, least)? {
            return self.refused(index, &all, "begins in other places, too");
        }
        if !shares || !self.can_lose(index) {
            return self.refused(index, &all, "reads texts that cannot be taken from it");
        }
        if kind != LeafKind::Lazy && self.escapes(members, &all, &competitors.certain)? {
            return self.refused(index, &all, "and what follows it read such texts together");
        }
        self.lost.insert(index, Lost { lazy: competitors.certain.clone(), least });
        Ok(())
    }

    /// Whether a text of one of the leaves begins with a text of lazy rules.
    fn shares(&mut self, members: &[usize], lazy: &[usize], least: u32) -> Result<bool, Fault> {
        self.any(members, |builder, texts| {
            let (own, lazy) = (choice(builder, &texts.own, members), choice(builder, &texts.loose, lazy));
            let longer = followed(builder, lazy, least);
            builder.intersection([own, longer])
        })
    }

    /// Whether leaves that have lost the texts of some lazy rules read a text of lazy rules together with what follows. Where
    /// they are empty the rule passes over them, and what follows competes itself.
    fn escapes(&mut self, members: &[usize], lazy: &[usize], lost: &[usize]) -> Result<bool, Fault> {
        let own = |builder: &mut GrammarBuilder, texts: &Texts| {
            let own = choice(builder, &texts.own, members);
            let own = not_empty(builder, own);
            if lost.is_empty() {
                return own;
            }
            let lost = choice(builder, &texts.loose, lost);
            without(builder, own, lost, 0)
        };
        let following = self.places.following(members, |_| false);
        // The token after a head is no text.
        if following.is_empty() || members.iter().all(|&index| self.leaves[index].kind == LeafKind::Head) {
            return Ok(false);
        }
        let begins_longer = self.any(members, |builder, texts| {
            let (own, lazy) = (own(builder, texts), choice(builder, &texts.loose, lazy));
            let longer = followed(builder, own, 1);
            builder.intersection([lazy, longer])
        })?;
        // The cheap questions first; most grammars end here.
        if !begins_longer {
            return Ok(false);
        }
        let is_alike = |index: usize, lazy: usize| {
            self.places.surely_follows(index, lazy) && self.places.goes_on_alike(index, lazy)
        };
        if members.iter().all(|&index| lazy.iter().all(|&lazy| is_alike(index, lazy)))
            && !self.goes_on_otherwise(members, lazy, own)?
        {
            return Ok(false);
        }
        let mut reads = |following_texts: fn(&Texts) -> &Vec<ExprId>| {
            self.any(members, |builder, texts| {
                let (own, lazy) = (own(builder, texts), choice(builder, &texts.loose, lazy));
                let next = choice(builder, following_texts(texts), &following);
                let more = builder.repeat(next, 0, None);
                let read = builder.sequence([own, more]);
                let committed = followed(builder, lazy, 0);
                builder.intersection([read, committed])
            })
        };
        // The looser languages take less work, and need not be told apart where they read no such text either.
        Ok(reads(|texts| &texts.loose)? && reads(|texts| &texts.own)?)
    }

    /// Whether a lazy rule takes over a text that begins with a text of some leaves, but not the remainder after that. It must
    /// take that over exactly, and as the only one.
    fn goes_on_otherwise(
        &mut self,
        members: &[usize],
        lazy: &[usize],
        own: impl Fn(&mut GrammarBuilder, &Texts) -> ExprId,
    ) -> Result<bool, Fault> {
        let mut later = self.places.lazy_after(members);
        later.retain(|&lazy| self.leaves[lazy].kind == LeafKind::Lazy);
        later.extend(lazy);
        later.sort_unstable();
        later.dedup();
        for &taking in lazy {
            let others: Vec<usize> = later.iter().copied().filter(|&other| other != taking).collect();
            let goes_on = self.any(members, |builder, texts| {
                let taken = shortest_among(builder, texts, taking, lazy);
                let alone = shortest_among(builder, texts, taking, &later);
                let others = choice(builder, &texts.loose, &others);
                let not_others = builder.complement(others);
                let alone = builder.intersection([alone, not_others]);
                let other = builder.complement(alone);
                let own = own(builder, texts);
                let split = builder.sequence([own, other]);
                builder.intersection([taken, split])
            })?;
            if goes_on {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a language has a text.
    fn any(
        &mut self,
        members: &[usize],
        make: impl FnOnce(&mut GrammarBuilder, &Texts) -> ExprId,
    ) -> Result<bool, Fault> {
        let mut builder = self.languages.clone();
        let language = make(&mut builder, &self.texts);
        let undecided = |judge: &Self| {
            let name = judge.name(members[0]);
            let message = format!("it takes too much work to tell which texts lazy rules take from {name}");
            let hint = "make the patterns of the lazy rules and of what they compete with simpler";
            Fault::placed("lark/limit", message, hint, judge.leaves[members[0]].span)
        };
        let root = builder.add_rule("language", language).map_err(Fault::no_room)?;
        let grammar = builder.finish(root).map_err(|_| undecided(self))?;
        let limits = TextLimits::default().max_steps(self.steps);
        let (texts, steps) = TextAutomaton::from_expr_counted(&grammar, grammar.rule(root).body(), &limits);
        self.steps = self.steps.saturating_sub(steps + grammar.expr_count());
        texts.map(|texts| !texts.is_empty()).map_err(|_| undecided(self))
    }

    /// Whether texts can be taken from a leaf: not where parts of it are captured or counted.
    fn can_lose(&self, index: usize) -> bool {
        let leaf = self.leaves[index];
        let mut rules = self.grammar.expressions_below([leaf.body]).filter_map(|id| self.grammar.as_rule(id));
        matches!(leaf.kind, LeafKind::Text | LeafKind::Lazy | LeafKind::Head)
            && rules.all(|rule| self.grammar.rule(rule).options().is_empty())
    }

    /// A leaf as it is written. Those without a place stand in nested grammars, or are made of operators and directives.
    fn name(&self, index: usize) -> String {
        let leaf = self.leaves[index];
        let name = self.grammar.rule(leaf.rule).name();
        match leaf.span {
            Some(span) => format!("`{}`", &self.source[span.start as usize..span.end as usize]),
            None if name.starts_with("ignored") => "the text of `%ignore`".to_owned(),
            None if name.starts_with("literal") => "a terminal made of `&` or `~`".to_owned(),
            None => format!("`{name}`"),
        }
    }

    /// The refusal of a leaf beside lazy rules.
    fn refused(&mut self, index: usize, lazy: &[usize], why: &str) -> Result<(), Fault> {
        let (own, first) = (self.name(index), self.name(lazy[0]));
        let span = self.leaves[index].span.or(self.leaves[lazy[0]].span);
        let is_empty = self.any(&[index], |builder, texts| {
            let empty = builder.empty();
            builder.intersection([texts.loose[lazy[0]], empty])
        })?;
        if is_empty {
            let message =
                format!("the lazy rule {first} may be empty, so it ends before it has read anything");
            let hint = "let it read at least one character (`+` in place of `*`), or say by `suffix=\"...\"` where it ends";
            return Err(Fault::placed("lark/lazy", message, hint, self.leaves[lazy[0]].span.or(span)));
        }
        let message = format!(
            "the lazy rule {first} takes the text as soon as it matches, but {own}, which may begin where it does, {why}"
        );
        let hint = "let other text stand in one terminal that ends the rule, as in `start: call* rest`, or leave its texts out of it with `& ~`";
        Err(Fault::placed("lark/lazy", message, hint, span))
    }
}

/// The texts of one lazy rule that begin with no shorter text of some others.
fn shortest_among(builder: &mut GrammarBuilder, texts: &Texts, lazy: usize, others: &[usize]) -> ExprId {
    let others = choice(builder, &texts.loose, others);
    let longer = followed(builder, others, 1);
    let shortest = builder.complement(longer);
    builder.intersection([texts.loose[lazy], shortest])
}

/// Whether all texts of two languages begin with literals, and no text that begins as one is begins as the other.
fn begin_apart(languages: &GrammarBuilder, one: ExprId, other: ExprId) -> bool {
    let (one, other) = (literal_at(languages, one, true), literal_at(languages, other, true));
    one.iter().zip(&other).any(|(one, other)| one != other)
}

/// As [`begin_apart`], for their ends.
fn end_apart(languages: &GrammarBuilder, one: ExprId, other: ExprId) -> bool {
    let (one, other) = (literal_at(languages, one, false), literal_at(languages, other, false));
    one.iter().rev().zip(other.iter().rev()).any(|(one, other)| one != other)
}

/// The literal that all texts of a language begin or end with, as far as the expression tells.
fn literal_at(languages: &GrammarBuilder, mut texts: ExprId, begin: bool) -> Vec<u8> {
    // Rules may begin with themselves.
    for _ in 0..MAX_DEPTH {
        texts = match languages.expr(texts) {
            Expr::Bytes(bytes) => return bytes.to_vec(),
            Expr::Sequence(parts) => match if begin { parts.first() } else { parts.last() } {
                Some(&part) => part,
                None => return Vec::new(),
            },
            // The texts of an intersection are texts of its first operand.
            Expr::Intersection(operands) => operands[0],
            Expr::Rule(rule) => match languages.body(rule) {
                Some(body) => body,
                None => return Vec::new(),
            },
            _ => return Vec::new(),
        };
    }
    Vec::new()
}

/// Whether two tokens may be one, whatever the vocabulary.
fn may_be_same(one: &TokenRef, other: &TokenRef) -> bool {
    match (one, other) {
        (TokenRef::Id(one), TokenRef::Id(other)) => one == other,
        (TokenRef::Id(_), _) | (_, TokenRef::Id(_)) => true,
        (TokenRef::Name(one) | TokenRef::Special(one), TokenRef::Name(other) | TokenRef::Special(other)) => {
            one == other
        }
    }
}

fn not_empty(builder: &mut GrammarBuilder, texts: ExprId) -> ExprId {
    let any = builder.any_char();
    let anything = builder.repeat(any, 1, None);
    builder.intersection([texts, anything])
}

fn choice(builder: &mut GrammarBuilder, texts: &[ExprId], members: &[usize]) -> ExprId {
    let members: Vec<ExprId> = members.iter().map(|&index| texts[index]).collect();
    builder.choice(members)
}

/// A regular language that has all texts of a leaf: those, or all with their first characters.
fn around(builder: &mut GrammarBuilder, leaf: &Leaf) -> ExprId {
    match leaf.kind {
        LeafKind::Lazy | LeafKind::Head | LeafKind::Text => match builder.expr(leaf.texts) {
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
