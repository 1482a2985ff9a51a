//! Knowledge-base articles, whose audience is decided block by block.

use crate::text_enum::text_enum;
use crate::{ArticleId, Timestamp};

text_enum! {
    /// For whom a text is. Only customer blocks may reach a customer (policy list E, 28).
    Audience {
        /// Customers and staff.
        Customer = "customer",
        /// Staff only.
        Staff = "staff",
    }
}

/// A piece of an article that stands on its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// For whom it is; an article for staff has staff blocks only.
    pub audience: Audience,
    /// Markdown.
    pub text: String,
}

/// An article as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Article {
    /// Its id.
    pub id: ArticleId,
    /// A short name for addresses.
    pub slug: String,
    /// What it is about.
    pub title: String,
    /// Slug of a category.
    pub category: String,
    /// For whom it is.
    pub audience: Audience,
    /// Its text, in order.
    pub blocks: Vec<Block>,
    /// When it last changed.
    pub updated_at: Timestamp,
}

impl Article {
    /// The blocks that a reader of this audience may see, in order.
    pub fn blocks_for(&self, reader: Audience) -> impl Iterator<Item = &Block> {
        let all = matches!(reader, Audience::Staff);
        let open = matches!(self.audience, Audience::Customer);
        self.blocks
            .iter()
            .filter(move |block| all || (open && block.audience == Audience::Customer))
    }
}
