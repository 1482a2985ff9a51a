//! Log lines of the test that runs on this thread.
//!
//! One subscriber for the whole process: with one per test, what a log statement was told in a test without any would
//! stay with it in the others.

use std::cell::RefCell;
use std::io;
use std::sync::Once;

use tracing_subscriber::EnvFilter;

thread_local! {
    static LINES: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

struct ThisThread;

impl io::Write for ThisThread {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        LINES.with_borrow_mut(|lines| lines.extend_from_slice(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Starts to keep what our crates log, at the most verbose level.
pub(super) fn keep() {
    static STARTED: Once = Once::new();
    STARTED.call_once(|| {
        tracing_subscriber::fmt()
            .with_env_filter(EnvFilter::new("mcp_surface=trace,desk=trace,storage=trace"))
            .with_writer(|| ThisThread)
            .with_ansi(false)
            .init();
    });
}

/// What was logged by this thread.
pub(super) fn of_this_thread() -> String {
    LINES.with_borrow(|lines| String::from_utf8(lines.clone()).unwrap())
}
