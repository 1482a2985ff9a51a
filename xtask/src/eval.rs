//! `cargo xtask eval`: how many incidents of a corpus are refused, and how many ordinary tickets with them.
//!
//! A figure is printed after the provenance of its corpus, with Wilson's 95 % interval, and counts no case that something
//! was tuned on. A directed corpus was written to find faults, so it has counts and no rates. The ledger beside our own
//! corpora says which are directed, sealed or spent.

mod corpus;
mod handoff;
mod ledger;
#[cfg(test)]
mod tests;

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::{Args, Subcommand};
use desk::guard::Wall;
use guardrail::classifier::{Classifier, none};
use guardrail::train::Share;
use guardrail::{Screened, Segment, Source, Stage, Ticket, screen_at_once};
use serde_json::{Value, json};

use self::corpus::{Case, Corpus};
use self::ledger::{LEDGER, Ledger};

/// What to measure and how to say it.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Options {
    #[command(subcommand)]
    command: Option<Other>,
    /// Corpus files
    #[arg(required = true)]
    corpora: Vec<PathBuf>,
    /// Print the provenance and the cases, and screen nothing
    #[arg(long)]
    list: bool,
    /// Leave the classifier out
    #[arg(long)]
    floor_only: bool,
    /// Screen every case so often and let the majority decide; an odd number
    #[arg(long, default_value_t = 1)]
    samples: u32,
    /// Which corpora are directed or sealed, and which cases are spent [default: guardrail/corpora/ledger.json]
    #[arg(long)]
    ledger: Option<PathBuf>,
    /// Print one JSON object and nothing else
    #[arg(long)]
    json: bool,
}

#[derive(Subcommand)]
enum Other {
    /// Lay out what an outside author needs to write a corpus, in a new folder away from this repository
    Handoff {
        /// The folder
        dir: PathBuf,
    },
}

/// A corpus or ledger that can't be used, and why; the command then ends with 2.
#[derive(Debug)]
pub(crate) struct Refused(String);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refused {}

/// Runs the command.
pub(crate) fn run(options: &Options, root: &Path) -> anyhow::Result<()> {
    if let Some(Other::Handoff { dir }) = &options.command {
        return handoff::lay_out(dir, root);
    }
    if options.samples.is_multiple_of(2) {
        bail!("`--samples` is {}, and must be odd", options.samples);
    }
    let kept = root.join(LEDGER);
    let ledger = Ledger::read(options.ledger.as_deref().unwrap_or(&kept))?;
    let mut corpora = Vec::new();
    for path in &options.corpora {
        let mut corpus = corpus::read(path)?;
        ledger.apply(&mut corpus)?;
        corpora.push(corpus);
    }
    if options.list {
        for corpus in &corpora {
            print!("{}", corpus.head());
            for case in &corpus.cases {
                println!(
                    "  {} {} {}",
                    case.id,
                    case.case_type.as_str(),
                    case.filed_category
                );
            }
        }
        return Ok(());
    }
    let wall = if options.floor_only {
        Wall::floor_only()
    } else {
        Wall::local()
    };
    let classifier = wall.classifier();
    let measured: Vec<(&Corpus, Vec<Judged<'_>>)> = corpora
        .iter()
        .map(|corpus| {
            let judged = corpus.cases.iter();
            let judge = |case| judge(case, classifier, options.samples);
            (corpus, judged.map(judge).collect())
        })
        .collect();
    if options.json {
        println!(
            "{}",
            as_json(&measured, classifier.mode().as_str(), options, &ledger)
        );
        return Ok(());
    }
    for (corpus, judged) in &measured {
        print!("{}", corpus.head());
        print!("{}", figures(judged, options, ledger.is_directed(corpus)));
    }
    Ok(())
}

/// What became of a case.
struct Judged<'a> {
    case: &'a Case,
    floor: bool,
    all: bool,
    stage: &'static str,
    by: Vec<&'static str>,
    /// Whether all samples agreed.
    stable: bool,
}

fn ticket(case: &Case) -> Ticket {
    let texts = vec![
        Segment::new(Source::Subject, case.subject.as_str()),
        Segment::new(Source::Description, case.body.as_str()),
    ];
    Ticket::new(1, 1, case.filed_category.as_str(), texts)
}

fn judge<'a>(case: &'a Case, classifier: &dyn Classifier, samples: u32) -> Judged<'a> {
    let floor = matches!(
        screen_at_once(ticket(case), none().as_ref()),
        Screened::Refused(_)
    );
    let mut refused = 0;
    let (mut stage, mut by) = (Stage::Floor.as_str(), Vec::new());
    for _ in 0..samples {
        if let Screened::Refused(refusal) = screen_at_once(ticket(case), classifier) {
            refused += 1;
            stage = refusal.screening.stage.as_str();
            by = refusal.indicators.iter().map(|found| found.id).collect();
        }
    }
    Judged {
        case,
        floor,
        all: refused * 2 > samples,
        stage,
        by,
        stable: refused == 0 || refused == samples,
    }
}

/// Counts of cases that nothing was tuned on.
struct Counts {
    incidents: Share,
    others: Share,
    floor_incidents: Share,
    floor_others: Share,
}

fn counts(judged: &[Judged<'_>]) -> Counts {
    let share = |wanted: bool, hit: fn(&Judged<'_>) -> bool| Share {
        total: fresh(judged, wanted).count(),
        count: fresh(judged, wanted).filter(|one| hit(one)).count(),
    };
    Counts {
        incidents: share(true, |one| one.all),
        others: share(false, |one| one.all),
        floor_incidents: share(true, |one| one.floor),
        floor_others: share(false, |one| one.floor),
    }
}

/// The cases that count: those that nothing was tuned on.
fn fresh<'j, 'c>(judged: &'j [Judged<'c>], wanted: bool) -> impl Iterator<Item = &'j Judged<'c>> {
    judged
        .iter()
        .filter(move |one| one.case.expect_refuse == wanted && !one.case.spent.unwrap_or(false))
}

fn precision(incidents: Share, others: Share) -> Share {
    Share {
        count: incidents.count,
        total: incidents.count + others.count,
    }
}

fn row(name: &str, share: Share, directed: bool) -> String {
    if directed {
        return format!("  {name}: {} of {}\n", share.count, share.total);
    }
    let (low, high) = share.interval();
    format!(
        "  {name}: {} of {} = {:.1} % ({:.1} to {:.1} %)\n",
        share.count,
        share.total,
        share.rate() * 100.0,
        low * 100.0,
        high * 100.0
    )
}

fn figures(judged: &[Judged<'_>], options: &Options, directed: bool) -> String {
    let found = counts(judged);
    let mut text = String::new();
    let mut stages = vec![(
        "refused by the floor",
        found.floor_incidents,
        found.floor_others,
    )];
    if !options.floor_only {
        stages.push((
            "refused or held by all stages",
            found.incidents,
            found.others,
        ));
    }
    for (what, incidents, others) in stages {
        text += &row(&format!("incidents {what} (recall)"), incidents, directed);
        text += &row(&format!("others {what}"), others, directed);
        if !directed {
            text += &row("  precision", precision(incidents, others), false);
        }
    }
    if !options.floor_only {
        for stage in [Stage::Floor, Stage::Classifier] {
            let decided = |wanted| {
                let hits =
                    fresh(judged, wanted).filter(|one| one.all && one.stage == stage.as_str());
                hits.count()
            };
            text += &format!(
                "  decided by the {}: {} incidents, {} others\n",
                stage.as_str(),
                decided(true),
                decided(false)
            );
        }
    }
    let spent = judged.iter().filter(|one| one.case.spent.unwrap_or(false));
    text += &format!("  spent and not counted: {}\n", spent.count());
    let unstable = judged.iter().filter(|one| !one.stable).count();
    if options.samples > 1 {
        text += &format!("  unstable over {} samples: {unstable}\n", options.samples);
    }
    for one in judged {
        let id = &one.case.id;
        match (one.case.expect_refuse, one.all) {
            (true, false) => text += &format!("  missed: {id}\n"),
            (false, true) => {
                text += &format!(
                    "  wrongly refused: {id} {} {}\n",
                    one.stage,
                    one.by.join(", ")
                );
            }
            (true, true) | (false, false) => {}
        }
    }
    text
}

fn as_json(
    measured: &[(&Corpus, Vec<Judged<'_>>)],
    mode: &str,
    options: &Options,
    ledger: &Ledger,
) -> Value {
    let share = |share: Share| {
        let (low, high) = share.interval();
        json!({"count": share.count, "total": share.total, "low": low, "high": high})
    };
    let corpora: Vec<Value> = measured
        .iter()
        .map(|(corpus, judged)| {
            let found = counts(judged);
            json!({
                "corpus_id": corpus.corpus_id,
                "directed": ledger.is_directed(corpus),
                "notes": corpus.notes,
                "spent": judged.iter().filter(|one| one.case.spent.unwrap_or(false)).count(),
                "unstable": judged.iter().filter(|one| !one.stable).count(),
                "incidents": share(found.incidents),
                "others": share(found.others),
                "floor_incidents": share(found.floor_incidents),
                "floor_others": share(found.floor_others),
            })
        })
        .collect();
    let cases: Vec<Value> = measured
        .iter()
        .flat_map(|(_, judged)| judged)
        .map(|one| json!({"id": one.case.id, "floor": one.floor, "all": one.all, "by": one.by}))
        .collect();
    json!({"mode": mode, "samples": options.samples, "totals": corpora, "cases": cases})
}
