//! That no test can reach a live provider with somebody's key.

use guardrail::remote::FOREIGN_VARIABLES;

#[test]
fn no_variable_of_a_provider_reaches_the_tests() {
    let found: Vec<String> = std::env::vars_os()
        .filter_map(|(name, _)| name.into_string().ok())
        .filter(|name| {
            let begins = FOREIGN_VARIABLES
                .iter()
                .any(|begin| name.starts_with(begin));
            begins || name.starts_with("DESKGATE_CLASSIFIER")
        })
        .collect();
    assert!(
        found.is_empty(),
        "run the tests without {found:?}, as `cargo xtask test` does"
    );
}
