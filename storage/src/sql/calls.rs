//! Calls: reading, and finding them by words. As with tickets, the words come from `domain::terms`; here they are looked up
//! and counted, and whoever asked ranks, so that every engine answers alike (design section 8).

use std::collections::HashMap;

use diesel::dsl::{exists, max, sql};
use diesel::prelude::*;
use diesel::sql_types::{Bool, Text};
use domain::{Call, CallFilter, CallId, EntityKind, Timestamp, limits};

use super::connection::{AnyConnection, Engine, MultiBackend};
use super::errors::{BadValue, classify};
use super::rows::{self, CallRow};
use super::schema::{call_terms, calls, csat_responses};
use super::search::{CANDIDATES_READ, Matches, Wanted, expression, is_term, terms_in};
use crate::{CallMatch, CallQuery, FoundCalls, ScoredCall, StoreError};

/// One call.
pub(super) fn get(conn: &mut AnyConnection, id: CallId) -> Result<Call, StoreError> {
    let row = calls::table
        .find(id.number())
        .select(CallRow::as_select())
        .get_result(conn)
        .optional()
        .map_err(classify)?
        .ok_or(StoreError::NotFound {
            entity: EntityKind::Call,
            id: id.number(),
        })?;
    Ok(row.try_into()?)
}

/// The calls with these ids and their scores, in that order.
pub(super) fn get_all(
    conn: &mut AnyConnection,
    ids: &[CallId],
) -> Result<Vec<ScoredCall>, StoreError> {
    let numbers: Vec<i64> = ids.iter().map(|id| id.number()).collect();
    let found = calls::table
        .filter(calls::id.eq_any(&numbers))
        .select(CallRow::as_select())
        .load(conn)
        .map_err(classify)?;
    let mut found: Vec<Call> = rows::all(found)?;
    found.sort_by_key(|call| ids.iter().position(|id| *id == call.id));
    let given: Vec<(Option<i64>, i16)> = csat_responses::table
        .filter(csat_responses::call_id.eq_any(&numbers))
        .order((csat_responses::submitted_at, csat_responses::id))
        .select((csat_responses::call_id, csat_responses::score))
        .load(conn)
        .map_err(classify)?;
    let mut scores: HashMap<i64, Vec<u8>> = HashMap::new();
    for (call, score) in given {
        if let Some(call) = call {
            scores.entry(call).or_default().push(read_score(score)?);
        }
    }
    Ok(found
        .into_iter()
        .map(|call| ScoredCall {
            scores: scores.remove(&call.id.number()).unwrap_or_default(),
            call,
        })
        .collect())
}

/// A score as it is stored.
pub(super) fn read_score(score: i16) -> Result<u8, BadValue> {
    u8::try_from(score).map_err(|_range| BadValue {
        column: "csat_responses.score",
        value: score.to_string(),
    })
}

/// Narrows any boxed query over calls by a filter. A macro, since the type of such a query names all of its tables.
macro_rules! narrowed {
    ($query:expr, $filter:expr, $upto:expr) => {{
        let filter: &CallFilter = $filter;
        let mut query = $query.filter(calls::id.le($upto));
        if let Some(category) = &filter.category {
            query = query.filter(calls::category.eq(category));
        }
        if let Some(outcome) = filter.outcome {
            query = query.filter(calls::outcome.eq(outcome.as_str()));
        }
        if let Some(agent) = &filter.agent {
            query = query.filter(calls::agent_folded.eq(agent));
        }
        if let Some(customer) = filter.customer {
            query = query.filter(calls::customer_id.eq(customer.number()));
        }
        if let Some(from) = filter.started.from {
            query = query.filter(calls::started_at.ge(from.micros()));
        }
        if let Some(until) = filter.started.until {
            query = query.filter(calls::started_at.lt(until.micros()));
        }
        if !filter.score.is_open() {
            let least = i16::from(filter.score.least.unwrap_or(u8::MIN));
            let most = i16::from(filter.score.most.unwrap_or(u8::MAX));
            query = query.filter(exists(
                csat_responses::table
                    .filter(csat_responses::call_id.eq(calls::id.nullable()))
                    .filter(csat_responses::score.between(least, most)),
            ));
        }
        query
    }};
}

/// Keeps the rows of a boxed query over the index that hold any of some terms: the one thing that each engine writes
/// differently.
macro_rules! holding {
    ($engine:expr, $query:expr, $terms:expr) => {{
        let sought = expression($engine, $terms, Wanted::Any);
        match $engine {
            Engine::Sqlite => $query.filter(Matches::new(
                call_terms::everything,
                sought.into_sql::<Text>(),
            )),
            Engine::Postgres => $query.filter(
                sql::<Bool>("call_terms.terms @@ ")
                    .bind::<Text, _>(sought)
                    .sql("::tsquery"),
            ),
        }
    }};
}

/// The facts about every call that a query may mean.
pub(super) fn search(
    conn: &mut AnyConnection,
    query: &CallQuery,
) -> Result<FoundCalls, StoreError> {
    let newest: Option<i64> = calls::table
        .select(max(calls::id))
        .get_result(conn)
        .map_err(classify)?;
    let Some(newest) = newest else {
        return Ok(FoundCalls {
            matches: Vec::new(),
            having: vec![0; query.terms.len()],
            calls: 0,
            upto: None,
            candidates_capped: false,
        });
    };
    let upto = query.upto.map_or(newest, |upto| upto.number().min(newest));
    let count = calls::table
        .filter(calls::id.le(upto))
        .count()
        .get_result(conn)
        .map_err(classify)?;
    let terms = query
        .terms
        .get(..limits::QUERY_TERMS)
        .unwrap_or(&query.terms);
    let having = counted(conn, terms, upto)?;
    let (mut matches, mut candidates_capped) = if terms.is_empty() {
        (newest_of(conn, &query.filter, upto)?, false)
    } else if let Some(few) = few(conn, terms, &query.filter, upto)? {
        (few, false)
    } else {
        let (chosen, left_out) = rarest(terms, &having, count);
        let found = indexed(conn, terms, &chosen, &query.filter, upto)?;
        (found, left_out)
    };
    candidates_capped |= matches.len() > limits::SEARCH_CANDIDATES;
    matches.truncate(limits::SEARCH_CANDIDATES);
    Ok(FoundCalls {
        matches,
        having,
        calls: count,
        upto: Some(CallId::new(upto)),
        candidates_capped,
    })
}

/// For each term, how many calls hold it.
fn counted(conn: &mut AnyConnection, terms: &[String], upto: i64) -> Result<Vec<i64>, StoreError> {
    let engine = conn.engine();
    let count = |term: &String| {
        if !is_term(term) {
            return Ok(0);
        }
        let query = call_terms::table
            .into_boxed::<MultiBackend>()
            .filter(call_terms::rowid.le(upto));
        holding!(engine, query, std::slice::from_ref(term))
            .count()
            .get_result(conn)
            .map_err(classify)
    };
    terms.iter().map(count).collect()
}

/// The terms to look calls up by, the rarest first, as far as the calls that hold them are few enough to be ranked; and
/// whether terms were left out. A common word finds nothing that a rarer one of the query doesn't find better.
fn rarest(terms: &[String], having: &[i64], calls: i64) -> (Vec<String>, bool) {
    let most = i64::try_from(limits::SEARCH_CANDIDATES).unwrap_or(i64::MAX);
    let mut known: Vec<(i64, &String)> = having.iter().copied().zip(terms).collect();
    known.retain(|(count, _)| *count > 0);
    known.sort_by_key(|(count, _)| *count);
    let mut chosen = Vec::new();
    let mut sum = 0;
    for (count, term) in &known {
        sum += count;
        if calls > most && sum > most && !chosen.is_empty() {
            break;
        }
        chosen.push((*term).clone());
    }
    let left_out = chosen.len() < known.len();
    (chosen, left_out)
}

type Row = (i64, i64, String, String);

const FACTS: (
    calls::id,
    calls::started_at,
    call_terms::caller,
    call_terms::agent,
) = (
    calls::id,
    calls::started_at,
    call_terms::caller,
    call_terms::agent,
);

fn matched(terms: &[String], rows: Vec<Row>) -> Vec<CallMatch> {
    let facts = rows.into_iter().map(|(id, started_at, caller, agent)| {
        let words = caller.split_whitespace().count() + agent.split_whitespace().count();
        CallMatch {
            id: CallId::new(id),
            started_at: Timestamp::from_micros(started_at),
            by_caller: terms_in(terms, &caller),
            by_agent: terms_in(terms, &agent),
            words: u32::try_from(words).unwrap_or(u32::MAX),
        }
    });
    facts
        .filter(|found| found.by_caller | found.by_agent != 0)
        .collect()
}

/// The calls that pass the filter and hold a term, where those that pass are so few that reading the words of all of them is
/// less work than looking up every call that holds the terms.
fn few(
    conn: &mut AnyConnection,
    terms: &[String],
    filter: &CallFilter,
    upto: i64,
) -> Result<Option<Vec<CallMatch>>, StoreError> {
    if *filter == CallFilter::default() {
        return Ok(None);
    }
    let ids: Vec<i64> = narrowed!(calls::table.into_boxed::<MultiBackend>(), filter, upto)
        .limit(CANDIDATES_READ)
        .select(calls::id)
        .load(conn)
        .map_err(classify)?;
    if ids.len() > limits::SEARCH_CANDIDATES {
        return Ok(None);
    }
    let rows = call_terms::table
        .inner_join(calls::table)
        .filter(call_terms::rowid.eq_any(ids))
        .select(FACTS)
        .load(conn)
        .map_err(classify)?;
    Ok(Some(matched(terms, rows)))
}

/// The calls that pass the filter and hold a term that is looked up, from the full-text index.
fn indexed(
    conn: &mut AnyConnection,
    terms: &[String],
    chosen: &[String],
    filter: &CallFilter,
    upto: i64,
) -> Result<Vec<CallMatch>, StoreError> {
    if chosen.is_empty() {
        return Ok(Vec::new());
    }
    let query = call_terms::table
        .inner_join(calls::table)
        .into_boxed::<MultiBackend>();
    let query = holding!(conn.engine(), query, chosen);
    let rows = narrowed!(query, filter, upto)
        .order(call_terms::rowid.desc())
        .limit(CANDIDATES_READ)
        .select(FACTS)
        .load(conn)
        .map_err(classify)?;
    Ok(matched(terms, rows))
}

/// The calls that pass the filter, those that began last.
fn newest_of(
    conn: &mut AnyConnection,
    filter: &CallFilter,
    upto: i64,
) -> Result<Vec<CallMatch>, StoreError> {
    let rows: Vec<(i64, i64)> = narrowed!(calls::table.into_boxed::<MultiBackend>(), filter, upto)
        .order((calls::started_at.desc(), calls::id.desc()))
        .limit(CANDIDATES_READ)
        .select((calls::id, calls::started_at))
        .load(conn)
        .map_err(classify)?;
    let found = rows.into_iter().map(|(id, started_at)| CallMatch {
        id: CallId::new(id),
        started_at: Timestamp::from_micros(started_at),
        by_caller: 0,
        by_agent: 0,
        words: 0,
    });
    Ok(found.collect())
}

#[cfg(test)]
mod tests {
    //! Which terms are looked up.

    use super::*;

    #[test]
    fn common_terms_are_left_out_only_where_there_are_too_many_calls() {
        let terms: Vec<String> = ["the", "invoice", "flour", "absent", "fee"]
            .map(str::to_owned)
            .to_vec();
        let having = [5_000, 700, 2, 0, 298];
        let (chosen, left_out) = rarest(&terms, &having, 9_000);
        assert_eq!(chosen, ["flour", "fee", "invoice"]);
        assert!(left_out);
        let (chosen, left_out) = rarest(&terms, &[900, 700, 2, 0, 298], 1_000);
        assert_eq!(chosen, ["flour", "fee", "invoice", "the"]);
        assert!(!left_out);
        let (chosen, left_out) = rarest(&terms[..1], &having[..1], 9_000);
        assert_eq!((chosen.len(), left_out), (1, false));
        assert_eq!(rarest(&terms[3..4], &[0], 9_000), (Vec::new(), false));
    }
}
