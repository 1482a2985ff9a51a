//! The image and the unit are not built here, so what they name is checked against what exists.

use mcp_http::commands::command;
use mcp_http::config::{Config, Environment, Given, SETTINGS};
use mcp_http::transport::listen::Bounds;

const DOCKERFILE: &str = include_str!("../../deploy/Dockerfile");
const UNIT: &str = include_str!("../../deploy/deskgate-http.service");
const MANIFEST: &str = include_str!("../../Cargo.toml");

fn value<'a>(text: &'a str, key: &str) -> &'a str {
    let lines = text.lines().filter_map(|line| line.split_once('='));
    lines
        .filter(|(name, _)| *name == key)
        .map(|(_, value)| value)
        .next()
        .unwrap()
}

/// What a container or a unit runs, without the path of the binary.
fn starts(words: &[&str]) {
    let (path, arguments) = words.split_first().unwrap();
    assert!(path.ends_with("/deskgate-http"), "{path}");
    let all = std::iter::once("deskgate-http").chain(arguments.iter().copied());
    let matches = command().try_get_matches_from(all).unwrap();
    assert_eq!(matches.subcommand_name(), Some("serve"));
}

#[test]
fn the_unit_starts_the_binary_with_flags_that_exist_and_waits_longer_than_the_grace() {
    let words: Vec<_> = value(UNIT, "ExecStart").split(' ').collect();
    starts(&words);
    let folder = value(UNIT, "ConfigurationDirectory");
    assert!(
        words
            .iter()
            .any(|word| word.starts_with(&format!("/etc/{folder}/")))
    );
    let settings = vec![("database", "sqlite:x".to_owned())];
    let config = Config::load(&Given::new(settings, false), &Environment::default()).unwrap();
    let patience: u64 = value(UNIT, "TimeoutStopSec").parse().unwrap();
    assert!(patience > config.grace.as_secs() + 5);
    let files: usize = value(UNIT, "LimitNOFILE").parse().unwrap();
    assert!(files > Bounds::default().connections + 256);
}

#[test]
fn the_image_builds_the_package_and_runs_the_binary_that_exist() {
    for (flag, wanted) in [("--package", "mcp-http"), ("--bin", "deskgate-http")] {
        let mut words = DOCKERFILE
            .split_ascii_whitespace()
            .skip_while(|word| *word != flag);
        assert_eq!(words.nth(1), Some(wanted));
        assert!(MANIFEST.contains(&format!("name = \"{wanted}\"")));
    }
    let list = |instruction: &str| -> Vec<String> {
        let line = DOCKERFILE
            .lines()
            .find_map(|line| line.strip_prefix(instruction))
            .unwrap();
        serde_json::from_str(line.trim()).unwrap()
    };
    let all = [list("ENTRYPOINT "), list("CMD ")].concat();
    starts(&all.iter().map(String::as_str).collect::<Vec<_>>());
    let copied = DOCKERFILE
        .lines()
        .find(|line| line.starts_with("COPY --from=build "))
        .unwrap();
    assert!(copied.contains("/source/target/release/deskgate-http ") && copied.ends_with(&all[0]));
    let mut variables = DOCKERFILE
        .split([' ', '\n'])
        .filter_map(|word| word.strip_prefix("DESKGATE_")?.split_once('='))
        .peekable();
    assert!(variables.peek().is_some());
    for (name, value) in variables {
        let name = name.to_ascii_lowercase();
        assert!(
            SETTINGS.iter().any(|setting| setting.name == name),
            "{name}"
        );
        if name == "bind" {
            let port = value.rsplit(':').next().unwrap();
            assert!(DOCKERFILE.contains(&format!("EXPOSE {port}\n")));
        }
    }
}

#[test]
fn the_example_of_a_configuration_is_one() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/deploy/deskgate.toml");
    let settings = vec![("config", path.to_owned())];
    let config = Config::load(&Given::new(settings, false), &Environment::default()).unwrap();
    assert_eq!(config.issuers.len(), 1);
    let home = format!("sqlite:/var/lib/{}/", value(UNIT, "StateDirectory"));
    assert!(config.database.starts_with(&home));
    assert!(DOCKERFILE.contains(&home));
}
