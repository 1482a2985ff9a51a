//! The accept loop: every phase of a connection has a deadline, and there are only so many connections (promise D-3).
//!
//! HTTP/1.1 only: a reverse proxy speaks it to us anyway, and what HTTP/2 lets a client do to a server needs no answer here.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_rustls::TlsAcceptor;
use tower::ServiceExt as _;

use super::deadline::Deadline;
use super::shutdown::Shutdown;

/// The largest head of a request: a token of 8 KiB and a browser's headers fit four times.
const HEAD_BYTES: usize = 64 * 1024;
/// How long accepting pauses when the machine gives no more sockets.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Bounds of connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Connections at once; more are closed unanswered.
    pub connections: usize,
    /// Connections at once from one address. Behind a proxy all come from one, so this is no defence against one person.
    pub connections_each: usize,
    /// From accepting to the first byte, a TLS handshake included.
    pub first_byte: Duration,
    /// For the head of a request, and between two requests: longer than proxies keep idle connections would be better for
    /// them, shorter than this is better against idlers.
    pub head: Duration,
    /// For a peer to take what is written to it.
    pub write: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            connections: 4096,
            connections_each: 2048,
            first_byte: Duration::from_secs(10),
            head: Duration::from_secs(30),
            write: Duration::from_secs(30),
        }
    }
}

/// The connections of each address.
#[derive(Clone, Default)]
struct Each(Arc<Mutex<HashMap<IpAddr, usize>>>);

/// One connection's place in the counts.
struct Place {
    each: Each,
    ip: IpAddr,
    _total: OwnedSemaphorePermit,
}

impl Each {
    fn enter(&self, ip: IpAddr, most: usize, total: OwnedSemaphorePermit) -> Option<Place> {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(ip).or_default();
        if *count >= most {
            return None;
        }
        *count += 1;
        Some(Place {
            each: self.clone(),
            ip,
            _total: total,
        })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut counts = self.each.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&self.ip) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.ip);
            }
        }
    }
}

/// Serves connections until the first stage of the shutdown.
pub async fn serve(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    app: Router,
    bounds: Bounds,
    shutdown: &Shutdown,
) {
    let total = Arc::new(Semaphore::new(bounds.connections));
    let each = Each::default();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = shutdown.draining().cancelled() => return,
        };
        let (stream, from) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // Out of sockets, or a peer that left at once; both pass.
                tracing::warn!("a connection could not be accepted: {error}");
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        let Ok(permit) = Arc::clone(&total).try_acquire_owned() else {
            continue;
        };
        let ip = from.ip().to_canonical();
        let Some(place) = each.enter(ip, bounds.connections_each, permit) else {
            continue;
        };
        let connection = connection(
            stream,
            from,
            tls.clone(),
            app.clone(),
            bounds,
            shutdown.clone(),
        );
        shutdown.connections().spawn(async move {
            connection.await;
            drop(place);
        });
    }
}

async fn connection(
    stream: TcpStream,
    from: SocketAddr,
    tls: Option<TlsAcceptor>,
    app: Router,
    bounds: Bounds,
    shutdown: Shutdown,
) {
    // Without this an event stream's answer waits 40 ms for the peer's acknowledgement.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!("TCP_NODELAY is refused: {error}");
    }
    match tls {
        None => {
            // hyper's own deadline starts with the first byte that it reads; the first byte itself needs this one.
            let first = tokio::time::timeout(bounds.first_byte, stream.peek(&mut [0])).await;
            if matches!(first, Ok(Ok(read)) if read > 0) {
                requests(stream, from, app, bounds, shutdown).await;
            }
        }
        Some(tls) => {
            let shaken = tokio::time::timeout(bounds.first_byte, tls.accept(stream)).await;
            if let Ok(Ok(stream)) = shaken {
                requests(stream, from, app, bounds, shutdown).await;
            }
        }
    }
}

async fn requests(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    from: SocketAddr,
    app: Router,
    bounds: Bounds,
    shutdown: Shutdown,
) {
    let service = service_fn(move |mut request: hyper::Request<hyper::body::Incoming>| {
        request.extensions_mut().insert(from);
        app.clone().oneshot(request.map(Body::new))
    });
    let served = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(bounds.head)
        .max_buf_size(HEAD_BYTES)
        .serve_connection(TokioIo::new(Deadline::new(stream, bounds.write)), service);
    let mut served = std::pin::pin!(served);
    let mut draining = std::pin::pin!(shutdown.draining().cancelled());
    let ended = tokio::select! {
        ended = served.as_mut() => ended,
        () = draining.as_mut() => {
            served.as_mut().graceful_shutdown();
            tokio::select! {
                ended = served => ended,
                () = shutdown.cut().cancelled() => Ok(()),
            }
        }
    };
    if let Err(error) = ended {
        tracing::debug!("a connection ended early: {error}");
    }
}
