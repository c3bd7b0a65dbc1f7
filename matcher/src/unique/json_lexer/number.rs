//! Numbers in one form.

/// The form of a number's text after its `#`: sign, digits without zeros at either end, and the power of ten
/// of the last one. `1`, `1.0` and `10e-1` are `#1e0`; all zeros are `#0`. The exponent has at most 18
/// digits.
pub(crate) fn canonical_form(text: &[u8]) -> Vec<u8> {
    let text = text.get(1..).unwrap_or_default();
    let (negative, text) = match text.strip_prefix(b"-") {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let mark = text.iter().position(|byte| matches!(byte, b'e' | b'E')).unwrap_or(text.len());
    let (mantissa, exponent) = text.split_at(mark);
    let point = mantissa.iter().position(|&byte| byte == b'.');
    // The number is its digits, read as one integer, times a power of ten. Digits after the point lower that
    // power, and zeros cut off the end raise it.
    let places = point.map_or(0, |point| mantissa.len() - point - 1);
    let digits: Vec<u8> = mantissa.iter().copied().filter(u8::is_ascii_digit).collect();
    let end = digits.iter().rposition(|&digit| digit != b'0').map_or(0, |last| last + 1);
    let start = digits.iter().position(|&digit| digit != b'0').unwrap_or(end);
    let Some(kept) = digits.get(start..end).filter(|kept| !kept.is_empty()) else { return b"#0".to_vec() };
    // Texts are shorter than 2^63 bytes, and 18 digits leave room for their lengths.
    let power = i128::from(exponent_value(exponent)) - places as i128 + (digits.len() - end) as i128;
    let mut form = Vec::with_capacity(kept.len() + 8);
    form.push(b'#');
    if negative {
        form.push(b'-');
    }
    form.extend_from_slice(kept);
    form.extend_from_slice(format!("e{power}").as_bytes());
    form
}

/// The beginnings of the forms of all numbers whose texts begin with this one. They are the sign and digits
/// up to the last one, and these without zeros at the end, where the form has its power of ten. `None` before
/// the first digit that is no zero: then it may be any number.
pub(crate) fn form_prefixes(text: &[u8]) -> Option<[Vec<u8>; 2]> {
    let text = text.get(1..).unwrap_or_default();
    let mantissa = text.iter().copied().take_while(|byte| !matches!(byte, b'e' | b'E'));
    let digits = mantissa.filter(u8::is_ascii_digit).skip_while(|&digit| digit == b'0');
    let sign: &[u8] = if text.starts_with(b"-") { b"#-" } else { b"#" };
    let begun: Vec<u8> = sign.iter().copied().chain(digits).collect();
    if begun.len() == sign.len() {
        return None;
    }
    // Further digits may follow, then all zeros count. Or none but zeros follow, then they go into the power.
    let end = begun.iter().rposition(|&byte| byte != b'0').map_or(0, |last| last + 1);
    let mut whole = begun[..end].to_vec();
    whole.push(b'e');
    Some([begun, whole])
}

/// Whether the digits before an exponent are all zeros.
pub(crate) fn is_zero(text: &[u8]) -> bool {
    let mantissa = text.iter().take_while(|byte| !matches!(byte, b'e' | b'E'));
    mantissa.filter(|byte| byte.is_ascii_digit()).all(|&digit| digit == b'0')
}

fn exponent_value(exponent: &[u8]) -> i64 {
    let negative = exponent.contains(&b'-');
    let digits = exponent.iter().filter(|byte| byte.is_ascii_digit());
    let value =
        digits.fold(0i64, |value, digit| value.saturating_mul(10).saturating_add(i64::from(digit - b'0')));
    if negative { -value } else { value }
}
