//! Finding the tokens that a grammar names in a vocabulary.
//!
//! As long as no vocabulary is known, tokens go by their names, and the texts of tags may hold names of special
//! tokens. This pass puts ids in their place: a special token has no bytes, so a tag that spells one would
//! otherwise wait for bytes that never come.

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use super::rewrite::{Rewrite, copy, rewrite};
use crate::builder::GrammarBuilder;
use crate::dispatch::{Pattern, PatternPart, TagDispatch};
use crate::error::GrammarError;
use crate::expr::{Expr, Node};
use crate::grammar::Grammar;
use crate::hash::{HashMap, Hashing};
use crate::ids::ExprId;
use crate::shorten::shorten;
use crate::span::Span;
use crate::token::TokenRef;

/// A vocabulary's knowledge of token names.
pub trait TokenNames {
    /// The special tokens that have a name, stop tokens among them.
    fn special(&self) -> Vec<(&str, u32)>;

    /// The text token with exactly these bytes.
    fn text(&self, bytes: &[u8]) -> Option<u32>;

    /// The kind of the token with an id.
    fn kind(&self, id: u32) -> TokenSort;

    /// The stop tokens.
    fn stop(&self) -> Vec<u32>;

    /// How many text tokens and special tokens there are, stop tokens not counted.
    fn count(&self) -> usize;
}

/// The kinds of ids of a vocabulary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenSort {
    /// A byte string.
    Text,
    /// A token without bytes.
    Special,
    /// A special token that ends the text.
    Stop,
    /// Nothing: past the last id, a hole or padding.
    Nothing,
}

/// A token that the vocabulary does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", shorten(&kind.to_string()))]
pub struct ResolveTokensError {
    kind: Kind,
    span: Option<Span>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum Kind {
    #[error(
        "rule `{rule}`: the vocabulary has no token {token}; correct it, or declare it when the vocabulary is made"
    )]
    NoSuchToken { rule: String, token: TokenRef },
    #[error(
        "rule `{rule}`: the vocabulary's token {token} is text, and this has to be a special token; write it as text, in quotes"
    )]
    TextToken { rule: String, token: TokenRef },
    #[error("resolving tokens: {0}")]
    Grammar(GrammarError),
    #[error("the names of the vocabulary's special tokens are too long; leave some out")]
    Names,
}

impl ResolveTokensError {
    /// The name of the rule that mentions the token.
    pub fn rule(&self) -> Option<&str> {
        match &self.kind {
            Kind::NoSuchToken { rule, .. } | Kind::TextToken { rule, .. } => Some(rule),
            _ => None,
        }
    }

    /// The place of the rule in the source, if the frontend recorded it.
    pub fn span(&self) -> Option<Span> {
        self.span
    }
}

/// Replaces names of tokens by ids. In texts of tags, triggers and stop strings it replaces the names of
/// special tokens by the tokens, the longest of the leftmost ones first. Excluded strings stay texts: a text
/// that spells an excluded tag is excluded, and the special token itself is no free text anyway. Stop tokens
/// join the tokens that an [`Expr::ExcludeToken`] excludes.
///
/// # Errors
///
/// Where a token is not in the vocabulary, or with the ids in place a pattern can no longer be completed.
pub fn resolve_tokens(grammar: &Grammar, names: &impl TokenNames) -> Result<Grammar, ResolveTokensError> {
    match mentions_tokens(grammar) {
        true => resolve_tokens_with(grammar, names, &SpecialNames::new(names)?),
        false => Ok(grammar.clone()),
    }
}

/// As [`resolve_tokens`], with a prepared search for the names of special tokens. Rules keep their ids.
///
/// # Errors
///
/// As for [`resolve_tokens`].
pub fn resolve_tokens_with(
    grammar: &Grammar,
    names: &impl TokenNames,
    special: &SpecialNames,
) -> Result<Grammar, ResolveTokensError> {
    check_tokens(grammar, names, special)?;
    rewrite(grammar, |_| true, &mut Resolver { names, special }).map_err(|error| {
        let span = error.span();
        ResolveTokensError { kind: Kind::Grammar(error), span }
    })
}

/// Finds the names of a vocabulary's special tokens in texts. Vocabularies have up to some thousand of them, so that
/// it is made once for many grammars.
#[derive(Debug)]
pub struct SpecialNames {
    automaton: AhoCorasick,
    /// The ids, in the order in which the automaton knows them.
    ids: Vec<u32>,
    by_name: HashMap<Box<str>, u32>,
}

impl SpecialNames {
    /// Those of a vocabulary.
    ///
    /// # Errors
    ///
    /// Where they are too long altogether.
    pub fn new(names: &impl TokenNames) -> Result<Self, ResolveTokensError> {
        let special = names.special();
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .kind(Some(AhoCorasickKind::NoncontiguousNFA))
            .build(special.iter().map(|(name, _)| name))
            .map_err(|_| ResolveTokensError { kind: Kind::Names, span: None })?;
        let mut by_name = HashMap::with_capacity_and_hasher(special.len(), Hashing);
        for &(name, id) in &special {
            by_name.entry(name.into()).or_insert(id);
        }
        Ok(Self { automaton, ids: special.into_iter().map(|(_, id)| id).collect(), by_name })
    }

    /// A text of a tag, cut at the names of special tokens.
    pub fn split(&self, text: &str) -> Vec<PatternPart> {
        let mut parts = Vec::new();
        let mut from = 0;
        for found in self.automaton.find_iter(text) {
            if from < found.start() {
                parts.push(PatternPart::Text(text[from..found.start()].into()));
            }
            let id = self.ids[found.pattern().as_usize()];
            parts.push(PatternPart::Token(TokenRef::Id(id)));
            from = found.end();
        }
        if from < text.len() {
            parts.push(PatternPart::Text(text[from..].into()));
        }
        parts
    }

    /// The id of a token that a grammar names, if the vocabulary has it.
    pub fn id(&self, token: &TokenRef, names: &impl TokenNames) -> Option<u32> {
        match token {
            TokenRef::Id(id) => (names.kind(*id) != TokenSort::Nothing).then_some(*id),
            TokenRef::Name(name) => find(name, self, names),
            TokenRef::Special(name) => self.by_name.get(name).copied(),
        }
    }
}

/// Whether [`resolve_tokens`] would change anything.
pub fn mentions_tokens(grammar: &Grammar) -> bool {
    grammar.pools.nodes.iter().any(|node| {
        matches!(node, Node::Token(_) | Node::ExcludeToken(_) | Node::TagText(_) | Node::TagDispatch(..))
    })
}

/// Finds tokens that do not exist, rule by rule.
fn check_tokens(
    grammar: &Grammar,
    names: &impl TokenNames,
    special: &SpecialNames,
) -> Result<(), ResolveTokensError> {
    let exists = |token: &TokenRef| match token {
        TokenRef::Id(id) => names.kind(*id) != TokenSort::Nothing,
        TokenRef::Name(name) => find(name, special, names).is_some(),
        TokenRef::Special(name) => special.by_name.contains_key(name),
    };
    let mut is_met = vec![false; grammar.expr_count()];
    let mut stack = Vec::new();
    for rule in grammar.rule_ids().map(|id| grammar.rule(id)) {
        stack.extend(rule.lookahead());
        stack.push(rule.body());
        while let Some(id) = stack.pop() {
            if std::mem::replace(&mut is_met[id.index()], true) {
                continue;
            }
            if is_repeat_option(grammar, id) {
                continue;
            }
            stack.extend_from_slice(grammar.operands(id));
            let missing = match grammar.expr(id) {
                // To exclude an absent token is harmless, but a misspelt name is not.
                Expr::Token(tokens) => tokens.iter().find(|token| !exists(token)),
                Expr::ExcludeToken(tokens) => {
                    tokens.iter().find(|token| !matches!(token, TokenRef::Id(_)) && !exists(token))
                }
                Expr::TagDispatch(dispatch) => {
                    let patterns = dispatch.triggers.iter().chain(dispatch.stops);
                    let parts = patterns.chain(dispatch.excludes).flat_map(Pattern::parts);
                    let mut tokens = parts.filter_map(|part| match part {
                        PatternPart::Token(token) => Some(token),
                        PatternPart::Text(_) => None,
                    });
                    tokens.find(|token| !exists(token))
                }
                _ => None,
            };
            if let Some(token) = missing {
                let (rule_name, token) = (rule.name().into(), token.clone());
                let kind = match &token {
                    TokenRef::Special(name) if names.text(name.as_bytes()).is_some() => {
                        Kind::TextToken { rule: rule_name, token }
                    }
                    _ => Kind::NoSuchToken { rule: rule_name, token },
                };
                return Err(ResolveTokensError { kind, span: rule.span() });
            }
        }
    }
    Ok(())
}

/// Whether an expression is the symbol after a value that has occurred twice, which may be left out.
fn is_repeat_option(grammar: &Grammar, id: ExprId) -> bool {
    let Expr::Repeat { body, min: 0, max: Some(1) } = grammar.expr(id) else { return false };
    matches!(grammar.expr(body), Expr::Token([TokenRef::Id(TokenRef::REPEATED)]))
}

fn find(name: &str, special: &SpecialNames, names: &impl TokenNames) -> Option<u32> {
    special.by_name.get(name).copied().or_else(|| names.text(name.as_bytes()))
}

struct Resolver<'n, N> {
    names: &'n N,
    special: &'n SpecialNames,
}

impl<N: TokenNames> Rewrite for Resolver<'_, N> {
    fn make(&mut self, builder: &mut GrammarBuilder, expr: Expr<'_>, operands: &[ExprId]) -> ExprId {
        match expr {
            Expr::Token(tokens) => builder.token(self.ids(tokens)),
            Expr::ExcludeToken(tokens) => {
                let mut ids = self.ids(tokens);
                // Stop tokens end the text, so an exclusion never allows them.
                ids.extend(self.names.stop());
                ids.sort_unstable();
                ids.dedup();
                let sorts = ids.iter().map(|&id| self.names.kind(id));
                let excluded = sorts.filter(|sort| matches!(sort, TokenSort::Text | TokenSort::Special));
                // With all of them excluded no token is left.
                match excluded.count() < self.names.count() {
                    true => builder.exclude_token(ids),
                    false => builder.never(),
                }
            }
            Expr::TagText(text) => {
                let parts: Vec<ExprId> = self
                    .special
                    .split(text)
                    .into_iter()
                    .map(|part| match part {
                        PatternPart::Text(text) => builder.literal(&text),
                        PatternPart::Token(token) => builder.token([token]),
                    })
                    .collect();
                builder.sequence(parts)
            }
            Expr::TagDispatch(dispatch) => {
                let triggers = dispatch.triggers.iter().map(|pattern| self.pattern(pattern));
                let stops = dispatch.stops.iter().map(|pattern| self.pattern(pattern)).collect();
                let excludes = dispatch.excludes.iter().map(|pattern| self.named(pattern)).collect();
                builder.tag_dispatch(TagDispatch {
                    triggers: triggers.zip(operands.iter().copied()).collect(),
                    stops,
                    excludes,
                    after: dispatch.after,
                    end: dispatch.end,
                    least: 0,
                })
            }
            _ => copy(builder, expr, operands),
        }
    }
}

impl<N: TokenNames> Resolver<'_, N> {
    fn ids(&self, tokens: &[TokenRef]) -> Vec<u32> {
        tokens.iter().filter_map(|token| self.id(token)).collect()
    }

    fn id(&self, token: &TokenRef) -> Option<u32> {
        match token {
            TokenRef::Id(id) => Some(*id),
            TokenRef::Name(name) => find(name, self.special, self.names),
            TokenRef::Special(name) => self.special.by_name.get(name).copied(),
        }
    }

    /// The pattern with ids, and tokens where its texts name special ones.
    fn pattern(&self, pattern: &Pattern) -> Pattern {
        let parts = pattern.parts().iter().flat_map(|part| match part {
            PatternPart::Text(text) => self.special.split(text),
            PatternPart::Token(token) => vec![self.part(token)],
        });
        parts.collect()
    }

    /// The pattern with ids.
    fn named(&self, pattern: &Pattern) -> Pattern {
        let parts = pattern.parts().iter().map(|part| match part {
            PatternPart::Text(text) => PatternPart::Text(text.clone()),
            PatternPart::Token(token) => self.part(token),
        });
        parts.collect()
    }

    fn part(&self, token: &TokenRef) -> PatternPart {
        // Every token was found to exist.
        PatternPart::Token(self.id(token).map_or_else(|| token.clone(), TokenRef::Id))
    }
}
