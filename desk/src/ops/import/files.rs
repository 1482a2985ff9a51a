//! The files of an import: from a folder on disk, one file, or texts compiled into the binary.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::ImportError;

/// A file that is compiled into the binary: its path inside its folder, and its text.
pub type EmbeddedFile = (&'static str, &'static str);

/// Where the files of an import are.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// On disk: a folder, or one file of it.
    Disk(PathBuf),
    /// In the binary.
    Embedded(&'static [EmbeddedFile]),
}

/// A file that can be opened, more than once.
#[derive(Clone, Debug)]
pub(super) struct SourceFile {
    /// Its path inside the folder with `/`, by which reports name it.
    pub(super) name: String,
    /// Its size in bytes when it was found.
    pub(super) bytes: u64,
    content: Content,
}

#[derive(Clone, Debug)]
enum Content {
    Path(PathBuf),
    Text(&'static str),
}

/// What a file gives: buffered bytes without a byte-order mark, each counted as it is read.
pub(super) type Bytes = BufReader<Counted>;

/// Counts what is read through it, for the progress.
pub(super) struct Counted {
    inner: Box<dyn Read + Send>,
    count: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.count.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

const ARTICLES: &str = "articles";
const BOM_UTF8: &[u8] = b"\xef\xbb\xbf";
const BOMS_UTF16: [&[u8]; 2] = [b"\xff\xfe", b"\xfe\xff"];
const READ_BUFFER: usize = 64 * 1024;

impl Source {
    /// Whether it is one file and not a folder.
    pub(super) fn is_file(&self) -> bool {
        match self {
            Self::Disk(path) => path.is_file(),
            Self::Embedded(_) => false,
        }
    }

    /// The files directly in the folder, and those in its folder `articles`, each sorted by name; or the one file.
    pub(super) fn files(&self) -> Result<Vec<SourceFile>, ImportError> {
        let mut files = match self {
            Self::Disk(path) if path.is_file() => vec![on_disk(path, "")?],
            Self::Disk(path) => {
                let mut files = in_folder(path, "")?;
                let articles = path.join(ARTICLES);
                if articles.is_dir() {
                    files.extend(in_folder(&articles, "articles/")?);
                }
                files
            }
            Self::Embedded(files) => files.iter().copied().map(embedded).collect(),
        };
        files.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(files)
    }

    /// The names of the files that an import without a mapping reads, in order.
    #[cfg(test)]
    pub(crate) fn importable(&self) -> Result<Vec<String>, ImportError> {
        let plan = super::plan::Plan::new(self, None)?;
        let names = plan.inputs.iter().map(|input| input.file.name.clone());
        Ok(names.collect())
    }

    /// One file of the folder by name.
    pub(super) fn file(&self, name: &str) -> Result<SourceFile, ImportError> {
        match self {
            Self::Disk(path) => {
                let mut file = on_disk(&path.join(name), "")?;
                name.clone_into(&mut file.name);
                Ok(file)
            }
            Self::Embedded(files) => files
                .iter()
                .copied()
                .find(|(known, _)| *known == name)
                .map(embedded)
                .ok_or_else(|| ImportError::Read {
                    file: name.to_owned(),
                    source: io::ErrorKind::NotFound.into(),
                }),
        }
    }
}

fn embedded((name, text): EmbeddedFile) -> SourceFile {
    SourceFile {
        name: name.to_owned(),
        bytes: text.len() as u64,
        content: Content::Text(text),
    }
}

fn on_disk(path: &Path, prefix: &str) -> Result<SourceFile, ImportError> {
    let name = path.file_name().unwrap_or(path.as_os_str());
    let name = format!("{prefix}{}", name.to_string_lossy());
    match path.metadata() {
        Ok(data) => Ok(SourceFile {
            name,
            bytes: data.len(),
            content: Content::Path(path.to_owned()),
        }),
        Err(source) => Err(ImportError::Read { file: name, source }),
    }
}

fn in_folder(folder: &Path, prefix: &str) -> Result<Vec<SourceFile>, ImportError> {
    let failed = |source| ImportError::Read {
        file: folder.file_name().map_or_else(
            || folder.to_string_lossy().into_owned(),
            |name| name.to_string_lossy().into_owned(),
        ),
        source,
    };
    let mut files = Vec::new();
    for entry in folder.read_dir().map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_file() {
            files.push(on_disk(&path, prefix)?);
        }
    }
    Ok(files)
}

impl SourceFile {
    /// What is after the last dot of the name, in lower case.
    pub(super) fn extension(&self) -> String {
        let extension = Path::new(&self.name).extension().unwrap_or_default();
        extension.to_string_lossy().to_lowercase()
    }

    /// The name without folder and extension.
    pub(super) fn stem(&self) -> &str {
        let base = self.name.rsplit('/').next().unwrap_or(&self.name);
        base.split_once('.').map_or(base, |(stem, _)| stem)
    }

    /// Opens the file behind a byte-order mark, if there is one; text in UTF-16 is refused.
    pub(super) fn open(&self, count: &Arc<AtomicU64>) -> Result<Bytes, ImportError> {
        let mut inner: Box<dyn Read + Send> = match &self.content {
            Content::Path(path) => Box::new(File::open(path).map_err(|error| self.failed(error))?),
            Content::Text(text) => Box::new(Cursor::new(text.as_bytes())),
        };
        let mut head = Vec::with_capacity(BOM_UTF8.len());
        (&mut inner)
            .take(BOM_UTF8.len() as u64)
            .read_to_end(&mut head)
            .map_err(|error| self.failed(error))?;
        if BOMS_UTF16.iter().any(|mark| head.starts_with(mark)) {
            return Err(ImportError::File {
                file: self.name.clone(),
                reason: "is UTF-16; save it as UTF-8".to_owned(),
            });
        }
        if head == BOM_UTF8 {
            count.fetch_add(head.len() as u64, Ordering::Relaxed);
            head.clear();
        }
        let inner = Box::new(Cursor::new(head).chain(inner));
        let counted = Counted {
            inner,
            count: Arc::clone(count),
        };
        Ok(BufReader::with_capacity(READ_BUFFER, counted))
    }

    pub(super) fn failed(&self, source: io::Error) -> ImportError {
        ImportError::Read {
            file: self.name.clone(),
            source,
        }
    }
}
