//! Unambiguous bytes for what is hashed and signed.
//!
//! Texts carry their length and every choice carries a tag, so two different values never share an encoding. There is no JSON here: its many spellings
//! of one value are what canonical forms exist to avoid (promises C.2).

use crate::binding::DecodeError;

/// Collects fields in the order in which they are put.
#[derive(Default)]
pub(crate) struct Writer(Vec<u8>);

impl Writer {
    pub(crate) fn byte(&mut self, value: u8) {
        self.0.push(value);
    }

    pub(crate) fn int(&mut self, value: i64) {
        self.0.extend_from_slice(&value.to_be_bytes());
    }

    /// Only for values of one fixed length: nothing marks where they end.
    pub(crate) fn fixed(&mut self, value: &[u8]) {
        self.0.extend_from_slice(value);
    }

    /// Eight bytes of length make this total: no `usize` is too large for them.
    pub(crate) fn sized(&mut self, value: &[u8]) {
        self.0
            .extend_from_slice(&(value.len() as u64).to_be_bytes());
        self.0.extend_from_slice(value);
    }

    pub(crate) fn text(&mut self, value: &str) {
        self.sized(value.as_bytes());
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

/// Takes fields off the front; total for any input, and allocates no more than the input holds.
pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let (head, rest) = self.0.split_first_chunk().ok_or(DecodeError::Truncated)?;
        self.0 = rest;
        Ok(*head)
    }

    pub(crate) fn byte(&mut self) -> Result<u8, DecodeError> {
        self.array().map(|[byte]| byte)
    }

    pub(crate) fn int(&mut self) -> Result<i64, DecodeError> {
        self.array().map(i64::from_be_bytes)
    }

    pub(crate) fn text(&mut self) -> Result<String, DecodeError> {
        let length = u64::from_be_bytes(self.array()?);
        let (head, rest) = usize::try_from(length)
            .ok()
            .and_then(|length| self.0.split_at_checked(length))
            .ok_or(DecodeError::Truncated)?;
        self.0 = rest;
        str::from_utf8(head)
            .map(str::to_owned)
            .or(Err(DecodeError::NotText))
    }

    /// Bytes behind the last field would be a second encoding of the same record.
    pub(crate) fn finish(self) -> Result<(), DecodeError> {
        match self.0.len() {
            0 => Ok(()),
            extra => Err(DecodeError::TrailingBytes { extra }),
        }
    }
}
