//! SQLite: a file that only its owner can use, its settings, its lock, its migrations.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::time::Duration;

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};

use super::{AnyConnection, Purpose, WriterLock, pending, unavailable};
use crate::OpenError;

pub(in crate::sql) const MIGRATIONS: EmbeddedMigrations = embed_migrations!("migrations/sqlite");

/// Two connections on a SQLite older than this can lose a write-ahead log (3.7.0 to 3.51.2).
const SQLITE_FLOOR: [u32; 3] = [3, 51, 3];

/// After a large import the log is cut back to this.
const LOG_BYTES: u32 = 64 * 1024 * 1024;

/// A database file.
#[derive(Clone, Debug)]
pub(in crate::sql) struct SqliteFile {
    path: PathBuf,
    busy_timeout: Duration,
}

impl SqliteFile {
    /// Finds or makes the file; nothing is connected yet.
    pub(super) fn locate(
        path: &Path,
        create: bool,
        busy_timeout: Duration,
    ) -> Result<Self, OpenError> {
        // Absolute, so that no path can look like one of the addresses that SQLite itself understands.
        let path = std::path::absolute(path).map_err(|source| OpenError::Io {
            path: path.to_owned(),
            source,
        })?;
        match OpenOptions::new().read(true).write(true).open(&path) {
            Ok(file) => check_private(&path, &file)?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && create => {
                private_file(&path)?;
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(OpenError::NotFound { path });
            }
            Err(source) => return Err(OpenError::Io { path, source }),
        }
        Ok(Self { path, busy_timeout })
    }

    pub(super) const fn busy_timeout(&self) -> Duration {
        self.busy_timeout
    }

    /// The lock file of this database's writers, kept open for as long as the store is.
    pub(super) fn lock_file(&self) -> Result<File, OpenError> {
        let mut name = self.path.as_os_str().to_owned();
        name.push("-lock");
        private_file(Path::new(&name))
    }

    /// A new connection with every setting made and read back.
    pub(super) fn connect(&self, purpose: Purpose) -> Result<AnyConnection, OpenError> {
        let mut conn = self.connect_raw()?;
        check_settings(&mut conn)?;
        if purpose == Purpose::Read {
            conn.batch_execute("PRAGMA query_only = ON")
                .map_err(unavailable)?;
        }
        Ok(AnyConnection::Sqlite(conn))
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "this is where connections are made"
    )]
    fn connect_raw(&self) -> Result<SqliteConnection, OpenError> {
        let path = self.path.to_str().ok_or_else(|| OpenError::Io {
            path: self.path.clone(),
            source: std::io::Error::new(
                std::io::ErrorKind::InvalidFilename,
                "the path is not valid UTF-8",
            ),
        })?;
        let mut conn = SqliteConnection::establish(path)
            .map_err(|error| OpenError::Unavailable(error.into()))?;
        for setting in [
            format!("PRAGMA busy_timeout = {}", self.busy_timeout.as_millis()),
            "PRAGMA synchronous = FULL".to_owned(),
            "PRAGMA foreign_keys = ON".to_owned(),
            "PRAGMA trusted_schema = OFF".to_owned(),
            "PRAGMA cell_size_check = ON".to_owned(),
            // What a savepoint may have to put back stays in memory: as a file it took a quarter of the time of an import,
            // and it would put customers' text where temporary files go.
            "PRAGMA temp_store = MEMORY".to_owned(),
            format!("PRAGMA journal_size_limit = {LOG_BYTES}"),
        ] {
            conn.batch_execute(&setting).map_err(unavailable)?;
        }
        Ok(conn)
    }

    /// Brings the schema up to this build and names the steps taken.
    ///
    /// Steps are taken under the writers' lock, so that of two processes that start at once one waits and then finds
    /// nothing to do; where nothing is to be done, the lock is not waited for.
    pub(super) fn migrate(&self, lock: &WriterLock) -> Result<Vec<String>, OpenError> {
        let mut conn = self.connect_raw()?;
        check_library(&mut conn)?;
        if uses_log(&mut conn)? && missing(&mut conn)?.is_empty() {
            return Ok(Vec::new());
        }
        let turn = lock.take().map_err(|source| OpenError::Io {
            path: self.path.clone(),
            source,
        })?;
        conn.batch_execute("PRAGMA journal_mode = WAL")
            .map_err(unavailable)?;
        let mut steps = Vec::new();
        for migration in missing(&mut conn)? {
            let version = conn
                .run_migration(&migration)
                .map_err(OpenError::Unavailable)?;
            steps.push(version.to_string());
        }
        drop(turn);
        Ok(steps)
    }
}

/// The steps that the database lacks.
fn missing(conn: &mut SqliteConnection) -> Result<super::Steps<diesel::sqlite::Sqlite>, OpenError> {
    let applied = conn.applied_migrations().map_err(OpenError::Unavailable)?;
    pending(&MIGRATIONS, &applied)
}

#[derive(QueryableByName)]
struct LibraryVersion {
    #[diesel(sql_type = Text)]
    version: String,
}

fn check_library(conn: &mut SqliteConnection) -> Result<(), OpenError> {
    let found = diesel::sql_query("SELECT sqlite_version() AS version")
        .get_result::<LibraryVersion>(conn)
        .map_err(unavailable)?
        .version;
    if is_sound(&found) {
        Ok(())
    } else {
        Err(OpenError::OldSqlite { found })
    }
}

fn is_sound(version: &str) -> bool {
    let parts: Result<Vec<u32>, _> = version.split('.').map(str::parse).collect();
    parts.is_ok_and(|parts| parts.as_slice() >= SQLITE_FLOOR.as_slice())
}

#[derive(QueryableByName)]
struct Settings {
    #[diesel(sql_type = Text)]
    journal_mode: String,
    #[diesel(sql_type = BigInt)]
    synchronous: i64,
    #[diesel(sql_type = BigInt)]
    foreign_keys: i64,
    #[diesel(sql_type = BigInt)]
    trusted_schema: i64,
    #[diesel(sql_type = BigInt)]
    cell_size_check: i64,
}

fn settings(conn: &mut SqliteConnection) -> Result<Settings, OpenError> {
    diesel::sql_query(
        "SELECT (SELECT journal_mode FROM pragma_journal_mode) AS journal_mode, \
         (SELECT synchronous FROM pragma_synchronous) AS synchronous, \
         (SELECT foreign_keys FROM pragma_foreign_keys) AS foreign_keys, \
         (SELECT trusted_schema FROM pragma_trusted_schema) AS trusted_schema, \
         (SELECT cell_size_check FROM pragma_cell_size_check) AS cell_size_check",
    )
    .get_result(conn)
    .map_err(unavailable)
}

fn uses_log(conn: &mut SqliteConnection) -> Result<bool, OpenError> {
    Ok(settings(conn)?.journal_mode == "wal")
}

/// Reads the settings back: SQLite takes a setting that it can't keep without an error.
fn check_settings(conn: &mut SqliteConnection) -> Result<(), OpenError> {
    let found = settings(conn)?;
    let numbers = [
        ("synchronous", found.synchronous, "2"),
        ("foreign_keys", found.foreign_keys, "1"),
        ("trusted_schema", found.trusted_schema, "0"),
        ("cell_size_check", found.cell_size_check, "1"),
    ];
    let texts = numbers.map(|(setting, found, wanted)| (setting, found.to_string(), wanted));
    for (setting, found, wanted) in [("journal_mode", found.journal_mode, "wal")]
        .into_iter()
        .chain(texts)
    {
        if found != wanted {
            return Err(OpenError::Setting {
                setting,
                found,
                wanted,
            });
        }
    }
    Ok(())
}

/// Opens or makes a file that only its owner can use; SQLite gives the files beside the database the same mode.
fn private_file(path: &Path) -> Result<File, OpenError> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path).map_err(|source| OpenError::Io {
        path: path.to_owned(),
        source,
    })?;
    check_private(path, &file)?;
    Ok(file)
}

#[cfg(unix)]
fn check_private(path: &Path, file: &File) -> Result<(), OpenError> {
    use std::os::unix::fs::PermissionsExt;

    let metadata = file.metadata().map_err(|source| OpenError::Io {
        path: path.to_owned(),
        source,
    })?;
    let mode = metadata.permissions().mode() & 0o777;
    let for_others = mode & 0o077;
    if for_others == 0 {
        return Ok(());
    }
    Err(OpenError::NotPrivate {
        path: path.to_owned(),
        mode,
    })
}

/// Other systems have access lists, which the user's own directories are given by default.
#[cfg(not(unix))]
fn check_private(_path: &Path, _file: &File) -> Result<(), OpenError> {
    Ok(())
}

#[cfg(test)]
mod tests {
    //! The version rule.

    use super::*;

    #[test]
    fn a_library_with_the_log_fault_is_refused() {
        for (version, sound) in [
            ("3.51.3", true),
            ("3.53.2", true),
            ("4.0.0", true),
            ("3.51.2", false),
            ("3.40.1", false),
            ("3.51", false),
            ("x", false),
        ] {
            assert_eq!(is_sound(version), sound, "{version}");
        }
    }
}
