//! The body of the fuzz target, for a bounded number of inputs in every test run.

use proptest::prelude::*;

use crate::common::{binding, new_gate, ring};
use crate::hostile_bytes::check_hostile_bytes;

/// Bytes that get further than noise: a good input with a few bytes overwritten.
fn nearly_good() -> impl Strategy<Value = Vec<u8>> {
    let token = new_gate().mint(&binding(), [1; 16]).text().into_bytes();
    let record = binding().encode();
    let both = [token.as_slice(), b"\n", &record].concat();
    let file = ring().render().as_bytes().to_vec();
    let seeds = vec![token, record, both, file];
    let edits = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4);
    (prop::sample::select(seeds), edits).prop_map(|(mut bytes, edits)| {
        for (at, byte) in edits {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn no_bytes_do_harm(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        check_hostile_bytes(&bytes);
    }

    #[test]
    fn no_text_does_harm(text in any::<String>()) {
        check_hostile_bytes(text.as_bytes());
    }

    #[test]
    fn no_token_like_text_does_harm(text in "ct1\\.[a-z0-9]{1,8}\\.[A-Za-z0-9_-]{21,23}\\.[A-Za-z0-9_-]{42,44}\n?") {
        check_hostile_bytes(text.as_bytes());
    }

    #[test]
    fn nothing_nearly_good_does_harm(bytes in nearly_good()) {
        check_hostile_bytes(&bytes);
    }
}
