//! Two hosts on one database server, where there is one: the same binary, the same promises, keys that both share.

use serde_json::json;
use testkit::postgres::TestDatabase;

use crate::process::{Server, command};

#[test]
fn hosts_share_a_server_and_its_keys_and_the_log_of_both_is_proved() {
    let folder = tempfile::tempdir().unwrap();
    let keys = folder.path().join("keys");
    let keys = keys.to_str().unwrap();
    let run = |url: &str, more: &[&str]| {
        let settings = ["--database", url, "--key-file", keys];
        command().args(settings).args(more).output().unwrap()
    };
    let made = run("postgres://nobody@127.0.0.1/none", &["keys", "create"]);
    assert!(
        made.status.success(),
        "{}",
        String::from_utf8_lossy(&made.stderr)
    );
    let Some(database) = TestDatabase::claim(|url| {
        let opened = run(url, &["audit", "verify"]);
        assert!(
            opened.status.success(),
            "{}",
            String::from_utf8_lossy(&opened.stderr)
        );
    }) else {
        return;
    };
    let url = database.url();
    let keyless = command().args(["--database", url]).output().unwrap();
    let error = String::from_utf8_lossy(&keyless.stderr).into_owned();
    assert!(
        !keyless.status.success() && error.contains("--key-file"),
        "{error}"
    );
    let unmade = folder.path().join("other");
    let unmade = ["--database", url, "--key-file", unmade.to_str().unwrap()];
    assert!(!command().args(unmade).output().unwrap().status.success());

    let settings = ["--database", url, "--key-file", keys];
    let (mut one, mut other) = (Server::start(&settings), Server::start(&settings));
    let customer = one.call(
        "create_customer",
        json!({"name": "Ada", "email": "ada@example.com"}),
    );
    let filed = other.call(
        "create_ticket",
        json!({"customer_id": customer["customer_id"], "subject": "printer", "description": "It is offline."}),
    );
    assert_eq!(filed["ok"], true, "{filed}");
    // A preview of one host is confirmed at the other: the keys are the same, and so is the store.
    let change = json!({"ticket_id": filed["ticket_id"], "priority": "high"});
    let asked = one.call("update_ticket", change);
    let token = asked["confirmation_token"].clone();
    let granted = other.call(
        "update_ticket",
        json!({"ticket_id": filed["ticket_id"], "confirmation_token": token}),
    );
    assert_eq!(granted["ok"], true, "{granted}");
    let read = one.call("search_tickets", json!({"query": "printers"}));
    assert_eq!(read["tickets"][0]["priority"], "high", "{read}");
    drop((one, other));
    let proved = run(url, &["audit", "verify"]);
    let told = String::from_utf8_lossy(&proved.stdout).into_owned();
    assert_eq!(proved.status.code(), Some(0), "{told}");
}
