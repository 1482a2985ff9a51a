//! Access tokens of configured issuers, after RFC 8725 (best practice) and RFC 9068 (access tokens as JWTs).
//!
//! The form, the claims and the times are checked here, strictly typed and against the clock that is handed in;
//! `jsonwebtoken` checks the signature. What a token says about where its key is to be had is refused, not followed.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::{Role, Scope, ScopeSet, Timestamp};
use jsonwebtoken::Algorithm;
use serde_json::Value;

use super::keys::Key;
use super::object::UniqueObject;
use super::principal::{Credential, Principal};

/// The most that clocks of issuer and server may differ (promise N-4).
pub const LEEWAY_SECONDS_MAX: u32 = 30;

/// The longest subject; RFC 7519 sets none, its use for signing in says 255.
const SUBJECT_BYTES: usize = 255;
/// The longest type or key id that is read.
const HEADER_TEXT_BYTES: usize = 256;
/// The longest list of audiences or roles that is searched.
const LIST_LEN: usize = 64;

/// Header names that would let a token bring or name its own key, or change how it is to be read.
/// We understand no extension, so any `crit` is one that we don't understand (RFC 7515, 4.1.11).
const REFUSED_HEADERS: &[&str] = &[
    "crit", "jku", "jwk", "x5u", "x5c", "zip", "enc", "b64", "cty",
];

/// Why a token is refused. This goes to the log; clients hear `invalid_token`, whatever it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// It has not the form of a token; names the part.
    #[error("{0} is malformed")]
    Malformed(&'static str),
    /// It is longer than any token of ours.
    #[error("it is longer than 8192 bytes")]
    TooLong,
    /// Its header carries a name that we refuse.
    #[error("its header has `{0}`")]
    RefusedHeader(&'static str),
    /// Its type is not that of an access token.
    #[error("its `typ` is not that of an access token")]
    WrongType,
    /// Its algorithm is not one that its issuer is configured with.
    #[error("its algorithm is not one that the issuer is configured with")]
    Algorithm,
    /// Nobody that we trust issued it.
    #[error("its issuer is not configured")]
    UnknownIssuer,
    /// No key of its issuer fits.
    #[error("no key of the issuer fits it")]
    UnknownKey,
    /// Its signature is wrong.
    #[error("its signature is wrong")]
    Signature,
    /// A claim is missing, of the wrong type or out of range.
    #[error("its claim `{0}` is missing or wrong")]
    Claim(&'static str),
    /// It is not for this server.
    #[error("it is not for this server")]
    Audience,
    /// It has expired.
    #[error("it has expired")]
    Expired,
    /// It is not valid yet.
    #[error("it is not valid yet")]
    NotYet,
    /// It has the form of a personal access token, and there is none such.
    #[error("there is no such personal access token")]
    UnknownToken,
    /// It was a personal access token.
    #[error("it was revoked")]
    Revoked,
}

/// Which `typ` an issuer's access tokens carry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TokenType {
    /// `at+jwt` only (RFC 9068), so that no ID token can pass for an access token.
    #[default]
    AccessToken,
    /// Also `JWT` or none, for issuers that don't mark access tokens. What looks like an ID token (`nonce`, `at_hash`,
    /// `c_hash`) is still refused.
    AnyJwt,
}

/// Where an issuer writes the scopes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScopeClaim {
    /// `scope`: one text, words separated by blanks (RFC 8693, 4.2).
    #[default]
    Scope,
    /// `scp`: such a text, or a list of words.
    Scp,
}

/// What the tokens of one issuer have to look like.
#[derive(Clone, Debug)]
pub struct Issuer {
    /// Its `iss`, compared byte by byte.
    pub issuer: String,
    /// Our own canonical URI, which `aud` has to name (RFC 8707), compared byte by byte.
    pub audience: String,
    /// Algorithms that it signs with.
    pub algorithms: Vec<Algorithm>,
    /// The `typ` of its tokens.
    pub token_type: TokenType,
    /// Where its scopes are.
    pub scope_claim: ScopeClaim,
    /// A claim that lists roles of the person. Where it is set, a token's scopes count only as far as a role allows them.
    pub roles_claim: Option<String>,
    /// How far its clock may be off, in seconds; at most [`LEEWAY_SECONDS_MAX`].
    pub leeway_seconds: u32,
}

/// Why an issuer can't be configured so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IssuerError {
    /// Not an `https` URL, or one with characters that would make principals ambiguous.
    #[error("issuer `{0}` is not an `https` URL without blanks, quotes or `|`")]
    Name(String),
    /// Anybody who can check a symmetric signature can make one (promise N-2).
    #[error(
        "issuer `{issuer}` is configured with `{algorithm}`; use asymmetric algorithms: RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, EdDSA"
    )]
    Algorithm {
        /// Which issuer.
        issuer: String,
        /// The word that was given.
        algorithm: String,
    },
    /// None at all.
    #[error("issuer `{0}` is configured without algorithms")]
    NoAlgorithm(String),
    /// Too patient.
    #[error("issuer `{0}` is configured with more than 30 seconds of leeway")]
    Leeway(String),
}

/// The asymmetric algorithm of a name; exact, since `none` has been spelt in many ways.
pub fn asymmetric(name: &str) -> Option<Algorithm> {
    match name {
        "RS256" => Some(Algorithm::RS256),
        "RS384" => Some(Algorithm::RS384),
        "RS512" => Some(Algorithm::RS512),
        "PS256" => Some(Algorithm::PS256),
        "PS384" => Some(Algorithm::PS384),
        "PS512" => Some(Algorithm::PS512),
        "ES256" => Some(Algorithm::ES256),
        "ES384" => Some(Algorithm::ES384),
        "EdDSA" => Some(Algorithm::EdDSA),
        _ => None,
    }
}

impl Issuer {
    /// An issuer with the strictest settings, for tokens whose `aud` is `audience`.
    pub fn new(issuer: &str, audience: &str, algorithms: &[String]) -> Result<Self, IssuerError> {
        let named = || issuer.to_owned();
        let plain = |c: char| c.is_ascii_graphic() && !matches!(c, '|' | '"' | '\\');
        if !issuer.starts_with("https://") || !issuer.chars().all(plain) {
            return Err(IssuerError::Name(named()));
        }
        let algorithms = algorithms
            .iter()
            .map(|name| {
                asymmetric(name).ok_or_else(|| IssuerError::Algorithm {
                    issuer: named(),
                    algorithm: name.clone(),
                })
            })
            .collect::<Result<Vec<_>, _>>()?;
        if algorithms.is_empty() {
            return Err(IssuerError::NoAlgorithm(named()));
        }
        Ok(Self {
            issuer: named(),
            audience: audience.to_owned(),
            algorithms,
            token_type: TokenType::default(),
            scope_claim: ScopeClaim::default(),
            roles_claim: None,
            leeway_seconds: LEEWAY_SECONDS_MAX,
        })
    }

    /// This issuer with another leeway.
    pub fn with_leeway(self, seconds: u32) -> Result<Self, IssuerError> {
        if seconds > LEEWAY_SECONDS_MAX {
            return Err(IssuerError::Leeway(self.issuer));
        }
        Ok(Self {
            leeway_seconds: seconds,
            ..self
        })
    }
}

/// A token that has the form of one. Nothing in it is believed yet.
#[derive(Debug)]
pub struct Unverified<'a> {
    signed: &'a str,
    signature: &'a str,
    algorithm: Algorithm,
    kind: Option<String>,
    key_id: Option<String>,
    issuer: String,
    claims: UniqueObject,
}

impl<'a> Unverified<'a> {
    /// Takes a token apart: three parts of unpadded base64url, two of them objects without repeated names.
    pub fn parse(token: &'a str) -> Result<Self, TokenError> {
        let malformed = TokenError::Malformed;
        let mut parts = token.split('.');
        let (Some(header), Some(payload), Some(signature), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(malformed("the token"));
        };
        let signed = token
            .get(..header.len() + 1 + payload.len())
            .ok_or(malformed("the token"))?;
        if signature.is_empty() {
            return Err(TokenError::Signature);
        }
        let read = |part: &str| {
            URL_SAFE_NO_PAD
                .decode(part)
                .ok()
                .and_then(|bytes| UniqueObject::read(&bytes))
        };
        let header = read(header).ok_or(malformed("the header"))?;
        if let Some(name) = REFUSED_HEADERS
            .iter()
            .copied()
            .find(|name| header.get(name).is_some())
        {
            return Err(TokenError::RefusedHeader(name));
        }
        let algorithm = header
            .get("alg")
            .and_then(Value::as_str)
            .and_then(asymmetric)
            .ok_or(TokenError::Algorithm)?;
        let kind = optional_text(&header, "typ", TokenError::WrongType)?;
        let key_id = optional_text(&header, "kid", TokenError::UnknownKey)?;
        let claims = read(payload).ok_or(malformed("the payload"))?;
        let issuer = claims
            .get("iss")
            .and_then(Value::as_str)
            .ok_or(TokenError::Claim("iss"))?
            .to_owned();
        Ok(Self {
            signed,
            signature,
            algorithm,
            kind,
            key_id,
            issuer,
            claims,
        })
    }

    /// Who it says issued it: to look the issuer up, nothing more.
    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    /// Which key it says signed it.
    pub fn key_id(&self) -> Option<&str> {
        self.key_id.as_deref()
    }

    /// The algorithm it says it is signed with; only asymmetric ones get this far.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Whether its header fits the issuer, before keys are looked up for it.
    pub fn check_header(&self, rules: &Issuer) -> Result<(), TokenError> {
        if !rules.algorithms.contains(&self.algorithm) {
            return Err(TokenError::Algorithm);
        }
        let kind = self.kind.as_deref().map(str::to_ascii_lowercase);
        let fits = match kind.as_deref() {
            Some("at+jwt" | "application/at+jwt") => true,
            Some("jwt") | None => rules.token_type == TokenType::AnyJwt,
            Some(_) => false,
        };
        if fits {
            Ok(())
        } else {
            Err(TokenError::WrongType)
        }
    }

    /// Checks signature, times and claims, in that order, and says who it is.
    pub fn verify(
        &self,
        rules: &Issuer,
        keys: &[std::sync::Arc<Key>],
        now: Timestamp,
    ) -> Result<Principal, TokenError> {
        self.check_header(rules)?;
        if self.issuer != rules.issuer {
            return Err(TokenError::UnknownIssuer);
        }
        if keys.is_empty() {
            return Err(TokenError::UnknownKey);
        }
        let signed_by = |key: &std::sync::Arc<Key>| {
            key.verifies(self.algorithm, self.signed.as_bytes(), self.signature)
        };
        if !keys.iter().any(signed_by) {
            return Err(TokenError::Signature);
        }
        let expires_at = self.check_times(rules, now)?;
        self.check_audience(rules)?;
        if rules.token_type == TokenType::AnyJwt
            && ["nonce", "at_hash", "c_hash"]
                .iter()
                .any(|name| self.claims.get(name).is_some())
        {
            return Err(TokenError::WrongType);
        }
        Ok(Principal {
            issuer: self.issuer.clone(),
            subject: self.subject()?,
            client: self.client()?,
            scopes: self.scopes(rules)?,
            expires_at,
            credential: Credential::Jwt,
        })
    }

    /// The end of its life, leeway included. Whole seconds only: a fraction or a text is a mistake of the issuer.
    fn check_times(&self, rules: &Issuer, now: Timestamp) -> Result<Timestamp, TokenError> {
        let leeway = i64::from(rules.leeway_seconds);
        let instant = |seconds: i64| Timestamp::from_micros(seconds.saturating_mul(1_000_000));
        let whole = |name: &'static str| match self.claims.get(name) {
            None => Ok(None),
            Some(value) => value
                .as_i64()
                .filter(|seconds| *seconds >= 0)
                .map(Some)
                .ok_or(TokenError::Claim(name)),
        };
        let expires = whole("exp")?.ok_or(TokenError::Claim("exp"))?;
        let end = instant(expires.saturating_add(leeway));
        if end <= now {
            return Err(TokenError::Expired);
        }
        for name in ["nbf", "iat"] {
            if let Some(from) = whole(name)?
                && instant(from.saturating_sub(leeway)) > now
            {
                return Err(TokenError::NotYet);
            }
        }
        Ok(end)
    }

    fn check_audience(&self, rules: &Issuer) -> Result<(), TokenError> {
        let audience = self
            .claims
            .get("aud")
            .and_then(words)
            .ok_or(TokenError::Claim("aud"))?;
        if audience.contains(&rules.audience.as_str()) {
            Ok(())
        } else {
            Err(TokenError::Audience)
        }
    }

    fn subject(&self) -> Result<String, TokenError> {
        self.claims
            .get("sub")
            .and_then(Value::as_str)
            .filter(|subject| is_name(subject))
            .map(str::to_owned)
            .ok_or(TokenError::Claim("sub"))
    }

    fn client(&self) -> Result<String, TokenError> {
        for name in ["azp", "client_id"] {
            if let Some(value) = self.claims.get(name) {
                return value
                    .as_str()
                    .filter(|client| is_name(client))
                    .map(str::to_owned)
                    .ok_or(TokenError::Claim(name));
            }
        }
        Ok("http".to_owned())
    }

    /// What the token allows, reduced to what the person's roles allow. Words that we don't know grant nothing.
    fn scopes(&self, rules: &Issuer) -> Result<ScopeSet, TokenError> {
        let granted: ScopeSet = match rules.scope_claim {
            ScopeClaim::Scope => match self.claims.get("scope") {
                None => ScopeSet::NONE,
                Some(value) => value
                    .as_str()
                    .map(|text| known_scopes(text.split(' ')))
                    .ok_or(TokenError::Claim("scope"))?,
            },
            ScopeClaim::Scp => match self.claims.get("scp") {
                None => ScopeSet::NONE,
                Some(value) => words(value)
                    .map(|words| known_scopes(words.into_iter().flat_map(|word| word.split(' '))))
                    .ok_or(TokenError::Claim("scp"))?,
            },
        };
        let Some(name) = &rules.roles_claim else {
            return Ok(granted);
        };
        let held = match self.claims.get(name) {
            None => Vec::new(),
            Some(value) => words(value).ok_or(TokenError::Claim("roles"))?,
        };
        let allowed: ScopeSet = Role::ALL
            .iter()
            .filter(|role| held.contains(&role.as_str()))
            .flat_map(|role| role.scopes().iter())
            .collect();
        Ok(granted
            .iter()
            .filter(|scope| allowed.contains(*scope))
            .collect())
    }
}

/// A header value that may be absent, but not be anything else than a text of a sane length.
fn optional_text(
    header: &UniqueObject,
    name: &str,
    refusal: TokenError,
) -> Result<Option<String>, TokenError> {
    let Some(value) = header.get(name) else {
        return Ok(None);
    };
    let text = value
        .as_str()
        .filter(|text| text.len() <= HEADER_TEXT_BYTES);
    text.map(|text| Some(text.to_owned())).ok_or(refusal)
}

/// A text, or a list of texts and nothing else.
fn words(value: &Value) -> Option<Vec<&str>> {
    match value {
        Value::String(word) => Some(vec![word.as_str()]),
        Value::Array(list) if list.len() <= LIST_LEN => list.iter().map(Value::as_str).collect(),
        Value::Array(_) | Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {
            None
        }
    }
}

/// Names of people and clients end up in the audit log and in log lines.
fn is_name(text: &str) -> bool {
    !text.is_empty() && text.len() <= SUBJECT_BYTES && !text.chars().any(char::is_control)
}

/// Scope words are case-sensitive (RFC 6749, 3.3).
fn known_scopes<'a>(words: impl Iterator<Item = &'a str>) -> ScopeSet {
    words
        .filter_map(|word| Scope::parse_exact(word).ok())
        .collect()
}
