//! One bit of one row (promise A-1).

use storage::AuditFault;

use super::{filled, flaw, sound, tamper};
use crate::support::Place;

// What it does past the store is written in the words of SQLite.
on_sqlite!(one_flipped_bit_in_any_column_is_found_and_its_row_named);

fn is_full() -> bool {
    std::env::var_os("DESKGATE_FULL").is_some()
}

/// A column, how it is written, and what a changed bit in it is found as.
fn columns(seq: i64) -> Vec<(&'static str, &'static str, i64, AuditFault)> {
    let column = |name| (name, "text", seq, AuditFault::Column(name));
    let number = |name| (name, "number", seq, AuditFault::Column(name));
    vec![
        ("chain", "number", seq, AuditFault::Missing),
        ("seq", "number", seq, AuditFault::Missing),
        ("event_id", "blob", seq, AuditFault::Column("event_id")),
        ("payload", "blob", seq, AuditFault::Changed),
        ("prev", "blob", seq, AuditFault::Unlinked),
        ("hash", "blob", seq, AuditFault::Changed),
        ("mac", "blob", seq, AuditFault::Forged),
        ("mac_kid", "text", seq, AuditFault::UnknownKey),
        number("at_us"),
        column("actor"),
        column("action"),
        column("entity"),
        number("entity_id"),
        column("outcome"),
        column("code"),
    ]
}

/// The value of a column with one bit flipped, and the value as it is, both as SQL.
fn flipped(place: &Place, column: &str, kind: &str, seq: i64) -> (String, String) {
    let of_row = format!("FROM audit_event WHERE chain = 1 AND seq = {seq}");
    if place.query(&format!("SELECT {column} IS NULL {of_row}")) == "1" {
        return ("'X'".to_owned(), "NULL".to_owned());
    }
    if kind == "number" {
        let value = place.query(&format!("SELECT {column} {of_row}"));
        // A high bit, so that the row does not run into another one.
        return (format!("{value} + {}", 1 << 20), value);
    }
    let hex = place.query(&format!("SELECT hex(CAST({column} AS BLOB)) {of_row}"));
    let digits = hex.as_bytes();
    // The lowest bit of a byte in the middle.
    let middle = digits.len() / 4 * 2 + 1;
    let digit = u8::from_str_radix(&hex[middle..=middle], 16).unwrap() ^ 1;
    let changed = format!("{}{digit:X}{}", &hex[..middle], &hex[middle + 1..]);
    let literal = |hex: &str| match kind {
        "text" => format!("CAST(x'{hex}' AS TEXT)"),
        _ => format!("x'{hex}'"),
    };
    (literal(&changed), literal(&hex))
}

fn one_flipped_bit_in_any_column_is_found_and_its_row_named(place: &Place) {
    let (rows, samples) = if is_full() { (10_000, 30) } else { (120, 5) };
    let store = filled(place, rows);
    let rows = i64::try_from(rows).unwrap();
    sound(&store);
    for sample in 0..samples {
        let seq = 1 + sample * (rows - 1) / (samples - 1);
        for (column, kind, first_bad, fault) in columns(seq) {
            let (changed, before) = flipped(place, column, kind, seq);
            let set = |value: &str, of: &str| {
                tamper(
                    place,
                    &format!("UPDATE audit_event SET {column} = {value} WHERE {of}"),
                );
            };
            let rowid = place.query(&format!(
                "SELECT rowid FROM audit_event WHERE chain = 1 AND seq = {seq}"
            ));
            set(&changed, &format!("rowid = {rowid}"));
            assert_eq!(flaw(&store), (first_bad, fault), "{column} of {seq}");
            set(&before, &format!("rowid = {rowid}"));
        }
        sound(&store);
    }
    for change in [
        "hash = x'00'",
        "hash = zeroblob(32)",
        "seq = seq + 1",
        "seq = seq - 1",
    ] {
        let head = place.query("SELECT seq || ', ' || quote(hash) FROM audit_head");
        let (seq, hash) = head.split_once(", ").unwrap();
        tamper(place, &format!("UPDATE audit_head SET {change}"));
        let found = flaw(&store);
        let expected = match change {
            "seq = seq + 1" => (rows + 1, AuditFault::Missing),
            _ => (rows, AuditFault::Head),
        };
        assert_eq!(found, expected, "{change}");
        tamper(
            place,
            &format!("UPDATE audit_head SET seq = {seq}, hash = {hash}"),
        );
    }
    sound(&store);
}
