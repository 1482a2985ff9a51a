//! Digests that a token binds: of the exact change, and of the screening it was previewed under.

use sha2::{Digest, Sha256};

use crate::canon::Writer;

const CHANGE_DOMAIN: &str = "deskgate/change/v1";
const SCREENING_DOMAIN: &str = "deskgate/screening/v1";

/// A field's value before or after a change.
///
/// The type is part of the digest: the text `1`, the number 1 and `true` are three different changes. Instants go in as microseconds, and whatever has a
/// name (a status, a team) as that name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Value<'a> {
    /// Text, compared byte for byte: normalise before.
    Text(&'a str),
    /// A number, an id or an instant.
    Int(i64),
    /// Yes or no.
    Bool(bool),
}

/// One field of a change, from the parsed and normalised values and never from the words of the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FieldChange<'a> {
    /// The field's name.
    pub field: &'a str,
    /// What the row held when the preview was made; `None` where it held nothing.
    pub before: Option<Value<'a>>,
    /// What it is to hold; `None` where it is to hold nothing.
    pub after: Option<Value<'a>>,
}

/// SHA-256 over every field of a change with its values before and after.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ChangeDigest([u8; 32]);

impl ChangeDigest {
    /// The digest of `changes`, whatever their order.
    ///
    /// On a commit, take the values before from the stored preview and not from the row as it is now. A row that moved is told apart by its version,
    /// and answered as stale; with values read anew it would look like another change and be answered as a mismatch.
    pub fn of(changes: &[FieldChange<'_>]) -> Self {
        let mut sorted = changes.to_vec();
        sorted.sort_unstable();
        let mut writer = Writer::default();
        writer.text(CHANGE_DOMAIN);
        for FieldChange {
            field,
            before,
            after,
        } in sorted
        {
            writer.text(field);
            put_value(&mut writer, before);
            put_value(&mut writer, after);
        }
        Self(hash(writer))
    }

    /// A digest that was stored before.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The 32 bytes of the digest.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// SHA-256 over what the guardrail said when the preview was made, so that a changed verdict needs a new preview.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ScreeningDigest([u8; 32]);

impl ScreeningDigest {
    /// The digest of `parts` in their order: say mode, stage, verdict and the ticket's version. No part at all stands for a change that nothing screens.
    pub fn of(parts: &[&str]) -> Self {
        let mut writer = Writer::default();
        writer.text(SCREENING_DOMAIN);
        for part in parts {
            writer.text(part);
        }
        Self(hash(writer))
    }

    /// A digest that was stored before.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The 32 bytes of the digest.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

fn put_value(writer: &mut Writer, value: Option<Value<'_>>) {
    match value {
        None => writer.byte(0),
        Some(Value::Text(text)) => {
            writer.byte(1);
            writer.text(text);
        }
        Some(Value::Int(number)) => {
            writer.byte(2);
            writer.int(number);
        }
        Some(Value::Bool(flag)) => {
            writer.byte(3);
            writer.byte(u8::from(flag));
        }
    }
}

fn hash(writer: Writer) -> [u8; 32] {
    Sha256::digest(writer.into_bytes()).into()
}
