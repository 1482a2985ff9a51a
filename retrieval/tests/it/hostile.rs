//! The body of the fuzz target, for a bounded number of texts.

use proptest::prelude::*;

use crate::hostile_text::{check_hostile_text, cutter};

#[test]
fn hostile_texts_are_cut_without_a_loss() {
    let cutter = cutter();
    for text in [
        "",
        "\0",
        "a\u{301}b",
        "İ1",
        "[SEP]a",
        "\u{fdfa}x",
        "日本a語",
        "e\u{301}\u{200b}x",
    ] {
        check_hostile_text(&*cutter, text);
    }
    check_hostile_text(&*cutter, &"printer 4711 é ".repeat(400));
    proptest!(|(text in "\\PC{0,60}", times in 1_usize..20)| {
        check_hostile_text(&*cutter, &text.repeat(times));
    });
}
