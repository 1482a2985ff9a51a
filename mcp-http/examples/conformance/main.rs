//! A demonstration server that also has the tools, resources and prompts which the protocol's conformance suite calls by
//! name: for `cargo xtask conformance`, on the same wiring as `deskgate-http`, and never part of a release.
//!
//! Of the flags of `deskgate-http` it knows `--bind` and `--allowed-origins`.
#![expect(
    clippy::indexing_slicing,
    deprecated,
    reason = "fixtures of a test, and the suite asks for what the older revision has"
)]

mod fixtures;

use std::io::Write as _;

use mcp_http::commands::demonstration;
use mcp_http::config::{Config, Environment, Given};

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let after = |flag: &str| {
        let found = arguments.iter().position(|argument| argument == flag);
        found
            .and_then(|at| arguments.get(at + 1))
            .map_or("", String::as_str)
    };
    let values = [
        ("bind", after("--bind")),
        ("allowed_origins", after("--allowed-origins")),
        ("log", "warn"),
        ("reads_per_second", "10000"),
        ("writes_per_second", "10000"),
    ];
    let values = values.map(|(name, value)| (name, value.to_owned()));
    let config = Config::load(&Given::new(values.to_vec(), true), &Environment::default())?;
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async {
        let demonstration = demonstration(config, "conformance").await?;
        let server = demonstration.server;
        writeln!(
            std::io::stdout(),
            "Fixtures are at {}\nToken: {}",
            server.url(),
            demonstration.token
        )?;
        let handler = fixtures::Fixtures::new(server.surface());
        server.run_with(handler).await
    })
}
