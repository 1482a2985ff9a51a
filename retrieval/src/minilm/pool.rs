//! Workers: a bounded number of threads that each compute one text at a time.
//!
//! A text is computed alone and by one thread, so its vector is the same whatever else is asked for. The queue is short: who asks
//! for more waits, and a batch of thousands holds no more than its texts.

use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use rten::ThreadPool;

use super::network::Network;
use super::tokens::Tokens;
use crate::embedder::{Absent, EmbedError};
use crate::vector::Vector;

/// Texts in the queue for each worker: the next is there when one is done.
const QUEUE: usize = 2;

struct Job {
    at: usize,
    pieces: Vec<i32>,
    answer: Sender<(usize, Result<Vector, EmbedError>)>,
}

#[derive(Debug)]
pub(super) struct Pool {
    tokens: Arc<Tokens>,
    /// The workers end when this is dropped.
    jobs: SyncSender<Job>,
}

impl Pool {
    pub(super) fn start(
        tokens: Arc<Tokens>,
        network: Arc<Network>,
        threads: NonZeroUsize,
    ) -> Result<Self, Absent> {
        let (jobs, waiting) = sync_channel(QUEUE * threads.get());
        let waiting = Arc::new(Mutex::new(waiting));
        for number in 0..threads.get() {
            let (waiting, network) = (Arc::clone(&waiting), Arc::clone(&network));
            std::thread::Builder::new()
                .name(format!("embed-{number}"))
                .spawn(move || work(&waiting, &network))
                .map_err(|error| Absent::Unusable {
                    reason: format!("no thread can be started ({})", error.kind()),
                })?;
        }
        Ok(Self { tokens, jobs })
    }

    pub(super) fn embed(&self, texts: &[&str]) -> Result<Vec<Vector>, EmbedError> {
        let (answer, answers) = channel();
        for (at, text) in texts.iter().enumerate() {
            let pieces = guarded(|| self.tokens.ids(text))?;
            let job = Job {
                at,
                pieces,
                answer: answer.clone(),
            };
            self.jobs.send(job).map_err(|_ended| ended())?;
        }
        drop(answer);
        let mut found: Vec<Option<Vector>> = vec![None; texts.len()];
        for (at, vector) in answers {
            if let Some(place) = found.get_mut(at) {
                *place = Some(vector?);
            }
        }
        found
            .into_iter()
            .map(|vector| vector.ok_or_else(ended))
            .collect()
    }
}

fn ended() -> EmbedError {
    EmbedError::Failed {
        reason: "its workers have ended".to_owned(),
    }
}

fn work(waiting: &Mutex<Receiver<Job>>, network: &Network) {
    let alone = Arc::new(ThreadPool::with_num_threads(1));
    loop {
        let job = waiting
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .recv();
        let Ok(job) = job else {
            return;
        };
        let vector = guarded(|| network.run(&job.pieces, &alone));
        // Who asked may have given up after another text failed.
        let _gone = job.answer.send((job.at, vector));
    }
}

/// A text that makes a library panic costs its own answer and nothing else.
pub(super) fn guarded<T>(work: impl FnOnce() -> Result<T, EmbedError>) -> Result<T, EmbedError> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_panic| {
        Err(EmbedError::Failed {
            reason: "it panicked".to_owned(),
        })
    })
}
