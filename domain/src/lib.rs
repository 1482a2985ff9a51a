//! Entities, rules and proof types of the desk: no I/O, no clock, no randomness, no serialization.
//!
//! Read in this order: [`id`] and [`text_enum`] for the vocabulary, [`status`] for the graph,
//! [`ticket`], [`customer`], [`comment`], [`article`], [`call`] for the entities, [`filter`] for what
//! lists accept, [`actor`], [`audit`] and [`change`] for who did what.

pub mod access;
pub mod access_token;
pub mod actor;
pub mod article;
pub mod audit;
pub mod call;
pub mod category;
pub mod change;
pub mod clock;
pub mod comment;
pub mod contact;
pub mod customer;
pub mod filter;
pub mod guarded;
pub mod id;
pub mod limits;
pub mod status;
pub mod terms;
pub mod text;
pub mod text_enum;
pub mod ticket;
pub mod timestamp;

pub use access::{Role, Scope, ScopeSet};
pub use access_token::{AccessToken, NewAccessToken};
pub use actor::{Act, Actor, Channel as ActorChannel, Proof};
pub use article::{Article, Audience, Block};
pub use audit::{Action, AuditEntry, AuditRecord, EntityKind, Outcome};
pub use call::{Call, CallOutcome, CsatResponse, CsatSubject, CsatTally, Speaker, Turn};
pub use category::{Category, CategoryKind};
pub use change::{Change, FieldChange, FieldValue};
pub use clock::{Clock, IdSource};
pub use comment::{Comment, NewComment, Origin, Visibility};
pub use customer::{Customer, CustomerStatus, NewCustomer};
pub use filter::{
    AuditFilter, CallFilter, CsatFilter, CustomerFilter, CustomerOrder, Keyset, Page, PageRequest,
    ScoreRange, TicketFilter, TicketOrder, TimeRange, Total,
};
pub use guarded::{
    Argument, Arguments, BadArguments, CustomerPatch, Deleted, GuardedWrite, OpenWrite, Operation,
    PaymentVerification, Publication, ReviewVerdict, SecurityReview, TicketPatch,
};
pub use id::{ApprovalId, ArticleId, CallId, CommentId, CustomerId, IdError, TicketId, Version};
pub use status::{ForbiddenTransition, OpenStatus, Status, Transition};
pub use text_enum::UnknownValue;
pub use ticket::{
    Assign, Assignment, Channel, LastCommentBy, NewTicket, Priority, SecurityFlag, Ticket, Tier,
};
pub use timestamp::{Timestamp, TimestampError};
