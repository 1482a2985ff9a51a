//! Settings: flags before environment before file, unknown names refused.
//!
//! A safety setting that is misspelt must stop the start (field report 41), so every way in refuses names that it does not
//! know, and truth values are `true` and `false` only. One table names the settings; flags, environment, file and
//! `--check-config` all follow it. Issuers are tables of the file.

mod file;
mod settings;
mod table;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use desk::guard::{ClassifierKind, ClassifierWords};
use desk::{ConfirmationMode, Policy};
use mcp_surface::{Settings, Toolset};

use crate::limits::Rates;
use crate::operations::logs::Level;
use crate::transport::sessions::Caps;

pub use file::{IssuerEntry, ScopeClaimWord, TokenTypeWord};
pub use settings::{Environment, Given, SETTINGS, Setting};

/// What the server runs with.
#[derive(Clone)]
pub struct Config {
    /// `sqlite:PATH`; empty in a demonstration.
    pub database: String,
    /// The address to listen at.
    pub bind: SocketAddr,
    /// An address for the counters alone.
    pub metrics_bind: Option<SocketAddr>,
    /// The canonical address of `/mcp`, as clients know it; by default that of `bind`.
    pub public_url: Option<String>,
    /// Host names that are answered, besides that of the public URL.
    pub allowed_hosts: Vec<String>,
    /// Origins of pages that may use the server.
    pub allowed_origins: Vec<String>,
    /// Proxies that are believed about addresses.
    pub trusted_proxies: Vec<String>,
    /// Certificate and key files; without them the server speaks plain HTTP.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// Whether personal access tokens enter.
    pub personal_tokens: bool,
    /// Issuers whose tokens enter.
    pub issuers: Vec<IssuerEntry>,
    /// The file with the keys of confirmations, which all instances share; only a demonstration does without.
    pub key_file: Option<PathBuf>,
    /// The file outside the store that signed checkpoints of the audit log are appended to.
    pub checkpoint_file: Option<PathBuf>,
    /// What needs a confirmation.
    pub policy: Policy,
    /// What judges a ticket that the floor lets pass.
    pub classifier: ClassifierKind,
    /// Where the key of a remote classifier is read from, if not from the environment.
    pub classifier_key_file: Option<String>,
    /// What the surface serves.
    pub surface: Settings,
    /// Allowances of each principal.
    pub rates: Rates,
    /// Bounds of sessions.
    pub sessions: Caps,
    /// When an idle session ends.
    pub session_idle: Duration,
    /// How long calls in flight may take after a signal to stop.
    pub grace: Duration,
    /// The collector that spans are exported to.
    pub otlp_endpoint: Option<String>,
    /// What is logged.
    pub log: Level,
}

impl Config {
    /// Puts the settings together; every error names the setting and what is allowed.
    pub fn load(given: &Given, environment: &Environment) -> anyhow::Result<Self> {
        let path = given
            .text("config")
            .or_else(|| environment.text("config"))
            .map(PathBuf::from);
        let file = match path {
            Some(path) => file::read(&path)?,
            None => file::File::default(),
        };
        let values = settings::Values {
            given,
            environment,
            file: &file,
        };
        let database = match values.text("database") {
            _ if given.is_demo => String::new(),
            Some(url) => url,
            None => default_database()?,
        };
        let timeout = Duration::from_secs(values.number("timeout_seconds", 30, 1..=600)?);
        let session_idle =
            Duration::from_mins(values.number("session_idle_minutes", 30, 1..=1440)?);
        let answer_timeout = Settings::default().answer_timeout;
        ensure!(
            session_idle >= answer_timeout + timeout * 2,
            "`session_idle_minutes` must be at least ten minutes and twice `timeout_seconds`: an idle session loses the \
             answer of a call whose person is still thinking"
        );
        let mode = match values.text("confirm") {
            Some(word) => ConfirmationMode::parse(&word).context("`confirm`")?,
            None => ConfirmationMode::Standard,
        };
        let approval = values.text("approval").unwrap_or_default();
        let rates = Rates::default();
        let sessions = Caps::default();
        let config = Self {
            database,
            bind: values.address("bind")?.unwrap_or(DEFAULT_BIND),
            metrics_bind: values.address("metrics_bind")?,
            public_url: values.text("public_url"),
            allowed_hosts: values.list("allowed_hosts"),
            allowed_origins: values.list("allowed_origins"),
            trusted_proxies: values.list("trusted_proxies"),
            tls: tls(&values)?,
            personal_tokens: values.boolean("personal_tokens", true)?,
            key_file: values.text("key_file").map(PathBuf::from),
            checkpoint_file: values.text("checkpoint_file").map(PathBuf::from),
            policy: Policy::parse(mode, &approval).context("`approval`")?,
            classifier: classifier(&values, timeout)?,
            classifier_key_file: values.text("classifier_key_file"),
            surface: Settings {
                toolsets: toolsets(&values.list("toolsets"))?,
                read_only: values.boolean("read_only", false)?,
                timeout,
                answer_timeout,
                concurrency: values.size("concurrency", 64, 1..=1_000)?,
                // A token is about four bytes (design section 3).
                result_bytes: values.size("result_tokens", 6_000, 3_000..=100_000)? * 4,
            },
            rates: Rates {
                reads: rates.reads.at(values.rate("reads_per_second", 50)?),
                contacts: rates.contacts.at(values.rate("contacts_per_second", 20)?),
                writes: rates.writes.at(values.rate("writes_per_second", 10)?),
                in_flight: values.size("in_flight", rates.in_flight, 1..=1_000)?,
            },
            sessions: Caps {
                total: values.size("sessions", sessions.total, 1..=100_000)?,
                each: values.size("sessions_each", sessions.each, 1..=100_000)?,
            },
            session_idle,
            grace: Duration::from_secs(values.number("grace_seconds", 20, 1..=600)?),
            otlp_endpoint: otlp_endpoint(&values)?,
            log: match values.text("log") {
                Some(word) => word.parse().context("`log`")?,
                None => Level::default(),
            },
            issuers: file.issuers,
        };
        config.check()?;
        Ok(config)
    }

    /// What must never run: nobody could be told from anybody, or the whole network could try.
    fn check(&self) -> anyhow::Result<()> {
        ensure!(
            self.personal_tokens || !self.issuers.is_empty(),
            "nobody could sign in: configure an `[[issuers]]` table or leave `personal_tokens` on"
        );
        let is_local = self.bind.ip().is_loopback();
        if !is_local && self.public_url.is_none() {
            bail!(
                "`bind` is `{}`, which is reachable from other machines; set `public_url` to the address that clients use",
                self.bind
            );
        }
        Ok(())
    }
}

/// 127.0.0.1:3001.
const DEFAULT_BIND: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 3001);

fn tls(values: &settings::Values<'_>) -> anyhow::Result<Option<(PathBuf, PathBuf)>> {
    match (values.text("tls_certificate"), values.text("tls_key")) {
        (Some(certificate), Some(key)) => Ok(Some((certificate.into(), key.into()))),
        (None, None) => Ok(None),
        _ => bail!("`tls_certificate` and `tls_key` belong together; set both or neither"),
    }
}

fn classifier(values: &settings::Values<'_>, timeout: Duration) -> anyhow::Result<ClassifierKind> {
    let words = ClassifierWords {
        kind: values.text("classifier"),
        provider: values.text("classifier_provider"),
        model: values.text("classifier_model"),
        endpoint: values.text("classifier_endpoint"),
        key_file: values.text("classifier_key_file"),
        key: values.secret("classifier_key"),
        timeout_seconds: values.text("classifier_timeout_seconds"),
        concurrency: values.text("classifier_concurrency"),
    };
    words.load(timeout.as_secs()).context("`classifier`")
}

/// Spans name people and tools, so they travel encrypted or stay on this machine.
fn otlp_endpoint(values: &settings::Values<'_>) -> anyhow::Result<Option<String>> {
    let Some(given) = values.text("otlp_endpoint") else {
        return Ok(None);
    };
    let url: http::Uri = given.parse().context("`otlp_endpoint` is no address")?;
    let is_local = matches!(url.host(), Some("localhost" | "127.0.0.1" | "[::1]"));
    let is_safe = match url.scheme_str() {
        Some("https") => true,
        Some("http") => is_local,
        _ => false,
    };
    ensure!(
        is_safe && url.query().is_none() && !given.contains('@'),
        "`otlp_endpoint` is not usable; https://HOST[:PORT], or http:// for a collector on this machine, is allowed"
    );
    Ok(Some(given))
}

fn toolsets(words: &[String]) -> anyhow::Result<Vec<Toolset>> {
    if words.is_empty() {
        return Ok(Toolset::ALL.to_vec());
    }
    Toolset::parse_all(words.iter().map(String::as_str)).context("`toolsets`")
}

fn default_database() -> anyhow::Result<String> {
    use etcetera::BaseStrategy as _;
    let strategy = etcetera::choose_base_strategy().context(
        "no data directory was found for this user; name a store with `--database sqlite:PATH`",
    )?;
    let folder = strategy.data_dir().join("deskgate");
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("the data directory `{}` cannot be made", folder.display()))?;
    Ok(format!("sqlite:{}", folder.join("desk.db").display()))
}

#[cfg(test)]
mod tests;
