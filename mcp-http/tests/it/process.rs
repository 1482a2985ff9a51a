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
    for first in [["migrate"].as_slice(), &["keys", "create"]] {
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
    assert!(text(&run(folder.path(), &["migrate"]).stdout).starts_with("applied 0001"));
    assert!(text(&run(folder.path(), &["migrate"]).stdout).contains("up to date"));
    assert!(run(folder.path(), &["keys", "create"]).status.success());
    let healthy = run(folder.path(), &["doctor"]);
    assert!(healthy.status.success(), "{}", text(&healthy.stdout));
    let loud = run(folder.path(), &["doctor", "--log", "trace"]);
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
        Self::start_with(&["--log", log])
    }

    fn start_with(more: &[&str]) -> Self {
        let mut process = binary()
            .args(["serve", "--demo", "--bind", "127.0.0.1:0"])
            .args(more)
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
fn a_build_without_the_remote_classifier_does_not_serve_with_it() {
    let output = binary()
        .args(["serve", "--demo", "--bind", "127.0.0.1:0"])
        .args(REMOTE)
        .output()
        .unwrap();
    let error = text(&output.stderr);
    assert!(
        !output.status.success() && error.contains("has no remote classifier"),
        "{error}"
    );
}

#[tokio::test]
#[cfg(feature = "remote")]
async fn the_remote_classifier_is_announced_and_refuses_where_nobody_answers() {
    let nobody = {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}/", free.local_addr().unwrap())
    };
    let more = [&REMOTE[..], &["--classifier-endpoint", &nobody]].concat();
    let demo = Demo::start_with(&more);
    let listed = demo
        .client
        .call("list_tickets", json!({"flag": "none", "limit": 1}))
        .await;
    let ticket = listed.result()["tickets"][0]["ticket_id"].clone();
    let refused = soon(
        demo.client
            .call("draft_response", json!({"ticket_id": ticket})),
    )
    .await;
    assert_eq!(
        refused.code(),
        "CLASSIFIER_UNAVAILABLE",
        "{}",
        refused.text()
    );
    assert_eq!(refused.result()["screening"]["mode"], "remote");
    let (_, log) = tokio::task::spawn_blocking(|| demo.stop()).await.unwrap();
    assert!(
        log.contains("the texts of tickets are sent to") && log.contains(&nobody),
        "{log}"
    );
}

#[test]
#[cfg(not(feature = "otel"))]
fn a_build_without_the_export_of_spans_does_not_serve_with_it() {
    let output = binary()
        .args(["serve", "--demo", "--bind", "127.0.0.1:0"])
        .args(["--otlp-endpoint", "http://127.0.0.1:4318"])
        .output()
        .unwrap();
    let error = text(&output.stderr);
    assert!(
        !output.status.success() && error.contains("`otel`"),
        "{error}"
    );
}

#[tokio::test]
#[cfg(feature = "otel")]
async fn spans_reach_the_collector_in_their_callers_trace_and_hold_no_text() {
    // Sixteen letters each, which are found in the bytes of the message.
    let (in_header, in_meta) = ("trace-of-header-", "trace-of-meta---");
    let parent = |trace: &str| {
        let trace: String = trace.bytes().map(|byte| format!("{byte:02x}")).collect();
        format!("00-{trace}-00f067aa0ba902b7-01")
    };
    let collector =
        testkit::Provider::start(|_| testkit::Reply::Json(200, "{}".to_owned())).unwrap();
    let demo = Demo::start_with(&["--log", "error", "--otlp-endpoint", &collector.url()]);
    let (mut headers, body) = crate::support::modern(
        1,
        "tools/call",
        json!({"name": "search_tickets", "arguments": {"query": "canary-7f3a"}}),
    );
    headers.push(("traceparent", parent(in_header)));
    let headers: Vec<_> = headers
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    let answer = soon(demo.client.post(&headers, body.to_string())).await;
    assert_eq!(answer.status, StatusCode::OK);
    let (headers, mut body) = crate::support::modern(
        2,
        "tools/call",
        json!({"name": "get_ticket", "arguments": {"ticket_id": "T-1"}}),
    );
    body["params"]["_meta"]["traceparent"] = parent(in_meta).into();
    let headers: Vec<_> = headers
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    let answer = soon(demo.client.post(&headers, body.to_string())).await;
    assert_eq!(answer.status, StatusCode::OK);
    let token = demo.client.token.clone().unwrap();
    let (code, log) = tokio::task::spawn_blocking(|| demo.stop()).await.unwrap();
    assert_eq!(code, Some(0), "{log}");
    let asked = collector.asked();
    assert!(
        !asked.is_empty()
            && asked
                .iter()
                .all(|one| one.line.starts_with("POST /v1/traces "))
    );
    let sent: String = asked.iter().map(|one| one.body.as_str()).collect();
    for wanted in [
        "search_tickets",
        "get_ticket",
        "deskgate-http",
        in_header,
        in_meta,
    ] {
        assert!(sent.contains(wanted), "{wanted}");
    }
    assert!(!sent.contains("canary-7f3a") && !sent.contains(&token));
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
