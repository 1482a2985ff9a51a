//! The entry that a host's configuration needs, ready to paste.

use std::path::Path;

use serde_json::{Value, json};

use crate::config::Config;

/// The entries for common hosts, with the absolute path of this binary: hosts start servers from another folder
/// and without the shell's search path, so a bare name does not work.
pub(crate) fn render(binary: &Path, config: &Config, demo: bool) -> String {
    let mut arguments: Vec<Value> = Vec::new();
    if demo {
        arguments.push("--demo".into());
    } else {
        arguments.extend(["--database".into(), config.database.clone().into()]);
    }
    if config.read_only {
        arguments.push("--read-only".into());
    }
    let command = binary.display().to_string();
    let server = json!({ "command": command, "args": arguments });
    let pretty = |value: Value| serde_json::to_string_pretty(&value).unwrap_or_default();
    format!(
        "Claude Desktop (claude_desktop_config.json), Cursor (.cursor/mcp.json), Windsurf (mcp_config.json):\n{}\n\n\
         VS Code (.vscode/mcp.json):\n{}\n\n\
         Claude Code (one command):\nclaude mcp add-json deskgate '{}'\n",
        pretty(json!({ "mcpServers": { "deskgate": server } })),
        pretty(
            json!({ "servers": { "deskgate": { "type": "stdio", "command": command, "args": arguments } } })
        ),
        server,
    )
}
