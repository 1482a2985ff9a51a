//! One walk over the whole audit log (promises D.6): every row's number, link, tag, payload and columns, then the head, the records that
//! the rows tell of, and the checkpoints. It reads in batches, so its memory does not grow with the log.

use diesel::prelude::*;
use domain::{AuditEntry, EntityKind, Outcome, Version};
use writegate::{Checkpoint, NoteFault, Sealing, Unsealed};

use super::audit;
use super::chain::{CHAIN, Hash, Head, Sealer};
use super::connection::AnyConnection;
use super::errors::{Broken, classify};
use super::schema::{articles, audit_checkpoint, audit_event, audit_head, customers, tickets};
use crate::{AuditFault, AuditFlaw, AuditProof, AuditReport, Kept, StoreError};

/// Rows that are read at a time; a row is about a kilobyte.
const BATCH: i64 = 500;

/// Why a walk ends early.
enum Stop {
    /// Something is wrong.
    Flaw(AuditFlaw),
    /// The store gave no answer.
    Failed(StoreError),
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        Self::Failed(error)
    }
}

fn flaw(seq: i64, fault: AuditFault) -> Stop {
    Stop::Flaw(AuditFlaw { seq, fault })
}

/// Walks the log and compares it with checkpoints from outside. To be called in a snapshot.
pub(super) fn verify(
    conn: &mut AnyConnection,
    sealer: &Sealer,
    outside: &[String],
) -> Result<AuditReport, StoreError> {
    if !outside.is_empty() && sealer.keys.checkpoint_key().is_none() {
        let cause = Broken("the key file has no key that checkpoints can be verified with");
        return Err(StoreError::Unavailable(cause.into()));
    }
    let mut report = AuditReport::default();
    let walked = rows(conn, sealer, &mut report)
        .and_then(|last| head(conn, last))
        .and_then(|()| records(conn, &mut report))
        .and_then(|()| checkpoints(conn, sealer, &mut report))
        .and_then(|()| anchors(conn, sealer, outside, &mut report));
    match walked {
        Ok(()) => Ok(report),
        Err(Stop::Failed(error)) => Err(error),
        Err(Stop::Flaw(flaw)) => {
            report.flaw = Some(flaw);
            Ok(report)
        }
    }
}

/// A row as it is stored.
#[derive(Queryable)]
struct Row {
    seq: i64,
    event_id: Vec<u8>,
    payload: Vec<u8>,
    prev: Option<Vec<u8>>,
    hash: Option<Vec<u8>>,
    mac: Option<Vec<u8>>,
    mac_kid: Option<String>,
    at_us: i64,
    actor: String,
    action: String,
    entity: String,
    entity_id: Option<i64>,
    outcome: String,
    code: Option<String>,
}

fn batch(conn: &mut AnyConnection, after: i64) -> Result<Vec<Row>, StoreError> {
    audit_event::table
        .filter(audit_event::chain.eq(CHAIN))
        .filter(audit_event::seq.gt(after))
        .order(audit_event::seq)
        .limit(BATCH)
        .select((
            audit_event::seq,
            audit_event::event_id,
            audit_event::payload,
            audit_event::prev,
            audit_event::hash,
            audit_event::mac,
            audit_event::mac_kid,
            audit_event::at_us,
            audit_event::actor,
            audit_event::action,
            audit_event::entity,
            audit_event::entity_id,
            audit_event::outcome,
            audit_event::code,
        ))
        .load(conn)
        .map_err(classify)
}

/// Every row, from the first on; gives the end of what is sound.
fn rows(conn: &mut AnyConnection, sealer: &Sealer, report: &mut AuditReport) -> Result<Head, Stop> {
    let mut last = Head::START;
    let mut at_us = i64::MIN;
    loop {
        let batch = batch(conn, last.seq)?;
        if batch.is_empty() {
            return Ok(last);
        }
        for row in batch {
            let (hash, sealing) = check(&row, last, sealer).map_err(|(seq, f)| flaw(seq, f))?;
            match sealing {
                Sealing::Later if report.sealed_later < last.seq => {
                    return Err(flaw(row.seq, AuditFault::SealedLate));
                }
                Sealing::Later => report.sealed_later += 1,
                Sealing::Written => {}
            }
            if row.at_us < at_us {
                report.backwards += 1;
                report.first_backwards.get_or_insert(row.seq);
            }
            at_us = row.at_us;
            last = Head { seq: row.seq, hash };
            report.rows = row.seq;
        }
    }
}

/// One row after the one that ends in `last`: its link, and when it was sealed.
fn check(row: &Row, last: Head, sealer: &Sealer) -> Result<(Hash, Sealing), (i64, AuditFault)> {
    if row.seq != last.seq + 1 {
        return Err((last.seq + 1, AuditFault::Missing));
    }
    let bad = |fault| (row.seq, fault);
    let (Some(prev), Some(hash), Some(mac), Some(kid)) =
        (&row.prev, &row.hash, &row.mac, &row.mac_kid)
    else {
        return Err(bad(AuditFault::NotSealed));
    };
    if *prev != last.hash {
        return Err(bad(AuditFault::Unlinked));
    }
    let link = sealer.link(row.seq, &last.hash, &row.payload);
    if *hash != link {
        return Err(bad(AuditFault::Changed));
    }
    let sealing = sealer
        .keys
        .verify(kid, &link, mac)
        .map_err(|unsealed| match unsealed {
            Unsealed::UnknownKey => bad(AuditFault::UnknownKey),
            Unsealed::Forged => bad(AuditFault::Forged),
        })?;
    let entry =
        audit::decode(row.seq, &row.payload).map_err(|_error| bad(AuditFault::Unreadable))?;
    match differing(row, &entry) {
        Some(column) => Err(bad(AuditFault::Column(column))),
        None => Ok((link, sealing)),
    }
}

/// The first column that says something else than the payload.
fn differing(row: &Row, entry: &AuditEntry) -> Option<&'static str> {
    [
        (
            "event_id",
            row.event_id == audit::event_id(entry.request_id, row.seq),
        ),
        ("at_us", row.at_us == entry.at.micros()),
        ("actor", row.actor == entry.actor.id),
        ("action", row.action == entry.action.as_str()),
        ("entity", row.entity == entry.entity.as_str()),
        ("entity_id", row.entity_id == entry.entity_id),
        ("outcome", row.outcome == entry.outcome.as_str()),
        ("code", row.code == entry.code),
    ]
    .into_iter()
    .find_map(|(column, same)| (!same).then_some(column))
}

/// The head names the last row, and there is no other chain.
fn head(conn: &mut AnyConnection, last: Head) -> Result<(), Stop> {
    let heads: Vec<(i16, i64, Option<Vec<u8>>)> = audit_head::table
        .order(audit_head::chain)
        .select((audit_head::chain, audit_head::seq, audit_head::hash))
        .load(conn)
        .map_err(classify)?;
    let [(CHAIN, seq, hash)] = heads.as_slice() else {
        return Err(flaw(last.seq, AuditFault::Head));
    };
    if *seq > last.seq {
        return Err(flaw(last.seq + 1, AuditFault::Missing));
    }
    let expected = (last.seq > 0).then(|| last.hash.to_vec());
    if *seq != last.seq || *hash != expected {
        return Err(flaw(last.seq, AuditFault::Head));
    }
    let stray: Option<i64> = audit_event::table
        .filter(audit_event::chain.ne(CHAIN))
        .select(audit_event::seq)
        .limit(1)
        .get_result(conn)
        .optional()
        .map_err(classify)?;
    stray.map_or(Ok(()), |seq| Err(flaw(seq, AuditFault::Stray)))
}

/// Gives the ids and versions of a kind of record after an id.
type Versions = fn(&mut AnyConnection, i64) -> QueryResult<Vec<(i64, i64)>>;

macro_rules! versions {
    ($table:ident) => {
        |conn, after| {
            $table::table
                .filter($table::id.gt(after))
                .order($table::id)
                .limit(BATCH)
                .select(($table::id, $table::version))
                .load(conn)
        }
    };
}

/// Every record has the version that its last audit row left it with.
fn records(conn: &mut AnyConnection, report: &mut AuditReport) -> Result<(), Stop> {
    let kinds: [(EntityKind, Versions); 3] = [
        (EntityKind::Customer, versions!(customers)),
        (EntityKind::Ticket, versions!(tickets)),
        (EntityKind::Article, versions!(articles)),
    ];
    for (entity, versions) in kinds {
        let mut after = 0;
        loop {
            let batch = versions(conn, after).map_err(classify)?;
            let Some((last, _)) = batch.last() else {
                break;
            };
            after = *last;
            for (id, stored) in batch {
                let (seq, audited) = last_version(conn, entity, id)?;
                if audited != stored {
                    let fault = AuditFault::Version {
                        entity,
                        id,
                        stored,
                        audited,
                    };
                    return Err(flaw(seq, fault));
                }
                report.records += 1;
            }
        }
    }
    Ok(())
}

/// The last row that left a version of a record, and that version; zeros where there is none.
fn last_version(
    conn: &mut AnyConnection,
    entity: EntityKind,
    id: i64,
) -> Result<(i64, i64), StoreError> {
    let mut before = i64::MAX;
    loop {
        let rows: Vec<(i64, Vec<u8>)> = audit_event::table
            .filter(audit_event::chain.eq(CHAIN))
            .filter(audit_event::entity.eq(entity.as_str()))
            .filter(audit_event::entity_id.eq(id))
            .filter(audit_event::seq.lt(before))
            .filter(audit_event::outcome.eq(Outcome::Applied.as_str()))
            .order(audit_event::seq.desc())
            .limit(8)
            .select((audit_event::seq, audit_event::payload))
            .load(conn)
            .map_err(classify)?;
        let Some((last, _)) = rows.last() else {
            return Ok((0, 0));
        };
        before = *last;
        for (seq, payload) in rows {
            let after = audit::decode(seq, &payload)?.version_after;
            if let Some(version) = after.map(Version::number) {
                return Ok((seq, version));
            }
        }
    }
}

/// The checkpoints in the store: signed, in order, and each about the row that it names.
fn checkpoints(
    conn: &mut AnyConnection,
    sealer: &Sealer,
    report: &mut AuditReport,
) -> Result<(), Stop> {
    if sealer.keys.checkpoint_key().is_none() {
        return Ok(());
    }
    let mut after = 0;
    let mut previous = None;
    loop {
        let batch: Vec<(i64, String)> = audit_checkpoint::table
            .filter(audit_checkpoint::chain.eq(CHAIN))
            .filter(audit_checkpoint::seq.gt(after))
            .order(audit_checkpoint::seq)
            .limit(BATCH)
            .select((audit_checkpoint::seq, audit_checkpoint::note))
            .load(conn)
            .map_err(classify)?;
        if batch.is_empty() {
            return Ok(());
        }
        for (seq, note) in batch {
            let checkpoint = opened(conn, sealer, &note, seq, Kept::Inside)?;
            if checkpoint.seq != seq || checkpoint.previous != previous {
                return Err(flaw(seq, AuditFault::CheckpointGap(Kept::Inside)));
            }
            previous = Some(Checkpoint::digest(&note));
            after = seq;
            report.checkpoints += 1;
        }
    }
}

/// The checkpoints from outside: signed, of this log, and each about the row that it names.
fn anchors(
    conn: &mut AnyConnection,
    sealer: &Sealer,
    outside: &[String],
    report: &mut AuditReport,
) -> Result<(), Stop> {
    for note in outside {
        let checkpoint = opened(conn, sealer, note, report.rows, Kept::Outside)?;
        report.outside += 1;
        report.anchored = report.anchored.max(checkpoint.seq);
    }
    Ok(())
}

/// The checkpoint in a note that holds for this log. `about` is the row that a bad note is reported at.
fn opened(
    conn: &mut AnyConnection,
    sealer: &Sealer,
    note: &str,
    about: i64,
    kept: Kept,
) -> Result<Checkpoint, Stop> {
    let key = sealer.keys.checkpoint_key();
    let checkpoint = key
        .map_or(Err(NoteFault::Unsigned), |key| key.open(note))
        .map_err(|_fault| flaw(about, AuditFault::CheckpointForged(kept)))?;
    if checkpoint.origin != Checkpoint::origin(&sealer.deployment, CHAIN) {
        return Err(flaw(about, AuditFault::CheckpointForeign(kept)));
    }
    let row: Option<Option<Vec<u8>>> = audit_event::table
        .find((CHAIN, checkpoint.seq))
        .select(audit_event::hash)
        .get_result(conn)
        .optional()
        .map_err(classify)?;
    match row {
        None => Err(flaw(checkpoint.seq, AuditFault::Truncated(kept))),
        Some(hash) if hash.as_deref() != Some(checkpoint.hash.as_slice()) => {
            Err(flaw(checkpoint.seq, AuditFault::Rewritten(kept)))
        }
        Some(_same) => Ok(checkpoint),
    }
}

/// Rows after a number with what proves them, in order.
pub(super) fn proofs(
    conn: &mut AnyConnection,
    after: i64,
    limit: u16,
) -> Result<Vec<AuditProof>, StoreError> {
    let rows = audit_event::table
        .filter(audit_event::chain.eq(CHAIN))
        .filter(audit_event::seq.gt(after))
        .order(audit_event::seq)
        .limit(limit.into())
        .select((
            audit_event::seq,
            audit_event::payload,
            audit_event::prev,
            audit_event::hash,
            audit_event::mac,
            audit_event::mac_kid,
        ))
        .load::<ProofRow>(conn)
        .map_err(classify)?;
    Ok(rows
        .into_iter()
        .map(|(seq, payload, prev, hash, mac, mac_kid)| AuditProof {
            seq,
            payload,
            prev: prev.unwrap_or_default(),
            hash: hash.unwrap_or_default(),
            mac: mac.unwrap_or_default(),
            mac_kid: mac_kid.unwrap_or_default(),
        })
        .collect())
}

type ProofRow = (
    i64,
    Vec<u8>,
    Option<Vec<u8>>,
    Option<Vec<u8>>,
    Option<Vec<u8>>,
    Option<String>,
);
