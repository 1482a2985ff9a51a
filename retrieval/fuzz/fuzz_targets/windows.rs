//! Texts of any characters through the tokenizer: `cargo +nightly fuzz run windows` in this folder's parent.
//!
//! The body is the one that the crate's own tests run for a bounded number of inputs.

#![no_main]

use std::sync::{Arc, LazyLock};

use retrieval::Embedder;

#[path = "../../tests/it/hostile_text.rs"]
mod hostile_text;

static CUTTER: LazyLock<Arc<dyn Embedder>> = LazyLock::new(hostile_text::cutter);

libfuzzer_sys::fuzz_target!(|text: &str| hostile_text::check_hostile_text(&**CUTTER, text));
