//! The demonstration desk: the folder `demo/` as it is in the source, compiled into the binary.

use crate::ops::import::{EmbeddedFile, ImportError, ImportSummary, import_embedded};
use crate::{Caller, Desk};

macro_rules! demo_file {
    ($name:literal) => {
        ($name, include_str!(concat!("../../../demo/", $name)))
    };
}

/// The files of the folder that an import of it reads.
const FILES: &[EmbeddedFile] = &[
    demo_file!("customers.jsonl"),
    demo_file!("tickets.jsonl"),
    demo_file!("comments.jsonl"),
    demo_file!("calls.jsonl"),
    demo_file!("csat.jsonl"),
    demo_file!("articles/KB-000-priority-matrix.md"),
    demo_file!("articles/KB-001-password-and-lockout.md"),
    demo_file!("articles/KB-002-outlook-stuck.md"),
    demo_file!("articles/KB-003-vpn-and-wifi.md"),
    demo_file!("articles/KB-004-hardware.md"),
    demo_file!("articles/KB-005-software-and-access.md"),
    demo_file!("articles/KB-006-security-incident-response.md"),
    demo_file!("articles/KB-007-joiners-and-leavers.md"),
    demo_file!("articles/KB-008-mailbox-storage.md"),
    demo_file!("articles/KB-009-invoices-and-payments.md"),
    demo_file!("articles/KB-010-account-details.md"),
    demo_file!("articles/KB-011-outages-and-maintenance.md"),
    demo_file!("articles/KB-012-working-with-the-desk.md"),
    demo_file!("articles/KB-013-meetings-and-sharing.md"),
    demo_file!("articles/KB-014-suspicious-mail-untouched.md"),
];

/// Imports the demonstration desk, all of it or nothing. A second time it changes nothing.
pub async fn seed(desk: &Desk, caller: &Caller) -> Result<ImportSummary, ImportError> {
    import_embedded(desk, caller, FILES).await
}

#[cfg(test)]
mod tests;
