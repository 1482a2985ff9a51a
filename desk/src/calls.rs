//! Recorded calls.

use domain::{Call, CallId};

use crate::privacy::seen;
use crate::{Caller, Desk, DeskError};

impl Desk {
    /// One call with its transcript.
    pub async fn get_call(&self, caller: &Caller, id: CallId) -> Result<Call, DeskError> {
        let call = self.store.get_call(id).await?;
        let mask = self.mask_of(caller, call.customer).await?;
        Ok(seen(mask.as_ref(), call))
    }
}
