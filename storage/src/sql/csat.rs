//! Scores: counted where they are kept, with what customers added.

use std::collections::HashMap;

use diesel::dsl::{count_star, exists};
use diesel::prelude::*;
use domain::{CallId, CsatFilter, CsatSubject, CustomerId, TicketId, Timestamp};

use super::calls::read_score;
use super::connection::{AnyConnection, MultiBackend};
use super::errors::{BadValue, classify};
use super::schema::{calls, csat_responses, tickets};
use crate::{CsatComment, CsatCount, CsatFindings, StoreError};

/// Narrows any boxed query over scores by a filter. A macro, since the type of such a query names what it is grouped by.
macro_rules! narrowed {
    ($query:expr, $filter:expr) => {{
        let filter: &CsatFilter = $filter;
        let mut query = $query;
        if let Some(least) = filter.score.least {
            query = query.filter(csat_responses::score.ge(i16::from(least)));
        }
        if let Some(most) = filter.score.most {
            query = query.filter(csat_responses::score.le(i16::from(most)));
        }
        if let Some(category) = &filter.category {
            query = query.filter(csat_responses::category.eq(category));
        }
        if let Some(agent) = &filter.agent {
            let of_calls = calls::table
                .filter(csat_responses::call_id.eq(calls::id.nullable()))
                .filter(calls::agent_folded.eq(agent));
            let of_tickets = tickets::table
                .filter(csat_responses::ticket_id.eq(tickets::id.nullable()))
                .filter(tickets::assignee_folded.eq(agent));
            query = query.filter(exists(of_calls).or(exists(of_tickets)));
        }
        if let Some(from) = filter.submitted.from {
            query = query.filter(csat_responses::submitted_at.ge(from.micros()));
        }
        if let Some(until) = filter.submitted.until {
            query = query.filter(csat_responses::submitted_at.lt(until.micros()));
        }
        query
    }};
}

/// Counts scores, and gives a few comments to each.
pub(super) fn query(
    conn: &mut AnyConnection,
    filter: &CsatFilter,
) -> Result<CsatFindings, StoreError> {
    Ok(CsatFindings {
        counts: counts(conn, filter)?,
        comments: comments(conn, filter)?,
    })
}

fn counts(conn: &mut AnyConnection, filter: &CsatFilter) -> Result<Vec<CsatCount>, StoreError> {
    let groups = csat_responses::table
        .group_by((
            csat_responses::category,
            csat_responses::week,
            csat_responses::score,
        ))
        .select((
            csat_responses::category,
            csat_responses::week,
            csat_responses::score,
            count_star(),
        ))
        .into_boxed::<MultiBackend>();
    let rows: Vec<(String, i64, i16, i64)> =
        narrowed!(groups, filter).load(conn).map_err(classify)?;
    rows.into_iter()
        .map(|(category, week, score, times)| {
            Ok(CsatCount {
                category,
                week: Timestamp::from_micros(week),
                score: read_score(score)?,
                times: u64::try_from(times).unwrap_or_default(),
            })
        })
        .collect::<Result<_, BadValue>>()
        .map_err(StoreError::from)
}

/// The numbers of a call or a ticket, whichever a score is about.
type About = (Option<i64>, Option<i64>);

type CommentRow = (Option<i64>, Option<i64>, i16, Option<String>, String, i64);

fn comments(conn: &mut AnyConnection, filter: &CsatFilter) -> Result<Vec<CsatComment>, StoreError> {
    let mut found: Vec<CommentRow> = Vec::new();
    for score in 1..=5_i16 {
        let query = csat_responses::table
            .into_boxed::<MultiBackend>()
            .filter(csat_responses::score.eq(score))
            .filter(csat_responses::comment.is_not_null());
        let some: Vec<CommentRow> = narrowed!(query, filter)
            .order((
                csat_responses::submitted_at.desc(),
                csat_responses::id.desc(),
            ))
            .limit(CsatFindings::COMMENTS)
            .select((
                csat_responses::call_id,
                csat_responses::ticket_id,
                csat_responses::score,
                csat_responses::comment,
                csat_responses::category,
                csat_responses::submitted_at,
            ))
            .load(conn)
            .map_err(classify)?;
        found.extend(some);
    }
    let owners = owners(conn, &found)?;
    let comments =
        found
            .into_iter()
            .filter_map(|(call, ticket, score, comment, category, submitted_at)| {
                let subject = match (call, ticket) {
                    (Some(call), _) => CsatSubject::Call(CallId::new(call)),
                    (None, Some(ticket)) => CsatSubject::Ticket(TicketId::new(ticket)),
                    // The table has no such row.
                    (None, None) => return None,
                };
                Some(read_score(score).map(|score| CsatComment {
                    customer: owners.get(&(call, ticket)).copied(),
                    subject,
                    score,
                    comment: comment.unwrap_or_default(),
                    category,
                    submitted_at: Timestamp::from_micros(submitted_at),
                }))
            });
    comments
        .collect::<Result<_, BadValue>>()
        .map_err(StoreError::from)
}

/// Whose the calls and tickets are that comments are about.
fn owners(
    conn: &mut AnyConnection,
    rows: &[CommentRow],
) -> Result<HashMap<About, CustomerId>, StoreError> {
    let about_calls: Vec<i64> = rows.iter().filter_map(|row| row.0).collect();
    let about_tickets: Vec<i64> = rows.iter().filter_map(|row| row.1).collect();
    let of_calls: Vec<(i64, Option<i64>)> = calls::table
        .filter(calls::id.eq_any(about_calls))
        .select((calls::id, calls::customer_id))
        .load(conn)
        .map_err(classify)?;
    let of_tickets: Vec<(i64, i64)> = tickets::table
        .filter(tickets::id.eq_any(about_tickets))
        .select((tickets::id, tickets::customer_id))
        .load(conn)
        .map_err(classify)?;
    let of_calls = of_calls
        .into_iter()
        .filter_map(|(call, customer)| Some(((Some(call), None), CustomerId::new(customer?))));
    let of_tickets = of_tickets
        .into_iter()
        .map(|(ticket, customer)| ((None, Some(ticket)), CustomerId::new(customer)));
    Ok(of_calls.chain(of_tickets).collect())
}
