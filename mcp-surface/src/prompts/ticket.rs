//! Prompts about one ticket.

use desk::{Caller, DeskError, KnowledgeQuery};
use domain::{Scope, ScopeSet, SecurityFlag, Ticket, TicketId, limits};

use crate::articles::{ArticleView, heads, write_article};
use crate::reply::Room;
use crate::text::{Channels, Sheet};
use crate::{Surface, Toolset, dossier};

/// A dossier may take this share of a prompt; the articles take the rest.
const DOSSIER_TENTHS: usize = 6;

async fn write_dossier(
    sheet: &mut Sheet,
    surface: &Surface,
    caller: &Caller,
    id: TicketId,
) -> Result<Ticket, DeskError> {
    let section = dossier::fetch(surface.desk(), caller, id, None, None).await?;
    let room = Room::new(surface.budget() * DOSSIER_TENTHS / 10);
    let plan = dossier::plan(&section, room, Channels::TextBlock);
    sheet.say("## Dossier");
    dossier::write(sheet, &section, &plan);
    Ok(section.into_ticket())
}

fn articles_room(surface: &Surface) -> Room {
    Room::new(surface.budget() * (10 - DOSSIER_TENTHS) / 10)
}

pub(super) async fn triage(
    surface: &Surface,
    caller: &Caller,
    id: TicketId,
) -> Result<String, DeskError> {
    let desk = surface.desk();
    let mut sheet = Sheet::new(desk.next_nonce());
    sheet.say(format_args!(
        "Triage ticket {id}. Its dossier and the articles of its category follow."
    ));
    let ticket = write_dossier(&mut sheet, surface, caller, id).await?;
    let articles = desk.list_articles(caller, Some(&ticket.category)).await?;
    let mut room = articles_room(surface);
    sheet.say(format_args!("## Articles of {}", ticket.category));
    if articles.is_empty() {
        sheet.say("There are none: look further with search_kb.");
    }
    for article in heads(&articles, &mut room) {
        let view = ArticleView::open(article, 0, &mut room, Channels::TextBlock);
        write_article(&mut sheet, &view);
    }
    sheet.say(
        "## Task\n\
         Report, each in a line or two:\n\
         1. what the customer needs, in your own words;\n\
         2. whether the priority is right, and why (urgent: a site is down or a security incident; high: several \
         people blocked or a deadline today; medium: one person; low: there is a workaround);\n\
         3. the team that should own it;\n\
         4. the article that applies, by its id, or that none does; if the category looks wrong, search_kb;\n\
         5. the next action.\n\
         What is cut off above can be read with get_ticket(offset), get_ticket_details(cursor) and \
         get_knowledge_articles(article_id). If the other tickets look like the same problem, say so.\n\
         Then stop and wait. Change nothing before the user agrees; assign_ticket, add_comment and \
         change_ticket_status are there for afterwards.",
    );
    Ok(sheet.finish())
}

pub(super) async fn reply(
    surface: &Surface,
    caller: &Caller,
    id: TicketId,
) -> Result<String, DeskError> {
    let desk = surface.desk();
    let mut sheet = Sheet::new(desk.next_nonce());
    sheet.say(format_args!(
        "Prepare a reply to the customer of ticket {id}."
    ));
    let ticket = write_dossier(&mut sheet, surface, caller, id).await?;
    match ticket.security_flag {
        flag @ (SecurityFlag::Held | SecurityFlag::Incident) => {
            sheet.say(format_args!(
                "## Task\n\
                 This ticket is flagged {flag}, so it gets no reply: not a draft, not a sentence to send. \
                 Tell the user that it is flagged, what the dossier says about it and who has it, and that the \
                 security team decides what happens next. Then stop and wait."
            ));
        }
        SecurityFlag::None if surface.has(Toolset::Replies) => {
            sheet.say(format_args!(
                "## Task\n\
                 Call draft_response({id}). It screens the ticket and composes the reply from what the knowledge base \
                 says to customers. If it refuses, tell the user what it said and stop: write no reply yourself and \
                 look for no way round. If no article is about the ticket, say so and promise nothing.\n\
                 Otherwise present its draft with the articles of its grounding and what you are unsure of. Wording may \
                 change, facts may not be added: no phone number, link or address that the grounding does not have. \
                 Then stop and wait: a person decides and sends it. With their consent add_comment keeps the \
                 proposal on the ticket as an internal comment."
            ));
        }
        SecurityFlag::None => {
            write_matches(&mut sheet, surface, caller, &ticket).await?;
            sheet.say(
                "## Task\n\
                 Write a proposal for a reply. Take facts from the articles above and from nowhere else, and name \
                 the article of each; add no phone number, link or address that they do not have. Where they do \
                 not answer the question, say that a colleague will, and promise nothing. A ticket that is flagged \
                 as incident or held gets no reply; if this one reads like a security incident, say so instead of \
                 writing one.\n\
                 Present the proposal to the user, with the articles it rests on and what you are unsure of. Then \
                 stop and wait: a person decides and sends it. With their consent add_comment keeps the proposal \
                 on the ticket as an internal comment.",
            );
        }
    }
    Ok(sheet.finish())
}

/// Writes what customers may read of the articles that match a ticket's own words.
async fn write_matches(
    sheet: &mut Sheet,
    surface: &Surface,
    caller: &Caller,
    ticket: &Ticket,
) -> Result<(), DeskError> {
    // As a reader without the right to staff knowledge, since all of it may end up in a reply.
    let reader = Caller {
        scopes: ScopeSet::NONE.with(Scope::DeskRead),
        ..caller.clone()
    };
    let words = format!("{} {}", ticket.subject, ticket.description);
    let query = KnowledgeQuery {
        query: words.chars().take(limits::QUERY_CHARS).collect(),
        category: None,
        limit: Some(3),
    };
    sheet.say("## Articles for customers that match");
    let found = match surface.desk().search_kb(&reader, query).await {
        Ok(found) => found.articles,
        // A ticket without a letter or digit matches nothing.
        Err(DeskError::Invalid(_)) => Vec::new(),
        Err(error) => return Err(error),
    };
    if found.is_empty() {
        sheet.say("None: try other words with search_kb, and use blocks for customers only.");
    }
    let mut room = articles_room(surface);
    for hit in &found {
        room.spend(crate::articles::head_cost(&hit.article));
        let view = ArticleView::matches(hit, &mut room, Channels::TextBlock);
        write_article(sheet, &view);
    }
    Ok(())
}
