//! `deskgate-stdio`: the desk for one person's local host. It wires configuration, identity and transport, and holds no
//! tool, prompt, rule or text of its own (invariant 13). Standard output carries the protocol and nothing else.

mod admin;
mod config;
mod host_config;
mod input;
mod keys;

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use clap::Parser as _;
use desk::guard::Wall;
use desk::ops::audit::{AuditError, Keeper};
use desk::system::{SystemClock, SystemIds};
use desk::{Caller, Desk, Guard};
use domain::{Actor, ActorChannel, Proof, ScopeSet};
use mcp_surface::{Identify, Settings, Surface, Unidentified};
use rmcp::service::RequestContext;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::{RoleServer, ServiceExt as _};
use storage::{DatabaseUrl, Options};

use config::{Command, Config, Environment, Flags, Level};

/// A request line may be this long: the largest argument is 20,000 characters, which JSON escapes to 240 KB at worst.
const LINE_BYTES: usize = 1024 * 1024;

/// What is left for calls in flight after the input has ended.
const GRACE: Duration = Duration::from_millis(600);

/// What is left after that for a write that has begun. Both together end the process within a second (field report 34).
const CLOSING: Duration = Duration::from_millis(250);

/// The exit code where the audit log can't be judged; 1 says that it was tampered with.
const NOT_JUDGED: u8 = 2;

/// How often it is looked at whether a checkpoint of the audit log is due.
const KEEPING: Duration = Duration::from_secs(1);

fn main() -> ExitCode {
    let flags = Flags::parse();
    match run(&flags) {
        Ok(code) => code,
        Err(error) => {
            // The one place that writes to standard error without the log: the log may be what failed.
            drop(writeln!(std::io::stderr(), "deskgate-stdio: {error:#}"));
            match flags.command {
                Some(Command::Audit(_)) => ExitCode::from(NOT_JUDGED),
                Some(_) | None => ExitCode::FAILURE,
            }
        }
    }
}

fn run(flags: &Flags) -> anyhow::Result<ExitCode> {
    let config = Config::load(flags, &Environment::read()?)?;
    // A classifier that is configured and can't be used stops everything, a check of the settings too.
    let wall = Wall::new(
        config.classifier.clone(),
        Arc::new(SystemClock),
        Arc::new(SystemIds),
    )?;
    if flags.check_config {
        print(&config.to_toml()?)?;
        return Ok(ExitCode::SUCCESS);
    }
    if flags.print_host_config {
        let binary = std::env::current_exe().context("the path of this binary is unknown")?;
        print(&host_config::render(&binary, &config, flags.demo))?;
        return Ok(ExitCode::SUCCESS);
    }
    start_log(config.log);
    // One thread: a pipe carries one client, and handing calls to other threads costs more than they take (sdk.md, 10).
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let served = runtime.block_on(async {
        match &flags.command {
            Some(command) => admin::run(command, &config).await,
            None => Box::pin(serve(flags, &config, wall))
                .await
                .map(|()| ExitCode::SUCCESS),
        }
    });
    // A pending read of a terminal can't be cancelled; the runtime must not wait for it.
    runtime.shutdown_background();
    served
}

async fn serve(flags: &Flags, config: &Config, wall: Wall) -> anyhow::Result<()> {
    let folder = flags.demo.then(tempfile::tempdir).transpose()?;
    let url = match &folder {
        Some(folder) => DatabaseUrl::parse(&format!(
            "sqlite:{}",
            folder.path().join("demo.db").display()
        ))?,
        None => DatabaseUrl::parse(&config.database)?,
    };
    // A demonstration store is seeded before it is narrowed.
    let read_only = config.read_only && !flags.demo;
    if let Some(told) = config.classifier.disclosure() {
        tracing::warn!("{told}");
    }
    let guard = guard(flags, config, &url)?;
    let store = wall.open(
        &url,
        guard.log_keys(),
        Options {
            create: !read_only,
            read_only,
            ..Options::default()
        },
    )?;
    let desk = Arc::new(Desk::new(
        store,
        Arc::new(SystemClock),
        Arc::new(SystemIds),
        guard,
    ));
    let identity = identity(config);
    if flags.demo {
        let caller = Caller {
            request_id: desk.next_request_id(),
            ..identity.clone()
        };
        desk::ops::demo::seed(&desk, &caller).await?;
    }
    let settings = Settings {
        toolsets: config.toolsets.clone(),
        read_only: config.read_only,
        timeout: Duration::from_secs(config.timeout_seconds),
        concurrency: config.concurrency,
        answer_timeout: Settings::default().answer_timeout,
        // A token is about four bytes (design section 3).
        result_bytes: config.result_tokens.saturating_mul(4),
    };
    let surface = Surface::new(Arc::clone(&desk), Arc::new(Local(identity)), settings);

    let (reader, writer) = rmcp::transport::io::stdio_pipes();
    let (reader, ended) = input::Watched::new(reader);
    let transport = AsyncRwTransport::new_server(reader, writer).with_max_line_length(LINE_BYTES);
    let session = async {
        match surface.serve(transport).await {
            Ok(running) => running
                .waiting()
                .await
                .map(drop)
                .context("the session ended badly"),
            // A client that goes away or talks out of turn before the first request is no fault of ours.
            Err(error) => {
                tracing::warn!(%error, "no session was opened");
                Ok(())
            }
        }
    };
    let overdue = async {
        ended.notified().await;
        tokio::time::sleep(GRACE).await;
    };
    let keeper = Keeper::new(Arc::clone(&desk), config.checkpoint_file.clone());
    tokio::select! {
        outcome = session => outcome?,
        () = keep(&keeper) => {}
        () = overdue => tracing::info!("input ended; calls in flight were cut"),
        () = stop_signal() => tracing::info!("stopped by a signal"),
    }
    let closing = async {
        if let Err(error) = keeper.take().await {
            no_checkpoint(&error);
        }
        desk.close().await
    };
    if tokio::time::timeout(CLOSING, closing).await.is_err() {
        tracing::warn!("a write was still running at the end");
    }
    Ok(())
}

/// Takes checkpoints of the audit log as they fall due; does not end.
async fn keep(keeper: &Keeper) {
    loop {
        tokio::time::sleep(KEEPING).await;
        if let Err(error) = keeper.tick().await {
            no_checkpoint(&error);
        }
    }
}

fn no_checkpoint(error: &AuditError) {
    let cause = std::error::Error::source(error).map(tracing::field::display);
    tracing::error!(cause, "no checkpoint of the audit log was kept: {error}");
}

/// What guards changes: the key file beside the store, so that processes on one store share it. A demonstration store goes
/// with its process, and so do its keys.
fn guard(flags: &Flags, config: &Config, url: &DatabaseUrl) -> anyhow::Result<Guard> {
    if flags.demo {
        Ok(Guard::passing(&SystemIds, config.policy.clone())?)
    } else {
        keys::guard(config, url)
    }
}

/// Everybody on the other end of the pipe is the one local user.
struct Local(Caller);

impl Identify for Local {
    fn caller(
        &self,
        _context: &RequestContext<RoleServer>,
    ) -> Result<(Actor, ScopeSet), Unidentified> {
        Ok((self.0.actor.clone(), self.0.scopes))
    }
}

fn identity(config: &Config) -> Caller {
    Caller {
        actor: Actor {
            id: config.actor.clone(),
            proof: Proof::Asserted,
            channel: ActorChannel::Stdio,
            client: "stdio".to_owned(),
        },
        scopes: config.role.map_or_else(ScopeSet::all, domain::Role::scopes),
        request_id: 0,
    }
}

/// Resolves when the process is asked to stop.
async fn stop_signal() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let (Ok(mut terminate), Ok(mut interrupt)) = (
            signal(SignalKind::terminate()),
            signal(SignalKind::interrupt()),
        ) {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            return;
        }
    }
    std::future::pending::<()>().await;
}

fn start_log(level: Level) {
    // The SDK logs whole requests at debug level, customer text included, and at warn the messages of error answers, which
    // repeat what a client wrote, so it stays at `error` whatever is asked for; the library for providers logs whole answers
    // at trace level, so it and what it stands on stay at `warn` (promises S-1).
    let quiet = "rmcp=error,genai=warn,reqwest=warn,hyper=warn,hyper_util=warn,h2=warn,rustls=warn";
    let filter = format!("{},{quiet}", level.as_str());
    tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::new(filter))
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .init();
}

/// Prints for a person, before any protocol is spoken.
fn print(text: &str) -> anyhow::Result<()> {
    Ok(writeln!(std::io::stdout(), "{text}")?)
}
