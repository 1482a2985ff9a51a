//! A job: a body that writes, and somebody who waits for what it answers.

use tokio::sync::oneshot;

use super::{Company, Tx};
use crate::StoreError;
use crate::sql::errors::Broken;

/// A job as the writer sees it, whatever it answers.
pub(super) trait Job: Send {
    /// Whether nobody waits for it any more.
    fn abandoned(&self) -> bool;

    /// Whether it may share a transaction.
    fn company(&self) -> Company;

    /// Runs the body and keeps its answer; gives whether what it did should stay. May be called again.
    fn run(&mut self, tx: &mut Tx<'_>) -> bool;

    /// Says that what the body did was undone, and why.
    fn fail(&mut self, error: StoreError);

    /// Hands over the answer: it is committed.
    fn answer(self: Box<Self>);

    /// Hands over an error: the transaction was lost. What had failed by itself keeps its own error, which says more.
    fn answer_lost(self: Box<Self>, error: StoreError);
}

/// A job with a typed answer.
pub(super) struct WriteJob<T, F> {
    body: F,
    company: Company,
    answer: Option<Result<T, StoreError>>,
    reply: oneshot::Sender<Result<T, StoreError>>,
}

impl<T, F> WriteJob<T, F> {
    pub(super) const fn new(
        body: F,
        company: Company,
        reply: oneshot::Sender<Result<T, StoreError>>,
    ) -> Self {
        Self {
            body,
            company,
            answer: None,
            reply,
        }
    }

    fn send(self, answer: Result<T, StoreError>) {
        if self.reply.send(answer).is_err() {
            tracing::debug!("the caller of a write has gone before its answer");
        }
    }
}

impl<T, F> Job for WriteJob<T, F>
where
    T: Send,
    F: FnMut(&mut Tx<'_>) -> Result<T, StoreError> + Send,
{
    fn abandoned(&self) -> bool {
        self.reply.is_closed()
    }

    fn company(&self) -> Company {
        self.company
    }

    fn run(&mut self, tx: &mut Tx<'_>) -> bool {
        self.answer = None;
        let answer = (self.body)(tx);
        self.answer.insert(answer).is_ok()
    }

    fn fail(&mut self, error: StoreError) {
        if !matches!(self.answer, Some(Err(_))) {
            self.answer = Some(Err(error));
        }
    }

    fn answer(mut self: Box<Self>) {
        let answer = self
            .answer
            .take()
            .unwrap_or_else(|| Err(StoreError::Internal(Broken("the job was not run").into())));
        self.send(answer);
    }

    fn answer_lost(mut self: Box<Self>, error: StoreError) {
        let answer = match self.answer.take() {
            Some(Err(own)) => Err(own),
            Some(Ok(_)) | None => Err(error),
        };
        self.send(answer);
    }
}
