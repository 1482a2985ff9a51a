//! A change as a person or a model is shown it: from what is stored, never from the words of a call (promise G-15).
//!
//! One line a field; values are quoted, so no value can look like another line. Long ones are cut and say so.

#[cfg(test)]
mod tests;

use desk::Approval;
use domain::{Change, EntityKind, FieldValue, Operation};
use serde_json::{Map, Value, json};

use crate::text::visible;

/// A value is shown whole up to here: about three lines of a dialogue.
const WHOLE_CHARS: usize = 300;
/// Of a longer one this much of its beginning and of its end is shown: a promise at the start and a sting in the tail are both
/// seen.
const HEAD_CHARS: usize = 200;
const TAIL_CHARS: usize = 80;

/// A text, cut where it is long.
struct Cut<'a> {
    head: &'a str,
    tail: Option<(&'a str, usize)>,
}

impl<'a> Cut<'a> {
    fn of(text: &'a str) -> Self {
        let count = text.chars().count();
        if count <= WHOLE_CHARS {
            return Self {
                head: text,
                tail: None,
            };
        }
        let at = |chars: usize| {
            text.char_indices()
                .nth(chars)
                .map_or(text.len(), |(at, _)| at)
        };
        Self {
            head: text.get(..at(HEAD_CHARS)).unwrap_or_default(),
            tail: Some((
                text.get(at(count - TAIL_CHARS)..).unwrap_or_default(),
                count,
            )),
        }
    }
}

fn quoted(text: &str) -> String {
    Value::String(visible(text)).to_string()
}

/// A value in a line.
fn in_line(value: Option<&FieldValue>) -> String {
    match value {
        None => "(none)".to_owned(),
        Some(FieldValue::Int(number)) => number.to_string(),
        Some(FieldValue::Bool(yes)) => yes.to_string(),
        Some(FieldValue::Text(text)) => {
            let Cut { head, tail } = Cut::of(text);
            match tail {
                None => quoted(head),
                Some((tail, count)) => format!(
                    "{} (cut, {count} characters in all, ends) {}",
                    quoted(head),
                    quoted(tail)
                ),
            }
        }
    }
}

/// Every field of a change, one to a line.
pub(crate) fn lines(change: &Change) -> String {
    let lines: Vec<String> = change
        .fields
        .iter()
        .map(|field| {
            let (before, after) = (field.before.as_ref(), field.after.as_ref());
            format!("{}: {} -> {}", field.field, in_line(before), in_line(after))
        })
        .collect();
    lines.join("\n")
}

/// Whose words a field's values before and after are; `None` for words of vocabularies, ids, and what has a form that holds no
/// sentence.
fn origins(field: &str) -> Option<[&'static str; 2]> {
    match field {
        "subject" | "description" | "name" | "organisation" => Some(["customer", "team"]),
        "note" | "body" | "resolution" | "channel_on_file" | "confirmer" | "approver" => {
            Some(["team", "team"])
        }
        _ => None,
    }
}

fn in_field(value: &FieldValue, origin: Option<&'static str>) -> Value {
    let text = match value {
        FieldValue::Int(number) => return json!(number),
        FieldValue::Bool(yes) => return json!(yes),
        FieldValue::Text(text) => text,
    };
    let Some(origin) = origin else {
        return json!(text);
    };
    let Cut { head, tail } = Cut::of(text);
    match tail {
        None => json!({"origin": origin, "text": head}),
        Some((tail, count)) => {
            json!({"origin": origin, "text": format!("{head} … {tail}"), "chars": count, "cut": true})
        }
    }
}

/// A change as a field of a result.
pub(crate) fn changes(change: &Change) -> Value {
    let fields = change.fields.iter().map(|field| {
        let origins = origins(&field.field).map_or([None; 2], |both| both.map(Some));
        let mut object = Map::new();
        object.insert("field".to_owned(), json!(field.field));
        for (name, value, origin) in [
            ("before", &field.before, origins[0]),
            ("after", &field.after, origins[1]),
        ] {
            let value = value
                .as_ref()
                .map_or(Value::Null, |value| in_field(value, origin));
            object.insert(name.to_owned(), value);
        }
        Value::Object(object)
    });
    Value::Array(fields.collect())
}

/// A change that waits for a person, as that person is shown it at a terminal.
pub(crate) fn approval_text(approval: &Approval) -> String {
    format!(
        "{}: {}, asked for by {} over {} ({}) at {}, can be decided until {}\n{}",
        approval.id,
        heading(approval.operation, approval.entity),
        quoted(&approval.actor),
        approval.channel,
        quoted(&approval.client),
        approval.created,
        approval.expires,
        lines(&approval.change)
    )
}

/// What a change does, in words of the server.
pub(crate) fn heading(operation: Operation, (kind, id): (EntityKind, i64)) -> String {
    use Operation::{
        AddComment, AssignTicket, CloseTicket, CreateCustomer, CreateTicket, DeleteCustomer,
        DeleteTicket, MoveTicket, PublishComment, RecordPaymentVerification, RecordSecurityReview,
        ResolveTicket, UpdateCustomer, UpdateTicket,
    };
    let id = desk::shown_id(kind, id);
    match operation {
        UpdateTicket => format!("Changing ticket {id}"),
        PublishComment => format!("Publishing a comment on ticket {id}, which the customer reads,"),
        CloseTicket => format!("Closing ticket {id} for good"),
        DeleteTicket => format!("Deleting ticket {id} with its comments"),
        UpdateCustomer => format!("Changing customer {id}"),
        DeleteCustomer => format!("Deleting customer {id} with their tickets and comments"),
        RecordPaymentVerification => format!("Recording a payment verification on ticket {id}"),
        RecordSecurityReview => format!("Recording a security review of ticket {id}"),
        CreateCustomer => "Registering a customer".to_owned(),
        CreateTicket => "Filing a ticket".to_owned(),
        AssignTicket => format!("Assigning ticket {id}"),
        AddComment => format!("Adding an internal comment to ticket {id}"),
        MoveTicket => format!("Moving ticket {id}"),
        ResolveTicket => format!("Resolving ticket {id}"),
    }
}
