//! What searching by meaning costs on one core (issue 7): an ordinary ticket (bar: 15 ms), the model's load and the first vector
//! (300 ms), and a question against 100,000 windows (30 ms).
//!
//! The first two need the weights, which `cargo xtask model` fetches; without them they measure nothing and say so.

#![expect(clippy::print_stdout, reason = "a benchmark talks to a person")]

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use divan::{Bencher, black_box};
use etcetera::BaseStrategy as _;
use retrieval::{DIMENSIONS, Embedder, Index, Packed, Settings, Vector, WEIGHTS_FILE, open};

const TICKET: &str = "Good morning, since yesterday my second screen stays black after lunch. I unplugged it and put it \
                      back, then it works for an hour. Is it the cable or the screen? The docking station was replaced \
                      last week by your colleague, and the laptop is the one from 2022. I have a meeting at ten.";

fn main() {
    divan::main();
}

fn embedder() -> Option<Arc<dyn Embedder>> {
    let folder = std::env::var_os("DESKGATE_MODEL_DIR").map(PathBuf::from);
    let usual = || {
        let strategy = etcetera::choose_base_strategy().ok()?;
        Some(strategy.data_dir().join("deskgate").join("models"))
    };
    let embedder = open(Settings {
        weights: folder.or_else(usual)?.join(WEIGHTS_FILE),
        threads: NonZeroUsize::MIN,
    });
    if let Err(absent) = embedder.prepare() {
        println!("{absent}");
        return None;
    }
    Some(embedder)
}

#[divan::bench(sample_count = 100)]
fn a_ticket(bencher: Bencher<'_, '_>) {
    if let Some(embedder) = embedder() {
        bencher.bench_local(|| embedder.embed(&[black_box(TICKET)]));
    }
}

#[divan::bench(sample_count = 10)]
fn load_and_first_vector(bencher: Bencher<'_, '_>) {
    if embedder().is_some() {
        bencher.bench_local(|| embedder().map(|embedder| embedder.embed(&["vpn"])));
    }
}

#[divan::bench(sample_count = 50)]
fn hundred_thousand_windows(bencher: Bencher<'_, '_>) {
    let mut index = Index::new(100_000);
    for document in 0..25_000_u16 {
        let windows: Vec<Packed> = (0..4)
            .map(|window| Packed::of(&vector(document, window)))
            .collect();
        if let Err(full) = index.put(document.into(), &windows) {
            println!("{full}");
        }
    }
    let question = vector(4711, 1);
    bencher.bench_local(|| index.compare(black_box(&question)).nearest(100, |_| true));
}

/// Some vector, another for each pair.
fn vector(document: u16, window: u16) -> Vector {
    let mut state = u32::from(document) * 8 + u32::from(window) + 1;
    let mut values = Box::new([0.0_f32; DIMENSIONS]);
    for value in values.iter_mut() {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        *value = f32::from(u16::try_from(state >> 16).unwrap_or_default()) - 32_768.0;
    }
    Vector::unit(values)
}
