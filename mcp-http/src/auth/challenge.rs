//! What a client is told that may not enter: RFC 6750 challenges, and where the metadata of RFC 9728 is.

use domain::{Scope, ScopeSet};
use http::{HeaderValue, Uri};
use serde_json::{Value, json};

/// The right that a first challenge asks for, and the only one that the metadata names; others are asked for when needed.
pub const BASELINE: Scope = Scope::DeskRead;

/// What the well-known path starts with (RFC 9728, section 3).
pub const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// A public URL that can't be one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "public URL `{0}` is not an `http` or `https` URL with a host and a path and nothing after it"
)]
pub struct PublicUrlError(pub String);

/// This server as the outside knows it. It is configuration and never read out of a request (field report 40).
#[derive(Clone, Debug)]
pub struct Resource {
    url: String,
    origin: String,
    path: String,
    authorization_servers: Vec<String>,
}

impl Resource {
    /// The resource at `url`, whose tokens come from these servers.
    pub fn new(url: &str, authorization_servers: Vec<String>) -> Result<Self, PublicUrlError> {
        let refused = || PublicUrlError(url.to_owned());
        let uri: Uri = url.parse().map_err(|_not_a_url| refused())?;
        let scheme = uri
            .scheme_str()
            .filter(|scheme| matches!(*scheme, "http" | "https"));
        let (Some(scheme), Some(authority)) = (scheme, uri.authority()) else {
            return Err(refused());
        };
        let origin = format!("{scheme}://{authority}");
        let path = uri.path();
        let is_canonical =
            format!("{origin}{path}") == url && path.len() > 1 && !path.ends_with('/');
        if !is_canonical || authority.as_str().contains('@') || url.contains(['"', '\\']) {
            return Err(refused());
        }
        Ok(Self {
            url: url.to_owned(),
            origin,
            path: path.to_owned(),
            authorization_servers,
        })
    }

    /// The canonical URI: the audience of tokens.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Scheme and authority.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Where the metadata is, as the path of this resource asks.
    pub fn metadata_path(&self) -> String {
        format!("{WELL_KNOWN}{}", self.path)
    }

    /// The metadata of RFC 9728.
    pub fn metadata(&self) -> Value {
        let mut document = json!({
            "resource": self.url,
            "resource_name": "Deskgate",
            "scopes_supported": [BASELINE.as_str()],
            "bearer_methods_supported": ["header"],
        });
        if let Some(object) = document.as_object_mut()
            && !self.authorization_servers.is_empty()
        {
            object.insert(
                "authorization_servers".to_owned(),
                json!(self.authorization_servers),
            );
        }
        document
    }

    /// For a request without a token (401).
    pub fn missing_token(&self) -> HeaderValue {
        self.challenge(None, ScopeSet::NONE.with(BASELINE))
    }

    /// For a request with a token that does not enter (401). It never says why.
    pub fn invalid_token(&self) -> HeaderValue {
        self.challenge(Some("invalid_token"), ScopeSet::NONE.with(BASELINE))
    }

    /// For a request whose token lacks a right (403); `needed` is all that the operation needs, and nothing else.
    pub fn insufficient_scope(&self, needed: ScopeSet) -> HeaderValue {
        self.challenge(Some("insufficient_scope"), needed)
    }

    fn challenge(&self, error: Option<&str>, scopes: ScopeSet) -> HeaderValue {
        let scope = scopes
            .iter()
            .map(Scope::as_str)
            .collect::<Vec<_>>()
            .join(" ");
        let error = error.map_or_else(String::new, |error| format!("error=\"{error}\", "));
        let metadata = format!("{}{}", self.origin, self.metadata_path());
        let text = format!("Bearer {error}scope=\"{scope}\", resource_metadata=\"{metadata}\"");
        // `new` refused what a header can't hold.
        HeaderValue::try_from(text).unwrap_or_else(|_never| HeaderValue::from_static("Bearer"))
    }
}
