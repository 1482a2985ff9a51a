//! Personal access tokens: hashes, whose they are and how long they last.

use diesel::prelude::*;
use domain::{
    AccessToken, Act, Action, AuditRecord, EntityKind, NewAccessToken, Outcome, Scope, ScopeSet,
    Timestamp,
};

use super::audit;
use super::connection::{AnyConnection, MultiBackend};
use super::errors::{BadValue, classify};
use super::schema::access_tokens;
use super::writer::Tx;
use crate::StoreError;

/// How coarsely the last use is kept: one write in this time, however often a token is used.
const USE_MICROS: i64 = 3_600_000_000;

#[derive(Queryable, Selectable)]
#[diesel(table_name = access_tokens, check_for_backend(MultiBackend))]
struct TokenRow {
    id: i64,
    subject: String,
    label: String,
    scopes: String,
    created_at: i64,
    expires_at: i64,
    revoked_at: Option<i64>,
    last_used_at: Option<i64>,
}

impl TryFrom<TokenRow> for AccessToken {
    type Error = BadValue;

    fn try_from(row: TokenRow) -> Result<Self, BadValue> {
        let known = |word: &str| {
            let scope = Scope::ALL
                .iter()
                .copied()
                .find(|scope| scope.as_str() == word);
            scope.ok_or_else(|| BadValue {
                column: "access_tokens.scopes",
                value: word.to_owned(),
            })
        };
        Ok(Self {
            id: row.id,
            scopes: row
                .scopes
                .split_ascii_whitespace()
                .map(known)
                .collect::<Result<ScopeSet, _>>()?,
            subject: row.subject,
            label: row.label,
            created_at: Timestamp::from_micros(row.created_at),
            expires_at: Timestamp::from_micros(row.expires_at),
            revoked_at: row.revoked_at.map(Timestamp::from_micros),
            last_used_at: row.last_used_at.map(Timestamp::from_micros),
        })
    }
}

/// The token with this hash, or none.
pub(super) fn find(
    conn: &mut AnyConnection,
    digest: &[u8; 32],
) -> Result<Option<AccessToken>, StoreError> {
    let row = access_tokens::table
        .filter(access_tokens::digest.eq(digest.as_slice()))
        .select(TokenRow::as_select())
        .first(conn)
        .optional()
        .map_err(classify)?;
    Ok(row.map(AccessToken::try_from).transpose()?)
}

/// Every token, oldest first. There are as many as people and programs.
pub(super) fn list(conn: &mut AnyConnection) -> Result<Vec<AccessToken>, StoreError> {
    let found = access_tokens::table
        .order(access_tokens::id)
        .select(TokenRow::as_select())
        .load(conn)
        .map_err(classify)?;
    Ok(found
        .into_iter()
        .map(AccessToken::try_from)
        .collect::<Result<_, _>>()?)
}

fn get(conn: &mut AnyConnection, id: i64) -> Result<AccessToken, StoreError> {
    let row = access_tokens::table
        .find(id)
        .select(TokenRow::as_select())
        .first(conn)
        .optional()
        .map_err(classify)?
        .ok_or(StoreError::NotFound {
            entity: EntityKind::AccessToken,
            id,
        })?;
    Ok(AccessToken::try_from(row)?)
}

fn words(scopes: ScopeSet) -> String {
    scopes
        .iter()
        .map(Scope::as_str)
        .collect::<Vec<_>>()
        .join(" ")
}

fn applied(action: Action, token: &AccessToken) -> AuditRecord {
    AuditRecord {
        action,
        entity: EntityKind::AccessToken,
        entity_id: Some(token.id),
        version_before: None,
        version_after: None,
        outcome: Outcome::Applied,
        code: None,
        facts: vec![
            ("subject", token.subject.clone()),
            ("scopes", words(token.scopes)),
            ("expires_at", token.expires_at.to_string()),
        ],
    }
}

/// Stores a token.
pub(super) fn create(
    tx: &mut Tx<'_>,
    act: &Act,
    new: &NewAccessToken,
) -> Result<AccessToken, StoreError> {
    let id = diesel::insert_into(access_tokens::table)
        .values((
            access_tokens::digest.eq(new.digest.as_slice()),
            access_tokens::subject.eq(&new.subject),
            access_tokens::label.eq(&new.label),
            access_tokens::scopes.eq(words(new.scopes)),
            access_tokens::created_at.eq(act.at.micros()),
            access_tokens::expires_at.eq(new.expires_at.micros()),
        ))
        .returning(access_tokens::id)
        .get_result(tx.step()?)
        .map_err(classify)?;
    let token = get(tx.step()?, id)?;
    audit::append(tx, act, &applied(Action::CreateAccessToken, &token))?;
    Ok(token)
}

/// Ends a token. One that was ended before stays as it is.
pub(super) fn revoke(tx: &mut Tx<'_>, act: &Act, id: i64) -> Result<AccessToken, StoreError> {
    let found = get(tx.step()?, id)?;
    if found.revoked_at.is_some() {
        return Ok(found);
    }
    diesel::update(access_tokens::table.find(id))
        .set(access_tokens::revoked_at.eq(act.at.micros()))
        .execute(tx.step()?)
        .map_err(classify)?;
    audit::append(tx, act, &applied(Action::RevokeAccessToken, &found))?;
    get(tx.step()?, id)
}

/// Notes a use, unless one was noted within the hour. The note is a write like any other, so it is on record.
pub(super) fn note_use(tx: &mut Tx<'_>, act: &Act, id: i64) -> Result<(), StoreError> {
    let before = act.at.micros().saturating_sub(USE_MICROS);
    let is_due = access_tokens::last_used_at
        .is_null()
        .or(access_tokens::last_used_at.assume_not_null().le(before));
    let noted = diesel::update(access_tokens::table.find(id).filter(is_due))
        .set(access_tokens::last_used_at.eq(act.at.micros()))
        .execute(tx.step()?)
        .map_err(classify)?;
    if noted > 0 {
        let used = get(tx.step()?, id)?;
        audit::append(tx, act, &applied(Action::UseAccessToken, &used))?;
    }
    Ok(())
}
