//! What stand-ins are like; that every record has them is tested over the whole surface.

use super::*;

fn mask(key: &str) -> Mask {
    Mask {
        key: key.into(),
        phones: vec!["4711".to_owned()],
    }
}

#[test]
fn one_value_has_one_stand_in_however_it_is_written_and_another_store_another() {
    let stand_in = |key: &str, text: &str| mask(key).masked(text).unwrap();
    let email = stand_in("a", "ann@acme.example");
    assert_eq!(stand_in("a", "ANN@Acme.Example"), email);
    assert_ne!(stand_in("a", "bob@acme.example"), email);
    assert_ne!(stand_in("b", "ann@acme.example"), email);
    assert_eq!(
        stand_in("a", "+44 20 7946 0123"),
        stand_in("a", "(020) 7946-0123")
    );
    assert_eq!(email.len(), "[email bbbbbbbb]".len());
    assert!(email.chars().all(|c| !c.is_ascii_digit() && c != '@'));
}

#[test]
fn a_field_and_a_text_agree_and_masking_twice_changes_nothing() {
    let mask = mask("a");
    let mut phone = "4711".to_owned();
    mask.field(ContactKind::Phone, &mut phone);
    assert_eq!(
        mask.masked("call 47-11 now").unwrap(),
        format!("call {phone} now")
    );
    let once = phone.clone();
    mask.field(ContactKind::Phone, &mut phone);
    assert_eq!(phone, once);
    assert_eq!(mask.masked(&once), None);
}
