//! The bytes that begin a character of a class.

use grammask_fsm::utf8::{LEADS, Position, Segment};
use grammask_parser_backend::CharClass;

/// The bytes that begin a character of the class, as segments.
pub(crate) fn boundary(class: &CharClass) -> Vec<Segment> {
    let mut segments: Vec<Segment> = Vec::new();
    for byte in (0..128).filter(|&byte| class.contains_ascii(byte)) {
        match segments.last_mut() {
            Some((_, end, _)) if *end + 1 == byte => *end = byte,
            _ => segments.push((byte, byte, Position::Boundary)),
        }
    }
    if class.non_ascii {
        segments.extend_from_slice(&LEADS);
    }
    segments
}
