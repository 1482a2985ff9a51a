//! Results of writes, from what they left behind: the same whether a write was open, keyed or confirmed.

use desk::Left;
use domain::{Comment, Customer, EntityKind, Operation, Status, Ticket};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::customers::record;
use crate::reply::Reply;
use crate::text::Sheet;
use crate::view::{TicketRow, owner, ticket_facts};

/// The result of a write.
pub(crate) fn written(
    nonce: [u8; 16],
    operation: Operation,
    (kind, id): (EntityKind, i64),
    left: &Left,
) -> Reply {
    match left {
        Left::Ticket {
            ticket,
            from,
            new_team,
        } => match operation {
            Operation::CloseTicket | Operation::MoveTicket | Operation::ResolveTicket => {
                moved(*from, ticket)
            }
            Operation::CreateTicket => with_team(nonce, "Filed", ticket, *new_team),
            Operation::AssignTicket => with_team(nonce, "Assigned", ticket, *new_team),
            Operation::RecordPaymentVerification => {
                let heading = "Recorded a verification of payment details on";
                with_team(nonce, heading, ticket, false)
            }
            Operation::RecordSecurityReview => {
                with_team(nonce, "Recorded a security review of", ticket, false)
            }
            Operation::UpdateTicket
            | Operation::PublishComment
            | Operation::DeleteTicket
            | Operation::UpdateCustomer
            | Operation::DeleteCustomer
            | Operation::CreateCustomer
            | Operation::AddComment => with_team(nonce, "Changed", ticket, *new_team),
        },
        Left::Comment { comment, ticket } => commented(comment, ticket),
        Left::Customer(customer) => registered(nonce, operation, customer),
        Left::Nothing => deleted(kind, id),
    }
}

#[derive(Serialize)]
struct TeamAnswer<'a> {
    #[serde(flatten)]
    row: TicketRow<'a>,
    new_team: bool,
}

pub(super) fn with_team(nonce: [u8; 16], heading: &str, ticket: &Ticket, new_team: bool) -> Reply {
    let mut sheet = Sheet::new(nonce);
    sheet.say(format_args!("{heading} {}", ticket_facts(ticket)));
    if ticket.assigned_team.is_some() || ticket.assignee.is_some() {
        sheet.quote("names", &owner(ticket));
    } else {
        sheet.say("It has no team and no assignee.");
    }
    if new_team {
        sheet.say("No ticket had this team before: check the spelling of its name.");
    }
    let answer = TeamAnswer {
        row: TicketRow::of(ticket),
        new_team,
    };
    Reply::new(&answer, sheet.finish())
}

#[derive(Serialize)]
struct MovedAnswer {
    ticket_id: String,
    status_before: &'static str,
    status_after: &'static str,
    updated_at: String,
    version: i64,
}

fn moved(from: Status, ticket: &Ticket) -> Reply {
    let text = format!(
        "{} is {} now and was {from}; it is at version {}.",
        ticket.id, ticket.status, ticket.version
    );
    let answer = MovedAnswer {
        ticket_id: ticket.id.to_string(),
        status_before: from.as_str(),
        status_after: ticket.status.as_str(),
        updated_at: ticket.updated_at.to_string(),
        version: ticket.version.number(),
    };
    Reply::new(&answer, text)
}

#[derive(Serialize)]
struct CommentAnswer {
    comment_id: String,
    ticket_id: String,
    visibility: &'static str,
    origin: &'static str,
    last_comment_by: &'static str,
    created_at: String,
    version: i64,
}

fn commented(comment: &Comment, ticket: &Ticket) -> Reply {
    let text = format!(
        "Added {} to {}: {}, by {}. {} spoke last; the ticket is at version {}.",
        comment.id,
        ticket.id,
        comment.visibility,
        comment.origin,
        ticket.last_comment_by,
        ticket.version
    );
    let answer = CommentAnswer {
        comment_id: comment.id.to_string(),
        ticket_id: ticket.id.to_string(),
        visibility: comment.visibility.as_str(),
        origin: comment.origin.as_str(),
        last_comment_by: ticket.last_comment_by.as_str(),
        created_at: comment.created_at.to_string(),
        version: ticket.version.number(),
    };
    Reply::new(&answer, text)
}

fn registered(nonce: [u8; 16], operation: Operation, customer: &Customer) -> Reply {
    let heading = if operation == Operation::CreateCustomer {
        "Registered customer"
    } else {
        "Changed customer"
    };
    record(nonce, heading, customer)
}

fn deleted(kind: EntityKind, id: i64) -> Reply {
    let shown = desk::shown_id(kind, id);
    let text = format!("Deleted {shown}.");
    let mut answer: Map<String, Value> = Map::new();
    answer.insert(format!("{kind}_id"), json!(shown));
    answer.insert("deleted".to_owned(), json!(true));
    Reply::new(&answer, text)
}
