//! Guarded changes, applied. Every function that makes one takes the grant by value: without it, or twice with one, it does
//! not compile (invariant 11).

mod customers;

use diesel::prelude::*;
use domain::ticket::Assign;
use domain::{
    Act, Action, AuditRecord, Change, EntityKind, GuardedWrite, NewComment, Origin, Outcome,
    PaymentVerification, Publication, Status, Ticket, TicketId, TicketPatch, Version, Visibility,
};
use writegate::Grant;

use crate::sql::errors::{Broken, classify};
use crate::sql::once;
use crate::sql::schema::{payment_verifications, ticket_originals, tickets as ticket_rows};
use crate::sql::ticket_writes::{self, Changes, CommentEntry};
use crate::sql::words::{self, WordQueue};
use crate::sql::writer::Tx;
use crate::sql::{audit, flags, tickets};
use crate::{Left, StoreError};

/// Applies a change that was granted, and that [`flags::check`] has allowed in this transaction.
pub(super) fn apply(
    tx: &mut Tx<'_>,
    act: &Act,
    grant: Grant,
    write: &GuardedWrite,
    change: &Change,
) -> Result<Left, StoreError> {
    match write {
        GuardedWrite::UpdateTicket { ticket, patch } => {
            update_ticket(tx, act, grant, *ticket, patch, change)
        }
        GuardedWrite::PublishComment {
            ticket,
            publication,
        } => publish_comment(tx, act, grant, *ticket, publication),
        GuardedWrite::CloseTicket { ticket } => close_ticket(tx, act, grant, *ticket),
        GuardedWrite::DeleteTicket { ticket } => delete_ticket(tx, act, grant, *ticket, change),
        GuardedWrite::UpdateCustomer { customer, patch } => {
            customers::update_customer(tx, act, grant, *customer, patch, change)
        }
        GuardedWrite::DeleteCustomer { customer } => {
            customers::delete_customer(tx, act, grant, *customer, change)
        }
        GuardedWrite::RecordPaymentVerification {
            ticket,
            verification,
        } => record_payment_verification(tx, act, grant, *ticket, verification),
        GuardedWrite::RecordSecurityReview { ticket, review } => {
            let ticket = granted_ticket(tx, grant, *ticket)?;
            flags::review(tx, act, &ticket, review)
        }
        GuardedWrite::Open(write) => {
            let version = match write.entity() {
                (_, 0) => None,
                (_, id) => Some(granted_ticket(tx, grant, TicketId::new(id))?.version),
            };
            match once::apply_open(tx, act, write, version)? {
                Ok(left) => Ok(left),
                // The same version has the same status as when it was looked at.
                Err(_) => Err(StoreError::Internal(
                    Broken("a granted step is not in the graph").into(),
                )),
            }
        }
    }
}

/// Uses a grant up on the record that it was made for, at the version that was previewed.
fn spend(grant: Grant, kind: EntityKind, id: i64, version: Version) -> Result<(), StoreError> {
    let bound = grant.binding();
    let same = bound.entity_kind == kind.as_str()
        && bound.entity_id == id
        && bound.version == version.number();
    drop(grant);
    if same {
        Ok(())
    } else {
        let cause = Broken("a grant was made for another record");
        Err(StoreError::Internal(cause.into()))
    }
}

fn granted_ticket(tx: &mut Tx<'_>, grant: Grant, id: TicketId) -> Result<Ticket, StoreError> {
    let ticket = tickets::get(tx.step()?, id)?;
    spend(grant, EntityKind::Ticket, id.number(), ticket.version)?;
    Ok(ticket)
}

/// What the log says of a change: words of vocabularies with both sides, of everything else only that it was changed.
fn facts(change: &Change) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    for field in &change.fields {
        let both = |name| {
            let show = |value: &Option<domain::FieldValue>| {
                value
                    .as_ref()
                    .map_or_else(|| "none".to_owned(), ToString::to_string)
            };
            (
                name,
                format!("{} -> {}", show(&field.before), show(&field.after)),
            )
        };
        let only = |name| {
            let what = if field.after.is_some() {
                "set"
            } else {
                "cleared"
            };
            (name, what.to_owned())
        };
        let count = |name| {
            let count = field.before.as_ref().map(ToString::to_string);
            (name, count.unwrap_or_default())
        };
        facts.push(match field.field.as_ref() {
            "status" => both("status"),
            "tier" => both("tier"),
            "priority" => both("priority"),
            "category" => both("category"),
            "team" => only("team"),
            "assignee" => only("assignee"),
            "subject" => only("subject"),
            "description" => only("description"),
            "name" => only("name"),
            "email" => only("email"),
            "phone" => only("phone"),
            "organisation" => only("organisation"),
            "ticket_count" => count("tickets"),
            "comments" => count("comments"),
            "scores" => count("scores"),
            "unlinked_calls" => count("unlinked_calls"),
            // Ids that are the row's own, and a note, which has a fact of its own.
            _ => continue,
        });
    }
    facts
}

/// Changes a ticket's fields; the first subject and description are kept (design section 3).
fn update_ticket(
    tx: &mut Tx<'_>,
    act: &Act,
    grant: Grant,
    id: TicketId,
    patch: &TicketPatch,
    change: &Change,
) -> Result<Left, StoreError> {
    let ticket = granted_ticket(tx, grant, id)?;
    let new_team = match &patch.team {
        Assign::Set(team) => ticket_writes::note_team(tx, team)?,
        Assign::Keep | Assign::Clear => false,
    };
    let mut facts = facts(change);
    if new_team {
        facts.push(("new_team", "true".to_owned()));
    }
    let reworded = patch.subject.is_some() || patch.description.is_some();
    if reworded {
        keep_original(tx, act, &ticket)?;
    }
    let mut turn = None;
    if let Some(note) = &patch.note {
        let note = NewComment {
            body: note.clone(),
            origin: Origin::Team,
        };
        let comment = ticket_writes::comment_now(tx, act, id, &note)?;
        turn = ticket_writes::turn_after(note.origin);
        facts.extend(ticket_writes::comment_facts(
            comment,
            note.origin,
            Visibility::Internal,
        ));
    }
    let changes = Changes {
        status: patch.status,
        tier: patch.tier,
        priority: patch.priority,
        category: patch.category.clone(),
        subject: patch.subject.clone(),
        description: patch.description.clone(),
        last_comment_by: turn,
        ..Changes::default()
    }
    .assigned(&patch.team, &patch.assignee);
    let version = ticket_writes::update(tx, &ticket, act.at, changes)?;
    if reworded || patch.note.is_some() || patch.category.is_some() {
        let own = patch.note.as_deref().filter(|_| !reworded);
        flags::rescreen_into(tx, id, own, &mut facts)?;
    }
    let now = tickets::get(tx.step()?, id)?;
    if reworded {
        words::reindex_ticket(tx, id, &now.subject, &now.description)?;
    }
    let record = ticket_writes::applied(Action::UpdateTicket, id, version, facts);
    audit::append(tx, act, &record)?;
    Ok(Left::Ticket {
        ticket: now,
        from: ticket.status,
        new_team,
    })
}

/// Keeps the customer's own words, the first time that they are changed.
fn keep_original(tx: &mut Tx<'_>, act: &Act, ticket: &Ticket) -> Result<(), StoreError> {
    let known: i64 = ticket_originals::table
        .filter(ticket_originals::ticket_id.eq(ticket.id.number()))
        .count()
        .get_result(tx.step()?)
        .map_err(classify)?;
    if known > 0 {
        return Ok(());
    }
    diesel::insert_into(ticket_originals::table)
        .values((
            ticket_originals::ticket_id.eq(ticket.id.number()),
            ticket_originals::subject.eq(&ticket.subject),
            ticket_originals::description.eq(&ticket.description),
            ticket_originals::replaced_at.eq(act.at.micros()),
        ))
        .execute(tx.step()?)
        .map(drop)
        .map_err(classify)
}

/// Adds a comment that the customer reads.
fn publish_comment(
    tx: &mut Tx<'_>,
    act: &Act,
    grant: Grant,
    id: TicketId,
    publication: &Publication,
) -> Result<Left, StoreError> {
    let ticket = granted_ticket(tx, grant, id)?;
    let (origin, visibility) = (Origin::Team, Visibility::Public);
    let mut words = WordQueue::default();
    let comment = ticket_writes::insert_comment(
        tx,
        &mut words,
        &CommentEntry {
            ticket: id,
            author: &act.actor.id,
            origin,
            visibility,
            body: &publication.body,
            created_at: act.at,
        },
    )?;
    words.write(tx)?;
    let changes = Changes {
        last_comment_by: ticket_writes::turn_after(origin),
        ..Changes::default()
    };
    let version = ticket_writes::update(tx, &ticket, act.at, changes)?;
    let mut facts = ticket_writes::comment_facts(comment, origin, visibility).to_vec();
    flags::rescreen_into(tx, id, Some(&publication.body), &mut facts)?;
    let record = ticket_writes::applied(Action::AddComment, id, version, facts);
    audit::append(tx, act, &record)?;
    let added = ticket_writes::added(tx, comment, id)?;
    Ok(Left::Comment {
        comment: added.comment,
        ticket: added.ticket,
    })
}

/// Closes a ticket for good.
fn close_ticket(
    tx: &mut Tx<'_>,
    act: &Act,
    grant: Grant,
    id: TicketId,
) -> Result<Left, StoreError> {
    let ticket = granted_ticket(tx, grant, id)?;
    let changes = Changes {
        status: Some(Status::Closed),
        ..Changes::default()
    };
    let version = ticket_writes::update(tx, &ticket, act.at, changes)?;
    let step = format!("{} -> {}", ticket.status, Status::Closed);
    let record = ticket_writes::applied(
        Action::ChangeTicketStatus,
        id,
        version,
        vec![("status", step)],
    );
    audit::append(tx, act, &record)?;
    Ok(Left::Ticket {
        ticket: tickets::get(tx.step()?, id)?,
        from: ticket.status,
        new_team: false,
    })
}

/// Puts a deletion on record; the log keeps its rows about what is gone.
fn audit_deletion(
    tx: &mut Tx<'_>,
    act: &Act,
    action: Action,
    (entity, id): (EntityKind, i64),
    version: Version,
    change: &Change,
) -> Result<(), StoreError> {
    let deletes = |(name, _): &(&str, String)| !matches!(*name, "subject" | "name" | "email");
    let record = AuditRecord {
        action,
        entity,
        entity_id: Some(id),
        version_before: Some(version),
        version_after: None,
        outcome: Outcome::Applied,
        code: None,
        facts: facts(change).into_iter().filter(deletes).collect(),
    };
    audit::append(tx, act, &record)
}

/// Deletes a ticket; its comments and scores go along, its calls stay.
fn delete_ticket(
    tx: &mut Tx<'_>,
    act: &Act,
    grant: Grant,
    id: TicketId,
    change: &Change,
) -> Result<Left, StoreError> {
    let ticket = granted_ticket(tx, grant, id)?;
    words::forget_tickets(tx, &[id.number()])?;
    diesel::delete(ticket_rows::table.find(id.number()))
        .execute(tx.step()?)
        .map_err(classify)?;
    let entity = (EntityKind::Ticket, id.number());
    audit_deletion(
        tx,
        act,
        Action::DeleteTicket,
        entity,
        ticket.version,
        change,
    )?;
    Ok(Left::Nothing)
}

/// Records that a change of payment details was verified.
fn record_payment_verification(
    tx: &mut Tx<'_>,
    act: &Act,
    grant: Grant,
    id: TicketId,
    found: &PaymentVerification,
) -> Result<Left, StoreError> {
    let ticket = granted_ticket(tx, grant, id)?;
    diesel::insert_into(payment_verifications::table)
        .values((
            payment_verifications::ticket_id.eq(id.number()),
            payment_verifications::channel_on_file.eq(&found.channel_on_file),
            payment_verifications::confirmer.eq(&found.confirmer),
            payment_verifications::approver.eq(&found.approver),
            payment_verifications::entered_by.eq(&act.actor.id),
            payment_verifications::entered_at.eq(act.at.micros()),
        ))
        .execute(tx.step()?)
        .map_err(classify)?;
    let version = ticket_writes::update(tx, &ticket, act.at, Changes::default())?;
    let record = ticket_writes::applied(Action::RecordPaymentVerification, id, version, Vec::new());
    audit::append(tx, act, &record)?;
    Ok(Left::Ticket {
        from: ticket.status,
        ticket: tickets::get(tx.step()?, id)?,
        new_team: false,
    })
}
