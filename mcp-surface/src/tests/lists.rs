//! Pages that lead on, totals that are right, filters that matter (field reports 1 to 3, 13).

use std::collections::BTreeSet;

use domain::{LastCommentBy, Priority, Status, Tier, Timestamp};
use serde_json::{Value, json};
use storage::import::ImportRecord;
use testkit::START;

use super::support::{Bench, each, id, import_comment, import_customer, import_ticket};

/// Walks a list to its end and gives the ids of every row, in order; `insert` runs between pages.
pub(super) async fn walk(
    bench: &Bench,
    tool: &str,
    call: &Value,
    rows: &str,
    field: &str,
    limit: usize,
    insert: &mut impl AsyncFnMut(usize),
) -> (Vec<String>, BTreeSet<u64>) {
    let mut seen = Vec::new();
    let mut totals = BTreeSet::new();
    let mut cursor = Value::Null;
    for page_number in 0..1_000 {
        let mut call = call.clone();
        call["limit"] = json!(limit);
        call["cursor"] = cursor;
        let page = bench.ok(tool, call).await;
        let ids = each(&page[rows], field);
        assert!(ids.len() <= limit, "{} of at most {limit}", ids.len());
        assert_eq!(page["returned"], ids.len());
        assert_eq!(page["truncated"], json!(!page["next_cursor"].is_null()));
        totals.insert(page["total"].as_u64().unwrap());
        seen.extend(ids);
        cursor = page["next_cursor"].clone();
        if cursor.is_null() {
            return (seen, totals);
        }
        insert(page_number).await;
    }
    panic!("the list does not end");
}

#[tokio::test]
async fn every_list_walks_to_its_end_with_any_page_size_while_rows_come_in() {
    for limit in 1..=5 {
        let bench = Bench::new().await;
        let customer = bench.customer("first").await;
        for number in 0..12 {
            bench.customer(&format!("c{number}")).await;
            bench.ticket(&customer, &format!("printer {number}")).await;
        }
        for (tool, call, rows, field) in [
            ("list_tickets", json!({}), "tickets", "ticket_id"),
            (
                "list_tickets",
                json!({"order": "oldest"}),
                "tickets",
                "ticket_id",
            ),
            (
                "list_tickets",
                json!({"order": "updated", "status": "open"}),
                "tickets",
                "ticket_id",
            ),
            ("list_customers", json!({}), "customers", "customer_id"),
            (
                "list_customers",
                json!({"order": "oldest", "query": "name"}),
                "customers",
                "customer_id",
            ),
            (
                "list_customers",
                json!({"order": "updated"}),
                "customers",
                "customer_id",
            ),
            (
                "search_tickets",
                json!({"query": "printer"}),
                "tickets",
                "ticket_id",
            ),
        ] {
            let at = format!("{tool} {call} by {limit}");
            let before = walk(&bench, tool, &call, rows, field, 100, &mut async |_| ()).await;
            let wanted: BTreeSet<String> = before.0.into_iter().collect();
            assert!(wanted.len() >= 12, "{at}");
            let mut insert = async |page: usize| {
                if page < 4 {
                    let word = format!("{tool}-{limit}-{page}-{}", call.to_string().len());
                    bench.customer(&word).await;
                    bench.ticket(&customer, &format!("printer {word}")).await;
                }
            };
            let (seen, _) = walk(&bench, tool, &call, rows, field, limit, &mut insert).await;
            let union: BTreeSet<String> = seen.iter().cloned().collect();
            assert_eq!(union.len(), seen.len(), "a row came twice: {at}");
            assert!(wanted.is_subset(&union), "a row was skipped: {at}");
        }
        let entries = bench.ok("list_audit_entries", json!({})).await["total"]
            .as_u64()
            .unwrap();
        let (seen, totals) = walk_audit(&bench, limit).await;
        assert_eq!(seen, (1..=entries).rev().collect::<Vec<_>>());
        assert_eq!(totals, BTreeSet::from([entries]));
    }
}

async fn walk_audit(bench: &Bench, limit: usize) -> (Vec<u64>, BTreeSet<u64>) {
    let (mut seen, mut totals, mut cursor) = (Vec::new(), BTreeSet::new(), Value::Null);
    loop {
        let call = json!({"limit": limit, "cursor": cursor});
        let page = bench.ok("list_audit_entries", call).await;
        let rows = page["entries"].as_array().unwrap();
        seen.extend(rows.iter().map(|row| row["seq"].as_u64().unwrap()));
        totals.insert(page["total"].as_u64().unwrap());
        cursor = page["next_cursor"].clone();
        if cursor.is_null() {
            return (seen, totals);
        }
    }
}

#[tokio::test]
async fn the_total_is_the_same_for_every_page_size() {
    let bench = Bench::new().await;
    let customer = bench.customer("ann").await;
    for number in 0..7 {
        bench.ticket(&customer, &format!("printer {number}")).await;
    }
    for (tool, call, rows, field) in [
        ("list_tickets", json!({}), "tickets", "ticket_id"),
        (
            "search_tickets",
            json!({"query": "printer"}),
            "tickets",
            "ticket_id",
        ),
    ] {
        for limit in 1..=8 {
            let (seen, totals) =
                walk(&bench, tool, &call, rows, field, limit, &mut async |_| ()).await;
            assert_eq!(seen.len(), 7, "{tool} by {limit}");
            assert_eq!(totals, BTreeSet::from([7]), "{tool} by {limit}");
        }
    }
}

#[tokio::test]
async fn a_cursor_of_another_list_or_filter_is_refused() {
    let bench = Bench::new().await;
    let customer = bench.customer("ann").await;
    bench.customer("bo").await;
    for number in 0..3 {
        bench.ticket(&customer, &format!("printer {number}")).await;
    }
    let page = bench.ok("list_tickets", json!({"limit": 1})).await;
    let cursor = id(&page, "next_cursor");
    for (tool, call) in [
        ("list_tickets", json!({"status": "open"})),
        ("list_tickets", json!({"order": "oldest"})),
        ("list_customers", json!({})),
        ("search_tickets", json!({"query": "printer"})),
        ("list_audit_entries", json!({})),
        ("get_ticket_details", json!({"ticket_id": 1})),
    ] {
        let mut call = call;
        call["cursor"] = json!(cursor);
        assert_eq!(bench.error(tool, call).await["field"], "cursor", "{tool}");
    }
    // The page size may change on the way.
    bench
        .ok("list_tickets", json!({"limit": 2, "cursor": cursor}))
        .await;
}

/// Six tickets, each apart from the others in every field that a filter knows.
async fn varied() -> Bench {
    let bench = Bench::new().await;
    let day = |number: i64| Timestamp::from_micros(START.micros() + number * 86_400_000_000);
    let mut records = Vec::new();
    for (word, organisation) in [("ann", "Acme"), ("bo", "Beta & Söhne")] {
        let mut customer = import_customer(word);
        customer.organisation = Some(organisation.to_owned());
        records.push(ImportRecord::Customer(customer));
    }
    for (number, status) in [
        (0, Status::Open),
        (1, Status::InProgress),
        (2, Status::Resolved),
        (3, Status::Closed),
    ] {
        let mut ticket = import_ticket(
            &format!("t{number}"),
            if number == 0 { "ann" } else { "bo" },
            status,
        );
        ticket.created_at = day(number);
        ticket.updated_at = day(number + 10);
        if number == 1 {
            ticket.priority = Priority::Urgent;
            ticket.category = "network_vpn".to_owned();
            ticket.tier = Tier::LAST;
            ticket.assigned_team = Some("Network".to_owned());
            ticket.assignee = Some("Cy".to_owned());
        }
        records.push(ImportRecord::Ticket(ticket));
    }
    let mut comment = import_comment("c1", "t2", "Answer");
    comment.origin = domain::Origin::Team;
    comment.created_at = day(2);
    records.push(ImportRecord::Comment(comment));
    bench.import(records).await;
    bench
}

#[tokio::test]
async fn every_filter_of_a_list_of_tickets_finds_its_own_and_nothing_else() {
    let bench = varied().await;
    let all = ["T-4", "T-3", "T-2", "T-1"];
    let newest = bench.ok("list_tickets", json!({})).await;
    assert_eq!(each(&newest["tickets"], "ticket_id"), all);
    assert_eq!(
        newest["tickets"][1]["last_comment_by"],
        LastCommentBy::Team.as_str()
    );
    for (filter, found) in [
        (json!({"status": "OPEN"}), vec!["T-1"]),
        (json!({"status": "closed"}), vec!["T-4"]),
        (json!({"priority": "urgent"}), vec!["T-2"]),
        (json!({"category": "network-vpn"}), vec!["T-2"]),
        (json!({"customer_id": 1}), vec!["T-1"]),
        (
            json!({"organisation": " beta & SÖHNE"}),
            vec!["T-4", "T-3", "T-2"],
        ),
        (json!({"team": "NETWORK"}), vec!["T-2"]),
        (json!({"assignee": "cy"}), vec!["T-2"]),
        (json!({"unassigned": true}), vec!["T-4", "T-3", "T-1"]),
        (json!({"unassigned": "false"}), vec!["T-2"]),
        (json!({"tier": "3"}), vec!["T-2"]),
        (json!({"flag": "incident"}), vec![]),
        (json!({"flag": "none"}), all.to_vec()),
        (json!({"last_comment_by": "team"}), vec!["T-3"]),
        (json!({"created_from": "2026-03-04"}), vec!["T-4", "T-3"]),
        (json!({"created_until": "2026-03-02"}), vec!["T-1"]),
        (
            json!({"created_from": "2026-03-03", "created_until": "2026-03-04"}),
            vec!["T-3", "T-2"],
        ),
        (json!({"updated_from": "2026-03-15T09:00:00Z"}), vec!["T-4"]),
        (
            json!({"updated_until": "2026-03-12T10:00:00+01:00"}),
            vec![],
        ),
        (json!({"updated_until": "2026-03-12"}), vec!["T-1"]),
        (json!({"order": "oldest"}), vec!["T-1", "T-2", "T-3", "T-4"]),
        (json!({"order": "updated", "limit": 2}), vec!["T-4", "T-3"]),
        (json!({"status": "open", "priority": "urgent"}), vec![]),
    ] {
        let list = bench.ok("list_tickets", filter.clone()).await;
        assert_eq!(each(&list["tickets"], "ticket_id"), found, "{filter}");
    }
    let empty = bench
        .text("list_tickets", json!({"flag": "incident"}))
        .await;
    assert_eq!(empty, "No tickets match.");
}

#[tokio::test]
async fn every_filter_of_a_search_and_of_a_list_of_customers_finds_its_own() {
    let bench = varied().await;
    for (filter, found) in [
        (json!({}), vec!["T-4", "T-3", "T-2", "T-1"]),
        (json!({"status": "open"}), vec!["T-1"]),
        (json!({"priority": "urgent"}), vec!["T-2"]),
        (json!({"category": "network_vpn"}), vec!["T-2"]),
        (json!({"customer_id": "C-1"}), vec!["T-1"]),
        (json!({"organisation": "acme"}), vec!["T-1"]),
        (json!({"team": "network"}), vec!["T-2"]),
        (json!({"created_from": "2026-03-05"}), vec!["T-4"]),
        (json!({"created_until": "2026-03-02"}), vec!["T-1"]),
        (json!({"limit": 1}), vec!["T-4"]),
    ] {
        let mut call = filter.clone();
        call["query"] = json!("description");
        let list = bench.ok("search_tickets", call).await;
        assert_eq!(each(&list["tickets"], "ticket_id"), found, "{filter}");
    }
    for (filter, found) in [
        (json!({}), vec!["C-2", "C-1"]),
        (json!({"order": "oldest"}), vec!["C-1", "C-2"]),
        (json!({"status": "active"}), vec!["C-2", "C-1"]),
        (json!({"status": "inactive"}), vec![]),
        (json!({"organisation": "ACME"}), vec!["C-1"]),
        (json!({"organisation": "ACM"}), vec![]),
        (json!({"email": "BO@company.example"}), vec!["C-2"]),
        (json!({"query": "söh"}), vec!["C-2"]),
        (json!({"query": "%"}), vec![]),
        (json!({"query": "name"}), vec!["C-2", "C-1"]),
    ] {
        let list = bench.ok("list_customers", filter.clone()).await;
        assert_eq!(each(&list["customers"], "customer_id"), found, "{filter}");
    }
}

#[tokio::test]
async fn a_search_says_how_it_matched_and_takes_any_punctuation() {
    let bench = Bench::new().await;
    let customer = bench.customer("ann").await;
    bench.ticket(&customer, "VPN drops after update").await;
    bench.ticket(&customer, "Printer prints blank pages").await;
    let all = bench
        .ok("search_tickets", json!({"query": "vpn update"}))
        .await;
    assert_eq!(
        (&all["match"], &all["total"]),
        (&json!("all_words"), &json!(1))
    );
    assert_eq!(all["search_mode"], "lexical");
    assert_eq!(all["tickets"][0]["excerpt"]["origin"], "customer");
    let any = bench
        .ok("search_tickets", json!({"query": "vpn pages"}))
        .await;
    assert_eq!(
        (&any["match"], &any["total"]),
        (&json!("any_word"), &json!(2))
    );
    let none = bench.ok("search_tickets", json!({"query": "zzz"})).await;
    assert_eq!(none["total"], 0);
    for c in (0x21_u8..0x7f)
        .map(char::from)
        .filter(|c| !c.is_ascii_alphanumeric())
    {
        for query in [
            format!("{c}vpn"),
            format!("vpn{c}"),
            format!("{c}vpn{c}"),
            format!("{c} vpn {c}"),
        ] {
            for tool in ["search_tickets", "search_kb"] {
                let found = bench.ok(tool, json!({ "query": query })).await;
                let wanted = u64::from(tool == "search_tickets");
                assert_eq!(found["total"], wanted, "{tool} {query}");
            }
        }
    }
    for query in [
        "vpn AND NOT vpn",
        "\"vpn",
        "vpn* OR (",
        "NEAR(vpn",
        "subject:vpn",
        "{vpn}",
        "--vpn;",
    ] {
        let found = bench.ok("search_tickets", json!({ "query": query })).await;
        assert_eq!(found["total"], 1, "{query}");
    }
}

#[tokio::test]
async fn a_dossier_shows_the_customers_other_unfinished_tickets() {
    let bench = varied().await;
    let dossier = bench
        .ok("get_ticket_details", json!({"ticket_id": "T-3"}))
        .await;
    assert_eq!(each(&dossier["other_tickets"], "ticket_id"), ["T-2"]);
    assert_eq!(dossier["other_total"], 1);
    assert_eq!(dossier["customer"]["customer_id"], "C-2");
    assert_eq!(
        dossier["comments"][0]["author"],
        json!({"origin": "team", "text": "Author c1"})
    );
    assert_eq!(dossier["comments"][0]["visibility"], "public");
    let text = bench
        .text("get_ticket_details", json!({"ticket_id": "T-3"}))
        .await;
    for part in [
        "T-3",
        "resolved",
        "C-2",
        "Beta & Söhne",
        "T-2",
        "Answer",
        "Description t2",
        "network_vpn",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}
