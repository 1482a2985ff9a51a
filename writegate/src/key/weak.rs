//! Which bytes are refused as a key, although they have the right length.
//!
//! Each rule is far from anything a random source yields: the likeliest false refusal, 32 random bytes that all are printable, has odds of 1 to 10^13.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use subtle::ConstantTimeEq;
use thiserror::Error;
use zeroize::Zeroizing;

use super::Key;

/// 32 random bytes hold about 30 different values, and fewer than 16 with odds of 1 to 10^15.
const LEAST_VALUES: usize = 16;

/// Keys that stand in specifications and documentation, from where they get copied; all others of that kind known to us are text.
const PUBLISHED: [&str; 5] = [
    // RFC 7515, appendix A.1.
    "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow",
    // RFC 7520, section 3.5.
    "hJtXIZ2uSN5kbQfbtTNWbpdmhkV8FJG-Onbc6mxCcYg",
    // The Fernet specification.
    "cw_0x689RpI-jtRR7oE8h_eQsKImvJapLeSbXpwF4e4",
    // Airflow's example configuration.
    "46BKJoQYlPPOexq0OhDZnIlNepKFf87WFwLbfzqDDho",
    // SHA-256 of nothing: what a script that hashes an unset variable makes.
    "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU",
];

/// Why bytes can't be a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum WeakKey {
    /// Fewer than 32 bytes.
    #[error("it has `{found}` bytes, a key has `32` to `64`")]
    TooShort {
        /// How many it has.
        found: usize,
    },
    /// More than 64 bytes.
    #[error("it has `{found}` bytes, a key has `32` to `64`")]
    TooLong {
        /// How many it has.
        found: usize,
    },
    /// All zero, or all of any other byte.
    #[error("all of its bytes are equal")]
    AllEqual,
    /// Counting up or down, or a short piece again and again.
    #[error("its bytes follow a pattern")]
    Patterned,
    /// A passphrase, a placeholder, hexadecimal digits: fewer bits than bytes, and often a dictionary's.
    #[error("it is readable text, a key is random bytes")]
    Text,
    /// Too few different bytes.
    #[error("it has only `{distinct}` different bytes, a random key has at least `16`")]
    FewValues {
        /// How many it has.
        distinct: usize,
    },
    /// Printed in public.
    #[error("it is an example key from public documentation")]
    Published,
}

pub(super) fn check(secret: &[u8]) -> Result<(), WeakKey> {
    let found = secret.len();
    if found < Key::MIN_BYTES {
        return Err(WeakKey::TooShort { found });
    }
    if found > Key::MAX_BYTES {
        return Err(WeakKey::TooLong { found });
    }
    if repeats(secret, 1) {
        return Err(WeakKey::AllEqual);
    }
    if counts(secret) || (2..=found / 2).any(|period| repeats(secret, period)) {
        return Err(WeakKey::Patterned);
    }
    if secret.iter().all(|byte| matches!(byte, b' '..=b'~')) {
        return Err(WeakKey::Text);
    }
    let distinct = (0..=u8::MAX).filter(|byte| secret.contains(byte)).count();
    if distinct < LEAST_VALUES {
        return Err(WeakKey::FewValues { distinct });
    }
    let text = Zeroizing::new(BASE64_URL_SAFE_NO_PAD.encode(secret));
    if PUBLISHED
        .iter()
        .any(|known| text.as_bytes().ct_eq(known.as_bytes()).into())
    {
        return Err(WeakKey::Published);
    }
    Ok(())
}

fn repeats(secret: &[u8], period: usize) -> bool {
    secret
        .iter()
        .zip(secret.iter().skip(period))
        .all(|(first, again)| first == again)
}

fn counts(secret: &[u8]) -> bool {
    let mut steps = secret
        .iter()
        .zip(secret.iter().skip(1))
        .map(|(first, next)| next.wrapping_sub(*first));
    let first = steps.next();
    steps.all(|step| Some(step) == first)
}
