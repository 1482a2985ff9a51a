//! Paths: the name of a column, a dotted path or a JSON pointer.

use serde_json::Value;

/// A way into a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Path {
    shown: String,
    keys: Vec<String>,
}

impl Path {
    /// The column of a table, whatever its name looks like.
    pub(super) fn column(name: &str) -> Self {
        Self {
            shown: name.to_owned(),
            keys: vec![name.to_owned()],
        }
    }

    /// A path into JSON: `a.b.0`, `/a/b/0` (RFC 6901), or `.` for the value itself.
    pub(super) fn json(text: &str) -> Self {
        let keys = if text == "." {
            Vec::new()
        } else if let Some(pointer) = text.strip_prefix('/') {
            let unescape = |key: &str| key.replace("~1", "/").replace("~0", "~");
            pointer.split('/').map(unescape).collect()
        } else {
            text.split('.').map(str::to_owned).collect()
        };
        Self {
            shown: text.to_owned(),
            keys,
        }
    }

    /// As the mapping writes it.
    pub(super) fn shown(&self) -> &str {
        &self.shown
    }

    pub(super) fn find<'a>(&self, value: &'a Value) -> Option<&'a Value> {
        self.keys.iter().try_fold(value, |value, key| match value {
            Value::Object(fields) => fields.get(key),
            Value::Array(items) => items.get(key.parse::<usize>().ok()?),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
        })
    }
}

/// Whether a value says nothing.
pub(super) fn is_blank(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => true,
        Some(Value::String(text)) => text.trim().is_empty(),
        Some(Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => false,
    }
}
