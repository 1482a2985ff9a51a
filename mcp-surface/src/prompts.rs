//! Prompts: the desk's routine work, ready to start. Each brings its records along, since a model cannot read a resource
//! by itself, points at tools for the rest, and ends by presenting and waiting.

mod quality;
mod queue;
mod ticket;

use desk::{Caller, DeskError};
use domain::{Scope, TicketId};
use futures::future::BoxFuture;
use rmcp::model::{
    ErrorData, GetPromptRequestParams, GetPromptResponse, GetPromptResult, JsonObject, Prompt,
    PromptArgument, PromptMessage, Role,
};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::args::{Arg, Arguments, Slug, arguments, echo, read_arguments, refuse_unknown};
use crate::{Surface, Toolset};

/// One prompt.
pub struct PromptSpec {
    /// Its name.
    pub name: &'static str,
    /// What people see.
    pub title: &'static str,
    /// What it is for.
    pub description: &'static str,
    /// What it takes.
    pub args: &'static [Arg],
    /// The toolset whose tools it points at.
    pub toolset: Toolset,
    /// The right that a caller needs.
    pub scope: Scope,
    run: fn(Surface, Caller, JsonObject) -> BoxFuture<'static, Result<String, DeskError>>,
}

/// Every prompt, in the order of listings.
pub static PROMPTS: &[PromptSpec] = &[
    PromptSpec {
        name: "triage-ticket",
        title: "Triage a ticket",
        description: "Reads a ticket's dossier and the articles of its category, and proposes summary, priority, team \
            and next action.",
        args: TicketArgs::ARGS,
        toolset: Toolset::Tickets,
        scope: Scope::DeskRead,
        run: |surface, caller, given| {
            Box::pin(async move {
                let args: TicketArgs = read_arguments(&given)?;
                ticket::triage(&surface, &caller, args.ticket_id).await
            })
        },
    },
    PromptSpec {
        name: "daily-queue-review",
        title: "Review the queue",
        description: "Goes through the open and in-progress tickets: urgent and unassigned, customer spoke last, \
            customers with several open.",
        args: &[],
        toolset: Toolset::Tickets,
        scope: Scope::DeskRead,
        run: |surface, caller, given| {
            Box::pin(async move {
                refuse_unknown(&[], &given)?;
                queue::review(&surface, &caller).await
            })
        },
    },
    PromptSpec {
        name: "prepare-reply",
        title: "Prepare a reply",
        description: "Reads a ticket's dossier and the customer articles that match it, and proposes a reply for a \
            person to send.",
        args: TicketArgs::ARGS,
        toolset: Toolset::Tickets,
        scope: Scope::DeskRead,
        run: |surface, caller, given| {
            Box::pin(async move {
                let args: TicketArgs = read_arguments(&given)?;
                ticket::reply(&surface, &caller, args.ticket_id).await
            })
        },
    },
    PromptSpec {
        name: "call-quality-review",
        title: "Review the quality of calls",
        description: "Goes through the calls that left callers unhappy or ended unresolved, of one category or of all, \
            and reports what to do better.",
        args: CategoryArgs::ARGS,
        toolset: Toolset::Calls,
        scope: Scope::TranscriptsRead,
        run: |surface, caller, given| {
            Box::pin(async move {
                let args: CategoryArgs = read_arguments(&given)?;
                let category = args.category.map(|slug| slug.0);
                quality::review(&surface, &caller, category).await
            })
        },
    },
];

arguments! {
    /// The argument of prompts that can be about one category.
    CategoryArgs {
        category: Option<Slug> = "Only calls of this category, e.g. billing.";
    }
}

arguments! {
    /// The argument of prompts about one ticket.
    TicketArgs {
        ticket_id: TicketId = "The ticket, e.g. T-1042.";
    }
}

impl PromptSpec {
    /// The prompt as the protocol lists it.
    pub fn prompt(&self) -> Prompt {
        let arguments: Vec<PromptArgument> = self
            .args
            .iter()
            .map(|arg| {
                PromptArgument::new(arg.name)
                    .with_description(arg.description)
                    .with_required(arg.required)
            })
            .collect();
        let arguments = (!arguments.is_empty()).then_some(arguments);
        Prompt::new(self.name, Some(self.description), arguments).with_title(self.title)
    }

    fn is_open_to(&self, surface: &Surface, caller: &Caller) -> bool {
        surface.has(self.toolset) && caller.scopes.contains(self.scope)
    }
}

pub(crate) fn list(surface: &Surface, caller: &Caller) -> Vec<Prompt> {
    let open = PROMPTS
        .iter()
        .filter(|spec| spec.is_open_to(surface, caller));
    open.map(PromptSpec::prompt).collect()
}

pub(crate) async fn get(
    surface: &Surface,
    caller: &Caller,
    request: GetPromptRequestParams,
    cancelled: CancellationToken,
) -> Result<GetPromptResponse, ErrorData> {
    let known = PROMPTS.iter().filter(|spec| surface.has(spec.toolset));
    let Some(spec) = known.clone().find(|spec| spec.name == request.name) else {
        let names: Vec<&str> = known.map(|spec| spec.name).collect();
        let name = echo(&request.name);
        let message = format!(
            "there is no prompt `{name}`; valid are: {}",
            names.join(", ")
        );
        return Err(ErrorData::invalid_params(
            message,
            Some(json!({"allowed": names})),
        ));
    };
    if !caller.scopes.contains(spec.scope) {
        let message = format!("this needs the right `{}`", spec.scope);
        return Err(ErrorData::invalid_params(message, None));
    }
    let arguments = request.arguments.unwrap_or_default();
    let work = (spec.run)(surface.clone(), caller.clone(), arguments);
    let text = surface
        .contained_request(spec.name, caller, cancelled, work)
        .await?;
    let message = PromptMessage::new_text(Role::User, text);
    Ok(GetPromptResult::new(vec![message])
        .with_description(spec.description)
        .into())
}
