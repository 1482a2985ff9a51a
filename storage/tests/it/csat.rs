//! Scores, counted in the database and once more here.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use domain::{CsatFilter, CsatSubject, ScoreRange, Status, TimeRange, Timestamp};
use proptest::prelude::*;
use storage::import::{
    ImportCall, ImportCsat, ImportCsatSubject, ImportRecord, ImportTicket, OnError,
};
use storage::{CsatFindings, Storage};

use crate::import::{call, csat, import_customer, ticket};
use crate::support::{Place, at, ok};

on_every_engine!(
    counts_equal_a_recount_of_random_sets,
    each_filter_keeps_what_it_names_and_ranges_are_half_open,
    weeks_begin_on_monday_before_and_after_1970,
    comments_are_the_newest_of_each_score,
    an_empty_set_has_no_count_and_no_comment,
);

#[track_caller]
fn import(store: &Arc<dyn Storage>, records: Vec<ImportRecord>) {
    let count = u64::try_from(records.len()).unwrap();
    let report = crate::import::import(store, records, OnError::Abort);
    assert_eq!(report.created, count);
}

/// A score with whom it is about, as the recount sees it.
#[derive(Clone, Debug)]
struct Given {
    on_ticket: bool,
    agent: usize,
    category: usize,
    score: u8,
    day: i64,
}

const AGENTS: [&str; 3] = ["Åsa Lind", "Bo", "Łukasz"];
const CATEGORIES: [&str; 3] = ["billing", "email", "hardware"];
const DAY: i64 = 86_400;

/// Calls and tickets of each agent, to hang scores on.
fn subjects() -> Vec<ImportRecord> {
    let mut records = vec![ImportRecord::Customer(import_customer(
        Some("c"),
        "c@example.com",
    ))];
    for (number, agent) in AGENTS.into_iter().enumerate() {
        records.push(ImportRecord::Call(ImportCall {
            agent: agent.to_owned(),
            customer: Some("c".to_owned()),
            ..call(&format!("call{number}"))
        }));
        records.push(ImportRecord::Ticket(ImportTicket {
            assignee: Some(agent.to_uppercase()),
            status: Status::Open,
            ..ticket(&format!("ticket{number}"), "c")
        }));
    }
    records
}

fn record(number: usize, given: &Given) -> ImportRecord {
    ImportRecord::Csat(ImportCsat {
        subject: if given.on_ticket {
            ImportCsatSubject::Ticket(format!("ticket{}", given.agent))
        } else {
            ImportCsatSubject::Call(format!("call{}", given.agent))
        },
        score: given.score,
        category: CATEGORIES[given.category].to_owned(),
        submitted_at: at(given.day * DAY),
        ..csat(&number.to_string(), "")
    })
}

fn passes(given: &Given, filter: &CsatFilter) -> bool {
    let time = at(given.day * DAY);
    filter.score.least.is_none_or(|least| given.score >= least)
        && filter.score.most.is_none_or(|most| given.score <= most)
        && filter
            .category
            .as_ref()
            .is_none_or(|slug| slug == CATEGORIES[given.category])
        && filter
            .agent
            .as_ref()
            .is_none_or(|agent| *agent == domain::text::fold(AGENTS[given.agent]))
        && filter.submitted.from.is_none_or(|from| time >= from)
        && filter.submitted.until.is_none_or(|until| time < until)
}

type Cell = (String, i64, u8);

fn recount(all: &[Given], filter: &CsatFilter) -> BTreeMap<Cell, u64> {
    const WEEK: i64 = 7 * DAY * 1_000_000;
    let mut cells = BTreeMap::new();
    for given in all.iter().filter(|given| passes(given, filter)) {
        // The first Monday of 1970 was the fifth of January.
        let monday = 4 * DAY * 1_000_000;
        let time = at(given.day * DAY).micros();
        let week = monday + (time - monday).div_euclid(WEEK) * WEEK;
        let cell = (CATEGORIES[given.category].to_owned(), week, given.score);
        *cells.entry(cell).or_default() += 1;
    }
    cells
}

#[track_caller]
fn counted(store: &Arc<dyn Storage>, filter: &CsatFilter) -> BTreeMap<Cell, u64> {
    let findings = ok(store.query_csat(filter.clone()));
    let rows = findings.counts.len();
    let cells: BTreeMap<Cell, u64> = findings
        .counts
        .into_iter()
        .map(|row| ((row.category, row.week.micros(), row.score), row.times))
        .collect();
    assert_eq!(cells.len(), rows, "a cell came twice");
    cells
}

fn sets() -> impl Strategy<Value = Vec<Given>> {
    let given = (any::<bool>(), 0..3_usize, 0..3_usize, 1..=5_u8, -30..30_i64);
    let given = given.prop_map(|(on_ticket, agent, category, score, day)| Given {
        on_ticket,
        agent,
        category,
        score,
        day,
    });
    prop::collection::vec(given, 0..24)
}

fn filters() -> impl Strategy<Value = CsatFilter> {
    let edge = || prop::option::of(1..=5_u8);
    let day = || prop::option::of(-30..30_i64);
    let one = || prop::option::of(0..3_usize);
    (edge(), edge(), one(), one(), day(), day()).prop_map(
        |(least, most, category, agent, from, until)| CsatFilter {
            score: ScoreRange { least, most },
            category: category.map(|at| CATEGORIES[at].to_owned()),
            agent: agent.map(|at| domain::text::fold(AGENTS[at])),
            submitted: TimeRange {
                from: from.map(|day| at(day * DAY)),
                until: until.map(|day| at(day * DAY)),
            },
        },
    )
}

/// Two hundred sets, each added to the one before: the store holds all of them, and so does the recount.
fn counts_equal_a_recount_of_random_sets(place: &Place) {
    let store = place.open();
    import(&store, subjects());
    let all = RefCell::new(Vec::new());
    let config = ProptestConfig {
        failure_persistence: None,
        max_shrink_iters: 0,
        ..ProptestConfig::with_cases(200)
    };
    proptest!(config, |(set in sets(), filter in filters())| {
        let mut all = all.borrow_mut();
        let first = all.len();
        let records = set.iter().zip(first..).map(|(given, number)| record(number, given));
        import(&store, records.collect());
        all.extend(set);
        for filter in [&filter, &CsatFilter::default()] {
            prop_assert_eq!(counted(&store, filter), recount(&all, filter));
        }
    });
}

fn each_filter_keeps_what_it_names_and_ranges_are_half_open(place: &Place) {
    let store = place.open();
    import(&store, subjects());
    let all: Vec<Given> = (0..6)
        .map(|number| Given {
            on_ticket: number % 2 == 0,
            agent: number % 3,
            category: number % 3,
            score: u8::try_from(number % 5).unwrap() + 1,
            day: i64::try_from(number).unwrap(),
        })
        .collect();
    let records = all.iter().enumerate().map(|(n, given)| record(n, given));
    import(&store, records.collect());
    let none = CsatFilter::default;
    let submitted = |from: Option<i64>, until: Option<i64>| CsatFilter {
        submitted: TimeRange {
            from: from.map(|day| at(day * DAY)),
            until: until.map(|day| at(day * DAY)),
        },
        ..none()
    };
    let scored = |least, most| CsatFilter {
        score: ScoreRange { least, most },
        ..none()
    };
    for (filter, count) in [
        (none(), 6),
        (scored(Some(4), None), 2),
        (scored(None, Some(1)), 2),
        (scored(Some(2), Some(3)), 2),
        (
            CsatFilter {
                category: Some("email".to_owned()),
                ..none()
            },
            2,
        ),
        // One of a call, one of a ticket.
        (
            CsatFilter {
                agent: Some(domain::text::fold("ÅSA LIND")),
                ..none()
            },
            2,
        ),
        (
            CsatFilter {
                agent: Some("nobody".to_owned()),
                ..none()
            },
            0,
        ),
        (submitted(Some(2), Some(4)), 2),
        (submitted(Some(2), None), 4),
        (submitted(None, Some(2)), 2),
    ] {
        let cells = counted(&store, &filter);
        assert_eq!(cells.values().sum::<u64>(), count, "{filter:?}");
        assert_eq!(cells, recount(&all, &filter), "{filter:?}");
    }
}

fn weeks_begin_on_monday_before_and_after_1970(place: &Place) {
    let store = place.open();
    import(&store, subjects());
    let table = [
        ("2026-08-17T00:00:00Z", "2026-08-17"),
        ("2026-08-23T23:59:59.999999Z", "2026-08-17"),
        ("2026-08-24T00:00:00Z", "2026-08-24"),
        ("1970-01-01T00:00:00Z", "1969-12-29"),
        ("1969-12-28T23:59:59Z", "1969-12-22"),
        ("1066-10-14T09:00:00Z", "1066-10-08"),
    ];
    for (number, (given, monday)) in table.into_iter().enumerate() {
        let submitted_at = Timestamp::parse(given).unwrap();
        let row = ImportCsat {
            submitted_at,
            ..csat(&number.to_string(), "call0")
        };
        import(&store, vec![ImportRecord::Csat(row)]);
        let filter = CsatFilter {
            submitted: TimeRange {
                from: Some(submitted_at),
                until: Some(submitted_at.plus_micros(1)),
            },
            ..CsatFilter::default()
        };
        let findings = ok(store.query_csat(filter));
        let week = findings.counts[0].week;
        assert_eq!(week, Timestamp::parse(monday).unwrap(), "{given}: {week}");
    }
}

fn comments_are_the_newest_of_each_score(place: &Place) {
    let store = place.open();
    import(&store, subjects());
    let said = [
        (1, 0, Some("oldest")),
        (1, 1, Some("older")),
        (1, 2, Some("newest")),
        (1, 3, None),
        (4, 0, Some("fine")),
    ];
    let records = said
        .into_iter()
        .enumerate()
        .map(|(n, (score, day, comment))| {
            ImportRecord::Csat(ImportCsat {
                score,
                comment: comment.map(str::to_owned),
                submitted_at: at(day * DAY),
                subject: if score == 4 {
                    ImportCsatSubject::Ticket("ticket0".to_owned())
                } else {
                    ImportCsatSubject::Call("call0".to_owned())
                },
                ..csat(&n.to_string(), "")
            })
        });
    import(&store, records.collect());
    let findings = ok(store.query_csat(CsatFilter::default()));
    let shown: Vec<(u8, &str)> = findings
        .comments
        .iter()
        .map(|row| (row.score, row.comment.as_str()))
        .collect();
    assert_eq!(shown, [(1, "newest"), (1, "older"), (4, "fine")]);
    for row in &findings.comments {
        assert_eq!(row.customer.map(domain::CustomerId::number), Some(1));
        let on_ticket = matches!(row.subject, CsatSubject::Ticket(_));
        assert_eq!(on_ticket, row.score == 4);
    }
}

fn an_empty_set_has_no_count_and_no_comment(place: &Place) {
    let store = place.open();
    let findings = ok(store.query_csat(CsatFilter::default()));
    assert_eq!(findings, CsatFindings::default());
}
