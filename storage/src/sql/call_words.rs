//! The words of calls in the full-text index, and what is made in Rust for calls that were there before it.

use std::time::Duration;

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use domain::terms::index_terms;
use domain::{Speaker, Turn, text};

use super::chain;
use super::connection::{AnyConnection, WriterLock};
use super::errors::classify;
use super::rows::read_turns;
use super::schema::{call_terms, calls, calls_to_index};
use super::writer::Tx;
use crate::StoreError;

/// Calls that are indexed in one transaction: what an interrupted opening has to do again.
const CALLS_AT_ONCE: i64 = 500;

/// What a side said, as the index holds it: each word once, with blanks between.
fn said_by(speaker: Speaker, turns: &[Turn]) -> String {
    let said = turns.iter().filter(|turn| turn.speaker == speaker);
    let texts: Vec<&str> = said.map(|turn| turn.text.as_str()).collect();
    index_terms(&texts.join("\n")).join(" ")
}

fn insert(conn: &mut AnyConnection, id: i64, turns: &[Turn]) -> Result<(), StoreError> {
    diesel::insert_into(call_terms::table)
        .values((
            call_terms::rowid.eq(id),
            call_terms::caller.eq(said_by(Speaker::Caller, turns)),
            call_terms::agent.eq(said_by(Speaker::Agent, turns)),
        ))
        .execute(conn)
        .map(drop)
        .map_err(classify)
}

/// Takes in a new call.
pub(super) fn add(tx: &mut Tx<'_>, id: i64, turns: &[Turn]) -> Result<(), StoreError> {
    insert(tx.step()?, id, turns)
}

/// Makes words and folded names of the calls that wait for them, some at a time, and gives how many there were.
///
/// It is the part of a migration that SQL can't do, so it stands outside of the writer's jobs and leaves no audit row. The
/// head of the audit log is taken first all the same: of two processes that open at once the second finds nothing to do.
pub(super) fn index_waiting(
    conn: &mut AnyConnection,
    lock: &WriterLock,
    busy_timeout: Duration,
) -> Result<usize, StoreError> {
    let mut indexed = 0;
    // Nothing waits in all openings but one, and those don't wait for other processes.
    while something_waits(conn)? {
        let turn = lock
            .take()
            .map_err(|error| StoreError::Unavailable(error.into()))?;
        conn.begin_write(busy_timeout).map_err(classify)?;
        chain::take_head(conn)?;
        let some = waiting(conn)?;
        index(conn, &some)?;
        conn.batch_execute("COMMIT").map_err(classify)?;
        drop(turn);
        indexed += some.len();
    }
    Ok(indexed)
}

fn something_waits(conn: &mut AnyConnection) -> Result<bool, StoreError> {
    conn.begin_read().map_err(classify)?;
    conn.read(|conn| Ok(!waiting(conn)?.is_empty()))
}

fn waiting(conn: &mut AnyConnection) -> Result<Vec<i64>, StoreError> {
    calls_to_index::table
        .order(calls_to_index::call_id)
        .limit(CALLS_AT_ONCE)
        .select(calls_to_index::call_id)
        .load(conn)
        .map_err(classify)
}

fn index(conn: &mut AnyConnection, ids: &[i64]) -> Result<(), StoreError> {
    let rows: Vec<(i64, String, String)> = calls::table
        .filter(calls::id.eq_any(ids))
        .order(calls::id)
        .select((calls::id, calls::agent, calls::turns))
        .load(conn)
        .map_err(classify)?;
    for (id, agent, turns) in rows {
        insert(conn, id, &read_turns(&turns)?)?;
        diesel::update(calls::table.find(id))
            .set(calls::agent_folded.eq(text::fold(&agent)))
            .execute(conn)
            .map_err(classify)?;
    }
    diesel::delete(calls_to_index::table.filter(calls_to_index::call_id.eq_any(ids)))
        .execute(conn)
        .map(drop)
        .map_err(classify)
}
