//! The guardrail at the desk: what is written is screened in the store, what would reach a customer is screened here, and
//! a refusal carries its evidence (design section 5).

mod local;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use domain::{
    Act, Action, AuditRecord, EntityKind, NewComment, Outcome, SecurityFlag, TicketId, Version,
};
use garde::Valid;
use guardrail::classifier::{self, Classifier, Mode};
use guardrail::{
    Cleared, Flag, Lifts, PaymentVerification, Refusal, RefusalKind, Review, Screened, Segment,
    Source, Ticket, screen_at_once,
};
pub use guardrail::{Indicator, Screening};
use storage::screening::{Screener, TicketTexts};
use storage::{StoreError, TicketWithTeam};

use crate::{Caller, Desk, DeskError};

/// Which classifier stands behind the floor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClassifierKind {
    /// The model that is compiled in.
    #[default]
    Local,
    /// None: weaker clearance, which every answer discloses.
    None,
}

impl ClassifierKind {
    /// The classifier.
    pub fn classifier(self) -> Arc<dyn Classifier> {
        match self {
            Self::Local => local::classifier(),
            Self::None => classifier::none(),
        }
    }
}

/// What a store screens written texts with, to be handed over when it is opened.
pub fn screener(classifier: Arc<dyn Classifier>) -> Arc<dyn Screener> {
    Arc::new(AtWrite { classifier })
}

struct AtWrite {
    classifier: Arc<dyn Classifier>,
}

impl Screener for AtWrite {
    fn flag(&self, texts: &TicketTexts, outgoing: Option<&str>) -> SecurityFlag {
        let mut ticket = as_screened(texts);
        let Some(outgoing) = outgoing else {
            return self.flag_of(ticket, SecurityFlag::None);
        };
        let new = Segment::new(Source::Comment(0), outgoing);
        if texts.lifted.is_none() {
            ticket.texts.push(new);
            return self.flag_of(ticket, SecurityFlag::Held);
        }
        // A person has seen the other texts, so the new one speaks for itself.
        let alone = Ticket::new(ticket.id, ticket.version, String::new(), vec![new]);
        self.flag_of(ticket, SecurityFlag::Held)
            .max(self.flag_of(alone, SecurityFlag::Held))
    }
}

impl AtWrite {
    /// The flag that a screening asks for; `unusable` where the classifier gave no answer. A broken classifier must not
    /// flag everything that is written, since the wall before customers refuses by itself; on that wall it counts.
    fn flag_of(&self, ticket: Ticket, unusable: SecurityFlag) -> SecurityFlag {
        match screen_at_once(ticket, self.classifier.as_ref()) {
            Screened::Cleared(_) => SecurityFlag::None,
            Screened::Refused(refusal) => match refusal.kind {
                RefusalKind::Incident => SecurityFlag::Incident,
                RefusalKind::Held => SecurityFlag::Held,
                RefusalKind::ClassifierUnavailable => unusable,
            },
        }
    }
}

/// A ticket as the guardrail reads it: every text that somebody wrote, and what staff recorded.
fn as_screened(texts: &TicketTexts) -> Ticket {
    let ticket = &texts.ticket;
    let mut segments = vec![
        Segment::new(Source::Subject, ticket.subject.as_str()),
        Segment::new(Source::Description, ticket.description.as_str()),
    ];
    segments.extend(
        texts.comments.iter().map(|comment| {
            Segment::new(Source::Comment(comment.id.number()), comment.body.as_str())
        }),
    );
    segments.push(Segment::new(
        Source::CustomerName,
        texts.customer.name.as_str(),
    ));
    if let Some(organisation) = &texts.customer.organisation {
        segments.push(Segment::new(Source::Organisation, organisation.as_str()));
    }
    let transcripts = texts.transcripts.iter();
    segments.extend(transcripts.map(|text| Segment::new(Source::Transcript, text.as_str())));
    let id = ticket.id.number();
    let version = ticket.version.number();
    Ticket {
        flag: match ticket.security_flag {
            SecurityFlag::None => Flag::None,
            SecurityFlag::Held => Flag::Held,
            SecurityFlag::Incident => Flag::Incident,
        },
        payment: texts.payment.as_ref().map(|found| PaymentVerification {
            ticket_id: id,
            channel: found.channel_on_file.clone(),
            confirmer: found.confirmer.clone(),
            approver: found.approver.clone(),
        }),
        review: texts.lifted.map(|lifted| Review {
            version,
            lifts: if lifted == SecurityFlag::Incident {
                Lifts::Incident
            } else {
                Lifts::Hold
            },
        }),
        ..Ticket::new(id, version, ticket.category.as_str(), segments)
    }
}

impl Desk {
    /// Which classifier stands behind the floor.
    pub fn screening_mode(&self) -> Mode {
        self.classifier.mode()
    }

    /// Screens a ticket as it is now.
    pub(crate) async fn screen_ticket(&self, id: TicketId) -> Result<Screened, DeskError> {
        let texts = self.store.get_ticket_texts(id).await?;
        // Every classifier of this build answers at once; one that doesn't is refused as too late.
        Ok(screen_at_once(
            as_screened(&texts),
            self.classifier.as_ref(),
        ))
    }

    /// The wall: proof that a ticket may be answered, or a refusal, which is put on record.
    pub(crate) async fn clear_ticket(
        &self,
        act: &Act,
        action: Action,
        id: TicketId,
    ) -> Result<Cleared, DeskError> {
        match self.screen_ticket(id).await? {
            Screened::Cleared(cleared) => Ok(cleared),
            Screened::Refused(refusal) => Err(self.refused(act, action, id, refusal).await?),
        }
    }

    /// Puts a refusal on record, by the ids of its indicators and without a word of the ticket.
    async fn refused(
        &self,
        act: &Act,
        action: Action,
        id: TicketId,
        refusal: Refusal,
    ) -> Result<DeskError, DeskError> {
        let ids: Vec<&str> = refusal.indicators.iter().map(|found| found.id).collect();
        let facts = vec![
            ("screening_mode", refusal.screening.mode.as_str().to_owned()),
            (
                "screening_stage",
                refusal.screening.stage.as_str().to_owned(),
            ),
            ("indicators", ids.join(", ")),
        ];
        let error = DeskError::Screened(Box::new(refusal));
        self.note_refusal(act, action, id, &error, facts).await?;
        Ok(error)
    }

    async fn note_refusal(
        &self,
        act: &Act,
        action: Action,
        id: TicketId,
        error: &DeskError,
        facts: Vec<(&'static str, String)>,
    ) -> Result<(), DeskError> {
        let record = AuditRecord {
            action,
            entity: EntityKind::Ticket,
            entity_id: Some(id.number()),
            version_before: None,
            version_after: None,
            outcome: Outcome::Refused,
            code: Some(error.code().as_str()),
            facts,
        };
        Ok(self.store.record_refusal(act.clone(), record).await?)
    }

    /// A store's answer, where a refusal because of a flag says what the flag rests on.
    pub(crate) async fn unless_flagged<T>(
        &self,
        act: &Act,
        action: Action,
        answer: Result<T, StoreError>,
    ) -> Result<T, DeskError> {
        let (ticket, flag) = match answer {
            Err(StoreError::Flagged { ticket, flag }) => (ticket, flag),
            other => return Ok(other?),
        };
        match self.screen_ticket(ticket).await? {
            Screened::Refused(refusal) => Err(self.refused(act, action, ticket, refusal).await?),
            // The text that was to be published would flag it, and is not on the ticket.
            Screened::Cleared(_) => {
                let error = DeskError::Flagged { ticket, flag };
                self.note_refusal(act, action, ticket, &error, Vec::new())
                    .await?;
                Err(error)
            }
        }
    }

    /// Hands a ticket to security: it is flagged as an incident, goes to that team's last tier with at least high
    /// priority, and gets the reason as an internal comment. It is always open to whoever may comment.
    pub async fn escalate_to_security(
        &self,
        caller: &Caller,
        id: TicketId,
        if_version: Option<Version>,
        reason: Valid<NewComment>,
    ) -> Result<TicketWithTeam, DeskError> {
        let act = caller.act(self.clock.now(), "escalate_to_security");
        let answer = self
            .store
            .escalate_to_security(act, id, if_version, reason)
            .await?;
        self.seen_with_team(caller, answer).await
    }
}
