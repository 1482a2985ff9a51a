//! Operations over few enough names and numbers that they meet: the same address twice, the same ticket again.

use domain::{
    CustomerStatus, LastCommentBy, Origin, Priority, SecurityFlag, Status, TicketOrder, Tier,
};
use proptest::prelude::*;

/// Which version a write names.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Named {
    None,
    Current,
    Off(i64),
}

/// What happens to a name.
#[derive(Clone, Debug)]
pub(crate) enum Name {
    Keep,
    Clear,
    Set(String),
}

/// A filter of a list of tickets, in the words of the model.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filter {
    pub(crate) status: Option<Status>,
    pub(crate) priority: Option<Priority>,
    pub(crate) category: Option<String>,
    pub(crate) customer: Option<i64>,
    pub(crate) organisation: Option<String>,
    pub(crate) team: Option<String>,
    pub(crate) assignee: Option<String>,
    pub(crate) unassigned: Option<bool>,
    pub(crate) tier: Option<Tier>,
    pub(crate) flag: Option<SecurityFlag>,
    pub(crate) last_comment_by: Option<LastCommentBy>,
}

/// One call of a use case.
#[derive(Clone, Debug)]
pub(crate) enum Operation {
    CreateCustomer {
        name: String,
        email: String,
        organisation: Option<String>,
    },
    CreateTicket {
        customer: i64,
        subject: String,
        category: String,
        priority: Priority,
        team: Option<String>,
        assignee: Option<String>,
    },
    Assign {
        ticket: i64,
        named: Named,
        team: Name,
        assignee: Name,
    },
    Comment {
        ticket: i64,
        named: Named,
        origin: Origin,
        body: String,
    },
    Move {
        ticket: i64,
        named: Named,
        to: Status,
    },
    Resolve {
        ticket: i64,
        named: Named,
        how: Option<String>,
    },
    GetTicket {
        ticket: i64,
    },
    GetCustomer {
        customer: i64,
    },
    ListTickets {
        filter: Filter,
        order: TicketOrder,
        limit: u16,
    },
    ListCustomers {
        status: Option<CustomerStatus>,
        organisation: Option<String>,
        query: Option<String>,
        order: TicketOrder,
        limit: u16,
    },
    Comments {
        ticket: i64,
        limit: u16,
    },
}

fn one_of<T: Clone + std::fmt::Debug + 'static>(values: &'static [T]) -> impl Strategy<Value = T> {
    prop::sample::select(values)
}

fn word(words: &'static [&'static str]) -> impl Strategy<Value = String> {
    prop::sample::select(words).prop_map(str::to_owned)
}

const TEAMS: &[&str] = &["Network", "network", "Büro", "BÜRO"];
const PEOPLE: &[&str] = &["ann", "Ann", "bo"];
const ORGANISATIONS: &[&str] = &["Acme", "ACME", "Söhne & Co", "söhne & co"];
const CATEGORIES: &[&str] = &["general", "email"];
const SUBJECTS: &[&str] = &["Printer", "VPN drops"];
const EMAILS: &[&str] = &[
    "a@x.example",
    "A@X.example",
    "b@x.example",
    "c@x.example",
    "ü@x.example",
    "Ü@x.example",
];
const BODIES: &[&str] = &["Thanks", "It's <b>still</b> broken\r\n"];

/// A good word, and one time in ten a bad one: with more, few sequences get anywhere.
fn mostly(
    good: &'static [&'static str],
    bad: &'static [&'static str],
) -> impl Strategy<Value = String> {
    prop_oneof![9 => word(good), 1 => word(bad)]
}

fn category() -> impl Strategy<Value = String> {
    mostly(CATEGORIES, &["nonsense"])
}

fn body() -> impl Strategy<Value = String> {
    mostly(BODIES, &[" ", "nul\0"])
}

/// The number of a customer or a ticket. The first two are always there, five may be, nine never is.
fn number() -> impl Strategy<Value = i64> {
    prop_oneof![8 => 1_i64..=2, 2 => 3_i64..=5, 1 => Just(9)]
}

fn named() -> impl Strategy<Value = Named> {
    prop_oneof![
        4 => Just(Named::None),
        3 => Just(Named::Current),
        1 => prop_oneof![Just(-1_i64), Just(1), Just(7)].prop_map(Named::Off),
    ]
}

fn name(names: &'static [&'static str]) -> impl Strategy<Value = Name> {
    prop_oneof![
        2 => Just(Name::Keep),
        1 => Just(Name::Clear),
        3 => word(names).prop_map(Name::Set),
    ]
}

fn order() -> impl Strategy<Value = TicketOrder> {
    one_of(TicketOrder::ALL)
}

/// Most filters are by one field or none, or few would find anything.
fn filter() -> impl Strategy<Value = Filter> {
    fn rarely<T: std::fmt::Debug>(
        value: impl Strategy<Value = T>,
    ) -> impl Strategy<Value = Option<T>> {
        prop::option::weighted(0.1, value)
    }
    let words = (
        rarely(category()),
        rarely(word(ORGANISATIONS)),
        rarely(word(TEAMS)),
        rarely(word(PEOPLE)),
    );
    let rest = (
        rarely(one_of(Status::ALL)),
        rarely(one_of(Priority::ALL)),
        rarely(number()),
        rarely(any::<bool>()),
        rarely((1_i64..=3).prop_map(|tier| Tier::new(tier).unwrap())),
        rarely(one_of(SecurityFlag::ALL)),
        rarely(one_of(LastCommentBy::ALL)),
    );
    (words, rest).prop_map(|(words, rest)| Filter {
        category: words.0,
        organisation: words.1,
        team: words.2,
        assignee: words.3,
        status: rest.0,
        priority: rest.1,
        customer: rest.2,
        unassigned: rest.3,
        tier: rest.4,
        flag: rest.5,
        last_comment_by: rest.6,
    })
}

/// Any operation, writes more often than reads.
fn operation() -> impl Strategy<Value = Operation> {
    let customer = (
        word(PEOPLE),
        mostly(EMAILS, &["no address"]),
        prop::option::of(word(ORGANISATIONS)),
    )
        .prop_map(|(name, email, organisation)| Operation::CreateCustomer {
            name,
            email,
            organisation,
        });
    let ticket = (
        number(),
        mostly(SUBJECTS, &["two\nlines"]),
        category(),
        one_of(Priority::ALL),
        prop::option::of(word(TEAMS)),
        prop::option::of(word(PEOPLE)),
    )
        .prop_map(|(customer, subject, category, priority, team, assignee)| {
            Operation::CreateTicket {
                customer,
                subject,
                category,
                priority,
                team,
                assignee,
            }
        });
    let assign = (number(), named(), name(TEAMS), name(PEOPLE)).prop_map(
        |(ticket, named, team, assignee)| Operation::Assign {
            ticket,
            named,
            team,
            assignee,
        },
    );
    let origins = one_of(&[Origin::Customer, Origin::Team]);
    let comment = (number(), named(), origins, body()).prop_map(|(ticket, named, origin, body)| {
        Operation::Comment {
            ticket,
            named,
            origin,
            body,
        }
    });
    let step = (number(), named(), one_of(Status::ALL))
        .prop_map(|(ticket, named, to)| Operation::Move { ticket, named, to });
    let resolve = (number(), named(), prop::option::of(body()))
        .prop_map(|(ticket, named, how)| Operation::Resolve { ticket, named, how });
    let lists =
        (filter(), order(), 1_u16..=3).prop_map(|(filter, order, limit)| Operation::ListTickets {
            filter,
            order,
            limit,
        });
    let customers = (
        prop::option::weighted(0.3, one_of(CustomerStatus::ALL)),
        prop::option::weighted(0.3, word(ORGANISATIONS)),
        prop::option::weighted(0.3, word(&["an", "X.EX", "söh", "%", "_"])),
        order(),
        1_u16..=3,
    )
        .prop_map(
            |(status, organisation, query, order, limit)| Operation::ListCustomers {
                status,
                organisation,
                query,
                order,
                limit,
            },
        );
    prop_oneof![
        4 => customer,
        6 => ticket,
        4 => assign,
        4 => comment,
        5 => step,
        2 => resolve,
        1 => number().prop_map(|ticket| Operation::GetTicket { ticket }),
        1 => number().prop_map(|customer| Operation::GetCustomer { customer }),
        4 => lists,
        2 => customers,
        1 => (number(), 1_u16..=3).prop_map(|(ticket, limit)| Operation::Comments { ticket, limit }),
    ]
}

/// A sequence that begins with two customers and two tickets, and goes on with any operations.
pub(crate) fn sequence(length: usize) -> impl Strategy<Value = Vec<Operation>> {
    let customer = |name: &str, organisation: &str| Operation::CreateCustomer {
        name: name.to_owned(),
        email: format!("{name}@x.example"),
        organisation: Some(organisation.to_owned()),
    };
    let ticket = |customer| Operation::CreateTicket {
        customer,
        subject: "Printer".to_owned(),
        category: "general".to_owned(),
        priority: Priority::Medium,
        team: None,
        assignee: None,
    };
    let first = [
        customer("a", "Acme"),
        customer("bo", "Söhne & Co"),
        ticket(1),
        ticket(2),
    ];
    prop::collection::vec(operation(), 1..=length)
        .prop_map(move |rest| first.iter().cloned().chain(rest).collect())
}
