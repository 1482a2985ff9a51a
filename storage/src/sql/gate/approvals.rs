//! What a person decides elsewhere: at a terminal, or on the approval page.

use diesel::prelude::*;
use domain::{Act, Action, ApprovalId, AuditRecord, Outcome, Timestamp};
use writegate::{ApprovalLevel, ApprovalMethod, Gate, TokenId};

use super::audited;
use super::pending::{Row, State, Stored};
use crate::sql::audit;
use crate::sql::connection::AnyConnection;
use crate::sql::errors::{Broken, classify};
use crate::sql::rows;
use crate::sql::schema::pending_changes as table;
use crate::sql::writer::Tx;
use crate::{Approval, Decided, Refusal, StoreError, Verdict};

/// More than anybody reads through; live previews are bounded by actor.
const LISTED: i64 = 1_000;

impl From<Row> for Approval {
    fn from(row: Row) -> Self {
        Self {
            id: row.number,
            operation: row.write.operation(),
            entity: row.write.entity(),
            change: row.shown.change,
            actor: row.actor,
            client: row.client,
            channel: row.channel,
            created: Timestamp::from_micros(row.created),
            expires: Timestamp::from_micros(row.expires),
        }
    }
}

/// Changes that wait for a person, oldest first.
pub(in crate::sql) fn list(
    conn: &mut AnyConnection,
    at: Timestamp,
) -> Result<Vec<Approval>, StoreError> {
    let found: Vec<Stored> = table::table
        .filter(table::state.eq(State::Pending.as_str()))
        .filter(table::required.eq(ApprovalLevel::Person.as_str()))
        .filter(table::expires_at.gt(at.micros()))
        .order(table::number)
        .limit(LISTED)
        .select(Stored::as_select())
        .load(conn)
        .map_err(classify)?;
    let found: Vec<Row> = rows::all(found)?;
    Ok(found.into_iter().map(Approval::from).collect())
}

/// The seal that makes an approval of this row count.
fn sealed(gate: &dyn Gate, row: &Row, method: ApprovalMethod) -> Result<String, StoreError> {
    let id = TokenId::from_stored(&row.token_id).ok_or_else(|| {
        let cause = Broken("a preview has an id of another length than tokens have");
        StoreError::Internal(cause.into())
    })?;
    let seal = gate.seal_approval(id, &row.record, method);
    Ok(seal.text())
}

/// Notes a decision. It can be made once, in time, and about what waits for it.
pub(in crate::sql) fn decide(
    tx: &mut Tx<'_>,
    act: &Act,
    id: ApprovalId,
    verdict: Verdict,
    method: ApprovalMethod,
    gate: &dyn Gate,
) -> Result<Decided, StoreError> {
    let (state, closed_as, action) = match verdict {
        Verdict::Approve => (State::Approved, None, Action::ApproveChange),
        Verdict::Decline => (
            State::Declined,
            Some(Refusal::Declined),
            Action::DeclineChange,
        ),
    };
    let waiting: Option<Stored> = table::table
        .find(id.number())
        .filter(table::state.eq(State::Pending.as_str()))
        .filter(table::required.eq(ApprovalLevel::Person.as_str()))
        .filter(table::expires_at.gt(tx.now(act).micros()))
        .select(Stored::as_select())
        .first(tx.step()?)
        .optional()
        .map_err(classify)?;
    let Some(waiting) = waiting else {
        return Ok(Decided::NotWaiting);
    };
    let row = Row::try_from(waiting)?;
    let seal = match verdict {
        Verdict::Approve => Some(sealed(gate, &row, method)?),
        Verdict::Decline => None,
    };
    diesel::update(table::table.find(id.number()))
        .set((
            table::state.eq(state.as_str()),
            table::closed_as.eq(closed_as.map(Refusal::code)),
            table::method.eq(Some(method.as_str())),
            table::seal.eq(seal),
            table::approver.eq(Some(&act.actor.id)),
            table::decided_at.eq(Some(act.at.micros())),
        ))
        .execute(tx.step()?)
        .map_err(classify)?;
    let approval = Approval::from(row);
    let (entity, entity_id) = approval.entity;
    let record = AuditRecord {
        action,
        entity,
        entity_id: audited(entity_id),
        version_before: None,
        version_after: None,
        outcome: Outcome::Applied,
        code: None,
        facts: vec![
            ("approval", id.to_string()),
            ("confirmation_method", method.as_str().to_owned()),
            ("operation", approval.operation.to_string()),
        ],
    };
    audit::append(tx, act, &record)?;
    Ok(Decided::Done(Box::new(approval)))
}
