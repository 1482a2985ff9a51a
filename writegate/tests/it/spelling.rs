//! A token has one spelling; only white space around it is forgiven.

use writegate::{Kid, Refused, Token};

use crate::common::{binding, new_gate};

fn text() -> String {
    new_gate().mint(&binding(), [0xa5; 16]).text()
}

#[test]
fn a_token_is_short_enough_to_copy_and_parses_back() {
    let token = new_gate().mint(&binding(), [0xa5; 16]);
    let text = token.text();
    assert_eq!(text.len(), 75);
    let parsed = Token::parse(&text).unwrap();
    assert_eq!(parsed.text(), text);
    assert_eq!(parsed.kid().as_str(), "k7qx");
    assert_eq!(parsed.id(), token.id());
    assert_eq!(parsed.id().as_bytes(), &[0xa5; 16]);
    assert_eq!(parsed.id().text(), "paWlpaWlpaWlpaWlpaWlpQ");
    assert_eq!(text.split('.').nth(2).unwrap(), parsed.id().text());
}

#[test]
fn white_space_around_a_token_is_skipped() {
    let text = text();
    for (before, after) in [
        (" ", ""),
        ("", "\n"),
        ("\r\n\t ", " \u{a0}\u{2003}"),
        ("\u{3000}", ""),
    ] {
        let parsed = Token::parse(&format!("{before}{text}{after}")).unwrap();
        assert_eq!(parsed.text(), text);
    }
}

#[test]
fn every_other_spelling_is_refused() {
    let good = text();
    let parts: Vec<&str> = good.split('.').collect();
    let [prefix, kid, id, tag] = parts[..] else {
        panic!("a token has four parts");
    };
    let with = |prefix: &str, kid: &str, id: &str, tag: &str| format!("{prefix}.{kid}.{id}.{tag}");
    assert_eq!(with(prefix, kid, id, tag), good);
    let bad = [
        String::new(),
        " ".to_owned(),
        ".".to_owned(),
        "...".to_owned(),
        "true".to_owned(),
        with("CT1", kid, id, tag),
        with("Ct1", kid, id, tag),
        with("ct2", kid, id, tag),
        with("ct01", kid, id, tag),
        with("", kid, id, tag),
        with(" ct1", "", id, tag),
        with(prefix, "K7QX", id, tag),
        with(prefix, "k7qx-", id, tag),
        with(prefix, "k7qxk7qxk", id, tag),
        with(prefix, &format!(" {kid}"), id, tag),
        with(prefix, kid, &format!("{id}="), tag),
        with(prefix, kid, &format!("{id}=="), tag),
        with(prefix, kid, id, &format!("{tag}=")),
        with(prefix, kid, &format!(" {id}"), tag),
        with(prefix, kid, id, &format!(" {tag}")),
        with(prefix, kid, &id.to_uppercase(), &format!("{tag}A")),
        with(prefix, kid, id, tag).replace('.', ","),
        with(prefix, kid, id, tag).replace('.', ".\u{200b}"),
        format!("{good}."),
        format!(".{good}"),
        format!("{good}.{tag}"),
        format!("{good}\u{200b}"),
        format!("{good}\0"),
        format!("`{good}`"),
        format!("\"{good}\""),
        format!("{good} {good}"),
        good.replace("ct1.", "ct1"),
        with(prefix, kid, tag, id),
        with(prefix, kid, id, &tag.replace(char::is_alphanumeric, "+")),
        with(prefix, kid, id, &tag.replace(char::is_alphanumeric, "/")),
        with(
            prefix,
            kid,
            id,
            &tag.replace(char::is_alphanumeric, "\u{ff21}"),
        ),
    ];
    for text in bad {
        assert_eq!(
            Token::parse(&text).err(),
            Some(Refused::Invalid),
            "{text:?}"
        );
    }
}

#[test]
fn an_id_or_tag_without_its_last_zero_bytes_is_no_second_spelling() {
    use base64::Engine;
    use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64;
    let spell = |id: usize, tag: usize| {
        format!(
            "ct1.k7qx.{}.{}",
            BASE64.encode(vec![0; id]),
            BASE64.encode(vec![0; tag])
        )
    };
    for id in 0..=20 {
        for tag in 0..=40 {
            let parsed = Token::parse(&spell(id, tag));
            assert_eq!(parsed.is_ok(), id == 16 && tag == 32, "{id} {tag}");
        }
    }
}

#[test]
fn the_last_character_of_id_and_tag_has_one_value_only() {
    const ALPHABET: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let good = text();
    let parts: Vec<&str> = good.split('.').collect();
    // The last character of 16 bytes carries two bits and that of 32 bytes four; the rest must be zero.
    for (part, spelled) in [(2, 4), (3, 16)] {
        let accepted = ALPHABET
            .chars()
            .filter(|last| {
                let mut altered: Vec<String> = parts.iter().map(ToString::to_string).collect();
                altered[part].pop();
                altered[part].push(*last);
                Token::parse(&altered.join(".")).is_ok()
            })
            .count();
        assert_eq!(accepted, spelled, "part {part}");
    }
}

#[test]
fn the_id_of_a_key_is_one_to_eight_lower_case_letters_and_digits() {
    for good in ["a", "z", "0", "9", "k7qx", "00000000", "abcdefgh"] {
        assert_eq!(Kid::parse(good).unwrap().as_str(), good);
        assert_eq!(Kid::parse(good).unwrap().to_string(), good);
    }
    for bad in [
        "",
        "abcdefghi",
        "A",
        "Z",
        "k.x",
        "k x",
        " k",
        "k-1",
        "k_1",
        "é",
        "`",
        "{",
        "/",
        ":",
        "\u{661}",
    ] {
        assert!(Kid::parse(bad).is_err(), "{bad:?}");
    }
}

#[test]
fn an_id_for_a_new_key_has_four_letters_that_are_not_misread() {
    let cases = [
        ([0, 1, 9, 10], "019a"),
        ([16, 17, 30, 31], "ghyz"),
        ([32, 63, 64, 255], "0z0z"),
    ];
    for (bytes, text) in cases {
        assert_eq!(Kid::from_random(bytes).as_str(), text);
    }
    for byte in 0..=u8::MAX {
        let made = Kid::from_random([byte; 4]);
        assert_eq!(made.as_str().len(), 4);
        assert_eq!(Kid::parse(made.as_str()), Ok(made.clone()));
        assert!(!made.as_str().contains(['i', 'l', 'o', 'u']));
    }
}

#[test]
fn the_debug_form_of_a_token_does_not_help_to_spend_it() {
    let good = text();
    let tag = good.rsplit('.').next().unwrap();
    let shown = format!("{:?}", Token::parse(&good).unwrap());
    assert!(shown.contains("k7qx"), "{shown}");
    assert!(shown.contains("paWlpaWlpaWlpaWlpaWlpQ"), "{shown}");
    assert!(!shown.contains(tag), "{shown}");
    assert!(!shown.contains('['), "{shown}");
}
