//! What seals a log: a link over the exact bytes of each row, and a tag over the link that only holders of the keys can make (promises D.1).
//!
//! A link alone can be made anew by whoever can write the database; the tag stops them. Who has the keys too is stopped by nothing but a
//! [checkpoint](crate::Checkpoint) that was taken outside in time.

use std::fmt;
use std::sync::Arc;

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use crate::canon::Writer;
use crate::key::{BLOCK_BYTES, Key, Kid};
use crate::note::CheckpointKey;
use crate::ring::KeyRing;

/// The first bytes of every link, so that no digest of another use can pass as one.
const DOMAIN: &str = "deskgate/audit/v1";

/// The label that the key of a log is derived with; never the key of a token.
const LABEL: &str = "deskgate/writegate/v1/audit";

/// The bytes of a link and of a tag.
pub const SEAL_BYTES: usize = 32;

/// What a row's link covers.
#[derive(Clone, Copy, Debug)]
pub struct Link<'a> {
    /// The store: a row of another one has another link.
    pub deployment: &'a str,
    /// The log in it.
    pub chain: i16,
    /// The row's number: dense, from 1.
    pub seq: i64,
    /// The link of the row before, zeros for the first.
    pub prev: &'a [u8; SEAL_BYTES],
    /// The row's bytes, exactly as stored.
    pub payload: &'a [u8],
}

impl Link<'_> {
    /// The link.
    pub fn hash(&self) -> [u8; SEAL_BYTES] {
        let mut writer = Writer::default();
        writer.text(DOMAIN);
        writer.text(self.deployment);
        writer.int(self.chain.into());
        writer.int(self.seq);
        writer.fixed(self.prev);
        writer.sized(self.payload);
        Sha256::digest(writer.into_bytes()).into()
    }
}

/// When a row was sealed. The tag covers it, so it can't be said of another row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sealing {
    /// In the transaction that wrote the row.
    Written,
    /// Later, when the log of an older build was sealed as a whole: nobody vouches for what was done to the row before.
    Later,
}

impl Sealing {
    const ALL: [Self; 2] = [Self::Written, Self::Later];

    fn code(self) -> u8 {
        match self {
            Self::Written => 1,
            Self::Later => 2,
        }
    }
}

/// Why a tag vouches for nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsealed {
    /// No key has that id.
    UnknownKey,
    /// The key of that id has not made the tag.
    Forged,
}

/// The keys of a log: one that seals, and all that ever did, since a row has to be verifiable for ever.
#[derive(Clone)]
pub struct LogKeys(Arc<Keys>);

struct Keys {
    current: DerivedKey,
    earlier: Vec<DerivedKey>,
    checkpoint: Option<CheckpointKey>,
}

struct DerivedKey {
    kid: Kid,
    block: Zeroizing<[u8; BLOCK_BYTES]>,
}

impl DerivedKey {
    fn of(key: &Key) -> Self {
        Self {
            kid: key.kid().clone(),
            block: key.derive(LABEL),
        }
    }

    /// The id is covered too, as in tokens.
    fn mac(&self, hash: &[u8; SEAL_BYTES], sealing: Sealing) -> Hmac<Sha256> {
        let mut writer = Writer::default();
        writer.text(self.kid.as_str());
        writer.byte(sealing.code());
        writer.fixed(hash);
        Hmac::new((&*self.block).into()).chain_update(writer.into_bytes())
    }
}

impl KeyRing {
    /// The keys that seal and verify a log, of every key in this ring, the retired ones included.
    pub fn log_keys(&self) -> LogKeys {
        let (current, earlier) = self.every_key();
        LogKeys(Arc::new(Keys {
            current: DerivedKey::of(current),
            earlier: earlier.map(DerivedKey::of).collect(),
            checkpoint: self.checkpoint_key().cloned(),
        }))
    }
}

impl LogKeys {
    /// The id of the key that seals.
    pub fn current_kid(&self) -> &Kid {
        &self.0.current.kid
    }

    /// The tag over a link, made with the current key.
    pub fn seal(&self, hash: &[u8; SEAL_BYTES], sealing: Sealing) -> [u8; SEAL_BYTES] {
        self.0
            .current
            .mac(hash, sealing)
            .finalize()
            .into_bytes()
            .into()
    }

    /// When the key of this id sealed a link with this tag, compared in constant time.
    ///
    /// # Errors
    /// [`Unsealed`], if it never did.
    pub fn verify(
        &self,
        kid: &str,
        hash: &[u8; SEAL_BYTES],
        mac: &[u8],
    ) -> Result<Sealing, Unsealed> {
        let key = std::iter::once(&self.0.current)
            .chain(&self.0.earlier)
            .find(|key| key.kid.as_str() == kid)
            .ok_or(Unsealed::UnknownKey)?;
        Sealing::ALL
            .into_iter()
            .find(|sealing| key.mac(hash, *sealing).verify_slice(mac).is_ok())
            .ok_or(Unsealed::Forged)
    }

    /// The key that signs checkpoints, where the key file has one.
    pub fn checkpoint_key(&self) -> Option<&CheckpointKey> {
        self.0.checkpoint.as_ref()
    }
}

impl fmt::Debug for LogKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LogKeys")
            .field("current", &self.0.current.kid.as_str())
            .field("earlier", &self.0.earlier.len())
            .finish_non_exhaustive()
    }
}
