//! The words of tickets in the full-text index.

use std::collections::{BTreeMap, HashSet};

use diesel::prelude::*;
use domain::TicketId;
use domain::terms::index_terms;

use super::errors::classify;
use super::page::IDS_AT_ONCE;
use super::schema::ticket_terms;
use super::writer::Tx;
use crate::StoreError;

/// Bytes of words that may wait to be written.
const WAITING_BYTES: usize = 8 * 1024 * 1024;

/// Words that wait to be written, by ticket.
///
/// The index wants its tickets in ascending order: one that comes after a higher one, or twice, makes it write out what it
/// has collected. So an import brings its words in by the batch, in order.
#[derive(Default)]
pub(super) struct WordQueue {
    waiting: BTreeMap<i64, Words>,
    bytes: usize,
}

/// The words of a ticket: each once in each column, with blanks between.
struct Words {
    subject: String,
    body: String,
    comments: String,
    stored: bool,
}

impl WordQueue {
    /// Takes in a new ticket.
    pub(super) fn add_ticket(
        &mut self,
        tx: &mut Tx<'_>,
        id: TicketId,
        subject: &str,
        description: &str,
    ) -> Result<(), StoreError> {
        let words = Words {
            subject: index_terms(subject).join(" "),
            body: index_terms(description).join(" "),
            comments: String::new(),
            stored: false,
        };
        self.bytes += words.subject.len() + words.body.len();
        self.waiting.insert(id.number(), words);
        self.write_if_full(tx)
    }

    /// Takes in a comment; words that other comments of the ticket have are there already.
    pub(super) fn add_comment(
        &mut self,
        tx: &mut Tx<'_>,
        ticket: TicketId,
        body: &str,
    ) -> Result<(), StoreError> {
        let words = match self.waiting.entry(ticket.number()) {
            std::collections::btree_map::Entry::Occupied(entry) => entry.into_mut(),
            std::collections::btree_map::Entry::Vacant(entry) => {
                entry.insert(stored_words(tx, ticket)?)
            }
        };
        let known: HashSet<&str> = words.comments.split(' ').collect();
        let new: Vec<String> = index_terms(body)
            .into_iter()
            .filter(|term| !known.contains(term.as_str()))
            .collect();
        for term in new {
            if !words.comments.is_empty() {
                words.comments.push(' ');
            }
            words.comments.push_str(&term);
            self.bytes += term.len() + 1;
        }
        self.write_if_full(tx)
    }

    fn write_if_full(&mut self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        if self.bytes < WAITING_BYTES {
            return Ok(());
        }
        self.write(tx)
    }

    /// Writes what waits.
    pub(super) fn write(&mut self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        self.bytes = 0;
        for (id, words) in std::mem::take(&mut self.waiting) {
            if words.stored {
                update(tx, id, &words)?;
            } else {
                insert(tx, id, &words)?;
            }
        }
        Ok(())
    }
}

/// The words of a ticket's comments as they are in the index; those of the ticket itself don't change with a comment.
fn stored_words(tx: &mut Tx<'_>, ticket: TicketId) -> Result<Words, StoreError> {
    let comments = ticket_terms::table
        .filter(ticket_terms::rowid.eq(ticket.number()))
        .select(ticket_terms::comments)
        .get_result(tx.step()?)
        .map_err(classify)?;
    Ok(Words {
        subject: String::new(),
        body: String::new(),
        comments,
        stored: true,
    })
}

fn insert(tx: &mut Tx<'_>, id: i64, words: &Words) -> Result<(), StoreError> {
    diesel::insert_into(ticket_terms::table)
        .values((
            ticket_terms::rowid.eq(id),
            ticket_terms::subject.eq(&words.subject),
            ticket_terms::body.eq(&words.body),
            ticket_terms::comments.eq(&words.comments),
        ))
        .execute(tx.step()?)
        .map(drop)
        .map_err(classify)
}

fn update(tx: &mut Tx<'_>, id: i64, words: &Words) -> Result<(), StoreError> {
    diesel::update(ticket_terms::table.filter(ticket_terms::rowid.eq(id)))
        .set(ticket_terms::comments.eq(&words.comments))
        .execute(tx.step()?)
        .map(drop)
        .map_err(classify)
}

/// Indexes a ticket's subject and description anew; the words of its comments stay.
pub(super) fn reindex_ticket(
    tx: &mut Tx<'_>,
    id: TicketId,
    subject: &str,
    description: &str,
) -> Result<(), StoreError> {
    diesel::update(ticket_terms::table.filter(ticket_terms::rowid.eq(id.number())))
        .set((
            ticket_terms::subject.eq(index_terms(subject).join(" ")),
            ticket_terms::body.eq(index_terms(description).join(" ")),
        ))
        .execute(tx.step()?)
        .map(drop)
        .map_err(classify)
}

/// Forgets the words of tickets: the index is no child of theirs that would go along.
pub(super) fn forget_tickets(tx: &mut Tx<'_>, ids: &[i64]) -> Result<(), StoreError> {
    for some in ids.chunks(IDS_AT_ONCE) {
        diesel::delete(ticket_terms::table.filter(ticket_terms::rowid.eq_any(some)))
            .execute(tx.step()?)
            .map_err(classify)?;
    }
    Ok(())
}
