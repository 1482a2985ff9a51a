//! What an operator does at a terminal instead of serving: decide changes that wait for a person, look after the keys.

use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::sync::Arc;

use anyhow::{Context as _, bail};
use desk::guard::Wall;
use desk::ops::keys;
use desk::system::{SystemClock, SystemIds};
use desk::{Approval, Caller, Decided, Desk, Guard, Verdict};
use domain::{Actor, ActorChannel, ApprovalId, Proof, ScopeSet};
use storage::{DatabaseUrl, Options};

use crate::config::{Approvals, Command, Config, Keys};
use crate::print;

/// Does what was asked for.
pub(crate) async fn run(command: &Command, config: &Config) -> anyhow::Result<()> {
    let url = DatabaseUrl::parse(&config.database)?;
    let file = url
        .file()
        .context("approvals and keys belong to a `sqlite:` store")?;
    match command {
        Command::Keys(Keys::Create) => {
            let path = keys::beside(file);
            let ring = keys::create(&path, &SystemIds)?;
            print(&format!(
                "{} has the key {}",
                path.display(),
                ring.current_kid()
            ))
        }
        Command::Keys(Keys::Rotate) => {
            let path = keys::beside(file);
            let ring = keys::rotate(&path, &SystemIds)?;
            print(&format!(
                "{} signs with {} now",
                path.display(),
                ring.current_kid()
            ))
        }
        Command::Approvals(approvals) => {
            let store = Wall::local().open(&url, Options::default())?;
            // An approval is sealed with the key of the servers on this store.
            let guard = Guard::from_file(keys::beside(file), &SystemIds, config.policy.clone())?;
            let desk = Desk::new(store, Arc::new(SystemClock), Arc::new(SystemIds), guard);
            let done = decide(approvals, &desk, config).await;
            desk.close().await?;
            done
        }
    }
}

async fn decide(approvals: &Approvals, desk: &Desk, config: &Config) -> anyhow::Result<()> {
    let waiting = desk.list_approvals().await?;
    let (id, verdict) = match approvals {
        Approvals::List => {
            let shown: Vec<String> = waiting.iter().map(mcp_surface::approval_text).collect();
            return print(&if shown.is_empty() {
                "Nothing waits for a person.".to_owned()
            } else {
                shown.join("\n\n")
            });
        }
        Approvals::Approve { id } => (id, Verdict::Approve),
        Approvals::Decline { id } => (id, Verdict::Decline),
    };
    let id = ApprovalId::parse(id)?;
    let approval = waiting
        .iter()
        .find(|approval| approval.id == id)
        .with_context(|| format!("nothing waits for a person as {id}"))?;
    confirm_at_terminal(approval)?;
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
    match desk.decide_at_terminal(&operator, id, verdict).await? {
        Decided::Done(_) => print(match verdict {
            Verdict::Approve => {
                "Approved. The call that asked for it applies it now when it is made again."
            }
            Verdict::Decline => "Declined. It will not be applied.",
        }),
        Decided::NotWaiting => bail!("{id} does not wait any more"),
    }
}

/// Shows the stored change and has its id typed. A pipe is no person, so both ends must be a terminal.
fn confirm_at_terminal(approval: &Approval) -> anyhow::Result<()> {
    if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        bail!("a change is decided at a terminal, and this is none");
    }
    print(&mcp_surface::approval_text(approval))?;
    let mut out = std::io::stdout();
    write!(out, "\nType {} to decide: ", approval.id)?;
    out.flush()?;
    let mut typed = String::new();
    std::io::stdin().lock().read_line(&mut typed)?;
    if typed.trim().eq_ignore_ascii_case(&approval.id.to_string()) {
        Ok(())
    } else {
        bail!("another id was typed; nothing was decided")
    }
}
