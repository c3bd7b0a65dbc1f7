//! Characters of which only some bytes have been read.

/// The first bytes of one character's UTF-8 encoding: none to three, or all of them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Partial {
    bytes: [u8; 4],
    len: u8,
}

/// The effect of a byte on a partial character.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Read {
    /// The character is there.
    Whole(char),
    /// More bytes are needed, and some exist.
    More(Partial),
}

impl Partial {
    /// Reads one more byte. `None`: no character's encoding begins like that. The standard library decides;
    /// it tells an encoding that was cut off from one that is wrong.
    pub(crate) fn push(mut self, byte: u8) -> Option<Read> {
        self.bytes[usize::from(self.len)] = byte;
        self.len += 1;
        match std::str::from_utf8(self.read()) {
            Ok(text) => text.chars().next().map(Read::Whole),
            Err(error) if error.error_len().is_none() => Some(Read::More(self)),
            Err(_) => None,
        }
    }

    /// The bytes read so far.
    pub(crate) fn read(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// Whether no byte has been read.
    pub(crate) fn is_empty(self) -> bool {
        self.len == 0
    }

    /// The least and the greatest character whose encoding begins with the bytes read, at least one byte.
    /// UTF-8 sorts like code points, so these characters and all between them are the ones possible.
    pub(crate) fn range(self) -> (u32, u32) {
        let lead = u32::from(self.bytes[0]);
        let (payload, length, least) = match lead {
            0xF0.. => (lead & 0x07, 4, 0x1_0000),
            0xE0.. => (lead & 0x0F, 3, 0x800),
            _ => (lead & 0x1F, 2, 0x80),
        };
        let rest = &self.read()[1..];
        let read = rest.iter().fold(payload, |value, &byte| value << 6 | u32::from(byte & 0x3F));
        let open_bits = 6 * (length - u32::from(self.len));
        let (low, high) = (read << open_bits, ((read + 1) << open_bits) - 1);
        // The only range that touches the surrogates without lying inside begins below them.
        let high = if (0xD800..=0xDFFF).contains(&high) { 0xD7FF } else { high.min(u32::from(char::MAX)) };
        (low.max(least), high)
    }

    /// The partial character as a number, 0 for none: at most three bytes are ever held between bytes.
    pub(crate) fn pack(self) -> u32 {
        self.read().iter().fold(0, |packed, &byte| packed << 8 | u32::from(byte))
    }

    /// The inverse of [`pack`](Self::pack).
    pub(crate) fn unpack(packed: u32) -> Self {
        let mut partial = Self::default();
        for byte in packed.to_be_bytes().into_iter().filter(|&byte| byte != 0) {
            partial.bytes[usize::from(partial.len)] = byte;
            partial.len += 1;
        }
        partial
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn agrees_with_every_character() {
        let mut expected: BTreeMap<Vec<u8>, (u32, u32)> = BTreeMap::new();
        for character in '\0'..=char::MAX {
            let mut buffer = [0; 4];
            let bytes = character.encode_utf8(&mut buffer).as_bytes();
            let mut partial = Partial::default();
            for (index, &byte) in bytes.iter().enumerate() {
                match partial.push(byte) {
                    Some(Read::Whole(read)) => {
                        assert_eq!((index + 1, read), (bytes.len(), character));
                    }
                    Some(Read::More(more)) => {
                        let prefix = bytes[..=index].to_vec();
                        expected.entry(prefix).or_insert((character as u32, 0)).1 = character as u32;
                        assert_eq!(Partial::unpack(more.pack()), more);
                        partial = more;
                    }
                    None => panic!("{character:?} does not decode"),
                }
            }
        }
        for (prefix, range) in &expected {
            let packed = prefix.iter().fold(0, |packed, &byte| packed << 8 | u32::from(byte));
            assert_eq!(Partial::unpack(packed).range(), *range, "{prefix:x?}");
        }
        // Whatever else is read as a beginning would be one that no character has.
        for prefix in expected.keys() {
            let packed = prefix.iter().fold(0, |packed, &byte| packed << 8 | u32::from(byte));
            for byte in 0..=255 {
                if let Some(Read::More(more)) = Partial::unpack(packed).push(byte) {
                    assert!(expected.contains_key(more.read()), "{:x?}", more.read());
                }
            }
        }
        for byte in 0..=255 {
            if let Some(Read::More(more)) = Partial::default().push(byte) {
                assert!(expected.contains_key(more.read()));
            }
        }
    }
}
