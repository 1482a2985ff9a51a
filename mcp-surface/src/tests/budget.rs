//! Results that fit whatever is in them, say what they cut, and lead to the rest (field reports 4 and 5).

use std::collections::BTreeSet;

use domain::{Audience, Status};
use serde_json::{Value, json};
use storage::import::ImportRecord;

use super::lists::walk;
use super::support::{Bench, article, id, import_comment, import_customer, import_ticket};
use crate::Settings;

#[tokio::test]
async fn lists_of_the_largest_rows_stay_in_budget_and_still_walk_to_their_end() {
    let bench = Bench::new().await;
    let mut records = Vec::new();
    let long = "\u{202e}\"字"
        .repeat(70)
        .chars()
        .take(200)
        .collect::<String>();
    for number in 0..12 {
        let mut customer = import_customer(&format!("c{number}"));
        customer.name.clone_from(&long);
        customer.organisation = Some(long.clone());
        customer.email = format!("{}{number}@c.example", "\u{202e}字".repeat(110));
        records.push(ImportRecord::Customer(customer));
        let mut ticket = import_ticket(&format!("t{number}"), &format!("c{number}"), Status::Open);
        ticket.subject.clone_from(&long);
        ticket.description = format!("printer {}", "\u{202e}字".repeat(9_000));
        ticket.assigned_team = Some(long.clone());
        ticket.assignee = Some(long.clone());
        records.push(ImportRecord::Ticket(ticket));
    }
    bench.import(records).await;
    for (tool, call, rows, field) in [
        ("list_tickets", json!({}), "tickets", "ticket_id"),
        ("list_customers", json!({}), "customers", "customer_id"),
        (
            "search_tickets",
            json!({"query": "printer"}),
            "tickets",
            "ticket_id",
        ),
    ] {
        // The bench checks the size of every page.
        let (seen, totals) = walk(&bench, tool, &call, rows, field, 100, &mut async |_| ()).await;
        let union: BTreeSet<&String> = seen.iter().collect();
        assert_eq!((seen.len(), union.len()), (12, 12), "{tool}");
        assert_eq!(totals, BTreeSet::from([12]), "{tool}");
    }
    for number in 1..=12 {
        bench
            .ok("get_ticket_details", json!({ "ticket_id": number }))
            .await;
        bench
            .ok("get_customer", json!({ "customer_id": number }))
            .await;
    }
}

/// A text of 20,000 characters in which each place can be told from the others.
fn long_text(script: char) -> String {
    let numbered =
        (0..).flat_map(|number: u32| format!("{number}{script}").chars().collect::<Vec<_>>());
    numbered.take(20_000).collect()
}

#[tokio::test]
async fn a_long_description_is_read_whole_in_parts() {
    let bench = Bench::new().await;
    let customer = bench.customer("ann").await;
    for script in [' ', '"', '字', '\u{202e}', '\n'] {
        let text = long_text(script);
        // A blank at the end would be trimmed by nobody, but is hard to see in a failure.
        let call = json!({"customer_id": customer, "subject": "S", "description": text});
        let ticket = id(&bench.ok("create_ticket", call).await, "ticket_id");
        let (mut read, mut offset, mut parts) = (String::new(), json!(null), 0);
        loop {
            let call = json!({"ticket_id": ticket, "offset": offset});
            let part = bench.ok("get_ticket", call).await;
            read.push_str(part["description"]["text"].as_str().unwrap());
            parts += 1;
            let left = 20_000 - read.chars().count();
            assert_eq!(
                part["omitted_chars"].as_u64().unwrap_or_default(),
                left as u64
            );
            offset = part["next_offset"].clone();
            if offset.is_null() {
                break;
            }
        }
        assert_eq!(read, text, "{script:?}");
        assert!((2..=14).contains(&parts), "{script:?}: {parts}");
    }
}

/// Reads every comment of a ticket in parts, oldest first; `between` runs between pages.
async fn read_comments(
    bench: &Bench,
    ticket: &str,
    limit: usize,
    between: &mut impl AsyncFnMut(usize),
) -> Vec<(String, String)> {
    let mut newest_first: Vec<(String, String)> = Vec::new();
    let mut cursor = Value::Null;
    for page_number in 0..200 {
        let call = json!({"ticket_id": ticket, "limit": limit, "cursor": cursor});
        let page = bench.ok("get_ticket_details", call).await;
        assert_eq!(page["customer"].is_null(), page_number > 0);
        let comments = page["comments"].as_array().unwrap();
        assert!(comments.len() <= limit && page["returned"] == comments.len());
        for comment in comments.iter().rev() {
            let at = comment["comment_id"].as_str().unwrap().to_owned();
            let body = comment["body"]["text"].as_str().unwrap();
            let offset = comment["offset"].as_u64().unwrap_or_default();
            match newest_first.last_mut() {
                Some((last, text)) if *last == at => {
                    assert_eq!(offset, text.chars().count() as u64, "{at}");
                    text.push_str(body);
                }
                _ => {
                    assert_eq!(offset, 0, "{at}");
                    newest_first.push((at, body.to_owned()));
                }
            }
        }
        cursor = page["next_cursor"].clone();
        if cursor.is_null() {
            newest_first.reverse();
            return newest_first;
        }
        between(page_number).await;
    }
    panic!("the comments do not end");
}

#[tokio::test]
async fn a_dossier_walks_through_comments_of_every_length_while_others_come_in() {
    let bodies: Vec<String> = (0..9)
        .map(|number| match number % 3 {
            0 => format!("short {number}"),
            1 => long_text('字'),
            _ => long_text('\u{202e}').chars().take(3_000).collect(),
        })
        .collect();
    for limit in [1, 2, 3, 5, 100] {
        let bench = Bench::new().await;
        let customer = bench.customer("ann").await;
        let call = json!({"customer_id": customer, "subject": "S", "description": long_text(' ')});
        let ticket = id(&bench.ok("create_ticket", call).await, "ticket_id");
        let mut wanted = Vec::new();
        for body in &bodies {
            let added = bench
                .ok("add_comment", json!({"ticket_id": ticket, "body": body}))
                .await;
            wanted.push((id(&added, "comment_id"), body.clone()));
        }
        let mut insert = async |page: usize| {
            if page < 3 {
                let call = json!({"ticket_id": ticket, "body": "came in meanwhile"});
                bench.ok("add_comment", call).await;
            }
        };
        let read = read_comments(&bench, &ticket, limit, &mut insert).await;
        assert_eq!(read, wanted, "by {limit}");
    }
}

#[tokio::test]
async fn long_articles_are_read_whole_in_parts() {
    let bench = Bench::new().await;
    let blocks: Vec<String> = (0..6)
        .map(|_| long_text('字').chars().take(5_000).collect())
        .collect();
    let shown: Vec<(Audience, &str)> = blocks
        .iter()
        .map(|block| (Audience::Customer, block.as_str()))
        .collect();
    bench
        .import(
            (1..=3)
                .map(|number| ImportRecord::Article(article(number, "email", &shown)))
                .collect(),
        )
        .await;
    let all = bench
        .ok("get_knowledge_articles", json!({"category": "email"}))
        .await;
    assert_eq!(all["returned"], 3);
    assert_eq!(all["truncated"], true);
    assert_eq!(all["articles"][2]["next_offset"], 0);
    let (mut read, mut offset) = (String::new(), json!(null));
    loop {
        let call = json!({"article_id": "KB-002", "offset": offset});
        let page = bench.ok("get_knowledge_articles", call).await;
        for block in page["articles"][0]["blocks"].as_array().unwrap() {
            read.push_str(block["text"].as_str().unwrap());
        }
        offset = page["articles"][0]["next_offset"].clone();
        if offset.is_null() {
            break;
        }
    }
    assert_eq!(read, blocks.concat());
    let found = bench
        .ok("search_kb", json!({"query": "字", "limit": 20}))
        .await;
    assert_eq!(found["total"], 3);
    assert_eq!(found["truncated"], true);
}

#[tokio::test]
async fn the_smallest_budget_still_holds_the_largest_row() {
    let settings = Settings {
        result_bytes: Settings::RESULT_BYTES_MIN,
        ..Settings::default()
    };
    let bench = Bench::with(settings, domain::ScopeSet::all()).await;
    let long = "\u{202e}".repeat(200);
    let mut customer = import_customer("ann");
    customer.name.clone_from(&long);
    customer.organisation = Some(long.clone());
    customer.email = format!("{}@c.example", "\u{202e}".repeat(240));
    let mut ticket = import_ticket("t", "ann", Status::Open);
    ticket.subject.clone_from(&long);
    ticket.assigned_team = Some(long.clone());
    ticket.assignee = Some(long.clone());
    ticket.description = "\u{202e}".repeat(20_000);
    let mut comment = import_comment("c", "t", &"\u{202e}".repeat(20_000));
    comment.author.clone_from(&long);
    bench
        .import(vec![
            ImportRecord::Customer(customer),
            ImportRecord::Ticket(ticket),
            ImportRecord::Comment(comment),
        ])
        .await;
    for (tool, call) in [
        ("list_tickets", json!({})),
        ("list_customers", json!({})),
        ("get_customer", json!({"customer_id": 1})),
        ("get_ticket", json!({"ticket_id": 1})),
        ("get_ticket_details", json!({"ticket_id": 1})),
    ] {
        bench.ok(tool, call).await;
    }
    let comments = read_comments(&bench, "T-1", 1, &mut async |_| ()).await;
    assert_eq!(comments[0].1.chars().count(), 20_000);
}
