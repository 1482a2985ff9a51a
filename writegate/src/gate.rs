//! From token to grant: the checks, their order and their answers.

mod keyed;

pub(crate) use keyed::KeyedGate;

use thiserror::Error;

use crate::approval::{ApprovalLevel, ApprovalMethod};
use crate::binding::{Binding, Purpose};
use crate::digest::{ChangeDigest, ScreeningDigest};
use crate::ring::KeyRing;
use crate::token::{Token, TokenId};

/// What a call presents with its token: the facts of the call, none of them taken from the token or its row unless said so.
#[derive(Debug, Clone)]
pub struct Presented<'a> {
    /// This deployment.
    pub deployment: &'a str,
    /// The transport of the call.
    pub channel: &'a str,
    /// Who calls.
    pub actor: &'a str,
    /// The client they call with.
    pub client: &'a str,
    /// The tool that was called.
    pub tool: &'a str,
    /// The kind of the entity it names.
    pub entity_kind: &'a str,
    /// The id of the entity it names.
    pub entity_id: i64,
    /// The row's version, read in the transaction that is to apply the change.
    pub version: i64,
    /// The change: the call's arguments where it gives them, else those of the preview. See [`ChangeDigest::of`] for the values before.
    pub change: ChangeDigest,
    /// What the guardrail says of it now.
    pub screening: ScreeningDigest,
    /// The least approval that policy asks for now. The higher of this and the bound one counts, so a stricter policy binds old previews too.
    pub required: ApprovalLevel,
    /// How it was approved, as the pending row says; [`ApprovalMethod::TokenOnly`] where nobody was asked.
    pub method: ApprovalMethod,
}

/// Which bound part differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BoundPart {
    /// Another tool.
    Tool,
    /// An entity of another kind or id.
    Entity,
    /// Another change, be it in one character.
    Change,
    /// The guardrail says something else now.
    Screening,
}

impl BoundPart {
    /// The name for messages and audit rows.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Entity => "entity",
            Self::Change => "change",
            Self::Screening => "screening",
        }
    }
}

/// Why a token is not spent. Each variant is one error code of design section 4.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Refused {
    /// `CONFIRMATION_INVALID`: malformed, unknown, forged, or somebody else's. Nobody is told which.
    #[error("the confirmation token is not valid")]
    Invalid,
    /// `CONFIRMATION_EXPIRED`.
    #[error("the confirmation token has expired")]
    Expired,
    /// `HUMAN_APPROVAL_REQUIRED`, or `APPROVAL_PENDING` where a person has been asked already.
    #[error("a person has to approve this change first")]
    NeedsPerson,
    /// `CONFIRMATION_MISMATCH`.
    #[error("the confirmation token was made for another `{}`", part.as_str())]
    Mismatch {
        /// The first part that differs.
        part: BoundPart,
    },
    /// `CONFIRMATION_STALE`.
    #[error("the preview was made from version `{bound}` and the record has version `{found}` now")]
    Stale {
        /// The version that the preview was made from.
        bound: i64,
        /// The version that the row has now.
        found: i64,
    },
}

impl Refused {
    /// Whether the pending row is to be closed, so that the token can never be spent.
    ///
    /// A mismatch burns: whoever holds the token tries to spend an approval on something else. Staleness burns what is worthless already, as versions
    /// only rise. An invalid token burns nothing, or anyone could destroy the approvals of others by guessing at them (promise G-7).
    pub fn burns(self) -> bool {
        match self {
            Self::Mismatch { .. } | Self::Stale { .. } => true,
            Self::Invalid | Self::Expired | Self::NeedsPerson => false,
        }
    }
}

/// The proof that one exact change was previewed, bound, and approved as far as policy asks.
///
/// Guarded mutators take it by value, so an ungated write doesn't compile. Redeeming is its only maker: it can't be written down, copied or defaulted.
/// That it is spent once is the pending row's business, in the transaction that applies the change.
///
/// A grant can be read:
/// ```
/// use writegate::{ApprovalMethod, Binding, Grant, TokenId};
/// fn parts(grant: &Grant) -> (TokenId, &Binding, ApprovalMethod) {
///     (grant.token_id(), grant.binding(), grant.method())
/// }
/// ```
/// It can't be built from its parts:
/// ```compile_fail,E0451
/// use writegate::{ApprovalMethod, Binding, Grant, TokenId};
/// fn forge(token_id: TokenId, binding: Binding, method: ApprovalMethod) -> Grant {
///     Grant { token_id, binding, method }
/// }
/// ```
/// Nor can its approval be improved, which a binding of one's own can:
/// ```
/// use writegate::{ApprovalLevel, Binding};
/// fn change(binding: &mut Binding) {
///     binding.required = ApprovalLevel::Token;
/// }
/// ```
/// ```compile_fail,E0616
/// use writegate::{ApprovalMethod, Grant};
/// fn change(grant: &mut Grant) {
///     grant.method = ApprovalMethod::ApprovalPage;
/// }
/// ```
/// It is given away once:
/// ```
/// use writegate::Grant;
/// fn spend(_: Grant) {}
/// fn once(grant: Grant) {
///     spend(grant);
/// }
/// ```
/// ```compile_fail,E0382
/// use writegate::Grant;
/// fn spend(_: Grant) {}
/// fn twice(grant: Grant) {
///     spend(grant);
///     spend(grant);
/// }
/// ```
/// It can't be cloned, which a token can:
/// ```
/// use writegate::Token;
/// fn double(token: &Token) -> Token {
///     token.clone()
/// }
/// ```
/// ```compile_fail,E0308
/// use writegate::Grant;
/// fn double(grant: &Grant) -> Grant {
///     grant.clone()
/// }
/// ```
/// And none comes from nothing:
/// ```
/// fn make<T: Default>() -> T {
///     T::default()
/// }
/// let nothing: Option<writegate::Grant> = make();
/// ```
/// ```compile_fail,E0277
/// fn make<T: Default>() -> T {
///     T::default()
/// }
/// let nothing: writegate::Grant = make();
/// ```
#[must_use = "a grant that is not spent approves nothing"]
#[derive(Debug)]
pub struct Grant {
    token_id: TokenId,
    binding: Binding,
    method: ApprovalMethod,
}

impl Grant {
    /// The pending row to mark as spent.
    pub fn token_id(&self) -> TokenId {
        self.token_id
    }

    /// What was bound, and so what may be applied.
    pub fn binding(&self) -> &Binding {
        &self.binding
    }

    /// How it was approved, for the result and the audit row.
    pub fn method(&self) -> ApprovalMethod {
        self.method
    }
}

/// The only maker of a [`Grant`].
///
/// The order is part of the contract. Tag and ownership come first and share one answer: before both hold, the caller may be a stranger who guesses at
/// tokens or found one, and each later answer would tell that the token exists, how old it is or what it is for. From there on the caller is the owner.
/// Time and level come next, because a token that nobody can spend yet, or any more, must not burn for what else is wrong with the call. Then tool, entity and
/// change: presenting an approval for something else burns it even where the row has moved as well. The version follows, and the screening last: it is
/// made from the ticket's text, so on a moved row it differs too, and the honest answer there is that the row moved.
pub(crate) fn redeem(
    ring: &KeyRing,
    token: &Token,
    record: &[u8],
    presented: &Presented<'_>,
    now: Option<i64>,
) -> Result<Grant, Refused> {
    let binding = owned(ring, token, record, presented)?;
    if now.is_some_and(|now| now >= binding.expires) {
        return Err(Refused::Expired);
    }
    if !presented
        .method
        .satisfies(binding.required.max(presented.required))
    {
        return Err(Refused::NeedsPerson);
    }
    same_call(&binding, presented)?;
    if binding.version != presented.version {
        return Err(Refused::Stale {
            bound: binding.version,
            found: presented.version,
        });
    }
    if binding.screening != presented.screening {
        return Err(Refused::Mismatch {
            part: BoundPart::Screening,
        });
    }
    Ok(Grant {
        token_id: token.id(),
        binding,
        method: presented.method,
    })
}

/// The record, if `token` is this caller's and was made for this very call.
pub(crate) fn recognise(
    ring: &KeyRing,
    token: &Token,
    record: &[u8],
    presented: &Presented<'_>,
) -> Result<Binding, Refused> {
    let binding = owned(ring, token, record, presented)?;
    same_call(&binding, presented)?;
    Ok(binding)
}

/// The record is decoded and compared whether the tag holds or not, so that a stranger can't tell by the time taken whether a token is genuine.
fn owned(
    ring: &KeyRing,
    token: &Token,
    record: &[u8],
    presented: &Presented<'_>,
) -> Result<Binding, Refused> {
    let genuine = ring.verifies(Purpose::Confirm, token, record);
    let owned = Binding::decode(record).ok().filter(|binding| {
        binding.purpose == Purpose::Confirm
            && binding.deployment == presented.deployment
            && binding.channel == presented.channel
            && binding.actor == presented.actor
            && binding.client == presented.client
    });
    match owned {
        Some(binding) if genuine => Ok(binding),
        Some(_) | None => Err(Refused::Invalid),
    }
}

fn same_call(binding: &Binding, presented: &Presented<'_>) -> Result<(), Refused> {
    let part = if binding.tool != presented.tool {
        BoundPart::Tool
    } else if binding.entity_kind != presented.entity_kind
        || binding.entity_id != presented.entity_id
    {
        BoundPart::Entity
    } else if binding.change != presented.change {
        BoundPart::Change
    } else {
        return Ok(());
    };
    Err(Refused::Mismatch { part })
}
