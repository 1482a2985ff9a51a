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

const REMOTE: [&str; 6] = [
    "--classifier",
    "remote",
    "--classifier-provider",
    "anthropic",
    "--classifier-model",
    "judge-1",
];

const KEY: (&str, &str) = ("DESKGATE_CLASSIFIER_KEY", "canary-key-5f1d");

#[test]
fn the_classifier_is_local_unless_it_is_set_otherwise_and_an_unknown_one_stops_the_start() {
    for (arguments, pairs, expected) in [
        (&[][..], &[][..], "local"),
        (&["--classifier", "none"], &[], "none"),
        (&[], &[("DESKGATE_CLASSIFIER", "none")], "none"),
        (
            &["--classifier", "local"],
            &[("DESKGATE_CLASSIFIER", "none")],
            "local",
        ),
    ] {
        let config = load(arguments, pairs).unwrap();
        assert_eq!(config.classifier.as_str(), expected);
        let shown = config.to_toml().unwrap();
        assert!(shown.contains(&format!("classifier = \"{expected}\"")));
        assert_eq!(shown.contains("floor_only"), expected == "none", "{shown}");
    }
    for word in ["nome", "off", "false", "floor-only", "remote,local"] {
        assert!(load(&["--classifier", word], &[]).is_err(), "{word}");
        assert!(
            load(&[], &[("DESKGATE_CLASSIFIER", word)]).is_err(),
            "{word}"
        );
        let file = file(&format!("classifier = \"{word}\""));
        let path = file.path().to_str().unwrap();
        assert!(load(&["--config", path], &[]).is_err(), "{word}");
    }
    for (name, value) in [
        ("DESKGATE_CLASSIFER", "none"),
        ("DESKGATE_CLASSIFIER_API_KEY", "x"),
    ] {
        assert!(environment(&[(name, value)]).is_err(), "{name}");
    }
}

#[test]
fn the_remote_classifier_is_disclosed_and_its_key_is_not_shown() {
    let config = load(&REMOTE, &[KEY]).unwrap();
    let shown = config.to_toml().unwrap();
    for line in [
        "classifier = \"remote\"",
        "classifier_provider = \"anthropic\"",
        "classifier_model = \"judge-1\"",
        "classifier_key = \"(hidden)\"",
        "classifier_timeout_seconds = 10",
        "classifier_concurrency = 4",
        "# the texts of tickets are sent to https://",
    ] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    assert!(!shown.contains(KEY.1), "{shown}");
    let key = file(&format!("{}\n", KEY.1));
    let path = key.path().to_str().unwrap();
    let from_file = [&REMOTE[..], &["--classifier-key-file", path]].concat();
    assert_eq!(load(&from_file, &[]).unwrap().to_toml().unwrap(), shown);
    let both = format!("{:#}", load(&from_file, &[KEY]).err().unwrap());
    assert!(
        both.contains("leave one out") && !both.contains(KEY.1),
        "{both}"
    );
}

#[test]
fn a_remote_classifier_that_cannot_be_used_stops_the_start() {
    let with = |more: &[&'static str]| [&REMOTE[..], more].concat();
    for (what, arguments, pairs) in [
        ("no key", with(&[]), vec![]),
        (
            "a key of a provider's name",
            with(&[]),
            vec![("ANTHROPIC_API_KEY", "canary")],
        ),
        ("no model", with(&[])[..4].to_vec(), vec![KEY]),
        ("no provider", with(&[])[..2].to_vec(), vec![KEY]),
        (
            "key file that is not there",
            with(&["--classifier-key-file", "no-such-file"]),
            vec![],
        ),
        (
            "a key for Ollama",
            vec![
                "--classifier=remote",
                "--classifier-provider=ollama",
                "--classifier-model=m",
            ],
            vec![KEY],
        ),
        (
            "plain HTTP",
            with(&["--classifier-endpoint", "http://llm.example/"]),
            vec![KEY],
        ),
        (
            "no time",
            with(&["--classifier-timeout-seconds", "0"]),
            vec![KEY],
        ),
        (
            "too much time",
            with(&["--classifier-timeout-seconds", "61"]),
            vec![KEY],
        ),
        (
            "as long as a call",
            with(&["--classifier-timeout-seconds", "30"]),
            vec![KEY],
        ),
        (
            "no place",
            with(&["--classifier-concurrency", "0"]),
            vec![KEY],
        ),
        ("settings without the kind", with(&[])[2..].to_vec(), vec![]),
        ("a key without the kind", vec![], vec![KEY]),
    ] {
        let error = load(&arguments, &pairs).err();
        assert!(error.is_some(), "{what}");
        assert!(
            !format!("{:?}", error.unwrap()).contains("canary"),
            "{what}"
        );
    }
}
