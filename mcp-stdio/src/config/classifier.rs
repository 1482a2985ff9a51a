//! The settings of the classifier. Whatever doesn't fit together stops the start.

use anyhow::Context as _;
use desk::guard::{ClassifierKind, ClassifierWords};

use super::{Environment, FileSettings};

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
    let pick = |flag: &Option<String>, name: &str, in_file: Option<String>| {
        flag.clone()
            .or_else(|| environment.get(&format!("DESKGATE_CLASSIFIER{name}")))
            .or(in_file)
    };
    let words = ClassifierWords {
        kind: pick(&flags.classifier, "", file.classifier),
        provider: pick(
            &flags.classifier_provider,
            "_PROVIDER",
            file.classifier_provider,
        ),
        model: pick(&flags.classifier_model, "_MODEL", file.classifier_model),
        endpoint: pick(
            &flags.classifier_endpoint,
            "_ENDPOINT",
            file.classifier_endpoint,
        ),
        key_file: pick(
            &flags.classifier_key_file,
            "_KEY_FILE",
            file.classifier_key_file,
        ),
        key: environment.get("DESKGATE_CLASSIFIER_KEY"),
        timeout_seconds: pick(
            &flags.classifier_timeout_seconds,
            "_TIMEOUT_SECONDS",
            file.classifier_timeout_seconds,
        ),
        concurrency: pick(
            &flags.classifier_concurrency,
            "_CONCURRENCY",
            file.classifier_concurrency,
        ),
    };
    words.load(timeout_seconds).context("`classifier`")
}

/// What has to be known about it, as a comment.
pub(super) fn comment(kind: &ClassifierKind) -> String {
    kind.disclosure()
        .map_or_else(String::new, |told| format!("# {told}\n"))
}
