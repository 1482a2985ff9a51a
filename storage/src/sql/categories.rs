//! The category table.

use diesel::prelude::*;
use domain::{Category, CategoryKind, limits};

use super::connection::AnyConnection;
use super::errors::classify;
use super::rows::CategoryRow;
use super::schema::categories;
use crate::StoreError;

/// A slug that is not in the table, or not for this kind of thing.
pub(super) struct Unknown {
    pub(super) given: String,
    pub(super) allowed: Vec<String>,
}

/// Every category, by slug.
pub(super) fn list(conn: &mut AnyConnection) -> Result<Vec<Category>, StoreError> {
    let rows: Vec<CategoryRow> = categories::table
        .order(categories::slug)
        .select(CategoryRow::as_select())
        .load(conn)
        .map_err(classify)?;
    Ok(rows.into_iter().map(Category::from).collect())
}

/// Refuses a slug that is not among the categories for a kind of thing.
pub(super) fn check(
    known: &[Category],
    slug: &str,
    fits: impl Fn(CategoryKind) -> bool,
) -> Result<(), Unknown> {
    let mut fitting = known.iter().filter(|category| fits(category.kind));
    if fitting.clone().any(|category| category.slug == slug) {
        return Ok(());
    }
    Err(Unknown {
        given: cut(slug),
        allowed: fitting.by_ref().map(|row| row.slug.clone()).collect(),
    })
}

/// As much of a bad value as an error repeats.
pub(super) fn cut(value: &str) -> String {
    value.chars().take(limits::ECHO_CHARS).collect()
}
