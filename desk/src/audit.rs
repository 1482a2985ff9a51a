//! The audit log: reading it, and noting refusals that happen above the store.

use domain::{Action, AuditEntry, AuditFilter, AuditRecord, EntityKind, Outcome};

use crate::privacy::seen;
use crate::{Caller, Desk, DeskError, ErrorCode, InvalidArgument, Listing, cursor};

/// Which audit rows, which page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditList {
    /// Which.
    pub filter: AuditFilter,
    /// Rows at the most, 1 to 100.
    pub limit: Option<u16>,
    /// Where the page begins.
    pub cursor: Option<String>,
}

impl Desk {
    /// Audit rows that match every given filter, newest first.
    pub async fn list_audit_entries(
        &self,
        caller: &Caller,
        list: AuditList,
    ) -> Result<Listing<AuditEntry>, DeskError> {
        if list.filter.at.is_inverted() {
            return Err(InvalidArgument::new("from", "must be before `until`").into());
        }
        let page = cursor::page("audit", &list.filter, list.limit, list.cursor.as_deref())?;
        let found = self
            .store
            .list_audit_entries(list.filter.clone(), page)
            .await?;
        let listing = Listing::from_page("audit", &list.filter, found);
        Ok(seen(self.mask(caller).as_ref(), listing))
    }

    /// Notes that a caller was refused a change before it was looked at, for want of a right (design section 7).
    pub async fn record_refusal(
        &self,
        caller: &Caller,
        action: Action,
        code: ErrorCode,
    ) -> Result<(), DeskError> {
        let entity = match action {
            Action::CreateCustomer
            | Action::UpdateCustomer
            | Action::DeleteCustomer
            | Action::EraseCustomer => EntityKind::Customer,
            Action::CreateTicket
            | Action::AssignTicket
            | Action::AddComment
            | Action::ChangeTicketStatus
            | Action::ResolveTicket
            | Action::UpdateTicket
            | Action::DeleteTicket
            | Action::RecordPaymentVerification
            | Action::RecordSecurityReview
            | Action::EscalateToSecurity
            | Action::DraftResponse => EntityKind::Ticket,
            Action::CreateAccessToken | Action::UseAccessToken | Action::RevokeAccessToken => {
                EntityKind::AccessToken
            }
            Action::ApproveChange | Action::DeclineChange | Action::Import => EntityKind::Store,
        };
        let record = AuditRecord {
            action,
            entity,
            entity_id: None,
            version_before: None,
            version_after: None,
            outcome: Outcome::Refused,
            code: Some(code.as_str()),
            facts: Vec::new(),
        };
        let act = caller.act(self.clock.now(), action.as_str());
        Ok(self.store.record_refusal(act, record).await?)
    }
}
