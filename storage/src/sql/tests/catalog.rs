//! The two engines' catalogs: the same tables, columns, nullability, constraints and indexes, but for what is said here.

use testkit::postgres::TestDatabase;

use super::{Fixture, lines};
use crate::DatabaseUrl;
use crate::sql::connection::{AnyConnection, Database, Purpose};

/// A connection to a migrated database of the server for tests.
fn postgres() -> Option<(AnyConnection, TestDatabase)> {
    let database = TestDatabase::claim(|url| {
        let keys = writegate::KeyRing::parse(testkit::KEY_FILE)
            .unwrap()
            .log_keys();
        crate::migrate(&DatabaseUrl::parse(url).unwrap(), keys).unwrap();
    })?;
    let url = DatabaseUrl::parse(database.url()).unwrap();
    let timeout = std::time::Duration::from_secs(5);
    let conn = Database::locate(&url, true, timeout)
        .unwrap()
        .connect(Purpose::Write)
        .unwrap();
    Some((conn, database))
}

#[test]
fn both_engines_have_the_same_columns() {
    let Some((mut postgres, _database)) = postgres() else {
        return;
    };
    let mut expected = lines(
        &mut Fixture::new().connect(),
        "SELECT t.name || '.' || c.name || ' ' || \
         CASE WHEN c.type = 'INTEGER' THEN 'number' WHEN c.type = 'BLOB' THEN 'bytes' ELSE 'text' END || \
         CASE WHEN c.\"notnull\" OR t.name LIKE '%\\_terms' ESCAPE '\\' THEN ' not null' ELSE '' END AS line \
         FROM sqlite_schema t, pragma_table_xinfo(t.name) c \
         WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%' AND t.name NOT LIKE '%\\_terms\\_%' ESCAPE '\\' \
         AND t.name NOT LIKE '\\_\\_diesel%' ESCAPE '\\' AND c.hidden <> 1",
    );
    // What SQLite has without saying so, and what only the other one indexes by.
    for table in ["call_terms", "ticket_terms"] {
        expected.push(format!("{table}.rowid number not null"));
        expected.push(format!("{table}.terms tsvector not null"));
    }
    expected.sort_unstable();
    let mut found = lines(
        &mut postgres,
        "SELECT table_name || '.' || column_name || ' ' || \
         CASE WHEN data_type IN ('bigint', 'smallint', 'boolean') THEN 'number' WHEN data_type = 'bytea' THEN 'bytes' \
         ELSE data_type END || CASE WHEN is_nullable = 'NO' THEN ' not null' ELSE '' END AS line \
         FROM information_schema.columns WHERE table_schema = 'public' AND table_name NOT LIKE '\\_\\_diesel%'",
    );
    found.sort_unstable();
    assert_eq!(found, expected);
}

#[test]
fn both_engines_have_the_same_named_constraints_and_indexes() {
    let Some((mut postgres, _database)) = postgres() else {
        return;
    };
    let mut sqlite = Fixture::new().connect();
    let tables = lines(
        &mut sqlite,
        "SELECT sql AS line FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%CONSTRAINT%'",
    )
    .join("\n");
    let mut expected: Vec<String> = tables
        .split("CONSTRAINT ")
        .skip(1)
        .filter_map(|rest| rest.split_whitespace().next())
        // There a type says it.
        .filter(|name| !name.ends_with("_is_bool"))
        .map(str::to_owned)
        .collect();
    expected.extend(lines(
        &mut sqlite,
        "SELECT name AS line FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL",
    ));
    expected.extend(["call_terms_by_term", "ticket_terms_by_term"].map(str::to_owned));
    expected.sort_unstable();
    // A primary key that has no name in the migration gets one of the server's.
    let mut found = lines(
        &mut postgres,
        "SELECT conname::text AS line FROM pg_constraint WHERE connamespace = 'public'::regnamespace \
         AND conname NOT LIKE '%\\_pkey' \
         UNION SELECT c.relname::text FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid \
         WHERE c.relnamespace = 'public'::regnamespace AND c.relname NOT LIKE '%\\_pkey'",
    );
    found.sort_unstable();
    assert_eq!(found, expected);
}

#[test]
fn the_same_things_are_checked_on_both_engines() {
    let Some((mut postgres, _database)) = postgres() else {
        return;
    };
    let tables = lines(
        &mut Fixture::new().connect(),
        "SELECT sql AS line FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%_valid%'",
    )
    .join("\n");
    let checks = lines(
        &mut postgres,
        "SELECT conname || ' ' || pg_get_constraintdef(oid) AS line FROM pg_constraint \
         WHERE contype = 'c' AND conname LIKE '%\\_valid'",
    );
    assert!(!checks.is_empty());
    for check in checks {
        let (name, check) = check.split_once(' ').unwrap();
        let words = |text: &str| -> Vec<String> {
            let parts = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
            let mut words: Vec<String> = parts
                .filter(|word| !matches!(*word, "" | "CHECK" | "ANY" | "ARRAY" | "text" | "IN"))
                .map(str::to_owned)
                .collect();
            words.sort_unstable();
            words
        };
        let stated = tables
            .split_once(&format!("CONSTRAINT {name} "))
            .and_then(|(_, rest)| rest.split_once("))"))
            .map(|(check, _)| words(check));
        assert_eq!(Some(words(check)), stated, "{name}");
    }
}

#[test]
fn a_server_orders_every_text_by_its_bytes_and_begins_an_index_with_every_foreign_key() {
    let Some((mut postgres, _database)) = postgres() else {
        return;
    };
    let by_locale = lines(
        &mut postgres,
        "SELECT table_name || '.' || column_name AS line FROM information_schema.columns \
         WHERE table_schema = 'public' AND data_type = 'text' AND collation_name IS DISTINCT FROM 'C' \
         AND table_name NOT LIKE '\\_\\_diesel%'",
    );
    assert!(by_locale.is_empty(), "{by_locale:?}");
    let unindexed = lines(
        &mut postgres,
        "SELECT conname::text AS line FROM pg_constraint c WHERE contype = 'f' AND NOT EXISTS ( \
         SELECT FROM pg_index i WHERE i.indrelid = c.conrelid AND i.indkey[0] = c.conkey[1] AND i.indpred IS NULL)",
    );
    assert!(unindexed.is_empty(), "{unindexed:?}");
}

#[test]
fn a_server_s_audit_log_takes_no_update_and_no_delete() {
    let Some((_conn, database)) = postgres() else {
        return;
    };
    database.execute(
        "INSERT INTO audit_event (chain, seq, event_id, payload, prev, hash, mac, mac_kid, at_us, actor, action, entity, outcome) \
         SELECT 1, 1, '\\x01', '\\x02', z, z, z, 'k', 0, 'a', 'import', 'ticket', 'applied' \
         FROM decode(repeat('00', 32), 'hex') AS z",
    );
    for statement in [
        "UPDATE audit_event SET actor = 'b'",
        "DELETE FROM audit_event",
        "TRUNCATE audit_event",
        "INSERT INTO audit_event SELECT * FROM audit_event ON CONFLICT (event_id) DO UPDATE SET actor = 'b'",
        "DELETE FROM audit_head",
        "TRUNCATE audit_head",
        "UPDATE audit_head SET seq = seq - 1",
        "UPDATE audit_head SET chain = 2",
    ] {
        // A block of its own, so that what was refused can be read.
        database.execute(&format!(
            "DO $$ BEGIN {statement}; RAISE 'it was done'; EXCEPTION WHEN raise_exception THEN \
             IF SQLERRM NOT LIKE 'audit\\_%' THEN RAISE 'not refused: %', SQLERRM; END IF; END $$"
        ));
    }
    assert_eq!(database.query("SELECT actor FROM audit_event"), "a");
}

#[test]
fn every_migration_of_a_server_can_be_taken_back() {
    use diesel_migrations::MigrationHarness;

    let Some((conn, database)) = postgres() else {
        return;
    };
    let AnyConnection::Postgres(mut conn) = conn else {
        panic!("it is a server");
    };
    conn.revert_all_migrations(crate::sql::connection::POSTGRES_MIGRATIONS)
        .unwrap();
    let left = "SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace \
                AND relname NOT LIKE '\\_\\_diesel%'";
    assert_eq!(database.query(left), "0");
}
