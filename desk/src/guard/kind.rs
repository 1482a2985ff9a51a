//! Which classifier stands behind the floor, as a setting of both binaries.

use domain::UnknownValue;
use domain::text_enum::fold_word;
pub(super) use guardrail::remote::{ApiKey, LONGEST_DEADLINE, MOST_CONCURRENT, RemoteGiven};
pub use guardrail::remote::{RemoteError, RemoteSettings};

/// Which classifier stands behind the floor.
#[derive(Clone, Default)]
pub enum ClassifierKind {
    /// The model that is compiled in.
    #[default]
    Local,
    /// None: weaker clearance, which every answer discloses.
    None,
    /// A language model of a provider, to whom the texts of tickets are sent.
    Remote(RemoteSettings),
}

/// Why the setting can't be used. Each stops the start: a classifier that is configured never becomes a weaker one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClassifierError {
    /// There is no such kind.
    #[error("`{}` is not a classifier; valid are: {}", .0.given, .0.allowed.join(", "))]
    Unknown(UnknownValue),
    /// Settings of the remote kind, and another kind: whoever wrote them expects it to be asked.
    #[error("there are settings of the remote classifier, but the classifier is `{0}`")]
    NotRemote(&'static str),
    /// The remote classifier can't be used.
    #[error(transparent)]
    Remote(#[from] RemoteError),
    /// The key is named twice, and nobody could say which one counts.
    #[error("both `classifier_key_file` and `DESKGATE_CLASSIFIER_KEY` are set; leave one out")]
    TwoKeys,
    /// The key file can't be read.
    #[error("the key file `{path}` of the classifier cannot be read: {kind}")]
    KeyFile {
        /// Which one.
        path: String,
        /// Why.
        kind: std::io::ErrorKind,
    },
    /// A number is none, or out of its range.
    #[error("`{name}` is `{given}`; a whole number from {least} to {most} is allowed")]
    Number {
        /// The setting.
        name: &'static str,
        /// What was given.
        given: String,
        /// The least.
        least: u64,
        /// The most.
        most: u64,
    },
    /// A question may take as long as a whole call.
    #[error(
        "`classifier_timeout_seconds` is {seconds}, which must be less than `timeout_seconds`, which is {call_seconds}"
    )]
    TooSlow {
        /// What a question may take.
        seconds: u64,
        /// What a call may take.
        call_seconds: u64,
    },
}

impl ClassifierKind {
    const WORDS: [&'static str; 3] = ["local", "none", "remote"];

    /// Reads the setting and what belongs to it; without a word it is the local one.
    pub(super) fn parse(word: Option<&str>, given: RemoteGiven) -> Result<Self, ClassifierError> {
        let folded = word.map_or_else(|| Self::default().as_str().to_owned(), fold_word);
        let kind = match folded.as_str() {
            "local" => Self::Local,
            "none" => Self::None,
            "remote" => return Ok(Self::Remote(RemoteSettings::new(given)?)),
            _ => {
                return Err(ClassifierError::Unknown(UnknownValue {
                    given: word.unwrap_or_default().to_owned(),
                    allowed: Self::WORDS.to_vec(),
                }));
            }
        };
        if given.is_empty() {
            Ok(kind)
        } else {
            Err(ClassifierError::NotRemote(kind.as_str()))
        }
    }

    /// Its word in configuration.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::None => "none",
            Self::Remote(_) => "remote",
        }
    }

    /// What whoever starts the server has to know about it, if anything.
    pub fn disclosure(&self) -> Option<String> {
        match self {
            Self::Local => None,
            Self::None => Some(
                "no classifier stands behind the floor: clearance is weaker, and every answer says floor_only"
                    .to_owned(),
            ),
            Self::Remote(settings) => Some(settings.disclosure()),
        }
    }
}

#[cfg(test)]
mod tests {
    //! What stops the start.

    use super::*;

    fn complete() -> RemoteGiven {
        RemoteGiven {
            provider: Some("anthropic".to_owned()),
            model: Some("judge-1".to_owned()),
            key: Some(ApiKey::parse("canary").unwrap()),
            ..RemoteGiven::default()
        }
    }

    #[test]
    fn a_word_is_one_of_three_and_nothing_else_starts() {
        for (word, expected) in [
            (None, "local"),
            (Some("local"), "local"),
            (Some(" None "), "none"),
        ] {
            let kind = ClassifierKind::parse(word, RemoteGiven::default()).unwrap();
            assert_eq!(kind.as_str(), expected);
            assert_eq!(kind.disclosure().is_some(), expected == "none");
        }
        for word in [
            "",
            "nome",
            "off",
            "false",
            "floor_only",
            "remote-llm",
            "local,none",
        ] {
            let error = ClassifierKind::parse(Some(word), RemoteGiven::default()).err();
            assert!(matches!(error, Some(ClassifierError::Unknown(_))), "{word}");
        }
    }

    #[test]
    fn remote_needs_its_settings_and_its_settings_need_remote() {
        let kind = ClassifierKind::parse(Some("remote"), complete()).unwrap();
        let told = kind.disclosure().unwrap();
        assert!(
            told.contains("sent to") && told.contains("judge-1") && !told.contains("canary"),
            "{told}"
        );
        let error = ClassifierKind::parse(Some("remote"), RemoteGiven::default()).err();
        assert!(matches!(error, Some(ClassifierError::Remote(_))));
        for word in [None, Some("local"), Some("none")] {
            let error = ClassifierKind::parse(word, complete()).err();
            assert!(
                matches!(error, Some(ClassifierError::NotRemote(_))),
                "{word:?}"
            );
        }
    }
}
