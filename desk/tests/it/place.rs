//! Where the desk of a random sequence is kept: a file, or a database of the server.

use storage::DatabaseUrl;
use tempfile::TempDir;
use testkit::postgres::TestDatabase;

/// What one desk of a sequence is kept in.
pub(crate) enum Place {
    File(TempDir),
    Server(Box<TestDatabase>),
}

impl Place {
    pub(crate) fn url(&self) -> DatabaseUrl {
        let address = match self {
            Self::File(folder) => format!("sqlite:{}", folder.path().join("desk.db").display()),
            Self::Server(database) => database.url().to_owned(),
        };
        DatabaseUrl::parse(&address).unwrap()
    }

    /// An empty place of the same kind.
    pub(crate) fn renew(&mut self) {
        match self {
            Self::File(folder) => *folder = TempDir::new().unwrap(),
            Self::Server(database) => database.clean(),
        }
    }
}
