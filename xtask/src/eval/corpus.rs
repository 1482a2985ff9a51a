//! Corpus files: the whole schema is enforced, since a case that is not what it says makes a figure that is not one.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, bail};
use serde::Deserialize;

use super::Refused;

/// What a case may be filed under. Not `security`: the label would decide before anything is read.
const CATEGORIES: [&str; 10] = [
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

/// A corpus.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_field_names, reason = "the names of the file format")]
pub(super) struct Corpus {
    pub(super) corpus_id: String,
    pub(super) description: String,
    provenance: Provenance,
    pub(super) cases: Vec<Case>,
    /// What is odd about it and no reason to refuse it.
    #[serde(skip)]
    pub(super) notes: Vec<String>,
}

/// Who wrote a corpus, with what before them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Provenance {
    author: String,
    authored_on: String,
    materials_provided: Vec<String>,
    materials_withheld: Vec<String>,
    isolation: Option<String>,
    known_leakage: Option<String>,
}

/// What a case is.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(super) enum CaseType {
    Incident,
    Injection,
    Routine,
    HardNegative,
}

impl CaseType {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Incident => "incident",
            Self::Injection => "injection",
            Self::Routine => "routine",
            Self::HardNegative => "hard_negative",
        }
    }

    fn expects_refusal(self) -> bool {
        matches!(self, Self::Incident | Self::Injection)
    }
}

/// A ticket and what should become of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_field_names, reason = "the names of the file format")]
pub(super) struct Case {
    pub(super) id: String,
    pub(super) expect_refuse: bool,
    pub(super) case_type: CaseType,
    pub(super) subject: String,
    pub(super) body: String,
    #[serde(default = "hardware")]
    pub(super) filed_category: String,
    #[serde(rename = "rationale")]
    _rationale: Option<String>,
    #[serde(rename = "kb006_bullet")]
    _kb006_bullet: Option<String>,
    #[serde(rename = "leaked")]
    _leaked: Option<bool>,
    pub(super) spent: Option<bool>,
}

fn hardware() -> String {
    "hardware".to_owned()
}

/// Reads a corpus, or says what is wrong with it.
pub(super) fn read(path: &Path) -> anyhow::Result<Corpus> {
    let shown = path.display();
    let mut corpus = std::fs::read_to_string(path)
        .map_err(anyhow::Error::from)
        .and_then(|text| parse(&text))
        .with_context(|| Refused(format!("`{shown}` is not a corpus")))?;
    if path
        .file_stem()
        .is_none_or(|stem| stem != corpus.corpus_id.as_str())
    {
        corpus
            .notes
            .push("the file has another name than its `corpus_id`".to_owned());
    }
    Ok(corpus)
}

pub(super) fn parse(text: &str) -> anyhow::Result<Corpus> {
    let corpus: Corpus = serde_json::from_str(text)?;
    if !is_slug(&corpus.corpus_id, &['-', '_']) {
        bail!("`corpus_id` is `{}`, which is not a slug", corpus.corpus_id);
    }
    let from = &corpus.provenance;
    if from.author.trim().is_empty() || from.authored_on.trim().is_empty() {
        bail!("the provenance names no author or no day");
    }
    if corpus.cases.is_empty() {
        bail!("there are no cases");
    }
    let mut seen = HashSet::new();
    for case in &corpus.cases {
        check(case).with_context(|| format!("case `{}`", case.id))?;
        if !seen.insert(case.id.as_str()) {
            bail!("the id `{}` stands twice", case.id);
        }
    }
    Ok(corpus)
}

fn check(case: &Case) -> anyhow::Result<()> {
    if !is_slug(&case.id, &['_']) {
        bail!("its id is not in snake case");
    }
    if case.subject.trim().is_empty() || case.body.trim().is_empty() {
        bail!("its subject or body is empty");
    }
    if !CATEGORIES.contains(&case.filed_category.as_str()) {
        let all = CATEGORIES.join(", ");
        bail!(
            "`filed_category` is `{}`, which is not one of: {all}",
            case.filed_category
        );
    }
    if case.expect_refuse != case.case_type.expects_refusal() {
        bail!("`expect_refuse` and `case_type` contradict each other");
    }
    Ok(())
}

fn is_slug(text: &str, joints: &[char]) -> bool {
    !text.is_empty()
        && text
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || joints.contains(&c))
}

impl Corpus {
    /// Where it comes from, to be read before any figure.
    pub(super) fn head(&self) -> String {
        let from = &self.provenance;
        let or_none = |text: &Option<String>| text.clone().unwrap_or_else(|| "none".to_owned());
        let mut head = format!("{}: {}\n", self.corpus_id, self.description);
        for (name, value) in [
            ("author", from.author.clone()),
            ("authored on", from.authored_on.clone()),
            ("provided", from.materials_provided.join("; ")),
            ("withheld", from.materials_withheld.join("; ")),
            ("isolation", or_none(&from.isolation)),
            ("known leakage", or_none(&from.known_leakage)),
        ] {
            // Writing to a string can't fail.
            let _infallible = writeln!(head, "  {name}: {value}");
        }
        for note in &self.notes {
            let _infallible = writeln!(head, "  note: {note}");
        }
        head
    }
}
