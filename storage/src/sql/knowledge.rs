//! Articles: reading.

use diesel::prelude::*;
use domain::{Article, ArticleId, EntityKind};

use super::connection::{AnyConnection, MultiBackend};
use super::errors::classify;
use super::rows::{ArticleRow, BlockRow};
use super::schema::{article_blocks, articles};
use crate::StoreError;

/// One article with its version, or none.
pub(super) fn find_article(
    conn: &mut AnyConnection,
    id: ArticleId,
) -> Result<Option<(Article, i64)>, StoreError> {
    let row = articles::table
        .find(id.number())
        .select(ArticleRow::as_select())
        .get_result(conn)
        .optional()
        .map_err(classify)?;
    let Some(row) = row else {
        return Ok(None);
    };
    let blocks = article_blocks::table
        .filter(article_blocks::article_id.eq(id.number()))
        .order(article_blocks::position)
        .select(BlockRow::as_select())
        .load(conn)
        .map_err(classify)?;
    let version = row.version;
    Ok(Some((row.with_blocks(blocks)?, version)))
}

/// One article.
pub(super) fn get_article(conn: &mut AnyConnection, id: ArticleId) -> Result<Article, StoreError> {
    find_article(conn, id)?
        .map(|(article, _version)| article)
        .ok_or(StoreError::NotFound {
            entity: EntityKind::Article,
            id: id.number(),
        })
}

/// Every article, or those of a category, by id.
pub(super) fn list_articles(
    conn: &mut AnyConnection,
    category: Option<&str>,
) -> Result<Vec<Article>, StoreError> {
    let mut query = articles::table.into_boxed::<MultiBackend>();
    if let Some(category) = category {
        query = query.filter(articles::category.eq(category));
    }
    let rows = query
        .order(articles::id)
        .select(ArticleRow::as_select())
        .load(conn)
        .map_err(classify)?;
    let mut blocks = article_blocks::table
        .order((article_blocks::article_id, article_blocks::position))
        .select(BlockRow::as_select())
        .load(conn)
        .map_err(classify)?
        .into_iter()
        .peekable();
    let mut found = Vec::with_capacity(rows.len());
    for row in rows {
        let mut own = Vec::new();
        while let Some(block) = blocks.next_if(|block| block.article_id <= row.id) {
            if block.article_id == row.id {
                own.push(block);
            }
        }
        found.push(row.with_blocks(own)?);
    }
    Ok(found)
}
