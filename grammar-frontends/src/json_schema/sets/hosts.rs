//! Host names, and mailboxes before them, as expressions without rules.
//!
//! A host name counts its characters beside those of its labels: some thirty thousand pairs of a place in a label and a
//! length. Where the texts stand by themselves, the engine counts the length beside the automaton of the labels. A mailbox
//! has two such bounds, on its host name and on the whole; its forms below have one at a time.

use grammask_grammar_ir::{ExprId, GrammarBuilder};

use super::whole_patterns::{ipv4, ipv6, part};

/// Characters of a host name.
pub(crate) const MAX_HOST: u32 = 253;

/// No label of a host name of this many characters is too long.
pub(super) const MAX_SHORT_HOST: u32 = MAX_LABEL;

/// Characters of a label.
const MAX_LABEL: u32 = 63;

/// Characters of a mailbox.
pub(super) const MAX_MAILBOX: u32 = MAX_LOCAL_PART + 1 + MAX_HOST;

/// A mailbox of at most this many characters has no host name that is too long.
const MAX_SHORT_MAILBOX: u32 = MAX_HOST + 2;

/// Characters before the sign of a mailbox.
const MAX_LOCAL_PART: u32 = 64;

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
    /// The pattern of a label in a host name of at most so many characters.
    fn pattern(self, longest_host: u32) -> String {
        let (end, inner) = ("[A-Za-z0-9]", "[A-Za-z0-9-]");
        let is_short = longest_host <= MAX_SHORT_HOST;
        let up_to =
            |others: u32| if is_short { "*".to_owned() } else { format!("{{0,{}}}", MAX_LABEL - others) };
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

    /// The pattern of host names of at most so many characters by their labels alone.
    fn names(self, longest: u32) -> String {
        let label = self.pattern(longest);
        format!("{label}(?:\\.{label})*")
    }
}

/// The host names of at most this many characters.
pub(super) fn hosts(builder: &mut GrammarBuilder, labels: Labels, most: u32) -> Option<ExprId> {
    let names = part(builder, &labels.names(most))?;
    Some(bounded(builder, names, (1, most)))
}

/// Those of some texts that have so many characters.
fn bounded(builder: &mut GrammarBuilder, texts: ExprId, (least, most): (u32, u32)) -> ExprId {
    let any = builder.any_char();
    let bound = builder.repeat(any, least, Some(most));
    builder.intersection([texts, bound])
}

/// Mailboxes of RFC 5321, section 4.1.2, with the bounds of section 4.5.3.1 on their parts.
pub(super) fn mailboxes(builder: &mut GrammarBuilder, labels: Labels, longest_host: u32) -> Option<ExprId> {
    let hosts = hosts(builder, labels, longest_host)?;
    let literal = part(builder, &literals())?;
    let hosts = builder.choice([hosts, literal]);
    at_hosts(builder, (1, MAX_LOCAL_PART), hosts)
}

/// The mailboxes of so many characters, [`MAX_SHORT_MAILBOX`] at most: their length bounds that of their host names.
pub(super) fn short_mailboxes(
    builder: &mut GrammarBuilder,
    labels: Labels,
    (least, most): (u32, u32),
) -> Option<ExprId> {
    let names = part(builder, &labels.names(MAX_HOST))?;
    let literal = part(builder, &literals())?;
    let hosts = builder.choice([names, literal]);
    let texts = at_hosts(builder, (1, MAX_LOCAL_PART), hosts)?;
    Some(bounded(builder, texts, (least, most.min(MAX_SHORT_MAILBOX))))
}

/// The mailboxes of so many characters, no more than [`MAX_HOST`] at least.
pub(super) fn mailboxes_of(
    builder: &mut GrammarBuilder,
    labels: Labels,
    (least, most): (u32, u32),
) -> Option<ExprId> {
    if most <= MAX_SHORT_MAILBOX {
        return short_mailboxes(builder, labels, (least, most));
    }
    let most = most.min(MAX_MAILBOX);
    // A text of this many characters before the sign may have any host name.
    let unbounded = most - 1 - MAX_HOST;
    let names = part(builder, &labels.names(MAX_HOST))?;
    let long_hosts = bounded(builder, names, (least.max(1), MAX_HOST));
    // Addresses in place of host names are short, and so are texts whose host names are shorter than the least length.
    let short = short_mailboxes(builder, labels, (least, most))?;
    let mut ways = vec![short, at_hosts(builder, (1, unbounded), long_hosts)?];
    if unbounded < MAX_LOCAL_PART {
        let texts = at_hosts(builder, (unbounded + 1, MAX_LOCAL_PART), names)?;
        ways.push(bounded(builder, texts, (least, most)));
    }
    Some(builder.choice(ways))
}

/// Mailboxes with so many characters before the sign, and one of some hosts after it.
fn at_hosts(builder: &mut GrammarBuilder, local: (u32, u32), hosts: ExprId) -> Option<ExprId> {
    let before = part(builder, &local_part())?;
    let before = bounded(builder, before, local);
    let sign = builder.literal("@");
    Some(builder.sequence([before, sign, hosts]))
}

/// The part before the sign.
fn local_part() -> String {
    let atom = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+";
    let quoted = r#""(?:[ !#-\[\]-~]|\\[ -~])*""#;
    format!("(?:{atom}(?:\\.{atom})*|{quoted})")
}

/// Addresses instead of a host name; they are shorter than short host names.
fn literals() -> String {
    format!("\\[(?:{}|IPv6:{})\\]", ipv4(), ipv6())
}
