//! The knowledge base: reading articles and ranking blocks against a query.
//!
//! Ranking runs in process over the whole shelf, which is small, so both databases answer alike (design section 8).
//! A term counts by how rare it is among the blocks (inverse document frequency): a single telling word such as
//! `MFA` is enough, and a word that is everywhere is worth little (policy list E, 31). The category of a query
//! can narrow the shelf and never makes a match (policy list E, 30).

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use domain::terms::{index_terms, query_terms};
use domain::{Article, ArticleId, Audience, Scope};
use tokio::sync::Mutex;

use crate::draft::{Grounding, READER};
use crate::privacy::seen;
use crate::tickets::checked_query_terms;
use crate::{Caller, Desk, DeskError, InvalidArgument};

/// What to look for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnowledgeQuery {
    /// Words, never syntax.
    pub query: String,
    /// Only in this category.
    pub category: Option<String>,
    /// Articles at the most, 1 to 20.
    pub limit: Option<u16>,
}

/// An article that a query found.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundArticle {
    /// The article; its blocks are those that the reader may see.
    pub article: Article,
    /// Indexes into its blocks of those that matched, best first, at most three.
    pub matches: Vec<usize>,
    /// How well it matches: comparable within one result only.
    pub score: f64,
}

/// What a query found.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundKnowledge {
    /// Articles, best first.
    pub articles: Vec<FoundArticle>,
    /// How many articles matched.
    pub total: usize,
}

/// Matching blocks that a found article shows.
pub(crate) const MATCHES_SHOWN: usize = 3;

/// Articles that a search returns when no limit is given.
const LIMIT_DEFAULT: u16 = 5;

/// Articles that a search returns at the most: each brings up to three blocks of about 100 tokens.
const LIMIT_MAX: u16 = 20;

/// A word that stands in no more than this share of all blocks says what a text is about.
const TELLING_SHARE: f64 = 0.08;

/// In a small knowledge base a word is telling that stands in this many blocks.
const TELLING_LEAST: f64 = 2.0;

/// A block answers a ticket if it has at least this part of the ticket's telling words. On the demonstration tickets
/// the right articles have 24 % of them and more, wrong ones 20 % and less.
const TELLING_PART: f64 = 0.22;

/// A word in a title counts for this many in a block: titles are short and chosen.
const TITLE_WEIGHT: f64 = 0.6;

/// Every article with the terms of its blocks, kept until the store's stamp moves.
#[derive(Default)]
pub(crate) struct Shelf {
    kept: Mutex<Option<Arc<Index>>>,
}

pub(crate) struct Index {
    stamp: i64,
    articles: Vec<Indexed>,
    block_count: f64,
    document_frequency: HashMap<String, f64>,
}

struct Indexed {
    article: Article,
    title: HashSet<String>,
    blocks: Vec<HashSet<String>>,
}

impl Index {
    fn build(stamp: i64, articles: Vec<Article>) -> Self {
        let articles: Vec<Indexed> = articles
            .into_iter()
            .map(|article| Indexed {
                title: index_terms(&article.title).into_iter().collect(),
                blocks: article
                    .blocks
                    .iter()
                    .map(|block| index_terms(&block.text).into_iter().collect())
                    .collect(),
                article,
            })
            .collect();
        let mut document_frequency = HashMap::new();
        let mut block_count = 0.0;
        for block in articles.iter().flat_map(|indexed| &indexed.blocks) {
            block_count += 1.0;
            for term in block {
                *document_frequency.entry(term.clone()).or_insert(0.0) += 1.0;
            }
        }
        Self {
            stamp,
            articles,
            block_count,
            document_frequency,
        }
    }

    /// Every article whole, whoever reads it.
    pub(crate) fn articles(&self) -> impl Iterator<Item = &Article> {
        self.articles.iter().map(|indexed| &indexed.article)
    }

    fn weight(&self, term: &str) -> f64 {
        let found = self.document_frequency.get(term).copied().unwrap_or(0.0);
        (1.0 + (self.block_count - found + 0.5) / (found + 0.5)).ln()
    }

    fn rank(
        &self,
        terms: &[String],
        reader: Audience,
        category: Option<&str>,
    ) -> Vec<FoundArticle> {
        let mut found: Vec<FoundArticle> = self
            .articles
            .iter()
            .filter(|indexed| category.is_none_or(|category| indexed.article.category == category))
            .filter_map(|indexed| self.match_article(indexed, terms, reader))
            .collect();
        found.sort_by(|a, b| {
            b.score
                .total_cmp(&a.score)
                .then(a.article.id.cmp(&b.article.id))
        });
        found
    }

    /// The customer blocks that answer a ticket, of the article that fits it best; none where nothing fits well enough.
    ///
    /// An article fits when one of its blocks has enough of the ticket's telling words ([`TELLING_PART`]), and more than one
    /// unless the ticket has only one or the article's title has one of the subject's. The category decides between equals
    /// and never makes a match (policy list E, 30).
    pub(crate) fn ground(&self, subject: &str, body: &str, category: &str) -> Vec<Grounding> {
        let subject = query_terms(subject);
        let mut terms = subject.clone();
        terms.extend(
            query_terms(body)
                .into_iter()
                .filter(|term| !subject.contains(term)),
        );
        let telling: Vec<String> = terms
            .into_iter()
            .filter(|term| self.is_telling(term))
            .collect();
        let best = self
            .articles
            .iter()
            .filter_map(|indexed| self.fit(indexed, &subject, &telling))
            .max_by(|a, b| {
                a.score
                    .total_cmp(&b.score)
                    .then_with(|| in_category(a, category).cmp(&in_category(b, category)))
                    .then_with(|| b.article.id.cmp(&a.article.id))
            });
        let Some(mut best) = best else {
            return Vec::new();
        };
        best.matches.sort_unstable();
        best.matches
            .iter()
            .filter_map(|at| {
                let block = best.article.blocks.get(*at)?;
                Some(Grounding {
                    article: best.article.id,
                    block: *at,
                    text: block.text.clone(),
                })
            })
            .collect()
    }

    /// Whether a word is known and says what a text is about: it stands in few blocks.
    fn is_telling(&self, term: &str) -> bool {
        self.document_frequency
            .get(term)
            .is_some_and(|blocks| *blocks <= (self.block_count * TELLING_SHARE).max(TELLING_LEAST))
            || self
                .articles
                .iter()
                .any(|indexed| indexed.title.contains(term))
    }

    fn fit(
        &self,
        indexed: &Indexed,
        subject: &[String],
        telling: &[String],
    ) -> Option<FoundArticle> {
        let found = self.match_article(indexed, telling, READER)?;
        let titled = subject
            .iter()
            .any(|term| indexed.title.contains(term) && telling.contains(term));
        let visible = visible_blocks(&indexed.article, READER);
        let shared = |at: &usize| {
            let words = visible
                .get(*at)
                .and_then(|block| indexed.blocks.get(*block));
            words.map_or(0, |words| {
                telling.iter().filter(|term| words.contains(*term)).count()
            })
        };
        let best = found.matches.iter().map(shared).max().unwrap_or(0);
        let enough = count(best) >= TELLING_PART * count(telling.len());
        let sure = titled || best > 1 || telling.len() == 1;
        (best > 0 && enough && sure).then_some(found)
    }

    fn match_article(
        &self,
        indexed: &Indexed,
        terms: &[String],
        reader: Audience,
    ) -> Option<FoundArticle> {
        let visible = visible_blocks(&indexed.article, reader);
        let sum = |set: &HashSet<String>| {
            terms
                .iter()
                .filter(|term| set.contains(*term))
                .map(|term| self.weight(term))
                .sum::<f64>()
        };
        let mut scored: Vec<(usize, f64)> = visible
            .iter()
            .enumerate()
            .filter_map(|(shown, block)| {
                let score = indexed.blocks.get(*block).map_or(0.0, sum);
                (score > 0.0).then_some((shown, score))
            })
            .collect();
        scored.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let title = if visible.is_empty() {
            0.0
        } else {
            sum(&indexed.title)
        };
        let score = scored.first().map_or(0.0, |(_, best)| *best) + TITLE_WEIGHT * title;
        (score > 0.0).then(|| FoundArticle {
            article: shown_article(&indexed.article, reader),
            matches: shown_matches(&indexed.article, &visible, &scored),
            score,
        })
    }
}

fn count(words: usize) -> f64 {
    u32::try_from(words).map_or(f64::MAX, f64::from)
}

fn in_category(found: &FoundArticle, category: &str) -> bool {
    found.article.category == category
}

fn visible_blocks(article: &Article, reader: Audience) -> Vec<usize> {
    let open = article.audience == Audience::Customer;
    article
        .blocks
        .iter()
        .enumerate()
        .filter(|(_, block)| {
            reader == Audience::Staff || (open && block.audience == Audience::Customer)
        })
        .map(|(index, _)| index)
        .collect()
}

/// The blocks that a found article shows, best first. A heading says nothing alone, so the block below it stands in.
fn shown_matches(article: &Article, visible: &[usize], scored: &[(usize, f64)]) -> Vec<usize> {
    let is_heading = |shown: usize| {
        let block = visible
            .get(shown)
            .and_then(|index| article.blocks.get(*index));
        block.is_some_and(|block| block.text.starts_with('#') && !block.text.trim().contains('\n'))
    };
    let mut matches = Vec::new();
    for (shown, _) in scored {
        let below = shown + 1;
        let telling = if is_heading(*shown) && below < visible.len() && !is_heading(below) {
            below
        } else {
            *shown
        };
        if !matches.contains(&telling) {
            matches.push(telling);
        }
    }
    matches.truncate(MATCHES_SHOWN);
    matches
}

fn shown_article(article: &Article, reader: Audience) -> Article {
    Article {
        blocks: article.blocks_for(reader).cloned().collect(),
        ..article.clone()
    }
}

/// As whom a caller reads: staff knowledge needs its own right.
fn reader(caller: &Caller) -> Audience {
    if caller.scopes.contains(Scope::KbInternal) {
        Audience::Staff
    } else {
        Audience::Customer
    }
}

impl Desk {
    pub(crate) async fn shelf(&self) -> Result<Arc<Index>, DeskError> {
        let stamp = self.store.knowledge_stamp().await?;
        let mut kept = self.knowledge.kept.lock().await;
        if let Some(index) = kept.as_ref().filter(|index| index.stamp == stamp) {
            return Ok(Arc::clone(index));
        }
        let index = Arc::new(Index::build(stamp, self.store.list_articles(None).await?));
        *kept = Some(Arc::clone(&index));
        Ok(index)
    }

    /// Articles that match a query, best first, with the blocks that matched.
    pub async fn search_kb(
        &self,
        caller: &Caller,
        query: KnowledgeQuery,
    ) -> Result<FoundKnowledge, DeskError> {
        let limit = query.limit.unwrap_or(LIMIT_DEFAULT);
        if !(1..=LIMIT_MAX).contains(&limit) {
            return Err(InvalidArgument::new(
                "limit",
                format!("must be 1 to {LIMIT_MAX}, and is {limit}"),
            )
            .into());
        }
        let terms = checked_query_terms(&query.query)?;
        if let Some(category) = &query.category {
            self.check_category("category", category).await?;
        }
        let index = self.shelf().await?;
        let mut articles = index.rank(&terms, reader(caller), query.category.as_deref());
        let total = articles.len();
        articles.truncate(usize::from(limit));
        let mask = self.mask(caller);
        for found in &mut articles {
            found.article = seen(mask.as_ref(), found.article.clone());
        }
        Ok(FoundKnowledge { articles, total })
    }

    /// One article, with the blocks that the caller may see.
    pub async fn get_article(&self, caller: &Caller, id: ArticleId) -> Result<Article, DeskError> {
        let article = self.store.get_article(id).await?;
        let shown = shown_article(&article, reader(caller));
        if shown.blocks.is_empty() {
            return Err(DeskError::NotFound {
                entity: domain::EntityKind::Article,
                id: id.to_string(),
            });
        }
        Ok(seen(self.mask(caller).as_ref(), shown))
    }

    /// The articles of a category, or all of them, by id, with the blocks that the caller may see.
    pub async fn list_articles(
        &self,
        caller: &Caller,
        category: Option<&str>,
    ) -> Result<Vec<Article>, DeskError> {
        if let Some(category) = category {
            self.check_category("category", category).await?;
        }
        let articles = self
            .store
            .list_articles(category.map(str::to_owned))
            .await?;
        let shown = articles
            .iter()
            .map(|article| shown_article(article, reader(caller)));
        let shown: Vec<Article> = shown.filter(|article| !article.blocks.is_empty()).collect();
        Ok(seen(self.mask(caller).as_ref(), shown))
    }
}

#[cfg(test)]
mod tests;
