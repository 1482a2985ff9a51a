//! Databases of a PostgreSQL server, one for each test that asks.
//!
//! Making a database takes a tenth of a second, its tables half a second, and dropping it a checkpoint of the whole server, so
//! databases are kept: a test claims one that no other process has, and finds it as the migrations leave it.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::{Bool, Text};

/// The variable that names the server: an address of a database of it that may be used, as a superuser.
const SERVER: &str = "DESKGATE_TEST_POSTGRES_URL";

/// The variable that names a pooler in front of that server.
const POOLER: &str = "DESKGATE_TEST_POSTGRES_POOLER";

/// The variable that has the tests of whole desks run on that server instead of on files.
const ENGINE: &str = "DESKGATE_TEST_ENGINE";

/// More tests than run at once on one server.
const MOST: u32 = 500;

/// The tables, constraints, triggers and functions of a database, as one text.
const SHAPE: &str = "SELECT coalesce(md5(string_agg(line, ' ' ORDER BY line)), '') AS value FROM ( \
     SELECT concat_ws(' ', c.relname, c.relkind, a.attname, a.atttypid, a.attnotnull) AS line \
     FROM pg_class c LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped \
     WHERE c.relnamespace = 'public'::regnamespace \
     UNION ALL SELECT concat_ws(' ', conname, pg_get_constraintdef(oid)) FROM pg_constraint \
     WHERE connamespace = 'public'::regnamespace \
     UNION ALL SELECT concat_ws(' ', tgrelid::regclass, pg_get_triggerdef(oid), tgenabled) FROM pg_trigger WHERE NOT tgisinternal \
     UNION ALL SELECT concat_ws(' ', proname, prosrc) FROM pg_proc WHERE pronamespace = 'public'::regnamespace) AS lines";

/// Puts every table back to what the migrations left in it. Triggers are off meanwhile: some refuse just that.
const CLEAN: &str = "SET session_replication_role = replica; \
     DO $$ DECLARE t text; BEGIN \
     FOR t IN SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' LOOP \
     EXECUTE format('DELETE FROM public.%I', t); END LOOP; \
     FOR t IN SELECT relname FROM pg_class WHERE relnamespace = 'kept'::regnamespace AND relkind = 'r' AND relname <> 'shape' LOOP \
     EXECUTE format('INSERT INTO public.%I SELECT * FROM kept.%I', t, t); END LOOP; \
     FOR t IN SELECT sequencename FROM pg_sequences WHERE schemaname = 'public' AND last_value IS NOT NULL LOOP \
     EXECUTE format('ALTER SEQUENCE public.%I RESTART', t); END LOOP; END $$; \
     RESET session_replication_role";

/// Keeps what the migrations left in the tables that they filled.
const KEEP: &str = "CREATE SCHEMA kept; \
     DO $$ DECLARE t text; filled boolean; BEGIN \
     FOR t IN SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' LOOP \
     EXECUTE format('SELECT EXISTS (SELECT FROM public.%I)', t) INTO filled; \
     IF filled THEN EXECUTE format('CREATE TABLE kept.%I AS TABLE public.%I', t, t); END IF; END LOOP; END $$";

/// A database that no other process uses as long as this is kept.
pub struct TestDatabase {
    url: String,
    name: String,
    /// Holds the claim.
    server: Mutex<PgConnection>,
    /// Runs the statements of the test.
    own: Mutex<Option<PgConnection>>,
}

#[derive(QueryableByName)]
struct Value {
    #[diesel(sql_type = Text)]
    value: String,
}

#[derive(QueryableByName)]
struct Answer {
    #[diesel(sql_type = Bool)]
    value: bool,
}

impl TestDatabase {
    /// A database as `migrate`, which is given its address, leaves it; none where no server is named, which is said.
    ///
    /// # Panics
    ///
    /// Panics where a server is named and can't be used, and where none is named although this is a run of CI.
    pub fn claim(migrate: impl FnOnce(&str)) -> Option<Self> {
        let claimed = Self::claim_any()?;
        claimed.leave_alone();
        let mut conn = connect(&claimed.url);
        let shape = value(&mut conn, SHAPE);
        let known = "SELECT to_regclass('kept.shape') IS NOT NULL AS value";
        if answer(&mut conn, known) && value(&mut conn, "SELECT value FROM kept.shape") == shape {
            run(&mut conn, CLEAN);
        } else {
            run(&mut conn, "DROP SCHEMA IF EXISTS kept CASCADE");
            empty(&mut conn);
            migrate(&claimed.url);
            run(&mut conn, KEEP);
            run(&mut conn, &format!("CREATE TABLE kept.shape AS {SHAPE}"));
        }
        Some(claimed)
    }

    /// Puts it back to how [`Self::claim`] gave it.
    pub fn clean(&self) {
        self.disconnect_all();
        self.with_own(|conn| run(conn, CLEAN));
    }

    /// A database without a table.
    ///
    /// # Panics
    ///
    /// Like [`Self::claim`].
    pub fn claim_empty() -> Option<Self> {
        let claimed = Self::claim_any()?;
        claimed.leave_alone();
        empty(&mut connect(&claimed.url));
        Some(claimed)
    }

    /// Its address.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Its address by way of a pooler in transaction mode, where one is named (`HOST:PORT`).
    #[expect(
        clippy::disallowed_methods,
        clippy::print_stderr,
        reason = "tests have no configuration, and whoever reads their output is told what did not run"
    )]
    pub fn by_pooler(&self) -> Option<String> {
        let Ok(pooler) = std::env::var(POOLER) else {
            eprintln!("left out: {POOLER} names no pooler");
            return None;
        };
        let (login, rest) = self.url.split_once('@')?;
        let (_server, name) = rest.split_once('/')?;
        Some(format!("{login}@{pooler}/{name}"))
    }

    /// Runs statements as somebody would who can write the database and is no server.
    pub fn execute(&self, statements: &str) {
        self.with_own(|conn| run(conn, statements));
    }

    /// The one value that a query gives, as text.
    pub fn query(&self, query: &str) -> String {
        let query = format!("SELECT CAST(({query}) AS TEXT) AS value");
        self.with_own(|conn| value(conn, &query))
    }

    fn with_own<T>(&self, work: impl FnOnce(&mut PgConnection) -> T) -> T {
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        work(own.get_or_insert_with(|| connect(&self.url)))
    }

    /// Ends every other connection to it, as a server does that stops.
    pub fn disconnect_all(&self) {
        *self.own.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.on_server(&format!(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '{}'",
            self.name
        ));
    }

    /// Sets what every new connection to it begins with.
    pub fn set(&self, setting: &str, to: &str) {
        self.on_server(&format!(
            "ALTER DATABASE {} SET {setting} = '{to}'",
            self.name
        ));
    }

    /// Ends what earlier tests left of connections and settings.
    fn leave_alone(&self) {
        self.on_server(&format!("ALTER DATABASE {} RESET ALL", self.name));
        self.disconnect_all();
    }

    fn on_server(&self, statement: &str) {
        let mut server = self.server.lock().unwrap_or_else(PoisonError::into_inner);
        run(&mut server, statement);
    }

    fn claim_any() -> Option<Self> {
        let address = server()?;
        let mut server = connect(&address);
        let key = migrations_key();
        for number in 1..=MOST {
            let lock = format!("SELECT pg_try_advisory_lock({key}, {number}) AS value");
            if !answer(&mut server, &lock) {
                continue;
            }
            let name = format!("deskgate_test_{:08x}_{number}", key.cast_unsigned());
            let there = format!(
                "SELECT EXISTS (SELECT FROM pg_database WHERE datname = '{name}') AS value"
            );
            if !answer(&mut server, &there) {
                run(
                    &mut server,
                    &format!("CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'"),
                );
            }
            return Some(Self {
                url: with_name(&address, &name),
                name,
                server: Mutex::new(server),
                own: Mutex::new(None),
            });
        }
        fail("every database for tests is taken")
    }
}

/// Whether tests that open one store are to open it on the server: the whole suite is run a second time that way.
#[expect(clippy::disallowed_methods, reason = "tests have no configuration")]
pub fn is_chosen() -> bool {
    std::env::var(ENGINE).is_ok_and(|engine| engine == "postgres")
}

#[expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "tests have no configuration, and whoever reads their output is told what did not run"
)]
fn server() -> Option<String> {
    match std::env::var(SERVER) {
        Ok(address) if !address.is_empty() => Some(address),
        Ok(_) | Err(_) if std::env::var("CI").is_ok_and(|ci| ci == "true") => {
            fail(&format!("{SERVER} is not set, and CI leaves nothing out"))
        }
        Ok(_) | Err(_) => {
            eprintln!("left out: {SERVER} names no server");
            None
        }
    }
}

#[expect(clippy::panic, reason = "a test can't go on")]
fn fail(why: &str) -> ! {
    panic!("{why}")
}

/// The same server, another database.
fn with_name(address: &str, name: &str) -> String {
    let (place, parameters) = address.split_once('?').unwrap_or((address, ""));
    let server = place
        .rsplit_once('/')
        .filter(|(server, _)| !server.ends_with('/'))
        .map_or(place, |(server, _)| server);
    if parameters.is_empty() {
        format!("{server}/{name}")
    } else {
        format!("{server}/{name}?{parameters}")
    }
}

/// A number for the migrations of this tree, so that trees with others on one server use other databases.
fn migrations_key() -> i32 {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../storage/migrations/postgres");
    let mut files: Vec<_> = walk(&folder);
    files.sort();
    let mut hash = 0x811c_9dc5_u32;
    for file in files {
        for byte in std::fs::read(file).unwrap_or_default() {
            hash = (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
        }
    }
    hash.cast_signed()
}

fn walk(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.path())
        .flat_map(|path| {
            if path.is_dir() {
                walk(&path)
            } else {
                vec![path]
            }
        })
        .collect()
}

#[expect(
    clippy::disallowed_methods,
    reason = "what comes past the store is what these connections are for"
)]
fn connect(address: &str) -> PgConnection {
    PgConnection::establish(address)
        .unwrap_or_else(|error| fail(&format!("the server for tests: {error}")))
}

fn empty(conn: &mut PgConnection) {
    run(
        conn,
        "DROP SCHEMA IF EXISTS public CASCADE; CREATE SCHEMA public",
    );
}

fn run(conn: &mut PgConnection, statements: &str) {
    if let Err(error) = conn.batch_execute(statements) {
        fail(&format!("{statements}: {error}"));
    }
}

fn value(conn: &mut PgConnection, query: &str) -> String {
    match diesel::sql_query(query).get_result::<Value>(conn) {
        Ok(found) => found.value,
        Err(error) => fail(&format!("{query}: {error}")),
    }
}

fn answer(conn: &mut PgConnection, query: &str) -> bool {
    match diesel::sql_query(query).get_result::<Answer>(conn) {
        Ok(found) => found.value,
        Err(error) => fail(&format!("{query}: {error}")),
    }
}
