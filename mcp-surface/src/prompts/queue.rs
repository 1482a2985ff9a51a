//! The prompt that reviews the queue. The server counts; a model that counts rows miscounts.

use std::collections::BTreeMap;

use desk::{Caller, DeskError, TicketList};
use domain::{
    CustomerId, LastCommentBy, Priority, Status, Ticket, TicketFilter, TicketOrder, limits,
};

use crate::Surface;
use crate::reply::{Room, json_len};
use crate::text::{QUOTE_BYTES, Sheet};
use crate::view::ticket_line;

/// Unfinished tickets that are looked through for each status, oldest first.
const TICKETS_READ: usize = limits::TOTAL_EXACT as usize;

/// Bytes of the prompt's own words.
const FRAME_BYTES: usize = 3_000;

struct Unfinished {
    tickets: Vec<Ticket>,
    /// Whether there are more than were read.
    capped: bool,
}

async fn unfinished(
    surface: &Surface,
    caller: &Caller,
    status: Status,
) -> Result<Unfinished, DeskError> {
    let mut tickets = Vec::new();
    let mut cursor = None;
    loop {
        let list = TicketList {
            filter: TicketFilter {
                status: Some(status),
                ..TicketFilter::default()
            },
            order: Some(TicketOrder::Oldest),
            limit: Some(limits::PAGE_MAX),
            cursor,
        };
        let page = surface.desk().list_tickets(caller, list).await?;
        tickets.extend(page.rows);
        cursor = page.next_cursor;
        if cursor.is_none() || tickets.len() >= TICKETS_READ {
            return Ok(Unfinished {
                tickets,
                capped: cursor.is_some(),
            });
        }
    }
}

pub(super) async fn review(surface: &Surface, caller: &Caller) -> Result<String, DeskError> {
    let open = unfinished(surface, caller, Status::Open).await?;
    let in_progress = unfinished(surface, caller, Status::InProgress).await?;
    let mut sheet = Sheet::new(surface.desk().next_nonce());
    let mut room = Room::new(surface.budget());
    room.spend(FRAME_BYTES);
    sheet.say("Review the queue of unfinished tickets.");
    for (word, part) in [("Open", &open), ("In progress", &in_progress)] {
        let more = if part.capped { "more than " } else { "" };
        sheet.say(format_args!("{word}: {more}{}.", part.tickets.len()));
    }
    let all: Vec<&Ticket> = open.tickets.iter().chain(&in_progress.tickets).collect();
    let urgent =
        |ticket: &&&Ticket| ticket.priority == Priority::Urgent && ticket.assignee.is_none();
    let waiting = |ticket: &&&Ticket| ticket.last_comment_by == LastCommentBy::Customer;
    let sections: [(&str, Vec<&Ticket>); 2] = [
        (
            "Urgent and without a person",
            all.iter().filter(urgent).copied().collect(),
        ),
        (
            "The customer spoke last",
            all.iter().filter(waiting).copied().collect(),
        ),
    ];
    for (heading, tickets) in &sections {
        section(&mut sheet, &mut room, heading, tickets);
    }
    several(&mut sheet, &mut room, &all);
    sheet.say(
        "## Task\n\
         Report: what must be picked up first and by which team; which customers wait for an answer, the longest \
         first; which customers have several tickets that look like one problem. Name tickets by their ids. What is \
         left out above can be read with list_tickets, a single ticket with get_ticket_details.\n\
         Then stop and wait. Change nothing before the user says which tickets to assign, comment on or move.",
    );
    Ok(sheet.finish())
}

/// Writes the tickets of a section, oldest first, as far as the room reaches.
fn section(sheet: &mut Sheet, room: &mut Room, heading: &str, tickets: &[&Ticket]) {
    sheet.say(format_args!("## {heading}: {}", tickets.len()));
    if tickets.is_empty() {
        return;
    }
    // Half of what is left, so that no section starves the next.
    let mut share = Room::new(room.left() / 2);
    share.spend(2 * QUOTE_BYTES);
    let lines: Vec<String> = tickets
        .iter()
        .map(|ticket| ticket_line(ticket))
        .take_while(|line| share.take(json_len(line)))
        .collect();
    room.spend(lines.iter().map(json_len).sum::<usize>());
    sheet.quote("tickets", &lines.join("\n"));
    let left_out = tickets.len() - lines.len();
    if left_out > 0 {
        sheet.say(format_args!("{left_out} more are left out."));
    }
}

/// Customers with several unfinished tickets that are listed.
const CUSTOMERS_SHOWN: usize = 20;

/// Writes which customers have several unfinished tickets.
fn several(sheet: &mut Sheet, room: &mut Room, tickets: &[&Ticket]) {
    let mut by_customer: BTreeMap<CustomerId, Vec<String>> = BTreeMap::new();
    for ticket in tickets {
        by_customer
            .entry(ticket.customer)
            .or_default()
            .push(ticket.id.to_string());
    }
    by_customer.retain(|_, ids| ids.len() > 1);
    let mut customers: Vec<(CustomerId, Vec<String>)> = by_customer.into_iter().collect();
    customers.sort_by_key(|(customer, ids)| (std::cmp::Reverse(ids.len()), *customer));
    sheet.say(format_args!(
        "## Customers with several unfinished tickets: {}",
        customers.len()
    ));
    for (customer, ids) in customers.iter().take(CUSTOMERS_SHOWN) {
        let line = format!("{customer}, {}: {}", ids.len(), ids.join(", "));
        if !room.take(line.len()) {
            break;
        }
        sheet.say(line);
    }
    if customers.len() > CUSTOMERS_SHOWN {
        let left_out = customers.len() - CUSTOMERS_SHOWN;
        sheet.say(format_args!("{left_out} more are left out."));
    }
}
