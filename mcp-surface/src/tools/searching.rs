//! Search over tickets.

use desk::{DeskError, TicketHits, TicketSearch};
use domain::terms::query_terms;
use domain::{CustomerId, Priority, Scope, Status, Ticket, TicketFilter, TimeRange};
use serde::Serialize;

use super::ticket_reads::range;
use super::{Cursor, Name, PAGE, PageLimit, Query, wording};
use crate::Toolset;
use crate::args::{Arguments, Before, Since, Slug, arguments};
use crate::listing::fitted;
use crate::reply::{Reply, json_len};
use crate::spec::{Call, Hints, Policy, ToolSpec, Type, done};
use crate::text::{Sheet, quoted};
use crate::view::{PageInfo, Said, TicketRow, ticket_line};

pub(super) static TOOLS: &[ToolSpec] = &[ToolSpec {
    name: "search_tickets",
    title: "Search tickets",
    toolset: Toolset::Tickets,
    description: "Tickets whose subject, description or comments hold the words of query, best first, with an \
        excerpt. Words, not syntax: any punctuation is fine. Examples: `vpn drops after update`, `invoice 4711`. \
        match says whether all_words or any_word was found; candidates_capped that only the newest 1000 were ranked. \
        To filter without words use list_tickets.",
    policy: Policy::read(Scope::DeskRead),
    hints: Hints::READS,
    operations: &[],
    args: SearchTicketsArgs::ARGS,
    output: &[
        &[
            ("tickets", Type::Objects),
            ("search_mode", Type::Text),
            ("match", Type::Text),
            ("candidates_capped", Type::Flag),
        ],
        PAGE,
    ],
    run: |call| done(search_tickets(call)),
}];

arguments! {
    /// Arguments of `search_tickets`.
    SearchTicketsArgs {
        query: Query = "Words to look for.";
        status: Option<Status> = "Status.";
        priority: Option<Priority> = "Priority.";
        category: Option<Slug> = wording::ONLY_CATEGORY;
        customer_id: Option<CustomerId> = wording::CUSTOMER_ID;
        organisation: Option<Name> = wording::ORGANISATION;
        team: Option<Name> = wording::TEAM;
        created_from: Option<Since> = wording::SINCE;
        created_until: Option<Before> = wording::UNTIL;
        limit: Option<PageLimit> = wording::LIMIT;
        cursor: Option<Cursor> = wording::CURSOR;
    }
}

#[derive(Serialize)]
struct Hit<'a> {
    #[serde(flatten)]
    row: TicketRow<'a>,
    excerpt: Said<'a>,
}

impl<'a> Hit<'a> {
    fn of(ticket: &'a Ticket, terms: &[String]) -> Self {
        Self {
            row: TicketRow::of(ticket),
            excerpt: Said::by_customer(excerpt(&ticket.description, terms)),
        }
    }
}

#[derive(Serialize)]
struct HitsAnswer<'a> {
    tickets: Vec<Hit<'a>>,
    search_mode: &'static str,
    r#match: &'static str,
    candidates_capped: bool,
    #[serde(flatten)]
    page: PageInfo,
}

/// Characters of an excerpt: two lines on a screen.
const EXCERPT_CHARS: usize = 160;

/// Characters of an excerpt before the word that was found.
const EXCERPT_LEAD: usize = 40;

/// The part of a text around the first of the terms, or its beginning.
pub(super) fn excerpt<'a>(description: &'a str, terms: &[String]) -> &'a str {
    let mut at = 0;
    let mut found = None;
    for word in description.split_inclusive(|c: char| !c.is_alphanumeric()) {
        let folded = word.to_lowercase();
        if terms.iter().any(|term| holds(&folded, term)) {
            found = Some(at);
            break;
        }
        at += word.len();
    }
    let before = description
        .get(..found.unwrap_or_default())
        .unwrap_or_default();
    let start = before
        .char_indices()
        .rev()
        .take(EXCERPT_LEAD)
        .last()
        .map_or(before.len(), |(at, _)| at);
    let tail = description.get(start..).unwrap_or_default();
    let end = tail
        .char_indices()
        .nth(EXCERPT_CHARS)
        .map_or(tail.len(), |(at, _)| at);
    tail.get(..end).unwrap_or_default().trim()
}

/// A stem begins its word; scripts without spaces have terms inside of a run.
fn holds(word: &str, term: &str) -> bool {
    if term.is_ascii() {
        word.starts_with(term)
    } else {
        word.contains(term)
    }
}

async fn search_tickets(call: Call) -> Result<Reply, DeskError> {
    let args: SearchTicketsArgs = call.arguments()?;
    let terms = query_terms(&args.query.0);
    let search = TicketSearch {
        query: args.query.0,
        filter: TicketFilter {
            status: args.status,
            priority: args.priority,
            category: args.category.map(|slug| slug.0),
            customer: args.customer_id,
            organisation: args.organisation.map(|name| name.folded()),
            team: args.team.map(|name| name.folded()),
            created: range(args.created_from, args.created_until),
            updated: TimeRange::default(),
            ..TicketFilter::default()
        },
        limit: args.limit.map(|limit| limit.0),
        cursor: args.cursor.map(|cursor| cursor.0),
    };
    let line = |ticket: &Ticket| {
        let text = quoted(excerpt(&ticket.description, &terms));
        format!("{}, excerpt {text}", ticket_line(ticket))
    };
    let hits: TicketHits = fitted(
        call.budget,
        search.limit,
        |limit| {
            let search = TicketSearch {
                limit,
                ..search.clone()
            };
            Box::pin(call.desk.search_tickets(&call.caller, search))
        },
        |hits| &hits.listing.rows,
        |ticket| json_len(&Hit::of(ticket, &terms)) + json_len(&line(ticket)),
    )
    .await?;
    let info = PageInfo::of(&hits.listing);
    let matched = if hits.all_words {
        "all_words"
    } else {
        "any_word"
    };
    let mut sheet = Sheet::new(call.desk.next_nonce());
    sheet.say(info.words("tickets", "best first"));
    if !hits.listing.rows.is_empty() {
        let how = if hits.all_words {
            "They hold every word of the query."
        } else {
            "No ticket holds every word of the query; these hold some."
        };
        sheet.say(how);
        let rows: Vec<String> = hits.listing.rows.iter().map(line).collect();
        sheet.quote("tickets", &rows.join("\n"));
    }
    if hits.candidates_capped {
        sheet.say("Only the newest 1000 candidates were ranked: narrow the filters or the words.");
    }
    let answer = HitsAnswer {
        tickets: hits
            .listing
            .rows
            .iter()
            .map(|ticket| Hit::of(ticket, &terms))
            .collect(),
        search_mode: "lexical",
        r#match: matched,
        candidates_capped: hits.candidates_capped,
        page: info,
    };
    Ok(Reply::new(&answer, sheet.finish()))
}

#[cfg(test)]
mod tests {
    //! What an excerpt shows.

    use super::*;

    #[test]
    fn an_excerpt_shows_the_place_where_a_word_was_found() {
        let filler = "Nothing of interest here. ".repeat(20);
        let text = format!("{filler}The gateway drops every hour. {filler}");
        let shown = excerpt(&text, &query_terms("gateways dropping"));
        assert!(shown.contains("The gateway drops"), "{shown}");
        assert!(shown.chars().count() <= EXCERPT_CHARS);
        assert_eq!(excerpt("short", &query_terms("other")), "short");
        assert!(
            excerpt("前略、東京支社のプリンターの件", &query_terms("プリンター"))
                .contains("プリンター")
        );
    }
}
