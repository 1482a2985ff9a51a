//! Every kept window in memory, compared with a question one after the other: exact, and fast enough for a few million.
//!
//! A window takes 384 bytes and 12 more, so 100,000 windows are 40 MB. Beyond what a process may hold, a store with an index of its
//! own has to take over.

use std::collections::HashMap;

use crate::vector::{DIMENSIONS, Packed, Vector, dot, scaled};

/// Windows of documents, which are known by the caller's numbers.
#[derive(Debug)]
pub struct Index {
    most: usize,
    rows: Vec<[i8; DIMENSIONS]>,
    places: Vec<Row>,
    documents: HashMap<i64, u32>,
    /// The document of each slot; a removed one keeps its slot until the next is added.
    slots: Vec<Option<i64>>,
    free: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Row {
    scale: f32,
    slot: u32,
    window: u32,
}

/// There is no room for another window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the index holds {most} windows and may hold no more")]
pub struct Full {
    /// How many it may hold.
    pub most: usize,
}

/// A window of a document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// The document.
    pub document: i64,
    /// Number of the window within it.
    pub window: u32,
    /// Cosine with the question, from -1 to 1.
    pub cosine: f32,
}

/// The best window of every document for one question.
#[derive(Clone, Debug)]
pub struct Best<'a> {
    index: &'a Index,
    /// By slot; nothing where a slot has no window.
    found: Vec<Option<(f32, u32)>>,
}

impl Index {
    /// An empty index that may hold `most` windows.
    pub fn new(most: usize) -> Self {
        Self {
            most,
            rows: Vec::new(),
            places: Vec::new(),
            documents: HashMap::new(),
            slots: Vec::new(),
            free: Vec::new(),
        }
    }

    /// Number of windows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is no window.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Puts a document's windows, in their order, in place of those it had. Where they don't fit, nothing changes.
    pub fn put(&mut self, document: i64, windows: &[Packed]) -> Result<(), Full> {
        let had = self.documents.get(&document).map_or(0, |slot| {
            self.places.iter().filter(|row| row.slot == *slot).count()
        });
        let full = Full { most: self.most };
        if self.rows.len() - had + windows.len() > self.most {
            return Err(full);
        }
        self.remove(document);
        if windows.is_empty() {
            return Ok(());
        }
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None => u32::try_from(self.slots.len()).map_err(|_too_many| full)?,
        };
        let place = slot as usize;
        if place == self.slots.len() {
            self.slots.push(None);
        }
        if let Some(kept) = self.slots.get_mut(place) {
            *kept = Some(document);
        }
        self.documents.insert(document, slot);
        for (window, packed) in (0..).zip(windows) {
            self.rows.push(*packed.values());
            self.places.push(Row {
                scale: packed.scale(),
                slot,
                window,
            });
        }
        Ok(())
    }

    /// Forgets a document.
    pub fn remove(&mut self, document: i64) {
        let Some(slot) = self.documents.remove(&document) else {
            return;
        };
        if let Some(kept) = self.slots.get_mut(slot as usize) {
            *kept = None;
        }
        self.free.push(slot);
        let mut at = 0;
        while let Some(row) = self.places.get(at) {
            if row.slot == slot {
                self.places.swap_remove(at);
                self.rows.swap_remove(at);
            } else {
                at += 1;
            }
        }
    }

    /// Compares a question with every window.
    pub fn compare(&self, question: &Vector) -> Best<'_> {
        let question = Packed::of(question);
        let mut found = vec![None; self.slots.len()];
        for (row, place) in self.rows.iter().zip(&self.places) {
            let cosine = scaled(dot(row, question.values()), question.scale() * place.scale);
            if let Some(best) = found.get_mut(place.slot as usize)
                && best.is_none_or(|(before, window)| {
                    (cosine, std::cmp::Reverse(place.window)) > (before, std::cmp::Reverse(window))
                })
            {
                *best = Some((cosine, place.window));
            }
        }
        Best { index: self, found }
    }
}

impl Best<'_> {
    /// The best window of a document.
    pub fn of(&self, document: i64) -> Option<Place> {
        let slot = *self.index.documents.get(&document)? as usize;
        let (cosine, window) = (*self.found.get(slot)?)?;
        Some(Place {
            document,
            window,
            cosine,
        })
    }

    /// The best windows of the documents that `keep` keeps, best first, of equals the lower number; at most `most`.
    pub fn nearest(&self, most: usize, keep: impl Fn(i64) -> bool) -> Vec<Place> {
        let places = self.found.iter().zip(&self.index.slots);
        let mut all: Vec<Place> = places
            .filter_map(|(best, document)| {
                let ((cosine, window), document) = ((*best)?, (*document)?);
                keep(document).then_some(Place {
                    document,
                    window,
                    cosine,
                })
            })
            .collect();
        let order = |a: &Place, b: &Place| {
            b.cosine
                .total_cmp(&a.cosine)
                .then(a.document.cmp(&b.document))
        };
        if most < all.len() {
            all.select_nth_unstable_by(most, order);
            all.truncate(most);
        }
        all.sort_unstable_by(order);
        all
    }
}

#[cfg(test)]
mod tests {
    //! The index answers as a plain search does, whatever was put and removed.

    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    /// A vector of few values, so that equals occur.
    fn vector(seed: u8) -> Vector {
        let mut values = Box::new([0.0; DIMENSIONS]);
        values[usize::from(seed % 7)] = 1.0;
        values[usize::from(seed / 7 % 5) + 7] = 0.5;
        Vector::unit(values)
    }

    #[derive(Clone, Debug)]
    enum Step {
        Put(i64, Vec<u8>),
        Remove(i64),
    }

    fn step() -> impl Strategy<Value = Step> {
        let document = 0_i64..6;
        prop_oneof![
            3 => (document.clone(), proptest::collection::vec(any::<u8>(), 0..4))
                .prop_map(|(document, windows)| Step::Put(document, windows)),
            1 => document.prop_map(Step::Remove),
        ]
    }

    proptest! {
        #[test]
        fn what_is_found_is_what_a_plain_search_finds(
            steps in proptest::collection::vec(step(), 0..30), question: u8, most in 0_usize..8,
        ) {
            let mut index = Index::new(10);
            let mut plain: BTreeMap<i64, Vec<u8>> = BTreeMap::new();
            for step in steps {
                match step {
                    Step::Put(document, windows) => {
                        let packed: Vec<Packed> =
                            windows.iter().map(|seed| Packed::of(&vector(*seed))).collect();
                        let others: usize = plain
                            .iter()
                            .filter(|(other, _)| **other != document)
                            .map(|(_, windows)| windows.len())
                            .sum();
                        let fits = others + windows.len() <= 10;
                        prop_assert_eq!(index.put(document, &packed).is_ok(), fits);
                        if fits {
                            plain.insert(document, windows);
                        }
                    }
                    Step::Remove(document) => {
                        index.remove(document);
                        plain.remove(&document);
                    }
                }
            }
            prop_assert_eq!(index.len(), plain.values().map(Vec::len).sum::<usize>());
            let question = vector(question);
            let packed = Packed::of(&question);
            let mut expected: Vec<Place> = plain
                .iter()
                .filter_map(|(document, windows)| {
                    let cosines = windows.iter().map(|seed| Packed::of(&vector(*seed)).cosine(&packed));
                    let (window, cosine) = (0..).zip(cosines).reduce(|best, next| {
                        if next.1 > best.1 { next } else { best }
                    })?;
                    Some(Place { document: *document, window, cosine })
                })
                .collect();
            let best = index.compare(&question);
            for place in &expected {
                prop_assert_eq!(best.of(place.document), Some(*place));
            }
            expected.sort_by(|a, b| b.cosine.total_cmp(&a.cosine));
            expected.truncate(most);
            prop_assert_eq!(best.nearest(most, |_| true), expected);
        }
    }

    #[test]
    fn only_what_is_kept_is_near() {
        let mut index = Index::new(10);
        for document in 1..=4 {
            index.put(document, &[Packed::of(&vector(1))]).unwrap();
        }
        let question = vector(1);
        let near = index
            .compare(&question)
            .nearest(2, |document| document % 2 == 0);
        let found: Vec<i64> = near.iter().map(|place| place.document).collect();
        assert_eq!(found, [2, 4]);
        assert_eq!(index.compare(&question).of(9), None);
        assert_eq!(
            Index::new(0).put(1, &[Packed::of(&question)]),
            Err(Full { most: 0 })
        );
    }
}
