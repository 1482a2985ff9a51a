//! Recorded calls: reading one, finding them, and what one was about.

mod rank;
mod summary;

use domain::terms::query_terms;
use domain::{Call, CallFilter, CallId, CustomerId, EntityKind, Keyset, PageRequest, Total};
use storage::{CallQuery, ScoredCall};

use crate::privacy::seen;
use crate::tickets::checked_query_terms;
use crate::{Caller, Desk, DeskError, InvalidArgument, Listing, cursor};

pub use summary::{CallSummary, Quote};

/// What to search for among which calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallSearch {
    /// Words, never syntax; without any, the calls that pass the filter are listed.
    pub query: Option<String>,
    /// Among which; texts folded.
    pub filter: CallFilter,
    /// Rows at the most, 1 to 100.
    pub limit: Option<u16>,
    /// Where the page begins.
    pub cursor: Option<String>,
}

/// A call that a search found.
#[derive(Clone, Debug, PartialEq)]
pub struct CallHit {
    /// The call.
    pub call: Call,
    /// The scores that it was given, in order of time.
    pub scores: Vec<u8>,
    /// How well it matches: comparable within one result only, and 0 where there were no words.
    pub score: f64,
    /// Index of the turn that matches best; none where nothing was said at all.
    pub turn: Option<usize>,
}

/// What a search found, with the cursor of the next page.
#[derive(Clone, Debug, PartialEq)]
pub struct CallHits {
    /// The calls, best first, or without words those that began last first.
    pub listing: Listing<CallHit>,
    /// Whether more calls match than were ranked.
    pub candidates_capped: bool,
}

/// A call with its scores and what it was about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SummarisedCall {
    /// The call.
    pub call: Call,
    /// The scores that it was given, in order of time.
    pub scores: Vec<u8>,
    /// Sentences of the call, word for word.
    pub summary: CallSummary,
}

const FOUND_CALLS: &str = "found calls";

impl Desk {
    /// One call with its transcript.
    pub async fn get_call(&self, caller: &Caller, id: CallId) -> Result<Call, DeskError> {
        let call = self.store.get_call(id).await?;
        let mask = self.mask_of(caller, call.customer).await?;
        Ok(seen(mask.as_ref(), call))
    }

    /// One call with its scores, and an extract of what was said: what the caller wanted, what the agent did, how it ended.
    pub async fn get_call_summary(
        &self,
        caller: &Caller,
        id: CallId,
    ) -> Result<SummarisedCall, DeskError> {
        let ScoredCall { call, scores } = self
            .seen_calls(caller, vec![id])
            .await?
            .into_iter()
            .next()
            .ok_or_else(|| DeskError::NotFound {
                entity: EntityKind::Call,
                id: id.to_string(),
            })?;
        Ok(SummarisedCall {
            summary: CallSummary::of(&call),
            call,
            scores,
        })
    }

    /// Calls whose transcript holds words of a query, best first; without a query, those that pass the filter.
    ///
    /// A later page is of the calls that were there for the first one, whatever came in since.
    pub async fn search_transcripts(
        &self,
        caller: &Caller,
        search: CallSearch,
    ) -> Result<CallHits, DeskError> {
        self.check_call_filter(&search.filter).await?;
        let terms = match &search.query {
            Some(query) => checked_query_terms(query)?,
            None => Vec::new(),
        };
        let key = (terms.clone(), search.filter.clone());
        let page = cursor::page(FOUND_CALLS, &key, search.limit, search.cursor.as_deref())?;
        let found = self
            .store
            .search_calls(CallQuery {
                terms: terms.clone(),
                filter: search.filter,
                upto: page.after().map(|place| CallId::new(place.key)),
            })
            .await?;
        let upto = found.upto.map_or(0, CallId::number);
        let candidates_capped = found.candidates_capped;
        let weights = rank::weights(&found);
        // The one place where calls are put in order: a second opinion on the words joins here.
        let ranked = rank::order(found.matches, &weights);
        let total = Total::from_capped(i64::try_from(ranked.len()).unwrap_or(i64::MAX));
        let first = begins(&ranked, page)?;
        let rest = ranked.get(first..).unwrap_or_default();
        let shown = rest
            .get(..usize::from(page.limit()))
            .unwrap_or(rest)
            .to_vec();
        let next = shown.last().filter(|_| rest.len() > shown.len());
        let next_cursor = next.map(|last| {
            let place = Keyset {
                key: upto,
                id: last.id.number(),
            };
            cursor::encode(FOUND_CALLS, &key, place)
        });
        let calls = self
            .seen_calls(caller, shown.iter().map(|row| row.id).collect())
            .await?;
        let rows = calls.into_iter().zip(&shown).map(|(found, place)| CallHit {
            turn: rank::best_turn(&found.call, &terms, &weights),
            call: found.call,
            scores: found.scores,
            score: place.score,
        });
        Ok(CallHits {
            listing: Listing {
                rows: rows.collect(),
                total,
                next_cursor,
            },
            candidates_capped,
        })
    }

    /// Calls with their scores as a caller may see them.
    async fn seen_calls(
        &self,
        caller: &Caller,
        ids: Vec<CallId>,
    ) -> Result<Vec<ScoredCall>, DeskError> {
        let calls = self.store.get_calls(ids).await?;
        let customers: Vec<CustomerId> = calls.iter().filter_map(|row| row.call.customer).collect();
        let mask = self.mask_of(caller, customers).await?;
        Ok(seen(mask.as_ref(), calls))
    }

    async fn check_call_filter(&self, filter: &CallFilter) -> Result<(), DeskError> {
        if filter.started.is_inverted() {
            let reason = "must be before the end of its range";
            return Err(InvalidArgument::new("started_from", reason).into());
        }
        check_scores(filter.score)?;
        if let Some(category) = &filter.category {
            self.check_category("category", category).await?;
        }
        Ok(())
    }
}

/// Refuses a range that no score is in; it would look like an empty result.
pub(crate) fn check_scores(range: domain::ScoreRange) -> Result<(), InvalidArgument> {
    if range.is_inverted() {
        let reason = "must not be above `score_max`";
        return Err(InvalidArgument::new("score_min", reason));
    }
    Ok(())
}

/// Where a page begins in the ranking.
fn begins(ranked: &[rank::Ranked], page: PageRequest) -> Result<usize, InvalidArgument> {
    let Some(last) = page.after() else {
        return Ok(0);
    };
    let place = ranked.iter().position(|row| row.id.number() == last.id);
    place.map(|place| place + 1).ok_or_else(|| {
        let reason = "leads to a call that no longer matches; leave it out to begin anew";
        InvalidArgument::new("cursor", reason)
    })
}

/// The terms by which a query's place in a text is found.
pub fn sought_terms(query: Option<&str>) -> Vec<String> {
    query.map(query_terms).unwrap_or_default()
}

#[cfg(test)]
mod tests;
