//! The trait: what makes vectors of texts, and why it may not.

use std::fmt;
use std::io;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::PathBuf;

use crate::vector::{ModelId, Vector};

/// Longest text that is cut into windows, in bytes: as long as the longest that is screened.
pub const MAX_TEXT: usize = 1 << 20;

/// Makes vectors of texts. Texts that mean the same get similar vectors.
///
/// Calls block for some milliseconds a text: an asynchronous caller makes them on a thread that may block.
pub trait Embedder: fmt::Debug + Send + Sync {
    /// Which model it is, to be kept beside the vectors.
    fn model(&self) -> ModelId;

    /// Makes ready what [`embed`](Self::embed) needs, which it does itself when it is first called.
    fn prepare(&self) -> Result<(), EmbedError>;

    /// A vector for each text, in their order. A text longer than the model reads (254 tokens, about 200 words) counts as its
    /// beginning.
    ///
    /// A text's vector depends on nothing but the text: not on its neighbours, not on the number of threads.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vector>, EmbedError>;

    /// Cuts a text into windows that [`embed`](Self::embed) reads in full, as byte ranges in the order of the text; neighbours
    /// overlap. A text without words has none. Beyond [`MAX_TEXT`] nothing is read.
    fn windows(&self, text: &str) -> Result<Vec<Range<usize>>, EmbedError>;
}

/// What an embedder needs to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Where the weights are.
    pub weights: PathBuf,
    /// How many texts are computed at a time; each takes a core and a few MB.
    pub threads: NonZeroUsize,
}

/// Why there is no vector.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EmbedError {
    /// The model isn't there: search goes on by words.
    #[error(transparent)]
    Absent(#[from] Absent),
    /// The model is there and failed on a text. The next text may do.
    #[error("the embedding model failed on a text: {reason}")]
    Failed {
        /// What it said, without the text.
        reason: String,
    },
}

/// Why the model isn't there. Each says how to get it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Absent {
    /// No such file. Looked for again by every call.
    #[error("there is no embedding model at `{}`; `cargo xtask model` fetches it", path.display())]
    Missing {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// The file can't be read.
    #[error("the embedding model at `{}` can't be read ({kind})", path.display())]
    Unreadable {
        /// What was read.
        path: PathBuf,
        /// Why it can't.
        kind: io::ErrorKind,
    },
    /// The file is there and isn't the model.
    #[error(
        "the file at `{}` is not the embedding model (its SHA-256 is {found}); `cargo xtask model` fetches it anew",
        path.display()
    )]
    Damaged {
        /// What was read.
        path: PathBuf,
        /// Its SHA-256.
        found: String,
    },
    /// This machine can't run it.
    #[error("the embedding model can't be run here: {reason}")]
    Unusable {
        /// Why.
        reason: String,
    },
}
