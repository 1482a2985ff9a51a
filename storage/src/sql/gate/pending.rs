//! Rows of previews.

use diesel::prelude::*;
use domain::{Act, ApprovalId, Arguments, Change, FieldValue, GuardedWrite, Operation};
use serde::{Deserialize, Serialize};
use writegate::{ApprovalLevel, ApprovalMethod, Binding, Token, TokenId};

use super::Shown;
use crate::sql::connection::MultiBackend;
use crate::sql::errors::{BadValue, Broken, classify};
use crate::sql::rows::stored;
use crate::sql::schema::pending_changes as table;
use crate::sql::writer::Tx;
use crate::{LIVE_PREVIEWS, REPLAY_MICROS, Refusal, StoreError};

/// Previews of one actor that were neither spent nor wait any more and that are remembered all the same, so that a late call
/// is told the truth. More are forgotten, so that a flood of previews can't fill the disk (promise G-11).
const DEAD_PREVIEWS: i64 = 200;

/// How long those are remembered after their time, in microseconds.
const DEAD_MICROS: i64 = 3_600 * 1_000_000;

/// Where a preview stands. The words are in the table's CHECK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sql) enum State {
    Pending,
    Approved,
    Spent,
    Refused,
    Declined,
    Expired,
    Revoked,
}

impl State {
    pub(in crate::sql) const ALL: [Self; 7] = [
        Self::Pending,
        Self::Approved,
        Self::Spent,
        Self::Refused,
        Self::Declined,
        Self::Expired,
        Self::Revoked,
    ];

    pub(in crate::sql) const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Approved => "approved",
            Self::Spent => "spent",
            Self::Refused => "refused",
            Self::Declined => "declined",
            Self::Expired => "expired",
            Self::Revoked => "revoked",
        }
    }
}

/// States in which a token may still be spent.
pub(super) const LIVE: [&str; 2] = [State::Pending.as_str(), State::Approved.as_str()];

/// A row, read.
pub(super) struct Row {
    pub(super) number: ApprovalId,
    pub(super) token_id: Vec<u8>,
    pub(super) record: Vec<u8>,
    pub(super) write: GuardedWrite,
    pub(super) shown: Shown,
    pub(super) key: Option<String>,
    pub(super) actor: String,
    pub(super) client: String,
    pub(super) channel: String,
    pub(super) required: ApprovalLevel,
    pub(super) state: State,
    pub(super) closed_as: Option<Refusal>,
    pub(super) method: Option<ApprovalMethod>,
    /// What proves that a person approved it elsewhere.
    pub(super) seal: Option<Token>,
    pub(super) created: i64,
    pub(super) expires: i64,
    pub(super) answer: Option<String>,
    pub(super) keep_until: i64,
}

impl Row {
    /// The row of a new preview; it has no number yet.
    pub(super) fn of(
        token: &Token,
        binding: &Binding,
        write: GuardedWrite,
        shown: Shown,
        key: Option<String>,
    ) -> Self {
        Self {
            number: ApprovalId::new(0),
            token_id: token.id().as_bytes().to_vec(),
            record: binding.encode(),
            write,
            shown,
            key,
            actor: binding.actor.clone(),
            client: binding.client.clone(),
            channel: binding.channel.clone(),
            required: binding.required,
            state: State::Pending,
            closed_as: None,
            method: None,
            seal: None,
            created: binding.issued,
            expires: binding.expires,
            answer: None,
            keep_until: binding.expires.saturating_add(DEAD_MICROS),
        }
    }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = table, check_for_backend(MultiBackend))]
pub(super) struct Stored {
    number: i64,
    token_id: Vec<u8>,
    record: Vec<u8>,
    operation: String,
    entity_id: i64,
    arguments: String,
    shown: String,
    idempotency_key: Option<String>,
    actor: String,
    client: String,
    channel: String,
    required: String,
    state: String,
    closed_as: Option<String>,
    method: Option<String>,
    seal: Option<String>,
    created_at: i64,
    expires_at: i64,
    answer: Option<String>,
    keep_until: i64,
}

impl TryFrom<Stored> for Row {
    type Error = BadValue;

    fn try_from(row: Stored) -> Result<Self, BadValue> {
        let bad = |column, value: &str| BadValue {
            column,
            value: value.to_owned(),
        };
        let operation = stored!(Operation, "pending_changes.operation", row.operation)?;
        let arguments = read_arguments(&row.arguments)
            .map_err(|error| bad("pending_changes.arguments", &error.to_string()))?;
        Ok(Self {
            number: ApprovalId::new(row.number),
            token_id: row.token_id,
            record: row.record,
            write: GuardedWrite::read(operation, row.entity_id, &arguments)
                .map_err(|error| bad("pending_changes.arguments", error.name))?,
            shown: read_shown(&row.shown)
                .map_err(|error| bad("pending_changes.shown", &error.to_string()))?,
            key: row.idempotency_key,
            actor: row.actor,
            client: row.client,
            channel: row.channel,
            required: ApprovalLevel::parse(&row.required)
                .ok_or_else(|| bad("pending_changes.required", &row.required))?,
            state: stored!(State, "pending_changes.state", row.state)?,
            closed_as: row
                .closed_as
                .map(|code| {
                    Refusal::ALL
                        .into_iter()
                        .find(|refusal| refusal.code() == code)
                        .ok_or_else(|| bad("pending_changes.closed_as", &code))
                })
                .transpose()?,
            method: row
                .method
                .map(|word| {
                    ApprovalMethod::parse(&word).ok_or_else(|| bad("pending_changes.method", &word))
                })
                .transpose()?,
            seal: row.seal.and_then(|text| Token::parse(&text).ok()),
            created: row.created_at,
            expires: row.expires_at,
            answer: row.answer,
            keep_until: row.keep_until,
        })
    }
}

/// A value as it is stored; its JSON type is its type.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Json {
    Bool(bool),
    Int(i64),
    Text(String),
}

fn to_json(value: Option<&FieldValue>) -> Option<Json> {
    value.map(|value| match value {
        FieldValue::Text(text) => Json::Text(text.clone()),
        FieldValue::Int(number) => Json::Int(*number),
        FieldValue::Bool(yes) => Json::Bool(*yes),
    })
}

fn from_json(value: Option<Json>) -> Option<FieldValue> {
    value.map(|value| match value {
        Json::Text(text) => FieldValue::Text(text),
        Json::Int(number) => FieldValue::Int(number),
        Json::Bool(yes) => FieldValue::Bool(yes),
    })
}

type StoredShown = (String, Vec<(String, Option<Json>, Option<Json>)>);

fn write_arguments(arguments: &Arguments) -> Result<String, StoreError> {
    let all: Vec<(&str, Option<Json>)> = arguments
        .iter()
        .map(|(name, value)| (name, to_json(value)))
        .collect();
    serde_json::to_string(&all).map_err(|error| StoreError::Internal(error.into()))
}

fn read_arguments(json: &str) -> Result<Arguments, serde_json::Error> {
    let all: Vec<(String, Option<Json>)> = serde_json::from_str(json)?;
    Ok(all
        .into_iter()
        .map(|(name, value)| (name, from_json(value)))
        .collect())
}

fn write_shown(shown: &Shown) -> Result<String, StoreError> {
    let fields = shown.change.fields.iter().map(|field| {
        let (before, after) = (field.before.as_ref(), field.after.as_ref());
        (field.field.to_string(), to_json(before), to_json(after))
    });
    let stored: StoredShown = (shown.stamp.clone(), fields.collect());
    serde_json::to_string(&stored).map_err(|error| StoreError::Internal(error.into()))
}

fn read_shown(json: &str) -> Result<Shown, serde_json::Error> {
    let (stamp, fields): StoredShown = serde_json::from_str(json)?;
    let mut change = Change::default();
    for (field, before, after) in fields {
        change.push_named(field, from_json(before), from_json(after));
    }
    Ok(Shown { change, stamp })
}

/// Keeps a preview and gives its number.
pub(super) fn insert(tx: &mut Tx<'_>, row: &Row) -> Result<i64, StoreError> {
    diesel::insert_into(table::table)
        .values((
            table::token_id.eq(&row.token_id),
            table::record.eq(&row.record),
            table::operation.eq(row.write.operation().as_str()),
            table::entity_id.eq(row.write.entity().1),
            table::arguments.eq(write_arguments(&row.write.arguments())?),
            table::shown.eq(write_shown(&row.shown)?),
            table::idempotency_key.eq(&row.key),
            table::actor.eq(&row.actor),
            table::client.eq(&row.client),
            table::channel.eq(&row.channel),
            table::required.eq(row.required.as_str()),
            table::state.eq(row.state.as_str()),
            table::created_at.eq(row.created),
            table::expires_at.eq(row.expires),
            table::keep_until.eq(row.keep_until),
        ))
        .returning(table::number)
        .get_result(tx.step()?)
        .map_err(classify)
}

/// The row of a token, where there is one. A row that can't be read counts as none: whoever changed it gets nothing by it.
pub(super) fn find(tx: &mut Tx<'_>, token: TokenId) -> Result<Option<Row>, StoreError> {
    let row = table::table
        .filter(table::token_id.eq(token.as_bytes().as_slice()))
        .select(Stored::as_select())
        .first(tx.step()?)
        .optional()
        .map_err(classify)?;
    Ok(row.and_then(|row| match Row::try_from(row) {
        Ok(row) => Some(row),
        Err(error) => {
            tracing::error!(%error, "a stored preview is damaged and will not be applied");
            None
        }
    }))
}

/// Closes a preview that waits: it can never be spent.
pub(super) fn close(
    tx: &mut Tx<'_>,
    act: &Act,
    row: &Row,
    state: State,
    closed_as: Refusal,
) -> Result<(), StoreError> {
    diesel::update(
        table::table
            .find(row.number.number())
            .filter(table::state.eq_any(LIVE)),
    )
    .set((
        table::state.eq(state.as_str()),
        table::closed_as.eq(Some(closed_as.code())),
        table::decided_at.eq(Some(act.at.micros())),
    ))
    .execute(tx.step()?)
    .map(drop)
    .map_err(classify)
}

/// Spends a token: it must still be in the state that was read, and in time. The one place where that happens.
pub(super) fn spend(
    tx: &mut Tx<'_>,
    act: &Act,
    row: &Row,
    method: ApprovalMethod,
    answer: &str,
) -> Result<(), StoreError> {
    let now = tx.now(act).micros();
    let spent = diesel::update(
        table::table
            .find(row.number.number())
            .filter(table::state.eq(row.state.as_str()))
            .filter(table::expires_at.gt(now)),
    )
    .set((
        table::state.eq(State::Spent.as_str()),
        table::method.eq(Some(method.as_str())),
        table::spent_at.eq(Some(now)),
        table::answer.eq(Some(answer)),
        table::keep_until.eq(now.saturating_add(REPLAY_MICROS)),
    ))
    .execute(tx.step()?)
    .map_err(classify)?;
    if spent == 1 {
        return Ok(());
    }
    // The row was read under the lock that every writer takes first.
    let cause = Broken("a preview changed while its writer held the lock");
    Err(StoreError::Internal(cause.into()))
}

/// Makes room: forgets what is past its time, revokes an actor's oldest live previews beyond the limit, and forgets their
/// oldest dead ones beyond theirs.
pub(super) fn sweep(tx: &mut Tx<'_>, act: &Act) -> Result<(), StoreError> {
    let now = tx.now(act).micros();
    diesel::delete(table::table.filter(table::keep_until.le(now)))
        .execute(tx.step()?)
        .map_err(classify)?;
    let of_actor = || table::table.filter(table::actor.eq(&act.actor.id));
    // The newest that has to go, so that one more makes the number of live ones.
    let revoked: Option<i64> = of_actor()
        .filter(table::state.eq_any(LIVE))
        .order(table::number.desc())
        .offset(LIVE_PREVIEWS - 1)
        .select(table::number)
        .first(tx.step()?)
        .optional()
        .map_err(classify)?;
    if let Some(newest) = revoked {
        diesel::update(
            of_actor()
                .filter(table::state.eq_any(LIVE))
                .filter(table::number.le(newest)),
        )
        .set((
            table::state.eq(State::Revoked.as_str()),
            table::decided_at.eq(Some(now)),
        ))
        .execute(tx.step()?)
        .map_err(classify)?;
    }
    let kept = [State::Pending, State::Approved, State::Spent].map(State::as_str);
    let forgotten: Option<i64> = of_actor()
        .filter(table::state.ne_all(kept))
        .order(table::number.desc())
        .offset(DEAD_PREVIEWS - 1)
        .select(table::number)
        .first(tx.step()?)
        .optional()
        .map_err(classify)?;
    if let Some(newest) = forgotten {
        diesel::delete(
            of_actor()
                .filter(table::state.ne_all(kept))
                .filter(table::number.le(newest)),
        )
        .execute(tx.step()?)
        .map_err(classify)?;
    }
    Ok(())
}
