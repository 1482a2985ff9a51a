//! The wall: label, floor, classifier, in this order, and the only maker of [`Cleared`] (design section 5).

#[cfg(test)]
mod tests;

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use sha2::{Digest as _, Sha256};

use crate::classifier::{self, Classifier, ClassifierDown, Decision, Mode};
use crate::floor::{self, Finding, Floor, KB_REF, Place};
use crate::ticket::{Flag, Lifts, Segment, Source, Ticket};

/// Bytes of text screened at once, over all texts of a ticket. Fifty comments of the longest allowed length fit; what is
/// longer is refused unread, because unread text can't be cleared (policy list A, 8).
pub const LONGEST_INPUT: usize = 1024 * 1024;

/// Who a refused ticket goes to.
pub const ESCALATE_TO: &str = "security";

/// Which step decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The category it is filed under, or the flag it carries.
    Label,
    /// The floor of indicators.
    Floor,
    /// The classifier.
    Classifier,
    /// A person who reviewed this version.
    Review,
}

impl Stage {
    /// As it is named in results.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Label => "label",
            Self::Floor => "floor",
            Self::Classifier => "classifier",
            Self::Review => "review",
        }
    }
}

/// How a screening was done, for every result and audit row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Screening {
    /// Which classifier stood behind the floor.
    pub mode: Mode,
    /// The step that decided.
    pub stage: Stage,
}

/// Words of a ticket that speak for an indicator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// The exact words.
    pub text: String,
    /// Where they stand.
    pub source: Source,
    /// First byte in that text.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// One reason for a refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Indicator {
    /// From a closed set: the rows of the indicator table and the ids of this crate.
    pub id: &'static str,
    /// The knowledge-base article.
    pub kb_ref: &'static str,
    /// May be empty, for example where the label decided.
    pub evidence: Vec<Evidence>,
}

/// What a refusal means for the ticket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalKind {
    /// A security incident.
    Incident,
    /// Held for a person.
    Held,
    /// The classifier that is configured gave no usable answer.
    ClassifierUnavailable,
}

/// Why a ticket gets no draft and no public text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What it means.
    pub kind: RefusalKind,
    /// The category as it was filed.
    pub filed_category: String,
    /// Who it goes to.
    pub escalate_to: &'static str,
    /// The reasons.
    pub indicators: Vec<Indicator>,
    /// How it was screened.
    pub screening: Screening,
    digest: [u8; 32],
}

impl Refusal {
    /// SHA-256 over the decision, the versions and the mode.
    pub fn digest(&self) -> [u8; 32] {
        self.digest
    }
}

/// Proof that a text was screened and may be answered. Only [`screen`] makes one, it can't be copied, and it carries the
/// text and the version that it cleared: after an edit it is proof of something else.
#[derive(Debug)]
pub struct Cleared {
    ticket_id: i64,
    version: i64,
    texts: Vec<Segment>,
    screening: Screening,
    digest: [u8; 32],
}

impl Cleared {
    /// The ticket.
    pub fn ticket_id(&self) -> i64 {
        self.ticket_id
    }

    /// The version that was cleared.
    pub fn version(&self) -> i64 {
        self.version
    }

    /// The texts that were cleared.
    pub fn texts(&self) -> &[Segment] {
        &self.texts
    }

    /// How it was screened.
    pub fn screening(&self) -> Screening {
        self.screening
    }

    /// SHA-256 over the decision, the versions, the mode and the text, for the write gate to bind.
    pub fn digest(&self) -> [u8; 32] {
        self.digest
    }
}

/// The outcome.
#[derive(Debug)]
pub enum Screened {
    /// May be answered.
    Cleared(Cleared),
    /// May not.
    Refused(Refusal),
}

/// Screens a ticket.
///
/// The label and the flag refuse by themselves, and the floor still runs so that its indicators are known. The
/// classifier is asked only if nothing was found, and can only add a refusal. It is given up when `deadline` is reached,
/// which the caller makes from its own clock.
pub async fn screen(
    ticket: Ticket,
    classifier: &dyn Classifier,
    deadline: impl Future<Output = ()>,
) -> Screened {
    let mode = classifier.mode();
    let mut case = Case {
        mode,
        model: classifier.version(),
        ticket,
    };
    let found = match case.floor() {
        Floored::Found(found) => found,
        Floored::TooLong => {
            let indicators = vec![plain("input_too_long")];
            return case.refuse(RefusalKind::Held, Stage::Floor, indicators);
        }
        Floored::Unavailable => {
            let indicators = vec![plain("floor_unavailable")];
            return case.refuse(RefusalKind::Incident, Stage::Floor, indicators);
        }
    };
    let lifted = case.ticket.lifted();
    if case.ticket.is_filed_as_security() {
        let indicators = case.with_findings("filed_as_security", &found);
        return case.refuse(RefusalKind::Incident, Stage::Label, indicators);
    }
    if case.ticket.flag == Flag::Incident && lifted != Some(Lifts::Incident) {
        let indicators = case.with_findings("flagged_before", &found);
        return case.refuse(RefusalKind::Incident, Stage::Label, indicators);
    }
    if !found.is_empty() && lifted != Some(Lifts::Incident) {
        let indicators = case.quoted(&found);
        return case.refuse(RefusalKind::Incident, Stage::Floor, indicators);
    }
    if lifted.is_some() {
        return case.clear(Stage::Review);
    }
    if case.ticket.flag == Flag::Held {
        let indicators = vec![plain("flagged_before")];
        return case.refuse(RefusalKind::Held, Stage::Label, indicators);
    }
    if mode == Mode::FloorOnly {
        return case.clear(Stage::Floor);
    }
    let texts = case.for_classifier();
    let answer = before(classifier.judge(&texts), deadline).await;
    match classifier::check(answer, &case.ticket.texts) {
        Ok((Decision::Clear, _)) => case.clear(Stage::Classifier),
        Ok((Decision::Hold, places)) => {
            let indicators = vec![quoted(
                "classifier_hold",
                KB_REF,
                &case.ticket.texts,
                &places,
            )];
            case.refuse(RefusalKind::Held, Stage::Classifier, indicators)
        }
        Ok((Decision::Refuse, places)) => {
            let indicators = vec![quoted(
                "classifier_incident",
                KB_REF,
                &case.ticket.texts,
                &places,
            )];
            case.refuse(RefusalKind::Incident, Stage::Classifier, indicators)
        }
        Err(down) => {
            let indicators = vec![plain(down.indicator())];
            case.refuse(
                RefusalKind::ClassifierUnavailable,
                Stage::Classifier,
                indicators,
            )
        }
    }
}

/// Screens a ticket with a classifier that answers at once, as no classifier and the local one do. One that doesn't is
/// too late.
pub fn screen_at_once(ticket: Ticket, classifier: &dyn Classifier) -> Screened {
    let mut screening = pin!(screen(ticket, classifier, std::future::ready(())));
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(screened) = screening.as_mut().poll(&mut context) {
            return screened;
        }
    }
}

/// The answer if it comes before the deadline.
async fn before(
    answer: classifier::Answer<'_>,
    deadline: impl Future<Output = ()>,
) -> Result<classifier::Verdict, ClassifierDown> {
    let mut answer = answer;
    let mut deadline = pin!(deadline);
    std::future::poll_fn(move |context| {
        if let Poll::Ready(verdict) = answer.as_mut().poll(context) {
            return Poll::Ready(verdict);
        }
        deadline
            .as_mut()
            .poll(context)
            .map(|()| Err(ClassifierDown::TimedOut))
    })
    .await
}

/// What the floor said.
enum Floored {
    Found(Vec<Finding>),
    TooLong,
    /// The table of this build can't be read. A test keeps that from happening; if it does, nothing passes.
    Unavailable,
}

struct Case {
    mode: Mode,
    model: String,
    ticket: Ticket,
}

impl Case {
    fn texts(&self) -> Vec<&str> {
        self.ticket
            .texts
            .iter()
            .map(|text| text.text.as_str())
            .collect()
    }

    fn floor(&self) -> Floored {
        let length: usize = self.ticket.texts.iter().map(|text| text.text.len()).sum();
        if length > LONGEST_INPUT {
            return Floored::TooLong;
        }
        let Ok(floor) = Floor::get() else {
            return Floored::Unavailable;
        };
        let mut found = floor.examine(&self.texts());
        if self.ticket.payment_is_verified() {
            found.retain(|finding| finding.id != floor::PAYMENT_DETAIL_CHANGE);
        }
        Floored::Found(found)
    }

    /// The texts that the classifier judges. What a complete verification covers is accounted for, so the sentences about
    /// it are left out; everything else is judged as ever.
    fn for_classifier(&self) -> Vec<Segment> {
        let texts = self.ticket.texts.clone();
        match Floor::get() {
            Ok(floor) if self.ticket.payment_is_verified() => texts
                .into_iter()
                .map(|text| Segment::new(text.source, floor.without_payment_sentences(&text.text)))
                .collect(),
            _ => texts,
        }
    }

    fn with_findings(&self, id: &'static str, found: &[Finding]) -> Vec<Indicator> {
        let mut indicators = vec![plain(id)];
        indicators.extend(self.quoted(found));
        indicators
    }

    fn quoted(&self, found: &[Finding]) -> Vec<Indicator> {
        found
            .iter()
            .map(|finding| {
                quoted(
                    finding.id,
                    finding.kb_ref,
                    &self.ticket.texts,
                    &finding.evidence,
                )
            })
            .collect()
    }

    fn clear(self, stage: Stage) -> Screened {
        let screening = Screening {
            mode: self.mode,
            stage,
        };
        let digest = self.digest("cleared", screening, &[]);
        Screened::Cleared(Cleared {
            ticket_id: self.ticket.id,
            version: self.ticket.version,
            texts: self.ticket.texts,
            screening,
            digest,
        })
    }

    fn refuse(&mut self, kind: RefusalKind, stage: Stage, indicators: Vec<Indicator>) -> Screened {
        let screening = Screening {
            mode: self.mode,
            stage,
        };
        let decision = match kind {
            RefusalKind::Incident => "incident",
            RefusalKind::Held => "held",
            RefusalKind::ClassifierUnavailable => "classifier_unavailable",
        };
        let digest = self.digest(decision, screening, &indicators);
        Screened::Refused(Refusal {
            kind,
            filed_category: std::mem::take(&mut self.ticket.category),
            escalate_to: ESCALATE_TO,
            indicators,
            screening,
            digest,
        })
    }

    /// Every field with its length before it, so that no two screenings have the same bytes.
    fn digest(&self, decision: &str, screening: Screening, indicators: &[Indicator]) -> [u8; 32] {
        let mut hash = Sha256::new();
        let mut field = |bytes: &[u8]| {
            hash.update((bytes.len() as u64).to_be_bytes());
            hash.update(bytes);
        };
        field(b"deskgate screening 1");
        field(decision.as_bytes());
        field(screening.mode.as_str().as_bytes());
        field(screening.stage.as_str().as_bytes());
        field(self.model.as_bytes());
        field(&floor::version());
        field(&self.ticket.id.to_be_bytes());
        field(&self.ticket.version.to_be_bytes());
        field(&(indicators.len() as u64).to_be_bytes());
        for indicator in indicators {
            field(indicator.id.as_bytes());
        }
        for text in &self.ticket.texts {
            field(text.source.to_string().as_bytes());
            field(text.text.as_bytes());
        }
        hash.finalize().into()
    }
}

fn plain(id: &'static str) -> Indicator {
    quoted(id, KB_REF, &[], &[])
}

fn quoted(
    id: &'static str,
    kb_ref: &'static str,
    texts: &[Segment],
    places: &[Place],
) -> Indicator {
    Indicator {
        id,
        kb_ref,
        evidence: places
            .iter()
            .filter_map(|place| {
                let segment = texts.get(place.text)?;
                Some(Evidence {
                    text: segment.text.get(place.bytes.clone())?.to_owned(),
                    source: segment.source,
                    start: place.bytes.start,
                    end: place.bytes.end,
                })
            })
            .collect(),
    }
}
