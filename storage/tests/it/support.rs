//! Stores on temporary files, acts, and inputs with short names.

use std::path::PathBuf;
use std::sync::Arc;

use domain::ticket::Assign;
use domain::{
    Act, Actor, ActorChannel, Assignment, Channel, Customer, CustomerId, NewComment, NewCustomer,
    NewTicket, Origin, PageRequest, Priority, Proof, Ticket, TicketId, Tier, Timestamp, Visibility,
};
use garde::{Unvalidated, Valid, Validate};
use storage::{DatabaseUrl, Options, Storage, StoreError};
use tempfile::TempDir;

/// Noon of a day in 2026, in microseconds.
pub(crate) const NOON: i64 = 1_770_000_000_000_000;

/// A place for one store, gone at the end of the test.
pub(crate) struct Place {
    dir: TempDir,
}

impl Place {
    /// A new, empty place.
    pub(crate) fn new() -> Self {
        Self {
            dir: TempDir::new().unwrap(),
        }
    }

    /// The database file.
    pub(crate) fn path(&self) -> PathBuf {
        self.dir.path().join("desk.db")
    }

    /// The store's address.
    pub(crate) fn url(&self) -> DatabaseUrl {
        DatabaseUrl::parse(&format!("sqlite:{}", self.path().display())).unwrap()
    }

    /// The store, made where there is none.
    pub(crate) fn open(&self) -> Arc<dyn Storage> {
        self.open_with(Options::default())
    }

    /// The store with other options, made where there is none.
    pub(crate) fn open_with(&self, options: Options) -> Arc<dyn Storage> {
        let options = Options {
            create: true,
            ..options
        };
        storage::open(&self.url(), options).unwrap()
    }
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
        visibility: Visibility::Internal,
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

/// A page of this many rows from the start.
pub(crate) fn first(limit: u16) -> PageRequest {
    PageRequest::new(limit, None)
}

/// A ticket that there is not.
pub(crate) fn no_ticket() -> TicketId {
    TicketId::new(4_711)
}
