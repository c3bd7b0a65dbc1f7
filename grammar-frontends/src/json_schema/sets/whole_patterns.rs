//! Patterns over whole texts as grammars, and those that several formats share.

use grammask_grammar_ir::{ExprId, Grammar, GrammarBuilder, passes};

use crate::regex::{self, Matching, RegexOptions};

/// The grammar of the texts that a pattern matches as a whole.
pub(crate) fn whole(pattern: &str) -> Option<Grammar> {
    let mut options = RegexOptions { matching: Matching::Whole, ..RegexOptions::json_schema() };
    // The patterns are those of this folder.
    options.limits.pattern_bytes = usize::MAX;
    regex::parse(pattern, &options).ok()
}

/// As [`whole`], inside another grammar.
pub(super) fn part(builder: &mut GrammarBuilder, pattern: &str) -> Option<ExprId> {
    passes::append_body(builder, &whole(pattern)?)
}

/// RFC 2673, section 3.2: four decimal bytes without leading zeros.
pub(super) fn ipv4() -> String {
    let byte = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";
    format!("(?:{byte}\\.){{3}}{byte}")
}

/// RFC 4291, section 2.2, by the number of groups after `::`.
pub(super) fn ipv6() -> String {
    let group = "[0-9A-Fa-f]{1,4}";
    let last = format!("(?:{group}:{group}|{})", ipv4());
    let before = |most: u32| format!("(?:(?:{group}:){{0,{most}}}{group})?");
    let mut forms = vec![format!("(?:{group}:){{6}}{last}"), format!("::(?:{group}:){{5}}{last}")];
    for most in 0..5u32 {
        forms.push(format!("{}::(?:{group}:){{{}}}{last}", before(most), 4 - most));
    }
    forms.push(format!("{}::{group}", before(5)));
    forms.push(format!("{}::", before(6)));
    format!("(?:{})", forms.join("|"))
}
