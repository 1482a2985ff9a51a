//! Checkpoints: signed notes of where the log stands (promises D.5). They prove something only outside the store.

use diesel::prelude::*;
use domain::Timestamp;
use writegate::Checkpoint;

use super::chain::CHAIN;
use super::errors::classify;
use super::schema::audit_checkpoint;
use super::writer::Tx;
use crate::{AuditNote, StoreError};

/// Signs where the log stands, and keeps the note; gives the last note where the log has not moved since, and nothing where there is
/// no row yet or no key to sign with.
pub(super) fn take(tx: &mut Tx<'_>, at: Timestamp) -> Result<Option<AuditNote>, StoreError> {
    let sealer = tx.sealer();
    let head = tx.head();
    let Some(key) = sealer.keys.checkpoint_key().filter(|_key| head.seq > 0) else {
        return Ok(None);
    };
    let last: Option<(i64, String)> = audit_checkpoint::table
        .filter(audit_checkpoint::chain.eq(CHAIN))
        .order(audit_checkpoint::seq.desc())
        .select((audit_checkpoint::seq, audit_checkpoint::note))
        .limit(1)
        .get_result(tx.step()?)
        .optional()
        .map_err(classify)?;
    let previous = match last {
        Some((seq, note)) if seq >= head.seq => {
            return Ok(Some(AuditNote {
                seq,
                note,
                is_new: false,
            }));
        }
        last => last.map(|(_, note)| Checkpoint::digest(&note)),
    };
    let note = key.sign(&Checkpoint {
        origin: Checkpoint::origin(&sealer.deployment, CHAIN),
        seq: head.seq,
        hash: head.hash,
        at_us: at.micros(),
        previous,
    });
    diesel::insert_into(audit_checkpoint::table)
        .values((
            audit_checkpoint::chain.eq(CHAIN),
            audit_checkpoint::seq.eq(head.seq),
            audit_checkpoint::at_us.eq(at.micros()),
            audit_checkpoint::note.eq(&note),
        ))
        .execute(tx.step()?)
        .map_err(classify)?;
    tx.note();
    Ok(Some(AuditNote {
        seq: head.seq,
        note,
        is_new: true,
    }))
}
