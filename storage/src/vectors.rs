//! What a model made of records, kept so that it need not be made again at every start (design section 8).

use crate::StoreFuture;

/// The records that are found by meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record {
    /// Articles of the knowledge base.
    Article,
    /// Calls.
    Call,
}

/// The vectors of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordVectors {
    /// Number of the record.
    pub record: i64,
    /// Which version of the record they were made from, as [`Vectors::list_lacking_vectors`] says it.
    pub version: i64,
    /// All of its windows, as whoever made them writes them; the store doesn't read them. Empty for a record without text.
    pub windows: Vec<u8>,
}

/// Records that have no vectors of a model, or had them before they changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lacking {
    /// Some of them, by number, each with its version now. A call never changes, and its version is 1.
    pub records: Vec<(i64, i64)>,
    /// How many there are in all.
    pub total: i64,
}

/// Vectors beside the records. `model` names the model that made them and its version: those of another one are as good as none.
///
/// Vectors are derived and change no record, so keeping them is no act and leaves no audit row. They go with their record.
pub trait Vectors: Send + Sync {
    /// Vectors that were made from records as they are now, of the records after a number, by number, at most `limit`.
    fn list_vectors(
        &self,
        of: Record,
        model: String,
        after: i64,
        limit: u16,
    ) -> StoreFuture<'_, Vec<RecordVectors>>;

    /// Records without such vectors, at most `limit`.
    ///
    /// Asked before the text is read: where a record changes in between, it is listed once more, and nothing of before stays.
    fn list_lacking_vectors(
        &self,
        of: Record,
        model: String,
        limit: u16,
    ) -> StoreFuture<'_, Lacking>;

    /// Keeps vectors in place of those that the records had, in one transaction, and says of how many records it did.
    ///
    /// Left out are those of records that are gone, or that have another version now. A store that was opened for reading only
    /// keeps none and is [`crate::StoreError::Unavailable`].
    fn keep_vectors(
        &self,
        of: Record,
        model: String,
        vectors: Vec<RecordVectors>,
    ) -> StoreFuture<'_, usize>;
}
