//! Keys, tokens, clocks and tables for the tests. The RSA key is made for them and protects nothing.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::{Clock, Role, Timestamp};
use futures::future::BoxFuture;
use http::HeaderMap;
use http::header::AUTHORIZATION;
use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, EncodingKey};
use serde_json::{Value, json};

use crate::auth::fetch::{FetchError, FetchKeys};
use crate::auth::jwt::Issuer;
use crate::auth::personal::{NewToken, PersonalToken, PersonalTokens, TokensUnavailable};
use crate::auth::ring::KeyRing;
use crate::auth::{Authenticator, Denied, Principal, TrustedIssuer};

pub(super) const ISSUER: &str = "https://issuer.example";
pub(super) const AUDIENCE: &str = "https://desk.example/mcp";
/// The tests' present, in seconds.
pub(super) const NOW: i64 = 1_800_000_000;

pub(super) struct TestClock(AtomicI64);

impl TestClock {
    pub(super) fn at(seconds: i64) -> Self {
        Self(AtomicI64::new(seconds * 1_000_000))
    }

    pub(super) fn advance(&self, seconds: i64) {
        self.0.fetch_add(seconds * 1_000_000, Ordering::SeqCst);
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.0.load(Ordering::SeqCst))
    }
}

/// A key pair of an issuer.
pub(super) struct Signer {
    pub(super) algorithm: Algorithm,
    key: EncodingKey,
    pub(super) id: String,
}

impl fmt::Display for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.algorithm)
    }
}

impl Signer {
    fn new(algorithm: Algorithm, key: EncodingKey) -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let id = format!("key-{}", COUNT.fetch_add(1, Ordering::Relaxed));
        Self { algorithm, key, id }
    }

    fn generated(algorithm: Algorithm, kind: &'static rcgen::SignatureAlgorithm) -> Self {
        let pair = rcgen::KeyPair::generate_for(kind).unwrap();
        let der = pair.serialize_der();
        let key = if algorithm == Algorithm::EdDSA {
            // The older form of the container: the same seed without the public half.
            let v1 = [
                0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22,
            ];
            EncodingKey::from_ed_der(&[&v1, &der[14..48]].concat())
        } else {
            EncodingKey::from_ec_der(&der)
        };
        Self::new(algorithm, key)
    }

    pub(super) fn es256() -> Self {
        Self::generated(Algorithm::ES256, &rcgen::PKCS_ECDSA_P256_SHA256)
    }

    pub(super) fn es384() -> Self {
        Self::generated(Algorithm::ES384, &rcgen::PKCS_ECDSA_P384_SHA384)
    }

    pub(super) fn ed25519() -> Self {
        Self::generated(Algorithm::EdDSA, &rcgen::PKCS_ED25519)
    }

    fn rsa(algorithm: Algorithm) -> Self {
        let pem = include_bytes!("../../../tests/keys/rsa_2048.pem");
        Self::new(algorithm, EncodingKey::from_rsa_pem(pem).unwrap())
    }

    pub(super) fn rs256() -> Self {
        Self::rsa(Algorithm::RS256)
    }

    pub(super) fn ps256() -> Self {
        Self::rsa(Algorithm::PS256)
    }

    pub(super) fn with_id(self, id: &str) -> Self {
        Self {
            id: id.to_owned(),
            ..self
        }
    }

    /// The public half.
    pub(super) fn jwk(&self) -> Value {
        let jwk = Jwk::from_encoding_key(&self.key, self.algorithm).unwrap();
        let mut jwk = serde_json::to_value(jwk).unwrap();
        jwk["kid"] = json!(self.id);
        jwk["use"] = json!("sig");
        jwk
    }

    pub(super) fn header(&self, kind: &str) -> String {
        json!({"alg": format!("{:?}", self.algorithm), "typ": kind, "kid": self.id}).to_string()
    }

    /// Signs any two texts, well-formed or not.
    pub(super) fn sign(&self, header: &str, payload: &str) -> String {
        let signed = format!("{}.{}", encode(header), encode(payload));
        let signature =
            jsonwebtoken::crypto::sign(signed.as_bytes(), &self.key, self.algorithm).unwrap();
        format!("{signed}.{signature}")
    }

    pub(super) fn token(&self, claims: &Value) -> String {
        self.sign(&self.header("at+jwt"), &claims.to_string())
    }
}

pub(super) fn encode(part: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(part)
}

/// What a valid token says.
pub(super) fn claims() -> Value {
    json!({
        "iss": ISSUER,
        "aud": AUDIENCE,
        "sub": "anna",
        "exp": NOW + 3600,
        "nbf": NOW - 10,
        "iat": NOW - 10,
        "client_id": "desk-client",
        "scope": "desk:read desk:write",
    })
}

pub(super) fn key_set(signers: &[&Signer]) -> Vec<u8> {
    let keys: Vec<_> = signers.iter().map(|signer| signer.jwk()).collect();
    json!({"keys": keys}).to_string().into_bytes()
}

/// A key set that a test changes, breaks and counts.
#[derive(Default)]
pub(super) struct Script {
    pub(super) answer: Mutex<Option<Vec<u8>>>,
    pub(super) fetches: AtomicUsize,
}

impl Script {
    pub(super) fn answering(bytes: Vec<u8>) -> Arc<Self> {
        let script = Self::default();
        script.set(Some(bytes));
        Arc::new(script)
    }

    pub(super) fn set(&self, answer: Option<Vec<u8>>) {
        *self.answer.lock().unwrap() = answer;
    }

    pub(super) fn fetches(&self) -> usize {
        self.fetches.load(Ordering::SeqCst)
    }
}

pub(super) struct Scripted(pub(super) Arc<Script>);

impl FetchKeys for Scripted {
    fn fetch(&self) -> BoxFuture<'_, Result<Vec<u8>, FetchError>> {
        self.0.fetches.fetch_add(1, Ordering::SeqCst);
        let answer = self.0.answer.lock().unwrap().clone();
        Box::pin(async move { answer.ok_or(FetchError::Timeout) })
    }
}

pub(super) fn rules(issuer: &str) -> Issuer {
    let all = ["RS256", "PS256", "ES256", "ES384", "EdDSA"].map(str::to_owned);
    Issuer::new(issuer, AUDIENCE, &all).unwrap()
}

pub(super) fn trusted(
    issuer: &str,
    signers: &[&Signer],
    change: impl FnOnce(Issuer) -> Issuer,
) -> (Issuer, Arc<Script>) {
    (change(rules(issuer)), Script::answering(key_set(signers)))
}

/// An authenticator and the clock it reads.
pub(super) struct Desk {
    pub(super) authenticator: Authenticator,
    pub(super) clock: Arc<TestClock>,
}

impl Desk {
    pub(super) fn trusting(signers: &[&Signer]) -> Self {
        Self::with_issuers(vec![trusted(ISSUER, signers, |rules| rules)])
    }

    pub(super) fn with_issuers(issuers: Vec<(Issuer, Arc<Script>)>) -> Self {
        let clock = Arc::new(TestClock::at(NOW));
        let issuers = issuers
            .into_iter()
            .map(|(rules, script)| {
                let shared = Arc::clone(&clock) as Arc<dyn Clock>;
                let keys = KeyRing::new(&rules.issuer, Box::new(Scripted(script)), 3600, shared);
                TrustedIssuer { rules, keys }
            })
            .collect();
        let shared = Arc::clone(&clock) as Arc<dyn Clock>;
        Self {
            authenticator: Authenticator::new(issuers, None, shared),
            clock,
        }
    }

    pub(super) async fn enter(&self, token: &str) -> Result<Principal, Denied> {
        self.authenticator.authenticate(&headers(token)).await
    }
}

pub(super) fn headers(token: &str) -> HeaderMap {
    let value = format!("Bearer {token}").parse().unwrap();
    HeaderMap::from_iter([(AUTHORIZATION, value)])
}

/// A table with one token.
pub(super) struct Table {
    digest: [u8; 32],
    token: Mutex<PersonalToken>,
    uses: AtomicUsize,
    fails: AtomicBool,
}

impl Table {
    pub(super) fn new(token: &NewToken, expires: i64) -> Self {
        Self {
            digest: token.digest(),
            token: Mutex::new(PersonalToken {
                id: 3,
                subject: "anna".to_owned(),
                scopes: Role::Agent.scopes(),
                expires_at: Timestamp::from_micros(expires * 1_000_000),
                revoked: false,
            }),
            uses: AtomicUsize::new(0),
            fails: AtomicBool::new(false),
        }
    }

    pub(super) fn revoke(&self) {
        self.token.lock().unwrap().revoked = true;
    }

    pub(super) fn restore(&self) {
        self.token.lock().unwrap().revoked = false;
    }

    pub(super) fn fail(&self) {
        self.fails.store(true, Ordering::SeqCst);
    }

    pub(super) fn uses(&self) -> usize {
        self.uses.load(Ordering::SeqCst)
    }
}

impl PersonalTokens for Table {
    fn find<'a>(
        &'a self,
        digest: &'a [u8; 32],
    ) -> BoxFuture<'a, Result<Option<PersonalToken>, TokensUnavailable>> {
        Box::pin(async move {
            if self.fails.load(Ordering::SeqCst) {
                return Err(TokensUnavailable("broken by the test".into()));
            }
            let is_it = *digest == self.digest;
            Ok(is_it.then(|| self.token.lock().unwrap().clone()))
        })
    }

    fn note_use(&self, _principal: &Principal) {
        self.uses.fetch_add(1, Ordering::SeqCst);
    }
}
