//! The store over SQL: reads on a few connections, writes as jobs of one writer.
//!
//! Queries for one row end in `get_result` and not in `first`: that adds a bound `LIMIT`, and SQLite prepares a statement
//! with one anew each time, which made a point read take twice as long.

mod access_tokens;
mod audit;
mod call_words;
mod calls;
mod categories;
mod chain;
mod checkpoint;
mod completion;
mod connection;
mod csat;
mod customers;
mod erase;
mod errors;
mod flags;
mod gate;
mod import;
mod knowledge;
mod once;
mod opening;
mod page;
mod readers;
mod rows;
mod schema;
mod search;
mod ticket_writes;
mod tickets;
mod vectors;
mod verify;
mod words;
mod writer;

use std::sync::Arc;

use domain::{
    AccessToken, Act, Action, ApprovalId, Article, ArticleId, Assignment, AuditEntry, AuditFilter,
    AuditRecord, Call, CallId, Category, CsatFilter, Customer, CustomerFilter, CustomerId,
    CustomerOrder, EntityKind, NewAccessToken, NewComment, NewCustomer, NewTicket, OpenStatus,
    OpenWrite, Page, PageRequest, Status, Ticket, TicketFilter, TicketId, TicketOrder, Timestamp,
    Version,
};
use garde::Valid;
use writegate::{ApprovalMethod, Checkpoint, Gate, LogKeys};

use self::chain::Sealer;
use self::connection::{AnyConnection, Database};
use self::errors::Broken;
pub(crate) use self::opening::migrate;
use self::opening::ready_to_write;
use self::readers::Readers;
use self::writer::{Company, Hands, Tx, WriteQueue};
use crate::import::{ImportReport, ImportRow, OnError};
use crate::screening::TicketTexts;
use crate::{
    AddedComment, Approval, AuditNote, AuditProof, AuditReport, CallQuery, CsatFindings,
    DatabaseUrl, Decided, Erased, ExpiryClock, FoundCalls, FoundTickets, Moved, NewPreview, Once,
    OpenError, Options, Previewed, Redeemed, Redemption, ScoredCall, Storage, StoreError,
    StoreFuture, TicketDetails, TicketWithTeam, Verdict, Wrote,
};

/// The store.
pub(crate) struct SqlStorage {
    readers: Readers,
    writer: WriteQueue,
    read_only: bool,
    expiry_clock: ExpiryClock,
    /// Names the store, which is what its tokens are bound to, and verifies its audit log.
    sealer: Sealer,
}

impl SqlStorage {
    /// Opens the store and starts its writer.
    pub(crate) fn open(
        url: &DatabaseUrl,
        keys: LogKeys,
        options: Options,
    ) -> Result<Self, OpenError> {
        let database = Database::locate(url, options.create, options.busy_timeout)?;
        let lock = database.writer_lock()?;
        let steps = database.migrate(&lock)?;
        if !steps.is_empty() {
            tracing::info!(?steps, "the schema was brought up to this build");
        }
        let (mut conn, sealer) = ready_to_write(&database, &lock, keys)?;
        let indexed = call_words::index_waiting(&mut conn, &lock, database.busy_timeout())
            .map_err(|error| OpenError::Unavailable(error.into()))?;
        if indexed > 0 {
            tracing::info!(calls = indexed, "words of calls were made");
        }
        let hands = Hands {
            sealer: sealer.clone(),
            screener: options.screener,
            faults: options.faults,
            expiry_clock: options.expiry_clock,
        };
        let not_started = |error: std::io::Error| OpenError::Unavailable(error.into());
        let writer = WriteQueue::start(database.clone(), lock, conn, options.group_limit, hands)
            .map_err(not_started)?;
        Ok(Self {
            readers: Readers::start(database, options.readers).map_err(not_started)?,
            writer,
            read_only: options.read_only,
            expiry_clock: options.expiry_clock,
            sealer,
        })
    }

    fn read<T: Send + 'static>(
        &self,
        query: impl FnOnce(&mut AnyConnection) -> Result<T, StoreError> + Send + 'static,
    ) -> StoreFuture<'_, T> {
        Box::pin(self.readers.read(query))
    }

    fn write<T: Send + 'static>(
        &self,
        body: impl FnMut(&mut Tx<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> StoreFuture<'_, T> {
        self.write_in(Company::Shared, body)
    }

    fn write_in<T: Send + 'static>(
        &self,
        company: Company,
        body: impl FnMut(&mut Tx<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> StoreFuture<'_, T> {
        if self.read_only {
            let cause = Broken("the store was opened for reading only");
            return Box::pin(std::future::ready(Err(StoreError::Unavailable(
                cause.into(),
            ))));
        }
        Box::pin(self.writer.run(company, body))
    }
}

impl Storage for SqlStorage {
    fn get_customer(&self, id: CustomerId) -> StoreFuture<'_, Customer> {
        self.read(move |conn| customers::get(conn, id))
    }

    fn list_customers(
        &self,
        filter: CustomerFilter,
        order: CustomerOrder,
        page: PageRequest,
    ) -> StoreFuture<'_, Page<Customer>> {
        self.read(move |conn| conn.snapshot(|conn| customers::list(conn, &filter, order, page)))
    }

    fn create_customer(&self, act: Act, new: Valid<NewCustomer>) -> StoreFuture<'_, Customer> {
        self.write(move |tx| customers::create(tx, &act, &new))
    }

    fn get_ticket(&self, id: TicketId) -> StoreFuture<'_, Ticket> {
        self.read(move |conn| tickets::get(conn, id))
    }

    fn get_ticket_details(
        &self,
        id: TicketId,
        comments: PageRequest,
    ) -> StoreFuture<'_, TicketDetails> {
        self.read(move |conn| conn.snapshot(|conn| tickets::details(conn, id, comments)))
    }

    fn list_tickets(
        &self,
        filter: TicketFilter,
        order: TicketOrder,
        page: PageRequest,
    ) -> StoreFuture<'_, Page<Ticket>> {
        self.read(move |conn| conn.snapshot(|conn| tickets::list(conn, &filter, order, page)))
    }

    fn search_tickets(
        &self,
        terms: Vec<String>,
        filter: TicketFilter,
        page: PageRequest,
    ) -> StoreFuture<'_, FoundTickets> {
        self.read(move |conn| conn.snapshot(|conn| search::search(conn, &terms, &filter, page)))
    }

    fn create_ticket(&self, act: Act, new: Valid<NewTicket>) -> StoreFuture<'_, TicketWithTeam> {
        self.write(move |tx| ticket_writes::create(tx, &act, &new))
    }

    fn assign_ticket(
        &self,
        act: Act,
        id: TicketId,
        if_version: Option<Version>,
        assignment: Valid<Assignment>,
    ) -> StoreFuture<'_, TicketWithTeam> {
        self.write(move |tx| ticket_writes::assign(tx, &act, id, if_version, &assignment))
    }

    fn add_comment(
        &self,
        act: Act,
        id: TicketId,
        if_version: Option<Version>,
        comment: Valid<NewComment>,
    ) -> StoreFuture<'_, AddedComment> {
        self.write(move |tx| ticket_writes::add_comment(tx, &act, id, if_version, &comment))
    }

    fn change_ticket_status(
        &self,
        act: Act,
        id: TicketId,
        if_version: Option<Version>,
        to: OpenStatus,
    ) -> StoreFuture<'_, Moved> {
        let (action, to) = (Action::ChangeTicketStatus, to.status());
        self.write(move |tx| ticket_writes::move_ticket(tx, &act, action, id, if_version, to, None))
    }

    fn resolve_ticket(
        &self,
        act: Act,
        id: TicketId,
        if_version: Option<Version>,
        resolution: Option<Valid<NewComment>>,
    ) -> StoreFuture<'_, Moved> {
        let (action, to) = (Action::ResolveTicket, Status::Resolved);
        self.write(move |tx| {
            let comment = resolution.as_deref();
            ticket_writes::move_ticket(tx, &act, action, id, if_version, to, comment)
        })
    }

    fn escalate_to_security(
        &self,
        act: Act,
        id: TicketId,
        if_version: Option<Version>,
        reason: Valid<NewComment>,
    ) -> StoreFuture<'_, TicketWithTeam> {
        self.write(move |tx| flags::escalate(tx, &act, id, if_version, &reason))
    }

    fn get_ticket_texts(&self, id: TicketId) -> StoreFuture<'_, TicketTexts> {
        self.read(move |conn| conn.snapshot(|conn| flags::texts(conn, id)))
    }

    fn write_once(&self, act: Act, write: Valid<OpenWrite>, once: Once) -> StoreFuture<'_, Wrote> {
        self.write(move |tx| once::write(tx, &act, &write, &once))
    }

    fn preview_change(&self, act: Act, preview: NewPreview) -> StoreFuture<'_, Previewed> {
        let deployment = Arc::clone(&self.sealer.deployment);
        self.write(move |tx| {
            tx.judge_by_server()?;
            gate::preview(tx, &act, &deployment, &preview)
        })
    }

    fn redeem_change(&self, act: Act, redemption: Redemption) -> StoreFuture<'_, Redeemed> {
        let deployment = Arc::clone(&self.sealer.deployment);
        self.write(move |tx| {
            tx.judge_by_server()?;
            gate::redeem(tx, &act, &deployment, &redemption)
        })
    }

    fn list_approvals(&self, at: Timestamp) -> StoreFuture<'_, Vec<Approval>> {
        let expiry_clock = self.expiry_clock;
        self.read(move |conn| {
            let now = match expiry_clock {
                ExpiryClock::Database => conn.clock().map_err(errors::classify)?,
                ExpiryClock::Caller => None,
            };
            gate::list(conn, now.unwrap_or(at))
        })
    }

    fn decide_approval(
        &self,
        act: Act,
        id: ApprovalId,
        verdict: Verdict,
        method: ApprovalMethod,
        gate: Arc<dyn Gate>,
    ) -> StoreFuture<'_, Decided> {
        self.write(move |tx| {
            tx.judge_by_server()?;
            gate::decide(tx, &act, id, verdict, method, gate.as_ref())
        })
    }

    fn list_categories(&self) -> StoreFuture<'_, Vec<Category>> {
        self.read(categories::list)
    }

    fn complete_team(&self, prefix: String, limit: u16) -> StoreFuture<'_, Vec<String>> {
        self.read(move |conn| completion::team(conn, &prefix, limit))
    }

    fn complete_id(
        &self,
        entity: EntityKind,
        digits: String,
        limit: u16,
    ) -> StoreFuture<'_, Vec<i64>> {
        self.read(move |conn| conn.snapshot(|conn| completion::id(conn, entity, &digits, limit)))
    }

    fn get_article(&self, id: ArticleId) -> StoreFuture<'_, Article> {
        self.read(move |conn| conn.snapshot(|conn| knowledge::get_article(conn, id)))
    }

    fn list_articles(&self, category: Option<String>) -> StoreFuture<'_, Vec<Article>> {
        self.read(move |conn| {
            conn.snapshot(|conn| knowledge::list_articles(conn, category.as_deref()))
        })
    }

    /// The place of the last audit row about an article: no article changes without one.
    fn knowledge_stamp(&self) -> StoreFuture<'_, i64> {
        self.read(|conn| audit::last_about(conn, EntityKind::Article))
    }

    fn get_call(&self, id: CallId) -> StoreFuture<'_, Call> {
        self.read(move |conn| calls::get(conn, id))
    }

    fn get_calls(&self, ids: Vec<CallId>) -> StoreFuture<'_, Vec<ScoredCall>> {
        self.read(move |conn| conn.snapshot(|conn| calls::get_all(conn, &ids)))
    }

    fn search_calls(&self, query: CallQuery) -> StoreFuture<'_, FoundCalls> {
        self.read(move |conn| conn.snapshot(|conn| calls::search(conn, &query)))
    }

    fn query_csat(&self, filter: CsatFilter) -> StoreFuture<'_, CsatFindings> {
        self.read(move |conn| conn.snapshot(|conn| csat::query(conn, &filter)))
    }

    fn list_audit_entries(
        &self,
        filter: AuditFilter,
        page: PageRequest,
    ) -> StoreFuture<'_, Page<AuditEntry>> {
        self.read(move |conn| conn.snapshot(|conn| audit::list(conn, &filter, page)))
    }

    fn verify_audit(&self, outside: Vec<String>) -> StoreFuture<'_, AuditReport> {
        let sealer = self.sealer.clone();
        self.read(move |conn| conn.snapshot(|conn| verify::verify(conn, &sealer, &outside)))
    }

    fn export_audit(&self, after: i64, limit: u16) -> StoreFuture<'_, Vec<AuditProof>> {
        self.read(move |conn| verify::proofs(conn, after, limit))
    }

    fn audit_end(&self) -> StoreFuture<'_, i64> {
        self.read(|conn| Ok(chain::read_head(conn)?.seq))
    }

    /// A store for reading only has rows of its own too: its refusals.
    fn checkpoint_audit(&self, at: Timestamp) -> StoreFuture<'_, Option<AuditNote>> {
        let taken = move |tx: &mut Tx<'_>| checkpoint::take(tx, at);
        Box::pin(self.writer.run(Company::Shared, taken))
    }

    fn audit_verifier(&self) -> Option<String> {
        let origin = Checkpoint::origin(&self.sealer.deployment, chain::CHAIN);
        Some(self.sealer.keys.checkpoint_key()?.verifier(&origin))
    }

    /// The one write that a store for reading only takes: what it refuses must be on record too.
    fn record_refusal(&self, act: Act, record: AuditRecord) -> StoreFuture<'_, ()> {
        Box::pin(
            self.writer
                .run(Company::Shared, move |tx| audit::append(tx, &act, &record)),
        )
    }

    /// The rows can be read only once, so the job shares its transaction with no other.
    fn import(
        &self,
        act: Act,
        mut rows: Box<dyn Iterator<Item = ImportRow> + Send>,
        on_error: OnError,
    ) -> StoreFuture<'_, ImportReport> {
        self.write_in(Company::Alone, move |tx| {
            import::import(tx, &act, rows.as_mut(), on_error)
        })
    }

    fn create_access_token(&self, act: Act, new: NewAccessToken) -> StoreFuture<'_, AccessToken> {
        self.write(move |tx| access_tokens::create(tx, &act, &new))
    }

    fn find_access_token(&self, digest: [u8; 32]) -> StoreFuture<'_, Option<AccessToken>> {
        self.read(move |conn| access_tokens::find(conn, &digest))
    }

    fn list_access_tokens(&self) -> StoreFuture<'_, Vec<AccessToken>> {
        self.read(access_tokens::list)
    }

    fn revoke_access_token(&self, act: Act, id: i64) -> StoreFuture<'_, AccessToken> {
        self.write(move |tx| access_tokens::revoke(tx, &act, id))
    }

    fn erase_customer(&self, act: Act, id: CustomerId) -> StoreFuture<'_, Erased> {
        self.write(move |tx| erase::erase_customer(tx, &act, id))
    }

    fn note_access_token_use(&self, act: Act, id: i64) -> StoreFuture<'_, ()> {
        self.write(move |tx| access_tokens::note_use(tx, &act, id))
    }

    fn deployment(&self) -> Arc<str> {
        Arc::clone(&self.sealer.deployment)
    }

    fn queued_writes(&self) -> usize {
        self.writer.depth()
    }

    fn close(&self) -> StoreFuture<'_, ()> {
        Box::pin(async {
            self.readers.close();
            self.writer.close().await;
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests;
