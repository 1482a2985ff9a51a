//! The table of settings, and where a value of one comes from.

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::ops::RangeInclusive;
use std::str::FromStr as _;

use anyhow::{Context as _, bail};

use super::file::File;

/// A setting: `name` in the file, `--na-me` as a flag, `DESKGATE_NAME` in the environment.
#[derive(Debug)]
pub struct Setting {
    /// Its name.
    pub name: &'static str,
    /// What stands for its value in help.
    pub value: &'static str,
    /// What it does, with its default.
    pub help: &'static str,
    /// Whether the file may hold it.
    pub in_file: bool,
}

const fn setting(name: &'static str, value: &'static str, help: &'static str) -> Setting {
    Setting {
        name,
        value,
        help,
        in_file: true,
    }
}

/// Every setting, in the order of help and of `--check-config`.
pub const SETTINGS: &[Setting] = &[
    setting(
        "database",
        "URL",
        "The store: sqlite:PATH [default: a file in your data directory]",
    ),
    setting(
        "bind",
        "ADDR:PORT",
        "The address to listen at [default: 127.0.0.1:3001]",
    ),
    setting(
        "public_url",
        "URL",
        "The address of /mcp as clients know it, and the audience of their tokens [default: that of `bind`]",
    ),
    setting(
        "allowed_hosts",
        "LIST",
        "Host names that are answered besides that of `public_url`, with commas, each with its port where it has one",
    ),
    setting(
        "allowed_origins",
        "LIST",
        "Origins of web pages that may use the server, with commas [default: none]",
    ),
    setting(
        "trusted_proxies",
        "LIST",
        "Addresses or networks of proxies whose X-Forwarded-For is believed, with commas [default: none]",
    ),
    setting(
        "tls_certificate",
        "FILE",
        "Certificate chain in PEM; with `tls_key`",
    ),
    setting("tls_key", "FILE", "Private key in PEM"),
    setting(
        "metrics_bind",
        "ADDR:PORT",
        "Serve /metrics without a token at an address of its own [default: with a token that has metrics:read]",
    ),
    setting(
        "personal_tokens",
        "true|false",
        "Whether personal access tokens enter [default: true]",
    ),
    setting(
        "read_only",
        "true|false",
        "Serve reading tools only [default: false]",
    ),
    setting(
        "toolsets",
        "LIST",
        "Toolsets to serve, with commas: customers, tickets, knowledge, replies, calls, review, audit [default: all]",
    ),
    setting(
        "key_file",
        "FILE",
        "The keys of confirmations, private, the same for every instance; `keys create` makes it [needed to serve]",
    ),
    setting(
        "checkpoint_file",
        "FILE",
        "Append signed checkpoints of the audit log to a file, which is to lie where the store's writers can't change it [default: none]",
    ),
    setting(
        "confirm",
        "MODE",
        "What needs a confirmation: standard (what cannot be taken back in one step), strict (every write) [default: standard]",
    ),
    setting(
        "approval",
        "LIST",
        "Least approval of single operations, with commas: OPERATION=token|person, such as close_ticket=person",
    ),
    setting(
        "classifier",
        "KIND",
        "What judges a ticket that the floor lets pass: local (the compiled-in model), none (weaker clearance), remote (a \
         language model, to whose provider ticket text is sent) [default: local]",
    ),
    setting(
        "classifier_provider",
        "PROVIDER",
        "Whose protocol the remote classifier speaks: anthropic, openai (or a server that speaks it), ollama",
    ),
    setting(
        "classifier_model",
        "NAME",
        "The model of the remote classifier, by its provider's name",
    ),
    setting(
        "classifier_endpoint",
        "URL",
        "Where the remote classifier is asked, if not at its provider: https, or http on this machine",
    ),
    setting(
        "classifier_key_file",
        "FILE",
        "A file with the key of the remote classifier; or the key itself in DESKGATE_CLASSIFIER_KEY",
    ),
    setting(
        "classifier_timeout_seconds",
        "N",
        "Seconds that the remote classifier may take, 1 to 60 and less than a call may [default: 10]",
    ),
    setting(
        "classifier_concurrency",
        "N",
        "Questions that the remote classifier is asked at once, 1 to 64 [default: 4]",
    ),
    setting(
        "timeout_seconds",
        "N",
        "Seconds that a call may take, 1 to 600 [default: 30]",
    ),
    setting(
        "concurrency",
        "N",
        "Calls of everybody that may run at once, 1 to 1000 [default: 64]",
    ),
    setting(
        "result_tokens",
        "N",
        "Tokens (of about four bytes) that one result may take, 3000 to 100000 [default: 6000]",
    ),
    setting(
        "reads_per_second",
        "N",
        "Reads of one person or program a second; four times as many at once [default: 50]",
    ),
    setting(
        "contacts_per_second",
        "N",
        "Reads with contact fields in clear a second; twice as many at once [default: 20]",
    ),
    setting(
        "writes_per_second",
        "N",
        "Writes a second; twice as many at once [default: 10]",
    ),
    setting(
        "in_flight",
        "N",
        "Requests of one person or program at once, open streams included, 1 to 1000 [default: 64]",
    ),
    setting(
        "sessions",
        "N",
        "Sessions of the older protocol revision at once [default: 1024]",
    ),
    setting(
        "sessions_each",
        "N",
        "Sessions of one person or program; one more closes the idlest [default: 32]",
    ),
    setting(
        "session_idle_minutes",
        "N",
        "When an idle session ends, 1 to 1440 [default: 30]",
    ),
    setting(
        "grace_seconds",
        "N",
        "Seconds for calls in flight after a signal to stop, 1 to 600 [default: 20]",
    ),
    setting(
        "otlp_endpoint",
        "URL",
        "A collector that is sent spans, OTLP over HTTP, such as http://127.0.0.1:4318; in builds with the feature `otel`",
    ),
    setting(
        "log",
        "LEVEL",
        "What to log: error, warn, info, debug, trace [default: info]",
    ),
    Setting {
        in_file: false,
        ..setting(
            "config",
            "FILE",
            "A TOML file with these names and [[issuers]] tables",
        )
    },
];

/// Settings that only the environment may hold, since flags and files are seen by others.
const SECRETS: &[&str] = &["classifier_key"];

/// What the command line gave, by the names of settings.
#[derive(Clone, Debug, Default)]
pub struct Given {
    values: Vec<(&'static str, String)>,
    /// Whether a demonstration was asked for: its store is a temporary one.
    pub is_demo: bool,
}

impl Given {
    /// These values; `is_demo` as asked.
    pub fn new(values: Vec<(&'static str, String)>, is_demo: bool) -> Self {
        Self { values, is_demo }
    }

    pub(super) fn text(&self, name: &str) -> Option<String> {
        let (_, value) = self.values.iter().find(|(known, _)| *known == name)?;
        Some(value.clone())
    }
}

/// The part of the environment that settings may come from.
#[derive(Clone, Default)]
pub struct Environment(Vec<(String, String)>);

impl Environment {
    /// Reads the process's variables once; an unknown `DESKGATE_*` name is an error.
    pub fn read() -> anyhow::Result<Self> {
        Self::from_pairs(std::env::vars_os().filter_map(|(name, value)| {
            let name = name.into_string().ok()?;
            Some((name, value.to_string_lossy().into_owned()))
        }))
    }

    pub(super) fn from_pairs(
        pairs: impl Iterator<Item = (String, String)>,
    ) -> anyhow::Result<Self> {
        let mut kept = Vec::new();
        for (name, value) in pairs {
            // Names for the project's own tests are not settings of the server.
            let is_ours = name.starts_with("DESKGATE_")
                && name != "DESKGATE_FULL"
                && !name.starts_with("DESKGATE_TEST_");
            let is_secret = SECRETS.iter().any(|secret| variable(secret) == name);
            if is_ours
                && !is_secret
                && !SETTINGS
                    .iter()
                    .any(|setting| variable(setting.name) == name)
            {
                let valid: Vec<_> = SETTINGS.iter().map(|known| variable(known.name)).collect();
                bail!(
                    "the environment variable `{name}` is not a setting; valid are: {}",
                    valid.join(", ")
                );
            }
            if is_ours || matches!(name.as_str(), "USER" | "LOGNAME" | "USERNAME") {
                kept.push((name, value));
            }
        }
        Ok(Self(kept))
    }

    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.raw(&variable(name))
    }

    fn raw(&self, variable: &str) -> Option<String> {
        let (_, value) = self.0.iter().find(|(known, _)| known == variable)?;
        Some(value.clone()).filter(|value| !value.trim().is_empty())
    }

    /// Who sits at the terminal, for the audit rows of commands.
    pub fn os_user(&self) -> String {
        ["USER", "LOGNAME", "USERNAME"]
            .iter()
            .find_map(|name| self.raw(name))
            .unwrap_or_else(|| "unknown".to_owned())
    }
}

fn variable(name: &str) -> String {
    format!("DESKGATE_{}", name.to_ascii_uppercase())
}

/// All three sources, in their order.
pub(super) struct Values<'a> {
    pub(super) given: &'a Given,
    pub(super) environment: &'a Environment,
    pub(super) file: &'a File,
}

impl Values<'_> {
    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.given
            .text(name)
            .or_else(|| self.environment.text(name))
            .or_else(|| self.file.text(name))
    }

    /// One that only the environment may hold.
    pub(super) fn secret(&self, name: &str) -> Option<String> {
        self.environment.text(name)
    }

    pub(super) fn list(&self, name: &str) -> Vec<String> {
        let text = self.text(name).unwrap_or_default();
        let parts = text
            .split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty());
        parts.map(str::to_owned).collect()
    }

    pub(super) fn boolean(&self, name: &str, default: bool) -> anyhow::Result<bool> {
        match self.text(name).as_deref().map(str::trim) {
            None => Ok(default),
            Some("true") => Ok(true),
            Some("false") => Ok(false),
            Some(other) => bail!("`{name}` is `{other}`; only `true` and `false` are allowed"),
        }
    }

    pub(super) fn number(
        &self,
        name: &str,
        default: u64,
        range: RangeInclusive<u64>,
    ) -> anyhow::Result<u64> {
        let Some(given) = self.text(name) else {
            return Ok(default);
        };
        match given.trim().parse::<u64>() {
            Ok(number) if range.contains(&number) => Ok(number),
            _ => bail!(
                "`{name}` is `{given}`; a whole number from {} to {} is allowed",
                range.start(),
                range.end()
            ),
        }
    }

    pub(super) fn size(
        &self,
        name: &str,
        default: usize,
        range: RangeInclusive<u64>,
    ) -> anyhow::Result<usize> {
        let default = u64::try_from(default)?;
        Ok(usize::try_from(self.number(name, default, range)?)?)
    }

    pub(super) fn rate(&self, name: &str, default: u64) -> anyhow::Result<NonZeroU32> {
        let number = u32::try_from(self.number(name, default, 1..=1_000_000)?)?;
        NonZeroU32::new(number).with_context(|| format!("`{name}` is zero"))
    }

    pub(super) fn address(&self, name: &str) -> anyhow::Result<Option<SocketAddr>> {
        self.text(name)
            .map(|text| {
                SocketAddr::from_str(text.trim()).with_context(|| {
                    format!("`{name}` is `{text}`; an address with a port such as `127.0.0.1:3001` is allowed")
                })
            })
            .transpose()
    }
}
