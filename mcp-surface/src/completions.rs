//! Completions: what a person may be about to type into a prompt or a resource address.

use desk::{Caller, DeskError};
use domain::{EntityKind, Scope};
use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo, ErrorData, Reference};
use tokio_util::sync::CancellationToken;

use crate::Surface;
use crate::args::echo;
use crate::prompts::PROMPTS;
use crate::resources::TEMPLATES;

/// The variables that a prompt or a template has.
fn variables(reference: &Reference) -> Option<Vec<&'static str>> {
    match reference {
        Reference::Prompt(prompt) => PROMPTS
            .iter()
            .find(|spec| spec.name == prompt.name)
            .map(|spec| spec.args.iter().map(|arg| arg.name).collect()),
        Reference::Resource(resource) => TEMPLATES
            .iter()
            .find(|spec| spec.uri_template() == resource.uri)
            .map(|spec| vec![spec.variable]),
        _ => None,
    }
}

pub(crate) async fn complete(
    surface: &Surface,
    caller: &Caller,
    request: CompleteRequestParams,
    cancelled: CancellationToken,
) -> Result<CompleteResult, ErrorData> {
    let Some(variables) = variables(&request.r#ref) else {
        let message = "`ref` names no prompt and no resource template of this server";
        return Err(ErrorData::invalid_params(message, None));
    };
    let name = request.argument.name.as_str();
    if !variables.contains(&name) {
        let message = format!(
            "`{}` is not an argument there; valid are: {}",
            echo(name),
            variables.join(", ")
        );
        return Err(ErrorData::invalid_params(message, None));
    }
    let work = values(surface, caller, name, &request.argument.value);
    let values = surface
        .contained_request("completion/complete", caller, cancelled, work)
        .await?;
    let has_more = values.len() >= CompletionInfo::MAX_VALUES;
    // The desk gives no more values than the protocol allows.
    let info = CompletionInfo::with_pagination(values, None, has_more)
        .map_err(|error| ErrorData::internal_error(error, None))?;
    Ok(CompleteResult::new(info))
}

async fn values(
    surface: &Surface,
    caller: &Caller,
    argument: &str,
    typed: &str,
) -> Result<Vec<String>, DeskError> {
    let desk = surface.desk();
    let may = |scope| caller.scopes.contains(scope);
    match argument {
        "ticket_id" if may(Scope::DeskRead) => {
            desk.complete_id(caller, EntityKind::Ticket, typed).await
        }
        "customer_id" if may(Scope::DeskRead) => {
            desk.complete_id(caller, EntityKind::Customer, typed).await
        }
        "call_id" if may(Scope::TranscriptsRead) => {
            desk.complete_id(caller, EntityKind::Call, typed).await
        }
        "category" if may(Scope::DeskRead) => desk.complete_category(caller, typed).await,
        _ => Ok(Vec::new()),
    }
}
