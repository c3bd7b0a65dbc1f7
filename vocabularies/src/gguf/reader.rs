//! Values of GGUF, read from a stream.

use std::io::{self, BufReader, Read};

use crate::error::LoadError;
use crate::format::Format;

/// Most bytes of a key, as the format's description says.
const MAX_KEY: u64 = (1 << 16) - 1;

/// The type of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ValueType {
    Unsigned(u64),
    Signed(u64),
    /// Numbers with a fraction, and truth values: nothing here needs them.
    Other(u64),
    String,
    Array,
}

impl ValueType {
    /// The types by their numbers in the file; in the numeric ones is their width in bytes.
    fn numbered(number: u32) -> Option<Self> {
        Some(match number {
            0 => Self::Unsigned(1),
            1 => Self::Signed(1),
            2 => Self::Unsigned(2),
            3 => Self::Signed(2),
            4 => Self::Unsigned(4),
            5 => Self::Signed(4),
            6 => Self::Other(4),
            7 => Self::Other(1),
            8 => Self::String,
            9 => Self::Array,
            10 => Self::Unsigned(8),
            11 => Self::Signed(8),
            12 => Self::Other(8),
            _ => return None,
        })
    }
}

/// A stream that knows where it is and what it reads.
pub(super) struct Reader<R> {
    stream: BufReader<R>,
    offset: u64,
    /// The key whose value is read, for errors.
    key: Option<String>,
}

impl<R: Read> Reader<R> {
    pub(super) fn new(stream: R) -> Self {
        Self { stream: BufReader::new(stream), offset: 0, key: None }
    }

    /// An error at the place where the reader is.
    pub(super) fn error(&self, message: impl Into<String>) -> LoadError {
        LoadError::at(Format::Gguf, self.place(), message)
    }

    /// Bytes read so far.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    fn place(&self) -> String {
        match &self.key {
            Some(key) => format!("key `{}`, byte {}", key.escape_debug(), self.offset),
            None => format!("byte {}", self.offset),
        }
    }

    fn failed(&self, error: io::Error) -> LoadError {
        LoadError::read(Some(Format::Gguf), Some(self.place()), error)
    }

    fn ended(&self) -> LoadError {
        self.failed(io::ErrorKind::UnexpectedEof.into())
    }

    pub(super) fn bytes<const N: usize>(&mut self) -> Result<[u8; N], LoadError> {
        let mut bytes = [0; N];
        self.stream.read_exact(&mut bytes).map_err(|error| self.failed(error))?;
        self.offset += N as u64;
        Ok(bytes)
    }

    pub(super) fn u32(&mut self) -> Result<u32, LoadError> {
        self.bytes().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64, LoadError> {
        self.bytes().map(u64::from_le_bytes)
    }

    /// Appends a string's bytes; at most `limit` of them, or what `advice` says is to be done.
    pub(super) fn string(&mut self, into: &mut Vec<u8>, limit: u64, advice: &str) -> Result<(), LoadError> {
        let length = self.u64()?;
        if length > limit {
            return Err(
                self.error(format!("a text of {length} bytes, where at most {limit} can be; {advice}"))
            );
        }
        // This grows by what there is, not by what the length claims.
        let read = (&mut self.stream).take(length).read_to_end(into).map_err(|error| self.failed(error))?;
        self.offset += read as u64;
        if (read as u64) < length { Err(self.ended()) } else { Ok(()) }
    }

    pub(super) fn value_type(&mut self) -> Result<ValueType, LoadError> {
        let number = self.u32()?;
        ValueType::numbered(number)
            .ok_or_else(|| self.error(format!("{number} is the type of no value; fetch the file again")))
    }

    /// Reads the next key and the type of its value.
    pub(super) fn next_key(&mut self) -> Result<(Vec<u8>, ValueType), LoadError> {
        self.key = None;
        let mut key = Vec::new();
        self.string(&mut key, MAX_KEY, "fetch the file again")?;
        self.key = Some(String::from_utf8_lossy(&key).into_owned());
        let value_type = self.value_type()?;
        Ok((key, value_type))
    }

    /// Reads the type and the number of the items of a list.
    pub(super) fn list(&mut self) -> Result<(ValueType, u64), LoadError> {
        Ok((self.value_type()?, self.u64()?))
    }

    /// A whole number of any width.
    pub(super) fn integer(&mut self, value_type: ValueType) -> Result<i128, LoadError> {
        Ok(match value_type {
            ValueType::Unsigned(1) => u8::from_le_bytes(self.bytes()?).into(),
            ValueType::Unsigned(2) => u16::from_le_bytes(self.bytes()?).into(),
            ValueType::Unsigned(4) => self.u32()?.into(),
            ValueType::Unsigned(_) => self.u64()?.into(),
            ValueType::Signed(1) => i8::from_le_bytes(self.bytes()?).into(),
            ValueType::Signed(2) => i16::from_le_bytes(self.bytes()?).into(),
            ValueType::Signed(4) => i32::from_le_bytes(self.bytes()?).into(),
            ValueType::Signed(_) => i64::from_le_bytes(self.bytes()?).into(),
            _ => return Err(self.error("not a whole number; convert the model again")),
        })
    }

    /// Passes over a value.
    pub(super) fn pass_over(&mut self, value_type: ValueType) -> Result<(), LoadError> {
        match value_type {
            ValueType::Unsigned(width) | ValueType::Signed(width) | ValueType::Other(width) => {
                self.skip(width)
            }
            ValueType::String => self.skip_string(),
            ValueType::Array => {
                let (item, count) = self.list()?;
                match item {
                    ValueType::Unsigned(width) | ValueType::Signed(width) | ValueType::Other(width) => {
                        let bytes = count.checked_mul(width).ok_or_else(|| self.ended())?;
                        self.skip(bytes)
                    }
                    ValueType::String => (0..count).try_for_each(|_| self.skip_string()),
                    ValueType::Array => {
                        Err(self
                            .error("a list of lists, which llama.cpp does not read; convert the model again"))
                    }
                }
            }
        }
    }

    fn skip_string(&mut self) -> Result<(), LoadError> {
        let length = self.u64()?;
        self.skip(length)
    }

    fn skip(&mut self, length: u64) -> Result<(), LoadError> {
        let mut rest = (&mut self.stream).take(length);
        let skipped = io::copy(&mut rest, &mut io::sink()).map_err(|error| self.failed(error))?;
        self.offset = self.offset.saturating_add(skipped);
        if skipped < length { Err(self.ended()) } else { Ok(()) }
    }
}
