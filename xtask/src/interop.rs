//! The official Python and TypeScript clients against the stdio server, on both protocol revisions.
//!
//! They are installed by their ordinary package clients into the target folder, pinned, and run the same list of
//! calls (`interop/calls.json`) and of answers to the question about a change (`interop/answers.json`) with strict output
//! validation. Needs python3 and npm, so it is a step of its own.

use std::process::Command;

use anyhow::Context as _;

pub(crate) fn run() -> anyhow::Result<()> {
    crate::run(crate::cargo().args(["build", "--quiet", "--package", "mcp-stdio"]))?;
    let binary = crate::demo::built_binary("deskgate-stdio")?;
    let scripts = crate::root().join("interop");
    let work = binary
        .parent()
        .and_then(std::path::Path::parent)
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
    for name in ["package.json", "check.mjs", "asked.mjs"] {
        std::fs::copy(scripts.join("node").join(name), node.join(name))?;
    }
    crate::run(Command::new("npm").current_dir(&node).args([
        "install",
        "--silent",
        "--no-audit",
        "--no-fund",
    ]))?;

    // Every tool and other capability first, then every way to confirm a guarded change.
    for (script, cases) in [("check", "calls.json"), ("asked", "answers.json")] {
        for revision in ["2025-11-25", "2026-07-28"] {
            let cases = scripts.join(cases);
            let arguments = [binary.as_os_str(), cases.as_os_str(), revision.as_ref()];
            println!("Python client, {revision}, {script}");
            crate::run(
                Command::new(venv.join("bin/python"))
                    .arg(scripts.join("python").join(script).with_extension("py"))
                    .args(arguments),
            )?;
            println!("TypeScript client, {revision}, {script}");
            crate::run(
                Command::new("node")
                    .current_dir(&node)
                    .arg(format!("{script}.mjs"))
                    .args(arguments),
            )?;
        }
    }
    Ok(())
}
