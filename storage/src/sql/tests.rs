//! The schema as the database has it: vocabularies, foreign keys, triggers, settings, and how lists are looked up.

mod catalog;
mod plans;

use std::time::Duration;

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};
use domain::{
    Audience, CallOutcome, Channel, CustomerStatus, LastCommentBy, Origin, Outcome, Priority,
    SecurityFlag, Status, Visibility,
};
use tempfile::TempDir;
use writegate::{ApprovalLevel, ApprovalMethod};

use super::connection::{AnyConnection, Database, Purpose};
use super::import::Kind;
use super::{categories, errors, gate};
use crate::{DatabaseUrl, StoreError};

/// A migrated database and a connection that writes.
struct Fixture {
    database: Database,
    _dir: TempDir,
}

impl Fixture {
    fn new() -> Self {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("desk.db");
        let url = DatabaseUrl::parse(&format!("sqlite:{}", path.display())).unwrap();
        let database = Database::locate(&url, true, Duration::from_secs(5)).unwrap();
        let steps = database.migrate(&database.writer_lock().unwrap()).unwrap();
        assert_eq!(
            steps,
            [
                "0001", "0002", "0003", "0004", "0005", "0006", "0007", "0008"
            ]
        );
        Self {
            database,
            _dir: dir,
        }
    }

    fn connect(&self) -> AnyConnection {
        self.database.connect(Purpose::Write).unwrap()
    }
}

#[derive(QueryableByName)]
struct Line {
    #[diesel(sql_type = Text)]
    line: String,
}

fn lines(conn: &mut AnyConnection, query: &str) -> Vec<String> {
    let rows: Vec<Line> = diesel::sql_query(query).load(conn).unwrap();
    rows.into_iter().map(|row| row.line).collect()
}

#[derive(QueryableByName)]
struct Number {
    #[diesel(sql_type = BigInt)]
    number: i64,
}

fn number(conn: &mut AnyConnection, query: &str) -> i64 {
    diesel::sql_query(query)
        .get_result::<Number>(conn)
        .unwrap()
        .number
}

#[test]
fn every_check_lists_exactly_the_words_of_its_vocabulary() {
    let kinds: Vec<&str> = [
        Kind::Customer,
        Kind::Ticket,
        Kind::Comment,
        Kind::Call,
        Kind::Csat,
    ]
    .map(Kind::as_str)
    .to_vec();
    let lifted = [SecurityFlag::Held.as_str(), SecurityFlag::Incident.as_str()];
    let expected = [
        ("customers_status_valid", CustomerStatus::WORDS),
        ("tickets_channel_valid", Channel::WORDS),
        ("tickets_priority_valid", Priority::WORDS),
        ("tickets_status_valid", Status::WORDS),
        ("tickets_tier_valid", &["1", "2", "3"]),
        ("tickets_security_flag_valid", SecurityFlag::WORDS),
        ("tickets_last_comment_by_valid", LastCommentBy::WORDS),
        ("comments_origin_valid", Origin::WORDS),
        ("comments_visibility_valid", Visibility::WORDS),
        ("articles_audience_valid", Audience::WORDS),
        ("article_blocks_audience_valid", Audience::WORDS),
        ("calls_outcome_valid", CallOutcome::WORDS),
        ("csat_responses_score_valid", &["1", "2", "3", "4", "5"]),
        ("external_ids_kind_valid", &kinds),
        ("audit_event_outcome_valid", Outcome::WORDS),
        (
            "pending_changes_required_valid",
            &ApprovalLevel::ALL.map(ApprovalLevel::as_str),
        ),
        (
            "pending_changes_state_valid",
            &gate::State::ALL.map(gate::State::as_str),
        ),
        (
            "pending_changes_method_valid",
            &ApprovalMethod::ALL.map(ApprovalMethod::as_str),
        ),
        // There is nothing to lift where nothing was found.
        ("security_reviews_lifted_valid", &lifted),
    ];
    let mut conn = Fixture::new().connect();
    let tables = lines(
        &mut conn,
        "SELECT sql AS line FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%_valid%'",
    )
    .join("\n");
    let mut found: Vec<(&str, Vec<&str>)> = tables
        .split("CONSTRAINT ")
        .filter_map(|rest| rest.split_once(" CHECK ("))
        .filter(|(name, _)| name.ends_with("_valid"))
        .map(|(name, check)| {
            let list = check.split_once(" IN (").unwrap().1;
            let words = list.split_once(')').unwrap().0.split(", ");
            (name, words.map(|word| word.trim_matches('\'')).collect())
        })
        .collect();
    found.sort_unstable();
    let mut expected: Vec<(&str, Vec<&str>)> = expected
        .into_iter()
        .map(|(name, words)| (name, words.to_vec()))
        .collect();
    expected.sort_unstable();
    assert_eq!(found, expected);
}

#[test]
fn the_first_migration_fills_the_categories_of_the_domain() {
    let mut conn = Fixture::new().connect();
    let mut found: Vec<(String, String)> = categories::list(&mut conn)
        .unwrap()
        .into_iter()
        .map(|row| {
            assert!(row.kind.tickets && row.kind.articles && row.kind.calls);
            (row.slug, row.label)
        })
        .collect();
    let mut expected: Vec<(String, String)> = domain::category::BUILT_IN
        .map(|(slug, label)| (slug.to_owned(), label.to_owned()))
        .to_vec();
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected);
}

#[test]
fn every_table_is_strict_and_every_foreign_key_begins_an_index() {
    let mut conn = Fixture::new().connect();
    let loose = lines(
        &mut conn,
        "SELECT name AS line FROM pragma_table_list WHERE schema = 'main' AND type = 'table' \
         AND NOT strict AND name NOT LIKE 'sqlite_%' AND name NOT LIKE '\\_\\_diesel%' ESCAPE '\\'",
    );
    assert!(loose.is_empty(), "{loose:?}");
    let unindexed = lines(
        &mut conn,
        "SELECT t.name || '.' || f.\"from\" AS line \
         FROM sqlite_schema t, pragma_foreign_key_list(t.name) f \
         WHERE t.type = 'table' AND NOT EXISTS ( \
             SELECT 1 FROM pragma_index_list(t.name) l, pragma_index_info(l.name) i \
             WHERE i.seqno = 0 AND i.name = f.\"from\" AND NOT l.partial) \
         AND NOT EXISTS ( \
             SELECT 1 FROM pragma_table_info(t.name) c \
             WHERE c.pk = 1 AND c.type = 'INTEGER' AND c.name = f.\"from\")",
    );
    // A whole number that is the first of a key is the row's number itself, or begins the key's index.
    assert!(unindexed.is_empty(), "{unindexed:?}");
    let keys = number(
        &mut conn,
        "SELECT count(*) AS number FROM sqlite_schema t, pragma_foreign_key_list(t.name) \
         WHERE t.type = 'table'",
    );
    assert_eq!(keys, 17);
}

#[test]
fn every_index_of_a_list_has_its_row_in_the_planners_statistics() {
    let mut conn = Fixture::new().connect();
    let stray = lines(
        &mut conn,
        "SELECT idx AS line FROM sqlite_stat1 WHERE idx NOT IN \
         (SELECT name FROM sqlite_schema WHERE type = 'index')",
    );
    assert!(stray.is_empty(), "{stray:?}");
    let missing = lines(
        &mut conn,
        "SELECT name AS line FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL \
         AND tbl_name IN ('tickets', 'customers', 'audit_event') \
         AND name NOT IN (SELECT idx FROM sqlite_stat1)",
    );
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn the_audit_log_takes_no_update_and_no_delete() {
    let mut conn = Fixture::new().connect();
    conn.batch_execute(
        "INSERT INTO audit_event (chain, seq, event_id, payload, prev, hash, mac, mac_kid, at_us, actor, action, entity, outcome) \
         VALUES (1, 1, x'01', x'02', zeroblob(32), zeroblob(32), zeroblob(32), 'k', 0, 'a', 'import', 'ticket', 'applied')",
    )
    .unwrap();
    for statement in [
        "UPDATE audit_event SET actor = 'b'",
        "UPDATE audit_event SET payload = x'03' WHERE seq = 1",
        "UPDATE audit_event SET hash = zeroblob(32)",
        "UPDATE audit_event SET prev = NULL, hash = NULL, mac = NULL, mac_kid = NULL",
        "INSERT INTO audit_event (chain, seq, event_id, payload, at_us, actor, action, entity, outcome) \
         VALUES (1, 2, x'02', x'02', 0, 'a', 'import', 'ticket', 'applied')",
        "INSERT INTO audit_event (chain, seq, event_id, payload, prev, hash, mac, at_us, actor, action, entity, outcome) \
         VALUES (1, 2, x'02', x'02', zeroblob(32), zeroblob(32), zeroblob(32), 0, 'a', 'import', 'ticket', 'applied')",
        "UPDATE audit_head SET seq = seq + 1",
        "DELETE FROM audit_event",
        "INSERT OR REPLACE INTO audit_event SELECT * FROM audit_event",
        "REPLACE INTO audit_event (chain, seq, event_id, payload, at_us, actor, action, entity, outcome) \
         VALUES (1, 2, x'01', x'02', 0, 'b', 'import', 'ticket', 'applied')",
        "DELETE FROM audit_head",
        "REPLACE INTO audit_head (chain, seq) VALUES (1, 0)",
        "UPDATE audit_head SET seq = seq - 1",
        "UPDATE audit_head SET chain = 2",
    ] {
        let error = conn.batch_execute(statement).unwrap_err();
        assert!(
            error.to_string().starts_with("audit_"),
            "{statement}: {error}"
        );
        assert!(matches!(
            errors::classify(error),
            StoreError::Unavailable(_)
        ));
    }
    assert_eq!(
        number(&mut conn, "SELECT count(*) AS number FROM audit_event"),
        1
    );
    conn.batch_execute("UPDATE audit_head SET seq = seq + 1, hash = zeroblob(32)")
        .unwrap();
    let error = conn
        .batch_execute("UPDATE audit_head SET hash = NULL")
        .unwrap_err();
    assert_eq!(error.to_string(), "audit_head_is_linked");
}

#[test]
fn a_row_of_an_older_build_is_sealed_once_and_in_no_other_way() {
    let mut conn = Fixture::new().connect();
    conn.batch_execute(
        "DROP TRIGGER audit_event_is_sealed; \
         INSERT INTO audit_event (chain, seq, event_id, payload, at_us, actor, action, entity, outcome) \
         VALUES (1, 1, x'01', x'02', 0, 'a', 'import', 'ticket', 'applied')",
    )
    .unwrap();
    let seal = "prev = zeroblob(32), hash = zeroblob(32), mac = zeroblob(32), mac_kid = 'k'";
    for change in [
        "actor = 'b'".to_owned(),
        format!("{seal}, actor = 'b'"),
        format!("{seal}, payload = x'03'"),
        format!("{seal}, seq = 2"),
        format!("{seal}, entity_id = 1"),
        "prev = zeroblob(32), hash = zeroblob(32), mac = zeroblob(32)".to_owned(),
        "prev = zeroblob(32), hash = zeroblob(31), mac = zeroblob(32), mac_kid = 'k'".to_owned(),
    ] {
        let error = conn
            .batch_execute(&format!("UPDATE audit_event SET {change}"))
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "audit_event_is_never_updated",
            "{change}"
        );
    }
    let sealing = format!("UPDATE audit_event SET {seal}");
    conn.batch_execute(&sealing).unwrap();
    conn.batch_execute(&sealing).unwrap_err();
}

#[test]
fn a_connection_for_reading_cannot_write() {
    let fixture = Fixture::new();
    let mut conn = fixture.database.connect(Purpose::Read).unwrap();
    let error = conn
        .batch_execute("UPDATE audit_head SET seq = seq + 1")
        .unwrap_err();
    assert!(error.to_string().contains("readonly"), "{error}");
}

#[test]
fn every_migration_can_be_taken_back() {
    use diesel_migrations::MigrationHarness;

    let fixture = Fixture::new();
    let AnyConnection::Sqlite(mut conn) = fixture.connect() else {
        panic!("it is a file");
    };
    conn.revert_all_migrations(super::connection::SQLITE_MIGRATIONS)
        .unwrap();
    let mut conn = AnyConnection::Sqlite(conn);
    let left = lines(
        &mut conn,
        "SELECT name AS line FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' \
         AND name NOT LIKE '\\_\\_diesel%' ESCAPE '\\'",
    );
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn calls_that_were_there_before_the_index_wait_for_their_words() {
    use diesel_migrations::MigrationHarness;

    let fixture = Fixture::new();
    let AnyConnection::Sqlite(mut conn) = fixture.connect() else {
        panic!("it is a file");
    };
    for _later_step in ["0008", "0007"] {
        conn.revert_last_migration(super::connection::SQLITE_MIGRATIONS)
            .unwrap();
    }
    conn.batch_execute(
        "INSERT INTO calls (started_at, duration_seconds, agent, category, outcome, turns) \
         VALUES (0, 9, 'ÅSA', 'general', 'resolved', '[[\"caller\", 1, \"Strange fees\"], [\"agent\", 2, \"Oh\"]]')",
    )
    .unwrap();
    let lock = fixture.database.writer_lock().unwrap();
    assert_eq!(fixture.database.migrate(&lock).unwrap(), ["0007", "0008"]);
    let mut conn = fixture.connect();
    for indexed in [1, 0] {
        assert_eq!(
            super::call_words::index_waiting(&mut conn, &lock, Duration::ZERO).unwrap(),
            indexed
        );
    }
    let words = lines(
        &mut conn,
        "SELECT agent_folded || '; ' || t.caller || '; ' || t.agent AS line \
         FROM calls JOIN call_terms t ON t.rowid = id",
    );
    assert_eq!(words, ["åsa; strang fee; oh"]);
}
