//! Customers: the people whom the desk serves.

use garde::Validate;

use crate::text::{email_address, label, optional_label, optional_phone};
use crate::text_enum::text_enum;
use crate::{CustomerId, Timestamp, Version, limits};

text_enum! {
    /// Whether a customer is served.
    CustomerStatus {
        /// Served.
        Active = "active",
        /// No longer served; the record is kept.
        Inactive = "inactive",
    }
}

/// A customer as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Customer {
    /// Their id.
    pub id: CustomerId,
    /// Their name, as they write it.
    pub name: String,
    /// Their address, as they write it; unique when folded.
    pub email: String,
    /// Their telephone number.
    pub phone: Option<String>,
    /// Whom they work for.
    pub organisation: Option<String>,
    /// Whether they are served.
    pub status: CustomerStatus,
    /// When the record was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// How often it has changed.
    pub version: Version,
}

/// A customer as registered.
#[derive(Clone, Debug, PartialEq, Eq, Validate)]
pub struct NewCustomer {
    /// Their name.
    #[garde(custom(label(limits::NAME_CHARS)))]
    pub name: String,
    /// Their address.
    #[garde(custom(email_address))]
    pub email: String,
    /// Their telephone number.
    #[garde(custom(optional_phone))]
    pub phone: Option<String>,
    /// Whom they work for.
    #[garde(custom(optional_label(limits::NAME_CHARS)))]
    pub organisation: Option<String>,
}
