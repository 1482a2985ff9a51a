//! Exports of other systems through a mapping: the two examples that ship, and each kind of rule.

use domain::Timestamp;
use storage::import::{ImportComment, ImportCustomer, ImportTicket, RecordKind};

use super::*;
use crate::ops::import::kind::fields;

fn shipped(folder: &str, mapping: &str) -> (Vec<ImportRecord>, Vec<String>) {
    let demo = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../demo");
    let text = std::fs::read_to_string(demo.join("mappings").join(mapping)).unwrap();
    let source = Source::Disk(demo.join("exports").join(folder));
    let plan = Plan::new(&source, Some(mapping::load(&text).unwrap())).unwrap();
    read_plan(&plan).unwrap()
}

fn parts(
    records: &[ImportRecord],
) -> (
    Vec<&ImportCustomer>,
    Vec<&ImportTicket>,
    Vec<&ImportComment>,
) {
    let mut parts = (Vec::new(), Vec::new(), Vec::new());
    for record in records {
        match record {
            ImportRecord::Customer(customer) => parts.0.push(customer),
            ImportRecord::Ticket(ticket) => parts.1.push(ticket),
            ImportRecord::Comment(comment) => parts.2.push(comment),
            ImportRecord::Call(_) | ImportRecord::Csat(_) | ImportRecord::Article(_) => {}
        }
    }
    parts
}

fn at(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

#[test]
fn the_flat_export_comes_in_by_its_mapping() {
    let (records, told) = shipped("flat", "flat-csv.toml");
    assert_eq!(
        told,
        [
            "tickets.csv:15: `created_at` (from `Eröffnet`) is `31.09.2026 10:00`, which is not written `[day].[month].[year] [hour]:[minute]`",
            "tickets.csv:23: `priority` (from `Dringlichkeit`) is `egal`, which the mapping does not know; it knows: gering, hoch, normal, sofort",
        ]
    );
    let (customers, tickets, comments) = parts(&records);
    assert_eq!((customers.len(), tickets.len(), comments.len()), (7, 28, 0));
    assert_eq!(
        *customers[0],
        ImportCustomer {
            external_id: Some("K-311".to_owned()),
            name: "Rainer Stübing".to_owned(),
            email: "r.stuebing@quellenau.example".to_owned(),
            phone: Some("+49 30 23125 101".to_owned()),
            organisation: Some("Stadtwerke Quellenau".to_owned()),
            status: domain::CustomerStatus::Active,
            created_at: at("2026-08-24T08:15:00Z"),
            updated_at: at("2026-08-24T08:15:00Z"),
        }
    );
    assert_eq!(customers[1].phone, None);
    let ticket = tickets[2];
    assert_eq!(ticket.external_id, "V-20103");
    assert_eq!(ticket.customer, "K-312");
    assert_eq!(
        ticket.subject,
        "Bestellung \"Zählerportal\" für zwei Kollegen"
    );
    assert!(ticket.description.ends_with("liegt bei.\n\nDanke!"));
    assert_eq!(ticket.channel.as_str(), "portal");
    assert_eq!(ticket.category, "account");
    assert_eq!(ticket.status.as_str(), "closed");
    assert_eq!(ticket.updated_at, at("2026-09-01T09:05:00Z"));
}

#[test]
fn the_nested_export_comes_in_by_its_mapping() {
    let (records, told) = shipped("nested", "nested-jsonl.toml");
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].starts_with("tickets.jsonl:11: `created_at` (from `created`) is `"),
        "{told:?}"
    );
    let (customers, tickets, comments) = parts(&records);
    assert_eq!((customers.len(), tickets.len()), (6, 19));
    assert_eq!(
        customers
            .iter()
            .filter(|customer| customer.organisation.is_none())
            .count(),
        1
    );
    let ticket = tickets[0];
    assert_eq!(ticket.external_id, "helpline-88101");
    assert_eq!(ticket.customer, "U-71");
    assert_eq!(ticket.channel.as_str(), "portal");
    assert_eq!(ticket.assigned_team.as_deref(), Some("front"));
    assert_eq!(
        ticket.created_at,
        Timestamp::from_micros(1_787_580_120_000_000)
    );
    assert_eq!(comments[0].external_id, "helpline-88101-1");
    assert_eq!(comments[0].ticket, "helpline-88101");
    assert_eq!(comments[0].origin.as_str(), "team");
    assert_eq!(comments[0].visibility.as_str(), "public");
    assert_eq!(comments[1].author, "Wu Meiling");
    assert!(
        comments
            .iter()
            .all(|comment| comment.ticket != "helpline-88111")
    );
    assert!(
        comments
            .iter()
            .any(|comment| comment.visibility.as_str() == "internal")
    );
}

const TICKETS: &str = r#"
[[source]]
file = "t.jsonl"
format = "jsonl"
[source.ticket]
external_id = "id"
customer = "/who/0/mail~1address"
subject = { template = "{kind}: {title}" }
description = { from = "text", default = "(no text)" }
created_at = "at"
status = { from = "state", values = { "Neu" = "open" }, otherwise = "closed" }
tier = { const = 2 }
channel = { const = "phone" }
[source.comment]
each = "notes"
when = "text"
external_id = { template = "{row:id}/{index}" }
ticket = { row = "id" }
author = { from = "by", default = "unknown" }
origin = { const = "team" }
body = "text"
created_at = "at"
"#;

const ROW: &str = r#"{"id":7,"who":[{"mail/address":"a@x.example"}],"kind":"K","title":"T","text":"","state":" NEU ","at":"2026-01-01","notes":[{"text":"one","at":"2026-01-02"},{"text":" "},{"text":"three","by":"Bo","at":"2026-01-03"}]}"#;

fn read_mapped(row: &str) -> (Vec<ImportRecord>, Vec<String>) {
    Folder::new()
        .with("t.jsonl", row)
        .read(Some(TICKETS))
        .unwrap()
}

#[test]
fn each_kind_of_rule_gives_its_value() {
    let (records, told) = read_mapped(ROW);
    assert_eq!(told, Vec::<String>::new());
    let (_, tickets, comments) = parts(&records);
    let ticket = tickets[0];
    assert_eq!(ticket.external_id, "7");
    assert_eq!(ticket.customer, "a@x.example");
    assert_eq!(ticket.subject, "K: T");
    assert_eq!(ticket.description, "(no text)");
    assert_eq!(ticket.status.as_str(), "open");
    assert_eq!(ticket.tier.number(), 2);
    assert_eq!(ticket.channel.as_str(), "phone");
    let ids: Vec<_> = comments
        .iter()
        .map(|comment| comment.external_id.as_str())
        .collect();
    assert_eq!(ids, ["7/1", "7/3"]);
    assert_eq!(comments[0].author, "unknown");
    assert_eq!(comments[1].author, "Bo");
}

#[test]
fn a_word_without_a_rule_becomes_the_other_one() {
    let (records, _) = read_mapped(&ROW.replace(" NEU ", "whatever"));
    assert_eq!(parts(&records).1[0].status.as_str(), "closed");
}

#[test]
fn faults_name_the_path_down_to_the_element() {
    let cases = [
        (
            "\"at\":\"2026-01-03\"",
            "\"at\":3",
            "`created_at` (from `notes.2.at`) is `3`, which is not a time such as `2026-03-01T09:30:00Z` or a UTC day such as `2026-03-01`",
        ),
        (
            "\"id\":7",
            "\"id\":[7]",
            "`external_id` (from `id`) must be text, and is a list",
        ),
        (
            "\"kind\":\"K\"",
            "\"kind\":{}",
            "`subject` (from `kind, title`) must be one value, and is an object",
        ),
        (
            "\"mail/address\"",
            "\"mail\"",
            "`customer` (from `/who/0/mail~1address`) is missing",
        ),
        (
            "\"state\":\" NEU \"",
            "\"state\":[]",
            "`status` (from `state`) must be one value, and is a list",
        ),
        (
            "\"notes\":[",
            "\"notes\":\"x\",\"rest\":[",
            "has no list under `notes`, which the mapping names as `each`",
        ),
    ];
    for (from, to, expected) in cases {
        assert!(ROW.contains(from), "{from}");
        let (_, told) = read_mapped(&ROW.replace(from, to));
        assert_eq!(told, [format!("t.jsonl:1: {expected}")]);
    }
}

#[test]
fn a_ticket_that_is_bad_takes_its_comments_with_it_and_a_comment_takes_nothing() {
    let (records, told) = read_mapped(&ROW.replace("2026-01-01", "never"));
    assert_eq!((records.len(), told.len()), (0, 1));
    let (records, told) = read_mapped(&ROW.replace("2026-01-02", "never"));
    assert_eq!((records.len(), told.len()), (2, 1));
}

const FLAT: &str = r#"
[[source]]
file = "t.csv"
format = "csv"
delimiter = "\t"
[source.customer]
name = "Who"
email = "Mail"
created_at = "Day"
[source.ticket]
external_id = "No."
customer = "Mail"
subject = "Title"
description = "Title"
created_at = "Day"
[source.comment]
when = "Answer"
external_id = { template = "{No.}-answer" }
ticket = "No."
author = { const = "the desk" }
origin = { const = "team" }
visibility = { const = "public" }
body = "Answer"
created_at = "Day"
"#;

#[test]
fn a_customer_of_a_flat_table_is_yielded_once_by_address() {
    let table = "No.\tWho\tMail\tTitle\tDay\tAnswer\n\
        1\tAnn\tann@x.example\tT\t2026-01-01\tDone.\n\
        2\tAnn A.\tANN@X.example\tT\t2026-01-02\t\n\
        3\tBo\tbo@x.example\tT\t2026-01-03\t\n";
    let (records, told) = Folder::new().with("t.csv", table).read(Some(FLAT)).unwrap();
    assert_eq!(told, Vec::<String>::new());
    let (customers, tickets, comments) = parts(&records);
    assert_eq!((customers.len(), tickets.len(), comments.len()), (2, 3, 1));
    assert_eq!(comments[0].external_id, "1-answer");
}

#[test]
fn columns_are_checked_against_the_header_in_both_directions() {
    let folder = Folder::new().with("t.csv", "No.\tWho\tMail\tTitel\tDay\tAnswer\n");
    assert_eq!(
        folder.read(Some(FLAT)).unwrap_err(),
        "`t.csv` lacks the column `Title`, which the mapping reads; it has: No., Who, Mail, Titel, Day, Answer"
    );
    let folder = Folder::new().with("t.csv", "No.\tWho\tMail\tTitle\tDay\tAnswer\tVIP\n");
    let mapping = mapping::load(FLAT).unwrap();
    let plan = Plan::new(&folder.source(), Some(mapping)).unwrap();
    let unused: Vec<_> = plan
        .unused
        .iter()
        .map(|unused| unused.column.as_str())
        .collect();
    assert_eq!(unused, ["VIP"]);
}

#[test]
fn a_mapping_needs_the_files_that_it_names() {
    let folder = Folder::new().with("other.csv", "x\n");
    assert_eq!(
        folder.read(Some(FLAT)).unwrap_err(),
        "`t.csv` can't be read"
    );
    let nameless = FLAT.replace("file = \"t.csv\"", "");
    assert_eq!(
        folder.read(Some(&nameless)).unwrap_err(),
        "the mapping names no `file` in source 1, which an import of a folder needs"
    );
    let table = "No.\tWho\tMail\tTitle\tDay\tAnswer\n1\tAnn\tann@x.example\tT\t2026-01-01\t\n";
    let folder = folder.with("any.name", table);
    let source = Source::Disk(folder.0.path().join("any.name"));
    let plan = Plan::new(&source, Some(mapping::load(&nameless).unwrap())).unwrap();
    assert_eq!(read_plan(&plan).unwrap().0.len(), 2);
    let twice = mapping::load(&format!("{FLAT}{FLAT}")).unwrap();
    assert_eq!(
        Plan::new(&source, Some(twice)).unwrap_err().to_string(),
        "the mapping has several sources; import the folder that holds their files"
    );
}

#[test]
fn the_page_about_importing_names_every_field_and_marks_those_that_are_needed() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../demo/mappings");
    let page = std::fs::read_to_string(folder.join("README.md")).unwrap();
    let rows = [
        "customers",
        "tickets",
        "comments",
        "calls",
        "csat",
        "articles/*.md",
    ];
    for (kind, file) in RecordKind::ALL.into_iter().zip(rows) {
        let start = format!("| `{file}` |");
        let row = page.lines().find(|line| line.starts_with(&start)).unwrap();
        for field in fields(kind) {
            let name = format!("`{}`", field.name);
            assert!(row.contains(&name), "{file}: {name}");
            let marked = row.contains(&format!("**{name}**"));
            assert_eq!(marked, field.required, "{file}: {name}");
        }
    }
}
