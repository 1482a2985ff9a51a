//! One score of two: what the words say and what the meaning says.
//!
//! Scores are blended and not ranks: where no word of a question is in any document, a list by words is noise, and fusing ranks would
//! give it the same say.

/// What a full match of words adds to a cosine. Chosen on the development half of the retrieval set.
pub const WORDS: f64 = 0.3;

/// BM25 a term of the question, at which words match in full: about what one fairly rare term gives.
const FULL: f64 = 4.0;

/// How much of what a question's words could say was said: 0 to 1, from a BM25 score and the number of terms that were looked for.
pub fn words(bm25: f64, terms: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a query has few terms")]
    let terms = terms.max(1) as f64;
    (bm25 / (FULL * terms)).clamp(0.0, 1.0)
}

/// The score by which documents are ordered. A document without a vector is as far as one that has nothing to do with the question.
pub fn blend(cosine: Option<f32>, words: f64) -> f64 {
    f64::from(cosine.unwrap_or(0.0)) + WORDS * words
}
