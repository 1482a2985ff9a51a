//! The binary itself: commands, what stops a start, a signal, and what the log holds.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Output, Stdio};

use http::StatusCode;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{Client, soon};

fn binary() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_deskgate-http"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("DESKGATE_") {
            command.env_remove(name);
        }
    }
    command.env("RUST_LOG", "trace");
    command
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    let database = format!("sqlite:{}", folder.join("desk.db").display());
    binary()
        .args(arguments)
        .args(["--database", &database, "--key-file"])
        .arg(folder.join("keys"))
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn tokens_are_made_shown_once_listed_and_ended() {
    let folder = TempDir::new().unwrap();
    assert!(run(folder.path(), &["keys", "create"]).status.success());
    let made = run(
        folder.path(),
        &[
            "token",
            "create",
            "--subject",
            "anna",
            "--role",
            "agent",
            "--scope",
            "audit:read",
            "--days",
            "30",
        ],
    );
    assert!(made.status.success(), "{}", text(&made.stderr));
    let shown = text(&made.stdout);
    let token = shown.lines().next().unwrap();
    assert!(token.starts_with("dgt_") && token.len() == 68, "{shown}");
    assert!(shown.contains("desk:write audit:read"), "{shown}");
    let list = text(&run(folder.path(), &["token", "list"]).stdout);
    assert!(
        list.starts_with("1\tanna\tuntil ") && list.contains("never used"),
        "{list}"
    );
    assert!(!list.contains("dgt_"));
    let store = std::fs::read(folder.path().join("desk.db")).unwrap();
    assert!(
        !text(&store).contains(token),
        "the store holds the token itself"
    );
    assert!(
        run(folder.path(), &["token", "revoke", "1"])
            .status
            .success()
    );
    assert!(text(&run(folder.path(), &["token", "list"]).stdout).contains("\tended "));
    for bad in [
        vec!["token", "create", "--subject", "anna"],
        vec!["token", "create", "--subject", "", "--role", "viewer"],
        vec!["token", "create", "--subject", "anna", "--role", "admin"],
        vec![
            "token",
            "create",
            "--subject",
            "anna",
            "--scope",
            "DESK:READ",
        ],
        vec![
            "token",
            "create",
            "--subject",
            "anna",
            "--role",
            "viewer",
            "--days",
            "367",
        ],
        vec!["token", "revoke", "99"],
    ] {
        assert!(!run(folder.path(), &bad).status.success(), "{bad:?}");
    }
}

#[test]
fn an_unsafe_or_misspelt_setting_stops_the_start() {
    let folder = TempDir::new().unwrap();
    assert!(run(folder.path(), &["keys", "create"]).status.success());
    for (arguments, word) in [
        (vec!["serve", "--confirm", "off"], "standard, strict"),
        (vec!["serve", "--bind", "0.0.0.0:0"], "public_url"),
        (
            vec!["serve", "--personal-tokens=false"],
            "nobody could sign in",
        ),
        (vec!["serve", "--read-only=yes"], "only `true` and `false`"),
        (vec!["serve", "--readonly"], "unexpected argument"),
        (vec!["serve", "--allowed-origins", "*"], "allowed origin"),
        (
            vec!["serve", "--trusted-proxies", "everybody"],
            "trusted proxy",
        ),
        (vec!["serve", "--public-url", "desk.example"], "public_url"),
    ] {
        let mut arguments = arguments;
        if !arguments.contains(&"--bind") {
            arguments.extend(["--bind", "127.0.0.1:0"]);
        }
        let output = run(folder.path(), &arguments);
        let error = text(&output.stderr);
        assert!(!output.status.success(), "{arguments:?}");
        assert!(error.contains(word), "{arguments:?}: {error}");
    }
    let misspelt = binary()
        .args(["doctor"])
        .env("DESKGATE_READONLY", "true")
        .output()
        .unwrap();
    assert!(!misspelt.status.success() && text(&misspelt.stderr).contains("DESKGATE_READ_ONLY"));
    let demo = binary()
        .args([
            "serve",
            "--demo",
            "--bind",
            "0.0.0.0:0",
            "--public-url",
            "https://a.example/mcp",
        ])
        .output()
        .unwrap();
    assert!(!demo.status.success() && text(&demo.stderr).contains("loopback only"));
    let unknown_alg = folder.path().join("hs.toml");
    std::fs::write(&unknown_alg, "[[issuers]]\nissuer = \"https://a.example\"\nalgorithms = [\"HS256\"]\njwks_file = \"k\"\n").unwrap();
    let hmac = run(
        folder.path(),
        &[
            "serve",
            "--bind",
            "127.0.0.1:0",
            "--config",
            unknown_alg.to_str().unwrap(),
        ],
    );
    assert!(
        !hmac.status.success() && text(&hmac.stderr).contains("use asymmetric algorithms"),
        "{}",
        text(&hmac.stderr)
    );
}

#[test]
fn without_a_good_private_key_nothing_is_served() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("keys");
    let serve = ["serve", "--bind", "127.0.0.1:0"];
    let refused = |word: &str| {
        let output = run(folder.path(), &serve);
        let error = text(&output.stderr);
        assert!(
            !output.status.success() && error.contains(word),
            "{word}: {error}"
        );
        let doctor = run(folder.path(), &["doctor"]);
        assert!(
            text(&doctor.stdout).contains(word),
            "{}",
            text(&doctor.stdout)
        );
    };
    refused("there is no key file");
    let made = run(folder.path(), &["keys", "create"]);
    assert!(made.status.success(), "{}", text(&made.stderr));
    let good = std::fs::read_to_string(&path).unwrap();
    assert!(!run(folder.path(), &["keys", "create"]).status.success());
    assert!(run(folder.path(), &["keys", "rotate"]).status.success());
    assert_ne!(std::fs::read_to_string(&path).unwrap(), good);
    for secret in good.split_ascii_whitespace().filter(|word| word.len() > 40) {
        assert!(!text(&made.stdout).contains(secret));
    }
    for bad in ["", "k1 AAAA\n", "nonsense"] {
        std::fs::write(&path, bad).unwrap();
        refused("is refused");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::write(&path, &good).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        refused("is open to other users");
    }
    let unnamed = binary()
        .args(["serve", "--bind", "127.0.0.1:0", "--database"])
        .arg(format!(
            "sqlite:{}",
            folder.path().join("other.db").display()
        ))
        .output()
        .unwrap();
    assert!(!unnamed.status.success() && text(&unnamed.stderr).contains("DESKGATE_KEY_FILE"));
}

#[test]
fn a_pipe_decides_no_approval() {
    let folder = TempDir::new().unwrap();
    for first in [["keys", "create"].as_slice(), &["migrate"]] {
        assert!(run(folder.path(), first).status.success());
    }
    let list = run(folder.path(), &["approvals", "list"]);
    assert_eq!(text(&list.stdout), "Nothing waits for a person.\n");
    for (id, word) in [("A-1", "nothing waits"), ("T-1", "approval")] {
        let output = run(folder.path(), &["approvals", "approve", id]);
        let error = text(&output.stderr);
        assert!(
            !output.status.success() && error.contains(word),
            "{id}: {error}"
        );
    }
}

#[test]
fn migrate_check_config_import_and_doctor_do_what_they_say() {
    let folder = TempDir::new().unwrap();
    let unsealed = run(folder.path(), &["migrate"]);
    assert!(text(&unsealed.stderr).contains("make one with `keys create`"));
    assert!(run(folder.path(), &["keys", "create"]).status.success());
    assert!(text(&run(folder.path(), &["migrate"]).stdout).starts_with("applied 0001"));
    assert!(text(&run(folder.path(), &["migrate"]).stdout).contains("up to date"));
    let alone = run(folder.path(), &["doctor"]);
    assert!(text(&alone.stdout).contains("truncation and a full rewrite of the audit log"));
    let notes = folder.path().join("notes");
    let kept = ["--checkpoint-file", notes.to_str().unwrap()];
    let healthy = run(folder.path(), &["doctor", kept[0], kept[1]]);
    assert!(healthy.status.success(), "{}", text(&healthy.stdout));
    let loud = run(
        folder.path(),
        &["doctor", "--log", "trace", kept[0], kept[1]],
    );
    assert_eq!(loud.status.code(), Some(1));
    assert!(text(&loud.stdout).contains("`log` is `trace`"));
    let printed = run(
        folder.path(),
        &["serve", "--check-config", "--sessions", "9"],
    );
    assert!(text(&printed.stdout).contains("sessions = 9"));
    let row = r#"{"external_id":"c1","name":"Ada","email":"ada@example.com","status":"active","created_at":"2026-01-01T00:00:00Z"}"#;
    std::fs::write(folder.path().join("customers.jsonl"), row).unwrap();
    let path = folder.path().join("customers.jsonl");
    let imported = run(folder.path(), &["import", path.to_str().unwrap()]);
    assert!(
        imported.status.success(),
        "{} {}",
        text(&imported.stdout),
        text(&imported.stderr)
    );
}

/// A demonstration server as a process.
struct Demo {
    process: Child,
    output: BufReader<ChildStdout>,
    client: Client,
}

impl Demo {
    fn start(log: &str) -> Self {
        let mut process = binary()
            .args(["serve", "--demo", "--bind", "127.0.0.1:0", "--log", log])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let (mut address, mut token) = (None, None);
        while token.is_none() {
            let mut line = String::new();
            assert!(output.read_line(&mut line).unwrap() > 0, "it ended");
            if let Some((_, rest)) = line.split_once("http://") {
                address = rest
                    .split('/')
                    .next()
                    .map(|address| address.parse().unwrap());
            }
            token = line.trim_end().strip_prefix("Token: ").map(str::to_owned);
        }
        let client = Client {
            address: address.unwrap(),
            token,
        };
        Self {
            process,
            output,
            client,
        }
    }

    /// Ends it by a signal; its exit code and its log.
    fn stop(mut self) -> (Option<i32>, String) {
        let id = self.process.id().to_string();
        assert!(
            Command::new("kill")
                .args(["-TERM", &id])
                .status()
                .unwrap()
                .success()
        );
        let mut log = String::new();
        self.process
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut log)
            .unwrap();
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).unwrap();
        (self.process.wait().unwrap().code(), log)
    }
}

#[tokio::test]
async fn the_demonstration_answers_and_a_signal_ends_it_with_a_clean_code() {
    let demo = Demo::start("warn");
    let found = soon(
        demo.client
            .call("search_tickets", json!({"query": "printer"})),
    )
    .await;
    assert_eq!(found.code(), "OK");
    assert!(found.result()["total"].as_u64().unwrap() > 0);
    let session = soon(demo.client.open()).await;
    assert_eq!(session.call("list_tickets", json!({})).await.code(), "OK");
    let (code, log) = tokio::task::spawn_blocking(|| demo.stop()).await.unwrap();
    assert_eq!(code, Some(0), "{log}");
}

#[tokio::test]
async fn every_log_line_is_one_object_and_holds_no_secret_and_no_text() {
    let demo = Demo::start("trace");
    let client = demo.client.clone();
    let canary = "canary-7f3a\u{1b}[31m\r\n{\"level\":\"forged\"}\u{2028}";
    let customer = client
        .call(
            "create_customer",
            json!({"name": "Kay Canary-7f3a", "email": "canary-7f3a@example.com"}),
        )
        .await;
    let customer = customer.result()["customer_id"].clone();
    client
        .call(
            "create_ticket",
            json!({"customer_id": customer, "subject": "canary-7f3a", "description": canary}),
        )
        .await;
    client
        .call("search_tickets", json!({"query": "canary-7f3a"}))
        .await;
    client
        .call("get_customer", json!({"customer_id": "canary-7f3a"}))
        .await;
    client.call("canary-7f3a", json!({})).await;
    let session = client.open().await;
    session
        .post(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5, "reason": canary}}))
        .await;
    client.get("/canary-7f3a?access_token=canary-7f3a").await;
    let mut hostile = client.clone();
    hostile.token = Some("canary-7f3a.canary-7f3a.canary-7f3a".to_owned());
    assert_eq!(
        hostile.call("list_tickets", json!({})).await.status,
        StatusCode::UNAUTHORIZED
    );
    client
        .post(
            &[
                ("traceparent", "canary-7f3a"),
                ("x-canary-7f3a", "canary-7f3a"),
            ],
            "{\"canary-7f3a\"",
        )
        .await;
    let token = client.token.clone().unwrap();
    let (_, log) = tokio::task::spawn_blocking(|| demo.stop()).await.unwrap();
    assert!(log.lines().count() > 10, "{log}");
    for line in log.lines() {
        let entry: Value =
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert!(
            entry["level"].is_string() && entry["level"] != "forged",
            "{line}"
        );
        assert!(!line.contains("canary-7f3a"), "{line}");
        assert!(!line.contains(&token) && !line.contains("dgt_"), "{line}");
    }
    assert!(log.contains("\"tool.name\":\"search_tickets\""));
}

#[test]
fn the_audit_log_is_proved_from_outside_with_an_exit_code_for_each_verdict() {
    let (folder, other) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let notes = folder.path().join("notes");
    let kept = ["--checkpoint-file", notes.to_str().unwrap()];
    let token = ["token", "create", "--subject", "anna", "--role", "agent"];
    let early = run(folder.path(), &["audit", "verify"]);
    assert_eq!(early.status.code(), Some(2), "there is no key file");
    assert!(run(folder.path(), &["keys", "create"]).status.success());
    assert!(run(folder.path(), &token).status.success());
    let signed = run(folder.path(), &["audit", "checkpoint", kept[0], kept[1]]);
    let shown = text(&signed.stdout);
    assert!(
        signed.status.success() && shown.starts_with("deskgate/"),
        "{shown}"
    );
    assert!(shown.contains("\nVerified with: deskgate/"), "{shown}");
    assert!(run(folder.path(), &["keys", "rotate"]).status.success());
    assert!(run(folder.path(), &token).status.success());
    let sound = run(
        folder.path(),
        &["audit", "verify", "--json", kept[0], kept[1]],
    );
    let verdict: serde_json::Value = serde_json::from_str(&text(&sound.stdout)).unwrap();
    assert_eq!(sound.status.code(), Some(0), "{verdict}");
    assert_eq!(
        (&verdict["rows"], &verdict["anchored"]),
        (&2.into(), &1.into())
    );
    let alone = run(folder.path(), &["audit", "verify"]);
    assert!(text(&alone.stdout).contains("not detectable"));
    let exported = text(&run(folder.path(), &["audit", "export"]).stdout);
    assert_eq!(exported.lines().count(), 2);
    // The same keys and another store: somebody has put it in the place of this one.
    std::fs::copy(folder.path().join("keys"), other.path().join("keys")).unwrap();
    assert!(run(other.path(), &token).status.success());
    let swapped = run(other.path(), &["audit", "verify", kept[0], kept[1]]);
    assert_eq!(swapped.status.code(), Some(1));
    assert!(text(&swapped.stdout).starts_with("TAMPERED at row 1: "));
}
