//! Mappings: how the export of another system becomes records, in a TOML file.
//!
//! ```toml
//! [[source]]
//! file = "export.csv"            # in the folder that is imported; left out where one file is imported
//! format = "csv"                 # or "jsonl"
//! delimiter = ";"                # csv only; a comma where left out
//!
//! [source.customer]              # each row yields a customer; a repeated one is yielded once
//! email = "Mail"                 # field = column
//! name = "Name"
//! created_at = { from = "Opened", format = "[day].[month].[year] [hour]:[minute]", offset = "+01:00" }
//!
//! [source.ticket]                # ... and a ticket
//! external_id = { template = "OLD-{Number}" }
//! customer = "Mail"
//! channel = { const = "email" }
//! status = { from = "State", values = { "Neu" = "open", "Erledigt" = "closed" }, otherwise = "in_progress" }
//! ...
//!
//! [source.comment]
//! each = "thread"                # one record for each element of this list; paths are those of the element
//! ticket = { row = "number" }    # `row` looks in the row around it
//! external_id = { template = "{row:number}-{index}" }   # `index` counts the elements from 1
//! when = "text"                  # only where this is not blank
//! ```
//!
//! In JSON Lines a column is a dotted path (`requester.mail`, `tags.0`) or a JSON pointer (`/requester/mail`), and `.` is
//! the element itself. The fields are those of the import format. A field is taken from one of `from`, `row`, `const` and
//! `template`; where that is blank it is `default`, which like `const` is a value of the import format. `values` turns words
//! into words; a word that it lacks is an error unless there is `otherwise`. `format` says how a time is written:
//! `rfc3339`, `epoch_seconds`, `epoch_millis`, or a format description of the `time` crate, read in UTC unless the text or
//! `offset` says otherwise.

mod load;
mod path;
mod rule;
#[cfg(test)]
mod tests;
mod when;

use serde_json::Value;
use storage::import::RecordKind;

use self::path::Path;
use self::rule::Rule;
use super::fault::Fault;
use super::native::Fields;

pub(super) use self::load::load;

/// A mapping as checked.
#[derive(Debug)]
pub(super) struct Mapping {
    pub(super) sources: Vec<SourceMap>,
}

/// How the files are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Jsonl,
    Csv { delimiter: u8 },
}

/// What is made of one file.
#[derive(Debug)]
pub(super) struct SourceMap {
    /// Its name in the folder; absent where the import is of one file.
    pub(super) file: Option<String>,
    pub(super) format: Format,
    records: Vec<RecordMap>,
}

/// What is made of one row, or of each element of a list in it.
#[derive(Debug)]
struct RecordMap {
    kind: RecordKind,
    each: Option<Path>,
    when: Option<Path>,
    rules: Vec<Rule>,
}

/// A record of the import format that a mapping made.
pub(super) struct Mapped {
    pub(super) kind: RecordKind,
    pub(super) fields: Result<Fields, Fault>,
    /// The element of the list that it comes from, counted from 0.
    pub(super) index: Option<usize>,
}

/// Where a rule looks: the element of a list where there is one, and the row.
#[derive(Clone, Copy)]
struct Place<'a> {
    item: &'a Value,
    row: &'a Value,
    index: usize,
}

impl SourceMap {
    /// The records of a row, in the order in which they refer to each other.
    pub(super) fn apply(&self, row: Fields) -> Vec<Mapped> {
        let row = Value::Object(row);
        let mut records = Vec::new();
        for map in &self.records {
            map.apply(&row, &mut records);
        }
        records
    }

    /// From where a field of a kind is taken, for reports; `element` counts from 0 as paths do.
    pub(super) fn taken_from(
        &self,
        kind: RecordKind,
        field: &str,
        element: Option<usize>,
    ) -> Option<String> {
        let map = self.records.iter().find(|map| map.kind == kind)?;
        let rule = map.rules.iter().find(|rule| rule.field == field)?;
        let within = map.each.as_ref().map(|each| match element {
            Some(index) => format!("{}.{index}.", each.shown()),
            None => format!("{}.", each.shown()),
        });
        rule.taken_from(&within.unwrap_or_default())
    }

    /// As what a row counts that can't be read.
    pub(super) fn main_kind(&self) -> RecordKind {
        let mut kinds = self.records.iter().map(|map| map.kind);
        let first = kinds.clone().next();
        kinds
            .find(|kind| *kind == RecordKind::Ticket)
            .or(first)
            .unwrap_or(RecordKind::Ticket)
    }

    /// Every path into the row that a rule reads, for a check against the header of a table.
    pub(super) fn columns(&self) -> impl Iterator<Item = &str> {
        self.records.iter().flat_map(|map| {
            let own = map.when.iter().map(Path::shown);
            own.chain(map.rules.iter().flat_map(Rule::columns))
        })
    }
}

impl RecordMap {
    fn apply(&self, row: &Value, records: &mut Vec<Mapped>) {
        let Some(each) = &self.each else {
            let place = Place {
                item: row,
                row,
                index: 0,
            };
            records.extend(self.record(place, None));
            return;
        };
        match each.find(row) {
            None | Some(Value::Null) => {}
            Some(Value::Array(items)) => {
                for (index, item) in items.iter().enumerate() {
                    let place = Place { item, row, index };
                    records.extend(self.record(place, Some(index)));
                }
            }
            Some(Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_)) => {
                let fault = Fault::row(format!(
                    "has no list under `{}`, which the mapping names as `each`",
                    each.shown()
                ));
                records.push(Mapped {
                    kind: self.kind,
                    fields: Err(fault),
                    index: None,
                });
            }
        }
    }

    fn record(&self, place: Place<'_>, index: Option<usize>) -> Option<Mapped> {
        if let Some(when) = &self.when
            && path::is_blank(when.find(place.item))
        {
            return None;
        }
        let mut fields = Fields::new();
        let mut outcome = Ok(());
        for rule in &self.rules {
            match rule.apply(place) {
                Ok(Some(value)) => drop(fields.insert(rule.field.to_owned(), value)),
                Ok(None) => {}
                Err(fault) => {
                    outcome = Err(fault);
                    break;
                }
            }
        }
        Some(Mapped {
            kind: self.kind,
            fields: outcome.map(|()| fields),
            index,
        })
    }
}
