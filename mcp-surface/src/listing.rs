//! Lists within the budget: a page is asked for again, shorter, when its rows are too large to send.
//!
//! So `next_cursor` always follows what was sent (field report 3), whatever the store sorts by.

use desk::DeskError;
use futures::future::BoxFuture;

use crate::reply::Room;

/// Bytes of a list's result besides its rows: counts, cursor, first line, markers.
const FRAME_BYTES: usize = 800;

/// A page whose rows fit; `cost` is what a row takes in both channels.
pub(crate) async fn fitted<'a, P, T>(
    budget: usize,
    asked: Option<u16>,
    fetch: impl Fn(Option<u16>) -> BoxFuture<'a, Result<P, DeskError>>,
    rows: impl Fn(&P) -> &[T],
    cost: impl Fn(&T) -> usize,
) -> Result<P, DeskError> {
    let mut limit = asked;
    loop {
        let page = fetch(limit).await?;
        let mut room = Room::new(budget);
        room.spend(FRAME_BYTES);
        let found = rows(&page).len();
        let fits = rows(&page)
            .iter()
            .take_while(|row| room.take(cost(row)))
            .count();
        // One row always fits, see `Settings::RESULT_BYTES_MIN`.
        if fits == found || found == 1 {
            return Ok(page);
        }
        limit = Some(u16::try_from(fits.max(1)).unwrap_or(u16::MAX));
    }
}
