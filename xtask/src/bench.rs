//! Whole-process measurements of the stdio server: it is started as a host starts it and spoken to over its pipes.
//!
//! Benchmarks measure and tests don't time: nothing here fails on a figure. Numbers are medians of single round trips
//! with one request in flight; on an idle virtual machine each holds 30 to 45 microseconds of wake-up, so compare
//! `cpu` (user and system time of the server per call) before wall time.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use clap::Args;
use serde_json::{Value, json};

#[derive(Args)]
pub(crate) struct Options {
    /// A tenth of the calls
    #[arg(long)]
    quick: bool,
    /// Tickets in the store
    #[arg(long, default_value_t = 10_000)]
    tickets: u64,
}

/// How the arguments of the nth call are made.
type Arguments = Box<dyn Fn(u64) -> Value>;

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    crate::run(crate::cargo().args(["build", "--quiet", "--release", "--package", "mcp-stdio"]))?;
    let binary = release_binary()?;
    let folder = tempfile::tempdir()?;
    let database = format!("sqlite:{}", folder.path().join("bench.db").display());
    let started = Instant::now();
    crate::data::seed_scale(&database, None, options.tickets)?;
    println!(
        "seeded {} tickets in {:.1} s",
        options.tickets,
        started.elapsed().as_secs_f64()
    );

    let starts = if options.quick { 5 } else { 20 };
    let calls = if options.quick { 200 } else { 2_000 };
    let mut cold: Vec<Duration> = Vec::new();
    let mut resident = 0;
    for _ in 0..starts {
        let begun = Instant::now();
        let mut server = Server::start(&binary, &database)?;
        server.request("tools/list", json!({}))?;
        cold.push(begun.elapsed());
        resident = server.resident_kib()?;
        server.stop()?;
    }
    println!("\n| measured | median | p99 | cpu a call |\n|---|---|---|---|");
    println!(
        "| cold start to the first tools/list | {} | {} | |",
        show(quantile(&mut cold, 50)),
        show(quantile(&mut cold, 99))
    );
    println!(
        "| resident memory after start | {:.1} MiB | | |",
        f64::from(resident) / 1024.0
    );

    let mut server = Server::start(&binary, &database)?;
    let last = options.tickets;
    let operations: Vec<(&str, &str, Arguments)> = vec![
        (
            "get_ticket",
            "get_ticket",
            Box::new(move |n| json!({ "ticket_id": spread(n, last) })),
        ),
        (
            "list_tickets (50 rows)",
            "list_tickets",
            Box::new(|n| {
                let status = if n % 2 == 0 { "open" } else { "in_progress" };
                json!({ "status": status, "limit": 50 })
            }),
        ),
        (
            "get_ticket_details",
            "get_ticket_details",
            Box::new(move |n| json!({ "ticket_id": spread(n, last) })),
        ),
        (
            "search_tickets",
            "search_tickets",
            Box::new(|_| json!({ "query": "printer offline", "limit": 10 })),
        ),
        (
            "create_ticket",
            "create_ticket",
            Box::new(|n| {
                json!({
                    "customer_id": 1 + n % 100,
                    "subject": format!("Printer on floor {n} is offline"),
                    "description": "Nobody on the floor can print since this morning. The display is on and shows no error.",
                })
            }),
        ),
    ];
    for (shown, tool, arguments) in operations {
        let mut taken = Vec::new();
        let before = server.cpu()?;
        for n in 0..calls {
            let begun = Instant::now();
            let answer = server.request(
                "tools/call",
                json!({ "name": tool, "arguments": arguments(n) }),
            )?;
            taken.push(begun.elapsed());
            if answer["structuredContent"]["ok"] != true {
                bail!("{tool} answered {answer}");
            }
        }
        let cpu = server.cpu()?.saturating_sub(before) / u32::try_from(calls)?;
        println!(
            "| {shown} | {} | {} | {} |",
            show(quantile(&mut taken, 50)),
            show(quantile(&mut taken, 99)),
            show(cpu)
        );
    }
    println!(
        "| resident memory at the end | {:.1} MiB | | |",
        f64::from(server.resident_kib()?) / 1024.0
    );
    server.stop()
}

/// A ticket number that walks all over the store.
fn spread(n: u64, tickets: u64) -> u64 {
    1 + n.wrapping_mul(7_919) % tickets
}

fn quantile(taken: &mut [Duration], percent: usize) -> Duration {
    taken.sort_unstable();
    let place = (taken.len() * percent / 100).min(taken.len().saturating_sub(1));
    taken.get(place).copied().unwrap_or_default()
}

fn show(duration: Duration) -> String {
    let micros = duration.as_secs_f64() * 1e6;
    if micros < 10_000.0 {
        format!("{micros:.0} us")
    } else {
        format!("{:.1} ms", micros / 1e3)
    }
}

fn release_binary() -> anyhow::Result<PathBuf> {
    let own = std::env::current_exe()?;
    let target = own
        .parent()
        .and_then(Path::parent)
        .context("a binary has a folder")?;
    Ok(target
        .join("release")
        .join(format!("deskgate-stdio{}", std::env::consts::EXE_SUFFIX)))
}

/// A server that is spoken to in raw lines, without an SDK whose cost would be measured as well.
struct Server {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    next: u64,
}

impl Server {
    fn start(binary: &Path, database: &str) -> anyhow::Result<Self> {
        let mut child = Command::new(binary)
            .args(["--database", database, "--actor", "bench"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("`{}` did not start", binary.display()))?;
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().context("a pipe")?);
        let mut server = Self {
            child,
            input,
            output,
            next: 0,
        };
        let hello = json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "bench", "version": "0" }
        });
        server.request("initialize", hello)?;
        server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        Ok(server)
    }

    fn send(&mut self, message: &Value) -> anyhow::Result<()> {
        let input = self.input.as_mut().context("the pipe is open")?;
        input.write_all(format!("{message}\n").as_bytes())?;
        Ok(input.flush()?)
    }

    fn request(&mut self, method: &str, parameters: Value) -> anyhow::Result<Value> {
        self.next += 1;
        let id = self.next;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": parameters }))?;
        let mut line = String::new();
        loop {
            line.clear();
            if self.output.read_line(&mut line)? == 0 {
                bail!("the server ended");
            }
            let mut answer: Value = serde_json::from_str(&line)?;
            if answer["id"] == id {
                return Ok(answer["result"].take());
            }
        }
    }

    fn resident_kib(&self) -> anyhow::Result<u32> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))
            .context("VmRSS")?;
        Ok(line.trim().trim_end_matches(" kB").parse()?)
    }

    /// User and system time so far, to the clock tick of 10 ms.
    fn cpu(&self) -> anyhow::Result<Duration> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        let (_, rest) = stat.rsplit_once(')').context("a process has a name")?;
        let fields: Vec<&str> = rest.split_whitespace().collect();
        let ticks = |place: usize| {
            fields
                .get(place)
                .and_then(|field| field.parse::<u64>().ok())
                .unwrap_or(0)
        };
        Ok(Duration::from_millis((ticks(11) + ticks(12)) * 10))
    }

    fn stop(mut self) -> anyhow::Result<()> {
        self.input = None;
        let status = self.child.wait()?;
        if status.success() {
            Ok(())
        } else {
            bail!("the server ended with {status}")
        }
    }
}
