//! Rows, and how they become domain values: a stored word that the domain does not know is a fault, never a guess.

use diesel::prelude::*;
use domain::{
    Article, ArticleId, Audience, Block, Call, CallId, CallOutcome, Category, CategoryKind,
    Channel, Comment, CommentId, Customer, CustomerId, CustomerStatus, LastCommentBy, Origin,
    Priority, SecurityFlag, Speaker, Status, Ticket, TicketId, Tier, Timestamp, Turn, Version,
    Visibility,
};

use super::connection::MultiBackend;
use super::errors::BadValue;
use super::schema::{article_blocks, articles, calls, categories, comments, customers, tickets};

/// Reads a word of a vocabulary exactly as it was stored.
macro_rules! stored {
    ($vocabulary:ident, $column:literal, $text:expr) => {{
        let text: &str = &$text;
        $vocabulary::ALL
            .iter()
            .copied()
            .find(|value| value.as_str() == text)
            .ok_or_else(|| crate::sql::errors::BadValue {
                column: $column,
                value: text.to_owned(),
            })
    }};
}
pub(super) use stored;

#[derive(Queryable, Selectable)]
#[diesel(table_name = customers, check_for_backend(MultiBackend))]
pub(super) struct CustomerRow {
    id: i64,
    name: String,
    email: String,
    phone: Option<String>,
    organisation: Option<String>,
    status: String,
    created_at: i64,
    updated_at: i64,
    version: i64,
}

impl TryFrom<CustomerRow> for Customer {
    type Error = BadValue;

    fn try_from(row: CustomerRow) -> Result<Self, BadValue> {
        Ok(Self {
            id: CustomerId::new(row.id),
            status: stored!(CustomerStatus, "customers.status", row.status)?,
            name: row.name,
            email: row.email,
            phone: row.phone,
            organisation: row.organisation,
            created_at: Timestamp::from_micros(row.created_at),
            updated_at: Timestamp::from_micros(row.updated_at),
            version: Version::new(row.version),
        })
    }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = tickets, check_for_backend(MultiBackend))]
pub(super) struct TicketRow {
    id: i64,
    customer_id: i64,
    channel: String,
    subject: String,
    description: String,
    category: String,
    priority: String,
    status: String,
    tier: i16,
    assigned_team: Option<String>,
    assignee: Option<String>,
    security_flag: String,
    last_comment_by: String,
    created_at: i64,
    updated_at: i64,
    version: i64,
}

impl TryFrom<TicketRow> for Ticket {
    type Error = BadValue;

    fn try_from(row: TicketRow) -> Result<Self, BadValue> {
        Ok(Self {
            id: TicketId::new(row.id),
            customer: CustomerId::new(row.customer_id),
            channel: stored!(Channel, "tickets.channel", row.channel)?,
            priority: stored!(Priority, "tickets.priority", row.priority)?,
            status: stored!(Status, "tickets.status", row.status)?,
            tier: Tier::new(i64::from(row.tier)).map_err(|unknown| BadValue {
                column: "tickets.tier",
                value: unknown.given,
            })?,
            security_flag: stored!(SecurityFlag, "tickets.security_flag", row.security_flag)?,
            last_comment_by: stored!(
                LastCommentBy,
                "tickets.last_comment_by",
                row.last_comment_by
            )?,
            subject: row.subject,
            description: row.description,
            category: row.category,
            assigned_team: row.assigned_team,
            assignee: row.assignee,
            created_at: Timestamp::from_micros(row.created_at),
            updated_at: Timestamp::from_micros(row.updated_at),
            version: Version::new(row.version),
        })
    }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = comments, check_for_backend(MultiBackend))]
pub(super) struct CommentRow {
    id: i64,
    ticket_id: i64,
    author: String,
    origin: String,
    visibility: String,
    body: String,
    created_at: i64,
}

impl TryFrom<CommentRow> for Comment {
    type Error = BadValue;

    fn try_from(row: CommentRow) -> Result<Self, BadValue> {
        Ok(Self {
            id: CommentId::new(row.id),
            ticket: TicketId::new(row.ticket_id),
            origin: stored!(Origin, "comments.origin", row.origin)?,
            visibility: stored!(Visibility, "comments.visibility", row.visibility)?,
            author: row.author,
            body: row.body,
            created_at: Timestamp::from_micros(row.created_at),
        })
    }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = categories, check_for_backend(MultiBackend))]
pub(super) struct CategoryRow {
    slug: String,
    label: String,
    for_tickets: bool,
    for_articles: bool,
    for_calls: bool,
}

impl From<CategoryRow> for Category {
    fn from(row: CategoryRow) -> Self {
        Self {
            slug: row.slug,
            label: row.label,
            kind: CategoryKind {
                tickets: row.for_tickets,
                articles: row.for_articles,
                calls: row.for_calls,
            },
        }
    }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = articles, check_for_backend(MultiBackend))]
pub(super) struct ArticleRow {
    pub(super) id: i64,
    slug: String,
    title: String,
    category: String,
    audience: String,
    updated_at: i64,
    pub(super) version: i64,
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = article_blocks, check_for_backend(MultiBackend))]
pub(super) struct BlockRow {
    pub(super) article_id: i64,
    audience: String,
    body: String,
}

impl ArticleRow {
    /// The article with its blocks, which are in order.
    pub(super) fn with_blocks(self, blocks: Vec<BlockRow>) -> Result<Article, BadValue> {
        Ok(Article {
            id: ArticleId::new(self.id),
            audience: stored!(Audience, "articles.audience", self.audience)?,
            slug: self.slug,
            title: self.title,
            category: self.category,
            blocks: blocks
                .into_iter()
                .map(|block| {
                    Ok(Block {
                        audience: stored!(Audience, "article_blocks.audience", block.audience)?,
                        text: block.body,
                    })
                })
                .collect::<Result<_, BadValue>>()?,
            updated_at: Timestamp::from_micros(self.updated_at),
        })
    }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = calls, check_for_backend(MultiBackend))]
pub(super) struct CallRow {
    id: i64,
    customer_id: Option<i64>,
    ticket_id: Option<i64>,
    started_at: i64,
    duration_seconds: i64,
    agent: String,
    category: String,
    outcome: String,
    turns: String,
}

/// A turn as it stands in `calls.turns`.
type StoredTurn = (String, u32, String);

impl TryFrom<CallRow> for Call {
    type Error = BadValue;

    fn try_from(row: CallRow) -> Result<Self, BadValue> {
        Ok(Self {
            id: CallId::new(row.id),
            customer: row.customer_id.map(CustomerId::new),
            ticket: row.ticket_id.map(TicketId::new),
            outcome: stored!(CallOutcome, "calls.outcome", row.outcome)?,
            duration_seconds: u32::try_from(row.duration_seconds).map_err(|_range| BadValue {
                column: "calls.duration_seconds",
                value: row.duration_seconds.to_string(),
            })?,
            started_at: Timestamp::from_micros(row.started_at),
            agent: row.agent,
            category: row.category,
            turns: read_turns(&row.turns)?,
        })
    }
}

/// A transcript from what is stored.
pub(super) fn read_turns(json: &str) -> Result<Vec<Turn>, BadValue> {
    let turns: Vec<StoredTurn> = serde_json::from_str(json).map_err(|error| BadValue {
        column: "calls.turns",
        value: error.to_string(),
    })?;
    turns
        .into_iter()
        .map(|(speaker, at_seconds, text)| {
            Ok(Turn {
                speaker: stored!(Speaker, "calls.turns", speaker)?,
                at_seconds,
                text,
            })
        })
        .collect()
}

/// A transcript as it is stored.
pub(super) fn write_turns(turns: &[Turn]) -> Result<String, serde_json::Error> {
    let turns: Vec<(&str, u32, &str)> = turns
        .iter()
        .map(|turn| (turn.speaker.as_str(), turn.at_seconds, turn.text.as_str()))
        .collect();
    serde_json::to_string(&turns)
}

/// Turns rows into domain values.
pub(super) fn all<Row, T>(rows: Vec<Row>) -> Result<Vec<T>, BadValue>
where
    T: TryFrom<Row, Error = BadValue>,
{
    rows.into_iter().map(T::try_from).collect()
}
