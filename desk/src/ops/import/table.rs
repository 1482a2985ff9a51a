//! CSV (RFC 4180) with a header line, read one record at a time.
//!
//! Line ends are LF or CRLF. The `csv` crate splits the records; what it does not tell is added here: the line on which a
//! record begins, a quote that is never closed, and a bound on the length of a record.

use std::collections::HashSet;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use csv::{ByteRecord, ErrorKind, ReaderBuilder, Terminator};
use serde_json::Value;

use super::fault::{Fault, cut};
use super::lines::{MAX_ROW_BYTES, RawRow, too_long};

/// A record that follows the last one. If it does not come back alone, an open quote has swallowed it.
const END: &[u8] = b"\x1eend of file\x1e";
const END_LINE: &[u8] = b"\n\x1eend of file\x1e\n";

/// The line on which a record begins, and its cells or what is wrong with it.
type RawCells = (u64, Result<Vec<String>, Fault>);

/// Reads a table. An empty cell counts as absent.
pub(super) struct Table<R> {
    reader: csv::Reader<Bounded<R>>,
    bound: Arc<AtomicU64>,
    header: Vec<String>,
    /// Whether lines end in CRLF, as the header's does; a CR at the end of a last cell is text otherwise.
    crlf: bool,
    ended: bool,
}

impl<R: Read> Table<R> {
    /// Reads the header. The outer error is the file's, the inner one is about the header.
    pub(super) fn open(input: R, delimiter: u8) -> io::Result<Result<Self, Fault>> {
        let bound = Arc::new(AtomicU64::new(MAX_ROW_BYTES));
        let bounded = Bounded {
            inner: input.chain(END_LINE),
            read: 0,
            bound: Arc::clone(&bound),
        };
        // Only LF ends a record, so that line numbers add up; the CR before it is taken off below.
        let reader = ReaderBuilder::new()
            .delimiter(delimiter)
            .has_headers(false)
            .flexible(true)
            .terminator(Terminator::Any(b'\n'))
            .from_reader(bounded);
        let mut table = Self {
            reader,
            bound,
            header: Vec::new(),
            crlf: false,
            ended: false,
        };
        let header = match table.next_cells()? {
            None => return Ok(Err(Fault::row("has no header line"))),
            Some((line, Err(fault))) => return Ok(Err(fault.at_line(line))),
            Some((_, Ok(cells))) => cells,
        };
        table.crlf = header.last().is_some_and(|cell| cell.ends_with('\r'));
        let mut seen = HashSet::new();
        for cell in header {
            let name = cell.trim().to_owned();
            if !seen.insert(name.clone()) {
                let reason = format!("has the column `{}` twice in its header", cut(&name));
                return Ok(Err(Fault::row(reason)));
            }
            table.header.push(name);
        }
        Ok(Ok(table))
    }

    /// The names of the columns.
    pub(super) fn header(&self) -> &[String] {
        &self.header
    }

    /// The next row, or nothing at the end.
    pub(super) fn next_row(&mut self) -> io::Result<Option<RawRow>> {
        let Some((line, cells)) = self.next_cells()? else {
            return Ok(None);
        };
        let fields = cells.and_then(|cells| {
            if cells.len() != self.header.len() {
                return Err(Fault::row(format!(
                    "has {} cells where the header has {}",
                    cells.len(),
                    self.header.len()
                )));
            }
            let named = self.header.iter().cloned().zip(cells);
            Ok(named
                .filter(|(_, cell)| !cell.is_empty())
                .map(|(name, cell)| (name, Value::String(cell)))
                .collect())
        });
        Ok(Some(RawRow { line, fields }))
    }

    /// The cells of the next record and the line on which it begins.
    fn next_cells(&mut self) -> io::Result<Option<RawCells>> {
        let mut record = ByteRecord::new();
        while !self.ended {
            let start = self.reader.position().byte();
            self.bound.store(start + MAX_ROW_BYTES, Ordering::Relaxed);
            let before = self.reader.position().line();
            match self.reader.read_byte_record(&mut record) {
                Ok(true) => {}
                Ok(false) => return Ok(None),
                Err(error) => {
                    self.ended = true;
                    return if is_bound(&error) {
                        Ok(Some((before, Err(too_long_record()))))
                    } else {
                        Err(error.into())
                    };
                }
            }
            let line_ends: usize = record.iter().map(line_feeds).sum();
            // Counted from 1, the line ends inside the record taken back.
            let after = self.reader.position().line() - line_ends as u64;
            let last = record.len().saturating_sub(1);
            if record.get(last).is_some_and(ends_with_end) {
                self.ended = true;
                if record.len() == 1 && record.get(0) == Some(END) {
                    return Ok(None);
                }
                let fault =
                    Fault::row("opens a quote that is not closed before the end of the file");
                return Ok(Some((after, Err(fault))));
            }
            if record.len() == 1 && record.get(0) == Some(b"\r") {
                continue;
            }
            return Ok(Some((after - 1, texts(&record, self.crlf))));
        }
        Ok(None)
    }
}

/// Whether it is the error by which [`Bounded`] stops.
fn is_bound(error: &csv::Error) -> bool {
    matches!(error.kind(), ErrorKind::Io(error) if error.kind() == io::ErrorKind::FileTooLarge)
}

fn line_feeds(cell: &[u8]) -> usize {
    cell.split(|byte| *byte == b'\n').skip(1).count()
}

fn ends_with_end(cell: &[u8]) -> bool {
    cell.strip_suffix(b"\n").unwrap_or(cell).ends_with(END)
}

/// The cells as text, the last one without the CR of a line's end in CRLF.
fn texts(record: &ByteRecord, crlf: bool) -> Result<Vec<String>, Fault> {
    let last = record.len().saturating_sub(1);
    let text = |(index, cell): (usize, &[u8])| {
        let cell = match cell.strip_suffix(b"\r") {
            Some(bare) if crlf && index == last => bare,
            Some(_) | None => cell,
        };
        String::from_utf8(cell.to_vec()).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            Fault::row(format!(
                "is not UTF-8 text: cell {} at byte {at}",
                index + 1
            ))
        })
    };
    record.iter().enumerate().map(text).collect()
}

fn too_long_record() -> Fault {
    let mut fault = too_long();
    fault
        .reason
        .push_str("; is a quote not closed? The rest of the file was not read");
    fault
}

/// Stops reading once a record is too long, since the reader above would collect it without end.
struct Bounded<R> {
    inner: io::Chain<R, &'static [u8]>,
    read: u64,
    bound: Arc<AtomicU64>,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // The reader above asks for more only while a record is unfinished.
        if self.read >= self.bound.load(Ordering::Relaxed) {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let read = self.inner.read(buffer)?;
        self.read += read as u64;
        Ok(read)
    }
}
