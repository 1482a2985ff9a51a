//! Tolerant in form, strict in content: the whole table of what models send.

use domain::{Priority, TicketId, Tier, Version};
use serde_json::{Value, json};

use super::*;

arguments! {
    /// One of everything.
    Sample {
        ticket_id: TicketId = "A ticket.";
        note: Option<Prose<10>> = "A note.";
        name: Option<Label<5>> = "A name.";
        category: Option<Slug> = "A category.";
        priority: Option<Priority> = "A priority.";
        tier: Option<Tier> = "A tier.";
        limit: Option<Limit<100, 20>> = "A limit.";
        offset: Option<Offset> = "An offset.";
        unassigned: Option<bool> = "A flag.";
        from: Option<Since> = "A start.";
        until: Option<Before> = "An end.";
        if_version: Option<Version> = "A version.";
        unassign: Option<Unassign> = "What to take away.";
        status: Option<StepTo> = "A status.";
    }
}

fn read(given: Value) -> Result<Sample, InvalidArgument> {
    let mut given = given.as_object().cloned().unwrap();
    given.entry("ticket_id").or_insert(json!("T-1"));
    read_arguments(&given)
}

#[track_caller]
fn refused(given: Value, field: &str, message: &str) {
    let error = read(given.clone()).unwrap_err();
    assert_eq!(error.field, field, "{given}");
    assert_eq!(error.to_string(), message, "{given}");
}

#[test]
fn an_id_is_read_in_every_form_that_people_and_models_write() {
    for form in [
        json!("T-1042"),
        json!("t-1042"),
        json!("#1042"),
        json!("1042"),
        json!(" T-1042 "),
        json!(1042),
    ] {
        let sample = read(json!({ "ticket_id": form })).unwrap();
        assert_eq!(sample.ticket_id, TicketId::new(1042), "{form}");
    }
}

#[test]
fn an_optional_argument_that_is_null_or_blank_counts_as_absent() {
    for blank in [json!(null), json!(""), json!("  \n"), json!("null")] {
        for arg in Sample::ARGS.iter().filter(|arg| !arg.required) {
            let sample = read(json!({ arg.name: blank })).unwrap();
            let absent = [
                sample.note.is_none(),
                sample.name.is_none(),
                sample.category.is_none(),
                sample.priority.is_none(),
                sample.tier.is_none(),
                sample.limit.is_none(),
                sample.offset.is_none(),
                sample.unassigned.is_none(),
                sample.from.is_none(),
                sample.until.is_none(),
                sample.if_version.is_none(),
                sample.unassign.is_none(),
                sample.status.is_none(),
            ];
            assert_eq!(absent, [true; 13], "{} = {blank}", arg.name);
        }
    }
}

#[test]
fn numbers_and_flags_may_come_as_text_and_words_in_any_case() {
    let sample = read(json!({
        "tier": "2", "limit": " 50 ", "offset": 7.0, "unassigned": "True", "if_version": "3",
        "priority": " High", "category": "Network VPN", "unassign": "BOTH", "status": "In Progress",
    }))
    .unwrap();
    assert_eq!(sample.tier.map(Tier::number), Some(2));
    assert_eq!(sample.limit.map(|limit| limit.0), Some(50));
    assert_eq!(sample.offset.map(|offset| offset.0), Some(7));
    assert_eq!(sample.unassigned, Some(true));
    assert_eq!(sample.if_version, Some(Version::new(3)));
    assert_eq!(sample.priority, Some(Priority::High));
    assert_eq!(sample.category.unwrap().0, "network_vpn");
    assert_eq!(sample.unassign, Some(Unassign::Both));
    assert_eq!(sample.status, Some(StepTo(domain::Status::InProgress)));
}

#[test]
fn prose_is_kept_byte_for_byte_and_a_label_loses_the_blanks_around_it() {
    let sample = read(json!({"note": " a\r\n<b> ", "name": " ann "})).unwrap();
    assert_eq!(sample.note.unwrap().0, " a\r\n<b> ");
    assert_eq!(sample.name.unwrap().0, "ann");
}

#[test]
fn a_day_is_whole_at_both_ends_of_a_range() {
    let sample = read(json!({"from": "2026-03-01", "until": "2026-03-01"})).unwrap();
    assert_eq!(sample.from.unwrap().0.to_string(), "2026-03-01T00:00:00Z");
    assert_eq!(sample.until.unwrap().0.to_string(), "2026-03-02T00:00:00Z");
}

#[test]
fn each_fault_names_the_argument_the_rule_and_what_is_allowed() {
    let table = [
        (
            json!({"ticket_id": null}),
            "ticket_id",
            "`ticket_id` is required: an id such as `T-1042`",
        ),
        (
            json!({"ticket_id": ""}),
            "ticket_id",
            "`ticket_id` is required: an id such as `T-1042`",
        ),
        (
            json!({"ticket_id": "C-17"}),
            "ticket_id",
            "`ticket_id` is `C-17`, the id of a customer; a ticket id such as `T-1042` is wanted",
        ),
        (
            json!({"ticket_id": "first"}),
            "ticket_id",
            "`ticket_id` is `first`, which is not a ticket id; write it as `T-1042` or as its positive number",
        ),
        (
            json!({"ticket_id": -1}),
            "ticket_id",
            "`ticket_id` is `-1`, which is not a ticket id; write it as `T-1042` or as its positive number",
        ),
        (
            json!({"ticket_id": ["T-1"]}),
            "ticket_id",
            "`ticket_id` must be an id such as `T-1042`, and is an array",
        ),
        (
            json!({"note": "12345678901"}),
            "note",
            "`note` must be at most 10 characters, and has 11",
        ),
        (
            json!({"note": 5}),
            "note",
            "`note` must be text of 1 to 10 characters, and is a number",
        ),
        (
            json!({"priority": "p1"}),
            "priority",
            "`priority` is `p1`, which is not one of: low, medium, high, urgent",
        ),
        (
            json!({"priority": {}}),
            "priority",
            "`priority` must be one of low, medium, high, urgent, and is an object",
        ),
        (
            json!({"tier": 4}),
            "tier",
            "`tier` must be a whole number from 1 to 3, and is 4",
        ),
        (
            json!({"limit": 0}),
            "limit",
            "`limit` must be a whole number from 1 to 100, and is 0",
        ),
        (
            json!({"limit": "many"}),
            "limit",
            "`limit` must be a whole number from 1 to 100, and is `\"many\"`",
        ),
        (
            json!({"limit": 2.5}),
            "limit",
            "`limit` must be a whole number from 1 to 100, and is `2.5`",
        ),
        (
            json!({"limit": 1e300}),
            "limit",
            "`limit` must be a whole number from 1 to 100, and is `1e+300`",
        ),
        (
            json!({"unassigned": "maybe"}),
            "unassigned",
            "`unassigned` must be true or false, and is text",
        ),
        (
            json!({"unassigned": 1}),
            "unassigned",
            "`unassigned` must be true or false, and is a number",
        ),
        (
            json!({"from": "yesterday"}),
            "from",
            "`from` is `yesterday`, and must be a UTC day such as `2026-03-01` or an instant such as \
             `2026-03-01T09:30:00Z`",
        ),
        (
            json!({"tickt_id": "T-1"}),
            "tickt_id",
            "`tickt_id` is not an argument; `ticket_id` may have been meant; valid are: ticket_id, note, name, \
             category, priority, tier, limit, offset, unassigned, from, until, if_version, unassign, status",
        ),
        (
            json!({"status": "closed"}),
            "status",
            "`status` is `closed`: closing is final and needs a confirmation, which this version of the server does \
             not have; a person closes tickets elsewhere",
        ),
        (
            json!({"status": "done"}),
            "status",
            "`status` is `done`, which is not one of: open, in_progress, resolved",
        ),
    ];
    for (given, field, message) in table {
        refused(given, field, message);
    }
}

#[test]
fn what_an_error_repeats_is_cut_and_shows_what_is_hidden() {
    let error =
        read(json!({"priority": format!("\u{202e}{}", "x".repeat(1_000_000))})).unwrap_err();
    assert!(
        error.reason.starts_with("is `⟦U+202E⟧xxx"),
        "{}",
        error.reason
    );
    assert!(error.reason.len() < 200);
    let name = "y".repeat(1_000_000);
    let error = read(json!({ name: 1 })).unwrap_err();
    assert!(error.to_string().len() < 400);
}

#[test]
fn the_schema_says_what_is_read() {
    let schema = input_schema(Sample::ARGS);
    assert_eq!(schema["required"], json!(["ticket_id"]));
    assert_eq!(schema["additionalProperties"], json!(false));
    assert_eq!(
        schema["properties"]["ticket_id"],
        json!({"type": "string", "pattern": "^(#|[A-Za-z]+-?)?[0-9]{1,19}$", "description": "A ticket."})
    );
    assert_eq!(
        schema["properties"]["limit"],
        json!({"type": "integer", "minimum": 1, "maximum": 100, "default": 20, "description": "A limit."})
    );
    assert_eq!(
        schema["properties"]["status"]["enum"],
        json!(["open", "in_progress", "resolved"])
    );
}
