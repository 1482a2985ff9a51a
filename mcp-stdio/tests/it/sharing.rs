//! Two hosts on one store: no lock reaches a caller and no update is lost (field reports 45 and 51).

use std::thread;

use serde_json::json;

use crate::process::{Server, filled};

#[test]
fn two_processes_with_sixteen_parallel_callers_lose_nothing_and_meet_no_lock() {
    let folder = tempfile::tempdir().unwrap();
    let database = filled(&folder);
    let rounds = if std::env::var_os("DESKGATE_FULL").is_some() {
        200
    } else {
        25
    };
    let workers: Vec<_> = (0..2)
        .map(|process| {
            let database = database.clone();
            thread::spawn(move || {
                let mut server = Server::on(&database, &[]);
                let (mut applied, mut stale) = (0, 0);
                for round in 0..rounds {
                    // Eight callers at once in each process: comments without a condition, assignments with one.
                    let version = server.call("get_ticket", json!({ "ticket_id": "T-1" }))["version"].clone();
                    for caller in 0..8 {
                        let (tool, arguments) = if caller % 2 == 0 {
                            ("add_comment", json!({ "ticket_id": "T-1", "body": format!("{process} {round} {caller}") }))
                        } else {
                            let name = format!("agent {process} {round} {caller}");
                            ("assign_ticket", json!({ "ticket_id": "T-1", "assignee": name, "if_version": version }))
                        };
                        server.post("tools/call", json!({ "name": tool, "arguments": arguments }));
                    }
                    for _ in 0..8 {
                        let message = server.read().unwrap();
                        let answer = &message["result"]["structuredContent"];
                        if answer["ok"] == true {
                            applied += 1;
                        } else {
                            assert_eq!(answer["error"]["code"], "STALE", "{answer}");
                            stale += 1;
                        }
                    }
                }
                (applied, stale)
            })
        })
        .collect();
    let (mut applied, mut stale) = (0, 0);
    for worker in workers {
        let (a, s) = worker.join().unwrap();
        applied += a;
        stale += s;
    }
    assert!(stale > 0, "the loser of a race is told");
    let mut server = Server::on(&database, &[]);
    let version = server.call("get_ticket", json!({ "ticket_id": "T-1" }))["version"]
        .as_i64()
        .unwrap();
    assert_eq!(
        version,
        1 + applied,
        "every acknowledged change is one version"
    );
    println!("{applied} applied, {stale} stale");
}
