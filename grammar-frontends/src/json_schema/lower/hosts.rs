//! Host names and mailboxes, whose characters are counted twice: those of each label, and those of the whole.
//!
//! The naive way is the product of both counts, some thirty thousand states. Here a rule is *how many
//! characters are left*, and a label is cut into pieces. The first has 43, 32, 16 or no characters, the second 12, 8,
//! 4 or none, and the third 3, 2, 1 or none. They add up to any length from 0 to 58. A piece is one automaton,
//! whichever rule calls it, so that there are four rules for each number of characters left. A label may be cut in
//! several ways; all lead to the same rules.

use std::borrow::Cow;

use grammask_grammar_ir::hash::HashMap;
use grammask_grammar_ir::{ExprId, Grammar, GrammarBuilder, GrammarError, RuleId, passes};
use once_cell::race::OnceBox;

use super::lowering::SchemaLowering;
use crate::diagnostic::Result;
use crate::json_schema::error::grammar_error;
use crate::json_schema::options::Escapes;
use crate::json_schema::sets::hosts::{self, Labels, MAX_HOST, MAX_LOCAL_PART, MAX_MAILBOX};
use crate::json_schema::sets::string_shape::StringShape;
use crate::json_schema::sets::text_tests::{Approximation, Polarity, TextTest};
use crate::json_schema::sets::whole_patterns::whole;

/// The lengths of the pieces. One or none of each row, in this order, are the middle of a label.
const PIECES: [[u32; 3]; 3] = [[43, 32, 16], [12, 8, 4], [3, 2, 1]];

/// Pieces of this many characters are rules, so that callers do not copy them.
const LONG_PIECE: u32 = 4;

/// Characters of a label that are written before the pieces.
const WRITTEN: u32 = 4;

/// Tests of one shape, if it is tried whether some are implied.
const MAX_TRIED: usize = 8;

/// Units of work for writing the texts around a format, before their automaton is made.
const WORK_OF_TRIAL: usize = 10_000;

/// Rules for what is left of a text, and the expressions that they share.
struct CountedText {
    /// A letter or digit.
    end: ExprId,
    /// These and a hyphen.
    inner: ExprId,
    dot: ExprId,
    /// The ways in which a label of five characters or more begins, of four characters each.
    beginnings: Vec<ExprId>,
    pieces: [[ExprId; 3]; PIECES.len()],
    /// The rules for the rest of a name: after a label, or within a label before one of the pieces. Each is found by the
    /// number of characters that are left.
    rules: HashMap<Left, RuleId>,
}

/// The rest of a host name.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Left {
    /// Most characters.
    most: u32,
    /// With this many left or fewer the name may end.
    end: u32,
    /// The first piece that may follow, or [`LABEL`].
    from: usize,
}

/// Instead of a piece: the beginning of a label.
const LABEL: usize = usize::MAX;

/// The greatest least length that the rules count to.
const MAX_LEAST: u64 = 16;

impl Left {
    fn new(most: u32, end: u32, from: usize) -> Self {
        // Where it may end anywhere, it does not matter how long it was before.
        Self { most, end: end.min(most), from }
    }

    /// A host name of this many characters.
    fn host(least: u32, most: u32) -> Self {
        Self::new(most, most.saturating_sub(least.max(1)), LABEL)
    }

    fn label(self, read: u32) -> Option<Self> {
        let most = self.most.checked_sub(read + 1).filter(|&most| most > 0)?;
        Some(Self::new(most, self.end, LABEL))
    }

    fn piece(self, read: u32, from: usize) -> Option<Self> {
        let most = self.most.checked_sub(read).filter(|&most| most > 0)?;
        Some(Self::new(most, self.end, from))
    }

    /// The rests that the body of its rule refers to.
    fn needs(self) -> Vec<Self> {
        match (self.from, PIECES.get(self.from)) {
            (LABEL, _) => {
                (1..=WRITTEN).filter_map(|read| self.label(read)).chain(self.piece(WRITTEN, 0)).collect()
            }
            (_, Some(lengths)) => {
                [0].iter().chain(lengths).filter_map(|&read| self.piece(read, self.from + 1)).collect()
            }
            (_, None) => self.label(1).into_iter().collect(),
        }
    }
}

type Written<T> = std::result::Result<T, GrammarError>;

/// How the characters of host names may be spelled. No serialiser escapes one of them.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Spelling {
    Plain,
    AnyEscapes,
}

impl Spelling {
    fn of(escapes: Escapes) -> Self {
        match escapes {
            Escapes::Any => Self::AnyEscapes,
            Escapes::Printed | Escapes::Needed | Escapes::Ascii => Self::Plain,
        }
    }

    fn write(self, builder: &mut GrammarBuilder, text: ExprId) -> ExprId {
        match self {
            Self::Plain => text,
            Self::AnyEscapes => builder.json_escaped(text),
        }
    }
}

/// Letters, digits and some signs.
fn characters(signs: &str) -> impl Iterator<Item = (char, char)> {
    [('0', '9'), ('A', 'Z'), ('a', 'z')].into_iter().chain(signs.chars().map(|sign| (sign, sign)))
}

/// Host names of every length. They are asked for often, and their rules take longer to write than most schemas.
fn whole_hosts(labels: Labels, spelling: Spelling) -> Option<&'static Grammar> {
    static HOSTS: [[OnceBox<Option<Grammar>>; 2]; 3] = [const { [const { OnceBox::new() }; 2] }; 3];
    let kind = match labels {
        Labels::Any => 0,
        Labels::Unreserved => 1,
        Labels::Encoded => 2,
    };
    let write = || {
        let mut builder = GrammarBuilder::new();
        let mut text = CountedText::new(&mut builder, labels, spelling).ok()?;
        let root = text.rule_of(&mut builder, Left::host(1, MAX_HOST)).ok()?;
        builder.finish(root).ok()
    };
    HOSTS[kind][usize::from(spelling == Spelling::AnyEscapes)].get_or_init(|| Box::new(write())).as_ref()
}

/// The text before the sign of a mailbox, and the addresses that may stand for a host name.
fn parts_of_mailbox() -> &'static [Option<Grammar>; 2] {
    static PARTS: OnceBox<[Option<Grammar>; 2]> = OnceBox::new();
    PARTS.get_or_init(|| Box::new([whole(&hosts::local_part()), whole(&hosts::literals())]))
}

impl CountedText {
    fn new(builder: &mut GrammarBuilder, labels: Labels, spelling: Spelling) -> Written<Self> {
        let mut class = |ranges: &mut dyn Iterator<Item = (char, char)>| {
            let class = builder.class(ranges);
            spelling.write(builder, class)
        };
        let (end, inner) = (class(&mut characters("")), class(&mut characters("-")));
        let [hyphen, dot] = ['-', '.'].map(|sign| class(&mut [(sign, sign)].into_iter()));
        let [x, n] = ["Xx", "Nn"].map(|cases| class(&mut cases.chars().map(|letter| (letter, letter))));
        let mut beginnings = match labels {
            Labels::Any => vec![[end, inner, inner, inner]],
            Labels::Unreserved | Labels::Encoded => vec![[end, inner, end, inner], [end, inner, hyphen, end]],
        };
        beginnings.extend((labels == Labels::Encoded).then_some([x, n, hyphen, hyphen]));
        let beginnings = beginnings.into_iter().map(|parts| builder.sequence(parts)).collect();
        let mut pieces = PIECES.map(|row| row.map(|length| builder.repeat(inner, length, Some(length))));
        for (piece, length) in pieces.as_flattened_mut().iter_mut().zip(PIECES.into_iter().flatten()) {
            if length >= LONG_PIECE {
                let rule = builder.declare_fresh("label")?;
                builder.define(rule, *piece)?;
                *piece = builder.rule(rule);
            }
        }
        Ok(Self { end, inner, dot, beginnings, pieces, rules: HashMap::default() })
    }

    /// The rule for a rest of a host name. Each rule refers to rules with fewer characters left, or with a later piece.
    fn rule_of(&mut self, builder: &mut GrammarBuilder, left: Left) -> Written<RuleId> {
        let mut open = vec![left];
        while let Some(&next) = open.last() {
            let before = open.len();
            open.extend(next.needs().into_iter().filter(|needed| !self.rules.contains_key(needed)));
            if open.len() > before {
                continue;
            }
            open.pop();
            if self.rules.contains_key(&next) {
                continue;
            }
            let body = match next.from {
                LABEL => self.label_of(builder, next),
                _ => self.rest_of_label(builder, next),
            };
            let rule = builder.declare_fresh("host")?;
            builder.define(rule, body)?;
            self.rules.insert(next, rule);
        }
        Ok(self.rules[&left])
    }

    fn known(&self, builder: &mut GrammarBuilder, left: Option<Left>) -> ExprId {
        match left.and_then(|left| self.rules.get(&left)) {
            Some(&rule) => builder.rule(rule),
            None => builder.never(),
        }
    }

    /// After a label of this many characters: nothing more, or a dot and another label.
    fn after_label(&self, builder: &mut GrammarBuilder, left: Left, read: u32) -> ExprId {
        let mut ways = Vec::new();
        if left.most.checked_sub(read).is_some_and(|most| most <= left.end) {
            ways.push(builder.empty());
        }
        if let Some(next) = left.label(read) {
            let next = self.known(builder, Some(next));
            ways.push(builder.sequence([self.dot, next]));
        }
        builder.choice(ways)
    }

    fn label_of(&self, builder: &mut GrammarBuilder, left: Left) -> ExprId {
        let &Self { end, inner, .. } = self;
        let mut ways = Vec::new();
        // Without a beginning of four characters and more after it.
        for length in 1..=WRITTEN.min(left.most) {
            let inside = length.saturating_sub(2);
            let inside = builder.repeat(inner, inside, Some(inside));
            let last = if length > 1 { end } else { builder.empty() };
            let after = self.after_label(builder, left, length);
            ways.push(builder.sequence([end, inside, last, after]));
        }
        if let Some(rest) = left.piece(WRITTEN, 0) {
            let beginning = builder.choice(self.beginnings.iter().copied());
            let rest = self.known(builder, Some(rest));
            ways.push(builder.sequence([beginning, rest]));
        }
        builder.choice(ways)
    }

    /// Any of the pieces from one on, the last character of a label, and what follows it.
    fn rest_of_label(&self, builder: &mut GrammarBuilder, left: Left) -> ExprId {
        let Some(lengths) = PIECES.get(left.from) else {
            let after = self.after_label(builder, left, 1);
            return builder.sequence([self.end, after]);
        };
        let mut ways = vec![self.known(builder, left.piece(0, left.from + 1))];
        for (&piece, &length) in self.pieces[left.from].iter().zip(lengths) {
            if let Some(rest) = left.piece(length, left.from + 1) {
                let rest = self.known(builder, Some(rest));
                ways.push(builder.sequence([piece, rest]));
            }
        }
        builder.choice(ways)
    }
}

impl<'s> SchemaLowering<'s> {
    /// A shape without the patterns that every text of its host names or mailboxes matches. Many schemas have such a
    /// pattern beside the format, and the format alone can be counted.
    pub(super) fn without_implied_patterns<'a>(
        &self,
        shape: &'a StringShape<'s>,
    ) -> Cow<'a, StringShape<'s>> {
        let tests = &self.normalizer.algebra.tests;
        let format_at = |test: &TextTest| {
            let format = tests.format_of(test.test).filter(|_| test.sense == Polarity::Holds)?;
            Some((format.labels()?, format.name == "email"))
        };
        let is_tried = shape.tests.len() > 1 && shape.tests.len() <= MAX_TRIED;
        let format = shape.tests.iter().find_map(format_at).filter(|_| is_tried);
        let Some((labels, is_mailbox)) = format else { return Cow::Borrowed(shape) };
        let is_implied = |test: &TextTest| {
            if test.sense == Polarity::Fails || tests.format_of(test.test).is_some() {
                return false;
            }
            self.normalizer.algebra.work.charge(WORK_OF_TRIAL);
            let mut builder = GrammarBuilder::new();
            let others = || {
                let texts = hosts::of_any_length(&mut builder, labels, is_mailbox)?;
                let pattern = tests.build(test.test, Approximation::Within, &mut builder)?;
                let others = builder.complement(pattern);
                let others = builder.intersection([texts, others]);
                self.texts_of(builder, others)
            };
            others().is_some_and(|others| others.is_empty())
        };
        let mut shape = shape.clone();
        shape.tests.retain(|test| !is_implied(test));
        Cow::Owned(shape)
    }

    /// The strings of a shape that asks for a host name or a mailbox and at most for a length; `None` for another one.
    pub(super) fn counted_format(&mut self, shape: &StringShape<'s>) -> Result<Option<ExprId>> {
        let tests = &self.normalizer.algebra.tests;
        let [test] = shape.tests.as_slice() else { return Ok(None) };
        let Some(format) = tests.format_of(test.test).filter(|_| test.sense == Polarity::Holds) else {
            return Ok(None);
        };
        let (Some(labels), true) = (format.labels(), shape.excluded.is_empty() && shape.values.is_none())
        else {
            return Ok(None);
        };
        let is_mailbox = format.name == "email";
        let fits = |bound: u64| u32::try_from(bound).unwrap_or(u32::MAX);
        let most = shape.max.map_or(u32::MAX, fits);
        // The shortest ones are `a` and `a@b`.
        let least = if shape.min <= if is_mailbox { 3 } else { 1 } { 0 } else { fits(shape.min) };
        match is_mailbox {
            true if least > 0 && most > MAX_HOST + 2 && shape.min > MAX_LEAST => Ok(None),
            true => self.mailbox(labels, least, most).map(Some),
            false if least > MAX_HOST => Ok(None),
            false if least == 0 && most >= MAX_HOST => self.any_host(labels).map(Some),
            false => {
                let mut text = self.counted_text(labels)?;
                self.host(&mut text, Left::host(least, most.min(MAX_HOST))).map(Some)
            }
        }
    }

    fn class_of(&mut self, signs: &str) -> ExprId {
        let class = self.builder.class(characters(signs));
        self.escaped(class)
    }

    fn sign(&mut self, sign: &str) -> ExprId {
        let sign = self.builder.literal(sign);
        self.escaped(sign)
    }

    fn counted_text(&mut self, labels: Labels) -> Result<CountedText> {
        let spelling = Spelling::of(self.normalizer.options.escapes);
        CountedText::new(&mut self.builder, labels, spelling).map_err(grammar_error)
    }

    /// Host names of every length.
    fn any_host(&mut self, labels: Labels) -> Result<ExprId> {
        if let Some(&known) = self.hosts.get(&labels) {
            return Ok(self.builder.rule(known));
        }
        let spelling = Spelling::of(self.normalizer.options.escapes);
        let Some(hosts) = whole_hosts(labels, spelling) else { return Ok(self.builder.never()) };
        let rule = passes::append(&mut self.builder, hosts).map_err(grammar_error)?;
        self.hosts.insert(labels, rule);
        Ok(self.builder.rule(rule))
    }

    /// Host names of so many characters.
    fn host(&mut self, text: &mut CountedText, left: Left) -> Result<ExprId> {
        let rule = text.rule_of(&mut self.builder, left).map_err(grammar_error)?;
        Ok(self.builder.rule(rule))
    }

    /// Mailboxes of at most this many characters.
    fn mailbox(&mut self, labels: Labels, least: u32, most: u32) -> Result<ExprId> {
        let sign = self.sign("@");
        let [local, literal] = parts_of_mailbox().each_ref().map(|grammar| {
            grammar.as_ref().and_then(|grammar| passes::append_body(&mut self.builder, grammar))
        });
        let (Some(local), Some(literal)) = (local, literal) else { return Ok(self.builder.never()) };
        let any = self.builder.any_char();
        let bound = self.builder.repeat(any, 1, Some(MAX_LOCAL_PART));
        let local = self.builder.intersection([local, bound]);
        if least == 0 && most >= MAX_MAILBOX {
            let (local, literal) = (self.escaped(local), self.escaped(literal));
            let host = self.any_host(labels)?;
            let after = self.builder.choice([host, literal]);
            return Ok(self.builder.sequence([local, sign, after]));
        }
        let at = self.builder.literal("@");
        let whole = self.builder.sequence([local, at, literal]);
        let any = self.builder.any_char();
        let bound = self.builder.repeat(any, least, Some(most.min(MAX_MAILBOX)));
        let whole = self.builder.intersection([whole, bound]);
        let with_literal = self.escaped(whole);
        let with_host = self.counted_local_part(labels, sign, (least, most.min(MAX_MAILBOX)))?;
        Ok(self.builder.choice([with_host, with_literal]))
    }

    /// A mailbox whose length is counted: the part before the sign, with a rule for each number of characters that were
    /// read, and a host name.
    fn counted_local_part(
        &mut self,
        labels: Labels,
        sign: ExprId,
        (least, most): (u32, u32),
    ) -> Result<ExprId> {
        let mut text = self.counted_text(labels)?;
        let atom = self.class_of("!#$%&'*+/=?^_`{|}~-");
        let quote = self.sign("\"");
        let (plain, printable) =
            (self.builder.class([(' ', '!'), ('#', '['), (']', '~')]), self.builder.class([(' ', '~')]));
        let (plain, printable, backslash) = (self.escaped(plain), self.escaped(printable), self.sign("\\"));
        // After one and after two characters more: after a letter, and inside of quotes.
        let never = self.builder.never();
        let (mut one, mut two) = ([never; 2], [never; 2]);
        for read in (1..=MAX_LOCAL_PART).rev() {
            let mut now = [never; 2];
            let host = self.host_after(&mut text, read + 1, (least, most))?;
            let end = self.builder.sequence([sign, host]);
            let more = self.builder.sequence([atom, one[0]]);
            let dot = self.builder.sequence([text.dot, atom, two[0]]);
            let letter = self.builder.choice([end, more, dot]);
            let host = match read < MAX_LOCAL_PART {
                true => self.host_after(&mut text, read + 2, (least, most))?,
                false => never,
            };
            let closed = self.builder.sequence([quote, sign, host]);
            let more = self.builder.sequence([plain, one[1]]);
            let escape = self.builder.sequence([backslash, printable, two[1]]);
            let quoted = self.builder.choice([closed, more, escape]);
            for (place, body) in [letter, quoted].into_iter().enumerate() {
                let rule = self.builder.declare_fresh("mailbox").map_err(grammar_error)?;
                self.builder.define(rule, body).map_err(grammar_error)?;
                now[place] = self.builder.rule(rule);
            }
            (one, two) = (now, one);
        }
        let plain = self.builder.sequence([atom, one[0]]);
        let quoted = self.builder.sequence([quote, one[1]]);
        Ok(self.builder.choice([plain, quoted]))
    }

    /// A host name after this many characters.
    fn host_after(&mut self, text: &mut CountedText, read: u32, (least, most): (u32, u32)) -> Result<ExprId> {
        let left = most.saturating_sub(read).min(MAX_HOST);
        let needed = least.saturating_sub(read).max(1);
        if needed > left {
            return Ok(self.builder.never());
        }
        self.host(text, Left::host(needed, left))
    }
}
