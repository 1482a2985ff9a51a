//! What an operator does at a terminal instead of serving: decide changes that wait for a person, look after the keys.

use std::io::IsTerminal as _;
use std::sync::Arc;

use anyhow::Context as _;
use desk::guard::Wall;
use desk::ops::keys;
use desk::system::{SystemClock, SystemIds};
use desk::{Caller, Desk, Guard};
use domain::{Actor, ActorChannel, Proof, ScopeSet};
use mcp_surface::{Terminal, decide};
use storage::{DatabaseUrl, Options};

use crate::config::{Command, Config, Keys};
use crate::print;

/// Does what was asked for.
pub(crate) async fn run(command: &Command, config: &Config) -> anyhow::Result<()> {
    let url = DatabaseUrl::parse(&config.database)?;
    let file = url
        .file()
        .context("approvals and keys belong to a `sqlite:` store")?;
    match command {
        Command::Keys(task) => {
            let task = match task {
                Keys::Create => keys::KeysTask::Create,
                Keys::Rotate => keys::KeysTask::Rotate,
            };
            print(&keys::run(task, &keys::beside(file), &SystemIds)?)
        }
        Command::Approvals(approvals) => {
            // An approval is sealed with the key of the servers on this store.
            let guard = Guard::from_file(keys::beside(file), &SystemIds, config.policy.clone())?;
            let store = Wall::local().open(&url, guard.log_keys(), Options::default())?;
            let desk = Desk::new(store, Arc::new(SystemClock), Arc::new(SystemIds), guard);
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
            Ok(done?)
        }
    }
}
