//! Keys: their short ids, what makes one too weak to start with, and the tags made with them.

mod weak;

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use subtle::ConstantTimeEq;
use thiserror::Error;
use zeroize::{Zeroize, Zeroizing};

use crate::binding::Purpose;
use crate::canon::Writer;
use crate::token::{TAG_BYTES, TokenId};

pub use weak::WeakKey;

/// HMAC-SHA-256 takes keys of up to one block as they are; a longer one would be hashed first, which adds nothing.
pub(crate) const BLOCK_BYTES: usize = 64;

/// Without `i`, `l`, `o` and `u`, which are misread. Their number divides 256, so random bytes give each of them equally often.
const KID_LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// The short id of a key, as tokens, key files and logs show it: 1 to 8 of `a` to `z` and `0` to `9`.
///
/// It is no secret.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Kid(String);

impl Kid {
    /// The longest id. It bounds the token, which a model has to copy.
    pub const MAX_CHARS: usize = 8;

    /// The id in `text`, exactly as written.
    ///
    /// # Errors
    /// [`KeyError::Kid`] for any other length or character.
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        if text.is_empty() || text.len() > Self::MAX_CHARS || !text.bytes().all(allowed) {
            return Err(KeyError::Kid);
        }
        Ok(Self(text.to_owned()))
    }

    /// An id for a new key, from random bytes. Its four letters tell the keys of one deployment apart and make tokens of 75 characters.
    pub fn from_random(bytes: [u8; 4]) -> Self {
        let letter = |byte: u8| KID_LETTERS.get(usize::from(byte % 32));
        Self(
            bytes
                .into_iter()
                .filter_map(letter)
                .map(|letter| char::from(*letter))
                .collect(),
        )
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Kid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A key with its id. The bytes are overwritten when it is dropped, and neither `Debug` nor anything else but a rendered key file shows them.
#[derive(Clone)]
pub struct Key {
    kid: Kid,
    secret: Zeroizing<Vec<u8>>,
}

impl Key {
    /// The fewest bytes: as many as the tag has, so that guessing the key is never easier than guessing a tag.
    pub const MIN_BYTES: usize = 32;
    /// The most bytes: one block of the hash.
    pub const MAX_BYTES: usize = BLOCK_BYTES;

    /// A key of 32 to 64 random bytes.
    ///
    /// # Errors
    /// [`KeyError::Weak`] when the bytes can't have come from a random source (promise G-10).
    pub fn new(kid: Kid, secret: &[u8]) -> Result<Self, KeyError> {
        weak::check(secret)?;
        Ok(Self {
            kid,
            secret: Zeroizing::new(secret.to_vec()),
        })
    }

    /// The key's id.
    pub fn kid(&self) -> &Kid {
        &self.kid
    }

    pub(crate) fn secret(&self) -> &[u8] {
        &self.secret
    }

    /// Whether both would make the same tags. HMAC pads a short key with zeros, so keys are compared padded.
    pub(crate) fn same_secret(&self, other: &Self) -> bool {
        self.block().ct_eq(other.block().as_slice()).into()
    }

    /// The tag over `record` for the token `id`, under this key's derivative for `purpose`.
    pub(crate) fn tag(
        &self,
        purpose: Purpose,
        kid: &Kid,
        id: TokenId,
        record: &[u8],
    ) -> [u8; TAG_BYTES] {
        self.mac(purpose, kid, id, record)
            .finalize()
            .into_bytes()
            .into()
    }

    /// Whether `tag` is that tag, in constant time.
    pub(crate) fn verifies(
        &self,
        purpose: Purpose,
        kid: &Kid,
        id: TokenId,
        record: &[u8],
        tag: &[u8; TAG_BYTES],
    ) -> bool {
        self.mac(purpose, kid, id, record).verify_slice(tag).is_ok()
    }

    /// The kid is signed too: otherwise a token would stay good under any id that the same bytes are filed under.
    fn mac(&self, purpose: Purpose, kid: &Kid, id: TokenId, record: &[u8]) -> Hmac<Sha256> {
        let mut writer = Writer::default();
        writer.text(kid.as_str());
        writer.fixed(id.as_bytes());
        writer.sized(record);
        let key = self.derive(purpose.label());
        Hmac::new((&*key).into()).chain_update(writer.into_bytes())
    }

    /// One step of HKDF-Expand. The extract step is left out because keys are uniformly random already; `weak::check` refuses what clearly is not.
    pub(crate) fn derive(&self, label: &str) -> Zeroizing<[u8; BLOCK_BYTES]> {
        let mut derived = Hmac::<Sha256>::new((&*self.block()).into())
            .chain_update(label)
            .chain_update([1])
            .finalize()
            .into_bytes();
        let block = padded(&derived);
        derived.as_mut_slice().zeroize();
        block
    }

    fn block(&self) -> Zeroizing<[u8; BLOCK_BYTES]> {
        padded(&self.secret)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Key")
            .field("kid", &self.kid.as_str())
            .finish_non_exhaustive()
    }
}

/// HMAC's own padding, done here because a whole block is the one key length that it takes without a `Result`.
fn padded(secret: &[u8]) -> Zeroizing<[u8; BLOCK_BYTES]> {
    let mut block = Zeroizing::new([0; BLOCK_BYTES]);
    for (to, from) in block.iter_mut().zip(secret) {
        *to = *from;
    }
    block
}

/// Why a key or a key ring is refused, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum KeyError {
    /// The key could be guessed.
    #[error("the key is too weak, make a new one with `keys create`")]
    Weak(#[from] WeakKey),
    /// The key's id has another form.
    #[error("a key id has 1 to 8 characters out of `a` to `z` and `0` to `9`")]
    Kid,
    /// Two keys with one id.
    #[error("the key id `{0}` is taken, give the new key another one")]
    KidTaken(Kid),
    /// The same bytes under two ids, which would make retiring one of them no use.
    #[error("the same key is already there as `{0}`, make a new one with `keys rotate`")]
    SecretTaken(Kid),
    /// No key with that id.
    #[error("no key has the id `{0}`, `keys list` shows those there are")]
    UnknownKid(Kid),
    /// It signs already.
    #[error("the key `{0}` is the current one already")]
    AlreadyCurrent(Kid),
    /// The last key that signs can't go.
    #[error("the key `{0}` is the current one, promote another before it is retired")]
    StillCurrent(Kid),
}
