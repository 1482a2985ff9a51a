//! What an operator does at a terminal instead of serving: decide changes that wait for a person, look after the keys, prove the
//! audit log.

use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use desk::guard::Wall;
use desk::ops::audit::{self, AuditError, Keeper};
use desk::ops::keys;
use desk::system::{SystemClock, SystemIds};
use desk::{Caller, Desk};
use domain::{Actor, ActorChannel, Proof, ScopeSet};
use mcp_surface::{Terminal, decide};
use storage::{DatabaseUrl, Options};

use crate::config::{Audit, Command, Config, Keys};
use crate::print;

/// Does what was asked for.
pub(crate) async fn run(command: &Command, config: &Config) -> anyhow::Result<ExitCode> {
    let url = DatabaseUrl::parse(&config.database)?;
    match command {
        Command::Keys(task) => {
            let task = match task {
                Keys::Create => keys::KeysTask::Create,
                Keys::Rotate => keys::KeysTask::Rotate,
            };
            print(&keys::run(
                task,
                &crate::keys::file(config, &url)?,
                &SystemIds,
            )?)?;
        }
        Command::Approvals(approvals) => {
            let desk = open(&url, config)?;
            let operator = Caller {
                actor: Actor {
                    id: config.actor.clone(),
                    proof: Proof::Asserted,
                    channel: ActorChannel::Cli,
                    client: "terminal".to_owned(),
                },
                scopes: ScopeSet::all(),
                request_id: desk.next_request_id(),
            };
            let (stdin, stdout) = (std::io::stdin(), std::io::stdout());
            let terminal = Terminal {
                is_terminal: stdin.is_terminal() && stdout.is_terminal(),
                input: &mut stdin.lock(),
                output: &mut stdout.lock(),
            };
            let done = decide(&desk, &operator, &approvals.clone().into(), terminal).await;
            desk.close().await?;
            done?;
        }
        Command::Audit(asked) => {
            let desk = Arc::new(open(&url, config)?);
            let code = prove(asked, &desk, config.checkpoint_file.clone()).await;
            desk.close().await?;
            return code;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The desk of a store that is there. An approval and an audit row are sealed with the keys of the servers on it.
fn open(url: &DatabaseUrl, config: &Config) -> anyhow::Result<Desk> {
    let guard = crate::keys::guard(config, url)?;
    let store = Wall::local().open(url, guard.log_keys(), Options::default())?;
    Ok(Desk::new(
        store,
        Arc::new(SystemClock),
        Arc::new(SystemIds),
        guard,
    ))
}

async fn prove(
    asked: &Audit,
    desk: &Arc<Desk>,
    outside: Option<PathBuf>,
) -> anyhow::Result<ExitCode> {
    match asked {
        Audit::Verify { json } => {
            let verdict = audit::verify(desk, outside.as_deref()).await?;
            print(&if *json {
                verdict.to_json()
            } else {
                verdict.to_string()
            })?;
            if !verdict.is_sound() {
                return Ok(ExitCode::FAILURE);
            }
        }
        Audit::Export => {
            audit::export(desk, &mut std::io::stdout().lock()).await?;
        }
        Audit::Checkpoint => {
            let keeper = Keeper::new(Arc::clone(desk), outside);
            let note = keeper.take().await?.ok_or(AuditError::NoCheckpoint)?;
            print(&note.note)?;
            print(&format!("Verified with: {}", audit::verifier(desk)))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
