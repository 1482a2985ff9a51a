//! Jobs that share a transaction: what one does must not reach another, and none may be answered too early.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use domain::{
    Act, Action, Actor, ActorChannel, AuditFilter, AuditRecord, EntityKind, Outcome, PageRequest,
    Proof, Timestamp,
};
use tempfile::TempDir;
use writegate::KeyRing;

use super::*;
use crate::sql::audit;
use crate::{DatabaseUrl, Faults};

struct Desk {
    database: Database,
    queue: WriteQueue,
    _dir: TempDir,
}

fn desk(faults: Option<Arc<dyn Faults>>) -> Desk {
    let dir = TempDir::new().unwrap();
    let url = DatabaseUrl::parse(&format!("sqlite:{}", dir.path().join("desk.db").display()));
    let database = Database::locate(&url.unwrap(), true, Duration::from_secs(5)).unwrap();
    let lock = database.writer_lock().unwrap();
    database.migrate(&lock).unwrap();
    let conn = database.connect(Purpose::Write).unwrap();
    let hands = Hands {
        sealer: Sealer {
            keys: KeyRing::parse(testkit::KEY_FILE).unwrap().log_keys(),
            deployment: "tests".into(),
        },
        screener: None,
        faults,
        expiry_clock: ExpiryClock::default(),
    };
    let queue = WriteQueue::start(database.clone(), lock, conn, 32, hands).unwrap();
    Desk {
        database,
        queue,
        _dir: dir,
    }
}

impl Desk {
    /// The numbers that the log's rows were written with, oldest first.
    fn logged(&self) -> Vec<i64> {
        let mut conn = self.database.connect(Purpose::Read).unwrap();
        let page = PageRequest::new(100, None);
        let entries = audit::list(&mut conn, &AuditFilter::default(), page).unwrap();
        let mut seqs: Vec<i64> = entries.rows.iter().map(|entry| entry.seq).collect();
        seqs.reverse();
        let dense: Vec<i64> = (1..).take(seqs.len()).collect();
        assert_eq!(seqs, dense);
        let ids = entries.rows.iter().rev();
        ids.map(|entry| entry.entity_id.unwrap()).collect()
    }

    /// Runs jobs that the writer finds waiting together, and gives what each answered. `before` is called when the writer
    /// is about to take them.
    fn run_together(
        &self,
        before: impl Fn() + Send + 'static,
        jobs: Vec<Work>,
    ) -> Vec<Result<i64, StoreError>> {
        block_on(async {
            let held = self.hold(before).await;
            let mut answers = Vec::new();
            for work in jobs {
                answers.push(sent(self.queue.run(Company::Shared, work)).await);
            }
            held.release().await;
            let mut given = Vec::new();
            for answer in answers {
                given.push(answer.await);
            }
            given
        })
    }

    /// Keeps the writer busy with a job of its own until it is released.
    async fn hold(&self, at_the_end: impl Fn() + Send + 'static) -> Held<'_> {
        let (release, wait) = channel();
        let (started, begun) = channel();
        let job = sent(self.queue.run(Company::Alone, move |_tx| {
            started.send(()).unwrap();
            wait.recv().unwrap();
            at_the_end();
            Ok(())
        }))
        .await;
        begun.recv().unwrap();
        Held { release, job }
    }
}

struct Held<'a> {
    release: Sender<()>,
    job: Answer<'a, ()>,
}

impl Held<'_> {
    async fn release(self) {
        self.release.send(()).unwrap();
        self.job.await.unwrap();
    }
}

type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + 'a>>;

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(future)
}

/// Sends a job on its way.
async fn sent<'a, T>(job: impl Future<Output = Result<T, StoreError>> + 'a) -> Answer<'a, T> {
    let mut job: Answer<'a, T> = Box::pin(job);
    let waiting = poll_fn(|context| Poll::Ready(job.as_mut().poll(context).is_pending())).await;
    assert!(waiting);
    job
}

type Work = Box<dyn FnMut(&mut Tx<'_>) -> Result<i64, StoreError> + Send>;

fn append(tx: &mut Tx<'_>, number: i64) -> Result<i64, StoreError> {
    let act = Act {
        actor: Actor {
            id: "local:ada".to_owned(),
            proof: Proof::Asserted,
            channel: ActorChannel::Stdio,
            client: "stdio".to_owned(),
        },
        at: Timestamp::from_micros(0),
        request_id: 1,
        tool: "test",
    };
    let record = AuditRecord {
        action: Action::CreateTicket,
        entity: EntityKind::Ticket,
        entity_id: Some(number),
        version_before: None,
        version_after: None,
        outcome: Outcome::Applied,
        code: None,
        facts: Vec::new(),
    };
    audit::append(tx, &act, &record)?;
    Ok(number)
}

fn writes(number: i64) -> Work {
    Box::new(move |tx| append(tx, number))
}

/// Writes two rows, then ends in a way of its own.
fn writes_then(number: i64, end: fn() -> StoreError) -> Work {
    Box::new(move |tx| {
        append(tx, number)?;
        append(tx, number + 1)?;
        Err(end())
    })
}

#[test]
fn a_job_that_fails_or_panics_is_undone_alone() {
    let desk = desk(None);
    let answers = desk.run_together(
        || (),
        vec![
            writes(1),
            writes_then(20, || StoreError::DuplicateEmail),
            writes(2),
            writes_then(30, || std::panic::resume_unwind(Box::new("a test"))),
            writes(3),
        ],
    );
    assert!(matches!(
        answers.as_slice(),
        [
            Ok(1),
            Err(StoreError::DuplicateEmail),
            Ok(2),
            Err(StoreError::Internal(_)),
            Ok(3),
        ]
    ));
    assert_eq!(desk.logged(), [1, 2, 3]);
    assert!(matches!(
        desk.run_together(|| (), vec![writes(4)]).as_slice(),
        [Ok(4)]
    ));
}

#[test]
fn a_job_without_an_audit_row_leaves_nothing_behind() {
    let desk = desk(None);
    let silent: Work = Box::new(|tx| {
        tx.execute("INSERT INTO teams (folded, shown) VALUES ('a', 'A')")?;
        Ok(0)
    });
    let answers = desk.run_together(|| (), vec![silent, writes(1)]);
    assert!(matches!(answers.as_slice(), [Ok(0), Ok(1)]));
    let mut conn = desk.database.connect(Purpose::Read).unwrap();
    let teams = crate::sql::completion::team(&mut conn, "", 9).unwrap();
    assert!(teams.is_empty(), "{teams:?}");
}

/// Lets one statement fail, by its number from when it is armed.
#[derive(Default)]
struct FailOnce {
    left: AtomicUsize,
}

impl Faults for FailOnce {
    fn step(&self) -> Result<(), Fault> {
        let left = self.left.load(Ordering::SeqCst);
        self.left.store(left.saturating_sub(1), Ordering::SeqCst);
        if left == 1 { Err(Fault::Full) } else { Ok(()) }
    }
}

#[test]
fn a_group_whose_commit_fails_is_run_again_one_by_one() {
    // Of three jobs with one row each, after BEGIN and the head: a savepoint, a row and a release each, then head and COMMIT.
    for (fails_at, all_answered) in [(1, false), (2, false), (3, true), (12, true), (13, true)] {
        let faults = Arc::new(FailOnce::default());
        let desk = desk(Some(Arc::clone(&faults) as Arc<dyn Faults>));
        let answers = desk.run_together(
            move || faults.left.store(fails_at, Ordering::SeqCst),
            vec![writes(1), writes(2), writes(3)],
        );
        if all_answered {
            assert!(answers.iter().all(Result::is_ok), "{fails_at}: {answers:?}");
            assert_eq!(desk.logged(), [1, 2, 3]);
        } else {
            let full = |answer: &Result<i64, StoreError>| matches!(answer, Err(StoreError::Full));
            assert!(answers.iter().all(full), "{fails_at}: {answers:?}");
            assert!(desk.logged().is_empty());
        }
    }
}

#[test]
fn a_job_of_which_nobody_waits_for_the_answer_is_not_started() {
    let desk = desk(None);
    block_on(async {
        let held = desk.hold(|| ()).await;
        let dropped = sent(desk.queue.run(Company::Shared, writes(1))).await;
        let kept = sent(desk.queue.run(Company::Shared, writes(2))).await;
        drop(dropped);
        held.release().await;
        kept.await.unwrap();
    });
    assert_eq!(desk.logged(), [2]);
}

#[test]
fn closing_finishes_what_is_queued_and_takes_nothing_more() {
    let desk = desk(None);
    block_on(async {
        let mut queued = Vec::new();
        for number in 1..=40 {
            queued.push(sent(desk.queue.run(Company::Shared, writes(number))).await);
        }
        desk.queue.close().await;
        for (number, job) in (1..).zip(queued) {
            assert_eq!(job.await.unwrap(), number);
        }
        desk.queue.close().await;
        let late = desk.queue.run(Company::Shared, writes(41)).await;
        assert!(matches!(late, Err(StoreError::Unavailable(_))));
    });
    assert_eq!(desk.logged().len(), 40);
}
