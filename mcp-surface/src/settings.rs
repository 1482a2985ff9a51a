//! What an operator decides: which tools there are and how much a call may take.

use std::time::Duration;

use domain::UnknownValue;
use domain::text_enum::fold_word;

/// A group of tools that is switched on or off as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Toolset {
    /// The people whom the desk serves.
    Customers,
    /// Their tickets and what is said on them.
    Tickets,
    /// The knowledge base.
    Knowledge,
    /// Replies to customers.
    Replies,
    /// Recorded calls and scores.
    Calls,
    /// What people decide about held tickets and payments.
    Review,
    /// The audit log.
    Audit,
}

impl Toolset {
    /// Every toolset, in the order of listings.
    pub const ALL: &'static [Self] = &[
        Self::Customers,
        Self::Tickets,
        Self::Knowledge,
        Self::Replies,
        Self::Calls,
        Self::Review,
        Self::Audit,
    ];

    /// Its name on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Customers => "customers",
            Self::Tickets => "tickets",
            Self::Knowledge => "knowledge",
            Self::Replies => "replies",
            Self::Calls => "calls",
            Self::Review => "review",
            Self::Audit => "audit",
        }
    }

    /// Reads a name. An unknown one must stop the start: it is a safety setting (field report 41).
    pub fn parse(given: &str) -> Result<Self, UnknownValue> {
        let folded = fold_word(given);
        Self::ALL
            .iter()
            .copied()
            .find(|toolset| toolset.as_str() == folded)
            .ok_or_else(|| UnknownValue {
                given: crate::args::echo(given),
                allowed: Self::ALL.iter().map(|toolset| toolset.as_str()).collect(),
            })
    }
}

impl Toolset {
    /// Reads a list of names; one that is named twice counts once.
    pub fn parse_all<'a>(
        given: impl IntoIterator<Item = &'a str>,
    ) -> Result<Vec<Self>, UnknownValue> {
        let mut chosen = Vec::new();
        for name in given {
            let toolset = Self::parse(name)?;
            if !chosen.contains(&toolset) {
                chosen.push(toolset);
            }
        }
        Ok(chosen)
    }
}

impl std::fmt::Display for Toolset {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The settings of a surface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Tools, resources and prompts of other toolsets don't exist.
    pub toolsets: Vec<Toolset>,
    /// Whether tools that write are left out and refused.
    pub read_only: bool,
    /// How long a call may take.
    pub timeout: Duration,
    /// How long a person who is asked may think; a preview for a person is good for fifteen minutes.
    pub answer_timeout: Duration,
    /// Calls at once; more wait for a moment and are then refused.
    pub concurrency: usize,
    /// Bytes of a result, structured part and text block together; at least [`Settings::RESULT_BYTES_MIN`].
    pub result_bytes: usize,
}

impl Settings {
    /// One row with every label at its greatest length fits into this.
    pub const RESULT_BYTES_MIN: usize = 12_000;
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            toolsets: Toolset::ALL.to_vec(),
            read_only: false,
            timeout: Duration::from_secs(30),
            answer_timeout: Duration::from_mins(10),
            concurrency: 64,
            // 6,000 tokens of four bytes.
            result_bytes: 24_000,
        }
    }
}
