//! `erase-customer`: a person's right to be forgotten.

use std::process::ExitCode;

use anyhow::{Context as _, ensure};
use clap::{Arg, ArgMatches, Command};
use domain::CustomerId;

use super::{Context, print, runtime};

pub(super) fn command() -> Command {
    let id = |name: &'static str| Arg::new(name).required(true).value_name("ID");
    Command::new("erase-customer")
        .about("Erase a customer with their tickets, comments, calls and scores, for good; the audit log keeps that it was done")
        .arg(id("id").help("Such as C-17"))
        .arg(
            id("repeat")
                .long("repeat")
                .help("The same id again: nothing brings the customer back"),
        )
}

pub(super) fn run(context: &Context, matches: &ArgMatches) -> anyhow::Result<ExitCode> {
    let read = |name: &str| {
        let given = matches.get_one::<String>(name).context("no id")?;
        anyhow::Ok(CustomerId::parse(given)?)
    };
    let id = read("id")?;
    ensure!(
        read("repeat")? == id,
        "`--repeat` names another customer than {id}; nothing was erased"
    );
    runtime()?.block_on(async {
        let desk = context.desk(false, false)?;
        let done = desk.erase_customer(&context.operator(&desk), id).await;
        desk.close().await?;
        let erased = done.with_context(|| format!("{id} was not erased"))?;
        print(&format!(
            "{id} is erased: {} tickets, {} comments, {} calls, {} scores, {} confirmations, {} kept answers.\n\
             Backups, exports and a database server's own logs are not reached from here.",
            erased.tickets,
            erased.comments,
            erased.calls,
            erased.scores,
            erased.confirmations,
            erased.answers
        ))?;
        Ok(ExitCode::SUCCESS)
    })
}
