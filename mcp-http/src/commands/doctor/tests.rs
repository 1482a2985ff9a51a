//! What the settings alone give away.

use crate::config::{Config, Environment, Given};

use super::deviations;

fn found(values: &[(&'static str, &str)], file: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deskgate.toml");
    std::fs::write(&path, file).unwrap();
    let mut all = vec![
        ("database", "sqlite:desk.db".to_owned()),
        ("config", path.to_str().unwrap().to_owned()),
    ];
    all.extend(
        values
            .iter()
            .map(|(name, value)| (*name, (*value).to_owned())),
    );
    deviations(&Config::load(&Given::new(all, false), &Environment::default()).unwrap())
}

const ISSUER: &str =
    "[[issuers]]\nissuer = \"https://a.example\"\nalgorithms = [\"RS256\"]\njwks_file = \"k\"\n";

#[test]
fn nothing_deviates_by_default_and_in_a_careful_setup() {
    assert_eq!(found(&[], ""), Vec::<String>::new());
    let behind_a_proxy = [
        ("bind", "10.0.0.5:3001"),
        ("public_url", "https://desk.example/mcp"),
        ("trusted_proxies", "10.0.0.1"),
        (
            "allowed_origins",
            "https://app.example,http://localhost:5173",
        ),
    ];
    let file = format!("{ISSUER}roles_claim = \"roles\"\n");
    assert_eq!(found(&behind_a_proxy, &file), Vec::<String>::new());
}

/// Settings, lines of the issuer, and what is said of them.
type Case = (
    &'static [(&'static str, &'static str)],
    &'static str,
    &'static [&'static str],
);

#[test]
fn each_deviation_has_its_line() {
    const OPEN: &[(&str, &str)] = &[
        ("bind", "0.0.0.0:3001"),
        ("public_url", "http://desk.example/mcp"),
    ];
    let cases: [Case; 9] = [
        (&[("classifier", "none")], "", &["`classifier`"]),
        (OPEN, "", &["`bind` is", "`public_url` is"]),
        (
            &[("allowed_origins", "http://app.example")],
            "",
            &["`allowed_origins`"],
        ),
        (
            &[("trusted_proxies", "0.0.0.0/0")],
            "",
            &["`trusted_proxies`"],
        ),
        (&[("metrics_bind", "0.0.0.0:9000")], "", &["`metrics_bind`"]),
        (&[("log", "debug")], "", &["`log` is"]),
        (
            &[],
            "token_type = \"any\"\nroles_claim = \"r\"",
            &["`token_type"],
        ),
        (
            &[],
            "allow_private_address = true\nroles_claim = \"r\"",
            &["`allow_private_address`"],
        ),
        (
            &[],
            "jwks_max_age_seconds = 90000",
            &["`jwks_max_age_seconds`", "`roles_claim`"],
        ),
    ];
    for (values, issuer, lines) in cases {
        let file = if issuer.is_empty() {
            String::new()
        } else {
            format!("{ISSUER}{issuer}\n")
        };
        let found = found(values, &file);
        assert_eq!(found.len(), lines.len(), "{values:?} {found:?}");
        for (found, line) in found.iter().zip(lines) {
            assert!(found.contains(line), "{line}: {found}");
        }
    }
}
