//! What writes say and do: read-back, versions, the status graph, the audit log.

use domain::Status;
use rmcp::model::CallToolResult;
use serde_json::{Value, json};
use storage::import::ImportRecord;

use super::support::{Bench, each, id, import_customer, import_ticket, text_of};

#[tokio::test]
async fn a_customer_is_registered_and_read_back_as_given() {
    let bench = Bench::new().await;
    let given = json!({
        "name": " Zoë \"Z\" O'Neill ", "email": "Zoe@Company.example", "phone": "+44 20 7946 0123",
        "organisation": "Kauppa & Söhne <b>"
    });
    let made = bench.ok("create_customer", given.clone()).await;
    assert_eq!(
        made["name"],
        json!({"origin": "customer", "text": "Zoë \"Z\" O'Neill"})
    );
    assert_eq!(made["email"], "Zoe@Company.example");
    assert_eq!(made["organisation"]["text"], "Kauppa & Söhne <b>");
    assert_eq!(
        (&made["status"], &made["version"]),
        (&json!("active"), &json!(1))
    );
    let read = bench
        .ok("get_customer", json!({"customer_id": made["customer_id"]}))
        .await;
    assert_eq!(read, made);
    let again = bench
        .error(
            "create_customer",
            json!({"name": "Other", "email": "ZOE@company.EXAMPLE"}),
        )
        .await;
    assert_eq!(again["code"], "DUPLICATE_EMAIL");
}

#[tokio::test]
async fn text_round_trips_byte_for_byte() {
    let bench = Bench::new().await;
    let customer = bench.customer("ann").await;
    for text in [
        "it's \"quoted\" `code` <b>&amp;&#x27;</b> #1 *x* _y_ \\n $'",
        "emoji 👩‍🚒🏴󠁧󠁢󠁥󠁮󠁧󠁿 ❤️",
        "RTL שלום مرحبا \u{202e}evil\u{202c}",
        "NFC é NFD e\u{301} ﬁ Ⅳ ＡＢ",
        "CRLF\r\nLF\nCR\rtab\tend",
        "  leading and trailing  ",
        "東京 Привет ไทย",
        "'; DROP TABLE tickets; -- % _ {} ${x}",
    ] {
        let call = json!({"customer_id": customer, "subject": "S", "description": text});
        let made = bench.ok("create_ticket", call).await;
        let read = bench
            .ok("get_ticket", json!({"ticket_id": made["ticket_id"]}))
            .await;
        assert_eq!(
            read["description"],
            json!({"origin": "customer", "text": text})
        );
        let comment = json!({"ticket_id": made["ticket_id"], "body": text});
        bench.ok("add_comment", comment).await;
        let dossier = bench
            .ok(
                "get_ticket_details",
                json!({"ticket_id": made["ticket_id"]}),
            )
            .await;
        assert_eq!(
            dossier["comments"][0]["body"],
            json!({"origin": "team", "text": text})
        );
        assert_eq!(dossier["ticket"]["description"]["text"], text);
    }
}

#[tokio::test]
async fn a_ticket_is_filed_with_the_defaults_and_each_argument_changes_it() {
    let bench = Bench::new().await;
    let customer = bench.customer("ann").await;
    let least =
        json!({"customer_id": customer, "subject": " Printer ", "description": "Blank pages"});
    let made = bench.ok("create_ticket", least.clone()).await;
    let read = bench
        .ok("get_ticket", json!({"ticket_id": made["ticket_id"]}))
        .await;
    for (field, value) in [
        ("status", json!("open")),
        ("priority", json!("medium")),
        ("category", json!("general")),
        ("tier", json!(1)),
        ("channel", json!("portal")),
        ("flag", json!("none")),
        ("last_comment_by", json!("customer")),
        ("team", json!(null)),
        ("assignee", json!(null)),
        ("version", json!(1)),
        ("subject", json!({"origin": "customer", "text": "Printer"})),
        ("customer_id", json!(customer)),
    ] {
        assert_eq!(read[field], value, "{field}");
    }
    for (argument, given, field, stored) in [
        ("priority", json!("Urgent"), "priority", json!("urgent")),
        (
            "category",
            json!("Network VPN"),
            "category",
            json!("network_vpn"),
        ),
        ("channel", json!("phone"), "channel", json!("phone")),
        ("tier", json!("3"), "tier", json!(3)),
        ("team", json!(" Network "), "team", json!("Network")),
        ("assignee", json!("ann"), "assignee", json!("ann")),
    ] {
        let mut call = least.clone();
        call[argument] = given;
        let made = bench.ok("create_ticket", call).await;
        let read = bench
            .ok("get_ticket", json!({"ticket_id": made["ticket_id"]}))
            .await;
        assert_eq!(read[field], stored, "{argument}");
    }
}

#[tokio::test]
async fn a_team_that_was_never_seen_is_told_and_one_that_was_is_not() {
    let bench = Bench::new().await;
    let customer = bench.customer("ann").await;
    let ticket = bench.ticket(&customer, "One").await;
    let call = |team: &str| json!({"ticket_id": ticket, "team": team});
    let first = bench.call("assign_ticket", call("Network")).await;
    assert_eq!(first.structured_content.as_ref().unwrap()["new_team"], true);
    assert!(text_of(&first).contains("check the spelling"));
    let second = bench.call("assign_ticket", call("network ")).await;
    assert_eq!(
        second.structured_content.as_ref().unwrap()["new_team"],
        false
    );
    assert!(!text_of(&second).contains("check the spelling"));
}

#[tokio::test]
async fn an_assignment_keeps_what_it_does_not_name_and_takes_away_what_it_is_told_to() {
    let bench = Bench::new().await;
    let customer = bench.customer("ann").await;
    let ticket = bench.ticket(&customer, "One").await;
    for (given, team, assignee) in [
        (json!({"team": "Network"}), json!("Network"), json!(null)),
        (json!({"assignee": "bo"}), json!("Network"), json!("bo")),
        (json!({"unassign": "team"}), json!(null), json!("bo")),
        (
            json!({"team": "Mail", "unassign": "assignee"}),
            json!("Mail"),
            json!(null),
        ),
        (json!({"assignee": "cy"}), json!("Mail"), json!("cy")),
        (json!({"unassign": "both"}), json!(null), json!(null)),
    ] {
        let mut call = given.clone();
        call["ticket_id"] = json!(ticket);
        let done = bench.ok("assign_ticket", call).await;
        assert_eq!(
            (&done["team"], &done["assignee"]),
            (&team, &assignee),
            "{given}"
        );
        let read = bench.ok("get_ticket", json!({"ticket_id": ticket})).await;
        assert_eq!(
            (&read["team"], &read["assignee"]),
            (&team, &assignee),
            "{given}"
        );
        assert_eq!(read["version"], done["version"], "{given}");
    }
}

#[tokio::test]
async fn a_comment_proves_itself_and_never_becomes_public() {
    let bench = Bench::new().await;
    let customer = bench.customer("ann").await;
    let ticket = bench.ticket(&customer, "One").await;
    for (from_customer, origin) in [
        (json!(null), "team"),
        (json!(true), "customer"),
        (json!(false), "team"),
    ] {
        let call = json!({"ticket_id": ticket, "body": "Hello", "from_customer": from_customer});
        let added = bench.ok("add_comment", call).await;
        assert_eq!(added["visibility"], "internal");
        assert_eq!(added["origin"], origin);
        assert_eq!(added["last_comment_by"], origin);
        let read = bench
            .ok(
                "get_ticket_details",
                json!({"ticket_id": ticket, "limit": 1}),
            )
            .await;
        assert_eq!(read["comments"][0]["comment_id"], added["comment_id"]);
        assert_eq!(read["comments"][0]["visibility"], "internal");
        assert_eq!(
            read["comments"][0]["body"],
            json!({"origin": origin, "text": "Hello"})
        );
        assert_eq!(read["ticket"]["version"], added["version"]);
    }
    let public = json!({"ticket_id": ticket, "body": "Hello", "visibility": "public"});
    assert_eq!(
        bench.error("add_comment", public).await["field"],
        "visibility"
    );
}

#[tokio::test]
async fn all_sixteen_pairs_of_statuses_follow_the_graph() {
    for from in Status::ALL {
        for to in Status::ALL {
            let bench = Bench::new().await;
            bench
                .import(vec![
                    ImportRecord::Customer(import_customer("ann")),
                    ImportRecord::Ticket(import_ticket("one", "ann", *from)),
                ])
                .await;
            let call = json!({"ticket_id": "T-1", "status": to.as_str()});
            let result = bench.call("change_ticket_status", call).await;
            check_pair(*from, *to, &result);
            let read = bench.ok("get_ticket", json!({"ticket_id": "T-1"})).await;
            let moved = *to != Status::Closed && from.next().contains(to);
            let now = if moved { to } else { from };
            assert_eq!(read["status"], now.as_str(), "{from} -> {to}");
            let audit = bench
                .ok(
                    "list_audit_entries",
                    json!({"action": "change_ticket_status"}),
                )
                .await;
            let outcomes = each(&audit["entries"], "outcome");
            match (to, moved) {
                (Status::Closed, _) => assert!(outcomes.is_empty(), "{from} -> {to}"),
                (_, true) => assert_eq!(outcomes, ["applied"], "{from} -> {to}"),
                (_, false) => {
                    assert_eq!(outcomes, ["refused"], "{from} -> {to}");
                    assert_eq!(audit["entries"][0]["code"], "FORBIDDEN_TRANSITION");
                }
            }
        }
    }
}

fn check_pair(from: Status, to: Status, result: &CallToolResult) {
    let fields = result.structured_content.as_ref().unwrap();
    let at = format!("{from} -> {to}: {fields}");
    if to == Status::Closed {
        assert_eq!(fields["error"]["code"], "INVALID_ARGUMENT", "{at}");
        assert_eq!(
            fields["error"]["allowed"],
            json!(["open", "in_progress", "resolved"]),
            "{at}"
        );
        assert!(
            fields["error"]["message"]
                .as_str()
                .unwrap()
                .contains("needs a confirmation"),
            "{at}"
        );
    } else if from.next().contains(&to) {
        assert_eq!(fields["status_before"], from.as_str(), "{at}");
        assert_eq!(fields["status_after"], to.as_str(), "{at}");
    } else {
        assert_eq!(fields["error"]["code"], "FORBIDDEN_TRANSITION", "{at}");
        // The tool worked, and the graph said no.
        assert_eq!(result.is_error, Some(false), "{at}");
        let next: Vec<&str> = from.next().iter().map(|status| status.as_str()).collect();
        let allowed = fields["error"]["allowed"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        assert_eq!(Value::Array(allowed), json!(next), "{at}");
    }
}

#[tokio::test]
async fn resolving_adds_an_internal_comment_and_works_from_in_progress_only() {
    let bench = Bench::new().await;
    let customer = bench.customer("ann").await;
    let ticket = bench.ticket(&customer, "One").await;
    let resolve = json!({"ticket_id": ticket, "resolution": "Restarted the gateway."});
    let refused = bench.error("resolve_ticket", resolve.clone()).await;
    assert_eq!(refused["code"], "FORBIDDEN_TRANSITION");
    assert_eq!(refused["allowed"], json!(["in_progress", "closed"]));
    let dossier = bench
        .ok("get_ticket_details", json!({"ticket_id": ticket}))
        .await;
    assert_eq!(dossier["total"], 0);
    bench
        .ok(
            "change_ticket_status",
            json!({"ticket_id": ticket, "status": "in_progress"}),
        )
        .await;
    let done = bench.ok("resolve_ticket", resolve).await;
    assert_eq!(done["status_before"], "in_progress");
    assert_eq!(done["status_after"], "resolved");
    let dossier = bench
        .ok("get_ticket_details", json!({"ticket_id": ticket}))
        .await;
    assert_eq!(
        dossier["comments"][0]["body"]["text"],
        "Restarted the gateway."
    );
    assert_eq!(dossier["comments"][0]["visibility"], "internal");
    assert_eq!(dossier["ticket"]["version"], done["version"]);
}

#[tokio::test]
async fn a_version_that_has_moved_on_is_stale_in_every_write_and_changes_nothing() {
    let bench = Bench::new().await;
    let customer = bench.customer("ann").await;
    let ticket = bench.ticket(&customer, "One").await;
    bench
        .ok("add_comment", json!({"ticket_id": ticket, "body": "x"}))
        .await;
    let before = bench
        .ok("get_ticket_details", json!({"ticket_id": ticket}))
        .await;
    for (tool, call) in [
        ("assign_ticket", json!({"team": "x"})),
        ("add_comment", json!({"body": "x"})),
        ("change_ticket_status", json!({"status": "in_progress"})),
        ("resolve_ticket", json!({})),
    ] {
        for version in [1, 9] {
            let mut call = call.clone();
            call["ticket_id"] = json!(ticket);
            call["if_version"] = json!(version);
            let error = bench.error(tool, call).await;
            assert_eq!(error["code"], "STALE", "{tool}");
            assert_eq!(
                error["message"],
                format!(
                    "the record has moved on: version {version} was named and it is at version 2"
                ),
                "{tool}"
            );
        }
    }
    assert_eq!(
        bench
            .ok("get_ticket_details", json!({"ticket_id": ticket}))
            .await,
        before
    );
    let current = json!({"ticket_id": ticket, "team": "x", "if_version": "2"});
    assert_eq!(bench.ok("assign_ticket", current).await["version"], 3);
}

#[tokio::test]
async fn every_write_leaves_one_audit_row_and_every_filter_finds_its_own() {
    let bench = Bench::new().await;
    let customer = bench.customer("ann").await;
    let ticket = bench.ticket(&customer, "One").await;
    bench
        .ok("assign_ticket", json!({"ticket_id": ticket, "team": "x"}))
        .await;
    bench
        .ok(
            "add_comment",
            json!({"ticket_id": ticket, "body": "Secret words"}),
        )
        .await;
    bench
        .error(
            "change_ticket_status",
            json!({"ticket_id": ticket, "status": "resolved"}),
        )
        .await;
    let log = bench.call("list_audit_entries", json!({})).await;
    assert!(!text_of(&log).contains("Secret words"));
    let log = log.structured_content.unwrap();
    assert_eq!(
        each(&log["entries"], "action"),
        [
            "change_ticket_status",
            "add_comment",
            "assign_ticket",
            "create_ticket",
            "create_customer"
        ]
    );
    assert_eq!(log["entries"][0]["actor"], "local:ann");
    assert_eq!(log["entries"][0]["proof"], "asserted");
    assert_eq!(
        log["entries"][0]["entity_id"],
        id(&json!({"t": ticket}), "t")
    );
    for (filter, found) in [
        (json!({"action": "add_comment"}), 1),
        (json!({"ticket_id": ticket}), 4),
        (json!({"customer_id": customer}), 1),
        (json!({"outcome": "refused"}), 1),
        (json!({"outcome": "applied"}), 4),
        (json!({"actor": "local:ann"}), 5),
        (json!({"actor": "local:bo"}), 0),
        (json!({"from": "2026-03-02", "until": "2026-03-02"}), 5),
        (json!({"until": "2026-03-01"}), 0),
        (json!({"from": "2026-03-03"}), 0),
    ] {
        let log = bench.ok("list_audit_entries", filter.clone()).await;
        assert_eq!(log["total"], found, "{filter}");
        assert_eq!(log["returned"], found, "{filter}");
    }
}
