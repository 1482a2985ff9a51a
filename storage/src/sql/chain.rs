//! The chain over the audit log: its head, what seals a row, and the one time that the rows of older builds are sealed.

use std::sync::Arc;
use std::time::Duration;

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use writegate::{Link, LogKeys, SEAL_BYTES, Sealing, Unsealed};

use super::connection::AnyConnection;
use super::errors::{BadValue, Broken, classify};
use super::schema::{audit_event, audit_head};
use crate::StoreError;

/// The chain of mutations, refusals, approvals and administrative acts; reads will have one of their own (promises D.3).
pub(super) const CHAIN: i16 = 1;

/// Rows that are sealed at a time when an older log is; a row is about a kilobyte.
const BATCH: i64 = 1_000;

/// A link.
pub(super) type Hash = [u8; SEAL_BYTES];

/// Where a chain ends: the number and the link of its last row; 0 and zeros where there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) seq: i64,
    pub(super) hash: Hash,
}

impl Head {
    /// Before the first row.
    pub(super) const START: Self = Self {
        seq: 0,
        hash: [0; SEAL_BYTES],
    };
}

/// What a row carries beside its payload.
pub(super) struct Sealed {
    pub(super) hash: Hash,
    pub(super) mac: Hash,
    pub(super) kid: String,
}

/// Seals the rows of one store. There is no writer without one.
#[derive(Clone, Debug)]
pub(super) struct Sealer {
    pub(super) keys: LogKeys,
    pub(super) deployment: Arc<str>,
}

impl Sealer {
    /// The link and the tag of a row that is written now.
    pub(super) fn seal(&self, seq: i64, prev: &Hash, payload: &[u8]) -> Sealed {
        self.seal_as(Sealing::Written, seq, prev, payload)
    }

    fn seal_as(&self, sealing: Sealing, seq: i64, prev: &Hash, payload: &[u8]) -> Sealed {
        let hash = self.link(seq, prev, payload);
        Sealed {
            hash,
            mac: self.keys.seal(&hash, sealing),
            kid: self.keys.current_kid().as_str().to_owned(),
        }
    }

    /// The link of a row.
    pub(super) fn link(&self, seq: i64, prev: &Hash, payload: &[u8]) -> Hash {
        Link {
            deployment: &self.deployment,
            chain: CHAIN,
            seq,
            prev,
            payload,
        }
        .hash()
    }
}

/// Locks the chain for this transaction and gives its end.
pub(super) fn take_head(conn: &mut AnyConnection) -> Result<Head, StoreError> {
    let head = diesel::update(audit_head::table.find(CHAIN))
        .set(audit_head::seq.eq(audit_head::seq))
        .returning((audit_head::seq, audit_head::hash))
        .get_result(conn)
        .map_err(classify)?;
    parse(head)
}

/// The end of the chain, without a lock.
pub(super) fn read_head(conn: &mut AnyConnection) -> Result<Head, StoreError> {
    let head = audit_head::table
        .find(CHAIN)
        .select((audit_head::seq, audit_head::hash))
        .get_result(conn)
        .map_err(classify)?;
    parse(head)
}

fn parse((seq, hash): (i64, Option<Vec<u8>>)) -> Result<Head, StoreError> {
    let hash = match hash {
        None if seq == 0 => Head::START.hash,
        hash => hash
            .and_then(|hash| Hash::try_from(hash).ok())
            .ok_or_else(|| BadValue {
                column: "audit_head.hash",
                value: "no link".to_owned(),
            })?,
    };
    Ok(Head { seq, hash })
}

/// Writes the end of the chain.
pub(super) fn write_head(conn: &mut AnyConnection, head: Head) -> Result<(), StoreError> {
    diesel::update(audit_head::table.find(CHAIN))
        .set((
            audit_head::seq.eq(head.seq),
            audit_head::hash.eq(head.hash.as_slice()),
        ))
        .execute(conn)
        .map(drop)
        .map_err(classify)
}

/// Whether there are rows and nothing of them is sealed: the log is of a build from before the chain.
pub(super) fn is_unsealed(conn: &mut AnyConnection) -> Result<bool, StoreError> {
    let (seq, hash): (i64, Option<Vec<u8>>) = audit_head::table
        .find(CHAIN)
        .select((audit_head::seq, audit_head::hash))
        .get_result(conn)
        .map_err(classify)?;
    Ok(seq > 0 && hash.is_none())
}

/// The id of the key that sealed the last row, where this sealer does not have it: somebody wrote with another key file.
pub(super) fn unknown_key(
    conn: &mut AnyConnection,
    sealer: &Sealer,
) -> Result<Option<String>, StoreError> {
    let head = read_head(conn)?;
    let last = audit_event::table
        .find((CHAIN, head.seq))
        .select((audit_event::mac_kid, audit_event::mac))
        .get_result::<(Option<String>, Option<Vec<u8>>)>(conn)
        .optional()
        .map_err(classify)?;
    let Some((Some(kid), Some(mac))) = last else {
        return Ok(None);
    };
    let unknown = sealer.keys.verify(&kid, &head.hash, &mac) == Err(Unsealed::UnknownKey);
    Ok(unknown.then_some(kid))
}

/// Seals the log of an older build, in one transaction, and gives how many rows that were.
///
/// Their tags say that they were sealed later, so this can't make a log that somebody changed and stripped of its seals look as if it
/// had been sealed all along; and a log of which any row is sealed is not touched.
pub(super) fn seal_older_log(
    conn: &mut AnyConnection,
    sealer: &Sealer,
    busy_timeout: Duration,
) -> Result<i64, StoreError> {
    conn.begin_write(busy_timeout).map_err(classify)?;
    let done = seal_all(conn, sealer);
    let end = if done.is_ok() { "COMMIT" } else { "ROLLBACK" };
    let ended = conn.batch_execute(end).map_err(classify);
    let rows = done?;
    ended?;
    Ok(rows)
}

fn seal_all(conn: &mut AnyConnection, sealer: &Sealer) -> Result<i64, StoreError> {
    // The lock of the chain, as for every write; another process may have sealed it meanwhile.
    diesel::update(audit_head::table.find(CHAIN))
        .set(audit_head::seq.eq(audit_head::seq))
        .execute(conn)
        .map_err(classify)?;
    if !is_unsealed(conn)? {
        return Ok(0);
    }
    let mut head = Head::START;
    loop {
        let rows: Vec<(i64, Vec<u8>, Option<Vec<u8>>)> = audit_event::table
            .filter(audit_event::chain.eq(CHAIN))
            .filter(audit_event::seq.gt(head.seq))
            .order(audit_event::seq)
            .limit(BATCH)
            .select((audit_event::seq, audit_event::payload, audit_event::hash))
            .load(conn)
            .map_err(classify)?;
        if rows.is_empty() {
            break;
        }
        for (seq, payload, hash) in rows {
            if hash.is_some() || seq != head.seq + 1 {
                let broken =
                    Broken("the audit log is sealed in part; `audit verify` on a copy says more");
                return Err(StoreError::Internal(broken.into()));
            }
            let row = sealer.seal_as(Sealing::Later, seq, &head.hash, &payload);
            diesel::update(audit_event::table.find((CHAIN, seq)))
                .set((
                    audit_event::prev.eq(head.hash.as_slice()),
                    audit_event::hash.eq(row.hash.as_slice()),
                    audit_event::mac.eq(row.mac.as_slice()),
                    audit_event::mac_kid.eq(&row.kid),
                ))
                .execute(conn)
                .map_err(classify)?;
            head = Head {
                seq,
                hash: row.hash,
            };
        }
    }
    write_head(conn, head)?;
    Ok(head.seq)
}
