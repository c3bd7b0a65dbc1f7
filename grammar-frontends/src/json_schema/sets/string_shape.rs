//! Sets of strings.

use super::sorted::{in_both, in_either, in_first_alone};
use super::text_tests::{Approximation, Polarity, TextTest, TextTests};

/// The strings that pass some tests, have a length between bounds and are not excluded; or a finite set.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct StringShape<'s> {
    /// A finite set, sorted; everything else is unconstrained then.
    pub(crate) values: Option<Vec<&'s str>>,
    /// Sorted.
    pub(crate) excluded: Vec<&'s str>,
    /// Sorted.
    pub(crate) tests: Vec<TextTest>,
    /// Least number of characters.
    pub(crate) min: u64,
    /// Greatest number of characters.
    pub(crate) max: Option<u64>,
}

impl<'s> StringShape<'s> {
    pub(crate) fn any() -> Self {
        Self { values: None, excluded: Vec::new(), tests: Vec::new(), min: 0, max: None }
    }

    /// All strings but some.
    pub(crate) fn without(mut excluded: Vec<&'s str>) -> Self {
        excluded.sort_unstable();
        excluded.dedup();
        Self { excluded, ..Self::any() }
    }

    /// About how many values and conditions it lists.
    pub(crate) fn size(&self) -> usize {
        1 + self.values.as_ref().map_or(0, Vec::len) + self.excluded.len() + self.tests.len()
    }

    pub(crate) fn finite(mut values: Vec<&'s str>) -> Self {
        values.sort_unstable();
        values.dedup();
        Self { values: Some(values), ..Self::any() }
    }

    /// Whether a text belongs to the set; see [`TextTests::passes`].
    pub(crate) fn contains(&self, text: &str, tests: &TextTests<'s>) -> bool {
        self.contains_if(text, |test| tests.passes(test, text))
    }

    /// Whether a text belongs to the set for certain, or may.
    pub(crate) fn contains_in(
        &self,
        text: &str,
        tests: &TextTests<'s>,
        approximation: Approximation,
    ) -> bool {
        self.contains_if(text, |test| tests.passes_in(test, text, approximation))
    }

    fn contains_if(&self, text: &str, passes: impl Fn(TextTest) -> bool) -> bool {
        if let Some(values) = &self.values {
            return values.binary_search(&text).is_ok();
        }
        self.excluded.binary_search(&text).is_err() && self.meets_conditions(text, passes)
    }

    /// Whether an open set has a text, unless that is excluded.
    fn meets_conditions(&self, text: &str, passes: impl Fn(TextTest) -> bool) -> bool {
        let is_any_length = self.min == 0 && self.max.is_none();
        let has_length = is_any_length || {
            let length = text.chars().count() as u64;
            self.min <= length && self.max.is_none_or(|max| length <= max)
        };
        has_length && self.tests.iter().all(|&test| passes(test))
    }

    pub(crate) fn and(&self, other: &Self, tests: &TextTests<'s>) -> Self {
        let (values, open) = match (&self.values, &other.values) {
            (Some(left), Some(right)) => (in_both(left, right), None),
            (Some(values), None) => (in_first_alone(values, &other.excluded), Some(other)),
            (None, Some(values)) => (in_first_alone(values, &self.excluded), Some(self)),
            (None, None) => return self.and_open(other),
        };
        let meets = |text: &&str| {
            open.is_none_or(|open| open.meets_conditions(text, |test| tests.passes(test, text)))
        };
        Self { values: Some(values.into_iter().filter(meets).collect()), ..Self::any() }
    }

    /// The same set, with the conditions of a language in place of the test of belonging to it, where it is one shape.
    pub(crate) fn with_plain_languages(&self, tests: &TextTests<'s>) -> Self {
        let mut plain = Self { tests: Vec::new(), ..self.clone() };
        let mut open = self.tests.clone();
        while let Some(test) = open.pop() {
            match (test.sense, tests.shapes(test.test)) {
                (Polarity::Holds, Some([shape])) if shape.values.is_none() => {
                    open.extend_from_slice(&shape.tests);
                    plain = plain.and_open(&Self { tests: Vec::new(), ..shape.clone() });
                }
                _ => plain.tests.push(test),
            }
        }
        plain.tests.sort_unstable();
        plain.tests.dedup();
        plain
    }

    fn and_open(&self, other: &Self) -> Self {
        Self {
            values: None,
            excluded: in_either(&self.excluded, &other.excluded),
            tests: in_either(&self.tests, &other.tests),
            min: self.min.max(other.min),
            max: [self.max, other.max].into_iter().flatten().min(),
        }
    }

    /// Whether it is a format without some strings. Each format has millions of them: the fewest are days.
    pub(crate) fn is_format(&self, tests: &TextTests<'s>) -> bool {
        let is_format = match self.tests.as_slice() {
            [TextTest { test, sense: Polarity::Holds }] => tests.is_format(*test),
            _ => false,
        };
        // At most one string is empty.
        is_format && self.values.is_none() && self.min <= 1 && self.max.is_none()
    }

    /// Whether the set is known to be empty.
    pub(crate) fn is_empty(&self, tests: &TextTests<'s>) -> bool {
        if let Some(values) = &self.values {
            return values.is_empty();
        }
        let contradiction = self.tests.windows(2).any(|pair| pair[0].test == pair[1].test);
        let is_bounded = self.min > 0 || self.max.is_some();
        let lengths = self.tests.iter().filter(|_| is_bounded).filter(|test| test.sense == Polarity::Holds);
        let ranges = lengths.filter_map(|test| tests.length_range(test.test, Approximation::Around));
        let too_short_or_long = ranges.into_iter().any(|(min, max)| {
            self.max.is_some_and(|bound| min > bound) || max.is_some_and(|max| max < self.min)
        });
        contradiction
            || too_short_or_long
            || self.max.is_some_and(|max| max < self.min)
            || (self.max == Some(0) && self.excluded.first() == Some(&""))
    }

    /// The conditions in words, for a message that says they contradict each other.
    pub(crate) fn conditions(&self, tests: &TextTests<'s>) -> String {
        let mut conditions: Vec<String> = Vec::new();
        for test in &self.tests {
            let name = tests.name(test.test);
            conditions.push(match test.sense {
                Polarity::Holds => name,
                Polarity::Fails => format!("the opposite of {name}"),
            });
        }
        if self.min > 0 {
            conditions.push(format!("a length of at least {}", self.min));
        }
        if let Some(max) = self.max {
            conditions.push(format!("a length of at most {max}"));
        }
        if !self.excluded.is_empty() {
            conditions.push("the values that are excluded".to_owned());
        }
        conditions.join(", ")
    }

    /// The strings outside the set.
    pub(crate) fn complement(&self) -> Vec<Self> {
        let mut result = Vec::new();
        if let Some(values) = &self.values {
            return vec![Self { excluded: values.clone(), ..Self::any() }];
        }
        if !self.excluded.is_empty() {
            result.push(Self { values: Some(self.excluded.clone()), ..Self::any() });
        }
        for test in &self.tests {
            let test = TextTest { sense: test.sense.flipped(), ..*test };
            result.push(Self { tests: vec![test], ..Self::any() });
        }
        if self.min > 0 {
            result.push(Self { max: Some(self.min - 1), ..Self::any() });
        }
        if let Some(max) = self.max {
            result.push(Self { min: max.saturating_add(1), ..Self::any() });
        }
        result
    }
}
