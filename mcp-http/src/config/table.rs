//! The effective settings as a file would hold them, for `--check-config`. There are no secrets among them: keys are
//! named by their files, and a database password is masked.

use super::Config;
use super::file::{ScopeClaimWord, TokenTypeWord};

impl Config {
    /// The settings as TOML.
    pub fn to_toml(&self) -> anyhow::Result<String> {
        let mut table = toml::Table::new();
        let mut put = |name: &str, value: toml::Value| {
            table.insert(name.to_owned(), value);
        };
        let list = |words: &[String]| toml::Value::from(words.to_vec());
        let number = |number: usize| i64::try_from(number).map(toml::Value::from);
        let database = storage::DatabaseUrl::parse(&self.database).map_or_else(
            |_demo| "(temporary, demonstration data)".to_owned(),
            |url| url.to_string(),
        );
        put("database", database.into());
        put("bind", self.bind.to_string().into());
        if let Some(url) = &self.public_url {
            put("public_url", url.clone().into());
        }
        put("allowed_hosts", list(&self.allowed_hosts));
        put("allowed_origins", list(&self.allowed_origins));
        put("trusted_proxies", list(&self.trusted_proxies));
        if let Some((certificate, key)) = &self.tls {
            put("tls_certificate", certificate.display().to_string().into());
            put("tls_key", key.display().to_string().into());
        }
        if let Some(address) = self.metrics_bind {
            put("metrics_bind", address.to_string().into());
        }
        put("personal_tokens", self.personal_tokens.into());
        put("read_only", self.surface.read_only.into());
        let toolsets: Vec<_> = self
            .surface
            .toolsets
            .iter()
            .map(|set| set.as_str())
            .collect();
        put("toolsets", toolsets.into());
        if let Some(path) = &self.key_file {
            put("key_file", path.display().to_string().into());
        }
        if let Some(path) = &self.checkpoint_file {
            put("checkpoint_file", path.display().to_string().into());
        }
        put("confirm", self.policy.mode().as_str().into());
        put("approval", self.policy.settings().into());
        for (name, value) in self.classifier.to_table() {
            put(&name, value);
        }
        if let Some(path) = &self.classifier_key_file {
            put("classifier_key_file", path.clone().into());
        }
        put(
            "timeout_seconds",
            i64::try_from(self.surface.timeout.as_secs())?.into(),
        );
        put("concurrency", number(self.surface.concurrency)?);
        put("result_tokens", number(self.surface.result_bytes / 4)?);
        put(
            "reads_per_second",
            i64::from(self.rates.reads.per_second.get()).into(),
        );
        put(
            "contacts_per_second",
            i64::from(self.rates.contacts.per_second.get()).into(),
        );
        put(
            "writes_per_second",
            i64::from(self.rates.writes.per_second.get()).into(),
        );
        put("in_flight", number(self.rates.in_flight)?);
        put("sessions", number(self.sessions.total)?);
        put("sessions_each", number(self.sessions.each)?);
        put(
            "session_idle_minutes",
            i64::try_from(self.session_idle.as_secs() / 60)?.into(),
        );
        put("grace_seconds", i64::try_from(self.grace.as_secs())?.into());
        if let Some(url) = &self.otlp_endpoint {
            put("otlp_endpoint", url.clone().into());
        }
        put("log", self.log.as_str().into());
        let issuers: Vec<_> = self
            .issuers
            .iter()
            .map(super::IssuerEntry::to_table)
            .collect();
        if !issuers.is_empty() {
            put("issuers", issuers.into());
        }
        Ok(toml::to_string(&table)?)
    }
}

impl super::IssuerEntry {
    fn to_table(&self) -> toml::Table {
        let mut table = toml::Table::new();
        let mut put = |name: &str, value: toml::Value| {
            table.insert(name.to_owned(), value);
        };
        put("issuer", self.issuer.clone().into());
        put("algorithms", self.algorithms.clone().into());
        if let Some(audience) = &self.audience {
            put("audience", audience.clone().into());
        }
        if let Some(path) = &self.jwks_file {
            put("jwks_file", path.display().to_string().into());
        }
        if let Some(url) = &self.jwks_url {
            put("jwks_url", url.clone().into());
        }
        put("allow_private_address", self.allow_private_address.into());
        put(
            "jwks_max_age_seconds",
            i64::from(self.jwks_max_age_seconds).into(),
        );
        put("leeway_seconds", i64::from(self.leeway_seconds).into());
        let kind = match self.token_type {
            TokenTypeWord::AccessToken => "at+jwt",
            TokenTypeWord::Any => "any",
        };
        put("token_type", kind.into());
        let claim = match self.scope_claim {
            ScopeClaimWord::Scope => "scope",
            ScopeClaimWord::Scp => "scp",
        };
        put("scope_claim", claim.into());
        if let Some(claim) = &self.roles_claim {
            put("roles_claim", claim.clone().into());
        }
        table
    }
}
