//! Disguised incidents: what folds back is found as if it were plain, what doesn't is refused for hiding (promise I-6).

use crate::{INCIDENTS, ORDINARY, floor, ids};

type Transform = fn(&str) -> String;

fn map(text: &str, letter: impl Fn(char) -> Option<char>) -> String {
    text.chars().map(|c| letter(c).unwrap_or(c)).collect()
}

fn shifted(text: &str, lower: u32, upper: u32) -> String {
    map(text, |c| match c {
        'a'..='z' => char::from_u32(lower + u32::from(c) - u32::from('a')),
        'A'..='Z' => char::from_u32(upper + u32::from(c) - u32::from('A')),
        _ => None,
    })
}

fn table(text: &str, from: &str, to: &str) -> String {
    map(text, |c| {
        from.chars()
            .position(|known| known == c)
            .and_then(|at| to.chars().nth(at))
    })
}

fn between_letters(text: &str, noise: &str) -> String {
    let mut out = String::new();
    let mut before = ' ';
    for c in text.chars() {
        if before.is_ascii_alphabetic() && c.is_ascii_alphabetic() {
            out.push_str(noise);
        }
        out.push(c);
        before = c;
    }
    out
}

fn after_letters(text: &str, mark: &str) -> String {
    text.chars().fold(String::new(), |mut out, c| {
        out.push(c);
        if c.is_ascii_alphabetic() {
            out.push_str(mark);
        }
        out
    })
}

const FOLDED: &[(&str, Transform)] = &[
    ("fullwidth", |text| shifted(text, 0xff41, 0xff21)),
    ("bold", |text| shifted(text, 0x1d41a, 0x1d400)),
    ("sans", |text| shifted(text, 0x1d5ba, 0x1d5a0)),
    ("monospace", |text| shifted(text, 0x1d68a, 0x1d670)),
    ("bold script", |text| shifted(text, 0x1d4ea, 0x1d4d0)),
    ("circled", |text| shifted(text, 0x24d0, 0x24b6)),
    ("squared", |text| {
        shifted(&text.to_uppercase(), 0x24d0, 0x1f130)
    }),
    ("negative circled", |text| {
        shifted(&text.to_uppercase(), 0x24d0, 0x1f150)
    }),
    ("parenthesised", |text| {
        shifted(&text.to_lowercase(), 0x249c, 0x249c)
    }),
    ("small capitals", |text| {
        table(
            &text.to_lowercase(),
            "abcdefghijklmnoprstuvwyz",
            "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ",
        )
    }),
    ("superscript", |text| {
        table(
            &text.to_lowercase(),
            "abcdefghijklmnoprstuvwxyz",
            "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ",
        )
    }),
    ("cyrillic vowels", |text| table(text, "aeoi", "аеоі")),
    ("cyrillic", |text| {
        table(
            text,
            "acehijkmopqstxyABCEHIKMOPTX",
            "асеһіјкморԛѕтхуАВСЕНІКМОРТХ",
        )
    }),
    ("greek", |text| {
        table(text, "aeikoptuvxABEHIKMNOPTXYZ", "αεικορτυνχΑΒΕΗΙΚΜΝΟΡΤΧΥΖ")
    }),
    ("cherokee capitals", |text| {
        table(
            &text.to_uppercase(),
            "ABCDEGHIJKLMPRSTVWYZ",
            "ᎪᏴᏟᎠᎬᏀᎻᎥᎫᏦᏞᎷᏢᏒᏚᎢᏙᎳᎩᏃ",
        )
    }),
    ("zero width space", |text| between_letters(text, "\u{200b}")),
    ("zero width joiner", |text| {
        between_letters(text, "\u{200d}")
    }),
    ("zero width non-joiner", |text| {
        between_letters(text, "\u{200c}")
    }),
    ("word joiner", |text| between_letters(text, "\u{2060}")),
    ("byte order mark", |text| between_letters(text, "\u{feff}")),
    ("soft hyphen", |text| between_letters(text, "\u{ad}")),
    ("grapheme joiner", |text| between_letters(text, "\u{34f}")),
    ("hangul filler", |text| between_letters(text, "\u{3164}")),
    ("braille blank", |text| between_letters(text, "\u{2800}")),
    ("left-to-right mark", |text| {
        between_letters(text, "\u{200e}")
    }),
    ("variation selector", |text| after_letters(text, "\u{fe0e}")),
    ("combining acute", |text| after_letters(text, "\u{301}")),
    ("struck through", |text| after_letters(text, "\u{336}")),
    ("stacked marks", |text| {
        after_letters(text, "\u{300}\u{316}\u{321}\u{334}\u{489}")
    }),
    ("tags", |text| {
        shifted(&text.to_lowercase(), 0xe0061, 0xe0041)
    }),
    ("curly quotes", |text| text.replace('\'', "\u{2019}")),
    ("accents", |text| table(text, "aeiounc", "áëîõüñç")),
    ("no-break spaces", |text| text.replace(' ', "\u{a0}")),
    ("wide spaces and tabs", |text| {
        text.replace(' ', "\u{2003}\t ")
    }),
    ("line by line", |text| text.replace(' ', "\r\n")),
    ("upper case", str::to_uppercase),
];

#[test]
fn what_folds_back_is_found_as_if_it_were_plain() {
    for incident in INCIDENTS {
        let plain = floor(incident).unwrap_or_else(|| panic!("missed in plain words: {incident}"));
        for (name, disguise) in FOLDED {
            let disguised = disguise(incident);
            let Some(refusal) = floor(&disguised) else {
                panic!("{name}: {disguised}");
            };
            for id in ids(&plain) {
                assert!(
                    ids(&refusal).contains(&id),
                    "{name} loses {id}: {disguised}"
                );
            }
            for indicator in &refusal.indicators {
                for evidence in &indicator.evidence {
                    assert_eq!(
                        disguised.get(evidence.start..evidence.end),
                        Some(evidence.text.as_str()),
                        "{name}"
                    );
                }
            }
        }
    }
}

const HIDDEN: &[(&str, Transform)] = &[
    ("reversed by override", |text| {
        format!("\u{202e}{}\u{202c}", text.chars().rev().collect::<String>())
    }),
    ("reversed", |text| text.chars().rev().collect()),
    ("spaced", |text| {
        text.chars()
            .filter(|c| *c != ' ')
            .flat_map(|c| [c, ' '])
            .collect()
    }),
    ("spaced words", |text| {
        text.chars().flat_map(|c| [c, ' ']).collect()
    }),
    ("dotted", |text| between_letters(text, ".")),
    ("dashed", |text| between_letters(text, "-")),
    ("underscored", |text| between_letters(text, "_")),
    ("emoji between", |text| between_letters(text, "🔥")),
    ("leet", |text| {
        table(&text.to_lowercase(), "aeiost", "431057")
    }),
    ("leet with signs", |text| {
        table(&text.to_lowercase(), "aios", "@!0$")
    }),
    ("rn for m", |text| text.replace('m', "rn")),
    ("rot13", |text| {
        map(text, |c| match c {
            'a'..='m' | 'A'..='M' => char::from_u32(u32::from(c) + 13),
            'n'..='z' | 'N'..='Z' => char::from_u32(u32::from(c) - 13),
            _ => None,
        })
    }),
    ("base64", |text| base64(text.as_bytes())),
    ("percent", |text| {
        each_byte(text, |byte| format!("%{byte:02x}"))
    }),
    ("references", |text| {
        each_byte(text, |byte| format!("&#{byte};"))
    }),
    ("hex references", |text| {
        each_byte(text, |byte| format!("&#x{byte:x};"))
    }),
    ("hexadecimal", |text| {
        each_byte(text, |byte| format!("{byte:02X}"))
    }),
    ("escapes", |text| {
        each_byte(text, |byte| format!("\\u00{byte:02x}"))
    }),
    ("byte escapes", |text| {
        each_byte(text, |byte| format!("\\x{byte:02x}"))
    }),
    ("hidden in tags", |text| {
        format!(
            "Printer has no toner. {}",
            shifted(&text.to_lowercase(), 0xe0061, 0xe0041)
        )
    }),
    ("one letter of another script in each word", |text| {
        text.replace('e', "ҽ")
    }),
];

fn each_byte(text: &str, write: impl Fn(u8) -> String) -> String {
    text.bytes()
        .fold(String::new(), |out, byte| out + &write(byte))
}

fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let bits = chunk
            .iter()
            .fold(0_u32, |bits, &byte| (bits << 8) | u32::from(byte))
            << (8 * (3 - chunk.len()));
        for at in 0..=chunk.len() {
            let value = usize::try_from((bits >> (18 - 6 * at)) & 63).unwrap();
            out.push(char::from(*ALPHABET.get(value).unwrap()));
        }
    }
    out
}

#[test]
fn what_cannot_be_folded_is_refused_for_hiding() {
    for incident in INCIDENTS {
        for (name, disguise) in HIDDEN {
            let disguised = disguise(incident);
            let Some(refusal) = floor(&disguised) else {
                panic!("{name}: {disguised}");
            };
            assert!(
                ids(&refusal).contains(&"suspicious_encoding"),
                "{name}: {:?} {disguised}",
                ids(&refusal)
            );
        }
    }
}

#[test]
fn one_disguised_word_of_an_incident_in_a_plain_text_is_enough() {
    for disguised in [
        "Is this r a n s o m w a r e or normal?",
        "There was something about r4ns0mware on the screen.",
        "The screen said ransornware, is that a brand?",
        "It said pass\u{200b}word and then nothing.",
        "There is a rаnsom page.",
        "The file is called \u{202e}cod.ecioVnI\u{202c}.",
        "He wrote cGxlYXNlIGVudGVyIHlvdXIgcGFzc3dvcmQgaGVyZQ== to us.",
        "It shows erawmosnar gnihsihp drowssap dekcah reven yadot on screen",
    ] {
        let refusal = floor(disguised).unwrap_or_else(|| panic!("{disguised}"));
        assert!(
            ids(&refusal).contains(&"suspicious_encoding"),
            "{disguised}"
        );
    }
}

#[test]
fn ordinary_codes_numbers_and_formats_hide_nothing() {
    for ordinary in [
        "Port 17 of SW-3F2 is dead, MAC 00:1B:44:11:3A:B7, ticket INC0012345, host srv4win10 in rack 5b.",
        "Error 0x80070005 at C:\\Users\\m5\\AppData\\x86, then exit code 1. Build 10.0.19045.3693, KB5031356.",
        "See https://wiki.office.example/How%20to%20print%3F?page=2&x=41&lang=de%2DAT for the steps.",
        "The API answers with eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9 and then 401, see the log.",
        "Serial numbers: A B C D E F are the six phones, G and H the spare ones. Size: S M L XL.",
        "Please order 3x A4, 2x A3, 5m Cat6a cable, 1st floor, 4th desk, 2nd drawer. Thx 4 ur help, c u l8r!",
        "sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 of the driver package.",
        "The modern burner in the corner turned warm; return the lantern, eastern concern.",
        "Use &nbsp; and &amp; and &#39; in the signature, it shows as text. Also &eacute; and &#233;.",
        "f(x) = 45, y = 50, z=3D, a=20 b=41 c=42 d=43",
        "O365 F3 and E5 licences, MS-900 course, ISO27001 audit, covid19 rules, H2O on floor B2B.",
        "W-LAN: x1 y2 z3; P1 P2 P3 P4 P5 P6 are the meeting rooms.",
    ] {
        assert_eq!(
            floor(ordinary).map(|refusal| ids(&refusal)),
            None,
            "{ordinary}"
        );
    }
    for ordinary in ORDINARY {
        assert_eq!(
            floor(ordinary).map(|refusal| ids(&refusal)),
            None,
            "{ordinary}"
        );
    }
}
