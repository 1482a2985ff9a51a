//! A desk on a temporary store, with a clock that stands still.

use std::sync::Arc;

use domain::{Actor, ActorChannel, Clock, IdSource, Proof, ScopeSet, Timestamp};
use storage::{DatabaseUrl, Options};
use tempfile::TempDir;

use crate::guard::Wall;
use crate::{Caller, ConfirmationMode, Desk, Guard, Policy};

/// A desk whose store is gone at the end of the test.
pub(crate) struct TestDesk {
    pub(crate) desk: Desk,
    pub(crate) caller: Caller,
    pub(crate) folder: TempDir,
}

/// The clock of a [`TestDesk`].
pub(crate) const NOW: Timestamp = Timestamp::from_micros(1_796_000_000_000_000);

struct Still;

impl Clock for Still {
    fn now(&self) -> Timestamp {
        NOW
    }
}

impl IdSource for Still {
    fn next_id(&self) -> u128 {
        1
    }

    fn nonce(&self) -> [u8; 16] {
        [0; 16]
    }
}

impl TestDesk {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("desk.db");
        let url = DatabaseUrl::parse(&format!("sqlite:{}", path.display())).unwrap();
        let options = Options {
            create: true,
            ..Options::default()
        };
        let policy = Policy::new(ConfirmationMode::Standard);
        let guard = Guard::from_keys(testkit::KEY_FILE, policy).unwrap();
        let store = Wall::local().open(&url, guard.log_keys(), options).unwrap();
        let actor = Actor {
            id: "local:test".to_owned(),
            proof: Proof::Asserted,
            channel: ActorChannel::Cli,
            client: "test".to_owned(),
        };
        Self {
            desk: Desk::new(store, Arc::new(Still), Arc::new(Still), guard),
            caller: Caller {
                actor,
                scopes: ScopeSet::all(),
                request_id: 1,
            },
            folder,
        }
    }
}

/// Runs a future to its end on this thread.
pub(crate) fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(future)
}
