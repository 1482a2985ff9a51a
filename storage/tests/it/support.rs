//! Stores on temporary files, acts, and inputs with short names.

use std::path::PathBuf;
use std::sync::Arc;

use diesel::connection::SimpleConnection as _;
use diesel::prelude::*;
use domain::ticket::Assign;
use domain::{
    Act, Actor, ActorChannel, Assignment, AuditEntry, AuditFilter, Channel, Customer, CustomerId,
    NewComment, NewCustomer, NewTicket, Origin, Page, PageRequest, Priority, Proof, Ticket,
    TicketId, Tier, Timestamp,
};
use garde::{Unvalidated, Valid, Validate};
use storage::{DatabaseUrl, ExpiryClock, Options, Storage, StoreError};
use tempfile::TempDir;
use testkit::postgres::TestDatabase;
use writegate::{KeyRing, LogKeys};

/// Noon of a day in 2026, in microseconds.
pub(crate) const NOON: i64 = 1_770_000_000_000_000;

/// A place for one store, gone or free for others at the end of the test.
pub(crate) struct Place(Kept);

/// What keeps a store. Another engine is another variant here and another module in `on_every_engine!`.
enum Kept {
    Sqlite(TempDir),
    Postgres(Box<TestDatabase>),
}

impl Place {
    /// A new, empty place for a SQLite file.
    pub(crate) fn sqlite() -> Self {
        Self(Kept::Sqlite(TempDir::new().unwrap()))
    }

    /// A database of the server for tests, where there is one.
    pub(crate) fn postgres() -> Option<Self> {
        let migrate = |url: &str| {
            storage::migrate(&DatabaseUrl::parse(url).unwrap(), log_keys()).unwrap();
        };
        TestDatabase::claim(migrate).map(|database| Self(Kept::Postgres(Box::new(database))))
    }

    /// Another new, empty place for the same engine.
    pub(crate) fn another(&self) -> Self {
        match &self.0 {
            Kept::Sqlite(_) => Self::sqlite(),
            Kept::Postgres(_) => Self::postgres().unwrap(),
        }
    }

    /// The database file.
    #[track_caller]
    pub(crate) fn path(&self) -> PathBuf {
        match &self.0 {
            Kept::Sqlite(dir) => dir.path().join("desk.db"),
            Kept::Postgres(_) => panic!("a server keeps no file for us"),
        }
    }

    /// The store's address.
    pub(crate) fn url(&self) -> DatabaseUrl {
        let address = match &self.0 {
            Kept::Sqlite(_) => format!("sqlite:{}", self.path().display()),
            Kept::Postgres(database) => database.url().to_owned(),
        };
        DatabaseUrl::parse(&address).unwrap()
    }

    /// Bytes as each engine writes them in a statement.
    pub(crate) fn blob(&self, hex: &str) -> String {
        match &self.0 {
            Kept::Sqlite(_) => format!("x'{hex}'"),
            Kept::Postgres(_) => format!("decode('{hex}', 'hex')"),
        }
    }

    /// What differs between engines, such as a statement in the words of each.
    pub(crate) fn in_words_of<T>(&self, sqlite: T, postgres: T) -> T {
        match &self.0 {
            Kept::Sqlite(_) => sqlite,
            Kept::Postgres(_) => postgres,
        }
    }

    /// Runs statements as somebody would who can write the database and is no server.
    pub(crate) fn execute(&self, statements: &str) {
        match &self.0 {
            Kept::Sqlite(_) => self.connect().batch_execute(statements).unwrap(),
            Kept::Postgres(database) => database.execute(statements),
        }
    }

    /// The one value that a query gives, as text.
    pub(crate) fn query(&self, query: &str) -> String {
        #[derive(diesel::QueryableByName)]
        struct Only {
            #[diesel(sql_type = diesel::sql_types::Text)]
            value: String,
        }
        match &self.0 {
            Kept::Sqlite(_) => {
                let query = format!("SELECT CAST(({query}) AS TEXT) AS value");
                let only: Only = diesel::sql_query(query)
                    .get_result(&mut self.connect())
                    .unwrap();
                only.value
            }
            Kept::Postgres(database) => database.query(query),
        }
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "what comes past the store is what these tests are about"
    )]
    fn connect(&self) -> SqliteConnection {
        let mut connection = SqliteConnection::establish(&self.path().to_string_lossy()).unwrap();
        connection
            .batch_execute("PRAGMA busy_timeout = 5000")
            .unwrap();
        connection
    }

    /// Fails where a text is anywhere in a closed store: in the bytes of its files, or in a row of a server's tables.
    #[track_caller]
    pub(crate) fn assert_nowhere(&self, text: &str) {
        match &self.0 {
            Kept::Sqlite(dir) => {
                for entry in std::fs::read_dir(dir.path()).unwrap() {
                    let path = entry.unwrap().path();
                    let bytes = std::fs::read(&path).unwrap();
                    let found = bytes
                        .windows(text.len())
                        .any(|part| part == text.as_bytes());
                    assert!(!found, "{}", path.display());
                }
            }
            Kept::Postgres(_) => {
                let rows = "SELECT string_agg(query_to_xml('SELECT t::text FROM ' || table_name || ' t', false, false, '')::text, '') \
                            FROM information_schema.tables WHERE table_schema = 'public'";
                assert!(!self.query(rows).contains(text));
            }
        }
    }

    /// The store, made where there is none.
    pub(crate) fn open(&self) -> Arc<dyn Storage> {
        self.open_with(Options::default())
    }

    /// The store with other options, made where there is none.
    pub(crate) fn open_with(&self, options: Options) -> Arc<dyn Storage> {
        let options = Options {
            create: true,
            expiry_clock: ExpiryClock::Caller,
            ..options
        };
        storage::open(&self.url(), log_keys(), options).unwrap()
    }
}

/// What seals the audit logs of these tests.
pub(crate) fn log_keys() -> LogKeys {
    KeyRing::parse(testkit::KEY_FILE).unwrap().log_keys()
}

/// Runs a future to its end on this thread.
pub(crate) fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(future)
}

/// The value of a store's answer.
#[track_caller]
pub(crate) fn ok<T>(future: impl Future<Output = Result<T, StoreError>>) -> T {
    match wait(future) {
        Ok(value) => value,
        Err(error) => panic!("{error:?}"),
    }
}

/// The error of a store's answer.
#[track_caller]
pub(crate) fn err<T>(future: impl Future<Output = Result<T, StoreError>>) -> StoreError {
    match wait(future) {
        Ok(_) => panic!("it worked"),
        Err(error) => error,
    }
}

/// An act at a second after noon.
pub(crate) fn act(second: i64) -> Act {
    Act {
        actor: Actor {
            id: "local:ada".to_owned(),
            proof: Proof::Asserted,
            channel: ActorChannel::Stdio,
            client: "stdio".to_owned(),
        },
        at: at(second),
        request_id: 7,
        tool: "test",
    }
}

/// A second after noon.
pub(crate) fn at(second: i64) -> Timestamp {
    Timestamp::from_micros(NOON).plus_micros(second * 1_000_000)
}

/// A checked input.
pub(crate) fn valid<T: Validate<Context = ()>>(input: T) -> Valid<T> {
    Unvalidated::new(input).validate().unwrap()
}

/// A customer to register.
pub(crate) fn new_customer(email: &str) -> NewCustomer {
    NewCustomer {
        name: "Grace Hopper".to_owned(),
        email: email.to_owned(),
        phone: None,
        organisation: None,
    }
}

/// A ticket to file.
pub(crate) fn new_ticket(customer: CustomerId, subject: &str) -> NewTicket {
    NewTicket {
        customer,
        channel: Channel::Email,
        subject: subject.to_owned(),
        description: "It is broken.".to_owned(),
        category: "general".to_owned(),
        priority: Priority::Medium,
        tier: Tier::FIRST,
        assigned_team: None,
        assignee: None,
    }
}

/// A comment to add.
pub(crate) fn new_comment(body: &str) -> NewComment {
    NewComment {
        body: body.to_owned(),
        origin: Origin::Team,
    }
}

/// An assignment to a team alone.
pub(crate) fn to_team(team: &str) -> Valid<Assignment> {
    valid(Assignment {
        team: Assign::Set(team.to_owned()),
        assignee: Assign::Keep,
    })
}

/// Registers a customer.
#[track_caller]
pub(crate) fn customer(store: &Arc<dyn Storage>, email: &str) -> Customer {
    ok(store.create_customer(act(0), valid(new_customer(email))))
}

/// Files a ticket.
#[track_caller]
pub(crate) fn ticket(store: &Arc<dyn Storage>, customer: CustomerId, subject: &str) -> Ticket {
    ok(store.create_ticket(act(0), valid(new_ticket(customer, subject)))).ticket
}

/// Files a ticket with fields of its own, at a second after noon.
#[track_caller]
pub(crate) fn ticket_with(
    store: &Arc<dyn Storage>,
    second: i64,
    customer: CustomerId,
    change: impl FnOnce(&mut NewTicket),
) -> Ticket {
    let mut new = new_ticket(customer, "A subject");
    change(&mut new);
    ok(store.create_ticket(act(second), valid(new))).ticket
}

/// A page of this many rows from the start.
pub(crate) fn first(limit: u16) -> PageRequest {
    PageRequest::new(limit, None)
}

/// A ticket that there is not.
pub(crate) fn no_ticket() -> TicketId {
    TicketId::new(4_711)
}

/// Walks a list to its end and gives its rows.
pub(crate) fn walk<T>(limit: u16, mut page: impl FnMut(PageRequest) -> Page<T>) -> Vec<T> {
    let mut rows = Vec::new();
    let mut after = None;
    loop {
        let mut found = page(PageRequest::new(limit, after));
        assert!(found.rows.len() <= usize::from(limit));
        rows.append(&mut found.rows);
        after = found.next;
        if after.is_none() {
            return rows;
        }
    }
}

/// The terms of a query.
pub(crate) fn terms(query: &str) -> Vec<String> {
    domain::terms::query_terms(query)
}

/// Every audit row, oldest first; that their numbers are dense is checked.
#[track_caller]
pub(crate) fn audit_rows(store: &Arc<dyn Storage>) -> Vec<AuditEntry> {
    let page = |page| ok(store.list_audit_entries(AuditFilter::default(), page));
    let mut rows = walk(100, page);
    rows.reverse();
    let seqs: Vec<i64> = rows.iter().map(|row| row.seq).collect();
    let dense: Vec<i64> = (1..).take(rows.len()).collect();
    assert_eq!(seqs, dense);
    rows
}
