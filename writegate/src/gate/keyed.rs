//! The one gate: the checks over a key ring that can be replaced while the server runs.

use std::sync::{Arc, PoisonError, RwLock};

use super::{Grant, Presented, Refused, recognise, redeem};
use crate::Gate;
use crate::approval::{ApprovalLevel, ApprovalMethod};
use crate::binding::{Binding, Purpose};
use crate::canon::Writer;
use crate::digest::{ChangeDigest, ScreeningDigest};
use crate::key::Kid;
use crate::ring::KeyRing;
use crate::token::{Token, TokenId};

/// A swap puts a whole ring in place, so a lock that a panicking thread left behind still guards a good one: poison is ignored.
pub(crate) struct KeyedGate {
    ring: RwLock<Arc<KeyRing>>,
    decoy: Vec<u8>,
}

impl KeyedGate {
    pub(crate) fn new(ring: KeyRing) -> Self {
        Self {
            ring: RwLock::new(Arc::new(ring)),
            decoy: decoy().encode(),
        }
    }

    /// Taken out of the lock, so that no hashing happens under it.
    fn ring(&self) -> Arc<KeyRing> {
        Arc::clone(&self.ring.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Gate for KeyedGate {
    fn mint(&self, binding: &Binding, nonce: [u8; 16]) -> Token {
        self.ring()
            .sign(binding.purpose, TokenId::new(nonce), &binding.encode())
    }

    fn redeem(
        &self,
        token: &Token,
        record: Option<&[u8]>,
        presented: &Presented<'_>,
        now: Option<i64>,
    ) -> Result<Grant, Refused> {
        redeem(
            &self.ring(),
            token,
            record.unwrap_or(&self.decoy),
            presented,
            now,
        )
    }

    fn recognise(
        &self,
        token: &Token,
        record: Option<&[u8]>,
        presented: &Presented<'_>,
    ) -> Result<Binding, Refused> {
        recognise(
            &self.ring(),
            token,
            record.unwrap_or(&self.decoy),
            presented,
        )
    }

    fn seal_approval(&self, token: TokenId, record: &[u8], method: ApprovalMethod) -> Token {
        self.ring()
            .sign(Purpose::Approval, token, &approval(record, method))
    }

    fn is_approval(
        &self,
        seal: &Token,
        token: TokenId,
        record: &[u8],
        method: ApprovalMethod,
    ) -> bool {
        seal.id() == token
            && self
                .ring()
                .verifies(Purpose::Approval, seal, &approval(record, method))
    }

    fn current_kid(&self) -> Kid {
        self.ring().current_kid().clone()
    }

    fn replace_ring(&self, ring: KeyRing) {
        *self.ring.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(ring);
    }
}

/// What the seal of an approval covers, besides the token's id.
fn approval(record: &[u8], method: ApprovalMethod) -> Vec<u8> {
    let mut writer = Writer::default();
    writer.sized(record);
    writer.text(method.as_str());
    writer.into_bytes()
}

/// Stands in for the row that an unknown token doesn't have, and takes as long to refuse as a real one (promise G-8). Its purpose makes it worthless even
/// to somebody who could have it signed.
fn decoy() -> Binding {
    Binding {
        purpose: Purpose::Cursor,
        deployment: "deployment".to_owned(),
        channel: "stdio".to_owned(),
        actor: "somebody".to_owned(),
        client: "client".to_owned(),
        tool: "update_ticket".to_owned(),
        entity_kind: "ticket".to_owned(),
        entity_id: 0,
        version: 0,
        change: ChangeDigest::of(&[]),
        screening: ScreeningDigest::of(&[]),
        required: ApprovalLevel::Person,
        issued: 0,
        expires: 0,
    }
}

#[cfg(test)]
mod tests;
