//! Which files are read, in which order, and what is made of each; checked before the first row is taken.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use storage::import::RecordKind;

use super::ImportError;
use super::files::{Source, SourceFile};
use super::kind::{fields, names, singular};
use super::mapping::{Format, Mapping, SourceMap};
use super::place::MAX_FILES;
use super::table::Table;

/// A file with what to make of it.
#[derive(Clone, Debug)]
pub(in crate::ops) struct Input {
    pub(super) file: SourceFile,
    pub(super) shape: Shape,
}

/// What to make of a file.
#[derive(Clone, Debug)]
pub(super) enum Shape {
    /// Rows of one kind in the import format.
    Native(RecordKind, Format),
    /// Rows that a mapping turns into records; the number is the source's place in it.
    Mapped(Arc<Mapping>, usize),
    /// An article.
    Article,
}

/// A column that no rule of the mapping reads: told, so that a loss is not silent (field report 4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnusedColumn {
    /// The file.
    pub file: String,
    /// The column.
    pub column: String,
}

/// The files of an import, in order.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) inputs: Arc<[Input]>,
    pub(super) unused: Vec<UnusedColumn>,
    pub(super) bytes: u64,
}

impl Plan {
    pub(super) fn new(source: &Source, mapping: Option<Mapping>) -> Result<Self, ImportError> {
        let inputs = match mapping {
            None => native(source)?,
            Some(mapping) => mapped(source, Arc::new(mapping))?,
        };
        if inputs.is_empty() {
            return Err(ImportError::Nothing);
        }
        if inputs.len() > MAX_FILES {
            return Err(ImportError::TooManyFiles);
        }
        let mut unused = Vec::new();
        for input in &inputs {
            check(input, &mut unused)?;
        }
        Ok(Self {
            bytes: inputs.iter().map(|input| input.file.bytes).sum(),
            inputs: inputs.into(),
            unused,
        })
    }
}

impl Shape {
    /// The mapping of the file, where there is one.
    pub(super) fn source_map(&self) -> Option<&SourceMap> {
        match self {
            Self::Mapped(mapping, index) => mapping.sources.get(*index),
            Self::Native(_, _) | Self::Article => None,
        }
    }

    /// As what a row counts that can't be read.
    pub(super) fn main_kind(&self) -> RecordKind {
        match self {
            Self::Native(kind, _) => *kind,
            Self::Mapped(_, _) => self
                .source_map()
                .map_or(RecordKind::Ticket, SourceMap::main_kind),
            Self::Article => RecordKind::Article,
        }
    }

    pub(super) fn format(&self) -> Option<Format> {
        match self {
            Self::Native(_, format) => Some(*format),
            Self::Mapped(_, _) => self.source_map().map(|map| map.format),
            Self::Article => None,
        }
    }
}

fn native(source: &Source) -> Result<Vec<Input>, ImportError> {
    let one_file = source.is_file();
    let mut inputs = Vec::new();
    for file in source.files()? {
        if let Some(shape) = native_shape(&file, one_file)? {
            inputs.push((shape.main_kind(), Input { file, shape }));
        }
    }
    // Stable, so files of one kind stay in the order of their names.
    inputs.sort_by_key(|(kind, _)| *kind);
    Ok(inputs.into_iter().map(|(_, input)| input).collect())
}

/// What a file's name says. Other kinds of file are passed over, but a table that nothing reads is a mistake.
fn native_shape(file: &SourceFile, one_file: bool) -> Result<Option<Shape>, ImportError> {
    let format = match file.extension().as_str() {
        "jsonl" => Format::Jsonl,
        "csv" => Format::Csv { delimiter: b',' },
        "md" if one_file || file.name.starts_with("articles/") => return Ok(Some(Shape::Article)),
        _ if one_file => {
            return Err(file.wrong("must end in `.jsonl`, `.csv` or `.md`"));
        }
        _ => return Ok(None),
    };
    if file.name.contains('/') {
        return Err(file.wrong("is among the articles, which are `.md` files"));
    }
    let kind = match file.stem() {
        "customers" => RecordKind::Customer,
        "tickets" => RecordKind::Ticket,
        "comments" => RecordKind::Comment,
        "calls" => RecordKind::Call,
        "csat" => RecordKind::Csat,
        _ => {
            return Err(file.wrong(
                "is not a name of the import format; valid are: customers, tickets, comments, calls, csat (before `.jsonl` or `.csv`)",
            ));
        }
    };
    if kind == RecordKind::Call && format != Format::Jsonl {
        return Err(file.wrong("has transcripts, which a table can't hold; write it as `.jsonl`"));
    }
    Ok(Some(Shape::Native(kind, format)))
}

fn mapped(source: &Source, mapping: Arc<Mapping>) -> Result<Vec<Input>, ImportError> {
    if source.is_file() {
        let files = source.files()?;
        if mapping.sources.len() > 1 {
            return Err(ImportError::Mapping {
                reason: "has several sources; import the folder that holds their files".to_owned(),
            });
        }
        let shape = Shape::Mapped(mapping, 0);
        let input = |file| Input {
            file,
            shape: shape.clone(),
        };
        return Ok(files.into_iter().map(input).collect());
    }
    let mut inputs = Vec::new();
    for (index, map) in mapping.sources.iter().enumerate() {
        let Some(name) = &map.file else {
            return Err(ImportError::Mapping {
                reason: format!(
                    "names no `file` in source {}, which an import of a folder needs",
                    index + 1
                ),
            });
        };
        let file = source.file(name)?;
        let shape = Shape::Mapped(Arc::clone(&mapping), index);
        inputs.push(Input { file, shape });
    }
    Ok(inputs)
}

/// Opens a file and reads the header of a table, so that a wrong name stops the import before it begins.
fn check(input: &Input, unused: &mut Vec<UnusedColumn>) -> Result<(), ImportError> {
    let file = &input.file;
    let bytes = file.open(&Arc::new(AtomicU64::new(0)))?;
    let Some(Format::Csv { delimiter }) = input.shape.format() else {
        return Ok(());
    };
    let table = Table::open(bytes, delimiter)
        .map_err(|error| file.failed(error))?
        .map_err(|fault| file.wrong(fault.reason))?;
    let header = table.header();
    if let Shape::Native(kind, _) = &input.shape {
        let known = fields(*kind);
        let unknown = |name: &&String| known.iter().all(|field| field.name != **name);
        if let Some(name) = header.iter().find(unknown) {
            return Err(file.wrong(format!(
                "has the column `{name}`, which is no field of a {}; valid are: {}",
                singular(*kind),
                names(known)
            )));
        }
        let absent = |name: &&str| header.iter().all(|column| column != name);
        let mut needed = known.iter().filter(|field| field.required);
        if let Some(field) = needed.find(|field| absent(&field.name)) {
            return Err(file.wrong(format!("lacks the column `{}`", field.name)));
        }
    }
    if let Some(map) = input.shape.source_map() {
        let is_column = |name: &&str| header.iter().any(|column| column == name);
        if let Some(name) = map.columns().find(|name| !is_column(name)) {
            return Err(file.wrong(format!(
                "lacks the column `{name}`, which the mapping reads; it has: {}",
                header.join(", ")
            )));
        }
        let is_read = |column: &&String| map.columns().any(|name| name == column.as_str());
        let columns = header.iter().filter(|column| !is_read(column));
        unused.extend(columns.map(|column| UnusedColumn {
            file: file.name.clone(),
            column: column.clone(),
        }));
    }
    Ok(())
}
