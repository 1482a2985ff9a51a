//! The number by which a row goes through the store: file, line and kind in one, so that a refusal finds its way back
//! without a table of every row.

use storage::import::RecordKind;

/// Where a row came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The number of the file in the import.
    pub(super) file: usize,
    /// The line on which the row begins.
    pub(super) line: u64,
    /// What it is.
    pub(super) kind: RecordKind,
}

const KIND_BITS: u32 = 4;
const LINE_BITS: u32 = 40;

/// The most files that an import may have: what the number leaves for them. Lines go up to a million millions.
pub(super) const MAX_FILES: usize = 1 << (u64::BITS - LINE_BITS - KIND_BITS);

impl Place {
    pub(super) const fn pack(self) -> u64 {
        let kind = (self.kind as u64) << LINE_BITS;
        let file = (self.file as u64) << (LINE_BITS + KIND_BITS);
        file | kind | (self.line & mask(LINE_BITS))
    }

    pub(super) fn unpack(number: u64) -> Self {
        let index = (number >> LINE_BITS) & mask(KIND_BITS);
        let kind = RecordKind::ALL
            .into_iter()
            .find(|kind| *kind as u64 == index);
        Self {
            file: usize::try_from(number >> (LINE_BITS + KIND_BITS)).unwrap_or(usize::MAX),
            line: number & mask(LINE_BITS),
            kind: kind.unwrap_or(RecordKind::Article),
        }
    }
}

const fn mask(bits: u32) -> u64 {
    (1 << bits) - 1
}
