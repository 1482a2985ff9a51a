//! `audit verify | export | checkpoint`: proving the audit log.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Arg, ArgAction, ArgMatches, Command};
use desk::ops::audit::{self, AuditError, Keeper};

use super::{Context, print, runtime};

pub(super) fn command() -> Command {
    Command::new("audit")
        .about("Prove the audit log")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(
            Command::new("verify")
                .about(
                    "Walk the whole log, and compare it with the checkpoints in `--checkpoint-file`; exit code 0 sound, 1 tampered with, 2 could not finish",
                )
                .arg(
                    Arg::new("json")
                        .long("json")
                        .help("Print the verdict as one JSON object")
                        .action(ArgAction::SetTrue),
                ),
        )
        .subcommand(Command::new("export").about("Print every row with its proof, a line of JSON each"))
        .subcommand(
            Command::new("checkpoint")
                .about("Sign where the log stands, print the note and what verifies it, and append it to `--checkpoint-file`"),
        )
}

pub(super) fn run(context: &Context, matches: &ArgMatches) -> anyhow::Result<ExitCode> {
    runtime()?.block_on(async {
        let desk = context.desk(false, true)?;
        let file = context.config.checkpoint_file.clone();
        let code = match matches.subcommand() {
            Some(("verify", matches)) => verify(&desk, file, matches.get_flag("json")).await,
            Some(("export", _)) => {
                audit::export(&desk, &mut std::io::stdout().lock()).await?;
                Ok(ExitCode::SUCCESS)
            }
            _ => {
                let keeper = Keeper::new(Arc::clone(&desk), file);
                let note = keeper.take().await?.ok_or(AuditError::NoCheckpoint)?;
                print(&note.note)?;
                print(&format!("Verified with: {}", audit::verifier(&desk)))?;
                Ok(ExitCode::SUCCESS)
            }
        };
        desk.close().await?;
        code
    })
}

async fn verify(
    desk: &desk::Desk,
    file: Option<PathBuf>,
    as_json: bool,
) -> anyhow::Result<ExitCode> {
    let verdict = audit::verify(desk, file.as_deref()).await?;
    print(&if as_json {
        verdict.to_json()
    } else {
        verdict.to_string()
    })?;
    Ok(if verdict.is_sound() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
