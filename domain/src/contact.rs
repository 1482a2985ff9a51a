//! What in a text is shaped like a way to reach or to charge a person: e-mail addresses, phone numbers, card numbers.
//!
//! Callers without the right to contact fields must not find them in free text either (promises Z-6 and S-8). Finding is by
//! shape and leans towards too much: seven digits with the usual separators are a phone number unless they are a date, a
//! record's id, an address of the internet protocol or part of a hexadecimal word. Digits of other scripts, wide forms and
//! characters that are not seen are read as what they stand for. Deliberately absent: numbers spelled out in words.

mod email;
mod glyphs;
mod number;

use std::ops::Range;

use glyphs::Glyphs;

/// What a part of a text is shaped like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ContactKind {
    /// An e-mail address.
    Email,
    /// A phone number.
    Phone,
    /// A card number, or another number as long as one.
    Card,
}

impl ContactKind {
    /// Its word in a stand-in.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Email => "email",
            Self::Phone => "phone",
            Self::Card => "card",
        }
    }
}

/// A part of a text that is shaped like a contact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contact {
    /// What it is shaped like.
    pub kind: ContactKind,
    /// Where it is, in bytes.
    pub place: Range<usize>,
    /// Itself as it is compared: two ways of writing one address or number are equal.
    pub value: String,
}

/// Digits of a phone number that count when two are compared: the country's code may be there or not.
const COMPARED_DIGITS: usize = 9;

/// A whole value as it is compared, for fields that hold nothing else.
pub fn contact_value(kind: ContactKind, text: &str) -> String {
    match kind {
        ContactKind::Email => crate::text::fold(text),
        ContactKind::Phone | ContactKind::Card => {
            let digits: Vec<char> = text.chars().filter_map(glyphs::digit).collect();
            compared(kind, &digits)
        }
    }
}

fn compared(kind: ContactKind, digits: &[char]) -> String {
    let skipped = match kind {
        ContactKind::Phone => digits.len().saturating_sub(COMPARED_DIGITS),
        ContactKind::Email | ContactKind::Card => 0,
    };
    digits.iter().skip(skipped).collect()
}

/// Everything in a text that is shaped like a contact, in order. `phones` are numbers that are known to be some: they are
/// found where they are shorter than others.
pub fn contacts(text: &str, phones: &[&str]) -> Vec<Contact> {
    if !may_hold_one(text) {
        return Vec::new();
    }
    let known: Vec<String> = phones
        .iter()
        .map(|phone| phone.chars().filter_map(glyphs::digit).collect())
        .collect();
    let glyphs = Glyphs::of(text);
    let emails = email::find(&glyphs);
    let numbers = number::find(&glyphs, &known, &emails);
    let mut found: Vec<Contact> = emails
        .into_iter()
        .map(|place| Contact {
            kind: ContactKind::Email,
            value: email::value(&glyphs, &place),
            place: glyphs.bytes(&place),
        })
        .chain(numbers.into_iter().map(|found| Contact {
            kind: found.kind,
            value: compared(found.kind, &found.digits),
            place: glyphs.bytes(&found.place),
        }))
        .collect();
    found.sort_by_key(|contact| contact.place.start);
    found
}

/// A text with every contact in it replaced; `None` where there is none.
pub fn without_contacts(
    text: &str,
    phones: &[&str],
    stand_in: impl Fn(ContactKind, &str) -> String,
) -> Option<String> {
    let found = contacts(text, phones);
    if found.is_empty() {
        return None;
    }
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for contact in found {
        out.push_str(text.get(from..contact.place.start).unwrap_or_default());
        out.push_str(&stand_in(contact.kind, &contact.value));
        from = contact.place.end;
    }
    out.push_str(text.get(from..).unwrap_or_default());
    Some(out)
}

/// Most texts hold neither an at sign nor three digits, and are not looked at any further.
fn may_hold_one(text: &str) -> bool {
    let mut digits = 0;
    text.chars().any(|c| {
        digits += usize::from(glyphs::digit(c).is_some());
        digits >= number::LEAST_KNOWN
            || matches!(glyphs::folded(c), '@' | '%' | '&' | '(' | '[' | '{')
    })
}

#[cfg(test)]
mod tests;
