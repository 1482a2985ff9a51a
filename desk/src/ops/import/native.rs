//! The import format itself: a row's fields by name, checked by the same rules as the use cases, into a record.
//!
//! A field that is null, absent or blank counts as absent. Prose is kept byte for byte; one-line labels lose the blanks
//! around them. A number may be written as text (CSV has nothing else) and an id as a number.

use std::borrow::Cow;

use domain::text::{email_address, label, optional_phone, prose};
use domain::text_enum::fold_word;
use domain::{
    CallOutcome, Channel, CustomerStatus, Origin, Priority, Speaker, Status, Tier, Timestamp, Turn,
    UnknownValue, Visibility, category, limits,
};
use serde_json::{Map, Value};
use storage::import::{
    ImportCall, ImportComment, ImportCsat, ImportCsatSubject, ImportCustomer, ImportRecord,
    ImportTicket, RecordKind,
};

use super::fault::{Fault, cut};
use super::kind::{Field, TURN, fields as fields_of, names, singular};

/// An external id: four times a UUID, which is more than any exporting system needs.
const EXTERNAL_ID_CHARS: usize = 150;

/// A row of the import format, as read and not yet checked.
pub(super) type Fields = Map<String, Value>;

/// Makes a record of a row; the fault names the first field that is wrong.
pub(super) fn record(kind: RecordKind, fields: &Fields) -> Result<ImportRecord, Fault> {
    let row = Row { fields, within: "" };
    row.refuse_unknown(singular(kind), fields_of(kind))?;
    match kind {
        RecordKind::Customer => customer(&row).map(ImportRecord::Customer),
        RecordKind::Ticket => ticket(&row).map(ImportRecord::Ticket),
        RecordKind::Comment => comment(&row).map(ImportRecord::Comment),
        RecordKind::Call => call(&row).map(ImportRecord::Call),
        RecordKind::Csat => score(&row).map(ImportRecord::Csat),
        RecordKind::Article => Err(Fault::row("an article is a Markdown file, not a row")),
    }
}

fn customer(row: &Row<'_>) -> Result<ImportCustomer, Fault> {
    let (created_at, updated_at) = row.created_and_updated()?;
    let email = row.need_label("email", limits::EMAIL_CHARS)?;
    row.check("email", email_address(&email, &()))?;
    let phone = row.label("phone", limits::PHONE_CHARS)?;
    row.check("phone", optional_phone(&phone, &()))?;
    Ok(ImportCustomer {
        external_id: row.label("external_id", EXTERNAL_ID_CHARS)?,
        name: row.need_label("name", limits::NAME_CHARS)?,
        email,
        phone,
        organisation: row.label("organisation", limits::NAME_CHARS)?,
        status: row.word("status", CustomerStatus::parse, CustomerStatus::Active)?,
        created_at,
        updated_at,
    })
}

fn ticket(row: &Row<'_>) -> Result<ImportTicket, Fault> {
    let (created_at, updated_at) = row.created_and_updated()?;
    Ok(ImportTicket {
        external_id: row.need_label("external_id", EXTERNAL_ID_CHARS)?,
        customer: row.need_label("customer", limits::EMAIL_CHARS)?,
        channel: row.word("channel", Channel::parse, Channel::Portal)?,
        subject: row.need_label("subject", limits::SUBJECT_CHARS)?,
        description: row.need_prose("description", limits::DESCRIPTION_CHARS)?,
        category: row.category()?,
        priority: row.word("priority", Priority::parse, Priority::Medium)?,
        status: row.word("status", Status::parse, Status::Open)?,
        tier: row.tier()?,
        assigned_team: row.label("assigned_team", limits::NAME_CHARS)?,
        assignee: row.label("assignee", limits::NAME_CHARS)?,
        created_at,
        updated_at,
    })
}

fn comment(row: &Row<'_>) -> Result<ImportComment, Fault> {
    Ok(ImportComment {
        external_id: row.need_label("external_id", EXTERNAL_ID_CHARS)?,
        ticket: row.need_label("ticket", EXTERNAL_ID_CHARS)?,
        author: row.need_label("author", limits::NAME_CHARS)?,
        origin: row.need_word("origin", Origin::parse)?,
        // Public must be chosen (field report 17), so a source that says nothing is taken as internal.
        visibility: row.word("visibility", Visibility::parse, Visibility::Internal)?,
        body: row.need_prose("body", limits::COMMENT_CHARS)?,
        created_at: row.need_time("created_at")?,
    })
}

fn call(row: &Row<'_>) -> Result<ImportCall, Fault> {
    Ok(ImportCall {
        external_id: row.need_label("external_id", EXTERNAL_ID_CHARS)?,
        customer: row.label("customer", limits::EMAIL_CHARS)?,
        ticket: row.label("ticket", EXTERNAL_ID_CHARS)?,
        started_at: row.need_time("started_at")?,
        duration_seconds: row.need_seconds("duration_seconds")?,
        agent: row.need_label("agent", limits::NAME_CHARS)?,
        category: row.category()?,
        outcome: row.need_word("outcome", CallOutcome::parse)?,
        turns: row.turns()?,
    })
}

fn score(row: &Row<'_>) -> Result<ImportCsat, Fault> {
    let call = row.label("call", EXTERNAL_ID_CHARS)?;
    let ticket = row.label("ticket", EXTERNAL_ID_CHARS)?;
    let subject = match (call, ticket) {
        (Some(call), None) => ImportCsatSubject::Call(call),
        (None, Some(ticket)) => ImportCsatSubject::Ticket(ticket),
        (None, None) => return Err(Fault::field("call", "or `ticket` is needed")),
        (Some(_), Some(_)) => {
            return Err(Fault::field(
                "call",
                "and `ticket` are both given; a score is about one",
            ));
        }
    };
    let given = row.need_whole("score")?;
    let score = u8::try_from(given)
        .ok()
        .filter(|score| (1..=5).contains(score))
        .ok_or_else(|| row.fault("score", format!("must be 1 to 5, and is {given}")))?;
    let comment = row.prose("comment", limits::COMMENT_CHARS)?;
    Ok(ImportCsat {
        external_id: row.need_label("external_id", EXTERNAL_ID_CHARS)?,
        subject,
        score,
        comment,
        category: row.category()?,
        submitted_at: row.need_time("submitted_at")?,
    })
}

fn turn(row: &Row<'_>) -> Result<Turn, Fault> {
    Ok(Turn {
        speaker: row.need_word("speaker", Speaker::parse)?,
        at_seconds: row.need_seconds("at_seconds")?,
        text: row.need_prose("text", limits::COMMENT_CHARS)?,
    })
}

/// Gives fields by name, with the fault that fits.
struct Row<'a> {
    fields: &'a Fields,
    /// The path of the object in its row, such as `turns[2].`.
    within: &'a str,
}

impl Row<'_> {
    fn fault(&self, field: &str, reason: impl Into<String>) -> Fault {
        Fault::field(format!("{}{field}", self.within), reason)
    }

    fn check(&self, field: &str, outcome: garde::Result) -> Result<(), Fault> {
        outcome.map_err(|error| self.fault(field, error.message()))
    }

    fn refuse_unknown(&self, what: &str, known: &[Field]) -> Result<(), Fault> {
        let is_known = |name: &String| known.iter().any(|field| field.name == name);
        match self.fields.keys().find(|name| !is_known(name)) {
            None => Ok(()),
            Some(name) => {
                let reason = format!("is not a field of a {what}; valid are: {}", names(known));
                Err(self.fault(&cut(name), reason))
            }
        }
    }

    fn missing(&self, field: &str) -> Fault {
        Fault::missing(format!("{}{field}", self.within))
    }

    fn text(&self, field: &str) -> Result<Option<Cow<'_, str>>, Fault> {
        match self.fields.get(field).map(scalar) {
            None | Some(Ok(None)) => Ok(None),
            Some(Ok(Some(text))) => Ok(Some(text)),
            Some(Err(found)) => Err(self.fault(field, format!("must be text, and is {found}"))),
        }
    }

    fn prose(&self, field: &str, max: usize) -> Result<Option<String>, Fault> {
        let Some(text) = self.text(field)? else {
            return Ok(None);
        };
        self.check(field, prose(max)(&text, &()))?;
        Ok(Some(text.into_owned()))
    }

    fn need_prose(&self, field: &str, max: usize) -> Result<String, Fault> {
        self.prose(field, max)?.ok_or_else(|| self.missing(field))
    }

    fn label(&self, field: &str, max: usize) -> Result<Option<String>, Fault> {
        let Some(text) = self.text(field)? else {
            return Ok(None);
        };
        let text = text.trim();
        self.check(field, label(max)(text, &()))?;
        Ok(Some(text.to_owned()))
    }

    fn need_label(&self, field: &str, max: usize) -> Result<String, Fault> {
        self.label(field, max)?.ok_or_else(|| self.missing(field))
    }

    fn category(&self) -> Result<String, Fault> {
        let given = self.label("category", limits::SLUG_CHARS)?;
        Ok(given.map_or_else(|| category::DEFAULT.to_owned(), |given| fold_word(&given)))
    }

    fn optional_word<T>(
        &self,
        field: &str,
        parse: fn(&str) -> Result<T, UnknownValue>,
    ) -> Result<Option<T>, Fault> {
        let Some(text) = self.text(field)? else {
            return Ok(None);
        };
        let word = parse(&text)
            .map_err(|unknown| Fault::unknown(format!("{}{field}", self.within), &unknown))?;
        Ok(Some(word))
    }

    fn word<T>(
        &self,
        field: &str,
        parse: fn(&str) -> Result<T, UnknownValue>,
        otherwise: T,
    ) -> Result<T, Fault> {
        Ok(self.optional_word(field, parse)?.unwrap_or(otherwise))
    }

    fn need_word<T>(
        &self,
        field: &str,
        parse: fn(&str) -> Result<T, UnknownValue>,
    ) -> Result<T, Fault> {
        self.optional_word(field, parse)?
            .ok_or_else(|| self.missing(field))
    }

    fn whole(&self, field: &str) -> Result<Option<i64>, Fault> {
        let found = match self.fields.get(field) {
            None => return Ok(None),
            Some(Value::Number(number)) => number.as_i64().ok_or_else(|| number.to_string()),
            Some(other) => match scalar(other) {
                Ok(None) => return Ok(None),
                Ok(Some(text)) => text.trim().parse().map_err(|_wording| cut(&text)),
                Err(found) => Err(found.to_owned()),
            },
        };
        found
            .map(Some)
            .map_err(|found| self.fault(field, format!("must be a whole number, and is `{found}`")))
    }

    fn need_whole(&self, field: &str) -> Result<i64, Fault> {
        self.whole(field)?.ok_or_else(|| self.missing(field))
    }

    fn need_seconds(&self, field: &str) -> Result<u32, Fault> {
        let given = self.need_whole(field)?;
        u32::try_from(given).map_err(|_range| {
            let reason = format!("must be 0 to {} seconds, and is {given}", u32::MAX);
            self.fault(field, reason)
        })
    }

    fn tier(&self) -> Result<Tier, Fault> {
        match self.whole("tier")? {
            None => Ok(Tier::FIRST),
            Some(number) => Tier::new(number).map_err(|unknown| Fault::unknown("tier", &unknown)),
        }
    }

    fn time(&self, field: &str) -> Result<Option<Timestamp>, Fault> {
        let Some(text) = self.text(field)? else {
            return Ok(None);
        };
        Timestamp::parse(&text).map(Some).map_err(|_wording| {
            let reason = format!(
                "is `{}`, which is not a time such as `2026-03-01T09:30:00Z` or a UTC day such as `2026-03-01`",
                cut(&text)
            );
            self.fault(field, reason)
        })
    }

    fn need_time(&self, field: &str) -> Result<Timestamp, Fault> {
        self.time(field)?.ok_or_else(|| self.missing(field))
    }

    fn created_and_updated(&self) -> Result<(Timestamp, Timestamp), Fault> {
        let created_at = self.need_time("created_at")?;
        let updated_at = self.time("updated_at")?.unwrap_or(created_at);
        Ok((created_at, updated_at))
    }

    fn turns(&self) -> Result<Vec<Turn>, Fault> {
        match self.fields.get("turns") {
            Some(Value::Array(turns)) => {
                let parsed = turns.iter().enumerate().map(|(index, value)| {
                    let place = format!("turns[{index}]");
                    let Value::Object(fields) = value else {
                        return Err(Fault::field(place, "must be an object"));
                    };
                    let within = format!("{place}.");
                    let row = Row {
                        fields,
                        within: &within,
                    };
                    row.refuse_unknown("turn", TURN)?;
                    turn(&row)
                });
                parsed.collect()
            }
            None | Some(Value::Null) => Err(self.missing("turns")),
            Some(Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_)) => {
                Err(self.fault("turns", "must be a list of turns"))
            }
        }
    }
}

/// The text of a value; `None` where it says nothing, and the word for it where it is no text.
///
/// A number with a fraction or an exponent is no text: an id in that form has lost digits already.
pub(super) fn scalar(value: &Value) -> Result<Option<Cow<'_, str>>, &'static str> {
    match value {
        Value::Null => Ok(None),
        Value::String(text) if text.trim().is_empty() => Ok(None),
        Value::String(text) => Ok(Some(Cow::Borrowed(text))),
        Value::Number(number) if number.is_f64() => Err("a fraction"),
        Value::Number(number) => Ok(Some(Cow::Owned(number.to_string()))),
        Value::Bool(true) => Err("true"),
        Value::Bool(false) => Err("false"),
        Value::Array(_) => Err("a list"),
        Value::Object(_) => Err("an object"),
    }
}
