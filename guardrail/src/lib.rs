//! The wall before customers: a floor of indicators, a classifier that can only refuse, and `Cleared`.
//!
//! [`screen()`] reads everything that customers and staff wrote on a ticket. Only it makes a [`Cleared`], and without one
//! nothing is drafted and nothing is published (design section 5).

pub mod classifier;
mod floor;
mod fold;
pub mod local;
pub mod outgoing;
pub mod remote;
mod screen;
mod ticket;
pub mod train;

pub use screen::{
    Cleared, ESCALATE_TO, Evidence, Indicator, LONGEST_INPUT, Refusal, RefusalKind, Screened,
    Screening, Stage, screen, screen_at_once,
};
pub use ticket::{Flag, Lifts, PaymentVerification, Review, Segment, Source, Ticket};
