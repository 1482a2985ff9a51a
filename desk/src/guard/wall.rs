//! The one owner of the classifier: from here the store takes what it screens writes with, and the desk what it screens
//! drafts and publications with, so that the two can't come to differ.

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use domain::{Clock, IdSource, SecurityFlag};
use guardrail::classifier::{self, Classifier, Mode};
use guardrail::remote::{self, RemoteError};
use guardrail::{RefusalKind, Screened, Ticket, screen, screen_at_once};
use storage::screening::{Screener, TicketTexts};
use storage::{DatabaseUrl, OpenError, Options, Storage};
use writegate::LogKeys;

use super::{ClassifierKind, as_screened, local, with_outgoing};

/// How long the wall waits for a classifier. Every kind ends within its own deadline before that.
const LONGEST_SCREENING: Duration = remote::LONGEST_DEADLINE.saturating_add(Duration::from_secs(5));

/// The floor with the classifier behind it.
///
/// A flag is raised in the transaction that writes a text, where nothing may wait, so there a classifier that computes its
/// answer is asked: the configured one, or the local one where the configured one is remote. The configured one is asked at
/// the wall itself, before a draft and before the preview of a publication, outside every transaction. What it cleared is
/// one version of the ticket: a draft names it, and the token of a publication is bound to it, so that a text written
/// meanwhile makes the clearance void.
#[derive(Clone)]
pub struct Wall {
    classifier: Arc<dyn Classifier>,
    at_write: Arc<dyn Classifier>,
    deadline: Duration,
}

impl Wall {
    /// The wall of a configuration. Fails where that names a classifier that can't be used, which must stop the start: it never
    /// becomes a weaker one.
    pub fn new(
        kind: ClassifierKind,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn IdSource>,
    ) -> Result<Self, RemoteError> {
        Ok(match kind {
            ClassifierKind::Local => Self::local(),
            ClassifierKind::None => Self::floor_only(),
            ClassifierKind::Remote(settings) => {
                Self::behind(remote::classifier(settings, clock, ids)?)
            }
        })
    }

    /// A wall with the compiled-in model.
    pub fn local() -> Self {
        Self::behind(local::classifier())
    }

    /// A wall without a classifier.
    pub fn floor_only() -> Self {
        let none = classifier::none();
        Self {
            at_write: Arc::clone(&none),
            ..Self::behind(none)
        }
    }

    /// A wall whose drafts and publications are judged by a classifier, and whose writes by the compiled-in model.
    pub fn behind(classifier: Arc<dyn Classifier>) -> Self {
        Self {
            classifier,
            at_write: local::classifier(),
            deadline: LONGEST_SCREENING,
        }
    }

    /// The classifier of drafts and publications, for measuring it.
    pub fn classifier(&self) -> &dyn Classifier {
        self.classifier.as_ref()
    }

    /// Opens a store behind this wall; `keys` seal its audit log.
    pub fn open(
        self,
        url: &DatabaseUrl,
        keys: LogKeys,
        options: Options,
    ) -> Result<WalledStore, OpenError> {
        let screener = AtWrite {
            classifier: Arc::clone(&self.at_write),
        };
        let options = Options {
            screener: Some(Arc::new(screener)),
            ..options
        };
        let store = storage::open(url, keys, options)?;
        Ok(WalledStore { store, wall: self })
    }

    /// Asks the configured classifier. Waits for it, so never within a write.
    pub(super) async fn screen(&self, ticket: Ticket) -> Screened {
        // Made only where it is waited for: a classifier that answers at once needs no timer.
        let deadline = async { tokio::time::sleep(self.deadline).await };
        screen(ticket, self.classifier.as_ref(), deadline).await
    }

    /// Says what a flag rests on, as the store saw it.
    pub(super) fn explain(&self, ticket: Ticket) -> Screened {
        screen_at_once(ticket, self.at_write.as_ref())
    }

    /// Which kind drafts and publications are judged by.
    pub(super) fn mode(&self) -> Mode {
        self.classifier.mode()
    }

    /// Whether the store's own look at a publication leaves anything to ask.
    pub(super) fn asks_elsewhere(&self) -> bool {
        self.mode() == Mode::Remote
    }
}

/// A store with the wall that its writes are screened by.
#[derive(Clone)]
pub struct WalledStore {
    pub(crate) store: Arc<dyn Storage>,
    pub(crate) wall: Wall,
}

impl WalledStore {
    /// The store.
    pub fn storage(&self) -> &Arc<dyn Storage> {
        &self.store
    }
}

/// What a store screens written texts with.
struct AtWrite {
    classifier: Arc<dyn Classifier>,
}

impl Screener for AtWrite {
    fn flag(&self, texts: &TicketTexts, outgoing: Option<&str>) -> SecurityFlag {
        let tickets = match outgoing {
            Some(outgoing) => with_outgoing(texts, outgoing),
            None => vec![as_screened(texts)],
        };
        let flags = tickets.into_iter().map(|ticket| self.flag_of(ticket));
        flags.fold(SecurityFlag::None, SecurityFlag::max)
    }
}

impl AtWrite {
    fn flag_of(&self, ticket: Ticket) -> SecurityFlag {
        match screen_at_once(ticket, self.classifier.as_ref()) {
            Screened::Cleared(_) => SecurityFlag::None,
            Screened::Refused(refusal) => match refusal.kind {
                RefusalKind::Incident => SecurityFlag::Incident,
                // What is asked here always answers; if it ever does not, nothing passes.
                RefusalKind::Held | RefusalKind::ClassifierUnavailable => SecurityFlag::Held,
            },
        }
    }
}
