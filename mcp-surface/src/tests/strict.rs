//! Strict mode through the tools: no call that writes does so without a confirmation.

use desk::{ConfirmationMode, Policy};
use domain::ScopeSet;
use serde_json::{Value, json};

use super::arguments::{filled, valid_call};
use super::support::Bench;
use crate::{Effect, Settings, tool_specs};

async fn strict() -> Bench {
    let policy = Policy::new(ConfirmationMode::Strict);
    let specs = tool_specs().collect();
    filled(Bench::with_policy(Settings::default(), ScopeSet::all(), specs, policy).await).await
}

/// Everything that a write could have changed.
async fn state(bench: &Bench) -> Value {
    json!([
        bench.ok("list_customers", json!({})).await,
        bench.ok("list_tickets", json!({})).await,
        bench
            .ok("get_ticket_details", json!({"ticket_id": "T-1"}))
            .await,
    ])
}

#[tokio::test]
async fn in_strict_mode_every_write_waits_and_its_token_commits_it() {
    let mut waited = 0;
    for spec in tool_specs().filter(|spec| spec.policy.effect == Effect::Write) {
        let tool = spec.name;
        let bench = strict().await;
        let before = state(&bench).await;
        let mut call = valid_call(tool);
        let answer = bench.call(tool, call.clone()).await;
        let answer = answer.structured_content.unwrap();
        if tool == "escalate_to_security" {
            // Handing an incident over is always open (design section 3).
            assert_eq!(answer["ok"], true, "{answer}");
            continue;
        }
        waited += 1;
        let code = answer["error"]["code"].as_str().unwrap_or_default();
        assert_eq!(state(&bench).await, before, "{tool}: {answer}");
        call["confirmation_token"] = answer["confirmation_token"].clone();
        match code {
            "CONFIRMATION_REQUIRED" => {
                let done = bench.ok(tool, call).await;
                assert_eq!(done["confirmation_method"], "token_only", "{tool}");
                assert_ne!(state(&bench).await, before, "{tool}");
            }
            "HUMAN_APPROVAL_REQUIRED" => {
                let error = bench.error(tool, call).await;
                assert_eq!(error["code"], "APPROVAL_PENDING", "{tool}");
                assert_eq!(state(&bench).await, before, "{tool}");
            }
            other => panic!("{tool}: {other}: {answer}"),
        }
    }
    assert_eq!(waited, 12);
}
