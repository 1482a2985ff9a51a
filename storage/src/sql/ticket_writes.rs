//! Tickets: filing, assigning, commenting, moving. Each function is the body of one job.

use diesel::prelude::*;
use domain::ticket::Assign;
use domain::{
    Act, Action, Assignment, AuditRecord, CategoryKind, Channel, Comment, CommentId, CustomerId,
    EntityKind, ForbiddenTransition, LastCommentBy, NewComment, NewTicket, Origin, Outcome,
    Priority, SecurityFlag, Status, Ticket, TicketId, Tier, Timestamp, Transition, Version, text,
};

use super::errors::classify;
use super::rows::CommentRow;
use super::schema::{comments, customers, teams, tickets};
use super::tickets::get;
use super::words::WordQueue;
use super::writer::Tx;
use super::{audit, categories};
use crate::{AddedComment, Moved, StoreError, TicketWithTeam};

/// What is stored of a new ticket.
pub(super) struct Entry<'a> {
    pub(super) customer: CustomerId,
    pub(super) channel: Channel,
    pub(super) subject: &'a str,
    pub(super) description: &'a str,
    pub(super) category: &'a str,
    pub(super) priority: Priority,
    pub(super) status: Status,
    pub(super) tier: Tier,
    pub(super) team: Option<&'a str>,
    pub(super) assignee: Option<&'a str>,
    pub(super) created_at: Timestamp,
    pub(super) updated_at: Timestamp,
}

/// What a write may change of a ticket; what is absent stays, and its indexes are not touched.
#[derive(Default)]
struct Changes {
    status: Option<Status>,
    team: Option<TeamColumns>,
    assignee: Option<AssigneeColumns>,
    last_comment_by: Option<LastCommentBy>,
}

#[derive(AsChangeset)]
#[diesel(table_name = tickets, treat_none_as_null = true)]
struct TeamColumns {
    assigned_team: Option<String>,
    team_folded: Option<String>,
}

#[derive(AsChangeset)]
#[diesel(table_name = tickets, treat_none_as_null = true)]
struct AssigneeColumns {
    assignee: Option<String>,
    assignee_folded: Option<String>,
}

/// Changes a ticket that was read in this transaction, if it is still at the version that was read, and gives its new
/// version. Time never goes back: a clock that does must not make a change look older than the one before.
fn update(
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

/// Reads a ticket that is about to be changed.
fn read(tx: &mut Tx<'_>, id: TicketId, if_version: Option<Version>) -> Result<Ticket, StoreError> {
    let ticket = get(tx.step()?, id)?;
    match if_version {
        Some(expected) if expected != ticket.version => Err(StoreError::Stale {
            expected,
            found: ticket.version,
        }),
        Some(_) | None => Ok(ticket),
    }
}

/// Remembers a team and says whether it is new.
fn note_team(tx: &mut Tx<'_>, name: &str) -> Result<bool, StoreError> {
    let folded = text::fold(name);
    let known: i64 = teams::table
        .filter(teams::folded.eq(&folded))
        .count()
        .get_result(tx.step()?)
        .map_err(classify)?;
    if known > 0 {
        return Ok(false);
    }
    diesel::insert_into(teams::table)
        .values((teams::folded.eq(folded), teams::shown.eq(name)))
        .execute(tx.step()?)
        .map_err(classify)?;
    Ok(true)
}

/// Stores a new ticket; gives its id and whether its team is new. The category must have been checked.
pub(super) fn insert(
    tx: &mut Tx<'_>,
    words: &mut WordQueue,
    entry: &Entry<'_>,
) -> Result<(TicketId, bool), StoreError> {
    let organisation: Option<String> = customers::table
        .find(entry.customer.number())
        .select(customers::organisation_folded)
        .get_result(tx.step()?)
        .optional()
        .map_err(classify)?
        .ok_or(StoreError::NotFound {
            entity: EntityKind::Customer,
            id: entry.customer.number(),
        })?;
    let new_team = match entry.team {
        Some(name) => note_team(tx, name)?,
        None => false,
    };
    let id = diesel::insert_into(tickets::table)
        .values((
            tickets::customer_id.eq(entry.customer.number()),
            tickets::channel.eq(entry.channel.as_str()),
            tickets::subject.eq(entry.subject),
            tickets::description.eq(entry.description),
            tickets::category.eq(entry.category),
            tickets::priority.eq(entry.priority.as_str()),
            tickets::status.eq(entry.status.as_str()),
            tickets::tier.eq(i16::from(entry.tier.number())),
            tickets::assigned_team.eq(entry.team),
            tickets::team_folded.eq(entry.team.map(text::fold)),
            tickets::assignee.eq(entry.assignee),
            tickets::assignee_folded.eq(entry.assignee.map(text::fold)),
            tickets::organisation_folded.eq(organisation),
            tickets::security_flag.eq(SecurityFlag::None.as_str()),
            // A ticket is the customer's word until somebody answers.
            tickets::last_comment_by.eq(LastCommentBy::Customer.as_str()),
            tickets::created_at.eq(entry.created_at.micros()),
            tickets::updated_at.eq(entry.updated_at.micros()),
            tickets::version.eq(Version::FIRST.number()),
        ))
        .returning(tickets::id)
        .get_result(tx.step()?)
        .map(TicketId::new)
        .map_err(classify)?;
    words.add_ticket(tx, id, entry.subject, entry.description)?;
    Ok((id, new_team))
}

/// Files a ticket.
pub(super) fn create(
    tx: &mut Tx<'_>,
    act: &Act,
    new: &NewTicket,
) -> Result<TicketWithTeam, StoreError> {
    let known = categories::list(tx.step()?)?;
    categories::check(&known, &new.category, |kind: CategoryKind| kind.tickets).map_err(
        |unknown| StoreError::UnknownCategory {
            given: unknown.given,
            allowed: unknown.allowed,
        },
    )?;
    let mut words = WordQueue::default();
    let (id, new_team) = insert(
        tx,
        &mut words,
        &Entry {
            customer: new.customer,
            channel: new.channel,
            subject: &new.subject,
            description: &new.description,
            category: &new.category,
            priority: new.priority,
            status: Status::Open,
            tier: new.tier,
            team: new.assigned_team.as_deref(),
            assignee: new.assignee.as_deref(),
            created_at: act.at,
            updated_at: act.at,
        },
    )?;
    words.write(tx)?;
    let mut facts = vec![
        ("customer_id", new.customer.number().to_string()),
        ("priority", new.priority.to_string()),
        ("category", new.category.clone()),
    ];
    if new_team {
        facts.push(("new_team", "true".to_owned()));
    }
    let record = AuditRecord {
        version_before: None,
        ..applied(Action::CreateTicket, id, Version::FIRST, facts)
    };
    audit::append(tx, act, &record)?;
    Ok(TicketWithTeam {
        ticket: get(tx.step()?, id)?,
        new_team,
    })
}

/// The audit record of a change of a ticket that left this version behind.
fn applied(
    action: Action,
    id: TicketId,
    after: Version,
    facts: Vec<(&'static str, String)>,
) -> AuditRecord {
    AuditRecord {
        action,
        entity: EntityKind::Ticket,
        entity_id: Some(id.number()),
        version_before: Some(Version::new(after.number() - 1)),
        version_after: Some(after),
        outcome: Outcome::Applied,
        code: None,
        facts,
    }
}

/// The name to store where one was given; what is cleared has none.
fn name(assign: &Assign) -> Option<&str> {
    match assign {
        Assign::Set(name) => Some(name),
        Assign::Keep | Assign::Clear => None,
    }
}

/// What the log says of an assignment. Names are typed in by people, so it says only what happened to them.
fn fact(assign: &Assign) -> Option<&'static str> {
    match assign {
        Assign::Keep => None,
        Assign::Set(_) => Some("set"),
        Assign::Clear => Some("cleared"),
    }
}

/// Gives a ticket to a team or a person, or takes it away.
pub(super) fn assign(
    tx: &mut Tx<'_>,
    act: &Act,
    id: TicketId,
    if_version: Option<Version>,
    assignment: &Assignment,
) -> Result<TicketWithTeam, StoreError> {
    let ticket = read(tx, id, if_version)?;
    let (team, assignee) = (name(&assignment.team), name(&assignment.assignee));
    let new_team = match team {
        Some(team) => note_team(tx, team)?,
        None => false,
    };
    let (team_fact, assignee_fact) = (fact(&assignment.team), fact(&assignment.assignee));
    let changes = Changes {
        team: team_fact.map(|_| TeamColumns {
            assigned_team: team.map(str::to_owned),
            team_folded: team.map(text::fold),
        }),
        assignee: assignee_fact.map(|_| AssigneeColumns {
            assignee: assignee.map(str::to_owned),
            assignee_folded: assignee.map(text::fold),
        }),
        ..Changes::default()
    };
    let version = update(tx, &ticket, act.at, changes)?;
    let mut facts: Vec<(&'static str, String)> = [("team", team_fact), ("assignee", assignee_fact)]
        .into_iter()
        .filter_map(|(field, what)| Some((field, what?.to_owned())))
        .collect();
    if new_team {
        facts.push(("new_team", "true".to_owned()));
    }
    audit::append(tx, act, &applied(Action::AssignTicket, id, version, facts))?;
    Ok(TicketWithTeam {
        ticket: get(tx.step()?, id)?,
        new_team,
    })
}

/// What is stored of a new comment.
pub(super) struct CommentEntry<'a> {
    pub(super) ticket: TicketId,
    pub(super) author: &'a str,
    pub(super) origin: Origin,
    pub(super) visibility: domain::Visibility,
    pub(super) body: &'a str,
    pub(super) created_at: Timestamp,
}

fn insert_comment(
    tx: &mut Tx<'_>,
    words: &mut WordQueue,
    entry: &CommentEntry<'_>,
) -> Result<CommentId, StoreError> {
    let id = diesel::insert_into(comments::table)
        .values((
            comments::ticket_id.eq(entry.ticket.number()),
            comments::author.eq(entry.author),
            comments::origin.eq(entry.origin.as_str()),
            comments::visibility.eq(entry.visibility.as_str()),
            comments::body.eq(entry.body),
            comments::created_at.eq(entry.created_at.micros()),
        ))
        .returning(comments::id)
        .get_result(tx.step()?)
        .map(CommentId::new)
        .map_err(classify)?;
    words.add_comment(tx, entry.ticket, entry.body)?;
    Ok(id)
}

/// Whose turn it is after a comment; what the system notes changes nothing.
const fn turn_after(origin: Origin) -> Option<LastCommentBy> {
    match origin {
        Origin::Customer => Some(LastCommentBy::Customer),
        Origin::Team => Some(LastCommentBy::Team),
        Origin::System => None,
    }
}

fn comment_now(
    tx: &mut Tx<'_>,
    act: &Act,
    ticket: TicketId,
    new: &NewComment,
) -> Result<CommentId, StoreError> {
    let mut words = WordQueue::default();
    let id = insert_comment(
        tx,
        &mut words,
        &CommentEntry {
            ticket,
            author: &act.actor.id,
            origin: new.origin,
            visibility: new.visibility,
            body: &new.body,
            created_at: act.at,
        },
    )?;
    words.write(tx)?;
    Ok(id)
}

fn comment_facts(id: CommentId, comment: &NewComment) -> [(&'static str, String); 3] {
    [
        ("comment_id", id.number().to_string()),
        ("origin", comment.origin.to_string()),
        ("visibility", comment.visibility.to_string()),
    ]
}

/// Adds a comment.
pub(super) fn add_comment(
    tx: &mut Tx<'_>,
    act: &Act,
    id: TicketId,
    if_version: Option<Version>,
    new: &NewComment,
) -> Result<AddedComment, StoreError> {
    let ticket = read(tx, id, if_version)?;
    let comment = comment_now(tx, act, id, new)?;
    let changes = Changes {
        last_comment_by: turn_after(new.origin),
        ..Changes::default()
    };
    let version = update(tx, &ticket, act.at, changes)?;
    let facts = comment_facts(comment, new).to_vec();
    audit::append(tx, act, &applied(Action::AddComment, id, version, facts))?;
    let row = comments::table
        .find(comment.number())
        .select(CommentRow::as_select())
        .get_result(tx.step()?)
        .map_err(classify)?;
    Ok(AddedComment {
        comment: Comment::try_from(row)?,
        ticket: get(tx.step()?, id)?,
    })
}

/// Brings in a comment of another system: the ticket is at the later of both times, and it is the turn of whoever follows
/// the newest comment, which this one need not be.
pub(super) fn import_comment(
    tx: &mut Tx<'_>,
    act: &Act,
    words: &mut WordQueue,
    entry: &CommentEntry<'_>,
) -> Result<CommentId, StoreError> {
    let ticket = read(tx, entry.ticket, None)?;
    let newer: i64 = comments::table
        .filter(comments::ticket_id.eq(entry.ticket.number()))
        .filter(comments::created_at.gt(entry.created_at.micros()))
        .filter(comments::origin.ne(Origin::System.as_str()))
        .count()
        .get_result(tx.step()?)
        .map_err(classify)?;
    let comment = insert_comment(tx, words, entry)?;
    let changes = Changes {
        last_comment_by: turn_after(entry.origin).filter(|_| newer == 0),
        ..Changes::default()
    };
    let version = update(tx, &ticket, entry.created_at, changes)?;
    let facts = vec![("comment_id", comment.number().to_string())];
    audit::append(
        tx,
        act,
        &applied(Action::Import, entry.ticket, version, facts),
    )?;
    Ok(comment)
}

/// Moves a ticket along the graph, with a comment in the same change where one is given.
pub(super) fn move_ticket(
    tx: &mut Tx<'_>,
    act: &Act,
    action: Action,
    id: TicketId,
    if_version: Option<Version>,
    to: Status,
    comment: Option<&NewComment>,
) -> Result<Moved, StoreError> {
    let ticket = read(tx, id, if_version)?;
    let step = match Transition::find(ticket.status, to) {
        Ok(step) => step,
        Err(refused) => return refuse(tx, act, action, &ticket, refused),
    };
    let mut facts = vec![("status", format!("{} -> {}", step.from(), step.to()))];
    if let Some(new) = comment {
        let comment = comment_now(tx, act, id, new)?;
        facts.extend(comment_facts(comment, new));
    }
    let changes = Changes {
        status: Some(step.to()),
        last_comment_by: comment.and_then(|new| turn_after(new.origin)),
        ..Changes::default()
    };
    let version = update(tx, &ticket, act.at, changes)?;
    audit::append(tx, act, &applied(action, id, version, facts))?;
    Ok(Moved::Done {
        from: step.from(),
        ticket: get(tx.step()?, id)?,
    })
}

fn refuse(
    tx: &mut Tx<'_>,
    act: &Act,
    action: Action,
    ticket: &Ticket,
    refused: ForbiddenTransition,
) -> Result<Moved, StoreError> {
    let record = AuditRecord {
        action,
        entity: EntityKind::Ticket,
        entity_id: Some(ticket.id.number()),
        version_before: Some(ticket.version),
        version_after: None,
        outcome: Outcome::Refused,
        code: Some(ForbiddenTransition::CODE),
        facts: vec![("status", format!("{} -> {}", refused.from, refused.to))],
    };
    audit::append(tx, act, &record)?;
    Ok(Moved::Forbidden(refused))
}
