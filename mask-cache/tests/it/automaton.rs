//! A parser for tests: an automaton over characters, with all that makes masks cheap.

use std::sync::atomic::{AtomicUsize, Ordering};

use grammask_mask_cache::parser_backend::{
    Backend, CharClass, ClassRuns, Ended, Fuel, LocalParts, MaskKey, Run, Split, StepError,
};

/// A class of some ASCII characters.
pub(crate) fn class(characters: &str) -> CharClass {
    CharClass { ascii: characters.bytes().fold(0, |ascii, byte| ascii | 1 << byte), non_ascii: false }
}

/// The inside of a JSON string.
pub(crate) fn string() -> CharClass {
    CharClass { ascii: !0xFFFF_FFFF & !class("\"\\").ascii, non_ascii: true }
}

/// The characters of each class lead to another place.
#[derive(Default)]
pub(crate) struct Place {
    pub(crate) edges: Vec<(CharClass, u32)>,
    /// The local part and the continuation, where a rule is open.
    pub(crate) split: Option<(u32, u32)>,
    /// The description of a local part.
    pub(crate) form: Option<u32>,
    pub(crate) ends_rule: bool,
}

impl Place {
    pub(crate) fn new(edges: &[(CharClass, u32)]) -> Self {
        Self { edges: edges.to_vec(), ..Self::default() }
    }

    /// The place that all characters of a class lead to, if there is one.
    fn target(&self, class: &CharClass) -> Option<u32> {
        let covers = |of: &CharClass| class.ascii & !of.ascii == 0 && (of.non_ascii || !class.non_ascii);
        self.edges.iter().find(|(of, _)| covers(of)).map(|&(_, to)| to)
    }

    fn reads_any(&self, class: &CharClass) -> bool {
        self.edges.iter().any(|(of, _)| class.ascii & of.ascii != 0 || (of.non_ascii && class.non_ascii))
    }
}

#[derive(Default)]
pub(crate) struct Automaton {
    pub(crate) places: Vec<Place>,
    /// Whether it says nothing about texts over a class.
    pub(crate) hides_runs: bool,
    asked: AtomicUsize,
}

impl Automaton {
    pub(crate) fn new(places: Vec<Place>) -> Self {
        Self { places, ..Self::default() }
    }

    fn place(&self, place: u32) -> &Place {
        &self.places[place as usize]
    }

    /// The number of steps and questions about texts since this was called last.
    pub(crate) fn take_asked(&self) -> usize {
        self.asked.swap(0, Ordering::Relaxed)
    }
}

/// A place, and the bytes that are missing of the character that led there.
type State = (u32, u8);

impl Backend for Automaton {
    type State = State;

    fn start(&self) -> State {
        (0, 0)
    }

    fn step(&self, (place, missing): State, byte: u8, _: &mut Fuel) -> Result<Option<State>, StepError> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        if missing > 0 {
            return Ok((0x80..=0xBF).contains(&byte).then_some((place, missing - 1)));
        }
        let missing = match byte {
            0..=0x7F => 0,
            0xC2..=0xDF => 1,
            0xE0..=0xEF => 2,
            0xF0..=0xF4 => 3,
            _ => return Ok(None),
        };
        let reads =
            |class: &CharClass| if missing == 0 { class.contains_ascii(byte) } else { class.non_ascii };
        let edge = self.place(place).edges.iter().find(|(class, _)| reads(class));
        Ok(edge.map(|&(_, to)| (to, missing)))
    }

    fn is_complete(&self, _: State) -> bool {
        false
    }

    fn next_bytes(&self, (place, missing): State) -> [u64; 4] {
        let continuing = [0, 0, u64::from(missing > 0).wrapping_neg(), 0];
        let edges = self.place(place).edges.iter().filter(|_| missing == 0);
        edges.fold(continuing, |bytes, (class, _)| {
            let starts = class.start_bytes();
            std::array::from_fn(|word| bytes[word] | starts[word])
        })
    }

    fn mask_key(&self, (place, missing): State) -> MaskKey {
        MaskKey { set: place, detail: missing.into() }
    }

    fn class_runs(&self) -> &impl ClassRuns<State> {
        self
    }

    fn local_parts(&self) -> &impl LocalParts<State> {
        self
    }
}

impl ClassRuns<State> for Automaton {
    fn run_over(&self, (mut place, missing): State, class: &CharClass, _: &mut Fuel) -> Run {
        self.asked.fetch_add(1, Ordering::Relaxed);
        if self.hides_runs || missing > 0 {
            return Run::Unknown;
        }
        let mut chars = 0;
        while let Some(next) = self.place(place).target(class) {
            if next == place {
                return Run::Unbounded;
            }
            (place, chars) = (next, chars + 1);
        }
        if self.place(place).reads_any(class) { Run::AtLeast(chars) } else { Run::AtMost(chars) }
    }

    fn step_class_n(
        &self,
        (mut place, missing): State,
        class: &CharClass,
        max: u32,
        _: &mut Fuel,
    ) -> Result<Option<Vec<State>>, StepError> {
        let mut states = Vec::new();
        while states.len() < max as usize {
            match self.place(place).target(class) {
                Some(next) if next == place => break,
                Some(next) if missing == 0 => place = next,
                _ => return Ok(None),
            }
            states.push((place, 0));
        }
        Ok(Some(states))
    }
}

impl LocalParts<State> for Automaton {
    fn split(&self, (place, missing): State, _: &mut Fuel) -> Result<Option<Split<State>>, StepError> {
        let split = self.place(place).split.filter(|_| missing == 0);
        Ok(split.map(|(local, continuation)| Split {
            local: (local, 0),
            continuation: (continuation, 0),
            ended: Ended::No,
        }))
    }

    fn may_complete(&self, (place, missing): State) -> bool {
        missing == 0 && self.place(place).ends_rule
    }

    fn canonical_form(&self, (place, _): State) -> Option<Vec<u32>> {
        self.place(place).form.map(|form| vec![form])
    }
}
