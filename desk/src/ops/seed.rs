//! A store of any size for benchmarks: the same rows for the same size, on every machine.
//!
//! Words come from a list with the frequencies of prose: few words are in most texts and most words in few, and each text
//! has a word that no other has. So a search for a common word, for a rare one and for one ticket all have something to
//! find. Security flags can't be imported; tickets of the category `security` stand for them.

mod words;

use domain::{
    Channel, CustomerStatus, Origin, Priority, Status, Tier, Timestamp, Visibility, category,
};
use storage::import::{ImportComment, ImportCustomer, ImportRecord, ImportRow, ImportTicket};

use self::words::{FIRST_NAMES, LAST_NAMES, TEAMS, text, title};
use crate::ops::import::{ImportError, ImportSummary, Intake, Progress};
use crate::{Caller, Desk};

/// 1 November 2026: the end of the two years over which tickets are spread.
const END: Timestamp = Timestamp::from_micros(1_793_491_200_000_000);
const TWO_YEARS: u64 = 730 * 86_400_000_000;
const HOUR: u64 = 3_600_000_000;
/// As many tickets a customer has on average.
const TICKETS_A_CUSTOMER: u64 = 10;

/// The rows of a store of `tickets` tickets: first the customers, a tenth as many, then each ticket with its comments, two
/// on average and seven at the most.
pub fn scale(tickets: u64) -> impl Iterator<Item = ImportRow> + Send + 'static {
    let customers = customer_count(tickets);
    (1..=customers)
        .map(|number| row(number, ImportRecord::Customer(customer(number))))
        .chain((1..=tickets).flat_map(move |number| {
            let ticket = ticket(number, tickets, customers);
            let comments = comments(number, &ticket);
            std::iter::once(ImportRecord::Ticket(ticket))
                .chain(comments)
                .map(move |record| row(number, record))
        }))
}

/// Fills a store with the rows of [`scale`], in small jobs; what is there already stays. Progress counts tickets.
pub async fn seed_scale(
    desk: &Desk,
    caller: &Caller,
    tickets: u64,
    progress: &dyn Progress,
) -> Result<ImportSummary, ImportError> {
    let mut intake = Intake::new(desk, caller, &[]);
    for row in scale(tickets) {
        let done = match &row.record {
            ImportRecord::Ticket(_) => row.place,
            ImportRecord::Customer(_)
            | ImportRecord::Comment(_)
            | ImportRecord::Call(_)
            | ImportRecord::Csat(_)
            | ImportRecord::Article(_) => 0,
        };
        if intake.take(row).await? {
            progress.advance(done, tickets);
        }
    }
    intake.flush().await?;
    progress.advance(tickets, tickets);
    Ok(intake.summary)
}

const fn row(place: u64, record: ImportRecord) -> ImportRow {
    ImportRow { place, record }
}

const fn customer_count(tickets: u64) -> u64 {
    tickets.div_ceil(TICKETS_A_CUSTOMER)
}

/// What a number stands for, so that two draws for one record are apart.
#[derive(Clone, Copy)]
enum Draw {
    Customer = 1,
    Ticket = 2,
    Comment = 3,
}

/// Numbers that look random and follow from a record's number alone (the `SplitMix64` mixer).
struct Dice(u64);

impl Dice {
    fn new(draw: Draw, number: u64) -> Self {
        Self(number.wrapping_mul(4).wrapping_add(draw as u64))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`; of no number there is 0.
    fn below(&mut self, bound: u64) -> u64 {
        self.next().checked_rem(bound).unwrap_or(0)
    }

    /// One of these; nothing of none.
    fn pick<T>(&mut self, from: &'static [T]) -> Option<&'static T> {
        let index = usize::try_from(self.below(from.len() as u64)).ok()?;
        from.get(index)
    }
}

/// A point in the two years: records are spread evenly, so a higher number is a later record.
fn time(number: u64, of: u64) -> Timestamp {
    let step = TWO_YEARS / of.max(1);
    let start = END.plus_micros(-micros(TWO_YEARS));
    start.plus_micros(micros(step * number.saturating_sub(1)))
}

fn later(than: Timestamp, by: u64) -> Timestamp {
    than.plus_micros(micros(by)).min(END)
}

fn micros(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn customer(number: u64) -> ImportCustomer {
    let mut dice = Dice::new(Draw::Customer, number);
    let first = dice.pick(&FIRST_NAMES).copied().unwrap_or_default();
    let last = dice.pick(&LAST_NAMES).copied().unwrap_or_default();
    let organisation = dice.below(8);
    let since = END.plus_micros(-micros(TWO_YEARS + dice.below(1_000 * HOUR)));
    ImportCustomer {
        external_id: Some(external_id(number)),
        name: format!("{first} {last}"),
        email: format!("customer{number}@org{organisation}.example"),
        phone: (dice.below(3) > 0).then(|| format!("+44 20 7946 {:04}", dice.below(10_000))),
        organisation: (organisation > 0).then(|| format!("Organisation {organisation}")),
        status: match dice.below(20) {
            0 => CustomerStatus::Inactive,
            _ => CustomerStatus::Active,
        },
        created_at: since,
        updated_at: since,
    }
}

fn external_id(number: u64) -> String {
    format!("seed-{number}")
}

fn ticket(number: u64, tickets: u64, customers: u64) -> ImportTicket {
    let mut dice = Dice::new(Draw::Ticket, number);
    let created_at = time(number, tickets);
    let security = category::SECURITY;
    ImportTicket {
        external_id: external_id(number),
        customer: external_id(1 + dice.below(customers)),
        channel: dice.pick(Channel::ALL).copied().unwrap_or(Channel::Email),
        subject: title(&mut dice, number),
        description: text(&mut dice, 20, 60, number),
        category: dice
            .pick(&category::BUILT_IN)
            .map_or(security, |(slug, _)| slug)
            .to_owned(),
        priority: dice.pick(&PRIORITIES).copied().unwrap_or(Priority::Medium),
        status: dice.pick(&STATUSES).copied().unwrap_or(Status::Open),
        tier: dice
            .pick(&[1, 1, 1, 2, 2, 3])
            .and_then(|tier| Tier::new(*tier).ok())
            .unwrap_or(Tier::FIRST),
        assigned_team: dice.pick(&TEAMS).copied().flatten().map(str::to_owned),
        assignee: (dice.below(2) > 0).then(|| format!("Agent {}", 1 + dice.below(20))),
        created_at,
        updated_at: later(created_at, dice.below(240 * HOUR)),
    }
}

fn comments(number: u64, ticket: &ImportTicket) -> impl Iterator<Item = ImportRecord> + use<> {
    let mut dice = Dice::new(Draw::Comment, number);
    let count = dice.pick(&COMMENT_COUNTS).copied().unwrap_or(0);
    let id = ticket.external_id.clone();
    let mut at = ticket.created_at;
    (1..=count).map(move |index| {
        at = later(at, HOUR + dice.below(48 * HOUR));
        let from_customer = dice.below(2) == 0;
        let public = from_customer || dice.below(2) == 0;
        ImportRecord::Comment(ImportComment {
            external_id: format!("{id}-{index}"),
            ticket: id.clone(),
            author: format!("Agent {}", 1 + dice.below(20)),
            origin: if from_customer {
                Origin::Customer
            } else {
                Origin::Team
            },
            visibility: if public {
                Visibility::Public
            } else {
                Visibility::Internal
            },
            body: text(&mut dice, 8, 40, number),
            created_at: at,
        })
    })
}

const PRIORITIES: [Priority; 8] = [
    Priority::Low,
    Priority::Low,
    Priority::Medium,
    Priority::Medium,
    Priority::Medium,
    Priority::High,
    Priority::High,
    Priority::Urgent,
];

/// Most tickets of two years are done.
const STATUSES: [Status; 8] = [
    Status::Open,
    Status::InProgress,
    Status::Resolved,
    Status::Resolved,
    Status::Closed,
    Status::Closed,
    Status::Closed,
    Status::Closed,
];

/// Two on average.
const COMMENT_COUNTS: [u32; 10] = [0, 0, 1, 1, 1, 2, 2, 3, 3, 7];

#[cfg(test)]
mod tests;
