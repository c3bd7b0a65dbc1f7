//! Finding where the parts of a JSON text end without parsing it.
//!
//! To find the end of an object takes a tenth of the time of reading it. These functions find no faults, and depth
//! costs nothing. On a text that is not JSON they answer something, or `None`.

/// The place after the string that begins at a quote.
pub(crate) fn string_end(bytes: &[u8], begin: usize) -> Option<usize> {
    let mut at = begin + 1;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// The first place that is not whitespace.
pub(crate) fn after_space(bytes: &[u8], mut at: usize) -> usize {
    while matches!(bytes.get(at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
        at += 1;
    }
    at
}

/// The place after the object that begins here, if one does.
pub(crate) fn object_end(bytes: &[u8], begin: usize) -> Option<usize> {
    if bytes.get(begin) == Some(&b'{') { brackets_end(bytes, begin) } else { None }
}

/// The place after the value that begins here, if one does.
pub(crate) fn value_end(bytes: &[u8], begin: usize) -> Option<usize> {
    match bytes.get(begin)? {
        b'"' => string_end(bytes, begin),
        b'{' | b'[' => brackets_end(bytes, begin),
        _ => {
            let is_scalar = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
            let length = bytes[begin..].iter().take_while(is_scalar).count();
            (length > 0).then_some(begin + length)
        }
    }
}

/// The place after the object or array that begins here. Brackets are counted, not parsed.
fn brackets_end(bytes: &[u8], begin: usize) -> Option<usize> {
    let mut open = 0_usize;
    let mut at = begin;
    loop {
        match bytes.get(at)? {
            b'"' => {
                at = string_end(bytes, at)?;
                continue;
            }
            b'{' | b'[' => open += 1,
            b'}' | b']' if open == 1 => return Some(at + 1),
            b'}' | b']' => open -= 1,
            _ => {}
        }
        at += 1;
    }
}
