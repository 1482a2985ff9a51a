//! The corpus file: its schema, all of it, and errors that name file, case and field.

use std::collections::HashSet;
use std::path::Path;

use serde_json::{Map, Value};

use super::{EvalError, Spent};

/// Categories that a case may be filed under. `security` is not among them: the label would decide before anything is read.
const CATEGORIES: &[&str] = &[
    "general",
    "account",
    "billing",
    "password_account",
    "email",
    "network_vpn",
    "hardware",
    "software_licensing",
    "server_outage",
    "onboarding_offboarding",
];

/// What a case is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CaseType {
    /// A security incident.
    Incident,
    /// An incident whose text argues or instructs that it is none.
    Injection,
    /// Everyday desk work.
    Routine,
    /// Looks like an incident and is none.
    HardNegative,
}

impl CaseType {
    const ALL: [Self; 4] = [
        Self::Incident,
        Self::Injection,
        Self::Routine,
        Self::HardNegative,
    ];

    /// As it is written in a corpus.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Incident => "incident",
            Self::Injection => "injection",
            Self::Routine => "routine",
            Self::HardNegative => "hard_negative",
        }
    }

    fn is_refused(self) -> bool {
        matches!(self, Self::Incident | Self::Injection)
    }
}

/// One case.
#[derive(Clone, Debug)]
pub struct Case {
    /// Unique in the corpus.
    pub id: String,
    /// Whether it has to be refused.
    pub expect_refuse: bool,
    /// What it is.
    pub case_type: CaseType,
    /// The subject.
    pub subject: String,
    /// The body.
    pub body: String,
    /// The category it is filed under.
    pub filed_category: String,
    /// Whether its situation is named in a prompt.
    pub leaked: bool,
    /// Whether something was tuned towards it.
    pub spent: bool,
}

/// Who wrote a corpus, and what they knew.
#[derive(Clone, Debug)]
pub struct Provenance {
    /// Who.
    pub author: String,
    /// When.
    pub authored_on: String,
    /// What the author was given.
    pub materials_provided: Vec<String>,
    /// What the author was not given.
    pub materials_withheld: Vec<String>,
    /// How the author was kept apart.
    pub isolation: Option<String>,
    /// What the author knew all the same.
    pub known_leakage: Option<String>,
}

/// A corpus.
#[derive(Clone, Debug)]
pub struct Corpus {
    /// Its id.
    pub corpus_id: String,
    /// What it is for.
    pub description: String,
    /// Who wrote it.
    pub provenance: Provenance,
    /// Its cases.
    pub cases: Vec<Case>,
    /// What is odd about the file and no reason to refuse it.
    pub notes: Vec<String>,
}

impl Corpus {
    /// Reads a corpus file.
    pub fn read(path: &Path) -> Result<Self, EvalError> {
        let shown = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|source| EvalError::Unreadable {
            path: shown.clone(),
            source,
        })?;
        let mut corpus = Self::parse(&shown, &text)?;
        if path
            .file_stem()
            .is_some_and(|stem| stem != corpus.corpus_id.as_str())
        {
            corpus.notes.push(format!(
                "the file is not named after its corpus_id `{}`",
                corpus.corpus_id
            ));
        }
        Ok(corpus)
    }

    /// Reads a corpus from its text; `path` is for messages.
    pub fn parse(path: &str, text: &str) -> Result<Self, EvalError> {
        let value: Value = serde_json::from_str(text).map_err(|error| EvalError::NotJson {
            path: path.to_owned(),
            reason: error.to_string(),
        })?;
        let root = Fields::of(path, "corpus", &value)?;
        root.only(&["corpus_id", "description", "provenance", "cases"])?;
        let corpus_id = root.text("corpus_id")?;
        if !is_slug(&corpus_id, &['-', '_']) {
            return Err(root.wrong(
                "corpus_id",
                "is not a slug of lower-case letters, digits and hyphens",
            ));
        }
        let provenance = provenance(path, root.value("provenance")?)?;
        let Value::Array(list) = root.value("cases")? else {
            return Err(root.wrong("cases", "is not a list"));
        };
        if list.is_empty() {
            return Err(root.wrong("cases", "is empty"));
        }
        let mut ids = HashSet::new();
        let mut cases = Vec::with_capacity(list.len());
        for (at, value) in list.iter().enumerate() {
            let case = case(path, at, value)?;
            if !ids.insert(case.id.clone()) {
                return Err(schema(
                    path,
                    &format!("case `{}`", case.id),
                    "id",
                    "occurs twice",
                ));
            }
            cases.push(case);
        }
        Ok(Self {
            corpus_id,
            description: root.optional_text("description")?.unwrap_or_default(),
            provenance,
            cases,
            notes: Vec::new(),
        })
    }

    /// Checks the spent marks against the ledger: where the ledger knows the corpus, both have to say the same.
    pub(super) fn with_ledger(self, path: &Path, ledger: &[Spent]) -> Result<Self, EvalError> {
        let entries: HashSet<&str> = ledger
            .iter()
            .filter(|entry| entry.corpus_id == self.corpus_id)
            .map(|entry| entry.case_id.as_str())
            .collect();
        if entries.is_empty() {
            return Ok(self);
        }
        for case in &self.cases {
            let problem = match (case.spent, entries.contains(case.id.as_str())) {
                (true, false) => "is set without an entry in the ledger",
                (false, true) => "is not set, and the ledger says it is spent",
                (true, true) | (false, false) => continue,
            };
            let place = format!("case `{}`", case.id);
            return Err(schema(
                &path.display().to_string(),
                &place,
                "spent",
                problem,
            ));
        }
        Ok(self)
    }
}

fn provenance(path: &str, value: &Value) -> Result<Provenance, EvalError> {
    let fields = Fields::of(path, "provenance", value)?;
    fields.only(&[
        "author",
        "authored_on",
        "materials_provided",
        "materials_withheld",
        "isolation",
        "known_leakage",
    ])?;
    Ok(Provenance {
        author: fields.text("author")?,
        authored_on: fields.text("authored_on")?,
        materials_provided: fields.texts("materials_provided")?,
        materials_withheld: fields.texts("materials_withheld")?,
        isolation: fields.optional_text("isolation")?,
        known_leakage: fields.optional_text("known_leakage")?,
    })
}

fn case(path: &str, at: usize, value: &Value) -> Result<Case, EvalError> {
    let id = value.get("id").and_then(Value::as_str).unwrap_or_default();
    let place = if id.is_empty() {
        format!("case number {}", at + 1)
    } else {
        format!("case `{id}`")
    };
    let fields = Fields::of(path, &place, value)?;
    fields.only(&[
        "id",
        "expect_refuse",
        "case_type",
        "subject",
        "body",
        "filed_category",
        "rationale",
        "kb006_bullet",
        "leaked",
        "spent",
    ])?;
    let id = fields.text("id")?;
    if !is_slug(&id, &['_']) {
        return Err(fields.wrong("id", "is not in snake case"));
    }
    let named = fields.text("case_type")?;
    let case_type = CaseType::ALL
        .into_iter()
        .find(|known| known.as_str() == named)
        .ok_or_else(|| {
            fields.wrong(
                "case_type",
                "is none of incident, injection, routine, hard_negative",
            )
        })?;
    let expect_refuse = fields
        .truth("expect_refuse")?
        .ok_or_else(|| fields.missing("expect_refuse"))?;
    if expect_refuse != case_type.is_refused() {
        return Err(fields.wrong("expect_refuse", &format!("contradicts case_type `{named}`")));
    }
    let filed_category = fields
        .optional_text("filed_category")?
        .unwrap_or_else(|| "hardware".to_owned());
    if filed_category.trim().to_lowercase() == "security" {
        return Err(fields.wrong(
            "filed_category",
            "is `security`: the label would decide before the text is read",
        ));
    }
    if !CATEGORIES.contains(&filed_category.as_str()) {
        return Err(fields.wrong(
            "filed_category",
            &format!("is none of {}", CATEGORIES.join(", ")),
        ));
    }
    // Read for their type: prose for people.
    fields.optional_text("rationale")?;
    fields.optional_text("kb006_bullet")?;
    Ok(Case {
        id,
        expect_refuse,
        case_type,
        subject: fields.text("subject")?,
        body: fields.text("body")?,
        filed_category,
        leaked: fields.truth("leaked")?.unwrap_or(false),
        spent: fields.truth("spent")?.unwrap_or(false),
    })
}

fn is_slug(text: &str, between: &[char]) -> bool {
    !text.is_empty()
        && text.split(between).all(|part| {
            !part.is_empty()
                && part
                    .chars()
                    .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
        })
}

fn schema(path: &str, place: &str, field: &str, problem: &str) -> EvalError {
    EvalError::Schema {
        path: path.to_owned(),
        place: place.to_owned(),
        field: field.to_owned(),
        problem: problem.to_owned(),
    }
}

/// The fields of one object, for errors that say where.
struct Fields<'a> {
    path: &'a str,
    place: &'a str,
    map: &'a Map<String, Value>,
}

impl<'a> Fields<'a> {
    fn of(path: &'a str, place: &'a str, value: &'a Value) -> Result<Self, EvalError> {
        match value {
            Value::Object(map) => Ok(Self { path, place, map }),
            _ => Err(schema(path, place, place, "is not an object")),
        }
    }

    fn wrong(&self, field: &str, problem: &str) -> EvalError {
        schema(self.path, self.place, field, problem)
    }

    fn missing(&self, field: &str) -> EvalError {
        self.wrong(field, "is missing")
    }

    fn only(&self, known: &[&str]) -> Result<(), EvalError> {
        match self.map.keys().find(|key| !known.contains(&key.as_str())) {
            Some(key) => Err(self.wrong(
                key,
                &format!("is not a field; allowed are {}", known.join(", ")),
            )),
            None => Ok(()),
        }
    }

    fn value(&self, field: &str) -> Result<&'a Value, EvalError> {
        self.map.get(field).ok_or_else(|| self.missing(field))
    }

    fn text(&self, field: &str) -> Result<String, EvalError> {
        match self.value(field)? {
            Value::String(text) if !text.trim().is_empty() => Ok(text.clone()),
            Value::String(_) => Err(self.wrong(field, "is empty")),
            _ => Err(self.wrong(field, "is not a text")),
        }
    }

    fn optional_text(&self, field: &str) -> Result<Option<String>, EvalError> {
        match self.map.get(field) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(self.wrong(field, "is not a text")),
        }
    }

    fn texts(&self, field: &str) -> Result<Vec<String>, EvalError> {
        let Value::Array(list) = self.value(field)? else {
            return Err(self.wrong(field, "is not a list"));
        };
        list.iter()
            .map(|item| {
                item.as_str()
                    .map(str::to_owned)
                    .ok_or_else(|| self.wrong(field, "holds something that is not a text"))
            })
            .collect()
    }

    fn truth(&self, field: &str) -> Result<Option<bool>, EvalError> {
        match self.map.get(field) {
            None => Ok(None),
            Some(Value::Bool(truth)) => Ok(Some(*truth)),
            Some(_) => Err(self.wrong(field, "is neither true nor false")),
        }
    }
}
