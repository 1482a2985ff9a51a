//! The official Python and TypeScript clients against both servers, on both protocol revisions.
//!
//! They are installed by their ordinary package clients into the target folder, pinned, and run the same list of
//! calls (`interop/calls.json`) and of answers to the question about a change (`interop/answers.json`) with strict output
//! validation. Needs python3 and npm, so it is a step of its own.

use std::path::Path;
use std::process::Command;

use anyhow::Context as _;

use crate::http_demo::HttpDemo;

/// How a client is started on one of its scripts.
type Client<'a> = &'a dyn Fn(&str) -> Command;

pub(crate) fn run() -> anyhow::Result<()> {
    crate::run(crate::cargo().args(["build", "--quiet", "--package", "mcp-stdio"]))?;
    crate::run(crate::cargo().args(["build", "--quiet", "--package", "mcp-http"]))?;
    let binary = crate::demo::built_binary("deskgate-stdio")?;
    let http = crate::demo::built_binary("deskgate-http")?;
    let scripts = crate::root().join("interop");
    let work = binary
        .parent()
        .and_then(Path::parent)
        .context("a target folder")?
        .join("interop");
    std::fs::create_dir_all(&work)?;

    let venv = work.join("venv");
    if !venv.join("bin/python").exists() {
        crate::run(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
    }
    crate::run(
        Command::new(venv.join("bin/pip"))
            .args([
                "install",
                "--quiet",
                "--disable-pip-version-check",
                "--requirement",
            ])
            .arg(scripts.join("python/requirements.txt")),
    )?;
    let node = work.join("node");
    std::fs::create_dir_all(&node)?;
    for name in ["package.json", "check.mjs", "asked.mjs", "target.mjs"] {
        std::fs::copy(scripts.join("node").join(name), node.join(name))?;
    }
    crate::run(Command::new("npm").current_dir(&node).args([
        "install",
        "--silent",
        "--no-audit",
        "--no-fund",
    ]))?;

    let python = |script: &str| {
        let mut command = Command::new(venv.join("bin/python"));
        command.arg(scripts.join("python").join(script).with_extension("py"));
        command
    };
    let typescript = |script: &str| {
        let mut command = Command::new("node");
        command.current_dir(&node).arg(format!("{script}.mjs"));
        command
    };
    // Every tool and other capability first, then every way to confirm a guarded change.
    for (script, cases) in [("check", "calls.json"), ("asked", "answers.json")] {
        let cases = scripts.join(cases);
        for revision in ["2025-11-25", "2026-07-28"] {
            for (name, client) in [
                ("Python", &python as Client<'_>),
                ("TypeScript", &typescript),
            ] {
                println!("{name} client, {revision}, {script}, over a pipe");
                crate::run(client(script).arg(&binary).arg(&cases).arg(revision))?;
                println!("{name} client, {revision}, {script}, over HTTP");
                let server = HttpDemo::start(&http)?;
                crate::run(
                    client(script)
                        .arg(&server.url)
                        .arg(&cases)
                        .arg(revision)
                        .env("DESKGATE_TEST_TOKEN", &server.token),
                )?;
            }
        }
    }
    Ok(())
}
