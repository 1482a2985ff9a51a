//! The write gate: no guarded change without a preview, a token bound to exactly that change, and an honest record of who approved it (design section 6).
//!
//! Everything here is pure: keys, random bytes and the time are arguments, and nothing is read, stored or logged. The flow:
//!
//! 1. A guarded call comes without a token. The caller makes the preview, its [`ChangeDigest`] and a [`Binding`], has it signed by [`Gate::mint`] with 16
//!    random bytes, stores [`Binding::encode`] in the pending row under [`Token::id`], and hands out [`Token::text`].
//! 2. The call comes again with the token. The caller parses it, looks the row up, and inside the transaction that is to apply the change calls
//!    [`Gate::redeem`], which compares what the call presents with what was bound, and gives a [`Grant`] or a [`Refused`].
//! 3. Storage takes the grant by value, marks the row as spent and applies the change in that one transaction.
//!
//! For MCP `requestState` the text of the same token is used, so nothing else has to be sealed.
//!
//! Who owns the key ring can mint, and so make a grant: the proof is worth as much as the care taken of the keys.

mod approval;
mod binding;
mod canon;
mod digest;
mod gate;
mod key;
mod key_file;
mod note;
mod ring;
mod seal;
mod token;

use std::sync::Arc;

pub use approval::{ApprovalLevel, ApprovalMethod};
pub use binding::{Binding, DecodeError, Purpose};
pub use digest::{ChangeDigest, FieldChange, ScreeningDigest, Value};
pub use gate::{BoundPart, Grant, Presented, Refused};
pub use key::{Key, KeyError, Kid, WeakKey};
pub use key_file::KeyFileError;
pub use note::{Checkpoint, CheckpointKey, NoteFault, notes_in};
pub use ring::{KeyRing, KeyState};
pub use seal::{Link, LogKeys, SEAL_BYTES, Sealing, Unsealed};
pub use token::{Token, TokenId};

/// Mints tokens and redeems them; shared by everything in a process that guards a change.
///
/// Others may implement it, for instance to count; none can make a [`Grant`] except by asking the gate that [`gate()`] returns.
pub trait Gate: Send + Sync {
    /// A token over `binding`, signed with the current key.
    ///
    /// `nonce` is 16 bytes from a secure random source, new for each token. The caller stores `binding.encode()` under the token's id.
    fn mint(&self, binding: &Binding, nonce: [u8; 16]) -> Token;

    /// The grant for the change that `token` was made for, if `presented` is that change and may be applied.
    ///
    /// `record` is what the pending row holds, or `None` where there is no such row: pass that on instead of answering at once, so that unknown and forged
    /// tokens take the same time. `now` is in microseconds since 1970 UTC; a token is good until just before its expiry. `None` leaves expiry to the
    /// caller: on PostgreSQL the statement that spends the row compares with the database's clock, which all processes share (promise G-6).
    ///
    /// # Errors
    /// [`Refused`], whose [`burns`](Refused::burns) says whether the row has to be closed, in a transaction that is not rolled back afterwards.
    fn redeem(
        &self,
        token: &Token,
        record: Option<&[u8]>,
        presented: &Presented<'_>,
        now: Option<i64>,
    ) -> Result<Grant, Refused>;

    /// The record of a token that is this caller's and was made for this very tool, entity and change, for rows that can't be redeemed any more or not yet.
    ///
    /// It gives no grant, and looks at neither expiry, level, version nor screening: after the commit the row has moved, and the stored result is due all
    /// the same. So a spent row may answer with its result, a declined or pending one with its state, and only to the owner.
    ///
    /// # Errors
    /// [`Refused::Invalid`] and [`Refused::Mismatch`], as in [`redeem`](Self::redeem).
    fn recognise(
        &self,
        token: &Token,
        record: Option<&[u8]>,
        presented: &Presented<'_>,
    ) -> Result<Binding, Refused>;

    /// The seal of a decision that a person made elsewhere about the change of a token: this token's row, approved in this way.
    ///
    /// It is stored with the row, so that nobody who can write the database but has no key can make a row look approved.
    fn seal_approval(&self, token: TokenId, record: &[u8], method: ApprovalMethod) -> Token;

    /// Whether `seal` is that seal, made with any key that counts.
    fn is_approval(
        &self,
        seal: &Token,
        token: TokenId,
        record: &[u8],
        method: ApprovalMethod,
    ) -> bool;

    /// The id of the key that signs.
    fn current_kid(&self) -> Kid;

    /// Puts another ring in place; calls under way finish with the one they began with.
    fn replace_ring(&self, ring: KeyRing);
}

/// A gate over `ring`.
///
/// ```
/// use writegate::{
///     ApprovalLevel, ApprovalMethod, Binding, ChangeDigest, FieldChange, Key, KeyRing, Kid,
///     Presented, Purpose, Refused, ScreeningDigest, Token, Value, gate,
/// };
/// # fn random<const N: usize>(seed: usize) -> [u8; N] {
/// #     std::array::from_fn(|i| ((i + seed) * (i + seed) * 7 + i * 29) as u8)
/// # }
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let key = Key::new(Kid::parse("k1")?, &random::<32>(3))?;
/// let gate = gate(KeyRing::new(key));
///
/// let change = ChangeDigest::of(&[FieldChange {
///     field: "priority",
///     before: Some(Value::Text("low")),
///     after: Some(Value::Text("urgent")),
/// }]);
/// let binding = Binding {
///     purpose: Purpose::Confirm,
///     deployment: "desk.example".into(),
///     channel: "stdio".into(),
///     actor: "ana".into(),
///     client: "local".into(),
///     tool: "update_ticket".into(),
///     entity_kind: "ticket".into(),
///     entity_id: 1042,
///     version: 7,
///     change,
///     screening: ScreeningDigest::of(&[]),
///     required: ApprovalLevel::Token,
///     issued: 1_000_000,
///     expires: 301_000_000,
/// };
/// let record = binding.encode();
/// let text = gate.mint(&binding, random(5)).text();
///
/// let token = Token::parse(&text)?;
/// let mut presented = Presented {
///     deployment: "desk.example",
///     channel: "stdio",
///     actor: "ana",
///     client: "local",
///     tool: "update_ticket",
///     entity_kind: "ticket",
///     entity_id: 1042,
///     version: 7,
///     change,
///     screening: ScreeningDigest::of(&[]),
///     required: ApprovalLevel::Token,
///     method: ApprovalMethod::TokenOnly,
/// };
/// let grant = gate.redeem(&token, Some(&record), &presented, Some(2_000_000))?;
/// assert_eq!(grant.method().as_str(), "token_only");
///
/// presented.version = 8;
/// let refused = gate.redeem(&token, Some(&record), &presented, Some(2_000_000)).err();
/// assert_eq!(refused, Some(Refused::Stale { bound: 7, found: 8 }));
/// # Ok(())
/// # }
/// ```
pub fn gate(ring: KeyRing) -> Arc<dyn Gate> {
    Arc::new(gate::KeyedGate::new(ring))
}
