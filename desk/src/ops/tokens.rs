//! Personal access tokens: making, listing and ending them. Only operators do; no tool reaches this.

use domain::{AccessToken, NewAccessToken, ScopeSet};

use crate::{Caller, Desk, DeskError, InvalidArgument};

/// The longest life of a token. What lives longer is forgotten and never rotated.
pub const DAYS_MAX: u32 = 366;
const DAY_MICROS: i64 = 86_400_000_000;
/// The longest subject, as for the subjects of an issuer's tokens.
const SUBJECT_BYTES: usize = 255;
const LABEL_CHARS: usize = 200;

/// What an operator asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenRequest {
    /// The person or program that the token stands for.
    pub subject: String,
    /// What it is for.
    pub label: String,
    /// What it allows.
    pub scopes: ScopeSet,
    /// How long, from 1 to [`DAYS_MAX`] days.
    pub days: u32,
}

fn invalid(field: &str, reason: String) -> DeskError {
    DeskError::Invalid(InvalidArgument {
        field: field.to_owned(),
        reason,
        allowed: Vec::new(),
    })
}

fn check(request: &TokenRequest) -> Result<(), DeskError> {
    let is_plain = |text: &str| !text.chars().any(char::is_control);
    let subject = &request.subject;
    if subject.is_empty() || subject.len() > SUBJECT_BYTES || !is_plain(subject) {
        let reason = format!("must have 1 to {SUBJECT_BYTES} bytes and no control characters");
        return Err(invalid("subject", reason));
    }
    if request.label.chars().count() > LABEL_CHARS || !is_plain(&request.label) {
        let reason =
            format!("must have at most {LABEL_CHARS} characters and no control characters");
        return Err(invalid("label", reason));
    }
    if request.scopes == ScopeSet::NONE {
        return Err(invalid("scopes", "must name at least one right".to_owned()));
    }
    if !(1..=DAYS_MAX).contains(&request.days) {
        return Err(invalid("days", format!("must be from 1 to {DAYS_MAX}")));
    }
    Ok(())
}

impl Desk {
    /// Stores the hash of a new token.
    pub async fn create_access_token(
        &self,
        caller: &Caller,
        request: &TokenRequest,
        digest: [u8; 32],
    ) -> Result<AccessToken, DeskError> {
        check(request)?;
        let now = self.clock.now();
        let new = NewAccessToken {
            digest,
            subject: request.subject.clone(),
            label: request.label.clone(),
            scopes: request.scopes,
            expires_at: now.plus_micros(i64::from(request.days) * DAY_MICROS),
        };
        let act = caller.act(now, "token create");
        Ok(self.store.create_access_token(act, new).await?)
    }

    /// Every token, oldest first.
    pub async fn list_access_tokens(&self) -> Result<Vec<AccessToken>, DeskError> {
        Ok(self.store.list_access_tokens().await?)
    }

    /// Ends a token at once.
    pub async fn revoke_access_token(
        &self,
        caller: &Caller,
        id: i64,
    ) -> Result<AccessToken, DeskError> {
        let act = caller.act(self.clock.now(), "token revoke");
        Ok(self.store.revoke_access_token(act, id).await?)
    }

    /// The token with this hash, ended or not.
    pub async fn find_access_token(
        &self,
        digest: [u8; 32],
    ) -> Result<Option<AccessToken>, DeskError> {
        Ok(self.store.find_access_token(digest).await?)
    }

    /// Notes a token's use, to within an hour.
    pub async fn note_access_token_use(&self, caller: &Caller, id: i64) -> Result<(), DeskError> {
        let act = caller.act(self.clock.now(), "http");
        Ok(self.store.note_access_token_use(act, id).await?)
    }
}
