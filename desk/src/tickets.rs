//! Tickets: reading, filing, assigning, commenting, moving.

use domain::terms::query_terms;
use domain::{
    Action, Assignment, NewComment, NewTicket, OpenStatus, Status, Ticket, TicketFilter, TicketId,
    TicketOrder, Version, limits,
};
use garde::Valid;
use storage::{AddedComment, FoundTickets, Moved, TicketDetails, TicketWithTeam};

use crate::privacy::seen;
use crate::{Caller, Desk, DeskError, InvalidArgument, Listing, cursor};

/// Which tickets, in which order, which page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TicketList {
    /// Which; texts folded.
    pub filter: TicketFilter,
    /// The order; newest first where absent.
    pub order: Option<TicketOrder>,
    /// Rows at the most, 1 to 100.
    pub limit: Option<u16>,
    /// Where the page begins.
    pub cursor: Option<String>,
}

/// What to search for among which tickets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TicketSearch {
    /// Words, never syntax.
    pub query: String,
    /// Among which; texts folded.
    pub filter: TicketFilter,
    /// Rows at the most, 1 to 100.
    pub limit: Option<u16>,
    /// Where the page begins.
    pub cursor: Option<String>,
}

/// A dossier with the cursor of the older comments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dossier {
    /// What the store read in one snapshot; comments are newest first.
    pub details: TicketDetails,
    /// Gives the comments before the oldest of these.
    pub next_cursor: Option<String>,
}

/// What a search found, with the cursor of the next page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TicketHits {
    /// The tickets, best first.
    pub listing: Listing<Ticket>,
    /// Whether every word was found; otherwise tickets with any of the words were ranked.
    pub all_words: bool,
    /// Whether only the newest candidates were ranked.
    pub candidates_capped: bool,
}

impl Desk {
    /// One ticket.
    pub async fn get_ticket(&self, caller: &Caller, id: TicketId) -> Result<Ticket, DeskError> {
        let ticket = self.store.get_ticket(id).await?;
        self.seen_ticket(caller, ticket).await
    }

    /// A ticket with its customer, a page of comments and the customer's other unfinished tickets.
    pub async fn get_ticket_details(
        &self,
        caller: &Caller,
        id: TicketId,
        limit: Option<u16>,
        cursor: Option<&str>,
    ) -> Result<Dossier, DeskError> {
        let page = cursor::page("comments", &id, limit, cursor)?;
        let details = self.store.get_ticket_details(id, page).await?;
        let mask = self.mask_of(caller, [details.customer.id]).await?;
        let details = seen(mask.as_ref(), details);
        let next_cursor = details
            .comments
            .next
            .map(|place| cursor::encode("comments", &id, place));
        Ok(Dossier {
            details,
            next_cursor,
        })
    }

    /// Tickets that match every given filter.
    pub async fn list_tickets(
        &self,
        caller: &Caller,
        list: TicketList,
    ) -> Result<Listing<Ticket>, DeskError> {
        self.check_ticket_filter(&list.filter).await?;
        let order = list.order.unwrap_or(TicketOrder::Newest);
        let key = (list.filter.clone(), order);
        let page = cursor::page("tickets", &key, list.limit, list.cursor.as_deref())?;
        let mut found = self.store.list_tickets(list.filter, order, page).await?;
        found.rows = self.seen_tickets(caller, found.rows).await?;
        Ok(Listing::from_page("tickets", &key, found))
    }

    /// Tickets that hold the words of a query, best first.
    pub async fn search_tickets(
        &self,
        caller: &Caller,
        search: TicketSearch,
    ) -> Result<TicketHits, DeskError> {
        self.check_ticket_filter(&search.filter).await?;
        let terms = checked_query_terms(&search.query)?;
        let key = (terms.clone(), search.filter.clone());
        let page = cursor::page(
            "found tickets",
            &key,
            search.limit,
            search.cursor.as_deref(),
        )?;
        let FoundTickets {
            mut page,
            all_words,
            candidates_capped,
        } = self
            .store
            .search_tickets(terms, search.filter, page)
            .await?;
        page.rows = self.seen_tickets(caller, page.rows).await?;
        Ok(TicketHits {
            listing: Listing::from_page("found tickets", &key, page),
            all_words,
            candidates_capped,
        })
    }

    /// Files a ticket.
    pub async fn create_ticket(
        &self,
        caller: &Caller,
        new: Valid<NewTicket>,
    ) -> Result<TicketWithTeam, DeskError> {
        let act = caller.act(self.clock.now(), "create_ticket");
        self.seen_with_team(caller, self.store.create_ticket(act, new).await?)
            .await
    }

    /// Gives a ticket to a team or a person, or takes it away. Asking for nothing is refused.
    pub async fn assign_ticket(
        &self,
        caller: &Caller,
        id: TicketId,
        if_version: Option<Version>,
        assignment: Valid<Assignment>,
    ) -> Result<TicketWithTeam, DeskError> {
        if assignment.is_empty() {
            return Err(InvalidArgument::new(
                "team",
                "or `assignee` or `unassign` is needed: there is nothing to change",
            )
            .into());
        }
        let act = caller.act(self.clock.now(), "assign_ticket");
        let answer = self
            .store
            .assign_ticket(act, id, if_version, assignment)
            .await?;
        self.seen_with_team(caller, answer).await
    }

    /// Adds an internal comment.
    pub async fn add_comment(
        &self,
        caller: &Caller,
        id: TicketId,
        if_version: Option<Version>,
        comment: Valid<NewComment>,
    ) -> Result<AddedComment, DeskError> {
        let act = caller.act(self.clock.now(), "add_comment");
        let added = self.store.add_comment(act, id, if_version, comment).await?;
        let mask = self.mask_of(caller, [added.ticket.customer]).await?;
        Ok(AddedComment {
            comment: seen(mask.as_ref(), added.comment),
            ticket: seen(mask.as_ref(), added.ticket),
        })
    }

    /// Moves a ticket along the graph to a status that it can leave again.
    pub async fn change_ticket_status(
        &self,
        caller: &Caller,
        id: TicketId,
        if_version: Option<Version>,
        to: OpenStatus,
    ) -> Result<(Status, Ticket), DeskError> {
        let act = caller.act(self.clock.now(), "change_ticket_status");
        let answer = self
            .store
            .change_ticket_status(act.clone(), id, if_version, to)
            .await;
        let answer = self.unless_flagged(&act, Action::ChangeTicketStatus, answer);
        let (from, ticket) = moved(answer.await?)?;
        Ok((from, self.seen_ticket(caller, ticket).await?))
    }

    /// Resolves a ticket that is in progress, with an internal comment that says how where one is given.
    pub async fn resolve_ticket(
        &self,
        caller: &Caller,
        id: TicketId,
        if_version: Option<Version>,
        resolution: Option<Valid<NewComment>>,
    ) -> Result<(Status, Ticket), DeskError> {
        let act = caller.act(self.clock.now(), "resolve_ticket");
        let answer = self
            .store
            .resolve_ticket(act.clone(), id, if_version, resolution)
            .await;
        let answer = self.unless_flagged(&act, Action::ResolveTicket, answer);
        let (from, ticket) = moved(answer.await?)?;
        Ok((from, self.seen_ticket(caller, ticket).await?))
    }

    pub(crate) async fn seen_with_team(
        &self,
        caller: &Caller,
        answer: TicketWithTeam,
    ) -> Result<TicketWithTeam, DeskError> {
        Ok(TicketWithTeam {
            ticket: self.seen_ticket(caller, answer.ticket).await?,
            ..answer
        })
    }

    async fn check_ticket_filter(&self, filter: &TicketFilter) -> Result<(), DeskError> {
        for (field, range) in [
            ("created_from", filter.created),
            ("updated_from", filter.updated),
        ] {
            if range.is_inverted() {
                return Err(
                    InvalidArgument::new(field, "must be before the end of its range").into(),
                );
            }
        }
        if let Some(category) = &filter.category {
            self.check_category("category", category).await?;
        }
        Ok(())
    }

    /// Refuses a category that the table does not have; a filter by it would look like an empty result.
    pub(crate) async fn check_category(
        &self,
        field: &str,
        category: &str,
    ) -> Result<(), DeskError> {
        let known = self.store.list_categories().await?;
        if known.iter().any(|row| row.slug == *category) {
            return Ok(());
        }
        let given: String = category.chars().take(limits::ECHO_CHARS).collect();
        let allowed = known.into_iter().map(|row| row.slug).collect();
        Err(InvalidArgument::not_among(field, &given, allowed).into())
    }
}

/// The terms of a query; a query without a letter or digit is a mistake and not an empty result.
pub(crate) fn checked_query_terms(query: &str) -> Result<Vec<String>, InvalidArgument> {
    let length = query.chars().count();
    if length > limits::QUERY_CHARS {
        let reason = format!(
            "must be at most {} characters, and has {length}",
            limits::QUERY_CHARS
        );
        return Err(InvalidArgument::new("query", reason));
    }
    let terms = query_terms(query);
    if terms.is_empty() {
        return Err(InvalidArgument::new(
            "query",
            "must hold at least one letter or digit",
        ));
    }
    Ok(terms)
}

fn moved(moved: Moved) -> Result<(Status, Ticket), DeskError> {
    match moved {
        Moved::Done { from, ticket } => Ok((from, ticket)),
        Moved::Forbidden(refused) => Err(refused.into()),
    }
}
