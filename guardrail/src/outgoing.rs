//! What a text must not carry to a customer, whatever it answers: card numbers, secrets, and the words of staff (promise I-5).
//!
//! The model that writes may have been talked into it by a ticket that it read (attack T1), so this is a wall like the
//! screening. It goes by shape; what is spelled out in words or torn apart is not found. Deliberately absent: addresses of
//! other customers, for which one has to ask the store.

use std::collections::HashSet;

use domain::contact::{ContactKind, contacts};

/// Why a text must not leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leak {
    /// A payment card's number.
    CardNumber,
    /// A token, a key or another secret of a known form.
    Secret,
    /// A passage of the knowledge base that is for staff.
    StaffText,
}

impl Leak {
    /// Its word in an audit row.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::CardNumber => "card_number",
            Self::Secret => "secret",
            Self::StaffText => "staff_text",
        }
    }
}

/// Consecutive words of a staff block that are no chance.
const PASSAGE_WORDS: usize = 8;

/// How secrets begin that have a form of their own, and how many characters follow at the least.
const SECRETS: [(&str, usize); 14] = [
    ("dgt_", 20),
    ("ct1.", 20),
    ("AKIA", 16),
    ("ASIA", 16),
    ("AIza", 30),
    ("ghp_", 30),
    ("gho_", 30),
    ("ghs_", 30),
    ("github_pat_", 30),
    ("glpat-", 18),
    ("xoxb-", 18),
    ("xoxp-", 18),
    ("sk-", 24),
    ("sk_live_", 16),
];

/// What in a text must not leave. `staff` are passages that only staff may read, `open` are those that customers may: words
/// that stand in both are no secret.
pub fn leak<'a>(
    text: &str,
    staff: impl IntoIterator<Item = &'a str>,
    open: impl IntoIterator<Item = &'a str>,
) -> Option<Leak> {
    if holds_card(text) {
        Some(Leak::CardNumber)
    } else if holds_secret(text) {
        Some(Leak::Secret)
    } else if holds_passage(text, staff, open) {
        Some(Leak::StaffText)
    } else {
        None
    }
}

fn holds_card(text: &str) -> bool {
    contacts(text, &[])
        .iter()
        .any(|found| found.kind == ContactKind::Card && is_card(&found.value))
}

/// Whether digits are a payment card's: their length, the industry's first digits, and the check digit (ISO/IEC 7812).
fn is_card(number: &str) -> bool {
    let digits: Vec<u32> = number.chars().filter_map(|c| c.to_digit(10)).collect();
    let paid_by = matches!(digits.first(), Some(2..=6));
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(place, digit)| match place % 2 {
            0 => *digit,
            _ if *digit > 4 => digit * 2 - 9,
            _ => digit * 2,
        })
        .sum();
    (13..=19).contains(&digits.len()) && paid_by && sum.is_multiple_of(10)
}

fn holds_secret(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    text.split(|c| !is_part(c)).any(is_secret)
        || (text.contains("-----BEGIN") && text.contains("PRIVATE KEY"))
}

fn is_secret(word: &str) -> bool {
    let begins = |(begin, least): &(&str, usize)| {
        word.strip_prefix(begin)
            .is_some_and(|rest| rest.len() >= *least)
    };
    // A signed token: three parts, the first two are JSON objects.
    let mut parts = word.split('.');
    let is_signed = parts
        .by_ref()
        .take(2)
        .filter(|part| part.starts_with("eyJ"))
        .count()
        == 2
        && parts.next().is_some_and(|part| part.len() >= 16);
    is_signed || SECRETS.iter().any(begins)
}

fn holds_passage<'a>(
    text: &str,
    staff: impl IntoIterator<Item = &'a str>,
    open: impl IntoIterator<Item = &'a str>,
) -> bool {
    let written: HashSet<Vec<String>> = passages(text).collect();
    if written.is_empty() {
        return false;
    }
    let mut kept: HashSet<Vec<String>> = staff
        .into_iter()
        .flat_map(passages)
        .filter(|passage| written.contains(passage))
        .collect();
    if kept.is_empty() {
        return false;
    }
    for passage in open.into_iter().flat_map(passages) {
        kept.remove(&passage);
    }
    !kept.is_empty()
}

/// Every run of [`PASSAGE_WORDS`] words, folded.
fn passages(text: &str) -> impl Iterator<Item = Vec<String>> {
    let words: Vec<String> = domain::text::fold(text)
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect();
    let count = (words.len() + 1).saturating_sub(PASSAGE_WORDS);
    (0..count).filter_map(move |from| Some(words.get(from..from + PASSAGE_WORDS)?.to_vec()))
}

#[cfg(test)]
mod tests {
    //! One canary of each kind in each disguise that is read, and what looks like one.

    use super::*;

    const STAFF: &str =
        "Ask the caller for the last four digits of the payroll number before you reset anything.";

    fn found(text: &str) -> Option<Leak> {
        leak(
            text,
            [STAFF],
            ["Restart the router, wait for two minutes, and try to connect again."],
        )
    }

    #[test]
    fn each_canary_is_found_wherever_it_stands() {
        let secrets = [
            "dgt_0123456789abcdef0123456789abcdef",
            "ct1.k1.0123456789abcdef.0123456789abcdef",
            "AKIAABCDEFGHIJKLMNOP",
            "ghp_0123456789abcdefghijABCDEFGHIJ012345",
            "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJlLXNpZ25hdHVyZQ",
            "-----BEGIN EC PRIVATE KEY-----",
            "sk-abcdefghijklmnopqrstuvwx",
        ];
        let cards = [
            "4111111111111111",
            "4111 1111 1111 1111",
            "5555-5555-5555-4444",
            "3782 822463 10005",
            "４１１１ １１１１ １１１１ １１１１",
        ];
        let passages = [STAFF, "ASK the caller for the last four digits of"];
        for (canaries, leak) in [
            (&secrets[..], Leak::Secret),
            (&cards[..], Leak::CardNumber),
            (&passages[..], Leak::StaffText),
        ] {
            for canary in canaries {
                for text in [
                    (*canary).to_owned(),
                    format!("Good morning,\n\nas you asked: {canary} - kind regards"),
                    format!("({canary})"),
                ] {
                    assert_eq!(found(&text), Some(leak), "{text}");
                }
            }
        }
    }

    #[test]
    fn what_only_looks_like_one_may_leave() {
        for text in [
            "Your order 1234567890123456 leaves today.",
            "Please call +44 20 7946 0958 or write to help@desk.example.",
            "The part is sk-3, and the file AKIA.txt is not needed; dgt_ is a prefix.",
            "Version ct1.2 and eyJ.eyJ.x are no tokens.",
            "Ask the caller for the last four.",
            "Restart the router, wait for two minutes, and try to connect again.",
            "",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }

    #[test]
    fn words_that_customers_may_read_are_no_secret_of_the_staff() {
        assert_eq!(leak(STAFF, [STAFF], [STAFF]), None);
    }
}
