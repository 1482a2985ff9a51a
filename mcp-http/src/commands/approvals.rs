//! `approvals list | approve | decline`: changes that wait for a person.

use std::io::IsTerminal as _;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Arg, ArgMatches, Command};
use mcp_surface::{Approvals, Terminal, decide};

use super::{Context, runtime};

pub(super) fn command() -> Command {
    let id = || {
        Arg::new("id")
            .required(true)
            .value_name("ID")
            .help("Such as A-17")
    };
    Command::new("approvals")
        .about("Changes that wait for a person")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(Command::new("list").about("Show every change that waits"))
        .subcommand(
            Command::new("approve")
                .about("Approve one, at a terminal: the change is shown and its id has to be typed")
                .arg(id()),
        )
        .subcommand(
            Command::new("decline")
                .about("Decline one, at a terminal")
                .arg(id()),
        )
}

pub(super) fn run(context: &Context, matches: &ArgMatches) -> anyhow::Result<ExitCode> {
    let (name, matches) = matches.subcommand().context("no command")?;
    let id = || {
        let id = matches.get_one::<String>("id").cloned();
        id.context("no id")
    };
    let asked = match name {
        "approve" => Approvals::Approve(id()?),
        "decline" => Approvals::Decline(id()?),
        _ => Approvals::List,
    };
    runtime()?.block_on(async {
        let desk = context.desk(false, false)?;
        let operator = context.operator(&desk);
        let (stdin, stdout) = (std::io::stdin(), std::io::stdout());
        let terminal = Terminal {
            is_terminal: stdin.is_terminal() && stdout.is_terminal(),
            input: &mut stdin.lock(),
            output: &mut stdout.lock(),
        };
        let done = decide(&desk, &operator, &asked, terminal).await;
        desk.close().await?;
        Ok(done.map(|()| ExitCode::SUCCESS)?)
    })
}
