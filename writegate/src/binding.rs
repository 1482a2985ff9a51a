//! The bound record: everything that a token vouches for.

use thiserror::Error;

use crate::approval::ApprovalLevel;
use crate::canon::{Reader, Writer};
use crate::digest::{ChangeDigest, ScreeningDigest};

/// Raised whenever the layout changes. Records of another format don't decode, which costs the previews of a few minutes at an upgrade and no more.
const FORMAT: u8 = 1;

/// What a tag is for. Each purpose has its own key, derived from the ring's, so that nothing made for one can pass as another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// The confirmation of one guarded change: the only purpose that can become a [`Grant`](crate::Grant).
    Confirm,
    /// State that a client carries between two calls and that confirms nothing.
    RequestState,
    /// A position in a list.
    Cursor,
    /// What a person decided elsewhere about a change that waits.
    Approval,
}

impl Purpose {
    /// Every purpose.
    pub const ALL: [Self; 4] = [
        Self::Confirm,
        Self::RequestState,
        Self::Cursor,
        Self::Approval,
    ];

    /// The label that its key is derived with.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Confirm => "deskgate/writegate/v1/confirm",
            Self::RequestState => "deskgate/writegate/v1/request_state",
            Self::Cursor => "deskgate/writegate/v1/cursor",
            Self::Approval => "deskgate/writegate/v1/approval",
        }
    }

    fn code(self) -> u8 {
        match self {
            Self::Confirm => 1,
            Self::RequestState => 2,
            Self::Cursor => 3,
            Self::Approval => 4,
        }
    }
}

/// The record that the pending row holds and the token's tag covers (design section 6).
///
/// Texts are compared byte for byte: give them as they are stored, already normalised. A change that creates a row has entity id 0 and version 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binding {
    /// What the token is for.
    pub purpose: Purpose,
    /// Which deployment made it: a token from staging is nothing in production.
    pub deployment: String,
    /// The transport that it was asked through.
    pub channel: String,
    /// Who asked, as the transport knows them.
    pub actor: String,
    /// The client they asked with: its token id or `azp`, never what it calls itself.
    pub client: String,
    /// The tool that was called.
    pub tool: String,
    /// The kind of the entity to be changed.
    pub entity_kind: String,
    /// The id of the entity to be changed.
    pub entity_id: i64,
    /// The row version that the preview was made from.
    pub version: i64,
    /// The exact change.
    pub change: ChangeDigest,
    /// What the guardrail said of it.
    pub screening: ScreeningDigest,
    /// The least approval that policy asked for when the preview was made.
    pub required: ApprovalLevel,
    /// When it was made, in microseconds since 1970 UTC.
    pub issued: i64,
    /// The first instant at which it is no longer good, in microseconds since 1970 UTC.
    pub expires: i64,
}

impl Binding {
    /// The bytes to store and to sign: fixed order, texts with their length.
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.byte(FORMAT);
        writer.byte(self.purpose.code());
        writer.text(&self.deployment);
        writer.text(&self.channel);
        writer.text(&self.actor);
        writer.text(&self.client);
        writer.text(&self.tool);
        writer.text(&self.entity_kind);
        writer.int(self.entity_id);
        writer.int(self.version);
        writer.fixed(self.change.as_bytes());
        writer.fixed(self.screening.as_bytes());
        writer.byte(self.required.code());
        writer.int(self.issued);
        writer.int(self.expires);
        writer.into_bytes()
    }

    /// The record in `bytes`: the exact inverse of [`encode`](Self::encode), so no two byte strings give one record.
    ///
    /// # Errors
    /// [`DecodeError`] for anything that `encode` doesn't make.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(bytes);
        let format = reader.byte()?;
        if format != FORMAT {
            return Err(DecodeError::Format { found: format });
        }
        let code = reader.byte()?;
        let purpose = Purpose::ALL
            .into_iter()
            .find(|purpose| purpose.code() == code)
            .ok_or(DecodeError::Purpose { found: code })?;
        let deployment = reader.text()?;
        let channel = reader.text()?;
        let actor = reader.text()?;
        let client = reader.text()?;
        let tool = reader.text()?;
        let entity_kind = reader.text()?;
        let entity_id = reader.int()?;
        let version = reader.int()?;
        let change = ChangeDigest::from_bytes(reader.array()?);
        let screening = ScreeningDigest::from_bytes(reader.array()?);
        let code = reader.byte()?;
        let required = ApprovalLevel::from_code(code).ok_or(DecodeError::Level { found: code })?;
        let issued = reader.int()?;
        let expires = reader.int()?;
        reader.finish()?;
        Ok(Self {
            purpose,
            deployment,
            channel,
            actor,
            client,
            tool,
            entity_kind,
            entity_id,
            version,
            change,
            screening,
            required,
            issued,
            expires,
        })
    }
}

/// Why bytes are not a bound record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum DecodeError {
    /// Another layout, older or newer.
    #[error("the record has format `{found}`, this server reads `1`")]
    Format {
        /// The format byte.
        found: u8,
    },
    /// A purpose that doesn't exist.
    #[error("the record has purpose `{found}`, known are `1` to `4`")]
    Purpose {
        /// The purpose byte.
        found: u8,
    },
    /// An approval level that doesn't exist.
    #[error("the record has approval level `{found}`, known are `1` and `2`")]
    Level {
        /// The level byte.
        found: u8,
    },
    /// It ends before its last field does.
    #[error("the record is cut off")]
    Truncated,
    /// A text field is not UTF-8.
    #[error("the record has a text field that is not UTF-8")]
    NotText,
    /// More follows behind the last field.
    #[error("the record has `{extra}` bytes after its last field")]
    TrailingBytes {
        /// How many bytes are too many.
        extra: usize,
    },
}
