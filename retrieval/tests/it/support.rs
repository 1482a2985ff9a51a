//! The model where it is, and the figures of a ranking.

use std::fmt;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use etcetera::BaseStrategy as _;
use retrieval::{Embedder, Packed, Settings, Vector, WEIGHTS_FILE, open};

/// The embedder, or nothing where its weights were not fetched.
pub(crate) fn embedder() -> Option<Arc<dyn Embedder>> {
    let folder = std::env::var_os("DESKGATE_MODEL_DIR").map(PathBuf::from);
    let usual = || {
        let strategy = etcetera::choose_base_strategy().ok()?;
        Some(strategy.data_dir().join("deskgate").join("models"))
    };
    let weights = folder.or_else(usual)?.join(WEIGHTS_FILE);
    if !weights.exists() {
        eprintln!("not checked: there is no model; `cargo xtask model` fetches it");
        return None;
    }
    Some(open(Settings {
        weights,
        threads: NonZeroUsize::new(2)?,
    }))
}

/// A text of the repository.
pub(crate) fn read(path: &str) -> String {
    std::fs::read_to_string(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// The windows of a text as they are kept.
pub(crate) fn packed_windows(embedder: &dyn Embedder, text: &str) -> Vec<Packed> {
    let windows = embedder.windows(text).unwrap();
    let parts: Vec<&str> = windows.into_iter().map(|range| &text[range]).collect();
    packed(embedder, &parts)
}

/// Texts as they are kept, one vector each.
pub(crate) fn packed(embedder: &dyn Embedder, texts: &[&str]) -> Vec<Packed> {
    let vectors: Vec<Vector> = embedder.embed(texts).unwrap();
    vectors.iter().map(Packed::of).collect()
}

/// At which place the right document was, over many questions.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Figures {
    pub(crate) questions: f64,
    first: f64,
    third: f64,
    fifth: f64,
    reciprocal: f64,
}

impl Figures {
    /// Adds a question: `scores` by document, `right` the one that was asked for. An equal score counts against it, since any order
    /// of equals would do.
    pub(crate) fn add(&mut self, scores: &[f64], right: usize) {
        let own = scores[right];
        let before = scores
            .iter()
            .enumerate()
            .filter(|(at, score)| *at != right && **score >= own)
            .count();
        self.questions += 1.0;
        self.first += f64::from(u8::from(before < 1));
        self.third += f64::from(u8::from(before < 3));
        self.fifth += f64::from(u8::from(before < 5));
        self.reciprocal += 1.0 / (f64::from(u32::try_from(before).unwrap()) + 1.0);
    }

    pub(crate) fn first(&self) -> f64 {
        self.first / self.questions
    }

    pub(crate) fn third(&self) -> f64 {
        self.third / self.questions
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "at 1 {:.2}, at 3 {:.2}, at 5 {:.2}, MRR {:.2} ({} questions)",
            self.first(),
            self.third(),
            self.fifth / self.questions,
            self.reciprocal / self.questions,
            self.questions
        )
    }
}
