//! What every list shares: a page that begins after a place, and a count that stops.

use diesel::prelude::*;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::sql_types::BigInt;
use domain::{Keyset, Page, PageRequest, Total, limits};

use super::connection::AnyConnection;
use super::errors::classify;
use crate::StoreError;

/// How many ids one statement binds: well under the number of values that SQLite takes (32,766).
pub(super) const IDS_AT_ONCE: usize = 1_000;

/// Rows of a page, and one more that says whether there is a next page.
pub(super) fn rows_wanted(page: PageRequest) -> i64 {
    i64::from(page.limit()) + 1
}

/// Rows that are counted: one more than the exact limit says that there are more.
pub(super) const COUNTED: i64 = limits::TOTAL_EXACT as i64 + 1;

/// A page from the rows that were read for it. `count` is only asked where the page does not show the whole list.
pub(super) fn page<T>(
    request: PageRequest,
    mut rows: Vec<T>,
    place: impl Fn(&T) -> Keyset,
    count: impl FnOnce() -> Result<i64, StoreError>,
) -> Result<Page<T>, StoreError> {
    let limit = usize::from(request.limit());
    let more = rows.len() > limit;
    rows.truncate(limit);
    let count = if more || request.after().is_some() {
        count()?
    } else {
        i64::try_from(rows.len()).unwrap_or(i64::MAX)
    };
    Ok(Page {
        total: Total::from_capped(count),
        next: rows.last().filter(|_| more).map(place),
        rows,
    })
}

/// `SELECT count(*)` over another query, which should carry a limit of [`COUNTED`].
#[derive(Clone, Debug)]
struct CountOf<Q>(Q);

impl<Q> QueryId for CountOf<Q> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<Q: Query> Query for CountOf<Q> {
    type SqlType = BigInt;
}

impl<Q, C> RunQueryDsl<C> for CountOf<Q> {}

impl<Q, DB> QueryFragment<DB> for CountOf<Q>
where
    DB: diesel::backend::Backend,
    Q: QueryFragment<DB>,
{
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        out.push_sql("SELECT count(*) FROM (");
        self.0.walk_ast(out.reborrow())?;
        out.push_sql(") AS counted");
        Ok(())
    }
}

/// Counts the rows of a query.
pub(super) fn count<Q>(conn: &mut AnyConnection, query: Q) -> Result<i64, StoreError>
where
    Q: Query + QueryFragment<super::connection::MultiBackend>,
{
    CountOf(query).get_result(conn).map_err(classify)
}

/// Keeps the rows of a query that come after a place, newest or oldest first. The first comparison alone decides where an
/// index is entered; the second settles the rows that have the same key.
macro_rules! after {
    ($query:expr, $place:expr, $key:expr, $id:expr, descending) => {
        match $place {
            Some(place) => $query.filter(
                $key.le(place.key)
                    .and($key.lt(place.key).or($id.lt(place.id))),
            ),
            None => $query,
        }
        .order(($key.desc(), $id.desc()))
    };
    ($query:expr, $place:expr, $key:expr, $id:expr, ascending) => {
        match $place {
            Some(place) => $query.filter(
                $key.ge(place.key)
                    .and($key.gt(place.key).or($id.gt(place.id))),
            ),
            None => $query,
        }
        .order(($key.asc(), $id.asc()))
    };
}
pub(super) use after;
