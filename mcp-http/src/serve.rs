//! Puts a server together from its configuration, and runs it until it is told to stop.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use desk::Desk;
use desk::ops::audit::{AuditError, Keeper};
use domain::{Clock, IdSource};
use mcp_surface::Surface;
use rmcp::ServerHandler;
use tokio::net::TcpListener;
use tokio::time::MissedTickBehavior;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{ServerConfig, crypto};

use crate::auth::challenge::Resource;
use crate::auth::fetch::{Addresses, FetchKeys, FileKeys, HttpsKeys, machine_trust};
use crate::auth::jwt::{Issuer, ScopeClaim, TokenType};
use crate::auth::ring::KeyRing;
use crate::auth::{Authenticator, TrustedIssuer};
use crate::config::{Config, IssuerEntry, ScopeClaimWord, TokenTypeWord};
use crate::identity::FromToken;
use crate::limits::Limits;
use crate::operations::health::Health;
use crate::operations::metrics::Metrics;
use crate::tokens::StoredTokens;
use crate::transport::hosts::Neighbours;
use crate::transport::listen::{self, Bounds};
use crate::transport::peer::Proxies;
use crate::transport::server::{Front, metrics_router, router};
use crate::transport::sessions::Sessions;
use crate::transport::shutdown::Shutdown;

/// What the machine gives: time and randomness, which tests replace.
#[derive(Clone)]
pub struct Machine {
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Numbers and nonces.
    pub ids: Arc<dyn IdSource>,
}

/// A server that listens and is not serving yet.
pub struct Server {
    listener: TcpListener,
    counters: Option<TcpListener>,
    tls: Option<TlsAcceptor>,
    front: Arc<Front>,
    desk: Arc<Desk>,
    config: Config,
    bounds: Bounds,
    shutdown: Shutdown,
}

impl Server {
    /// This server with other bounds of connections.
    #[must_use]
    pub fn with_bounds(self, bounds: Bounds) -> Self {
        Self { bounds, ..self }
    }

    /// Takes the addresses and checks everything that can be checked before the first request.
    pub async fn bind(config: Config, desk: Arc<Desk>, machine: &Machine) -> anyhow::Result<Self> {
        let listener = TcpListener::bind(config.bind)
            .await
            .with_context(|| format!("`{}` cannot be listened at", config.bind))?;
        let counters = match config.metrics_bind {
            Some(address) => Some(
                TcpListener::bind(address)
                    .await
                    .with_context(|| format!("`{address}` cannot be listened at"))?,
            ),
            None => None,
        };
        let address = listener.local_addr()?;
        let tls = config.tls.as_ref().map(acceptor).transpose()?;
        let scheme = if tls.is_some() { "https" } else { "http" };
        let url = config
            .public_url
            .clone()
            .unwrap_or_else(|| format!("{scheme}://{address}/mcp"));
        let servers = config.issuers.iter().map(|entry| entry.issuer.clone());
        let resource = Resource::new(&url, servers.collect()).context("`public_url`")?;
        let front = Front {
            authenticator: authenticator(&config, &resource, &desk, machine).await?,
            neighbours: Arc::new(neighbours(&config, &resource, address)?),
            resource,
            proxies: Proxies::new(&config.trusted_proxies)?,
            sessions: Sessions::new(config.sessions, config.session_idle),
            limits: Limits::new(config.rates),
            clock: Arc::clone(&machine.clock),
            ids: Arc::clone(&machine.ids),
            desk: Arc::clone(&desk),
            metrics: Arc::new(Metrics::default()),
        };
        Ok(Self {
            listener,
            counters,
            tls,
            front: Arc::new(front),
            desk,
            config,
            bounds: Bounds::default(),
            shutdown: Shutdown::default(),
        })
    }

    /// Where it listens.
    pub fn address(&self) -> anyhow::Result<SocketAddr> {
        Ok(self.listener.local_addr()?)
    }

    /// The address of `/mcp` for clients.
    pub fn url(&self) -> &str {
        self.front.resource.url()
    }

    /// Issuers whose keys can't be read now.
    pub async fn issuers_without_keys(&self) -> Vec<String> {
        let failed = self.front.authenticator.load_keys().await;
        failed
            .into_iter()
            .map(|(issuer, _)| issuer.to_owned())
            .collect()
    }

    /// The handle that ends it.
    pub fn shutdown(&self) -> Shutdown {
        self.shutdown.clone()
    }

    /// What it serves.
    pub fn surface(&self) -> Surface {
        Surface::new(
            Arc::clone(&self.desk),
            Arc::new(FromToken),
            self.config.surface.clone(),
        )
        .observed_by(Arc::clone(&self.front.metrics) as Arc<dyn mcp_surface::Observe>)
    }

    /// Serves the desk until the shutdown begins, then ends in order and closes the store.
    pub async fn run(self) -> anyhow::Result<()> {
        let surface = self.surface();
        self.run_with(surface).await
    }

    /// Serves another MCP server on the same wiring.
    pub async fn run_with<S: ServerHandler + Clone>(self, handler: S) -> anyhow::Result<()> {
        let Self {
            listener,
            counters,
            tls,
            front,
            desk,
            config,
            bounds,
            shutdown,
        } = self;
        let health = Health::new(Arc::clone(&desk), Arc::clone(&front), shutdown.clone());
        let app = router(handler, Arc::clone(&front), health.routes(), &shutdown);
        if let Some(counters) = counters {
            let app = metrics_router(front, shutdown.clone());
            let shutdown = shutdown.clone();
            tokio::spawn(async move {
                listen::serve(counters, None, app, bounds, &shutdown).await;
            });
        }
        let keeper = Arc::new(Keeper::new(Arc::clone(&desk), config.checkpoint_file));
        let keeping = tokio::spawn(keep(Arc::clone(&keeper)));
        listen::serve(listener, tls, app, bounds, &shutdown).await;
        let in_time = shutdown.finish(config.grace).await;
        if !in_time {
            tracing::warn!("calls were cut after {} s", config.grace.as_secs());
        }
        keeping.abort();
        if let Err(error) = keeper.take().await {
            no_checkpoint(&error);
        }
        desk.close().await.context("the store did not close")
    }
}

/// Takes checkpoints of the audit log as they fall due.
async fn keep(keeper: Arc<Keeper>) {
    let mut seconds = tokio::time::interval(Duration::from_secs(1));
    seconds.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        seconds.tick().await;
        if let Err(error) = keeper.tick().await {
            no_checkpoint(&error);
        }
    }
}

fn no_checkpoint(error: &AuditError) {
    let cause = std::error::Error::source(error).map(tracing::field::display);
    tracing::error!(cause, "no checkpoint of the audit log was kept: {error}");
}

async fn authenticator(
    config: &Config,
    resource: &Resource,
    desk: &Arc<Desk>,
    machine: &Machine,
) -> anyhow::Result<Authenticator> {
    let issuers = config
        .issuers
        .iter()
        .map(|entry| trusted(entry, resource, machine))
        .collect::<anyhow::Result<_>>()?;
    let personal = config.personal_tokens.then(|| {
        let tokens = StoredTokens::new(Arc::clone(desk), Arc::clone(&machine.clock));
        Arc::new(tokens) as Arc<dyn crate::auth::personal::PersonalTokens>
    });
    let authenticator = Authenticator::new(issuers, personal, Arc::clone(&machine.clock));
    for (issuer, error) in authenticator.load_keys().await {
        // It may come back; until then its tokens get 503 and `/readyz` says why.
        tracing::error!(
            auth.issuer = issuer,
            cause = std::error::Error::source(&error).map(tracing::field::display),
            "{error}"
        );
    }
    Ok(authenticator)
}

fn trusted(
    entry: &IssuerEntry,
    resource: &Resource,
    machine: &Machine,
) -> anyhow::Result<TrustedIssuer> {
    let audience = entry.audience.as_deref().unwrap_or(resource.url());
    let rules = Issuer::new(&entry.issuer, audience, &entry.algorithms)?
        .with_leeway(entry.leeway_seconds)?;
    let rules = Issuer {
        token_type: match entry.token_type {
            TokenTypeWord::AccessToken => TokenType::AccessToken,
            TokenTypeWord::Any => TokenType::AnyJwt,
        },
        scope_claim: match entry.scope_claim {
            ScopeClaimWord::Scope => ScopeClaim::Scope,
            ScopeClaimWord::Scp => ScopeClaim::Scp,
        },
        roles_claim: entry.roles_claim.clone(),
        ..rules
    };
    let source: Box<dyn FetchKeys> = match (&entry.jwks_file, &entry.jwks_url) {
        (Some(path), None) => Box::new(FileKeys(path.clone())),
        (None, Some(url)) => {
            let addresses = if entry.allow_private_address {
                Addresses::Any
            } else {
                Addresses::Public
            };
            Box::new(HttpsKeys::new(url, addresses, machine_trust()?)?)
        }
        (Some(_), Some(_)) | (None, None) => anyhow::bail!(
            "issuer `{}` needs `jwks_file` or `jwks_url`, and not both",
            entry.issuer
        ),
    };
    let keys = KeyRing::new(
        &entry.issuer,
        source,
        entry.jwks_max_age_seconds,
        Arc::clone(&machine.clock),
    );
    Ok(TrustedIssuer { rules, keys })
}

/// The host of the public URL, what the operator lists, and on the loopback its usual names.
fn neighbours(
    config: &Config,
    resource: &Resource,
    address: SocketAddr,
) -> anyhow::Result<Neighbours> {
    let mut hosts = config.allowed_hosts.clone();
    if let Some((_, authority)) = resource.origin().split_once("://") {
        hosts.push(authority.to_owned());
    }
    if address.ip().is_loopback() {
        let port = address.port();
        hosts.extend(["127.0.0.1", "localhost", "[::1]"].map(|name| format!("{name}:{port}")));
    }
    Ok(Neighbours::new(&hosts, &config.allowed_origins)?)
}

fn acceptor(files: &(std::path::PathBuf, std::path::PathBuf)) -> anyhow::Result<TlsAcceptor> {
    let (certificate, key) = files;
    let unreadable =
        |path: &std::path::Path| format!("`{}` holds no PEM of that kind", path.display());
    let chain = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .with_context(|| unreadable(certificate))?;
    let key_der = PrivateKeyDer::from_pem_file(key).with_context(|| unreadable(key))?;
    let mut tls = ServerConfig::builder_with_provider(Arc::new(crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, key_der)
        .context("`tls_certificate` and `tls_key` do not fit together")?;
    tls.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(tls)))
}
