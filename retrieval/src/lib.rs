//! Finding by meaning: texts become unit vectors, and vectors and words together rank what was found (design section 8).
//!
//! [`Embedder`] is the way in; [`open()`] gives the one implementation, which runs a sentence model of 23 MB on this machine. The
//! model's weights are not in the tree: `cargo xtask model` fetches them, and without them every caller goes on with words alone.
//! [`Index`] compares a question with every window that was kept, and [`rank`] blends what words and meaning say. Neither does I/O.

mod embedder;
mod index;
mod lexical;
mod minilm;
pub mod rank;
mod vector;

pub use embedder::{Absent, EmbedError, Embedder, MAX_TEXT, Settings};
pub use index::{Best, Full, Index, Place};
pub use lexical::Lexicon;
pub use minilm::{MODEL, WEIGHTS_FILE, WEIGHTS_SHA256, check_weights, open};
pub use vector::{BLOB_BYTES, BlobError, DIMENSIONS, ModelId, Packed, Vector};
