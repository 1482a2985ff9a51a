//! What the store says of calls and scores: facts that are counted there and judged above it.

use domain::{Call, CallFilter, CallId, CsatSubject, CustomerId, Timestamp};

/// A call with the scores that it was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScoredCall {
    /// The call.
    pub call: Call,
    /// Its scores, 1 to 5, in the order in which they were given.
    pub scores: Vec<u8>,
}

/// Which calls to look for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallQuery {
    /// Terms of [`domain::terms::query_terms`]; with none, every call that passes the filter is meant.
    pub terms: Vec<String>,
    /// Among which calls; texts folded.
    pub filter: CallFilter,
    /// Among those that were there already when this one came in: a later page is of the same search.
    pub upto: Option<CallId>,
}

/// A call that holds terms of a query: what there is to rank it by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallMatch {
    /// The call.
    pub id: CallId,
    /// When it began.
    pub started_at: Timestamp,
    /// A bit for each term that the caller said.
    pub by_caller: u32,
    /// A bit for each term that the agent said.
    pub by_agent: u32,
    /// Distinct words of the caller and of the agent, added up.
    pub words: u32,
}

/// What a query found, in no order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundCalls {
    /// The calls, at most [`domain::limits::SEARCH_CANDIDATES`].
    pub matches: Vec<CallMatch>,
    /// For each term, how many calls hold it, whatever the filter.
    pub having: Vec<i64>,
    /// How many calls there are, whatever the filter.
    pub calls: i64,
    /// The newest call among which was searched; none where there is no call at all.
    pub upto: Option<CallId>,
    /// Whether there are more: those left out hold only the commoner terms, or came in before the ones that are here.
    pub candidates_capped: bool,
}

/// How often a score was given in a category and week.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CsatCount {
    /// Slug of the category.
    pub category: String,
    /// The Monday on which the week begins, in UTC.
    pub week: Timestamp,
    /// The score, 1 to 5.
    pub score: u8,
    /// How often it was given.
    pub times: u64,
}

/// What a customer added to a score.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CsatComment {
    /// What it is about.
    pub subject: CsatSubject,
    /// Whose call or ticket that is, where known.
    pub customer: Option<CustomerId>,
    /// The score.
    pub score: u8,
    /// The words.
    pub comment: String,
    /// Slug of the category.
    pub category: String,
    /// When it was given.
    pub submitted_at: Timestamp,
}

/// Scores that pass a filter, counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CsatFindings {
    /// How often each score was given, by category, week and score.
    pub counts: Vec<CsatCount>,
    /// The newest comments to each score, from the lowest score up, at most [`CsatFindings::COMMENTS`] to each.
    pub comments: Vec<CsatComment>,
}

impl CsatFindings {
    /// Comments to one score: enough to hear several voices on each side.
    pub const COMMENTS: i64 = 2;
}
