//! The text form of a key ring: a private file that people can look at and rotate by hand.
//!
//! ```text
//! deskgate-keys 1
//! # Private: only the server may read this file.
//! 7k3q current     <43 to 86 characters of base64url>
//! m0xz verify-only <43 to 86 characters of base64url>
//! p9rt retired     <43 to 86 characters of base64url>
//! zt4w checkpoint  <43 characters of base64url>
//! ```
//!
//! A retired key accepts no token and verifies the log that it has sealed, so its line stays for as long as the log does. The checkpoint key signs where
//! the log stood.
//!
//! Empty lines and lines that begin with `#` are skipped. Errors name lines and never what is on them. Reading the file, and refusing one that others can
//! read, is up to the binaries.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use thiserror::Error;
use zeroize::Zeroizing;

use crate::key::{Key, KeyError, Kid};
use crate::note::CheckpointKey;
use crate::ring::{KeyRing, KeyState};

/// The word of the key that signs checkpoints, in the place of a state.
const CHECKPOINT: &str = "checkpoint";

const HEADER: &str = "deskgate-keys 1";
const NOTE: &str = "# Private: only the server may read this file.";

/// What a file is reserved at, since a string that grows leaves copies of keys behind: two lines with their ends, then per key an id of 8 characters, a
/// state of 11 and a key of 86, with two spaces and an end.
const PREAMBLE_BYTES: usize = HEADER.len() + NOTE.len() + 2;
const LINE_BYTES: usize = 8 + 11 + 86 + 3;

/// Why a text is not a key file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum KeyFileError {
    /// The first line is another one: no key file, or of another version.
    #[error("a key file begins with the line `deskgate-keys 1`, make one with `keys create`")]
    Header,
    /// A line that is no key line.
    #[error(
        "line `{line}` of the key file is not `<id> <current|verify-only|retired|checkpoint> <key>`"
    )]
    Line {
        /// Its number, from 1.
        line: usize,
    },
    /// The key is not written as base64url without padding.
    #[error("the key on line `{line}` of the key file is not base64url without padding")]
    Encoding {
        /// Its number, from 1.
        line: usize,
    },
    /// A key that is refused.
    #[error("the key on line `{line}` of the key file is refused")]
    Key {
        /// Its number, from 1.
        line: usize,
        /// The reason.
        source: KeyError,
    },
    /// No key signs.
    #[error("no key of the key file is `current`, make one with `keys create`")]
    NoCurrent,
    /// More than one key signs.
    #[error("line `{line}` of the key file has a second `current` key, make it `verify-only`")]
    SecondCurrent {
        /// Its number, from 1.
        line: usize,
    },
    /// More than one key signs checkpoints.
    #[error("line `{line}` of the key file has a second `checkpoint` key")]
    SecondCheckpoint {
        /// Its number, from 1.
        line: usize,
    },
}

impl KeyRing {
    /// The ring in the text of a key file.
    ///
    /// # Errors
    /// [`KeyFileError`]; a file with one bad line is no ring at all, since a key left out would refuse good tokens.
    pub fn parse(text: &str) -> Result<Self, KeyFileError> {
        let mut lines = (1..).zip(text.lines());
        if lines
            .next()
            .is_none_or(|(_, line)| line.trim_end() != HEADER)
        {
            return Err(KeyFileError::Header);
        }
        let mut current = None;
        let mut others = Vec::new();
        let mut has_checkpoint = false;
        for (number, line) in lines {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            match parse_line(line, number)? {
                Line::Key(_, KeyState::Current) if current.is_some() => {
                    return Err(KeyFileError::SecondCurrent { line: number });
                }
                Line::Key(key, KeyState::Current) => current = Some(key),
                Line::Checkpoint(_) if has_checkpoint => {
                    return Err(KeyFileError::SecondCheckpoint { line: number });
                }
                other @ (Line::Key(..) | Line::Checkpoint(_)) => {
                    has_checkpoint |= matches!(other, Line::Checkpoint(_));
                    others.push((number, other));
                }
            }
        }
        let ring = Self::new(current.ok_or(KeyFileError::NoCurrent)?);
        others.into_iter().try_fold(ring, |ring, (line, other)| {
            match other {
                Line::Key(key, KeyState::Retired) => ring.add_retired(key),
                Line::Key(key, KeyState::Current | KeyState::VerifyOnly) => ring.add(key),
                Line::Checkpoint(key) => ring.with_checkpoint_key(key),
            }
            .map_err(|source| KeyFileError::Key { line, source })
        })
    }

    /// The text of a key file with this ring; [`parse`](Self::parse) gives the ring back.
    pub fn render(&self) -> Zeroizing<String> {
        let mut text = Zeroizing::new(String::with_capacity(
            PREAMBLE_BYTES
                + LINE_BYTES
                    * (self.with_retired().count() + usize::from(self.checkpoint_key().is_some())),
        ));
        for line in [HEADER, NOTE] {
            text.push_str(line);
            text.push('\n');
        }
        for (key, state) in self.with_retired() {
            text.push_str(key.kid().as_str());
            text.push(' ');
            text.push_str(state.as_str());
            text.push(' ');
            BASE64_URL_SAFE_NO_PAD.encode_string(key.secret(), &mut text);
            text.push('\n');
        }
        if let Some(key) = self.checkpoint_key() {
            text.push_str(key.kid().as_str());
            text.push(' ');
            text.push_str(CHECKPOINT);
            text.push(' ');
            key.encode_seed(&mut text);
            text.push('\n');
        }
        text
    }
}

/// What a line holds.
enum Line {
    Key(Key, KeyState),
    Checkpoint(CheckpointKey),
}

fn parse_line(line: &str, number: usize) -> Result<Line, KeyFileError> {
    let wrong = KeyFileError::Line { line: number };
    let mut words = line.split_ascii_whitespace();
    let (Some(kid), Some(state), Some(secret), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(wrong);
    };
    let state = match state {
        CHECKPOINT => None,
        word => Some(KeyState::parse(word).ok_or(wrong)?),
    };
    let refused = |source| KeyFileError::Key {
        line: number,
        source,
    };
    let kid = Kid::parse(kid).map_err(refused)?;
    let mut bytes = Zeroizing::new(Vec::with_capacity(secret.len()));
    BASE64_URL_SAFE_NO_PAD
        .decode_vec(secret, &mut bytes)
        .or(Err(KeyFileError::Encoding { line: number }))?;
    Ok(match state {
        Some(state) => Line::Key(Key::new(kid, &bytes).map_err(refused)?, state),
        None => Line::Checkpoint(CheckpointKey::new(kid, &bytes).map_err(refused)?),
    })
}

#[cfg(test)]
mod tests;
