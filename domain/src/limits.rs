//! Lengths and counts that inputs may have, in one place, each with its reason.
//!
//! Lengths count Unicode scalar values, which is what a JSON schema's `maxLength` counts.

/// A subject line: what one row of a queue can show.
pub const SUBJECT_CHARS: usize = 200;
/// A ticket's description: about 5,000 tokens, so that one body fits into one result (6,000 tokens).
pub const DESCRIPTION_CHARS: usize = 20_000;
/// A comment, by the same measure as a description.
pub const COMMENT_CHARS: usize = 20_000;
/// Names of people, organisations, teams and assignees.
pub const NAME_CHARS: usize = 200;
/// RFC 5321 section 4.5.3.1.3 allows a path of 256 octets, two of which are angle brackets.
pub const EMAIL_CHARS: usize = 254;
/// E.164 allows 15 digits; the rest is for how people space them and for an extension.
pub const PHONE_CHARS: usize = 40;
/// A search query: two or three sentences.
pub const QUERY_CHARS: usize = 500;
/// A category slug.
pub const SLUG_CHARS: usize = 60;
/// A reason for an escalation or a review.
pub const REASON_CHARS: usize = 2_000;
/// An idempotency key; a UUID has 36 characters.
pub const IDEMPOTENCY_KEY_CHARS: usize = 100;
/// A page cursor as this server makes them is about 50 characters.
pub const CURSOR_CHARS: usize = 200;
/// How much of a bad value an error repeats.
pub const ECHO_CHARS: usize = 60;

/// Rows on a page when none is asked for.
pub const PAGE_DEFAULT: u16 = 20;
/// Rows on a page at the most.
pub const PAGE_MAX: u16 = 100;
/// Up to here `total` is counted exactly; beyond it is a lower bound, so that a count never scans a large table.
pub const TOTAL_EXACT: u32 = 1_000;
/// Candidates that a search ranks, newest first; the result says when there were more.
pub const SEARCH_CANDIDATES: usize = 1_000;
/// Distinct words of a query that are looked up; more do not make it more selective.
pub const QUERY_TERMS: usize = 32;
