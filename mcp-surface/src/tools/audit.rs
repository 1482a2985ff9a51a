//! The tool that reads the audit log.

use desk::{AuditList, DeskError, InvalidArgument, Listing, shown_id};
use domain::{Action, AuditEntry, AuditFilter, CustomerId, EntityKind, Outcome, Scope, TicketId};
use rmcp::model::JsonObject;
use serde::Serialize;
use serde_json::Value;

use super::ticket_reads::range;
use super::{Cursor, Name, PAGE, PageLimit, wording};
use crate::Toolset;
use crate::args::{Arguments, Before, Since, arguments};
use crate::listing::fitted;
use crate::reply::{Reply, json_len};
use crate::spec::{Call, Hints, Policy, ToolSpec, Type};
use crate::text::{Sheet, quoted};
use crate::view::{PageInfo, minute};

pub(super) static TOOLS: &[ToolSpec] = &[ToolSpec {
    name: "list_audit_entries",
    title: "List audit entries",
    toolset: Toolset::Audit,
    description: "Who did what, newest first: every change and every refusal, with the caller, the tool, the versions \
        before and after, and why it was refused. Holds no customer text. Filters combine.",
    policy: Policy::read(Scope::AuditRead),
    hints: Hints::READS,
    args: ListAuditEntriesArgs::ARGS,
    output: &[&[("entries", Type::Objects)], PAGE],
    run: |call| Box::pin(list_audit_entries(call)),
}];

arguments! {
    /// Arguments of `list_audit_entries`.
    ListAuditEntriesArgs {
        actor: Option<Name> = "Who, whole id.";
        action: Option<Action> = "What was done.";
        ticket_id: Option<TicketId> = wording::TICKET_ID;
        customer_id: Option<CustomerId> = wording::CUSTOMER_ID;
        outcome: Option<Outcome> = "What came of it.";
        from: Option<Since> = wording::SINCE;
        until: Option<Before> = wording::UNTIL;
        limit: Option<PageLimit> = wording::LIMIT;
        cursor: Option<Cursor> = wording::CURSOR;
    }
}

#[derive(Serialize)]
struct EntryView<'a> {
    seq: i64,
    at: String,
    actor: &'a str,
    proof: &'static str,
    channel: &'static str,
    client: &'a str,
    request_id: String,
    tool: &'a str,
    action: &'static str,
    entity: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    entity_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version_before: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version_after: Option<i64>,
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'a str>,
    #[serde(skip_serializing_if = "JsonObject::is_empty")]
    facts: JsonObject,
}

impl<'a> EntryView<'a> {
    fn of(entry: &'a AuditEntry) -> Self {
        Self {
            seq: entry.seq,
            at: entry.at.to_string(),
            actor: &entry.actor.id,
            proof: entry.actor.proof.as_str(),
            channel: entry.actor.channel.as_str(),
            client: &entry.actor.client,
            request_id: uuid::Uuid::from_u128(entry.request_id).to_string(),
            tool: &entry.tool,
            action: entry.action.as_str(),
            entity: entry.entity.as_str(),
            entity_id: entry.entity_id.map(|id| shown_id(entry.entity, id)),
            version_before: entry.version_before.map(domain::Version::number),
            version_after: entry.version_after.map(domain::Version::number),
            outcome: entry.outcome.as_str(),
            code: entry.code.as_deref(),
            facts: entry
                .facts
                .iter()
                .map(|(name, value)| (name.clone(), Value::String(value.clone())))
                .collect(),
        }
    }
}

fn line(entry: &AuditEntry) -> String {
    let what = entry
        .entity_id
        .map_or_else(String::new, |id| format!(" {}", shown_id(entry.entity, id)));
    let why = entry
        .code
        .as_deref()
        .map_or_else(String::new, |code| format!(" with {code}"));
    let versions = match (entry.version_before, entry.version_after) {
        (Some(before), Some(after)) => format!(", version {before} to {after}"),
        (None, Some(after)) => format!(", version {after}"),
        (Some(_) | None, None) => String::new(),
    };
    let facts: Vec<String> = entry
        .facts
        .iter()
        .map(|(name, value)| format!(", {name}: {}", quoted(value)))
        .collect();
    format!(
        "{}, {}, {} ({}, {}) {}{what} {}{why}{versions}{}",
        entry.seq,
        minute(entry.at),
        quoted(&entry.actor.id),
        entry.actor.proof,
        entry.actor.channel,
        entry.action,
        entry.outcome,
        facts.concat()
    )
}

#[derive(Serialize)]
struct EntriesAnswer<'a> {
    entries: Vec<EntryView<'a>>,
    #[serde(flatten)]
    page: PageInfo,
}

async fn list_audit_entries(call: Call) -> Result<Reply, DeskError> {
    let args: ListAuditEntriesArgs = call.arguments()?;
    let (entity, entity_id) = match (args.ticket_id, args.customer_id) {
        (Some(_), Some(_)) => {
            let reason = "and `ticket_id` are both given; an entry is about one of them";
            return Err(InvalidArgument::new("customer_id", reason).into());
        }
        (Some(ticket), None) => (Some(EntityKind::Ticket), Some(ticket.number())),
        (None, Some(customer)) => (Some(EntityKind::Customer), Some(customer.number())),
        (None, None) => (None, None),
    };
    let list = AuditList {
        filter: AuditFilter {
            actor: args.actor.map(|name| name.0),
            action: args.action,
            entity,
            entity_id,
            outcome: args.outcome,
            at: range(args.from, args.until),
        },
        limit: args.limit.map(|limit| limit.0),
        cursor: args.cursor.map(|cursor| cursor.0),
    };
    let page: Listing<AuditEntry> = fitted(
        call.budget,
        list.limit,
        |limit| {
            let list = AuditList {
                limit,
                ..list.clone()
            };
            Box::pin(call.desk.list_audit_entries(&call.caller, list))
        },
        |page| &page.rows,
        |entry| json_len(&EntryView::of(entry)) + json_len(&line(entry)),
    )
    .await?;
    let info = PageInfo::of(&page);
    let mut sheet = Sheet::new(call.desk.next_nonce());
    sheet.say(info.words("audit entries", "newest first"));
    if !page.rows.is_empty() {
        let rows: Vec<String> = page.rows.iter().map(line).collect();
        sheet.quote("entries", &rows.join("\n"));
    }
    let answer = EntriesAnswer {
        entries: page.rows.iter().map(EntryView::of).collect(),
        page: info,
    };
    Ok(Reply::new(&answer, sheet.finish()))
}
