//! `/healthz`: the process lives. `/readyz`: it can serve, and what is missing if not.
//!
//! Both are open and tell nothing about the desk. A probe comes by address, so neither looks at the host name; whether
//! clients that use that name would be turned away is said instead (field report 36).

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::get;
use desk::Desk;
use http::StatusCode;
use serde_json::json;
use tokio::time::Instant;

use crate::transport::answer::json_body;
use crate::transport::server::Front;
use crate::transport::shutdown::Shutdown;

/// How long the database's answer counts, so that probing costs it nothing.
const KEPT: Duration = Duration::from_secs(1);
/// How long the database may take.
const PATIENCE: Duration = Duration::from_secs(2);

/// What readiness depends on.
pub struct Health {
    desk: Arc<Desk>,
    front: Arc<Front>,
    shutdown: Shutdown,
    database: Mutex<Option<(Instant, bool)>>,
}

impl Health {
    /// The health of a server over this desk.
    pub fn new(desk: Arc<Desk>, front: Arc<Front>, shutdown: Shutdown) -> Self {
        Self {
            desk,
            front,
            shutdown,
            database: Mutex::new(None),
        }
    }

    /// The two routes.
    pub fn routes(self) -> Router {
        Router::new()
            .route(
                "/healthz",
                get(|| async { json_body(StatusCode::OK, &json!({"status": "ok"})) }),
            )
            .route("/readyz", get(ready))
            .with_state(Arc::new(self))
    }

    async fn database_answers(&self) -> bool {
        let now = Instant::now();
        let kept = *self.database.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((at, answered)) = kept
            && now.duration_since(at) < KEPT
        {
            return answered;
        }
        let answered = matches!(
            tokio::time::timeout(PATIENCE, self.desk.check_store()).await,
            Ok(Ok(()))
        );
        let mut kept = self.database.lock().unwrap_or_else(PoisonError::into_inner);
        *kept = Some((now, answered));
        answered
    }
}

async fn ready(State(health): State<Arc<Health>>, request: Request) -> Response {
    let database = health.database_answers().await;
    let keys = health.front.authenticator.keys_are_ready();
    let draining = health.shutdown.is_draining();
    let is_ready = database && keys && !draining;
    let status = if is_ready {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    let word = |fine: bool| if fine { "ok" } else { "failing" };
    let neighbours = &health.front.neighbours;
    json_body(
        status,
        &json!({
            "ready": is_ready,
            "checks": {
                "database": word(database),
                "issuer_keys": word(keys),
                "classifier": health.desk.screening_mode().as_str(),
                "shutting_down": draining,
            },
            "host_is_allowed": neighbours.names_us(request.uri(), request.headers()),
        }),
    )
}
