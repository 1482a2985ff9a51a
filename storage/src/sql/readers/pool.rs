//! Connections that are used by threads of their own, one each.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use super::{closed, is_reusable, panicked};
use crate::StoreError;
use crate::sql::connection::{AnyConnection, Database, Purpose};
use crate::sql::errors::{classify, unopened};

/// Reads that may wait for a connection. A server that is that far behind is told no more: at a hundred pages a second from
/// each of four connections, they are two and a half seconds of work.
const MOST_WAITING: usize = 1_000;

type Tasks = Arc<Mutex<Receiver<Box<dyn Task>>>>;

pub(in crate::sql) struct Pool {
    tasks: Mutex<Option<SyncSender<Box<dyn Task>>>>,
}

/// A read as a thread sees it, whatever it answers.
trait Task: Send {
    /// Whether nobody waits for it any more.
    fn abandoned(&self) -> bool;

    /// Reads and answers; gives whether the connection may be used again.
    fn run(self: Box<Self>, conn: &mut AnyConnection) -> bool;

    /// Answers without having read.
    fn fail(self: Box<Self>, error: StoreError);
}

struct Read<T, F> {
    query: F,
    reply: oneshot::Sender<Result<T, StoreError>>,
}

impl<T, F> Task for Read<T, F>
where
    T: Send,
    F: FnOnce(&mut AnyConnection) -> Result<T, StoreError> + Send,
{
    fn abandoned(&self) -> bool {
        self.reply.is_closed()
    }

    fn run(self: Box<Self>, conn: &mut AnyConnection) -> bool {
        let query = self.query;
        let result = catch_unwind(AssertUnwindSafe(|| conn.read(query)));
        // A transaction that a panic left open ends with its connection.
        let reusable = result.as_ref().is_ok_and(is_reusable);
        send(self.reply, result.unwrap_or_else(|_panic| Err(panicked())));
        reusable
    }

    fn fail(self: Box<Self>, error: StoreError) {
        send(self.reply, Err(error));
    }
}

fn send<T>(reply: oneshot::Sender<Result<T, StoreError>>, answer: Result<T, StoreError>) {
    if reply.send(answer).is_err() {
        tracing::debug!("the caller of a read has gone before its answer");
    }
}

impl Pool {
    pub(super) fn start(database: &Database, threads: usize) -> std::io::Result<Self> {
        let (sender, receiver) = sync_channel(MOST_WAITING);
        let tasks: Tasks = Arc::new(Mutex::new(receiver));
        for _ in 0..threads.max(1) {
            let (database, tasks) = (database.clone(), Arc::clone(&tasks));
            std::thread::Builder::new()
                .name("deskgate-reader".to_owned())
                .spawn(move || serve(&database, &tasks))?;
        }
        Ok(Self {
            tasks: Mutex::new(Some(sender)),
        })
    }

    pub(super) async fn read<T, F>(&self, query: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&mut AnyConnection) -> Result<T, StoreError> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let sent = self
            .sender()
            .as_ref()
            .ok_or_else(closed)?
            .try_send(Box::new(Read { query, reply }));
        match sent {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => return Err(StoreError::Busy),
            Err(TrySendError::Disconnected(_)) => return Err(closed()),
        }
        answer.await.unwrap_or_else(|_gone| Err(closed()))
    }

    pub(super) fn close(&self) {
        drop(self.sender().take());
    }

    fn sender(&self) -> MutexGuard<'_, Option<SyncSender<Box<dyn Task>>>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn locked(tasks: &Tasks) -> MutexGuard<'_, Receiver<Box<dyn Task>>> {
    tasks.lock().unwrap_or_else(PoisonError::into_inner)
}

fn serve(database: &Database, tasks: &Tasks) {
    let mut idle = None;
    loop {
        let Ok(task) = locked(tasks).recv() else {
            return;
        };
        if task.abandoned() {
            continue;
        }
        match begun(database, idle.take()) {
            Ok(mut conn) => idle = task.run(&mut conn).then_some(conn),
            Err(error) => fail_all(task, tasks, &error),
        }
    }
}

/// Answers everybody who waits: each would wait as long for the same error.
fn fail_all(task: Box<dyn Task>, tasks: &Tasks, error: &StoreError) {
    let waiting: Vec<Box<dyn Task>> = match tasks.try_lock() {
        Ok(tasks) => tasks.try_iter().collect(),
        // Another thread waits for a task, so none is waiting.
        Err(_taken) => Vec::new(),
    };
    for task in std::iter::once(task).chain(waiting) {
        task.fail(error.copy());
    }
}

/// A connection on which a transaction has begun. One that was idle may have lost its server meanwhile; then a new one is
/// made, and nothing has been read from the old.
fn begun(database: &Database, idle: Option<AnyConnection>) -> Result<AnyConnection, StoreError> {
    if let Some(mut conn) = idle
        && conn.begin_read().is_ok()
    {
        return Ok(conn);
    }
    let mut conn = database.connect(Purpose::Read).map_err(unopened)?;
    conn.begin_read().map_err(classify)?;
    Ok(conn)
}
