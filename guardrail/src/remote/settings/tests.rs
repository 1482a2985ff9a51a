//! What is a usable setting and what is not.

use super::*;

fn given(provider: &str) -> RemoteGiven {
    RemoteGiven {
        provider: Some(provider.to_owned()),
        model: Some("judge-1".to_owned()),
        key: (provider != "ollama").then(|| ApiKey::parse("sk-canary").unwrap()),
        ..RemoteGiven::default()
    }
}

fn fault(given: RemoteGiven) -> RemoteError {
    RemoteSettings::new(given).err().unwrap()
}

#[test]
fn each_provider_has_its_defaults() {
    for provider in Provider::ALL {
        let settings = RemoteSettings::new(given(provider.as_str())).unwrap();
        assert_eq!(settings.provider(), provider);
        assert_eq!(settings.endpoint(), provider.endpoint());
        assert_eq!(settings.deadline(), DEFAULT_DEADLINE);
        assert_eq!(settings.concurrency(), DEFAULT_CONCURRENCY);
        assert!(settings.disclosure().contains(provider.endpoint()));
    }
}

#[test]
fn what_is_missing_or_wrong_is_named() {
    let without = |take: fn(&mut RemoteGiven)| {
        let mut given = given("anthropic");
        take(&mut given);
        fault(given)
    };
    assert_eq!(
        without(|given| given.provider = None),
        RemoteError::Missing("classifier_provider")
    );
    assert_eq!(
        without(|given| given.model = None),
        RemoteError::Missing("classifier_model")
    );
    assert_eq!(
        without(|given| given.key = None),
        RemoteError::Missing("classifier_key")
    );
    for bad in ["", " ", "a b", "a\nb"] {
        let fault = fault(RemoteGiven {
            model: Some(bad.to_owned()),
            ..given("openai")
        });
        assert_eq!(fault, RemoteError::Model, "{bad:?}");
    }
    for bad in ["antropic", "", "azure"] {
        let fault = fault(RemoteGiven {
            provider: Some(bad.to_owned()),
            ..given("openai")
        });
        assert!(matches!(fault, RemoteError::Provider { .. }), "{bad:?}");
    }
    let with_key = RemoteGiven {
        key: Some(ApiKey::parse("sk-canary").unwrap()),
        ..given("ollama")
    };
    assert_eq!(fault(with_key), RemoteError::Key);
}

#[test]
fn ticket_text_goes_out_encrypted_or_stays_on_this_machine() {
    for (endpoint, usable) in [
        ("https://llm.example/v1/", true),
        ("https://llm.example", true),
        ("https://llm.example:8443/v1", true),
        ("HTTPS://llm.example/", true),
        ("http://localhost:11434", true),
        ("http://127.0.0.1:8000/v1/", true),
        ("http://127.9.9.9/", true),
        ("http://[::1]:8000/", true),
        ("http://llm.example/v1/", false),
        ("http://10.0.0.7:11434/", false),
        ("http://localhost.example/", false),
        ("http://127.0.0.1.example/", false),
        ("http://127.0.0.1@llm.example/", false),
        ("https://user:secret@llm.example/", false),
        ("https://llm.example/v1?key=secret", false),
        ("https://llm.example/#x", false),
        ("https://llm.example\\@127.0.0.1/", false),
        ("https://llm.example:port/", false),
        ("https://llm.example:0/", false),
        ("https:///v1/", false),
        ("https://", false),
        ("ftp://llm.example/", false),
        ("llm.example/v1", false),
        ("", false),
        ("https://llm example/", false),
        ("https://[::1", false),
    ] {
        let settings = RemoteSettings::new(RemoteGiven {
            endpoint: Some(endpoint.to_owned()),
            ..given("openai")
        });
        match settings {
            Ok(settings) => assert!(usable && settings.endpoint().ends_with('/'), "{endpoint}"),
            Err(error) => assert!(!usable && error == RemoteError::Endpoint, "{endpoint}"),
        }
    }
}

#[test]
fn a_key_is_one_word_that_a_header_can_hold() {
    assert!(ApiKey::parse(" sk-canary\n").is_ok());
    for bad in [
        "",
        " \n",
        "two words",
        "a\r\nx-injected: 1",
        "schl\u{fc}ssel",
    ] {
        assert_eq!(ApiKey::parse(bad).err(), Some(RemoteError::Key), "{bad:?}");
    }
}

#[test]
fn bounds_hold_whatever_is_given() {
    let settings = RemoteSettings::new(RemoteGiven {
        deadline: Some(Duration::from_hours(1)),
        concurrency: Some(100_000),
        ..given("openai")
    })
    .unwrap();
    assert_eq!(settings.deadline(), LONGEST_DEADLINE);
    assert_eq!(settings.concurrency(), MOST_CONCURRENT);
}
