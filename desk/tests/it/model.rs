//! The desk as plain lists in memory: what each operation must give.

use std::collections::BTreeSet;

use domain::text::fold;
use domain::{CustomerStatus, LastCommentBy, Origin, Priority, SecurityFlag, Status, TicketOrder};

use crate::operation::{Filter, Name, Named, Operation};

/// What an operation gives, as far as both sides can know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// An error, by its code and, for arguments, the argument.
    Error(&'static str, Option<String>),
    /// A customer.
    Customer(Customer),
    /// A ticket, with whether its team was new where that is told.
    Ticket(Ticket, Option<bool>),
    /// A ticket that moved, with where from.
    Moved(Status, Ticket),
    /// Ids of a list, walked to its end, and its total.
    Ids(Vec<i64>, u32),
    /// Comments, newest first: who spoke and what.
    Comments(Vec<(Origin, String)>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Customer {
    pub(crate) id: i64,
    pub(crate) name: String,
    pub(crate) email: String,
    pub(crate) organisation: Option<String>,
    pub(crate) version: i64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ticket {
    pub(crate) id: i64,
    pub(crate) customer: i64,
    pub(crate) subject: String,
    pub(crate) category: String,
    pub(crate) priority: Priority,
    pub(crate) status: Status,
    pub(crate) team: Option<String>,
    pub(crate) assignee: Option<String>,
    pub(crate) last_comment_by: LastCommentBy,
    pub(crate) version: i64,
}

#[derive(Default)]
pub(crate) struct Model {
    customers: Vec<Customer>,
    tickets: Vec<Ticket>,
    comments: Vec<(i64, Origin, String)>,
    /// Ids of tickets, in the order in which they were last changed.
    changed: Vec<i64>,
    teams: BTreeSet<String>,
    /// Audit rows: what was done and whether it was refused.
    pub(crate) log: Vec<(&'static str, bool)>,
}

/// A code and, for arguments, the argument.
type Refused = (&'static str, Option<String>);

fn invalid(field: &str) -> Refused {
    ("INVALID_ARGUMENT", Some(field.to_owned()))
}

fn error(code: &'static str) -> Refused {
    (code, None)
}

fn same(stored: Option<&String>, wanted: &str) -> bool {
    stored.is_some_and(|stored| fold(stored) == fold(wanted))
}

impl Model {
    pub(crate) fn version_of(&self, ticket: i64) -> Option<i64> {
        self.tickets
            .iter()
            .find(|row| row.id == ticket)
            .map(|row| row.version)
    }

    /// The place of a ticket, if it is there and at the version that is named.
    fn find(&self, ticket: i64, named: Named) -> Result<usize, Refused> {
        let at = self
            .tickets
            .iter()
            .position(|row| row.id == ticket)
            .ok_or(error("NOT_FOUND"))?;
        match named {
            Named::Off(_) => Err(error("STALE")),
            Named::None | Named::Current => Ok(at),
        }
    }

    fn touch(&mut self, at: usize, action: &'static str) -> Ticket {
        self.tickets[at].version += 1;
        let ticket = self.tickets[at].clone();
        self.changed.retain(|id| *id != ticket.id);
        self.changed.push(ticket.id);
        self.log.push((action, false));
        ticket
    }

    fn speak(&mut self, at: usize, origin: Origin, body: &str) {
        let row = &mut self.tickets[at];
        row.last_comment_by = match origin {
            Origin::Customer => LastCommentBy::Customer,
            Origin::Team => LastCommentBy::Team,
            Origin::System => row.last_comment_by,
        };
        self.comments.push((row.id, origin, body.to_owned()));
    }

    pub(crate) fn apply(&mut self, operation: &Operation) -> Answer {
        self.try_apply(operation)
            .unwrap_or_else(|(code, field)| Answer::Error(code, field))
    }

    fn try_apply(&mut self, operation: &Operation) -> Result<Answer, Refused> {
        Ok(match operation {
            Operation::CreateCustomer {
                name,
                email,
                organisation,
            } => self.create_customer(name, email, organisation.as_ref())?,
            Operation::CreateTicket {
                customer,
                subject,
                category,
                priority,
                team,
                assignee,
            } => {
                if subject.contains('\n') {
                    return Err(invalid("subject"));
                }
                if category == "nonsense" {
                    return Err(invalid("category"));
                }
                if self.customers.iter().all(|row| row.id != *customer) {
                    return Err(error("NOT_FOUND"));
                }
                let new_team = team
                    .as_ref()
                    .is_some_and(|team| self.teams.insert(fold(team)));
                let ticket = Ticket {
                    id: i64::try_from(self.tickets.len()).unwrap() + 1,
                    customer: *customer,
                    subject: subject.clone(),
                    category: category.clone(),
                    priority: *priority,
                    status: Status::Open,
                    team: team.clone(),
                    assignee: assignee.clone(),
                    last_comment_by: LastCommentBy::Customer,
                    version: 1,
                };
                self.tickets.push(ticket.clone());
                self.changed.push(ticket.id);
                self.log.push(("create_ticket", false));
                Answer::Ticket(ticket, Some(new_team))
            }
            Operation::Assign {
                ticket,
                named,
                team,
                assignee,
            } => {
                if let (Name::Keep, Name::Keep) = (team, assignee) {
                    return Err(invalid("team"));
                }
                let at = self.find(*ticket, *named)?;
                let new_team = matches!(team, Name::Set(team) if self.teams.insert(fold(team)));
                let row = &mut self.tickets[at];
                for (field, name) in [(&mut row.team, team), (&mut row.assignee, assignee)] {
                    match name {
                        Name::Keep => {}
                        Name::Clear => *field = None,
                        Name::Set(name) => *field = Some(name.clone()),
                    }
                }
                Answer::Ticket(self.touch(at, "assign_ticket"), Some(new_team))
            }
            Operation::Comment {
                ticket,
                named,
                origin,
                body,
            } => {
                check_body(body)?;
                let at = self.find(*ticket, *named)?;
                self.speak(at, *origin, body);
                Answer::Ticket(self.touch(at, "add_comment"), None)
            }
            Operation::Move { ticket, named, to } => {
                let at = self.find(*ticket, *named)?;
                self.step(at, *to, "change_ticket_status")?
            }
            Operation::Resolve { ticket, named, how } => {
                if let Some(how) = how {
                    check_body(how)?;
                }
                let at = self.find(*ticket, *named)?;
                if let (Status::InProgress, Some(how)) = (self.tickets[at].status, how) {
                    self.speak(at, Origin::Team, how);
                }
                self.step(at, Status::Resolved, "resolve_ticket")?
            }
            Operation::GetTicket { ticket } => {
                let at = self.find(*ticket, Named::None)?;
                Answer::Ticket(self.tickets[at].clone(), None)
            }
            Operation::GetCustomer { customer } => {
                let found = self.customers.iter().find(|row| row.id == *customer);
                Answer::Customer(found.cloned().ok_or(error("NOT_FOUND"))?)
            }
            Operation::ListTickets { filter, order, .. } => self.list_tickets(filter, *order)?,
            Operation::ListCustomers {
                status,
                organisation,
                query,
                order,
                ..
            } => self.list_customers(*status, organisation.as_ref(), query.as_ref(), *order),
            Operation::Comments { ticket, .. } => {
                self.find(*ticket, Named::None)?;
                let own = self.comments.iter().rev().filter(|row| row.0 == *ticket);
                Answer::Comments(own.map(|row| (row.1, row.2.clone())).collect())
            }
        })
    }

    fn create_customer(
        &mut self,
        name: &str,
        email: &str,
        organisation: Option<&String>,
    ) -> Result<Answer, Refused> {
        if !email.contains('@') {
            return Err(invalid("email"));
        }
        let taken = |row: &Customer| fold(&row.email) == fold(email);
        if self.customers.iter().any(taken) {
            return Err(error("DUPLICATE_EMAIL"));
        }
        let customer = Customer {
            id: i64::try_from(self.customers.len()).unwrap() + 1,
            name: name.to_owned(),
            email: email.to_owned(),
            organisation: organisation.cloned(),
            version: 1,
        };
        self.customers.push(customer.clone());
        self.log.push(("create_customer", false));
        Ok(Answer::Customer(customer))
    }

    fn step(&mut self, at: usize, to: Status, action: &'static str) -> Result<Answer, Refused> {
        let from = self.tickets[at].status;
        // The graph of the design, written out once more.
        let allowed = match from {
            Status::Open => vec![Status::InProgress, Status::Closed],
            Status::InProgress => vec![Status::Resolved, Status::Open, Status::Closed],
            Status::Resolved => vec![Status::Closed, Status::InProgress],
            Status::Closed => vec![],
        };
        if !allowed.contains(&to) {
            self.log.push((action, true));
            return Err(error("FORBIDDEN_TRANSITION"));
        }
        self.tickets[at].status = to;
        Ok(Answer::Moved(from, self.touch(at, action)))
    }

    fn list_tickets(&self, filter: &Filter, order: TicketOrder) -> Result<Answer, Refused> {
        if filter.category.as_deref() == Some("nonsense") {
            return Err(invalid("category"));
        }
        let organisation = |row: &Ticket| {
            let customer = self
                .customers
                .iter()
                .find(|customer| customer.id == row.customer);
            customer.and_then(|customer| customer.organisation.as_ref())
        };
        let matches = |row: &Ticket| {
            filter.status.is_none_or(|status| row.status == status)
                && filter
                    .priority
                    .is_none_or(|priority| row.priority == priority)
                && filter
                    .category
                    .as_ref()
                    .is_none_or(|category| row.category == *category)
                && filter
                    .customer
                    .is_none_or(|customer| row.customer == customer)
                && filter
                    .organisation
                    .as_ref()
                    .is_none_or(|name| same(organisation(row), name))
                && filter
                    .team
                    .as_ref()
                    .is_none_or(|team| same(row.team.as_ref(), team))
                && filter
                    .assignee
                    .as_ref()
                    .is_none_or(|name| same(row.assignee.as_ref(), name))
                && filter
                    .unassigned
                    .is_none_or(|without| row.assignee.is_none() == without)
                && filter.tier.is_none_or(|tier| tier.number() == 1)
                && filter.flag.is_none_or(|flag| flag == SecurityFlag::None)
                && filter
                    .last_comment_by
                    .is_none_or(|side| row.last_comment_by == side)
        };
        let order: Vec<i64> = match order {
            TicketOrder::Newest => self.tickets.iter().rev().map(|row| row.id).collect(),
            TicketOrder::Oldest => self.tickets.iter().map(|row| row.id).collect(),
            TicketOrder::Updated => self.changed.iter().rev().copied().collect(),
        };
        let found = order.into_iter().filter(|id| {
            let row = self.tickets.iter().find(|row| row.id == *id);
            row.is_some_and(matches)
        });
        Ok(ids(found.collect()))
    }

    fn list_customers(
        &self,
        status: Option<CustomerStatus>,
        organisation: Option<&String>,
        query: Option<&String>,
        order: TicketOrder,
    ) -> Answer {
        let holds = |row: &Customer, query: &str| {
            let fields = [Some(&row.name), Some(&row.email), row.organisation.as_ref()];
            fields
                .into_iter()
                .flatten()
                .any(|field| fold(field).contains(&fold(query)))
        };
        let mut found: Vec<i64> = self
            .customers
            .iter()
            .filter(|_| status != Some(CustomerStatus::Inactive))
            .filter(|row| organisation.is_none_or(|name| same(row.organisation.as_ref(), name)))
            .filter(|row| query.is_none_or(|query| holds(row, query)))
            .map(|row| row.id)
            .collect();
        // Nothing changes a customer yet, so the order of changes is that of registration.
        if order != TicketOrder::Oldest {
            found.reverse();
        }
        ids(found)
    }
}

fn check_body(body: &str) -> Result<(), Refused> {
    if body.trim().is_empty() || body.contains('\0') {
        return Err(invalid("body"));
    }
    Ok(())
}

fn ids(found: Vec<i64>) -> Answer {
    let total = u32::try_from(found.len()).unwrap();
    Answer::Ids(found, total)
}
