//! The confirmation token as a model copies it.

use std::fmt;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;

use crate::gate::Refused;
use crate::key::Kid;

const PREFIX: &str = "ct1";
const ID_BYTES: usize = 16;
pub(crate) const TAG_BYTES: usize = 32;

/// The random part of a token: the key of its pending row. It opens nothing without the tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TokenId([u8; ID_BYTES]);

impl TokenId {
    pub(crate) fn new(bytes: [u8; ID_BYTES]) -> Self {
        Self(bytes)
    }

    /// The id in the bytes that a pending row holds; `None` where they are not 16.
    pub fn from_stored(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// The 16 bytes that a pending row is found by.
    pub fn as_bytes(&self) -> &[u8; ID_BYTES] {
        &self.0
    }

    /// The id as the token spells it: 22 characters of base64url.
    pub fn text(&self) -> String {
        BASE64_URL_SAFE_NO_PAD.encode(self.0)
    }
}

/// A confirmation token: `ct1.<kid>.<id>.<tag>`, 72 to 79 characters.
///
/// It says which pending row it belongs to and proves that the row's record is the one it was made for; all else is in that record. The same text goes to
/// a 2025 client as the `confirmation_token` argument and to a 2026 client as `requestState`: nothing more is sealed there.
///
/// Whoever has the text can spend it as its owner, so `Debug` shows no tag and there is no `Display`.
#[derive(Clone)]
pub struct Token {
    kid: Kid,
    id: TokenId,
    tag: [u8; TAG_BYTES],
}

impl Token {
    pub(crate) fn new(kid: Kid, id: TokenId, tag: [u8; TAG_BYTES]) -> Self {
        Self { kid, id, tag }
    }

    /// The token in `text`. White space around it is copied along easily and is skipped; otherwise there is one spelling of each token.
    ///
    /// # Errors
    /// [`Refused::Invalid`], the answer for forged tokens too.
    pub fn parse(text: &str) -> Result<Self, Refused> {
        let mut parts = text.trim().split('.');
        let (Some(PREFIX), Some(kid), Some(id), Some(tag), None) = (
            parts.next(),
            parts.next(),
            parts.next(),
            parts.next(),
            parts.next(),
        ) else {
            return Err(Refused::Invalid);
        };
        Ok(Self {
            kid: Kid::parse(kid).or(Err(Refused::Invalid))?,
            id: TokenId(bytes(id)?),
            tag: bytes(tag)?,
        })
    }

    /// The token to hand out.
    pub fn text(&self) -> String {
        let tag = BASE64_URL_SAFE_NO_PAD.encode(self.tag);
        format!("{PREFIX}.{}.{}.{tag}", self.kid, self.id.text())
    }

    /// The id of the key that signed it.
    pub fn kid(&self) -> &Kid {
        &self.kid
    }

    /// What the pending row is found by.
    pub fn id(&self) -> TokenId {
        self.id
    }

    pub(crate) fn tag(&self) -> &[u8; TAG_BYTES] {
        &self.tag
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Token")
            .field("kid", &self.kid.as_str())
            .field("id", &self.id.text())
            .finish_non_exhaustive()
    }
}

/// The `N` bytes that `text` spells. The engine refuses padding and stray last bits, which would be a second spelling.
fn bytes<const N: usize>(text: &str) -> Result<[u8; N], Refused> {
    let mut bytes = [0; N];
    match BASE64_URL_SAFE_NO_PAD.decode_slice(text, &mut bytes) {
        Ok(length) if length == N => Ok(bytes),
        Ok(_) | Err(_) => Err(Refused::Invalid),
    }
}
