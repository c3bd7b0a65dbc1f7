//! The fields of a protocol buffers message, with the place of each.
//!
//! The wire format has four kinds of values. We walk it ourselves, because errors say the byte at which they lie, which
//! no library tells.

/// A field of a message.
pub(crate) struct Field<'m> {
    pub(crate) number: u64,
    pub(crate) value: Value<'m>,
    /// Where in the file the field begins.
    pub(crate) offset: usize,
}

/// The value of a field.
pub(crate) enum Value<'m> {
    /// A whole number or an enumeration's.
    Varint(u64),
    /// A text, bytes or a message.
    Bytes(Message<'m>),
    /// Four or eight bytes.
    Fixed,
}

/// A message, or another sequence of bytes, in a file.
#[derive(Clone, Copy)]
pub(crate) struct Message<'m> {
    bytes: &'m [u8],
    /// Where in the file the bytes begin.
    offset: usize,
}

/// Where a message is malformed, and how.
pub(crate) struct Malformed {
    pub(crate) offset: usize,
    pub(crate) reason: &'static str,
}

impl<'m> Message<'m> {
    /// The message that a whole file is.
    pub(crate) fn of_file(bytes: &'m [u8]) -> Self {
        Self { bytes, offset: 0 }
    }

    pub(crate) fn bytes(self) -> &'m [u8] {
        self.bytes
    }

    pub(crate) fn offset(self) -> usize {
        self.offset
    }

    /// Takes the first field off, if there is one.
    pub(crate) fn next_field(&mut self) -> Result<Option<Field<'m>>, Malformed> {
        if self.bytes.is_empty() {
            return Ok(None);
        }
        let offset = self.offset;
        let tag = self.varint()?;
        let value = match tag & 7 {
            0 => Value::Varint(self.varint()?),
            1 => self.take(8).map(|_| Value::Fixed)?,
            2 => {
                let length = self.varint()?;
                Value::Bytes(self.take(length)?)
            }
            5 => self.take(4).map(|_| Value::Fixed)?,
            _ => return Err(Malformed { offset, reason: "no field begins like this" }),
        };
        Ok(Some(Field { number: tag >> 3, value, offset }))
    }

    fn varint(&mut self) -> Result<u64, Malformed> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = match self.take(1)?.bytes {
                [byte] => *byte,
                _ => return Err(self.ended()),
            };
            number |= u64::from(byte & 0x7F) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(Malformed { offset: self.offset, reason: "a number of more than 64 bits" })
    }

    fn take(&mut self, length: u64) -> Result<Self, Malformed> {
        let length = usize::try_from(length).map_err(|_| self.ended())?;
        let (bytes, rest) = self.bytes.split_at_checked(length).ok_or_else(|| self.ended())?;
        let taken = Self { bytes, offset: self.offset };
        *self = Self { bytes: rest, offset: self.offset + length };
        Ok(taken)
    }

    fn ended(&self) -> Malformed {
        Malformed { offset: self.offset, reason: "a field goes past the end of what holds it" }
    }
}
