//! Tokens of an issuer on the wire: keys from a file, rotation on disk, ends of streams, and TLS.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use domain::Clock as _;
use http::StatusCode;
use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, EncodingKey};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::Instant;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::RootCertStore;
use tokio_rustls::rustls::pki_types::ServerName;

use crate::support::{Client, Plan, Running, soon};

const ISSUER: &str = "https://issuer.example";

struct Issuer {
    key: EncodingKey,
    id: &'static str,
}

impl Issuer {
    fn new(id: &'static str) -> Self {
        let pair = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).unwrap();
        Self {
            key: EncodingKey::from_ec_der(&pair.serialize_der()),
            id,
        }
    }

    fn publish(&self, path: &Path) {
        let mut jwk =
            serde_json::to_value(Jwk::from_encoding_key(&self.key, Algorithm::ES256).unwrap())
                .unwrap();
        jwk["kid"] = json!(self.id);
        std::fs::write(path, json!({"keys": [jwk]}).to_string()).unwrap();
    }

    fn token(&self, audience: &str, seconds: i64, more: Value) -> String {
        use base64::Engine as _;
        let encode =
            |part: Value| base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(part.to_string());
        let now = desk::system::SystemClock.now().micros() / 1_000_000;
        let mut claims = json!({
            "iss": ISSUER,
            "aud": audience,
            "sub": "anna",
            "azp": "desk-client",
            "exp": now + seconds,
            "scope": "desk:read desk:write desk:comment audit:read",
        });
        for (name, value) in more.as_object().unwrap() {
            claims[name] = value.clone();
        }
        let header = json!({"alg": "ES256", "typ": "at+jwt", "kid": self.id});
        let signed = format!("{}.{}", encode(header), encode(claims));
        let signature =
            jsonwebtoken::crypto::sign(signed.as_bytes(), &self.key, Algorithm::ES256).unwrap();
        format!("{signed}.{signature}")
    }
}

/// A server that trusts an issuer whose keys are in a file beside its store.
async fn server(folder: &Arc<TempDir>, more: &str) -> Running {
    let path = |name: &str| folder.path().join(name).display().to_string();
    let file = format!(
        "[[issuers]]\nissuer = \"{ISSUER}\"\nalgorithms = [\"ES256\"]\naudience = \"https://desk.example/mcp\"\n\
         jwks_file = \"{}\"\nleeway_seconds = 0\n{more}\n",
        path("keys.json")
    );
    std::fs::write(path("deskgate.toml"), file).unwrap();
    Plan::default()
        .set("config", &path("deskgate.toml"))
        .set("public_url", "https://desk.example/mcp")
        .start_in(Arc::clone(folder))
        .await
}

fn with(server: &Running, token: String) -> Client {
    Client {
        token: Some(token),
        ..server.stranger()
    }
}

const AUDIENCE: &str = "https://desk.example/mcp";

#[tokio::test]
async fn a_person_of_an_issuer_enters_with_what_token_and_role_allow_and_is_on_record() {
    let folder = Arc::new(TempDir::new().unwrap());
    let issuer = Issuer::new("k1");
    issuer.publish(&folder.path().join("keys.json"));
    let server = server(&folder, "roles_claim = \"roles\"").await;
    let customer = server.customer().await;
    let anna = with(
        &server,
        issuer.token(
            AUDIENCE,
            600,
            json!({"roles": ["agent", "auditor"], "email": "boss@example.com"}),
        ),
    );
    let filed = anna
        .call(
            "create_ticket",
            json!({"customer_id": customer, "subject": "s", "description": "d"}),
        )
        .await;
    assert_eq!(filed.code(), "OK");
    let log = anna
        .call(
            "list_audit_entries",
            json!({"ticket_id": filed.result()["ticket_id"]}),
        )
        .await
        .result();
    let text = log["entries"][0].to_string();
    assert!(
        text.contains("https://issuer.example|anna") && text.contains("verified"),
        "{text}"
    );
    assert!(!text.contains("boss@"), "{text}");

    let viewer = with(
        &server,
        issuer.token(AUDIENCE, 600, json!({"roles": ["viewer"]})),
    );
    assert_eq!(viewer.call("list_tickets", json!({})).await.code(), "OK");
    assert_eq!(
        viewer.call("list_audit_entries", json!({})).await.status,
        StatusCode::FORBIDDEN
    );
    let wrong = with(
        &server,
        issuer.token("https://other.example/mcp", 600, json!({"roles": ["lead"]})),
    );
    assert_eq!(
        wrong.call("list_tickets", json!({})).await.status,
        StatusCode::UNAUTHORIZED
    );

    let metadata = server
        .stranger()
        .get("/.well-known/oauth-protected-resource")
        .await
        .message();
    assert_eq!(metadata["authorization_servers"], json!([ISSUER]));
}

#[tokio::test]
async fn without_its_keys_an_issuers_tokens_get_503_and_others_enter() {
    let folder = Arc::new(TempDir::new().unwrap());
    let issuer = Issuer::new("k1");
    let server = server(&folder, "").await;
    let anna = with(&server, issuer.token(AUDIENCE, 600, json!({})));
    let refused = anna.call("list_tickets", json!({})).await;
    assert_eq!(refused.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(refused.header("retry-after"), Some("30"));
    let ready = server.stranger().get("/readyz").await;
    assert_eq!(ready.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(ready.message()["checks"]["issuer_keys"], "failing");
    let operator = server.client("ben").await;
    assert_eq!(operator.call("list_tickets", json!({})).await.code(), "OK");
}

#[tokio::test]
async fn a_stream_ends_when_the_token_of_its_reader_does() {
    let folder = Arc::new(TempDir::new().unwrap());
    let issuer = Issuer::new("k1");
    issuer.publish(&folder.path().join("keys.json"));
    let server = server(&folder, "").await;
    let anna = with(&server, issuer.token(AUDIENCE, 600, json!({})));
    let session = anna.open().await;
    let short = issuer.token(AUDIENCE, 3, json!({}));
    let started = Instant::now();
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let head = format!(
        "GET /mcp HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {short}\r\nMcp-Session-Id: {}\r\nConnection: close\r\n\
         Accept: text/event-stream\r\n\r\n",
        server.address, session.id
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    soon(stream.read_to_end(&mut answer)).await.unwrap();
    assert!(answer.starts_with(b"HTTP/1.1 200 "));
    assert!(answer.ends_with(b"0\r\n\r\n"), "ended and not cut");
    assert!(
        started.elapsed() < Duration::from_secs(8),
        "{:?}",
        started.elapsed()
    );
}

#[tokio::test]
async fn tls_serves_with_the_configured_certificate_and_idle_handshakes_end() {
    let folder = Arc::new(TempDir::new().unwrap());
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("cert.pem"), made.cert.pem()).unwrap();
    std::fs::write(path("key.pem"), made.signing_key.serialize_pem()).unwrap();
    let server = Plan::default()
        .set("tls_certificate", path("cert.pem").to_str().unwrap())
        .set("tls_key", path("key.pem").to_str().unwrap())
        .bounds(mcp_http::transport::listen::Bounds {
            first_byte: Duration::from_millis(300),
            ..Default::default()
        })
        .start_in(Arc::clone(&folder))
        .await;
    let mut idle = TcpStream::connect(server.address).await.unwrap();
    let ended = soon(idle.read(&mut [0])).await;
    assert!(matches!(ended, Ok(0) | Err(_)));

    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    let connector = TlsConnector::from(mcp_http::auth::fetch::trust(roots).unwrap());
    let stream = TcpStream::connect(server.address).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    let mut stream = connector.connect(name, stream).await.unwrap();
    let request = format!(
        "GET /.well-known/oauth-protected-resource HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
        server.address
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    soon(stream.read_to_end(&mut answer)).await.unwrap();
    let answer = String::from_utf8_lossy(&answer).into_owned();
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    assert!(
        answer.contains(&format!("\"resource\":\"https://{}/mcp\"", server.address)),
        "{answer}"
    );
}
