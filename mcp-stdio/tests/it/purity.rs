//! Standard output belongs to the protocol (field report 33), at the most verbose log level, through every tool and
//! every error.

use std::time::Duration;

use serde_json::{Value, json};

use crate::process::{Server, filled};

#[test]
fn every_line_is_a_protocol_message_through_every_tool_and_error() {
    let folder = tempfile::tempdir().unwrap();
    let database = filled(&folder);
    // `Server::read` fails on the first line that is not a message.
    let mut server = Server::on(&database, &["--log", "trace"]);
    let listed = server.request("tools/list", json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap().clone();
    assert!(tools.len() >= 15);
    let arguments = [
        json!({}),
        json!({ "ticket_id": "T-1", "customer_id": "C-1", "query": "printer" }),
        json!({ "ticket_id": "T-1" }),
        json!({ "customer_id": "C-1" }),
        json!({ "query": "printer" }),
        json!({ "ticket_id": "T-1", "body": "CANARY-BODY" }),
        json!({ "ticket_id": "T-1", "status": "in_progress" }),
        json!({ "ticket_id": 99 }),
        json!({ "ticket_id": ["x"], "unknown": null }),
        json!([1]),
        Value::Null,
    ];
    for tool in &tools {
        for arguments in &arguments {
            server.request(
                "tools/call",
                json!({ "name": tool["name"], "arguments": arguments }),
            );
        }
    }
    for (method, parameters) in [
        ("tools/call", json!({ "name": "no_such_tool" })),
        ("no/such/method", json!({})),
        ("resources/list", json!({})),
        ("resources/read", json!({ "uri": "ticket://details/T-1" })),
        ("resources/read", json!({ "uri": "file:///etc/passwd" })),
        ("prompts/list", json!({})),
        (
            "prompts/get",
            json!({ "name": "triage-ticket", "arguments": { "ticket_id": "T-1" } }),
        ),
        ("prompts/get", json!({ "name": "triage-ticket" })),
        ("ping", json!({})),
    ] {
        server.request(method, parameters);
    }
    for garbage in [
        "\n",
        "not json\n",
        "{\"jsonrpc\":\n",
        "[]\n",
        "{\"jsonrpc\":\"2.0\",\"id\":1e400}\n",
        "\u{feff}{}\n",
        "{}\n",
    ] {
        server.send_raw(garbage);
    }
    assert_eq!(
        server.call("get_ticket", json!({ "ticket_id": "T-1" }))["ok"],
        true,
        "it answers after garbage"
    );
    let (status, _, log) = server.close_within(Duration::from_secs(2));
    assert!(status.success());
    assert!(log.contains("tool"), "the log is on standard error: {log}");
    assert!(
        !log.contains("CANARY-BODY"),
        "no ticket text in the log, at any level"
    );
}
