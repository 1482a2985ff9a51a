//! Reads a mapping and checks all of it, so that a mistake is told before the first row and not once for each.

use std::collections::BTreeMap;
use std::fmt;

use domain::Timestamp;
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, MapAccess, Visitor};
use storage::import::RecordKind;

use super::path::Path;
use super::rule::{Piece, Rule, Take, Values};
use super::when::TimeFormat;
use super::{Format, Mapping, RecordMap, SourceMap};
use crate::ops::import::fault::cut;
use crate::ops::import::kind::{Field, Sort, fields, names, singular};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MappingToml {
    source: Vec<SourceToml>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SourceToml {
    file: Option<String>,
    format: FormatToml,
    delimiter: Option<String>,
    customer: Option<RecordToml>,
    ticket: Option<RecordToml>,
    comment: Option<RecordToml>,
}

#[derive(Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum FormatToml {
    Csv,
    Jsonl,
}

#[derive(Deserialize)]
struct RecordToml {
    each: Option<String>,
    when: Option<String>,
    #[serde(flatten)]
    fields: BTreeMap<String, RuleToml>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleTable {
    from: Option<String>,
    row: Option<String>,
    r#const: Option<ScalarToml>,
    template: Option<String>,
    default: Option<ScalarToml>,
    values: Option<BTreeMap<String, String>>,
    otherwise: Option<String>,
    format: Option<String>,
    offset: Option<String>,
}

/// A rule as written: a table, or the name of a column alone.
struct RuleToml(RuleTable);

/// A text or a whole number.
struct ScalarToml(String);

impl<'de> Deserialize<'de> for RuleToml {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct RuleVisitor;
        impl<'de> Visitor<'de> for RuleVisitor {
            type Value = RuleToml;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "the name of a column or path, or a table such as { from = \"column\" }",
                )
            }

            fn visit_str<E: serde::de::Error>(self, column: &str) -> Result<RuleToml, E> {
                Ok(RuleToml(RuleTable {
                    from: Some(column.to_owned()),
                    ..RuleTable::default()
                }))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<RuleToml, A::Error> {
                RuleTable::deserialize(MapAccessDeserializer::new(map)).map(RuleToml)
            }
        }
        deserializer.deserialize_any(RuleVisitor)
    }
}

impl<'de> Deserialize<'de> for ScalarToml {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ScalarVisitor;
        impl Visitor<'_> for ScalarVisitor {
            type Value = ScalarToml;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or a whole number")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<ScalarToml, E> {
                Ok(ScalarToml(text.to_owned()))
            }

            fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<ScalarToml, E> {
                Ok(ScalarToml(number.to_string()))
            }
        }
        deserializer.deserialize_any(ScalarVisitor)
    }
}

/// Reads a mapping; the error says where it is wrong and what is valid there.
pub(in crate::ops::import) fn load(text: &str) -> Result<Mapping, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let toml: MappingToml = toml::from_str(text).map_err(|error| error.to_string())?;
    if toml.source.is_empty() {
        return Err("has no `[[source]]`".to_owned());
    }
    let sources = (1..)
        .zip(toml.source)
        .map(|(number, toml)| source(number, toml));
    Ok(Mapping {
        sources: sources.collect::<Result<_, _>>()?,
    })
}

fn source(number: usize, toml: SourceToml) -> Result<SourceMap, String> {
    let place = format!("source {number}");
    let format = match (toml.format, toml.delimiter.as_deref()) {
        (FormatToml::Jsonl, None) => Format::Jsonl,
        (FormatToml::Jsonl, Some(_)) => {
            return Err(format!("{place} has a `delimiter`, which only csv has"));
        }
        (FormatToml::Csv, None) => Format::Csv { delimiter: b',' },
        (FormatToml::Csv, Some(text)) => match text.as_bytes() {
            [delimiter] if !matches!(delimiter, b'"' | b'\r' | b'\n') && delimiter.is_ascii() => {
                Format::Csv {
                    delimiter: *delimiter,
                }
            }
            _ => {
                let text = cut(text);
                return Err(format!(
                    "{place} has the `delimiter` `{text}`; it is one ASCII character such as `;`"
                ));
            }
        },
    };
    let kinds = [
        (RecordKind::Customer, toml.customer),
        (RecordKind::Ticket, toml.ticket),
        (RecordKind::Comment, toml.comment),
    ];
    let mut records = Vec::new();
    for (kind, toml) in kinds {
        if let Some(toml) = toml {
            let place = format!("{place}, {}", singular(kind));
            records.push(record(&place, kind, format, toml)?);
        }
    }
    if records.is_empty() {
        return Err(format!(
            "{place} makes nothing of a row; give it at least one of customer, ticket, comment"
        ));
    }
    Ok(SourceMap {
        file: toml.file,
        format,
        records,
    })
}

/// Reads paths as the format of a source writes them.
#[derive(Clone, Copy)]
struct Paths {
    format: Format,
    /// Whether there is an element to look in besides the row.
    each: bool,
}

impl Paths {
    fn read(self, text: &str) -> Path {
        match self.format {
            Format::Csv { .. } => Path::column(text),
            Format::Jsonl => Path::json(text),
        }
    }
}

fn record(
    place: &str,
    kind: RecordKind,
    format: Format,
    toml: RecordToml,
) -> Result<RecordMap, String> {
    if toml.each.is_some() && format != Format::Jsonl {
        return Err(format!("{place} has `each`, which only jsonl has"));
    }
    let paths = Paths {
        format,
        each: toml.each.is_some(),
    };
    let known = fields(kind);
    let mut rules = Vec::new();
    for (name, RuleToml(toml)) in toml.fields {
        let Some(field) = known.iter().find(|field| field.name == name) else {
            return Err(format!(
                "{place} has the field `{}`; valid are: {}, and each, when",
                cut(&name),
                names(known)
            ));
        };
        let rule =
            rule(field, paths, toml).map_err(|reason| format!("{place}, `{name}` {reason}"))?;
        rules.push(rule);
    }
    let lacks =
        |field: &&Field| field.required && rules.iter().all(|rule| rule.field != field.name);
    if let Some(field) = known.iter().find(lacks) {
        let needed: Vec<_> = known
            .iter()
            .filter(|field| field.required)
            .map(|field| field.name)
            .collect();
        return Err(format!(
            "{place} lacks `{}`; it needs: {}",
            field.name,
            needed.join(", ")
        ));
    }
    // Faults are told in the order of the format, not of the alphabet.
    rules.sort_by_key(|rule| known.iter().position(|field| field.name == rule.field));
    Ok(RecordMap {
        kind,
        each: toml.each.map(|path| paths.read(&path)),
        when: toml.when.map(|path| paths.read(&path)),
        rules,
    })
}

fn rule(field: &Field, paths: Paths, toml: RuleTable) -> Result<Rule, String> {
    let constant = toml.r#const.map(|ScalarToml(text)| text);
    let default = toml.default.map(|ScalarToml(text)| text);
    let take = match (toml.from, toml.row, constant, toml.template) {
        (Some(path), None, None, None) => Take::Item(paths.read(&path)),
        (None, Some(_), None, None) if !paths.each => {
            return Err("has `row`, which is for records with `each`; use `from`".to_owned());
        }
        (None, Some(path), None, None) => Take::Row(paths.read(&path)),
        (None, None, Some(text), None) => Take::Const(text),
        (None, None, None, Some(text)) => Take::Template(template(&text, paths)?),
        (_, _, _, _) => return Err("needs exactly one of from, row, const, template".to_owned()),
    };
    if matches!(take, Take::Const(_))
        && (default.is_some() || toml.values.is_some() || toml.format.is_some())
    {
        return Err("has `const`, beside which default, values and format mean nothing".to_owned());
    }
    if toml.values.is_none() && toml.otherwise.is_some() {
        return Err("has `otherwise` without `values`".to_owned());
    }
    let values = toml
        .values
        .map(|words| Values::new(words, toml.otherwise))
        .transpose()?;
    let format = match (toml.format, toml.offset) {
        (None, None) => None,
        (None, Some(_)) => return Err("has `offset` without `format`".to_owned()),
        (Some(_), _) if field.sort != Sort::Time => {
            return Err("has `format`, which is for times".to_owned());
        }
        (Some(_), _) if values.is_some() => {
            return Err("has both `values` and `format`".to_owned());
        }
        (Some(format), offset) => Some(TimeFormat::new(&format, offset.as_deref())?),
    };
    let mut literals: Vec<&String> = default.iter().collect();
    if let Take::Const(text) = &take {
        literals.push(text);
    }
    literals.extend(values.iter().flat_map(Values::targets));
    for literal in literals {
        check_literal(field, literal)?;
    }
    Ok(Rule {
        field: field.name,
        take,
        default,
        values,
        format,
    })
}

/// Checks a value that the mapping itself puts into the import format.
fn check_literal(field: &Field, literal: &str) -> Result<(), String> {
    let wrong = |valid: &str| format!("gives `{}`; valid is {valid}", cut(literal));
    match field.sort {
        Sort::Text | Sort::List => Ok(()),
        Sort::Word(words) if words.contains(&literal) => Ok(()),
        Sort::Word(words) => Err(wrong(&format!("one of: {}", words.join(", ")))),
        Sort::Number if literal.parse::<i64>().is_ok() => Ok(()),
        Sort::Number => Err(wrong("a whole number")),
        Sort::Time if Timestamp::parse(literal).is_ok() => Ok(()),
        Sort::Time => Err(wrong("a time such as `2026-03-01T09:30:00Z`")),
    }
}

fn template(text: &str, paths: Paths) -> Result<Vec<Piece>, String> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((literal, tail)) = rest.split_once('{') {
        if !literal.is_empty() {
            pieces.push(Piece::Text(literal.to_owned()));
        }
        let Some((name, tail)) = tail.split_once('}') else {
            return Err(format!(
                "has the template `{}` with an open brace",
                cut(text)
            ));
        };
        pieces.push(match name.split_once("row:") {
            Some(("", path)) if paths.each => Piece::Row(paths.read(path)),
            _ if name == "index" && paths.each => Piece::Index,
            _ => Piece::Item(paths.read(name)),
        });
        rest = tail;
    }
    if pieces.iter().all(|piece| matches!(piece, Piece::Text(_))) {
        return Err("has a template without a `{column}`; use `const`".to_owned());
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest.to_owned()));
    }
    Ok(pieces)
}
