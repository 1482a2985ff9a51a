//! Recorded calls and the scores that customers gave.

use crate::text_enum::text_enum;
use crate::{CallId, CustomerId, TicketId, Timestamp};

text_enum! {
    /// How a call ended.
    CallOutcome {
        /// Solved on the line.
        Resolved = "resolved",
        /// Handed to another line or team.
        Escalated = "escalated",
        /// Somebody will call back.
        Callback = "callback",
        /// Ended without a solution.
        Unresolved = "unresolved",
    }
}

text_enum! {
    /// Who speaks in a turn.
    Speaker {
        /// The desk.
        Agent = "agent",
        /// The customer.
        Caller = "caller",
    }
}

/// One turn of a transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Who speaks.
    pub speaker: Speaker,
    /// Seconds from the start of the call.
    pub at_seconds: u32,
    /// What was said.
    pub text: String,
}

/// A call as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Its id.
    pub id: CallId,
    /// Who called, where known.
    pub customer: Option<CustomerId>,
    /// The ticket that it led to, where there is one.
    pub ticket: Option<TicketId>,
    /// When it began.
    pub started_at: Timestamp,
    /// How long it took, in seconds.
    pub duration_seconds: u32,
    /// Who answered.
    pub agent: String,
    /// Slug of a category.
    pub category: String,
    /// How it ended.
    pub outcome: CallOutcome,
    /// What was said, in order.
    pub turns: Vec<Turn>,
}

/// What a score is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CsatSubject {
    /// A call.
    Call(CallId),
    /// A ticket.
    Ticket(TicketId),
}

/// A customer's answer to "how satisfied are you".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CsatResponse {
    /// What it is about.
    pub subject: CsatSubject,
    /// 1 (not at all) to 5 (very).
    pub score: u8,
    /// What the customer added.
    pub comment: Option<String>,
    /// Slug of a category.
    pub category: String,
    /// When it was given.
    pub submitted_at: Timestamp,
}

/// How often each score was given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CsatTally {
    by_score: [u64; 5],
}

impl CsatTally {
    /// Counts a score this many times more; what is not 1 to 5 is no score and counts for nothing.
    pub fn add(&mut self, score: u8, times: u64) {
        let place = usize::from(score).checked_sub(1);
        if let Some(count) = place.and_then(|place| self.by_score.get_mut(place)) {
            *count += times;
        }
    }

    /// How many scores there are.
    pub fn count(&self) -> u64 {
        self.by_score.iter().sum()
    }

    /// How often each score was given, from 1 to 5.
    pub const fn by_score(&self) -> [u64; 5] {
        self.by_score
    }

    /// The mean score; none where there is no score.
    pub fn mean(&self) -> Option<f64> {
        let scores = (1_u64..).zip(self.by_score);
        let sum: u64 = scores.map(|(score, times)| score * times).sum();
        self.ratio(sum)
    }

    /// The share of scores of 4 and 5, from 0 to 1; none where there is no score.
    pub fn satisfied(&self) -> Option<f64> {
        let [_, _, _, four, five] = self.by_score;
        self.ratio(four + five)
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "counts of scores are far below 2^53"
    )]
    fn ratio(&self, part: u64) -> Option<f64> {
        let count = self.count();
        (count > 0).then(|| part as f64 / count as f64)
    }
}

#[cfg(test)]
mod tests {
    //! Figures of small sets.

    use super::*;

    #[test]
    fn an_empty_set_has_a_count_and_no_mean() {
        let mut tally = CsatTally::default();
        for no_score in [0, 6, 255] {
            tally.add(no_score, 3);
        }
        assert_eq!(tally.count(), 0);
        assert_eq!((tally.mean(), tally.satisfied()), (None, None));
    }

    #[test]
    fn mean_and_share_are_those_of_all_scores() {
        let mut tally = CsatTally::default();
        for (score, times) in [(1, 1), (4, 2), (5, 1), (3, 0)] {
            tally.add(score, times);
        }
        assert_eq!(tally.by_score(), [1, 0, 0, 2, 1]);
        assert_eq!(tally.count(), 4);
        assert_eq!((tally.mean(), tally.satisfied()), (Some(3.5), Some(0.75)));
    }
}
