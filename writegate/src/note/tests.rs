//! Notes: what is signed, what a changed byte does, and the file of many.

use super::*;

fn key() -> CheckpointKey {
    let seed: [u8; 32] =
        std::array::from_fn(|i| u8::try_from((i * i * 7 + i * 29 + 5) % 256).unwrap());
    CheckpointKey::new(Kid::parse("cp").unwrap(), &seed).unwrap()
}

fn checkpoint() -> Checkpoint {
    Checkpoint {
        origin: Checkpoint::origin("0123abcd", 1),
        seq: 1042,
        hash: [7; 32],
        at_us: 1_772_442_000_000_000,
        previous: Some([9; 32]),
    }
}

#[test]
fn a_note_opens_to_what_was_signed_and_no_changed_byte_goes_unseen() {
    let key = key();
    for previous in [None, Some([9; 32])] {
        let signed = Checkpoint {
            previous,
            ..checkpoint()
        };
        let note = key.sign(&signed);
        assert_eq!(key.open(&note), Ok(signed));
        for at in 0..note.len() {
            let mut bytes = note.clone().into_bytes();
            bytes[at] ^= 1;
            let changed = String::from_utf8_lossy(&bytes);
            assert!(key.open(&changed).is_err(), "byte {at}: {changed}");
        }
    }
}

#[test]
fn a_note_of_another_key_is_unsigned() {
    let seed: [u8; 32] =
        std::array::from_fn(|i| u8::try_from((i * i * 11 + i * 31 + 3) % 256).unwrap());
    let other = CheckpointKey::new(Kid::parse("cp").unwrap(), &seed).unwrap();
    let note = other.sign(&checkpoint());
    assert_eq!(key().open(&note), Err(NoteFault::Unsigned));
    assert_ne!(key().verifier("a"), other.verifier("a"));
}

#[test]
fn a_file_of_notes_is_taken_apart_and_a_torn_end_is_told() {
    let key = key();
    let notes: Vec<String> = (1..=3)
        .map(|seq| {
            key.sign(&Checkpoint {
                seq,
                ..checkpoint()
            })
        })
        .collect();
    let file: String = notes.join("\n") + "\n";
    assert_eq!(notes_in(&file), (notes.clone(), false));
    assert_eq!(notes_in(""), (Vec::new(), false));
    let torn = &file[..file.len() - 20];
    assert_eq!(notes_in(torn), (notes[..2].to_vec(), true));
}
