//! The guardrail at the desk: what is written is screened in the store, what would reach a customer is screened here, and
//! a refusal carries its evidence (design section 5).

mod kind;
mod local;
mod outgoing;
#[cfg(test)]
mod tests;
mod wall;
mod words;

use domain::{
    Act, Action, AuditRecord, EntityKind, GuardedWrite, NewComment, Outcome, SecurityFlag,
    TicketId, Version,
};
use garde::Valid;
use guardrail::classifier::Mode;
use guardrail::{
    Cleared, Flag, Lifts, PaymentVerification, Refusal, Review, Screened, Segment, Source, Ticket,
};
pub use guardrail::{Indicator, Screening};
pub use kind::{ClassifierError, ClassifierKind, RemoteError, RemoteSettings};
use storage::screening::TicketTexts;
use storage::{StoreError, TicketWithTeam};
pub use wall::{Wall, WalledStore};
pub use words::ClassifierWords;

use crate::{Caller, Desk, DeskError};

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

/// What has to be cleared before a text is published on a ticket: all of its texts with the new one. Where a person has
/// seen the others, the new one also speaks for itself.
fn with_outgoing(texts: &TicketTexts, outgoing: &str) -> Vec<Ticket> {
    let mut ticket = as_screened(texts);
    let new = Segment::new(Source::Comment(0), outgoing);
    if texts.lifted.is_none() {
        ticket.texts.push(new);
        return vec![ticket];
    }
    let alone = Ticket::new(ticket.id, ticket.version, String::new(), vec![new]);
    vec![ticket, alone]
}

impl Desk {
    /// Which classifier stands behind the floor.
    pub fn screening_mode(&self) -> Mode {
        self.wall.mode()
    }

    /// The wall: proof that a ticket may be answered, or a refusal, which is put on record.
    pub(crate) async fn clear_ticket(
        &self,
        act: &Act,
        action: Action,
        id: TicketId,
    ) -> Result<Cleared, DeskError> {
        let texts = self.store.get_ticket_texts(id).await?;
        match self.wall.screen(as_screened(&texts)).await {
            Screened::Cleared(cleared) => Ok(cleared),
            Screened::Refused(refusal) => Err(self.refused(act, action, id, refusal).await?),
        }
    }

    /// The wall before a publication, for a classifier that the store can't ask. Gives the version of the ticket that the
    /// change has to be previewed and applied at: the store binds its token to that.
    pub(crate) async fn clear_publication(
        &self,
        act: &Act,
        write: &GuardedWrite,
        if_version: Option<Version>,
    ) -> Result<Option<Version>, DeskError> {
        let GuardedWrite::PublishComment {
            ticket,
            publication,
        } = write
        else {
            return Ok(if_version);
        };
        if !self.wall.asks_elsewhere() {
            return Ok(if_version);
        }
        let texts = self.store.get_ticket_texts(*ticket).await?;
        let found = texts.ticket.version;
        if let Some(expected) = if_version.filter(|expected| *expected != found) {
            return Err(DeskError::Stale { expected, found });
        }
        for screened in with_outgoing(&texts, &publication.body) {
            if let Screened::Refused(refusal) = self.wall.screen(screened).await {
                return Err(self.refused(act, write.action(), *ticket, refusal).await?);
            }
        }
        Ok(Some(found))
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

    pub(crate) async fn note_refusal(
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
        let texts = self.store.get_ticket_texts(ticket).await?;
        match self.wall.explain(as_screened(&texts)) {
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
