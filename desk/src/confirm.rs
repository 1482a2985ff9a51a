//! Changes that need a confirmation: preview, then token or person, then commit (design section 6).

use std::path::PathBuf;
use std::sync::Arc;

use domain::{ApprovalId, GuardedWrite, IdSource, OpenWrite, Operation, Version};
use garde::Valid;
use storage::{
    Answer, Applied, Approval, Decided, Decision, Given, NewPreview, Once, Preview, Previewed,
    Redeemed, Redemption, Verdict, Wrote,
};
use writegate::{ApprovalLevel, ApprovalMethod, Gate, KeyFileError, KeyRing, LogKeys, Token};

use crate::ops::keys::{self, KeysError};
use crate::privacy::{Mask, seen};
use crate::{Caller, Desk, DeskError, InvalidArgument, Policy};

/// How long a token is good that only has to be copied into the next call, in microseconds.
const TOKEN_MICROS: i64 = 5 * 60 * 1_000_000;

/// How long one is good for which a person is asked, in microseconds.
const PERSON_MICROS: i64 = 15 * 60 * 1_000_000;

/// What guards the desk's changes: the gate, what policy asks of each operation, and what seals the log of both.
#[derive(Clone)]
pub struct Guard {
    pub(crate) gate: Arc<dyn Gate>,
    pub(crate) policy: Policy,
    log_keys: LogKeys,
}

impl Guard {
    fn new(gate: Arc<dyn Gate>, log_keys: LogKeys, policy: Policy) -> Self {
        Self {
            gate,
            policy,
            log_keys,
        }
    }

    /// What seals the audit log of a store whose changes are guarded so. Derived from the same keys, never one of them.
    pub fn log_keys(&self) -> LogKeys {
        self.log_keys.clone()
    }

    /// A guard whose keys nobody else has and that end with the process: for stores that do too.
    pub fn passing(ids: &dyn IdSource, policy: Policy) -> Result<Self, KeysError> {
        let ring = keys::passing(ids)?;
        let log_keys = ring.log_keys();
        Ok(Self::new(writegate::gate(ring), log_keys, policy))
    }

    /// A guard over a key file, which is made where there is none.
    pub fn from_file(path: PathBuf, ids: &dyn IdSource, policy: Policy) -> Result<Self, KeysError> {
        let ring = keys::load_or_create(&path, ids)?;
        let log_keys = ring.log_keys();
        Ok(Self::new(keys::gate(path, ring), log_keys, policy))
    }

    /// A guard over a key file that somebody made, for servers whose instances share it.
    pub fn from_kept_file(path: PathBuf, policy: Policy) -> Result<Self, KeysError> {
        let ring = keys::load(&path)?;
        let log_keys = ring.log_keys();
        Ok(Self::new(keys::gate(path, ring), log_keys, policy))
    }

    /// A guard whose keys are those of a key file's text.
    pub fn from_keys(text: &str, policy: Policy) -> Result<Self, KeyFileError> {
        let ring = KeyRing::parse(text)?;
        let log_keys = ring.log_keys();
        Ok(Self::new(writegate::gate(ring), log_keys, policy))
    }
}

/// A guarded change that is asked for.
pub struct Proposal {
    /// The change.
    pub write: Valid<GuardedWrite>,
    /// The version that the caller saw.
    pub if_version: Option<Version>,
    /// A key under which the caller may repeat the call.
    pub key: Option<String>,
    /// Whether a person is about to be asked, who takes longer than a model.
    pub asks_person: bool,
}

/// What came of a proposal.
#[derive(Clone, Debug)]
pub enum Proposed {
    /// It waits for its confirmation; contact fields are masked as for reading.
    Waiting(Box<Preview>),
    /// The caller's key has been used for this very change, which gave this answer.
    Replayed(String),
}

/// A token with what is to become of its change.
pub struct Confirmation<'a> {
    /// The token as the call brought it.
    pub token: &'a str,
    /// What the call says of the change.
    pub given: Given,
    /// What is to become of it.
    pub decision: Decision,
}

/// The stored answer of a change, and whether it was given before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answered {
    /// What the caller's answer function made of the change when it was applied.
    pub answer: String,
    /// Whether the change was applied by an earlier call.
    pub replayed: bool,
}

impl Desk {
    /// The least approval that a write needs; `None` where it needs none.
    pub fn required(&self, write: &GuardedWrite) -> Option<ApprovalLevel> {
        self.guard.policy.required(write)
    }

    /// Whether an operation needs a confirmation here.
    pub fn is_guarded(&self, operation: Operation) -> bool {
        self.guard.policy.is_guarded(operation)
    }

    /// Says what a guarded change would do, and keeps that under a new token. Nothing is changed.
    pub async fn propose(
        &self,
        caller: &Caller,
        proposal: Proposal,
    ) -> Result<Proposed, DeskError> {
        let required = self
            .required(&proposal.write)
            .unwrap_or(ApprovalLevel::Token);
        let action = proposal.write.action();
        let mask = self
            .mask_about(caller, Some(proposal.write.entity()))
            .await?;
        let act = caller.act(self.clock.now(), action.as_str());
        let by_person = proposal.asks_person || required == ApprovalLevel::Person;
        self.check_outgoing(&act, &proposal.write).await?;
        let if_version = self
            .clear_publication(&act, &proposal.write, proposal.if_version)
            .await?;
        let preview = NewPreview {
            write: proposal.write,
            if_version,
            required,
            ttl: if by_person {
                PERSON_MICROS
            } else {
                TOKEN_MICROS
            },
            gate: Arc::clone(&self.guard.gate),
            nonce: self.ids.nonce(),
            key: proposal.key,
        };
        let answer = self.store.preview_change(act.clone(), preview).await;
        match self.unless_flagged(&act, action, answer).await? {
            Previewed::Waiting(mut preview) => {
                preview.change = seen(mask.as_ref(), preview.change);
                Ok(Proposed::Waiting(preview))
            }
            Previewed::Replayed(answer) => Ok(Proposed::Replayed(answer)),
            Previewed::NothingToChange => Err(InvalidArgument::new(
                "arguments",
                "would change nothing: the record has these values already",
            )
            .into()),
            Previewed::Forbidden(refused) => Err(refused.into()),
            Previewed::KeyConflict => Err(DeskError::IdempotencyConflict),
        }
    }

    /// Applies the change that a token was made for, or closes it; a repeated call gets the answer of the first.
    ///
    /// `answer` makes what is stored with the change and given to every later call with this token.
    pub async fn confirm(
        &self,
        caller: &Caller,
        confirmation: Confirmation<'_>,
        answer: impl Fn(&Applied<'_>) -> String + Send + 'static,
    ) -> Result<Answered, DeskError> {
        let action = confirmation.given.action;
        let act = caller.act(self.clock.now(), action.as_str());
        let policy = self.guard.policy.clone();
        let mask = self.mask_about(caller, confirmation.given.entity).await?;
        let redemption = Redemption {
            token: Token::parse(confirmation.token).ok(),
            given: confirmation.given,
            decision: confirmation.decision,
            required: Box::new(move |write| policy.required(write).unwrap_or(ApprovalLevel::Token)),
            gate: Arc::clone(&self.guard.gate),
            answer: masked(mask, answer),
        };
        let answer = self.store.redeem_change(act.clone(), redemption).await;
        match self.unless_flagged(&act, action, answer).await? {
            Redeemed::Applied(answer) => Ok(Answered {
                answer,
                replayed: false,
            }),
            Redeemed::Replayed(answer) => Ok(Answered {
                answer,
                replayed: true,
            }),
            Redeemed::Refused(refusal) => Err(DeskError::Unconfirmed(refusal)),
        }
    }

    /// Does an open write once for each key of the caller and tool.
    pub async fn write_once(
        &self,
        caller: &Caller,
        write: Valid<OpenWrite>,
        key: String,
        if_version: Option<Version>,
        answer: impl Fn(&Applied<'_>) -> String + Send + 'static,
    ) -> Result<Answered, DeskError> {
        let action = write.action();
        let act = caller.act(self.clock.now(), action.as_str());
        let mask = self.mask_about(caller, Some(write.entity())).await?;
        let once = Once {
            key,
            if_version,
            answer: masked(mask, answer),
        };
        let answer = self.store.write_once(act.clone(), write, once).await;
        match self.unless_flagged(&act, action, answer).await? {
            Wrote::Done(answer) => Ok(Answered {
                answer,
                replayed: false,
            }),
            Wrote::Replayed(answer) => Ok(Answered {
                answer,
                replayed: true,
            }),
            Wrote::Forbidden(refused) => Err(refused.into()),
            Wrote::KeyConflict => Err(DeskError::IdempotencyConflict),
        }
    }

    /// Changes that wait for a person, oldest first.
    pub async fn list_approvals(&self) -> Result<Vec<Approval>, DeskError> {
        Ok(self.store.list_approvals(self.clock.now()).await?)
    }

    /// Notes what somebody at a terminal of the machine decided about a change that waits.
    pub async fn decide_at_terminal(
        &self,
        operator: &Caller,
        id: ApprovalId,
        verdict: Verdict,
    ) -> Result<Decided, DeskError> {
        let act = operator.act(self.clock.now(), "approvals");
        let method = ApprovalMethod::OperatorTerminal;
        let gate = Arc::clone(&self.guard.gate);
        Ok(self
            .store
            .decide_approval(act, id, verdict, method, gate)
            .await?)
    }
}

/// Has an answer made from what this caller may see.
fn masked(mask: Option<Mask>, answer: impl Fn(&Applied<'_>) -> String + Send + 'static) -> Answer {
    let Some(mask) = mask else {
        return Box::new(answer);
    };
    Box::new(move |applied| {
        answer(&Applied {
            change: &seen(Some(&mask), applied.change.clone()),
            left: &seen(Some(&mask), applied.left.clone()),
            ..*applied
        })
    })
}
