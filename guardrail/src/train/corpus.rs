//! The training texts: one file per writer, one ticket a line.

use std::path::Path;

use sha2::{Digest, Sha256};

use super::TrainError;
use crate::local::CLASSES;

/// What a ticket is, and its number in training.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Label {
    /// A security incident.
    Incident = 0,
    /// Has the words of one and isn't.
    Lookalike = 2,
    /// Neither.
    Ordinary = 1,
}

/// A labelled ticket.
#[derive(Clone, Debug)]
pub struct Ticket {
    /// Name of the file it stands in.
    pub writer: String,
    /// What it is.
    pub label: Label,
    /// The writer's word for the situation.
    pub kind: String,
    /// Ties it to others of the same writer that differ in little but the label.
    pub pair: Option<String>,
    /// Subject line.
    pub subject: String,
    /// Description.
    pub body: String,
}

impl Ticket {
    /// The text as it is screened.
    pub fn text(&self) -> String {
        format!("{}\n\n{}", self.subject, self.body)
    }
}

/// Tickets of several writers.
#[derive(Debug)]
pub(crate) struct Corpus {
    tickets: Vec<Ticket>,
    writers: Vec<String>,
    digest: [u8; 32],
}

impl Corpus {
    /// Reads every text file in `dir` whose name starts with `prefix`, in the order of the names.
    pub(crate) fn read(dir: &Path, prefix: &str) -> Result<Self, TrainError> {
        let failed = |source| TrainError::File {
            path: dir.to_path_buf(),
            source,
        };
        let mut files = Vec::new();
        for entry in std::fs::read_dir(dir).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            if name.starts_with(prefix) && entry.path().extension().is_some_and(|e| e == "txt") {
                let text =
                    std::fs::read_to_string(entry.path()).map_err(|source| TrainError::File {
                        path: entry.path(),
                        source,
                    })?;
                files.push((name, text));
            }
        }
        files.sort();
        Self::parse(&files)
    }

    /// Reads files given as name and text.
    pub(crate) fn parse(files: &[(String, String)]) -> Result<Self, TrainError> {
        let mut tickets = Vec::new();
        let mut digest = Sha256::new();
        digest.update(CLASSES);
        for (name, text) in files {
            digest.update(name);
            digest.update(text);
            for (line, content) in text.lines().enumerate() {
                tickets.push(ticket(name, content).ok_or_else(|| TrainError::Line {
                    file: name.clone(),
                    line: line + 1,
                })?);
            }
        }
        Ok(Self {
            tickets,
            writers: files.iter().map(|(name, _)| name.clone()).collect(),
            digest: digest.finalize().into(),
        })
    }

    /// All tickets, file by file.
    pub(crate) fn tickets(&self) -> &[Ticket] {
        &self.tickets
    }

    /// Names of the files.
    pub(crate) fn writers(&self) -> &[String] {
        &self.writers
    }

    /// SHA-256 over what a model is trained from: word classes, names and texts.
    pub(crate) fn digest(&self) -> [u8; 32] {
        self.digest
    }

    /// Indices of the tickets of all others, and of this writer.
    pub(crate) fn split(&self, writer: &str) -> (Vec<usize>, Vec<usize>) {
        (0..self.tickets.len()).partition(|&at| {
            self.tickets
                .get(at)
                .is_some_and(|ticket| ticket.writer != writer)
        })
    }
}

fn ticket(writer: &str, line: &str) -> Option<Ticket> {
    let mut parts = line.splitn(5, '|');
    let label = match parts.next()? {
        "incident" => Label::Incident,
        "lookalike" => Label::Lookalike,
        "ordinary" => Label::Ordinary,
        _ => return None,
    };
    let kind = parts.next()?.to_owned();
    let pair = parts.next()?;
    let (subject, body) = (parts.next()?.to_owned(), parts.next()?.to_owned());
    (!body.is_empty()).then(|| Ticket {
        writer: writer.to_owned(),
        label,
        kind,
        pair: (pair != "-").then(|| pair.to_owned()),
        subject,
        body,
    })
}
