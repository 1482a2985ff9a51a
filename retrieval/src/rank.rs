//! One score of two: what the words say and what the meaning says.
//!
//! Scores are blended and not ranks: where no word of a question is in any document, a list by words is noise, and fusing ranks would
//! give it the same say. For the same reason a weak match of words counts for less than its share (it is squared): one common word
//! in ten is chance, half of the words are not.

/// What a full match of words adds to a cosine. Chosen on the development half of the retrieval set, where 0.4 to 0.6 are alike.
pub const WORDS: f64 = 0.5;

/// BM25 a term of the question, at which words match in full: about what one fairly rare term gives.
const FULL: f64 = 4.0;

/// How well a question's words match, 0 to 1, from a document's BM25 score and the number of terms that were looked for.
pub fn words(bm25: f64, terms: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a query has few terms")]
    let terms = terms.max(1) as f64;
    let share = (bm25 / (FULL * terms)).clamp(0.0, 1.0);
    share * share
}

/// The score by which documents are ordered. A document without a vector is as far as one that has nothing to do with the question.
pub fn blend(cosine: Option<f32>, words: f64) -> f64 {
    f64::from(cosine.unwrap_or(0.0)) + WORDS * words
}

#[cfg(test)]
mod tests {
    //! The score grows with both and is never more than both in full.

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn more_of_either_is_never_worse(
            bm25 in 0.0_f64..100.0, more in 0.0_f64..10.0, terms in 0_usize..40, cosine in -1.0_f32..1.0, nearer in 0.0_f32..0.5,
        ) {
            let said = words(bm25, terms);
            prop_assert!((0.0..=1.0).contains(&said));
            prop_assert!(words(bm25 + more, terms) >= said);
            prop_assert!(words(bm25, terms + 1) <= said);
            prop_assert!(blend(Some(cosine + nearer), said) >= blend(Some(cosine), said));
            prop_assert!(blend(Some(cosine), said) <= 1.0 + WORDS);
        }
    }

    #[test]
    fn without_a_vector_words_decide() {
        assert!(blend(None, 0.5) > blend(None, 0.1));
        assert!(blend(None, 0.0).abs() < 1e-12);
    }
}
