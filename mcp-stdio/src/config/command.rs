//! The commands beside serving.

/// What an operator does instead of serving.
#[derive(Clone, Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Changes that wait for a person
    #[command(subcommand)]
    Approvals(Approvals),
    /// The private key file beside the store
    #[command(subcommand)]
    Keys(Keys),
    /// The proof of the audit log
    #[command(subcommand)]
    Audit(Audit),
}

#[derive(Clone, Debug, clap::Subcommand)]
pub(crate) enum Audit {
    /// Walk the whole log, and compare it with the checkpoints in --checkpoint-file; exit code 0 sound, 1 tampered with, 2 could not finish
    Verify {
        /// Print the verdict as one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Print every row with its proof, a line of JSON each
    Export,
    /// Sign where the log stands, print the note and what verifies it, and append it to --checkpoint-file
    Checkpoint,
}

#[derive(Clone, Debug, clap::Subcommand)]
pub(crate) enum Approvals {
    /// Show every change that waits
    List,
    /// Approve one, at a terminal: the change is shown and its id has to be typed
    Approve {
        /// Such as A-17
        id: String,
    },
    /// Decline one, at a terminal
    Decline {
        /// Such as A-17
        id: String,
    },
}

impl From<Approvals> for mcp_surface::Approvals {
    fn from(asked: Approvals) -> Self {
        match asked {
            Approvals::List => Self::List,
            Approvals::Approve { id } => Self::Approve(id),
            Approvals::Decline { id } => Self::Decline(id),
        }
    }
}

#[derive(Clone, Debug, clap::Subcommand)]
pub(crate) enum Keys {
    /// Make the key file; serving makes it too where there is none
    Create,
    /// Put a new key in place; the one before it still verifies what it has signed, older ones verify the audit log only
    Rotate,
}
