//! The demonstration: a real client drives the real stdio server over a seeded temporary store, and a reader sees
//! what a model would see. It fails when the story does not go as told.

use std::path::PathBuf;
use std::process::Stdio;

use anyhow::{Context as _, bail, ensure};
use rmcp::model::{CallToolRequestParams, GetPromptRequestParams};
use rmcp::service::RunningService;
use rmcp::transport::TokioChildProcess;
use rmcp::{RoleClient, ServiceExt as _};
use serde_json::{Value, json};

/// Lines of an answer that the story shows.
const SHOWN_LINES: usize = 14;

pub(crate) fn run() -> anyhow::Result<()> {
    crate::model::fetch_if_possible();
    println!("Building the server ...");
    crate::run(crate::cargo().args(["build", "--quiet", "--package", "mcp-stdio"]))?;
    let binary = built_binary("deskgate-stdio")?;
    let folder = tempfile::tempdir()?;
    let database = format!("sqlite:{}", folder.path().join("demo.db").display());
    println!("Filling a temporary store ...");
    crate::data::seed_demo(&database, None)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let mut command = tokio::process::Command::new(&binary);
        command.args(["--database", &database, "--actor", "alex (demo)"]);
        let (transport, _stderr) = TokioChildProcess::builder(command)
            .stderr(Stdio::inherit())
            .spawn()?;
        let client = ().serve(transport).await.context("the server did not answer")?;
        let told = tell(&Story { client: &client }).await;
        client.cancel().await?;
        told
    })
}

/// The folder where cargo puts binaries, whatever `CARGO_TARGET_DIR` says.
pub(crate) fn built_binary(name: &str) -> anyhow::Result<PathBuf> {
    let own = std::env::current_exe()?;
    let folder = own.parent().context("a binary has a folder")?;
    let binary = folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    ensure!(binary.exists(), "`{}` was not built", binary.display());
    Ok(binary)
}

struct Story<'a> {
    client: &'a RunningService<RoleClient, ()>,
}

impl Story<'_> {
    /// Calls a tool, shows what a model would read, and gives the structured answer.
    async fn call(&self, tool: &'static str, arguments: Value) -> anyhow::Result<Value> {
        println!("\n> {tool} {arguments}");
        let Value::Object(arguments) = arguments else {
            bail!("arguments are an object")
        };
        let result = self
            .client
            .call_tool(CallToolRequestParams::new(tool).with_arguments(arguments))
            .await?;
        for content in &result.content {
            if let Some(text) = content.as_text() {
                show(&text.text);
            }
        }
        result
            .structured_content
            .context("every answer is structured")
    }

    /// Calls a tool that must work.
    async fn done(&self, tool: &'static str, arguments: Value) -> anyhow::Result<Value> {
        let answer = self.call(tool, arguments).await?;
        ensure!(
            answer["ok"] == true,
            "{tool} was expected to work and answered {answer}"
        );
        Ok(answer)
    }

    /// Calls a tool that must be refused with a code.
    async fn refused(
        &self,
        tool: &'static str,
        arguments: Value,
        code: &str,
    ) -> anyhow::Result<Value> {
        let answer = self.call(tool, arguments).await?;
        ensure!(
            answer["error"]["code"] == code,
            "{tool} was expected to answer {code} and answered {answer}"
        );
        Ok(answer)
    }
}

fn chapter(title: &str) {
    println!("\n=== {title}");
}

fn show(text: &str) {
    let lines: Vec<&str> = text.lines().collect();
    for line in lines.iter().take(SHOWN_LINES) {
        println!("  {}", line.chars().take(230).collect::<String>());
    }
    if let Some(more) = lines
        .len()
        .checked_sub(SHOWN_LINES)
        .filter(|more| *more > 0)
    {
        println!("  ... {more} more lines");
    }
}

async fn tell(story: &Story<'_>) -> anyhow::Result<()> {
    let server = story
        .client
        .peer_info()
        .and_then(|info| info.server_info.clone());
    let server = server.context("the server introduces itself")?;
    println!("\nConnected to {} {}.", server.name, server.version);
    let tools = story.client.list_all_tools().await?;
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_ref()).collect();
    println!("{} tools: {}", names.len(), names.join(", "));

    chapter("The morning queue: a prompt brings what a review needs");
    let prompt = story
        .client
        .get_prompt(GetPromptRequestParams::new("daily-queue-review"))
        .await?;
    for message in &prompt.messages {
        show(
            serde_json::to_value(&message.content)?["text"]
                .as_str()
                .unwrap_or_default(),
        );
    }
    let urgent = story
        .done(
            "list_tickets",
            json!({ "status": "open", "priority": "urgent", "unassigned": true }),
        )
        .await?;
    let ticket = urgent["tickets"][0]["ticket_id"]
        .as_str()
        .context("an urgent ticket is in the queue")?
        .to_owned();

    chapter("Triage: read the dossier, look for the article");
    let details = story
        .done("get_ticket_details", json!({ "ticket_id": ticket }))
        .await?;
    let category = details["ticket"]["category"]
        .as_str()
        .unwrap_or("general")
        .to_owned();
    story
        .done(
            "search_kb",
            json!({ "query": "VPN gateway connection fails", "limit": 2 }),
        )
        .await?;
    story
        .done(
            "search_tickets",
            json!({ "query": "printer offline", "limit": 3 }),
        )
        .await?;

    chapter("What callers said, and how content they were");
    let heard = story
        .done(
            "search_transcripts",
            json!({ "query": "slow wifi in the branch", "limit": 2 }),
        )
        .await?;
    let call = heard["calls"][0]["call_id"]
        .as_str()
        .context("a call is found by what was said")?
        .to_owned();
    story
        .done("get_call_summary", json!({ "call_id": call }))
        .await?;
    story
        .done("query_csat", json!({ "category": "network_vpn" }))
        .await?;

    chapter("Work on it: a note, an owner, a step along the graph");
    story.done("add_comment", json!({ "ticket_id": ticket, "body": "Looked at it with the morning queue; taking it." })).await?;
    story
        .done(
            "assign_ticket",
            json!({ "ticket_id": ticket, "team": "Service Desk", "assignee": "alex" }),
        )
        .await?;
    let moved = story
        .done(
            "change_ticket_status",
            json!({ "ticket_id": ticket, "status": "in_progress" }),
        )
        .await?;

    chapter("What the server refuses");
    let other = story
        .done(
            "list_tickets",
            json!({ "status": "open", "category": category, "limit": 1 }),
        )
        .await?;
    let open = other["tickets"][0]["ticket_id"]
        .as_str()
        .map_or_else(|| ticket.clone(), str::to_owned);
    if open != ticket {
        story
            .refused(
                "resolve_ticket",
                json!({ "ticket_id": open }),
                "FORBIDDEN_TRANSITION",
            )
            .await?;
    }
    let stale = moved["version"].as_i64().unwrap_or(1) - 1;
    story
        .refused(
            "assign_ticket",
            json!({ "ticket_id": ticket, "assignee": "kim", "if_version": stale }),
            "STALE",
        )
        .await?;
    story
        .refused(
            "list_tickets",
            json!({ "priority": "critical" }),
            "INVALID_ARGUMENT",
        )
        .await?;
    story
        .refused(
            "get_ticket",
            json!({ "ticket_id": "C-1" }),
            "INVALID_ARGUMENT",
        )
        .await?;

    chapter(
        "A guarded change: preview, an attempt to spend the approval on another change, commit, replay",
    );
    let change =
        json!({ "ticket_id": "T-1", "priority": "low", "note": "Agreed with the customer." });
    let with = |token: &Value, change: &Value| {
        let mut call = change.clone();
        call["confirmation_token"] = token.clone();
        call
    };
    let preview = story
        .refused("update_ticket", change.clone(), "CONFIRMATION_REQUIRED")
        .await?;
    let other = json!({ "ticket_id": "T-1", "priority": "urgent" });
    let spent_on_another = with(&preview["confirmation_token"], &other);
    story
        .refused("update_ticket", spent_on_another, "CONFIRMATION_MISMATCH")
        .await?;
    let preview = story
        .refused("update_ticket", change.clone(), "CONFIRMATION_REQUIRED")
        .await?;
    let confirmed = with(&preview["confirmation_token"], &change);
    let applied = story.done("update_ticket", confirmed.clone()).await?;
    ensure!(
        applied["confirmation_method"] == "token_only",
        "nobody was asked: {applied}"
    );
    let replayed = story.done("update_ticket", confirmed).await?;
    ensure!(
        replayed["replayed"] == true,
        "the stored answer comes back: {replayed}"
    );
    ensure!(
        replayed["version"] == applied["version"],
        "nothing was done twice"
    );

    chapter("The wall: an incident that was filed as a broken mouse, and a reply with its grounds");
    story
        .refused(
            "draft_response",
            json!({ "ticket_id": "T-37" }),
            "SECURITY_ESCALATION_REQUIRED",
        )
        .await?;
    story
        .done("draft_response", json!({ "ticket_id": "T-1" }))
        .await?;

    chapter("Who did what: the audit log");
    let audit = story
        .done(
            "list_audit_entries",
            json!({ "ticket_id": ticket, "limit": 5 }),
        )
        .await?;
    ensure!(
        audit["entries"]
            .as_array()
            .is_some_and(|rows| rows.len() >= 3),
        "three writes are in the log"
    );

    println!("\nThe end. Connect your own host: deskgate-stdio --demo --print-host-config");
    Ok(())
}
