//! Rules: how one field gets its value.

use std::borrow::Cow;
use std::collections::BTreeMap;

use domain::text::fold;
use serde_json::Value;

use super::Place;
use super::path::{Path, is_blank};
use super::when::TimeFormat;
use crate::ops::import::fault::{Fault, cut};

/// How one field gets its value.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) field: &'static str,
    pub(super) take: Take,
    /// A value of the import format, for a source that says nothing.
    pub(super) default: Option<String>,
    pub(super) values: Option<Values>,
    pub(super) format: Option<TimeFormat>,
}

/// From where the value comes.
#[derive(Debug)]
pub(super) enum Take {
    Item(Path),
    Row(Path),
    Const(String),
    Template(Vec<Piece>),
}

/// A part of a template.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Text(String),
    Item(Path),
    Row(Path),
    Index,
}

/// Words of the source, folded, and what they become.
#[derive(Debug, Default)]
pub(super) struct Values {
    folded: BTreeMap<String, String>,
    shown: Vec<String>,
    otherwise: Option<String>,
}

impl Values {
    /// Words that are told apart by more than case and outer blanks.
    pub(super) fn new(
        words: BTreeMap<String, String>,
        otherwise: Option<String>,
    ) -> Result<Self, String> {
        let shown: Vec<_> = words.keys().cloned().collect();
        let mut folded = BTreeMap::new();
        for (from, to) in words {
            if folded.insert(fold(&from), to).is_some() {
                return Err(format!("has `{}` twice in `values`", cut(&from)));
            }
        }
        Ok(Self {
            folded,
            shown,
            otherwise,
        })
    }

    /// Every word of the import format that can come out.
    pub(super) fn targets(&self) -> impl Iterator<Item = &String> {
        self.folded.values().chain(&self.otherwise)
    }

    fn read(&self, word: &str) -> Result<&str, String> {
        self.folded
            .get(&fold(word))
            .or(self.otherwise.as_ref())
            .map(String::as_str)
            .ok_or_else(|| {
                format!(
                    "is `{}`, which the mapping does not know; it knows: {}",
                    cut(word),
                    self.shown.join(", ")
                )
            })
    }
}

impl Rule {
    /// The field's value in the import format; nothing where the source says nothing and there is no default.
    pub(super) fn apply(&self, place: Place<'_>) -> Result<Option<Value>, Fault> {
        let found = match &self.take {
            Take::Item(path) => path.find(place.item).map(Cow::Borrowed),
            Take::Row(path) => path.find(place.row).map(Cow::Borrowed),
            Take::Const(text) => return Ok(Some(Value::String(text.clone()))),
            Take::Template(pieces) => self.fill(pieces, place)?.map(Cow::Owned),
        };
        if is_blank(found.as_deref()) {
            return Ok(self.default.clone().map(Value::String));
        }
        let Some(value) = found else { return Ok(None) };
        if let Some(values) = &self.values {
            let word = self.word(&value)?;
            let word = values.read(&word).map_err(|reason| self.fault(reason))?;
            return Ok(Some(Value::String(word.to_owned())));
        }
        if let Some(format) = &self.format {
            let text = self.word(&value)?;
            let instant = format.read(&text).map_err(|reason| self.fault(reason))?;
            return Ok(Some(Value::String(instant.to_string())));
        }
        Ok(Some(value.into_owned()))
    }

    /// The column or path, for reports; `within` is the path of the element.
    pub(super) fn taken_from(&self, within: &str) -> Option<String> {
        let inner = |path: &Path| format!("{within}{}", path.shown());
        match &self.take {
            Take::Item(path) => Some(inner(path)),
            Take::Row(path) => Some(path.shown().to_owned()),
            Take::Const(_) => None,
            Take::Template(pieces) => {
                let paths: Vec<_> = pieces
                    .iter()
                    .filter_map(|piece| match piece {
                        Piece::Item(path) => Some(inner(path)),
                        Piece::Row(path) => Some(path.shown().to_owned()),
                        Piece::Text(_) | Piece::Index => None,
                    })
                    .collect();
                Some(paths.join(", "))
            }
        }
    }

    /// Every path that it reads.
    pub(super) fn columns(&self) -> Vec<&str> {
        match &self.take {
            Take::Item(path) | Take::Row(path) => vec![path.shown()],
            Take::Const(_) => Vec::new(),
            Take::Template(pieces) => pieces.iter().filter_map(Piece::path).collect(),
        }
    }

    fn fault(&self, reason: impl Into<String>) -> Fault {
        Fault::field(self.field, reason)
    }

    /// The text of a single value, true and false included.
    fn word<'a>(&self, value: &'a Value) -> Result<Cow<'a, str>, Fault> {
        match value {
            Value::String(text) => Ok(Cow::Borrowed(text)),
            Value::Number(number) => Ok(Cow::Owned(number.to_string())),
            Value::Bool(yes) => Ok(Cow::Owned(yes.to_string())),
            Value::Null => Ok(Cow::Borrowed("")),
            Value::Array(_) => Err(self.fault("must be one value, and is a list")),
            Value::Object(_) => Err(self.fault("must be one value, and is an object")),
        }
    }

    /// The text of a template; nothing where every path in it is blank.
    fn fill(&self, pieces: &[Piece], place: Place<'_>) -> Result<Option<Value>, Fault> {
        let mut text = String::new();
        let mut says_something = false;
        for piece in pieces {
            let found = match piece {
                Piece::Text(literal) => {
                    text.push_str(literal);
                    continue;
                }
                Piece::Index => {
                    text.push_str(&(place.index + 1).to_string());
                    continue;
                }
                Piece::Item(path) => path.find(place.item),
                Piece::Row(path) => path.find(place.row),
            };
            if let Some(value) = found.filter(|value| !is_blank(Some(value))) {
                text.push_str(&self.word(value)?);
                says_something = true;
            }
        }
        Ok(says_something.then_some(Value::String(text)))
    }
}

impl Piece {
    fn path(&self) -> Option<&str> {
        match self {
            Self::Item(path) | Self::Row(path) => Some(path.shown()),
            Self::Text(_) | Self::Index => None,
        }
    }
}
