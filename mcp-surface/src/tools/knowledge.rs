//! Tools for the knowledge base.

use desk::{DeskError, FoundArticle, InvalidArgument, KnowledgeQuery};
use domain::{ArticleId, Scope};
use serde::Serialize;

use super::{PAGE, Query, wording};
use crate::Toolset;
use crate::args::{Arguments, Limit, Offset, Slug, arguments};
use crate::articles::{ArticleView, head_cost, heads, length, write_article, write_titles};
use crate::reply::{Reply, Room};
use crate::spec::{Call, Hints, Policy, ToolSpec, Type};
use crate::text::{Channels, Sheet};
use crate::view::PageInfo;

pub(super) static TOOLS: &[ToolSpec] = &[
    ToolSpec {
        name: "get_knowledge_articles",
        title: "Get knowledge articles",
        toolset: Toolset::Knowledge,
        description: "Articles in full: those of a category, or one by article_id. With neither: the titles of all. \
            Each block says its audience: what is for staff must not be told to customers. What is cut goes on with \
            article_id and offset. To find articles by words use search_kb.",
        policy: Policy::read(Scope::DeskRead),
        hints: Hints::READS,
        args: GetKnowledgeArticlesArgs::ARGS,
        output: &[&[("articles", Type::Objects)], PAGE],
        run: |call| Box::pin(get_knowledge_articles(call)),
    },
    ToolSpec {
        name: "search_kb",
        title: "Search knowledge base",
        toolset: Toolset::Knowledge,
        description: "Articles that match words, best first, with the blocks that match. Use it before advising. \
            Examples: `reset mfa new phone`, `invoice dispute`. An empty list means that the knowledge base says \
            nothing about it: say so, do not invent. Whole articles: get_knowledge_articles(article_id).",
        policy: Policy::read(Scope::DeskRead),
        hints: Hints::READS,
        args: SearchKbArgs::ARGS,
        output: &[
            &[("articles", Type::Objects), ("search_mode", Type::Text)],
            PAGE,
        ],
        run: |call| Box::pin(search_kb(call)),
    },
];

arguments! {
    /// Arguments of `get_knowledge_articles`.
    GetKnowledgeArticlesArgs {
        category: Option<Slug> = wording::CATEGORY;
        article_id: Option<ArticleId> = "Article, e.g. KB-006.";
        offset: Option<Offset> = "With article_id: first character to show.";
    }
}

arguments! {
    /// Arguments of `search_kb`.
    SearchKbArgs {
        query: Query = "Words to look for.";
        category: Option<Slug> = wording::ONLY_CATEGORY;
        limit: Option<Limit<20, 5>> = "Articles at most.";
    }
}

#[derive(Serialize)]
struct ArticlesAnswer<'a> {
    articles: Vec<ArticleView<'a>>,
    #[serde(flatten)]
    page: PageInfo,
}

async fn get_knowledge_articles(call: Call) -> Result<Reply, DeskError> {
    let args: GetKnowledgeArticlesArgs = call.arguments()?;
    let offset = args.offset.map_or(0, |offset| offset.0);
    let (articles, bodies) = match (args.article_id, args.category) {
        (Some(_), Some(_)) => {
            let reason = "and `article_id` are both given; leave one out";
            return Err(InvalidArgument::new("category", reason).into());
        }
        (Some(id), None) => (vec![call.desk.get_article(&call.caller, id).await?], true),
        (None, _) if offset > 0 => {
            let reason = "is for one article; give `article_id` too";
            return Err(InvalidArgument::new("offset", reason).into());
        }
        (None, Some(category)) => {
            let articles = call
                .desk
                .list_articles(&call.caller, Some(&category.0))
                .await?;
            (articles, true)
        }
        (None, None) => (call.desk.list_articles(&call.caller, None).await?, false),
    };
    if offset > 0 && articles.iter().any(|article| offset >= length(article)) {
        let longest = articles.iter().map(length).max().unwrap_or_default();
        let reason = format!("must be less than the article's {longest} characters");
        return Err(InvalidArgument::new("offset", reason).into());
    }
    let mut room = Room::new(call.budget);
    room.spend(FRAME_BYTES);
    let views: Vec<ArticleView<'_>> = heads(&articles, &mut room)
        .iter()
        .map(|article| {
            if bodies {
                ArticleView::open(article, offset, &mut room, Channels::Both)
            } else {
                ArticleView::head_only(article)
            }
        })
        .collect();
    let page = counts(articles.len(), &views);
    let mut sheet = Sheet::new(call.desk.next_nonce());
    sheet.say(page.words("articles", "by id"));
    if bodies {
        for view in &views {
            write_article(&mut sheet, view);
        }
    } else {
        write_titles(&mut sheet, &views);
    }
    let answer = ArticlesAnswer {
        articles: views,
        page,
    };
    Ok(Reply::new(&answer, sheet.finish()))
}

/// Bytes of a result besides its articles: counts, first line, announcement of the markers.
const FRAME_BYTES: usize = 600;

/// The knowledge base is read whole, so its lists have counts and no cursor.
fn counts<'a>(total: usize, views: impl IntoIterator<Item = &'a ArticleView<'a>>) -> PageInfo {
    let mut page = PageInfo {
        total: u32::try_from(total).unwrap_or(u32::MAX),
        ..PageInfo::default()
    };
    for view in views {
        page.returned += 1;
        page.truncated |= view.part.omitted_chars > 0;
    }
    page.truncated |= page.returned < total;
    page
}

#[derive(Serialize)]
struct FoundView<'a> {
    #[serde(flatten)]
    article: ArticleView<'a>,
    score: f64,
}

#[derive(Serialize)]
struct FoundAnswer<'a> {
    articles: Vec<FoundView<'a>>,
    search_mode: &'static str,
    #[serde(flatten)]
    page: PageInfo,
}

async fn search_kb(call: Call) -> Result<Reply, DeskError> {
    let args: SearchKbArgs = call.arguments()?;
    let query = KnowledgeQuery {
        query: args.query.0,
        category: args.category.map(|slug| slug.0),
        limit: args.limit.map(|limit| limit.0),
    };
    let found = call.desk.search_kb(&call.caller, query).await?;
    let mut room = Room::new(call.budget);
    room.spend(FRAME_BYTES);
    let shown: Vec<&FoundArticle> = found
        .articles
        .iter()
        .take_while(|hit| room.take(head_cost(&hit.article)))
        .collect();
    let views: Vec<FoundView<'_>> = shown
        .into_iter()
        .map(|hit| FoundView {
            article: ArticleView::matches(hit, &mut room, Channels::Both),
            score: (hit.score * 100.0).round() / 100.0,
        })
        .collect();
    let page = counts(found.total, views.iter().map(|view| &view.article));
    let mut sheet = Sheet::new(call.desk.next_nonce());
    sheet.say(page.words("articles", "best first"));
    for view in &views {
        write_article(&mut sheet, &view.article);
    }
    let answer = FoundAnswer {
        articles: views,
        search_mode: "lexical",
        page,
    };
    Ok(Reply::new(&answer, sheet.finish()))
}
