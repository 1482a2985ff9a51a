//! What is wrong with a row, and how a report names its place.

use std::fmt;

use domain::{UnknownValue, limits};

/// What is wrong with a row, before its place is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// The field of the import format; absent where the row as a whole is wrong.
    pub(super) field: Option<String>,
    /// Worded to follow the field's name.
    pub(super) reason: String,
    /// The line inside the row's text, where that is finer than the row's own.
    pub(super) line: Option<u64>,
}

impl Fault {
    pub(super) fn field(field: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            field: Some(field.into()),
            reason: reason.into(),
            line: None,
        }
    }

    pub(super) fn row(reason: impl Into<String>) -> Self {
        Self {
            field: None,
            reason: reason.into(),
            line: None,
        }
    }

    pub(super) fn unknown(field: impl Into<String>, unknown: &UnknownValue) -> Self {
        let allowed = unknown.allowed.join(", ");
        Self::field(
            field,
            format!(
                "is `{}`, which is not one of: {allowed}",
                cut(&unknown.given)
            ),
        )
    }

    pub(super) fn missing(field: impl Into<String>) -> Self {
        Self::field(field, "is missing")
    }

    #[must_use]
    pub(super) const fn at_line(mut self, line: u64) -> Self {
        self.line = Some(line);
        self
    }
}

/// As much of a bad value as an error repeats, on one line.
pub(super) fn cut(given: &str) -> String {
    let mut shown: String = given
        .chars()
        .take(limits::ECHO_CHARS)
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect();
    if given.chars().nth(limits::ECHO_CHARS).is_some() {
        shown.push('…');
    }
    shown
}

/// A row that was not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadRow {
    /// The file, as the folder or the mapping names it.
    pub file: String,
    /// The line on which the row begins, or the line of an article, from 1.
    pub line: u64,
    /// The field of the import format; absent where the row can't be read at all.
    pub field: Option<String>,
    /// The column or path of the source from which a mapping takes that field.
    pub taken_from: Option<String>,
    /// What is wrong, worded to follow the field's name.
    pub reason: String,
}

impl fmt::Display for BadRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: ", self.file, self.line)?;
        if let Some(field) = &self.field {
            write!(f, "`{field}` ")?;
        }
        if let Some(source) = &self.taken_from {
            write!(f, "(from `{source}`) ")?;
        }
        f.write_str(&self.reason)
    }
}
