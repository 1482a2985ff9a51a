//! Any text is cut into windows and none ends the tokenizer; the fuzz target runs the same body.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use retrieval::{Embedder, Settings, open};

/// An embedder that cuts texts and has no weights.
pub(crate) fn cutter() -> Arc<dyn Embedder> {
    open(Settings {
        weights: PathBuf::new(),
        threads: NonZeroUsize::MIN,
    })
}

/// Windows are parts of the text, in its order, and what has a letter or digit of ASCII lies in one.
pub(crate) fn check_hostile_text(cutter: &dyn Embedder, text: &str) {
    let windows = cutter.windows(text).unwrap();
    let mut before = 0;
    for window in &windows {
        assert!(
            text.get(window.clone())
                .is_some_and(|part| !part.is_empty())
        );
        assert!(window.start >= before);
        before = window.start;
    }
    for (at, c) in text
        .char_indices()
        .take_while(|(at, _)| *at < retrieval::MAX_TEXT)
    {
        assert!(
            !c.is_ascii_alphanumeric() || windows.iter().any(|window| window.contains(&at)),
            "{c} at {at} is in no window"
        );
    }
}
