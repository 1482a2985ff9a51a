//! The binary as it serves: a signal, what it loses (nothing), what its log and its spans hold.

use std::io::{BufRead as _, BufReader, Read as _};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use http::StatusCode;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::process::{binary, run, text};
use crate::stopping::write_until_stopped;
use crate::support::{Client, soon};

/// A server of a store that stays.
struct Kept {
    process: Child,
    log: BufReader<ChildStderr>,
    address: SocketAddr,
}

impl Kept {
    fn start(folder: &Path) -> Self {
        Self::start_on(
            &format!("sqlite:{}", folder.join("desk.db").display()),
            folder,
        )
    }

    fn start_on(database: &str, folder: &Path) -> Self {
        let mut process = binary()
            .args(["serve", "--bind", "127.0.0.1:0", "--database", database])
            .args(["--writes-per-second", "100000", "--grace-seconds", "10"])
            .arg("--key-file")
            .arg(folder.join("keys"))
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut log = BufReader::new(process.stderr.take().unwrap());
        let address = loop {
            let mut line = String::new();
            assert!(log.read_line(&mut line).unwrap() > 0, "it ended");
            if let Some((_, rest)) = line.split_once("\"url\":\"http://") {
                break rest.split('/').next().unwrap().parse().unwrap();
            }
        };
        Self {
            process,
            log,
            address,
        }
    }

    /// Ends it by a signal, now or later; its exit code and how long it took from then.
    fn stop_when(self, now: mpsc::Receiver<()>) -> (Option<i32>, Duration) {
        let Self {
            mut process,
            mut log,
            ..
        } = self;
        // Nobody else reads its log, and a full pipe would stop it.
        let reader = std::thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
        now.recv().unwrap();
        let told = Instant::now();
        terminate(&process);
        let code = process.wait().unwrap().code();
        reader.join().unwrap().unwrap();
        (code, told.elapsed())
    }
}

fn terminate(process: &Child) {
    let kill = Command::new("kill")
        .args(["-TERM", &process.id().to_string()])
        .status();
    assert!(kill.unwrap().success());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn told_to_stop_under_load_the_process_loses_no_acknowledged_write_and_cuts_no_answer() {
    let folder = TempDir::new().unwrap();
    assert!(run(folder.path(), &["keys", "create"]).status.success());
    let token = |subject: &str| {
        let made = run(
            folder.path(),
            &["token", "create", "--subject", subject, "--role", "lead"],
        );
        text(&made.stdout).lines().next().unwrap().to_owned()
    };
    let tokens: Vec<_> = (0..8).map(|n| token(&format!("writer-{n}"))).collect();
    let server = Kept::start(folder.path());
    let address = server.address;
    let (stop, now) = mpsc::channel();
    let process = tokio::task::spawn_blocking(move || server.stop_when(now));
    let reader = Client {
        address,
        token: Some(tokens[0].clone()),
    };
    let customer = reader
        .call(
            "create_customer",
            json!({"name": "Ada", "email": "ada@example.com"}),
        )
        .await;
    let customer = customer.result()["customer_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let writers: Vec<_> = tokens
        .iter()
        .map(|token| {
            tokio::spawn(write_until_stopped(
                address,
                token.clone(),
                customer.clone(),
            ))
        })
        .collect();
    soon(async {
        loop {
            let listed = reader.call("list_tickets", json!({})).await;
            if listed.result()["total"].as_u64().unwrap() >= 40 {
                break;
            }
        }
    })
    .await;
    stop.send(()).unwrap();
    let mut acknowledged = Vec::new();
    for writer in writers {
        acknowledged.extend(soon(writer).await.unwrap());
    }
    let (code, took) = soon(process).await.unwrap();
    assert_eq!(code, Some(0));
    assert!(took < Duration::from_secs(10), "{took:?}");
    assert!(acknowledged.len() >= 40);

    let server = Kept::start(folder.path());
    let reader = Client {
        address: server.address,
        ..reader
    };
    for id in &acknowledged {
        let read = reader.call("get_ticket", json!({"ticket_id": id})).await;
        assert_eq!(read.code(), "OK", "{id} was acknowledged");
    }
    let (stop, now) = mpsc::channel();
    stop.send(()).unwrap();
    let ended = tokio::task::spawn_blocking(move || server.stop_when(now)).await;
    assert_eq!(ended.unwrap().0, Some(0));
}

#[tokio::test]
async fn two_servers_share_one_database_server() {
    let folder = TempDir::new().unwrap();
    let on = |url: &str, arguments: &[&str]| {
        binary()
            .args(arguments)
            .args(["--database", url, "--key-file"])
            .arg(folder.path().join("keys"))
            .output()
            .unwrap()
    };
    assert!(on("sqlite:x", &["keys", "create"]).status.success());
    let Some(database) = testkit::postgres::TestDatabase::claim(|url| {
        let migrated = on(url, &["migrate"]);
        assert!(migrated.status.success(), "{}", text(&migrated.stderr));
    }) else {
        return;
    };
    let url = database.url();
    let made = on(
        url,
        &["token", "create", "--subject", "anna", "--role", "lead"],
    );
    let token = text(&made.stdout).lines().next().unwrap().to_owned();
    let (one, other) = (
        Kept::start_on(url, folder.path()),
        Kept::start_on(url, folder.path()),
    );
    let client = |server: &Kept| Client {
        address: server.address,
        token: Some(token.clone()),
    };
    let (here, there) = (client(&one), client(&other));
    let made = here
        .call(
            "create_customer",
            json!({"name": "Ada", "email": "ada@example.com"}),
        )
        .await;
    let customer = made.result()["customer_id"].clone();
    let found = there
        .call("get_customer", json!({"customer_id": customer}))
        .await;
    assert_eq!(found.result()["name"]["text"], "Ada", "{}", found.text());
    assert_eq!(there.get("/readyz").await.status, StatusCode::OK);
    for server in [one, other] {
        let (stop, now) = mpsc::channel();
        stop.send(()).unwrap();
        let ended = tokio::task::spawn_blocking(move || server.stop_when(now)).await;
        assert_eq!(ended.unwrap().0, Some(0));
    }
    let proved = on(url, &["audit", "verify"]);
    assert_eq!(proved.status.code(), Some(0), "{}", text(&proved.stdout));
    let notes = folder.path().join("notes");
    let doctor = on(
        url,
        &["doctor", "--checkpoint-file", notes.to_str().unwrap()],
    );
    assert!(doctor.status.success(), "{}", text(&doctor.stdout));
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
        terminate(&self.process);
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
    use crate::support::modern;

    // Sixteen letters each, which are found in the bytes of the message.
    let (in_header, in_meta) = ("trace-of-header-", "trace-of-meta---");
    let parent = |trace: &str| {
        let number = trace
            .bytes()
            .fold(0_u128, |number, byte| number << 8 | u128::from(byte));
        format!("00-{number:032x}-00f067aa0ba902b7-01")
    };
    let collector =
        testkit::Provider::start(|_| testkit::Reply::Json(200, "{}".to_owned())).unwrap();
    let demo = Demo::start_with(&["--log", "error", "--otlp-endpoint", &collector.url()]);
    let call = |name, arguments| {
        modern(
            1,
            "tools/call",
            json!({"name": name, "arguments": arguments}),
        )
    };
    let mut searched = call("search_tickets", json!({"query": "canary-7f3a"}));
    searched.0.push(("traceparent", parent(in_header)));
    let mut read = call("get_ticket", json!({"ticket_id": "T-1"}));
    read.1["params"]["_meta"]["traceparent"] = parent(in_meta).into();
    for (headers, body) in [searched, read] {
        let headers: Vec<_> = headers
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        let answer = soon(demo.client.post(&headers, body.to_string())).await;
        assert_eq!(answer.status, StatusCode::OK);
    }
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
