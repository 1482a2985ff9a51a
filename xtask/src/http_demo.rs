//! A demonstration server over HTTP as a process, for clients that are other programs.

use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use anyhow::{Context as _, ensure};

/// A demonstration server over HTTP with a desk of its own, gone when this is dropped.
pub(crate) struct HttpDemo {
    process: Child,
    // Kept open: a server that can't print ends.
    output: BufReader<ChildStdout>,
    /// The address of its `/mcp`.
    pub(crate) url: String,
    /// The token that enters.
    pub(crate) token: String,
}

impl HttpDemo {
    /// Starts it and waits until it says where it is.
    pub(crate) fn start(binary: &Path) -> anyhow::Result<Self> {
        // A port that is free now, so that the pages of this server's own address can be named before it starts.
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let port = address.port();
        let origins = format!("http://{address},http://localhost:{port}");
        let mut process = Command::new(binary)
            // The scripts write faster than people do.
            .args([
                "serve",
                "--demo",
                "--bind",
                &address.to_string(),
                "--allowed-origins",
                &origins,
                "--log",
                "warn",
                "--writes-per-second",
                "1000",
            ])
            .stdout(Stdio::piped())
            .spawn()?;
        let stdout = process.stdout.take().context("no output")?;
        let mut demo = Self {
            process,
            output: BufReader::new(stdout),
            url: String::new(),
            token: String::new(),
        };
        while demo.token.is_empty() {
            let mut line = String::new();
            let read = demo.output.read_line(&mut line)?;
            ensure!(read > 0, "the demonstration server did not say where it is");
            let mut words = line.split_ascii_whitespace();
            if let Some(url) = words.find(|word| word.starts_with("http://")) {
                url.clone_into(&mut demo.url);
            }
            if let Some(token) = line.trim_end().strip_prefix("Token: ") {
                token.clone_into(&mut demo.token);
            }
        }
        Ok(demo)
    }
}

impl Drop for HttpDemo {
    fn drop(&mut self) {
        // It may have ended by itself.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}
