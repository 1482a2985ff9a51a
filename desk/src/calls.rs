//! Recorded calls.

use domain::{Call, CallId};

use crate::{Caller, Desk, DeskError};

impl Desk {
    /// One call with its transcript.
    pub async fn get_call(&self, _caller: &Caller, id: CallId) -> Result<Call, DeskError> {
        Ok(self.store.get_call(id).await?)
    }
}
