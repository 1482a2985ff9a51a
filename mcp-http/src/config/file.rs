//! The configuration file: the settings of the table, and a table for each issuer.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use serde::Deserialize;

use super::SETTINGS;

/// A file as read.
#[derive(Debug, Default)]
pub(super) struct File {
    values: Vec<(String, String)>,
    pub(super) issuers: Vec<IssuerEntry>,
}

/// One `[[issuers]]` table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IssuerEntry {
    /// Its `iss`.
    pub issuer: String,
    /// Algorithms that it signs with; asymmetric ones only.
    pub algorithms: Vec<String>,
    /// The audience of its tokens [default: the public URL].
    pub audience: Option<String>,
    /// A file with its key set.
    pub jwks_file: Option<PathBuf>,
    /// An `https` address of its key set.
    pub jwks_url: Option<String>,
    /// Whether that address may lie in the own network.
    #[serde(default)]
    pub allow_private_address: bool,
    /// How long a key set counts that can't be renewed, in seconds.
    #[serde(default = "an_hour")]
    pub jwks_max_age_seconds: u32,
    /// How far its clock may be off, in seconds.
    #[serde(default = "half_a_minute")]
    pub leeway_seconds: u32,
    /// `at+jwt`, or `any` for issuers that don't mark access tokens.
    #[serde(default)]
    pub token_type: TokenTypeWord,
    /// `scope`, or `scp`.
    #[serde(default)]
    pub scope_claim: ScopeClaimWord,
    /// A claim that lists roles, which then narrow the scopes.
    pub roles_claim: Option<String>,
}

const fn an_hour() -> u32 {
    3600
}

const fn half_a_minute() -> u32 {
    crate::auth::jwt::LEEWAY_SECONDS_MAX
}

/// The words of `token_type`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub enum TokenTypeWord {
    /// Access tokens are marked.
    #[default]
    #[serde(rename = "at+jwt")]
    AccessToken,
    /// They are not.
    #[serde(rename = "any")]
    Any,
}

/// The words of `scope_claim`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ScopeClaimWord {
    /// `scope`.
    #[default]
    Scope,
    /// `scp`.
    Scp,
}

impl File {
    pub(super) fn text(&self, name: &str) -> Option<String> {
        let (_, value) = self.values.iter().find(|(known, _)| known == name)?;
        Some(value.clone())
    }
}

pub(super) fn read(path: &Path) -> anyhow::Result<File> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("the configuration file `{}` cannot be read", path.display()))?;
    parse(&text)
        .with_context(|| format!("the configuration file `{}` is not valid", path.display()))
}

pub(super) fn parse(text: &str) -> anyhow::Result<File> {
    let table: toml::Table = text.trim_start_matches('\u{feff}').parse()?;
    let mut file = File::default();
    for (name, value) in table {
        if name == "issuers" {
            file.issuers = value.try_into().context("`issuers`")?;
        } else if SETTINGS
            .iter()
            .any(|setting| setting.name == name && setting.in_file)
        {
            let value = plain(value).with_context(|| format!("`{name}`"))?;
            file.values.push((name, value));
        } else {
            let names = SETTINGS.iter().filter(|setting| setting.in_file);
            let valid: Vec<_> = names.map(|setting| setting.name).collect();
            bail!(
                "`{name}` is not a setting; valid are: {}, issuers",
                valid.join(", ")
            );
        }
    }
    Ok(file)
}

/// A value as a flag would write it.
fn plain(value: toml::Value) -> anyhow::Result<String> {
    Ok(match value {
        toml::Value::String(text) => text,
        toml::Value::Integer(number) => number.to_string(),
        toml::Value::Boolean(truth) => truth.to_string(),
        toml::Value::Array(list) => list
            .into_iter()
            .map(plain)
            .collect::<anyhow::Result<Vec<_>>>()?
            .join(","),
        toml::Value::Float(_) | toml::Value::Datetime(_) | toml::Value::Table(_) => {
            bail!("only texts, whole numbers, truth values and lists of them are allowed")
        }
    })
}
