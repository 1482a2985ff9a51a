//! Reading the audit log.

use domain::{AuditEntry, AuditFilter};

use crate::{Caller, Desk, DeskError, InvalidArgument, Listing, cursor};

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
        _caller: &Caller,
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
        Ok(Listing::from_page("audit", &list.filter, found))
    }
}
