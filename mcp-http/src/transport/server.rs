//! The order in which a request passes: name and origin, identity, session, limits, body, right, MCP service.
//!
//! Everything here runs before a tool could; the tool layer decides about rights again on what it decoded.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::Response;
use axum::routing::{any_service, get};
use desk::{Caller, Desk, ErrorCode};
use domain::{Action, Clock, IdSource, Scope, ScopeSet};
use http::header::WWW_AUTHENTICATE;
use http::{HeaderValue, Method, StatusCode};
use mcp_surface::{Access, Effect, access_of, rate_limited};
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::json;

use super::answer::{self, Refused, empty, json_body, refusal, wait};
use super::body::{self, BODY_BYTES, Id, Peek};
use super::hosts::{self, Neighbours};
use super::peer::{Peer, Proxies};
use super::sessions::{SESSION_HEADER, Sessions};
use super::shutdown::Shutdown;
use super::streams;
use crate::auth::challenge::{Resource, WELL_KNOWN};
use crate::auth::{Authenticator, Denied, Principal};
use crate::limits::{Class, Limits, TooMuch};
use crate::operations::metrics::{self, Levels, Metrics};
use crate::operations::observe::{Observer, Parent, RequestNumber, observe};

/// How long a client waits that can't be told now who it is.
const UNAVAILABLE_SECONDS: u64 = 30;

/// What stands between the sockets and the MCP service.
pub struct Front {
    /// Who enters.
    pub authenticator: Authenticator,
    /// What this server is to the outside.
    pub resource: Resource,
    /// Host names and origins.
    pub neighbours: Arc<Neighbours>,
    /// Proxies that are believed.
    pub proxies: Proxies,
    /// Sessions of the older revision.
    pub sessions: Sessions,
    /// Allowances.
    pub limits: Limits,
    /// The time, for the end of tokens.
    pub clock: Arc<dyn Clock>,
    /// Numbers for requests.
    pub ids: Arc<dyn IdSource>,
    /// Where refused changes are noted.
    pub desk: Arc<Desk>,
    /// Counters.
    pub metrics: Arc<Metrics>,
}

/// The service of everything under one address. `handler` answers MCP; `open` are routes that need no token.
pub fn router<S>(handler: S, front: Arc<Front>, open: Router, shutdown: &Shutdown) -> Router
where
    S: ServerHandler + Clone,
{
    let config = StreamableHttpServerConfig::default()
        .with_json_response(true)
        .with_max_request_body_bytes(BODY_BYTES)
        .with_cancellation_token(shutdown.cut().clone())
        // A second wall behind `hosts::check`.
        .with_allowed_hosts(front.neighbours.hosts())
        .with_allowed_origins(front.neighbours.origins_with_ports())
        .enforce_origin_validation();
    let service = StreamableHttpService::new(
        move || Ok(handler.clone()),
        front.sessions.manager(),
        config,
    );
    let gate = Gate {
        front: Arc::clone(&front),
        shutdown: shutdown.clone(),
    };
    let mcp = Router::new()
        .route("/mcp", any_service(service.clone()))
        .route("/mcp/", any_service(service))
        .layer(from_fn_with_state(gate.clone(), pass));
    let named = Router::new()
        .merge(mcp)
        .route("/metrics", get(counters).with_state(gate))
        .fallback(|| async { refusal(StatusCode::NOT_FOUND, "not_found", "there is nothing here") })
        .layer(from_fn_with_state(Arc::clone(&front), identify));
    Router::new()
        .merge(open)
        .merge(metadata(&front.resource))
        .fallback_service(named)
        .layer(from_fn_with_state(
            Arc::clone(&front.neighbours),
            hosts::check,
        ))
        .layer(from_fn_with_state(Arc::clone(&front), name_peer))
        .layer(from_fn(harden))
        .layer(from_fn_with_state(
            Arc::new(Observer {
                metrics: Arc::clone(&front.metrics),
                ids: Arc::clone(&front.ids),
            }),
            observe,
        ))
}

/// The counters, for whoever may read them.
async fn counters(State(gate): State<Gate>, request: Request) -> Response {
    let needed = ScopeSet::NONE.with(Scope::MetricsRead);
    let principal = request.extensions().get::<Principal>();
    if principal.is_none_or(|principal| !principal.scopes.contains_all(needed)) {
        return gate.front.lacks(needed);
    }
    gate.front.counters(&gate.shutdown).await
}

/// The counters alone, without a token: for an address of their own, inside the operator's network.
pub fn metrics_router(front: Arc<Front>, shutdown: Shutdown) -> Router {
    Router::new().route(
        "/metrics",
        get(move || {
            let (front, shutdown) = (Arc::clone(&front), shutdown.clone());
            async move { front.counters(&shutdown).await }
        }),
    )
}

impl Front {
    async fn counters(&self, shutdown: &Shutdown) -> Response {
        let text = self.metrics.render(Levels {
            sessions: self.sessions.count().await,
            connections: shutdown.connections().len(),
            queued_writes: self.desk.queued_writes(),
        });
        let mut response = Response::new(Body::from(text));
        response.headers_mut().insert(
            http::header::CONTENT_TYPE,
            HeaderValue::from_static(metrics::CONTENT_TYPE),
        );
        response
    }

    /// 403 with exactly the rights that an operation needs (promise Z-8).
    fn lacks(&self, needed: ScopeSet) -> Response {
        let words: Vec<_> = needed.iter().map(Scope::as_str).collect();
        let description = format!("this needs the right `{}`", words.join("`, `"));
        let mut response = refusal(StatusCode::FORBIDDEN, "insufficient_scope", &description);
        let challenge = self.resource.insufficient_scope(needed);
        response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
        response
    }
}

/// The metadata at both forms of the well-known address, and where the public path asks for it.
fn metadata(resource: &Resource) -> Router {
    let document = resource.metadata();
    let mut paths = vec![
        WELL_KNOWN.to_owned(),
        format!("{WELL_KNOWN}/mcp"),
        resource.metadata_path(),
    ];
    paths.sort();
    paths.dedup();
    paths.into_iter().fold(Router::new(), |router, path| {
        let document = document.clone();
        router.route(
            &path,
            get(move || async move { json_body(StatusCode::OK, &document) }),
        )
    })
}

/// Nothing that this server says is a page.
async fn harden(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    response.headers_mut().insert(
        http::header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    response
}

async fn name_peer(State(front): State<Arc<Front>>, mut request: Request, next: Next) -> Response {
    let connection = request.extensions().get::<SocketAddr>().copied();
    if let Some(connection) = connection {
        let peer = front.proxies.peer(connection, request.headers());
        request.extensions_mut().insert(peer);
    }
    next.run(request).await
}

async fn identify(State(front): State<Arc<Front>>, mut request: Request, next: Next) -> Response {
    let challenge = match front.authenticator.authenticate(request.headers()).await {
        Ok(principal) => {
            request.extensions_mut().insert(principal);
            return next.run(request).await;
        }
        Err(Denied::Missing) => front.resource.missing_token(),
        Err(Denied::Refused(reason)) => {
            let peer = request.extensions().get::<Peer>().copied();
            tracing::info!(
                peer = peer.map(|peer| tracing::field::display(peer.0)),
                "a token is refused: {reason}"
            );
            if let Some(Err(much)) = peer.map(|peer| front.limits.failure(peer.0)) {
                return too_much("refused tokens", much);
            }
            front.resource.invalid_token()
        }
        Err(Denied::Unavailable(cause)) => {
            tracing::error!(
                cause = std::error::Error::source(&cause).map(tracing::field::display),
                "nobody can be let in: {cause}"
            );
            return wait(
                StatusCode::SERVICE_UNAVAILABLE,
                "temporarily_unavailable",
                "tokens cannot be checked now",
                UNAVAILABLE_SECONDS,
            );
        }
    };
    let mut response = refusal(
        StatusCode::UNAUTHORIZED,
        "invalid_token",
        "a valid bearer token is needed",
    );
    response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    response
}

fn too_much(of: &str, much: TooMuch) -> Response {
    let seconds = much.seconds;
    let description = format!("too many {of}; wait {seconds} s");
    wait(
        StatusCode::TOO_MANY_REQUESTS,
        "rate_limited",
        &description,
        seconds,
    )
}

#[derive(Clone)]
struct Gate {
    front: Arc<Front>,
    shutdown: Shutdown,
}

/// What happens to a request with an identity on its way to the MCP service.
async fn pass(State(gate): State<Gate>, request: Request, next: Next) -> Response {
    let Some(principal) = request.extensions().get::<Principal>().cloned() else {
        // `identify` stands before this; without it nobody enters.
        return empty(StatusCode::UNAUTHORIZED);
    };
    let answer = gate.answer(&principal, request, next).await;
    answer.unwrap_or_else(Response::from)
}

impl Gate {
    async fn answer(
        &self,
        principal: &Principal,
        request: Request,
        next: Next,
    ) -> Result<Response, Refused> {
        let Front {
            sessions, limits, ..
        } = &*self.front;
        let owner = principal.id();
        sessions.check(request.headers(), &owner)?;
        let place = limits
            .enter(&owner)
            .map_err(|much| Refused::from(too_much("requests at once", much)))?;
        let is_waiting = request.method() == Method::GET;
        let response = if request.method() == Method::POST {
            self.post(principal, &owner, request, next).await?
        } else {
            limits
                .take(&owner, Class::Read)
                .map_err(|much| Refused::from(too_much("requests", much)))?;
            let is_end = request.method() == Method::DELETE;
            let mut response = next.run(request).await;
            if is_end && response.status() == StatusCode::ACCEPTED {
                // It is over and not only accepted; the official Python client warns about 202.
                *response.status_mut() = StatusCode::NO_CONTENT;
            }
            response
        };
        let now = self.front.clock.now();
        let left = principal.expires_at.micros().saturating_sub(now.micros());
        let left = Duration::from_micros(u64::try_from(left).unwrap_or_default());
        let draining = is_waiting.then(|| self.shutdown.draining().clone());
        Ok(streams::bound(response, left, draining, place))
    }

    async fn post(
        &self,
        principal: &Principal,
        owner: &String,
        request: Request,
        next: Next,
    ) -> Result<Response, Refused> {
        let (parts, body) = request.into_parts();
        let number = parts.extensions.get::<RequestNumber>().copied();
        let bytes = body::read(&parts.headers, body).await?;
        let peek = Peek::into_body(&bytes)?;
        let method = peek.method.as_deref().unwrap_or_default();
        if let Some(parent) = peek.traceparent().and_then(Parent::parse) {
            parent.adopt(&tracing::Span::current());
        }
        let access = access_of(method, peek.name());
        let class = class_of(access, principal.scopes);
        if let Err(much) = self.front.limits.take(owner, class) {
            let answer = match (&peek.id, method) {
                // A model can wait if it is told to; a transport error would only be shown to a person.
                (Some(id), "tools/call") => rate_limited_call(id, &peek, much),
                _ => too_much("requests", much),
            };
            return Err(answer.into());
        }
        // After the allowance, so that refusals can't fill the audit log.
        self.check_right(principal, access, &peek, number).await?;
        let opens = method == "initialize" && !parts.headers.contains_key(SESSION_HEADER);
        let opening = if opens {
            Some(self.front.sessions.admit(owner).await?)
        } else {
            None
        };
        let is_json = body::is_json(&parts.headers);
        let response = next
            .run(Request::from_parts(parts, Body::from(bytes)))
            .await;
        if opens {
            self.front.sessions.bind(&response, owner);
        }
        drop(opening);
        if response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE && is_json {
            return Err(body::undecodable().into());
        }
        Ok(response)
    }

    /// Refuses what the caller has no right to. A change that was refused is in the audit log (promise A-6).
    async fn check_right(
        &self,
        principal: &Principal,
        access: Option<Access>,
        peek: &Peek,
        number: Option<RequestNumber>,
    ) -> Result<(), Refused> {
        let needed = access.map_or(ScopeSet::NONE, |access| ScopeSet::NONE.with(access.scope));
        if principal.scopes.contains_all(needed) {
            return Ok(());
        }
        let is_write = access.is_some_and(|access| access.effect == Effect::Write);
        // Tools that write are named after what they do.
        if is_write && let Ok(action) = Action::parse(peek.name()) {
            let desk = &self.front.desk;
            let caller = Caller {
                actor: principal.actor(),
                scopes: principal.scopes,
                request_id: number.map_or_else(|| desk.next_request_id(), |number| number.0),
            };
            let noted = desk.record_refusal(&caller, action, ErrorCode::Forbidden);
            if let Err(error) = noted.await {
                tracing::error!("a refusal could not be noted: {error}");
            }
        }
        Err(self.front.lacks(needed).into())
    }
}

/// What a request counts as. Nobody sees a contact in clear without the right to.
fn class_of(access: Option<Access>, scopes: ScopeSet) -> Class {
    match access {
        Some(access) if access.effect == Effect::Write => Class::Write,
        Some(access) if access.shows_contacts && scopes.contains(Scope::CustomersPii) => {
            Class::Contacts
        }
        Some(_) | None => Class::Read,
    }
}

/// The answer of a tool that was called too often, in the shape of the caller's revision.
fn rate_limited_call(id: &Id, peek: &Peek, much: TooMuch) -> Response {
    let id = match id {
        Id::Number(id) => json!(id),
        Id::Text(id) => json!(id),
        Id::Other(_) => return too_much("calls", much),
    };
    let mut result = json!(rate_limited(much.seconds));
    if !peek.is_sessionless()
        && let Some(result) = result.as_object_mut()
    {
        // The older revision has no such field.
        result.remove("resultType");
    }
    let body = json!({"jsonrpc": "2.0", "id": id, "result": result});
    answer::rate_limited_call(&body, much.seconds)
}
