//! The entry: reads a source and all grammars that it names.

use std::collections::{HashMap, HashSet};

use grammask_grammar_ir::{Grammar, GrammarBuilder, GrammarError, RuleId};
use indexmap::IndexSet;

use super::commit::Leaf;
use super::fault::Fault;
use super::lower::{self, Shared, SourceOrigin};
use super::options::{LarkOptions, MAX_NESTING, NamedGrammar};
use super::terminator::MAX_ALL_STEPS;
use super::{commit, syntax, token};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::json_schema::SharedWork;
use crate::language::define_bounded;
use crate::regex::PatternBudget;

/// Reads a grammar. Its root is `root`.
///
/// # Errors
///
/// Everything that is wrong, up to [`LarkLimits::reports`](crate::lark::LarkLimits::reports) mistakes.
///
/// # Examples
///
/// ```
/// use grammask_grammar_frontends::lark::{LarkOptions, parse};
///
/// let grammar = parse("start: \"a\"~2..3 [TAIL]\nTAIL: /[0-9]+/\n", &LarkOptions::default())?;
/// assert_eq!(grammar.rule(grammar.root()).name(), "root");
///
/// let refused = parse("start: NUMBER\n", &LarkOptions::default()).unwrap_err();
/// assert_eq!(
///     refused.to_string(),
///     "1:8: error: `NUMBER` is not defined; write `%import common.NUMBER` on a line of its own"
/// );
/// # Ok::<(), grammask_grammar_frontends::Diagnostics>(())
/// ```
pub fn parse(source: &str, options: &LarkOptions) -> Result<Grammar, Diagnostics> {
    parse_with_warnings(source, options).map(|(grammar, _)| grammar)
}

/// As [`parse`], and the [warnings](crate::json_schema::Report::warnings) of the JSON Schemas in it, each with its line.
///
/// # Errors
///
/// As for [`parse`].
pub fn parse_with_warnings(
    source: &str,
    options: &LarkOptions,
) -> Result<(Grammar, Vec<String>), Diagnostics> {
    let broken = |error: GrammarError| Diagnostics::from_grammar_error(source, &error);
    if may_commit(source, options) {
        let (mut shared, root) = read_all(source, options, Some(Vec::new()))?;
        let leaves = shared.leaves.take().unwrap_or_default();
        let has_changed = commit::commit(&mut shared.builder, root, &leaves, source)
            .map_err(|fault| located(source, unless_interrupted(&shared, vec![fault]), options))?;
        if has_changed {
            let warnings = shared.warnings.into_iter().collect();
            return Ok((shared.builder.finish(root).map_err(broken)?, warnings));
        }
    }
    let (shared, root) = read_all(source, options, None)?;
    let warnings = shared.warnings.into_iter().collect();
    Ok((shared.builder.finish(root).map_err(broken)?, warnings))
}

/// Reads a source and the grammars that it names. If leaves are told apart, the caller defines them.
fn read_all<'o>(
    source: &str,
    options: &'o LarkOptions,
    leaves: Option<Vec<Leaf>>,
) -> Result<(Shared<'o>, RuleId), Diagnostics> {
    let broken = |error: GrammarError| Diagnostics::from_grammar_error(source, &error);
    let mut shared = Shared {
        builder: GrammarBuilder::new().interrupted_by(options.json_schema.interrupt.clone()),
        options,
        named: HashMap::new(),
        unread: Vec::new(),
        pattern_budget: PatternBudget::new(&options.regex),
        schema_work: SharedWork::new(&options.json_schema.limits, source.len()),
        ends: (0, MAX_ALL_STEPS),
        written_out: 0,
        warnings: IndexSet::new(),
        unplaced_warnings: Vec::new(),
        origin: SourceOrigin::Main,
        leaves,
        lazy_terminals: HashSet::new(),
        bounded: Vec::new(),
        are_names_special: false,
    };
    let root = shared.builder.declare("root").map_err(broken)?;
    let start = read(&mut shared, source).map_err(|faults| located(source, faults, options))?;
    define(&mut shared.builder, root, start).map_err(broken)?;
    shared.origin = SourceOrigin::Named;
    while let Some((name, named_source, rule)) = shared.unread.pop() {
        let start = read(&mut shared, named_source).map_err(|faults| {
            let inner = located(named_source, faults, options);
            let about = inner.into_vec().into_iter().map(|inner| {
                let (line, column) = inner.line_and_column().unwrap_or((1, 1));
                let message = format!(
                    "in the grammar named `{name}`, line {line}, column {column}: {}",
                    inner.message()
                );
                let hint = inner.hint().unwrap_or("correct the named grammar").to_owned();
                Diagnostic::error(inner.code(), message).with_hint(hint)
            });
            Diagnostics::from_vec(about.collect()).unwrap_or_else(|| nothing_found(name))
        })?;
        define(&mut shared.builder, rule, start).map_err(broken)?;
    }
    define_bounded(&mut shared.builder, &shared.bounded).map_err(broken)?;
    Ok((shared, root))
}

/// Whether rules of a source, or of those that it may name, have attributes with which they commit. Words that look
/// like them elsewhere cost time and nothing else.
fn may_commit(source: &str, options: &LarkOptions) -> bool {
    let named = options.named.values().filter_map(|named| match named {
        NamedGrammar::Lark(source) => Some(source.as_str()),
        NamedGrammar::Grammar(_) => None,
    });
    let words = ["lazy", "suffix", "stop"];
    std::iter::once(source).chain(named).any(|source| words.iter().any(|word| source.contains(word)))
}

fn define(builder: &mut GrammarBuilder, rule: RuleId, start: RuleId) -> Result<(), GrammarError> {
    let body = builder.rule(start);
    builder.define(rule, body)
}

/// Reads one source and hands out its start rule, or all that is wrong with it.
fn read(shared: &mut Shared<'_>, source: &str) -> Result<RuleId, Vec<Fault>> {
    let limits = shared.options.limits;
    if source.len() > limits.source_bytes {
        let message =
            format!("the grammar is {} bytes long, more than {}", source.len(), limits.source_bytes);
        return Err(vec![Fault::limit(message, "shorten it or raise the limit `source_bytes`")]);
    }
    let tokens = token::lex(source, limits.tokens).map_err(|fault| vec![fault])?;
    let most = limits.reports.max(1);
    let mut faults = Vec::new();
    let mut report = |fault| {
        if faults.len() < most {
            faults.push(fault);
        }
    };
    let file = syntax::parse(source, &tokens.all, limits.nesting.min(MAX_NESTING), &mut report);
    let start = lower::lower(shared, source, &tokens.values, &file, &mut report);
    place_warnings(shared, source);
    match start {
        Some(start) if faults.is_empty() => Ok(start),
        _ => Err(unless_interrupted(shared, faults)),
    }
}

/// These faults, or the interrupt where it came: it is the reason for them.
fn unless_interrupted(shared: &Shared<'_>, faults: Vec<Fault>) -> Vec<Fault> {
    shared.builder.interrupted().map_or(faults, |reason| vec![Fault::interrupted(reason)])
}

/// Gives the warnings of a source their lines. It is walked through once, however many they are.
fn place_warnings(shared: &mut Shared<'_>, source: &str) {
    shared.unplaced_warnings.sort_by_key(|&(at, _)| at);
    let (mut line, mut read) = (1, 0);
    for (at, warning) in shared.unplaced_warnings.drain(..) {
        let at = at as usize;
        line += source[read..at].matches('\n').count();
        read = at;
        shared.warnings.insert(format!("line {line}: {warning}"));
    }
}

fn located(source: &str, faults: Vec<Fault>, options: &LarkOptions) -> Diagnostics {
    let mut found: Vec<Diagnostic> = faults.into_iter().map(|fault| fault.into_diagnostic(source)).collect();
    found.sort_by_key(|diagnostic| diagnostic.span().map(|span| (span.start, span.end)));
    Diagnostics::from_vec(found).unwrap_or_else(|| nothing_found(&options.start))
}

/// Every source that has no start was reported; this is what would be said if one was not.
fn nothing_found(name: &str) -> Diagnostics {
    Diagnostic::error("lark/start", format!("`{name}` has no start rule")).with_hint("define it").into()
}
