//! Previews and what becomes of them. Each function is the body of one job, so nothing comes between a look and a write.
//!
//! What a token is bound to is [`bound_digest`]: the write with every argument, and what was shown of it. A row that somebody
//! changed in the database gives another digest than the record that the tag covers, and is refused.

mod apply;
mod approvals;
mod inspect;
mod pending;
mod redeem;

use domain::{
    Act, Action, ApprovalId, Arguments, AuditRecord, Change, EntityKind, FieldValue, Operation,
    Outcome, Status, TicketId,
};
use writegate::{Binding, ChangeDigest, FieldChange, Purpose, Value};

use self::inspect::Seen;
use self::pending::Row;
use super::writer::Tx;
use super::{audit, flags, once, ticket_writes, tickets};
use crate::{NewPreview, Preview, Previewed, StoreError};

pub(super) use approvals::{decide, list};
#[cfg(test)]
pub(super) use pending::State;
pub(super) use redeem::redeem;

/// What was shown of a change: its fields, and a digest of what else depends on it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Shown {
    change: Change,
    stamp: String,
}

/// The digest that a token binds.
fn bound_digest(
    operation: Operation,
    entity: i64,
    arguments: &Arguments,
    shown: &Shown,
) -> ChangeDigest {
    let argument_names: Vec<String> = arguments
        .iter()
        .map(|(name, _)| format!("argument {name}"))
        .collect();
    let field_names: Vec<String> = shown
        .change
        .fields
        .iter()
        .map(|field| format!("field {}", field.field))
        .collect();
    let mut all = vec![
        FieldChange {
            field: "operation",
            before: Some(Value::Int(entity)),
            after: Some(Value::Text(operation.as_str())),
        },
        FieldChange {
            field: "stamp",
            before: None,
            after: Some(Value::Text(&shown.stamp)),
        },
    ];
    all.extend(
        argument_names
            .iter()
            .zip(arguments.iter())
            .map(|(field, (_, after))| FieldChange {
                field,
                before: None,
                after: after.map(value),
            }),
    );
    all.extend(
        field_names
            .iter()
            .zip(&shown.change.fields)
            .map(|(field, change)| FieldChange {
                field,
                before: change.before.as_ref().map(value),
                after: change.after.as_ref().map(value),
            }),
    );
    ChangeDigest::of(&all)
}

fn value(value: &FieldValue) -> Value<'_> {
    match value {
        FieldValue::Text(text) => Value::Text(text),
        FieldValue::Int(number) => Value::Int(*number),
        FieldValue::Bool(yes) => Value::Bool(*yes),
    }
}

/// The number in an audit row; a record that is yet to be made has none.
fn audited(entity: i64) -> Option<i64> {
    (entity != 0).then_some(entity)
}

/// Puts on record that a guarded change was asked for and not made.
fn audit_refusal(
    tx: &mut Tx<'_>,
    act: &Act,
    action: Action,
    (entity, entity_id): (EntityKind, Option<i64>),
    code: &'static str,
    facts: Vec<(&'static str, String)>,
) -> Result<(), StoreError> {
    let record = AuditRecord {
        action,
        entity,
        entity_id,
        version_before: None,
        version_after: None,
        outcome: Outcome::Refused,
        code: Some(code),
        facts,
    };
    audit::append(tx, act, &record)
}

/// Previews a change and keeps that.
pub(super) fn preview(
    tx: &mut Tx<'_>,
    act: &Act,
    deployment: &str,
    new: &NewPreview,
) -> Result<Previewed, StoreError> {
    let write = &*new.write;
    let (operation, (entity, entity_id), action) =
        (write.operation(), write.entity(), write.action());
    let arguments = write.arguments();
    if let Some(key) = &new.key {
        match once::find(
            tx,
            act,
            key,
            &once::digest(operation, entity_id, &arguments),
        )? {
            once::Found::Nothing => {}
            once::Found::Answer(answer) => return Ok(Previewed::Replayed(answer)),
            once::Found::Another => return Ok(Previewed::KeyConflict),
        }
    }
    let Seen {
        version,
        shown,
        forbidden,
    } = inspect::inspect(tx, write)?;
    if let Some(expected) = new.if_version
        && expected.number() != version
    {
        return Err(StoreError::Stale {
            expected,
            found: domain::Version::new(version),
        });
    }
    if let Some(refused) = forbidden {
        let ticket = tickets::get(tx.step()?, TicketId::new(entity_id))?;
        ticket_writes::audit_forbidden(tx, act, action, &ticket, refused)?;
        return Ok(Previewed::Forbidden(refused));
    }
    if shown.change.is_empty() {
        return Ok(Previewed::NothingToChange);
    }
    let required = new.required.max(flags::check(tx, write)?);
    let issued = tx.now(act);
    let expires = issued.plus_micros(new.ttl);
    let binding = Binding {
        purpose: Purpose::Confirm,
        deployment: deployment.to_owned(),
        channel: act.actor.channel.as_str().to_owned(),
        actor: act.actor.id.clone(),
        client: act.actor.client.clone(),
        tool: action.as_str().to_owned(),
        entity_kind: entity.as_str().to_owned(),
        entity_id,
        version,
        change: bound_digest(operation, entity_id, &arguments, &shown),
        screening: inspect::screening(tx, write)?,
        required,
        issued: issued.micros(),
        expires: expires.micros(),
    };
    let token = new.gate.mint(&binding, new.nonce);
    pending::sweep(tx, act)?;
    let number = pending::insert(
        tx,
        &Row::of(
            &token,
            &binding,
            write.clone(),
            shown.clone(),
            new.key.clone(),
        ),
    )?;
    let approval = ApprovalId::new(number);
    let code = match required {
        writegate::ApprovalLevel::Token => "CONFIRMATION_REQUIRED",
        writegate::ApprovalLevel::Person => "HUMAN_APPROVAL_REQUIRED",
    };
    let facts = vec![("approval", approval.to_string())];
    audit_refusal(tx, act, action, (entity, audited(entity_id)), code, facts)?;
    Ok(Previewed::Waiting(Box::new(Preview {
        token,
        approval,
        write: write.clone(),
        change: shown.change,
        required,
        expires,
    })))
}

/// Whether the graph lacks the edge between two statuses.
fn forbidden(from: Status, to: Status) -> Option<domain::ForbiddenTransition> {
    domain::Transition::find(from, to).err()
}
