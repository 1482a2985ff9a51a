//! Writes that name a key: done once for each key of an actor and tool.

use diesel::prelude::*;
use domain::{Act, Arguments, ForbiddenTransition, OpenWrite, Operation, Status, Ticket, Version};
use writegate::{ChangeDigest, FieldChange, Value};

use super::errors::classify;
use super::schema::idempotency_keys as table;
use super::writer::Tx;
use super::{customers, ticket_writes};
use crate::{Applied, Left, Moved, Once, REPLAY_MICROS, StoreError, Wrote};

/// What a key was used for.
pub(super) enum Found {
    /// Nothing.
    Nothing,
    /// This very write, which gave this answer.
    Answer(String),
    /// Another write.
    Another,
}

/// What a write with a key is recognised by.
pub(super) fn digest(operation: Operation, entity: i64, arguments: &Arguments) -> Vec<u8> {
    let mut all = vec![FieldChange {
        field: "operation",
        before: Some(Value::Int(entity)),
        after: Some(Value::Text(operation.as_str())),
    }];
    all.extend(arguments.iter().map(|(field, after)| FieldChange {
        field,
        before: Some(Value::Bool(true)),
        after: after.map(|value| match value {
            domain::FieldValue::Text(text) => Value::Text(text),
            domain::FieldValue::Int(number) => Value::Int(*number),
            domain::FieldValue::Bool(yes) => Value::Bool(*yes),
        }),
    }));
    ChangeDigest::of(&all).as_bytes().to_vec()
}

/// What became of an earlier write under this key.
pub(super) fn find(
    tx: &mut Tx<'_>,
    act: &Act,
    key: &str,
    digest: &[u8],
) -> Result<Found, StoreError> {
    let oldest = act.at.plus_micros(-REPLAY_MICROS).micros();
    let found: Option<(Vec<u8>, String)> = table::table
        .find((&act.actor.id, act.tool, key))
        .filter(table::created_at.gt(oldest))
        .select((table::digest, table::answer))
        .first(tx.step()?)
        .optional()
        .map_err(classify)?;
    Ok(match found {
        None => Found::Nothing,
        Some((known, answer)) if known == digest => Found::Answer(answer),
        Some(_) => Found::Another,
    })
}

/// Keeps the answer of a write under its key, and forgets keys whose time is over.
pub(super) fn keep(
    tx: &mut Tx<'_>,
    act: &Act,
    key: &str,
    digest: &[u8],
    answer: &str,
) -> Result<(), StoreError> {
    let oldest = act.at.plus_micros(-REPLAY_MICROS).micros();
    diesel::delete(table::table.filter(table::created_at.le(oldest)))
        .execute(tx.step()?)
        .map_err(classify)?;
    diesel::insert_into(table::table)
        .values((
            table::actor.eq(&act.actor.id),
            table::tool.eq(act.tool),
            table::key.eq(key),
            table::digest.eq(digest),
            table::answer.eq(answer),
            table::created_at.eq(act.at.micros()),
        ))
        .execute(tx.step()?)
        .map(drop)
        .map_err(classify)
}

/// Does an open write, unless its key says that it was done.
pub(super) fn write(
    tx: &mut Tx<'_>,
    act: &Act,
    write: &OpenWrite,
    once: &Once,
) -> Result<Wrote, StoreError> {
    let (entity, arguments) = (write.entity(), write.arguments());
    let digest = digest(write.operation(), entity.1, &arguments);
    match find(tx, act, &once.key, &digest)? {
        Found::Nothing => {}
        Found::Answer(answer) => return Ok(Wrote::Replayed(answer)),
        Found::Another => return Ok(Wrote::KeyConflict),
    }
    let left = match apply_open(tx, act, write, once.if_version)? {
        Ok(left) => left,
        Err(refused) => return Ok(Wrote::Forbidden(refused)),
    };
    let answer = (once.answer)(&Applied {
        operation: write.operation(),
        entity,
        change: &arguments.additions(),
        confirmed: None,
        left: &left,
    });
    keep(tx, act, &once.key, &digest, &answer)?;
    Ok(Wrote::Done(answer))
}

/// What an open write left behind, or the step that the graph lacks.
pub(super) type Done = Result<Left, ForbiddenTransition>;

const fn left(ticket: Ticket, from: Status, new_team: bool) -> Left {
    Left::Ticket {
        ticket,
        from,
        new_team,
    }
}

/// Does an open write, as its own storage method would.
pub(super) fn apply_open(
    tx: &mut Tx<'_>,
    act: &Act,
    write: &OpenWrite,
    if_version: Option<Version>,
) -> Result<Done, StoreError> {
    match write {
        OpenWrite::CreateCustomer { new } => {
            customers::create(tx, act, new).map(|customer| Ok(Left::Customer(customer)))
        }
        OpenWrite::CreateTicket { new } => {
            let filed = ticket_writes::create(tx, act, new)?;
            let from = filed.ticket.status;
            Ok(Ok(left(filed.ticket, from, filed.new_team)))
        }
        OpenWrite::AssignTicket { ticket, assignment } => {
            let given = ticket_writes::assign(tx, act, *ticket, if_version, assignment)?;
            let from = given.ticket.status;
            Ok(Ok(left(given.ticket, from, given.new_team)))
        }
        OpenWrite::AddComment { ticket, comment } => {
            let added = ticket_writes::add_comment(tx, act, *ticket, if_version, comment)?;
            Ok(Ok(Left::Comment {
                comment: added.comment,
                ticket: added.ticket,
            }))
        }
        OpenWrite::MoveTicket { ticket, to } => ticket_writes::move_ticket(
            tx,
            act,
            write.action(),
            *ticket,
            if_version,
            to.status(),
            None,
        )
        .map(moved),
        OpenWrite::ResolveTicket { ticket, resolution } => ticket_writes::move_ticket(
            tx,
            act,
            write.action(),
            *ticket,
            if_version,
            Status::Resolved,
            resolution.as_ref(),
        )
        .map(moved),
    }
}

fn moved(moved: Moved) -> Done {
    match moved {
        Moved::Done { from, ticket } => Ok(left(ticket, from, false)),
        Moved::Forbidden(refused) => Err(refused),
    }
}
