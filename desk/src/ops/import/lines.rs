//! JSON Lines: one object a line, read one line at a time.

use std::io::{self, BufRead, Read};

use serde_json::Value;

use super::fault::Fault;
use super::native::Fields;

/// The longest row: a ticket of the greatest length with several hundred comments. It bounds the memory of an import, and
/// what an unclosed quote can swallow.
pub(super) const MAX_ROW_BYTES: u64 = 16 * 1024 * 1024;

/// A row as read, before it means anything.
#[derive(Debug)]
pub(super) struct RawRow {
    /// The line on which it begins, from 1.
    pub(super) line: u64,
    /// Its fields by name, or why it can't be read.
    pub(super) fields: Result<Fields, Fault>,
}

/// Reads JSON Lines. Blank lines are passed over; line ends are LF or CRLF.
pub(super) struct JsonLines<R> {
    input: R,
    line: u64,
    buffer: Vec<u8>,
}

impl<R: BufRead> JsonLines<R> {
    pub(super) const fn new(input: R) -> Self {
        Self {
            input,
            line: 0,
            buffer: Vec::new(),
        }
    }

    /// The next row, or nothing at the end.
    pub(super) fn next_row(&mut self) -> io::Result<Option<RawRow>> {
        loop {
            self.buffer.clear();
            let mut capped = (&mut self.input).take(MAX_ROW_BYTES);
            if capped.read_until(b'\n', &mut self.buffer)? == 0 {
                return Ok(None);
            }
            let whole = capped.limit() > 0 || self.buffer.ends_with(b"\n");
            self.line += 1;
            let fields = if whole {
                let text = self.buffer.trim_ascii();
                if text.is_empty() {
                    continue;
                }
                object(text)
            } else {
                self.input.skip_until(b'\n')?;
                Err(too_long())
            };
            return Ok(Some(RawRow {
                line: self.line,
                fields,
            }));
        }
    }
}

pub(super) fn too_long() -> Fault {
    Fault::row(format!(
        "is longer than {} MiB, the most that a row may have",
        MAX_ROW_BYTES / 1024 / 1024
    ))
}

fn object(line: &[u8]) -> Result<Fields, Fault> {
    let text = std::str::from_utf8(line).map_err(|error| {
        Fault::row(format!("is not UTF-8 text at byte {}", error.valid_up_to()))
    })?;
    match serde_json::from_str(text) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_),
        ) => Err(Fault::row(
            "is JSON but not an object; a line is one record in braces",
        )),
        Err(error) => {
            // The parser sees one line, so its line number says nothing.
            let wording = error.to_string();
            let what = wording.split(" at line ").next().unwrap_or_default();
            Err(Fault::row(format!(
                "is not a JSON object: {what} at column {}",
                error.column()
            )))
        }
    }
}
