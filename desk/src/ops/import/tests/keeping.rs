//! What the store keeps of an import: the good rows or nothing, once, byte for byte.

use std::sync::Mutex;

use domain::{CustomerId, TicketId};
use storage::import::{Counts, OnError, RecordKind};

use super::*;
use crate::ops::import::{ImportError, ImportOptions, ImportSummary, Progress, Silent, import};
use crate::ops::tests::{TestDesk, run};
use crate::tickets::TicketList;

fn options(folder: &Folder, on_error: OnError) -> ImportOptions {
    ImportOptions {
        path: folder.0.path().to_owned(),
        map: None,
        on_error,
    }
}

fn import_folder(desk: &TestDesk, folder: &Folder, on_error: OnError) -> ImportSummary {
    let options = options(folder, on_error);
    run(import(&desk.desk, &desk.caller, &options, &Silent)).unwrap()
}

fn ticket_count(desk: &TestDesk) -> u32 {
    let list = desk.desk.list_tickets(&desk.caller, TicketList::default());
    run(list).unwrap().total.count
}

fn created(created: u64) -> Counts {
    Counts {
        created,
        ..Counts::default()
    }
}

fn existing(existing: u64) -> Counts {
    Counts {
        existing,
        ..Counts::default()
    }
}

/// One of everything.
fn whole_folder() -> Folder {
    Folder::new()
        .with("customers.jsonl", CUSTOMER)
        .with("tickets.jsonl", TICKET)
        .with("comments.jsonl", COMMENT)
        .with("calls.jsonl", CALL)
        .with("csat.jsonl", CSAT)
        .with("articles/a.md", ARTICLE)
}

const ARTICLE: &str =
    "---\nid: KB-001\nslug: a\ntitle: A\ncategory: email\naudience: customer\n---\ntext";

#[test]
fn a_second_import_changes_nothing_and_says_so() {
    for on_error in [OnError::Abort, OnError::Skip] {
        let desk = TestDesk::new();
        let folder = whole_folder();
        let first = import_folder(&desk, &folder, on_error);
        let second = import_folder(&desk, &folder, on_error);
        for kind in RecordKind::ALL {
            assert_eq!(first.of(kind), created(1), "{kind:?}");
            assert_eq!(second.of(kind), existing(1), "{kind:?}");
        }
        let article = ARTICLE.replace("text", "other text");
        let third = import_folder(&desk, &folder.with("articles/a.md", article), on_error);
        assert_eq!(third.of(RecordKind::Article).updated, 1);
        assert_eq!(third.of(RecordKind::Ticket), existing(1));
    }
}

/// Two good tickets around a bad one, and one that refers to nobody.
fn mixed_folder() -> Folder {
    let tickets = [
        TICKET.to_owned(),
        TICKET.replace("t1", "t2").replace("\"S\"", "\"\""),
        TICKET.replace("t1", "t3"),
        TICKET.replace("t1", "t4").replace("c1", "c9"),
        TICKET
            .replace("t1", "t5")
            .replace("\"S\"", "\"S\",\"category\":\"garden\""),
    ];
    Folder::new()
        .with("customers.jsonl", CUSTOMER)
        .with("tickets.jsonl", tickets.join("\n"))
}

fn told(summary: &ImportSummary) -> Vec<String> {
    summary.refused.iter().map(ToString::to_string).collect()
}

const BAD_SUBJECT: &str = "tickets.jsonl:2: `subject` is missing";
const BAD_CUSTOMER: &str =
    "tickets.jsonl:4: `customer` names `c9`, which is not among the customers imported so far";

#[test]
fn skipping_keeps_the_good_rows_and_tells_the_bad() {
    let desk = TestDesk::new();
    let summary = import_folder(&desk, &mixed_folder(), OnError::Skip);
    assert!(!summary.aborted);
    assert_eq!(summary.of(RecordKind::Ticket).created, 2);
    assert_eq!(summary.of(RecordKind::Ticket).refused, 3);
    let told = told(&summary);
    assert_eq!(told[0], BAD_SUBJECT);
    assert_eq!(told[1], BAD_CUSTOMER);
    assert!(told[2].starts_with(
        "tickets.jsonl:5: `category` is `garden`, which is not one of: account, billing, email, "
    ));
    assert_eq!(ticket_count(&desk), 2);
}

#[test]
fn aborting_keeps_nothing_whether_the_row_or_its_reference_is_bad() {
    let desk = TestDesk::new();
    let summary = import_folder(&desk, &mixed_folder(), OnError::Abort);
    assert!(summary.aborted);
    assert_eq!(told(&summary), [BAD_SUBJECT]);
    assert_eq!(summary.total().created, 0);
    let stranger = TICKET.replace("t1", "t2").replace("c1", "c9");
    let folder = whole_folder().with("tickets.jsonl", format!("{TICKET}\n\n\n{stranger}"));
    let summary = import_folder(&desk, &folder, OnError::Abort);
    assert!(summary.aborted);
    assert_eq!(told(&summary), [BAD_CUSTOMER]);
    assert_eq!(summary.total().created, 0);
    assert_eq!(summary.total().refused, 1);
    assert_eq!(ticket_count(&desk), 0);
    assert!(run(desk.desk.get_customer(&desk.caller, CustomerId::new(1))).is_err());
}

#[test]
fn what_was_imported_is_read_back_as_it_was() {
    let desk = TestDesk::new();
    let prose = "é e\u{301} \"q\" <b>&amp;</b> 😀 \u{202e}x\r\n\tend ";
    let text = serde_json::to_string(prose).unwrap();
    let fields =
        "\"status\":\"closed\",\"priority\":\"urgent\",\"updated_at\":\"2026-01-05T00:00:00Z\"";
    let ticket = TICKET.replace("\"D\"", &format!("{text},{fields}"));
    let folder = whole_folder()
        .with("tickets.jsonl", ticket)
        .with("comments.jsonl", COMMENT.replace("\"B\"", &text));
    import_folder(&desk, &folder, OnError::Abort);
    let page = desk
        .desk
        .get_ticket_details(&desk.caller, TicketId::new(1), None, None);
    let details = run(page).unwrap().details;
    assert_eq!(details.ticket.description, prose);
    assert_eq!(details.ticket.status.as_str(), "closed");
    assert_eq!(details.ticket.priority.as_str(), "urgent");
    assert_eq!(
        details.ticket.created_at.to_string(),
        "2026-01-01T10:00:00Z"
    );
    assert_eq!(
        details.ticket.updated_at.to_string(),
        "2026-01-05T00:00:00Z"
    );
    let comment = &details.comments.rows[0];
    assert_eq!(comment.body, prose);
    assert_eq!(comment.author, "Ann");
    assert_eq!(comment.visibility.as_str(), "internal");
    assert_eq!(comment.created_at.to_string(), "2026-01-02T00:00:00Z");
}

#[test]
fn both_shipped_exports_are_kept_through_their_mappings() {
    let demo = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../demo");
    let desk = TestDesk::new();
    let cases = [
        ("flat", "flat-csv.toml", [7, 28, 0], 2),
        ("nested", "nested-jsonl.toml", [6, 19, 33], 1),
    ];
    for (export, map, counts, refused) in cases {
        let options = ImportOptions {
            path: demo.join("exports").join(export),
            map: Some(demo.join("mappings").join(map)),
            on_error: OnError::Skip,
        };
        let summary = run(import(&desk.desk, &desk.caller, &options, &Silent)).unwrap();
        let kinds = [
            RecordKind::Customer,
            RecordKind::Ticket,
            RecordKind::Comment,
        ];
        assert_eq!(
            kinds.map(|kind| summary.of(kind).created),
            counts,
            "{summary}"
        );
        assert_eq!(summary.total().refused, refused, "{summary}");
        assert_eq!(summary.unused, []);
        let options = ImportOptions {
            on_error: OnError::Abort,
            ..options
        };
        let summary = run(import(&desk.desk, &desk.caller, &options, &Silent)).unwrap();
        assert!(summary.aborted, "{summary}");
    }
}

/// Notes every step.
#[derive(Default)]
struct Steps(Mutex<Vec<(u64, u64)>>);

impl Progress for Steps {
    fn advance(&self, done: u64, total: u64) {
        self.0.lock().unwrap().push((done, total));
    }
}

#[test]
fn a_large_file_is_kept_in_steps_that_reach_the_end() {
    let tickets: Vec<_> = (0..1_000)
        .map(|number| TICKET.replace("t1", &format!("t{number}")))
        .collect();
    let folder = Folder::new()
        .with("customers.jsonl", CUSTOMER)
        .with("tickets.jsonl", tickets.join("\n"));
    for on_error in [OnError::Skip, OnError::Abort] {
        let desk = TestDesk::new();
        let steps = Steps::default();
        let options = options(&folder, on_error);
        let summary = run(import(&desk.desk, &desk.caller, &options, &steps)).unwrap();
        assert_eq!(summary.of(RecordKind::Ticket).created, 1_000);
        let steps = steps.0.into_inner().unwrap();
        assert!(steps.len() >= 3, "{steps:?}");
        assert!(steps.is_sorted(), "{steps:?}");
        assert!(steps.iter().all(|(done, total)| done <= total), "{steps:?}");
        assert_eq!(
            steps.last().map(|(done, _)| done),
            steps.last().map(|(_, total)| total)
        );
    }
}

#[test]
fn a_file_that_changes_under_an_import_that_keeps_all_undoes_it() {
    /// Breaks a file as soon as it was checked once.
    struct Breaks(std::path::PathBuf, u64);
    impl Progress for Breaks {
        fn advance(&self, done: u64, _total: u64) {
            if done >= self.1 {
                std::fs::write(&self.0, "not a row").unwrap();
            }
        }
    }
    let desk = TestDesk::new();
    let tickets: Vec<_> = (0..500)
        .map(|number| TICKET.replace("t1", &format!("t{number}")))
        .collect();
    let folder = Folder::new()
        .with("customers.jsonl", CUSTOMER)
        .with("tickets.jsonl", tickets.join("\n"));
    let breaks = Breaks(folder.0.path().join("tickets.jsonl"), 1);
    let options = options(&folder, OnError::Abort);
    let error = run(import(&desk.desk, &desk.caller, &options, &breaks)).unwrap_err();
    assert!(matches!(error, ImportError::Changed { .. }), "{error:?}");
    assert_eq!(ticket_count(&desk), 0);
    assert!(run(desk.desk.get_customer(&desk.caller, CustomerId::new(1))).is_err());
}

#[test]
fn a_summary_reads_as_a_report() {
    let desk = TestDesk::new();
    let summary = import_folder(&desk, &mixed_folder(), OnError::Abort);
    assert_eq!(
        summary.to_string(),
        "             created   updated  existing   refused\n\
         tickets            0         0         0         1\n\
         tickets.jsonl:2: `subject` is missing\n\
         Nothing was kept: every row must be good, or bad ones be skipped.\n"
    );
}

#[test]
fn a_thousand_bad_rows_are_listed_and_the_rest_counted() {
    let desk = TestDesk::new();
    let folder = Folder::new().with("tickets.jsonl", "{}\n".repeat(1_234));
    let summary = import_folder(&desk, &folder, OnError::Skip);
    assert_eq!(summary.refused.len(), 1_000);
    assert_eq!(summary.total().refused, 1_234);
    assert!(
        summary
            .to_string()
            .ends_with("... and 234 more rows were refused\n")
    );
}

#[test]
fn an_import_is_in_the_audit_log() {
    let desk = TestDesk::new();
    import_folder(&desk, &whole_folder(), OnError::Abort);
    let entries = desk
        .desk
        .list_audit_entries(&desk.caller, crate::AuditList::default());
    let entries = run(entries).unwrap();
    assert!(!entries.rows.is_empty());
    assert!(entries.rows.iter().all(|entry| entry.tool == "import"));
}
