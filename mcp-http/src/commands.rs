//! The command line: serve, and what an operator needs beside it.

mod approvals;
mod audit;
mod doctor;
mod erase;
mod token;

use std::ffi::OsString;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context as _, ensure};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use desk::guard::{ClassifierKind, Wall};
use desk::ops::import::{ImportOptions, OnError, Silent, import};
use desk::ops::keys::{self, KeysTask};
use desk::ops::tokens::TokenRequest;
use desk::system::{SystemClock, SystemIds};
use desk::{Caller, Desk, Guard};
use domain::{Actor, ActorChannel, Proof, ScopeSet};
use storage::{DatabaseUrl, Options};

use crate::config::{Config, Environment, Given, SETTINGS};
use crate::operations::logs::Logging;
use crate::serve::{Machine, Server};
use crate::tokens::new_token;

/// The exit code where the audit log can't be judged; 1 says that it was tampered with.
const NOT_JUDGED: u8 = 2;

/// Runs the program.
pub fn run() -> ExitCode {
    match try_run(std::env::args_os()) {
        Ok(code) => code,
        Err(error) => {
            show(&error);
            ExitCode::FAILURE
        }
    }
}

/// The one place that writes to standard error without the log: the log may be what failed.
fn show(error: &anyhow::Error) {
    drop(writeln!(std::io::stderr(), "deskgate-http: {error:#}"));
}

fn try_run(arguments: impl IntoIterator<Item = OsString>) -> anyhow::Result<ExitCode> {
    let matches = command().get_matches_from(arguments);
    let Some((name, matches)) = matches.subcommand() else {
        return Ok(ExitCode::FAILURE);
    };
    match carry_out(name, matches) {
        Err(error) if name == "audit" => {
            show(&error);
            Ok(ExitCode::from(NOT_JUDGED))
        }
        done => done,
    }
}

fn carry_out(name: &str, matches: &ArgMatches) -> anyhow::Result<ExitCode> {
    let environment = Environment::read()?;
    let config = Config::load(&given(matches), &environment)?;
    let context = Context {
        config,
        environment,
    };
    match name {
        "serve" => serve(context, matches),
        "migrate" => migrate(&context),
        "token" => token::run(&context, matches),
        "import" => run_import(&context, matches),
        "approvals" => approvals::run(&context, matches),
        "audit" => audit::run(&context, matches),
        "erase-customer" => erase::run(&context, matches),
        "keys" => run_keys(&context, matches),
        _ => doctor::run(&context),
    }
}

/// The whole command line; each setting is a flag of every command.
pub fn command() -> Command {
    let settings = SETTINGS.iter().map(|setting| {
        let flag = setting.name.replace('_', "-");
        let variable = setting.name.to_ascii_uppercase();
        let arg = Arg::new(setting.name)
            .long(flag)
            .value_name(setting.value)
            .help(format!("{} [env: DESKGATE_{variable}]", setting.help))
            .global(true);
        if setting.value == "true|false" {
            arg.num_args(0..=1)
                .default_missing_value("true")
                .require_equals(true)
        } else {
            arg
        }
    });
    let yes = |name: &'static str, help: &'static str| {
        Arg::new(name)
            .long(name)
            .help(help)
            .action(ArgAction::SetTrue)
    };
    Command::new("deskgate-http")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Serves a support desk to the MCP clients of a team over HTTP")
        .max_term_width(100)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .args(settings)
        .subcommand(
            Command::new("serve")
                .about("Serve")
                .arg(
                    yes("demo", "Serve a temporary store filled with demonstration data, and print a token for it")
                        .conflicts_with("database"),
                )
                .arg(yes("check-config", "Print the effective settings and stop")),
        )
        .subcommand(Command::new("migrate").about("Bring the store's schema up to this build"))
        .subcommand(token::command())
        .subcommand(
            Command::new("import")
                .about("Bring in the records of another system")
                .arg(
                    Arg::new("path")
                        .required(true)
                        .value_name("PATH")
                        .help("A folder of JSON Lines, CSV and Markdown files, or one file")
                        .value_parser(value_parser!(PathBuf)),
                )
                .arg(
                    Arg::new("map")
                        .long("map")
                        .value_name("FILE")
                        .help("How another system's columns and words are read (TOML)")
                        .value_parser(value_parser!(PathBuf)),
                )
                .arg(
                    Arg::new("on-error")
                        .long("on-error")
                        .value_name("abort|skip")
                        .help("What a bad row does: nothing is kept, or the good rows are")
                        .value_parser(["abort", "skip"])
                        .default_value("abort"),
                ),
        )
        .subcommand(approvals::command())
        .subcommand(erase::command())
        .subcommand(audit::command())
        .subcommand(
            Command::new("keys")
                .about("Look after the keys of confirmations and of the audit log, in `--key-file`")
                .subcommand_required(true)
                .arg_required_else_help(true)
                .subcommand(Command::new("create").about("Make the key file"))
                .subcommand(
                    Command::new("rotate")
                        .about("Put a new key in place; the one before it still verifies what it has signed, older ones verify the audit log only"),
                ),
        )
        .subcommand(
            Command::new("doctor")
                .about("Print every deviation from safe settings; exit code 1 if there is one"),
        )
}

fn given(matches: &ArgMatches) -> Given {
    let values = SETTINGS.iter().filter_map(|setting| {
        let value = matches.try_get_one::<String>(setting.name).ok().flatten()?;
        Some((setting.name, value.clone()))
    });
    let is_demo = matches.try_get_one::<bool>("demo").ok().flatten() == Some(&true);
    Given::new(values.collect(), is_demo)
}

/// What a command runs with.
struct Context {
    config: Config,
    environment: Environment,
}

impl Context {
    fn machine() -> Machine {
        Machine {
            clock: Arc::new(SystemClock),
            ids: Arc::new(SystemIds),
        }
    }

    /// A desk whose previews, approvals and audit rows hold for every server with its key file.
    fn desk(&self, create: bool, read_only: bool) -> anyhow::Result<Arc<Desk>> {
        Self::guarded_desk(
            &self.config.database,
            self.config.classifier.clone(),
            create,
            read_only,
            self.guard()?,
        )
    }

    /// What guards changes and seals the log of them.
    fn guard(&self) -> anyhow::Result<Guard> {
        let path = self.key_file()?.to_owned();
        Ok(Guard::from_kept_file(path, self.config.policy.clone())?)
    }

    fn guarded_desk(
        url: &str,
        kind: ClassifierKind,
        create: bool,
        read_only: bool,
        guard: Guard,
    ) -> anyhow::Result<Arc<Desk>> {
        let options = Options {
            create,
            read_only,
            ..Options::default()
        };
        let wall = Wall::new(kind, Arc::new(SystemClock), Arc::new(SystemIds))?;
        let store = wall.open(&DatabaseUrl::parse(url)?, guard.log_keys(), options)?;
        Ok(Arc::new(Desk::new(
            store,
            Arc::new(SystemClock),
            Arc::new(SystemIds),
            guard,
        )))
    }

    fn key_file(&self) -> anyhow::Result<&Path> {
        self.config.key_file.as_deref().context(
            "no key file is named: set `--key-file FILE` or DESKGATE_KEY_FILE; `deskgate-http keys create` makes one",
        )
    }

    fn operator(&self, desk: &Desk) -> Caller {
        operator(desk, &self.environment.os_user())
    }
}

/// Whoever sits at the terminal; the operating system vouches, nobody else.
fn operator(desk: &Desk, user: &str) -> Caller {
    Caller {
        actor: Actor {
            id: format!("local:{user}"),
            proof: Proof::Asserted,
            channel: ActorChannel::Cli,
            client: "cli".to_owned(),
        },
        scopes: ScopeSet::all(),
        request_id: desk.next_request_id(),
    }
}

fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?)
}

fn print(text: &str) -> anyhow::Result<()> {
    Ok(writeln!(std::io::stdout(), "{text}")?)
}

fn serve(context: Context, matches: &ArgMatches) -> anyhow::Result<ExitCode> {
    if matches.get_flag("check-config") {
        print(&context.config.to_toml()?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let logging = Logging::start(context.config.log, context.config.otlp_endpoint.as_deref())?;
    if let Some(told) = context.config.classifier.disclosure() {
        tracing::warn!("{told}");
    }
    let is_demo = matches.get_flag("demo");
    runtime()?.block_on(async {
        if is_demo {
            serve_demo(context).await
        } else {
            let read_only = context.config.surface.read_only;
            let desk = context.desk(!read_only, read_only)?;
            let server = Server::bind(context.config, desk, &Context::machine()).await?;
            tracing::info!(url = server.url(), "serving");
            until_told(server).await
        }
    })?;
    logging.finish();
    Ok(ExitCode::SUCCESS)
}

/// A desk to look at: temporary, seeded, on this machine only, with one token that is gone with it.
pub struct Demonstration {
    /// The server.
    pub server: Server,
    /// The token that enters.
    pub token: String,
    /// Where its store is, until this is dropped.
    pub folder: tempfile::TempDir,
}

/// Makes a demonstration for somebody at this machine.
pub async fn demonstration(config: Config, user: &str) -> anyhow::Result<Demonstration> {
    let bind: SocketAddr = config.bind;
    ensure!(
        bind.ip().is_loopback(),
        "a demonstration is served on the loopback only, and `bind` is `{bind}`"
    );
    let folder = tempfile::tempdir()?;
    let url = format!("sqlite:{}", folder.path().join("demo.db").display());
    let guard = Guard::passing(&SystemIds, config.policy.clone())?;
    let desk = Context::guarded_desk(&url, config.classifier.clone(), true, false, guard)?;
    let operator = operator(&desk, user);
    desk::ops::demo::seed(&desk, &operator).await?;
    let token = new_token(&SystemIds);
    let request = TokenRequest {
        subject: "demo".to_owned(),
        label: "demonstration".to_owned(),
        scopes: ScopeSet::all(),
        days: 1,
    };
    desk.create_access_token(&operator, &request, token.digest())
        .await?;
    Ok(Demonstration {
        server: Server::bind(config, desk, &Context::machine()).await?,
        token: token.reveal().to_owned(),
        folder,
    })
}

async fn serve_demo(context: Context) -> anyhow::Result<()> {
    let user = context.environment.os_user();
    let demonstration = demonstration(context.config, &user).await?;
    let (url, token) = (demonstration.server.url(), &demonstration.token);
    print(&format!(
        "A demonstration desk is at {url} until this process ends.\n\
         Token: {token}\n\n\
         Try it:\n  \
         npx -y @modelcontextprotocol/inspector --cli {url} --transport http \\\n    \
         --header \"Authorization: Bearer {token}\" --method tools/list\n"
    ))?;
    until_told(demonstration.server).await
}

async fn until_told(server: Server) -> anyhow::Result<()> {
    let shutdown = server.shutdown();
    tokio::spawn(async move {
        match stop_signal().await {
            Ok(()) => tracing::info!("told to stop"),
            Err(error) => tracing::error!("signals cannot be waited for: {error}"),
        }
        shutdown.begin();
    });
    server.run().await
}

/// Resolves when the process is asked to stop.
async fn stop_signal() -> std::io::Result<()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        Ok(())
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c().await
}

fn migrate(context: &Context) -> anyhow::Result<ExitCode> {
    let url = DatabaseUrl::parse(&context.config.database)?;
    let steps = storage::migrate(&url, context.guard()?.log_keys())?;
    if steps.is_empty() {
        print("The store is up to date.")?;
    }
    for step in steps {
        print(&format!("applied {step}"))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn run_keys(context: &Context, matches: &ArgMatches) -> anyhow::Result<ExitCode> {
    let task = match matches.subcommand_name() {
        Some("rotate") => KeysTask::Rotate,
        _ => KeysTask::Create,
    };
    print(&keys::run(task, context.key_file()?, &SystemIds)?)?;
    Ok(ExitCode::SUCCESS)
}

fn run_import(context: &Context, matches: &ArgMatches) -> anyhow::Result<ExitCode> {
    let path = matches.get_one::<PathBuf>("path").context("no path")?;
    let skips = matches
        .get_one::<String>("on-error")
        .is_some_and(|word| word == "skip");
    let options = ImportOptions {
        path: path.clone(),
        map: matches.get_one::<PathBuf>("map").cloned(),
        on_error: if skips { OnError::Skip } else { OnError::Abort },
    };
    let summary = runtime()?.block_on(async {
        let desk = context.desk(true, false)?;
        let summary = import(&desk, &context.operator(&desk), &options, &Silent).await?;
        desk.close().await?;
        anyhow::Ok(summary)
    })?;
    print(&summary.to_string())?;
    Ok(if summary.aborted {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}
