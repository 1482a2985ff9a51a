//! Hands rows to the store in small jobs, so that other writers get their turn between them.

use storage::import::{ImportRefusal, ImportReport, ImportRow, OnError, RecordKind};

use super::ImportError;
use super::fault::BadRow;
use super::place::Place;
use super::plan::Input;
use super::summary::ImportSummary;
use crate::{Caller, Desk};

/// Rows in one job: some ten milliseconds of the one writer.
const ROWS_IN_JOB: usize = 500;

/// Collects rows and hands them over kind by kind, so that a record comes after those it refers to.
pub(in crate::ops) struct Intake<'a> {
    desk: &'a Desk,
    caller: &'a Caller,
    inputs: &'a [Input],
    held: [Vec<ImportRow>; RecordKind::ALL.len()],
    pub(in crate::ops) summary: ImportSummary,
}

impl<'a> Intake<'a> {
    pub(in crate::ops) fn new(desk: &'a Desk, caller: &'a Caller, inputs: &'a [Input]) -> Self {
        Self {
            desk,
            caller,
            inputs,
            held: Default::default(),
            summary: ImportSummary::default(),
        }
    }

    /// Takes a row; true where rows went to the store.
    pub(in crate::ops) async fn take(&mut self, row: ImportRow) -> Result<bool, ImportError> {
        if let Some(held) = self.held.get_mut(row.record.kind() as usize) {
            held.push(row);
        }
        let held: usize = self.held.iter().map(Vec::len).sum();
        if held < ROWS_IN_JOB {
            return Ok(false);
        }
        self.flush().await?;
        Ok(true)
    }

    /// Hands over what is held.
    pub(in crate::ops) async fn flush(&mut self) -> Result<(), ImportError> {
        for kind in RecordKind::ALL {
            let Some(held) = self.held.get_mut(kind as usize) else {
                continue;
            };
            let rows = std::mem::take(held);
            if rows.is_empty() {
                continue;
            }
            let act = self.caller.act(self.desk.clock.now(), "import");
            let job = self
                .desk
                .store
                .import(act, Box::new(rows.into_iter()), OnError::Skip);
            let report = job.await.map_err(|source| ImportError::Store {
                kept: self.summary.total().created,
                source: source.into(),
            })?;
            absorb(&mut self.summary, self.inputs, report);
        }
        Ok(())
    }
}

/// Adds what came of a job to the summary, each refusal with the place where its row came from.
pub(super) fn absorb(summary: &mut ImportSummary, inputs: &[Input], report: ImportReport) {
    summary.add(&report);
    for (place, refusal) in report.refused {
        summary.list(bad_row(inputs, Place::unpack(place), refusal));
    }
}

fn bad_row(inputs: &[Input], place: Place, refusal: ImportRefusal) -> BadRow {
    let input = inputs.get(place.file);
    let (field, reason) = match refusal {
        ImportRefusal::UnknownReference {
            field,
            given,
            wanted,
        } => (
            field,
            format!("names `{given}`, which is not among the {wanted} imported so far"),
        ),
        ImportRefusal::UnknownCategory { given, allowed } => (
            "category",
            format!("is `{given}`, which is not one of: {}", allowed.join(", ")),
        ),
        ImportRefusal::DuplicateEmail => (
            "email",
            "belongs to a customer with another external id".to_owned(),
        ),
    };
    BadRow {
        file: input
            .map(|input| input.file.name.clone())
            .unwrap_or_default(),
        line: place.line,
        field: Some(field.to_owned()),
        taken_from: input.and_then(|input| {
            input
                .shape
                .source_map()?
                .taken_from(place.kind, field, None)
        }),
        reason,
    }
}
