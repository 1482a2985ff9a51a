//! What an operator decides at a terminal, for both binaries: the changes that wait for a person (design section 6).

use std::io::{BufRead, Write};

use desk::{Approval, Caller, Decided, Desk, DeskError, Verdict};
use domain::ApprovalId;

use crate::confirm::approval_text;

/// What an operator asks for; ids are such as `A-17`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Approvals {
    /// To see every change that waits.
    List,
    /// To approve one.
    Approve(String),
    /// To decline one.
    Decline(String),
}

/// Where an operator sits. The binaries know; a pipe is no person.
pub struct Terminal<'a> {
    /// What is typed.
    pub input: &'a mut dyn BufRead,
    /// What is shown.
    pub output: &'a mut dyn Write,
    /// Whether both are a terminal.
    pub is_terminal: bool,
}

/// Why nothing was decided.
#[derive(Debug, thiserror::Error)]
pub enum ApprovalsError {
    /// What was given is no approval's id.
    #[error(transparent)]
    Id(#[from] domain::IdError),
    /// Nothing waits under that id.
    #[error("nothing waits for a person as {0}")]
    NotWaiting(ApprovalId),
    /// A pipe would decide.
    #[error("a change is decided at a terminal, and this is none")]
    NoTerminal,
    /// The id was typed otherwise.
    #[error("another id was typed; nothing was decided")]
    Mistyped,
    /// The desk says no.
    #[error(transparent)]
    Desk(#[from] DeskError),
    /// The terminal is gone.
    #[error("the terminal does not answer")]
    Io(#[from] std::io::Error),
}

/// Lists what waits, or shows one stored change, has its id typed and decides it.
pub async fn decide(
    desk: &Desk,
    operator: &Caller,
    approvals: &Approvals,
    terminal: Terminal<'_>,
) -> Result<(), ApprovalsError> {
    let waiting = desk.list_approvals().await?;
    let (id, verdict) = match approvals {
        Approvals::List => {
            let shown: Vec<String> = waiting.iter().map(approval_text).collect();
            let text = if shown.is_empty() {
                "Nothing waits for a person.".to_owned()
            } else {
                shown.join("\n\n")
            };
            return Ok(writeln!(terminal.output, "{text}")?);
        }
        Approvals::Approve(id) => (id, Verdict::Approve),
        Approvals::Decline(id) => (id, Verdict::Decline),
    };
    let id = ApprovalId::parse(id)?;
    let approval = waiting.iter().find(|approval| approval.id == id);
    let approval = approval.ok_or(ApprovalsError::NotWaiting(id))?;
    let output = confirm(approval, terminal)?;
    match desk.decide_at_terminal(operator, id, verdict).await? {
        Decided::Done(_) => Ok(writeln!(
            output,
            "{}",
            match verdict {
                Verdict::Approve =>
                    "Approved. The call that asked for it applies it now when it is made again.",
                Verdict::Decline => "Declined. It will not be applied.",
            }
        )?),
        Decided::NotWaiting => Err(ApprovalsError::NotWaiting(id)),
    }
}

/// Shows the stored change and has its id typed.
fn confirm<'a>(
    approval: &Approval,
    terminal: Terminal<'a>,
) -> Result<&'a mut dyn Write, ApprovalsError> {
    let Terminal {
        input,
        output,
        is_terminal,
    } = terminal;
    if !is_terminal {
        return Err(ApprovalsError::NoTerminal);
    }
    writeln!(output, "{}", approval_text(approval))?;
    write!(output, "\nType {} to decide: ", approval.id)?;
    output.flush()?;
    let mut typed = String::new();
    input.read_line(&mut typed)?;
    if typed.trim().eq_ignore_ascii_case(&approval.id.to_string()) {
        Ok(output)
    } else {
        Err(ApprovalsError::Mistyped)
    }
}
