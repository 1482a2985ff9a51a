//! Settings: flags before environment before file, unknown names refused.
//!
//! A safety setting that is misspelt must stop the start and never leave writes on (field report 41), so the file
//! refuses unknown keys, the environment refuses unknown `DESKGATE_*` names, and booleans take `true` or `false` only.

mod classifier;
mod command;

use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context, bail};
use clap::Parser;
use desk::guard::ClassifierKind;
use desk::{ConfirmationMode, Policy};
use domain::Role;
use mcp_surface::Toolset;
use serde::Deserialize;

use self::classifier::ClassifierFlags;
pub(crate) use self::command::{Audit, Command, Keys};

/// Serves a support desk to a local MCP host over standard input and output.
#[derive(Debug, Parser)]
#[expect(
    clippy::doc_markdown,
    reason = "these comments are the help text of the command"
)]
#[command(name = "deskgate-stdio", version, about, max_term_width = 100)]
pub(crate) struct Flags {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,

    /// The store: `sqlite:PATH` (default: a file in your data directory) (env: DESKGATE_DATABASE)
    #[arg(long, value_name = "URL")]
    database: Option<String>,

    /// Who acts, for the audit log (default: local:NAME of the OS user) (env: MCP_ACTOR)
    #[arg(long, value_name = "NAME")]
    actor: Option<String>,

    /// Serve reading tools only (env: DESKGATE_READ_ONLY)
    #[arg(long, value_name = "true|false", num_args = 0..=1, default_missing_value = "true", require_equals = true)]
    read_only: Option<String>,

    /// Narrow the rights to those of a role: viewer, agent, lead, security, auditor (default: all rights) (env: DESKGATE_ROLE)
    #[arg(long, value_name = "ROLE")]
    role: Option<String>,

    /// Toolsets to serve, with commas: customers, tickets, knowledge, replies, calls, review, audit (default: all) (env: DESKGATE_TOOLSETS)
    #[arg(long, value_name = "LIST")]
    toolsets: Option<String>,

    /// What needs a confirmation: standard (what cannot be taken back in one step), strict (every write) (default: standard) (env: DESKGATE_CONFIRM)
    #[arg(long, value_name = "MODE")]
    confirm: Option<String>,

    /// Least approval of single operations, with commas: OPERATION=token|person, such as close_ticket=person (env: DESKGATE_APPROVAL)
    #[arg(long, value_name = "LIST")]
    approval: Option<String>,

    #[command(flatten)]
    classifier: ClassifierFlags,

    /// The keys of confirmations and of the audit log (default: a file beside the store; needed for postgres://, where every server on the database shares it and `keys create` makes it) (env: DESKGATE_KEY_FILE)
    #[arg(long, value_name = "FILE", global = true)]
    key_file: Option<String>,

    /// Append signed checkpoints of the audit log to a file, which is to lie where the store's writers can't change it (default: none) (env: DESKGATE_CHECKPOINT_FILE)
    #[arg(long, value_name = "FILE", global = true)]
    checkpoint_file: Option<String>,

    /// Seconds that a call may take, 1 to 600 (default: 30) (env: DESKGATE_TIMEOUT_SECONDS)
    #[arg(long, value_name = "N")]
    timeout_seconds: Option<String>,

    /// Calls that may run at once, 1 to 1000 (default: 64) (env: DESKGATE_CONCURRENCY)
    #[arg(long, value_name = "N")]
    concurrency: Option<String>,

    /// Tokens (of about four bytes) that one result may take, 3000 to 100000 (default: 6000) (env: DESKGATE_RESULT_TOKENS)
    #[arg(long, value_name = "N")]
    result_tokens: Option<String>,

    /// What to log to standard error: error, warn, info, debug, trace (default: warn) (env: DESKGATE_LOG)
    #[arg(long, value_name = "LEVEL")]
    log: Option<String>,

    /// A TOML file with the same names, dashes as underscores (env: DESKGATE_CONFIG)
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Serve a temporary store filled with demonstration data, gone when the process ends
    #[arg(long, conflicts_with = "database")]
    pub(crate) demo: bool,

    /// Print the effective settings and stop
    #[arg(long)]
    pub(crate) check_config: bool,

    /// Print the entry to paste into a host's configuration and stop
    #[arg(long)]
    pub(crate) print_host_config: bool,
}

/// The same settings in a file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileSettings {
    database: Option<String>,
    actor: Option<String>,
    read_only: Option<bool>,
    role: Option<String>,
    toolsets: Option<Vec<String>>,
    confirm: Option<String>,
    approval: Option<Vec<String>>,
    key_file: Option<String>,
    checkpoint_file: Option<String>,
    classifier: Option<String>,
    classifier_provider: Option<String>,
    classifier_model: Option<String>,
    classifier_endpoint: Option<String>,
    classifier_key_file: Option<String>,
    classifier_timeout_seconds: Option<u64>,
    classifier_concurrency: Option<u64>,
    timeout_seconds: Option<u64>,
    concurrency: Option<u64>,
    result_tokens: Option<u64>,
    log: Option<String>,
}

/// Every name that the environment may hold; `MCP_ACTOR` is the name that hosts know.
const VARIABLES: [&str; 21] = [
    "DESKGATE_DATABASE",
    "DESKGATE_READ_ONLY",
    "DESKGATE_ROLE",
    "DESKGATE_TOOLSETS",
    "DESKGATE_CONFIRM",
    "DESKGATE_APPROVAL",
    "DESKGATE_CHECKPOINT_FILE",
    "DESKGATE_KEY_FILE",
    "DESKGATE_CLASSIFIER",
    "DESKGATE_CLASSIFIER_PROVIDER",
    "DESKGATE_CLASSIFIER_MODEL",
    "DESKGATE_CLASSIFIER_ENDPOINT",
    "DESKGATE_CLASSIFIER_KEY_FILE",
    "DESKGATE_CLASSIFIER_KEY",
    "DESKGATE_CLASSIFIER_TIMEOUT_SECONDS",
    "DESKGATE_CLASSIFIER_CONCURRENCY",
    "DESKGATE_TIMEOUT_SECONDS",
    "DESKGATE_CONCURRENCY",
    "DESKGATE_RESULT_TOKENS",
    "DESKGATE_LOG",
    "DESKGATE_CONFIG",
];

/// What the server runs with. It can hold a key, so it has no `Debug`.
pub(crate) struct Config {
    /// `sqlite:PATH`, or empty with `--demo`.
    pub(crate) database: String,
    pub(crate) actor: String,
    pub(crate) read_only: bool,
    pub(crate) role: Option<Role>,
    pub(crate) toolsets: Vec<Toolset>,
    pub(crate) policy: Policy,
    pub(crate) checkpoint_file: Option<PathBuf>,
    /// Where keys are, if not beside the store.
    pub(crate) key_file: Option<PathBuf>,
    pub(crate) classifier: ClassifierKind,
    pub(crate) timeout_seconds: u64,
    pub(crate) concurrency: usize,
    pub(crate) result_tokens: usize,
    pub(crate) log: Level,
}

/// How much is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

impl FromStr for Level {
    type Err = anyhow::Error;

    fn from_str(word: &str) -> anyhow::Result<Self> {
        Ok(match word.trim().to_ascii_lowercase().as_str() {
            "error" => Self::Error,
            "warn" => Self::Warn,
            "info" => Self::Info,
            "debug" => Self::Debug,
            "trace" => Self::Trace,
            _ => bail!("`{word}` is not one of: error, warn, info, debug, trace"),
        })
    }
}

impl Level {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warn => "warn",
            Self::Info => "info",
            Self::Debug => "debug",
            Self::Trace => "trace",
        }
    }
}

/// The part of the environment that settings may come from.
pub(crate) struct Environment(Vec<(String, String)>);

impl Environment {
    /// Reads the process's variables once; an unknown `DESKGATE_*` name is an error.
    pub(crate) fn read() -> anyhow::Result<Self> {
        Self::from_pairs(std::env::vars_os().filter_map(|(name, value)| {
            let name = name.into_string().ok()?;
            Some((name, value.to_string_lossy().into_owned()))
        }))
    }

    fn from_pairs(pairs: impl Iterator<Item = (String, String)>) -> anyhow::Result<Self> {
        let mut kept = Vec::new();
        for (name, value) in pairs {
            let ours = name.starts_with("DESKGATE_");
            // Names for the project's own tests are not settings of the server.
            if ours && name != "DESKGATE_FULL" && !name.starts_with("DESKGATE_TEST_") {
                if !VARIABLES.contains(&name.as_str()) {
                    bail!(
                        "the environment variable `{name}` is not a setting; valid are: {}",
                        VARIABLES.join(", ")
                    );
                }
                kept.push((name, value));
            } else if matches!(name.as_str(), "MCP_ACTOR" | "USER" | "LOGNAME" | "USERNAME") {
                kept.push((name, value));
            }
        }
        Ok(Self(kept))
    }

    fn get(&self, name: &str) -> Option<String> {
        let (_, value) = self.0.iter().find(|(known, _)| known == name)?;
        Some(value.clone()).filter(|value| !value.trim().is_empty())
    }
}

impl Config {
    /// Puts the settings together; every error names the setting and what is allowed.
    pub(crate) fn load(flags: &Flags, environment: &Environment) -> anyhow::Result<Self> {
        let file = match flags
            .config
            .clone()
            .or_else(|| environment.get("DESKGATE_CONFIG").map(PathBuf::from))
        {
            Some(path) => read_file(&path)?,
            None => FileSettings::default(),
        };
        let classifier_in_file = ClassifierFlags::in_file(&file);
        let pick = |flag: &Option<String>, variable: &str, in_file: Option<String>| {
            flag.clone()
                .or_else(|| environment.get(variable))
                .or(in_file)
        };
        let number = |flag: &Option<String>,
                      variable: &str,
                      in_file: Option<u64>,
                      name: &str,
                      default: u64,
                      range| {
            number(
                pick(flag, variable, in_file.map(|n| n.to_string())),
                name,
                default,
                range,
            )
        };

        let database = match pick(&flags.database, "DESKGATE_DATABASE", file.database) {
            Some(url) => url,
            None if flags.demo => String::new(),
            None => default_database()?,
        };
        let actor = match pick(&flags.actor, "MCP_ACTOR", file.actor) {
            Some(name) => name,
            None => format!("local:{}", os_user(environment)),
        };
        domain::text::label(domain::limits::NAME_CHARS)(&actor, &())
            .map_err(|error| anyhow::anyhow!("`actor` {}", error.message()))?;
        let read_only = pick(
            &flags.read_only,
            "DESKGATE_READ_ONLY",
            file.read_only.map(|yes| yes.to_string()),
        )
        .map_or(Ok(false), |word| boolean("read_only", &word))?;
        let role = pick(&flags.role, "DESKGATE_ROLE", file.role)
            .map(|word| Role::parse(&word).context("`role`"))
            .transpose()?;
        let toolsets = pick(
            &flags.toolsets,
            "DESKGATE_TOOLSETS",
            file.toolsets.map(|list| list.join(",")),
        )
        .map_or_else(
            || Ok(Toolset::ALL.to_vec()),
            |list| Toolset::parse_all(list.split(',')).context("`toolsets`"),
        )?;
        let mode = pick(&flags.confirm, "DESKGATE_CONFIRM", file.confirm)
            .map(|word| ConfirmationMode::parse(&word).context("`confirm`"))
            .transpose()?
            .unwrap_or(ConfirmationMode::Standard);
        let approval = pick(
            &flags.approval,
            "DESKGATE_APPROVAL",
            file.approval.map(|list| list.join(",")),
        );
        let policy =
            Policy::parse(mode, approval.as_deref().unwrap_or_default()).context("`approval`")?;
        let key_file = pick(&flags.key_file, "DESKGATE_KEY_FILE", file.key_file).map(PathBuf::from);
        let checkpoint_file = pick(
            &flags.checkpoint_file,
            "DESKGATE_CHECKPOINT_FILE",
            file.checkpoint_file,
        )
        .map(PathBuf::from);
        let timeout_seconds = number(
            &flags.timeout_seconds,
            "DESKGATE_TIMEOUT_SECONDS",
            file.timeout_seconds,
            "timeout_seconds",
            30,
            1..=600,
        )?;
        let classifier = classifier::load(
            &flags.classifier,
            environment,
            classifier_in_file,
            timeout_seconds,
        )?;
        let concurrency = number(
            &flags.concurrency,
            "DESKGATE_CONCURRENCY",
            file.concurrency,
            "concurrency",
            64,
            1..=1_000,
        )?;
        let result_tokens = number(
            &flags.result_tokens,
            "DESKGATE_RESULT_TOKENS",
            file.result_tokens,
            "result_tokens",
            6_000,
            3_000..=100_000,
        )?;
        let log = pick(&flags.log, "DESKGATE_LOG", file.log)
            .map_or(Ok(Level::Warn), |word| word.parse().context("`log`"))?;
        Ok(Self {
            database,
            actor,
            read_only,
            role,
            toolsets,
            policy,
            checkpoint_file,
            key_file,
            classifier,
            timeout_seconds,
            concurrency: usize::try_from(concurrency)?,
            result_tokens: usize::try_from(result_tokens)?,
            log,
        })
    }

    /// The settings as TOML, for `--check-config`. A database password and a key are masked.
    pub(crate) fn to_toml(&self) -> anyhow::Result<String> {
        let mut table = toml::Table::new();
        let database = storage::DatabaseUrl::parse(&self.database).map_or_else(
            |_demo| "(temporary, demonstration data)".to_owned(),
            |url| url.to_string(),
        );
        table.insert("database".to_owned(), database.into());
        table.insert("actor".to_owned(), self.actor.clone().into());
        table.insert("read_only".to_owned(), self.read_only.into());
        table.insert(
            "role".to_owned(),
            self.role.map_or("(all rights)", Role::as_str).into(),
        );
        let toolsets: Vec<toml::Value> = self
            .toolsets
            .iter()
            .map(|set| set.as_str().into())
            .collect();
        table.insert("toolsets".to_owned(), toolsets.into());
        let mode = self.policy.mode().as_str();
        table.insert("confirm".to_owned(), mode.into());
        table.insert("approval".to_owned(), self.policy.settings().into());
        table.extend(self.classifier.to_table());
        if self.classifier.has_key() {
            table.insert("classifier_key".to_owned(), "(hidden)".into());
        }
        if let Some(path) = &self.key_file {
            table.insert("key_file".to_owned(), path.display().to_string().into());
        }
        if let Some(path) = &self.checkpoint_file {
            let shown = path.display().to_string();
            table.insert("checkpoint_file".to_owned(), shown.into());
        }
        table.insert(
            "timeout_seconds".to_owned(),
            i64::try_from(self.timeout_seconds)?.into(),
        );
        table.insert(
            "concurrency".to_owned(),
            i64::try_from(self.concurrency)?.into(),
        );
        table.insert(
            "result_tokens".to_owned(),
            i64::try_from(self.result_tokens)?.into(),
        );
        table.insert("log".to_owned(), self.log.as_str().into());
        Ok(toml::to_string(&table)? + &classifier::comment(&self.classifier))
    }
}

fn read_file(path: &Path) -> anyhow::Result<FileSettings> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("the configuration file `{}` cannot be read", path.display()))?;
    toml::from_str(text.trim_start_matches('\u{feff}'))
        .with_context(|| format!("the configuration file `{}` is not valid", path.display()))
}

fn boolean(name: &str, word: &str) -> anyhow::Result<bool> {
    match word.trim() {
        "true" => Ok(true),
        "false" => Ok(false),
        other => bail!("`{name}` is `{other}`; only `true` and `false` are allowed"),
    }
}

fn number(
    given: Option<String>,
    name: &str,
    default: u64,
    range: std::ops::RangeInclusive<u64>,
) -> anyhow::Result<u64> {
    let Some(given) = given else {
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

fn os_user(environment: &Environment) -> String {
    ["USER", "LOGNAME", "USERNAME"]
        .iter()
        .find_map(|name| environment.get(name))
        .unwrap_or_else(|| "unknown".to_owned())
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
