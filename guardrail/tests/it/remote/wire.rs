//! What each provider is sent, and that its answer is read.
#![expect(
    clippy::indexing_slicing,
    reason = "a provider's message without these parts fails the test"
)]

use super::*;

/// How a provider wraps the text of an answer, and what a request to it looks like.
struct Wire {
    word: &'static str,
    line: &'static str,
    key_header: Option<&'static str>,
    reply: fn(&str) -> Value,
    system: fn(&Value) -> &Value,
    ticket: fn(&Value) -> &Value,
    schema: fn(&Value) -> &Value,
}

const WIRES: [Wire; 3] = [
    Wire {
        word: "anthropic",
        line: "POST /messages HTTP/1.1",
        key_header: Some("x-api-key"),
        reply: |text| {
            json!({
                "id": "m", "type": "message", "role": "assistant", "model": "judge-1",
                "content": [{"type": "text", "text": text}], "stop_reason": "end_turn",
                "usage": {"input_tokens": 1, "output_tokens": 1},
            })
        },
        system: |body| &body["system"],
        ticket: |body| &body["messages"][0]["content"],
        schema: |body| &body["output_config"]["format"]["schema"],
    },
    Wire {
        word: "openai",
        line: "POST /chat/completions HTTP/1.1",
        key_header: Some("authorization"),
        reply: |text| {
            let message = json!({"role": "assistant", "content": text});
            json!({"model": "judge-1", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})
        },
        system: |body| &body["messages"][0]["content"],
        ticket: |body| &body["messages"][1]["content"],
        schema: |body| &body["response_format"]["json_schema"]["schema"],
    },
    Wire {
        word: "ollama",
        line: "POST /api/chat HTTP/1.1",
        key_header: None,
        reply: |text| {
            let message = json!({"role": "assistant", "content": text});
            json!({"model": "judge-1", "message": message, "done": true, "done_reason": "stop"})
        },
        system: |body| &body["messages"][0]["content"],
        ticket: |body| &body["messages"][1]["content"],
        schema: |body| &body["format"],
    },
];

#[test]
fn every_provider_is_asked_in_its_own_protocol_and_understood() {
    for wire in WIRES {
        let reply = wire.reply;
        let provider = Provider::start(move |asked| {
            let refused = asked.body.contains("black window");
            let evidence: &[&str] = if refused { &["black window"] } else { &[] };
            Reply::Json(200, reply(&verdict(asked, refused, evidence)).to_string())
        })
        .unwrap();
        let judge_it = classifier(RemoteGiven {
            provider: Some(wire.word.to_owned()),
            key: wire.key_header.map(|_| ApiKey::parse(KEY).unwrap()),
            ..given(&provider)
        });
        let cleared = judge(judge_it.as_ref(), "The printer on floor nine is offline.");
        assert_eq!(cleared, Ok(Verdict::of(Decision::Clear)), "{}", wire.word);
        let refused = judge(judge_it.as_ref(), "A black window flashed.").unwrap();
        assert_eq!(refused.decision, Some(Decision::Refuse), "{}", wire.word);
        assert_eq!(refused.quotes[0].source, Source::Description);

        let asked = &provider.asked()[0];
        assert_eq!(asked.line, wire.line);
        let keys: Vec<&str> = asked
            .headers
            .iter()
            .filter(|(_, value)| value.contains(KEY))
            .map(|(name, _)| name.as_str())
            .collect();
        assert_eq!(keys, Vec::from_iter(wire.key_header), "{}", wire.word);
        let body: Value = serde_json::from_str(&asked.body).unwrap();
        assert_eq!(body["model"], "judge-1");
        assert_ne!(body["stream"], true);
        let system = (wire.system)(&body).to_string();
        assert!(
            system.contains("nonce") && !system.contains("floor nine"),
            "{system}"
        );
        let ticket = (wire.ticket)(&body).as_str().unwrap();
        let nonce = nonce(asked);
        let fenced = format!(
            "<<<{nonce} description\nThe printer on floor nine is offline.\n{nonce} description>>>"
        );
        assert!(ticket.contains(&fenced), "{ticket}");
        let schema = (wire.schema)(&body);
        let held_to_it = schema["additionalProperties"] == json!(false);
        assert!(held_to_it || schema == "json", "{}: {schema}", wire.word);
    }
}

#[test]
fn each_question_has_a_nonce_of_its_own() {
    let provider = clearing();
    let judge_it = classifier(given(&provider));
    for text in ["a", "b", "c"] {
        judge(judge_it.as_ref(), text).unwrap();
    }
    let mut nonces: Vec<String> = provider.asked().iter().map(nonce).collect();
    nonces.dedup();
    assert_eq!(nonces.len(), 3);
}
