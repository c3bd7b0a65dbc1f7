//! Whole numbers that leave certain remainders, as an automaton over their digits.
//!
//! The naive way has a state for each remainder of the digits so far, and for each place along the digits of the bounds.
//! A step of 86,400 would have half a million. But many remainders are alike:
//!
//! * the last digits alone tell factors of two and five. With `e` digits to come a step of `2^a * 5^b * m`, where `e` is
//!   at least `a` and `b`, depends on the remainder by `m` alone;
//! * with fewer digits to come, few remainders can still be completed. All others are alike: no such text follows them, or
//!   every one does where multiples are excluded.
//!
//! So a state is a place, and the remainder after each number of digits to come. Of 86,400 there are some hundred.

use grammask_grammar_ir::hash::HashMap;

use crate::json_schema::work::Work;

/// Whole numbers by their remainder: multiples of one step and of none of some others.
pub(super) struct Residues {
    /// A common multiple of all the steps.
    pub(super) modulus: u64,
    step: u64,
    excluded: Vec<u64>,
    /// Sorted: these and no others, whatever the steps.
    listed: Option<Vec<u64>>,
}

/// Units of work for a state: it becomes a rule with an alternative for each digit.
const WORK_FOR_A_STATE: usize = 180;

/// Multiples that are tried for one that is not excluded.
const MAX_TRIED: u64 = 64;

impl Residues {
    pub(super) fn of(step: u64) -> Self {
        Self { modulus: step, step, excluded: Vec::new(), listed: None }
    }

    /// Multiples of a step and of none of some others, with a common multiple of all.
    pub(super) fn without(modulus: u64, step: u64, excluded: Vec<u64>) -> Self {
        Self { modulus, step, excluded, listed: None }
    }

    /// Numbers that leave one of some remainders, which are sorted.
    pub(super) fn with_remainders(modulus: u64, remainders: Vec<u64>) -> Self {
        Self { listed: Some(remainders), ..Self::of(modulus) }
    }

    fn contain(&self, remainder: u64) -> bool {
        if let Some(listed) = &self.listed {
            return listed.binary_search(&remainder).is_ok();
        }
        remainder.is_multiple_of(self.step)
            && !self.excluded.iter().any(|&step| remainder.is_multiple_of(step))
    }

    /// The numbers below a bound that complete a remainder.
    fn ahead(&self, remainder: u64, bound: u128) -> Ahead {
        let is_out_of_reach = |&step: &u64| {
            let left = (step - remainder % step) % step;
            u128::from(left) >= bound
        };
        if self.listed.is_none() && self.step == 1 && self.excluded.iter().all(is_out_of_reach) {
            Ahead::Everything
        } else if self.may_be_reached(remainder, bound) {
            Ahead::Missing(remainder)
        } else {
            Ahead::Nothing
        }
    }

    /// Whether a number below a bound may be added to a remainder; *no* is certain.
    fn may_be_reached(&self, remainder: u64, bound: u128) -> bool {
        if bound >= u128::from(self.modulus) {
            return true;
        }
        if let Some(listed) = &self.listed {
            let next = listed.get(listed.partition_point(|&one| one < remainder)).copied().map(u128::from);
            let first = listed.first().map(|&first| u128::from(first) + u128::from(self.modulus));
            return next.or(first).is_some_and(|next| next - u128::from(remainder) < bound);
        }
        let (remainder, step) = (u128::from(remainder), u128::from(self.step));
        let mut added = (step - remainder % step) % step;
        for _ in 0..MAX_TRIED {
            if added >= bound {
                return false;
            }
            let reached = (remainder + added) % u128::from(self.modulus);
            if u64::try_from(reached).is_ok_and(|reached| self.contain(reached)) {
                return true;
            }
            added += step;
        }
        true
    }
}

/// A place inside of the digits of a whole number.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct DigitPlace {
    /// Digits that are still to come, at least.
    left: u32,
    /// Whether more may come.
    open: bool,
    /// Whether all digits so far are those of the lower bound, of the upper bound.
    at_low: bool,
    at_high: bool,
}

/// The ways on from a state.
#[derive(Default)]
pub(super) struct DigitState {
    pub(super) may_end: bool,
    /// Digits from one to another one, with the number of the state after them.
    pub(super) arcs: Vec<(u8, u8, usize)>,
}

/// Numbers between two bounds without a sign.
pub(super) struct DigitAutomaton {
    /// One for each length that a number may have.
    pub(super) starts: Vec<DigitState>,
    pub(super) states: Vec<DigitState>,
}

/// Which numbers of so many digits complete a remainder.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Ahead {
    Nothing,
    Everything,
    /// Those that are missing from this remainder.
    Missing(u64),
}

/// The parts of an automaton that is being made.
struct Explorer<'d> {
    residues: &'d Residues,
    low: &'d [u8],
    high: Option<&'d [u8]>,
    /// The modulus without its factors of two and five.
    others: u64,
    /// The number of digits that tells these factors.
    told_by: u32,
    numbers: HashMap<(DigitPlace, Vec<Ahead>), usize>,
    /// Each state with a remainder that leads to it.
    todo: Vec<(DigitPlace, u64)>,
}

impl DigitAutomaton {
    /// The automaton of some residues, or `None` where it has more than `most` states or takes too much work.
    pub(super) fn new(
        residues: &Residues,
        (low, high): (&[u8], Option<&[u8]>),
        most: Option<usize>,
        work: &Work,
    ) -> Option<Self> {
        let (mut others, mut told_by) = (residues.modulus.max(1), 0);
        for factor in [2, 5] {
            let mut times = 0;
            while others.is_multiple_of(factor) {
                (others, times) = (others / factor, times + 1);
            }
            told_by = told_by.max(times);
        }
        let mut explorer =
            Explorer { residues, low, high, others, told_by, numbers: HashMap::default(), todo: Vec::new() };
        let starts = explorer.starts().into_iter().map(|place| explorer.state(place, 0, true)).collect();
        let mut states = Vec::new();
        while let Some(&(place, remainder)) = explorer.todo.get(states.len()) {
            // A remainder is paid for once, and most often is at one place.
            if states.len() as u64 <= residues.modulus {
                work.charge(WORK_FOR_A_STATE + 10 * explorer.told_by as usize);
            }
            if most.is_some_and(|most| states.len() >= most) || work.is_spent() {
                return None;
            }
            states.push(explorer.state(place, remainder, false));
        }
        Some(Self { starts, states })
    }
}

impl Explorer<'_> {
    /// One start for each length that a number may have.
    fn starts(&self) -> Vec<DigitPlace> {
        let length = |digits: &[u8]| u32::try_from(digits.len()).unwrap_or(u32::MAX);
        let least = length(self.low);
        let start = |left, open, at_low, at_high| DigitPlace { left, open, at_low, at_high };
        match self.high.map(length) {
            None => vec![start(least, false, true, false), start(least + 1, true, false, false)],
            Some(most) => {
                (least..=most).map(|left| start(left, false, left == least, left == most)).collect()
            }
        }
    }

    /// The ways on from a place. The first digit is no zero, unless it is the only one.
    fn state(&mut self, place: DigitPlace, remainder: u64, is_first: bool) -> DigitState {
        let mut state = DigitState::default();
        if place.left == 0 {
            state.may_end = self.residues.contain(remainder);
            if !place.open {
                return state;
            }
        }
        let digit_of = |digits: &[u8]| digits[digits.len() - place.left as usize];
        let least = if place.at_low { digit_of(self.low) } else { 0 };
        let least = if is_first && (place.left > 1 || place.open) { least.max(1) } else { least };
        let most = match self.high {
            Some(high) if place.at_high => digit_of(high),
            _ => 9,
        };
        for digit in least..=most {
            let next = DigitPlace {
                left: place.left.saturating_sub(1),
                open: place.open,
                at_low: place.at_low && digit == digit_of(self.low),
                at_high: place.at_high && self.high.is_some_and(|high| digit == digit_of(high)),
            };
            let Some(next) = self.number_of(next, self.after(remainder, digit)) else { continue };
            match state.arcs.last_mut() {
                Some((_, last, known)) if *known == next && *last + 1 == digit => *last = digit,
                _ => state.arcs.push((digit, digit, next)),
            }
        }
        state
    }

    fn after(&self, remainder: u64, digit: u8) -> u64 {
        let next = (u128::from(remainder) * 10 + u128::from(digit)) % u128::from(self.residues.modulus);
        u64::try_from(next).unwrap_or(0)
    }

    /// The number of a state; `None` where nothing leads from it to an end.
    fn number_of(&mut self, place: DigitPlace, remainder: u64) -> Option<usize> {
        // The remainder after each number of digits to come, if these can complete it.
        let last = if place.open { self.told_by.max(place.left + 1) } else { place.left + 1 };
        let (mut shifted, mut bound) = (remainder, 1u128);
        let mut left = Vec::new();
        for digits in 0..last {
            if digits >= place.left {
                left.push(self.residues.ahead(shifted, bound));
            }
            (shifted, bound) = (self.after(shifted, 0), bound.saturating_mul(10));
        }
        if place.open {
            left.push(Ahead::Missing(remainder % self.others));
        } else if left.iter().all(|&ahead| ahead == Ahead::Nothing) {
            return None;
        }
        let next = self.numbers.len();
        let number = *self.numbers.entry((place, left)).or_insert(next);
        if number == next {
            self.todo.push((place, remainder));
        }
        Some(number)
    }
}
