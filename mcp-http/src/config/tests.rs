//! Settings from three sources; what is misspelt or unsafe stops the start (field report 41).

use super::*;

fn given(values: &[(&'static str, &str)]) -> Given {
    let mut all = vec![("database", "sqlite:desk.db".to_owned())];
    all.extend(
        values
            .iter()
            .map(|(name, value)| (*name, (*value).to_owned())),
    );
    Given::new(all, false)
}

fn load(values: &[(&'static str, &str)]) -> anyhow::Result<Config> {
    Config::load(&given(values), &Environment::default())
}

#[track_caller]
fn refused(values: &[(&'static str, &str)], words: &[&str]) {
    let error = format!("{:#}", load(values).err().unwrap());
    for word in words {
        assert!(error.contains(word), "{word}: {error}");
    }
}

fn environment(pairs: &[(&str, &str)]) -> anyhow::Result<Environment> {
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    Environment::from_pairs(pairs.iter().map(owned))
}

#[test]
fn without_settings_it_listens_on_the_loopback_and_lets_personal_tokens_in() {
    let config = load(&[]).unwrap();
    assert_eq!(config.bind.to_string(), "127.0.0.1:3001");
    assert!(config.personal_tokens && config.issuers.is_empty());
    assert!(config.allowed_origins.is_empty() && config.trusted_proxies.is_empty());
    assert_eq!(config.rates, Rates::default());
    assert_eq!(config.surface.timeout, Duration::from_secs(30));
}

#[test]
fn flags_win_over_the_environment_and_that_over_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deskgate.toml");
    std::fs::write(&path, "log = \"error\"\nsessions = 7\nin_flight = 3\n").unwrap();
    let path = path.to_str().unwrap();
    let variables = environment(&[
        ("DESKGATE_CONFIG", path),
        ("DESKGATE_SESSIONS", "8"),
        ("DESKGATE_IN_FLIGHT", "4"),
        ("PATH", "x"),
    ])
    .unwrap();
    let config = Config::load(&given(&[("in_flight", "5")]), &variables).unwrap();
    assert_eq!(config.log, Level::Error);
    assert_eq!(config.sessions.total, 8);
    assert_eq!(config.rates.in_flight, 5);
}

#[test]
fn unknown_names_stop_the_start_in_the_environment_and_in_the_file() {
    let error = environment(&[("DESKGATE_READONLY", "true")])
        .err()
        .unwrap()
        .to_string();
    assert!(error.contains("DESKGATE_READ_ONLY"), "{error}");
    assert!(environment(&[("DESKGATE_FULL", "1"), ("DESKGATE_TEST_X", "1")]).is_ok());
    for text in [
        "readonly = true",
        "read-only = true",
        "config = \"x\"",
        "[server]\nbind = \"x\"",
    ] {
        assert!(file::parse(text).is_err(), "{text}");
    }
    let issuer = "[[issuers]]\nissuer = \"https://a.example\"\nalgorithms = [\"RS256\"]\n";
    assert!(file::parse(issuer).is_ok());
    for more in [
        "alg = 1",
        "token_type = \"jwt\"",
        "scope_claim = \"scopes\"",
        "leeway_seconds = \"30\"",
    ] {
        assert!(file::parse(&format!("{issuer}{more}\n")).is_err(), "{more}");
    }
}

#[test]
fn truth_values_and_numbers_are_exact() {
    for name in ["read_only", "personal_tokens"] {
        for word in ["True", "TRUE", "yes", "1", "on", "read_only-true"] {
            refused(&[(name, word)], &[name, "only `true` and `false`"]);
        }
    }
    assert!(load(&[("read_only", " true ")]).unwrap().surface.read_only);
    for (name, value) in [
        ("timeout_seconds", "0"),
        ("timeout_seconds", "30s"),
        ("concurrency", "-1"),
        ("sessions", "1e3"),
        ("writes_per_second", "0"),
        ("grace_seconds", "601"),
    ] {
        refused(&[(name, value)], &[name, "a whole number from"]);
    }
    refused(&[("bind", "localhost")], &["bind", "127.0.0.1:3001"]);
    refused(&[("log", "loud")], &["`log`", "error, warn, info"]);
    refused(
        &[("toolsets", "tickets,ticket")],
        &["`toolsets`", "tickets"],
    );
    refused(&[("confirm", "none")], &["`confirm`", "standard"]);
    for word in ["off", "nome"] {
        refused(
            &[("classifier", word)],
            &["`classifier`", "local, none, remote"],
        );
    }
    for (given, word) in [
        ("close_ticket", "OPERATION=token"),
        ("close_ticket=open", "token, person"),
        ("close=token", "close_ticket"),
    ] {
        refused(&[("approval", given)], &["`approval`", word]);
    }
}

#[test]
fn what_nobody_could_be_told_apart_behind_does_not_start() {
    refused(
        &[("personal_tokens", "false")],
        &["nobody could sign in", "[[issuers]]"],
    );
    for address in ["0.0.0.0:3001", "192.168.1.5:3001", "[::]:3001"] {
        refused(
            &[("bind", address)],
            &["reachable from other machines", "public_url"],
        );
        assert!(
            load(&[
                ("bind", address),
                ("public_url", "https://desk.example/mcp")
            ])
            .is_ok()
        );
    }
    refused(&[("tls_key", "key.pem")], &["belong together"]);
    refused(
        &[("timeout_seconds", "600"), ("session_idle_minutes", "15")],
        &["session_idle_minutes", "timeout_seconds"],
    );
}

#[test]
fn what_is_printed_can_be_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deskgate.toml");
    let issuer = "[[issuers]]\nissuer = \"https://a.example\"\nalgorithms = [\"RS256\", \"ES256\"]\njwks_file = \"keys.json\"\nroles_claim = \"roles\"\n";
    std::fs::write(
        &path,
        format!("allowed_hosts = [\"a.example\", \"b.example:1\"]\n{issuer}"),
    )
    .unwrap();
    let first = load(&[
        ("config", path.to_str().unwrap()),
        ("read_only", "true"),
        ("writes_per_second", "3"),
        ("public_url", "https://desk.example/mcp"),
        ("metrics_bind", "127.0.0.1:9"),
        ("key_file", "keys"),
        ("checkpoint_file", "notes"),
        ("confirm", "strict"),
        ("approval", "close_ticket=person, update_ticket=token"),
    ])
    .unwrap();
    let printed = first.to_toml().unwrap();
    std::fs::write(&path, &printed).unwrap();
    let second = load(&[("config", path.to_str().unwrap())]).unwrap();
    assert_eq!(second.to_toml().unwrap(), printed);
    assert_eq!(second.allowed_hosts, ["a.example", "b.example:1"]);
    assert_eq!(second.issuers.len(), 1);
}

#[test]
fn spans_go_to_this_machine_or_by_tls() {
    for url in [
        "http://127.0.0.1:4318",
        "http://localhost:4318/",
        "https://collector.example",
    ] {
        let config = load(&[("otlp_endpoint", url)]).unwrap();
        assert_eq!(config.otlp_endpoint.as_deref(), Some(url));
    }
    for url in [
        "collector:4318",
        "http://collector.example:4318",
        "http://127.0.0.1.example",
        "grpc://localhost:4317",
        "https://collector.example?key=x",
        "https://anna:secret@collector.example",
    ] {
        refused(&[("otlp_endpoint", url)], &["`otlp_endpoint`"]);
    }
}

const REMOTE: [(&str, &str); 3] = [
    ("classifier", "remote"),
    ("classifier_provider", "anthropic"),
    ("classifier_model", "judge-1"),
];

#[test]
fn a_remote_classifier_needs_all_that_it_is_asked_with_and_its_key_is_never_shown() {
    const KEY: (&str, &str) = ("DESKGATE_CLASSIFIER_KEY", "canary-7f3a");
    let with_key = environment(&[KEY]).unwrap();
    let config = Config::load(&given(&REMOTE), &with_key).unwrap();
    let printed = config.to_toml().unwrap();
    assert!(
        printed.contains("classifier_model = \"judge-1\"") && !printed.contains(KEY.1),
        "{printed}"
    );
    for (values, variables, word) in [
        (&REMOTE[..1], &[KEY][..], "`classifier_provider`"),
        (&REMOTE[..2], &[KEY][..], "`classifier_model`"),
        (&REMOTE[..], &[], "`classifier_key"),
        (&REMOTE[1..], &[], "the classifier is `local`"),
        (&[], &[KEY][..], "the classifier is `local`"),
    ] {
        let error = Config::load(&given(values), &environment(variables).unwrap()).err();
        let error = format!("{:#}", error.unwrap());
        assert!(error.contains(word) && !error.contains(KEY.1), "{error}");
    }
    // A key on a command line or in a file that is kept with others would be seen.
    assert!(file::parse("classifier_key = \"x\"").is_err());
}

#[test]
fn a_rate_keeps_its_proportion_of_burst() {
    let config = load(&[("reads_per_second", "5"), ("writes_per_second", "3")]).unwrap();
    assert_eq!(config.rates.reads.burst.get(), 20);
    assert_eq!(config.rates.writes.burst.get(), 6);
}

#[test]
fn every_setting_is_a_flag_a_variable_and_a_key_of_the_file_and_is_printed() {
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("key");
    std::fs::write(&key, "canary").unwrap();
    let mut values = vec![
        ("public_url", "https://a.example/mcp"),
        ("tls_key", "k"),
        ("tls_certificate", "c"),
        ("metrics_bind", "127.0.0.1:9"),
        ("key_file", "keys"),
        ("otlp_endpoint", "https://collector.example:4318"),
        ("classifier_key_file", key.to_str().unwrap()),
        ("checkpoint_file", "notes"),
    ];
    values.extend(REMOTE);
    let printed = load(&values).unwrap().to_toml().unwrap();
    let command = crate::commands::command();
    for setting in SETTINGS {
        let flag = setting.name.replace('_', "-");
        assert!(
            command
                .get_arguments()
                .any(|arg| arg.get_long() == Some(&flag)),
            "{flag}"
        );
        assert_eq!(
            printed.contains(&format!("{} = ", setting.name)),
            setting.in_file,
            "{}",
            setting.name
        );
    }
    command.debug_assert();
}
