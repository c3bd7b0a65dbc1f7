//! Whitespace and punctuation between the values of a text.

use grammask_grammar_ir::{ExprId, GrammarBuilder};

use crate::diagnostic::{Diagnostic, Result};
use crate::json_schema::error::grammar_error;
use crate::json_schema::options::Whitespace;
use crate::json_schema::value_syntax::{NameSyntax, Notation};

/// Whitespace and punctuation, built once for each depth of indentation.
#[derive(Clone, Copy)]
pub(crate) struct Punctuation {
    /// After an opening and before a closing bracket, and before a comma.
    pub(crate) space: ExprId,
    /// Before the first item or member, after the space: a new line, where lines are indented.
    pub(crate) before_first: ExprId,
    /// After the last item or member, after the space.
    pub(crate) after_last: ExprId,
    /// A comma and the space after it.
    pub(crate) comma: ExprId,
    /// The comma alone, and the space after it.
    pub(crate) bare_comma: ExprId,
    pub(crate) after_comma: ExprId,
    /// From the quote that ends a name to the value.
    pub(crate) colon: ExprId,
    /// Before a name; nothing where names are not JSON's.
    pub(crate) quote: ExprId,
    /// Around the members of an object.
    pub(crate) open: ExprId,
    pub(crate) close: ExprId,
    pub(crate) names: NameSyntax,
}

/// The punctuation of JSON at every depth; one for all where lines are not indented.
pub(crate) fn json(
    builder: &mut GrammarBuilder,
    whitespace: &Whitespace,
    names: NameSyntax,
) -> Result<Vec<Punctuation>> {
    let nothing = builder.empty();
    let after_name = if names == NameSyntax::Json { "\"" } else { "" };
    let quote = if names == NameSyntax::Json { builder.literal(after_name) } else { nothing };
    let unbroken = Punctuation {
        space: nothing,
        before_first: nothing,
        after_last: nothing,
        comma: nothing,
        bare_comma: nothing,
        after_comma: nothing,
        colon: nothing,
        quote,
        open: builder.literal("{"),
        close: builder.literal("}"),
        names,
    };
    Ok(match whitespace {
        Whitespace::Free { .. } | Whitespace::Printed => {
            let run = match whitespace {
                Whitespace::Free { max_run } => blanks(builder, *max_run),
                _ => printed_gap(builder),
            };
            let rule = builder.add_rule("ws", run).map_err(grammar_error)?;
            let space = builder.rule(rule);
            let (bare_comma, colon) = (builder.literal(","), builder.literal(":"));
            let comma = builder.sequence([bare_comma, space]);
            let colon = builder.sequence([quote, space, colon, space]);
            vec![Punctuation { space, comma, bare_comma, after_comma: space, colon, ..unbroken }]
        }
        Whitespace::Compact => {
            let (comma, colon) = (builder.literal(","), builder.literal(&format!("{after_name}:")));
            vec![Punctuation { comma, bare_comma: comma, colon, ..unbroken }]
        }
        Whitespace::Fixed { item_separator, key_separator } => {
            check_separators(item_separator, key_separator)?;
            let comma = builder.literal(item_separator);
            let colon = builder.literal(&format!("{after_name}{key_separator}"));
            vec![Punctuation { comma, bare_comma: comma, colon, ..unbroken }]
        }
        Whitespace::Indented { indent, item_separator, key_separator, max_depth } => {
            check_separators(item_separator, key_separator)?;
            if !indent.chars().all(is_blank) {
                let message = "an indentation is spaces and tabs";
                return Err(Box::new(Diagnostic::error("json-schema/options", message)));
            }
            if *max_depth > MAX_DEPTH {
                let message = format!("indentation goes {MAX_DEPTH} levels deep at most");
                return Err(Box::new(Diagnostic::error("json-schema/options", message)));
            }
            let colon = builder.literal(&format!("{after_name}{key_separator}"));
            let levels = (0..=*max_depth as usize).map(|depth| {
                let (outer, inner) = (indent.repeat(depth), indent.repeat(depth + 1));
                let comma = builder.literal(&format!("{item_separator}\n{inner}"));
                Punctuation {
                    before_first: builder.literal(&format!("\n{inner}")),
                    after_last: builder.literal(&format!("\n{outer}")),
                    comma,
                    bare_comma: comma,
                    colon,
                    ..unbroken
                }
            });
            levels.collect()
        }
    })
}

/// Any whitespace, up to some characters.
pub(crate) fn blanks(builder: &mut GrammarBuilder, max_run: Option<u32>) -> ExprId {
    let blank = builder.class([(' ', ' '), ('\t', '\t'), ('\n', '\n'), ('\r', '\r')]);
    builder.repeat(blank, 0, max_run)
}

/// Blanks of one line that is indented.
const WIDEST_INDENT: u32 = 64;

/// Nothing, a space, or a line feed and the blanks that the next line begins with.
fn printed_gap(builder: &mut GrammarBuilder) -> ExprId {
    let (space, line_feed) = (builder.literal(" "), builder.literal("\n"));
    let blank = builder.class([(' ', ' '), ('\t', '\t')]);
    let indent = builder.repeat(blank, 0, Some(WIDEST_INDENT));
    let line = builder.sequence([line_feed, indent]);
    let gap = builder.choice([space, line]);
    builder.optional(gap)
}

/// The punctuation of arguments in a notation, and that of the values in them.
pub(crate) fn notation(
    builder: &mut GrammarBuilder,
    whitespace: &Whitespace,
    notation: &Notation,
) -> Result<(Punctuation, Punctuation)> {
    let nothing = builder.empty();
    let mut space = nothing;
    match (whitespace, notation.blank) {
        (Whitespace::Free { .. } | Whitespace::Printed, Some(blank)) => {
            let most = match whitespace {
                Whitespace::Free { max_run } => *max_run,
                _ => Some(1),
            };
            let blank = builder.class([(blank, blank)]);
            let run = builder.repeat(blank, 0, most);
            let rule = builder.add_rule("ws", run).map_err(grammar_error)?;
            space = builder.rule(rule);
        }
        (Whitespace::Free { .. } | Whitespace::Printed | Whitespace::Compact, _) => {}
        (Whitespace::Fixed { .. } | Whitespace::Indented { .. }, _) => {
            let message =
                "separators and indentation are those of JSON, and the values are written otherwise";
            let error = Diagnostic::error("json-schema/options", message);
            return Err(Box::new(error.with_hint("leave whitespace free, or ask for none")));
        }
    }
    let comma = builder.literal(",");
    let colon = builder.literal(":");
    let values = Punctuation {
        space,
        before_first: nothing,
        after_last: nothing,
        comma: builder.sequence([comma, space]),
        bare_comma: comma,
        after_comma: space,
        colon: builder.sequence([space, colon, space]),
        quote: nothing,
        open: builder.literal("{"),
        close: builder.literal("}"),
        names: notation.names,
    };
    let (open, assign, close) = notation.arguments;
    let arguments = Punctuation {
        colon: builder.literal(assign),
        open: builder.literal(open),
        close: builder.literal(close),
        names: NameSyntax::Bare,
        ..values
    };
    Ok((arguments, values))
}

/// Levels of indentation: each has its own rules.
const MAX_DEPTH: u32 = 128;

fn is_blank(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\r')
}

fn check_separators(item_separator: &str, key_separator: &str) -> Result<()> {
    let fits = |separator: &str, mark: &str| separator.trim_matches(is_blank) == mark;
    if fits(item_separator, ",") && fits(key_separator, ":") {
        return Ok(());
    }
    let message = "a separator is a comma (between items) or a colon (between name and value), with whitespace around it";
    Err(Box::new(Diagnostic::error("json-schema/options", message)))
}
