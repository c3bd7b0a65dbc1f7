//! A sampler that stands in for a model.
//!
//! Choosing evenly among the allowed tokens yields rubbish. Of 200,000 tokens most are pieces of words in
//! some script, a string would continue for hundreds of them, and an array would hardly ever end. So tokens
//! are put into classes (words, digits, closing brackets, ...). A step first chooses a class, by weights that
//! depend on the last token and on the length of the text. Then it chooses a token of the class, common ones
//! before rare ones (common tokens have small ids, because merges are learned in the order of frequency).
//! Every token that the mask allows keeps a chance.

use crate::engine::{TokenId, TokenMask};

use crate::token_class::TokenClass;

/// The choice of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Choice {
    /// A token, by its id.
    Token(TokenId),
    /// The end of the text.
    Stop,
}

/// The tokens of a vocabulary by class, with weights. Made once, used for any number of texts.
pub(crate) struct TokenTable {
    classes: Vec<ClassTokens>,
    /// By id; `None` for ids that are never chosen.
    class_of: Vec<Option<TokenClass>>,
}

#[derive(Default)]
struct ClassTokens {
    ids: Vec<TokenId>,
    /// Sums of the weights of all tokens up to and with each.
    sums: Vec<f64>,
}

/// Up to this many allowed tokens are looked at one by one.
const FEW: usize = 2_048;
/// So often a token of a class is drawn blindly before the class is searched.
const DRAWS: usize = 24;

impl TokenTable {
    /// The table of a vocabulary, given all its ids in order, each with its bytes. Ids without bytes (special,
    /// stop and empty ones) are never chosen.
    pub(crate) fn new<'v>(tokens: impl IntoIterator<Item = (TokenId, &'v [u8])>) -> Self {
        let mut table = Self { classes: Vec::new(), class_of: Vec::new() };
        table.classes.resize_with(TokenClass::ALL.len(), ClassTokens::default);
        for (id, bytes) in tokens {
            if bytes.is_empty() {
                table.class_of.push(None);
                continue;
            }
            let class = TokenClass::of(bytes);
            table.class_of.push(Some(class));
            let tokens = &mut table.classes[class as usize];
            let sum = tokens.sums.last().copied().unwrap_or(0.0) + weight(id, class, bytes);
            tokens.ids.push(id);
            tokens.sums.push(sum);
        }
        table
    }
}

/// The weight of a token within its class: common ones, words of a few letters, short punctuation.
fn weight(id: TokenId, class: TokenClass, bytes: &[u8]) -> f64 {
    let length = bytes.len() as f64;
    let fit = match class {
        TokenClass::Word | TokenClass::SpacedWord => (length / 5.0).min(5.0 / length).powi(3),
        TokenClass::Punctuation if b",:-".contains(&bytes[0]) => 4.0 / length.powi(3),
        TokenClass::Digits => 1.0 / length.powi(2),
        TokenClass::Punctuation if bytes[0] == b'@' => 20.0 / length.powi(3),
        _ => 1.0 / length.powi(3),
    };
    fit / (500.0 + f64::from(id.get())).powf(1.5)
}

/// The state of one text's sampling.
pub(crate) struct Sampler<'t> {
    table: &'t TokenTable,
    random: fastrand::Rng,
    written: usize,
    /// Bytes since the last quote, bracket or comma.
    run: usize,
    digits: usize,
    last: u8,
    /// About how many bytes the text should have.
    length: f64,
}

impl<'t> Sampler<'t> {
    /// A sampler whose choices depend on the seed alone, with the number of tokens after which the text
    /// should have come to its end.
    pub(crate) fn new(table: &'t TokenTable, seed: u64, tokens: usize) -> Self {
        let random = fastrand::Rng::with_seed(seed);
        let length = (tokens as f64).clamp(16.0, 400.0);
        Self { table, random, written: 0, run: 0, digits: 0, last: 0, length }
    }

    /// Tells the sampler what was written.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.written += 1;
            self.run = if b"\"{}[](),:".contains(&byte) { 0 } else { self.run + 1 };
            self.digits = if byte.is_ascii_digit() { self.digits + 1 } else { 0 };
            self.last = byte;
        }
    }

    /// Chooses among the set bits of `allowed`, and the end where the text may end. `None` where there is
    /// nothing to choose.
    pub(crate) fn choose(&mut self, allowed: &TokenMask, may_stop: bool) -> Option<Choice> {
        let stop = if may_stop { 0.4 * (1.0 + 4.0 * self.growth()) } else { 0.0 };
        if allowed.count() <= FEW {
            self.choose_of_few(allowed, stop)
        } else {
            self.choose_of_many(allowed, stop)
        }
    }

    /// Few allowed tokens: the text is at a place that the structure decides on. Every class with an allowed
    /// token takes part with its full weight, however few its tokens.
    fn choose_of_few(&mut self, allowed: &TokenMask, stop: f64) -> Option<Choice> {
        let mut members: [Vec<(TokenId, f64)>; TokenClass::ALL.len()] = Default::default();
        for id in allowed.iter() {
            let Some(Some(class)) = self.table.class_of.get(id.index()) else { continue };
            let tokens = &self.table.classes[*class as usize];
            // The ids of a class ascend.
            let Ok(at) = tokens.ids.binary_search(&id) else { continue };
            let before = at.checked_sub(1).map_or(0.0, |before| tokens.sums[before]);
            members[*class as usize].push((id, tokens.sums[at] - before));
        }
        let weights = TokenClass::ALL
            .map(|class| if members[class as usize].is_empty() { 0.0 } else { self.in_structure(class) });
        let class = match self.draw(weights.into_iter().chain([stop]))? {
            class if class < members.len() => class,
            _ => return Some(Choice::Stop),
        };
        let at = self.draw(members[class].iter().map(|(_, weight)| *weight))?;
        Some(Choice::Token(members[class][at].0))
    }

    /// Many allowed tokens: the text is inside a string or the like. A class is chosen before it is known
    /// whether it has an allowed token; one without drops out.
    fn choose_of_many(&mut self, allowed: &TokenMask, stop: f64) -> Option<Choice> {
        let mut weights = TokenClass::ALL.map(|class| {
            if self.table.classes[class as usize].ids.is_empty() { 0.0 } else { self.in_free_text(class) }
        });
        loop {
            let class = match self.draw(weights.into_iter().chain([stop]))? {
                class if class < weights.len() => class,
                _ => return Some(Choice::Stop),
            };
            if let Some(id) = self.draw_token(&self.table.classes[class], allowed) {
                return Some(Choice::Token(id));
            }
            weights[class] = 0.0;
        }
    }

    fn draw_token(&mut self, tokens: &ClassTokens, allowed: &TokenMask) -> Option<TokenId> {
        let total = *tokens.sums.last()?;
        for _ in 0..DRAWS {
            let point = self.random.f64() * total;
            let at = tokens.sums.partition_point(|&sum| sum <= point).min(tokens.ids.len() - 1);
            if allowed.contains(tokens.ids[at]) {
                return Some(tokens.ids[at]);
            }
        }
        let mut before = 0.0;
        let mut candidates = Vec::new();
        for (&id, &sum) in tokens.ids.iter().zip(&tokens.sums) {
            if allowed.contains(id) {
                candidates.push((id, sum - before));
            }
            before = sum;
        }
        let at = self.draw(candidates.iter().map(|(_, weight)| *weight))?;
        Some(candidates[at].0)
    }

    /// An index, with a chance that is proportional to its weight. `None` where no weight is positive.
    fn draw(&mut self, weights: impl Iterator<Item = f64> + Clone) -> Option<usize> {
        let total: f64 = weights.clone().sum();
        if total <= 0.0 {
            return None;
        }
        let mut point = self.random.f64() * total;
        let mut last = None;
        for (index, weight) in weights.enumerate().filter(|(_, weight)| *weight > 0.0) {
            last = Some(index);
            point -= weight;
            if point < 0.0 {
                break;
            }
        }
        last
    }

    fn growth(&self) -> f64 {
        self.written as f64 / self.length
    }

    /// How much a class is wanted between values, in numbers and in names. The figures were found by looking
    /// at texts.
    fn in_structure(&self, class: TokenClass) -> f64 {
        let growth = self.growth();
        let in_number = self.digits > 0;
        match class {
            TokenClass::Word | TokenClass::SpacedWord if in_number => 0.003,
            TokenClass::Word => 1.0,
            TokenClass::SpacedWord => 0.3,
            TokenClass::Capitals => 0.1,
            TokenClass::Digits if in_number => 0.3 / (1.0 + (self.digits as f64).powi(2)),
            TokenClass::Digits => 0.2,
            TokenClass::Quote => 0.1 + 0.05 * self.run as f64,
            TokenClass::Closer => 0.06 * (1.0 + 4.0 * growth),
            TokenClass::Opener => 0.04 / (1.0 + growth).powi(2),
            TokenClass::Punctuation if in_number => 0.03,
            TokenClass::Punctuation => 0.08 / (1.0 + growth),
            TokenClass::Space if b",:".contains(&self.last) => 0.3,
            TokenClass::Space => 0.000_5,
            TokenClass::Other => 0.000_2,
        }
    }

    /// How much a class is wanted inside free text: words with spaces between them, then the end.
    fn in_free_text(&self, class: TokenClass) -> f64 {
        let run = self.run as f64;
        let after_word = self.last.is_ascii_alphanumeric();
        match class {
            TokenClass::Word => {
                if after_word {
                    0.03
                } else {
                    1.0
                }
            }
            TokenClass::SpacedWord => {
                if after_word {
                    1.0
                } else {
                    0.03
                }
            }
            TokenClass::Capitals => 0.003,
            TokenClass::Digits => 0.002,
            TokenClass::Quote => 0.01 + (run / 16.0).powi(2),
            // In an address or the like what ends a part of it must get its turn.
            TokenClass::Punctuation => {
                if after_word {
                    0.004 + 0.02 * (run / 30.0).powi(2)
                } else {
                    0.001
                }
            }
            TokenClass::Closer | TokenClass::Opener => 0.001,
            TokenClass::Space => 0.000_5,
            TokenClass::Other => 0.000_2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u32) -> TokenId {
        TokenId::new(number).expect("the number is small")
    }

    fn table(tokens: &[&[u8]]) -> TokenTable {
        TokenTable::new((0..).map(id).zip(tokens.iter().copied()))
    }

    fn small() -> TokenTable {
        table(&[b"a", b"1", b"", b"\"", b"}", b"{"])
    }

    fn mask(len: usize, ids: impl IntoIterator<Item = u32>) -> TokenMask {
        let mut mask = TokenMask::new(len);
        for number in ids {
            mask.set(id(number));
        }
        mask
    }

    #[test]
    fn only_allowed_tokens_are_chosen() {
        let table = small();
        for seed in 0..200 {
            let mut sampler = Sampler::new(&table, seed, 10);
            let choice = sampler.choose(&mask(6, [1, 4]), false);
            assert!([id(1), id(4)].map(|id| Some(Choice::Token(id))).contains(&choice), "{choice:?}");
        }
    }

    #[test]
    fn the_seed_decides() {
        let table = small();
        let texts = [7, 7, 8].map(|seed| {
            let mut sampler = Sampler::new(&table, seed, 10);
            (0..50).map(|_| sampler.choose(&mask(6, [0, 1, 3, 4, 5]), true)).collect::<Vec<_>>()
        });
        assert_eq!(texts[0], texts[1]);
        assert_ne!(texts[0], texts[2]);
    }

    #[test]
    fn nothing_allowed_is_no_choice() {
        let table = small();
        let mut sampler = Sampler::new(&table, 0, 10);
        assert_eq!(sampler.choose(&mask(6, []), false), None);
        assert_eq!(sampler.choose(&mask(6, [2]), false), None, "an id that is never chosen");
        assert_eq!(sampler.choose(&mask(6, []), true), Some(Choice::Stop));
    }

    #[test]
    fn many_allowed_tokens_are_drawn_from_the_mask() {
        let words: Vec<Vec<u8>> = (0..5_000).map(|n| format!(" {n:x}").into_bytes()).collect();
        let table = table(&words.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let allowed = mask(words.len(), 32..4_992);
        let mut sampler = Sampler::new(&table, 1, 10);
        for _ in 0..100 {
            match sampler.choose(&allowed, false) {
                Some(Choice::Token(id)) => assert!(allowed.contains(id)),
                other => panic!("{other:?}"),
            }
        }
    }
}
