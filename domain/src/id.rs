//! Identifiers: a number in the database, a prefix when shown.
//!
//! People and models copy short numbers well, so every id tool accepts `T-1042`, `t-1042`, `#1042` and `1042`
//! (field report 9). Another entity's prefix is an error that says what it is.

/// Why a text is not an id of the wanted entity.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    /// The prefix belongs to another entity.
    #[error("`{given}` is the id of a {found}, and a {wanted} id such as `{example}` is wanted")]
    OtherEntity {
        /// What was given.
        given: String,
        /// The entity that the prefix names.
        found: &'static str,
        /// The entity that was asked for.
        wanted: &'static str,
        /// An id of the wanted kind.
        example: &'static str,
    },
    /// It has no number, or one out of range.
    #[error("`{given}` is not a {wanted} id; write it as `{example}` or as its positive number")]
    Malformed {
        /// What was given, cut.
        given: String,
        /// The entity that was asked for.
        wanted: &'static str,
        /// An id of the wanted kind.
        example: &'static str,
    },
}

const PREFIXES: [(&str, &str); 5] = [
    ("KB", "knowledge article"),
    ("CALL", "call"),
    ("CM", "comment"),
    ("C", "customer"),
    ("T", "ticket"),
];

fn parse_number(
    given: &str,
    least: i64,
    prefix: &str,
    wanted: &'static str,
    example: &'static str,
) -> Result<i64, IdError> {
    let malformed = || IdError::Malformed {
        given: given.chars().take(crate::limits::ECHO_CHARS).collect(),
        wanted,
        example,
    };
    let text = given.trim();
    let text = text.strip_prefix('#').unwrap_or(text);
    let letters = text.chars().take_while(char::is_ascii_alphabetic).count();
    let (head, rest) = text.split_at(letters);
    if !head.is_empty() {
        let head = head.to_ascii_uppercase();
        if head != prefix {
            return Err(PREFIXES
                .iter()
                .find(|(known, _)| *known == head)
                .map_or_else(malformed, |(_, found)| IdError::OtherEntity {
                    given: given.chars().take(crate::limits::ECHO_CHARS).collect(),
                    found,
                    wanted,
                    example,
                }));
        }
    }
    let digits = if head.is_empty() {
        rest
    } else {
        rest.strip_prefix('-').unwrap_or(rest)
    };
    if digits.is_empty() || digits.len() > 19 || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(malformed());
    }
    digits
        .parse::<i64>()
        .ok()
        .filter(|number| *number >= least)
        .ok_or_else(malformed)
}

macro_rules! id_type {
    ($(#[$meta:meta])* $name:ident, $prefix:literal, $width:literal, $least:literal, $entity:literal, $example:literal) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(i64);

        impl $name {
            /// The letters before the number.
            pub const PREFIX: &'static str = $prefix;
            /// An id as it is shown.
            pub const EXAMPLE: &'static str = $example;

            /// From the number that the database holds.
            pub const fn new(number: i64) -> Self { Self(number) }

            /// The number that the database holds.
            pub const fn number(self) -> i64 { self.0 }

            /// Reads an id as people and models write it.
            pub fn parse(given: &str) -> Result<Self, IdError> {
                parse_number(given, $least, $prefix, $entity, $example).map(Self)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($prefix, "-{:0width$}"), self.0, width = $width)
            }
        }
    };
}

id_type!(
    /// A customer, shown as `C-17`.
    CustomerId, "C", 1, 1, "customer", "C-17"
);
id_type!(
    /// A ticket, shown as `T-1042`.
    TicketId, "T", 1, 1, "ticket", "T-1042"
);
id_type!(
    /// A comment on a ticket, shown as `CM-7`.
    CommentId, "CM", 1, 1, "comment", "CM-7"
);
id_type!(
    /// A knowledge-base article, shown as `KB-006`. Its number is its author's, who may begin with `KB-000`; the others are
    /// the database's, which begins with 1.
    ArticleId, "KB", 3, 0, "knowledge article", "KB-006"
);
id_type!(
    /// A recorded call, shown as `CALL-00042`.
    CallId, "CALL", 5, 1, "call", "CALL-00042"
);

/// The number of changes a row has seen; every update names the version that it read (invariant 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Version(i64);

impl Version {
    /// The version of a row that was just created.
    pub const FIRST: Self = Self(1);

    /// From the number that the database holds.
    pub const fn new(number: i64) -> Self {
        Self(number)
    }

    /// The number that the database holds.
    pub const fn number(self) -> i64 {
        self.0
    }

    /// The version after one more change.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests;
