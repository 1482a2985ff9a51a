//! Articles: the one thing that an import changes, since their text is kept elsewhere.

use diesel::prelude::*;
use domain::{Act, Article, ArticleId, Category, EntityKind, Version};

use super::{NotTaken, Taken, check_category, note};
use crate::StoreError;
use crate::sql::errors::classify;
use crate::sql::knowledge::find_article;
use crate::sql::schema::{article_blocks, articles};
use crate::sql::writer::Tx;

/// Whether an article says the same; when it was last changed is not what it says.
fn same_content(stored: &Article, given: &Article) -> bool {
    let said = |article: &Article| Article {
        updated_at: given.updated_at,
        ..article.clone()
    };
    said(stored) == said(given)
}

pub(super) fn take_article(
    tx: &mut Tx<'_>,
    act: &Act,
    categories: &[Category],
    article: &Article,
) -> Result<Taken, NotTaken> {
    check_category(categories, &article.category, |kind| kind.articles)?;
    let stored = find_article(tx.step()?, article.id)?;
    let (taken, before, after) = match stored {
        Some((stored, _version)) if same_content(&stored, article) => {
            return Ok(Taken::Existing);
        }
        Some((_stored, version)) => {
            let before = Version::new(version);
            replace_article(tx, article, before)?;
            (Taken::Updated, Some(before), before.next())
        }
        None => {
            insert_article(tx, article)?;
            (Taken::Created, None, Version::FIRST)
        }
    };
    insert_blocks(tx, article)?;
    note(
        tx,
        act,
        EntityKind::Article,
        article.id.number(),
        before,
        after,
    )?;
    Ok(taken)
}

fn insert_article(tx: &mut Tx<'_>, article: &Article) -> Result<(), StoreError> {
    diesel::insert_into(articles::table)
        .values((
            articles::id.eq(article.id.number()),
            articles::slug.eq(&article.slug),
            articles::title.eq(&article.title),
            articles::category.eq(&article.category),
            articles::audience.eq(article.audience.as_str()),
            articles::updated_at.eq(article.updated_at.micros()),
            articles::version.eq(Version::FIRST.number()),
        ))
        .execute(tx.step()?)
        .map(drop)
        .map_err(classify)
}

/// Changes an article that was read in this transaction and takes its blocks away.
fn replace_article(
    tx: &mut Tx<'_>,
    article: &Article,
    expected: Version,
) -> Result<(), StoreError> {
    let of_version = articles::table
        .find(article.id.number())
        .filter(articles::version.eq(expected.number()));
    diesel::update(of_version)
        .set((
            articles::slug.eq(&article.slug),
            articles::title.eq(&article.title),
            articles::category.eq(&article.category),
            articles::audience.eq(article.audience.as_str()),
            articles::updated_at.eq(article.updated_at.micros()),
            articles::version.eq(expected.next().number()),
        ))
        .execute(tx.step()?)
        .map_err(classify)?;
    delete_blocks(tx, article.id)
}

fn delete_blocks(tx: &mut Tx<'_>, id: ArticleId) -> Result<(), StoreError> {
    let of_article = article_blocks::table.filter(article_blocks::article_id.eq(id.number()));
    diesel::delete(of_article)
        .execute(tx.step()?)
        .map(drop)
        .map_err(classify)
}

fn insert_blocks(tx: &mut Tx<'_>, article: &Article) -> Result<(), StoreError> {
    for (position, block) in (0_i64..).zip(&article.blocks) {
        diesel::insert_into(article_blocks::table)
            .values((
                article_blocks::article_id.eq(article.id.number()),
                article_blocks::position.eq(position),
                article_blocks::audience.eq(block.audience.as_str()),
                article_blocks::body.eq(&block.text),
            ))
            .execute(tx.step()?)
            .map_err(classify)?;
    }
    Ok(())
}
