//! Keeps the desk's records: one trait, whole transactions, an audit row in each that writes.
//!
//! A read is one snapshot. A write is one job of the store's single writer (design section 7): it takes the audit head,
//! applies its change, appends its audit row and is acknowledged after the commit; all of it or nothing.
//! Nothing outside `sql` knows that there is a database.

mod audit;
mod calls;
mod error;
mod guarded;
pub mod import;
mod options;
pub mod screening;
mod sql;
mod url;
mod vectors;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use domain::{
    AccessToken, Act, ApprovalId, Article, ArticleId, Assignment, AuditEntry, AuditFilter,
    AuditRecord, Call, CallId, Category, Comment, CsatFilter, Customer, CustomerFilter, CustomerId,
    CustomerOrder, EntityKind, ForbiddenTransition, NewAccessToken, NewComment, NewCustomer,
    NewTicket, OpenStatus, OpenWrite, Page, PageRequest, Status, Ticket, TicketFilter, TicketId,
    TicketOrder, Timestamp, Total, Version,
};
use garde::Valid;
use writegate::{ApprovalMethod, Gate, LogKeys};

pub use audit::{AuditFault, AuditFlaw, AuditNote, AuditProof, AuditReport, Kept};
pub use calls::{
    CallMatch, CallQuery, CsatComment, CsatCount, CsatFindings, FoundCalls, ScoredCall,
};
pub use error::{OpenError, StoreError};
pub use guarded::{
    Answer, Applied, Approval, Confirmed, Decided, Decision, Given, LIVE_PREVIEWS, Left,
    NewPreview, Once, Preview, Previewed, REPLAY_MICROS, Redeemed, Redemption, Refusal, Verdict,
    Wrote,
};
use import::{ImportReport, ImportRow, OnError};
pub use options::{ExpiryClock, Fault, Faults, Options};
use screening::TicketTexts;
pub use url::{DatabaseUrl, UrlError};
pub use vectors::{Lacking, Record, RecordVectors, Vectors};

/// Opens a store: connects by the scheme of the address, migrates under a lock, starts the writer.
///
/// `keys` seal the audit log. There is no store without them: one for reading only puts its refusals on record too.
/// The returned store may be shared by any number of callers; dropping the last handle ends its writer.
pub fn open(
    url: &DatabaseUrl,
    keys: LogKeys,
    options: Options,
) -> Result<Arc<dyn Storage>, OpenError> {
    Ok(Arc::new(sql::SqlStorage::open(url, keys, options)?))
}

/// Brings a store's schema up to this build, creating the store where there is none, and names the steps it took.
///
/// The audit log of a build from before its chain is sealed with `keys`, once: they vouch for its rows from then on and not before.
pub fn migrate(url: &DatabaseUrl, keys: LogKeys) -> Result<Vec<String>, OpenError> {
    sql::migrate(url, keys)
}

/// What every storage method gives: a future that resolves when the read is done or the write is durable.
pub type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// A ticket with what a reader needs before advising on it, read in one snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TicketDetails {
    /// The ticket.
    pub ticket: Ticket,
    /// Whose it is.
    pub customer: Customer,
    /// Its comments, newest first.
    pub comments: Page<Comment>,
    /// The customer's other tickets that are open or in progress, newest first, at most ten.
    pub other_tickets: Vec<Ticket>,
    /// How many of those there are.
    pub other_total: Total,
}

/// Tickets that a search found, best first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundTickets {
    /// The tickets; `total` counts the candidates that were ranked.
    pub page: Page<Ticket>,
    /// Whether some tickets hold every word of the query; otherwise those that hold any of them were ranked.
    pub all_words: bool,
    /// Whether there were more candidates than are ranked ([`domain::limits::SEARCH_CANDIDATES`], the newest are).
    pub candidates_capped: bool,
}

/// A ticket after a write that may have named a team.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TicketWithTeam {
    /// The ticket as it is now.
    pub ticket: Ticket,
    /// Whether its team was never seen before: team names are free form, and a typing error would look like one.
    pub new_team: bool,
}

/// A comment after it was added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddedComment {
    /// The comment.
    pub comment: Comment,
    /// The ticket as it is now, its version raised.
    pub ticket: Ticket,
}

/// What an erasure took away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Erased {
    /// Tickets, with their words in the index.
    pub tickets: usize,
    /// Comments on them.
    pub comments: i64,
    /// Calls with their transcripts.
    pub calls: usize,
    /// Scores of those.
    pub scores: i64,
    /// Confirmations that repeated a value of theirs.
    pub confirmations: usize,
    /// Kept answers that did.
    pub answers: usize,
}

/// What came of moving a ticket's status: a refusal by the graph is a value, and is audited like a move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Moved {
    /// It moved.
    Done {
        /// The status that was left.
        from: Status,
        /// The ticket as it is now.
        ticket: Ticket,
    },
    /// The graph has no such edge; nothing changed.
    Forbidden(ForbiddenTransition),
}

/// The desk's records. Each method is one transaction.
///
/// Errors are those of [`StoreError`]; a method that takes `if_version` answers [`StoreError::Stale`] when the row has moved on.
pub trait Storage: Vectors {
    /// One customer.
    fn get_customer(&self, id: CustomerId) -> StoreFuture<'_, Customer>;

    /// Customers that match every given filter.
    fn list_customers(
        &self,
        filter: CustomerFilter,
        order: CustomerOrder,
        page: PageRequest,
    ) -> StoreFuture<'_, Page<Customer>>;

    /// Registers a customer; a folded e-mail address that is taken is [`StoreError::DuplicateEmail`].
    fn create_customer(&self, act: Act, new: Valid<NewCustomer>) -> StoreFuture<'_, Customer>;

    /// One ticket.
    fn get_ticket(&self, id: TicketId) -> StoreFuture<'_, Ticket>;

    /// One ticket with its customer, a page of its comments and the customer's other unfinished tickets.
    fn get_ticket_details(
        &self,
        id: TicketId,
        comments: PageRequest,
    ) -> StoreFuture<'_, TicketDetails>;

    /// Tickets that match every given filter.
    fn list_tickets(
        &self,
        filter: TicketFilter,
        order: TicketOrder,
        page: PageRequest,
    ) -> StoreFuture<'_, Page<Ticket>>;

    /// Tickets whose subject, description or comments hold the words (terms of [`domain::terms::query_terms`]),
    /// best first: by distinct words found, then subject before description before comments, then newest.
    fn search_tickets(
        &self,
        terms: Vec<String>,
        filter: TicketFilter,
        page: PageRequest,
    ) -> StoreFuture<'_, FoundTickets>;

    /// Files a ticket for an existing customer.
    fn create_ticket(&self, act: Act, new: Valid<NewTicket>) -> StoreFuture<'_, TicketWithTeam>;

    /// Gives a ticket to a team or a person, or takes it away.
    fn assign_ticket(
        &self,
        act: Act,
        id: TicketId,
        if_version: Option<Version>,
        assignment: Valid<Assignment>,
    ) -> StoreFuture<'_, TicketWithTeam>;

    /// Adds an internal comment, raises the ticket's version and notes whose turn it is.
    fn add_comment(
        &self,
        act: Act,
        id: TicketId,
        if_version: Option<Version>,
        comment: Valid<NewComment>,
    ) -> StoreFuture<'_, AddedComment>;

    /// Moves a ticket along the graph to a status that it can leave again, or refuses and audits that. Closing is guarded.
    fn change_ticket_status(
        &self,
        act: Act,
        id: TicketId,
        if_version: Option<Version>,
        to: OpenStatus,
    ) -> StoreFuture<'_, Moved>;

    /// Moves a ticket that is in progress to resolved, with an internal comment that says how where one is given;
    /// both are one change of the ticket.
    fn resolve_ticket(
        &self,
        act: Act,
        id: TicketId,
        if_version: Option<Version>,
        resolution: Option<Valid<NewComment>>,
    ) -> StoreFuture<'_, Moved>;

    /// Hands a ticket to security: flag, team, tier 3 and at least high priority, with an internal comment that says why.
    fn escalate_to_security(
        &self,
        act: Act,
        id: TicketId,
        if_version: Option<Version>,
        reason: Valid<NewComment>,
    ) -> StoreFuture<'_, TicketWithTeam>;

    /// Everything that was written on a ticket, to be screened.
    fn get_ticket_texts(&self, id: TicketId) -> StoreFuture<'_, TicketTexts>;

    /// Does an open write once for each key of an actor and tool; a repeated call gets the stored answer for
    /// [`REPLAY_MICROS`].
    fn write_once(&self, act: Act, write: Valid<OpenWrite>, once: Once) -> StoreFuture<'_, Wrote>;

    /// Says what a guarded change would do, from the rows as they are, and keeps that under a new token.
    ///
    /// Nothing but the preview is stored. Its audit row is a refusal: the change was asked for and not made.
    fn preview_change(&self, act: Act, preview: NewPreview) -> StoreFuture<'_, Previewed>;

    /// Spends a token on the change that it was made for, or refuses and audits that.
    ///
    /// Versions and values are compared in the transaction that applies the change, also after a person was asked.
    fn redeem_change(&self, act: Act, redemption: Redemption) -> StoreFuture<'_, Redeemed>;

    /// Changes that wait for a person at this time, oldest first, at most 1,000.
    fn list_approvals(&self, at: Timestamp) -> StoreFuture<'_, Vec<Approval>>;

    /// Notes a person's decision about a change that waits for one; approving applies nothing, the token does.
    /// `gate` seals an approval, so that it counts.
    fn decide_approval(
        &self,
        act: Act,
        id: ApprovalId,
        verdict: Verdict,
        method: ApprovalMethod,
        gate: Arc<dyn Gate>,
    ) -> StoreFuture<'_, Decided>;

    /// Every category, by slug.
    fn list_categories(&self) -> StoreFuture<'_, Vec<Category>>;

    /// Names of teams that have or had a ticket and begin with the folded prefix, by name, at most `limit`.
    fn complete_team(&self, prefix: String, limit: u16) -> StoreFuture<'_, Vec<String>>;

    /// Ids of customers, tickets, articles or calls whose number begins with these digits (all where empty), highest first, at most `limit`.
    fn complete_id(
        &self,
        entity: EntityKind,
        digits: String,
        limit: u16,
    ) -> StoreFuture<'_, Vec<i64>>;

    /// One article with every block.
    fn get_article(&self, id: ArticleId) -> StoreFuture<'_, Article>;

    /// Every article, or those of a category, by id, with every block. A knowledge base is small enough to be read whole.
    fn list_articles(&self, category: Option<String>) -> StoreFuture<'_, Vec<Article>>;

    /// A number that changes whenever an article is added or changed, so that an index over all of them can be kept.
    fn knowledge_stamp(&self) -> StoreFuture<'_, i64>;

    /// One call with its transcript.
    fn get_call(&self, id: CallId) -> StoreFuture<'_, Call>;

    /// The calls with these ids and their scores, in that order; an id that leads nowhere is left out.
    fn get_calls(&self, ids: Vec<CallId>) -> StoreFuture<'_, Vec<ScoredCall>>;

    /// Calls whose transcript holds any of the words, with what there is to rank them by; with no words, those that pass the
    /// filter. Calls are never changed, so a search up to the same call finds the same, but for those that were erased with their customer.
    fn search_calls(&self, query: CallQuery) -> StoreFuture<'_, FoundCalls>;

    /// Scores of calls and tickets, counted, with a few comments.
    fn query_csat(&self, filter: CsatFilter) -> StoreFuture<'_, CsatFindings>;

    /// Audit rows that match every given filter, newest first.
    fn list_audit_entries(
        &self,
        filter: AuditFilter,
        page: PageRequest,
    ) -> StoreFuture<'_, Page<AuditEntry>>;

    /// Walks the whole audit log and says what is wrong with it first, comparing it with `outside`: signed notes that were kept where
    /// the log's writers can't reach them. One snapshot; bounded memory; takes seconds for a million rows.
    fn verify_audit(&self, outside: Vec<String>) -> StoreFuture<'_, AuditReport>;

    /// At most `limit` rows of the audit log after a number, with what proves them, in order.
    fn export_audit(&self, after: i64, limit: u16) -> StoreFuture<'_, Vec<AuditProof>>;

    /// The number of the audit log's last row, 0 for none.
    fn audit_end(&self) -> StoreFuture<'_, i64>;

    /// Signs where the audit log stands, unless it stands where the last note says, which is then given again. Nothing comes of it
    /// where the log is empty, or where the key file has no key for it.
    fn checkpoint_audit(&self, at: Timestamp) -> StoreFuture<'_, Option<AuditNote>>;

    /// What others verify the notes of this log with; absent where the key file has no key for them.
    fn audit_verifier(&self) -> Option<String>;

    /// Appends the audit row of an act that changed nothing, such as a refusal above the store.
    fn record_refusal(&self, act: Act, record: AuditRecord) -> StoreFuture<'_, ()>;

    /// Brings in rows of another system as one job: given status, times and authors are kept.
    ///
    /// With [`OnError::Abort`] one bad row undoes the whole job; with [`OnError::Skip`] the good rows stay.
    /// Rows whose external id or natural key is known are left as they are, so a repeated import changes nothing;
    /// only an article whose content differs is updated.
    fn import(
        &self,
        act: Act,
        rows: Box<dyn Iterator<Item = ImportRow> + Send>,
        on_error: OnError,
    ) -> StoreFuture<'_, ImportReport>;

    /// Stores a personal access token.
    fn create_access_token(&self, act: Act, new: NewAccessToken) -> StoreFuture<'_, AccessToken>;

    /// The personal access token with this hash.
    fn find_access_token(&self, digest: [u8; 32]) -> StoreFuture<'_, Option<AccessToken>>;

    /// Every personal access token, oldest first.
    fn list_access_tokens(&self) -> StoreFuture<'_, Vec<AccessToken>>;

    /// Ends a personal access token; one that was ended before stays as it is.
    fn revoke_access_token(&self, act: Act, id: i64) -> StoreFuture<'_, AccessToken>;

    /// Notes that a personal access token was used, to within an hour.
    fn note_access_token_use(&self, act: Act, id: i64) -> StoreFuture<'_, ()>;

    /// Erases a customer with their tickets, calls, scores and what repeats a text of theirs, and puts that on record.
    /// [`StoreError::Flagged`] while a ticket of theirs is an incident. Copies of the store and logs of the database are
    /// not reached.
    fn erase_customer(&self, act: Act, id: CustomerId) -> StoreFuture<'_, Erased>;

    /// The name of the store, which its first opening drew; no caller ever sees it.
    fn deployment(&self) -> Arc<str>;

    /// Writes that wait for their answer now.
    fn queued_writes(&self) -> usize;

    /// Finishes queued writes, then closes; later calls are [`StoreError::Unavailable`].
    fn close(&self) -> StoreFuture<'_, ()>;
}
