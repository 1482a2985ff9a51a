//! The key ring: one key that signs, and those whose tokens still count.
//!
//! Rotation without a false refusal takes three steps, each given to every process before the next (promise G-9): [`KeyRing::add`] the new key, so that
//! all can verify it; [`KeyRing::promote`] it, so that it signs; [`KeyRing::retire`] the old one when its last token has expired and no stored result is
//! to be fetched with it any more. A retired key still verifies the log that it has sealed, for ever, and nothing else. In an emergency, promote and retire at once: every token of the lost key is refused from then on.

use std::fmt;

use crate::binding::Purpose;
use crate::key::{Key, KeyError, Kid};
use crate::note::CheckpointKey;
use crate::token::{Token, TokenId};

/// What a key in a ring is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyState {
    /// It signs new tokens, and verifies.
    Current,
    /// It verifies tokens that it, or another process, has signed.
    VerifyOnly,
    /// Its tokens count no more; it verifies the log that it has sealed.
    Retired,
}

impl KeyState {
    /// Every state.
    pub const ALL: [Self; 3] = [Self::Current, Self::VerifyOnly, Self::Retired];

    /// The name in a key file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Current => "current",
            Self::VerifyOnly => "verify-only",
            Self::Retired => "retired",
        }
    }

    /// The state of that exact name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }
}

/// Exactly one current key, any number that only verify and any number of retired ones, all with different ids and different bytes; and at most one
/// key that signs checkpoints.
///
/// Rings are values: each change gives a new one, and the old one stays as it was.
#[derive(Clone)]
pub struct KeyRing {
    current: Key,
    verify_only: Vec<Key>,
    retired: Vec<Key>,
    checkpoint: Option<CheckpointKey>,
}

impl KeyRing {
    /// A ring of one key.
    pub fn new(current: Key) -> Self {
        Self {
            current,
            verify_only: Vec::new(),
            retired: Vec::new(),
            checkpoint: None,
        }
    }

    /// A ring that also verifies what `key` signs.
    ///
    /// # Errors
    /// [`KeyError::KidTaken`] or [`KeyError::SecretTaken`].
    pub fn add(&self, key: Key) -> Result<Self, KeyError> {
        self.check_new(&key)?;
        let mut ring = self.clone();
        ring.verify_only.push(key);
        Ok(ring)
    }

    /// A ring in which `key` verifies the log that it has sealed, and no token.
    ///
    /// # Errors
    /// [`KeyError::KidTaken`] or [`KeyError::SecretTaken`].
    pub fn add_retired(&self, key: Key) -> Result<Self, KeyError> {
        self.check_new(&key)?;
        let mut ring = self.clone();
        ring.retired.push(key);
        Ok(ring)
    }

    /// A ring that signs checkpoints with `key`.
    ///
    /// # Errors
    /// [`KeyError::KidTaken`], also where the ring has such a key already.
    pub fn with_checkpoint_key(&self, key: CheckpointKey) -> Result<Self, KeyError> {
        if let Some(taken) = &self.checkpoint {
            return Err(KeyError::KidTaken(taken.kid().clone()));
        }
        if self.every().any(|known| known.kid() == key.kid()) {
            return Err(KeyError::KidTaken(key.kid().clone()));
        }
        let mut ring = self.clone();
        ring.checkpoint = Some(key);
        Ok(ring)
    }

    fn check_new(&self, key: &Key) -> Result<(), KeyError> {
        let checkpoint = self.checkpoint.as_ref().map(CheckpointKey::kid);
        let mut kids = self.every().map(Key::kid).chain(checkpoint);
        if kids.any(|kid| kid == key.kid()) {
            return Err(KeyError::KidTaken(key.kid().clone()));
        }
        if let Some(same) = self.every().find(|known| known.same_secret(key)) {
            return Err(KeyError::SecretTaken(same.kid().clone()));
        }
        Ok(())
    }

    /// A ring in which `kid` signs and the key that did only verifies.
    ///
    /// # Errors
    /// [`KeyError::UnknownKid`] or [`KeyError::AlreadyCurrent`].
    pub fn promote(&self, kid: &Kid) -> Result<Self, KeyError> {
        if self.current.kid() == kid {
            return Err(KeyError::AlreadyCurrent(kid.clone()));
        }
        let mut ring = self.clone();
        let key = ring
            .verify_only
            .iter_mut()
            .find(|key| key.kid() == kid)
            .ok_or_else(|| KeyError::UnknownKid(kid.clone()))?;
        std::mem::swap(key, &mut ring.current);
        Ok(ring)
    }

    /// A ring in which no token of `kid` counts any more; the log that it has sealed still verifies.
    ///
    /// # Errors
    /// [`KeyError::StillCurrent`] or [`KeyError::UnknownKid`].
    pub fn retire(&self, kid: &Kid) -> Result<Self, KeyError> {
        if self.current.kid() == kid {
            return Err(KeyError::StillCurrent(kid.clone()));
        }
        if self.find(kid).is_none() {
            return Err(KeyError::UnknownKid(kid.clone()));
        }
        let mut ring = self.clone();
        let retired = ring.verify_only.extract_if(.., |key| key.kid() == kid);
        ring.retired.extend(retired);
        Ok(ring)
    }

    /// The key that signs checkpoints.
    pub fn checkpoint_key(&self) -> Option<&CheckpointKey> {
        self.checkpoint.as_ref()
    }

    /// The id of the key that signs.
    pub fn current_kid(&self) -> &Kid {
        self.current.kid()
    }

    /// The ids of the keys whose tokens count with their state, the current one first.
    pub fn kids(&self) -> impl Iterator<Item = (&Kid, KeyState)> {
        self.keys().map(|(key, state)| (key.kid(), state))
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = (&Key, KeyState)> {
        std::iter::once((&self.current, KeyState::Current)).chain(
            self.verify_only
                .iter()
                .map(|key| (key, KeyState::VerifyOnly)),
        )
    }

    /// Every key that seals or has sealed a log: the current one, and the others.
    pub(crate) fn every_key(&self) -> (&Key, impl Iterator<Item = &Key>) {
        (&self.current, self.verify_only.iter().chain(&self.retired))
    }

    /// Every key with its state, as a key file holds them.
    pub(crate) fn with_retired(&self) -> impl Iterator<Item = (&Key, KeyState)> {
        let retired = self.retired.iter().map(|key| (key, KeyState::Retired));
        self.keys().chain(retired)
    }

    fn every(&self) -> impl Iterator<Item = &Key> {
        self.with_retired().map(|(key, _)| key)
    }

    pub(crate) fn sign(&self, purpose: Purpose, id: TokenId, record: &[u8]) -> Token {
        let kid = self.current.kid();
        let tag = self.current.tag(purpose, kid, id, record);
        Token::new(kid.clone(), id, tag)
    }

    /// Whether a key of this ring signed `token` over `record`.
    ///
    /// For an unknown key the current one does the same work and its answer is dropped, so that the time taken tells nothing either (promise G-8).
    pub(crate) fn verifies(&self, purpose: Purpose, token: &Token, record: &[u8]) -> bool {
        let (key, known) = match self.find(token.kid()) {
            Some(key) => (key, true),
            None => (&self.current, false),
        };
        let genuine = key.verifies(purpose, token.kid(), token.id(), record, token.tag());
        known & genuine
    }

    fn find(&self, kid: &Kid) -> Option<&Key> {
        self.keys().map(|(key, _)| key).find(|key| key.kid() == kid)
    }
}

impl fmt::Debug for KeyRing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map()
            .entries(
                self.kids()
                    .map(|(kid, state)| (kid.as_str(), state.as_str())),
            )
            .finish()
    }
}

#[cfg(test)]
mod tests;
