//! Domain values as results show them: typed fields, ids with their prefix, and the text of others apart from both.

use desk::Listing;
use domain::{Customer, Ticket, TicketOrder, Timestamp};
use serde::Serialize;

use crate::text::{Window, quoted};

/// Text of others with who wrote it, byte for byte.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Said<'a> {
    pub(crate) origin: &'static str,
    pub(crate) text: &'a str,
}

impl<'a> Said<'a> {
    pub(crate) fn by_customer(text: &'a str) -> Self {
        Self {
            origin: "customer",
            text,
        }
    }

    pub(crate) fn by_team(text: &'a str) -> Self {
        Self {
            origin: "team",
            text,
        }
    }
}

/// An instant to the minute, for text blocks.
pub(crate) fn minute(at: Timestamp) -> String {
    let mut text = at.to_string();
    text.truncate(16);
    text.push('Z');
    text
}

/// An order in words.
pub(crate) const fn order_words(order: TicketOrder) -> &'static str {
    match order {
        TicketOrder::Newest => "newest first",
        TicketOrder::Oldest => "oldest first",
        TicketOrder::Updated => "last changed first",
    }
}

/// How a page lies in its list.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct PageInfo {
    pub(crate) total: u32,
    pub(crate) total_is_lower_bound: bool,
    pub(crate) returned: usize,
    pub(crate) truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_cursor: Option<String>,
}

impl PageInfo {
    pub(crate) fn of<T>(listing: &Listing<T>) -> Self {
        Self {
            total: listing.total.count,
            total_is_lower_bound: listing.total.is_lower_bound,
            returned: listing.rows.len(),
            truncated: listing.next_cursor.is_some(),
            next_cursor: listing.next_cursor.clone(),
        }
    }

    /// The page in words, such as `20 of 57 tickets, newest first; more with cursor ...`.
    pub(crate) fn words(&self, plural: &str, order: &str) -> String {
        if self.total == 0 {
            return format!("No {plural} match.");
        }
        let more = if self.total_is_lower_bound {
            "more than "
        } else {
            ""
        };
        let head = format!(
            "{} of {more}{} {plural}, {order}",
            self.returned, self.total
        );
        match &self.next_cursor {
            Some(cursor) => format!("{head}; the next with cursor {cursor}"),
            None => format!("{head}; this is the end of the list."),
        }
    }
}

/// A ticket in a list. The description is in the record.
#[derive(Debug, Serialize)]
pub(crate) struct TicketRow<'a> {
    pub(crate) ticket_id: String,
    pub(crate) subject: Said<'a>,
    pub(crate) status: &'static str,
    pub(crate) priority: &'static str,
    pub(crate) category: &'a str,
    pub(crate) customer_id: String,
    pub(crate) tier: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) team: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) assignee: Option<&'a str>,
    pub(crate) flag: &'static str,
    pub(crate) last_comment_by: &'static str,
    pub(crate) created_at: String,
    pub(crate) updated_at: String,
    pub(crate) version: i64,
}

impl<'a> TicketRow<'a> {
    pub(crate) fn of(ticket: &'a Ticket) -> Self {
        Self {
            ticket_id: ticket.id.to_string(),
            subject: Said::by_customer(&ticket.subject),
            status: ticket.status.as_str(),
            priority: ticket.priority.as_str(),
            category: &ticket.category,
            customer_id: ticket.customer.to_string(),
            tier: ticket.tier.number(),
            team: ticket.assigned_team.as_deref(),
            assignee: ticket.assignee.as_deref(),
            flag: ticket.security_flag.as_str(),
            last_comment_by: ticket.last_comment_by.as_str(),
            created_at: ticket.created_at.to_string(),
            updated_at: ticket.updated_at.to_string(),
            version: ticket.version.number(),
        }
    }
}

/// A ticket's fields from closed vocabularies, in words.
pub(crate) fn ticket_facts(ticket: &Ticket) -> String {
    let flag = match ticket.security_flag {
        domain::SecurityFlag::None => String::new(),
        flag @ (domain::SecurityFlag::Held | domain::SecurityFlag::Incident) => {
            format!(", security flag {flag}")
        }
    };
    format!(
        "{}, {}, {} priority, {}, tier {}, of {}, {} spoke last, filed {}, changed {}, version {}{flag}",
        ticket.id,
        ticket.status,
        ticket.priority,
        ticket.category,
        ticket.tier.number(),
        ticket.customer,
        ticket.last_comment_by,
        minute(ticket.created_at),
        minute(ticket.updated_at),
        ticket.version,
    )
}

/// Who has a ticket, for a marked part: names are free text.
pub(crate) fn owner(ticket: &Ticket) -> String {
    let name = |name: Option<&str>| name.map_or_else(|| "none".to_owned(), quoted);
    format!(
        "team {}, assignee {}",
        name(ticket.assigned_team.as_deref()),
        name(ticket.assignee.as_deref())
    )
}

/// A ticket's names and subject, for a marked part.
pub(crate) fn labels(ticket: &Ticket) -> String {
    format!("{}, subject {}", owner(ticket), quoted(&ticket.subject))
}

/// A ticket in one line, for a marked part.
pub(crate) fn ticket_line(ticket: &Ticket) -> String {
    format!("{}, {}", ticket_facts(ticket), labels(ticket))
}

/// A ticket with its description, or the part of it that is shown.
#[derive(Debug, Serialize)]
pub(crate) struct TicketRecord<'a> {
    #[serde(flatten)]
    pub(crate) row: TicketRow<'a>,
    pub(crate) channel: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) description: Option<Said<'a>>,
    #[serde(flatten)]
    pub(crate) part: Part,
}

/// Which part of a long text is shown, where it is not all of it.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Part {
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) offset: usize,
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) omitted_chars: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_offset: Option<usize>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature that serde calls"
)]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl Part {
    pub(crate) fn of(window: &Window<'_>) -> Self {
        Self {
            offset: window.offset,
            omitted_chars: window.omitted,
            next_offset: (window.omitted > 0).then_some(window.offset + window.chars),
        }
    }
}

impl<'a> TicketRecord<'a> {
    pub(crate) fn of(ticket: &'a Ticket, description: Option<Window<'a>>) -> Self {
        Self {
            row: TicketRow::of(ticket),
            channel: ticket.channel.as_str(),
            description: description.map(|window| Said::by_customer(window.text)),
            part: description.as_ref().map(Part::of).unwrap_or_default(),
        }
    }
}

/// A customer. Name and organisation are free text; address and number have a form that holds no sentence.
#[derive(Debug, Serialize)]
pub(crate) struct CustomerView<'a> {
    pub(crate) customer_id: String,
    pub(crate) name: Said<'a>,
    pub(crate) email: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) phone: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) organisation: Option<Said<'a>>,
    pub(crate) status: &'static str,
    pub(crate) created_at: String,
    pub(crate) updated_at: String,
    pub(crate) version: i64,
}

impl<'a> CustomerView<'a> {
    pub(crate) fn of(customer: &'a Customer) -> Self {
        Self {
            customer_id: customer.id.to_string(),
            name: Said::by_customer(&customer.name),
            email: &customer.email,
            phone: customer.phone.as_deref(),
            organisation: customer.organisation.as_deref().map(Said::by_customer),
            status: customer.status.as_str(),
            created_at: customer.created_at.to_string(),
            updated_at: customer.updated_at.to_string(),
            version: customer.version.number(),
        }
    }
}

/// A customer's fields from closed vocabularies, in words.
pub(crate) fn customer_facts(customer: &Customer) -> String {
    format!(
        "{}, {}, registered {}, changed {}, version {}",
        customer.id,
        customer.status,
        minute(customer.created_at),
        minute(customer.updated_at),
        customer.version
    )
}

/// What a customer's record says in free text, for a marked part.
pub(crate) fn contact(customer: &Customer) -> String {
    let optional = |label, value: &Option<String>| {
        let value = value.as_deref().map(quoted);
        value.map_or_else(String::new, |value| format!(", {label} {value}"))
    };
    format!(
        "name {}, email {}{}{}",
        quoted(&customer.name),
        quoted(&customer.email),
        optional("phone", &customer.phone),
        optional("organisation", &customer.organisation)
    )
}
