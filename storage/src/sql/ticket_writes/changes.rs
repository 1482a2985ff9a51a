//! What a write changes of a ticket, in one statement that names the version it read.

use diesel::prelude::*;
use domain::ticket::Assign;
use domain::{
    LastCommentBy, Priority, SecurityFlag, Status, Ticket, Tier, Timestamp, Version, text,
};

use crate::StoreError;
use crate::sql::errors::classify;
use crate::sql::schema::tickets;
use crate::sql::tickets::get;
use crate::sql::writer::Tx;

/// What a write may change of a ticket; what is absent stays, and its indexes are not touched.
#[derive(Default)]
pub(in crate::sql) struct Changes {
    pub(in crate::sql) status: Option<Status>,
    pub(in crate::sql) team: Option<TeamColumns>,
    pub(in crate::sql) assignee: Option<AssigneeColumns>,
    pub(in crate::sql) last_comment_by: Option<LastCommentBy>,
    pub(in crate::sql) tier: Option<Tier>,
    pub(in crate::sql) priority: Option<Priority>,
    pub(in crate::sql) category: Option<String>,
    pub(in crate::sql) subject: Option<String>,
    pub(in crate::sql) description: Option<String>,
    pub(in crate::sql) flag: Option<SecurityFlag>,
}

#[derive(AsChangeset)]
#[diesel(table_name = tickets, treat_none_as_null = true)]
pub(in crate::sql) struct TeamColumns {
    assigned_team: Option<String>,
    team_folded: Option<String>,
}

#[derive(AsChangeset)]
#[diesel(table_name = tickets, treat_none_as_null = true)]
pub(in crate::sql) struct AssigneeColumns {
    assignee: Option<String>,
    assignee_folded: Option<String>,
}

/// Changes a ticket that was read in this transaction, if it is still at the version that was read, and gives its new
/// version. Time never goes back: a clock that does must not make a change look older than the one before.
pub(in crate::sql) fn update(
    tx: &mut Tx<'_>,
    ticket: &Ticket,
    at: Timestamp,
    changes: Changes,
) -> Result<Version, StoreError> {
    let next = ticket.version.next();
    let updated = diesel::update(
        tickets::table
            .find(ticket.id.number())
            .filter(tickets::version.eq(ticket.version.number())),
    )
    .set((
        changes.team,
        changes.assignee,
        changes
            .status
            .map(|status| tickets::status.eq(status.as_str())),
        changes
            .last_comment_by
            .map(|side| tickets::last_comment_by.eq(side.as_str())),
        changes
            .tier
            .map(|tier| tickets::tier.eq(i16::from(tier.number()))),
        changes
            .priority
            .map(|priority| tickets::priority.eq(priority.as_str())),
        changes.category.map(|slug| tickets::category.eq(slug)),
        changes.subject.map(|text| tickets::subject.eq(text)),
        changes
            .description
            .map(|text| tickets::description.eq(text)),
        changes
            .flag
            .map(|flag| tickets::security_flag.eq(flag.as_str())),
        tickets::updated_at.eq(at.max(ticket.updated_at).micros()),
        tickets::version.eq(next.number()),
    ))
    .execute(tx.step()?)
    .map_err(classify)?;
    if updated == 1 {
        return Ok(next);
    }
    let found = get(tx.step()?, ticket.id)?.version;
    Err(StoreError::Stale {
        expected: ticket.version,
        found,
    })
}

/// The name to store where one was given; what is cleared has none.
pub(in crate::sql) fn name(assign: &Assign) -> Option<&str> {
    match assign {
        Assign::Set(name) => Some(name),
        Assign::Keep | Assign::Clear => None,
    }
}

/// What the log says of an assignment. Names are typed in by people, so it says only what happened to them.
pub(in crate::sql) fn fact(assign: &Assign) -> Option<&'static str> {
    match assign {
        Assign::Keep => None,
        Assign::Set(_) => Some("set"),
        Assign::Clear => Some("cleared"),
    }
}

impl Changes {
    /// These with what happens to the team and the person.
    pub(in crate::sql) fn assigned(self, team: &Assign, assignee: &Assign) -> Self {
        let columns = |assign: &Assign| {
            let name = name(assign);
            fact(assign).map(|_| (name.map(str::to_owned), name.map(text::fold)))
        };
        Self {
            team: columns(team).map(|(assigned_team, team_folded)| TeamColumns {
                assigned_team,
                team_folded,
            }),
            assignee: columns(assignee).map(|(assignee, assignee_folded)| AssigneeColumns {
                assignee,
                assignee_folded,
            }),
            ..self
        }
    }
}
