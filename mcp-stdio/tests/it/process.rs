//! A server process and the lines that go in and out.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// The binary without the settings of whoever runs the tests.
pub(crate) fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_deskgate-stdio"));
    command
        .env_clear()
        .env("USER", "tester")
        .env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// A running server on a store.
pub(crate) struct Server {
    pub(crate) child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    next: u64,
}

impl Server {
    /// Starts a server and opens a session of revision 2025-11-25.
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let mut server = Self::start_silent(arguments);
        let hello = json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "0" }
        });
        server.request("initialize", hello);
        server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        server
    }

    /// Starts a server and says nothing.
    pub(crate) fn start_silent(arguments: &[&str]) -> Self {
        let mut child = command().args(arguments).spawn().unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self {
            child,
            input,
            output,
            next: 0,
        }
    }

    pub(crate) fn on(database: &Path, more: &[&str]) -> Self {
        let url = url(database);
        let arguments: Vec<&str> = ["--database", url.as_str()]
            .into_iter()
            .chain(more.iter().copied())
            .collect();
        Self::start(&arguments)
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.send_raw(&format!("{message}\n"));
    }

    pub(crate) fn send_raw(&mut self, text: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(text.as_bytes()).unwrap();
        input.flush().unwrap();
    }

    /// Sends a request and returns the whole answering message.
    pub(crate) fn request(&mut self, method: &str, parameters: Value) -> Value {
        let id = self.post(method, parameters);
        loop {
            let message = self.read().expect("the server answers");
            if message["id"] == id {
                return message;
            }
        }
    }

    /// Sends a request without waiting for its answer.
    pub(crate) fn post(&mut self, method: &str, parameters: Value) -> u64 {
        self.next += 1;
        self.send(
            &json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": parameters }),
        );
        self.next
    }

    /// Calls a tool and returns its structured answer.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.request(
            "tools/call",
            json!({ "name": tool, "arguments": arguments }),
        );
        answer["result"]["structuredContent"].clone()
    }

    /// The next line, which must be a protocol message.
    pub(crate) fn read(&mut self) -> Option<Value> {
        let mut line = String::new();
        if self.output.read_line(&mut line).unwrap() == 0 {
            return None;
        }
        let message: Value =
            serde_json::from_str(&line).unwrap_or_else(|_| panic!("not a protocol line: {line:?}"));
        assert_eq!(message["jsonrpc"], "2.0", "not a protocol line: {line:?}");
        Some(message)
    }

    /// Ends the process without a warning, with whatever it is at.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Closes the input and waits for the end, which must come within the bound; gives the rest of the output.
    pub(crate) fn close_within(mut self, bound: Duration) -> (ExitStatus, Vec<Value>, String) {
        drop(self.input.take());
        let begun = Instant::now();
        let mut rest = Vec::new();
        while let Some(message) = self.read() {
            rest.push(message);
        }
        let status = self.child.wait().unwrap();
        assert!(
            begun.elapsed() < bound,
            "it took {:?} to end",
            begun.elapsed()
        );
        let mut log = String::new();
        self.child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut log)
            .unwrap();
        (status, rest, log)
    }
}

pub(crate) fn url(database: &Path) -> String {
    format!("sqlite:{}", database.display())
}

/// A store with one customer and one ticket.
pub(crate) fn filled(folder: &tempfile::TempDir) -> std::path::PathBuf {
    let database = folder.path().join("desk.db");
    let mut server = Server::on(&database, &[]);
    let customer = server.call(
        "create_customer",
        json!({ "name": "Ana", "email": "ana@harbour.example" }),
    );
    let ticket = server.call(
        "create_ticket",
        json!({ "customer_id": customer["customer_id"], "subject": "Printer", "description": "It is offline." }),
    );
    assert_eq!(ticket["ok"], true, "{ticket}");
    let (status, ..) = server.close_within(Duration::from_secs(2));
    assert!(status.success());
    database
}
