//! `doctor`: every setting that is less safe than it could be, one line each.

use std::process::ExitCode;

use desk::ops::keys;

use super::{Context, print, runtime};
use crate::config::{Config, TokenTypeWord};
use crate::operations::logs::Level;
use crate::serve::Server;

/// A token that lives longer than this is worth a look, in days.
const LONG_DAYS: i64 = 180;
const DAY_MICROS: i64 = 86_400_000_000;

pub(super) fn run(context: &Context) -> anyhow::Result<ExitCode> {
    let mut found = deviations(&context.config);
    found.extend(runtime()?.block_on(checks(context)));
    if found.is_empty() {
        print("Nothing deviates from safe settings.")?;
        return Ok(ExitCode::SUCCESS);
    }
    for line in &found {
        print(&format!("- {line}"))?;
    }
    Ok(ExitCode::FAILURE)
}

/// What can be seen in the settings alone.
pub(crate) fn deviations(config: &Config) -> Vec<String> {
    let mut found = Vec::new();
    let mut note = |is_so: bool, line: String| {
        if is_so {
            found.push(line);
        }
    };
    let is_local = config.bind.ip().is_loopback();
    let url = config.public_url.as_deref().unwrap_or_default();
    note(
        !is_local && config.tls.is_none() && config.trusted_proxies.is_empty(),
        format!(
            "`bind` is `{}` without TLS and without a trusted proxy: tokens cross the network in clear",
            config.bind
        ),
    );
    note(
        url.starts_with("http://") && !is_local,
        format!("`public_url` is `{url}`: clients send their tokens in clear"),
    );
    for origin in config
        .allowed_origins
        .iter()
        .filter(|origin| origin.starts_with("http://"))
    {
        note(
            !origin.starts_with("http://localhost") && !origin.starts_with("http://127.0.0.1"),
            format!(
                "`allowed_origins` holds `{origin}`: whoever is on the way can change that page"
            ),
        );
    }
    for network in &config.trusted_proxies {
        note(
            network.ends_with("/0"),
            format!(
                "`trusted_proxies` holds `{network}`: anybody may say where a request comes from"
            ),
        );
    }
    if let Some(address) = config.metrics_bind {
        note(
            !address.ip().is_loopback(),
            format!("`metrics_bind` is `{address}`: the counters are open to that network"),
        );
    }
    for issuer in &config.issuers {
        let name = &issuer.issuer;
        note(
            issuer.token_type == TokenTypeWord::Any,
            format!(
                "issuer `{name}` has `token_type = \"any\"`: access tokens are told from ID tokens by their claims only"
            ),
        );
        note(
            issuer.allow_private_address,
            format!(
                "issuer `{name}` has `allow_private_address`: its key set is fetched from the own network"
            ),
        );
        note(
            issuer.jwks_max_age_seconds > 86_400,
            format!(
                "issuer `{name}` has `jwks_max_age_seconds` over a day: a withdrawn key counts that long in an outage"
            ),
        );
        note(
            issuer.roles_claim.is_none(),
            format!(
                "issuer `{name}` has no `roles_claim`: what a token's scopes say is not narrowed by what the person may do"
            ),
        );
    }
    if let Some(told) = config.classifier.disclosure() {
        note(true, format!("`classifier`: {told}"));
    }
    note(
        matches!(config.log, Level::Debug | Level::Trace),
        format!(
            "`log` is `{}`: that is for finding faults",
            config.log.as_str()
        ),
    );
    found
}

/// What has to be tried.
async fn checks(context: &Context) -> Vec<String> {
    let mut found = Vec::new();
    match context.key_file() {
        Err(error) => found.push(format!("{error:#}")),
        Ok(path) => {
            if let Err(error) = keys::load(path) {
                found.push(format!("{:#}", anyhow::Error::new(error)));
            }
        }
    }
    if context.config.checkpoint_file.is_none() {
        found.push(
            "no `checkpoint_file` is named: truncation and a full rewrite of the audit log are not detectable"
                .to_owned(),
        );
    }
    let desk = match context.desk(false, true) {
        Ok(desk) => desk,
        Err(error) => {
            found.push(format!("the store cannot be opened: {error:#}"));
            return found;
        }
    };
    match desk.list_access_tokens().await {
        Err(error) => found.push(format!("the store does not answer: {error}")),
        Ok(tokens) => {
            let now = Context::machine().clock.now();
            let long = now.plus_micros(LONG_DAYS * DAY_MICROS);
            for token in tokens.iter().filter(|token| token.revoked_at.is_none()) {
                if token.expires_at > long {
                    found.push(format!(
                        "token {} of `{}` lives until {}: more than {LONG_DAYS} days",
                        token.id, token.subject, token.expires_at
                    ));
                }
            }
        }
    }
    // The same checks as at the start, on an address of its own.
    let config = Config {
        bind: (context.config.bind.ip(), 0).into(),
        metrics_bind: None,
        ..context.config.clone()
    };
    match Server::bind(config, desk, &Context::machine()).await {
        Err(error) => found.push(format!("the server would not start: {error:#}")),
        Ok(server) => {
            for issuer in server.issuers_without_keys().await {
                found.push(format!("the keys of issuer `{issuer}` cannot be read"));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests;
