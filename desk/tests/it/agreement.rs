//! Random sequences of operations: the desk on a real store and the model agree in every result and every error code.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use desk::guard::Wall;
use desk::{
    ApprovalMethod, AuditList, Caller, Confirmation, ConfirmationMode, CustomerList, Decision,
    Desk, DeskError, Given, Guard, InvalidArgument, Listing, Policy, Proposal, Proposed,
    TicketList, valid,
};
use domain::ticket::Assign;
use domain::{
    Assignment, Channel, CustomerFilter, CustomerId, GuardedWrite, NewComment, NewCustomer,
    NewTicket, OpenStatus, Outcome, ScopeSet, Status, TicketFilter, TicketId, Tier, Version,
    Visibility, text,
};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use storage::{DatabaseUrl, Options};
use tempfile::TempDir;
use testkit::postgres::TestDatabase;
use testkit::{CountingIds, SteppingClock, local_actor};

use crate::model::{Answer, Customer, Model, Ticket};
use crate::operation::{Filter, Name, Named, Operation, sequence};
use crate::place::Place;

/// Operations of a sequence at the most, after the four that it begins with.
const LENGTH: usize = 16;

fn caller() -> Caller {
    Caller {
        actor: local_actor("ann"),
        scopes: ScopeSet::all(),
        request_id: 1,
    }
}

/// A place on each engine that there is.
fn places() -> Vec<Place> {
    let migrate = |url: &str| {
        storage::migrate(&DatabaseUrl::parse(url).unwrap(), guard().log_keys()).unwrap();
    };
    let server = TestDatabase::claim(migrate).map(|database| Place::Server(Box::new(database)));
    std::iter::once(Place::File(TempDir::new().unwrap()))
        .chain(server)
        .collect()
}

fn desk(url: &DatabaseUrl) -> Desk {
    let options = Options {
        create: true,
        ..Options::default()
    };
    Desk::new(
        // Generated words are no tickets, so the model that was trained on tickets has nothing to say about them.
        Wall::floor_only()
            .open(url, guard().log_keys(), options)
            .unwrap(),
        Arc::new(SteppingClock::new()),
        Arc::new(CountingIds::default()),
        guard(),
    )
}

fn guard() -> Guard {
    Guard::from_keys(testkit::KEY_FILE, Policy::new(ConfirmationMode::Standard)).unwrap()
}

/// Closes a ticket: what it would do is shown first, and the token of that does it.
async fn close(
    desk: &Desk,
    id: TicketId,
    if_version: Option<Version>,
) -> Result<(Status, domain::Ticket), DeskError> {
    let caller = &caller();
    let from = desk
        .get_ticket(caller, id)
        .await
        .map(|ticket| ticket.status);
    let write = GuardedWrite::CloseTicket { ticket: id };
    let proposal = Proposal {
        write: valid(write.clone())?,
        if_version,
        key: None,
        asks_person: false,
    };
    let Proposed::Waiting(preview) = desk.propose(caller, proposal).await? else {
        panic!("nothing was repeated");
    };
    let confirmation = Confirmation {
        token: &preview.token.text(),
        given: Given {
            action: write.action(),
            entity: Some(write.entity()),
            arguments: write.arguments(),
            if_version,
        },
        decision: Decision::Commit(ApprovalMethod::TokenOnly),
    };
    let answered = desk
        .confirm(caller, confirmation, |applied| {
            applied.operation.to_string()
        })
        .await?;
    assert_eq!(answered.answer, "close_ticket");
    Ok((from?, desk.get_ticket(caller, id).await?))
}

fn refused(error: &DeskError) -> Answer {
    let field = match error {
        DeskError::Invalid(InvalidArgument { field, .. }) => Some(field.clone()),
        DeskError::NotFound { .. }
        | DeskError::DuplicateEmail
        | DeskError::ForbiddenTransition(_)
        | DeskError::Stale { .. }
        | DeskError::Unconfirmed(_)
        | DeskError::IdempotencyConflict
        | DeskError::MissingRight(_)
        | DeskError::Damaged
        | DeskError::Screened(_)
        | DeskError::Flagged { .. }
        | DeskError::NothingKnown
        | DeskError::Busy
        | DeskError::Full
        | DeskError::OutcomeUnknown(_)
        | DeskError::Unavailable(_)
        | DeskError::Internal(_) => None,
    };
    Answer::Error(error.code().as_str(), field)
}

fn customer(row: domain::Customer) -> Customer {
    Customer {
        id: row.id.number(),
        name: row.name,
        email: row.email,
        organisation: row.organisation,
        version: row.version.number(),
    }
}

fn ticket(row: domain::Ticket) -> Ticket {
    Ticket {
        id: row.id.number(),
        customer: row.customer.number(),
        subject: row.subject,
        category: row.category,
        priority: row.priority,
        status: row.status,
        team: row.assigned_team,
        assignee: row.assignee,
        last_comment_by: row.last_comment_by,
        version: row.version.number(),
    }
}

fn assign(name: &Name) -> Assign {
    match name {
        Name::Keep => Assign::Keep,
        Name::Clear => Assign::Clear,
        Name::Set(name) => Assign::Set(name.clone()),
    }
}

fn comment(origin: domain::Origin, body: &str) -> NewComment {
    NewComment {
        body: body.to_owned(),
        origin,
    }
}

fn filter(filter: &Filter) -> TicketFilter {
    let folded = |name: &Option<String>| name.as_deref().map(text::fold);
    TicketFilter {
        status: filter.status,
        priority: filter.priority,
        category: filter.category.clone(),
        customer: filter.customer.map(CustomerId::new),
        organisation: folded(&filter.organisation),
        team: folded(&filter.team),
        assignee: folded(&filter.assignee),
        unassigned: filter.unassigned,
        tier: filter.tier,
        flag: filter.flag,
        last_comment_by: filter.last_comment_by,
        ..TicketFilter::default()
    }
}

/// Walks a list to its end; every page must tell the same total.
async fn walk<T>(
    page: impl AsyncFn(Option<String>) -> Result<Listing<T>, DeskError>,
    id: impl Fn(T) -> i64,
) -> Result<Answer, DeskError> {
    let (mut ids, mut cursor, mut total) = (Vec::new(), None, None);
    loop {
        let found = page(cursor).await?;
        assert_eq!(*total.get_or_insert(found.total), found.total);
        ids.extend(found.rows.into_iter().map(&id));
        cursor = found.next_cursor;
        if cursor.is_none() {
            return Ok(Answer::Ids(ids, found.total.count));
        }
    }
}

/// The version that an operation names, which the model knows.
fn version(model: &Model, ticket: i64, named: Named) -> Option<Version> {
    let current = model.version_of(ticket).unwrap_or(1);
    match named {
        Named::None => None,
        Named::Current => Some(Version::new(current)),
        Named::Off(by) => Some(Version::new(current + by)),
    }
}

async fn run(desk: &Desk, model: &Model, operation: &Operation) -> Result<Answer, DeskError> {
    let caller = &caller();
    match operation {
        Operation::CreateCustomer {
            name,
            email,
            organisation,
        } => {
            let new = valid(NewCustomer {
                name: name.clone(),
                email: email.clone(),
                phone: None,
                organisation: organisation.clone(),
            })?;
            let row = desk.create_customer(caller, new).await?;
            Ok(Answer::Customer(customer(row)))
        }
        Operation::CreateTicket {
            customer,
            subject,
            category,
            priority,
            team,
            assignee,
        } => {
            let new = valid(NewTicket {
                customer: CustomerId::new(*customer),
                channel: Channel::Portal,
                subject: subject.clone(),
                description: "Description".to_owned(),
                category: category.clone(),
                priority: *priority,
                tier: Tier::FIRST,
                assigned_team: team.clone(),
                assignee: assignee.clone(),
            })?;
            let made = desk.create_ticket(caller, new).await?;
            Ok(Answer::Ticket(ticket(made.ticket), Some(made.new_team)))
        }
        Operation::Assign {
            ticket: id,
            named,
            team,
            assignee,
        } => {
            let assignment = valid(Assignment {
                team: assign(team),
                assignee: assign(assignee),
            })?;
            let version = version(model, *id, *named);
            let done = desk
                .assign_ticket(caller, TicketId::new(*id), version, assignment)
                .await?;
            Ok(Answer::Ticket(ticket(done.ticket), Some(done.new_team)))
        }
        Operation::Comment {
            ticket: id,
            named,
            origin,
            body,
        } => {
            let new = valid(comment(*origin, body))?;
            let version = version(model, *id, *named);
            let added = desk
                .add_comment(caller, TicketId::new(*id), version, new)
                .await?;
            assert_eq!((&added.comment.body, added.comment.origin), (body, *origin));
            assert_eq!(added.comment.visibility, Visibility::Internal);
            Ok(Answer::Ticket(ticket(added.ticket), None))
        }
        Operation::Move {
            ticket: id,
            named,
            to,
        } => {
            let version = version(model, *id, *named);
            let id = TicketId::new(*id);
            let (from, row) = match OpenStatus::parse(to.as_str()) {
                Ok(to) => desk.change_ticket_status(caller, id, version, to).await?,
                Err(_closed) => close(desk, id, version).await?,
            };
            Ok(Answer::Moved(from, ticket(row)))
        }
        Operation::Resolve {
            ticket: id,
            named,
            how,
        } => {
            let how = how
                .as_deref()
                .map(|how| valid(comment(domain::Origin::Team, how)))
                .transpose()?;
            let version = version(model, *id, *named);
            let (from, row) = desk
                .resolve_ticket(caller, TicketId::new(*id), version, how)
                .await?;
            Ok(Answer::Moved(from, ticket(row)))
        }
        Operation::GetTicket { ticket: id } => {
            let row = desk.get_ticket(caller, TicketId::new(*id)).await?;
            Ok(Answer::Ticket(ticket(row), None))
        }
        Operation::GetCustomer { customer: id } => {
            let row = desk.get_customer(caller, CustomerId::new(*id)).await?;
            Ok(Answer::Customer(customer(row)))
        }
        Operation::ListTickets {
            filter: given,
            order,
            limit,
        } => {
            let page = async |cursor| {
                let list = TicketList {
                    filter: filter(given),
                    order: Some(*order),
                    limit: Some(*limit),
                    cursor,
                };
                desk.list_tickets(caller, list).await
            };
            walk(page, |row| row.id.number()).await
        }
        Operation::ListCustomers {
            status,
            organisation,
            query,
            order,
            limit,
        } => {
            let page = async |cursor| {
                let list = CustomerList {
                    filter: CustomerFilter {
                        status: *status,
                        organisation: organisation.as_deref().map(text::fold),
                        email: None,
                        query: query.as_deref().map(text::fold),
                        names_only: false,
                    },
                    order: Some(*order),
                    limit: Some(*limit),
                    cursor,
                };
                desk.list_customers(caller, list).await
            };
            walk(page, |row| row.id.number()).await
        }
        Operation::Comments { ticket: id, limit } => {
            let (mut said, mut cursor) = (Vec::new(), None);
            loop {
                let id = TicketId::new(*id);
                let dossier = desk
                    .get_ticket_details(caller, id, Some(*limit), cursor.as_deref())
                    .await?;
                let rows = dossier.details.comments.rows;
                said.extend(rows.into_iter().map(|row| (row.origin, row.body)));
                cursor = dossier.next_cursor;
                if cursor.is_none() {
                    return Ok(Answer::Comments(said));
                }
            }
        }
    }
}

/// The audit log, oldest first: what was done and whether it was refused.
async fn log(desk: &Desk) -> Vec<(&'static str, bool)> {
    let list = AuditList {
        limit: Some(100),
        ..AuditList::default()
    };
    let found = desk.list_audit_entries(&caller(), list).await.unwrap();
    let rows = found.rows.iter().rev();
    rows.map(|row| (row.action.as_str(), row.outcome == Outcome::Refused))
        .collect()
}

/// How often each kind of answer came up; sequences that never get anywhere would agree on nothing.
type Tally = BTreeMap<&'static str, u32>;

fn kind(answer: &Answer) -> &'static str {
    match answer {
        Answer::Error(code, _) => code,
        Answer::Customer(_) => "customer",
        Answer::Ticket(..) => "ticket",
        Answer::Moved(..) => "moved",
        Answer::Ids(ids, _) if ids.is_empty() => "empty list",
        Answer::Ids(..) => "list",
        Answer::Comments(_) => "comments",
    }
}

/// Does a sequence on a desk of each engine and on the model, which all have to give the same.
async fn agree(
    places: &mut [Place],
    operations: &[Operation],
    tally: &RefCell<Tally>,
) -> Result<(), TestCaseError> {
    let mut desks = Vec::new();
    for place in places {
        place.renew();
        desks.push(desk(&place.url()));
    }
    let mut model = Model::default();
    for operation in operations {
        let mut answers = Vec::new();
        for desk in &desks {
            answers.push(match run(desk, &model, operation).await {
                Ok(answer) => answer,
                Err(error) => refused(&error),
            });
        }
        let expected = model.apply(operation);
        *tally.borrow_mut().entry(kind(&expected)).or_default() += 1;
        for found in answers {
            prop_assert_eq!(&found, &expected, "{:?}", operation);
        }
    }
    for desk in desks {
        prop_assert_eq!(&log(&desk).await, &model.log);
        let verdict = desk::ops::audit::verify(&desk, None).await.unwrap();
        prop_assert!(verdict.is_sound(), "{verdict}");
        desk.close().await.unwrap();
    }
    Ok(())
}

/// Runs sequences one after the other and tallies their answers.
fn run_sequences(cases: u32) -> Tally {
    let mut runner = TestRunner::new(Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    });
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let tally = RefCell::new(Tally::new());
    let places = RefCell::new(places());
    runner
        .run(&sequence(LENGTH), |operations| {
            runtime.block_on(agree(&mut places.borrow_mut(), &operations, &tally))
        })
        .unwrap();
    tally.into_inner()
}

/// Most of the time goes into waiting for the disk, so several stores are written at once.
const AT_ONCE: u32 = 10;

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the switch of a test, not of the product"
)]
fn random_sequences_give_what_the_model_gives() {
    let full = std::env::var("DESKGATE_FULL").is_ok_and(|set| set == "1");
    let cases = if full { 10_000 } else { 500 };
    println!("{cases} sequences of up to {LENGTH} operations");
    let mut tally = Tally::new();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..AT_ONCE)
            .map(|_| scope.spawn(|| run_sequences(cases / AT_ONCE)))
            .collect();
        for thread in threads {
            for (kind, count) in thread.join().unwrap() {
                *tally.entry(kind).or_default() += count;
            }
        }
    });
    println!("{tally:?}");
    assert_eq!(tally.len(), 11, "{tally:?}");
    assert!(tally.values().all(|count| *count >= 20), "{tally:?}");
}
