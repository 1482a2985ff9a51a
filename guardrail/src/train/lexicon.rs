//! Groups of words and phrases, from the text they are written in to the form they have in the model file.

use crate::local::{self, Set};

const TEXT: &str = include_str!("../local/lexicon.txt");
/// A mask has a bit per group.
const MAX_GROUPS: u32 = 64;

/// The groups as they stand in the model file; `None` if a line is out of place or there are too many groups.
pub(crate) fn compiled() -> Option<Vec<u8>> {
    compile(TEXT)
}

fn compile(text: &str) -> Option<Vec<u8>> {
    let mut phrases: Vec<(u64, Set)> = Vec::new();
    let (mut words_seen, mut phrases_seen) = (0, 0);
    let mut group = None;
    for line in text
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
    {
        if line.starts_with("words ") {
            group = Some(Set {
                words: bit(&mut words_seen)?,
                phrases: 0,
            });
        } else if line.starts_with("phrases ") {
            group = Some(Set {
                words: 0,
                phrases: bit(&mut phrases_seen)?,
            });
        } else {
            for phrase in line.split('|') {
                phrases.push((local::phrase_hash(phrase.trim())?, group?));
            }
        }
    }
    phrases.sort_unstable();
    let merged: Vec<(u64, Set)> = phrases
        .chunk_by(|a, b| a.0 == b.0)
        .filter_map(|same| {
            let set = same
                .iter()
                .fold(Set::default(), |sum, (_, set)| sum.with(*set));
            Some((same.first()?.0, set))
        })
        .collect();
    local::write_groups(&merged)
}

fn bit(seen: &mut u32) -> Option<u64> {
    let bit = (*seen < MAX_GROUPS).then(|| 1 << *seen);
    *seen += 1;
    bit
}
