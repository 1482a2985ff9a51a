//! Resources: records that a host can attach to a conversation. A model reads the same through the tools.

use desk::{Caller, DeskError};
use domain::{Call as PhoneCall, CallId, CustomerId, EntityKind, Scope, TicketId};
use rmcp::model::{
    CacheScope, ErrorData, ReadResourceResponse, ReadResourceResult, Resource, ResourceContents,
    ResourceTemplate,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::args::{Field, echo};
use crate::articles::{ArticleView, heads, write_article};
use crate::reply::Room;
use crate::text::{Channels, Sheet, quoted, window};
use crate::view::{contact, customer_facts, minute};
use crate::{Surface, Toolset, dossier};

/// How long a record may be kept: tickets change while they are looked at.
const RECORD_TTL_MS: u64 = 5_000;

const MARKDOWN: &str = "text/markdown";

/// What a template leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    Customer,
    Ticket,
    Articles,
    Call,
}

/// One resource template.
pub struct TemplateSpec {
    /// What stands before the variable.
    pub prefix: &'static str,
    /// The variable.
    pub variable: &'static str,
    /// Its name.
    pub name: &'static str,
    /// What people see.
    pub title: &'static str,
    /// What it is.
    pub description: &'static str,
    /// The toolset that it goes with.
    pub toolset: Toolset,
    /// The right that a reader needs.
    pub scope: Scope,
    pub(crate) subject: Subject,
}

/// Every template, in the order of listings.
pub static TEMPLATES: &[TemplateSpec] = &[
    TemplateSpec {
        prefix: "customer://profile/",
        variable: "customer_id",
        name: "customer-profile",
        title: "Customer profile",
        description: "A customer's record, e.g. customer://profile/C-17.",
        toolset: Toolset::Customers,
        scope: Scope::DeskRead,
        subject: Subject::Customer,
    },
    TemplateSpec {
        prefix: "ticket://details/",
        variable: "ticket_id",
        name: "ticket-details",
        title: "Ticket dossier",
        description: "A ticket with its customer, comments and the customer's other unfinished tickets, e.g. \
            ticket://details/T-1042.",
        toolset: Toolset::Tickets,
        scope: Scope::DeskRead,
        subject: Subject::Ticket,
    },
    TemplateSpec {
        prefix: "knowledge://articles/",
        variable: "category",
        name: "knowledge-articles",
        title: "Knowledge articles of a category",
        description: "The articles of a category, e.g. knowledge://articles/network_vpn.",
        toolset: Toolset::Knowledge,
        scope: Scope::DeskRead,
        subject: Subject::Articles,
    },
    TemplateSpec {
        prefix: "call://transcript/",
        variable: "call_id",
        name: "call-transcript",
        title: "Call transcript",
        description: "A recorded call, turn by turn, e.g. call://transcript/CALL-00042.",
        toolset: Toolset::Calls,
        scope: Scope::TranscriptsRead,
        subject: Subject::Call,
    },
];

impl TemplateSpec {
    /// The template's address.
    pub fn uri_template(&self) -> String {
        format!("{}{{{}}}", self.prefix, self.variable)
    }

    /// The template as the protocol lists it.
    pub fn template(&self) -> ResourceTemplate {
        ResourceTemplate::new(self.uri_template(), self.name)
            .with_title(self.title)
            .with_description(self.description)
            .with_mime_type(MARKDOWN)
    }

    fn is_open_to(&self, surface: &Surface, caller: &Caller) -> bool {
        surface.has(self.toolset) && caller.scopes.contains(self.scope)
    }
}

pub(crate) fn list_templates(surface: &Surface, caller: &Caller) -> Vec<ResourceTemplate> {
    let open = TEMPLATES
        .iter()
        .filter(|spec| spec.is_open_to(surface, caller));
    open.map(TemplateSpec::template).collect()
}

/// The concrete resources: one for each category that articles can have. Records are too many to be listed.
pub(crate) async fn list(surface: &Surface, caller: &Caller) -> Result<Vec<Resource>, DeskError> {
    let mut listed = Vec::new();
    for spec in TEMPLATES {
        if spec.subject != Subject::Articles || !spec.is_open_to(surface, caller) {
            continue;
        }
        for category in surface.desk().list_categories(caller).await? {
            if category.kind.articles {
                let uri = format!("{}{}", spec.prefix, category.slug);
                listed.push(
                    Resource::new(uri, format!("articles-{}", category.slug))
                        .with_title(format!("Articles: {}", category.label))
                        .with_description("The knowledge articles of this category.")
                        .with_mime_type(MARKDOWN),
                );
            }
        }
    }
    Ok(listed)
}

/// Splits an address into a template and the value of its variable.
///
/// The value holds letters, digits, `-`, `_` and `#` only: no separator, no encoding, nothing that could be a path
/// (promise I-12).
fn resolve(uri: &str) -> Option<(&'static TemplateSpec, &str)> {
    let spec = TEMPLATES.iter().find(|spec| uri.starts_with(spec.prefix))?;
    let value = uri.strip_prefix(spec.prefix)?;
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '#');
    (!value.is_empty() && value.chars().all(plain)).then_some((spec, value))
}

pub(crate) async fn read(
    surface: &Surface,
    caller: &Caller,
    uri: &str,
    cancelled: CancellationToken,
) -> Result<ReadResourceResponse, ErrorData> {
    let data = || Some(json!({ "uri": echo(uri) }));
    let Some((spec, value)) = resolve(uri) else {
        let known: Vec<String> = TEMPLATES.iter().map(TemplateSpec::uri_template).collect();
        let message = format!("`uri` matches no template; valid are: {}", known.join(", "));
        return Err(ErrorData::invalid_params(message, data()));
    };
    if !surface.has(spec.toolset) {
        return Err(ErrorData::resource_not_found(
            format!("the toolset `{}` is switched off", spec.toolset),
            data(),
        ));
    }
    if !caller.scopes.contains(spec.scope) {
        return Err(ErrorData::invalid_params(
            format!("this needs the right `{}`", spec.scope),
            data(),
        ));
    }
    let work = render(surface, caller, spec.subject, value);
    let text = surface
        .contained_request("resources/read", caller, cancelled, work)
        .await
        .map_err(|error| ErrorData {
            data: data(),
            ..error
        })?;
    let contents = ResourceContents::text(text, uri).with_mime_type(MARKDOWN);
    Ok(ReadResourceResult::new(vec![contents])
        .with_ttl_ms(RECORD_TTL_MS)
        .with_cache_scope(CacheScope::Private)
        .into())
}

async fn render(
    surface: &Surface,
    caller: &Caller,
    subject: Subject,
    value: &str,
) -> Result<String, DeskError> {
    let desk = surface.desk();
    let mut sheet = Sheet::new(desk.next_nonce());
    let mut room = Room::new(surface.budget());
    let given = Value::String(value.to_owned());
    match subject {
        Subject::Customer => {
            let id = <CustomerId as Field>::read("customer_id", Some(&given))?;
            let customer = desk.get_customer(caller, id).await?;
            sheet.say(format_args!("# Customer {}", customer.id));
            sheet.say(customer_facts(&customer));
            sheet.quote("customer", &contact(&customer));
        }
        Subject::Ticket => {
            let id = <TicketId as Field>::read("ticket_id", Some(&given))?;
            let section = dossier::fetch(desk, caller, id, None, None).await?;
            let plan = dossier::plan(&section, room, Channels::TextBlock);
            sheet.say(format_args!("# Ticket {id}"));
            dossier::write(&mut sheet, &section, &plan);
        }
        Subject::Articles => {
            let slug = domain::text_enum::fold_word(value);
            let known = desk.list_categories(caller).await?;
            if known.iter().all(|category| category.slug != slug) {
                return Err(DeskError::NotFound {
                    entity: EntityKind::Article,
                    id: format!("knowledge://articles/{slug}"),
                });
            }
            let articles = desk.list_articles(caller, Some(&slug)).await?;
            sheet.say(format_args!("# Articles of {slug}"));
            if articles.is_empty() {
                sheet.say("This category has no articles.");
            }
            for article in heads(&articles, &mut room) {
                let view = ArticleView::open(article, 0, &mut room, Channels::TextBlock);
                write_article(&mut sheet, &view);
            }
        }
        Subject::Call => {
            let id = <CallId as Field>::read("call_id", Some(&given))?;
            write_call(&mut sheet, &desk.get_call(caller, id).await?, room);
        }
    }
    Ok(sheet.finish())
}

/// Bytes of a call's own lines.
const CALL_FRAME_BYTES: usize = 1_500;

fn write_call(sheet: &mut Sheet, call: &PhoneCall, mut room: Room) {
    sheet.say(format_args!("# Call {}", call.id));
    let customer = call
        .customer
        .map_or_else(|| "an unknown caller".to_owned(), |id| id.to_string());
    let ticket = call
        .ticket
        .map_or_else(String::new, |id| format!(", about {id}"));
    sheet.say(format_args!(
        "{}, {} s, {}, {}, with {customer}{ticket}",
        minute(call.started_at),
        call.duration_seconds,
        call.category,
        call.outcome
    ));
    room.spend(CALL_FRAME_BYTES);
    let turns: Vec<String> = call
        .turns
        .iter()
        .map(|turn| {
            let (minutes, seconds) = (turn.at_seconds / 60, turn.at_seconds % 60);
            // A turn is one line, so that nobody can speak as somebody else.
            format!(
                "[{minutes:02}:{seconds:02}] {}: {}",
                turn.speaker,
                turn.text.replace(['\n', '\r'], " ")
            )
        })
        .collect();
    let transcript = turns.join("\n");
    let part = window(&transcript, 0, room.left(), Channels::TextBlock);
    sheet.quote(
        "call",
        &format!("agent {}\n\n{}", quoted(&call.agent), part.text),
    );
    if part.omitted > 0 {
        sheet.say(format_args!(
            "{} more characters of the transcript are left out.",
            part.omitted
        ));
    }
}

#[cfg(test)]
mod tests {
    //! Which addresses lead anywhere.

    use super::*;

    #[test]
    fn only_plain_values_after_a_known_prefix_are_addresses() {
        let (spec, value) = resolve("ticket://details/T-1042").unwrap();
        assert_eq!((spec.subject, value), (Subject::Ticket, "T-1042"));
        for hostile in [
            "",
            "ticket://details/",
            "ticket://details/../customer",
            "ticket://details/T-1/..",
            "ticket://details/%2e%2e",
            "ticket://details/T-1\0",
            "ticket://details/T-1?x=1",
            "ticket://details/ T-1",
            "TICKET://details/T-1",
            "ticket:/details/T-1",
            "file:///etc/passwd",
            "knowledge://articles/\u{202e}email",
            "https://ticket://details/T-1",
        ] {
            assert!(resolve(hostile).is_none(), "{hostile:?}");
        }
    }
}
