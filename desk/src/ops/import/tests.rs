//! Folders as people have them: read, mapped and checked, then told or kept.

mod errors;
mod keeping;
mod mapped;
mod reading;

use std::sync::Arc;

use domain::Timestamp;
use storage::import::ImportRecord;
use tempfile::TempDir;

use super::files::Source;
use super::mapping;
use super::plan::Plan;
use super::rows::{Problem, Rows};

/// A folder to import, gone at the end of the test.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn with(self, name: &str, content: impl AsRef<[u8]>) -> Self {
        let path = self.0.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
        self
    }

    fn source(&self) -> Source {
        Source::Disk(self.0.path().to_owned())
    }

    /// Reads everything: records, and what is told of bad rows.
    fn read(&self, map: Option<&str>) -> Result<(Vec<ImportRecord>, Vec<String>), String> {
        let mapping = map.map(|text| mapping::load(text).unwrap());
        let plan = Plan::new(&self.source(), mapping).map_err(|error| error.to_string())?;
        read_plan(&plan)
    }
}

fn read_plan(plan: &Plan) -> Result<(Vec<ImportRecord>, Vec<String>), String> {
    let mut records = Vec::new();
    let mut told = Vec::new();
    for row in Rows::new(Arc::clone(&plan.inputs), Timestamp::from_micros(0)) {
        match row {
            Ok(row) => records.push(row.record),
            Err(Problem::Bad(_, bad)) => told.push(bad.to_string()),
            Err(Problem::Broken(error)) => return Err(error.to_string()),
        }
    }
    Ok((records, told))
}

/// One file in the import format.
fn read_file(
    name: &str,
    content: impl AsRef<[u8]>,
) -> Result<(Vec<ImportRecord>, Vec<String>), String> {
    Folder::new().with(name, content).read(None)
}

const CUSTOMER: &str =
    r#"{"external_id":"c1","name":"Ann","email":"ann@x.example","created_at":"2026-01-01"}"#;
const TICKET: &str = r#"{"external_id":"t1","customer":"c1","subject":"S","description":"D","created_at":"2026-01-01T10:00:00Z"}"#;
const COMMENT: &str = r#"{"external_id":"m1","ticket":"t1","author":"Ann","origin":"customer","body":"B","created_at":"2026-01-02"}"#;
const CALL: &str = r#"{"external_id":"k1","customer":"c1","started_at":"2026-01-01","duration_seconds":60,"agent":"Bo","outcome":"resolved","turns":[{"speaker":"agent","at_seconds":0,"text":"Hi"}]}"#;
const CSAT: &str = r#"{"external_id":"s1","ticket":"t1","score":5,"submitted_at":"2026-01-03"}"#;
