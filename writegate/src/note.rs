//! Checkpoints: where a log stood at a time, signed, so that it can be kept where the log's writers can't reach it (promises D.5).
//!
//! The form is the C2SP signed note with a checkpoint as its text: origin, number of rows, link of the last row, then two lines of our own
//! (`time` in microseconds since 1970 UTC, `previous` with the digest of the note before), a blank line, and the signature.

use std::fmt;

use base64::Engine;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use crate::key::{Key, KeyError, Kid, WeakKey};
use crate::seal::SEAL_BYTES;

/// The signature type of Ed25519 in the note format.
const ED25519: u8 = 1;

/// How many bytes name the key in front of a signature.
const KEY_HASH_BYTES: usize = 4;

/// What a signature line begins with: an em dash and a blank.
const SIGNATURE: &str = "\u{2014} ";

/// What every origin begins with.
const ORIGIN: &str = "deskgate/";

/// Where a log stood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// Which log of which store: `deskgate/<deployment>/<chain>`.
    pub origin: String,
    /// The number of its last row.
    pub seq: i64,
    /// The link of that row.
    pub hash: [u8; SEAL_BYTES],
    /// When, in microseconds since 1970 UTC.
    pub at_us: i64,
    /// The digest of the checkpoint before, if there was one.
    pub previous: Option<[u8; SEAL_BYTES]>,
}

/// Why a text is no checkpoint of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteFault {
    /// It has another form.
    Malformed,
    /// Our key has not signed it.
    Unsigned,
}

impl Checkpoint {
    /// The name of a log.
    pub fn origin(deployment: &str, chain: i16) -> String {
        format!("{ORIGIN}{deployment}/{chain}")
    }

    /// The digest of a note, which the next one names as its `previous`.
    pub fn digest(note: &str) -> [u8; SEAL_BYTES] {
        Sha256::digest(note).into()
    }

    fn text(&self) -> String {
        let previous = self.previous.map_or_else(
            || "none".to_owned(),
            |digest| BASE64_STANDARD.encode(digest),
        );
        format!(
            "{}\n{}\n{}\ntime {}\nprevious {previous}\n",
            self.origin,
            self.seq,
            BASE64_STANDARD.encode(self.hash),
            self.at_us,
        )
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let origin = lines.next()?.to_owned();
        let seq = lines.next()?.parse().ok()?;
        let hash = digest_in(lines.next()?)?;
        let at_us = lines.next()?.strip_prefix("time ")?.parse().ok()?;
        let previous = match lines.next()?.strip_prefix("previous ")? {
            "none" => None,
            text => Some(digest_in(text)?),
        };
        let checkpoint = Self {
            origin,
            seq,
            hash,
            at_us,
            previous,
        };
        // Every other spelling of the same values is refused.
        (checkpoint.text() == text).then_some(checkpoint)
    }
}

fn digest_in(text: &str) -> Option<[u8; SEAL_BYTES]> {
    BASE64_STANDARD.decode(text).ok()?.try_into().ok()
}

/// The notes in the text of a file that notes were appended to, each followed by an empty line; and whether one of them is cut short, as it
/// is when the machine stopped while it was written. That one is left out.
pub fn notes_in(text: &str) -> (Vec<String>, bool) {
    let (mut notes, mut note, mut is_torn) = (Vec::new(), String::new(), false);
    for line in text.split_inclusive('\n') {
        let is_signed = note.contains(SIGNATURE);
        if line == "\n" && is_signed {
            notes.push(std::mem::take(&mut note));
            continue;
        }
        if line.starts_with(ORIGIN) && !note.is_empty() {
            is_torn = true;
            note.clear();
        }
        if line != "\n" || !note.is_empty() {
            note.push_str(line);
        }
    }
    (notes, is_torn || !note.is_empty())
}

/// The key that signs checkpoints. It is not one of those that sign tokens, and is not rotated with them: what it has signed lies elsewhere.
#[derive(Clone)]
pub struct CheckpointKey {
    kid: Kid,
    seed: Zeroizing<[u8; 32]>,
}

impl CheckpointKey {
    /// A key of 32 random bytes.
    ///
    /// # Errors
    /// [`KeyError::Weak`] for another length, or bytes that can't have come from a random source.
    pub fn new(kid: Kid, seed: &[u8]) -> Result<Self, KeyError> {
        let checked = Key::new(kid.clone(), seed)?;
        let seed = <[u8; 32]>::try_from(checked.secret())
            .map(Zeroizing::new)
            .or(Err(KeyError::Weak(WeakKey::TooLong { found: seed.len() })))?;
        Ok(Self { kid, seed })
    }

    fn signing(&self) -> SigningKey {
        SigningKey::from_bytes(&self.seed)
    }

    /// The key's id in the key file.
    pub fn kid(&self) -> &Kid {
        &self.kid
    }

    pub(crate) fn encode_seed(&self, text: &mut String) {
        BASE64_URL_SAFE_NO_PAD.encode_string(*self.seed, text);
    }

    /// What others verify notes of this origin with, in the form of the note format: name, key hash, and the public key in base64.
    pub fn verifier(&self, origin: &str) -> String {
        let public = self.signing().verifying_key();
        let hash = u32::from_be_bytes(key_hash(origin, &public));
        let mut typed = vec![ED25519];
        typed.extend(public.as_bytes());
        format!("{origin}+{hash:08x}+{}", BASE64_STANDARD.encode(typed))
    }

    /// The signed note of a checkpoint.
    pub fn sign(&self, checkpoint: &Checkpoint) -> String {
        let text = checkpoint.text();
        let origin = &checkpoint.origin;
        let signing = self.signing();
        let mut signature = key_hash(origin, &signing.verifying_key()).to_vec();
        signature.extend(signing.sign(text.as_bytes()).to_bytes());
        let signature = BASE64_STANDARD.encode(signature);
        format!("{text}\n{SIGNATURE}{origin} {signature}\n")
    }

    /// The checkpoint in a note that this key has signed.
    ///
    /// # Errors
    /// [`NoteFault`]; a note may carry signatures of others, one has to be ours.
    pub fn open(&self, note: &str) -> Result<Checkpoint, NoteFault> {
        let (text, signatures) = note.split_once("\n\n").ok_or(NoteFault::Malformed)?;
        let text = format!("{text}\n");
        let checkpoint = Checkpoint::parse(&text).ok_or(NoteFault::Malformed)?;
        let public = self.signing().verifying_key();
        let wanted = key_hash(&checkpoint.origin, &public);
        let is_ours = |line: &str| {
            let encoded = line
                .strip_prefix(SIGNATURE)
                .and_then(|line| line.strip_prefix(&checkpoint.origin))
                .and_then(|line| line.strip_prefix(' '))?;
            let bytes = BASE64_STANDARD.decode(encoded).ok()?;
            let (hash, signature) = bytes.split_first_chunk::<KEY_HASH_BYTES>()?;
            let signature = Signature::from_slice(signature).ok()?;
            (*hash == wanted).then(|| public.verify_strict(text.as_bytes(), &signature).is_ok())
        };
        if signatures.lines().any(|line| is_ours(line) == Some(true)) {
            Ok(checkpoint)
        } else {
            Err(NoteFault::Unsigned)
        }
    }
}

impl fmt::Debug for CheckpointKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CheckpointKey")
            .field("kid", &self.kid.as_str())
            .finish_non_exhaustive()
    }
}

fn key_hash(name: &str, public: &VerifyingKey) -> [u8; KEY_HASH_BYTES] {
    let mut digest = Sha256::new();
    digest.update(name);
    digest.update([b'\n', ED25519]);
    digest.update(public.as_bytes());
    let [a, b, c, d, ..] = <[u8; 32]>::from(digest.finalize());
    [a, b, c, d]
}

#[cfg(test)]
mod tests;
