//! Security flags: raised by what is written, in the same transaction, and what a flagged ticket does not allow (design
//! section 5). No text can lower one.

use diesel::prelude::*;
use domain::{
    Act, Action, CustomerId, GuardedWrite, NewComment, Origin, PaymentVerification, Priority,
    ReviewVerdict, SecurityFlag, SecurityReview, Status, Ticket, TicketId, TicketPatch, Tier,
    Version, Visibility,
};
use writegate::ApprovalLevel;

use super::connection::AnyConnection;
use super::errors::{BadValue, classify};
use super::rows::{self, CallRow, CommentRow, stored};
use super::schema::{calls, comments, payment_verifications, security_reviews, tickets as table};
use super::ticket_writes::{self, Changes};
use super::writer::Tx;
use super::{audit, customers, tickets};
use crate::screening::TicketTexts;
use crate::{Left, StoreError, TicketWithTeam};

/// The team that incidents go to.
const SECURITY_TEAM: &str = "security";

/// Everything that was written on a ticket.
pub(super) fn texts(conn: &mut AnyConnection, id: TicketId) -> Result<TicketTexts, StoreError> {
    let ticket = tickets::get(conn, id)?;
    let customer = customers::get(conn, ticket.customer)?;
    let said = comments::table
        .filter(comments::ticket_id.eq(id.number()))
        .order((comments::created_at, comments::id))
        .select(CommentRow::as_select())
        .load(conn)
        .map_err(classify)?;
    let linked = calls::table
        .filter(calls::ticket_id.eq(id.number()))
        .order(calls::id)
        .select(CallRow::as_select())
        .load(conn)
        .map_err(classify)?;
    let linked: Vec<domain::Call> = rows::all(linked)?;
    let payment: Option<(String, String, String)> = payment_verifications::table
        .filter(payment_verifications::ticket_id.eq(id.number()))
        .order(payment_verifications::id.desc())
        .select((
            payment_verifications::channel_on_file,
            payment_verifications::confirmer,
            payment_verifications::approver,
        ))
        .first(conn)
        .optional()
        .map_err(classify)?;
    let lifted: Option<String> = security_reviews::table
        .filter(security_reviews::ticket_id.eq(id.number()))
        .filter(security_reviews::void.eq(false))
        .order(security_reviews::id.desc())
        .select(security_reviews::lifted)
        .first(conn)
        .optional()
        .map_err(classify)?;
    Ok(TicketTexts {
        ticket,
        customer,
        comments: rows::all(said)?,
        transcripts: linked.iter().map(transcript).collect(),
        payment: payment.map(
            |(channel_on_file, confirmer, approver)| PaymentVerification {
                channel_on_file,
                confirmer,
                approver,
            },
        ),
        lifted: lifted
            .map(|word| stored!(SecurityFlag, "security_reviews.lifted", word))
            .transpose()
            .map_err(|bad: BadValue| StoreError::from(bad))?,
    })
}

fn transcript(call: &domain::Call) -> String {
    let turns: Vec<&str> = call.turns.iter().map(|turn| turn.text.as_str()).collect();
    turns.join("\n")
}

/// Screens a ticket on which a text was just written, and raises its flag where the texts ask for it. Gives the new flag.
///
/// What a person lifted held for the texts that they saw: a text of the team (`own`) is screened by itself then, and any
/// other makes the review void, so that everything is screened again.
pub(super) fn rescreen(
    tx: &mut Tx<'_>,
    id: TicketId,
    own: Option<&str>,
) -> Result<Option<SecurityFlag>, StoreError> {
    let Some(screener) = tx.screener() else {
        return Ok(None);
    };
    let mut texts = texts(tx.step()?, id)?;
    let alone = own.filter(|_| texts.lifted.is_some());
    let mut flag = match alone {
        Some(_) => screener.flag(&texts, alone),
        None => SecurityFlag::None,
    };
    if texts.lifted.is_some() && (alone.is_none() || flag > SecurityFlag::None) {
        diesel::update(security_reviews::table)
            .filter(security_reviews::ticket_id.eq(id.number()))
            .filter(security_reviews::void.eq(false))
            .set(security_reviews::void.eq(true))
            .execute(tx.step()?)
            .map_err(classify)?;
        texts.lifted = None;
    }
    if texts.lifted.is_none() {
        flag = flag.max(screener.flag(&texts, None));
    }
    if flag <= texts.ticket.security_flag {
        return Ok(None);
    }
    diesel::update(table::table.find(id.number()))
        .set(table::security_flag.eq(flag.as_str()))
        .execute(tx.step()?)
        .map_err(classify)?;
    Ok(Some(flag))
}

/// Screens every ticket of a customer whose name or organisation changed. Gives how many flags it raised.
pub(super) fn rescreen_all(tx: &mut Tx<'_>, customer: CustomerId) -> Result<usize, StoreError> {
    let owned: Vec<i64> = table::table
        .filter(table::customer_id.eq(customer.number()))
        .order(table::id)
        .select(table::id)
        .load(tx.step()?)
        .map_err(classify)?;
    let mut raised = 0;
    for id in owned {
        raised += usize::from(rescreen(tx, TicketId::new(id), None)?.is_some());
    }
    Ok(raised)
}

/// [`rescreen`], with what the audit row of the write says of it.
pub(super) fn rescreen_into(
    tx: &mut Tx<'_>,
    id: TicketId,
    own: Option<&str>,
    facts: &mut Vec<(&'static str, String)>,
) -> Result<(), StoreError> {
    if let Some(flag) = rescreen(tx, id, own)? {
        facts.push(("security_flag", flag.to_string()));
    }
    Ok(())
}

/// Refuses an open move that would put an incident away.
pub(super) fn check_move(ticket: &Ticket, to: Status) -> Result<(), StoreError> {
    if ticket.security_flag == SecurityFlag::Incident && puts_away(to) {
        return Err(flagged(ticket, ticket.security_flag));
    }
    Ok(())
}

const fn puts_away(to: Status) -> bool {
    matches!(to, Status::Resolved | Status::Closed)
}

const fn flagged(ticket: &Ticket, flag: SecurityFlag) -> StoreError {
    StoreError::Flagged {
        ticket: ticket.id,
        flag,
    }
}

/// What a guarded change needs because of the flags of what it touches, or that it is refused.
pub(super) fn check(tx: &mut Tx<'_>, write: &GuardedWrite) -> Result<ApprovalLevel, StoreError> {
    match write {
        GuardedWrite::UpdateTicket { ticket, patch } => {
            let ticket = tickets::get(tx.step()?, *ticket)?;
            Ok(person_if(
                is_incident(&ticket) && plays_down(&ticket, patch),
            ))
        }
        GuardedWrite::CloseTicket { ticket } | GuardedWrite::DeleteTicket { ticket } => {
            let ticket = tickets::get(tx.step()?, *ticket)?;
            Ok(person_if(is_incident(&ticket)))
        }
        GuardedWrite::PublishComment {
            ticket,
            publication,
        } => check_publication(tx, *ticket, &publication.body),
        GuardedWrite::DeleteCustomer { customer } => {
            let incident: Option<i64> = table::table
                .filter(table::customer_id.eq(customer.number()))
                .filter(table::security_flag.eq(SecurityFlag::Incident.as_str()))
                .order(table::id)
                .select(table::id)
                .first(tx.step()?)
                .optional()
                .map_err(classify)?;
            match incident {
                Some(id) => Err(StoreError::Flagged {
                    ticket: TicketId::new(id),
                    flag: SecurityFlag::Incident,
                }),
                None => Ok(ApprovalLevel::Token),
            }
        }
        GuardedWrite::Open(domain::OpenWrite::ResolveTicket { ticket, .. }) => {
            let ticket = tickets::get(tx.step()?, *ticket)?;
            check_move(&ticket, Status::Resolved).map(|()| ApprovalLevel::Token)
        }
        GuardedWrite::Open(domain::OpenWrite::MoveTicket { ticket, to }) => {
            let ticket = tickets::get(tx.step()?, *ticket)?;
            check_move(&ticket, to.status()).map(|()| ApprovalLevel::Token)
        }
        // Nothing that is configured can make this the model's decision.
        GuardedWrite::RecordSecurityReview { .. } => Ok(ApprovalLevel::Person),
        GuardedWrite::UpdateCustomer { .. }
        | GuardedWrite::RecordPaymentVerification { .. }
        | GuardedWrite::Open(_) => Ok(ApprovalLevel::Token),
    }
}

/// Nothing is published on a flagged ticket, nor what would flag it. It is screened here as well as where the text was
/// composed, so that no way to a publication can leave that out.
fn check_publication(
    tx: &mut Tx<'_>,
    id: TicketId,
    body: &str,
) -> Result<ApprovalLevel, StoreError> {
    let ticket = tickets::get(tx.step()?, id)?;
    if ticket.security_flag != SecurityFlag::None {
        return Err(flagged(&ticket, ticket.security_flag));
    }
    if let Some(screener) = tx.screener() {
        let texts = texts(tx.step()?, id)?;
        let flag = screener.flag(&texts, Some(body));
        if flag != SecurityFlag::None {
            return Err(flagged(&ticket, flag));
        }
    }
    Ok(ApprovalLevel::Token)
}

const fn person_if(needed: bool) -> ApprovalLevel {
    if needed {
        ApprovalLevel::Person
    } else {
        ApprovalLevel::Token
    }
}

fn is_incident(ticket: &Ticket) -> bool {
    ticket.security_flag == SecurityFlag::Incident
}

/// Whether a change would make a ticket look less urgent than it is.
fn plays_down(ticket: &Ticket, patch: &TicketPatch) -> bool {
    patch.status.is_some_and(puts_away)
        || patch.priority.is_some_and(|to| to < ticket.priority)
        || patch.tier.is_some_and(|to| to < ticket.tier)
}

/// Records what a person found, with their reason as an internal comment, and lifts or sets the flag.
pub(super) fn review(
    tx: &mut Tx<'_>,
    act: &Act,
    ticket: &Ticket,
    review: &SecurityReview,
) -> Result<Left, StoreError> {
    let reason = NewComment {
        body: review.reason.clone(),
        origin: Origin::Team,
    };
    ticket_writes::comment_now(tx, act, ticket.id, &reason)?;
    let flag = match review.verdict {
        ReviewVerdict::NoIncident => SecurityFlag::None,
        ReviewVerdict::Incident => SecurityFlag::Incident,
    };
    diesel::update(security_reviews::table)
        .filter(security_reviews::ticket_id.eq(ticket.id.number()))
        .set(security_reviews::void.eq(true))
        .execute(tx.step()?)
        .map_err(classify)?;
    if flag == SecurityFlag::None {
        diesel::insert_into(security_reviews::table)
            .values((
                security_reviews::ticket_id.eq(ticket.id.number()),
                security_reviews::lifted.eq(ticket.security_flag.max(SecurityFlag::Held).as_str()),
                security_reviews::reviewer.eq(&act.actor.id),
                security_reviews::reviewed_at.eq(act.at.micros()),
                security_reviews::void.eq(false),
            ))
            .execute(tx.step()?)
            .map_err(classify)?;
    }
    let changes = Changes {
        flag: Some(flag),
        ..Changes::default()
    };
    let version = ticket_writes::update(tx, ticket, act.at, changes)?;
    let facts = vec![
        ("verdict", review.verdict.to_string()),
        (
            "security_flag",
            format!("{} -> {flag}", ticket.security_flag),
        ),
    ];
    let record = ticket_writes::applied(Action::RecordSecurityReview, ticket.id, version, facts);
    audit::append(tx, act, &record)?;
    Ok(Left::Ticket {
        from: ticket.status,
        ticket: tickets::get(tx.step()?, ticket.id)?,
        new_team: false,
    })
}

/// Hands a ticket to security: flag, team, last tier, at least high priority, and an internal comment that says why.
pub(super) fn escalate(
    tx: &mut Tx<'_>,
    act: &Act,
    id: TicketId,
    if_version: Option<Version>,
    reason: &NewComment,
) -> Result<TicketWithTeam, StoreError> {
    let ticket = ticket_writes::read(tx, id, if_version)?;
    let new_team = ticket_writes::note_team(tx, SECURITY_TEAM)?;
    let comment = ticket_writes::comment_now(tx, act, id, reason)?;
    let priority = ticket.priority.max(Priority::High);
    let changes = Changes {
        tier: Some(Tier::LAST),
        priority: Some(priority),
        flag: Some(SecurityFlag::Incident),
        ..Changes::default()
    }
    .assigned(
        &domain::Assign::Set(SECURITY_TEAM.to_owned()),
        &domain::Assign::Keep,
    );
    let version = ticket_writes::update(tx, &ticket, act.at, changes)?;
    let mut facts = vec![
        (
            "security_flag",
            format!("{} -> {}", ticket.security_flag, SecurityFlag::Incident),
        ),
        (
            "tier",
            format!("{} -> {}", ticket.tier.number(), Tier::LAST.number()),
        ),
        ("priority", format!("{} -> {priority}", ticket.priority)),
        ("team", "set".to_owned()),
    ];
    facts.extend(ticket_writes::comment_facts(
        comment,
        Origin::Team,
        Visibility::Internal,
    ));
    let record = ticket_writes::applied(Action::EscalateToSecurity, id, version, facts);
    audit::append(tx, act, &record)?;
    Ok(TicketWithTeam {
        ticket: tickets::get(tx.step()?, id)?,
        new_team,
    })
}
