//! Finding tickets by words. This is the one query that each engine writes differently; the words come from
//! `domain::terms` and the ranking is done here, so that every engine answers alike (design section 8).

use std::cmp::Reverse;
use std::collections::HashSet;

use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::{Bool, Text};
use domain::{Keyset, Page, PageRequest, TicketFilter, Total, limits};

use super::connection::{AnyConnection, Engine, MultiBackend};
use super::errors::classify;
use super::schema::{ticket_terms, tickets};
use super::tickets::{get_all, narrowed};
use crate::{FoundTickets, StoreError};

diesel::infix_operator!(Matches, " MATCH ", Bool);

/// Candidates to read: one more than are ranked says that there are more.
const CANDIDATES_READ: i64 = 1_001;

const _: () = assert!(limits::SEARCH_CANDIDATES + 1 == 1_001);

const WORDS: (
    ticket_terms::rowid,
    ticket_terms::subject,
    ticket_terms::body,
    ticket_terms::comments,
) = (
    ticket_terms::rowid,
    ticket_terms::subject,
    ticket_terms::body,
    ticket_terms::comments,
);

/// Whether a ticket must hold every term or any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    All,
    Any,
}

/// How well a ticket matches, as one number: distinct terms found, then those in the subject, then those in the
/// description. It depends on nothing but the ticket and the query, so a page stays where it was while tickets come in.
fn score(terms: &[String], subject: &str, body: &str, comments: &str) -> i64 {
    let (subject, body) = (terms_in(terms, subject), terms_in(terms, body));
    let found = subject | body | terms_in(terms, comments);
    // At most 32 terms, so six bits each.
    let part = |hits: u32| i64::from(hits.count_ones());
    part(found) << 12 | part(subject) << 6 | part(body)
}

/// A bit for each term that is among the words of a text.
fn terms_in(terms: &[String], text: &str) -> u32 {
    text.split(' ')
        .filter_map(|word| terms.iter().position(|term| term == word))
        .fold(0, |bits, term| bits | 1 << term)
}

const _: () = assert!(limits::QUERY_TERMS <= 32, "a term is a bit of a `u32`");

fn found_terms(score: i64) -> i64 {
    score >> 12
}

/// Whether a text is one that `domain::terms` makes; nothing else is in the index, and the index would cut it up.
fn is_term(text: &str) -> bool {
    !text.is_empty()
        && text
            .chars()
            .all(|c| !c.is_ascii() || c.is_ascii_lowercase() || c.is_ascii_digit())
}

/// A query in the words of an engine's full-text index: each term is a quoted string, so that none is an operator.
fn expression(engine: Engine, terms: &[String], wanted: Wanted) -> String {
    let (quote, operator) = match (engine, wanted) {
        (Engine::Sqlite, Wanted::All) => ('"', " AND "),
        (Engine::Sqlite, Wanted::Any) => ('"', " OR "),
        (Engine::Postgres, Wanted::All) => ('\'', " & "),
        (Engine::Postgres, Wanted::Any) => ('\'', " | "),
    };
    let quoted = terms.iter().map(|term| format!("{quote}{term}{quote}"));
    quoted.collect::<Vec<_>>().join(operator)
}

type Row = (i64, String, String, String);

fn scored(terms: &[String], (id, subject, body, comments): &Row) -> Keyset {
    Keyset {
        key: score(terms, subject, body, comments),
        id: *id,
    }
}

/// The tickets that pass the filter, with their scores, where they are so few that reading the words of all of them is less
/// work than looking up every ticket that holds the terms: a customer's tickets, say, and a word that thousands hold.
fn few(
    conn: &mut AnyConnection,
    terms: &[String],
    filter: &TicketFilter,
) -> Result<Option<Vec<Keyset>>, StoreError> {
    if *filter == TicketFilter::default() {
        return Ok(None);
    }
    let ids: Vec<i64> = narrowed!(tickets::table.into_boxed::<MultiBackend>(), filter)
        .limit(CANDIDATES_READ)
        .select(tickets::id)
        .load(conn)
        .map_err(classify)?;
    if ids.len() > limits::SEARCH_CANDIDATES {
        return Ok(None);
    }
    let rows: Vec<Row> = ticket_terms::table
        .filter(ticket_terms::rowid.eq_any(ids))
        .select(WORDS)
        .load(conn)
        .map_err(classify)?;
    Ok(Some(rows.iter().map(|row| scored(terms, row)).collect()))
}

/// The newest tickets that hold the terms and pass the filter, with their scores, from the full-text index.
fn indexed(
    conn: &mut AnyConnection,
    terms: &[String],
    wanted: Wanted,
    filter: &TicketFilter,
) -> Result<Vec<Keyset>, StoreError> {
    let engine = conn.engine();
    let sought = expression(engine, terms, wanted);
    let query = ticket_terms::table
        .inner_join(tickets::table)
        .into_boxed::<MultiBackend>();
    let query = match engine {
        Engine::Sqlite => query.filter(Matches::new(
            ticket_terms::everything,
            sought.into_sql::<Text>(),
        )),
        Engine::Postgres => query.filter(
            sql::<Bool>("ticket_terms.terms @@ ")
                .bind::<Text, _>(sought)
                .sql("::tsquery"),
        ),
    };
    let rows: Vec<Row> = narrowed!(query, filter)
        .order(ticket_terms::rowid.desc())
        .limit(CANDIDATES_READ)
        .select(WORDS)
        .load(conn)
        .map_err(classify)?;
    Ok(rows.iter().map(|row| scored(terms, row)).collect())
}

/// A page of the tickets that hold the terms, best first.
pub(super) fn search(
    conn: &mut AnyConnection,
    terms: &[String],
    filter: &TicketFilter,
    request: PageRequest,
) -> Result<FoundTickets, StoreError> {
    let mut seen = HashSet::new();
    let terms: Vec<String> = terms
        .iter()
        .filter(|term| is_term(term) && seen.insert(*term))
        .take(limits::QUERY_TERMS)
        .cloned()
        .collect();
    if terms.is_empty() {
        return Ok(nothing());
    }
    let every = i64::try_from(terms.len()).unwrap_or(i64::MAX);
    // A later page stays with the way that the first one was found by, whatever has been filed since.
    let mut wanted = match request.after() {
        Some(place) if found_terms(place.key) < every => Wanted::Any,
        Some(_) | None => Wanted::All,
    };
    let few = few(conn, &terms, filter)?;
    let mut matching = |wanted| match &few {
        Some(few) => {
            let least = match wanted {
                Wanted::All => every,
                Wanted::Any => 1,
            };
            let held = few.iter().filter(|place| found_terms(place.key) >= least);
            Ok(held.copied().collect())
        }
        None => indexed(conn, &terms, wanted, filter),
    };
    let mut ranked: Vec<Keyset> = matching(wanted)?;
    if ranked.is_empty() && request.after().is_none() && terms.len() > 1 {
        wanted = Wanted::Any;
        ranked = matching(wanted)?;
    }
    let total = Total::from_capped(i64::try_from(ranked.len()).unwrap_or(i64::MAX));
    let candidates_capped = ranked.len() > limits::SEARCH_CANDIDATES;
    ranked.truncate(limits::SEARCH_CANDIDATES);
    ranked.sort_unstable_by_key(|place| Reverse((place.key, place.id)));
    let mut rest = ranked.into_iter().filter(|place| {
        request
            .after()
            .is_none_or(|last| (place.key, place.id) < (last.key, last.id))
    });
    let shown: Vec<Keyset> = rest.by_ref().take(usize::from(request.limit())).collect();
    let next = shown.last().copied().filter(|_| rest.next().is_some());
    let ids: Vec<i64> = shown.iter().map(|place| place.id).collect();
    Ok(FoundTickets {
        page: Page {
            rows: get_all(conn, &ids)?,
            total,
            next,
        },
        all_words: wanted == Wanted::All && total.count > 0,
        candidates_capped,
    })
}

fn nothing() -> FoundTickets {
    FoundTickets {
        page: Page {
            rows: Vec::new(),
            total: Total::from_capped(0),
            next: None,
        },
        all_words: false,
        candidates_capped: false,
    }
}

#[cfg(test)]
mod tests {
    //! The order of two tickets.

    use super::*;

    #[test]
    fn more_terms_beat_a_better_place_and_the_subject_beats_the_description() {
        let terms = ["vpn".to_owned(), "slow".to_owned(), "home".to_owned()];
        let best_first = [
            score(&terms, "vpn slow home", "vpn", ""),
            score(&terms, "vpn slow home", "", ""),
            score(&terms, "", "vpn slow home", "vpn"),
            score(&terms, "", "", "vpn slow home"),
            score(&terms, "vpn slow", "vpn slow", "vpn slow"),
            score(&terms, "vpn", "", "slow"),
            score(&terms, "", "vpn", ""),
            score(&terms, "", "", "home"),
            score(&terms, "vpns", "homes", "slower"),
        ];
        assert!(best_first.is_sorted_by(|a, b| a > b), "{best_first:?}");
        assert_eq!(found_terms(best_first[3]), 3);
    }

    #[test]
    fn a_term_is_a_quoted_word_and_nothing_else() {
        let terms = ["and".to_owned(), "東京".to_owned()];
        for (engine, wanted, expected) in [
            (Engine::Sqlite, Wanted::All, "\"and\" AND \"東京\""),
            (Engine::Sqlite, Wanted::Any, "\"and\" OR \"東京\""),
            (Engine::Postgres, Wanted::All, "'and' & '東京'"),
            (Engine::Postgres, Wanted::Any, "'and' | '東京'"),
        ] {
            assert_eq!(expression(engine, &terms, wanted), expected);
        }
        for other in ["", "a b", "a\"", "a*", "subject:a", "a\0", "-a", "AND"] {
            assert!(!is_term(other), "{other:?}");
        }
    }
}
