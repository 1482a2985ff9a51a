//! `cargo xtask`: what people with the source do beside building. Commands about data call the same functions in
//! `desk::ops` as the servers do; nothing here is a second way to do a thing.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::indexing_slicing,
    reason = "this talks to a person, and indexing JSON answers `null` where nothing is"
)]

mod bench;
mod codegen;
mod conformance;
mod data;
mod demo;
mod eval;
mod http_demo;
mod interop;
mod tidy;
mod train;

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::{Context as _, bail};
use clap::{Parser, Subcommand};
use guardrail::remote::FOREIGN_VARIABLES;

#[derive(Parser)]
#[command(
    name = "cargo xtask",
    about = "Everything about this repository that is not `cargo build`",
    max_term_width = 100
)]
struct Arguments {
    #[command(subcommand)]
    command: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Build, seed a temporary store, and watch a client work the queue over stdio
    Demo,
    /// Run every test (cargo nextest where it is installed)
    Test {
        /// Those of the remote classifier, against scripted providers, in a build that has it
        #[arg(long)]
        remote: bool,
        /// What the test runner is given besides
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        rest: Vec<String>,
    },
    /// Check the rules that the compiler does not know
    Tidy,
    /// Write docs/tools.md and docs/error-contract.md from the code
    Codegen {
        /// Change nothing; fail where a file is not what the code says
        #[arg(long)]
        check: bool,
    },
    /// Create or update a store's tables
    Migrate(data::Target),
    /// Fill a store with the demonstration data, or with N generated tickets
    Seed(data::Seed),
    /// Bring in customers, tickets, comments, calls, scores and articles of another system
    Import(data::Import),
    /// Let the official Python and TypeScript clients use the server (installs them; needs python3 and npm)
    Interop,
    /// Run the protocol's conformance suite against the HTTP server (installs it; needs npm)
    Conformance,
    /// Measure the guardrail on corpus files
    Eval(eval::Options),
    /// Train the local classifier from the texts in guardrail/training and write its model file
    Train,
    /// Measure whole processes on a store of 10,000 tickets
    Bench(bench::Options),
}

fn main() -> ExitCode {
    let Err(error) = task() else {
        return ExitCode::SUCCESS;
    };
    eprintln!("Error: {error:?}");
    // A corpus that is refused is told apart from a command that failed.
    ExitCode::from(if error.is::<eval::Refused>() { 2 } else { 1 })
}

fn task() -> anyhow::Result<()> {
    match Arguments::parse().command {
        Task::Demo => demo::run(),
        Task::Test { remote: true, rest } => test_remote(&rest),
        Task::Test {
            remote: false,
            rest,
        } => test(&rest),
        Task::Tidy => tidy::run(&root()),
        Task::Codegen { check } => codegen::run(&root(), check),
        Task::Migrate(target) => data::migrate(&target),
        Task::Seed(seed) => data::seed(&seed),
        Task::Import(import) => data::import(&import),
        Task::Interop => interop::run(),
        Task::Conformance => conformance::run(),
        Task::Eval(options) => eval::run(&options, &root()),
        Task::Train => train::run(&root()),
        Task::Bench(options) => bench::run(&options),
    }
}

/// The folder of the workspace.
fn root() -> PathBuf {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    here.parent().map_or_else(|| here.clone(), PathBuf::from)
}

/// The cargo that runs this.
fn cargo() -> Command {
    let mut command = Command::new(option_env!("CARGO").unwrap_or("cargo"));
    command.current_dir(root());
    command
}

/// The cargo that runs tests: without the variables that libraries for providers of language models read, so that no test
/// reaches a live one with somebody's key. A test fails where one is left.
fn cargo_for_tests() -> Command {
    let mut command = cargo();
    for (name, _) in std::env::vars_os() {
        let foreign = name.to_str().is_some_and(|name| {
            let begins = FOREIGN_VARIABLES
                .iter()
                .any(|begin| name.starts_with(begin));
            begins || name.starts_with("DESKGATE_CLASSIFIER")
        });
        if foreign {
            command.env_remove(name);
        }
    }
    command
}

/// The subcommand that runs tests here.
fn runner() -> &'static [&'static str] {
    let nextest = cargo()
        .args(["nextest", "--version"])
        .output()
        .is_ok_and(|output| output.status.success());
    if nextest {
        &["nextest", "run"]
    } else {
        &["test"]
    }
}

/// What the feature `remote` reaches. It is off in every other build, so these tests need one of their own.
fn test_remote(rest: &[String]) -> anyhow::Result<()> {
    let packages = [
        "-p",
        "guardrail",
        "-p",
        "mcp-stdio",
        "-p",
        "mcp-http",
        "--features",
    ];
    let features = "guardrail/remote,mcp-stdio/remote,mcp-http/remote,mcp-http/otel";
    run(cargo_for_tests()
        .args(runner())
        .args(packages)
        .arg(features)
        .args(["remote", "environment", "spans"])
        .args(rest))
}

fn test(rest: &[String]) -> anyhow::Result<()> {
    let runner = runner();
    run(cargo_for_tests().args(runner).arg("--workspace").args(rest))?;
    // nextest runs no doctests, and the write gate proves with some that a grant can't be made by hand.
    if runner.contains(&"nextest") && rest.is_empty() {
        run(cargo_for_tests().args(["test", "--workspace", "--doc"]))
    } else {
        Ok(())
    }
}

/// Runs a command to its end and fails with it.
fn run(command: &mut Command) -> anyhow::Result<()> {
    let shown = format!("{command:?}");
    let status = command.status().with_context(|| shown.clone())?;
    if status.success() {
        Ok(())
    } else {
        bail!("{shown} ended with {status}")
    }
}
