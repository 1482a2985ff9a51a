//! Where a store is: parsed once, connected to by scheme, shown without its password.
//!
//! The scheme is looked at here and not guessed by trying: a mistyped address must not open a new SQLite file
//! (style, part 3.4, rule 1).

use std::fmt;

/// An address of a store.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseUrl(Place);

#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// A file, by its path as given.
    Sqlite(String),
    /// A server, by its address as given.
    Postgres(String),
}

/// A text that is no address of a store.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// No scheme, or one that is not known.
    #[error("the database must be `sqlite:PATH` or `postgres://USER@HOST/NAME`")]
    UnknownScheme,
    /// A SQLite address that is not a path to a file.
    #[error(
        "`sqlite:` must be followed by the path of a file, such as `sqlite:desk.db` or `sqlite:/var/lib/desk.db`"
    )]
    NotAFile,
}

impl DatabaseUrl {
    /// Reads `sqlite:PATH`, `postgres://...` or `postgresql://...`.
    ///
    /// The error repeats nothing of what was given, since that may hold a password.
    pub fn parse(given: &str) -> Result<Self, UrlError> {
        let given = given.trim();
        let (scheme, rest) = given.split_once(':').ok_or(UrlError::UnknownScheme)?;
        match scheme.to_ascii_lowercase().as_str() {
            "sqlite" => sqlite_path(rest).map(|path| Self(Place::Sqlite(path.to_owned()))),
            "postgres" | "postgresql" if rest.starts_with("//") && rest.len() > 2 => {
                Ok(Self(Place::Postgres(given.to_owned())))
            }
            _ => Err(UrlError::UnknownScheme),
        }
    }

    pub(crate) const fn place(&self) -> &Place {
        &self.0
    }
}

/// A path, also as other programs write it (`sqlite:///var/lib/desk.db`). A database in memory is refused: each
/// connection would get its own.
fn sqlite_path(rest: &str) -> Result<&str, UrlError> {
    let path = match rest.strip_prefix("//") {
        Some(absolute) if absolute.starts_with('/') => absolute,
        Some(_host) => return Err(UrlError::NotAFile),
        None => rest,
    };
    if path.is_empty() || path.ends_with('/') || path.starts_with(':') || path.contains('\0') {
        return Err(UrlError::NotAFile);
    }
    Ok(path)
}

impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Place::Sqlite(path) => write!(f, "sqlite:{path}"),
            Place::Postgres(address) => f.write_str(&without_secrets(address)),
        }
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DatabaseUrl({self})")
    }
}

/// Scheme, user, host and name. A password can stand before the host or among the parameters, so both are cut; an `@` in
/// a password may be written as it is, so the last one ends it.
fn without_secrets(address: &str) -> String {
    let (scheme, rest) = address.split_once("://").unwrap_or(("postgres", ""));
    let (user, host) = rest.rsplit_once('@').map_or((None, rest), |(login, host)| {
        (login.split(':').next(), host)
    });
    let host = host.split(['?', '#']).next().unwrap_or_default();
    match user {
        Some(user) => format!("{scheme}://{user}@{host}"),
        None => format!("{scheme}://{host}"),
    }
}

#[cfg(test)]
mod tests {
    //! What is an address, and that no way of showing one gives its password away.

    use super::*;

    #[test]
    fn an_address_is_told_by_its_scheme() {
        for (given, shown) in [
            ("sqlite:desk.db", "sqlite:desk.db"),
            ("SQLite:/var/desk.db", "sqlite:/var/desk.db"),
            ("sqlite:///var/desk.db", "sqlite:/var/desk.db"),
            ("postgres://desk@db/desk", "postgres://desk@db/desk"),
            ("postgresql://db/desk", "postgresql://db/desk"),
        ] {
            assert_eq!(DatabaseUrl::parse(given).unwrap().to_string(), shown);
        }
        for (given, error) in [
            ("", UrlError::UnknownScheme),
            ("desk.db", UrlError::UnknownScheme),
            ("/var/desk.db", UrlError::UnknownScheme),
            ("file:desk.db", UrlError::UnknownScheme),
            ("mysql://db/desk", UrlError::UnknownScheme),
            ("postgres:db", UrlError::UnknownScheme),
            ("postgres://", UrlError::UnknownScheme),
            ("sqlite:", UrlError::NotAFile),
            ("sqlite::memory:", UrlError::NotAFile),
            ("sqlite://desk.db", UrlError::NotAFile),
            ("sqlite:dir/", UrlError::NotAFile),
        ] {
            assert_eq!(DatabaseUrl::parse(given).unwrap_err(), error, "{given}");
        }
    }

    #[test]
    fn a_password_is_never_shown() {
        for given in [
            "postgres://desk:hunter2@db:5432/desk",
            "postgres://desk:hun@ter2@db/desk",
            "postgres://desk@db/desk?password=hunter2",
            "postgres://desk:x@db/desk?sslmode=require&password=hunter2",
        ] {
            let url = DatabaseUrl::parse(given).unwrap();
            for shown in [format!("{url}"), format!("{url:?}"), format!("{url:#?}")] {
                assert!(!shown.contains("ter2"), "{shown}");
                assert!(shown.contains("postgres://desk@db"), "{shown}");
            }
        }
    }
}
