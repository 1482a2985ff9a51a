//! From a token to an applied change, or to a refusal that is on record.

use domain::{Act, EntityKind};
use writegate::{
    ApprovalLevel, ApprovalMethod, BoundPart, ChangeDigest, Grant, Presented, Refused,
    ScreeningDigest, Token,
};

use super::pending::{Row, State};
use super::{apply, audit_refusal, audited, bound_digest, inspect, pending};
use crate::sql::writer::Tx;
use crate::sql::{flags, once};
use crate::{Applied, Confirmed, Decision, Redeemed, Redemption, Refusal, StoreError};

/// Spends a token on the change that it was made for, or refuses.
pub(in crate::sql) fn redeem(
    tx: &mut Tx<'_>,
    act: &Act,
    deployment: &str,
    asked: &Redemption,
) -> Result<Redeemed, StoreError> {
    let call = Call {
        act,
        deployment,
        asked,
    };
    let Some(token) = &asked.token else {
        return call.refuse_stranger(tx, None);
    };
    let Some(row) = pending::find(tx, token.id())? else {
        // An unknown token takes as long as a real one (promise G-8).
        let (kind, id) = asked.given.entity.unwrap_or(NOTHING);
        let _refused = asked
            .gate
            .recognise(token, None, &call.facts(kind, id))
            .err();
        return call.refuse_stranger(tx, None);
    };
    let call = OnRow { call, token, row };
    match call.row.state {
        State::Pending | State::Approved => call.decide(tx),
        State::Spent | State::Refused | State::Declined | State::Expired | State::Revoked => {
            call.repeat(tx)
        }
    }
}

/// What an audit row is about when the call names no record.
const NOTHING: (EntityKind, i64) = (EntityKind::Store, 0);

/// A call with what it brings.
#[derive(Clone, Copy)]
struct Call<'a> {
    act: &'a Act,
    deployment: &'a str,
    asked: &'a Redemption,
}

impl<'a> Call<'a> {
    /// The facts of the call that the bound record is compared with.
    fn facts(self, kind: EntityKind, id: i64) -> Presented<'a> {
        let actor = &self.act.actor;
        Presented {
            deployment: self.deployment,
            channel: actor.channel.as_str(),
            actor: &actor.id,
            client: &actor.client,
            tool: self.asked.given.action.as_str(),
            entity_kind: kind.as_str(),
            entity_id: id,
            version: 0,
            change: ChangeDigest::of(&[]),
            screening: ScreeningDigest::of(&[]),
            required: ApprovalLevel::Token,
            method: ApprovalMethod::TokenOnly,
        }
    }

    /// Refuses a token that is none of this caller's, whatever it is.
    fn refuse_stranger(self, tx: &mut Tx<'_>, row: Option<&Row>) -> Result<Redeemed, StoreError> {
        let facts = row.map(|row| ("approval", row.number.to_string()));
        self.refuse(
            tx,
            self.asked.given.entity.unwrap_or(NOTHING),
            Refusal::Invalid,
            facts.into_iter().collect(),
        )
    }

    fn refuse(
        self,
        tx: &mut Tx<'_>,
        (kind, id): (EntityKind, i64),
        refusal: Refusal,
        facts: Vec<(&'static str, String)>,
    ) -> Result<Redeemed, StoreError> {
        let entity = (kind, audited(id));
        let action = self.asked.given.action;
        audit_refusal(tx, self.act, action, entity, refusal.code(), facts)?;
        Ok(Redeemed::Refused(refusal))
    }
}

/// A call whose token has a row.
struct OnRow<'a> {
    call: Call<'a>,
    token: &'a Token,
    row: Row,
}

impl OnRow<'_> {
    /// The record that the call names, or that of the preview where it names none.
    fn entity(&self) -> (EntityKind, i64) {
        let named = self.call.asked.given.entity;
        named.unwrap_or_else(|| self.row.write.entity())
    }

    /// What is compared with the bound record: the facts of this call, and the change as it would be applied.
    fn presented(
        &self,
        now: Now,
        required: ApprovalLevel,
        method: ApprovalMethod,
    ) -> Presented<'_> {
        let (kind, id) = self.entity();
        let write = &self.row.write;
        let arguments = write.arguments().overlaid(&self.call.asked.given.arguments);
        let (_, bound_id) = write.entity();
        Presented {
            version: now.version,
            screening: now.screening,
            change: bound_digest(write.operation(), bound_id, &arguments, &self.row.shown),
            required,
            method,
            ..self.call.facts(kind, id)
        }
    }

    /// Whether the call is its owner's, and about this very change.
    fn recognise(&self) -> Result<(), Refused> {
        let presented = self.presented(
            Now::nowhere(),
            ApprovalLevel::Token,
            ApprovalMethod::TokenOnly,
        );
        let record = Some(self.row.record.as_slice());
        let gate = &self.call.asked.gate;
        gate.recognise(self.token, record, &presented).map(drop)
    }

    /// The answer to a token that can't be spent any more: what became of it, to its owner.
    fn repeat(&self, tx: &mut Tx<'_>) -> Result<Redeemed, StoreError> {
        if let Err(refused) = self.recognise() {
            let (refusal, part) = refusal_of(refused);
            return self.refuse(tx, refusal, part);
        }
        let remembered = tx.now(self.call.act).micros() < self.row.keep_until;
        let commits = matches!(self.call.asked.decision, Decision::Commit(_));
        let refusal = match (self.row.state, &self.row.answer) {
            (State::Spent, Some(answer)) if remembered && commits => {
                return Ok(Redeemed::Replayed(answer.clone()));
            }
            (State::Spent, _) if !commits => Refusal::AlreadyApplied,
            (State::Refused | State::Declined, _) => self.row.closed_as.unwrap_or(Refusal::Expired),
            (
                State::Spent | State::Expired | State::Revoked | State::Pending | State::Approved,
                _,
            ) => Refusal::Expired,
        };
        self.refuse(tx, refusal, None)
    }

    fn decide(self, tx: &mut Tx<'_>) -> Result<Redeemed, StoreError> {
        match self.call.asked.decision {
            Decision::Commit(method) => self.commit(tx, method),
            Decision::Decline => self.close(tx, State::Declined, Refusal::Declined),
            Decision::Lapse => self.close(tx, State::Expired, Refusal::Expired),
        }
    }

    fn close(
        &self,
        tx: &mut Tx<'_>,
        state: State,
        refusal: Refusal,
    ) -> Result<Redeemed, StoreError> {
        match self.recognise() {
            Ok(()) => {
                pending::close(tx, self.call.act, &self.row, state, refusal)?;
                self.refuse(tx, refusal, None)
            }
            Err(refused) => self.refused(tx, refused),
        }
    }

    fn commit(&self, tx: &mut Tx<'_>, method: ApprovalMethod) -> Result<Redeemed, StoreError> {
        // What a person decided elsewhere counts for more than how this call came.
        let method = self.decided().unwrap_or(method);
        let seen = match inspect::inspect(tx, &self.row.write) {
            // After a statement that failed, its transaction can't even hold a refusal.
            Err(error) if inspect::is_fault(&error) => return Err(error),
            seen => seen,
        };
        let now = match &seen {
            Ok(seen) => Now {
                version: seen.version,
                screening: inspect::screening(tx, &self.row.write)?,
            },
            Err(_) => Now::nowhere(),
        };
        // A flag that was raised since asks for a person as well. What it forbids is told to the owner alone, below.
        let allowed = match flags::check(tx, &self.row.write) {
            Err(error) if inspect::is_fault(&error) => return Err(error),
            allowed => allowed,
        };
        let flagged = *allowed.as_ref().unwrap_or(&ApprovalLevel::Token);
        let required = (self.call.asked.required)(&self.row.write).max(flagged);
        let presented = self.presented(now, required, method);
        let record = Some(self.row.record.as_slice());
        let at = Some(tx.now(self.call.act).micros());
        let redeemed = self
            .call
            .asked
            .gate
            .redeem(self.token, record, &presented, at);
        let grant = match (redeemed, seen) {
            (Ok(grant), Ok(seen)) if seen.shown == self.row.shown => grant,
            // Only to the owner, and when nothing else is wrong: it says what the record is like.
            (Ok(_) | Err(Refused::Stale { .. }), Err(error)) if !inspect::is_gone(&error) => {
                return Err(error);
            }
            // Of a customer who is to be deleted, tickets may have changed while the customer's own row stayed.
            (Ok(_), _) => return self.burn(tx, Refusal::Stale, None),
            (Err(refused), _) => return self.refused(tx, refused),
        };
        let named = self.call.asked.given.if_version;
        if named.is_some_and(|named| named.number() != now.version) {
            return self.burn(tx, Refusal::Stale, None);
        }
        allowed?;
        self.apply(tx, grant)
    }

    /// How a person approved it elsewhere. A row that only says so, without the seal, was written by somebody else.
    fn decided(&self) -> Option<ApprovalMethod> {
        let method = self.row.method?;
        let gate = &self.call.asked.gate;
        let sealed =
            self.row.seal.as_ref().is_some_and(|seal| {
                gate.is_approval(seal, self.token.id(), &self.row.record, method)
            });
        if !sealed {
            tracing::error!(approval = %self.row.number, "a stored approval is not genuine and does not count");
        }
        sealed.then_some(method)
    }

    fn apply(&self, tx: &mut Tx<'_>, grant: Grant) -> Result<Redeemed, StoreError> {
        let (write, change) = (&self.row.write, &self.row.shown.change);
        let (method, approval) = (grant.method(), self.row.number);
        tx.approved_by(vec![
            ("confirmation_method", method.as_str().to_owned()),
            ("approval", approval.to_string()),
        ]);
        let left = apply::apply(tx, self.call.act, grant, write, change)?;
        let answer = (self.call.asked.answer)(&Applied {
            operation: write.operation(),
            entity: write.entity(),
            change,
            confirmed: Some(Confirmed { method, approval }),
            left: &left,
        });
        pending::spend(tx, self.call.act, &self.row, method, &answer)?;
        if let Some(key) = &self.row.key {
            let digest = once::digest(write.operation(), write.entity().1, &write.arguments());
            once::keep(tx, self.call.act, key, &digest, &answer)?;
        }
        Ok(Redeemed::Applied(answer))
    }

    fn refused(&self, tx: &mut Tx<'_>, refused: Refused) -> Result<Redeemed, StoreError> {
        let (refusal, part) = refusal_of(refused);
        if refused.burns() {
            self.burn(tx, refusal, part)
        } else {
            self.refuse(tx, refusal, part)
        }
    }

    /// Refuses, and makes sure that the token can never be spent.
    fn burn(
        &self,
        tx: &mut Tx<'_>,
        refusal: Refusal,
        part: Option<BoundPart>,
    ) -> Result<Redeemed, StoreError> {
        pending::close(tx, self.call.act, &self.row, State::Refused, refusal)?;
        self.refuse(tx, refusal, part)
    }

    /// Puts a refusal on record.
    fn refuse(
        &self,
        tx: &mut Tx<'_>,
        refusal: Refusal,
        part: Option<BoundPart>,
    ) -> Result<Redeemed, StoreError> {
        if refusal == Refusal::Invalid {
            return self.call.refuse_stranger(tx, Some(&self.row));
        }
        let mut facts = vec![("approval", self.row.number.to_string())];
        if let Some(part) = part {
            facts.push(("differs", part.as_str().to_owned()));
        }
        self.call.refuse(tx, self.entity(), refusal, facts)
    }
}

/// What a record is like when its change is to be applied.
#[derive(Clone, Copy)]
struct Now {
    version: i64,
    screening: ScreeningDigest,
}

impl Now {
    /// No row has this version: a token for one that is gone is stale.
    fn nowhere() -> Self {
        Self {
            version: -1,
            screening: ScreeningDigest::of(&[]),
        }
    }
}

fn refusal_of(refused: Refused) -> (Refusal, Option<BoundPart>) {
    match refused {
        Refused::Invalid => (Refusal::Invalid, None),
        Refused::Expired => (Refusal::Expired, None),
        Refused::NeedsPerson => (Refusal::Pending, None),
        // The texts that were screened have moved on, as a row does.
        Refused::Mismatch {
            part: BoundPart::Screening,
        } => (Refusal::Stale, Some(BoundPart::Screening)),
        Refused::Mismatch { part } => (Refusal::Mismatch, Some(part)),
        Refused::Stale { .. } => (Refusal::Stale, None),
    }
}
