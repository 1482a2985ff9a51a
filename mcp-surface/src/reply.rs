//! What a handler gives back, and how it is kept within the budget of a result.

use std::io::{self, Write};

use desk::ApprovalMethod;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject};
use serde::Serialize;
use serde_json::Value;

/// Bytes of a result around its structured part and its text block: `content`, `type`, `isError` and the like.
const ENVELOPE_BYTES: usize = 150;

/// A successful result: typed fields, and a rendering of them that stands on its own.
pub(crate) struct Reply {
    fields: JsonObject,
    text: String,
}

impl Reply {
    /// From an answer's fields and its rendering.
    pub(crate) fn new(answer: &impl Serialize, text: String) -> Self {
        let mut fields = JsonObject::new();
        fields.insert("ok".to_owned(), Value::Bool(true));
        // Answers are plain structs of text, numbers and lists, which always become an object.
        if let Ok(Value::Object(answer)) = serde_json::to_value(answer) {
            fields.extend(answer);
        }
        Self { fields, text }
    }

    /// This with more fields and one more line.
    pub(crate) fn with(mut self, fields: JsonObject, line: &str) -> Self {
        self.fields.extend(fields);
        self.text.push('\n');
        self.text.push_str(line);
        self
    }

    /// This with whether an earlier call did it.
    pub(crate) fn with_replay(self, replayed: bool) -> Self {
        let mut fields = JsonObject::new();
        fields.insert("replayed".to_owned(), Value::Bool(replayed));
        if replayed {
            return self.with(
                fields,
                "An earlier call did this; nothing more was done now.",
            );
        }
        let mut reply = self;
        reply.fields.extend(fields);
        reply
    }

    /// How the change was approved that this call made, where it spent a token for it.
    pub(crate) fn spent(&self) -> Option<&'static str> {
        if self.fields.get("replayed").and_then(Value::as_bool) == Some(true) {
            return None;
        }
        let method = self.fields.get("confirmation_method")?.as_str()?;
        let mut known = ApprovalMethod::ALL.into_iter().map(ApprovalMethod::as_str);
        known.find(|known| *known == method)
    }

    /// As it is stored with a change, to be given again.
    pub(crate) fn to_stored(&self) -> String {
        serde_json::json!([self.fields, self.text]).to_string()
    }

    /// From what was stored.
    pub(crate) fn from_stored(stored: &str) -> Option<Self> {
        let (fields, text) = serde_json::from_str(stored).ok()?;
        Some(Self { fields, text })
    }

    /// As the protocol sends it.
    pub(crate) fn into_result(self) -> CallToolResult {
        let mut result = CallToolResult::success(vec![ContentBlock::text(self.text)]);
        result.structured_content = Some(Value::Object(self.fields));
        result
    }
}

struct Counter(usize);

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Bytes of a value as JSON.
pub(crate) fn json_len(value: &(impl Serialize + ?Sized)) -> usize {
    let mut counter = Counter(0);
    // A counter can't fail, and neither can the plain values that are counted here.
    let _infallible = serde_json::to_writer(&mut counter, value);
    counter.0
}

/// What is left of a result's budget.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room(usize);

impl Room {
    /// The room of an empty result.
    pub(crate) fn new(budget: usize) -> Self {
        Self(budget.saturating_sub(ENVELOPE_BYTES))
    }

    /// Bytes that are left.
    pub(crate) fn left(self) -> usize {
        self.0
    }

    /// Takes what is needed, whether or not there is room.
    pub(crate) fn spend(&mut self, bytes: usize) {
        self.0 = self.0.saturating_sub(bytes);
    }

    /// Takes what is needed if there is room.
    pub(crate) fn take(&mut self, bytes: usize) -> bool {
        let fits = bytes <= self.0;
        if fits {
            self.0 -= bytes;
        }
        fits
    }
}
