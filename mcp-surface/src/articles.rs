//! Knowledge articles as results show them: blocks with their audience, cut where the room ends.

use desk::FoundArticle;
use domain::{Article, Block};
use serde::Serialize;

use crate::reply::{Room, json_len};
use crate::text::{Channels, QUOTE_BYTES, Sheet, quoted, window};
use crate::view::{Part, Said, minute};

/// Bytes of a block besides its text, in both channels.
const BLOCK_BYTES: usize = 90;

/// A part of a text that is shorter than this tells nothing.
const WORTHWHILE_BYTES: usize = 100;

/// A block, or the part of it that is shown.
#[derive(Debug, Serialize)]
pub(crate) struct BlockView<'a> {
    audience: &'static str,
    #[serde(flatten)]
    said: Said<'a>,
}

/// An article with those of its blocks that are shown.
#[derive(Debug, Serialize)]
pub(crate) struct ArticleView<'a> {
    article_id: String,
    title: Said<'a>,
    category: &'a str,
    audience: &'static str,
    updated_at: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) blocks: Vec<BlockView<'a>>,
    #[serde(flatten)]
    pub(crate) part: Part,
    #[serde(skip)]
    changed: String,
}

impl<'a> ArticleView<'a> {
    /// Without its blocks.
    pub(crate) fn head_only(article: &'a Article) -> Self {
        Self {
            article_id: article.id.to_string(),
            title: Said::by_team(&article.title),
            category: &article.category,
            audience: article.audience.as_str(),
            updated_at: article.updated_at.to_string(),
            blocks: Vec::new(),
            part: Part::default(),
            changed: minute(article.updated_at),
        }
    }

    /// From a character on, as far as the room reaches.
    pub(crate) fn open(
        article: &'a Article,
        offset: usize,
        room: &mut Room,
        channels: Channels,
    ) -> Self {
        let (blocks, part) = fill(article.blocks.iter(), offset, room, channels);
        Self {
            blocks,
            part,
            ..Self::head_only(article)
        }
    }

    /// The blocks that a query matched, best first, as far as the room reaches.
    pub(crate) fn matches(hit: &'a FoundArticle, room: &mut Room, channels: Channels) -> Self {
        let matched = hit
            .matches
            .iter()
            .filter_map(|index| hit.article.blocks.get(*index));
        let (blocks, part) = fill(matched, 0, room, channels);
        Self {
            blocks,
            // What is cut off here is not the end of the article, so no offset leads on.
            part: Part {
                next_offset: None,
                ..part
            },
            ..Self::head_only(&hit.article)
        }
    }
}

fn fill<'a>(
    blocks: impl Iterator<Item = &'a Block>,
    offset: usize,
    room: &mut Room,
    channels: Channels,
) -> (Vec<BlockView<'a>>, Part) {
    let mut shown = Vec::new();
    let mut skip = offset;
    let mut end = offset;
    let mut omitted = 0;
    for block in blocks {
        let length = block.text.chars().count();
        if skip >= length {
            skip -= length;
            continue;
        }
        if omitted > 0 || room.left() < BLOCK_BYTES + WORTHWHILE_BYTES {
            omitted += length - skip;
            skip = 0;
            continue;
        }
        let part = window(&block.text, skip, room.left() - BLOCK_BYTES, channels);
        skip = 0;
        room.spend(BLOCK_BYTES + crate::text::cost(part.text, channels));
        end += part.chars;
        omitted += part.omitted;
        shown.push(BlockView {
            audience: block.audience.as_str(),
            said: Said::by_team(part.text),
        });
    }
    let part = Part {
        offset,
        omitted_chars: omitted,
        next_offset: (omitted > 0).then_some(end),
    };
    (shown, part)
}

/// Characters of an article's blocks.
pub(crate) fn length(article: &Article) -> usize {
    let lengths = article
        .blocks
        .iter()
        .map(|block| block.text.chars().count());
    lengths.sum()
}

/// Bytes of an article without its blocks, in both channels.
pub(crate) fn head_cost(article: &Article) -> usize {
    json_len(&ArticleView::head_only(article)) + quoted(&article.title).len() + 3 * QUOTE_BYTES
}

/// The first articles whose heads fit; they take their room.
pub(crate) fn heads<'a>(articles: &'a [Article], room: &mut Room) -> &'a [Article] {
    let count = articles
        .iter()
        .take_while(|article| room.take(head_cost(article)))
        .count();
    articles.get(..count).unwrap_or_default()
}

/// Writes titles only, one line each.
pub(crate) fn write_titles(sheet: &mut Sheet, views: &[ArticleView<'_>]) {
    let lines: Vec<String> = views
        .iter()
        .map(|view| format!("{}, title {}", facts(view), quoted(view.title.text)))
        .collect();
    if !lines.is_empty() {
        sheet.quote("titles", &lines.join("\n"));
    }
}

fn facts(view: &ArticleView<'_>) -> String {
    format!(
        "{}, {}, for {}, changed {}",
        view.article_id, view.category, view.audience, view.changed
    )
}

/// Writes an article with the blocks that are shown and the way to the rest.
pub(crate) fn write_article(sheet: &mut Sheet, view: &ArticleView<'_>) {
    sheet.say(facts(view));
    let mut body = format!("title {}", quoted(view.title.text));
    let mut audience = "";
    for block in &view.blocks {
        body.push_str("\n\n");
        if block.audience != audience {
            audience = block.audience;
            body.push_str("[for ");
            body.push_str(audience);
            body.push_str("]\n");
        }
        body.push_str(block.said.text);
    }
    sheet.quote("article", &body);
    let (id, omitted) = (&view.article_id, view.part.omitted_chars);
    match view.part.next_offset {
        Some(next) => sheet.say(format_args!(
            "{omitted} more characters: get_knowledge_articles with article_id {id} and offset {next}."
        )),
        None if omitted > 0 => sheet.say(format_args!(
            "{omitted} more characters matched: get_knowledge_articles with article_id {id}."
        )),
        None => {}
    }
}
