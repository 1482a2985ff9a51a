//! The implementation: all-MiniLM-L6-v2 with int8 weights, on a few threads of its own.
//!
//! Nothing is read and no thread is started before the first call, so a server that never searches by meaning pays nothing.

mod network;
mod pool;
#[cfg(test)]
mod tests;
mod tokens;
mod weights;

use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

pub use weights::{MODEL, WEIGHTS_FILE, WEIGHTS_SHA256, check_weights};

use crate::embedder::{Absent, EmbedError, Embedder, Settings};
use crate::vector::{ModelId, Vector};
use pool::Pool;
use tokens::Tokens;

/// The embedder. It opens nothing yet: the first call does, and says what is missing.
pub fn open(settings: Settings) -> Arc<dyn Embedder> {
    Arc::new(MiniLm {
        path: settings.weights,
        threads: settings.threads,
        tokens: OnceLock::new(),
        state: Mutex::new(State::Unopened),
    })
}

#[derive(Debug)]
struct MiniLm {
    path: PathBuf,
    threads: NonZeroUsize,
    tokens: OnceLock<Result<Arc<Tokens>, Absent>>,
    state: Mutex<State>,
}

#[derive(Debug)]
enum State {
    Unopened,
    Ready(Arc<Pool>),
    /// Reading 23 MB again would end the same way.
    Broken(Absent),
}

impl MiniLm {
    fn tokens(&self) -> Result<Arc<Tokens>, Absent> {
        let loaded = self.tokens.get_or_init(|| Tokens::load().map(Arc::new));
        loaded.clone()
    }

    fn pool(&self) -> Result<Arc<Pool>, Absent> {
        // A poisoned lock holds a state that was whole when the panic came.
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match &*state {
            State::Ready(pool) => return Ok(Arc::clone(pool)),
            State::Broken(absent) => return Err(absent.clone()),
            State::Unopened => {}
        }
        match self.start() {
            Ok(pool) => {
                *state = State::Ready(Arc::clone(&pool));
                Ok(pool)
            }
            Err(absent @ Absent::Missing { .. }) => Err(absent),
            Err(absent) => {
                *state = State::Broken(absent.clone());
                Err(absent)
            }
        }
    }

    fn start(&self) -> Result<Arc<Pool>, Absent> {
        let weights = weights::read(&self.path)?;
        let network = network::Network::load(weights)?;
        Pool::start(self.tokens()?, Arc::new(network), self.threads).map(Arc::new)
    }
}

impl Embedder for MiniLm {
    fn model(&self) -> ModelId {
        MODEL
    }

    fn prepare(&self) -> Result<(), EmbedError> {
        self.pool()?;
        Ok(())
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vector>, EmbedError> {
        self.pool()?.embed(texts)
    }

    fn windows(&self, text: &str) -> Result<Vec<Range<usize>>, EmbedError> {
        let tokens = self.tokens()?;
        pool::guarded(|| tokens.windows(text))
    }
}
