//! An issuer's public keys, read out of a JSON Web Key set (RFC 7517).

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, DecodingKey};
use serde::Deserialize;

/// The largest key set that is read.
pub const KEY_SET_BYTES: usize = 256 * 1024;
/// The most keys that a set may hold; real ones hold two to six.
pub const KEYS_MAX: usize = 100;
/// RSA moduli that count as keys, in bits: below is weak, above is a way to burn our time.
const RSA_BITS: std::ops::RangeInclusive<usize> = 2048..=8192;

/// Why a text is not a key set.
#[derive(Debug, thiserror::Error)]
pub enum KeySetError {
    /// Too long.
    #[error("the key set is longer than 262144 bytes")]
    TooLong,
    /// Not a key set.
    #[error("the key set cannot be read")]
    Malformed(#[source] serde_json::Error),
    /// Too many keys.
    #[error("the key set has more than 100 keys")]
    TooMany,
    /// None that can verify a token.
    #[error("the key set has no key that can verify a token")]
    NoUsableKey,
}

/// One public key.
pub struct Key {
    id: Option<String>,
    algorithms: Vec<Algorithm>,
    verifying: DecodingKey,
}

impl Key {
    /// Whether it made this signature over these bytes with this algorithm.
    pub(super) fn verifies(&self, algorithm: Algorithm, signed: &[u8], signature: &str) -> bool {
        self.algorithms.contains(&algorithm)
            && jsonwebtoken::crypto::verify(signature, signed, &self.verifying, algorithm)
                .unwrap_or(false)
    }
}

/// The usable keys of a set.
#[derive(Default)]
pub struct KeySet(Vec<Arc<Key>>);

#[derive(Deserialize)]
struct RawSet {
    keys: Vec<serde_json::Value>,
}

#[derive(Deserialize)]
struct RawKey {
    kty: String,
    #[serde(rename = "use")]
    usage: Option<String>,
    key_ops: Option<Vec<String>>,
    alg: Option<String>,
    kid: Option<String>,
    n: Option<String>,
    e: Option<String>,
    crv: Option<String>,
    x: Option<String>,
    y: Option<String>,
    d: Option<serde::de::IgnoredAny>,
}

impl KeySet {
    /// Reads a set. Keys that can't verify a token (encryption, symmetric, weak, private) are left out, as the RFC asks.
    pub fn parse(bytes: &[u8]) -> Result<Self, KeySetError> {
        if bytes.len() > KEY_SET_BYTES {
            return Err(KeySetError::TooLong);
        }
        let set: RawSet = serde_json::from_slice(bytes).map_err(KeySetError::Malformed)?;
        if set.keys.len() > KEYS_MAX {
            return Err(KeySetError::TooMany);
        }
        let keys: Vec<_> = set
            .keys
            .into_iter()
            .filter_map(|value| serde_json::from_value::<RawKey>(value).ok())
            .filter_map(usable)
            .map(Arc::new)
            .collect();
        if keys.is_empty() {
            return Err(KeySetError::NoUsableKey);
        }
        Ok(Self(keys))
    }

    /// Keys that may have signed a token with this key id and algorithm. A token without an id gets one only if there is
    /// no choice to make.
    pub(super) fn candidates(&self, id: Option<&str>, algorithm: Algorithm) -> Vec<Arc<Key>> {
        let mut fitting: Vec<_> = self
            .0
            .iter()
            .filter(|key| key.algorithms.contains(&algorithm))
            .filter(|key| id.is_none() || key.id.as_deref() == id)
            .map(Arc::clone)
            .collect();
        if id.is_none() && fitting.len() > 1 {
            fitting.clear();
        }
        fitting
    }
}

fn usable(raw: RawKey) -> Option<Key> {
    let signs = raw.usage.as_deref().is_none_or(|usage| usage == "sig")
        && raw
            .key_ops
            .as_ref()
            .is_none_or(|uses| uses.iter().any(|operation| operation == "verify"));
    // A private key in a public set is known to everybody.
    if !signs || raw.d.is_some() {
        return None;
    }
    let (mut algorithms, verifying) = match raw.kty.as_str() {
        "RSA" => rsa(raw.n.as_deref()?, raw.e.as_deref()?)?,
        "EC" => elliptic(raw.crv.as_deref()?, raw.x.as_deref()?, raw.y.as_deref()?)?,
        "OKP" => edwards(raw.crv.as_deref()?, raw.x.as_deref()?)?,
        _ => return None,
    };
    if let Some(name) = raw.alg {
        let only = super::jwt::asymmetric(&name)?;
        algorithms.retain(|algorithm| *algorithm == only);
    }
    (!algorithms.is_empty()).then_some(Key {
        id: raw.kid,
        algorithms,
        verifying,
    })
}

fn rsa(n: &str, e: &str) -> Option<(Vec<Algorithm>, DecodingKey)> {
    let modulus = URL_SAFE_NO_PAD.decode(n).ok()?;
    let significant = modulus.iter().skip_while(|byte| **byte == 0);
    let leading = significant.clone().next()?.leading_zeros();
    let bits = significant.count() * 8 - usize::try_from(leading).ok()?;
    let exponent = URL_SAFE_NO_PAD.decode(e).ok()?;
    let exponent = exponent.iter().try_fold(0_u32, |value, byte| {
        Some(value.checked_mul(256)? + u32::from(*byte))
    })?;
    if !RSA_BITS.contains(&bits) || exponent < 3 || exponent % 2 == 0 {
        return None;
    }
    let algorithms = vec![
        Algorithm::RS256,
        Algorithm::RS384,
        Algorithm::RS512,
        Algorithm::PS256,
        Algorithm::PS384,
        Algorithm::PS512,
    ];
    Some((algorithms, DecodingKey::from_rsa_components(n, e).ok()?))
}

fn elliptic(curve: &str, x: &str, y: &str) -> Option<(Vec<Algorithm>, DecodingKey)> {
    let (algorithm, bytes) = match curve {
        "P-256" => (Algorithm::ES256, 32),
        "P-384" => (Algorithm::ES384, 48),
        _ => return None,
    };
    let is_coordinate = |part: &str| {
        URL_SAFE_NO_PAD
            .decode(part)
            .is_ok_and(|part| part.len() == bytes)
    };
    if !is_coordinate(x) || !is_coordinate(y) {
        return None;
    }
    Some((vec![algorithm], DecodingKey::from_ec_components(x, y).ok()?))
}

fn edwards(curve: &str, x: &str) -> Option<(Vec<Algorithm>, DecodingKey)> {
    let is_key = URL_SAFE_NO_PAD.decode(x).is_ok_and(|key| key.len() == 32);
    if curve != "Ed25519" || !is_key {
        return None;
    }
    Some((
        vec![Algorithm::EdDSA],
        DecodingKey::from_ed_components(x).ok()?,
    ))
}
