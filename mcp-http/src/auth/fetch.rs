//! Where an issuer's key set is had from: a file, or an `https` URL out of the configuration.
//!
//! The URL never comes from a token. Redirects are not followed, and the address that is connected to is the one that was
//! checked, so that a name can't be pointed into the server's own network between the check and the use.

use std::io::Read as _;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::future::BoxFuture;
use http::{Request, StatusCode, Uri, header};
use http_body_util::{BodyExt as _, Empty, Limited};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto};

use super::keys::KEY_SET_BYTES;

/// How long one fetch may take, from the name to the last byte.
const FETCH_TIME: Duration = Duration::from_secs(5);

/// Why a key set could not be had.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The file can't be read.
    #[error("the key file cannot be read")]
    File(#[source] std::io::Error),
    /// The name has no address that may be connected to.
    #[error(
        "the host has no public address; set `allow_private_address` if the issuer is in your own network"
    )]
    Address,
    /// The network failed.
    #[error("the issuer cannot be reached")]
    Network(#[source] std::io::Error),
    /// The exchange failed after connecting.
    #[error("the issuer does not speak HTTP")]
    Http(#[source] hyper::Error),
    /// It answered, but not with the set.
    #[error("the issuer answers `{0}`; redirects are not followed")]
    Status(StatusCode),
    /// It sent too much, or broke off.
    #[error("the answer is longer than 262144 bytes or broke off")]
    Body(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// It took too long.
    #[error("the issuer does not answer in time")]
    Timeout,
}

/// Gets the bytes of a key set.
pub trait FetchKeys: Send + Sync {
    /// The bytes, at most one more than a set may have.
    fn fetch(&self) -> BoxFuture<'_, Result<Vec<u8>, FetchError>>;
}

/// A key set in a file, read anew at each fetch.
pub struct FileKeys(pub PathBuf);

impl FetchKeys for FileKeys {
    fn fetch(&self) -> BoxFuture<'_, Result<Vec<u8>, FetchError>> {
        let path = self.0.clone();
        Box::pin(async move {
            let read = move || {
                let limit = u64::try_from(KEY_SET_BYTES)
                    .unwrap_or(u64::MAX)
                    .saturating_add(1);
                let mut bytes = Vec::new();
                std::fs::File::open(path)?
                    .take(limit)
                    .read_to_end(&mut bytes)?;
                Ok(bytes)
            };
            let read = tokio::task::spawn_blocking(read).await;
            read.map_err(std::io::Error::other)
                .flatten()
                .map_err(FetchError::File)
        })
    }
}

/// Which addresses may be connected to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Addresses {
    /// Those of the public internet.
    #[default]
    Public,
    /// Also those of the own network and machine, for an issuer that lives there.
    Any,
}

/// A URL that can't be a key set's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("key set URL `{0}` is not an `https` URL with a host")]
pub struct KeyUrlError(pub String);

/// A key set behind a URL.
pub struct HttpsKeys {
    uri: Uri,
    host: String,
    addresses: Addresses,
    tls: TlsConnector,
}

impl HttpsKeys {
    /// The set at `url`, over TLS that `tls` trusts.
    pub fn new(
        url: &str,
        addresses: Addresses,
        tls: Arc<ClientConfig>,
    ) -> Result<Self, KeyUrlError> {
        let refused = || KeyUrlError(url.to_owned());
        let uri: Uri = url.parse().map_err(|_not_a_url| refused())?;
        let host = match uri.authority() {
            Some(authority) if !authority.as_str().contains('@') => authority.host().to_owned(),
            Some(_) | None => return Err(refused()),
        };
        if uri.scheme_str() != Some("https") || host.is_empty() {
            return Err(refused());
        }
        Ok(Self {
            uri,
            host,
            addresses,
            tls: TlsConnector::from(tls),
        })
    }

    async fn connect(&self) -> Result<TcpStream, FetchError> {
        let host = self.host.trim_start_matches('[').trim_end_matches(']');
        let port = self.uri.port_u16().unwrap_or(443);
        let found = tokio::net::lookup_host((host, port))
            .await
            .map_err(FetchError::Network)?;
        let allowed: Vec<SocketAddr> = found
            .filter(|address| self.addresses == Addresses::Any || is_public(address.ip()))
            .collect();
        if allowed.is_empty() {
            return Err(FetchError::Address);
        }
        TcpStream::connect(allowed.as_slice())
            .await
            .map_err(FetchError::Network)
    }

    async fn get(&self) -> Result<Vec<u8>, FetchError> {
        let host = self
            .host
            .trim_start_matches('[')
            .trim_end_matches(']')
            .to_owned();
        let name = ServerName::try_from(host)
            .map_err(|error| FetchError::Network(std::io::Error::other(error)))?;
        let stream = self
            .tls
            .connect(name, self.connect().await?)
            .await
            .map_err(FetchError::Network)?;
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
            .await
            .map_err(FetchError::Http)?;
        let path = self.uri.path_and_query().map_or("/", |path| path.as_str());
        let authority = self
            .uri
            .authority()
            .map_or("", |authority| authority.as_str());
        let request = Request::get(path)
            .header(header::HOST, authority)
            .header(header::ACCEPT, "application/json, application/jwk-set+json")
            .body(Empty::<Bytes>::new())
            .map_err(|error| FetchError::Network(std::io::Error::other(error)))?;
        let exchange = async {
            let response = sender
                .send_request(request)
                .await
                .map_err(FetchError::Http)?;
            if response.status() != StatusCode::OK {
                return Err(FetchError::Status(response.status()));
            }
            let body = Limited::new(response.into_body(), KEY_SET_BYTES);
            let bytes = body.collect().await.map_err(FetchError::Body)?.to_bytes();
            Ok(bytes.to_vec())
        };
        // The connection only moves while it is polled; it ends with the exchange, on whichever side.
        let exchange = std::pin::pin!(exchange);
        let connection = std::pin::pin!(connection);
        match futures::future::select(exchange, connection).await {
            futures::future::Either::Left((result, _connection)) => result,
            futures::future::Either::Right((_ended, exchange)) => exchange.await,
        }
    }
}

impl FetchKeys for HttpsKeys {
    fn fetch(&self) -> BoxFuture<'_, Result<Vec<u8>, FetchError>> {
        Box::pin(async move {
            match tokio::time::timeout(FETCH_TIME, self.get()).await {
                Ok(result) => result,
                Err(_elapsed) => Err(FetchError::Timeout),
            }
        })
    }
}

/// No certificate of this machine's trust store can be used.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// There are none.
    #[error(
        "this machine has no trusted certificates; install `ca-certificates` or set `SSL_CERT_FILE`"
    )]
    Empty,
    /// The library refuses its own defaults.
    #[error("TLS cannot be set up")]
    Tls(#[source] tokio_rustls::rustls::Error),
}

/// TLS that trusts what this machine trusts, a company's own root included.
pub fn machine_trust() -> Result<Arc<ClientConfig>, TrustError> {
    let mut roots = RootCertStore::empty();
    let (added, _ignored) =
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if added == 0 {
        return Err(TrustError::Empty);
    }
    trust(roots).map_err(TrustError::Tls)
}

/// TLS that trusts these roots, with the pure choice of ciphers of `ring`, whatever else is linked.
pub fn trust(roots: RootCertStore) -> Result<Arc<ClientConfig>, tokio_rustls::rustls::Error> {
    let config = ClientConfig::builder_with_provider(Arc::new(crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Arc::new(config))
}

/// Whether an address belongs to the public internet and not to a network that only this machine can see.
fn is_public(ip: IpAddr) -> bool {
    match ip.to_canonical() {
        IpAddr::V4(ip) => is_public_v4(ip),
        IpAddr::V6(ip) => is_public_v6(ip),
    }
}

fn is_public_v4(ip: Ipv4Addr) -> bool {
    let [a, b, c, _] = ip.octets();
    let is_shared = a == 100 && (64..128).contains(&b);
    let is_protocol = a == 192 && b == 0 && c == 0;
    let is_benchmark = a == 198 && (18..20).contains(&b);
    !(a == 0
        || a >= 224
        || ip.is_private()
        || ip.is_loopback()
        || ip.is_link_local()
        || ip.is_documentation()
        || is_shared
        || is_protocol
        || is_benchmark)
}

/// Global unicast without documentation and the ranges that carry an IPv4 address inside.
fn is_public_v6(ip: Ipv6Addr) -> bool {
    let [a, b, ..] = ip.segments();
    let is_global = a & 0xe000 == 0x2000;
    let is_documentation = a == 0x2001 && b == 0x0db8 || a & 0xfff0 == 0x3ff0;
    let embeds_v4 = a == 0x2002 || a == 0x2001 && b == 0;
    is_global && !is_documentation && !embeds_v4
}

#[cfg(test)]
mod tests;
