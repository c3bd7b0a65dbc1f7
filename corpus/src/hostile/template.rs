//! Templates: a source or a text of any size, on one line.
//!
//! `«part‖separator»` stands for as many parts as the size says, with the separator between them. In a part
//! `§` is its index, `¶` the next one, `½` half of it, `¤` a random one, `λ` a random letter.
//! `⟨part¦separator⟩` stands for as many parts again, in which `†` is the inner index, and `⟨part¦separator⟨` for
//! as many as the index. Outside of parts `§` is the size.

use grammask_oracle::random::Rng;

const LETTERS: &str = "abcdefghijklmnopqrstuvwxyz";

/// The expansion of a template at a size.
pub(super) fn expand(template: &str, size: usize, random: &mut Rng) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('«') {
        push(&mut out, before, |_| size);
        let (body, after) = after.split_once('»').unwrap_or((after, ""));
        let (part, separator) = body.split_once('‖').unwrap_or((body, ""));
        for index in 0..size {
            if index > 0 {
                out += separator;
            }
            push_part(&mut out, part, index, size, random);
        }
        rest = after;
    }
    push(&mut out, rest, |_| size);
    out
}

fn push_part(out: &mut String, part: &str, index: usize, size: usize, random: &mut Rng) {
    let mut number = |marker| match marker {
        '¶' => index + 1,
        '½' => index / 2,
        '¤' => random.below(size),
        'λ' => random.below(LETTERS.len()),
        _ => index,
    };
    let mut rest = part;
    while let Some((before, after)) = rest.split_once('⟨') {
        push(out, before, &mut number);
        let end = after.find(['⟨', '⟩']).unwrap_or(after.len());
        let (body, after) = after.split_at(end);
        let count = if after.starts_with('⟨') { index } else { size };
        let after = after.get('⟩'.len_utf8()..).unwrap_or_default();
        let (part, separator) = body.split_once('¦').unwrap_or((body, ""));
        for inner in 0..count {
            if inner > 0 {
                out.push_str(separator);
            }
            push(out, part, |marker| if marker == '†' { inner } else { number(marker) });
        }
        rest = after;
    }
    push(out, rest, number);
}

/// Adds a text with a number in place of each marker.
fn push(out: &mut String, text: &str, mut number: impl FnMut(char) -> usize) {
    let mut rest = text;
    while let Some(at) = rest.find(['§', '¶', '½', '¤', 'λ', '†']) {
        out.push_str(&rest[..at]);
        let mut characters = rest[at..].chars();
        let marker = characters.next().unwrap_or_default();
        let number = number(marker);
        match LETTERS.get(number..=number) {
            Some(letter) if marker == 'λ' => out.push_str(letter),
            _ => out.push_str(&number.to_string()),
        }
        rest = characters.as_str();
    }
    out.push_str(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(template: &str, expected: &str) {
        assert_eq!(expand(template, 3, &mut Rng::new(1)), expected, "{template}");
    }

    #[test]
    fn parts_are_repeated_and_numbered() {
        check("[«r§:¶:½‖, »]", "[r0:1:0, r1:2:0, r2:3:1]");
        check("«(»a«)» §", "(((a))) 3");
        check("«⟨§†¦,⟩‖;»", "00,01,02;10,11,12;20,21,22");
        check("«⟨†¦,⟨‖;»", ";0;0,1");
        check("plain", "plain");
    }

    #[test]
    fn random_numbers_follow_the_seed() {
        let expanded = |seed| expand("«¤‖ »", 50, &mut Rng::new(seed));
        assert_eq!(expanded(1), expanded(1));
        assert_ne!(expanded(1), expanded(2));
        let letters = expand("«λ»", 50, &mut Rng::new(1));
        assert!(
            letters.len() == 50 && letters.bytes().all(|letter| letter.is_ascii_lowercase()),
            "{letters}"
        );
    }
}
