//! Satisfaction: how the scores that customers gave are spread, by category and week.

use std::collections::BTreeMap;

use domain::{CsatFilter, CsatTally, CustomerId, Timestamp};
use storage::CsatComment;

use crate::calls::check_scores;
use crate::privacy::seen;
use crate::{Caller, Desk, DeskError, InvalidArgument};

/// Scores that pass a filter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Satisfaction {
    /// All of them.
    pub all: CsatTally,
    /// Those of each category that has any, by slug.
    pub by_category: Vec<(String, CsatTally)>,
    /// Those of each week that has any, by the Monday on which it begins in UTC, the newest first.
    pub by_week: Vec<(Timestamp, CsatTally)>,
    /// What customers added: the newest to each score, from the lowest score up.
    pub comments: Vec<CsatComment>,
}

impl Desk {
    /// Counts scores of calls and tickets that match every given filter.
    pub async fn query_csat(
        &self,
        caller: &Caller,
        filter: CsatFilter,
    ) -> Result<Satisfaction, DeskError> {
        if filter.submitted.is_inverted() {
            let reason = "must be before the end of its range";
            return Err(InvalidArgument::new("submitted_from", reason).into());
        }
        check_scores(filter.score)?;
        if let Some(category) = &filter.category {
            self.check_category("category", category).await?;
        }
        let found = self.store.query_csat(filter).await?;
        let customers: Vec<CustomerId> = found
            .comments
            .iter()
            .filter_map(|comment| comment.customer)
            .collect();
        let mask = self.mask_of(caller, customers).await?;
        let mut all = CsatTally::default();
        let mut by_category: BTreeMap<String, CsatTally> = BTreeMap::new();
        let mut by_week: BTreeMap<Timestamp, CsatTally> = BTreeMap::new();
        for row in found.counts {
            all.add(row.score, row.times);
            let of_week = by_week.entry(row.week).or_default();
            of_week.add(row.score, row.times);
            let of_category = by_category.entry(row.category).or_default();
            of_category.add(row.score, row.times);
        }
        Ok(Satisfaction {
            all,
            by_category: by_category.into_iter().collect(),
            by_week: by_week.into_iter().rev().collect(),
            comments: seen(mask.as_ref(), found.comments),
        })
    }
}
