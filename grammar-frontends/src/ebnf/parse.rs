//! The entry: cuts a source into rules, reads their bodies and collects what is wrong.

use std::collections::HashMap;

use grammask_grammar_ir::{ExprId, Grammar, GrammarBuilder, GrammarError, RuleId, Span};

use super::escape::LiteralReader;
use super::fault::{Fault, Mistake, Reports};
use super::lower::ExpressionLowering;
use super::options::{Dialect, EbnfOptions, MAX_NESTING};
use super::rule_options::{self, Options};
use super::syntax::{self, Body};
use super::token::{self, Macro, Spanned, Token};
use crate::diagnostic::{Diagnostic, Diagnostics, closest};
use crate::language::define_bounded;
use crate::regex::{PatternBudget, RegexLimits};

/// Reads a grammar.
///
/// # Errors
///
/// Everything that is wrong, up to [`EbnfLimits::reports`](super::EbnfLimits::reports) mistakes, in the order of the source.
///
/// # Examples
///
/// ```
/// use grammask_grammar_frontends::ebnf::{EbnfOptions, parse};
///
/// let grammar = parse(r#"root ::= "a" tail?    tail"#, &EbnfOptions::default());
/// assert_eq!(
///     grammar.unwrap_err().to_string(),
///     "1:14: error: rule `tail` is not defined; define it (`tail ::= ...`), or put it in double quotes if \
///      it is text\n\
///      1:23: error: rule `tail` is not defined; define it (`tail ::= ...`), or put it in double quotes if \
///      it is text"
/// );
/// ```
pub fn parse(source: &str, options: &EbnfOptions) -> Result<Grammar, Diagnostics> {
    parse_dialect(source, Dialect::Ebnf, options)
}

pub(crate) fn parse_dialect(
    source: &str,
    dialect: Dialect,
    options: &EbnfOptions,
) -> Result<Grammar, Diagnostics> {
    parse_part(source, dialect, options, &mut PatternBudget::new(&RegexLimits::default()))
}

/// The same for a part of a source.
pub(crate) fn parse_part(
    source: &str,
    dialect: Dialect,
    options: &EbnfOptions,
    pattern_budget: &mut PatternBudget,
) -> Result<Grammar, Diagnostics> {
    let limits = &options.limits;
    let check =
        || options.interrupt.check().map_err(|reason| Diagnostics::from(Diagnostic::interrupted(reason)));
    let mut reports = Reports::new(source, dialect, limits.reports);
    if source.len() > limits.source_bytes {
        let message =
            format!("the grammar is {} bytes long, more than {}", source.len(), limits.source_bytes);
        let hint = "shorten it or raise the limit `source_bytes`";
        return Err(Diagnostic::error("ebnf/limit", message).with_hint(hint).into());
    }
    let tokens = token::lex(source, dialect, limits.tokens, |fault| reports.fault(fault));
    if tokens.len() > limits.tokens {
        let message = format!("the grammar has more than {} names, literals and signs", limits.tokens);
        return Err(Diagnostic::error("ebnf/limit", message)
            .with_hint("shorten it or raise the limit `tokens`")
            .into());
    }
    check()?;
    let rules = split(source, &tokens, dialect, &mut reports);
    check_nesting(source, &rules, limits.nesting.min(MAX_NESTING))?;
    check_literals(source, &tokens, dialect, &mut reports);
    check()?;
    let bodies = parse_bodies(source, &rules, dialect, &mut reports);
    build(source, options, &rules, &bodies, (reports, pattern_budget))
}

/// A rule's tokens.
struct RuleTokens<'t> {
    name: Span,
    /// The brackets between the two.
    options: Option<Span>,
    /// Everything after `::=`.
    body: &'t [Spanned],
}

/// The characters that end a line, and a comment.
const LINE_ENDS: [char; 2] = ['\n', '\r'];

/// Splits the tokens at rule starts: a name (and options) before `::=`.
fn split<'t>(
    source: &str,
    tokens: &'t [Spanned],
    dialect: Dialect,
    reports: &mut Reports<'_>,
) -> Vec<RuleTokens<'t>> {
    let is_name = |token: Token| match token {
        Token::Name => true,
        Token::Integer(_) => dialect == Dialect::Gbnf,
        _ => false,
    };
    // Each start as the index of its name and of what follows `::=`, and the options in between.
    let mut starts: Vec<(usize, usize, Option<Span>)> = Vec::new();
    for (index, &(token, span)) in tokens.iter().enumerate() {
        if token != Token::Assign || index == 0 {
            continue;
        }
        let (before, before_span) = tokens[index - 1];
        if is_name(before) {
            starts.push((index - 1, index + 1, None));
        } else if before == Token::Class && index >= 2 && is_name(tokens[index - 2].0) {
            if dialect == Dialect::Gbnf {
                reports.fault(Fault::new(before_span, Mistake::RuleOptions));
            }
            starts.push((index - 2, index + 1, Some(before_span)));
        } else {
            reports.fault(Fault::new(span, Mistake::Unexpected));
        }
    }
    let first = starts.first().map_or(tokens.len(), |&(name, ..)| name);
    if let Some(&(_, span)) = tokens[..first].first() {
        let stray = match tokens.get(1) {
            Some(&(Token::Equals, equals)) => Fault::new(equals, Mistake::MissingAssign),
            _ => Fault::new(span, Mistake::OutsideRule),
        };
        reports.fault(stray);
    }
    let ends = starts.iter().skip(1).map(|&(name, ..)| name).chain([tokens.len()]);
    let mut rules = Vec::with_capacity(starts.len());
    for (&(name, body, options), end) in starts.iter().zip(ends) {
        let span = tokens[name].1;
        if name > 0 && !source[tokens[name - 1].1.range().end..span.range().start].contains(LINE_ENDS) {
            reports.fault(Fault::new(span, Mistake::NameNotFirst));
        }
        let mut body = &tokens[body.min(end)..end];
        if dialect == Dialect::Gbnf {
            body = until_line_end(source, body, reports);
        }
        rules.push(RuleTokens { name: span, options, body });
    }
    rules
}

/// In GBNF a rule ends with its line, except inside parentheses and after `|` (or `::=`).
fn until_line_end<'t>(source: &str, body: &'t [Spanned], reports: &mut Reports<'_>) -> &'t [Spanned] {
    let mut depth = 0_usize;
    for (index, pair) in body.windows(2).enumerate() {
        let [(token, span), (_, next)] = pair else { continue };
        match token {
            Token::OpenGroup | Token::OpenLookahead => depth += 1,
            Token::CloseGroup => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0
            && *token != Token::Bar
            && source[span.range().end..next.range().start].contains(LINE_ENDS)
        {
            reports.fault(Fault::new(*next, Mistake::RuleEndsAtLine));
            return &body[..=index];
        }
    }
    body
}

/// Refuses deep nesting at once, before anything recurses.
fn check_nesting(source: &str, rules: &[RuleTokens<'_>], limit: usize) -> Result<(), Diagnostics> {
    for rule in rules {
        let mut depth = 0_usize;
        for &(token, span) in rule.body {
            match token {
                Token::OpenGroup | Token::OpenLookahead => depth += 1,
                Token::CloseGroup => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth > limit {
                let message = format!("parentheses nest more than {limit} levels deep");
                return Err(Diagnostic::error("ebnf/limit", message)
                    .with_hint("give inner parts a rule of their own")
                    .with_label(source, span, "")
                    .into());
            }
        }
    }
    Ok(())
}

/// Reports what is wrong inside of strings and classes.
fn check_literals(source: &str, tokens: &[Spanned], dialect: Dialect, reports: &mut Reports<'_>) {
    for (index, &(token, span)) in tokens.iter().enumerate() {
        if reports.is_full() {
            return;
        }
        let mut report = |fault| {
            reports.fault(fault);
        };
        let in_bytes = index >= 2 && tokens[index - 2].0 == Token::Macro(Macro::Bytes);
        // A class that stands for rule options is reported as that.
        let is_options = tokens.get(index + 1).is_some_and(|next| next.0 == Token::Assign);
        let follows_name = index > 0 && tokens[index - 1].0 == Token::Name;
        if token == Token::Class
            && !is_options
            && follows_name
            && dialect == Dialect::Ebnf
            && rule_options::is_written_as_options(&source[span.range()])
        {
            report(Fault::new(span, Mistake::OptionsInBody));
            continue;
        }
        let reader = LiteralReader::new(&source[span.range()], span.range().start, dialect, &mut report);
        match token {
            Token::String if in_bytes => drop(reader.bytes()),
            Token::String => drop(reader.string()),
            Token::Class if !is_options => drop(reader.class()),
            _ => {}
        }
    }
}

/// The syntax trees of the rules, up to where enough mistakes are known.
fn parse_bodies(
    source: &str,
    rules: &[RuleTokens<'_>],
    dialect: Dialect,
    reports: &mut Reports<'_>,
) -> Vec<Body> {
    let mut bodies = Vec::with_capacity(rules.len());
    for rule in rules {
        if reports.is_full() {
            break;
        }
        // Where nothing follows, the place is that after `::=`.
        let behind = || source[rule.name.range().end..].find("::=").map_or(0, |at| at + "::=".len());
        let end =
            rule.body.last().map_or_else(|| rule.name.range().end + behind(), |(_, span)| span.range().end);
        let body = syntax::parse(source, dialect, rule.body, end, &mut |fault| {
            reports.fault(fault);
        });
        bodies.push(body);
    }
    bodies
}

/// Declares all rules, then defines them.
fn build(
    source: &str,
    options: &EbnfOptions,
    rules: &[RuleTokens<'_>],
    bodies: &[Body],
    (mut reports, pattern_budget): (Reports<'_>, &mut PatternBudget),
) -> Result<Grammar, Diagnostics> {
    let root = &*options.root;
    let mut builder = GrammarBuilder::new().interrupted_by(options.interrupt.clone());
    let mut first_places: HashMap<&str, Span> = HashMap::with_capacity(rules.len());
    let mut names: Vec<&str> = Vec::with_capacity(rules.len());
    let mut ids: Vec<Option<RuleId>> = Vec::with_capacity(rules.len());
    for rule in rules {
        let name = &source[rule.name.range()];
        if let Some(&first) = first_places.get(name) {
            reports.push(|| duplicate(source, name, first, rule.name));
            ids.push(None);
            continue;
        }
        first_places.insert(name, rule.name);
        names.push(name);
        let id = builder.declare(name).map_err(|error| Diagnostics::from_grammar_error(source, &error))?;
        builder.set_span(id, rule.name);
        ids.push(Some(id));
    }
    let mut lowering = ExpressionLowering {
        builder: &mut builder,
        source,
        names: &names,
        reports: &mut reports,
        regex: RegexLimits::default(),
        pattern_budget,
        chunks: options.limits.chunks,
    };
    // The names of rules whose options need a regular body, with the options.
    let mut regular: Vec<(Span, Span)> = Vec::new();
    // Rules under a bound on their characters, which are defined last.
    let mut bounded: Vec<(RuleId, ExprId, u32)> = Vec::new();
    let broken = |error: GrammarError| Diagnostics::from_grammar_error(source, &error);
    for ((body, rule), &id) in bodies.iter().zip(rules).zip(&ids) {
        let mut expression = lowering.expression(&body.expression);
        let lookahead = body.lookahead.as_ref().map(|lookahead| lowering.expression(lookahead));
        let Some(id) = id else { continue };
        let mut bound = None;
        if let Some(brackets) = rule.options {
            match Options::read(source, rule.name, brackets) {
                Ok(options) => {
                    if options.change_texts() {
                        regular.push((rule.name, brackets));
                    }
                    expression = options.apply(lowering.builder, expression);
                    bound = options.bound();
                    lowering.builder.set_options(id, options.into_kept());
                }
                Err(fault) => _ = lowering.reports.fault(fault),
            }
        }
        if let Some(lookahead) = lookahead {
            lowering.builder.set_lookahead(id, lookahead);
        }
        match bound {
            Some(most) => bounded.push((id, expression, most)),
            None => lowering.builder.define(id, expression).map_err(broken)?,
        }
    }
    define_bounded(lowering.builder, &bounded).map_err(broken)?;
    let root_id = builder.rule_by_name(root);
    if root_id.is_none() && (!rules.is_empty() || reports.is_empty()) {
        reports.push(|| missing_root(source, root, &names, rules));
    }
    match (reports.into_error(), root_id) {
        (None, Some(root)) => builder.finish(root).map_err(|error| refused(source, &error, &regular)),
        (Some(error), _) => Err(error),
        (None, None) => Err(missing_root(source, root, &names, rules).into()),
    }
}

/// The report of a grammar that the builder refuses. `regular` has the rules whose options need a regular body, with
/// their options.
fn refused(source: &str, error: &GrammarError, regular: &[(Span, Span)]) -> Diagnostics {
    match regular.iter().find(|(name, _)| error.span() == Some(*name)) {
        Some(&(_, options)) => Diagnostic::error("ebnf/rule-options", error.to_string())
            .with_hint("`max_chars` and `lazy` need a body that is regular; bound a rule that is")
            .with_label(source, options, "an intersection with the body")
            .into(),
        None => Diagnostics::from_grammar_error(source, error),
    }
}

fn duplicate(source: &str, name: &str, first: Span, second: Span) -> Diagnostic {
    Diagnostic::error("ebnf/duplicate-rule", format!("rule `{name}` is defined twice"))
        .with_hint("rename one of the two, or join them with `|`")
        .with_label(source, second, "defined again here")
        .with_label(source, first, "first defined here")
}

fn missing_root(source: &str, root: &str, names: &[&str], rules: &[RuleTokens<'_>]) -> Diagnostic {
    let hint = match closest(root, names) {
        Some(similar) => format!("did you mean `{similar}`? name it `{root}`, or say that it is the root"),
        None => format!("name the start rule `{root}`, or say which rule is the root"),
    };
    let span = rules.first().map_or(Span::new(0, 0), |rule| rule.name);
    Diagnostic::error("ebnf/missing-root", format!("there is no rule `{root}` to start from"))
        .with_hint(hint)
        .with_label(source, span, if rules.is_empty() { "no rules" } else { "the first rule is this one" })
}
