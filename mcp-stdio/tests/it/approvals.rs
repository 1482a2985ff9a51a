//! A change that needs a person is decided at a terminal: a real one, of which the test holds the other end.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{ExitStatus, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::{Value, json};

use crate::process::{Server, command, filled, url};

/// Runs a command on a terminal, types an answer when it is asked to, and gives what the screen showed.
fn at_terminal(database: &Path, arguments: &[&str], typed: &str) -> (ExitStatus, String) {
    let near = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&near).unwrap();
    unlockpt(&near).unwrap();
    let name = ptsname(&near, Vec::new()).unwrap();
    let far = OpenOptions::new()
        .read(true)
        .write(true)
        .open(name.to_str().unwrap())
        .unwrap();
    let mut child = command()
        .args(["--database", &url(database)])
        .args(arguments)
        .stdin(Stdio::from(far.try_clone().unwrap()))
        .stdout(Stdio::from(far.try_clone().unwrap()))
        .stderr(Stdio::from(far))
        .spawn()
        .unwrap();
    let mut near = File::from(near);
    let mut screen = Vec::new();
    let mut answered = false;
    let mut some = [0; 1024];
    // The end of the terminal is an error on some systems, and no bytes on others.
    while let Ok(read @ 1..) = near.read(&mut some) {
        screen.extend_from_slice(&some[..read]);
        if !answered && String::from_utf8_lossy(&screen).contains(" to decide: ") {
            near.write_all(format!("{typed}\n").as_bytes()).unwrap();
            answered = true;
        }
    }
    let status = child.wait().unwrap();
    (status, String::from_utf8_lossy(&screen).into_owned())
}

/// A call that needs a person, made by a host that can't ask one. Gives what it answered.
fn deletion(server: &mut Server) -> Value {
    let answer = server.call("delete_ticket", json!({"ticket_id": "T-1"}));
    assert_eq!(
        answer["error"]["code"], "HUMAN_APPROVAL_REQUIRED",
        "{answer}"
    );
    assert!(answer["changes"].is_array(), "{answer}");
    answer
}

fn again(server: &mut Server, answer: &Value) -> Value {
    let token = &answer["confirmation_token"];
    server.call(
        "delete_ticket",
        json!({"ticket_id": "T-1", "confirmation_token": token}),
    )
}

#[test]
fn a_host_that_cannot_ask_is_never_stuck() {
    let folder = tempfile::tempdir().unwrap();
    let database = filled(&folder);
    let mut server = Server::on(&database, &[]);
    let answer = deletion(&mut server);
    let id = answer["approval_id"].as_str().unwrap();
    assert_eq!(
        again(&mut server, &answer)["error"]["code"],
        "APPROVAL_PENDING"
    );

    let (status, screen) = at_terminal(&database, &["approvals", "list"], "");
    assert!(status.success(), "{screen}");
    assert!(
        screen.contains(id) && screen.contains("Deleting ticket T-1"),
        "{screen}"
    );

    // Another id, or a yes, decides nothing.
    for typed in ["yes", "y", "A-99", ""] {
        let (status, screen) = at_terminal(&database, &["approvals", "approve", id], typed);
        assert!(!status.success(), "{typed}: {screen}");
        assert!(screen.contains("nothing was decided"), "{typed}: {screen}");
        assert_eq!(
            again(&mut server, &answer)["error"]["code"],
            "APPROVAL_PENDING",
            "{typed}"
        );
    }

    let (status, screen) = at_terminal(&database, &["approvals", "approve", id], id);
    assert!(status.success(), "{screen}");
    assert!(
        screen.contains("subject: \"Printer\" -> (none)"),
        "{screen}"
    );
    let done = again(&mut server, &answer);
    assert_eq!(done["ok"], true, "{done}");
    assert_eq!(done["confirmation_method"], "operator_terminal");
    assert_eq!(done["approval_id"], id);
    assert_eq!(again(&mut server, &answer)["replayed"], true);

    let log = server.call("list_audit_entries", json!({"ticket_id": "T-1"}));
    let rows = log["entries"].as_array().unwrap();
    let row = |action: &str, outcome: &str| {
        let found = |row: &&Value| row["action"] == action && row["outcome"] == outcome;
        rows.iter().find(found).unwrap_or_else(|| panic!("{log}"))
    };
    let deleted = row("delete_ticket", "applied");
    assert_eq!(deleted["facts"]["confirmation_method"], "operator_terminal");
    assert_eq!(deleted["facts"]["approval"], id);
    let approved = row("approve_change", "applied");
    assert_eq!(approved["channel"], "cli", "{approved}");
    // What is decided is decided.
    let (status, _) = at_terminal(&database, &["approvals", "decline", id], id);
    assert!(!status.success());
}

#[test]
fn a_declined_change_is_told_to_its_caller_and_never_made() {
    let folder = tempfile::tempdir().unwrap();
    let database = filled(&folder);
    let mut server = Server::on(&database, &[]);
    let answer = deletion(&mut server);
    let id = answer["approval_id"].as_str().unwrap();
    let (status, screen) = at_terminal(&database, &["approvals", "decline", id], id);
    assert!(status.success(), "{screen}");
    for _ in 0..2 {
        assert_eq!(
            again(&mut server, &answer)["error"]["code"],
            "CONFIRMATION_DECLINED"
        );
    }
    let (status, _) = at_terminal(&database, &["approvals", "approve", id], id);
    assert!(!status.success());
    assert_eq!(
        server.call("get_ticket", json!({"ticket_id": "T-1"}))["version"],
        1
    );
}

#[test]
fn a_pipe_is_no_person() {
    let folder = tempfile::tempdir().unwrap();
    let database = filled(&folder);
    let mut server = Server::on(&database, &[]);
    let answer = deletion(&mut server);
    let id = answer["approval_id"].as_str().unwrap();
    let mut child = command()
        .args(["--database", &url(&database), "approvals", "approve", id])
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    // It may be gone already.
    drop(input.write_all(format!("{id}\n").as_bytes()));
    drop(input);
    let output = child.wait_with_output().unwrap();
    assert!(!output.status.success(), "{output:?}");
    assert_eq!(
        again(&mut server, &answer)["error"]["code"],
        "APPROVAL_PENDING"
    );
}
