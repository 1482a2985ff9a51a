//! The settings of the classifier. Whatever doesn't fit together stops the start.

use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use desk::guard::{ApiKey, ClassifierKind, LONGEST_DEADLINE, MOST_CONCURRENT, RemoteGiven};

use super::{Environment, FileSettings, number};

/// The settings as flags, and under the same names as they stand in a file.
#[derive(Debug, clap::Args)]
#[expect(
    clippy::doc_markdown,
    reason = "these comments are the help text of the command"
)]
pub(super) struct ClassifierFlags {
    /// What judges a ticket that the floor lets pass: local (the compiled-in model), none (weaker clearance), remote (a language model, to whose provider ticket text is sent) (default: local) (env: DESKGATE_CLASSIFIER)
    #[arg(long, value_name = "KIND")]
    pub(super) classifier: Option<String>,

    /// Whose protocol the remote classifier speaks: anthropic, openai (or a server that speaks it), ollama (env: DESKGATE_CLASSIFIER_PROVIDER)
    #[arg(long, value_name = "PROVIDER")]
    pub(super) classifier_provider: Option<String>,

    /// The model of the remote classifier, by its provider's name (env: DESKGATE_CLASSIFIER_MODEL)
    #[arg(long, value_name = "NAME")]
    pub(super) classifier_model: Option<String>,

    /// Where the remote classifier is asked, if not at its provider: https, or http on this machine (env: DESKGATE_CLASSIFIER_ENDPOINT)
    #[arg(long, value_name = "URL")]
    pub(super) classifier_endpoint: Option<String>,

    /// A file with the key of the remote classifier (env: DESKGATE_CLASSIFIER_KEY_FILE, or the key itself in DESKGATE_CLASSIFIER_KEY)
    #[arg(long, value_name = "FILE")]
    pub(super) classifier_key_file: Option<String>,

    /// Seconds that the remote classifier may take, 1 to 60 and less than a call may (default: 10) (env: DESKGATE_CLASSIFIER_TIMEOUT_SECONDS)
    #[arg(long, value_name = "N")]
    pub(super) classifier_timeout_seconds: Option<String>,

    /// Questions that the remote classifier is asked at once, 1 to 64 (default: 4) (env: DESKGATE_CLASSIFIER_CONCURRENCY)
    #[arg(long, value_name = "N")]
    pub(super) classifier_concurrency: Option<String>,
}

impl ClassifierFlags {
    pub(super) fn in_file(file: &FileSettings) -> Self {
        let number = |number: Option<u64>| number.map(|number| number.to_string());
        Self {
            classifier: file.classifier.clone(),
            classifier_provider: file.classifier_provider.clone(),
            classifier_model: file.classifier_model.clone(),
            classifier_endpoint: file.classifier_endpoint.clone(),
            classifier_key_file: file.classifier_key_file.clone(),
            classifier_timeout_seconds: number(file.classifier_timeout_seconds),
            classifier_concurrency: number(file.classifier_concurrency),
        }
    }
}

/// Puts the settings together; a call of the server may take `timeout_seconds`.
pub(super) fn load(
    flags: &ClassifierFlags,
    environment: &Environment,
    file: ClassifierFlags,
    timeout_seconds: u64,
) -> anyhow::Result<ClassifierKind> {
    let pick = |flag: &Option<String>, variable: &str, in_file: Option<String>| {
        flag.clone()
            .or_else(|| environment.get(variable))
            .or(in_file)
    };
    let word = pick(&flags.classifier, "DESKGATE_CLASSIFIER", file.classifier);
    let key_file = pick(
        &flags.classifier_key_file,
        "DESKGATE_CLASSIFIER_KEY_FILE",
        file.classifier_key_file,
    );
    let key =
        match (key_file, environment.get("DESKGATE_CLASSIFIER_KEY")) {
            (Some(_), Some(_)) => bail!(
                "both `classifier_key_file` and `DESKGATE_CLASSIFIER_KEY` are set; leave one out"
            ),
            (Some(path), None) => Some(std::fs::read_to_string(&path).with_context(|| {
                format!("the key file `{path}` of the classifier cannot be read")
            })?),
            (None, key) => key,
        };
    let seconds = pick(
        &flags.classifier_timeout_seconds,
        "DESKGATE_CLASSIFIER_TIMEOUT_SECONDS",
        file.classifier_timeout_seconds,
    )
    .map(|given| {
        let longest = LONGEST_DEADLINE.as_secs();
        number(
            Some(given),
            "classifier_timeout_seconds",
            longest,
            1..=longest,
        )
    })
    .transpose()?;
    let concurrency = pick(
        &flags.classifier_concurrency,
        "DESKGATE_CLASSIFIER_CONCURRENCY",
        file.classifier_concurrency,
    )
    .map(|given| {
        let most = u64::try_from(MOST_CONCURRENT)?;
        let given = number(Some(given), "classifier_concurrency", most, 1..=most)?;
        anyhow::Ok(usize::try_from(given)?)
    })
    .transpose()?;
    let given = RemoteGiven {
        provider: pick(
            &flags.classifier_provider,
            "DESKGATE_CLASSIFIER_PROVIDER",
            file.classifier_provider,
        ),
        model: pick(
            &flags.classifier_model,
            "DESKGATE_CLASSIFIER_MODEL",
            file.classifier_model,
        ),
        endpoint: pick(
            &flags.classifier_endpoint,
            "DESKGATE_CLASSIFIER_ENDPOINT",
            file.classifier_endpoint,
        ),
        key: key.as_deref().map(ApiKey::parse).transpose()?,
        deadline: seconds.map(Duration::from_secs),
        concurrency,
    };
    let kind = ClassifierKind::parse(word.as_deref(), given).context("`classifier`")?;
    if let ClassifierKind::Remote(settings) = &kind {
        // Otherwise a slow provider would look like a slow server, and nobody would be told that nothing was cleared.
        ensure!(
            settings.deadline().as_secs() < timeout_seconds,
            "`classifier_timeout_seconds` is {}, which must be less than `timeout_seconds`, which is {timeout_seconds}",
            settings.deadline().as_secs()
        );
    }
    Ok(kind)
}

/// The effective settings, for `--check-config`.
pub(super) fn show(kind: &ClassifierKind, table: &mut toml::Table) -> anyhow::Result<()> {
    table.insert("classifier".to_owned(), kind.as_str().into());
    let ClassifierKind::Remote(settings) = kind else {
        return Ok(());
    };
    let mut insert = |name: &str, value: toml::Value| {
        table.insert(name.to_owned(), value);
    };
    insert("classifier_provider", settings.provider().as_str().into());
    insert("classifier_model", settings.model().into());
    insert("classifier_endpoint", settings.endpoint().into());
    if settings.has_key() {
        insert("classifier_key", "(hidden)".into());
    }
    let seconds = i64::try_from(settings.deadline().as_secs())?;
    insert("classifier_timeout_seconds", seconds.into());
    let concurrency = i64::try_from(settings.concurrency())?;
    insert("classifier_concurrency", concurrency.into());
    Ok(())
}

/// What has to be known about it, as a comment.
pub(super) fn comment(kind: &ClassifierKind) -> String {
    kind.disclosure()
        .map_or_else(String::new, |told| format!("# {told}\n"))
}
