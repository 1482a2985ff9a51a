//! Mappings that are wrong, and times as systems write them.

use super::load::load;
use super::when::TimeFormat;

const COMMENT: &str = r#"
[source.comment]
external_id = "id"
ticket = "t"
author = "a"
origin = { const = "team" }
body = "b"
created_at = "c"
"#;

#[track_caller]
fn check(text: &str, part: &str) {
    let error = load(text).unwrap_err();
    assert!(error.contains(part), "{error}");
}

/// The comment mapping above with one line replaced.
fn with(line: &str, by: &str) -> String {
    assert!(COMMENT.contains(line), "{line}");
    format!(
        "[[source]]\nformat = \"jsonl\"\n{}",
        COMMENT.replace(line, by)
    )
}

#[test]
fn the_examples_of_this_test_are_good() {
    load(&with("body", "body")).unwrap();
    load(&format!("\u{feff}{}", with("body", "body"))).unwrap();
}

#[test]
fn an_unknown_key_is_named_with_the_valid_ones() {
    check("sources = 1", "unknown field `sources`, expected `source`");
    check(
        "[[source]]\nformat = \"xml\"",
        "unknown variant `xml`, expected `csv` or `jsonl`",
    );
    check(
        "[[source]]\nformat = \"csv\"\nseparator = \";\"",
        "unknown field `separator`, expected one of `file`, `format`, `delimiter`, `customer`, `ticket`, `comment`",
    );
    check(
        &with("author = \"a\"", "authors = \"a\""),
        "source 1, comment has the field `authors`; valid are: external_id, ticket, author, origin, visibility, body, created_at, and each, when",
    );
    check(
        &with("{ const = \"team\" }", "{ constant = \"team\" }"),
        "unknown field `constant`, expected one of `from`, `row`, `const`, `template`, `default`, `values`, `otherwise`, `format`, `offset`",
    );
}

#[test]
fn a_rule_that_cannot_work_is_told_before_any_row_is_read() {
    let cases = [
        (
            "body = \"b\"\n",
            "",
            "source 1, comment lacks `body`; it needs: external_id, ticket, author, origin, body, created_at",
        ),
        ("body = \"b\"", "body = 1", "the name of a column or path"),
        (
            "body = \"b\"",
            "body = {}",
            "`body` needs exactly one of from, row, const, template",
        ),
        (
            "body = \"b\"",
            "body = { from = \"a\", const = \"b\" }",
            "needs exactly one of",
        ),
        (
            "body = \"b\"",
            "body = { row = \"a\" }",
            "`body` has `row`, which is for records with `each`",
        ),
        (
            "body = \"b\"",
            "body = { template = \"a{b\" }",
            "with an open brace",
        ),
        (
            "body = \"b\"",
            "body = { template = \"a\" }",
            "has a template without a `{column}`",
        ),
        (
            "body = \"b\"",
            "body = { const = \"a\", default = \"b\" }",
            "has `const`, beside which",
        ),
        (
            "body = \"b\"",
            "body = { from = \"a\", otherwise = \"b\" }",
            "has `otherwise` without `values`",
        ),
        (
            "body = \"b\"",
            "body = { from = \"a\", format = \"rfc3339\" }",
            "has `format`, which is for times",
        ),
        (
            "body = \"b\"",
            "body = { from = \"a\", values = { \"A\" = \"x\", \"a \" = \"y\" } }",
            "twice in `values`",
        ),
        (
            "\"team\"",
            "\"bot\"",
            "`origin` gives `bot`; valid is one of: customer, team, system",
        ),
        (
            "{ const = \"team\" }",
            "{ from = \"o\", values = { \"x\" = \"staff\" } }",
            "`origin` gives `staff`",
        ),
        (
            "{ const = \"team\" }",
            "{ from = \"o\", default = \"staff\" }",
            "`origin` gives `staff`",
        ),
        (
            "created_at = \"c\"",
            "created_at = { from = \"c\", offset = \"+01:00\" }",
            "has `offset` without `format`",
        ),
        (
            "created_at = \"c\"",
            "created_at = { from = \"c\", format = \"epoch_millis\", offset = \"+01:00\" }",
            "`epoch_millis` does not need",
        ),
        (
            "created_at = \"c\"",
            "created_at = { from = \"c\", format = \"[yeer]\" }",
            "has the format `[yeer]`, which is none of rfc3339, epoch_seconds, epoch_millis",
        ),
        (
            "created_at = \"c\"",
            "created_at = { from = \"c\", format = \"[year]\", offset = \"CET\" }",
            "has the offset `CET`; write it as `+01:00` or `Z`",
        ),
        (
            "created_at = \"c\"",
            "created_at = { const = \"today\" }",
            "`created_at` gives `today`; valid is a time",
        ),
    ];
    for (line, by, part) in cases {
        check(&with(line, by), part);
    }
}

#[test]
fn a_source_that_cannot_work_is_told() {
    check("source = []", "has no `[[source]]`");
    check(
        "[[source]]\nformat = \"csv\"",
        "source 1 makes nothing of a row",
    );
    check(
        &format!("[[source]]\nformat = \"jsonl\"\ndelimiter = \";\"\n{COMMENT}"),
        "source 1 has a `delimiter`, which only csv has",
    );
    for delimiter in ["", ";;", "\\\"", "\\n", "ä"] {
        let text = format!("[[source]]\nformat = \"csv\"\ndelimiter = \"{delimiter}\"\n{COMMENT}");
        check(&text, "it is one ASCII character such as `;`");
    }
    check(
        &format!("[[source]]\nformat = \"csv\"\n{COMMENT}each = \"x\""),
        "source 1, comment has `each`, which only jsonl has",
    );
}

#[test]
fn times_are_read_as_the_mapping_says() {
    let cases: [(&str, Option<&str>, &str, Option<&str>); 17] = [
        (
            "rfc3339",
            None,
            "2026-01-02T03:04:05+01:00",
            Some("2026-01-02T02:04:05Z"),
        ),
        ("rfc3339", None, "02.01.2026", None),
        (
            "epoch_seconds",
            None,
            "1767225600",
            Some("2026-01-01T00:00:00Z"),
        ),
        ("epoch_seconds", None, "1767225600123", None),
        ("epoch_seconds", None, "soon", None),
        (
            "epoch_millis",
            None,
            "1767225600123",
            Some("2026-01-01T00:00:00.123Z"),
        ),
        ("epoch_millis", None, "9223372036854775807", None),
        (
            "[day].[month].[year] [hour]:[minute]",
            None,
            " 24.08.2026 08:15 ",
            Some("2026-08-24T08:15:00Z"),
        ),
        (
            "[day].[month].[year] [hour]:[minute]",
            Some("+02:00"),
            "24.08.2026 08:15",
            Some("2026-08-24T06:15:00Z"),
        ),
        (
            "[day].[month].[year] [hour]:[minute]",
            Some("Z"),
            "24.08.2026 08:15",
            Some("2026-08-24T08:15:00Z"),
        ),
        (
            "[day].[month].[year] [hour]:[minute]",
            None,
            "31.09.2026 08:15",
            None,
        ),
        (
            "[day].[month].[year] [hour]:[minute]",
            None,
            "24.08.2026 08:15:30",
            None,
        ),
        (
            "[month]/[day]/[year]",
            Some("-05:00"),
            "08/24/2026",
            Some("2026-08-24T05:00:00Z"),
        ),
        (
            "[year]-[month]-[day] [hour]:[minute]:[second][offset_hour sign:mandatory][offset_minute]",
            Some("+02:00"),
            "2026-08-24 08:15:00-0100",
            Some("2026-08-24T09:15:00Z"),
        ),
        (
            "[month repr:short] [day padding:none], [year] [hour repr:12]:[minute] [period]",
            None,
            "Aug 4, 2026 8:15 PM",
            None,
        ),
        (
            "[month repr:short] [day padding:none], [year] [hour repr:12]:[minute] [period]",
            None,
            "Aug 4, 2026 08:15 PM",
            Some("2026-08-04T20:15:00Z"),
        ),
        ("[hour]:[minute]", None, "08:15", None),
    ];
    for (format, offset, text, expected) in cases {
        let read = TimeFormat::new(format, offset).unwrap().read(text);
        let shown = read.as_ref().map(ToString::to_string).ok();
        assert_eq!(shown.as_deref(), expected, "{format} {text} {read:?}");
        if let Err(reason) = read {
            assert!(reason.starts_with(&format!("is `{}`, which is not ", text.trim())));
        }
    }
}

proptest::proptest! {
    #[test]
    fn no_text_makes_the_reader_of_mappings_panic(
        text in "(\\[\\[source\\]\\]\n|format = \"(csv|jsonl)\"\n|delimiter = \".?\"\n|\\[source\\.(ticket|comment|customer)\\]\n|each = \"\\.\"\n|[a-z_]{1,9} = (\"[{}a:/.]{0,5}\"|1|\\{ (from|row|template|const|format) = \".{0,6}\" \\})\n){0,12}"
    ) {
        let _mapping = load(&text);
    }
}
