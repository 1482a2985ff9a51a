//! What good files give: every form of line, quote and mark, and text as it was.

use proptest::prelude::*;
use storage::import::{ImportTicket, RecordKind};

use super::*;
use crate::ops::import::lines::{JsonLines, RawRow};
use crate::ops::import::table::Table;
use crate::ops::import::{article, native};

fn only_ticket(records: Vec<ImportRecord>) -> ImportTicket {
    match records.as_slice() {
        [ImportRecord::Ticket(ticket)] => ticket.clone(),
        other => panic!("one ticket is wanted, not {other:?}"),
    }
}

#[test]
fn kinds_come_in_the_order_in_which_they_refer_to_each_other() {
    let folder = Folder::new()
        .with(
            "articles/KB-001-a.md",
            "---\nid: KB-001\nslug: a\ntitle: A\ncategory: email\naudience: staff\n---\ntext",
        )
        .with("csat.jsonl", CSAT)
        .with("calls.jsonl", CALL)
        .with("comments.jsonl", COMMENT)
        .with("tickets.2.jsonl", TICKET.replace("t1", "t2"))
        .with("tickets.1.jsonl", TICKET)
        .with("customers.jsonl", CUSTOMER)
        .with("README.md", "not an article");
    let (records, told) = folder.read(None).unwrap();
    assert_eq!(told, Vec::<String>::new());
    let kinds: Vec<_> = records
        .iter()
        .map(|record| match record {
            ImportRecord::Customer(_) => "customer",
            ImportRecord::Ticket(ticket) => &ticket.external_id,
            ImportRecord::Comment(_) => "comment",
            ImportRecord::Call(_) => "call",
            ImportRecord::Csat(_) => "csat",
            ImportRecord::Article(_) => "article",
        })
        .collect();
    assert_eq!(
        kinds,
        ["customer", "t1", "t2", "comment", "call", "csat", "article"]
    );
}

#[test]
fn absent_fields_take_the_documented_defaults() {
    let (records, _) = read_file("tickets.jsonl", TICKET).unwrap();
    let ticket = only_ticket(records);
    assert_eq!(ticket.channel.as_str(), "portal");
    assert_eq!(ticket.category, "general");
    assert_eq!(ticket.priority.as_str(), "medium");
    assert_eq!(ticket.status.as_str(), "open");
    assert_eq!(ticket.tier.number(), 1);
    assert_eq!(ticket.assigned_team, None);
    assert_eq!(ticket.updated_at, ticket.created_at);
    let (records, _) = read_file("comments.jsonl", COMMENT).unwrap();
    let [ImportRecord::Comment(comment)] = records.as_slice() else {
        panic!("{records:?}");
    };
    assert_eq!(comment.visibility.as_str(), "internal");
}

#[test]
fn a_mark_at_the_beginning_and_either_line_end_make_no_difference() {
    let table = "external_id,name,email,created_at\nc1,Ann,ann@x.example,2026-01-01\n";
    let files = [
        ("customers.jsonl", format!("{CUSTOMER}\n")),
        ("customers.csv", table.to_owned()),
    ];
    let mut all = Vec::new();
    for (name, text) in files {
        for mark in ["", "\u{feff}"] {
            for end in ["\n", "\r\n"] {
                for last in [true, false] {
                    let text = format!("{mark}{}", text.replace('\n', end));
                    let text = if last { text.as_str() } else { text.trim_end() };
                    let (records, told) = read_file(name, text).unwrap();
                    assert_eq!(told, Vec::<String>::new());
                    all.push(records);
                }
            }
        }
    }
    assert_eq!(all[0].len(), 1);
    assert!(all.iter().all(|records| *records == all[0]));
}

#[test]
fn labels_lose_outer_blanks_and_words_are_folded() {
    let row = TICKET
        .replace("\"S\"", "\"  S \"")
        .replace("\"D\"", "\" D \",\"status\":\" In Progress \",\"category\":\"Network VPN\",\"tier\":\"2\",\"assignee\":7");
    let ticket = only_ticket(read_file("tickets.jsonl", row).unwrap().0);
    assert_eq!(ticket.subject, "S");
    assert_eq!(ticket.description, " D ");
    assert_eq!(ticket.status.as_str(), "in_progress");
    assert_eq!(ticket.category, "network_vpn");
    assert_eq!(ticket.tier.number(), 2);
    assert_eq!(ticket.assignee.as_deref(), Some("7"));
}

/// Prose that a store must give back byte for byte.
const PROSE: [&str; 8] = [
    "it's \"quoted\", 'twice'",
    "<b>&amp;&#x27;</b>",
    "😀 👩‍👩‍👧‍👦",
    "שלום \u{202e}abc",
    "e\u{301} and é",
    "line\r\nline\nline\rline",
    " outer\tblanks \n",
    "a carriage return at the end\r",
];

#[test]
fn prose_is_kept_byte_for_byte_in_lines_and_in_tables() {
    for prose in PROSE {
        let quoted = serde_json::to_string(prose).unwrap();
        let line = TICKET.replace("\"D\"", &quoted);
        assert_eq!(
            only_ticket(read_file("tickets.jsonl", line).unwrap().0).description,
            prose
        );
        let cell = prose.replace('"', "\"\"");
        let table = format!(
            "external_id,customer,subject,created_at,description\nt1,c1,S,2026-01-01,\"{cell}\"\n"
        );
        assert_eq!(
            only_ticket(read_file("tickets.csv", table).unwrap().0).description,
            prose
        );
    }
}

#[test]
fn one_file_is_read_by_its_name() {
    let folder = Folder::new()
        .with("customers.jsonl", CUSTOMER)
        .with("tickets.jsonl", TICKET);
    let source = Source::Disk(folder.0.path().join("tickets.jsonl"));
    let plan = Plan::new(&source, None).unwrap();
    let rows: Vec<_> = Rows::new(Arc::clone(&plan.inputs), Timestamp::from_micros(0)).collect();
    assert_eq!(rows.len(), 1);
    let source = Source::Disk(folder.0.path().join("absent.jsonl"));
    let error = Plan::new(&source, None).unwrap_err();
    assert_eq!(error.to_string(), "`absent.jsonl` can't be read");
}

#[test]
fn rows_are_read_as_they_are_asked_for() {
    const ROWS: u64 = 50_000;
    let row = TICKET.replace("\"D\"", &format!("\"{}\"", "d".repeat(1_000)));
    let content: String = (0..ROWS)
        .map(|number| row.replace("t1", &format!("t{number:05}")) + "\n")
        .collect();
    let row_bytes = content.len() as u64 / ROWS;
    let folder = Folder::new().with("tickets.jsonl", content);
    let plan = Plan::new(&folder.source(), None).unwrap();
    let mut rows = Rows::new(Arc::clone(&plan.inputs), Timestamp::from_micros(0));
    let mut taken = 0;
    let mut most_held = 0;
    while let Some(row) = rows.next() {
        row.unwrap();
        taken += 1;
        most_held = most_held.max(rows.bytes_read() - taken * row_bytes);
    }
    assert_eq!(taken, ROWS);
    assert_eq!(rows.bytes_read(), plan.bytes);
    // Read and not given yet: what one buffer of the file holds.
    assert!(most_held <= 64 * 1024, "{most_held}");
}

/// Gives bytes to every reader, and what they make of them to every kind of record.
fn read_as_everything(bytes: &[u8]) -> usize {
    let mut records = 0;
    let mut check = |row: RawRow| {
        if let Ok(fields) = row.fields {
            let made = RecordKind::ALL.map(|kind| native::record(kind, &fields).is_ok());
            records += made.into_iter().filter(|made| *made).count();
        }
    };
    let mut lines = JsonLines::new(bytes);
    while let Some(row) = lines.next_row().unwrap() {
        check(row);
    }
    if let Ok(mut table) = Table::open(bytes, b',').unwrap() {
        while let Some(row) = table.next_row().unwrap() {
            check(row);
        }
    }
    let text = String::from_utf8_lossy(bytes);
    records + usize::from(article::parse(&text, Timestamp::from_micros(0)).is_ok())
}

proptest! {
    #[test]
    fn no_bytes_make_a_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        prop_assert_eq!(read_as_everything(&bytes), 0);
    }

    #[test]
    fn no_text_of_the_marks_of_the_format_makes_a_reader_panic(
        text in "(external_id|name|email|created_at|,|\"|\n|\r\n|\\{|\\}|\\[|:|---|```|:::staff|:::|\\\\u|0|null|\u{feff}| ){0,25}"
    ) {
        let table = "external_id,name,email,created_at\n";
        let article = "---\nid: KB-1\nslug: a\ntitle: A\ncategory: email\naudience: staff\n---\n";
        for head in ["", table, article] {
            let _records = read_as_everything(format!("{head}{text}").as_bytes());
        }
    }

    #[test]
    fn what_a_table_holds_comes_back(
        cells in proptest::collection::vec("[ -~\n\r\"\u{e4},;]{0,60}", 3),
        delimiter in prop::sample::select(&[b',', b';', b'\t'][..]),
    ) {
        let quoted: Vec<_> = cells.iter().map(|cell| format!("\"{}\"", cell.replace('"', "\"\""))).collect();
        let mark = char::from(delimiter).to_string();
        let text = format!("{}\n{}\n", ["a", "b", "c"].join(&mark), quoted.join(&mark));
        let mut table = Table::open(text.as_bytes(), delimiter).unwrap().unwrap();
        let row = table.next_row().unwrap().unwrap();
        prop_assert_eq!(row.line, 2);
        let fields = row.fields.unwrap();
        for (name, cell) in ["a", "b", "c"].into_iter().zip(&cells) {
            let found = fields.get(name).and_then(|value| value.as_str()).unwrap_or("");
            prop_assert_eq!(found, cell);
        }
        prop_assert!(table.next_row().unwrap().is_none());
    }
}
