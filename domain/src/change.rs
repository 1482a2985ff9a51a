//! A change as a preview shows it and a confirmation binds it: field, before, after.

use std::borrow::Cow;
use std::fmt;

/// A typed value of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldValue {
    /// Text, or a word of a vocabulary.
    Text(String),
    /// A number.
    Int(i64),
    /// Yes or no.
    Bool(bool),
}

impl fmt::Display for FieldValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Int(number) => number.fmt(f),
            Self::Bool(yes) => yes.fmt(f),
        }
    }
}

/// One field before and after; absent is a value of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldChange {
    /// The field, by the name that tools use.
    pub field: Cow<'static, str>,
    /// What the database holds.
    pub before: Option<FieldValue>,
    /// What it would hold.
    pub after: Option<FieldValue>,
}

/// Every field that a call would change, in the order of the tool's arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// The fields.
    pub fields: Vec<FieldChange>,
}

impl Change {
    /// Whether it would change nothing.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// Adds a field, unless both sides are equal.
    pub fn push(
        &mut self,
        field: &'static str,
        before: Option<FieldValue>,
        after: Option<FieldValue>,
    ) {
        self.push_named(field, before, after);
    }

    /// [`Change::push`] for a name that was read.
    pub fn push_named(
        &mut self,
        field: impl Into<Cow<'static, str>>,
        before: Option<FieldValue>,
        after: Option<FieldValue>,
    ) {
        if before != after {
            self.fields.push(FieldChange {
                field: field.into(),
                before,
                after,
            });
        }
    }
}
