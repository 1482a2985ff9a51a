//! What is told of bad rows and bad files: each kind with file, line, field and reason.

use super::*;

/// A row with one field replaced, added or (with an empty value) removed.
fn changed(row: &str, field: &str, value: &str) -> String {
    let mut fields: serde_json::Map<String, serde_json::Value> = serde_json::from_str(row).unwrap();
    if value.is_empty() {
        fields.remove(field).unwrap();
    } else {
        fields.insert(field.to_owned(), serde_json::from_str(value).unwrap());
    }
    serde_json::to_string(&fields).unwrap()
}

#[test]
fn a_bad_field_is_told_with_file_line_field_and_reason() {
    let text = |length: usize| format!("\"{}\"", "x".repeat(length));
    let cases: &[(&str, &str, &str, &str, &str)] = &[
        ("customers", CUSTOMER, "name", "", "`name` is missing"),
        ("customers", CUSTOMER, "name", "null", "`name` is missing"),
        ("customers", CUSTOMER, "name", "\" \"", "`name` is missing"),
        (
            "customers",
            CUSTOMER,
            "name",
            "true",
            "`name` must be text, and is true",
        ),
        (
            "customers",
            CUSTOMER,
            "name",
            "[1]",
            "`name` must be text, and is a list",
        ),
        (
            "customers",
            CUSTOMER,
            "name",
            "\"a\\nb\"",
            "`name` must be one line without control characters",
        ),
        (
            "customers",
            CUSTOMER,
            "name",
            &text(201),
            "`name` must be at most 200 characters, and has 201",
        ),
        (
            "customers",
            CUSTOMER,
            "email",
            "\"ann\"",
            "`email` must be an e-mail address such as `name@company.example`",
        ),
        (
            "customers",
            CUSTOMER,
            "phone",
            "\"call me\"",
            "`phone` must be a phone number such as `+44 20 7946 0123`",
        ),
        (
            "customers",
            CUSTOMER,
            "status",
            "\"gone\"",
            "`status` is `gone`, which is not one of: active, inactive",
        ),
        (
            "customers",
            CUSTOMER,
            "created_at",
            "\"01.02.2026\"",
            "`created_at` is `01.02.2026`, which is not a time such as `2026-03-01T09:30:00Z` or a UTC day such as `2026-03-01`",
        ),
        (
            "customers",
            CUSTOMER,
            "created_at",
            "\"2026-01-01T10:00:00\"",
            "`created_at` is `2026-01-01T10:00:00`, which is not a time such as `2026-03-01T09:30:00Z` or a UTC day such as `2026-03-01`",
        ),
        (
            "customers",
            CUSTOMER,
            "fax",
            "\"1\"",
            "`fax` is not a field of a customer; valid are: external_id, name, email, phone, organisation, status, created_at, updated_at",
        ),
        (
            "customers",
            CUSTOMER,
            "external_id",
            "1.5",
            "`external_id` must be text, and is a fraction",
        ),
        (
            "tickets",
            TICKET,
            "external_id",
            "",
            "`external_id` is missing",
        ),
        (
            "tickets",
            TICKET,
            "channel",
            "\"fax\"",
            "`channel` is `fax`, which is not one of: email, portal, phone, chat",
        ),
        (
            "tickets",
            TICKET,
            "priority",
            "\"p1\"",
            "`priority` is `p1`, which is not one of: low, medium, high, urgent",
        ),
        (
            "tickets",
            TICKET,
            "status",
            "\"waiting\"",
            "`status` is `waiting`, which is not one of: open, in_progress, resolved, closed",
        ),
        (
            "tickets",
            TICKET,
            "tier",
            "4",
            "`tier` is `4`, which is not one of: 1, 2, 3",
        ),
        (
            "tickets",
            TICKET,
            "tier",
            "\"two\"",
            "`tier` must be a whole number, and is `two`",
        ),
        (
            "tickets",
            TICKET,
            "subject",
            &text(201),
            "`subject` must be at most 200 characters, and has 201",
        ),
        (
            "tickets",
            TICKET,
            "description",
            &text(20_001),
            "`description` must be at most 20000 characters, and has 20001",
        ),
        (
            "tickets",
            TICKET,
            "description",
            "\"a\\u0000b\"",
            "`description` must not contain the NUL character (U+0000)",
        ),
        ("comments", COMMENT, "origin", "", "`origin` is missing"),
        (
            "comments",
            COMMENT,
            "visibility",
            "\"all\"",
            "`visibility` is `all`, which is not one of: internal, public",
        ),
        (
            "comments",
            COMMENT,
            "body",
            &text(20_001),
            "`body` must be at most 20000 characters, and has 20001",
        ),
        (
            "calls",
            CALL,
            "duration_seconds",
            "-1",
            "`duration_seconds` must be 0 to 4294967295 seconds, and is -1",
        ),
        (
            "calls",
            CALL,
            "duration_seconds",
            "1.5",
            "`duration_seconds` must be a whole number, and is `1.5`",
        ),
        (
            "calls",
            CALL,
            "outcome",
            "\"done\"",
            "`outcome` is `done`, which is not one of: resolved, escalated, callback, unresolved",
        ),
        (
            "calls",
            CALL,
            "turns",
            "\"hello\"",
            "`turns` must be a list of turns",
        ),
        (
            "calls",
            CALL,
            "turns",
            "[1]",
            "`turns[0]` must be an object",
        ),
        (
            "calls",
            CALL,
            "turns",
            "[{\"speaker\":\"bot\",\"at_seconds\":0,\"text\":\"x\"}]",
            "`turns[0].speaker` is `bot`, which is not one of: agent, caller",
        ),
        (
            "calls",
            CALL,
            "turns",
            "[{\"speaker\":\"agent\",\"at_seconds\":0,\"text\":\" \"}]",
            "`turns[0].text` is missing",
        ),
        (
            "calls",
            CALL,
            "turns",
            "[{\"speaker\":\"agent\",\"at\":0}]",
            "`turns[0].at` is not a field of a turn; valid are: speaker, at_seconds, text",
        ),
        (
            "csat",
            CSAT,
            "score",
            "0",
            "`score` must be 1 to 5, and is 0",
        ),
        (
            "csat",
            CSAT,
            "score",
            "99999999999999999999",
            "`score` must be a whole number, and is `1e+20`",
        ),
        ("csat", CSAT, "ticket", "", "`call` or `ticket` is needed"),
        (
            "csat",
            CSAT,
            "call",
            "\"k1\"",
            "`call` and `ticket` are both given; a score is about one",
        ),
    ];
    for (stem, row, field, value, expected) in cases {
        let name = format!("{stem}.jsonl");
        // A blank line counts as a line, and the good row after the bad one is read.
        let content = format!("\n{}\n{row}\n", changed(row, field, value));
        let (records, told) = read_file(&name, content).unwrap();
        assert_eq!(told, [format!("{name}:2: {expected}")]);
        assert_eq!(records.len(), 1, "{expected}");
    }
}

#[test]
fn a_line_that_is_no_object_is_told() {
    let cases: &[(&[u8], &str)] = &[
        (
            b"{\"name\":",
            "is not a JSON object: EOF while parsing a value at column 8",
        ),
        (
            b"{\"a\":1} x",
            "is not a JSON object: trailing characters at column 9",
        ),
        (
            b"[1]",
            "is JSON but not an object; a line is one record in braces",
        ),
        (
            b"7",
            "is JSON but not an object; a line is one record in braces",
        ),
        (b"{\"name\":\"\xff\"}", "is not UTF-8 text at byte 9"),
        (
            b"{\"name\":\"\\ud800\"}",
            "is not a JSON object: unexpected end of hex escape at column 16",
        ),
    ];
    for (line, expected) in cases {
        let (records, told) = read_file("customers.jsonl", line).unwrap();
        assert_eq!(told, [format!("customers.jsonl:1: {expected}")]);
        assert_eq!(records, []);
    }
}

#[test]
fn a_line_longer_than_the_limit_is_passed_over() {
    let content = format!(
        "{{\"name\":\"{}\"}}\n{CUSTOMER}\n",
        "x".repeat(16 * 1024 * 1024)
    );
    let (records, told) = read_file("customers.jsonl", content).unwrap();
    assert_eq!(
        told,
        ["customers.jsonl:1: is longer than 16 MiB, the most that a row may have"]
    );
    assert_eq!(records.len(), 1);
}

#[test]
fn rows_of_a_table_are_told_by_the_line_on_which_they_begin() {
    for end in ["\n", "\r\n"] {
        let lines = [
            "external_id,name,email,created_at",
            "1,\"two",
            "",
            "lines\",a@x.example,2026-01-01",
            "",
            "2,Bo,b@x.example,2026-01-01,extra",
            "3,Cy,c@x.example,yesterday",
            "4,Di,d@x.example,2026-01-01",
        ];
        let (records, told) = read_file("customers.csv", lines.join(end)).unwrap();
        assert_eq!(
            told,
            [
                "customers.csv:2: `name` must be one line without control characters",
                "customers.csv:6: has 5 cells where the header has 4",
                "customers.csv:7: `created_at` is `yesterday`, which is not a time such as `2026-03-01T09:30:00Z` or a UTC day such as `2026-03-01`",
            ],
            "{end:?}"
        );
        assert_eq!(records.len(), 1);
    }
}

#[test]
fn a_table_that_breaks_off_is_told() {
    let head = "external_id,name,email,created_at\n1,Ann,a@x.example,2026-01-01\n";
    let cases: &[(&[u8], &str)] = &[
        (
            b"2,\"Bo,b@x.example,2026-01-01\n3,Cy,c@x.example,2026-01-01\n",
            "customers.csv:3: opens a quote that is not closed before the end of the file",
        ),
        (
            b"2,Bo,b@x.example,\"2026-01-01",
            "customers.csv:3: opens a quote that is not closed before the end of the file",
        ),
        (
            b"2,B\xe9,b@x.example,2026-01-01",
            "customers.csv:3: is not UTF-8 text: cell 2 at byte 1",
        ),
    ];
    for (tail, expected) in cases {
        let (records, told) = read_file("customers.csv", [head.as_bytes(), tail].concat()).unwrap();
        assert_eq!(told, [*expected]);
        assert_eq!(records.len(), 1);
    }
}

#[test]
fn a_record_without_end_is_told_and_not_collected() {
    let mut content = b"external_id,name,email,created_at\n1,\"".to_vec();
    content.resize(17 * 1024 * 1024, b'x');
    let (records, told) = read_file("customers.csv", content).unwrap();
    assert_eq!(
        told,
        [
            "customers.csv:2: is longer than 16 MiB, the most that a row may have; is a quote not closed? The rest of the file was not read"
        ]
    );
    assert_eq!(records, []);
}

#[test]
fn a_file_that_is_wrong_as_a_whole_stops_the_import_before_it_begins() {
    let cases: &[(&str, &[u8], &str)] = &[
        (
            "customer.csv",
            b"",
            "`customer.csv` is not a name of the import format; valid are: customers, tickets, comments, calls, csat (before `.jsonl` or `.csv`)",
        ),
        (
            "calls.csv",
            b"",
            "`calls.csv` has transcripts, which a table can't hold; write it as `.jsonl`",
        ),
        (
            "articles/x.csv",
            b"",
            "`articles/x.csv` is among the articles, which are `.md` files",
        ),
        ("customers.csv", b"", "`customers.csv` has no header line"),
        (
            "customers.csv",
            b"name,name\n",
            "`customers.csv` has the column `name` twice in its header",
        ),
        (
            "customers.csv",
            b"name,mail\n",
            "`customers.csv` has the column `mail`, which is no field of a customer; valid are: external_id, name, email, phone, organisation, status, created_at, updated_at",
        ),
        (
            "customers.csv",
            b"name,email\n",
            "`customers.csv` lacks the column `created_at`",
        ),
        (
            "customers.csv",
            b"\"name,email\n",
            "`customers.csv` opens a quote that is not closed before the end of the file",
        ),
        (
            "customers.csv",
            b"\xff\xfen\0a\0",
            "`customers.csv` is UTF-16; save it as UTF-8",
        ),
        (
            "notes.txt",
            b"",
            "there is nothing to import; valid are: customers, tickets, comments, csat (each `.jsonl` or `.csv`), calls.jsonl, articles/*.md",
        ),
    ];
    for (name, content, expected) in cases {
        assert_eq!(read_file(name, content).unwrap_err(), *expected);
    }
}

#[test]
fn an_article_is_told_by_its_own_lines() {
    let (records, told) = read_file(
        "articles/a.md",
        "---\nid: KB-1\nslug: a\ntitle: A\ncategory: email\naudience: all\n---\ntext",
    )
    .unwrap();
    assert_eq!(
        told,
        ["articles/a.md:6: `audience` is `all`, which is not one of: customer, staff"]
    );
    assert_eq!(records, []);
}
