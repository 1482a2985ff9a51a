//! Every row of an import in turn: read, mapped and checked, with nothing kept but the row at hand.

use std::collections::{HashSet, VecDeque};
use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use domain::Timestamp;
use domain::text::fold;
use storage::import::{ImportCustomer, ImportRecord, ImportRow, RecordKind};

use super::fault::{BadRow, Fault};
use super::files::Bytes;
use super::lines::{JsonLines, MAX_ROW_BYTES, RawRow, too_long};
use super::mapping::Format;
use super::place::Place;
use super::plan::{Input, Shape};
use super::table::Table;
use super::{ImportError, article, native};

/// Why a row did not come.
#[derive(Debug)]
pub(super) enum Problem {
    /// The row is bad; the next ones may be good.
    Bad(RecordKind, BadRow),
    /// Nothing more can be read.
    Broken(ImportError),
}

/// Customers that a flat table has named, so that its tickets do not repeat them. Forgetting them costs a look-up in the
/// store and nothing else, so the memory is bounded.
const CUSTOMERS_REMEMBERED: usize = 100_000;

/// The rows of all files, in order.
pub(super) struct Rows {
    inputs: Arc<[Input]>,
    next_input: usize,
    reader: Option<Reader>,
    queue: VecDeque<Result<ImportRow, Problem>>,
    customers: HashSet<(Option<String>, String)>,
    read: Arc<AtomicU64>,
    now: Timestamp,
}

enum Reader {
    Lines(JsonLines<Bytes>),
    Table(Table<Bytes>),
    Article(Option<Bytes>),
}

impl Rows {
    /// The rows of these files. `now` is when articles changed that do not say it.
    pub(super) fn new(inputs: Arc<[Input]>, now: Timestamp) -> Self {
        Self {
            inputs,
            next_input: 0,
            reader: None,
            queue: VecDeque::new(),
            customers: HashSet::new(),
            read: Arc::default(),
            now,
        }
    }

    /// The bytes read so far.
    pub(super) fn bytes_read(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }

    /// The file being read and its number.
    fn current(&self) -> Option<(usize, &Input)> {
        let number = self.next_input.checked_sub(1)?;
        self.inputs.get(number).map(|input| (number, input))
    }

    fn open_next(&mut self) -> Result<bool, ImportError> {
        let Some(input) = self.inputs.get(self.next_input) else {
            return Ok(false);
        };
        let bytes = input.file.open(&self.read)?;
        self.reader = Some(match input.shape.format() {
            None => Reader::Article(Some(bytes)),
            Some(Format::Jsonl) => Reader::Lines(JsonLines::new(bytes)),
            Some(Format::Csv { delimiter }) => {
                let table = Table::open(bytes, delimiter)
                    .map_err(|error| input.file.failed(error))?
                    .map_err(|fault| input.file.wrong(fault.reason))?;
                Reader::Table(table)
            }
        });
        self.next_input += 1;
        Ok(true)
    }

    /// Puts what comes next into the queue; false at the end of everything.
    fn advance(&mut self) -> Result<bool, ImportError> {
        let row = match &mut self.reader {
            None => return self.open_next(),
            Some(Reader::Lines(lines)) => lines.next_row(),
            Some(Reader::Table(table)) => table.next_row(),
            Some(Reader::Article(bytes)) => {
                match bytes.take() {
                    None => self.reader = None,
                    Some(bytes) => self.take_article(bytes)?,
                }
                return Ok(true);
            }
        };
        let Some((number, input)) = self.current() else {
            return Ok(false);
        };
        match row.map_err(|error| input.file.failed(error))? {
            None => self.reader = None,
            Some(row) => {
                let input = input.clone();
                self.take_row(number, &input, row);
            }
        }
        Ok(true)
    }

    fn take_row(&mut self, number: usize, input: &Input, row: RawRow) {
        let line = row.line;
        let fields = match row.fields {
            Ok(fields) => fields,
            Err(fault) => return self.refuse(input, input.shape.main_kind(), line, fault, None),
        };
        match &input.shape {
            Shape::Native(kind, _) => match native::record(*kind, &fields) {
                Ok(record) => self.give(number, line, record),
                Err(fault) => self.refuse(input, *kind, line, fault, None),
            },
            Shape::Mapped(_, _) => {
                for mapped in input
                    .shape
                    .source_map()
                    .map(|map| map.apply(fields))
                    .unwrap_or_default()
                {
                    let record = mapped
                        .fields
                        .and_then(|fields| native::record(mapped.kind, &fields));
                    match record {
                        Ok(ImportRecord::Customer(customer)) => {
                            if self.is_new(&customer) {
                                self.give(number, line, ImportRecord::Customer(customer));
                            }
                        }
                        Ok(record) => self.give(number, line, record),
                        Err(fault) => {
                            self.refuse(input, mapped.kind, line, fault, mapped.index);
                            // What follows would refer to what is missing now, and one fault be told many times.
                            if mapped.kind != RecordKind::Comment {
                                break;
                            }
                        }
                    }
                }
            }
            Shape::Article => {}
        }
    }

    fn take_article(&mut self, bytes: Bytes) -> Result<(), ImportError> {
        let Some((number, input)) = self.current() else {
            return Ok(());
        };
        let input = input.clone();
        let mut content = Vec::new();
        bytes
            .take(MAX_ROW_BYTES + 1)
            .read_to_end(&mut content)
            .map_err(|error| input.file.failed(error))?;
        let article = if content.len() as u64 > MAX_ROW_BYTES {
            Err(too_long())
        } else {
            String::from_utf8(content)
                .map_err(|error| {
                    let at = error.utf8_error().valid_up_to();
                    Fault::row(format!("is not UTF-8 text at byte {at}"))
                })
                .and_then(|text| article::parse(&text, self.now))
        };
        match article {
            Ok(article) => self.give(number, 1, ImportRecord::Article(article)),
            Err(fault) => self.refuse(&input, RecordKind::Article, 1, fault, None),
        }
        Ok(())
    }

    fn is_new(&mut self, customer: &ImportCustomer) -> bool {
        if self.customers.len() >= CUSTOMERS_REMEMBERED {
            self.customers.clear();
        }
        let key = (customer.external_id.clone(), fold(&customer.email));
        self.customers.insert(key)
    }

    fn give(&mut self, file: usize, line: u64, record: ImportRecord) {
        let kind = record.kind();
        let place = Place { file, line, kind }.pack();
        self.queue.push_back(Ok(ImportRow { place, record }));
    }

    fn refuse(
        &mut self,
        input: &Input,
        kind: RecordKind,
        line: u64,
        fault: Fault,
        element: Option<usize>,
    ) {
        let taken_from = fault
            .field
            .as_deref()
            .and_then(|field| input.shape.source_map()?.taken_from(kind, field, element));
        let row = BadRow {
            file: input.file.name.clone(),
            line: fault.line.unwrap_or(line),
            field: fault.field,
            taken_from,
            reason: fault.reason,
        };
        self.queue.push_back(Err(Problem::Bad(kind, row)));
    }
}

impl Iterator for Rows {
    type Item = Result<ImportRow, Problem>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(row) = self.queue.pop_front() {
                return Some(row);
            }
            match self.advance() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => {
                    self.reader = None;
                    self.next_input = self.inputs.len();
                    return Some(Err(Problem::Broken(error)));
                }
            }
        }
    }
}
