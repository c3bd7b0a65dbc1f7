//! Facts about automata before they are built.
//!
//! A program that refers to another one needs to know little of it. The other one must derive something and
//! must not begin with itself, so that no fact about the whole depends on it. Also needed are the bytes that
//! it distinguishes. For most grammars one pass over the expressions is enough. Facts are found on the way
//! back from the operands; references back to an expression that is being visited are assumed to derive
//! nothing, and visited again until nothing changes. Sizes are added up as the build would write them. They
//! are counted against limits on the whole and budgets of memory, and nothing else depends on them.
//!
//! Some parts are left to the build. They are those that only an automaton can decide (intersections,
//! complements of more than a list of names), those that name tokens, and rules with options.

use grammask_grammar_ir::{CharRange, Expr, ExprId, Grammar, Interrupt, JsonEscapes, RuleId};

use crate::ids::Id;
use crate::options::{CompileOptions, PartSize};
use crate::pace::Pace;
use crate::program::byte_classes::ByteClasses;
use crate::program::deferred::{Callable, Footprint};
use crate::program::tables::Program;
use crate::utf8::SEQUENCES;

/// Automata that are written in more states than this are built at once: a text would wait long for them.
const MAX_STATES: u32 = 1 << 18;

/// This many of the written states become one. For 7,248 JSON schemas the mean is 6, and for all but two of
/// those that are not small it is more than 2.
pub(crate) const MERGED: u32 = 4;

/// The same for a [`SizeEstimate`], which is less exact. For 2,170 schemas of tools the mean is 6.4, and
/// sub-programs with too large an estimate drive others out of the cache.
const ESTIMATE_MERGED: u32 = 8;

/// Bytes of memory that a state takes with its edges, about.
const STATE_BYTES: usize = 64;

/// Literals of one choice inside a JSON string, in bytes: more are minimised under a limit on work.
const MAX_TEXT: usize = 1 << 12;

/// How often facts are looked at again for the sake of references back.
const MAX_ROUNDS: u32 = 16;

impl Footprint {
    /// Whether all facts but the size are those of a program.
    pub(crate) fn is_true_of(&self, program: &Program) -> bool {
        let root = program.fragment(program.root());
        let both = ByteClasses::finer([&self.classes, &program.byte_classes]);
        !root.call_is_nullable()
            && program.labels.is_empty()
            && program.sub_programs.is_empty()
            && !program.own_options()
            && both == self.classes
            && !program.left_corners().has_cycles()
    }
}

/// The estimate for the automata of a grammar. `None` if one pass is not enough.
pub(crate) fn estimate(grammar: &Grammar, options: &CompileOptions) -> Option<Footprint> {
    if !grammar.rule(grammar.root()).options().is_empty() {
        return None;
    }
    let survey = Survey::new(grammar, options, u64::from(MAX_STATES), &mut Pace::new(&Interrupt::never()))?;
    if !survey.is_clear(grammar.root()) {
        return None;
    }
    footprint(u32::try_from(survey.total).ok()?, MERGED, survey.bytes, options)
}

/// As [`Footprint::estimated`], if that is not too much.
fn footprint(written: u32, merged: u32, bytes: ByteBounds, options: &CompileOptions) -> Option<Footprint> {
    if written > MAX_STATES || usize::try_from(written).is_ok_and(|written| written > options.max_states) {
        return None;
    }
    Some(Footprint::estimated(written, merged, bytes.classes()))
}

impl Footprint {
    /// The footprint of automata that are written in `written` states, of which `merged` become one.
    fn estimated(written: u32, merged: u32, classes: ByteClasses) -> Self {
        let states = usize::try_from(64 + written / merged).unwrap_or(usize::MAX);
        Self {
            size: PartSize { states, edges: 2 * states },
            bytes: states * STATE_BYTES,
            callable: Callable::Anywhere,
            has_options: false,
            has_labels: false,
            classes,
        }
    }

    /// The footprint of a part of a grammar that is written in `written` states.
    pub(crate) fn of_part(written: u32, classes: ByteClasses) -> Self {
        Self::estimated(written, MERGED, classes)
    }
}

/// Facts about a grammar of JSON texts before it is written. It derives something and not the empty text; no
/// rule begins with itself, names tokens, or has options. The fields hold the rest.
#[derive(Clone, Copy, Debug)]
pub struct SizeEstimate {
    /// In about how many states its automata are written, at most.
    pub states: u32,
    /// The characters of ASCII in its literals, a bit each, without those of JSON's notation. Beyond ASCII no
    /// character is distinguished from others.
    pub characters: u128,
}

/// The bytes that JSON's notation distinguishes beside escapes and digits.
const NOTATION: &[u8] = b" \t\n\r{}[]:,+-.Eelsu";

impl SizeEstimate {
    pub(crate) fn footprint(&self, options: &CompileOptions) -> Option<Footprint> {
        let mut bytes = ByteBounds::default();
        bytes.any_text();
        NOTATION.iter().for_each(|&byte| bytes.range(byte, byte));
        (0..128_u8).filter(|&byte| self.characters >> byte & 1 == 1).for_each(|byte| bytes.range(byte, byte));
        footprint(self.states, ESTIMATE_MERGED, bytes, options)
    }
}

/// An expression, and whether it is inside a JSON string.
type SpelledExpr = (ExprId, Spelling);
type Spelling = usize;
const PLAIN: Spelling = 0;
const JSON: Spelling = 1;

fn place((id, spelling): SpelledExpr) -> usize {
    2 * id.index() + spelling
}

/// The facts about an expression.
#[derive(Clone, Copy, Default)]
struct ExprFacts {
    facts: u8,
    /// The approximate number of states in which it is written, in any place.
    states: u32,
}

const VISITED: u8 = 1;
const LEFT: u8 = 2;
/// The states of the rule that has it as its body were added up.
const COUNTED: u8 = 4;
const DERIVES: u8 = 8;
const NULLABLE: u8 = 16;
/// The build must decide whether it or something below it derives a text, or it has options.
const UNCLEAR: u8 = 32;
const TEXTS: u8 = DERIVES | NULLABLE;
const FACTS: u8 = TEXTS | UNCLEAR;

impl ExprFacts {
    fn has(self, fact: u8) -> bool {
        self.facts & fact != 0
    }
}

/// The facts that one pass over a grammar finds about its expressions.
pub(crate) struct Survey<'g> {
    grammar: &'g Grammar,
    /// The most states of copies of a repeat.
    expand_states: u32,
    /// The most states of rules that are written into others.
    inline_states: u32,
    of: Vec<ExprFacts>,
    /// All expressions, operands first.
    order: Vec<SpelledExpr>,
    /// States of all rules.
    pub(crate) total: u64,
    /// Expressions that were met again while they were being visited.
    leads_back: Vec<SpelledExpr>,
    /// Expressions that only an automaton can decide.
    pub(crate) operators: Vec<ExprId>,
    /// Whether tokens are named, or tags.
    pub(crate) names_tokens: bool,
    pub(crate) bytes: ByteBounds,
}

impl<'g> Survey<'g> {
    /// Looks at all that the root reaches. `None` where that has more than `most` states, where some rule can begin with
    /// itself, where facts do not settle, and where the work is to stop.
    pub(crate) fn new(
        grammar: &'g Grammar,
        options: &CompileOptions,
        most: u64,
        pace: &mut Pace<'_>,
    ) -> Option<Self> {
        let mut survey = Self {
            grammar,
            expand_states: options.expand_states.max(options.inline_states),
            inline_states: options.inline_states,
            of: vec![ExprFacts::default(); 2 * grammar.expr_count()],
            order: Vec::with_capacity(grammar.expr_count()),
            total: 0,
            leads_back: Vec::new(),
            operators: Vec::new(),
            names_tokens: false,
            bytes: ByteBounds::default(),
        };
        survey.walk((grammar.rule(grammar.root()).body(), PLAIN), most, pace)?;
        survey.settle(pace).filter(|()| !pace.has_stopped())?;
        (!survey.begins_with_itself()).then_some(survey)
    }

    /// Whether it is known of a rule that it derives something, and not nothing.
    pub(crate) fn is_clear(&self, rule: RuleId) -> bool {
        let known = self.of[place((self.grammar.rule(rule).body(), PLAIN))];
        known.facts & (LEFT | FACTS) == LEFT | DERIVES
    }

    /// In about how many states a rule is written by itself, and whether some of them are inside of a JSON string.
    pub(crate) fn states_of(&self, rule: RuleId) -> (u32, bool) {
        let body = self.grammar.rule(rule).body();
        let [plain, escaped] = [PLAIN, JSON].map(|spelling| self.of[place((body, spelling))]);
        (plain.states.saturating_add(escaped.states), escaped.has(VISITED))
    }

    /// Looks at everything that an expression mentions. `None` where that has more than `most` states, and where the work is
    /// to stop.
    fn walk(&mut self, root: SpelledExpr, most: u64, pace: &mut Pace<'_>) -> Option<()> {
        // An explicit stack: each expression is pushed twice, to be entered and to be left. On leaving, all
        // its operands have their facts, except those that lead back.
        let mut stack = vec![(root, false)];
        while let Some((at, is_done)) = stack.pop() {
            if is_done {
                if !pace.goes_on_at(u32::from_index(self.order.len())) {
                    return None;
                }
                let states = self.states(at);
                if self.total > most {
                    return None;
                }
                // An expression that is too large makes everything above it unclear, so no estimate can be
                // too small because of a cut sum.
                let unclear = if states > MAX_STATES { UNCLEAR } else { 0 };
                let facts = self.facts(at);
                let known = &mut self.of[place(at)];
                *known =
                    ExprFacts { facts: known.facts | facts | unclear | LEFT, states: states.min(MAX_STATES) };
                self.order.push(at);
                continue;
            }
            let known = &mut self.of[place(at)];
            if known.has(VISITED) {
                // An expression that was met and not left is being visited.
                if !known.has(LEFT) {
                    self.leads_back.push(at);
                }
                continue;
            }
            // References back see no facts yet: they count as deriving nothing. That is the start of a least
            // fixpoint, which `settle` completes.
            known.facts = VISITED;
            stack.push((at, true));
            let (id, spelling) = at;
            let is_clear = match self.grammar.expr(id) {
                Expr::Empty => true,
                Expr::Bytes(bytes) => self.bytes.literal(bytes, spelling),
                Expr::Class(ranges) => {
                    self.bytes.class(ranges, spelling);
                    true
                }
                Expr::Choice(parts) => {
                    stack.extend(parts.iter().map(|&part| ((part, spelling), false)));
                    // Large choices inside a string are minimised by the build within a limit on work, which
                    // may fail.
                    spelling == PLAIN || self.text(parts) <= MAX_TEXT
                }
                Expr::Sequence(parts) => {
                    stack.extend(parts.iter().map(|&part| ((part, spelling), false)));
                    true
                }
                Expr::Repeat { body, .. } => {
                    stack.push(((body, spelling), false));
                    true
                }
                Expr::Permutation(_) if spelling == PLAIN => {
                    stack.extend(self.grammar.operands(id).iter().map(|&part| ((part, spelling), false)));
                    true
                }
                Expr::JsonEscaped(operand, escapes) if spelling == PLAIN => {
                    if escapes == JsonEscapes::Ascii {
                        self.bytes.range(0x7F, 0x7F);
                    }
                    stack.push(((operand, JSON), false));
                    true
                }
                Expr::Complement(operand) if spelling == JSON => self.names(operand),
                Expr::Rule(rule) => {
                    stack.push(((self.grammar.rule(rule).body(), spelling), false));
                    self.grammar.rule(rule).options().is_empty()
                }
                Expr::Token(_) | Expr::ExcludeToken(_) | Expr::TagText(_) | Expr::TagDispatch(_) => {
                    self.names_tokens = true;
                    false
                }
                _ => {
                    self.operators.push(id);
                    false
                }
            };
            if !is_clear {
                self.of[place(at)].facts |= UNCLEAR;
            }
        }
        Some(())
    }

    /// Bytes of the literals of a choice.
    fn text(&self, parts: &[ExprId]) -> usize {
        let length = |&part: &ExprId| match self.grammar.expr(part) {
            Expr::Bytes(bytes) => bytes.len(),
            _ => 0,
        };
        parts.iter().map(length).sum()
    }

    /// Looks at the names that additional ones differ from. Whether they are names.
    fn names(&mut self, operand: ExprId) -> bool {
        let grammar = self.grammar;
        let single = [operand];
        let names = match grammar.expr(operand) {
            Expr::Choice(names) => names,
            _ => &single,
        };
        for &name in names {
            let Expr::Bytes(name) = grammar.expr(name) else {
                self.operators.push(operand);
                return false;
            };
            if !name.is_ascii() || !self.bytes.literal(name, JSON) {
                return false;
            }
        }
        self.bytes.any_text();
        true
    }

    /// The facts that follow from those of the operands.
    fn facts(&self, (id, spelling): SpelledExpr) -> u8 {
        // Deriving and being nullable grow from false to true; being unclear only spreads. So the functions
        // are monotone, and the fixpoint exists.
        let of = |part: ExprId| self.of[place((part, spelling))].facts & FACTS;
        let all = |parts: &[ExprId]| {
            let both = |(each, any): (u8, u8), &part: &ExprId| (each & of(part), any | of(part));
            let (each, any) = parts.iter().fold((TEXTS, 0), both);
            each | any & UNCLEAR
        };
        let any = |parts: &[ExprId]| parts.iter().fold(0, |facts, &part| facts | of(part));
        match self.grammar.expr(id) {
            Expr::Empty | Expr::Complement(_) => TEXTS,
            Expr::Bytes(_) => DERIVES,
            Expr::Class([]) => 0,
            Expr::Class(_) => DERIVES,
            Expr::Choice(parts) => any(parts),
            Expr::Sequence(parts) => all(parts),
            Expr::Repeat { body, min: 0, .. } => TEXTS | of(body),
            Expr::Repeat { body, .. } => of(body),
            // No part derives nothing, and one is read at least.
            Expr::Permutation(permutation) => {
                let operands = self.grammar.operands(id);
                let (needed, others) = permutation.parts().split_at(permutation.required());
                let mut derives = if needed.is_empty() { any(others) } else { all(needed) };
                let least = needed.len().max(usize::try_from(permutation.min()).unwrap_or(usize::MAX));
                if least > 1 {
                    let read =
                        |parts: &[ExprId]| parts.iter().filter(|&&part| of(part) & DERIVES != 0).count();
                    let (once, repeatable) = permutation.parts().split_at(permutation.once());
                    let are_enough = read(repeatable) > 0 || read(once) >= least;
                    derives &= if are_enough { of(permutation.separator()) } else { 0 };
                }
                derives & DERIVES | any(operands) & (NULLABLE | UNCLEAR)
            }
            Expr::JsonEscaped(operand, _) => self.of[place((operand, JSON))].facts & FACTS,
            Expr::Rule(rule) => of(self.grammar.rule(rule).body()),
            _ => 0,
        }
    }

    /// About how many states an expression is written in; those of rules that it refers to are counted once, by
    /// themselves.
    fn states(&mut self, (id, spelling): SpelledExpr) -> u32 {
        let of = |this: &Self, part: ExprId| this.of[place((part, spelling))].states;
        // A character inside a string is itself or an escape.
        let character = [1, 3][spelling];
        let length = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
        match self.grammar.expr(id) {
            Expr::Bytes(bytes) => length(bytes.len()).saturating_mul(character),
            Expr::Class(ranges) => {
                let is_ascii = ranges.last().is_none_or(|range| range.1.is_ascii());
                let range = if is_ascii { character } else { 6 * character };
                range.saturating_mul(length(ranges.len())).saturating_add(2)
            }
            Expr::Choice(parts) | Expr::Sequence(parts) => {
                parts.iter().fold(1, |sum, &part| of(self, part).saturating_add(sum).saturating_add(1))
            }
            Expr::Permutation(_) => {
                let operands = self.grammar.operands(id).iter();
                operands.fold(8, |sum, &part| of(self, part).saturating_add(sum).saturating_add(4))
            }
            // Copies have few states; a repeat that is counted is written once, and so is one that is a loop.
            Expr::Repeat { body, min: 0 | 1, max: None | Some(1) } => 4 + of(self, body),
            Expr::Repeat { body, .. } => 2 + self.expand_states.saturating_add(of(self, body)),
            Expr::JsonEscaped(operand, _) => 2 + self.of[place((operand, JSON))].states,
            Expr::Complement(operand) => {
                let parts = match self.grammar.expr(operand) {
                    Expr::Choice(names) => self.text(names),
                    _ => self.text(&[operand]),
                };
                length(parts).saturating_mul(2).saturating_add(16)
            }
            // A rule is a fragment of its own, counted once in the total, or it is small and written into its callers.
            Expr::Rule(rule) => {
                // Where it leads back it is not known yet, and not written.
                let body = &mut self.of[place((self.grammar.rule(rule).body(), spelling))];
                if body.has(LEFT) && !body.has(COUNTED) {
                    body.facts |= COUNTED;
                    self.total += u64::from(body.states);
                }
                match spelling {
                    PLAIN => 1 + body.states.min(self.inline_states),
                    // Spelled as JSON, a small rule is not small.
                    _ => 1 + body.states.min(self.expand_states),
                }
            }
            _ => 1,
        }
    }

    /// Visits expressions with references back again, until nothing changes.
    fn settle(&mut self, pace: &mut Pace<'_>) -> Option<()> {
        let root = self.order.last().map_or(0, |&at| self.of[place(at)].states);
        self.total += u64::from(root);
        if self.leads_back.is_empty() {
            return Some(());
        }
        for _ in 0..MAX_ROUNDS {
            let mut has_changed = false;
            // In the order of leaving, operands first, so most grammars settle in two rounds.
            for index in 0..self.order.len() {
                let at = self.order[index];
                if !pace.goes_on_at(u32::from_index(index)) {
                    return None;
                }
                let facts = self.facts(at);
                let known = &mut self.of[place(at)];
                has_changed |= facts & !known.facts != 0;
                known.facts |= facts;
            }
            if !has_changed {
                return Some(());
            }
        }
        None
    }

    /// Whether some rule can begin with itself: a depth-first search along the expressions with which an
    /// expression can begin.
    fn begins_with_itself(&self) -> bool {
        if self.leads_back.is_empty() {
            return false;
        }
        const OPEN: u8 = 1;
        const CLOSED: u8 = 2;
        let mut colours = vec![0; self.of.len()];
        let mut stack: Vec<(SpelledExpr, bool)> = Vec::new();
        // Every cycle goes through one of these.
        for &from in &self.leads_back {
            stack.push((from, false));
            while let Some((at, is_done)) = stack.pop() {
                let colour = &mut colours[place(at)];
                match (is_done, *colour) {
                    (true, _) => *colour = CLOSED,
                    // An expression that is met while it is open begins with itself, without having read a
                    // byte.
                    (false, OPEN) => return true,
                    (false, CLOSED) => {}
                    (false, _) => {
                        *colour = OPEN;
                        stack.push((at, true));
                        self.beginnings(at, |part| stack.push((part, false)));
                    }
                }
            }
        }
        false
    }

    fn beginnings(&self, (id, spelling): SpelledExpr, mut visit: impl FnMut(SpelledExpr)) {
        match self.grammar.expr(id) {
            Expr::Sequence(parts) => {
                for &part in parts {
                    visit((part, spelling));
                    if !self.of[place((part, spelling))].has(NULLABLE) {
                        break;
                    }
                }
            }
            Expr::Choice(parts) => parts.iter().for_each(|&part| visit((part, spelling))),
            Expr::Permutation(_) => {
                self.grammar.operands(id).iter().for_each(|&part| visit((part, spelling)));
            }
            Expr::Repeat { body, .. } => visit((body, spelling)),
            Expr::JsonEscaped(operand, _) => visit((operand, JSON)),
            Expr::Rule(rule) => visit((self.grammar.rule(rule).body(), spelling)),
            _ => {}
        }
    }
}

/// Where classes of bytes begin.
pub(crate) struct ByteBounds {
    starts: [bool; 257],
    /// Whether bytes beyond ASCII are told apart by more than how characters are encoded.
    tells_high: bool,
    has_high: bool,
    has_json: bool,
}

impl Default for ByteBounds {
    fn default() -> Self {
        Self { starts: [false; 257], tells_high: false, has_high: false, has_json: false }
    }
}

/// The bytes of escapes, except digits.
const ESCAPES: &[u8] = b"\"\\/bfnrtuabcdefABCDEF";

impl ByteBounds {
    fn range(&mut self, first: u8, last: u8) {
        self.starts[usize::from(first)] = true;
        self.starts[usize::from(last) + 1] = true;
    }

    /// Whether the literal may be spelled so: inside a string it has to be text.
    fn literal(&mut self, bytes: &[u8], spelling: Spelling) -> bool {
        self.has_json |= spelling == JSON;
        bytes.iter().for_each(|&byte| self.range(byte, byte));
        spelling == PLAIN || std::str::from_utf8(bytes).is_ok()
    }

    fn class(&mut self, ranges: &[CharRange], spelling: Spelling) {
        self.has_json |= spelling == JSON;
        for &(first, last) in ranges {
            if let Ok(first) = u8::try_from(first)
                && first.is_ascii()
            {
                let last = u8::try_from(last).map_or(0x7F, |last| last.min(0x7F));
                self.range(first, last);
            }
            if !last.is_ascii() {
                self.has_high = true;
                let first = u32::from(first).max(0x80);
                // Ranges that begin and end where the rows of UTF-8 do are told apart by the lead bytes
                // alone. Any other range needs classes for continuation bytes.
                let is_whole = matches!(first, 0x80 | 0x800 | 0xE000 | 0x1_0000)
                    && matches!(u32::from(last), 0x7FF | 0xD7FF | 0xFFFF | 0x10_FFFF);
                self.tells_high |= !is_whole;
            }
        }
    }

    fn any_text(&mut self) {
        self.has_json = true;
        self.has_high = true;
    }

    pub(crate) fn classes(mut self) -> ByteClasses {
        if self.has_json {
            ESCAPES.iter().for_each(|&byte| self.range(byte, byte));
            (b'0'..=b'9').for_each(|byte| self.range(byte, byte));
            // Control characters are escaped.
            self.range(0, 0x1F);
        }
        if self.has_high {
            SEQUENCES.iter().copied().flatten().for_each(|&(first, last)| self.range(first, last));
        }
        if self.tells_high {
            self.starts[0x80..].fill(true);
        }
        ByteClasses::from_starts(&self.starts)
    }
}
