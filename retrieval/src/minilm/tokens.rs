//! Texts as the model reads them: numbers of word pieces, with the bytes that each came from.
//!
//! The tokenizer's own file asks for padding to 128 and truncation at 128. Both are off: padding would make every ticket as dear
//! as a long one, and how much is read is decided here.

use std::ops::Range;

use tokenizers::Tokenizer;

use crate::embedder::{Absent, EmbedError, MAX_TEXT};

/// The vocabulary and the rules, as the model's authors published them (see LICENSE and NOTICE beside it).
const TOKENIZER: &[u8] = include_bytes!("../../model/tokenizer.json");

/// Tokens of a text that the model was made for, with one in front and one behind.
const MOST_TOKENS: usize = 256;

/// Bytes of a text that are looked at for one vector: 254 tokens of ordinary text are some 1,000 bytes, and a text whose words
/// are longer than this allows for says nothing that a vector could hold.
const MOST_BYTES: usize = 16 << 10;

/// Tokens of a window: long enough for a few turns of a conversation, short enough that one topic fills it.
const WINDOW: usize = 200;

/// Tokens from one window to the next. What is said in 50 tokens lies in one window as a whole.
const STEP: usize = 150;

#[derive(Debug)]
pub(super) struct Tokens {
    tokenizer: Tokenizer,
    first: u32,
    last: u32,
}

impl Tokens {
    pub(super) fn load() -> Result<Self, Absent> {
        let unusable = |reason: String| Absent::Unusable { reason };
        let mut tokenizer =
            Tokenizer::from_bytes(TOKENIZER).map_err(|error| unusable(error.to_string()))?;
        tokenizer.with_padding(None);
        tokenizer
            .with_truncation(None)
            .map_err(|error| unusable(error.to_string()))?;
        // `[SEP]` in a ticket is five characters that a customer wrote.
        tokenizer.set_encode_special_tokens(true);
        let marker = |name: &str| {
            tokenizer
                .token_to_id(name)
                .ok_or_else(|| unusable(format!("its vocabulary has no `{name}`")))
        };
        let (first, last) = (marker("[CLS]")?, marker("[SEP]")?);
        Ok(Self {
            tokenizer,
            first,
            last,
        })
    }

    /// The numbers that the model is given for a text.
    pub(super) fn ids(&self, text: &str) -> Result<Vec<i32>, EmbedError> {
        let read = prefix(text, MOST_BYTES);
        let encoding = self.encode(read)?;
        let pieces = encoding.get_ids().iter().copied().take(MOST_TOKENS - 2);
        let ids = std::iter::once(self.first)
            .chain(pieces)
            .chain(std::iter::once(self.last));
        ids.map(|id| {
            i32::try_from(id).map_err(|_too_large| EmbedError::Failed {
                reason: "a token has no number".to_owned(),
            })
        })
        .collect()
    }

    /// The windows of a text.
    pub(super) fn windows(&self, text: &str) -> Result<Vec<Range<usize>>, EmbedError> {
        let read = prefix(text, MAX_TEXT);
        let encoding = self.encode(read)?;
        let words = encoding.get_word_ids();
        let offsets = encoding.get_offsets();
        let mut windows: Vec<Range<usize>> = Vec::new();
        let mut from = 0;
        while from < offsets.len() {
            let to = (from + WINDOW).min(offsets.len());
            windows.extend(span(read, offsets.get(from..to).unwrap_or_default()));
            if to == offsets.len() {
                break;
            }
            from = beginning(words, from + STEP, from + 1);
        }
        Ok(windows)
    }

    fn encode(&self, text: &str) -> Result<tokenizers::Encoding, EmbedError> {
        self.tokenizer
            .encode(text, false)
            .map_err(|error| EmbedError::Failed {
                reason: error.to_string(),
            })
    }
}

/// The first piece of the word that the piece `at` belongs to, not before `least`.
fn beginning(words: &[Option<u32>], at: usize, least: usize) -> usize {
    let word = words.get(at).copied().flatten();
    (least..at)
        .rev()
        .take_while(|before| word.is_some() && words.get(*before).copied().flatten() == word)
        .last()
        .unwrap_or(at)
}

/// The bytes that these pieces came from. Pieces of a letter that was taken apart can lie inside it.
fn span(text: &str, offsets: &[(usize, usize)]) -> Option<Range<usize>> {
    let start = offsets.iter().map(|(start, _)| *start).min()?;
    let end = offsets.iter().map(|(_, end)| *end).max()?;
    let range = text.floor_char_boundary(start)..text.ceil_char_boundary(end);
    (!range.is_empty()).then_some(range)
}

fn prefix(text: &str, bytes: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes.min(text.len())))
        .unwrap_or_default()
}
