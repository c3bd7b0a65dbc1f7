//! Regular expressions over characters, and their derivatives.
//!
//! The *derivative* of a language by a character is what may follow that character (Brzozowski, "Derivatives of
//! Regular Expressions", 1964). Matching is taking derivatives; a text matches if the last one contains the
//! empty string. Intersection and complement cost nothing extra, since the derivative of either is the same
//! operator on the derivatives: no automaton is built, and there is no product to get wrong.
//!
//! Terms are interned, so equal terms have equal ids. Unions and intersections are sorted and free of
//! duplicates. With that alone a term has finitely many derivatives, so searches end (Brzozowski's theorem
//! 5.2). An escape that has been begun adds finitely many sets of digits that can end it.
//!
//! Characters that no class, literal or escape of the grammar distinguishes have equal derivatives. They form
//! a *cell*, and one character of the cell is tried for all of them. Tokens that are taken as a whole are letters
//! beside the characters: each that some expression names is a cell, and all others are one. No complement holds any.

use std::collections::{BTreeSet, VecDeque};
use std::rc::Rc;

use ahash::{AHashMap, AHashSet};
use grammask_grammar_ir::{CharRange, Expr, ExprId, Grammar, JsonEscapes, TokenRef};

/// An interned term.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct TermId(u32);

/// Characters or tokens that nothing tells apart, by number: characters come first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Cell(u32);

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Term {
    /// The empty text.
    Empty,
    /// One character; without ranges: nothing.
    Class(Rc<[CharRange]>),
    /// One token out of a set, or outside of it.
    Token(Rc<[TokenRef]>, Side),
    /// One after the other.
    Sequence(TermId, TermId),
    /// Any of them; sorted.
    Union(Rc<[TermId]>),
    /// All of them; sorted.
    Intersection(Rc<[TermId]>),
    /// All texts but these.
    Complement(TermId),
    /// `min` to `max` times.
    Repeat { body: TermId, min: u32, max: Option<u32> },
    /// The spellings inside a JSON string of these texts.
    Json(TermId, JsonEscapes),
    /// A number of `digits` hexadecimal digits that lies in an arm's range, then the arm's term.
    Hex { digits: u32, digit: Digit, arms: Rc<[Arm]> },
}

/// Of which case the digits above nine are.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Digit {
    Lower,
    Either,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Side {
    Inside,
    Outside,
}

/// Of what a cell consists.
#[derive(Clone, Copy)]
enum Letter {
    /// This character, and those like it.
    Character(char),
    /// A token that some expression names.
    Token(u32),
    OtherToken,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Arm {
    low: u32,
    high: u32,
    then: TermId,
}

/// Terms of a search whose derivatives are looked at in the order in which they were met; then the newest come first.
const BREADTH: usize = 64;

/// The letters of the short escapes, and the characters that they stand for.
const SHORT_ESCAPES: [(char, char); 8] = [
    ('"', '"'),
    ('\\', '\\'),
    ('/', '/'),
    ('b', '\u{8}'),
    ('f', '\u{C}'),
    ('n', '\n'),
    ('r', '\r'),
    ('t', '\t'),
];

/// The characters that some serialiser writes as `\uXXXX`. They are control characters for which not all of
/// them use a short escape, Go's three signs of markup, and all that are not printable ASCII.
const PRINTED_NUMBERS: [(u32, u32); 8] = [
    (0x00, 0x08),
    (0x0B, 0x0C),
    (0x0E, 0x1F),
    (0x26, 0x26),
    (0x3C, 0x3C),
    (0x3E, 0x3E),
    (0x7F, 0xD7FF),
    (0xE000, 0xFFFF),
];

/// The characters that Python's encoder writes so: control characters without a short escape, and by default all from
/// U+007F on.
const ASCII_NUMBERS: [(u32, u32); 5] =
    [(0x00, 0x07), (0x0B, 0x0B), (0x0E, 0x1F), (0x7F, 0xD7FF), (0xE000, 0xFFFF)];

/// All terms of a recogniser.
#[derive(Debug)]
pub(crate) struct Terms {
    terms: Vec<Term>,
    ids: AHashMap<Term, TermId>,
    nullable: Vec<bool>,
    /// Whether the term matches anything, where that has been found out.
    inhabited: Vec<Option<bool>>,
    /// First character of each cell, ascending.
    cells: Vec<char>,
    /// The tokens that expressions name, ascending; `None` where no expression reads tokens.
    tokens: Option<Vec<u32>>,
    derivatives: AHashMap<(TermId, Cell), TermId>,
}

impl Terms {
    /// Room for the terms of the regular operators' operands `exprs` of a grammar.
    pub(crate) fn new(grammar: &Grammar, exprs: &[ExprId]) -> Self {
        Self {
            terms: Vec::new(),
            ids: AHashMap::new(),
            nullable: Vec::new(),
            inhabited: Vec::new(),
            cells: cells(grammar, exprs),
            tokens: tokens(grammar, exprs),
            derivatives: AHashMap::new(),
        }
    }

    /// The term of an expression. Children first, with an explicit stack; `known` keeps shared expressions
    /// from being visited twice. It ends because operands of regular operators are not recursive.
    pub(crate) fn build(
        &mut self,
        grammar: &Grammar,
        root: ExprId,
        known: &mut AHashMap<ExprId, TermId>,
    ) -> TermId {
        let mut stack = vec![root];
        while let Some(&expr) = stack.last() {
            if known.contains_key(&expr) {
                stack.pop();
                continue;
            }
            let missing = stack.len();
            match grammar.expr(expr) {
                Expr::Rule(rule) => stack.push(grammar.rule(rule).body()),
                _ => stack.extend_from_slice(grammar.operands(expr)),
            }
            let mut kept = missing;
            for index in missing..stack.len() {
                if !known.contains_key(&stack[index]) {
                    stack.swap(kept, index);
                    kept += 1;
                }
            }
            stack.truncate(kept);
            if kept == missing {
                let term = self.build_from_known(grammar, expr, known);
                known.insert(expr, term);
            }
        }
        known[&root]
    }

    fn build_from_known(
        &mut self,
        grammar: &Grammar,
        expr: ExprId,
        known: &AHashMap<ExprId, TermId>,
    ) -> TermId {
        match grammar.expr(expr) {
            Expr::Empty => self.empty(),
            Expr::Bytes(bytes) => {
                let text = std::str::from_utf8(bytes)
                    .expect("the builder refuses literals below regular operators that are not UTF-8");
                let mut term = self.empty();
                for character in text.chars().rev() {
                    let first = self.character(character);
                    term = self.sequence(first, term);
                }
                term
            }
            Expr::Class(ranges) => self.intern(Term::Class(ranges.into())),
            Expr::Sequence(parts) => {
                let empty = self.empty();
                parts.iter().rev().fold(empty, |rest, part| self.sequence(known[part], rest))
            }
            Expr::Choice(parts) => self.union(parts.iter().map(|part| known[part])),
            Expr::Repeat { body, min, max } => self.repeat(known[&body], min, max),
            Expr::Rule(rule) => known[&grammar.rule(rule).body()],
            Expr::Intersection(parts) => self.intersection(parts.iter().map(|part| known[part])),
            Expr::Complement(operand) => self.complement(known[&operand]),
            Expr::JsonEscaped(operand, escapes) => self.json(known[&operand], escapes),
            Expr::Token(tokens) => self.intern(Term::Token(tokens.into(), Side::Inside)),
            Expr::ExcludeToken(tokens) => self.intern(Term::Token(tokens.into(), Side::Outside)),
            other => unreachable!("the oracle knows every expression of the IR, {other:?} too"),
        }
    }

    /// Whether the empty text matches.
    pub(crate) fn is_nullable(&self, term: TermId) -> bool {
        self.nullable[term.0 as usize]
    }

    /// The cell of a character.
    pub(crate) fn cell(&self, character: char) -> Cell {
        Cell(self.cells.partition_point(|&first| first <= character) as u32 - 1)
    }

    /// The cell of a token; `None` where no expression reads tokens.
    pub(crate) fn token_cell(&self, id: u32) -> Option<Cell> {
        let tokens = self.tokens.as_ref()?;
        let place = tokens.binary_search(&id).unwrap_or(tokens.len());
        Some(Cell((self.cells.len() + place) as u32))
    }

    fn all_cells(&self) -> impl Iterator<Item = Cell> + use<> {
        let tokens = self.tokens.as_ref().map_or(0, |tokens| tokens.len() + 1);
        (0..(self.cells.len() + tokens) as u32).map(Cell)
    }

    fn letter(&self, Cell(cell): Cell) -> Letter {
        if let Some(&character) = self.cells.get(cell as usize) {
            return Letter::Character(character);
        }
        let tokens = self.tokens.as_ref().expect("cells past those of characters are those of tokens");
        tokens.get(cell as usize - self.cells.len()).map_or(Letter::OtherToken, |&id| Letter::Token(id))
    }

    /// The cells that hold a character of a range of code points. Both ends must be characters.
    pub(crate) fn cells_in(&self, low: u32, high: u32) -> impl Iterator<Item = Cell> + use<> {
        let first = self.cells.partition_point(|&first| first as u32 <= low) as u32 - 1;
        let last = self.cells.partition_point(|&first| first as u32 <= high) as u32 - 1;
        (first..=last).map(Cell)
    }

    /// The continuations after a character or a token of the cell.
    ///
    /// The stack holds what is asked for; a request stays until those that it rests on are answered.
    pub(crate) fn derivative(&mut self, term: TermId, cell: Cell) -> TermId {
        // Most are known, and then nothing is allocated.
        if let Some(&known) = self.derivatives.get(&(term, cell)) {
            return known;
        }
        let mut stack = vec![(term, cell)];
        let mut needs = Vec::new();
        while let Some(&request) = stack.last() {
            if self.derivatives.contains_key(&request) {
                stack.pop();
                continue;
            }
            needs.clear();
            self.needs(request, &mut needs);
            let before = stack.len();
            stack.extend(needs.iter().filter(|need| !self.derivatives.contains_key(need)));
            if stack.len() == before {
                let result = self.derive(request);
                self.derivatives.insert(request, result);
            }
        }
        self.derivatives[&(term, cell)]
    }

    /// The derivatives that a derivative is made of.
    fn needs(&self, (term, cell): (TermId, Cell), needs: &mut Vec<(TermId, Cell)>) {
        match &self.terms[term.0 as usize] {
            Term::Empty | Term::Class(_) | Term::Token(..) | Term::Hex { .. } => {}
            Term::Sequence(first, rest) => {
                needs.push((*first, cell));
                if self.is_nullable(*first) {
                    needs.push((*rest, cell));
                }
            }
            Term::Union(parts) | Term::Intersection(parts) => {
                needs.extend(parts.iter().map(|&part| (part, cell)));
            }
            Term::Complement(operand) => needs.push((*operand, cell)),
            Term::Repeat { body, .. } => needs.push((*body, cell)),
            Term::Json(operand, _) => match self.letter(cell) {
                Letter::Character('\\') => {
                    needs.extend((0..self.cells.len() as u32).map(|each| (*operand, Cell(each))))
                }
                _ => needs.push((*operand, cell)),
            },
        }
    }

    /// One derivative, those that it needs being known. Every arm is a textbook equation.
    fn derive(&mut self, (term, cell): (TermId, Cell)) -> TermId {
        let letter = self.letter(cell);
        match self.terms[term.0 as usize].clone() {
            Term::Empty => self.never(),
            Term::Class(ranges) => {
                let is_inside =
                    |character: char| ranges.iter().any(|&(low, high)| (low..=high).contains(&character));
                match matches!(letter, Letter::Character(character) if is_inside(character)) {
                    true => self.empty(),
                    false => self.never(),
                }
            }
            Term::Token(tokens, side) => {
                let is_read = match letter {
                    Letter::Character(_) => false,
                    Letter::Token(id) => tokens.contains(&TokenRef::Id(id)) == (side == Side::Inside),
                    Letter::OtherToken => side == Side::Outside,
                };
                if is_read { self.empty() } else { self.never() }
            }
            Term::Sequence(first, rest) => {
                let within = self.sequence(self.derivatives[&(first, cell)], rest);
                match self.is_nullable(first) {
                    true => self.union([within, self.derivatives[&(rest, cell)]]),
                    false => within,
                }
            }
            Term::Union(parts) => {
                let parts: Vec<_> = parts.iter().map(|&part| self.derivatives[&(part, cell)]).collect();
                self.union(parts)
            }
            Term::Intersection(parts) => {
                let parts: Vec<_> = parts.iter().map(|&part| self.derivatives[&(part, cell)]).collect();
                self.intersection(parts)
            }
            // Texts have no tokens.
            Term::Complement(_) if !matches!(letter, Letter::Character(_)) => self.never(),
            Term::Complement(operand) => self.complement(self.derivatives[&(operand, cell)]),
            Term::Repeat { body, min, max } => {
                // Without loss the first iteration is not empty: a nullable body has `min` 0 (see `repeat`),
                // so empty iterations can be left out.
                let left = self.repeat(body, min.saturating_sub(1), max.map(|max| max - 1));
                self.sequence(self.derivatives[&(body, cell)], left)
            }
            Term::Json(operand, escapes) => match letter {
                Letter::Character('\\') => self.escapes(operand, escapes),
                Letter::Character('\0'..='\u{1F}' | '"') | Letter::Token(_) | Letter::OtherToken => {
                    self.never()
                }
                Letter::Character('\u{7F}'..) if escapes == JsonEscapes::Ascii => self.never(),
                Letter::Character(_) => self.json(self.derivatives[&(operand, cell)], escapes),
            },
            Term::Hex { digits, digit, arms } => match letter {
                Letter::Character('A'..='F') if digit == Digit::Lower => self.never(),
                Letter::Character(character) => self.derive_hex(character, (digits, digit), &arms),
                Letter::Token(_) | Letter::OtherToken => self.never(),
            },
        }
    }

    /// After the backslash: a letter, or `u` and the digits of one or two UTF-16 units.
    fn escapes(&mut self, operand: TermId, escapes: JsonEscapes) -> TermId {
        let mut ways = Vec::new();
        for (letter, meant) in SHORT_ESCAPES {
            if letter == '/' && escapes != JsonEscapes::Any {
                continue;
            }
            let then = self.json_after((operand, escapes), self.cell(meant));
            let letter = self.character(letter);
            ways.push(self.sequence(letter, then));
        }
        let mut arms = Vec::new();
        let (numbered, digit): (&[(u32, u32)], Digit) = match escapes {
            JsonEscapes::Any => (&[(0, 0xD7FF), (0xE000, 0xFFFF)], Digit::Either),
            JsonEscapes::Printed => (&PRINTED_NUMBERS, Digit::Either),
            JsonEscapes::Needed => (&ASCII_NUMBERS[..3], Digit::Lower),
            JsonEscapes::Ascii => (&ASCII_NUMBERS, Digit::Lower),
        };
        for &(low, high) in numbered {
            self.push_arms((operand, escapes), (low, high), low, &mut arms);
        }
        // Above U+FFFF the first unit names a block of 1,024 characters, the second one the character. Blocks
        // that lie in one cell all go on alike.
        let mut previous = None;
        let blocks = if escapes == JsonEscapes::Needed { 0 } else { 0x400 };
        for block in 0..blocks {
            let (low, high) = (0x1_0000 + block * 0x400, 0x1_03FF + block * 0x400);
            let cells: Vec<Cell> = self.cells_in(low, high).collect();
            let then = match previous {
                Some((cell, then)) if cells == [cell] => then,
                _ => {
                    let mut seconds = Vec::new();
                    self.push_arms((operand, escapes), (low, high), 0xDC00, &mut seconds);
                    self.unit(&['\\', 'u'], digit, seconds)
                }
            };
            previous = (cells.len() == 1).then(|| (cells[0], then));
            arms.push(Arm { low: 0xD800 + block, high: 0xD800 + block, then });
        }
        ways.push(self.unit(&['u'], digit, arms));
        self.union(ways)
    }

    /// `prefix`, then four digits of one of the arms.
    fn unit(&mut self, prefix: &[char], digit: Digit, arms: Vec<Arm>) -> TermId {
        let digits = self.hex((4, digit), arms);
        prefix.iter().rev().fold(digits, |rest, &character| {
            let first = self.character(character);
            self.sequence(first, rest)
        })
    }

    /// One arm for each cell's share of a range of code points, which the arms number from `first` on.
    fn push_arms(
        &mut self,
        spelled: (TermId, JsonEscapes),
        (low, high): (u32, u32),
        first: u32,
        arms: &mut Vec<Arm>,
    ) {
        for cell in self.cells_in(low, high) {
            let from = (self.cells[cell.0 as usize] as u32).max(low);
            let next = self.cells.get(cell.0 as usize + 1).map_or(u32::MAX, |&next| next as u32);
            let to = (next - 1).min(high);
            let then = self.json_after(spelled, cell);
            arms.push(Arm { low: from - low + first, high: to - low + first, then });
        }
    }

    fn json_after(&mut self, (operand, escapes): (TermId, JsonEscapes), cell: Cell) -> TermId {
        let then = self.derivatives[&(operand, cell)];
        self.json(then, escapes)
    }

    /// Keeps the arms whose numbers begin with the digit, and takes the digit off.
    fn derive_hex(&mut self, character: char, (digits, digit): (u32, Digit), arms: &[Arm]) -> TermId {
        let Some(value) = character.to_digit(16) else {
            return self.never();
        };
        let width = 16_u32.pow(digits - 1);
        let (low, high) = (value * width, value * width + width - 1);
        let kept = arms.iter().filter(|arm| arm.low <= high && arm.high >= low).map(|arm| Arm {
            low: arm.low.max(low) - low,
            high: arm.high.min(high) - low,
            then: arm.then,
        });
        let kept: Vec<Arm> = kept.collect();
        match (digits, kept.as_slice()) {
            (1, [arm]) => arm.then,
            _ => self.hex((digits - 1, digit), kept),
        }
    }

    /// Whether the term matches any text.
    ///
    /// Most terms say so themselves when they are made (see `intern`). For those below which an intersection
    /// or a complement stands, operands are decided first, and the operator by search.
    pub(crate) fn is_inhabited(&mut self, term: TermId) -> bool {
        let mut stack = vec![term];
        while let Some(&term) = stack.last() {
            let index = term.0 as usize;
            if self.inhabited[index].is_some() {
                stack.pop();
                continue;
            }
            if let Some(answer) = self.inhabited_by_operands(term) {
                self.inhabited[index] = Some(answer);
                continue;
            }
            match self.terms[index].clone() {
                Term::Intersection(_) | Term::Complement(_) => self.search(term),
                Term::Sequence(first, rest) => stack.extend([first, rest]),
                Term::Union(parts) => stack.extend_from_slice(&parts),
                Term::Repeat { body, .. } => stack.push(body),
                Term::Json(operand, _) => stack.push(operand),
                Term::Hex { arms, .. } => stack.extend(arms.iter().map(|arm| arm.then)),
                Term::Empty | Term::Class(_) | Term::Token(..) => unreachable!("decided when made"),
            }
        }
        self.inhabited[term.0 as usize] == Some(true)
    }

    /// The answer, where what is known of the operands settles it.
    fn inhabited_by_operands(&self, term: TermId) -> Option<bool> {
        let known = |term: TermId| self.inhabited[term.0 as usize];
        let any = |terms: &mut dyn Iterator<Item = TermId>| {
            let mut answer = Some(false);
            for term in terms {
                match known(term) {
                    Some(true) => return Some(true),
                    Some(false) => {}
                    None => answer = None,
                }
            }
            answer
        };
        match &self.terms[term.0 as usize] {
            _ if self.is_nullable(term) => Some(true),
            Term::Empty => Some(true),
            Term::Class(ranges) => Some(!ranges.is_empty()),
            Term::Token(..) => Some(true),
            Term::Sequence(first, rest) => match (known(*first), known(*rest)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            },
            Term::Union(parts) => any(&mut parts.iter().copied()),
            // A repeat that is not nullable needs its body; every text has a spelling in JSON.
            Term::Repeat { body, .. } => known(*body),
            Term::Json(operand, _) => known(*operand),
            Term::Hex { arms, .. } => any(&mut arms.iter().map(|arm| arm.then)),
            Term::Intersection(_) | Term::Complement(_) => None,
        }
    }

    /// Decides a term by looking for a text: all its derivatives, until one is nullable. If none is, none of the
    /// terms met matches anything. Short texts are looked for first, and then any.
    ///
    /// A derivative that plainly lies within a term met before is not followed. The shortest text that any
    /// term met matches begins with a character after which a shorter one is left. If the term that matches
    /// that one was skipped, the greater term matches it too. Without this, proving that a complement is
    /// empty would go through all sets of parts of its operand.
    fn search(&mut self, start: TermId) {
        let mut met: AHashSet<TermId> = AHashSet::from([start]);
        let mut found = vec![start];
        let mut passed_over = Vec::new();
        // The places in the list whose derivatives are still to be looked at.
        let mut open = VecDeque::from([0]);
        let mut looked = 0;
        while let Some(place) = if looked < BREADTH { open.pop_front() } else { open.pop_back() } {
            looked += 1;
            let term = found[place];
            match self.inhabited[term.0 as usize] {
                Some(false) => continue,
                Some(true) => {
                    self.inhabited[start.0 as usize] = Some(true);
                    return;
                }
                None => {}
            }
            for cell in self.all_cells() {
                let after = self.derivative(term, cell);
                if !met.insert(after) {
                    continue;
                }
                if found.iter().any(|&greater| self.is_within(after, greater)) {
                    passed_over.push(after);
                } else {
                    open.push_back(found.len());
                    found.push(after);
                }
            }
        }
        for term in found.into_iter().chain(passed_over) {
            self.inhabited[term.0 as usize] = Some(false);
        }
    }

    /// Whether a term's texts are among another's for a visible reason. The reasons are more operands of an
    /// intersection, fewer parts of a union, and more parts of a union that is complemented. *No* says
    /// nothing.
    fn is_within(&self, term: TermId, greater: TermId) -> bool {
        let operands = |term: &TermId| match &self.terms[term.0 as usize] {
            Term::Intersection(operands) => operands.to_vec(),
            _ => vec![*term],
        };
        let is_operand_within = |term: TermId, greater: TermId| match (
            &self.terms[term.0 as usize],
            &self.terms[greater.0 as usize],
        ) {
            (Term::Complement(more), Term::Complement(less)) => self.has_parts_of(*more, *less),
            _ => self.has_parts_of(greater, term),
        };
        let ours = operands(&term);
        operands(&greater).iter().all(|&theirs| ours.iter().any(|&ours| is_operand_within(ours, theirs)))
    }

    /// Whether all parts of the union `less` are parts of the union `more`; other terms are unions of one.
    fn has_parts_of(&self, more: TermId, less: TermId) -> bool {
        let parts = |term: TermId| match &self.terms[term.0 as usize] {
            Term::Union(parts) => parts.to_vec(),
            _ => vec![term],
        };
        let more = parts(more);
        parts(less).iter().all(|part| more.binary_search(part).is_ok())
    }

    fn never(&mut self) -> TermId {
        self.intern(Term::Class(Rc::new([])))
    }

    fn empty(&mut self) -> TermId {
        self.intern(Term::Empty)
    }

    fn character(&mut self, character: char) -> TermId {
        self.intern(Term::Class(Rc::new([(character, character)])))
    }

    /// `first rest`, nested to the right.
    fn sequence(&mut self, first: TermId, rest: TermId) -> TermId {
        let (never, empty) = (self.never(), self.empty());
        if first == never || rest == never {
            return never;
        }
        if rest == empty {
            return first;
        }
        let mut heads = Vec::new();
        let mut last = first;
        while let Term::Sequence(head, tail) = self.terms[last.0 as usize] {
            heads.push(head);
            last = tail;
        }
        if last != empty {
            heads.push(last);
        }
        heads.into_iter().rev().fold(rest, |rest, head| self.intern(Term::Sequence(head, rest)))
    }

    fn union(&mut self, parts: impl IntoIterator<Item = TermId>) -> TermId {
        let never = self.never();
        let all = self.complement(never);
        let mut flat = BTreeSet::new();
        for part in parts {
            match &self.terms[part.0 as usize] {
                Term::Union(inner) => flat.extend(inner.iter().copied()),
                _ => _ = flat.insert(part),
            }
        }
        flat.remove(&never);
        // All texts are all there is where nothing reads tokens.
        if self.tokens.is_none() && flat.contains(&all) {
            return all;
        }
        match flat.len() {
            0 => never,
            1 => flat.first().copied().expect("there is one"),
            _ => self.intern(Term::Union(flat.into_iter().collect())),
        }
    }

    fn intersection(&mut self, parts: impl IntoIterator<Item = TermId>) -> TermId {
        let never = self.never();
        let all = self.complement(never);
        let mut flat = BTreeSet::new();
        for part in parts {
            match &self.terms[part.0 as usize] {
                Term::Intersection(inner) => flat.extend(inner.iter().copied()),
                _ => _ = flat.insert(part),
            }
        }
        if self.tokens.is_none() {
            flat.remove(&all);
        }
        if flat.contains(&never) {
            return never;
        }
        match flat.len() {
            0 => all,
            1 => flat.first().copied().expect("there is one"),
            _ => self.intern(Term::Intersection(flat.into_iter().collect())),
        }
    }

    fn complement(&mut self, operand: TermId) -> TermId {
        match self.terms[operand.0 as usize] {
            Term::Complement(inner) => inner,
            _ => self.intern(Term::Complement(operand)),
        }
    }

    fn repeat(&mut self, body: TermId, min: u32, max: Option<u32>) -> TermId {
        let (never, empty) = (self.never(), self.empty());
        // The iterations that a nullable body owes can all be empty.
        let min = if self.is_nullable(body) { 0 } else { min };
        match (min, max) {
            (_, Some(0)) => empty,
            (0, _) if body == never || body == empty => empty,
            _ if body == never => never,
            (1, Some(1)) => body,
            _ => self.intern(Term::Repeat { body, min, max }),
        }
    }

    fn json(&mut self, operand: TermId, escapes: JsonEscapes) -> TermId {
        let (never, empty) = (self.never(), self.empty());
        if operand == never || operand == empty {
            return operand;
        }
        self.intern(Term::Json(operand, escapes))
    }

    /// Arms must be ascending. Neighbours that go on alike become one.
    fn hex(&mut self, (digits, digit): (u32, Digit), arms: Vec<Arm>) -> TermId {
        let never = self.never();
        let mut merged: Vec<Arm> = Vec::new();
        for arm in arms.into_iter().filter(|arm| arm.then != never) {
            match merged.last_mut() {
                Some(last) if last.then == arm.then && last.high + 1 == arm.low => last.high = arm.high,
                _ => merged.push(arm),
            }
        }
        match merged.is_empty() {
            true => never,
            false => self.intern(Term::Hex { digits, digit, arms: merged.into() }),
        }
    }

    fn intern(&mut self, term: Term) -> TermId {
        if let Some(&id) = self.ids.get(&term) {
            return id;
        }
        let id = TermId(u32::try_from(self.terms.len()).expect("memory ends before ids do"));
        let nullable = |term: &TermId| self.nullable[term.0 as usize];
        let is_nullable = match &term {
            Term::Empty => true,
            Term::Class(_) | Term::Token(..) | Term::Hex { .. } => false,
            Term::Sequence(first, rest) => nullable(first) && nullable(rest),
            Term::Union(parts) => parts.iter().any(nullable),
            Term::Intersection(parts) => parts.iter().all(nullable),
            Term::Complement(operand) => !nullable(operand),
            Term::Repeat { body, min, .. } => *min == 0 || nullable(body),
            Term::Json(operand, _) => nullable(operand),
        };
        self.ids.insert(term.clone(), id);
        self.terms.push(term);
        self.nullable.push(is_nullable);
        self.inhabited.push(None);
        self.inhabited[id.0 as usize] = self.inhabited_by_operands(id);
        id
    }
}

/// The first characters of the cells. A cell begins where a class or a literal of the expressions begins or
/// has just ended, and around every character with a meaning in JSON strings.
fn cells(grammar: &Grammar, exprs: &[ExprId]) -> Vec<char> {
    let mut starts = BTreeSet::from([0]);
    let mut single_out = |low: char, high: char| starts.extend([low as u32, high as u32 + 1]);
    for &expr in exprs {
        match grammar.expr(expr) {
            Expr::Bytes(bytes) => {
                let text = String::from_utf8_lossy(bytes);
                text.chars().for_each(|character| single_out(character, character));
            }
            Expr::Class(ranges) => ranges.iter().for_each(|&(low, high)| single_out(low, high)),
            Expr::JsonEscaped(..) => {
                single_out('\0', '\u{1F}');
                single_out('\u{7F}', char::MAX);
                for (letter, meant) in SHORT_ESCAPES {
                    single_out(letter, letter);
                    single_out(meant, meant);
                }
                "u0123456789abcdefABCDEF".chars().for_each(|digit| single_out(digit, digit));
            }
            _ => {}
        }
    }
    // U+D800 is no character; what begins there begins after the surrogates.
    let mut characters: Vec<char> = starts
        .into_iter()
        .filter_map(|start| char::from_u32(if start == 0xD800 { 0xE000 } else { start }))
        .collect();
    characters.dedup();
    characters
}

/// The ids of tokens that the expressions name; `None` if none of them reads tokens.
fn tokens(grammar: &Grammar, exprs: &[ExprId]) -> Option<Vec<u32>> {
    let mut tokens: Option<BTreeSet<u32>> = None;
    for &expr in exprs {
        if let Expr::Token(named) | Expr::ExcludeToken(named) = grammar.expr(expr) {
            let ids = named.iter().filter_map(|token| match token {
                TokenRef::Id(id) => Some(*id),
                TokenRef::Name(_) | TokenRef::Special(_) => None,
            });
            tokens.get_or_insert_default().extend(ids);
        }
    }
    Some(tokens?.into_iter().collect())
}
