//! Standard input that tells when it ends.
//!
//! The SDK waits up to five seconds for calls in flight once its input has ended. A local server must die with its
//! pipe (field report 34), so the end is noticed here, where a shorter bound can be put on the rest.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::Notify;

/// A reader that tells when it meets the end or an error.
pub(crate) struct Watched<R> {
    inner: R,
    ended: Arc<Notify>,
}

impl<R> Watched<R> {
    /// The reader, and what resolves at its end.
    pub(crate) fn new(inner: R) -> (Self, Arc<Notify>) {
        let ended = Arc::new(Notify::new());
        let reader = Self {
            inner,
            ended: Arc::clone(&ended),
        };
        (reader, ended)
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Watched<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.inner).poll_read(context, buffer);
        let over = match &polled {
            Poll::Ready(Ok(())) => buffer.filled().len() == before && buffer.remaining() > 0,
            Poll::Ready(Err(_)) => true,
            Poll::Pending => false,
        };
        if over {
            self.ended.notify_one();
        }
        polled
    }
}
