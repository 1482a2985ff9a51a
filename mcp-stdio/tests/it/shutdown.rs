//! A local server dies with its pipe (field report 34), and what it has acknowledged is kept.

use std::time::Duration;

use serde_json::json;

use crate::process::{Server, filled};

const BOUND: Duration = Duration::from_secs(1);

#[test]
fn the_end_of_input_ends_the_process_within_a_second_with_calls_in_flight() {
    let folder = tempfile::tempdir().unwrap();
    let database = filled(&folder);
    let mut server = Server::on(&database, &[]);
    let sent: Vec<u64> = (0..40)
        .map(|n| {
            let arguments = json!({ "ticket_id": "T-1", "body": format!("note {n}") });
            server.post(
                "tools/call",
                json!({ "name": "add_comment", "arguments": arguments }),
            )
        })
        .collect();
    let (status, answers, _) = server.close_within(BOUND);
    assert!(status.success());
    let acknowledged = answers
        .iter()
        .filter(|answer| answer["result"]["structuredContent"]["ok"] == true)
        .count();

    let mut server = Server::on(&database, &[]);
    let details = server.call(
        "get_ticket_details",
        json!({ "ticket_id": "T-1", "limit": 100 }),
    );
    let kept = details["comments"].as_array().unwrap().len();
    assert!(
        kept >= acknowledged && kept <= sent.len(),
        "{acknowledged} acknowledged, {kept} kept"
    );
    assert!(
        acknowledged > 0,
        "a host that closes its end at once still gets answers: {answers:?}"
    );
}

#[test]
fn a_client_that_says_nothing_or_nonsense_is_no_crash() {
    let folder = tempfile::tempdir().unwrap();
    let database = filled(&folder);
    let url = crate::process::url(&database);
    for text in [
        "",
        "\n",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}\n",
        "nonsense\n",
    ] {
        let mut server = Server::start_silent(&["--database", &url]);
        server.send_raw(text);
        let (status, _, log) = server.close_within(BOUND);
        assert!(status.success(), "{text:?}: {log}");
        assert!(!log.contains("panicked"), "{text:?}: {log}");
    }
}

#[cfg(unix)]
#[test]
fn a_termination_signal_ends_it_cleanly() {
    let folder = tempfile::tempdir().unwrap();
    let database = filled(&folder);
    let server = Server::on(&database, &[]);
    let sent = std::process::Command::new("kill")
        .arg(server.child.id().to_string())
        .status()
        .unwrap();
    assert!(sent.success());
    let (status, _, _) = server.close_within(BOUND);
    assert!(status.success());
}
