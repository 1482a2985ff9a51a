//! The settings of the classifier as words, as flags, variables and files give them to both binaries.

use std::ops::RangeInclusive;
use std::path::Path;
use std::time::Duration;

use super::kind::{
    ApiKey, ClassifierError, ClassifierKind, LONGEST_DEADLINE, MOST_CONCURRENT, RemoteGiven,
};

/// The settings of the classifier, each as it was written. Names are those of the settings, without `classifier_`.
#[derive(Default)]
pub struct ClassifierWords {
    /// `local`, `none` or `remote`.
    pub kind: Option<String>,
    /// Whose protocol is spoken.
    pub provider: Option<String>,
    /// The provider's name of the model.
    pub model: Option<String>,
    /// Where it is asked, if not at the provider's own address.
    pub endpoint: Option<String>,
    /// A file with the key.
    pub key_file: Option<String>,
    /// The key itself, which only the environment may hold.
    pub key: Option<String>,
    /// Seconds that a question may take.
    pub timeout_seconds: Option<String>,
    /// Questions at once.
    pub concurrency: Option<String>,
}

impl ClassifierWords {
    /// Puts the settings together; a call of the server may take `call_seconds`. What doesn't fit together stops the start.
    pub fn load(self, call_seconds: u64) -> Result<ClassifierKind, ClassifierError> {
        let key = match (self.key_file, self.key) {
            (Some(_), Some(_)) => return Err(ClassifierError::TwoKeys),
            (Some(path), None) => {
                Some(std::fs::read_to_string(Path::new(&path)).map_err(|source| {
                    ClassifierError::KeyFile {
                        path,
                        kind: source.kind(),
                    }
                })?)
            }
            (None, key) => key,
        };
        let longest = LONGEST_DEADLINE.as_secs();
        let seconds = number(
            "classifier_timeout_seconds",
            self.timeout_seconds,
            1..=longest,
        )?;
        let most = u64::try_from(MOST_CONCURRENT).unwrap_or(u64::MAX);
        let concurrency = number("classifier_concurrency", self.concurrency, 1..=most)?;
        let given = RemoteGiven {
            provider: self.provider,
            model: self.model,
            endpoint: self.endpoint,
            key: key.as_deref().map(ApiKey::parse).transpose()?,
            deadline: seconds.map(Duration::from_secs),
            concurrency: concurrency.map(|given| usize::try_from(given).unwrap_or(MOST_CONCURRENT)),
        };
        let kind = ClassifierKind::parse(self.kind.as_deref(), given)?;
        if let ClassifierKind::Remote(settings) = &kind {
            let seconds = settings.deadline().as_secs();
            // Otherwise a slow provider would look like a slow server, and nobody would be told that nothing was cleared.
            if seconds >= call_seconds {
                return Err(ClassifierError::TooSlow {
                    seconds,
                    call_seconds,
                });
            }
        }
        Ok(kind)
    }
}

fn number(
    name: &'static str,
    given: Option<String>,
    range: RangeInclusive<u64>,
) -> Result<Option<u64>, ClassifierError> {
    let Some(given) = given else {
        return Ok(None);
    };
    match given.trim().parse() {
        Ok(number) if range.contains(&number) => Ok(Some(number)),
        _ => Err(ClassifierError::Number {
            name,
            given,
            least: *range.start(),
            most: *range.end(),
        }),
    }
}

impl ClassifierKind {
    /// Whether it goes to a provider with a key.
    pub fn has_key(&self) -> bool {
        matches!(self, Self::Remote(settings) if settings.has_key())
    }

    /// The effective settings as a file would hold them, for `--check-config`. The key is not among them.
    pub fn to_table(&self) -> toml::Table {
        let mut table = toml::Table::new();
        let mut insert = |name: &str, value: toml::Value| {
            table.insert(name.to_owned(), value);
        };
        insert("classifier", self.as_str().into());
        let Self::Remote(settings) = self else {
            return table;
        };
        let number = |number: u64| toml::Value::from(i64::try_from(number).unwrap_or(i64::MAX));
        insert("classifier_provider", settings.provider().as_str().into());
        insert("classifier_model", settings.model().into());
        insert("classifier_endpoint", settings.endpoint().into());
        insert(
            "classifier_timeout_seconds",
            number(settings.deadline().as_secs()),
        );
        let concurrency = u64::try_from(settings.concurrency()).unwrap_or(u64::MAX);
        insert("classifier_concurrency", number(concurrency));
        table
    }
}
