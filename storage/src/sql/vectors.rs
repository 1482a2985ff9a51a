//! Vectors of articles and calls: derived rows, which are replaced and never looked into.

use diesel::prelude::*;

use super::SqlStorage;
use super::connection::AnyConnection;
use super::errors::classify;
use super::schema::{article_vectors, articles, call_vectors, calls};
use super::writer::Tx;
use crate::{Lacking, Record, RecordVectors, StoreError, StoreFuture, Vectors};

/// The version of every call, since calls never change.
const CALL_VERSION: i64 = 1;

impl Vectors for SqlStorage {
    fn list_vectors(
        &self,
        of: Record,
        model: String,
        after: i64,
        limit: u16,
    ) -> StoreFuture<'_, Vec<RecordVectors>> {
        self.read(move |conn| list(conn, of, &model, after, limit))
    }

    fn list_lacking_vectors(
        &self,
        of: Record,
        model: String,
        limit: u16,
    ) -> StoreFuture<'_, Lacking> {
        self.read(move |conn| conn.snapshot(|conn| lacking(conn, of, &model, limit)))
    }

    fn keep_vectors(
        &self,
        of: Record,
        model: String,
        vectors: Vec<RecordVectors>,
    ) -> StoreFuture<'_, usize> {
        self.write(move |tx| {
            let mut kept = 0;
            for one in &vectors {
                kept += usize::from(keep(tx, of, &model, one)?);
            }
            if kept > 0 {
                tx.note();
            }
            Ok(kept)
        })
    }
}

fn list(
    conn: &mut AnyConnection,
    of: Record,
    model: &str,
    after: i64,
    limit: u16,
) -> Result<Vec<RecordVectors>, StoreError> {
    let limit = i64::from(limit);
    let rows: Vec<(i64, i64, Vec<u8>)> = match of {
        Record::Article => article_vectors::table
            .inner_join(articles::table)
            .filter(article_vectors::model.eq(model))
            .filter(article_vectors::version.eq(articles::version))
            .filter(article_vectors::article_id.gt(after))
            .order(article_vectors::article_id)
            .limit(limit)
            .select((
                article_vectors::article_id,
                article_vectors::version,
                article_vectors::windows,
            ))
            .load(conn),
        Record::Call => call_vectors::table
            .filter(call_vectors::model.eq(model))
            .filter(call_vectors::call_id.gt(after))
            .order(call_vectors::call_id)
            .limit(limit)
            .select((call_vectors::call_id, call_vectors::windows))
            .load(conn)
            .map(|rows: Vec<(i64, Vec<u8>)>| {
                let rows = rows.into_iter();
                rows.map(|(call, windows)| (call, CALL_VERSION, windows))
                    .collect()
            }),
    }
    .map_err(classify)?;
    let vectors = rows
        .into_iter()
        .map(|(record, version, windows)| RecordVectors {
            record,
            version,
            windows,
        });
    Ok(vectors.collect())
}

/// The records of a table for which no row of its vectors is current. A macro, since the type of the query names both tables.
macro_rules! without_current {
    ($records:ident, $current:expr) => {
        $records::table.filter(diesel::dsl::not(diesel::dsl::exists($current)))
    };
}

fn lacking(
    conn: &mut AnyConnection,
    of: Record,
    model: &str,
    limit: u16,
) -> Result<Lacking, StoreError> {
    let limit = i64::from(limit);
    let (total, records) = match of {
        Record::Article => {
            let lacking = || {
                without_current!(
                    articles,
                    article_vectors::table
                        .filter(article_vectors::article_id.eq(articles::id))
                        .filter(article_vectors::version.eq(articles::version))
                        .filter(article_vectors::model.eq(model))
                )
            };
            let total = lacking().count().get_result(conn).map_err(classify)?;
            let records = lacking()
                .order(articles::id)
                .limit(limit)
                .select((articles::id, articles::version))
                .load(conn)
                .map_err(classify)?;
            (total, records)
        }
        Record::Call => {
            let lacking = || {
                without_current!(
                    calls,
                    call_vectors::table
                        .filter(call_vectors::call_id.eq(calls::id))
                        .filter(call_vectors::model.eq(model))
                )
            };
            let total = lacking().count().get_result(conn).map_err(classify)?;
            let ids: Vec<i64> = lacking()
                .order(calls::id)
                .limit(limit)
                .select(calls::id)
                .load(conn)
                .map_err(classify)?;
            let records = ids.into_iter().map(|id| (id, CALL_VERSION)).collect();
            (total, records)
        }
    };
    Ok(Lacking { records, total })
}

/// Keeps the vectors of one record, unless it is gone or has moved on. No other writer is in between: the head is taken.
fn keep(
    tx: &mut Tx<'_>,
    of: Record,
    model: &str,
    vectors: &RecordVectors,
) -> Result<bool, StoreError> {
    let version: Option<i64> = match of {
        Record::Article => articles::table
            .find(vectors.record)
            .select(articles::version)
            .get_result(tx.step()?)
            .optional(),
        Record::Call => calls::table
            .find(vectors.record)
            .select(calls::id)
            .get_result::<i64>(tx.step()?)
            .optional()
            .map(|found| found.map(|_id| CALL_VERSION)),
    }
    .map_err(classify)?;
    if version != Some(vectors.version) {
        return Ok(false);
    }
    match of {
        Record::Article => {
            diesel::delete(article_vectors::table.find(vectors.record))
                .execute(tx.step()?)
                .map_err(classify)?;
            diesel::insert_into(article_vectors::table)
                .values((
                    article_vectors::article_id.eq(vectors.record),
                    article_vectors::version.eq(vectors.version),
                    article_vectors::model.eq(model),
                    article_vectors::windows.eq(&vectors.windows),
                ))
                .execute(tx.step()?)
        }
        Record::Call => {
            diesel::delete(call_vectors::table.find(vectors.record))
                .execute(tx.step()?)
                .map_err(classify)?;
            diesel::insert_into(call_vectors::table)
                .values((
                    call_vectors::call_id.eq(vectors.record),
                    call_vectors::model.eq(model),
                    call_vectors::windows.eq(&vectors.windows),
                ))
                .execute(tx.step()?)
        }
    }
    .map(|_rows| true)
    .map_err(classify)
}
