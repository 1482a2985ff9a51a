//! What a person reads can be read back to exactly the change that is stored (promise G-15).

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;

/// Pieces of text that try to look like something else: another line, an end of a value, nothing, a cut.
const PIECES: [&str; 18] = [
    "a",
    "word ",
    "\"",
    "\\",
    "\\\"",
    "\n",
    "\r\n",
    "\u{2028}",
    "\u{85}",
    " -> ",
    "status: \"open\" -> \"closed\"",
    "(none)",
    " (cut, 9 characters in all, ends) ",
    "\u{202e}",
    "\u{200b}",
    "\u{0}",
    "é👩‍🚒",
    "true",
];

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => vec(select(PIECES.as_slice()), 0..12).prop_map(|pieces| pieces.concat()),
        1 => (vec(select(PIECES.as_slice()), 1..4), 150..400_usize)
            .prop_map(|(pieces, times)| pieces.concat().repeat(times)),
    ]
}

fn field_value() -> impl Strategy<Value = FieldValue> {
    prop_oneof![
        4 => text().prop_map(FieldValue::Text),
        1 => any::<i64>().prop_map(FieldValue::Int),
        1 => any::<bool>().prop_map(FieldValue::Bool),
    ]
}

/// A value as a reader of a line understands it.
#[derive(Debug, PartialEq, Eq)]
enum Read {
    Nothing,
    Int(i64),
    Bool(bool),
    Text(String),
    Cut(String, usize, String),
}

/// What a reader has to understand of a stored value.
fn expected(value: Option<&FieldValue>) -> Read {
    let text = match value {
        None => return Read::Nothing,
        Some(FieldValue::Int(number)) => return Read::Int(*number),
        Some(FieldValue::Bool(yes)) => return Read::Bool(*yes),
        Some(FieldValue::Text(text)) => text,
    };
    let chars: Vec<char> = text.chars().collect();
    let shown = |chars: &[char]| visible(&chars.iter().collect::<String>());
    if chars.len() <= 300 {
        return Read::Text(shown(&chars));
    }
    Read::Cut(
        shown(&chars[..200]),
        chars.len(),
        shown(&chars[chars.len() - 80..]),
    )
}

/// Reads a quoted text at the beginning of a line, and gives the rest.
fn read_quoted(line: &str) -> (String, &str) {
    let mut stream = serde_json::Deserializer::from_str(line).into_iter::<String>();
    let text = stream.next().unwrap().unwrap();
    (text, &line[stream.byte_offset()..])
}

fn read_value(line: &str) -> (Read, &str) {
    if let Some(rest) = line.strip_prefix("(none)") {
        return (Read::Nothing, rest);
    }
    if line.starts_with('"') {
        let (head, rest) = read_quoted(line);
        let Some(cut) = rest.strip_prefix(" (cut, ") else {
            return (Read::Text(head), rest);
        };
        let (count, rest) = cut.split_once(" characters in all, ends) ").unwrap();
        let (tail, rest) = read_quoted(rest);
        return (Read::Cut(head, count.parse().unwrap(), tail), rest);
    }
    let end = line.find(' ').unwrap_or(line.len());
    let (word, rest) = line.split_at(end);
    let value = match word {
        "true" => Read::Bool(true),
        "false" => Read::Bool(false),
        number => Read::Int(number.parse().unwrap()),
    };
    (value, rest)
}

fn read_line(line: &str) -> (String, Read, Read) {
    let (field, rest) = line.split_once(": ").unwrap();
    let (before, rest) = read_value(rest);
    let (after, rest) = read_value(rest.strip_prefix(" -> ").unwrap());
    assert_eq!(rest, "", "{line}");
    (field.to_owned(), before, after)
}

proptest! {
    #[test]
    fn a_rendered_change_reads_back_as_what_is_stored(
        values in vec((option::of(field_value()), option::of(field_value())), 1..6)
    ) {
        let mut change = Change::default();
        for (number, (before, after)) in values.into_iter().enumerate() {
            change.push_named(format!("field_{number}"), before, after);
        }
        let rendered = lines(&change);
        let read: Vec<_> = rendered.lines().map(read_line).collect();
        let stored: Vec<_> = change
            .fields
            .iter()
            .map(|field| {
                (
                    field.field.to_string(),
                    expected(field.before.as_ref()),
                    expected(field.after.as_ref()),
                )
            })
            .collect();
        prop_assert_eq!(read, stored);
        // Nothing in it acts on the screen that shows it.
        prop_assert!(rendered.chars().all(|c| c == '\n' || !c.is_control()));
        let acts = ['\u{202e}', '\u{2028}', '\u{200b}'];
        prop_assert!(!rendered.contains(acts));
    }
}
