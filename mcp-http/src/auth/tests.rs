//! Who enters and who does not: the hostile tokens of promise N-1, and the edges of N-2 to N-5.

mod hostile;
mod material;
mod rotation;

use std::sync::Arc;

use domain::{Clock as _, Scope};
use http::{HeaderMap, HeaderValue};

use super::*;
use material::{AUDIENCE, Desk, ISSUER, NOW, Signer, TestClock, claims, headers};

/// Half a minute, the leeway, in the token's seconds.
const LEEWAY: i64 = 30;

#[tokio::test]
async fn a_valid_token_of_each_algorithm_enters_with_its_scopes() {
    for signer in [
        Signer::es256(),
        Signer::es384(),
        Signer::rs256(),
        Signer::ps256(),
        Signer::ed25519(),
    ] {
        let desk = Desk::trusting(&[&signer]);
        let token = signer.token(&claims());
        let principal = desk.enter(&token).await.unwrap();
        assert_eq!(principal.id(), format!("{ISSUER}|anna"), "{signer}");
        assert_eq!(principal.client, "desk-client");
        let scopes: Vec<_> = principal.scopes.iter().collect();
        assert_eq!(scopes, [Scope::DeskRead, Scope::DeskWrite]);
        assert_eq!(principal.credential, Credential::Jwt);
        let actor = principal.actor();
        assert_eq!(actor.proof, domain::Proof::Verified);
        assert_eq!(actor.channel, domain::ActorChannel::Http);
    }
}

#[tokio::test]
async fn a_token_is_valid_until_just_before_the_end_of_the_leeway() {
    let signer = Signer::es256();
    for (ago, enters) in [(29, true), (30, false), (31, false)] {
        let desk = Desk::trusting(&[&signer]);
        let mut claims = claims();
        claims["exp"] = (NOW - ago).into();
        let entered = desk.enter(&signer.token(&claims)).await.is_ok();
        assert_eq!(entered, enters, "expired {ago} seconds ago");
    }
    for name in ["nbf", "iat"] {
        for (ahead, enters) in [(LEEWAY, true), (LEEWAY + 1, false)] {
            let desk = Desk::trusting(&[&signer]);
            let mut claims = claims();
            claims[name] = (NOW + ahead).into();
            let entered = desk.enter(&signer.token(&claims)).await.is_ok();
            assert_eq!(entered, enters, "{name} {ahead} seconds ahead");
        }
    }
}

#[tokio::test]
async fn a_remembered_token_is_forgotten_when_it_expires_and_after_a_minute() {
    let signer = Signer::es256();
    let desk = Desk::trusting(&[&signer]);
    let mut short = claims();
    short["exp"] = (NOW - LEEWAY + 10).into();
    let token = signer.token(&short);
    desk.enter(&token).await.unwrap();
    desk.clock.advance(9);
    desk.enter(&token).await.unwrap();
    desk.clock.advance(1);
    assert!(
        desk.enter(&token).await.is_err(),
        "expired while remembered"
    );

    let long = signer.token(&claims());
    let principal = desk.enter(&long).await.unwrap();
    let kept = |seconds: i64| {
        let cache = VerifiedTokens::default();
        let now = desk.clock.now();
        cache.put(&long, &principal, now);
        cache
            .get(&long, now.plus_micros(seconds * 1_000_000))
            .is_some()
    };
    assert!(kept(0) && kept(59));
    assert!(!kept(60) && !kept(-1));
}

#[tokio::test]
async fn the_same_subject_of_two_issuers_is_two_principals_and_an_email_is_none() {
    let (here, there) = (Signer::es256(), Signer::es256());
    let other = "https://other.example";
    let desk = Desk::with_issuers(vec![
        material::trusted(ISSUER, &[&here], |rules| rules),
        material::trusted(other, &[&there], |rules| rules),
    ]);
    let mut mail = claims();
    mail["email"] = "boss@example.com".into();
    let a = desk.enter(&here.token(&mail)).await.unwrap();
    mail["iss"] = other.into();
    let b = desk.enter(&there.token(&mail)).await.unwrap();
    assert_ne!(a.id(), b.id());
    assert!(!a.id().contains("boss") && !a.client.contains("boss"));
    // A key of one issuer signs nothing for another.
    assert!(desk.enter(&here.token(&mail)).await.is_err());
}

#[tokio::test]
async fn roles_narrow_scopes_and_unknown_words_grant_nothing() {
    let signer = Signer::es256();
    let desk = Desk::with_issuers(vec![material::trusted(ISSUER, &[&signer], |rules| {
        Issuer {
            roles_claim: Some("roles".to_owned()),
            ..rules
        }
    })]);
    let cases = [
        (serde_json::json!(["viewer"]), vec![Scope::DeskRead]),
        (
            serde_json::json!("agent"),
            vec![Scope::DeskRead, Scope::DeskWrite],
        ),
        (serde_json::json!(["admin", "Agent", "*"]), vec![]),
        (serde_json::json!([]), vec![]),
    ];
    for (roles, expected) in cases {
        let mut claims = claims();
        claims["scope"] = "desk:read desk:write desk:* DESK:DELETE audit:read openid".into();
        claims["roles"] = roles.clone();
        let principal = desk.enter(&signer.token(&claims)).await.unwrap();
        assert_eq!(
            principal.scopes.iter().collect::<Vec<_>>(),
            expected,
            "{roles}"
        );
    }
}

#[tokio::test]
async fn an_issuer_that_does_not_mark_access_tokens_can_be_allowed_but_its_id_tokens_cannot() {
    let signer = Signer::es256();
    let desk = Desk::with_issuers(vec![material::trusted(ISSUER, &[&signer], |rules| {
        Issuer {
            token_type: jwt::TokenType::AnyJwt,
            scope_claim: jwt::ScopeClaim::Scp,
            ..rules
        }
    })]);
    let mut list = claims();
    list["scp"] = serde_json::json!(["desk:read", "kb:internal"]);
    let token = signer.sign(&signer.header("JWT"), &list.to_string());
    let principal = desk.enter(&token).await.unwrap();
    assert_eq!(principal.scopes.iter().count(), 2);
    for mark in ["nonce", "at_hash", "c_hash"] {
        let mut id_token = list.clone();
        id_token[mark] = "x".into();
        let token = signer.sign(&signer.header("JWT"), &id_token.to_string());
        assert!(desk.enter(&token).await.is_err(), "{mark}");
    }
}

#[test]
fn a_symmetric_or_unknown_algorithm_stops_the_configuration() {
    let names = |names: &[&str]| {
        names
            .iter()
            .map(|name| (*name).to_owned())
            .collect::<Vec<_>>()
    };
    for bad in [
        "HS256", "HS384", "HS512", "none", "rs256", "RS1", "ES512", "",
    ] {
        let error = Issuer::new(ISSUER, AUDIENCE, &names(&["RS256", bad])).unwrap_err();
        assert!(error.to_string().contains("asymmetric"), "{bad}: {error}");
    }
    assert!(Issuer::new(ISSUER, AUDIENCE, &[]).is_err());
    for bad in [
        "http://issuer.example",
        "issuer",
        "https://a|b.example",
        "https://a b",
        "deskgate",
    ] {
        assert!(
            Issuer::new(bad, AUDIENCE, &names(&["RS256"])).is_err(),
            "{bad}"
        );
    }
    let issuer = Issuer::new(ISSUER, AUDIENCE, &names(&["ES256"])).unwrap();
    assert!(issuer.clone().with_leeway(30).is_ok());
    assert!(issuer.with_leeway(31).is_err());
}

#[tokio::test]
async fn one_authorization_header_with_one_bearer_token_is_the_only_way_in() {
    let signer = Signer::es256();
    let desk = Desk::trusting(&[&signer]);
    let token = signer.token(&claims());
    let with = |values: &[String]| {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(AUTHORIZATION, HeaderValue::from_str(value).unwrap());
        }
        headers
    };
    for scheme in ["Bearer", "bearer", "BEARER"] {
        let headers = with(&[format!("{scheme} {token}")]);
        assert!(
            desk.authenticator.authenticate(&headers).await.is_ok(),
            "{scheme}"
        );
    }
    let bearer = format!("Bearer {token}");
    let refused = [
        with(&[bearer.clone(), bearer.clone()]),
        with(&[bearer.clone(), "Basic eDp5".to_owned()]),
        with(&["Basic eDp5".to_owned()]),
        with(std::slice::from_ref(&token)),
        with(&[format!("Bearer  {token}")]),
        with(&[format!("Bearer {token} {token}")]),
        with(&[format!("Bearer {token},{token}")]),
        with(&["Bearer".to_owned()]),
        with(&["Bearer ".to_owned()]),
    ];
    for headers in &refused {
        let denied = desk.authenticator.authenticate(headers).await.unwrap_err();
        assert!(matches!(denied, Denied::Refused(_)), "{headers:?}");
    }
    let none = desk.authenticator.authenticate(&HeaderMap::new()).await;
    assert!(matches!(none, Err(Denied::Missing)));
    let mut elsewhere = HeaderMap::new();
    elsewhere.insert("x-access-token", HeaderValue::from_str(&token).unwrap());
    elsewhere.insert(
        "cookie",
        HeaderValue::from_str(&format!("token={token}")).unwrap(),
    );
    assert!(matches!(
        desk.authenticator.authenticate(&elsewhere).await,
        Err(Denied::Missing)
    ));
}

#[tokio::test]
async fn personal_tokens_enter_until_they_expire_or_are_revoked() {
    let clock = Arc::new(TestClock::at(NOW));
    let token = personal::NewToken::from_random([0xab; 16], [9; 16]);
    assert!(token.reveal().starts_with("dgt_") && token.reveal().len() == 68);
    let table = Arc::new(material::Table::new(&token, NOW + 100));
    let authenticator = Authenticator::new(
        Vec::new(),
        Some(Arc::clone(&table) as Arc<dyn PersonalTokens>),
        Arc::clone(&clock) as Arc<dyn Clock>,
    );
    let enter = || async { authenticator.authenticate(&headers(token.reveal())).await };
    let principal = enter().await.unwrap();
    assert_eq!(principal.id(), "deskgate|anna");
    assert_eq!(principal.client, "token:3");
    assert_eq!(table.uses(), 1);

    let others = [
        token.reveal().to_uppercase().replacen("DGT_", "dgt_", 1),
        format!("{}0", token.reveal()),
        token.reveal().replacen("ab", "ac", 1),
        "dgt_".to_owned(),
        format!("dgt_{}", "g".repeat(64)),
    ];
    for other in others {
        let denied = authenticator.authenticate(&headers(&other)).await;
        assert!(matches!(denied, Err(Denied::Refused(_))), "{other}");
    }

    table.revoke();
    assert!(matches!(
        enter().await,
        Err(Denied::Refused(TokenError::Revoked))
    ));
    table.restore();
    clock.advance(99);
    assert!(enter().await.is_ok());
    clock.advance(1);
    assert!(matches!(
        enter().await,
        Err(Denied::Refused(TokenError::Expired))
    ));
    table.fail();
    assert!(matches!(enter().await, Err(Denied::Unavailable(_))));
}

#[test]
fn challenges_and_metadata_say_what_the_specification_asks_and_no_more() {
    let resource = challenge::Resource::new(AUDIENCE, vec![ISSUER.to_owned()]).unwrap();
    let metadata =
        "resource_metadata=\"https://desk.example/.well-known/oauth-protected-resource/mcp\"";
    assert_eq!(
        resource.missing_token(),
        format!("Bearer scope=\"desk:read\", {metadata}")
    );
    assert_eq!(
        resource.invalid_token(),
        format!("Bearer error=\"invalid_token\", scope=\"desk:read\", {metadata}")
    );
    let needed = domain::ScopeSet::NONE.with(Scope::DeskComment);
    assert_eq!(
        resource.insufficient_scope(needed),
        format!("Bearer error=\"insufficient_scope\", scope=\"desk:comment\", {metadata}")
    );
    assert_eq!(
        resource.metadata(),
        serde_json::json!({
            "resource": AUDIENCE,
            "resource_name": "Deskgate",
            "scopes_supported": ["desk:read"],
            "bearer_methods_supported": ["header"],
            "authorization_servers": [ISSUER],
        })
    );
    for bad in [
        "desk.example/mcp",
        "ftp://desk.example/mcp",
        "https://desk.example",
        "https://desk.example/",
        "https://desk.example/mcp/",
        "https://desk.example/mcp?x=1",
        "https://desk.example/mcp#x",
        "https://user@desk.example/mcp",
        "https://desk.example/\"",
    ] {
        assert!(challenge::Resource::new(bad, Vec::new()).is_err(), "{bad}");
    }
}
