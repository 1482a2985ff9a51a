//! Tools that change tickets. Each names the version that it left, so that the next write can ask for it.

use desk::{DeskError, InvalidArgument, valid};
use domain::ticket::Assign;
use domain::{
    Assignment, Channel, CustomerId, NewComment, NewTicket, Origin, Priority, Scope, Status,
    Ticket, TicketId, Tier, Version, Visibility, category, limits,
};
use garde::Valid;
use serde::Serialize;

use super::{Name, TICKET, wording};
use crate::Toolset;
use crate::args::{Arguments, Label, Prose, Slug, StepTo, Unassign, arguments};
use crate::reply::Reply;
use crate::spec::{Call, Hints, Output, Policy, ToolSpec, Type};
use crate::text::Sheet;
use crate::view::{TicketRow, owner, ticket_facts};

const NEW_TEAM: &[Output] = &[("new_team", Type::Flag)];

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
        args: CreateTicketArgs::ARGS,
        output: &[TICKET, NEW_TEAM],
        run: |call| Box::pin(create_ticket(call)),
    },
    ToolSpec {
        name: "assign_ticket",
        title: "Assign ticket",
        toolset: Toolset::Tickets,
        description: "Gives a ticket to a team, a person or both, or takes it away with unassign. What is not named \
            stays. Does not change status or tier. Returns the ticket's fields and new_team.",
        policy: Policy::write(Scope::DeskWrite),
        hints: Hints::SETS,
        args: AssignTicketArgs::ARGS,
        output: &[TICKET, NEW_TEAM],
        run: |call| Box::pin(assign_ticket(call)),
    },
    ToolSpec {
        name: "add_comment",
        title: "Add internal comment",
        toolset: Toolset::Tickets,
        description: "Adds an internal comment, which only staff sees: nothing reaches the customer. With \
            from_customer it records what the customer said, e.g. on the phone, and the ticket then waits for the \
            desk. Raises the ticket's version. Returns comment_id, visibility, version.",
        policy: Policy::write(Scope::DeskComment),
        hints: Hints::ADDS,
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
        run: |call| Box::pin(add_comment(call)),
    },
    ToolSpec {
        name: "change_ticket_status",
        title: "Change ticket status",
        toolset: Toolset::Tickets,
        description: "Moves a ticket: open to in_progress; in_progress to resolved or open; resolved to in_progress. \
            Closing is final and refused here. To resolve with a note use resolve_ticket. FORBIDDEN_TRANSITION: \
            allowed lists the next statuses.",
        policy: Policy::write(Scope::DeskWrite),
        hints: Hints::SETS,
        args: ChangeTicketStatusArgs::ARGS,
        output: &[MOVED],
        run: |call| Box::pin(change_ticket_status(call)),
    },
    ToolSpec {
        name: "resolve_ticket",
        title: "Resolve ticket",
        toolset: Toolset::Tickets,
        description: "Resolves a ticket that is in_progress, with an internal comment that says how; the customer is \
            not told. From another status: FORBIDDEN_TRANSITION, move it to in_progress first.",
        policy: Policy::write(Scope::DeskWrite),
        hints: Hints::SETS,
        args: ResolveTicketArgs::ARGS,
        output: &[MOVED],
        run: |call| Box::pin(resolve_ticket(call)),
    },
];

arguments! {
    /// Arguments of `create_ticket`.
    CreateTicketArgs {
        customer_id: CustomerId = wording::CUSTOMER_ID;
        subject: Label<{ limits::SUBJECT_CHARS }> = "One line.";
        description: Prose<{ limits::DESCRIPTION_CHARS }> = "The request, in the customer's words.";
        priority: Option<Priority> = "urgent: site down or security incident; high: several blocked or a deadline \
            today; medium: one person; low: has a workaround.";
        category: Option<Slug> = wording::CATEGORY;
        channel: Option<Channel> = "How it came in; default portal.";
        tier: Option<Tier> = "Support line.";
        team: Option<Name> = "Team, free text.";
        assignee: Option<Name> = "Person, free text.";
    }
}

arguments! {
    /// Arguments of `assign_ticket`.
    AssignTicketArgs {
        ticket_id: TicketId = wording::TICKET_ID;
        team: Option<Name> = "New team.";
        assignee: Option<Name> = "New person.";
        unassign: Option<Unassign> = "What to take away.";
        if_version: Option<Version> = wording::IF_VERSION;
    }
}

arguments! {
    /// Arguments of `add_comment`.
    AddCommentArgs {
        ticket_id: TicketId = wording::TICKET_ID;
        body: Prose<{ limits::COMMENT_CHARS }> = "The comment.";
        from_customer: Option<bool> = "true: these are the customer's words.";
        if_version: Option<Version> = wording::IF_VERSION;
    }
}

arguments! {
    /// Arguments of `change_ticket_status`.
    ChangeTicketStatusArgs {
        ticket_id: TicketId = wording::TICKET_ID;
        status: StepTo = "The new status.";
        if_version: Option<Version> = wording::IF_VERSION;
    }
}

arguments! {
    /// Arguments of `resolve_ticket`.
    ResolveTicketArgs {
        ticket_id: TicketId = wording::TICKET_ID;
        resolution: Option<Prose<{ limits::COMMENT_CHARS }>> = "How it was solved.";
        if_version: Option<Version> = wording::IF_VERSION;
    }
}

#[derive(Serialize)]
struct TeamAnswer<'a> {
    #[serde(flatten)]
    row: TicketRow<'a>,
    new_team: bool,
}

fn with_team(call: &Call, heading: &str, ticket: &Ticket, new_team: bool) -> Reply {
    let mut sheet = Sheet::new(call.desk.next_nonce());
    sheet.say(format_args!("{heading} {}", ticket_facts(ticket)));
    if ticket.assigned_team.is_some() || ticket.assignee.is_some() {
        sheet.quote("names", &owner(ticket));
    } else {
        sheet.say("It has no team and no assignee.");
    }
    if new_team {
        sheet.say("No ticket had this team before: check the spelling of its name.");
    }
    let answer = TeamAnswer {
        row: TicketRow::of(ticket),
        new_team,
    };
    Reply::new(&answer, sheet.finish())
}

/// Names the argument by the tool's word where the domain's field has another.
fn renamed(error: DeskError, field: &str, argument: &str) -> DeskError {
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

async fn create_ticket(call: Call) -> Result<Reply, DeskError> {
    let args: CreateTicketArgs = call.arguments()?;
    let new = valid(NewTicket {
        customer: args.customer_id,
        channel: args.channel.unwrap_or(Channel::Portal),
        subject: args.subject.0,
        description: args.description.0,
        category: args
            .category
            .map_or_else(|| category::DEFAULT.to_owned(), |slug| slug.0),
        priority: args.priority.unwrap_or(Priority::Medium),
        tier: args.tier.unwrap_or(Tier::FIRST),
        assigned_team: args.team.map(|name| name.0),
        assignee: args.assignee.map(|name| name.0),
    })
    .map_err(|error| renamed(error, "assigned_team", "team"))?;
    let filed = call.desk.create_ticket(&call.caller, new).await?;
    Ok(with_team(&call, "Filed", &filed.ticket, filed.new_team))
}

/// What happens to a name: set, taken away or kept. Both at once is a contradiction.
fn assign(field: &str, name: Option<Name>, clear: bool) -> Result<Assign, InvalidArgument> {
    match (name, clear) {
        (Some(_), true) => Err(InvalidArgument::new(
            field,
            "is given and taken away by `unassign` at once; leave one out",
        )),
        (Some(name), false) => Ok(Assign::Set(name.0)),
        (None, true) => Ok(Assign::Clear),
        (None, false) => Ok(Assign::Keep),
    }
}

async fn assign_ticket(call: Call) -> Result<Reply, DeskError> {
    let args: AssignTicketArgs = call.arguments()?;
    let clears =
        |this| matches!(args.unassign, Some(given) if given == this || given == Unassign::Both);
    let assignment = valid(Assignment {
        team: assign("team", args.team, clears(Unassign::Team))?,
        assignee: assign("assignee", args.assignee, clears(Unassign::Assignee))?,
    })?;
    let assigned = call
        .desk
        .assign_ticket(&call.caller, args.ticket_id, args.if_version, assignment)
        .await?;
    Ok(with_team(
        &call,
        "Assigned",
        &assigned.ticket,
        assigned.new_team,
    ))
}

#[derive(Serialize)]
struct CommentAnswer {
    comment_id: String,
    ticket_id: String,
    visibility: &'static str,
    origin: &'static str,
    last_comment_by: &'static str,
    created_at: String,
    version: i64,
}

/// An internal comment: nothing here can make a public one.
fn internal(body: String, origin: Origin) -> Result<Valid<NewComment>, DeskError> {
    valid(NewComment {
        body,
        origin,
        visibility: Visibility::Internal,
    })
}

async fn add_comment(call: Call) -> Result<Reply, DeskError> {
    let args: AddCommentArgs = call.arguments()?;
    let origin = if args.from_customer == Some(true) {
        Origin::Customer
    } else {
        Origin::Team
    };
    let added = call
        .desk
        .add_comment(
            &call.caller,
            args.ticket_id,
            args.if_version,
            internal(args.body.0, origin)?,
        )
        .await?;
    let (comment, ticket) = (added.comment, added.ticket);
    let text = format!(
        "Added {} to {}: {}, by {}. {} spoke last; the ticket is at version {}.",
        comment.id,
        ticket.id,
        comment.visibility,
        comment.origin,
        ticket.last_comment_by,
        ticket.version
    );
    let answer = CommentAnswer {
        comment_id: comment.id.to_string(),
        ticket_id: ticket.id.to_string(),
        visibility: comment.visibility.as_str(),
        origin: comment.origin.as_str(),
        last_comment_by: ticket.last_comment_by.as_str(),
        created_at: comment.created_at.to_string(),
        version: ticket.version.number(),
    };
    Ok(Reply::new(&answer, text))
}

#[derive(Serialize)]
struct MovedAnswer {
    ticket_id: String,
    status_before: &'static str,
    status_after: &'static str,
    updated_at: String,
    version: i64,
}

fn moved(from: Status, ticket: &Ticket) -> Reply {
    let text = format!(
        "{} is {} now and was {from}; it is at version {}.",
        ticket.id, ticket.status, ticket.version
    );
    let answer = MovedAnswer {
        ticket_id: ticket.id.to_string(),
        status_before: from.as_str(),
        status_after: ticket.status.as_str(),
        updated_at: ticket.updated_at.to_string(),
        version: ticket.version.number(),
    };
    Reply::new(&answer, text)
}

async fn change_ticket_status(call: Call) -> Result<Reply, DeskError> {
    let args: ChangeTicketStatusArgs = call.arguments()?;
    let (from, ticket) = call
        .desk
        .change_ticket_status(&call.caller, args.ticket_id, args.if_version, args.status.0)
        .await?;
    Ok(moved(from, &ticket))
}

async fn resolve_ticket(call: Call) -> Result<Reply, DeskError> {
    let args: ResolveTicketArgs = call.arguments()?;
    let resolution = args
        .resolution
        .map(|resolution| internal(resolution.0, Origin::Team))
        .transpose()
        .map_err(|error| renamed(error, "body", "resolution"))?;
    let (from, ticket) = call
        .desk
        .resolve_ticket(&call.caller, args.ticket_id, args.if_version, resolution)
        .await?;
    Ok(moved(from, &ticket))
}
