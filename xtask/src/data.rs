//! Commands about data: the functions of `desk::ops` with a progress bar.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, bail};
use clap::{Args, ValueEnum};
use desk::guard::Wall;
use desk::ops::import::{ImportOptions, ImportSummary, Progress};
use desk::ops::keys;
use desk::system::{SystemClock, SystemIds};
use desk::{Caller, ConfirmationMode, Desk, Guard, Policy};
use domain::{Actor, ActorChannel, Proof, ScopeSet};
use indicatif::{ProgressBar, ProgressStyle};
use storage::import::OnError;
use storage::{DatabaseUrl, Options};

/// Which store.
#[derive(Args)]
pub(crate) struct Target {
    /// The store: `sqlite:PATH` or `postgres://USER@HOST/NAME`
    #[arg(long, env = "DESKGATE_DATABASE", value_name = "URL")]
    database: String,
    /// The keys of the store: beside its file unless it is said; needed for a database server
    #[arg(long, env = "DESKGATE_KEY_FILE", value_name = "FILE")]
    key_file: Option<PathBuf>,
}

/// `cargo xtask seed`.
#[derive(Args)]
pub(crate) struct Seed {
    #[command(flatten)]
    target: Target,
    /// Make a new store; the old file is kept beside it, since audit rows are never deleted
    #[arg(long)]
    reset: bool,
    /// Generate this many tickets instead of the demonstration data
    #[arg(long, value_name = "N")]
    scale: Option<u64>,
}

/// `cargo xtask import`.
#[derive(Args)]
pub(crate) struct Import {
    /// A folder of JSON Lines, CSV and Markdown files, or one file
    path: PathBuf,
    #[command(flatten)]
    target: Target,
    /// How another system's columns and words are read (TOML)
    #[arg(long, value_name = "FILE")]
    map: Option<PathBuf>,
    /// What a bad row does
    #[arg(long, value_enum, default_value_t = BadRow::Abort)]
    on_error: BadRow,
}

#[derive(Clone, Copy, ValueEnum)]
enum BadRow {
    /// Nothing is kept
    Abort,
    /// The good rows are kept
    Skip,
}

pub(crate) fn migrate(target: &Target) -> anyhow::Result<()> {
    let url = DatabaseUrl::parse(&target.database)?;
    let steps = storage::migrate(&url, guard(&url, target.key_file.as_deref())?.log_keys())?;
    if steps.is_empty() {
        println!("The store is up to date.");
    }
    for step in steps {
        println!("applied {step}");
    }
    Ok(())
}

pub(crate) fn seed(seed: &Seed) -> anyhow::Result<()> {
    crate::model::fetch_if_possible();
    let url = &seed.target.database;
    let keys = seed.target.key_file.as_deref();
    if seed.reset {
        set_aside(url)?;
    }
    match seed.scale {
        Some(tickets) => seed_scale(url, keys, tickets),
        None => seed_demo(url, keys),
    }
}

/// Moves a store's file out of the way, so that a new one is made and no audit row is lost.
fn set_aside(url: &str) -> anyhow::Result<()> {
    let shown = DatabaseUrl::parse(url)?.to_string();
    let Some(path) = shown.strip_prefix("sqlite:") else {
        bail!("`--reset` is for a store in a file")
    };
    let free = (1..=u32::MAX)
        .map(|n| format!("{path}.before-{n}"))
        .find(|name| !Path::new(name).exists());
    let Some(kept) = free.filter(|_| Path::new(path).exists()) else {
        return Ok(());
    };
    for suffix in ["-wal", "-shm"] {
        let part = format!("{path}{suffix}");
        if Path::new(&part).exists() {
            std::fs::rename(&part, format!("{kept}{suffix}"))?;
        }
    }
    std::fs::rename(path, &kept)?;
    println!("The old store is kept as `{kept}`.");
    Ok(())
}

pub(crate) fn import(import: &Import) -> anyhow::Result<()> {
    let options = ImportOptions {
        path: import.path.clone(),
        map: import.map.clone(),
        on_error: match import.on_error {
            BadRow::Abort => OnError::Abort,
            BadRow::Skip => OnError::Skip,
        },
    };
    let summary = with_desk(
        &import.target.database,
        import.target.key_file.as_deref(),
        async |desk, caller| {
            Ok(desk::ops::import::import(desk, caller, &options, &Bar::bytes()).await?)
        },
    )?;
    print!("{summary}");
    finish(&summary)
}

/// Fills a store with the demonstration data.
pub(crate) fn seed_demo(database: &str, key_file: Option<&Path>) -> anyhow::Result<()> {
    let summary = with_desk(database, key_file, async |desk, caller| {
        Ok(desk::ops::demo::seed(desk, caller).await?)
    })?;
    print!("{summary}");
    finish(&summary)
}

/// Fills a store with generated tickets, the same ones every time.
pub(crate) fn seed_scale(
    database: &str,
    key_file: Option<&Path>,
    tickets: u64,
) -> anyhow::Result<()> {
    with_desk(database, key_file, async |desk, caller| {
        desk::ops::seed::seed_scale(desk, caller, tickets, &Bar::rows()).await?;
        Ok(())
    })
}

fn finish(summary: &ImportSummary) -> anyhow::Result<()> {
    if summary.aborted {
        bail!("nothing was kept; correct the rows above, or let `--on-error skip` leave them out")
    }
    Ok(())
}

/// What seals the audit log: the key file beside the store, which `deskgate-stdio` uses too, or the one that is named.
fn guard(url: &DatabaseUrl, named: Option<&Path>) -> anyhow::Result<Guard> {
    let policy = Policy::new(ConfirmationMode::Strict);
    if let Some(file) = url.file() {
        let path = named.map_or_else(|| keys::beside(file), Path::to_owned);
        return Ok(Guard::from_file(path, &SystemIds, policy)?);
    }
    let path = named.context(
        "a store on a database server needs `--key-file`, the file that its servers share",
    )?;
    Ok(Guard::from_kept_file(path.to_owned(), policy)?)
}

fn with_desk<T>(
    database: &str,
    key_file: Option<&Path>,
    work: impl AsyncFnOnce(&Desk, &Caller) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let url = DatabaseUrl::parse(database)?;
    let guard = guard(&url, key_file)?;
    let store = Wall::local().open(
        &url,
        guard.log_keys(),
        Options {
            create: true,
            ..Options::default()
        },
    )?;
    let desk = Desk::new(store, Arc::new(SystemClock), Arc::new(SystemIds), guard);
    let caller = Caller {
        actor: Actor {
            id: "xtask".to_owned(),
            proof: Proof::Asserted,
            channel: ActorChannel::Cli,
            client: "xtask".to_owned(),
        },
        scopes: ScopeSet::all(),
        request_id: desk.next_request_id(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let done = work(&desk, &caller).await?;
        desk.close().await?;
        Ok(done)
    })
}

/// Shows how far an import is, where somebody watches.
struct Bar(ProgressBar);

impl Bar {
    fn new(template: &str) -> Self {
        let bar = ProgressBar::new(0);
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        Self(bar)
    }

    fn bytes() -> Self {
        Self::new("{bar:40} {bytes}/{total_bytes} {eta}")
    }

    fn rows() -> Self {
        Self::new("{bar:40} {human_pos}/{human_len} rows {eta}")
    }
}

impl Progress for Bar {
    fn advance(&self, done: u64, total: u64) {
        self.0.set_length(total);
        self.0.set_position(done);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
