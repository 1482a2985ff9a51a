//! Precedence and refusals, for every way in.

use super::*;

fn environment(pairs: &[(&str, &str)]) -> anyhow::Result<Environment> {
    Environment::from_pairs(
        pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned())),
    )
}

fn load(arguments: &[&str], pairs: &[(&str, &str)]) -> anyhow::Result<Config> {
    let base = ["deskgate-stdio", "--database", "sqlite:desk.db"];
    let flags = Flags::try_parse_from(base.iter().chain(arguments))?;
    Config::load(&flags, &environment(pairs)?)
}

fn file(text: &str) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    file
}

#[test]
fn flags_win_over_environment_and_environment_over_file() {
    let file = file("\u{feff}read_only = true\ntoolsets = [\"tickets\"]\nconcurrency = 3\n");
    let path = file.path().to_str().unwrap();
    let config = load(&["--config", path], &[]).unwrap();
    assert!(config.read_only && config.concurrency == 3);
    assert_eq!(config.toolsets, [Toolset::Tickets]);
    let config = load(
        &["--config", path],
        &[
            ("DESKGATE_CONCURRENCY", "4"),
            ("DESKGATE_READ_ONLY", "false"),
        ],
    )
    .unwrap();
    assert!(!config.read_only && config.concurrency == 4);
    let config = load(
        &["--config", path, "--concurrency", "5", "--read-only"],
        &[("DESKGATE_READ_ONLY", "false")],
    )
    .unwrap();
    assert!(config.read_only && config.concurrency == 5);
}

#[test]
fn a_misspelt_safety_setting_stops_the_start_however_it_comes_in() {
    for word in ["True", "yes", "1", "on", "treu", "read_only-true"] {
        assert!(
            load(&[&format!("--read-only={word}")], &[]).is_err(),
            "flag {word}"
        );
        assert!(
            load(&[], &[("DESKGATE_READ_ONLY", word)]).is_err(),
            "variable {word}"
        );
    }
    for text in [
        "read_only = \"true\"",
        "readonly = true",
        "read-only = true",
        "read_only = 1",
        "toolset = []",
    ] {
        let file = file(text);
        assert!(
            load(&["--config", file.path().to_str().unwrap()], &[]).is_err(),
            "{text}"
        );
    }
    for name in [
        "DESKGATE_READONLY",
        "DESKGATE_READ_ONLY_",
        "DESKGATE_TOOLSET",
    ] {
        let error = environment(&[(name, "true")]).err().unwrap().to_string();
        assert!(
            error.contains(name) && error.contains("DESKGATE_READ_ONLY"),
            "{error}"
        );
    }
    for arguments in [
        ["--readonly", ""],
        ["--toolsets", "ticket"],
        ["--role", "admin"],
    ] {
        let arguments: Vec<&str> = arguments
            .into_iter()
            .filter(|word| !word.is_empty())
            .collect();
        assert!(load(&arguments, &[]).is_err(), "{arguments:?}");
    }
}

#[test]
fn the_actor_defaults_to_the_os_user_and_cannot_be_blank_or_broken() {
    assert_eq!(
        load(&[], &[("USER", "alice")]).unwrap().actor,
        "local:alice"
    );
    assert_eq!(
        load(&[], &[("USER", "alice"), ("MCP_ACTOR", "bob")])
            .unwrap()
            .actor,
        "bob"
    );
    assert_eq!(
        load(&["--actor", "carol"], &[("MCP_ACTOR", "bob")])
            .unwrap()
            .actor,
        "carol"
    );
    for bad in ["", " ", "a\nb"] {
        assert!(load(&["--actor", bad], &[]).is_err(), "{bad:?}");
    }
}

#[test]
fn what_is_checked_is_what_would_be_read_back() {
    let config = load(
        &["--read-only", "--toolsets", "tickets, audit"],
        &[("USER", "alice")],
    )
    .unwrap();
    let shown = config.to_toml().unwrap();
    for line in [
        "read_only = true",
        "toolsets = [\"tickets\", \"audit\"]",
        "actor = \"local:alice\"",
    ] {
        assert!(shown.contains(line), "{shown}");
    }
}
