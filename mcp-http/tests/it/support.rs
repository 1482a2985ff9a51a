//! A server on the loopback with a token for each role, and a client that says exactly what it is told to.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use desk::guard::Wall;
use desk::ops::tokens::TokenRequest;
use desk::system::{SystemClock, SystemIds};
use desk::{Caller, Desk, Guard};
use domain::{Role, Scope, ScopeSet};
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper_util::rt::TokioIo;
use mcp_http::config::{Config, Environment, Given};
use mcp_http::serve::{Machine, Server};
use mcp_http::tokens::new_token;
use mcp_http::transport::listen::Bounds;
use mcp_http::transport::shutdown::Shutdown;
use serde_json::{Value, json};
use storage::{DatabaseUrl, Options};
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

/// The newer revision.
pub(crate) const MODERN: &str = "2026-07-28";
/// The older revision.
pub(crate) const LEGACY: &str = "2025-11-25";

/// Whether the long forms of tests run.
pub(crate) fn is_full() -> bool {
    std::env::vars_os().any(|(name, value)| name == "DESKGATE_FULL" && value == "1")
}

/// How a server is to be.
#[derive(Default)]
pub(crate) struct Plan {
    settings: Vec<(&'static str, String)>,
    bounds: Bounds,
}

impl Plan {
    pub(crate) fn set(mut self, name: &'static str, value: &str) -> Self {
        self.settings.push((name, value.to_owned()));
        self
    }

    pub(crate) fn bounds(self, bounds: Bounds) -> Self {
        Self { bounds, ..self }
    }

    pub(crate) async fn start(self) -> Running {
        self.start_in(Arc::new(TempDir::new().unwrap())).await
    }

    /// A server on a store that may be there already.
    pub(crate) async fn start_in(self, folder: Arc<TempDir>) -> Running {
        let database = format!("sqlite:{}", folder.path().join("desk.db").display());
        let options = Options {
            create: true,
            ..Options::default()
        };
        let url = DatabaseUrl::parse(&database).unwrap();
        let mut settings = vec![("database", database), ("bind", "127.0.0.1:0".to_owned())];
        settings.extend(self.settings);
        settings.reverse();
        let config = Config::load(&Given::new(settings, false), &Environment::default()).unwrap();
        let guard = Guard::from_file(
            folder.path().join("keys"),
            &SystemIds,
            config.policy.clone(),
        )
        .unwrap();
        let store = Wall::local().open(&url, guard.log_keys(), options).unwrap();
        let desk = Arc::new(Desk::new(
            store,
            Arc::new(SystemClock),
            Arc::new(SystemIds),
            guard,
        ));
        let machine = Machine {
            clock: Arc::new(SystemClock),
            ids: Arc::new(SystemIds),
        };
        let server = Server::bind(config, Arc::clone(&desk), &machine)
            .await
            .unwrap()
            .with_bounds(self.bounds);
        let address = server.address().unwrap();
        let shutdown = server.shutdown();
        Running {
            address,
            desk,
            shutdown,
            ended: tokio::spawn(server.run()),
            folder,
        }
    }
}

/// A running server.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) desk: Arc<Desk>,
    pub(crate) shutdown: Shutdown,
    pub(crate) ended: JoinHandle<anyhow::Result<()>>,
    pub(crate) folder: Arc<TempDir>,
}

impl Running {
    /// A token of a role for a person.
    pub(crate) async fn token(&self, subject: &str, role: Role) -> String {
        self.token_with(subject, role.scopes()).await
    }

    /// A token with these rights.
    pub(crate) async fn token_with(&self, subject: &str, scopes: ScopeSet) -> String {
        let token = new_token(&SystemIds);
        let request = TokenRequest {
            subject: subject.to_owned(),
            label: String::new(),
            scopes,
            days: 1,
        };
        let operator = self.operator();
        self.desk
            .create_access_token(&operator, &request, token.digest())
            .await
            .unwrap();
        token.reveal().to_owned()
    }

    pub(crate) fn operator(&self) -> Caller {
        Caller {
            actor: testkit::local_actor("operator"),
            scopes: ScopeSet::all(),
            request_id: self.desk.next_request_id(),
        }
    }

    /// A client with a token of its own that may do everything.
    pub(crate) async fn client(&self, subject: &str) -> Client {
        self.client_with(subject, ScopeSet::all()).await
    }

    pub(crate) async fn client_with(&self, subject: &str, scopes: ScopeSet) -> Client {
        Client {
            address: self.address,
            token: Some(self.token_with(subject, scopes).await),
        }
    }

    /// A client without a token.
    pub(crate) fn stranger(&self) -> Client {
        Client {
            address: self.address,
            token: None,
        }
    }

    /// Stops in order and hands the store on.
    pub(crate) async fn stop(self) -> Arc<TempDir> {
        self.shutdown.begin();
        self.ended.await.unwrap().unwrap();
        self.folder
    }

    pub(crate) async fn customer(&self) -> String {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let made = self
            .desk
            .create_customer(
                &self.operator(),
                desk::valid(domain::NewCustomer {
                    name: "Grace Hopper".to_owned(),
                    email: format!("grace.{number}@navy.example"),
                    phone: Some("+1 202 555 0143".to_owned()),
                    organisation: None,
                })
                .unwrap(),
            )
            .await
            .unwrap();
        made.id.to_string()
    }
}

/// All rights but these.
pub(crate) fn all_but(scope: Scope) -> ScopeSet {
    ScopeSet::all()
        .iter()
        .filter(|held| *held != scope)
        .collect()
}

/// What a server answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Answer {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The message of a JSON body, or the last one of an event stream.
    #[track_caller]
    pub(crate) fn message(&self) -> Value {
        let text = self.text();
        let mut events = text.lines().filter_map(|line| line.strip_prefix("data:"));
        let last = events.rfind(|data| data.contains('{'));
        match serde_json::from_str(last.unwrap_or(&text)) {
            Ok(message) => message,
            Err(error) => panic!("{error}: {} {text}", self.status),
        }
    }

    /// The structured result of a tool.
    #[track_caller]
    pub(crate) fn result(&self) -> Value {
        let message = self.message();
        let result = &message["result"]["structuredContent"];
        assert!(result.is_object(), "{message}");
        result.clone()
    }

    /// The code of a refused call, or `OK`.
    #[track_caller]
    pub(crate) fn code(&self) -> String {
        let result = self.result();
        let code = result["error"]["code"].as_str();
        code.unwrap_or("OK").to_owned()
    }
}

/// Sends what it is told to, each request over a connection of its own.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    pub(crate) address: SocketAddr,
    pub(crate) token: Option<String>,
}

/// The headers and body of a call in the newer revision.
pub(crate) fn modern(id: u64, method: &str, params: Value) -> (Vec<(&'static str, String)>, Value) {
    let mut params = params;
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let mut headers = vec![
        ("mcp-protocol-version", MODERN.to_owned()),
        ("mcp-method", method.to_owned()),
    ];
    let name = params["name"].as_str().or(params["uri"].as_str());
    if let Some(name) = name {
        headers.push(("mcp-name", name.to_owned()));
    }
    let body = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    (headers, body)
}

impl Client {
    /// Any request. A header that is given replaces the usual one; an empty one leaves it out.
    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Bytes>,
    ) -> Answer {
        let body: Bytes = body.into();
        let mut request = Request::builder().method(method).uri(path);
        let authorization = self.token.as_ref().map(|token| format!("Bearer {token}"));
        let host = self.address.to_string();
        let usual = [
            ("host", Some(host.as_str())),
            ("authorization", authorization.as_deref()),
            ("accept", Some("application/json, text/event-stream")),
            ("content-type", Some("application/json")),
        ];
        for (name, value) in usual {
            if !headers.iter().any(|(given, _)| *given == name)
                && let Some(value) = value
            {
                request = request.header(name, value);
            }
        }
        for (name, value) in headers.iter().filter(|(_, value)| !value.is_empty()) {
            request = request.header(*name, *value);
        }
        let stream = TcpStream::connect(self.address).await.unwrap();
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
            .await
            .unwrap();
        let connection = tokio::spawn(connection);
        let response = sender
            .send_request(request.body(Full::new(body)).unwrap())
            .await
            .unwrap();
        let (head, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        connection.abort();
        Answer {
            status: head.status,
            headers: head.headers,
            body,
        }
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, &[], Bytes::new()).await
    }

    pub(crate) async fn post(&self, headers: &[(&str, &str)], body: impl Into<Bytes>) -> Answer {
        self.send(Method::POST, "/mcp", headers, body).await
    }

    /// A request in the newer revision.
    pub(crate) async fn ask(&self, method: &str, params: Value) -> Answer {
        let (headers, body) = modern(1, method, params);
        let headers: Vec<_> = headers
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        self.post(&headers, body.to_string()).await
    }

    /// A call of a tool in the newer revision.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Answer {
        self.ask("tools/call", json!({"name": tool, "arguments": arguments}))
            .await
    }

    /// Opens a session of the older revision.
    pub(crate) async fn open(&self) -> Session {
        let answer = self.try_open().await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.text());
        let id = answer.header("mcp-session-id").unwrap().to_owned();
        let session = Session {
            client: self.clone(),
            id,
        };
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(session.post(&ready).await.status, StatusCode::ACCEPTED);
        session
    }

    pub(crate) async fn try_open(&self) -> Answer {
        let body = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": LEGACY,
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        }});
        self.post(&[], body.to_string()).await
    }
}

/// A session of the older revision.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    pub(crate) client: Client,
    pub(crate) id: String,
}

impl Session {
    pub(crate) fn headers(&self) -> [(&str, &str); 2] {
        [
            ("mcp-session-id", &self.id),
            ("mcp-protocol-version", LEGACY),
        ]
    }

    pub(crate) async fn post(&self, body: &Value) -> Answer {
        self.client.post(&self.headers(), body.to_string()).await
    }

    pub(crate) async fn send(&self, method: Method) -> Answer {
        self.client
            .send(method, "/mcp", &self.headers(), Bytes::new())
            .await
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Answer {
        self.post(
            &json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
                "name": tool,
                "arguments": arguments,
            }}),
        )
        .await
    }
}

/// Waits for something that has to happen soon.
pub(crate) async fn soon<T>(future: impl Future<Output = T>) -> T {
    let patience = Duration::from_secs(20);
    tokio::time::timeout(patience, future).await.unwrap()
}
