//! Tools about answering customers: a grounded draft, and the way for what must not be answered.

use desk::{DeskError, Draft, valid};
use domain::{NewComment, Origin, Scope, TicketId, Version, limits};
use serde::Serialize;

use super::ticket_writes::NEW_TEAM;
use super::written::with_team;
use super::{TICKET, wording};
use crate::Toolset;
use crate::args::{Arguments, Prose, arguments};
use crate::outcome::{REFUSAL, screening};
use crate::reply::Reply;
use crate::spec::{Call, Hints, Output, Policy, ToolSpec, Type, done};
use crate::text::Sheet;

const DRAFT: &[Output] = &[
    ("ticket_id", Type::Text),
    ("draft", Type::Text),
    ("grounding", Type::Objects),
    ("version", Type::Whole),
];

pub(super) static TOOLS: &[ToolSpec] = &[
    ToolSpec {
        name: "draft_response",
        title: "Draft response",
        toolset: Toolset::Replies,
        description: "Drafts a reply to a ticket from what the knowledge base tells customers; nothing is sent. You may change \
            its wording, never add facts, numbers or links that are not in grounding. Returns draft, grounding \
            (article_id, block, text), screening, version. Refusals are final for you, so relay them: \
            SECURITY_ESCALATION_REQUIRED: a security incident, use escalate_to_security; HELD_FOR_REVIEW: a person must \
            look first; CLASSIFIER_UNAVAILABLE: not screened; KB_NO_MATCH: no article fits, so there is no draft.",
        policy: Policy::read(Scope::DeskRead),
        hints: Hints::READS,
        operations: &[],
        args: DraftResponseArgs::ARGS,
        output: &[DRAFT, REFUSAL],
        run: |call| done(draft_response(call)),
    },
    ToolSpec {
        name: "escalate_to_security",
        title: "Escalate to security",
        toolset: Toolset::Tickets,
        description: "Hands a ticket to the security team: flag incident, tier 3, at least high priority, your reason as an \
            internal comment. Always open, also for a suspicion; only a person can lift the flag. From then on the ticket \
            gets no draft or public text. Not for ordinary tier 2 work: use assign_ticket. Returns the ticket's fields.",
        policy: Policy::write(Scope::DeskComment),
        hints: Hints::ADDS,
        operations: &[],
        args: EscalateToSecurityArgs::ARGS,
        output: &[TICKET, NEW_TEAM],
        run: |call| done(escalate_to_security(call)),
    },
];

arguments! {
    /// Arguments of `draft_response`.
    DraftResponseArgs {
        ticket_id: TicketId = wording::TICKET_ID;
    }
}

arguments! {
    /// Arguments of `escalate_to_security`.
    EscalateToSecurityArgs {
        ticket_id: TicketId = wording::TICKET_ID;
        reason: Prose<{ limits::COMMENT_CHARS }> = "What was seen, for the security team.";
        if_version: Option<Version> = wording::IF_VERSION;
    }
}

#[derive(Serialize)]
struct GroundView<'a> {
    article_id: String,
    block: usize,
    text: &'a str,
}

#[derive(Serialize)]
struct DraftAnswer<'a> {
    ticket_id: String,
    draft: &'a str,
    grounding: Vec<GroundView<'a>>,
    screening: serde_json::Value,
    version: i64,
}

async fn draft_response(call: Call) -> Result<Reply, DeskError> {
    let args: DraftResponseArgs = call.arguments()?;
    let draft = call
        .desk
        .draft_response(&call.caller, args.ticket_id)
        .await?;
    let mut sheet = Sheet::new(call.desk.next_nonce());
    sheet.say(head(&draft));
    sheet.quote("team", &draft.text);
    let answer = DraftAnswer {
        ticket_id: draft.ticket.to_string(),
        draft: &draft.text,
        grounding: draft
            .grounding
            .iter()
            .map(|block| GroundView {
                article_id: block.article.to_string(),
                block: block.block,
                text: &block.text,
            })
            .collect(),
        screening: screening(draft.screening),
        version: draft.version,
    };
    Ok(Reply::new(&answer, sheet.finish()))
}

fn head(draft: &Draft) -> String {
    let articles: Vec<String> = draft
        .grounding
        .iter()
        .map(|block| format!("{} block {}", block.article, block.block))
        .collect();
    format!(
        "Draft for {} at version {}, from {}; screened {} by {}. Nothing was sent.",
        draft.ticket,
        draft.version,
        articles.join(", "),
        draft.screening.mode.as_str(),
        draft.screening.stage.as_str(),
    )
}

async fn escalate_to_security(call: Call) -> Result<Reply, DeskError> {
    let args: EscalateToSecurityArgs = call.arguments()?;
    let reason = valid(NewComment {
        body: args.reason.0,
        origin: Origin::Team,
    })?;
    let escalated = call
        .desk
        .escalate_to_security(&call.caller, args.ticket_id, args.if_version, reason)
        .await?;
    Ok(with_team(
        call.desk.next_nonce(),
        "Escalated",
        &escalated.ticket,
        escalated.new_team,
    ))
}
