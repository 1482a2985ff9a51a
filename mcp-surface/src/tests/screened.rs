//! What the guardrail reads, and the one way back from what it said (design section 5, rule 5; promise I-8).

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each step of putting a text somewhere is about some of the places"
)]

use desk::{ConfirmationMode, Policy};
use domain::Status;
use serde_json::{Value, json};
use storage::import::ImportRecord;

use super::support::{Bench, article, import_call, import_comment, import_customer, import_ticket};
use super::wire::{Revision, Says, Wire};

const INCIDENT: &str =
    "All files on my desktop were renamed and there is a ransom note that demands bitcoin.";

/// Where a text of a ticket stands, and how it comes there. Each of these ends with the ticket T-1 of the customer C-1.
#[derive(Clone, Copy, Debug)]
enum Place {
    Subject,
    Description,
    LaterSubject,
    LaterDescription,
    Note,
    TeamComment,
    CustomerComment,
    Resolution,
    NameAtFirst,
    LaterName,
    Organisation,
    LaterOrganisation,
    ImportedTicket,
    ImportedComment,
    Transcript,
}

const PLACES: [Place; 15] = [
    Place::Subject,
    Place::Description,
    Place::LaterSubject,
    Place::LaterDescription,
    Place::Note,
    Place::TeamComment,
    Place::CustomerComment,
    Place::Resolution,
    Place::NameAtFirst,
    Place::LaterName,
    Place::Organisation,
    Place::LaterOrganisation,
    Place::ImportedTicket,
    Place::ImportedComment,
    Place::Transcript,
];

async fn knows_printers(bench: &Bench) {
    let text = "Switch the printer off, wait thirty seconds and switch it on.";
    let blocks = [(domain::Audience::Customer, text)];
    bench
        .import(vec![ImportRecord::Article(article(4, "hardware", &blocks))])
        .await;
}

/// A guarded change with its token.
async fn confirmed(bench: &Bench, tool: &str, mut call: Value) -> Value {
    let preview = bench.call(tool, call.clone()).await;
    let preview = preview.structured_content.unwrap();
    call["confirmation_token"] = preview["confirmation_token"].clone();
    bench.ok(tool, call).await
}

/// Puts a text into its place on a desk where nothing is written yet.
async fn put(bench: &Bench, place: Place, text: &str) {
    match place {
        Place::ImportedTicket | Place::ImportedComment | Place::Transcript => {
            let mut ticket = import_ticket("first", "ann", Status::Open);
            ticket.subject = "printer".to_owned();
            ticket.description = "The printer prints blank pages.".to_owned();
            let mut comment = import_comment("c", "first", "It still does.");
            let mut call = import_call("call");
            call.ticket = Some("first".to_owned());
            match place {
                Place::ImportedTicket => text.clone_into(&mut ticket.description),
                Place::ImportedComment => text.clone_into(&mut comment.body),
                _ => text.clone_into(&mut call.turns[1].text),
            }
            bench
                .import(vec![
                    ImportRecord::Customer(import_customer("ann")),
                    ImportRecord::Ticket(ticket),
                    ImportRecord::Comment(comment),
                    ImportRecord::Call(call),
                ])
                .await;
            return;
        }
        _ => {}
    }
    let mut customer = json!({"name": "Ann", "email": "ann@company.example"});
    let mut ticket = json!({
        "customer_id": "C-1", "subject": "printer", "description": "The printer prints blank pages."
    });
    match place {
        Place::NameAtFirst => customer["name"] = json!(text),
        Place::Organisation => customer["organisation"] = json!(text),
        Place::Subject => ticket["subject"] = json!(text),
        Place::Description => ticket["description"] = json!(text),
        _ => {}
    }
    bench.ok("create_customer", customer).await;
    bench.ok("create_ticket", ticket).await;
    let on = |name: &str| {
        let mut call = json!({"ticket_id": "T-1"});
        call[name] = json!(text);
        call
    };
    let of = |name: &str| {
        let mut call = json!({"customer_id": "C-1"});
        call[name] = json!(text);
        call
    };
    match place {
        Place::LaterSubject => drop(confirmed(bench, "update_ticket", on("subject")).await),
        Place::LaterDescription => drop(confirmed(bench, "update_ticket", on("description")).await),
        Place::Note => drop(confirmed(bench, "update_ticket", on("note")).await),
        Place::LaterName => drop(confirmed(bench, "update_customer", of("name")).await),
        Place::LaterOrganisation => {
            drop(confirmed(bench, "update_customer", of("organisation")).await);
        }
        Place::TeamComment => drop(bench.ok("add_comment", on("body")).await),
        Place::CustomerComment => {
            let mut call = on("body");
            call["from_customer"] = json!(true);
            bench.ok("add_comment", call).await;
        }
        Place::Resolution => {
            let start = json!({"ticket_id": "T-1", "status": "in_progress"});
            bench.ok("change_ticket_status", start).await;
            bench.ok("resolve_ticket", on("resolution")).await;
        }
        _ => {}
    }
}

#[tokio::test]
async fn a_text_is_read_wherever_it_stands() {
    for place in PLACES {
        // Names, subjects and organisations are short.
        let text = INCIDENT;
        let bench = Bench::new().await;
        knows_printers(&bench).await;
        put(&bench, place, text).await;
        let ticket = bench.ok("get_ticket", json!({"ticket_id": "T-1"})).await;
        assert_eq!(ticket["flag"], "incident", "{place:?}: {ticket}");
        let draft = bench
            .error("draft_response", json!({"ticket_id": "T-1"}))
            .await;
        assert_eq!(draft["code"], "SECURITY_ESCALATION_REQUIRED", "{place:?}");
        let public =
            json!({"ticket_id": "T-1", "body": "Please restart it.", "visibility": "public"});
        let public = bench.error("add_comment", public).await;
        assert_eq!(public["code"], "SECURITY_ESCALATION_REQUIRED", "{place:?}");
        // The same place with a harmless text is cleared: it is the text that is read, and not the place.
        let bench = Bench::new().await;
        knows_printers(&bench).await;
        put(&bench, place, "The printer prints blank pages").await;
        let ticket = bench.ok("get_ticket", json!({"ticket_id": "T-1"})).await;
        assert_eq!(ticket["flag"], "none", "{place:?}: {ticket}");
    }
}

#[tokio::test]
async fn text_that_comes_with_a_publication_is_read_before_it_leaves() {
    let bench = Bench::new().await;
    put(&bench, Place::Subject, "printer").await;
    let public = json!({"ticket_id": "T-1", "body": INCIDENT, "visibility": "public"});
    let error = bench.error("add_comment", public).await;
    assert_eq!(error["code"], "SECURITY_ESCALATION_REQUIRED", "{error}");
    let dossier = bench
        .ok("get_ticket_details", json!({"ticket_id": "T-1"}))
        .await;
    assert_eq!(dossier["total"], 0);
}

/// A review with a person who says yes.
async fn review(bench: &Bench, verdict: &str) -> Value {
    let capabilities = json!({"elicitation": {"form": {}}});
    let mut wire = Wire::open(&bench.surface, Revision::Between, capabilities).await;
    let call =
        json!({"ticket_id": "T-1", "verdict": verdict, "reason": "Called Ann; it was a drill."});
    let yes = Says::Result(json!({"action": "accept", "content": {"confirm": true}}));
    let answer = wire.call("record_security_review", &call, &yes).await;
    assert_eq!(answer["ok"], true, "{answer}");
    assert_eq!(
        answer["confirmation_method"], "elicitation_form",
        "{answer}"
    );
    answer
}

#[tokio::test]
async fn a_person_lifts_a_flag_and_new_text_is_read_again() {
    let bench = Bench::new().await;
    knows_printers(&bench).await;
    put(&bench, Place::CustomerComment, INCIDENT).await;
    let draft = json!({"ticket_id": "T-1"});
    bench.error("draft_response", draft.clone()).await;

    // A model that says that a person has looked is no person.
    let call = json!({"ticket_id": "T-1", "verdict": "no_incident", "reason": "A drill."});
    let asked = bench.error("record_security_review", call).await;
    assert_eq!(asked["code"], "HUMAN_APPROVAL_REQUIRED");
    bench.error("draft_response", draft.clone()).await;

    let lifted = review(&bench, "no_incident").await;
    assert_eq!(lifted["flag"], "none", "{lifted}");
    let written = bench.ok("draft_response", draft.clone()).await;
    assert_eq!(written["grounding"][0]["article_id"], "KB-004");

    // What the team writes about it is read by itself; what a customer adds is read with everything.
    let harmless = json!({"ticket_id": "T-1", "body": "Told Ann to restart the printer."});
    bench.ok("add_comment", harmless).await;
    bench.ok("draft_response", draft.clone()).await;
    let more =
        json!({"ticket_id": "T-1", "body": "And it prints blank pages.", "from_customer": true});
    bench.ok("add_comment", more).await;
    let error = bench.error("draft_response", draft.clone()).await;
    assert_eq!(error["code"], "SECURITY_ESCALATION_REQUIRED");

    review(&bench, "no_incident").await;
    let again = json!({"ticket_id": "T-1", "body": INCIDENT});
    bench.ok("add_comment", again).await;
    let error = bench.error("draft_response", draft.clone()).await;
    assert_eq!(error["code"], "SECURITY_ESCALATION_REQUIRED");

    // A review can also say that it is one, of a ticket that nothing flagged.
    let confirmed = review(&bench, "incident").await;
    assert_eq!(confirmed["flag"], "incident", "{confirmed}");
}

#[tokio::test]
async fn no_setting_makes_a_review_the_models_decision() {
    let policy = Policy::new(ConfirmationMode::Standard).with("record_security_review", "token");
    let specs = crate::tool_specs().collect();
    let bench = Bench::with_policy(
        crate::Settings::default(),
        domain::ScopeSet::all(),
        specs,
        policy.unwrap(),
    )
    .await;
    put(&bench, Place::CustomerComment, INCIDENT).await;
    let call = json!({"ticket_id": "T-1", "verdict": "no_incident", "reason": "A drill."});
    let asked = bench.error("record_security_review", call).await;
    assert_eq!(asked["code"], "HUMAN_APPROVAL_REQUIRED");
}
