//! What holds for the whole table of tools: schemas in the common subset, everything described, all within budget.

use std::collections::BTreeSet;

use rmcp::model::Tool;
use serde_json::Value;

use crate::reply::json_len;
use crate::{Effect, Guard, docs_error_contract_markdown, docs_tools_markdown, tool_specs};

fn tools() -> Vec<Tool> {
    tool_specs().map(crate::ToolSpec::tool).collect()
}

#[test]
fn tools_are_listed_in_the_order_of_the_design() {
    let names: Vec<&str> = tool_specs().map(|spec| spec.name).collect();
    assert_eq!(
        names,
        [
            "get_customer",
            "list_customers",
            "create_customer",
            "update_customer",
            "delete_customer",
            "get_ticket",
            "get_ticket_details",
            "list_tickets",
            "search_tickets",
            "create_ticket",
            "assign_ticket",
            "add_comment",
            "change_ticket_status",
            "resolve_ticket",
            "update_ticket",
            "delete_ticket",
            "get_knowledge_articles",
            "search_kb",
            "draft_response",
            "escalate_to_security",
            "search_transcripts",
            "get_call_summary",
            "query_csat",
            "record_payment_verification",
            "record_security_review",
            "list_audit_entries",
        ]
    );
    let unique: BTreeSet<&str> = names.iter().copied().collect();
    assert_eq!(unique.len(), names.len());
    for name in names {
        // With the prefixes that hosts put before a name it must stay within 64 characters (field report 28).
        assert!(name.len() <= 28 && name.contains('_'), "{name}");
    }
}

#[test]
fn the_list_stays_within_its_budget_of_tokens() {
    let with_output: usize = tools().iter().map(json_len).sum();
    let without: usize = tools()
        .into_iter()
        .map(|mut tool| {
            tool.output_schema = None;
            json_len(&tool)
        })
        .sum();
    println!(
        "{} tokens without output schemas, {} with",
        without / 4,
        with_output / 4
    );
    assert!(without / 4 <= 8_000, "{}", without / 4);
    assert!(with_output / 4 <= 13_500, "{}", with_output / 4);
}

/// Keywords that every host and model provider reads (field reports 26 and 27).
const INPUT_KEYWORDS: &[&str] = &[
    "type",
    "description",
    "enum",
    "minimum",
    "maximum",
    "maxLength",
    "pattern",
    "default",
];

#[test]
fn input_schemas_are_flat_described_bounded_and_closed() {
    for tool in tools() {
        let name = &tool.name;
        let schema = Value::Object((*tool.input_schema).clone());
        let keys: BTreeSet<&String> = schema.as_object().unwrap().keys().collect();
        for key in keys {
            let known = ["type", "properties", "required", "additionalProperties"];
            assert!(known.contains(&key.as_str()), "{name}: {key}");
        }
        assert_eq!(schema["type"], "object", "{name}");
        assert_eq!(schema["additionalProperties"], false, "{name}");
        for (property, schema) in schema["properties"].as_object().unwrap() {
            let at = format!("{name}.{property}: {schema}");
            let object = schema.as_object().unwrap();
            for key in object.keys() {
                assert!(INPUT_KEYWORDS.contains(&key.as_str()), "{at}");
            }
            assert!(schema["description"].as_str().unwrap().len() > 3, "{at}");
            let bounded = match schema["type"].as_str().unwrap() {
                "string" => ["enum", "maxLength", "pattern"]
                    .iter()
                    .any(|key| object.contains_key(*key)),
                "integer" => object.contains_key("minimum") && object.contains_key("maximum"),
                "boolean" => true,
                _ => false,
            };
            assert!(bounded, "{at}");
            for forbidden in ["actor_id", "author", "token", "path", "url"] {
                assert_ne!(property, forbidden, "{at}");
            }
            // Who acts is never an argument; the audit log is filtered by who acted.
            assert!(property != "actor" || name == "list_audit_entries", "{at}");
        }
    }
}

#[test]
fn output_schemas_are_flat_and_permit_errors() {
    for tool in tools() {
        let schema = Value::Object((*tool.output_schema.unwrap()).clone());
        assert_eq!(
            schema["required"],
            serde_json::json!(["ok"]),
            "{}",
            tool.name
        );
        for (property, schema) in schema["properties"].as_object().unwrap() {
            let at = format!("{}.{property}: {schema}", tool.name);
            let keys: Vec<&String> = schema.as_object().unwrap().keys().collect();
            match schema["type"].as_str().unwrap() {
                "array" => {
                    let kinds = ["object", "integer"].map(|kind| serde_json::json!({"type": kind}));
                    assert!(kinds.contains(&schema["items"]), "{at}");
                }
                _ => assert_eq!(keys, ["type"], "{at}"),
            }
        }
        assert_eq!(
            schema["properties"]["error"]["type"], "object",
            "{}",
            tool.name
        );
    }
}

#[test]
fn one_concept_has_one_name_and_one_shape_in_all_tools() {
    let mut seen: std::collections::BTreeMap<&str, (crate::Shape, &str)> =
        std::collections::BTreeMap::new();
    // What these mean depends on the list: comments or rows, articles or tickets, calls or audit rows.
    for spec in tool_specs() {
        for arg in spec
            .args
            .iter()
            .filter(|arg| !["limit", "status", "outcome"].contains(&arg.name))
        {
            let (shape, first) = seen.entry(arg.name).or_insert((arg.shape, spec.name));
            assert_eq!(
                *shape, arg.shape,
                "{} in {first} and {}",
                arg.name, spec.name
            );
        }
    }
}

#[test]
fn every_tool_says_all_four_hints_and_they_fit_its_policy() {
    for (spec, tool) in tool_specs().zip(tools()) {
        let hints = tool.annotations.unwrap();
        let all = [
            hints.read_only_hint,
            hints.destructive_hint,
            hints.idempotent_hint,
            hints.open_world_hint,
        ];
        assert!(all.iter().all(Option::is_some), "{}", spec.name);
        assert_eq!(
            hints.read_only_hint,
            Some(spec.policy.effect == Effect::Read),
            "{}",
            spec.name
        );
        assert_eq!(hints.open_world_hint, Some(false), "{}", spec.name);
        let token = tool.input_schema["properties"]
            .get("confirmation_token")
            .is_some();
        assert_eq!(token, spec.policy.guard != Guard::Open, "{}", spec.name);
        assert!(
            hints.destructive_hint == Some(false) || token,
            "{}",
            spec.name
        );
        assert!(tool.title.is_some_and(|title| !title.is_empty()));
        // A refused change is noted in the audit log under the name of its tool, and so is a refused draft.
        let has_action = domain::Action::parse(spec.name).is_ok();
        assert_eq!(
            has_action,
            spec.policy.effect == Effect::Write || spec.name == "draft_response",
            "{}",
            spec.name
        );
    }
}

#[test]
fn descriptions_name_only_tools_arguments_and_codes_that_exist() {
    let words: BTreeSet<&str> = tool_specs()
        .flat_map(|spec| spec.args.iter().map(|arg| arg.name).chain([spec.name]))
        .collect();
    let outputs: BTreeSet<&str> = tool_specs()
        .flat_map(|spec| {
            spec.results(true)
                .into_iter()
                .flatten()
                .map(|(name, _)| *name)
        })
        .collect();
    let values = ["in_progress", "all_words", "any_word", "no_incident"];
    for spec in tool_specs() {
        let description = spec.description;
        assert!(
            description.len() > 60 && !description.contains("  "),
            "{description}"
        );
        for word in description.split(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
            if word.contains('_') && word.chars().all(|c| c.is_ascii_uppercase() || c == '_') {
                let known = desk::ErrorCode::ALL
                    .iter()
                    .any(|code| code.as_str() == word);
                assert!(known, "{}: {word}", spec.name);
            } else if word.contains('_') {
                let known =
                    words.contains(word) || outputs.contains(word) || values.contains(&word);
                assert!(known, "{}: {word}", spec.name);
            }
        }
    }
}

#[test]
fn the_pages_name_every_tool_argument_template_prompt_and_code() {
    let page = docs_tools_markdown();
    for spec in tool_specs() {
        assert!(
            page.contains(&format!("### `{}`\n", spec.name)),
            "{}",
            spec.name
        );
        for arg in spec.args {
            assert!(page.contains(&format!("| `{}`", arg.name)), "{}", arg.name);
        }
    }
    for spec in crate::TEMPLATES {
        assert!(page.contains(&spec.uri_template()));
    }
    for spec in crate::PROMPTS {
        assert!(page.contains(spec.name));
    }
    let page = docs_error_contract_markdown();
    for code in desk::ErrorCode::ALL {
        assert!(page.contains(&format!("| `{}` |", code.as_str())));
    }
}
