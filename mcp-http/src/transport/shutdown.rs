//! An orderly end in two stages: first nothing new, then nothing at all.
//!
//! Stage one: no new connection, `/readyz` says 503, streams that wait for news end, calls in flight finish. Stage two,
//! when all are done or the grace is over: the MCP service is cancelled, which cuts what is left.

use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How long cut connections get to notice.
const CUT_TIME: Duration = Duration::from_secs(1);

/// The two stages and the connections that are waited for.
#[derive(Clone, Debug, Default)]
pub struct Shutdown {
    draining: CancellationToken,
    cut: CancellationToken,
    connections: TaskTracker,
}

impl Shutdown {
    /// Begins stage one.
    pub fn begin(&self) {
        self.draining.cancel();
    }

    /// Whether stage one has begun.
    pub fn is_draining(&self) -> bool {
        self.draining.is_cancelled()
    }

    /// Cancelled when stage one begins.
    pub fn draining(&self) -> &CancellationToken {
        &self.draining
    }

    /// Cancelled when stage two begins.
    pub fn cut(&self) -> &CancellationToken {
        &self.cut
    }

    /// The open connections.
    pub fn connections(&self) -> &TaskTracker {
        &self.connections
    }

    /// Waits for the connections, at most for `grace`, then cuts. Says whether all ended by themselves.
    pub async fn finish(&self, grace: Duration) -> bool {
        self.connections.close();
        let in_time = tokio::time::timeout(grace, self.connections.wait())
            .await
            .is_ok();
        self.cut.cancel();
        if !in_time {
            // The result is known; this only lets the cut reach the sockets.
            drop(tokio::time::timeout(CUT_TIME, self.connections.wait()).await);
        }
        in_time
    }
}
