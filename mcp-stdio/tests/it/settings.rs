//! What the binary does with its settings, seen from outside.

use std::process::Output;

use serde_json::{Value, json};

use crate::process::{Server, command, filled, url};

fn run(arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    command()
        .args(arguments)
        .envs(variables.iter().copied())
        .output()
        .unwrap()
}

#[test]
fn a_safety_setting_that_is_misspelt_stops_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let database = url(&folder.path().join("desk.db"));
    let base = ["--database", database.as_str()];
    for (arguments, variables) in [
        (vec!["--readonly"], vec![]),
        (vec!["--read-only=yes"], vec![]),
        (vec!["--toolsets", "ticket"], vec![]),
        (vec!["--classifier", "nome"], vec![]),
        (vec!["--classifier", "remote"], vec![]),
        (vec![], vec![("DESKGATE_CLASSIFIER", "lokal")]),
        (vec![], vec![("DESKGATE_READONLY", "true")]),
        (vec![], vec![("DESKGATE_READ_ONLY", "1")]),
    ] {
        let output = run(&[&base[..], &arguments[..]].concat(), &variables);
        assert!(!output.status.success(), "{arguments:?} {variables:?}");
        assert!(
            output.stdout.is_empty() && !output.stderr.is_empty(),
            "{arguments:?} {variables:?}"
        );
    }
}

#[test]
fn a_store_that_cannot_be_opened_is_told_in_one_line() {
    for bad in ["desk.db", "mysql://x", "sqlite:/no/such/folder/desk.db"] {
        let output = run(&["--database", bad], &[]);
        let log = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            !output.status.success() && log.lines().count() == 1,
            "{bad}: {log}"
        );
    }
}

#[test]
fn read_only_serves_no_writing_tool_and_refuses_one_that_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let database = filled(&folder);
    let mut server = Server::on(&database, &["--read-only"]);
    let listed = server.request("tools/list", json!({}));
    for tool in listed["result"]["tools"].as_array().unwrap() {
        assert_eq!(
            tool["annotations"]["readOnlyHint"], true,
            "{}",
            tool["name"]
        );
    }
    let answer = server.request(
        "tools/call",
        json!({ "name": "add_comment", "arguments": { "ticket_id": "T-1", "body": "x" } }),
    );
    assert_ne!(
        answer["result"]["structuredContent"]["ok"], true,
        "{answer}"
    );
    assert_eq!(
        server.call("get_ticket", json!({ "ticket_id": "T-1" }))["version"],
        1
    );
}

#[test]
fn toolsets_and_role_narrow_what_is_listed() {
    let folder = tempfile::tempdir().unwrap();
    let database = filled(&folder);
    let names = |more: &[&str]| {
        let mut server = Server::on(&database, more);
        let listed = server.request("tools/list", json!({}));
        let tools = listed["result"]["tools"].as_array().unwrap().clone();
        tools
            .iter()
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&["--toolsets", "audit"]), ["list_audit_entries"]);
    let viewer = names(&["--role", "viewer"]);
    assert!(
        viewer.contains(&"get_ticket".to_owned()) && !viewer.contains(&"create_ticket".to_owned()),
        "{viewer:?}"
    );
}

#[test]
fn the_actor_is_the_configured_one_and_is_marked_as_asserted() {
    let folder = tempfile::tempdir().unwrap();
    let database = filled(&folder);
    let mut server = Server::on(&database, &["--actor", "dana"]);
    server.call(
        "add_comment",
        json!({ "ticket_id": "T-1", "body": "hello" }),
    );
    let log = server.call("list_audit_entries", json!({ "ticket_id": "T-1" }));
    let shown = log["entries"][0].to_string();
    assert!(
        shown.contains("dana") && shown.contains("asserted"),
        "{shown}"
    );
    let first = log["entries"]
        .as_array()
        .unwrap()
        .last()
        .unwrap()
        .to_string();
    assert!(first.contains("local:tester"), "{first}");
}

#[test]
fn the_host_entry_has_an_absolute_path_and_is_json() {
    let output = run(&["--demo", "--print-host-config"], &[]);
    let text = String::from_utf8(output.stdout).unwrap();
    let begin = text.find('{').unwrap();
    let entry = serde_json::Deserializer::from_str(&text[begin..])
        .into_iter::<Value>()
        .next()
        .unwrap()
        .unwrap();
    let command = entry["mcpServers"]["deskgate"]["command"].as_str().unwrap();
    assert!(std::path::Path::new(command).is_absolute(), "{command}");
    assert_eq!(entry["mcpServers"]["deskgate"]["args"], json!(["--demo"]));
}

#[test]
fn demonstration_data_is_served_and_gone_afterwards() {
    let mut server = Server::start(&["--demo"]);
    let listed = server.call("list_tickets", json!({ "limit": 1 }));
    assert!(listed["total"].as_u64().unwrap() >= 40, "{listed}");
}

const REMOTE: [&str; 6] = [
    "--classifier",
    "remote",
    "--classifier-provider",
    "ollama",
    "--classifier-model",
    "judge-1",
];

#[test]
#[cfg(not(feature = "remote"))]
fn a_build_without_the_remote_classifier_does_not_start_with_it() {
    for more in ["--demo", "--check-config"] {
        let output = run(&[&REMOTE[..], &[more]].concat(), &[]);
        let log = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            !output.status.success() && output.stdout.is_empty(),
            "{more}"
        );
        assert!(log.contains("has no remote classifier"), "{more}: {log}");
    }
}

#[test]
#[cfg(feature = "remote")]
fn the_remote_classifier_is_announced_and_refuses_where_nobody_answers() {
    let nobody = {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}/", free.local_addr().unwrap())
    };
    let arguments = [&REMOTE[..], &["--demo", "--classifier-endpoint", &nobody]].concat();
    let mut server = Server::start(&arguments);
    let listed = server.call("list_tickets", json!({ "flag": "none", "limit": 1 }));
    let ticket = listed["tickets"][0]["ticket_id"].clone();
    let answer = server.request(
        "tools/call",
        json!({ "name": "draft_response", "arguments": { "ticket_id": ticket } }),
    );
    let answer = &answer["result"]["structuredContent"];
    assert_eq!(
        answer["error"]["code"], "CLASSIFIER_UNAVAILABLE",
        "{answer}"
    );
    assert_eq!(answer["screening"]["mode"], "remote", "{answer}");
    let (.., log) = server.close_within(std::time::Duration::from_secs(5));
    assert!(
        log.contains("the texts of tickets are sent to") && log.contains(&nobody),
        "{log}"
    );
}
