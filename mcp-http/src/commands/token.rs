//! `token create | list | revoke`: personal access tokens.

use std::process::ExitCode;

use anyhow::{Context as _, ensure};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use desk::ops::tokens::{DAYS_MAX, TokenRequest};
use desk::system::SystemIds;
use domain::{AccessToken, Role, Scope, ScopeSet, Timestamp};

use super::{Context, print, runtime};
use crate::tokens::new_token;

/// How long a token lives unless it is said otherwise.
const DAYS: &str = "90";

pub(super) fn command() -> Command {
    let text = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help)
    };
    Command::new("token")
        .about("Make, list and end personal access tokens")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(
            Command::new("create")
                .about("Make a token and show it, this once")
                .arg(
                    text(
                        "subject",
                        "NAME",
                        "The person or program that the token stands for",
                    )
                    .required(true),
                )
                .arg(text(
                    "role",
                    "ROLE",
                    "The rights of a role: viewer, agent, lead, security, auditor",
                ))
                .arg(
                    text(
                        "scope",
                        "SCOPE",
                        "A right, such as desk:read; may be repeated",
                    )
                    .action(ArgAction::Append),
                )
                .arg(text("label", "TEXT", "What it is for").default_value(""))
                .arg(
                    text("days", "N", "How long it lives, 1 to 366 days")
                        .default_value(DAYS)
                        .value_parser(value_parser!(u32).range(1..=i64::from(DAYS_MAX))),
                ),
        )
        .subcommand(Command::new("list").about("List tokens with their last use"))
        .subcommand(
            Command::new("revoke").about("End a token at once").arg(
                Arg::new("id")
                    .required(true)
                    .value_name("ID")
                    .help("Its number in the list")
                    .value_parser(value_parser!(i64)),
            ),
        )
}

pub(super) fn run(context: &Context, matches: &ArgMatches) -> anyhow::Result<ExitCode> {
    let (name, matches) = matches.subcommand().context("no command")?;
    runtime()?.block_on(async {
        let desk = context.desk(true, false)?;
        let operator = context.operator(&desk);
        match name {
            "create" => {
                let token = new_token(&SystemIds);
                let request = request(matches)?;
                let made = desk
                    .create_access_token(&operator, &request, token.digest())
                    .await?;
                print(&format!(
                    "{}\n\nThis is token {} for `{}`, until {}, with: {}.\nIt is not shown again.",
                    token.reveal(),
                    made.id,
                    made.subject,
                    made.expires_at,
                    words(made.scopes)
                ))?;
            }
            "list" => {
                let now = Context::machine().clock.now();
                for token in desk.list_access_tokens().await? {
                    print(&line(&token, now))?;
                }
            }
            _ => {
                let id = *matches.get_one::<i64>("id").context("no id")?;
                let ended = desk.revoke_access_token(&operator, id).await?;
                print(&format!(
                    "Token {} of `{}` is ended.",
                    ended.id, ended.subject
                ))?;
            }
        }
        desk.close().await?;
        Ok(ExitCode::SUCCESS)
    })
}

fn request(matches: &ArgMatches) -> anyhow::Result<TokenRequest> {
    let text = |name: &str| matches.get_one::<String>(name).cloned();
    let role = text("role")
        .map(|word| Role::parse(&word).context("`--role`"))
        .transpose()?;
    let scopes = matches
        .get_many::<String>("scope")
        .unwrap_or_default()
        .map(|word| Scope::parse_exact(word).context("`--scope`"))
        .collect::<anyhow::Result<ScopeSet>>()?;
    let scopes: ScopeSet = role
        .map_or(ScopeSet::NONE, Role::scopes)
        .iter()
        .chain(scopes.iter())
        .collect();
    ensure!(
        scopes != ScopeSet::NONE,
        "say what the token allows with `--role` or `--scope`"
    );
    Ok(TokenRequest {
        subject: text("subject").unwrap_or_default(),
        label: text("label").unwrap_or_default(),
        scopes,
        days: *matches.get_one::<u32>("days").context("no days")?,
    })
}

fn words(scopes: ScopeSet) -> String {
    scopes
        .iter()
        .map(Scope::as_str)
        .collect::<Vec<_>>()
        .join(" ")
}

fn line(token: &AccessToken, now: Timestamp) -> String {
    let state = match token.revoked_at {
        Some(at) => format!("ended {at}"),
        None if token.expires_at <= now => format!("expired {}", token.expires_at),
        None => format!("until {}", token.expires_at),
    };
    let used = token
        .last_used_at
        .map_or_else(|| "never used".to_owned(), |at| format!("last used {at}"));
    format!(
        "{}\t{}\t{state}\t{used}\t{}\t{}",
        token.id,
        token.subject,
        words(token.scopes),
        token.label
    )
}

#[cfg(test)]
mod tests {
    //! What a list shows of a token.

    use super::*;

    #[test]
    fn a_line_says_whose_a_token_is_and_whether_it_still_opens() {
        let day = |n: i64| Timestamp::from_micros(n * 86_400_000_000);
        let token = AccessToken {
            id: 3,
            subject: "anna".to_owned(),
            label: "her laptop".to_owned(),
            scopes: Role::Viewer.scopes(),
            created_at: day(0),
            expires_at: day(2),
            revoked_at: None,
            last_used_at: None,
        };
        let shown = |token: &AccessToken, now| line(token, day(now));
        let start = "3\tanna\tuntil 1970-01-03T00:00:00Z\tnever used\tdesk:read\ther laptop";
        assert_eq!(shown(&token, 1), start);
        assert!(shown(&token, 2).contains("expired 1970-01-03"));
        let ended = AccessToken {
            revoked_at: Some(day(1)),
            last_used_at: Some(day(1)),
            ..token
        };
        assert!(shown(&ended, 1).contains("ended 1970-01-02T00:00:00Z\tlast used 1970-01-02"));
    }
}
