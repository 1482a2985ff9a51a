//! Fetching: files, URLs that are refused before anything is sent, and a real exchange over TLS on the loopback.

use std::net::IpAddr;
use std::sync::Arc;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio_rustls::rustls::{RootCertStore, ServerConfig, crypto};

use super::*;

/// A TLS server on the loopback that answers each connection with `answer`, and a client configuration that trusts it.
async fn server(answer: Vec<u8>) -> (u16, Arc<ClientConfig>) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let config = ServerConfig::builder_with_provider(Arc::new(crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    let listener = TcpListener::bind(("localhost", 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Ok(mut stream) = acceptor.accept(stream).await else {
                continue;
            };
            let mut request = [0; 4096];
            let read = stream.read(&mut request).await.unwrap_or(0);
            let request = String::from_utf8_lossy(&request[..read]).into_owned();
            assert!(
                !request.to_lowercase().contains("authorization"),
                "{request}"
            );
            // The client may hang up in the middle of an answer that is too long.
            let sent = stream.write_all(&answer).await;
            if sent.is_ok() {
                drop(stream.shutdown().await);
            }
        }
    });
    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    (port, trust(roots).unwrap())
}

fn answer(status: &str, more: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 {status}\r\n{more}content-length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

async fn fetch(answer: Vec<u8>, addresses: Addresses) -> Result<Vec<u8>, FetchError> {
    let (port, tls) = server(answer).await;
    let url = format!("https://localhost:{port}/keys");
    HttpsKeys::new(&url, addresses, tls).unwrap().fetch().await
}

#[tokio::test]
async fn a_set_is_fetched_over_tls_from_an_address_that_is_allowed() {
    let fetched = fetch(answer("200 OK", "", b"{\"keys\":[]}"), Addresses::Any).await;
    assert_eq!(fetched.unwrap(), b"{\"keys\":[]}");
    let refused = fetch(answer("200 OK", "", b"{}"), Addresses::Public).await;
    assert!(matches!(refused, Err(FetchError::Address)));
}

#[tokio::test]
async fn redirects_errors_and_floods_are_no_key_sets() {
    for status in [
        "301 Moved",
        "302 Found",
        "307 Temporary",
        "204 None",
        "404 Gone",
        "500 Oops",
    ] {
        let location = "location: https://evil.example/keys\r\n";
        let refused = fetch(answer(status, location, b"{}"), Addresses::Any).await;
        assert!(matches!(refused, Err(FetchError::Status(_))), "{status}");
    }
    let limit = vec![b' '; KEY_SET_BYTES];
    assert!(
        fetch(answer("200 OK", "", &limit), Addresses::Any)
            .await
            .is_ok()
    );
    let flood = vec![b' '; KEY_SET_BYTES + 1];
    let refused = fetch(answer("200 OK", "", &flood), Addresses::Any).await;
    assert!(matches!(refused, Err(FetchError::Body(_))));
    let cut = b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{".to_vec();
    assert!(matches!(
        fetch(cut, Addresses::Any).await,
        Err(FetchError::Body(_))
    ));
    assert!(matches!(
        fetch(b"hello".to_vec(), Addresses::Any).await,
        Err(FetchError::Http(_))
    ));
}

#[tokio::test]
async fn a_server_that_is_not_trusted_is_not_asked() {
    let (port, _) = server(answer("200 OK", "", b"{}")).await;
    let (_, other) = server(Vec::new()).await;
    let url = format!("https://localhost:{port}/keys");
    let refused = HttpsKeys::new(&url, Addresses::Any, other)
        .unwrap()
        .fetch()
        .await;
    assert!(matches!(refused, Err(FetchError::Network(_))));
}

#[tokio::test]
async fn only_https_urls_with_a_host_and_without_credentials_are_configured() {
    let (_, tls) = server(Vec::new()).await;
    let make = |url: &str| HttpsKeys::new(url, Addresses::Any, Arc::clone(&tls)).is_ok();
    assert!(make("https://issuer.example/keys") && make("https://issuer.example:8443/k?v=1"));
    for bad in [
        "http://issuer.example/keys",
        "file:///keys",
        "/keys",
        "https://",
        "https://u:p@issuer.example/",
        "",
    ] {
        assert!(!make(bad), "{bad}");
    }
}

#[tokio::test]
async fn a_file_is_read_up_to_the_limit() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), vec![b'x'; KEY_SET_BYTES + 100]).unwrap();
    let read = FileKeys(file.path().to_owned()).fetch().await.unwrap();
    assert_eq!(read.len(), KEY_SET_BYTES + 1);
    let missing = FileKeys(file.path().with_extension("missing"))
        .fetch()
        .await;
    assert!(matches!(missing, Err(FetchError::File(_))));
}

#[test]
fn addresses_of_the_own_network_are_not_public() {
    let own = [
        "127.0.0.1",
        "127.8.8.8",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "0.1.2.3",
        "192.0.0.8",
        "198.18.0.1",
        "192.0.2.1",
        "224.0.0.1",
        "255.255.255.255",
        "240.0.0.1",
        "::",
        "::1",
        "fe80::1",
        "fc00::1",
        "fd12::1",
        "ff02::1",
        "2001:db8::1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "64:ff9b::7f00:1",
        "2002:7f00:1::",
        "2001:0:7f00:1::",
    ];
    for ip in own {
        assert!(!is_public(ip.parse::<IpAddr>().unwrap()), "{ip}");
    }
    for ip in [
        "1.1.1.1",
        "172.32.0.1",
        "100.128.0.1",
        "2606:4700::1111",
        "::ffff:8.8.8.8",
    ] {
        assert!(is_public(ip.parse::<IpAddr>().unwrap()), "{ip}");
    }
}
