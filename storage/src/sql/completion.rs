//! What a person may be about to type.

use diesel::prelude::*;
use domain::EntityKind;

use super::connection::AnyConnection;
use super::errors::classify;
use super::schema::{articles, calls, csat_responses, customers, teams, tickets};
use crate::StoreError;

/// Names of teams that begin with a folded prefix.
pub(super) fn team(
    conn: &mut AnyConnection,
    prefix: &str,
    limit: u16,
) -> Result<Vec<String>, StoreError> {
    // No character sorts after this one, so the range holds whatever begins with the prefix.
    let end = format!("{prefix}{}", char::MAX);
    teams::table
        .filter(teams::folded.ge(prefix))
        .filter(teams::folded.le(end))
        .order(teams::folded)
        .limit(i64::from(limit))
        .select(teams::shown)
        .load(conn)
        .map_err(classify)
}

/// Ranges of numbers that begin with these digits, highest first: for `12` those with two digits, with three, and so on.
fn ranges(digits: &str) -> Vec<(i64, i64)> {
    let Ok(number) = digits.parse::<i64>() else {
        return if digits.is_empty() {
            vec![(1, i64::MAX)]
        } else {
            Vec::new()
        };
    };
    if number < 1 || !digits.starts_with(|c: char| ('1'..='9').contains(&c)) {
        return Vec::new();
    }
    let mut found: Vec<(i64, i64)> = (0..19)
        .map_while(|zeros| {
            let width = 10_i64.checked_pow(zeros)?;
            let first = number.checked_mul(width)?;
            Some((first, first.saturating_add(width - 1)))
        })
        .collect();
    found.reverse();
    found
}

macro_rules! ids_between {
    ($table:ident, $conn:expr, $from:expr, $to:expr, $limit:expr) => {
        $table::table
            .filter($table::id.between($from, $to))
            .order($table::id.desc())
            .limit($limit)
            .select($table::id)
            .load::<i64>($conn)
    };
}

/// Numbers of a kind of thing that begin with these digits, highest first.
pub(super) fn id(
    conn: &mut AnyConnection,
    entity: EntityKind,
    digits: &str,
    limit: u16,
) -> Result<Vec<i64>, StoreError> {
    let most = usize::from(limit);
    let mut found: Vec<i64> = Vec::new();
    for (from, to) in ranges(digits) {
        let rest = i64::try_from(most - found.len()).unwrap_or(0);
        if rest == 0 {
            break;
        }
        let more = match entity {
            EntityKind::Customer => ids_between!(customers, conn, from, to, rest),
            EntityKind::Ticket => ids_between!(tickets, conn, from, to, rest),
            EntityKind::Article => ids_between!(articles, conn, from, to, rest),
            EntityKind::Call => ids_between!(calls, conn, from, to, rest),
            EntityKind::Csat => ids_between!(csat_responses, conn, from, to, rest),
            EntityKind::AccessToken | EntityKind::Store => Ok(Vec::new()),
        };
        found.extend(more.map_err(classify)?);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    //! Which numbers begin with given digits.

    use super::*;

    #[test]
    fn the_ranges_hold_the_numbers_that_begin_with_the_digits() {
        for digits in ["1", "12", "9", "100", "922"] {
            let ranges = ranges(digits);
            assert!(ranges.is_sorted_by(|a, b| a.0 > b.1), "{ranges:?}");
            for number in (1..5_000).chain([i64::MAX, i64::MAX - 1]) {
                assert_eq!(
                    ranges
                        .iter()
                        .any(|(from, to)| (*from..=*to).contains(&number)),
                    number.to_string().starts_with(digits),
                    "{digits} {number}"
                );
            }
        }
        assert_eq!(ranges(""), [(1, i64::MAX)]);
        for nothing in ["0", "007", "x", "-1", "+1", "99999999999999999999"] {
            assert!(ranges(nothing).is_empty(), "{nothing}");
        }
    }
}
