//! Promise N-3: keys that change, sources that fail, sets that are too large or too weak.

use std::sync::Arc;

use serde_json::{Value, json};

use super::material::{Desk, ISSUER, Script, Signer, claims, encode, key_set, rules};
use crate::auth::keys::{KeySet, KeySetError};
use crate::auth::{CheckUnavailable, Denied};

fn desk(script: &Arc<Script>) -> Desk {
    Desk::with_issuers(vec![(rules(ISSUER), Arc::clone(script))])
}

#[tokio::test]
async fn a_new_key_is_found_with_one_fetch_and_a_withdrawn_one_is_gone() {
    let (old, new) = (Signer::es256(), Signer::es256());
    let script = Script::answering(key_set(&[&old]));
    let desk = desk(&script);
    desk.enter(&old.token(&claims())).await.unwrap();
    assert_eq!(script.fetches(), 1);
    script.set(Some(key_set(&[&new])));
    desk.clock.advance(60);
    desk.enter(&new.token(&claims())).await.unwrap();
    assert_eq!(script.fetches(), 2);
    let denied = desk.enter(&old.token(&claims())).await;
    assert!(matches!(denied, Err(Denied::Refused(_))));
}

#[tokio::test]
async fn ten_thousand_unknown_key_ids_cost_one_fetch_in_thirty_seconds() {
    let signer = Signer::es256();
    let script = Script::answering(key_set(&[&signer]));
    let desk = desk(&script);
    desk.enter(&signer.token(&claims())).await.unwrap();
    desk.clock.advance(31);
    let template = signer.token(&claims());
    let (_, rest) = template.split_once('.').unwrap();
    for n in 0..10_000 {
        let header = json!({"alg": "ES256", "typ": "at+jwt", "kid": format!("unknown-{n}")});
        let token = format!("{}.{rest}", encode(header.to_string()));
        assert!(desk.enter(&token).await.is_err());
    }
    assert_eq!(script.fetches(), 2);
    desk.clock.advance(29);
    let header = json!({"alg": "ES256", "typ": "at+jwt", "kid": "unknown"});
    let unknown = format!("{}.{rest}", encode(header.to_string()));
    assert!(desk.enter(&unknown).await.is_err());
    assert_eq!(script.fetches(), 2);
    desk.clock.advance(1);
    assert!(desk.enter(&unknown).await.is_err());
    assert_eq!(script.fetches(), 3);
}

#[tokio::test]
async fn an_outage_is_bridged_until_the_set_is_too_old_and_then_nobody_enters() {
    let signer = Signer::es256();
    let script = Script::answering(key_set(&[&signer]));
    let desk = desk(&script);
    let token = signer.token(&{
        let mut long = claims();
        long["exp"] = 1_900_000_000.into();
        long
    });
    desk.enter(&token).await.unwrap();
    script.set(None);
    desk.clock.advance(3599);
    desk.enter(&token).await.unwrap();
    desk.clock.advance(61);
    let denied = desk.enter(&token).await;
    assert!(matches!(
        denied,
        Err(Denied::Unavailable(CheckUnavailable::Keys(_)))
    ));
    script.set(Some(key_set(&[&signer])));
    desk.clock.advance(31);
    desk.enter(&token).await.unwrap();
}

#[tokio::test]
async fn a_set_that_was_never_read_lets_nobody_in() {
    let signer = Signer::es256();
    let script = Script::answering(b"not a key set".to_vec());
    let desk = desk(&script);
    let denied = desk.enter(&signer.token(&claims())).await;
    assert!(matches!(denied, Err(Denied::Unavailable(_))));
}

#[tokio::test]
async fn a_token_without_a_key_id_enters_only_where_there_is_no_choice() {
    let (one, two) = (Signer::es256(), Signer::es256());
    let token = one.sign(
        &json!({"alg": "ES256", "typ": "at+jwt"}).to_string(),
        &claims().to_string(),
    );
    assert!(Desk::trusting(&[&one]).enter(&token).await.is_ok());
    assert!(Desk::trusting(&[&one, &two]).enter(&token).await.is_err());
}

fn set(keys: &[Value]) -> Result<KeySet, KeySetError> {
    KeySet::parse(json!({"keys": keys}).to_string().as_bytes())
}

#[test]
fn keys_that_cannot_or_must_not_verify_a_token_are_no_keys() {
    let (rsa, ec, ed) = (
        Signer::rs256().jwk(),
        Signer::es256().jwk(),
        Signer::ed25519().jwk(),
    );
    for good in [&rsa, &ec, &ed] {
        assert!(set(std::slice::from_ref(good)).is_ok(), "{good}");
    }
    let with = |base: &Value, name: &str, value: Value| {
        let mut key = base.clone();
        key[name] = value;
        key
    };
    let modulus = |bytes: usize| json!(encode(vec![0xc3; bytes]));
    let bad = [
        with(&rsa, "n", modulus(128)),
        with(&rsa, "n", modulus(255)),
        with(
            &rsa,
            "n",
            json!(encode([vec![0; 128], vec![0xc3; 128]].concat())),
        ),
        with(&rsa, "n", modulus(1025)),
        with(&rsa, "n", json!("")),
        with(&rsa, "e", json!(encode([1]))),
        with(&rsa, "e", json!(encode([1, 0]))),
        with(&rsa, "e", json!(encode([1; 9]))),
        with(&rsa, "use", json!("enc")),
        with(&rsa, "key_ops", json!(["encrypt"])),
        with(&rsa, "alg", json!("RSA-OAEP")),
        with(&rsa, "alg", json!("HS256")),
        with(&rsa, "d", json!("AQAB")),
        with(&ec, "crv", json!("P-521")),
        with(&ec, "crv", json!("P-384")),
        with(&ec, "x", json!(encode([1; 31]))),
        with(&ec, "alg", json!("ES384")),
        with(&ed, "crv", json!("X25519")),
        with(&ed, "x", json!(encode([1; 33]))),
        json!({"kty": "oct", "k": "c2VjcmV0", "alg": "HS256"}),
        json!({"kty": "RSA"}),
        json!("a key"),
    ];
    for key in bad {
        assert!(
            matches!(
                set(std::slice::from_ref(&key)),
                Err(KeySetError::NoUsableKey)
            ),
            "{key}"
        );
        assert!(
            set(&[key, ed.clone()]).is_ok(),
            "one bad key must not lock everybody out"
        );
    }
}

#[test]
fn sets_that_are_too_large_are_refused_whole() {
    let key = Signer::ed25519().jwk();
    assert!(set(&vec![key.clone(); 100]).is_ok());
    assert!(matches!(
        set(&vec![key.clone(); 101]),
        Err(KeySetError::TooMany)
    ));
    let mut long = json!({"keys": [key]}).to_string().into_bytes();
    long.resize(262_145, b' ');
    assert!(matches!(KeySet::parse(&long), Err(KeySetError::TooLong)));
    long.truncate(262_144);
    assert!(KeySet::parse(&long).is_ok());
}
