//! Tickets: reading one, its details, and lists.

use diesel::prelude::*;
use domain::{
    Comment, CustomerId, EntityKind, Keyset, Page, PageRequest, Status, Ticket, TicketFilter,
    TicketId, TicketOrder, Total,
};

use super::connection::{AnyConnection, MultiBackend};
use super::customers;
use super::errors::classify;
use super::page::{self, after};
use super::rows::{self, CommentRow, TicketRow};
use super::schema::{comments, tickets};
use crate::{StoreError, TicketDetails};

/// Other unfinished tickets of the customer that a dossier shows.
const OTHER_TICKETS: i64 = 10;

/// One ticket.
pub(super) fn get(conn: &mut AnyConnection, id: TicketId) -> Result<Ticket, StoreError> {
    let row = tickets::table
        .find(id.number())
        .select(TicketRow::as_select())
        .get_result(conn)
        .optional()
        .map_err(classify)?
        .ok_or(StoreError::NotFound {
            entity: EntityKind::Ticket,
            id: id.number(),
        })?;
    Ok(row.try_into()?)
}

/// The tickets with these ids, in that order.
pub(super) fn get_all(conn: &mut AnyConnection, ids: &[i64]) -> Result<Vec<Ticket>, StoreError> {
    let found = tickets::table
        .filter(tickets::id.eq_any(ids))
        .select(TicketRow::as_select())
        .load(conn)
        .map_err(classify)?;
    let mut found: Vec<Ticket> = rows::all(found)?;
    found.sort_by_key(|ticket| ids.iter().position(|id| *id == ticket.id.number()));
    Ok(found)
}

/// Narrows any boxed query over tickets by a filter. A macro, since the type of such a query names all of its tables.
macro_rules! narrowed {
    ($query:expr, $filter:expr) => {{
        use crate::sql::schema::tickets;

        let filter: &domain::TicketFilter = $filter;
        let mut query = $query;
        if let Some(status) = filter.status {
            query = query.filter(tickets::status.eq(status.as_str()));
        }
        if let Some(priority) = filter.priority {
            query = query.filter(tickets::priority.eq(priority.as_str()));
        }
        if let Some(category) = &filter.category {
            query = query.filter(tickets::category.eq(category));
        }
        if let Some(customer) = filter.customer {
            query = query.filter(tickets::customer_id.eq(customer.number()));
        }
        if let Some(organisation) = &filter.organisation {
            query = query.filter(tickets::organisation_folded.eq(organisation));
        }
        if let Some(team) = &filter.team {
            query = query.filter(tickets::team_folded.eq(team));
        }
        if let Some(assignee) = &filter.assignee {
            query = query.filter(tickets::assignee_folded.eq(assignee));
        }
        query = match filter.unassigned {
            Some(true) => query.filter(tickets::assignee_folded.is_null()),
            Some(false) => query.filter(tickets::assignee_folded.is_not_null()),
            None => query,
        };
        if let Some(tier) = filter.tier {
            query = query.filter(tickets::tier.eq(i16::from(tier.number())));
        }
        if let Some(flag) = filter.flag {
            query = query.filter(tickets::security_flag.eq(flag.as_str()));
        }
        if let Some(side) = filter.last_comment_by {
            query = query.filter(tickets::last_comment_by.eq(side.as_str()));
        }
        if let Some(from) = filter.created.from {
            query = query.filter(tickets::created_at.ge(from.micros()));
        }
        if let Some(until) = filter.created.until {
            query = query.filter(tickets::created_at.lt(until.micros()));
        }
        if let Some(from) = filter.updated.from {
            query = query.filter(tickets::updated_at.ge(from.micros()));
        }
        if let Some(until) = filter.updated.until {
            query = query.filter(tickets::updated_at.lt(until.micros()));
        }
        query
    }};
}
pub(super) use narrowed;

/// The tickets that match, in an order, from a place on.
pub(super) fn listed(
    filter: &TicketFilter,
    order: TicketOrder,
    place: Option<Keyset>,
) -> tickets::BoxedQuery<'_, MultiBackend> {
    let query = narrowed!(tickets::table.into_boxed(), filter);
    match order {
        TicketOrder::Newest => {
            after!(query, place, tickets::created_at, tickets::id, descending)
        }
        TicketOrder::Oldest => {
            after!(query, place, tickets::created_at, tickets::id, ascending)
        }
        TicketOrder::Updated => {
            after!(query, place, tickets::updated_at, tickets::id, descending)
        }
    }
}

fn place(order: TicketOrder) -> impl Fn(&Ticket) -> Keyset {
    move |ticket| Keyset {
        key: match order {
            TicketOrder::Newest | TicketOrder::Oldest => ticket.created_at.micros(),
            TicketOrder::Updated => ticket.updated_at.micros(),
        },
        id: ticket.id.number(),
    }
}

/// A page of the tickets that match.
pub(super) fn list(
    conn: &mut AnyConnection,
    filter: &TicketFilter,
    order: TicketOrder,
    request: PageRequest,
) -> Result<Page<Ticket>, StoreError> {
    let found = listed(filter, order, request.after())
        .limit(page::rows_wanted(request))
        .select(TicketRow::as_select())
        .load(conn)
        .map_err(classify)?;
    page::page(request, rows::all(found)?, place(order), || {
        let counted = narrowed!(tickets::table.into_boxed(), filter)
            .select(tickets::id)
            .limit(page::COUNTED);
        page::count(conn, counted)
    })
}

/// One ticket with its customer, a page of its comments and the customer's other unfinished tickets.
pub(super) fn details(
    conn: &mut AnyConnection,
    id: TicketId,
    request: PageRequest,
) -> Result<TicketDetails, StoreError> {
    let ticket = get(conn, id)?;
    let customer = customers::get(conn, ticket.customer)?;
    let comments = comments_of(conn, id, request)?;
    let (other_tickets, other_total) = others(conn, ticket.customer, id)?;
    Ok(TicketDetails {
        ticket,
        customer,
        comments,
        other_tickets,
        other_total,
    })
}

fn comments_of(
    conn: &mut AnyConnection,
    ticket: TicketId,
    request: PageRequest,
) -> Result<Page<Comment>, StoreError> {
    let of_ticket = || {
        comments::table
            .into_boxed::<MultiBackend>()
            .filter(comments::ticket_id.eq(ticket.number()))
    };
    let found = after!(
        of_ticket(),
        request.after(),
        comments::created_at,
        comments::id,
        descending
    )
    .limit(page::rows_wanted(request))
    .select(CommentRow::as_select())
    .load(conn)
    .map_err(classify)?;
    let place = |comment: &Comment| Keyset {
        key: comment.created_at.micros(),
        id: comment.id.number(),
    };
    page::page(request, rows::all(found)?, place, || {
        page::count(conn, of_ticket().select(comments::id).limit(page::COUNTED))
    })
}

fn others(
    conn: &mut AnyConnection,
    customer: CustomerId,
    but: TicketId,
) -> Result<(Vec<Ticket>, Total), StoreError> {
    let unfinished = [Status::Open.as_str(), Status::InProgress.as_str()];
    let query = || {
        tickets::table
            .into_boxed::<MultiBackend>()
            .filter(tickets::customer_id.eq(customer.number()))
            .filter(tickets::status.eq_any(unfinished))
            .filter(tickets::id.ne(but.number()))
    };
    let found = query()
        .order((tickets::created_at.desc(), tickets::id.desc()))
        .limit(OTHER_TICKETS)
        .select(TicketRow::as_select())
        .load(conn)
        .map_err(classify)?;
    let found: Vec<Ticket> = rows::all(found)?;
    let shown = i64::try_from(found.len()).unwrap_or(i64::MAX);
    let count = if shown < OTHER_TICKETS {
        shown
    } else {
        page::count(conn, query().select(tickets::id).limit(page::COUNTED))?
    };
    Ok((found, Total::from_capped(count)))
}
