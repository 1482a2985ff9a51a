//! A refusal never names what would unlock it: no parameter, no setting, no tool of the people who may (promise G-18).
//!
//! Every refusal that any test of the surface meets passes [`check_names_no_way_round`], and here every code does.

use std::collections::BTreeSet;

use desk::ErrorCode;

use crate::{Toolset, tool_specs};

/// Whether a rule or a right said no, and not a mistake in the call or a fault.
fn is_refusal(code: ErrorCode) -> bool {
    !code.is_error() || code == ErrorCode::Forbidden
}

/// Words of a refusal that nobody needs to know who is refused.
fn ways_round() -> BTreeSet<String> {
    let mut words: BTreeSet<String> = tool_specs()
        .flat_map(|spec| spec.arguments(true))
        .map(|argument| argument.name)
        // The others are plain words, such as `note`.
        .filter(|name| name.contains('_'))
        .map(str::to_owned)
        .collect();
    let deciding = tool_specs().filter(|spec| spec.toolset == Toolset::Review);
    words.extend(deciding.map(|spec| spec.name.to_owned()));
    for word in [
        "--",
        "deskgate_",
        "confirm=",
        "force",
        "override",
        "bypass",
        "skip",
        "disable",
        "standard",
        "strict",
        "policy",
        "approvals approve",
        "classifier=",
        "read-only=",
    ] {
        words.insert(word.to_owned());
    }
    words
}

/// Fails where a refusal names a way round itself.
#[track_caller]
pub(super) fn check_names_no_way_round(code: ErrorCode, text: &str) {
    if !is_refusal(code) {
        return;
    }
    // A token is digits, whatever they happen to spell.
    let words = text.split_whitespace();
    let words: Vec<&str> = words.filter(|word| !word.starts_with("ct1.")).collect();
    let text = words.join(" ").to_lowercase();
    for word in ways_round() {
        assert!(
            !text.contains(&word),
            "{} names `{word}`: {text}",
            code.as_str()
        );
    }
}

#[test]
fn no_code_has_words_that_name_a_way_round_it() {
    let refusals: Vec<ErrorCode> = ErrorCode::ALL
        .iter()
        .copied()
        .filter(|code| is_refusal(*code))
        .collect();
    assert_eq!(refusals.len(), 15, "{refusals:?}");
    for code in refusals {
        check_names_no_way_round(code, code.hint());
        check_names_no_way_round(code, code.when());
    }
    let words = ways_round();
    for word in [
        "confirmation_token",
        "if_version",
        "from_customer",
        "record_security_review",
    ] {
        assert!(words.contains(word), "{word}: {words:?}");
    }
}
