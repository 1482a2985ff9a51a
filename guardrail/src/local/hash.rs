//! Hashes that stand for features: the same in every build and on every machine.

/// What is hashed, so that a word and an equal run of characters differ.
pub(crate) const WORD: u64 = 0x9e37_79b9_7f4a_7c15;
/// A number.
pub(super) const NUMBER: u64 = 0x1656_67b1_9e37_79f9;
/// A run of characters.
pub(super) const LETTERS: u64 = 0xc2b2_ae3d_27d4_eb4f;

/// Adds a byte.
pub(super) fn step(hash: u64, byte: u8) -> u64 {
    (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
}

/// Hash of bytes of one kind.
pub(super) fn of(kind: u64, bytes: &[u8]) -> u64 {
    mixed(bytes.iter().fold(kind, |hash, &byte| step(hash, byte)))
}

/// Hash of two things in order.
pub(crate) fn join(a: u64, b: u64) -> u64 {
    mixed(a.rotate_left(23).wrapping_mul(0x9fb2_1c65_1e98_df25) ^ b)
}

/// Spreads every bit over all.
pub(super) fn mixed(mut hash: u64) -> u64 {
    hash ^= hash >> 32;
    hash = hash.wrapping_mul(0xd6e8_feb8_6659_fd93);
    hash ^ (hash >> 32)
}
