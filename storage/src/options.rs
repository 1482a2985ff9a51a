//! How a store is opened, and the hook through which tests make its statements fail.

use std::sync::Arc;
use std::time::Duration;

use crate::screening::Screener;

/// Whose clock says when a confirmation has expired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExpiryClock {
    /// The database server's, one for all machines that share it (design section 6). A file has none; there it is the
    /// caller's.
    #[default]
    Database,
    /// The caller's, for tests: a server's can't be set.
    Caller,
}

/// How a store is opened.
#[derive(Clone)]
pub struct Options {
    /// Connections that read at the same time; each is opened when it is first needed.
    pub readers: usize,
    /// Refuses every write but the audit row of a refusal: `record_refusal` works, the others are
    /// [`crate::StoreError::Unavailable`].
    pub read_only: bool,
    /// Makes the database where there is none. Off, a mistyped path is an error and not an empty desk.
    pub create: bool,
    /// How long a statement waits for a lock that another program holds.
    pub busy_timeout: Duration,
    /// Writes that share one commit at the most.
    pub group_limit: usize,
    /// Whose clock says when a confirmation has expired.
    pub expiry_clock: ExpiryClock,
    /// Judges what is written on tickets, so that their flags are raised in the same transaction. Without one no text raises
    /// a flag: for stores of generated text and for tests of other things.
    pub screener: Option<Arc<dyn Screener>>,
    /// Makes statements of writes fail, for tests.
    pub faults: Option<Arc<dyn Faults>>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            // SQLite's writers queue anyway, and a read takes well under a millisecond (style, part 3.4).
            readers: 4,
            read_only: false,
            create: false,
            busy_timeout: Duration::from_secs(5),
            group_limit: 32,
            expiry_clock: ExpiryClock::default(),
            screener: None,
            faults: None,
        }
    }
}

impl std::fmt::Debug for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Options")
            .field("readers", &self.readers)
            .field("read_only", &self.read_only)
            .field("create", &self.create)
            .field("busy_timeout", &self.busy_timeout)
            .field("group_limit", &self.group_limit)
            .field("expiry_clock", &self.expiry_clock)
            .field("screener", &self.screener.is_some())
            .field("faults", &self.faults.is_some())
            .finish()
    }
}

/// How a statement is made to fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The database reports an error.
    Error,
    /// Another program holds the database.
    Busy,
    /// The disk is full.
    Full,
    /// Our code panics.
    Panic,
}

/// Decides before each statement of a write, and before the statements around it, whether that fails (promise R-3).
pub trait Faults: Send + Sync {
    /// Called once for each statement, in order.
    fn step(&self) -> Result<(), Fault>;
}
