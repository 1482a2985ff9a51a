//! Promise N-1: each row is a valid token with one thing wrong, and the reason for which it is refused.

use serde_json::{Value, json};

use super::material::{AUDIENCE, Desk, ISSUER, NOW, Signer, claims, encode};
use crate::auth::Denied;
use crate::auth::jwt::TokenError;
use crate::auth::jwt::TokenError::{
    Algorithm, Audience, Claim, Expired, Malformed, NotYet, RefusedHeader, Signature, TooLong,
    UnknownIssuer, UnknownKey, WrongType,
};

type Row = (String, String, TokenError);

/// A token whose header has another value.
fn header_rows(signer: &Signer) -> Vec<Row> {
    let base: Value = serde_json::from_str(&signer.header("at+jwt")).unwrap();
    let with = |name: &str, value: Value| {
        let mut header = base.clone();
        header[name] = value;
        signer.sign(&header.to_string(), &claims().to_string())
    };
    let without = |name: &str| {
        let mut header = base.clone();
        header.as_object_mut().unwrap().remove(name);
        signer.sign(&header.to_string(), &claims().to_string())
    };
    let mut rows = Vec::new();
    for name in [
        "none", "None", "nOnE", "NONE", "", "HS256", "HS384", "HS512", "RS1", "es256", "ES512",
        "ES256K",
    ] {
        rows.push((format!("alg {name:?}"), with("alg", json!(name)), Algorithm));
    }
    for value in [
        json!(null),
        json!(7),
        json!(["ES256"]),
        json!({"alg": "ES256"}),
    ] {
        rows.push((format!("alg {value}"), with("alg", value), Algorithm));
    }
    rows.push(("alg missing".into(), without("alg"), Algorithm));
    rows.push((
        "alg of another key type".into(),
        with("alg", json!("RS256")),
        UnknownKey,
    ));
    rows.push((
        "alg of another curve".into(),
        with("alg", json!("ES384")),
        UnknownKey,
    ));
    for value in [
        json!([]),
        json!(["exp"]),
        json!(["b64"]),
        json!(null),
        json!("exp"),
    ] {
        rows.push((
            format!("crit {value}"),
            with("crit", value),
            RefusedHeader("crit"),
        ));
    }
    let own = signer.jwk();
    rows.push((
        "jku".into(),
        with("jku", json!("https://evil.example/keys")),
        RefusedHeader("jku"),
    ));
    rows.push((
        "x5u".into(),
        with("x5u", json!("https://evil.example/cert")),
        RefusedHeader("x5u"),
    ));
    rows.push(("jwk".into(), with("jwk", own), RefusedHeader("jwk")));
    rows.push((
        "x5c".into(),
        with("x5c", json!(["MIIB"])),
        RefusedHeader("x5c"),
    ));
    rows.push((
        "zip".into(),
        with("zip", json!("DEF")),
        RefusedHeader("zip"),
    ));
    rows.push((
        "b64 false".into(),
        with("b64", json!(false)),
        RefusedHeader("b64"),
    ));
    rows.push((
        "nested".into(),
        with("cty", json!("JWT")),
        RefusedHeader("cty"),
    ));
    for name in ["JWT", "id_token+jwt", "logout+jwt", "dpop+jwt", "at", ""] {
        rows.push((format!("typ {name:?}"), with("typ", json!(name)), WrongType));
    }
    rows.push(("typ missing".into(), without("typ"), WrongType));
    rows.push((
        "typ is a list".into(),
        with("typ", json!(["at+jwt"])),
        WrongType,
    ));
    for kid in [
        "other",
        "../../etc/passwd",
        "' OR 1=1 --",
        "key-0\u{0}",
        "",
        "\u{1b}[31m",
    ] {
        rows.push((format!("kid {kid:?}"), with("kid", json!(kid)), UnknownKey));
    }
    rows.push((
        "kid of 4 KiB".into(),
        with("kid", json!("k".repeat(4096))),
        UnknownKey,
    ));
    rows.push(("kid is a number".into(), with("kid", json!(0)), UnknownKey));
    rows.push(("kid is null".into(), with("kid", json!(null)), UnknownKey));
    let twice = |pair: &str| {
        let header = signer.header("at+jwt");
        let header = format!("{{{pair},{}", header.trim_start_matches('{'));
        signer.sign(&header, &claims().to_string())
    };
    rows.push((
        "alg twice".into(),
        twice("\"alg\":\"none\""),
        Malformed("the header"),
    ));
    rows.push((
        "kid twice".into(),
        twice("\"kid\":\"x\""),
        Malformed("the header"),
    ));
    rows
}

/// A token whose claims have another value.
fn claim_rows(signer: &Signer) -> Vec<Row> {
    let with = |name: &str, value: Value| {
        let mut claims = claims();
        claims[name] = value;
        signer.token(&claims)
    };
    let without = |name: &str| {
        let mut claims = claims();
        claims.as_object_mut().unwrap().remove(name);
        signer.token(&claims)
    };
    let mut rows = Vec::new();
    for name in ["iss", "aud", "exp", "sub"] {
        rows.push((format!("{name} missing"), without(name), Claim(name)));
        rows.push((format!("{name} null"), with(name, json!(null)), Claim(name)));
        rows.push((
            format!("{name} an object"),
            with(name, json!({"a": 1})),
            Claim(name),
        ));
    }
    for aud in [
        json!("https://other.example/mcp"),
        json!(["https://other.example/mcp", ISSUER]),
        json!(format!("{AUDIENCE}/")),
        json!(AUDIENCE.to_uppercase()),
        json!("https://DESK.example/mcp"),
        json!("http://desk.example/mcp"),
        json!("https://desk.example"),
        json!(""),
        json!([]),
    ] {
        rows.push((format!("aud {aud}"), with("aud", aud), Audience));
    }
    for aud in [
        json!([AUDIENCE, 7]),
        json!([[AUDIENCE]]),
        json!(7),
        json!(true),
    ] {
        rows.push((format!("aud {aud}"), with("aud", aud), Claim("aud")));
    }
    for iss in [
        "https://evil.example",
        "https://issuer.example/",
        "HTTPS://issuer.example",
        "https://issuer.example\u{0}",
        "",
        "deskgate",
    ] {
        rows.push((
            format!("iss {iss:?}"),
            with("iss", json!(iss)),
            UnknownIssuer,
        ));
    }
    rows.push((
        "iss a list".into(),
        with("iss", json!([ISSUER])),
        Claim("iss"),
    ));
    for exp in [
        json!((NOW + 60).to_string()),
        json!(1_900_000_000.5),
        json!(-1),
        json!([NOW + 60]),
        json!(true),
    ] {
        rows.push((format!("exp {exp}"), with("exp", exp), Claim("exp")));
    }
    rows.push(("exp past".into(), with("exp", json!(NOW - 3600)), Expired));
    rows.push(("exp zero".into(), with("exp", json!(0)), Expired));
    rows.push((
        "exp over i64".into(),
        with("exp", json!(u64::MAX)),
        Claim("exp"),
    ));
    for name in ["nbf", "iat"] {
        rows.push((
            format!("{name} future"),
            with(name, json!(NOW + 3600)),
            NotYet,
        ));
        rows.push((format!("{name} text"), with(name, json!("0")), Claim(name)));
        rows.push((format!("{name} float"), with(name, json!(1.5)), Claim(name)));
    }
    for sub in [
        json!(""),
        json!(["anna"]),
        json!(7),
        json!("a".repeat(300)),
        json!("an\nna"),
        json!("anna\u{0}"),
    ] {
        rows.push((format!("sub {sub}"), with("sub", sub), Claim("sub")));
    }
    rows.push((
        "scope a list".into(),
        with("scope", json!(["desk:read"])),
        Claim("scope"),
    ));
    rows.push((
        "scope a number".into(),
        with("scope", json!(1)),
        Claim("scope"),
    ));
    rows.push((
        "client a list".into(),
        with("client_id", json!(["x"])),
        Claim("client_id"),
    ));
    rows.push(("azp empty".into(), with("azp", json!("")), Claim("azp")));
    let raw = |payload: String| signer.sign(&signer.header("at+jwt"), &payload);
    let text = claims().to_string();
    let twice = |pair: &str| raw(format!("{{{pair},{}", text.trim_start_matches('{')));
    let payload = Malformed("the payload");
    rows.push(("sub twice".into(), twice("\"sub\":\"boss\""), payload));
    rows.push(("exp twice".into(), twice("\"exp\":9999999999"), payload));
    rows.push((
        "exp 1e400".into(),
        raw(text.replace(&(NOW + 3600).to_string(), "1e400")),
        payload,
    ));
    rows.push((
        "payload is a list".into(),
        raw(format!("[{text}]")),
        payload,
    ));
    rows.push((
        "payload with a tail".into(),
        raw(format!("{text}{{}}")),
        payload,
    ));
    rows.push(("payload empty".into(), raw(String::new()), payload));
    rows.push((
        "payload deep".into(),
        raw(format!("{{\"a\":{}1{}}}", "[".repeat(500), "]".repeat(500))),
        payload,
    ));
    rows.push((
        "payload not UTF-8".into(),
        {
            let valid = signer.token(&claims());
            let (header, _) = valid.split_once('.').unwrap();
            format!("{header}.{}.{}", encode([0xff, 0xfe]), "AAAA")
        },
        payload,
    ));
    rows
}

/// A token whose bytes are damaged, cut, joined or signed by somebody else.
fn form_rows(signer: &Signer) -> Vec<Row> {
    let valid = signer.token(&claims());
    let parts: Vec<&str> = valid.split('.').collect();
    let [header, payload, signature] = parts[..] else {
        panic!("a token has three parts")
    };
    let token = Malformed("the token");
    let stranger = Signer::es256().with_id(&signer.id);
    let hmac = {
        let header = json!({"alg": "HS256", "typ": "at+jwt", "kid": signer.id}).to_string();
        let message = format!("{}.{payload}", encode(header));
        let secret = signer.jwk()["x"].as_str().unwrap().to_owned();
        let key = jsonwebtoken::EncodingKey::from_secret(secret.as_bytes()).unwrap();
        let tag =
            jsonwebtoken::crypto::sign(message.as_bytes(), &key, jsonwebtoken::Algorithm::HS256);
        format!("{message}.{}", tag.unwrap())
    };
    let rows = [
        ("one part", header.to_owned(), token),
        ("two parts", format!("{header}.{payload}"), token),
        ("four parts", format!("{valid}.x"), token),
        (
            "five parts, as an encrypted token",
            format!("{header}.{payload}.{payload}.{payload}.{signature}"),
            token,
        ),
        ("no signature", format!("{header}.{payload}."), Signature),
        ("only dots", "..".to_owned(), Signature),
        (
            "signature cut",
            format!("{header}.{payload}.{}", &signature[..signature.len() - 4]),
            Signature,
        ),
        (
            "signature longer",
            format!("{header}.{payload}.{signature}AAAA"),
            Signature,
        ),
        (
            "signature of zeros",
            format!("{header}.{payload}.{}", encode([0; 64])),
            Signature,
        ),
        (
            "signature r = 1, s = 1",
            format!(
                "{header}.{payload}.{}",
                encode({
                    let mut ones = [0; 64];
                    ones[31] = 1;
                    ones[63] = 1;
                    ones
                })
            ),
            Signature,
        ),
        (
            "signature padded",
            format!("{header}.{payload}.{signature}=="),
            Signature,
        ),
        (
            "signature in the other alphabet",
            format!("{header}.{payload}.{}+/", &signature[..signature.len() - 2]),
            Signature,
        ),
        (
            "header padded",
            format!("{header}=.{payload}.{signature}"),
            Malformed("the header"),
        ),
        (
            "header not base64",
            format!("{{}}.{payload}.{signature}").replace("{}", "~~~~"),
            Malformed("the header"),
        ),
        (
            "header empty",
            format!(".{payload}.{signature}"),
            Malformed("the header"),
        ),
        (
            "payload of another token",
            {
                let mut other = claims();
                other["sub"] = json!("boss");
                let other = signer.token(&other);
                format!("{header}.{}.{signature}", other.split('.').nth(1).unwrap())
            },
            Signature,
        ),
        (
            "signed by a stranger under our key id",
            stranger.token(&claims()),
            Signature,
        ),
        ("HMAC with the public key", hmac, Algorithm),
        (
            "longer than any token",
            format!("{valid}{}", "A".repeat(9000)),
            TooLong,
        ),
        ("64 KiB", "A".repeat(65_536), TooLong),
    ];
    rows.map(|(name, token, reason)| (name.to_owned(), token, reason))
        .to_vec()
}

#[tokio::test]
async fn no_hostile_token_enters_and_each_is_refused_for_its_reason() {
    let signer = Signer::es256();
    let desk = Desk::trusting(&[&signer]);
    desk.enter(&signer.token(&claims())).await.unwrap();
    let rows: Vec<Row> = [
        header_rows(&signer),
        claim_rows(&signer),
        form_rows(&signer),
    ]
    .concat();
    assert!(rows.len() >= 60, "{} rows", rows.len());
    for (name, token, reason) in rows {
        match desk.enter(&token).await {
            Err(Denied::Refused(refused)) => assert_eq!(refused, reason, "{name}"),
            other => panic!("{name}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn the_public_rsa_key_is_no_shared_secret() {
    let signer = Signer::rs256();
    let desk = Desk::trusting(&[&signer]);
    let payload = encode(claims().to_string());
    let jwk = signer.jwk();
    for secret in [jwk.to_string(), jwk["n"].as_str().unwrap().to_owned()] {
        let header = encode(json!({"alg": "HS256", "typ": "at+jwt", "kid": signer.id}).to_string());
        let key = jsonwebtoken::EncodingKey::from_secret(secret.as_bytes()).unwrap();
        let message = format!("{header}.{payload}");
        let tag =
            jsonwebtoken::crypto::sign(message.as_bytes(), &key, jsonwebtoken::Algorithm::HS256)
                .unwrap();
        let denied = desk.enter(&format!("{message}.{tag}")).await.unwrap_err();
        assert!(matches!(denied, Denied::Refused(Algorithm)));
    }
}

#[tokio::test]
async fn any_flipped_bit_of_a_signature_is_refused() {
    use base64::Engine as _;
    let signer = Signer::ed25519();
    let desk = Desk::trusting(&[&signer]);
    let valid = signer.token(&claims());
    let (message, signature) = valid.rsplit_once('.').unwrap();
    let signature = base64::engine::general_purpose::URL_SAFE_NO_PAD
        .decode(signature)
        .unwrap();
    for bit in 0..signature.len() * 8 {
        let mut flipped = signature.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let token = format!("{message}.{}", encode(flipped));
        assert!(
            matches!(desk.enter(&token).await, Err(Denied::Refused(Signature))),
            "bit {bit}"
        );
    }
}
