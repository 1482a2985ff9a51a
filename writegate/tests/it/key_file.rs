//! Key files: what is written reads back, and anything else is refused by line.

use std::error::Error;

use proptest::prelude::*;
use writegate::{Key, KeyError, KeyFileError, KeyRing, Kid};

use crate::common::{Seeded, key, ring};

const HEADER: &str = "deskgate-keys 1\n";

fn secret(seed: u64, length: usize) -> String {
    use base64::Engine;
    base64::prelude::BASE64_URL_SAFE_NO_PAD.encode(&Seeded(seed).bytes::<64>()[..length])
}

#[test]
fn a_rendered_ring_is_the_file_that_people_read() {
    let text = ring().render();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 4);
    assert_eq!(lines[0], "deskgate-keys 1");
    assert_eq!(lines[1], "# Private: only the server may read this file.");
    assert!(lines[2].starts_with("k7qx current "));
    assert!(lines[3].starts_with("m0xz verify-only "));
    assert!(text.ends_with('\n'));
}

#[test]
fn a_file_edited_by_hand_is_read() {
    let text = format!(
        "deskgate-keys 1 \r\n\r\n  # a note\r\n\tabc\tverify-only   {}\r\nd current {}",
        secret(1, 32),
        secret(2, 64)
    );
    let ring = KeyRing::parse(&text).unwrap();
    assert_eq!(ring.current_kid().as_str(), "d");
    let kids: Vec<String> = ring.kids().map(|(kid, _)| kid.to_string()).collect();
    assert_eq!(kids, ["d", "abc"]);
}

#[test]
fn hostile_files_are_refused_and_the_line_is_named() {
    use KeyFileError::{Encoding, Header, Line, NoCurrent, SecondCurrent};
    let one = secret(1, 32);
    let two = secret(2, 32);
    let table = [
        (String::new(), Header),
        ("\n".to_owned(), Header),
        (format!("k current {one}\n"), Header),
        (format!("deskgate-keys 2\nk current {one}\n"), Header),
        (format!("deskgate-keys 10\nk current {one}\n"), Header),
        (format!("Deskgate-keys 1\nk current {one}\n"), Header),
        (format!(" deskgate-keys 1\nk current {one}\n"), Header),
        (format!("\u{feff}{HEADER}k current {one}\n"), Header),
        (format!("# note\n{HEADER}k current {one}\n"), Header),
        (HEADER.to_owned(), NoCurrent),
        (format!("{HEADER}# k current {one}\n"), NoCurrent),
        (format!("{HEADER}k verify-only {one}\n"), NoCurrent),
        (
            format!("{HEADER}k current {one}\nl current {two}\n"),
            SecondCurrent { line: 3 },
        ),
        (format!("{HEADER}k\n"), Line { line: 2 }),
        (format!("{HEADER}k current\n"), Line { line: 2 }),
        (format!("{HEADER}\nk {one} current\n"), Line { line: 3 }),
        (format!("{HEADER}k Current {one}\n"), Line { line: 2 }),
        (format!("{HEADER}k verify {one}\n"), Line { line: 2 }),
        (format!("{HEADER}k current {one} x\n"), Line { line: 2 }),
        (
            format!("{HEADER}k current {one} # note\n"),
            Line { line: 2 },
        ),
        (format!("{HEADER}k\u{a0}current {one}\n"), Line { line: 2 }),
        (format!("{HEADER}k current {one}=\n"), Encoding { line: 2 }),
        (format!("{HEADER}k current {one}AA\n"), Encoding { line: 2 }),
        (
            format!("{HEADER}k current {}+\n", &one[..42]),
            Encoding { line: 2 },
        ),
        (
            format!("{HEADER}k current {}\n", "/".repeat(43)),
            Encoding { line: 2 },
        ),
        (
            format!("{HEADER}k current \u{ff21}\n"),
            Encoding { line: 2 },
        ),
        (format!("{HEADER}k current \0{one}\n"), Encoding { line: 2 }),
    ];
    for (text, expected) in table {
        assert_eq!(KeyRing::parse(&text).map(drop), Err(expected), "{text:?}");
    }
}

#[test]
fn refused_keys_in_a_file_are_named_by_line_and_reason() {
    let one = secret(1, 32);
    let zero = "A".repeat(43);
    let table = [
        (format!("{HEADER}K current {one}\n"), 2, KeyError::Kid),
        (
            format!("{HEADER}abcdefghi current {one}\n"),
            2,
            KeyError::Kid,
        ),
        (
            format!(
                "{HEADER}# note\nk current {one}\nk verify-only {}\n",
                secret(2, 32)
            ),
            4,
            KeyError::KidTaken(Kid::parse("k").unwrap()),
        ),
        (
            format!("{HEADER}l verify-only {one}\nk current {one}\n"),
            2,
            KeyError::SecretTaken(Kid::parse("k").unwrap()),
        ),
        (
            format!("{HEADER}k current {zero}\n"),
            2,
            KeyError::Weak(writegate::WeakKey::AllEqual),
        ),
        (
            format!("{HEADER}k current {}\n", secret(3, 31)),
            2,
            KeyError::Weak(writegate::WeakKey::TooShort { found: 31 }),
        ),
        (
            format!("{HEADER}k current {}\n", "AbC_".repeat(400)),
            2,
            KeyError::Weak(writegate::WeakKey::TooLong { found: 1200 }),
        ),
    ];
    for (text, line, source) in table {
        assert_eq!(
            KeyRing::parse(&text).map(drop),
            Err(KeyFileError::Key { line, source }),
            "{text:?}"
        );
    }
}

#[test]
fn errors_show_no_key() {
    let weak = "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LXNlY3JldC0";
    for line in [
        format!("k current {weak}"),
        format!("k {weak} current"),
        format!("{weak} current k"),
        format!("k current {weak}="),
    ] {
        let error = KeyRing::parse(&format!("{HEADER}{line}\n")).unwrap_err();
        let mut shown = format!("{error} {error:?}");
        let mut cause = error.source();
        while let Some(next) = cause {
            shown.push_str(&next.to_string());
            cause = next.source();
        }
        assert!(!shown.contains(&weak[..8]), "{shown}");
        assert!(!shown.contains("secret-"), "{shown}");
    }
}

#[test]
fn a_file_with_many_keys_reads_back() {
    let ring = (0..200).fold(KeyRing::new(key("first")), |ring, number| {
        ring.add(key(&format!("k{number}"))).unwrap()
    });
    let text = ring.render();
    assert_eq!(KeyRing::parse(&text).unwrap().render(), text);
}

proptest! {
    #[test]
    fn what_is_rendered_reads_back(seeds in prop::collection::hash_set(any::<u64>(), 1..6), length in 32_usize..=64) {
        let mut keys = seeds.iter().zip(0..).map(|(seed, number)| {
            let kid = Kid::parse(&format!("k{number}")).unwrap();
            Key::new(kid, &Seeded(*seed).bytes::<64>()[..length]).unwrap()
        });
        let first = KeyRing::new(keys.next().unwrap());
        let ring = keys.try_fold(first, |ring, key| ring.add(key)).unwrap();
        let text = ring.render();
        let read = KeyRing::parse(&text).unwrap();
        prop_assert_eq!(read.render(), text);
        prop_assert!(ring.kids().eq(read.kids()));
    }
}
