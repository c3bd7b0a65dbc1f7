//! The two habits of Python that the reference harness leans on, reproduced: how it prints JSON and how it
//! draws a sample.
//!
//! MaskBench gives an engine the text of `json.dumps(data, ensure_ascii=False)`, so a run here has to spell
//! numbers as Python would. A sample is named by a size and a seed. Drawing it as Python's `random` does
//! makes a run here comparable with one of the Python harness, schema by schema.

use std::io::{self, Write};

use serde::Serialize as _;
use serde_json::Value;
use serde_json::ser::{Formatter, Serializer};

/// `json.dumps(value, ensure_ascii=False)`: `, ` and `: ` as separators, only what must be escaped escaped.
pub(crate) fn dumps(value: &Value) -> String {
    let mut text = Vec::new();
    // Writing to memory cannot fail, and what is written is UTF-8.
    let _ = value.serialize(&mut Serializer::with_formatter(&mut text, PythonStyle));
    String::from_utf8(text).unwrap_or_default()
}

struct PythonStyle;

impl Formatter for PythonStyle {
    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.begin_array_value(writer, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }

    fn write_number_str<W: ?Sized + Write>(&mut self, writer: &mut W, value: &str) -> io::Result<()> {
        writer.write_all(number_text(value).as_bytes())
    }
}

/// Python's spelling of a number literal that it has read: integers keep their digits, any other is a double
/// printed by `repr`.
fn number_text(literal: &str) -> String {
    if literal.contains(['.', 'e', 'E']) {
        float_repr(literal.parse().unwrap_or(f64::NAN))
    } else if literal == "-0" {
        "0".to_owned()
    } else {
        literal.to_owned()
    }
}

/// `repr(float)`: the shortest digits that read back the same, with an exponent below 1e-4 and from 1e16 on.
fn float_repr(number: f64) -> String {
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    // Rust's `{:e}` gives the same shortest digits, as `d.ddde±x`.
    let scientific = format!("{:e}", number.abs());
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let sign = if number.is_sign_negative() { "-" } else { "" };
    if !(-4..16).contains(&exponent) {
        let sign_of_exponent = if exponent < 0 { '-' } else { '+' };
        return format!("{sign}{mantissa}e{sign_of_exponent}{:02}", exponent.unsigned_abs());
    }
    if exponent < 0 {
        let zeros = "0".repeat(exponent.unsigned_abs() as usize - 1);
        return format!("{sign}0.{zeros}{digits}");
    }
    let whole = exponent as usize + 1;
    if digits.len() <= whole {
        return format!("{sign}{digits}{}.0", "0".repeat(whole - digits.len()));
    }
    format!("{sign}{}.{}", &digits[..whole], &digits[whole..])
}

/// Python's `random.Random(seed)`: a Mersenne Twister (MT19937) seeded from an integer.
#[derive(Debug)]
pub(crate) struct Random {
    state: [u32; Self::SIZE],
    next: usize,
}

impl Random {
    const SIZE: usize = 624;
    const SHIFT: usize = 397;

    /// The generator that `random.Random(seed)` makes for a seed of at most 32 bits.
    pub(crate) fn new(seed: u32) -> Self {
        let mut state = [0u32; Self::SIZE];
        state[0] = 19_650_218;
        for i in 1..Self::SIZE {
            let previous = state[i - 1] ^ (state[i - 1] >> 30);
            state[i] = previous.wrapping_mul(1_812_433_253).wrapping_add(i as u32);
        }
        let mut i = 1;
        // Seeding by an array, here of the one word `seed` (index 0 adds 0).
        for _ in 0..Self::SIZE {
            let previous = state[i - 1] ^ (state[i - 1] >> 30);
            state[i] = (state[i] ^ previous.wrapping_mul(1_664_525)).wrapping_add(seed);
            i = Self::after(i, &mut state);
        }
        for _ in 1..Self::SIZE {
            let previous = state[i - 1] ^ (state[i - 1] >> 30);
            state[i] = (state[i] ^ previous.wrapping_mul(1_566_083_941)).wrapping_sub(i as u32);
            i = Self::after(i, &mut state);
        }
        state[0] = 0x8000_0000;
        Self { state, next: Self::SIZE }
    }

    fn after(i: usize, state: &mut [u32; Self::SIZE]) -> usize {
        if i + 1 < Self::SIZE {
            return i + 1;
        }
        state[0] = state[Self::SIZE - 1];
        1
    }

    fn word(&mut self) -> u32 {
        if self.next == Self::SIZE {
            self.refill();
        }
        let mut word = self.state[self.next];
        self.next += 1;
        word ^= word >> 11;
        word ^= (word << 7) & 0x9d2c_5680;
        word ^= (word << 15) & 0xefc6_0000;
        word ^ (word >> 18)
    }

    fn refill(&mut self) {
        for i in 0..Self::SIZE {
            let mixed = (self.state[i] & 0x8000_0000) | (self.state[(i + 1) % Self::SIZE] & 0x7fff_ffff);
            let twist = if mixed & 1 == 1 { 0x9908_b0df } else { 0 };
            self.state[i] = self.state[(i + Self::SHIFT) % Self::SIZE] ^ (mixed >> 1) ^ twist;
        }
        self.next = 0;
    }

    /// A number below `bound`, which must be positive and fit 32 bits.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let bits = usize::BITS - bound.leading_zeros();
        debug_assert!((1..=32).contains(&bits), "a bound of 1 to 2^32 - 1");
        loop {
            let draw = (self.word() >> (32 - bits)) as usize;
            if draw < bound {
                return draw;
            }
        }
    }

    /// `random.sample(population, size)`.
    pub(crate) fn sample<T: Clone>(&mut self, population: &[T], size: usize) -> Vec<T> {
        let size = size.min(population.len());
        let mut set_size = 21.0;
        if size > 5 {
            set_size += 4f64.powf((size as f64 * 3.0).log(4.0).ceil());
        }
        let mut drawn = Vec::with_capacity(size);
        if population.len() as f64 <= set_size {
            let mut pool = population.to_vec();
            for i in 0..size {
                let j = self.below(population.len() - i);
                drawn.push(pool[j].clone());
                pool[j] = pool[population.len() - i - 1].clone();
            }
            return drawn;
        }
        let mut taken = std::collections::HashSet::new();
        while drawn.len() < size {
            let j = self.below(population.len());
            if taken.insert(j) {
                drawn.push(population[j].clone());
            }
        }
        drawn
    }

    /// `random.shuffle(items)`.
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            let j = self.below(i + 1);
            items.swap(i, j);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reprinted(json: &str) -> String {
        dumps(&serde_json::from_str(json).unwrap())
    }

    #[test]
    fn json_is_spelled_as_python_spells_it() {
        assert_eq!(
            reprinted(r#"{"a":[1,2.50,{"b":null}],"c":true}"#),
            r#"{"a": [1, 2.5, {"b": null}], "c": true}"#
        );
        assert_eq!(reprinted(r#""\u0001\/\u00e9\ud83d\ude00\u007f\b""#), "\"\\u0001/é😀\u{7f}\\b\"");
        assert_eq!(reprinted("[[],{}]"), "[[], {}]");
        let controls: String = (0..' ' as u32).chain([0x22, 0x5c]).filter_map(char::from_u32).collect();
        let python = r#""\u0000\u0001\u0002\u0003\u0004\u0005\u0006\u0007\b\t\n\u000b\f\r\u000e\u000f\u0010\u0011\u0012\u0013\u0014\u0015\u0016\u0017\u0018\u0019\u001a\u001b\u001c\u001d\u001e\u001f\"\\""#;
        assert_eq!(dumps(&controls.into()), python);
    }

    #[test]
    fn numbers_are_printed_by_repr() {
        for (literal, expected) in [
            ("1.0", "1.0"),
            ("-0", "0"),
            ("-0.0", "-0.0"),
            ("0.00001", "1e-05"),
            ("0.0001", "0.0001"),
            ("1e15", "1000000000000000.0"),
            ("1e16", "1e+16"),
            ("123456789012345680.0", "1.2345678901234568e+17"),
            ("1e400", "Infinity"),
            ("3.14", "3.14"),
            ("100.25", "100.25"),
            ("12345678901234567890123", "12345678901234567890123"),
            ("1E2", "100.0"),
            ("5e-324", "5e-324"),
        ] {
            assert_eq!(reprinted(literal), expected, "{literal}");
        }
    }

    #[test]
    fn draws_are_those_of_python() {
        // python3 -c "import random; r = random.Random(1); print(r.sample(range(10), 4), r.sample(range(10**5), 3))"
        let mut random = Random::new(1);
        assert_eq!(random.sample(&(0..10).collect::<Vec<_>>(), 4), [2, 1, 4, 0]);
        assert_eq!(random.sample(&(0..100_000).collect::<Vec<_>>(), 3), [64_937, 99_740, 58_915]);
        // python3 -c "import random; x = list(range(8)); random.Random(7).shuffle(x); print(x)"
        let mut items: Vec<u32> = (0..8).collect();
        Random::new(7).shuffle(&mut items);
        assert_eq!(items, [6, 7, 2, 4, 0, 3, 1, 5]);
    }
}
