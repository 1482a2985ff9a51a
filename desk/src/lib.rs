//! What the desk can do, without a word about how it is asked: use cases over the store.
//!
//! A use case and the tool and the storage method behind it share one `verb_noun`. Each takes a [`Caller`], whom the
//! transport made; inputs of writes are [`garde::Valid`], made by [`valid`] at this border and nowhere below.

mod audit;
mod caller;
mod calls;
mod completion;
mod confirm;
mod cursor;
mod customers;
mod draft;
mod error;
pub mod guard;
mod knowledge;
pub mod ops;
mod policy;
mod privacy;
mod satisfaction;
pub mod system;
mod tickets;

use std::sync::Arc;

use domain::{Clock, IdSource};
use guard::{Wall, WalledStore};
use storage::Storage;
pub use writegate::{ApprovalLevel, ApprovalMethod};

pub use audit::AuditList;
pub use caller::Caller;
pub use calls::{CallHit, CallHits, CallSearch, CallSummary, Quote, SummarisedCall, sought_terms};
pub use confirm::{Answered, Confirmation, Guard, Proposal, Proposed};
pub use customers::CustomerList;
pub use draft::{CLOSING, Draft, GREETING, Grounding};
pub use error::{DeskError, ErrorCode, InvalidArgument, Retry, shown_id, valid};
pub use knowledge::{FoundArticle, FoundKnowledge, KnowledgeQuery};
pub use policy::{ConfirmationMode, Policy, PolicyError};
pub use satisfaction::Satisfaction;
pub use storage::{
    Applied, Approval, Confirmed, CsatComment, Decided, Decision, Given, Left, Preview, Refusal,
    Verdict,
};
pub use tickets::{Dossier, TicketHits, TicketList, TicketSearch};

/// A page with the cursor of the next one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing<T> {
    /// The rows, in order.
    pub rows: Vec<T>,
    /// How many rows the filter matches, whatever the page.
    pub total: domain::Total,
    /// Gives the next page of the same list under the same filter; absent on the last one.
    pub next_cursor: Option<String>,
}

impl<T> Listing<T> {
    fn from_page(list: &str, filter: &impl std::hash::Hash, page: domain::Page<T>) -> Self {
        Self {
            rows: page.rows,
            total: page.total,
            next_cursor: page.next.map(|place| cursor::encode(list, filter, place)),
        }
    }
}

/// The use cases.
pub struct Desk {
    store: Arc<dyn Storage>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdSource>,
    guard: Guard,
    knowledge: knowledge::Shelf,
    wall: Wall,
}

impl Desk {
    /// A desk over a store and the wall it was opened behind. Time, identifiers and what guards its changes are handed in by
    /// the binary.
    pub fn new(
        WalledStore { store, wall }: WalledStore,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn IdSource>,
        guard: Guard,
    ) -> Self {
        Self {
            store,
            clock,
            ids,
            guard,
            knowledge: knowledge::Shelf::default(),
            wall,
        }
    }

    /// The identifier of a new request.
    pub fn next_request_id(&self) -> u128 {
        self.ids.next_id()
    }

    /// Sixteen bytes that nobody can guess, for the markers around text that others wrote.
    pub fn next_nonce(&self) -> [u8; 16] {
        self.ids.nonce()
    }

    /// Whether the store answers.
    pub async fn check_store(&self) -> Result<(), DeskError> {
        self.store.knowledge_stamp().await?;
        Ok(())
    }

    /// Writes that wait for their answer now.
    pub fn queued_writes(&self) -> usize {
        self.store.queued_writes()
    }

    /// Finishes what is being written, then closes the store.
    pub async fn close(&self) -> Result<(), DeskError> {
        Ok(self.store.close().await?)
    }
}
