//! The remote classifier: cache, place, circuit, question, answer, each of which can only refuse or pass on.

use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use domain::{Clock, IdSource};
use tokio::sync::Semaphore;

use super::breaker::Breaker;
use super::cache::{self, Cache};
use super::service::{Failure, Service};
use super::settings::{RemoteError, RemoteSettings};
use super::{answer, prompt};
use crate::classifier::{Answer, Classifier, ClassifierDown, Mode, Verdict};
use crate::ticket::Segment;

/// A model at its provider, with what keeps it from being a danger to the desk.
pub(super) struct Remote {
    service: Service,
    version: String,
    deadline: Duration,
    places: Semaphore,
    breaker: Breaker,
    cache: Cache,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdSource>,
}

impl Remote {
    pub(super) fn new(
        settings: RemoteSettings,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn IdSource>,
    ) -> Result<Self, RemoteError> {
        Ok(Self {
            service: Service::new(&settings)?,
            version: format!(
                "remote {} {} {} {}",
                prompt::VERSION,
                settings.provider().as_str(),
                settings.endpoint(),
                settings.model()
            ),
            deadline: settings.deadline(),
            places: Semaphore::new(settings.concurrency()),
            breaker: Breaker::new(),
            cache: Cache::default(),
            clock,
            ids,
        })
    }

    async fn ask(&self, texts: &[Segment]) -> Result<Verdict, ClassifierDown> {
        let content = cache::content(&self.version, texts);
        if let Some(verdict) = self.cache.get(&content) {
            return Ok(verdict);
        }
        let mut over = pin!(tokio::time::sleep(self.deadline));
        let place = tokio::select! {
            biased;
            place = self.places.acquire() => place,
            () = &mut over => return Err(ClassifierDown::TimedOut),
        };
        let _place = place.map_err(|_closed| ClassifierDown::Unavailable)?;
        // Somebody who was before us may have asked the same.
        if let Some(verdict) = self.cache.get(&content) {
            return Ok(verdict);
        }
        let nonce = hex(self.ids.nonce());
        let question = prompt::question(&nonce, texts).ok_or(ClassifierDown::Unavailable)?;
        let Some(call) = self.breaker.admit(self.clock.now()) else {
            return Err(ClassifierDown::Unavailable);
        };
        let answered = tokio::select! {
            biased;
            answered = self.service.ask(question) => answered,
            () = over => {
                call.failed(self.clock.now());
                tracing::warn!("the provider of the classifier didn't answer in time");
                return Err(ClassifierDown::TimedOut);
            }
        };
        match answered {
            Ok(text) => {
                call.answered();
                let verdict = answer::read(&text, &nonce, texts).inspect_err(|down| {
                    tracing::warn!(reason = down.indicator(), "the classifier's answer is none");
                })?;
                self.cache.keep(content, verdict.clone());
                Ok(verdict)
            }
            Err(failure) => {
                if failure.is_outage() {
                    call.failed(self.clock.now());
                } else {
                    call.answered();
                }
                Err(told(failure))
            }
        }
    }
}

/// Says in the log what the provider did, without a word of what it said.
fn told(failure: Failure) -> ClassifierDown {
    let down = failure.meaning();
    tracing::warn!(
        reason = down.indicator(),
        http.status = failure.status(),
        "the provider of the classifier gave no answer"
    );
    down
}

impl Classifier for Remote {
    fn mode(&self) -> Mode {
        Mode::Remote
    }

    fn version(&self) -> String {
        self.version.clone()
    }

    fn judge<'a>(&'a self, texts: &'a [Segment]) -> Answer<'a> {
        Box::pin(self.ask(texts))
    }
}

/// Without the client, which holds the key.
impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote")
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}

fn hex(nonce: [u8; 16]) -> String {
    format!("{:032x}", u128::from_be_bytes(nonce))
}
