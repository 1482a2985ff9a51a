//! Tools that change what a ticket says, or delete it: each shows first what it would do.

use desk::{DeskError, InvalidArgument, valid};
use domain::{
    Action, Arguments as Values, GuardedWrite, Operation, Priority, Scope, Status, TicketId,
    TicketPatch, Tier, Version, limits,
};
use futures::FutureExt as _;

use super::ticket_writes::{NEW_TEAM, assignment, ticket_entity};
use super::{Name, TICKET, wording};
use crate::Toolset;
use crate::args::{Arguments, Label, Prose, Slug, Unassign, Usual, arguments};
use crate::confirm::{Wanted, write};
use crate::spec::{Call, Guard, Hints, Output, Policy, Step, ToolSpec, Type};

const DELETED_TICKET: &[Output] = &[("ticket_id", Type::Text), ("deleted", Type::Flag)];

pub(super) static TOOLS: &[ToolSpec] = &[
    ToolSpec {
        name: "update_ticket",
        title: "Update ticket",
        toolset: Toolset::Tickets,
        description: "Changes any of a ticket's fields and appends an internal note, all in one. The first subject and \
            description are kept. Guarded: the first call returns CONFIRMATION_REQUIRED with changes (field, before, \
            after) and a token, or asks the user; the call with the token makes exactly that change. For team and person \
            alone assign_ticket, for a step of the status change_ticket_status needs no confirmation. Returns the \
            ticket's fields. CONFIRMATION_STALE: the ticket changed meanwhile, preview again.",
        policy: Policy::guarded(Scope::DeskWrite, Guard::Token),
        hints: Hints::OVERWRITES,
        operations: &[Operation::UpdateTicket, Operation::CloseTicket],
        args: UpdateTicketArgs::ARGS,
        output: &[TICKET, NEW_TEAM],
        run: |call| update_ticket(call).boxed(),
    },
    ToolSpec {
        name: "delete_ticket",
        title: "Delete ticket",
        toolset: Toolset::Tickets,
        description: "Deletes a ticket with its comments and scores, for good; a ticket that is done is closed instead, \
            with change_ticket_status. A person must approve: the first call asks them, or returns \
            HUMAN_APPROVAL_REQUIRED with approval_id, which is decided elsewhere; then call again with the token.",
        policy: Policy::guarded(Scope::DeskDelete, Guard::Person),
        hints: Hints::DELETES,
        operations: &[Operation::DeleteTicket],
        args: DeleteTicketArgs::ARGS,
        output: &[DELETED_TICKET],
        run: |call| delete_ticket(call).boxed(),
    },
];

arguments! {
    /// Arguments of `update_ticket`.
    UpdateTicketArgs {
        ticket_id: Usual<TicketId> = wording::TICKET_ID;
        status: Option<Status> = "New status; closed is final.";
        priority: Option<Priority> = "New priority.";
        tier: Option<Tier> = "New support line.";
        category: Option<Slug> = wording::ONLY_CATEGORY;
        team: Option<Name> = "New team.";
        assignee: Option<Name> = "New person.";
        unassign: Option<Unassign> = wording::UNASSIGN;
        subject: Option<Label<{ limits::SUBJECT_CHARS }>> = "New subject.";
        description: Option<Prose<{ limits::DESCRIPTION_CHARS }>> = "New description.";
        note: Option<Prose<{ limits::COMMENT_CHARS }>> = "Internal comment that says why.";
        if_version: Option<Version> = wording::IF_VERSION;
    }
}

arguments! {
    /// Arguments of `delete_ticket`.
    DeleteTicketArgs {
        ticket_id: Usual<TicketId> = wording::TICKET_ID;
        if_version: Option<Version> = wording::IF_VERSION;
    }
}

async fn update_ticket(call: Call) -> Result<Step, DeskError> {
    let args: UpdateTicketArgs = call.arguments()?;
    let assignment = assignment(args.team, args.assignee, args.unassign)?;
    let patch = TicketPatch {
        status: args.status,
        tier: args.tier,
        priority: args.priority,
        category: args.category.map(|slug| slug.0),
        team: assignment.team,
        assignee: assignment.assignee,
        subject: args.subject.map(|text| text.0),
        description: args.description.map(|text| text.0),
        note: args.note.map(|text| text.0),
    };
    let wanted = Wanted {
        action: Action::UpdateTicket,
        entity: ticket_entity(&args.ticket_id),
        arguments: patch.arguments(),
        if_version: args.if_version,
        key: None,
    };
    write(&call, wanted, || {
        let ticket = args.ticket_id.needed("ticket_id")?;
        if patch == TicketPatch::default() {
            let reason = "or another field is needed: there is nothing to change";
            return Err(InvalidArgument::new("status", reason).into());
        }
        Ok(GuardedWrite::UpdateTicket {
            ticket,
            patch: valid(patch)?.into_inner(),
        })
    })
    .await
}

async fn delete_ticket(call: Call) -> Result<Step, DeskError> {
    let args: DeleteTicketArgs = call.arguments()?;
    let wanted = Wanted {
        action: Action::DeleteTicket,
        entity: ticket_entity(&args.ticket_id),
        arguments: Values::default(),
        if_version: args.if_version,
        key: None,
    };
    write(&call, wanted, || {
        Ok(GuardedWrite::DeleteTicket {
            ticket: args.ticket_id.needed("ticket_id")?,
        })
    })
    .await
}
