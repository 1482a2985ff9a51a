//! The dossier of a ticket: what is read from the desk, what fits into a result, and how it is written.
//!
//! Comments are read newest first and shown in order of time. The page ends where the budget does, in the middle of a
//! long comment if need be, and its cursor says exactly where, so that nothing is skipped or sent twice (field
//! reports 3 and 4).

use desk::{Caller, Desk, DeskError, Dossier, InvalidArgument};
use domain::{Comment, CommentId, Ticket, TicketId};
use serde::Serialize;

use crate::reply::{Room, json_len};
use crate::text::{Channels, QUOTE_BYTES, Sheet, Window, cost, quoted, window};
use crate::view::{
    CustomerView, PageInfo, Part, Said, TicketRecord, TicketRow, contact, customer_facts, labels,
    minute, ticket_facts, ticket_line,
};

/// Pages of comments that are read to find the place of a cursor: a page is found on the first try unless many
/// comments came in since.
const RESUME_PAGES: usize = 20;

/// A cursor of a dossier: a page of comments, and the comment and character in it to begin with.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    page: Option<String>,
    comment: CommentId,
    offset: usize,
}

impl Place {
    fn encode(&self) -> String {
        let page = self.page.as_deref().unwrap_or_default();
        format!("{page}.{}.{}", self.comment.number(), self.offset)
    }

    /// Reads a cursor of this kind; a plain cursor of the desk has no dots and is none.
    fn decode(cursor: &str) -> Option<Self> {
        let (rest, offset) = cursor.rsplit_once('.')?;
        let (page, comment) = rest.rsplit_once('.')?;
        Some(Self {
            page: (!page.is_empty()).then(|| page.to_owned()),
            comment: CommentId::new(comment.parse().ok()?),
            offset: offset.parse().ok()?,
        })
    }
}

/// A dossier as read, with the place in its comments to begin with.
pub(crate) struct Section {
    dossier: Dossier,
    /// Cursor of the page of comments.
    page: Option<String>,
    /// Comments of the page that were sent before.
    skip: usize,
    /// Characters of the next comment that were sent before.
    offset: usize,
    /// Whether this is the first page, which has the ticket, the customer and the other tickets too.
    first: bool,
}

impl Section {
    /// The ticket alone.
    pub(crate) fn into_ticket(self) -> Ticket {
        self.dossier.details.ticket
    }
}

/// Reads a dossier, or the comments from a cursor on.
pub(crate) async fn fetch(
    desk: &Desk,
    caller: &Caller,
    id: TicketId,
    limit: Option<u16>,
    cursor: Option<&str>,
) -> Result<Section, DeskError> {
    let Some(place) = cursor.and_then(Place::decode) else {
        let dossier = desk.get_ticket_details(caller, id, limit, cursor).await?;
        return Ok(Section {
            dossier,
            page: cursor.map(str::to_owned),
            skip: 0,
            offset: 0,
            first: cursor.is_none(),
        });
    };
    let mut page = place.page;
    for _ in 0..RESUME_PAGES {
        let dossier = desk
            .get_ticket_details(caller, id, limit, page.as_deref())
            .await?;
        let rows = &dossier.details.comments.rows;
        if let Some(skip) = rows.iter().position(|row| row.id == place.comment) {
            return Ok(Section {
                dossier,
                page,
                skip,
                offset: place.offset,
                first: false,
            });
        }
        if dossier.next_cursor.is_none() {
            break;
        }
        page = dossier.next_cursor;
    }
    let reason = "does not lead to a comment of this ticket; leave it out to begin anew";
    Err(InvalidArgument::new("cursor", reason).into())
}

/// How much of each part is shown.
pub(crate) struct Plan<'a> {
    description: Option<Window<'a>>,
    others: usize,
    /// Newest first.
    comments: Vec<(&'a Comment, Window<'a>)>,
    page: PageInfo,
}

/// Bytes of a result's own words: headings, the ways to the rest, counts.
const FRAME_BYTES: usize = 900;

/// Decides what fits.
///
/// At most a quarter of the room is for the other tickets; the description gets two fifths of the rest, or more if
/// the comments leave it.
pub(crate) fn plan(section: &Section, mut room: Room, channels: Channels) -> Plan<'_> {
    let details = &section.dossier.details;
    let ticket = &details.ticket;
    room.spend(FRAME_BYTES);
    let head = TicketRecord::of(ticket, None);
    let lines = json_len(&ticket_facts(ticket)) + json_len(&labels(ticket));
    room.spend(sides(channels, json_len(&head), lines) + QUOTE_BYTES);
    let comments = comments_left(section);
    let wanted = comments
        .iter()
        .map(|(comment, offset)| comment_cost(comment, *offset, channels))
        .fold(0, usize::saturating_add);
    let mut others = 0;
    let mut description = None;
    if section.first {
        let customer = CustomerView::of(&details.customer);
        let line = format!(
            "{}{}",
            customer_facts(&details.customer),
            contact(&details.customer)
        );
        room.spend(sides(channels, json_len(&customer), json_len(&line)) + QUOTE_BYTES);
        let mut share = Room::new(room.left() / 4);
        others = details
            .other_tickets
            .iter()
            .take_while(|other| {
                let row = json_len(&TicketRow::of(other));
                let bytes = sides(channels, row, json_len(&ticket_line(other)));
                share.take(bytes) && room.take(bytes)
            })
            .count();
        let text = &ticket.description;
        let share = (room.left() * 2 / 5).max(room.left().saturating_sub(wanted));
        let part = window(text, 0, share, channels);
        room.spend(cost(part.text, channels));
        description = Some(part);
    }

    let mut shown: Vec<(&Comment, Window<'_>)> = Vec::new();
    let mut stopped = None;
    for (comment, offset) in comments {
        let frame = comment_frame(comment, channels);
        let whole = comment_cost(comment, offset, channels);
        // The first one is begun whatever the room, so that every page leads on; a later one waits for the next page.
        if !shown.is_empty() && whole > room.left() {
            stopped = Some((comment.id, offset));
            break;
        }
        room.spend(frame);
        let part = window(&comment.body, offset, room.left(), channels);
        room.spend(cost(part.text, channels));
        shown.push((comment, part));
        if part.omitted > 0 {
            stopped = Some((comment.id, offset + part.chars));
            break;
        }
    }
    let next_cursor = match stopped {
        Some((comment, offset)) => Some(
            Place {
                page: section.page.clone(),
                comment,
                offset,
            }
            .encode(),
        ),
        None => section.dossier.next_cursor.clone(),
    };
    let total = details.comments.total;
    let page = PageInfo {
        total: total.count,
        total_is_lower_bound: total.is_lower_bound,
        returned: shown.len(),
        truncated: next_cursor.is_some(),
        next_cursor,
    };
    Plan {
        description,
        others,
        comments: shown,
        page,
    }
}

/// The comments of a page that were not sent yet, newest first, each with the character to begin with.
fn comments_left(section: &Section) -> Vec<(&Comment, usize)> {
    let rows = section.dossier.details.comments.rows.iter();
    rows.skip(section.skip)
        .enumerate()
        .map(|(index, comment)| (comment, if index == 0 { section.offset } else { 0 }))
        .collect()
}

fn sides(channels: Channels, structured: usize, text: usize) -> usize {
    match channels {
        Channels::Both => structured + text,
        Channels::TextBlock => text,
    }
}

/// Bytes of a comment besides its text.
fn comment_frame(comment: &Comment, channels: Channels) -> usize {
    let view = CommentView::of(comment, &window("", 0, 0, channels));
    let author = json_len(&quoted(&comment.author));
    // The line above a comment, and what a part that is cut says about itself.
    sides(channels, json_len(&view) + 60, author + QUOTE_BYTES + 120)
}

fn comment_cost(comment: &Comment, offset: usize, channels: Channels) -> usize {
    let rest = window(&comment.body, offset, usize::MAX, channels);
    comment_frame(comment, channels) + cost(rest.text, channels)
}

#[derive(Serialize)]
struct CommentView<'a> {
    comment_id: String,
    author: Said<'a>,
    visibility: &'static str,
    created_at: String,
    body: Said<'a>,
    #[serde(flatten)]
    part: Part,
}

impl<'a> CommentView<'a> {
    fn of(comment: &'a Comment, part: &Window<'a>) -> Self {
        let origin = comment.origin.as_str();
        Self {
            comment_id: comment.id.to_string(),
            author: Said {
                origin,
                text: &comment.author,
            },
            visibility: comment.visibility.as_str(),
            created_at: comment.created_at.to_string(),
            body: Said {
                origin,
                text: part.text,
            },
            part: Part {
                // The cursor leads to the rest, not an offset.
                next_offset: None,
                ..Part::of(part)
            },
        }
    }
}

/// A dossier's fields.
#[derive(Serialize)]
pub(crate) struct DossierAnswer<'a> {
    ticket: TicketRecord<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    customer: Option<CustomerView<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    other_tickets: Option<Vec<TicketRow<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    other_total: Option<u32>,
    comments: Vec<CommentView<'a>>,
    #[serde(flatten)]
    page: PageInfo,
}

/// The structured part of a dossier.
pub(crate) fn answer<'a>(section: &'a Section, plan: &Plan<'a>) -> DossierAnswer<'a> {
    let details = &section.dossier.details;
    let others = details.other_tickets.iter().take(plan.others);
    DossierAnswer {
        ticket: TicketRecord::of(&details.ticket, plan.description),
        customer: section.first.then(|| CustomerView::of(&details.customer)),
        other_tickets: section.first.then(|| others.map(TicketRow::of).collect()),
        other_total: section.first.then_some(details.other_total.count),
        comments: plan
            .comments
            .iter()
            .rev()
            .map(|(comment, part)| CommentView::of(comment, part))
            .collect(),
        page: plan.page.clone(),
    }
}

/// The text block of a dossier.
pub(crate) fn write(sheet: &mut Sheet, section: &Section, plan: &Plan<'_>) {
    let details = &section.dossier.details;
    let ticket = &details.ticket;
    sheet.say(format_args!(
        "Ticket {}, by {}",
        ticket_facts(ticket),
        ticket.channel
    ));
    let labels = labels(ticket);
    match plan.description {
        Some(part) => {
            sheet.quote("ticket", &format!("{labels}\n\n{}", part.text));
            if part.omitted > 0 {
                sheet.say(format_args!(
                    "{} more characters of the description: get_ticket with offset {}.",
                    part.omitted, part.chars
                ));
            }
        }
        None => sheet.quote("ticket", &labels),
    }
    if section.first {
        let customer = &details.customer;
        sheet.say(format_args!("Customer {}", customer_facts(customer)));
        sheet.quote("customer", &contact(customer));
        write_others(sheet, section, plan);
    }
    write_comments(sheet, plan);
}

fn write_others(sheet: &mut Sheet, section: &Section, plan: &Plan<'_>) {
    let details = &section.dossier.details;
    let total = details.other_total.count;
    if total == 0 {
        sheet.say("The customer has no other unfinished ticket.");
        return;
    }
    sheet.say(format_args!(
        "The customer's other unfinished tickets, {} of {total}:",
        plan.others
    ));
    let rows: Vec<String> = details
        .other_tickets
        .iter()
        .take(plan.others)
        .map(ticket_line)
        .collect();
    sheet.quote("tickets", &rows.join("\n"));
}

fn write_comments(sheet: &mut Sheet, plan: &Plan<'_>) {
    let page = &plan.page;
    if page.total == 0 {
        sheet.say("There are no comments.");
        return;
    }
    let more = if page.total_is_lower_bound {
        "more than "
    } else {
        ""
    };
    sheet.say(format_args!(
        "Comments, {} of {more}{}, in order of time:",
        page.returned, page.total
    ));
    for (comment, part) in plan.comments.iter().rev() {
        let from = if part.offset > 0 {
            format!(", from character {} on", part.offset)
        } else {
            String::new()
        };
        sheet.say(format_args!(
            "{}, {}, by {}, {}{from}",
            comment.id,
            comment.visibility,
            comment.origin,
            minute(comment.created_at)
        ));
        let body = format!("author {}\n\n{}", quoted(&comment.author), part.text);
        sheet.quote("comment", &body);
        if part.omitted > 0 {
            sheet.say(format_args!(
                "{} more characters with the cursor below.",
                part.omitted
            ));
        }
    }
    match &page.next_cursor {
        Some(cursor) => sheet.say(format_args!(
            "Older comments: get_ticket_details with cursor {cursor}"
        )),
        None => sheet.say("There are no older comments."),
    }
}

#[cfg(test)]
mod tests {
    //! Cursors that lead into the middle of a comment.

    use super::*;

    #[test]
    fn a_place_is_read_back_and_other_cursors_are_not_places() {
        for page in [None, Some("AbC-_9".to_owned())] {
            let place = Place {
                page,
                comment: CommentId::new(7),
                offset: 9_000,
            };
            assert_eq!(Place::decode(&place.encode()), Some(place));
        }
        for other in ["", "AbC-_9", ".", "..", "a.b.c", "x.7", ".7.-1", "1.2.3.x"] {
            assert_eq!(Place::decode(other), None, "{other}");
        }
    }
}
