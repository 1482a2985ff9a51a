//! Event streams end when the token of their reader does (promise N-4), and those that wait for news when the server stops.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http_body::Frame;
use tokio::time::Sleep;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use crate::limits::InFlight;

/// A body that ends early.
struct Until {
    inner: Body,
    expiry: Pin<Box<Sleep>>,
    draining: Option<Pin<Box<WaitForCancellationFutureOwned>>>,
    _place: InFlight,
}

impl http_body::Body for Until {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let is_over = self.expiry.as_mut().poll(cx).is_ready()
            || self
                .draining
                .as_mut()
                .is_some_and(|draining| draining.as_mut().poll(cx).is_ready());
        if is_over {
            return Poll::Ready(None);
        }
        Pin::new(&mut self.inner).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }
}

/// Bounds a response if it is an event stream, which then keeps its place among its principal's requests; others are over.
/// `draining` is given for streams that wait for news.
pub(super) fn bound(
    response: Response,
    time_left: Duration,
    draining: Option<CancellationToken>,
    place: InFlight,
) -> Response {
    let is_stream = response
        .headers()
        .get(CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
    if !is_stream {
        return response;
    }
    response.map(|inner| {
        Body::new(Until {
            inner,
            expiry: Box::pin(tokio::time::sleep(time_left)),
            draining: draining.map(|token| Box::pin(token.cancelled_owned())),
            _place: place,
        })
    })
}
