//! Articles: the one thing that an import changes, since their text is kept elsewhere.

use diesel::prelude::*;
use domain::{Article, EntityKind, Version};

use super::{Import, NotTaken, Taken};
use crate::StoreError;
use crate::sql::errors::classify;
use crate::sql::knowledge::find_article;
use crate::sql::schema::{article_blocks, articles};

/// Whether an article says the same; when it was last changed is not what it says.
fn same_content(stored: &Article, given: &Article) -> bool {
    let said = |article: &Article| Article {
        updated_at: given.updated_at,
        ..article.clone()
    };
    said(stored) == said(given)
}

impl Import<'_, '_> {
    pub(super) fn take_article(&mut self, article: &Article) -> Result<Taken, NotTaken> {
        self.check_category(&article.category, |kind| kind.articles)?;
        match find_article(self.tx.step()?, article.id)? {
            Some((stored, _version)) if same_content(&stored, article) => Ok(Taken::Existing),
            Some((_stored, version)) => {
                self.write_again(article, Version::new(version))?;
                Ok(Taken::Updated)
            }
            None => {
                self.write_article(article)?;
                Ok(Taken::Created)
            }
        }
    }

    fn write_article(&mut self, article: &Article) -> Result<(), StoreError> {
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
            .execute(self.tx.step()?)
            .map_err(classify)?;
        self.write_blocks(article)?;
        self.note(
            EntityKind::Article,
            article.id.number(),
            None,
            Version::FIRST,
        )
    }

    /// Replaces an article that was read in this transaction at a version.
    fn write_again(&mut self, article: &Article, before: Version) -> Result<(), StoreError> {
        let of_version = articles::table
            .find(article.id.number())
            .filter(articles::version.eq(before.number()));
        diesel::update(of_version)
            .set((
                articles::slug.eq(&article.slug),
                articles::title.eq(&article.title),
                articles::category.eq(&article.category),
                articles::audience.eq(article.audience.as_str()),
                articles::updated_at.eq(article.updated_at.micros()),
                articles::version.eq(before.next().number()),
            ))
            .execute(self.tx.step()?)
            .map_err(classify)?;
        let old_blocks =
            article_blocks::table.filter(article_blocks::article_id.eq(article.id.number()));
        diesel::delete(old_blocks)
            .execute(self.tx.step()?)
            .map_err(classify)?;
        self.write_blocks(article)?;
        self.note(
            EntityKind::Article,
            article.id.number(),
            Some(before),
            before.next(),
        )
    }

    fn write_blocks(&mut self, article: &Article) -> Result<(), StoreError> {
        for (position, block) in (0_i64..).zip(&article.blocks) {
            diesel::insert_into(article_blocks::table)
                .values((
                    article_blocks::article_id.eq(article.id.number()),
                    article_blocks::position.eq(position),
                    article_blocks::audience.eq(block.audience.as_str()),
                    article_blocks::body.eq(&block.text),
                ))
                .execute(self.tx.step()?)
                .map_err(classify)?;
        }
        Ok(())
    }
}
