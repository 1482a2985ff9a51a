//! `deskgate-http`: the desk for a team. See [`mcp_http::commands`].

use std::process::ExitCode;

fn main() -> ExitCode {
    mcp_http::commands::run()
}
