//! Tables of what is found and what is left, and properties over every way of writing.

use proptest::prelude::*;

use super::*;

fn shown(text: &str) -> String {
    shown_with(text, &[])
}

fn shown_with(text: &str, phones: &[&str]) -> String {
    without_contacts(text, phones, |kind, _value| format!("[{}]", kind.as_str()))
        .unwrap_or_else(|| text.to_owned())
}

#[test]
fn addresses_and_numbers_are_found_however_they_are_written() {
    for (text, expected) in [
        (
            "write to ann.lee@acme.example, please",
            "write to [email], please",
        ),
        ("<ANN.LEE+x@Acme.Example>.", "<[email]>."),
        (
            "mailto:ann@acme.example?subject=x",
            "mailto:[email]?subject=x",
        ),
        ("ann＠acme．example", "[email]"),
        ("ann@\u{200b}acme.example", "[email]"),
        ("ann⟦U+200B⟧@acme.example", "[email]"),
        ("ann%40acme.example", "[email]"),
        ("ann [at] acme [dot] example!", "[email]!"),
        ("ann(at)acme.example", "[email]"),
        ("root@localhost", "[email]"),
        ("ünï@bücher.example", "[email]"),
        ("a@b@c", "[email]"),
        ("a@x.example,b@y.example", "[email],[email]"),
        ("call +1 202 555 0143 today", "call [phone] today"),
        ("(202) 555-0143", "[phone]"),
        ("202.555.0143", "[phone]"),
        ("1.202.555.0143", "[phone]"),
        ("2025550143", "[phone]"),
        ("tel:2025550143", "tel:[phone]"),
        ("tel2025550143", "tel[phone]"),
        ("5550143", "[phone]"),
        ("+44 20 7946 0123 x 12.", "[phone]."),
        ("020 7946 0123 ext. 4", "[phone]"),
        ("٠٢٠ ٧٩٤٦ ٠١٢٣", "[phone]"),
        ("２０２－５５５－０１４３", "[phone]"),
        ("2 0 2 5 5 5 0 1 4 3", "[phone]"),
        ("202\u{200b}555\u{ad}0143", "[phone]"),
        ("card 4111 1111 1111 1111", "card [card]"),
        ("4111-1111-1111-1111", "[card]"),
        ("4111111111111111 and 378282246310005", "[card] and [card]"),
        (
            "on 2026-11-30 call 202 555 0143",
            "on 2026-11-30 call [phone]",
        ),
        ("KB5034441 202 555 0143", "KB5034441 [phone]"),
    ] {
        assert_eq!(shown(text), expected, "{text:?}");
    }
}

#[test]
fn what_is_no_contact_is_left() {
    for text in [
        "",
        "T-1042 of C-17, CALL-00042, KB-006, A-17",
        "T-12345678",
        "2026-11-30T22:10:26.123456Z",
        "filed 2026-11-30 22:10Z, changed 2026-12-01 08:00Z",
        "from 30.11.2026 to 1/12/2026",
        "10.0.0.1 and 192.168.100.200",
        "Windows 10.0.19045.3803",
        "error 0x80070005 after KB5034441",
        "550e8400-e29b-41d4-a716-446655440000",
        "‹customer 12345678901234567890abcdef123456›",
        "1,234,567.00 EUR for 12 seats",
        "ports 80, 443 and 8080",
        "@anna and #1042",
        "a @ b",
        "room 4711",
    ] {
        assert_eq!(shown(text), text);
    }
}

#[test]
fn a_known_number_is_found_however_short_it_is() {
    assert_eq!(
        shown_with("call 4711 or 47 11", &["4711"]),
        "call [phone] or [phone]"
    );
    assert_eq!(
        shown_with("call 47110 or 14711", &["4711"]),
        "call 47110 or 14711"
    );
}

#[test]
fn ways_of_writing_one_value_are_equal() {
    let value = |text: &str| contacts(text, &[])[0].value.clone();
    for (one, other) in [
        ("+44 20 7946 0123", "(020) 7946-0123"),
        ("Ann@Acme.example", "ann [at] acme [dot] example"),
        ("4111 1111 1111 1111", "4111111111111111"),
    ] {
        assert_eq!(value(one), value(other));
    }
    assert_eq!(
        contact_value(ContactKind::Phone, "+44 20 7946 0123"),
        value("020 7946 0123")
    );
    assert_eq!(
        contact_value(ContactKind::Email, "Ann@ACME.example"),
        value("ann@acme.example")
    );
}

proptest! {
    #[test]
    fn any_number_in_any_spacing_is_found(
        digits in proptest::collection::vec(0_u32..10, 7..16),
        gaps in proptest::collection::vec(0_usize..6, 16),
    ) {
        let gaps = gaps.iter().map(|gap| ["", "", " ", "-", ".", " - "][*gap]);
        let text: String = digits
            .iter()
            .zip(gaps)
            .flat_map(|(digit, gap)| [digit.to_string(), gap.to_owned()])
            .collect();
        let text = text.trim_end_matches([' ', '-', '.']);
        // Dates and addresses of the internet protocol are told from numbers by their form.
        let groups: Vec<_> = text.split(['-', '.', ' ']).filter(|group| !group.is_empty()).collect();
        prop_assume!(!matches!(groups.len(), 3 | 4) && !groups.iter().any(|group| group.len() == 4));
        let shown = shown(&format!("ring {text}, thanks"));
        prop_assert!(!shown.chars().any(|c| c.is_ascii_digit()), "{text:?} {shown:?}");
    }

    #[test]
    fn any_address_is_found(local in "[a-z0-9._+-]{1,20}", domain in "[a-z0-9]{1,12}(\\.[a-z]{2,6}){0,2}") {
        let text = format!("({local}@{domain})");
        prop_assert_eq!(shown(&text), "([email])");
    }

    #[test]
    fn any_text_is_read_without_a_fault_and_once_is_enough(text in "[0-9@+()a-f .⟦⟧U\\-\\u{200b}%\\[\\]]{0,80}") {
        let once = shown(&text);
        prop_assert_eq!(shown(&once), once.clone(), "{:?}", text);
        for contact in contacts(&text, &[]) {
            prop_assert!(text.get(contact.place).is_some());
        }
    }
}
