//! What a text must be to be stored, and how it is folded to be compared.
//!
//! Stored text is kept byte for byte (field report 19): nothing is escaped, normalised or trimmed, except names and
//! other one-line labels, which lose the blanks around them. PostgreSQL cannot hold NUL, so it is refused everywhere.

use unicode_normalization::UnicodeNormalization;

/// A rule for a field of prose: not blank, no NUL, at most `max` characters.
///
/// It is written as a closure maker because `garde` wants a function of the value and its context.
pub fn prose(max: usize) -> impl Fn(&str, &()) -> garde::Result {
    move |value, ()| check_prose(value, max)
}

/// A rule for a one-line label such as a name: like [`prose`], and without line breaks or other control characters.
pub fn label(max: usize) -> impl Fn(&str, &()) -> garde::Result {
    move |value, ()| check_label(value, max)
}

/// [`prose`] for a field that may be absent.
pub fn optional_prose(max: usize) -> impl Fn(&Option<String>, &()) -> garde::Result {
    move |value, ()| {
        value
            .as_deref()
            .map_or(Ok(()), |value| check_prose(value, max))
    }
}

/// [`label`] for a field that may be absent.
pub fn optional_label(max: usize) -> impl Fn(&Option<String>, &()) -> garde::Result {
    move |value, ()| {
        value
            .as_deref()
            .map_or(Ok(()), |value| check_label(value, max))
    }
}

/// A rule for an e-mail address: one `@`, a dot in the domain, nothing blank, at most 254 characters.
///
/// Deliverability is for the mail system; the rule keeps out what is plainly something else.
pub fn email_address(value: &str, (): &()) -> garde::Result {
    check_label(value, crate::limits::EMAIL_CHARS)?;
    let plain = !value.contains(char::is_whitespace);
    let parts: Vec<&str> = value.split('@').collect();
    match parts.as_slice() {
        [local, domain]
            if plain
                && !local.is_empty()
                && domain.contains('.')
                && domain.split('.').all(|part| !part.is_empty()) =>
        {
            Ok(())
        }
        _ => Err(garde::Error::new(
            "must be an e-mail address such as `name@company.example`",
        )),
    }
}

/// A rule for a phone number that may be absent: digits with the usual separators, 3 to 40 characters.
pub fn optional_phone(value: &Option<String>, (): &()) -> garde::Result {
    let Some(value) = value.as_deref() else {
        return Ok(());
    };
    check_label(value, crate::limits::PHONE_CHARS)?;
    let usual = value
        .chars()
        .all(|c| c.is_ascii_digit() || " +-()./x".contains(c));
    if usual && value.chars().filter(char::is_ascii_digit).count() >= 3 {
        Ok(())
    } else {
        Err(garde::Error::new(
            "must be a phone number such as `+44 20 7946 0123`",
        ))
    }
}

fn check_prose(value: &str, max: usize) -> garde::Result {
    let count = value.chars().count();
    if count > max {
        return Err(garde::Error::new(format!(
            "must be at most {max} characters, and has {count}"
        )));
    }
    if value.trim().is_empty() {
        return Err(garde::Error::new(format!(
            "must not be blank; 1 to {max} characters are allowed"
        )));
    }
    if value.contains('\0') {
        return Err(garde::Error::new(
            "must not contain the NUL character (U+0000)",
        ));
    }
    Ok(())
}

fn check_label(value: &str, max: usize) -> garde::Result {
    check_prose(value, max)?;
    if value.chars().any(char::is_control) {
        return Err(garde::Error::new(
            "must be one line without control characters",
        ));
    }
    Ok(())
}

/// Folds a label so that two ways of writing it compare equal: compatibility forms, case and outer blanks.
///
/// Folding is done here and stored, since SQLite folds ASCII only and PostgreSQL by its locale (style, part 3.4).
pub fn fold(value: &str) -> String {
    value.trim().nfkc().flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    //! Tables of accepted and refused values.

    use super::*;

    #[test]
    fn emails_are_told_from_other_things() {
        for good in [
            "a@b.example",
            "first.last+tag@sub.company.example",
            "ünï@bücher.example",
        ] {
            assert!(email_address(good, &()).is_ok(), "{good}");
        }
        for bad in [
            "",
            "a",
            "a@b",
            "a@@b.example",
            "a b@c.example",
            "@b.example",
            "a@.example",
            "a@b.",
            "a@b.example\n",
        ] {
            assert!(email_address(bad, &()).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_length_error_names_the_limit_and_the_length() {
        let error = prose(10)("12345678901", &()).unwrap_err();
        assert_eq!(error.message(), "must be at most 10 characters, and has 11");
        assert!(prose(10)("😀😀😀😀😀😀😀😀😀😀", &()).is_ok());
    }

    #[test]
    fn nul_and_blank_are_refused_and_other_text_is_not() {
        assert!(prose(9)("a\0b", &()).is_err());
        assert!(prose(9)(" \r\n ", &()).is_err());
        assert!(prose(99)("a\r\nb\tc \u{202e}d", &()).is_ok());
        assert!(label(99)("a\nb", &()).is_err());
    }

    #[test]
    fn folding_ignores_case_width_and_outer_blanks() {
        assert_eq!(fold("  ＡCME Größe "), fold("acme größe"));
    }
}
