//! Host names, and mailboxes before them, as expressions without rules.
//!
//! A host name counts its characters beside those of its labels, which takes a product of some thirty thousand states.
//! Such an expression is good for asking whether a text is in it. Beside other conditions, where products multiply, only
//! some of the names are taken: all short ones, and of the long ones those whose labels can be bounded one by one. Where
//! a schema asks for nothing else, `lower` writes all of them with rules that count.

use grammask_grammar_ir::{ExprId, GrammarBuilder};

use super::whole_patterns::{ipv4, ipv6, part};

/// Characters of a host name.
pub(crate) const MAX_HOST: u32 = 253;

/// Characters of a label.
pub(crate) const MAX_LABEL: u32 = 63;

/// Characters of a mailbox.
pub(crate) const MAX_MAILBOX: u32 = MAX_LOCAL_PART + 1 + MAX_HOST;

/// Characters before the sign of a mailbox.
pub(crate) const MAX_LOCAL_PART: u32 = 64;

/// Which labels a host name has: letters, digits and inner hyphens, and of those with hyphens at their third and fourth
/// place some only.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Labels {
    /// RFC 1123, section 2.1: all.
    Any,
    /// None: `xn--` begins one whose decoded form RFC 5891 judges by tables and by context, and the others are
    /// reserved.
    Unreserved,
    /// Those that begin with `xn--`. RFC 5321 takes all labels, and some readers of mailboxes take none that is
    /// reserved.
    Encoded,
}

impl Labels {
    /// The pattern of a label of at most this many characters, six at least; of any number if that is left out.
    fn pattern(self, most: Option<u32>) -> String {
        let (end, inner) = ("[A-Za-z0-9]", "[A-Za-z0-9-]");
        let up_to = |others: u32| most.map_or("*".to_owned(), |most| format!("{{0,{}}}", most - others));
        if self == Self::Any {
            return format!("{end}(?:{inner}{}{end})?", up_to(2));
        }
        let encoded = match self {
            Self::Encoded => format!("|[Xx][Nn]--{inner}{}{end}", up_to(5)),
            _ => String::new(),
        };
        // By length: up to four characters; more, with the third or without it a letter or digit.
        let more = up_to(5);
        format!(
            "(?:{end}(?:{inner}{{0,2}}{end}|{inner}{end}{inner}{inner}{more}{end}|\
             {inner}-{end}(?:{inner}{more}{end})?)?{encoded})"
        )
    }

    /// The pattern of host names by their labels alone.
    fn names(self, most: Option<u32>, labels: &str) -> String {
        let label = self.pattern(most);
        format!("{label}(?:\\.{label}){labels}")
    }
}

/// The host names of at most this many characters.
pub(super) fn all_hosts(builder: &mut GrammarBuilder, labels: Labels, most: u32) -> Option<ExprId> {
    bounded(builder, &labels.names(Some(MAX_LABEL), "*"), most)
}

/// Texts of a pattern, with at most this many characters.
pub(crate) fn bounded(builder: &mut GrammarBuilder, pattern: &str, most: u32) -> Option<ExprId> {
    let texts = part(builder, pattern)?;
    let bound = part(builder, &format!(".{{1,{most}}}"))?;
    Some(builder.intersection([texts, bound]))
}

/// How many labels a long host name may have, and how long each may be.
const LONG_HOSTS: [(u32, u32); 4] = [(2, 63), (3, 63), (8, 30), (25, 9)];

/// No label of a name of this many characters is too long.
const MAX_SHORT_HOST: u32 = MAX_LABEL;

/// Some of the host names of at most this many characters: all short ones with few labels, and some others.
pub(super) fn some_hosts(builder: &mut GrammarBuilder, labels: Labels, most: u32) -> Option<ExprId> {
    let mut ways = Vec::new();
    for (count, longest) in LONG_HOSTS {
        let longest = longest.min(((most + 1) / count).saturating_sub(1));
        let length = count * (longest + 1) - 1;
        // Three labels of any length hold two of them.
        if longest >= 6 && length > MAX_SHORT_HOST && (count > 2 || most < 3 * 64 - 1) {
            ways.push(part(builder, &labels.names(Some(longest), &format!("{{0,{}}}", count - 1)))?);
        }
    }
    if most < MAX_HOST {
        ways.push(bounded(builder, &labels.names(None, "*"), most.min(MAX_SHORT_HOST))?);
    }
    Some(builder.choice(ways))
}

/// Mailboxes of RFC 5321, section 4.1.2, with the bounds of section 4.5.3.1 on their parts.
pub(super) fn mailbox(
    builder: &mut GrammarBuilder,
    labels: Labels,
    hosts: fn(&mut GrammarBuilder, Labels, u32) -> Option<ExprId>,
) -> Option<ExprId> {
    let before = bounded(builder, &local_part(), MAX_LOCAL_PART)?;
    let sign = builder.literal("@");
    let literal = part(builder, &literals())?;
    let host = hosts(builder, labels, MAX_HOST)?;
    let after = builder.choice([host, literal]);
    Some(builder.sequence([before, sign, after]))
}

/// Host names, or mailboxes, whose parts are as long as they like: a small automaton around all of them.
pub(crate) fn of_any_length(
    builder: &mut GrammarBuilder,
    labels: Labels,
    is_mailbox: bool,
) -> Option<ExprId> {
    let hosts = labels.names(None, "*");
    let texts = match is_mailbox {
        true => format!("{}@(?:{hosts}|{})", local_part(), literals()),
        false => hosts,
    };
    part(builder, &texts)
}

/// The part before the sign.
pub(crate) fn local_part() -> String {
    let atom = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+";
    let quoted = r#""(?:[ !#-\[\]-~]|\\[ -~])*""#;
    format!("(?:{atom}(?:\\.{atom})*|{quoted})")
}

/// Addresses instead of a host name; they are shorter than short host names.
pub(crate) fn literals() -> String {
    format!("\\[(?:{}|IPv6:{})\\]", ipv4(), ipv6())
}

/// Mailboxes of at most this many characters, with short hosts. A product with the length of long ones has too many states.
pub(super) fn mailbox_up_to(builder: &mut GrammarBuilder, labels: Labels, most: u32) -> Option<ExprId> {
    // One character, the sign and 64 others, or the reverse: no part is too long.
    let is_short = most <= 2 + MAX_LOCAL_PART;
    let (before, host) = if is_short {
        (part(builder, &local_part())?, part(builder, &labels.names(None, "*"))?)
    } else {
        let host = bounded(builder, &labels.names(None, "*"), MAX_SHORT_HOST)?;
        (bounded(builder, &local_part(), MAX_LOCAL_PART)?, host)
    };
    let sign = builder.literal("@");
    let literal = part(builder, &literals())?;
    let after = builder.choice([host, literal]);
    let whole = builder.sequence([before, sign, after]);
    if most < MAX_LOCAL_PART + 1 + MAX_SHORT_HOST {
        let bound = part(builder, &format!(".{{1,{most}}}"))?;
        return Some(builder.intersection([whole, bound]));
    }
    Some(whole)
}
