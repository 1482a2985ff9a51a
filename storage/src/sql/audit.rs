//! The audit log: appending within the transaction of what it describes, and reading.
//!
//! A row is its payload: exact bytes, written once, which the chain covers (`chain`); the columns beside it only serve filters.

use std::borrow::Cow;

use diesel::prelude::*;
use domain::{
    Act, Action, Actor, ActorChannel, AuditEntry, AuditFilter, AuditRecord, EntityKind, Keyset,
    Outcome, Page, PageRequest, Proof, Timestamp, Version,
};
use serde::{Deserialize, Serialize};

use super::chain::{CHAIN, Head};
use super::connection::{AnyConnection, MultiBackend};
use super::errors::{BadValue, classify};
use super::page;
use super::rows::stored;
use super::schema::audit_event;
use super::writer::Tx;
use crate::StoreError;

/// The layout of a payload. A changed layout is a new number, and this one stays readable.
const LAYOUT: u8 = 1;

/// What is stored of an act: fields in this order, nothing left out, no text that a customer wrote.
#[derive(Serialize, Deserialize)]
struct Payload<'a> {
    v: u8,
    at_us: i64,
    actor: Cow<'a, str>,
    proof: Cow<'a, str>,
    channel: Cow<'a, str>,
    client: Cow<'a, str>,
    request_id: Cow<'a, str>,
    tool: Cow<'a, str>,
    action: Cow<'a, str>,
    entity: Cow<'a, str>,
    entity_id: Option<i64>,
    version_before: Option<i64>,
    version_after: Option<i64>,
    outcome: Cow<'a, str>,
    code: Option<Cow<'a, str>>,
    facts: Vec<(Cow<'a, str>, Cow<'a, str>)>,
}

impl<'a> Payload<'a> {
    fn of(act: &'a Act, record: &'a AuditRecord, approval: &'a [(&'static str, String)]) -> Self {
        Self {
            v: LAYOUT,
            at_us: act.at.micros(),
            actor: Cow::Borrowed(&act.actor.id),
            proof: Cow::Borrowed(act.actor.proof.as_str()),
            channel: Cow::Borrowed(act.actor.channel.as_str()),
            client: Cow::Borrowed(&act.actor.client),
            request_id: Cow::Owned(format!("{:032x}", act.request_id)),
            tool: Cow::Borrowed(act.tool),
            action: Cow::Borrowed(record.action.as_str()),
            entity: Cow::Borrowed(record.entity.as_str()),
            entity_id: record.entity_id,
            version_before: record.version_before.map(Version::number),
            version_after: record.version_after.map(Version::number),
            outcome: Cow::Borrowed(record.outcome.as_str()),
            code: record.code.map(Cow::Borrowed),
            facts: record
                .facts
                .iter()
                .chain(approval)
                .map(|(name, value)| (Cow::Borrowed(*name), Cow::Borrowed(value.as_str())))
                .collect(),
        }
    }

    fn into_entry(self, seq: i64) -> Result<AuditEntry, BadValue> {
        Ok(AuditEntry {
            seq,
            at: Timestamp::from_micros(self.at_us),
            actor: Actor {
                proof: stored!(Proof, "audit_event.proof", self.proof)?,
                channel: stored!(ActorChannel, "audit_event.channel", self.channel)?,
                id: self.actor.into_owned(),
                client: self.client.into_owned(),
            },
            request_id: u128::from_str_radix(&self.request_id, 16).map_err(|_format| BadValue {
                column: "audit_event.request_id",
                value: self.request_id.into_owned(),
            })?,
            tool: self.tool.into_owned(),
            action: stored!(Action, "audit_event.action", self.action)?,
            entity: stored!(EntityKind, "audit_event.entity", self.entity)?,
            entity_id: self.entity_id,
            version_before: self.version_before.map(Version::new),
            version_after: self.version_after.map(Version::new),
            outcome: stored!(Outcome, "audit_event.outcome", self.outcome)?,
            code: self.code.map(Cow::into_owned),
            facts: self
                .facts
                .into_iter()
                .map(|(name, value)| (name.into_owned(), value.into_owned()))
                .collect(),
        })
    }
}

pub(super) fn decode(seq: i64, payload: &[u8]) -> Result<AuditEntry, StoreError> {
    let payload: Payload<'_> =
        serde_json::from_slice(payload).map_err(|error| StoreError::Internal(error.into()))?;
    if payload.v != LAYOUT {
        return Err(BadValue {
            column: "audit_event.payload",
            value: format!("v{}", payload.v),
        }
        .into());
    }
    Ok(payload.into_entry(seq)?)
}

/// What names a row besides its number. One request may write many rows, so its id alone does not name one; with it in front,
/// the rows of a request are neighbours.
pub(super) fn event_id(request_id: u128, seq: i64) -> Vec<u8> {
    let mut id = request_id.to_be_bytes().to_vec();
    id.extend(seq.to_be_bytes());
    id
}

/// Whether the chain has this very row.
pub(super) fn holds(conn: &mut AnyConnection, row: Head) -> Result<bool, StoreError> {
    audit_event::table
        .find((CHAIN, row.seq))
        .filter(audit_event::hash.eq(row.hash.as_slice()))
        .count()
        .get_result(conn)
        .map(|found: i64| found == 1)
        .map_err(classify)
}

/// Appends the row of an act to the transaction that does it.
pub(super) fn append(tx: &mut Tx<'_>, act: &Act, record: &AuditRecord) -> Result<(), StoreError> {
    let payload = serde_json::to_vec(&Payload::of(act, record, tx.approval()))
        .map_err(|error| StoreError::Internal(error.into()))?;
    let Head {
        seq: last,
        hash: prev,
    } = tx.head();
    let seq = last + 1;
    let sealed = tx.sealer().seal(seq, &prev, &payload);
    diesel::insert_into(audit_event::table)
        .values((
            audit_event::chain.eq(CHAIN),
            audit_event::seq.eq(seq),
            audit_event::event_id.eq(event_id(act.request_id, seq)),
            audit_event::payload.eq(payload),
            audit_event::prev.eq(prev.as_slice()),
            audit_event::hash.eq(sealed.hash.as_slice()),
            audit_event::mac.eq(sealed.mac.as_slice()),
            audit_event::mac_kid.eq(&sealed.kid),
            audit_event::at_us.eq(act.at.micros()),
            audit_event::actor.eq(&act.actor.id),
            audit_event::action.eq(record.action.as_str()),
            audit_event::entity.eq(record.entity.as_str()),
            audit_event::entity_id.eq(record.entity_id),
            audit_event::outcome.eq(record.outcome.as_str()),
            audit_event::code.eq(record.code),
        ))
        .execute(tx.step()?)
        .map_err(classify)?;
    tx.advance(Head {
        seq,
        hash: sealed.hash,
    });
    Ok(())
}

fn matching(filter: &AuditFilter) -> audit_event::BoxedQuery<'_, MultiBackend> {
    let mut query = audit_event::table
        .into_boxed()
        .filter(audit_event::chain.eq(CHAIN));
    if let Some(actor) = &filter.actor {
        query = query.filter(audit_event::actor.eq(actor));
    }
    if let Some(action) = filter.action {
        query = query.filter(audit_event::action.eq(action.as_str()));
    }
    if let Some(entity) = filter.entity {
        query = query.filter(audit_event::entity.eq(entity.as_str()));
    }
    if let Some(id) = filter.entity_id {
        query = query.filter(audit_event::entity_id.eq(id));
    }
    if let Some(outcome) = filter.outcome {
        query = query.filter(audit_event::outcome.eq(outcome.as_str()));
    }
    if let Some(from) = filter.at.from {
        query = query.filter(audit_event::at_us.ge(from.micros()));
    }
    if let Some(until) = filter.at.until {
        query = query.filter(audit_event::at_us.lt(until.micros()));
    }
    query
}

/// The rows that match, newest first, from a place on.
pub(super) fn listed(
    filter: &AuditFilter,
    place: Option<Keyset>,
) -> audit_event::BoxedQuery<'_, MultiBackend> {
    let query = matching(filter);
    match place {
        Some(place) => query.filter(audit_event::seq.lt(place.key)),
        None => query,
    }
    .order(audit_event::seq.desc())
}

/// A page of the rows that match, newest first.
pub(super) fn list(
    conn: &mut AnyConnection,
    filter: &AuditFilter,
    request: PageRequest,
) -> Result<Page<AuditEntry>, StoreError> {
    let rows: Vec<(i64, Vec<u8>)> = listed(filter, request.after())
        .limit(page::rows_wanted(request))
        .select((audit_event::seq, audit_event::payload))
        .load(conn)
        .map_err(classify)?;
    let entries = rows
        .into_iter()
        .map(|(seq, payload)| decode(seq, &payload))
        .collect::<Result<_, _>>()?;
    let place = |entry: &AuditEntry| Keyset {
        key: entry.seq,
        id: entry.seq,
    };
    page::page(request, entries, place, || {
        let counted = matching(filter)
            .select(audit_event::seq)
            .limit(page::COUNTED);
        page::count(conn, counted)
    })
}

/// The number of the last row about a kind of thing, 0 where there is none.
pub(super) fn last_about(conn: &mut AnyConnection, entity: EntityKind) -> Result<i64, StoreError> {
    let last = audit_event::table
        .filter(audit_event::chain.eq(CHAIN))
        .filter(audit_event::entity.eq(entity.as_str()))
        .order(audit_event::seq.desc())
        .select(audit_event::seq)
        .first(conn)
        .optional()
        .map_err(classify)?;
    Ok(last.unwrap_or(0))
}
