//! Guarded changes: previews, tokens, and what becomes of them.

mod applied;
mod approvals;
mod bound;
mod faults;
mod once;
mod races;
mod stale;
mod tampered;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use domain::ticket::Assign;
use domain::{
    Act, Actor, ActorChannel, Arguments, CustomerId, CustomerPatch, EntityKind, GuardedWrite,
    OpenStatus, PaymentVerification, Priority, Proof, Publication, Status, Ticket, TicketId,
    TicketPatch, Tier,
};
use storage::{
    Applied, Decision, Given, Left, Moved, NewPreview, Preview, Previewed, Redeemed, Redemption,
    Refusal, Storage, StoreFuture,
};
use writegate::{ApprovalLevel, ApprovalMethod, Gate, Key, KeyRing, Kid};

use crate::support::{act, ok, valid};

/// Five minutes in microseconds.
pub(crate) const TTL: i64 = 300_000_000;

/// Bytes that look random and are the same in every run.
pub(crate) fn bytes<const N: usize>(seed: u64) -> [u8; N] {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1);
    std::array::from_fn(|_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_be_bytes()[3]
    })
}

/// A gate with one key; the same for every store.
pub(crate) fn gate() -> Arc<dyn Gate> {
    let key = Key::new(Kid::parse("k1").unwrap(), &bytes::<32>(1)).unwrap();
    writegate::gate(KeyRing::new(key))
}

/// A nonce that no other token of this run has.
pub(crate) fn nonce() -> [u8; 16] {
    static NEXT: AtomicU64 = AtomicU64::new(1_000);
    bytes(NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Another caller of the same store.
pub(crate) fn act_of(actor: &str, second: i64) -> Act {
    Act {
        actor: Actor {
            id: actor.to_owned(),
            proof: Proof::Asserted,
            channel: ActorChannel::Stdio,
            client: "stdio".to_owned(),
        },
        ..act(second)
    }
}

/// A preview of a change that needs this approval.
pub(crate) fn new_preview(write: &GuardedWrite, required: ApprovalLevel) -> NewPreview {
    NewPreview {
        write: valid(write.clone()),
        if_version: None,
        required,
        ttl: TTL,
        gate: gate(),
        nonce: nonce(),
        key: None,
    }
}

/// Previews a change by this act.
#[track_caller]
pub(crate) fn previewed(store: &Arc<dyn Storage>, act: Act, preview: NewPreview) -> Box<Preview> {
    match ok(store.preview_change(act, preview)) {
        Previewed::Waiting(preview) => preview,
        other => panic!("{other:?}"),
    }
}

/// Previews a change for which a token is enough.
#[track_caller]
pub(crate) fn preview(store: &Arc<dyn Storage>, second: i64, write: &GuardedWrite) -> Box<Preview> {
    previewed(store, act(second), new_preview(write, ApprovalLevel::Token))
}

/// What a call says that repeats everything of a change.
pub(crate) fn given(write: &GuardedWrite) -> Given {
    Given {
        action: write.action(),
        entity: Some(write.entity()).filter(|(_, id)| *id != 0),
        arguments: write.arguments(),
        if_version: None,
    }
}

/// What a call says that brings the token alone.
pub(crate) fn nothing_given(write: &GuardedWrite) -> Given {
    Given {
        action: write.action(),
        entity: None,
        arguments: Arguments::default(),
        if_version: None,
    }
}

/// What is stored as the answer: enough to see what it was made from.
fn answer(applied: &Applied<'_>) -> String {
    let confirmed = applied.confirmed.map(|confirmed| confirmed.method.as_str());
    let left = match applied.left {
        Left::Ticket { ticket, from, .. } => {
            format!("{from} -> {} v{}", ticket.status, ticket.version)
        }
        Left::Comment { comment, ticket } => format!("{} v{}", comment.id, ticket.version),
        Left::Customer(customer) => format!("{} v{}", customer.id, customer.version),
        Left::Nothing => "gone".to_owned(),
    };
    format!(
        "{} {} {left}",
        applied.operation,
        confirmed.unwrap_or("open")
    )
}

/// A redemption of a preview's token that repeats this of its change.
pub(crate) fn redemption(preview: &Preview, given: Given) -> Redemption {
    Redemption {
        token: Some(preview.token.clone()),
        given,
        decision: Decision::Commit(ApprovalMethod::TokenOnly),
        required: Box::new(|_write| ApprovalLevel::Token),
        gate: gate(),
        answer: Box::new(answer),
    }
}

/// Presents a preview's token as this act, with everything of its change repeated.
pub(crate) fn redeem<'a>(
    store: &'a Arc<dyn Storage>,
    act: Act,
    preview: &Preview,
) -> StoreFuture<'a, Redeemed> {
    store.redeem_change(act, redemption(preview, given(&preview.write)))
}

/// Previews and commits.
#[track_caller]
pub(crate) fn commit(store: &Arc<dyn Storage>, second: i64, write: &GuardedWrite) -> String {
    let preview = preview(store, second, write);
    match ok(redeem(store, act(second), &preview)) {
        Redeemed::Applied(answer) => answer,
        other => panic!("{other:?}"),
    }
}

/// The refusal of a token.
#[track_caller]
pub(crate) fn refusal(redeemed: Redeemed) -> Refusal {
    match redeemed {
        Redeemed::Refused(refusal) => refusal,
        other => panic!("{other:?}"),
    }
}

/// Closes a ticket for good.
#[track_caller]
pub(crate) fn close(store: &Arc<dyn Storage>, second: i64, ticket: TicketId) {
    commit(store, second, &GuardedWrite::CloseTicket { ticket });
}

/// Moves a ticket to any status, by the way that this status has.
#[track_caller]
pub(crate) fn move_to(store: &Arc<dyn Storage>, second: i64, id: TicketId, to: Status) -> Moved {
    if let Ok(to) = OpenStatus::parse(to.as_str()) {
        return ok(store.change_ticket_status(act(second), id, None, to));
    }
    let from = ok(store.get_ticket(id)).status;
    let write = GuardedWrite::CloseTicket { ticket: id };
    let new = new_preview(&write, ApprovalLevel::Token);
    match ok(store.preview_change(act(second), new)) {
        Previewed::Forbidden(refused) => Moved::Forbidden(refused),
        Previewed::Waiting(preview) => {
            ok(redeem(store, act(second), &preview));
            let ticket = ok(store.get_ticket(id));
            Moved::Done { from, ticket }
        }
        other => panic!("{other:?}"),
    }
}

/// A patch that changes everything of a ticket as the tests file it.
pub(crate) fn whole_patch() -> TicketPatch {
    TicketPatch {
        status: Some(Status::InProgress),
        tier: Some(Tier::LAST),
        priority: Some(Priority::Urgent),
        category: Some("hardware".to_owned()),
        team: Assign::Set("Field".to_owned()),
        assignee: Assign::Set("kim".to_owned()),
        subject: Some("Moth in relay".to_owned()),
        description: Some("Seventy, panel F".to_owned()),
        note: Some("as seen on site".to_owned()),
    }
}

/// One write of every operation that is always guarded, on a ticket of a customer.
pub(crate) fn guarded_writes(ticket: TicketId, customer: CustomerId) -> Vec<GuardedWrite> {
    vec![
        GuardedWrite::UpdateTicket {
            ticket,
            patch: whole_patch(),
        },
        GuardedWrite::PublishComment {
            ticket,
            publication: Publication {
                body: "Dear Grace, it is a moth.".to_owned(),
            },
        },
        GuardedWrite::CloseTicket { ticket },
        GuardedWrite::RecordPaymentVerification {
            ticket,
            verification: PaymentVerification {
                channel_on_file: "the number in the contract".to_owned(),
                confirmer: "Howard".to_owned(),
                approver: "Kay".to_owned(),
            },
        },
        GuardedWrite::UpdateCustomer {
            customer,
            patch: CustomerPatch {
                name: Some("Grace M. Hopper".to_owned()),
                email: Some("hopper@example.com".to_owned()),
                phone: Assign::Set("+44 20 7946 0123".to_owned()),
                organisation: Assign::Set("Navy".to_owned()),
                status: Some(domain::CustomerStatus::Inactive),
            },
        },
        GuardedWrite::DeleteTicket { ticket },
        GuardedWrite::DeleteCustomer { customer },
    ]
}

/// The kind and number of a ticket, as a call names it.
pub(crate) fn entity(ticket: &Ticket) -> (EntityKind, i64) {
    (EntityKind::Ticket, ticket.id.number())
}
