//! Tools that change tickets. Each names the version that it left, so that the next write can ask for it.

use desk::{DeskError, InvalidArgument, valid};
use domain::ticket::Assign;
use domain::{
    Action, Arguments as Values, Assignment, Channel, CustomerId, EntityKind, GuardedWrite,
    NewComment, NewTicket, OpenStatus, OpenWrite, Operation, Origin, Priority, Publication, Scope,
    Status, TicketId, Tier, Version, Visibility, category, limits,
};
use futures::FutureExt as _;

use super::{Key, Name, REPLAYED, TICKET, wording};
use crate::Toolset;
use crate::args::{Arguments, Label, Prose, Slug, Unassign, Usual, arguments};
use crate::confirm::{Wanted, write};
use crate::outcome::REFUSAL;
use crate::spec::{Call, Guard, Hints, Output, Policy, Step, ToolSpec, Type};

pub(super) const NEW_TEAM: &[Output] = &[("new_team", Type::Flag)];

const MOVED: &[Output] = &[
    ("ticket_id", Type::Text),
    ("status_before", Type::Text),
    ("status_after", Type::Text),
    ("updated_at", Type::Text),
    ("version", Type::Whole),
];

pub(super) static TOOLS: &[ToolSpec] = &[
    ToolSpec {
        name: "create_ticket",
        title: "Create ticket",
        toolset: Toolset::Tickets,
        description: "Files a ticket for an existing customer: open, and unless given medium, general, tier 1. \
            Nobody is notified. Returns the ticket's fields; new_team true means the team name was never used \
            before, so check its spelling. NOT_FOUND: the customer does not exist, see list_customers.",
        policy: Policy::write(Scope::DeskComment),
        hints: Hints::ADDS,
        operations: &[Operation::CreateTicket],
        args: CreateTicketArgs::ARGS,
        output: &[TICKET, NEW_TEAM, REPLAYED],
        run: |call| create_ticket(call).boxed(),
    },
    ToolSpec {
        name: "assign_ticket",
        title: "Assign ticket",
        toolset: Toolset::Tickets,
        description: "Gives a ticket to a team, a person or both, or takes it away with unassign. What is not named \
            stays. Does not change status or tier. Returns the ticket's fields and new_team.",
        policy: Policy::write(Scope::DeskWrite),
        hints: Hints::SETS,
        operations: &[Operation::AssignTicket],
        args: AssignTicketArgs::ARGS,
        output: &[TICKET, NEW_TEAM],
        run: |call| assign_ticket(call).boxed(),
    },
    ToolSpec {
        name: "add_comment",
        title: "Add comment",
        toolset: Toolset::Tickets,
        description: "Adds an internal comment, which only staff sees. With from_customer it records what the customer \
            said, e.g. on the phone, and the ticket then waits for the desk. visibility public publishes the body to the \
            customer and needs desk:write: the first call returns CONFIRMATION_REQUIRED with a preview, or asks the \
            user. Returns comment_id, visibility, version.",
        policy: Policy::guarded(Scope::DeskComment, Guard::Token),
        hints: Hints::ADDS,
        operations: &[Operation::AddComment, Operation::PublishComment],
        args: AddCommentArgs::ARGS,
        output: &[&[
            ("comment_id", Type::Text),
            ("ticket_id", Type::Text),
            ("visibility", Type::Text),
            ("origin", Type::Text),
            ("last_comment_by", Type::Text),
            ("created_at", Type::Text),
            ("version", Type::Whole),
        ]],
        run: |call| add_comment(call).boxed(),
    },
    ToolSpec {
        name: "change_ticket_status",
        title: "Change ticket status",
        toolset: Toolset::Tickets,
        description: "Moves a ticket: open to in_progress; in_progress to resolved or open; resolved to in_progress; any \
            to closed, which is final: that call first returns CONFIRMATION_REQUIRED with a preview, or asks the user. \
            To resolve with a note use resolve_ticket. FORBIDDEN_TRANSITION: allowed lists the next statuses.",
        policy: Policy::guarded(Scope::DeskWrite, Guard::Token),
        hints: Hints::SETS,
        operations: &[Operation::MoveTicket, Operation::CloseTicket],
        args: ChangeTicketStatusArgs::ARGS,
        output: &[MOVED],
        run: |call| change_ticket_status(call).boxed(),
    },
    ToolSpec {
        name: "resolve_ticket",
        title: "Resolve ticket",
        toolset: Toolset::Tickets,
        description: "Resolves a ticket that is in_progress, with an internal comment that says how; the customer is \
            not told. From another status: FORBIDDEN_TRANSITION, move it to in_progress first.",
        policy: Policy::write(Scope::DeskWrite),
        hints: Hints::SETS,
        operations: &[Operation::ResolveTicket],
        args: ResolveTicketArgs::ARGS,
        output: &[MOVED, REFUSAL],
        run: |call| resolve_ticket(call).boxed(),
    },
];

arguments! {
    /// Arguments of `create_ticket`.
    CreateTicketArgs {
        customer_id: Usual<CustomerId> = wording::CUSTOMER_ID;
        subject: Usual<Label<{ limits::SUBJECT_CHARS }>> = "One line.";
        description: Usual<Prose<{ limits::DESCRIPTION_CHARS }>> = "The request, in the customer's words.";
        priority: Option<Priority> = "urgent: site down or security incident; high: several blocked or a deadline \
            today; medium: one person; low: has a workaround.";
        category: Option<Slug> = wording::CATEGORY;
        channel: Option<Channel> = "How it came in; default portal.";
        tier: Option<Tier> = "Support line.";
        team: Option<Name> = "Team, free text.";
        assignee: Option<Name> = "Person, free text.";
        idempotency_key: Option<Key> = wording::IDEMPOTENCY_KEY;
    }
}

arguments! {
    /// Arguments of `assign_ticket`.
    AssignTicketArgs {
        ticket_id: Usual<TicketId> = wording::TICKET_ID;
        team: Option<Name> = "New team.";
        assignee: Option<Name> = "New person.";
        unassign: Option<Unassign> = wording::UNASSIGN;
        if_version: Option<Version> = wording::IF_VERSION;
    }
}

arguments! {
    /// Arguments of `add_comment`.
    AddCommentArgs {
        ticket_id: Usual<TicketId> = wording::TICKET_ID;
        body: Usual<Prose<{ limits::COMMENT_CHARS }>, false> = "The comment.";
        visibility: Option<Visibility> = "Default internal.";
        from_customer: Option<bool> = "true: these are the customer's words.";
        if_version: Option<Version> = wording::IF_VERSION;
        idempotency_key: Option<Key> = wording::IDEMPOTENCY_KEY;
    }
}

arguments! {
    /// Arguments of `change_ticket_status`.
    ChangeTicketStatusArgs {
        ticket_id: Usual<TicketId> = wording::TICKET_ID;
        status: Usual<Status, false> = "The new status.";
        if_version: Option<Version> = wording::IF_VERSION;
    }
}

arguments! {
    /// Arguments of `resolve_ticket`.
    ResolveTicketArgs {
        ticket_id: Usual<TicketId> = wording::TICKET_ID;
        resolution: Option<Prose<{ limits::COMMENT_CHARS }>> = "How it was solved.";
        if_version: Option<Version> = wording::IF_VERSION;
    }
}

/// The record that a call names.
pub(super) fn ticket_entity(id: &Usual<TicketId>) -> Option<(EntityKind, i64)> {
    id.0.map(|id| (EntityKind::Ticket, id.number()))
}

/// Names the argument by the tool's word where the domain's field has another.
pub(super) fn renamed(error: DeskError, field: &str, argument: &str) -> DeskError {
    if let DeskError::Invalid(invalid) = &error
        && invalid.field == field
    {
        return InvalidArgument {
            field: argument.to_owned(),
            ..invalid.clone()
        }
        .into();
    }
    error
}

async fn create_ticket(call: Call) -> Result<Step, DeskError> {
    let args: CreateTicketArgs = call.arguments()?;
    let customer = args.customer_id.0;
    let wanted = Wanted {
        action: Action::CreateTicket,
        entity: None,
        arguments: Values::default()
            .int("customer_id", customer.map(CustomerId::number))
            .text(
                "subject",
                args.subject.0.as_ref().map(|text| text.0.as_str()),
            )
            .text(
                "description",
                args.description.0.as_ref().map(|text| text.0.as_str()),
            )
            .text("priority", args.priority.map(Priority::as_str))
            .text(
                "category",
                args.category.as_ref().map(|slug| slug.0.as_str()),
            )
            .text("channel", args.channel.map(Channel::as_str))
            .int("tier", args.tier.map(|tier| i64::from(tier.number())))
            .text("team", args.team.as_ref().map(|name| name.0.as_str()))
            .text(
                "assignee",
                args.assignee.as_ref().map(|name| name.0.as_str()),
            ),
        if_version: None,
        key: args.idempotency_key.map(|key| key.0),
    };
    write(&call, wanted, || {
        let new = NewTicket {
            customer: args.customer_id.needed("customer_id")?,
            channel: args.channel.unwrap_or(Channel::Portal),
            subject: args.subject.needed("subject")?.0,
            description: args.description.needed("description")?.0,
            category: args
                .category
                .map_or_else(|| category::DEFAULT.to_owned(), |slug| slug.0),
            priority: args.priority.unwrap_or(Priority::Medium),
            tier: args.tier.unwrap_or(Tier::FIRST),
            assigned_team: args.team.map(|name| name.0),
            assignee: args.assignee.map(|name| name.0),
        };
        let new = valid(new).map_err(|error| renamed(error, "assigned_team", "team"))?;
        Ok(GuardedWrite::Open(OpenWrite::CreateTicket {
            new: new.into_inner(),
        }))
    })
    .await
}

/// What happens to a name: set, taken away or kept. Both at once is a contradiction.
pub(super) fn assign<const MAX: usize>(
    field: &str,
    name: Option<Label<MAX>>,
    clear: bool,
) -> Result<Assign, InvalidArgument> {
    match (name, clear) {
        (Some(_), true) => Err(InvalidArgument::new(
            field,
            "is given and taken away at once; leave one out",
        )),
        (Some(name), false) => Ok(Assign::Set(name.0)),
        (None, true) => Ok(Assign::Clear),
        (None, false) => Ok(Assign::Keep),
    }
}

/// What happens to a ticket's team and person.
pub(super) fn assignment(
    team: Option<Name>,
    assignee: Option<Name>,
    unassign: Option<Unassign>,
) -> Result<Assignment, InvalidArgument> {
    let clears = |this| matches!(unassign, Some(given) if given == this || given == Unassign::Both);
    Ok(Assignment {
        team: assign("team", team, clears(Unassign::Team))?,
        assignee: assign("assignee", assignee, clears(Unassign::Assignee))?,
    })
}

async fn assign_ticket(call: Call) -> Result<Step, DeskError> {
    let args: AssignTicketArgs = call.arguments()?;
    let assignment = assignment(args.team, args.assignee, args.unassign)?;
    let wanted = Wanted {
        action: Action::AssignTicket,
        entity: ticket_entity(&args.ticket_id),
        arguments: Values::default()
            .assign("team", &assignment.team)
            .assign("assignee", &assignment.assignee),
        if_version: args.if_version,
        key: None,
    };
    write(&call, wanted, || {
        Ok(GuardedWrite::Open(OpenWrite::AssignTicket {
            ticket: args.ticket_id.needed("ticket_id")?,
            assignment: valid(assignment)?.into_inner(),
        }))
    })
    .await
}

async fn add_comment(call: Call) -> Result<Step, DeskError> {
    let args: AddCommentArgs = call.arguments()?;
    let public = args.visibility == Some(Visibility::Public);
    if public && !call.caller.scopes.contains(Scope::DeskWrite) {
        return Err(DeskError::MissingRight(Scope::DeskWrite));
    }
    let wanted = Wanted {
        action: Action::AddComment,
        entity: ticket_entity(&args.ticket_id),
        arguments: Values::default()
            .text("body", args.body.0.as_ref().map(|text| text.0.as_str()))
            .text("visibility", args.visibility.map(Visibility::as_str))
            .flag("from_customer", args.from_customer),
        if_version: args.if_version,
        key: args.idempotency_key.map(|key| key.0),
    };
    write(&call, wanted, || {
        let ticket = args.ticket_id.needed("ticket_id")?;
        let body = args.body.needed("body")?.0;
        let from_customer = args.from_customer == Some(true);
        if public && from_customer {
            let reason = "is for what the customer said, which is never published back";
            return Err(InvalidArgument::new("from_customer", reason).into());
        }
        Ok(if public {
            let publication = Publication { body };
            GuardedWrite::PublishComment {
                ticket,
                publication,
            }
        } else {
            let origin = if from_customer {
                Origin::Customer
            } else {
                Origin::Team
            };
            let comment = NewComment { body, origin };
            GuardedWrite::Open(OpenWrite::AddComment { ticket, comment })
        })
    })
    .await
}

async fn change_ticket_status(call: Call) -> Result<Step, DeskError> {
    let args: ChangeTicketStatusArgs = call.arguments()?;
    let wanted = Wanted {
        action: Action::ChangeTicketStatus,
        entity: ticket_entity(&args.ticket_id),
        arguments: Values::default().text("status", args.status.0.map(Status::as_str)),
        if_version: args.if_version,
        key: None,
    };
    write(&call, wanted, || {
        let ticket = args.ticket_id.needed("ticket_id")?;
        let to = match args.status.needed("status")? {
            Status::Closed => return Ok(GuardedWrite::CloseTicket { ticket }),
            Status::Open => OpenStatus::Open,
            Status::InProgress => OpenStatus::InProgress,
            Status::Resolved => OpenStatus::Resolved,
        };
        Ok(GuardedWrite::Open(OpenWrite::MoveTicket { ticket, to }))
    })
    .await
}

async fn resolve_ticket(call: Call) -> Result<Step, DeskError> {
    let args: ResolveTicketArgs = call.arguments()?;
    let resolution = args.resolution.map(|text| text.0);
    let wanted = Wanted {
        action: Action::ResolveTicket,
        entity: ticket_entity(&args.ticket_id),
        arguments: Values::default().text("resolution", resolution.as_deref()),
        if_version: args.if_version,
        key: None,
    };
    write(&call, wanted, || {
        let resolution = resolution.map(|body| NewComment {
            body,
            origin: Origin::Team,
        });
        let resolution = resolution
            .map(valid)
            .transpose()
            .map_err(|error| renamed(error, "body", "resolution"))?;
        Ok(GuardedWrite::Open(OpenWrite::ResolveTicket {
            ticket: args.ticket_id.needed("ticket_id")?,
            resolution: resolution.map(garde::Valid::into_inner),
        }))
    })
    .await
}
