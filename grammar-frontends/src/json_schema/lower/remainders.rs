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
use smallvec::SmallVec;

use crate::json_schema::work::Work;

/// Whole numbers by their remainder.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Residues {
    /// A common multiple of all the steps.
    pub(super) modulus: u64,
    wanted: Wanted,
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum Wanted {
    /// Numbers of any of some kinds.
    Multiples(Vec<Multiples>),
    /// Sorted: numbers that leave these remainders.
    Remainders(Vec<u64>),
}

/// Multiples of a step and of none of some others.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Multiples {
    pub(super) step: u64,
    pub(super) excluded: Vec<u64>,
}

/// Units of work for a state: it becomes a rule with an alternative for each digit.
const WORK_FOR_A_STATE: usize = 180;

/// The most remainders whose states at the free place are in a table.
const MAX_TABLE: u64 = 1 << 16;

/// Multiples that are tried for one that is not excluded.
const MAX_TRIED: u64 = 64;

impl Residues {
    /// Numbers of any of some kinds, with a common multiple of all their steps.
    pub(super) fn any_of(modulus: u64, kinds: Vec<Multiples>) -> Self {
        Self { modulus, wanted: Wanted::Multiples(kinds) }
    }

    /// Numbers that leave one of some remainders, which are sorted.
    pub(super) fn with_remainders(modulus: u64, remainders: Vec<u64>) -> Self {
        Self { modulus, wanted: Wanted::Remainders(remainders) }
    }

    fn contain(&self, remainder: u64) -> bool {
        match &self.wanted {
            Wanted::Multiples(kinds) => kinds.iter().any(|kind| kind.contain(remainder)),
            Wanted::Remainders(listed) => listed.binary_search(&remainder).is_ok(),
        }
    }

    /// The numbers below a bound that complete a remainder.
    fn ahead(&self, remainder: u64, bound: u128) -> Ahead {
        let are_all = match &self.wanted {
            Wanted::Multiples(kinds) => kinds.iter().any(|kind| kind.are_all_below(remainder, bound)),
            Wanted::Remainders(_) => false,
        };
        if are_all {
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
        match &self.wanted {
            Wanted::Multiples(kinds) => {
                kinds.iter().any(|kind| kind.may_be_reached(self.modulus, remainder, bound))
            }
            Wanted::Remainders(listed) => {
                let next =
                    listed.get(listed.partition_point(|&one| one < remainder)).copied().map(u128::from);
                let first = listed.first().map(|&first| u128::from(first) + u128::from(self.modulus));
                next.or(first).is_some_and(|next| next - u128::from(remainder) < bound)
            }
        }
    }
}

impl Multiples {
    fn contain(&self, remainder: u64) -> bool {
        remainder.is_multiple_of(self.step)
            && !self.excluded.iter().any(|&step| remainder.is_multiple_of(step))
    }

    /// Whether each number below a bound may be added to a remainder.
    fn are_all_below(&self, remainder: u64, bound: u128) -> bool {
        let is_out_of_reach = |&step: &u64| {
            let left = (step - remainder % step) % step;
            u128::from(left) >= bound
        };
        self.step == 1 && self.excluded.iter().all(is_out_of_reach)
    }

    fn may_be_reached(&self, modulus: u64, remainder: u64, bound: u128) -> bool {
        let (remainder, step) = (u128::from(remainder), u128::from(self.step));
        let mut added = (step - remainder % step) % step;
        for _ in 0..MAX_TRIED {
            if added >= bound {
                return false;
            }
            let reached = (remainder + added) % u128::from(modulus);
            if u64::try_from(reached).is_ok_and(|reached| self.contain(reached)) {
                return true;
            }
            added += step;
        }
        true
    }
}

/// A place inside of the digits of a whole number.
#[derive(Clone, PartialEq, Eq, Hash)]
struct DigitPlace {
    /// Digits that are still to come, at least.
    left: u32,
    /// Whether more may come.
    open: bool,
    /// The digits to come of the lower bound, if all digits so far are its own and these digits matter; and those of the
    /// upper bound.
    low: Vec<u8>,
    high: Vec<u8>,
}

impl DigitPlace {
    fn new(left: u32, open: bool, low: Option<&[u8]>, high: Option<&[u8]>) -> Self {
        // No digits are below zeros, and none above nines.
        let unless_all = |digits: Option<&[u8]>, digit: u8| {
            digits.filter(|digits| digits.iter().any(|&one| one != digit)).unwrap_or_default().to_vec()
        };
        Self { left, open, low: unless_all(low, 0), high: unless_all(high, 9) }
    }

    /// Whether any digits may come, or none.
    fn is_free(&self) -> bool {
        self.open && self.left == 0 && self.low.is_empty() && self.high.is_empty()
    }

    /// The place after a digit.
    fn after(&self, digit: u8) -> Self {
        let rest = |bound: &'_ [u8]| -> Option<Vec<u8>> {
            bound.split_first().filter(|(first, _)| **first == digit).map(|(_, rest)| rest.to_vec())
        };
        let (low, high) = (rest(&self.low), rest(&self.high));
        // A number that is below the bound so far has to be longer.
        let is_below = self.open && self.low.first().is_some_and(|&first| digit < first);
        let left = if is_below { self.left } else { self.left.saturating_sub(1) };
        Self::new(left, self.open, low.as_deref(), high.as_deref())
    }
}

/// The ways on from a state.
#[derive(Default)]
pub(super) struct DigitState {
    pub(super) may_end: bool,
    /// Digits from one to another one, with the number of the state after them.
    pub(super) arcs: Vec<(u8, u8, usize)>,
}

/// The states for the numbers between two bounds without a sign.
pub(super) struct Between {
    /// One for each length that a number may have, and one for all where there is no upper bound.
    pub(super) starts: Vec<DigitState>,
    /// Those that the automaton did not have before.
    pub(super) added: Vec<DigitState>,
}

/// A place with what follows from it.
struct KnownPlace {
    place: DigitPlace,
    /// The place after each digit, once it is known.
    after: [Option<usize>; 10],
}

/// The places that are known, by their numbers: there are few, and each is met with many remainders.
#[derive(Default)]
struct DigitPlaces {
    known: Vec<KnownPlace>,
    numbers: HashMap<DigitPlace, usize>,
}

impl DigitPlaces {
    fn number(&mut self, place: DigitPlace) -> usize {
        let next = self.known.len();
        *self.numbers.entry(place).or_insert_with_key(|place| {
            self.known.push(KnownPlace { place: place.clone(), after: [None; 10] });
            next
        })
    }

    fn after(&mut self, place: usize, digit: u8) -> usize {
        let before = &self.known[place];
        if let Some(known) = before.after[usize::from(digit)] {
            return known;
        }
        let after = self.number(before.place.after(digit));
        *self.known[place].after[usize::from(digit)].insert(after)
    }
}

/// Which numbers of so many digits complete a remainder.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Ahead {
    Nothing,
    Everything,
    /// Those that are missing from this remainder.
    Missing(u64),
}

/// Whole numbers of some residues. Intervals share the states that do not depend on their bounds.
pub(super) struct DigitAutomaton {
    residues: Residues,
    /// The modulus without its factors of two and five.
    others: u64,
    /// The number of digits that tells these factors.
    told_by: u32,
    /// The remainders of 1, 10, 100, ..
    powers: Vec<u64>,
    places: DigitPlaces,
    numbers: HashMap<(usize, SmallVec<[Ahead; 3]>), usize>,
    /// The states at the free place, by remainder, once they are known. Each is met with most digits.
    free: Vec<Option<usize>>,
    /// Each state with a remainder that leads to it.
    states: Vec<(usize, u64)>,
}

impl DigitAutomaton {
    pub(super) fn new(residues: Residues) -> Self {
        let (mut others, mut told_by) = (residues.modulus.max(1), 0);
        for factor in [2, 5] {
            let mut times = 0;
            while others.is_multiple_of(factor) {
                (others, times) = (others / factor, times + 1);
            }
            told_by = told_by.max(times);
        }
        let (places, numbers, states) = (DigitPlaces::default(), HashMap::default(), Vec::new());
        Self { residues, others, told_by, powers: Vec::new(), places, numbers, free: Vec::new(), states }
    }

    /// Adds the states for the numbers between two bounds. `None` where they are more than `most` or take too much work;
    /// the automaton is of no use then.
    pub(super) fn add_between(
        &mut self,
        (low, high): (&[u8], Option<&[u8]>),
        most: Option<usize>,
        work: &Work,
    ) -> Option<Between> {
        let first = self.states.len();
        let longest = high.map_or(0, <[u8]>::len).max(low.len());
        while self.powers.len() <= longest {
            let next =
                self.powers.last().map_or(1 % self.residues.modulus.max(1), |&last| self.after(last, 0));
            self.powers.push(next);
        }
        let starts = starts(low, high).into_iter();
        let starts = starts.map(|place| {
            let place = self.places.number(place);
            self.state(place, 0, true)
        });
        let starts = starts.collect();
        let mut added = Vec::new();
        while let Some((place, remainder)) = self.states.get(first + added.len()).copied() {
            // A remainder is paid for once, and most often is at one place.
            if added.len() as u64 <= self.residues.modulus {
                work.charge(WORK_FOR_A_STATE + 10 * self.told_by as usize);
            }
            if most.is_some_and(|most| added.len() >= most) || work.is_spent() {
                return None;
            }
            added.push(self.state(place, remainder, false));
        }
        Some(Between { starts, added })
    }

    /// The ways on from a place. The first digit is no zero, unless it is the only one.
    fn state(&mut self, number: usize, remainder: u64, is_first: bool) -> DigitState {
        let mut state = DigitState::default();
        let place = &self.places.known[number].place;
        if place.left == 0 {
            state.may_end = self.residues.contain(remainder);
            if !place.open {
                return state;
            }
        }
        let least = place.low.first().copied().filter(|_| !place.open).unwrap_or(0);
        let least = if is_first && (place.left > 1 || place.open) { least.max(1) } else { least };
        let most = place.high.first().copied().unwrap_or(9);
        state.arcs.reserve_exact(usize::from((most + 1).saturating_sub(least)));
        for digit in least..=most {
            let after = self.after(remainder, digit);
            let place = self.places.after(number, digit);
            let Some(next) = self.number_of(place, after) else { continue };
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

    /// The remainder after so many zeros.
    fn shifted(&self, remainder: u64, zeros: u32) -> u64 {
        let modulus = u128::from(self.residues.modulus);
        let power = self.powers.get(zeros as usize).copied().unwrap_or(0);
        u64::try_from(u128::from(remainder) * u128::from(power) % modulus).unwrap_or(0)
    }

    /// The number of a state; `None` where nothing leads from it to an end.
    fn number_of(&mut self, number: usize, remainder: u64) -> Option<usize> {
        let place = &self.places.known[number].place;
        if !place.is_free() || self.residues.modulus > MAX_TABLE {
            return self.number_of_new(number, remainder);
        }
        let at = usize::try_from(remainder).ok()?;
        if at >= self.free.len() {
            self.free.resize(usize::try_from(self.residues.modulus).ok()?.max(at + 1), None);
        }
        if self.free[at].is_none() {
            self.free[at] = self.number_of_new(number, remainder);
        }
        self.free[at]
    }

    fn number_of_new(&mut self, number: usize, remainder: u64) -> Option<usize> {
        let place = &self.places.known[number].place;
        // The remainder after each number of digits to come, if these can complete it.
        let last = if place.open { self.told_by.max(place.left + 1) } else { place.left + 1 };
        let (mut shifted, mut bound) =
            (self.shifted(remainder, place.left), 10u128.saturating_pow(place.left));
        let mut left = SmallVec::new();
        for _ in place.left..last {
            left.push(self.residues.ahead(shifted, bound));
            (shifted, bound) = (self.after(shifted, 0), bound.saturating_mul(10));
        }
        if place.open {
            left.push(Ahead::Missing(remainder % self.others));
        } else if left.iter().all(|&ahead| ahead == Ahead::Nothing) {
            return None;
        }
        let next = self.numbers.len();
        let key = (number, left);
        if let Some(&known) = self.numbers.get(&key) {
            return Some(known);
        }
        self.states.push((number, remainder));
        self.numbers.insert(key, next);
        Some(next)
    }
}

/// One start for each length that a number between two bounds may have. Without an upper bound zero has one of its own,
/// because no digit follows it.
fn starts(low: &[u8], high: Option<&[u8]>) -> Vec<DigitPlace> {
    let length = |digits: &[u8]| u32::try_from(digits.len()).unwrap_or(u32::MAX);
    let least = length(low);
    match high {
        None => {
            let zero = (low == [0]).then(|| DigitPlace::new(1, false, None, Some(&[0])));
            zero.into_iter().chain([DigitPlace::new(least, true, Some(low), None)]).collect()
        }
        Some(high) => {
            let most = length(high);
            let of_length = |left: u32| {
                let (low, high) = (Some(low).filter(|_| left == least), Some(high).filter(|_| left == most));
                DigitPlace::new(left, false, low, high)
            };
            (least..=most).map(of_length).collect()
        }
    }
}
