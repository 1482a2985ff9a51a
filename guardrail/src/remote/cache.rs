//! Verdicts by what was judged and by whom, so that a ticket that didn't change is asked about once.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use sha2::{Digest as _, Sha256};

use crate::classifier::Verdict;
use crate::ticket::Segment;

/// Verdicts kept; the oldest goes first. A busy desk has fewer tickets open at once.
const KEPT: usize = 1_000;

/// What was judged, and by which model.
pub(super) type Content = [u8; 32];

/// The texts and the model as one digest, each field with its length before it.
pub(super) fn content(model: &str, texts: &[Segment]) -> Content {
    let mut hash = Sha256::new();
    let mut field = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_be_bytes());
        hash.update(bytes);
    };
    field(model.as_bytes());
    for text in texts {
        field(text.source.to_string().as_bytes());
        field(text.text.as_bytes());
    }
    hash.finalize().into()
}

/// Holds verdicts and never failures: a classifier that could not answer is asked again.
#[derive(Debug, Default)]
pub(super) struct Cache {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    verdicts: BTreeMap<Content, Verdict>,
    order: VecDeque<Content>,
}

impl Cache {
    pub(super) fn get(&self, content: &Content) -> Option<Verdict> {
        self.kept().verdicts.get(content).cloned()
    }

    pub(super) fn keep(&self, content: Content, verdict: Verdict) {
        let mut kept = self.kept();
        if kept.verdicts.insert(content, verdict).is_none() {
            kept.order.push_back(content);
        }
        while kept.order.len() > KEPT {
            if let Some(oldest) = kept.order.pop_front() {
                kept.verdicts.remove(&oldest);
            }
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    //! What is the same content, and what is forgotten.

    use super::*;
    use crate::classifier::Decision;
    use crate::ticket::Source;

    #[test]
    fn content_differs_with_model_text_place_and_where_a_text_ends() {
        let two = |a: &str, b: &str| {
            vec![
                Segment::new(Source::Subject, a),
                Segment::new(Source::Description, b),
            ]
        };
        let base = content("m", &two("ab", "c"));
        assert_eq!(base, content("m", &two("ab", "c")));
        for other in [
            content("n", &two("ab", "c")),
            content("m", &two("a", "bc")),
            content("m", &two("ab", "d")),
            content("m", &two("ab", "c")[..1]),
            content("m", &[Segment::new(Source::Comment(1), "ab")]),
        ] {
            assert_ne!(base, other);
        }
    }

    #[test]
    fn the_oldest_verdict_is_forgotten_first_and_the_number_is_bounded() {
        let cache = Cache::default();
        let key = |n: usize| content(&n.to_string(), &[]);
        for n in 0..=KEPT {
            cache.keep(key(n), Verdict::of(Decision::Clear));
            cache.keep(key(n), Verdict::of(Decision::Refuse));
        }
        assert_eq!(cache.get(&key(0)), None);
        assert_eq!(cache.get(&key(1)), Some(Verdict::of(Decision::Refuse)));
        assert_eq!(cache.kept().verdicts.len(), KEPT);
        assert_eq!(cache.kept().order.len(), KEPT);
    }
}
