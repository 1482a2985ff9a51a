//! Guarded writes over whole processes that die, lose answers and race (promises C.2, G-4, G-5).

use std::path::Path;
use std::thread;

use serde_json::{Value, json};

use crate::process::{Server, filled};

/// Numbers that are the same in every run (Lehmer's generator).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0 * 48_271 % 2_147_483_647;
        self.0 % bound
    }
}

fn is_full() -> bool {
    std::env::var_os("DESKGATE_FULL").is_some()
}

/// Previews a change of a ticket and gives its token.
fn token(server: &mut Server, change: &Value) -> String {
    let preview = server.call("update_ticket", change.clone());
    assert_eq!(
        preview["error"]["code"], "CONFIRMATION_REQUIRED",
        "{preview}"
    );
    preview["confirmation_token"].as_str().unwrap().to_owned()
}

/// A change that shows in three places: a column, a comment, and the version.
fn change(ticket: &str, number: u64) -> Value {
    json!({
        "ticket_id": ticket, "subject": format!("Subject {number}"), "note": format!("Note {number}")
    })
}

fn commit(ticket: &str, number: u64, token: &str) -> Value {
    let mut arguments = change(ticket, number);
    arguments["confirmation_token"] = json!(token);
    json!({"name": "update_ticket", "arguments": arguments})
}

/// How many [`change`]s were made to a ticket to which nothing else was done; the last one must be whole.
fn made(server: &mut Server, ticket: &str) -> u64 {
    let found = server.call("get_ticket", json!({"ticket_id": ticket}));
    let version = found["version"].as_u64().unwrap();
    let subject = found["subject"]["text"].as_str().unwrap();
    let made = version - 1;
    if made > 0 {
        assert_eq!(subject, format!("Subject {made}"), "{found}");
    }
    let newest = server.call(
        "get_ticket_details",
        json!({"ticket_id": ticket, "limit": 1}),
    );
    let note = &newest["comments"][0]["body"]["text"];
    if made > 0 {
        assert_eq!(note, &format!("Note {made}"), "{newest}");
    } else {
        assert!(note.is_null(), "{newest}");
    }
    made
}

/// [`made`], with every single change and its audit row looked at: each is there once.
fn all_made(server: &mut Server, ticket: &str) -> u64 {
    let made = made(server, ticket);
    let mut notes = Vec::new();
    let mut call = json!({"ticket_id": ticket, "limit": 100});
    loop {
        let page = server.call("get_ticket_details", call.clone());
        for comment in page["comments"].as_array().unwrap().iter().rev() {
            notes.push(comment["body"]["text"].as_str().unwrap().to_owned());
        }
        if page["next_cursor"].is_null() {
            break;
        }
        call["cursor"] = page["next_cursor"].clone();
    }
    // From the newest page to the oldest, each read from its end.
    let expected: Vec<String> = (1..=made).rev().map(|n| format!("Note {n}")).collect();
    assert_eq!(notes, expected, "{ticket}");
    assert_eq!(applied(server, ticket), made, "{ticket}");
    made
}

/// How many audit rows say that a change was applied to a ticket.
fn applied(server: &mut Server, ticket: &str) -> u64 {
    let mut call = json!({
        "ticket_id": ticket, "action": "update_ticket", "outcome": "applied", "limit": 100
    });
    let mut rows = 0;
    loop {
        let page = server.call("list_audit_entries", call.clone());
        rows += page["entries"].as_array().unwrap().len() as u64;
        if page["next_cursor"].is_null() {
            return rows;
        }
        call["cursor"] = page["next_cursor"].clone();
    }
}

/// A caller among several on one pipe, and how far its current change has come.
struct Caller {
    ticket: String,
    /// The change it makes next, or makes now.
    number: u64,
    token: Option<String>,
    /// The id of the request that it waits for.
    waits: u64,
}

impl Caller {
    /// Posts what comes next: the preview, or the commit.
    fn post(&mut self, server: &mut Server) {
        let call = match &self.token {
            None => {
                json!({"name": "update_ticket", "arguments": change(&self.ticket, self.number)})
            }
            Some(token) => commit(&self.ticket, self.number, token),
        };
        self.waits = server.post("tools/call", call);
    }

    /// Takes the answer to that. Gives whether a change was acknowledged.
    fn take(&mut self, answer: &Value) -> bool {
        if self.token.is_none() {
            assert_eq!(answer["error"]["code"], "CONFIRMATION_REQUIRED", "{answer}");
            self.token = answer["confirmation_token"].as_str().map(str::to_owned);
            return false;
        }
        assert_eq!(answer["ok"], true, "{answer}");
        assert_eq!(answer["version"], self.number + 1, "{answer}");
        assert_eq!(answer["confirmation_method"], "token_only", "{answer}");
        self.token = None;
        self.number += 1;
        true
    }
}

#[test]
fn a_kill_at_any_moment_loses_no_acknowledged_write_and_halves_none() {
    const WRITES: u64 = 2_000;
    let folder = tempfile::tempdir().unwrap();
    let database = filled(&folder);
    let mut server = Server::on(&database, &[]);
    let mut callers: Vec<Caller> = (0..8)
        .map(|number| {
            let ticket = server.call(
                "create_ticket",
                json!({"customer_id": "C-1", "subject": format!("Of {number}"), "description": "It is slow."}),
            );
            Caller {
                ticket: ticket["ticket_id"].as_str().unwrap().to_owned(),
                number: 1,
                token: None,
                waits: 0,
            }
        })
        .collect();
    let mut numbers = Numbers(20_261_130);
    let (mut kills, mut cut, mut acknowledged) = (0, 0, 0);
    while acknowledged < WRITES {
        for caller in &mut callers {
            caller.post(&mut server);
        }
        // Sometimes nothing is waited for at all: the kill comes while the requests are on their way.
        for _ in 0..numbers.below(120) {
            let message = server.read().unwrap();
            let caller = callers
                .iter_mut()
                .find(|caller| message["id"] == caller.waits)
                .unwrap();
            acknowledged += u64::from(caller.take(&message["result"]["structuredContent"]));
            caller.post(&mut server);
        }
        server.kill();
        kills += 1;
        server = Server::on(&database, &[]);
        for caller in &mut callers {
            let done = made(&mut server, &caller.ticket);
            let Some(token) = &caller.token else {
                assert_eq!(done, caller.number - 1, "a preview changed something");
                continue;
            };
            // Cut off before, within or after its commit; the same call again has one answer to all three.
            assert!(done == caller.number || done == caller.number - 1);
            cut += 1;
            let call = commit(&caller.ticket, caller.number, token);
            let again = server.call("update_ticket", call["arguments"].clone());
            assert_eq!(again["replayed"], done == caller.number, "{again}");
            acknowledged += u64::from(caller.take(&again));
        }
    }
    for caller in &callers {
        assert_eq!(all_made(&mut server, &caller.ticket), caller.number - 1);
    }
    println!("{acknowledged} writes, {kills} kills, {cut} commits cut off");
    assert!(kills >= 20 && cut >= 40, "{kills} kills, {cut} cut");
}

#[derive(Clone, Copy, Debug)]
enum Lost {
    /// The call never arrived.
    Before,
    /// The server died with it in its hands.
    During,
    /// The server died after the commit.
    After,
}

#[test]
fn a_lost_answer_is_given_again_with_one_effect() {
    let folder = tempfile::tempdir().unwrap();
    let database = filled(&folder);
    let mut watcher = Server::on(&database, &[]);
    let mut number = 0;
    for lost in [Lost::Before, Lost::During, Lost::After] {
        for _ in 0..8 {
            number += 1;
            let mut server = Server::on(&database, &[]);
            let token = token(&mut server, &change("T-1", number));
            let call = commit("T-1", number, &token);
            match lost {
                Lost::Before => {}
                Lost::During => {
                    server.post("tools/call", call.clone());
                }
                Lost::After => {
                    server.post("tools/call", call.clone());
                    wait_for(&mut watcher, number + 1);
                }
            }
            server.kill();
            let mut server = Server::on(&database, &[]);
            let arguments = &call["arguments"];
            let first = server.call("update_ticket", arguments.clone());
            assert_eq!(first["ok"], true, "{lost:?}: {first}");
            match lost {
                Lost::Before => assert_eq!(first["replayed"], false),
                Lost::During => {}
                Lost::After => assert_eq!(first["replayed"], true),
            }
            // The token alone stands for the whole call, and another process knows the answer as well.
            let alone = json!({"ticket_id": "T-1", "confirmation_token": token});
            let mut expected = first.clone();
            expected["replayed"] = json!(true);
            assert_eq!(server.call("update_ticket", alone.clone()), expected);
            assert_eq!(watcher.call("update_ticket", alone), expected);
            assert_eq!(all_made(&mut watcher, "T-1"), number, "{lost:?}");
        }
    }
}

/// Reads until a ticket has come to a version; the test's own time-out ends it where it never does.
fn wait_for(server: &mut Server, version: u64) {
    while server.call("get_ticket", json!({"ticket_id": "T-1"}))["version"] != version {}
}

#[test]
fn two_processes_spend_a_token_once() {
    let folder = tempfile::tempdir().unwrap();
    let database = filled(&folder);
    let tokens = if is_full() { 1_000 } else { 25 };
    let mut servers = [Server::on(&database, &[]), Server::on(&database, &[])];
    for number in 1..=tokens {
        let maker = usize::from(number % 2 == 0);
        let token = token(&mut servers[maker], &change("T-1", number));
        let call = commit("T-1", number, &token);
        let mut answers: Vec<Value> = thread::scope(|scope| {
            let racers: Vec<_> = servers
                .iter_mut()
                .map(|server| scope.spawn(|| race(server, &call)))
                .collect();
            racers
                .into_iter()
                .flat_map(|racer| racer.join().unwrap())
                .collect()
        });
        answers.sort_by_key(|answer| answer["replayed"].as_bool());
        assert_eq!(answers.len(), 64);
        let first = answers.remove(0);
        assert_eq!(first["replayed"], false, "{first}");
        let mut expected = first;
        expected["replayed"] = json!(true);
        for answer in answers {
            assert_eq!(answer, expected);
        }
    }
    assert_eq!(all_made(&mut servers[0], "T-1"), tokens);
    println!("{tokens} tokens, 64 redemptions each");
}

/// The same call 32 times at once.
fn race(server: &mut Server, call: &Value) -> Vec<Value> {
    for _ in 0..32 {
        server.post("tools/call", call.clone());
    }
    (0..32)
        .map(|_| server.read().unwrap()["result"]["structuredContent"].clone())
        .collect()
}

#[test]
fn a_key_is_rotated_under_load_without_a_false_refusal() {
    let folder = tempfile::tempdir().unwrap();
    let database = filled(&folder);
    let mut servers = [Server::on(&database, &[]), Server::on(&database, &[])];
    let first = kid(&database);
    for number in 1..=60 {
        let (maker, spender) = ((number % 2) as usize, (number / 2 % 2) as usize);
        let token = token(&mut servers[maker], &change("T-1", number));
        // Between a preview and its commit, so that the token is of the key before.
        if number == 20 {
            rotate(&database);
        }
        let call = commit("T-1", number, &token);
        let done = servers[spender].call("update_ticket", call["arguments"].clone());
        assert_eq!(done["ok"], true, "{number}: {done}");
    }
    assert_ne!(kid(&database), first, "the key was rotated");
    // Both processes sign with the new key by now or verify it; the token says which key made it.
    let mut fresh = Server::on(&database, &[]);
    let made_by = token(&mut fresh, &change("T-1", 61));
    assert_eq!(made_by.split('.').nth(1), Some(kid(&database).as_str()));
}

/// The id of the key that signs.
fn kid(database: &Path) -> String {
    let file = std::fs::read_to_string(keys_of(database)).unwrap();
    let line = file
        .lines()
        .find(|line| line.contains(" current "))
        .unwrap();
    line.split(' ').next().unwrap().to_owned()
}

fn keys_of(database: &Path) -> std::path::PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push("-keys");
    name.into()
}

fn rotate(database: &Path) {
    let url = crate::process::url(database);
    let output = crate::process::command()
        .args(["--database", &url, "keys", "rotate"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn a_key_file_that_protects_nothing_stops_the_start() {
    const GOOD: &str = "sd-HQMrKU4j2G1SjPHe55uHGG-0TXwlR6gEDugC3eAQ";
    let secrets: [(&str, &str); 6] = [
        ("all zero", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"),
        ("short", "sd-HQMrKU4j2G1SjPHe55g"),
        ("an example", "hJtXIZ2uSN5kbQfbtTNWbpdmhkV8FJG-Onbc6mxCcYg"),
        (
            "a passphrase",
            "Y2hhbmdlLW1lLXBsZWFzZS1jaGFuZ2UtbWUtbm93ISE",
        ),
        ("no base64", "!!!!"),
        ("nothing", ""),
    ];
    let mut files: Vec<(&str, String, u32)> = secrets
        .iter()
        .map(|(name, secret)| {
            (
                *name,
                format!("deskgate-keys 1\nk1 current {secret}\n"),
                0o600,
            )
        })
        .collect();
    let good = format!("deskgate-keys 1\nk1 current {GOOD}\n");
    files.push(("an empty file", String::new(), 0o600));
    files.push(("no key", "deskgate-keys 1\n".to_owned(), 0o600));
    files.push(("readable by the group", good.clone(), 0o640));
    files.push(("readable by all", good.clone(), 0o604));
    files.push(("writable by all", good.clone(), 0o602));
    for (name, text, mode) in &files {
        let (folder, output) = start_with_keys(text, *mode);
        let log = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{name}: {output:?}");
        assert!(output.stdout.is_empty(), "{name}");
        assert!(log.contains("the key file"), "{name}: {log}");
        assert!(!log.contains(GOOD), "{name}: {log}");
        // The file is left for its owner to look at.
        let kept = std::fs::read_to_string(folder.path().join("desk.db-keys")).unwrap();
        assert_eq!(&kept, text, "{name}");
    }
    let (_folder, output) = start_with_keys(&good, 0o600);
    assert!(output.status.success(), "{output:?}");
}

/// Starts a server with this key file, and ends its input at once.
fn start_with_keys(text: &str, mode: u32) -> (tempfile::TempDir, std::process::Output) {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("desk.db-keys");
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    let url = crate::process::url(&folder.path().join("desk.db"));
    let output = crate::process::command()
        .args(["--database", &url])
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    (folder, output)
}
