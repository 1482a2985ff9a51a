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
mod data;
mod demo;
mod eval;
mod interop;
mod tidy;
mod train;

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::{Context as _, bail};
use clap::{Parser, Subcommand};

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
        Task::Test { rest } => test(&rest),
        Task::Tidy => tidy::run(&root()),
        Task::Codegen { check } => codegen::run(&root(), check),
        Task::Migrate(target) => data::migrate(&target),
        Task::Seed(seed) => data::seed(&seed),
        Task::Import(import) => data::import(&import),
        Task::Interop => interop::run(),
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

fn test(rest: &[String]) -> anyhow::Result<()> {
    let nextest = cargo()
        .args(["nextest", "--version"])
        .output()
        .is_ok_and(|output| output.status.success());
    let arguments: &[&str] = if nextest {
        &["nextest", "run", "--workspace"]
    } else {
        &["test", "--workspace"]
    };
    run(cargo().args(arguments).args(rest))?;
    // nextest runs no doctests, and the write gate proves with some that a grant can't be made by hand.
    if nextest && rest.is_empty() {
        run(cargo().args(["test", "--workspace", "--doc"]))
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
