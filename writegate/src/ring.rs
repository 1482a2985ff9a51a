//! The key ring: one key that signs, and those whose tokens still count.
//!
//! Rotation without a false refusal takes three steps, each given to every process before the next (promise G-9): [`KeyRing::add`] the new key, so that
//! all can verify it; [`KeyRing::promote`] it, so that it signs; [`KeyRing::retire`] the old one when its last token has expired and no stored result is
//! to be fetched with it any more. In an emergency, promote and retire at once: every token of the lost key is refused from then on.

use std::fmt;

use crate::binding::Purpose;
use crate::key::{Key, KeyError, Kid};
use crate::token::{Token, TokenId};

/// What a key in a ring is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyState {
    /// It signs new tokens, and verifies.
    Current,
    /// It verifies tokens that it, or another process, has signed.
    VerifyOnly,
}

impl KeyState {
    /// Both states.
    pub const ALL: [Self; 2] = [Self::Current, Self::VerifyOnly];

    /// The name in a key file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Current => "current",
            Self::VerifyOnly => "verify-only",
        }
    }

    /// The state of that exact name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }
}

/// Exactly one current key and any number that only verify, all with different ids and different bytes.
///
/// Rings are values: each change gives a new one, and the old one stays as it was.
#[derive(Clone)]
pub struct KeyRing {
    current: Key,
    verify_only: Vec<Key>,
}

impl KeyRing {
    /// A ring of one key.
    pub fn new(current: Key) -> Self {
        Self {
            current,
            verify_only: Vec::new(),
        }
    }

    /// A ring that also verifies what `key` signs.
    ///
    /// # Errors
    /// [`KeyError::KidTaken`] or [`KeyError::SecretTaken`].
    pub fn add(&self, key: Key) -> Result<Self, KeyError> {
        if self.find(key.kid()).is_some() {
            return Err(KeyError::KidTaken(key.kid().clone()));
        }
        if let Some((same, _)) = self.keys().find(|(known, _)| known.same_secret(&key)) {
            return Err(KeyError::SecretTaken(same.kid().clone()));
        }
        let mut ring = self.clone();
        ring.verify_only.push(key);
        Ok(ring)
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

    /// A ring that no longer knows `kid`.
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
        ring.verify_only.retain(|key| key.kid() != kid);
        Ok(ring)
    }

    /// The id of the key that signs.
    pub fn current_kid(&self) -> &Kid {
        self.current.kid()
    }

    /// The ids of all keys with their state, the current one first.
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
