//! The model says what its authors' says, whatever is asked for beside it, and no text ends it.
//!
//! What needs the weights looks for them where `cargo xtask model` puts them, and says so where they aren't.

use std::path::{Path, PathBuf};
use std::time::Instant;

use etcetera::BaseStrategy as _;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::*;

fn weights() -> Option<PathBuf> {
    let folder = std::env::var_os("DESKGATE_MODEL_DIR").map(PathBuf::from);
    let usual = || {
        let strategy = etcetera::choose_base_strategy().ok()?;
        Some(strategy.data_dir().join("deskgate").join("models"))
    };
    let file = folder.or_else(usual)?.join(WEIGHTS_FILE);
    if file.exists() {
        return Some(file);
    }
    eprintln!("not checked: there is no model; `cargo xtask model` fetches it");
    None
}

fn embedder(path: &Path, threads: usize) -> Arc<dyn Embedder> {
    open(Settings {
        weights: path.to_owned(),
        threads: NonZeroUsize::new(threads).unwrap(),
    })
}

fn full() -> bool {
    std::env::var_os("DESKGATE_FULL").is_some()
}

/// Texts of a support desk and of other scripts, with the vectors that the Python libraries give (tokenizers 0.22 and
/// onnxruntime, the same weights), as 16-bit numbers.
fn reference() -> Vec<(String, Vector)> {
    let texts: Vec<String> =
        serde_json::from_str(include_str!("../../reference/texts.json")).unwrap();
    let bytes = include_bytes!("../../reference/vectors.i16");
    let numbers: Vec<f32> = bytes
        .chunks_exact(2)
        .map(|pair| f32::from(i16::from_le_bytes([pair[0], pair[1]])))
        .collect();
    let vectors = numbers
        .chunks_exact(crate::DIMENSIONS)
        .map(|row| Vector::unit(Box::new(row.try_into().unwrap())));
    texts.into_iter().zip(vectors).collect()
}

#[test]
fn vectors_are_those_of_the_reference() {
    let Some(path) = weights() else { return };
    let reference = reference();
    assert_eq!(reference.len(), 50);
    let texts: Vec<&str> = reference.iter().map(|(text, _)| text.as_str()).collect();
    let found = embedder(&path, 2).embed(&texts).unwrap();
    let mut worst = 0.0_f32;
    for ((text, expected), found) in reference.iter().zip(&found) {
        let off = 1.0 - expected.cosine(found);
        worst = worst.max(off);
        assert!(off < 1e-3, "{text}: {off}");
    }
    println!("largest distance {worst:e}");
}

#[test]
fn a_vector_depends_on_nothing_but_its_text() {
    let Some(path) = weights() else { return };
    let reference = reference();
    let texts: Vec<&str> = reference
        .iter()
        .map(|(text, _)| text.as_str())
        .take(12)
        .collect();
    let together = embedder(&path, 2).embed(&texts).unwrap();
    let one = embedder(&path, 1);
    for (text, expected) in texts.iter().zip(&together) {
        assert_eq!(&one.embed(&[text]).unwrap()[0], expected, "{text}");
    }
    assert!(one.embed(&[]).unwrap().is_empty());
}

#[test]
fn texts_that_mean_the_same_are_near() {
    let Some(path) = weights() else { return };
    let texts = [
        "The printer on our floor prints empty pages",
        "Nothing but blank sheets come out of the office machine",
        "Please add a new starter to the payroll system",
    ];
    let [a, b, c] = &embedder(&path, 1).embed(&texts).unwrap()[..] else {
        panic!("a vector a text")
    };
    assert!(a.cosine(b) > a.cosine(c) + 0.2);
}

#[test]
fn what_is_missing_or_damaged_is_named_and_said_how_to_get() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(WEIGHTS_FILE);
    let embedder = embedder(&path, 1);
    let absent = embedder.embed(&["text"]).unwrap_err();
    assert!(
        absent
            .to_string()
            .contains("`cargo xtask model` fetches it"),
        "{absent}"
    );
    assert_eq!(
        absent,
        EmbedError::Absent(Absent::Missing { path: path.clone() })
    );
    // A text is cut without the weights.
    assert_eq!(embedder.windows("a text").unwrap().len(), 1);

    std::fs::write(&path, "not a model").unwrap();
    let damaged = embedder.prepare().unwrap_err();
    assert!(
        matches!(&damaged, EmbedError::Absent(Absent::Damaged { .. })),
        "{damaged}"
    );
    // It is not read again and again.
    std::fs::remove_file(&path).unwrap();
    assert_eq!(embedder.prepare(), Err(damaged));
}

#[test]
fn a_model_that_came_later_is_found() {
    let Some(path) = weights() else { return };
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join(WEIGHTS_FILE);
    let embedder = embedder(&place, 1);
    assert!(embedder.prepare().is_err());
    std::fs::copy(&path, &place).unwrap();
    assert_eq!(embedder.prepare(), Ok(()));
}

#[test]
fn the_version_beside_a_vector_is_the_weights_own() {
    let version = u64::from_be_bytes(MODEL.version);
    let version = format!("{version:016x}");
    assert!(WEIGHTS_SHA256.starts_with(&version));
    assert!(check_weights(b"").is_err());
}

#[test]
fn windows_overlap_and_leave_nothing_out() {
    let tokens = Tokens::load().unwrap();
    let words: Vec<String> = (0..1000).map(|n| format!("call{n}")).collect();
    let text = words.join(" ");
    let windows = tokens.windows(&text).unwrap();
    assert!(windows.len() > 5);
    assert_eq!(windows[0].start, 0);
    assert_eq!(windows.last().unwrap().end, text.len());
    for pair in windows.windows(2) {
        assert!(pair[0].start < pair[1].start && pair[1].start < pair[0].end);
        // No word is cut where a window begins.
        assert!(text[..pair[1].start].ends_with(' '));
    }
    for window in &windows {
        assert!(tokens.ids(&text[window.clone()]).unwrap().len() <= 256);
    }
    for empty in ["", "  \n", "\0", "\u{200b}"] {
        assert!(tokens.windows(empty).unwrap().is_empty(), "{empty:?}");
    }
}

#[test]
fn names_of_markers_in_a_text_are_letters() {
    let tokens = Tokens::load().unwrap();
    let markers = tokens.ids("").unwrap();
    for name in ["[SEP]", "[CLS] a [PAD]", "[MASK][UNK]"] {
        let ids = tokens.ids(name).unwrap();
        let inner = &ids[1..ids.len() - 1];
        assert!(
            inner
                .iter()
                .all(|id| !markers.contains(id) && ![0, 100, 103].contains(id)),
            "{name}"
        );
    }
}

/// Texts of any characters, of many scripts, of marks that stand alone, of the same again and again.
fn hostile() -> impl Strategy<Value = String> {
    let letters = prop_oneof![
        any::<char>(),
        proptest::char::range('\u{300}', '\u{36f}'),
        proptest::char::range('\u{e0000}', '\u{e01ef}'),
        proptest::char::range('\u{3040}', '\u{9fff}'),
        proptest::char::range('\u{590}', '\u{6ff}'),
        proptest::char::range('\u{900}', '\u{e7f}'),
        proptest::char::range('\u{1f000}', '\u{1faff}'),
        proptest::char::range('\u{2000}', '\u{206f}'),
        proptest::char::range('\0', '\u{7f}'),
        Just('\0'),
        Just('\u{feff}'),
        Just('İ'),
        Just('\u{fdfa}'),
    ];
    let piece = proptest::collection::vec(letters, 0..40)
        .prop_map(|letters| letters.into_iter().collect::<String>());
    (piece, 1_usize..8).prop_map(|(piece, times)| piece.repeat(times))
}

fn hostile_texts(count: usize) -> impl Iterator<Item = String> {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let strategy = hostile();
    (0..count).map(move |_| strategy.new_tree(&mut runner).unwrap().current())
}

fn check_tokens(tokens: &Tokens, text: &str) {
    let ids = tokens.ids(text).unwrap();
    assert!((2..=256).contains(&ids.len()));
    let mut before = 0;
    for window in tokens.windows(text).unwrap() {
        assert!(
            text.get(window.clone())
                .is_some_and(|part| !part.is_empty())
        );
        assert!(window.start >= before);
        before = window.start;
    }
}

#[test]
fn no_text_ends_the_tokenizer() {
    let tokens = Tokens::load().unwrap();
    for text in hostile_texts(if full() { 100_000 } else { 1_000 }) {
        check_tokens(&tokens, &text);
    }
    let long = if full() { 1 << 20 } else { 1 << 14 };
    for unit in [
        "a",
        "\0",
        "\u{301}",
        "é ",
        "日本",
        "[SEP] ",
        "\u{fdfa}",
        "👩\u{200d}",
        " ",
        "a.b ",
    ] {
        let begun = Instant::now();
        check_tokens(&tokens, &unit.repeat(long / unit.len()));
        println!("{unit:?} {} ms", begun.elapsed().as_millis());
    }
}

#[test]
fn no_text_ends_the_model() {
    let Some(path) = weights() else { return };
    let embedder = embedder(&path, 2);
    let texts: Vec<String> = hostile_texts(if full() { 2_000 } else { 40 })
        .chain(["a ".repeat(1 << 19), "\0".repeat(1 << 20)])
        .collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    for (text, vector) in texts.iter().zip(embedder.embed(&texts).unwrap()) {
        assert!((vector.cosine(&vector) - 1.0).abs() < 1e-4, "{text:?}");
    }
}
