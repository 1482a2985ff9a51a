//! The one writer of a process: a thread that owns the connection and takes jobs in the order in which they came.
//!
//! Jobs that wait at the same time share one commit, since the flush to the disk is what a write costs. Each runs in a
//! savepoint of its own, so that one that fails or panics is undone alone, and none is answered before the commit.

mod doubt;
mod group;
mod job;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use diesel::connection::SimpleConnection;
use domain::{Act, Timestamp};
use tokio::sync::{oneshot, watch};

use self::group::Lost;
use self::job::{Job, WriteJob};
use super::chain::{Head, Sealer};
use super::connection::{AnyConnection, Database, Engine, Purpose, WriterLock};
use super::errors::{Broken, classify, unopened};
use crate::screening::Screener;
use crate::{ExpiryClock, Fault, Faults, StoreError};

/// A transaction that writes, as a job sees it.
pub(super) struct Tx<'a> {
    conn: &'a mut AnyConnection,
    hands: &'a Hands,
    server_time: Option<Timestamp>,
    head: Head,
    /// Whether a note was taken that has no audit row.
    noted: bool,
    /// How what is being applied was approved, for every audit row of it.
    approval: Vec<(&'static str, String)>,
}

/// What a writer is given to work with.
pub(super) struct Hands {
    /// Seals the audit log.
    pub(super) sealer: Sealer,
    /// Judges the texts of tickets.
    pub(super) screener: Option<Arc<dyn Screener>>,
    /// Makes statements fail, in tests.
    pub(super) faults: Option<Arc<dyn Faults>>,
    pub(super) expiry_clock: ExpiryClock,
}

/// Whether what was done since a savepoint stays.
pub(super) enum Savepoint<T> {
    /// It stays.
    Keep(T),
    /// It is undone; the value is the answer all the same.
    Undo(T),
}

impl<'a> Tx<'a> {
    /// What judges the texts of tickets.
    pub(super) fn screener(&self) -> Option<&'a dyn Screener> {
        self.hands.screener.as_deref()
    }

    /// The connection, for one statement. There is no other way to it, so tests can make every statement fail.
    pub(super) fn step(&mut self) -> Result<&mut AnyConnection, StoreError> {
        inject(self.hands.faults.as_deref())?;
        Ok(self.conn)
    }

    /// What seals audit rows.
    pub(super) const fn sealer(&self) -> &'a Sealer {
        &self.hands.sealer
    }

    /// The end of the audit log, with the rows of this transaction.
    pub(super) const fn head(&self) -> Head {
        self.head
    }

    /// Says that an audit row was appended.
    pub(super) const fn advance(&mut self, head: Head) {
        self.head = head;
    }

    /// Keeps what a job did although it appends no audit row: a checkpoint says where the log stands, and vectors are derived
    /// from records and change none.
    pub(super) const fn note(&mut self) {
        self.noted = true;
    }

    /// Has expiry judged by the clock of the database server from here to the end of the job, where there is one.
    pub(super) fn judge_by_server(&mut self) -> Result<(), StoreError> {
        if self.hands.expiry_clock == ExpiryClock::Database
            && self.conn.engine() == Engine::Postgres
        {
            self.server_time = self.step()?.clock().map_err(classify)?;
        }
        Ok(())
    }

    /// The time that expiry is judged by. What an act leaves in rows has the act's own time all the same.
    pub(super) fn now(&self, act: &Act) -> Timestamp {
        self.server_time.unwrap_or(act.at)
    }

    /// Has every audit row from here to the end of the job say how what it does was approved.
    pub(super) fn approved_by(&mut self, facts: Vec<(&'static str, String)>) {
        self.approval = facts;
    }

    /// What audit rows say of the approval.
    pub(super) fn approval(&self) -> &[(&'static str, String)] {
        &self.approval
    }

    /// Runs a part of a job that can be undone alone. An error undoes the whole job.
    pub(super) fn savepoint<T, E: From<StoreError>>(
        &mut self,
        name: &'static str,
        work: impl FnOnce(&mut Self) -> Result<Savepoint<T>, E>,
    ) -> Result<T, E> {
        let head = self.head;
        self.execute(&format!("SAVEPOINT {name}"))?;
        let value = match work(self)? {
            Savepoint::Keep(value) => value,
            Savepoint::Undo(value) => {
                self.execute(&format!("ROLLBACK TO SAVEPOINT {name}"))?;
                self.head = head;
                value
            }
        };
        self.execute(&format!("RELEASE SAVEPOINT {name}"))?;
        Ok(value)
    }

    fn execute(&mut self, statement: &str) -> Result<(), StoreError> {
        self.step()?.batch_execute(statement).map_err(classify)
    }
}

fn inject(faults: Option<&dyn Faults>) -> Result<(), StoreError> {
    let Some(faults) = faults else {
        return Ok(());
    };
    faults.step().map_err(|fault| match fault {
        Fault::Error => StoreError::Unavailable(Broken("a fault was injected").into()),
        Fault::Busy => StoreError::Busy,
        Fault::Full => StoreError::Full,
        // Not `panic!`: the hook would print a trace for each of the many that a test injects.
        Fault::Panic => std::panic::resume_unwind(Box::new("a panic was injected")),
    })
}

/// Whether a job may share its transaction with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Company {
    /// It may, and may be run again when their common commit fails.
    Shared,
    /// It may not: it can't be run twice.
    Alone,
}

/// The way to the writer.
pub(super) struct WriteQueue {
    jobs: Mutex<Option<Sender<Box<dyn Job>>>>,
    running: watch::Receiver<()>,
    waiting: AtomicUsize,
}

/// A job that waits for its answer.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn enter(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl WriteQueue {
    /// Starts the writer.
    pub(super) fn start(
        database: Database,
        lock: WriterLock,
        conn: AnyConnection,
        group_limit: usize,
        hands: Hands,
    ) -> std::io::Result<Self> {
        let (sender, receiver) = channel();
        let (alive, running) = watch::channel(());
        let writer = Writer {
            database,
            lock,
            conn: Some(conn),
            hands,
        };
        let group_limit = group_limit.max(1);
        std::thread::Builder::new()
            .name("deskgate-writer".to_owned())
            .spawn(move || {
                writer.serve(&receiver, group_limit);
                drop(alive);
            })?;
        Ok(Self {
            jobs: Mutex::new(Some(sender)),
            running,
            waiting: AtomicUsize::new(0),
        })
    }

    /// Runs a job and waits until what it did is durable.
    ///
    /// A job of which nobody waits for the answer any more is not started; one that has been started is finished.
    pub(super) async fn run<T, F>(&self, company: Company, body: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnMut(&mut Tx<'_>) -> Result<T, StoreError> + Send + 'static,
    {
        let _waiting = Waiting::enter(&self.waiting);
        let (reply, answer) = oneshot::channel();
        let job = Box::new(WriteJob::new(body, company, reply));
        let sent = self
            .jobs
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .as_ref()
            .is_some_and(|jobs| jobs.send(job).is_ok());
        if !sent {
            return Err(StoreError::Unavailable(
                Broken("the store is closed").into(),
            ));
        }
        answer.await.unwrap_or_else(|_gone| {
            Err(StoreError::Internal(
                Broken("the writer ended before the job").into(),
            ))
        })
    }

    /// Jobs that wait for their answer now.
    pub(super) fn depth(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Takes no more jobs and waits until the last one is answered.
    pub(super) async fn close(&self) {
        let jobs = self
            .jobs
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        drop(jobs);
        let mut running = self.running.clone();
        while running.changed().await.is_ok() {}
    }
}

struct Writer {
    database: Database,
    lock: WriterLock,
    conn: Option<AnyConnection>,
    hands: Hands,
}

impl Writer {
    fn serve(mut self, jobs: &Receiver<Box<dyn Job>>, group_limit: usize) {
        let mut next = None;
        while let Some(first) = next.take().or_else(|| jobs.recv().ok()) {
            let mut group = vec![first];
            let shared =
                |group: &[Box<dyn Job>]| group.iter().all(|job| job.company() == Company::Shared);
            while group.len() < group_limit && shared(&group) {
                match jobs.try_recv() {
                    Ok(job) if job.company() == Company::Alone => {
                        next = Some(job);
                        break;
                    }
                    Ok(job) => group.push(job),
                    Err(_none) => break,
                }
            }
            self.run(group);
        }
    }

    fn run(&mut self, mut group: Vec<Box<dyn Job>>) {
        group.retain(|job| !job.abandoned());
        match self.attempt(&mut group) {
            Ok(()) => group.into_iter().for_each(Job::answer),
            // One job may have broken it for all (design section 7).
            Err(Lost::Undone(error)) if group.len() > 1 => {
                tracing::warn!(%error, jobs = group.len(), "a group of writes was undone; running them singly");
                self.run_singly(group);
            }
            Err(lost) => {
                let error = lost.into_error();
                for job in group {
                    job.answer_lost(error.copy());
                }
            }
        }
    }

    fn run_singly(&mut self, group: Vec<Box<dyn Job>>) {
        let mut unreachable = None;
        for mut job in group {
            if let Some(error) = &unreachable {
                let error: &StoreError = error;
                job.answer_lost(error.copy());
                continue;
            }
            match self.attempt(std::slice::from_mut(&mut job)) {
                Ok(()) => job.answer(),
                // The others would wait as long for the same.
                Err(Lost::NotBegun(error)) if error.is_unavailable() => {
                    unreachable = Some(error.copy());
                    job.answer_lost(error);
                }
                Err(lost) => job.answer_lost(lost.into_error()),
            }
        }
    }

    /// Runs jobs in one transaction. After a failure the connection is in a state that nobody vouches for, so the next
    /// transaction gets a new one.
    fn attempt(&mut self, group: &mut [Box<dyn Job>]) -> Result<(), Lost> {
        if group.is_empty() {
            return Ok(());
        }
        let turn = self
            .lock
            .take()
            .map_err(|error| Lost::NotBegun(StoreError::Unavailable(error.into())))?;
        let (mut conn, used) = match self.conn.take() {
            Some(conn) => (conn, true),
            None => (connect(&self.database)?, false),
        };
        let mut result = self.attempt_on(&mut conn, group);
        if used && matches!(&result, Err(Lost::NoConnection(error)) if error.is_unavailable()) {
            // The server may have been restarted since the last write.
            conn = connect(&self.database)?;
            result = self.attempt_on(&mut conn, group);
        }
        if let Err(Lost::Unknown(error, Some(mark))) = result {
            drop(conn);
            let settled = doubt::settle(&self.database, error, mark);
            drop(turn);
            return settled;
        }
        match &result {
            Ok(()) => self.conn = Some(conn),
            // Closing the connection undoes what it had begun; that must be over before others take their turn.
            Err(_) => drop(conn),
        }
        drop(turn);
        result
    }

    fn attempt_on(&self, conn: &mut AnyConnection, group: &mut [Box<dyn Job>]) -> Result<(), Lost> {
        let mut committing = false;
        let busy_timeout = self.database.busy_timeout();
        catch_unwind(AssertUnwindSafe(|| {
            group::run(conn, &self.hands, busy_timeout, group, &mut committing)
        }))
        .unwrap_or_else(|_panic| {
            let error = StoreError::Internal(Broken("the writer panicked").into());
            Err(if committing {
                Lost::Unknown(error, None)
            } else {
                Lost::Undone(error)
            })
        })
    }
}

fn connect(database: &Database) -> Result<AnyConnection, Lost> {
    database
        .connect(Purpose::Write)
        .map_err(|error| Lost::NotBegun(unopened(error)))
}

#[cfg(test)]
mod tests;
