//! Tools that read tickets: the record, the dossier, the list.

use desk::{DeskError, InvalidArgument, Listing, TicketList};
use domain::{
    CustomerId, LastCommentBy, Priority, Scope, SecurityFlag, Status, Ticket, TicketFilter,
    TicketId, TicketOrder, Tier, TimeRange,
};
use serde::Serialize;

use super::{Cursor, Name, PAGE, PageLimit, TICKET, wording};
use crate::args::{Arguments, Before, Offset, Since, Slug, arguments};
use crate::listing::fitted;
use crate::reply::{Reply, Room, json_len};
use crate::spec::{Call, Hints, Output, Policy, ToolSpec, Type};
use crate::text::{Channels, QUOTE_BYTES, Sheet, window};
use crate::view::{
    PageInfo, TicketRecord, TicketRow, labels, order_words, ticket_facts, ticket_line,
};
use crate::{Toolset, dossier};

const PART: &[Output] = &[
    ("channel", Type::Text),
    ("description", Type::Object),
    ("offset", Type::Whole),
    ("omitted_chars", Type::Whole),
    ("next_offset", Type::Whole),
];

pub(super) static TOOLS: &[ToolSpec] = &[
    ToolSpec {
        name: "get_ticket",
        title: "Get ticket",
        toolset: Toolset::Tickets,
        description: "One ticket's record with its description, without comments: get_ticket_details has those and \
            is what to read before advising. A long description is cut: omitted_chars says by how much, and \
            next_offset as offset gives the rest. NOT_FOUND: find the id with list_tickets or search_tickets.",
        policy: Policy::read(Scope::DeskRead),
        hints: Hints::READS,
        args: GetTicketArgs::ARGS,
        output: &[TICKET, PART],
        run: |call| Box::pin(get_ticket(call)),
    },
    ToolSpec {
        name: "get_ticket_details",
        title: "Get ticket dossier",
        toolset: Toolset::Tickets,
        description: "The dossier to read before advising on a ticket: the ticket, its customer, the newest comments \
            in order of time, and the customer's other unfinished tickets. With cursor: only the comments before \
            those, or the rest of a long one. A description that is cut goes on with get_ticket(offset).",
        policy: Policy::read(Scope::DeskRead),
        hints: Hints::READS,
        args: GetTicketDetailsArgs::ARGS,
        output: &[
            &[
                ("ticket", Type::Object),
                ("customer", Type::Object),
                ("other_tickets", Type::Objects),
                ("other_total", Type::Whole),
                ("comments", Type::Objects),
            ],
            PAGE,
        ],
        run: |call| Box::pin(get_ticket_details(call)),
    },
    ToolSpec {
        name: "list_tickets",
        title: "List tickets",
        toolset: Toolset::Tickets,
        description: "Tickets that match all given filters, without descriptions. For words in a ticket use \
            search_tickets. Returns rows, total (exact to 1000) and next_cursor. An empty list means that nothing \
            matches; a bad value is an error that lists the valid ones.",
        policy: Policy::read(Scope::DeskRead),
        hints: Hints::READS,
        args: ListTicketsArgs::ARGS,
        output: &[&[("tickets", Type::Objects)], PAGE],
        run: |call| Box::pin(list_tickets(call)),
    },
];

arguments! {
    /// Arguments of `get_ticket`.
    GetTicketArgs {
        ticket_id: TicketId = wording::TICKET_ID;
        offset: Option<Offset> = "First character of the description to show.";
    }
}

arguments! {
    /// Arguments of `get_ticket_details`.
    GetTicketDetailsArgs {
        ticket_id: TicketId = wording::TICKET_ID;
        limit: Option<PageLimit> = "Comments at most.";
        cursor: Option<Cursor> = "next_cursor of the previous page: older comments.";
    }
}

arguments! {
    /// Arguments of `list_tickets`.
    ListTicketsArgs {
        status: Option<Status> = "Status.";
        priority: Option<Priority> = "Priority.";
        category: Option<Slug> = wording::CATEGORY;
        customer_id: Option<CustomerId> = wording::CUSTOMER_ID;
        organisation: Option<Name> = wording::ORGANISATION;
        team: Option<Name> = wording::TEAM;
        assignee: Option<Name> = "Assigned person.";
        unassigned: Option<bool> = "true: without a person; false: with one.";
        tier: Option<Tier> = "Support line.";
        flag: Option<SecurityFlag> = "incident: no replies; held: a person must look first.";
        last_comment_by: Option<LastCommentBy> = "customer: waits for the desk.";
        created_from: Option<Since> = wording::SINCE;
        created_until: Option<Before> = wording::UNTIL;
        updated_from: Option<Since> = wording::SINCE;
        updated_until: Option<Before> = wording::UNTIL;
        order: Option<TicketOrder> = "Default newest; updated: changed last first.";
        limit: Option<PageLimit> = wording::LIMIT;
        cursor: Option<Cursor> = wording::CURSOR;
    }
}

async fn get_ticket(call: Call) -> Result<Reply, DeskError> {
    let args: GetTicketArgs = call.arguments()?;
    let ticket = call.desk.get_ticket(&call.caller, args.ticket_id).await?;
    let offset = args.offset.map_or(0, |offset| offset.0);
    let length = ticket.description.chars().count();
    if offset > 0 && offset >= length {
        let reason = format!("must be less than the description's {length} characters");
        return Err(InvalidArgument::new("offset", reason).into());
    }
    let facts = format!("Ticket {}, by {}", ticket_facts(&ticket), ticket.channel);
    let labels = labels(&ticket);
    let mut room = Room::new(call.budget);
    room.spend(json_len(&TicketRecord::of(&ticket, None)));
    room.spend(json_len(&facts) + json_len(&labels) + 3 * QUOTE_BYTES);
    // Two sentences of ours about the part that is shown.
    room.spend(200);
    let part = window(&ticket.description, offset, room.left(), Channels::Both);

    let mut sheet = Sheet::new(call.desk.next_nonce());
    sheet.say(facts);
    if offset > 0 {
        sheet.say(format_args!("The description from character {offset} on:"));
    }
    sheet.quote("ticket", &format!("{labels}\n\n{}", part.text));
    if part.omitted > 0 {
        sheet.say(format_args!(
            "{} more characters: get_ticket with offset {}.",
            part.omitted,
            part.offset + part.chars
        ));
    }
    Ok(Reply::new(
        &TicketRecord::of(&ticket, Some(part)),
        sheet.finish(),
    ))
}

async fn get_ticket_details(call: Call) -> Result<Reply, DeskError> {
    let args: GetTicketDetailsArgs = call.arguments()?;
    let limit = args.limit.map(|limit| limit.0);
    let cursor = args.cursor.map(|cursor| cursor.0);
    let section = dossier::fetch(
        &call.desk,
        &call.caller,
        args.ticket_id,
        limit,
        cursor.as_deref(),
    )
    .await?;
    let plan = dossier::plan(&section, Room::new(call.budget), Channels::Both);
    let mut sheet = Sheet::new(call.desk.next_nonce());
    dossier::write(&mut sheet, &section, &plan);
    Ok(Reply::new(
        &dossier::answer(&section, &plan),
        sheet.finish(),
    ))
}

#[derive(Serialize)]
struct TicketsAnswer<'a> {
    tickets: Vec<TicketRow<'a>>,
    #[serde(flatten)]
    page: PageInfo,
}

async fn list_tickets(call: Call) -> Result<Reply, DeskError> {
    let args: ListTicketsArgs = call.arguments()?;
    if args.assignee.is_some() && args.unassigned == Some(true) {
        return Err(InvalidArgument::new("unassigned", "contradicts `assignee`; give one").into());
    }
    let order = args.order.unwrap_or(TicketOrder::Newest);
    let list = TicketList {
        filter: TicketFilter {
            status: args.status,
            priority: args.priority,
            category: args.category.map(|slug| slug.0),
            customer: args.customer_id,
            organisation: args.organisation.map(|name| name.folded()),
            team: args.team.map(|name| name.folded()),
            assignee: args.assignee.map(|name| name.folded()),
            unassigned: args.unassigned,
            tier: args.tier,
            flag: args.flag,
            last_comment_by: args.last_comment_by,
            created: range(args.created_from, args.created_until),
            updated: range(args.updated_from, args.updated_until),
        },
        order: Some(order),
        limit: args.limit.map(|limit| limit.0),
        cursor: args.cursor.map(|cursor| cursor.0),
    };
    let page: Listing<Ticket> = fitted(
        call.budget,
        list.limit,
        |limit| {
            let list = TicketList {
                limit,
                ..list.clone()
            };
            Box::pin(call.desk.list_tickets(&call.caller, list))
        },
        |page| &page.rows,
        |ticket| json_len(&TicketRow::of(ticket)) + json_len(&ticket_line(ticket)),
    )
    .await?;
    let info = PageInfo::of(&page);
    let mut sheet = Sheet::new(call.desk.next_nonce());
    sheet.say(info.words("tickets", order_words(order)));
    if !page.rows.is_empty() {
        let rows: Vec<String> = page.rows.iter().map(ticket_line).collect();
        sheet.quote("tickets", &rows.join("\n"));
    }
    let answer = TicketsAnswer {
        tickets: page.rows.iter().map(TicketRow::of).collect(),
        page: info,
    };
    Ok(Reply::new(&answer, sheet.finish()))
}

/// A range of two arguments.
pub(super) fn range(from: Option<Since>, until: Option<Before>) -> TimeRange {
    TimeRange {
        from: from.map(|since| since.0),
        until: until.map(|before| before.0),
    }
}
