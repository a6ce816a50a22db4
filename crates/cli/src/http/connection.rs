//! One client's connection, from the first byte to the last.
//!
//! Hyper reads the requests and writes the answers. Its own bounds are set wider than ours, so that
//! a client over ours gets an answer that says so; a client over both gets a bare status.

use std::convert::Infallible;
use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;

use super::answer::Content;
use super::limits::{Permit, Slot, Stage};
use super::paced::Paced;
use super::refusal::Refusal;
use super::{Client, HEADER_COUNT_MAX, REQUEST_MAX, Scope, Site, SocketKind, router};

/// What a connection holds for as long as it is served.
#[derive(Debug)]
pub(super) enum Place {
    /// Over TCP, for any number of requests.
    Ordinary { _permit: Permit },
    /// Over TCP when there is no ordinary place: one request about health.
    Reserve(Slot),
    /// Over the Unix socket.
    Local { _permit: OwnedSemaphorePermit },
}

impl Place {
    const fn client(&self) -> Client {
        match self {
            Self::Ordinary { .. } => Client { socket: SocketKind::Tcp, scope: Scope::Everything },
            Self::Reserve(_) => Client { socket: SocketKind::Tcp, scope: Scope::HealthOnly },
            Self::Local { .. } => Client { socket: SocketKind::Unix, scope: Scope::Everything },
        }
    }

    const fn request_max(&self) -> Duration {
        match self {
            Self::Ordinary { .. } | Self::Local { .. } => REQUEST_MAX,
            Self::Reserve(_) => RESERVE_REQUEST_MAX,
        }
    }

    fn reached(&self, stage: Stage) {
        match self {
            Self::Reserve(slot) => slot.reached(stage),
            Self::Ordinary { .. } | Self::Local { .. } => {}
        }
    }
}

/// Serves a connection until one side ends it.
pub(super) async fn serve<S>(stream: S, site: Arc<Site>, place: Place)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let client = place.client();
    let service = service_fn(|request| {
        place.reached(Stage::Answering);
        let site = Arc::clone(&site);
        // On the heap, since hyper wants to move it.
        Box::pin(async move { Ok::<_, Infallible>(router::answer(&site, client, request).await) })
    });
    let mut connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .keep_alive(client.scope == Scope::Everything)
        .header_read_timeout(place.request_max())
        .max_buf_size(BUFFER_MAX)
        .max_headers(HEADER_COUNT_MAX * 4)
        .serve_connection(TokioIo::new(Paced::new(stream, UNREAD_MAX)), service);
    let served = poll_fn(|cx| connection.poll_without_shutdown(cx)).await;
    let mut stream = connection.into_parts().io.into_inner();
    place.reached(Stage::Answered);
    match served {
        // An idle connection is closed without a word; a request that is not finished is answered.
        Err(error) if error.is_timeout() && stream.is_unanswered() => {
            let answer = late(place.request_max());
            if !matches!(timeout(LINGER, stream.write_all(&answer)).await, Ok(Ok(()))) {
                return;
            }
        }
        Err(error) => tracing::debug!(%error, "a connection broke"),
        Ok(()) => {}
    }
    linger(&mut stream).await;
}

/// The answer to a request whose end does not come. Hyper has given up, so it is written by hand.
fn late(limit: Duration) -> Vec<u8> {
    let reply = Refusal::Slow(limit).reply();
    let mut text = String::from("HTTP/1.1 408 Request Timeout\r\n");
    for (name, value) in reply.headers() {
        text.push_str(&format!("{name}: {}\r\n", value.to_str().unwrap_or_default()));
    }
    let body = match reply.into_body() {
        Content::Whole(body) => body,
        Content::Pieces(_) => hyper::body::Bytes::new(),
    };
    text.push_str(&format!("content-length: {}\r\n\r\n", body.len()));
    [text.as_bytes(), &body].concat()
}

/// Takes what the client still sends, for a moment: closing on it would reset the connection, and
/// the client might never read the answer.
async fn linger(stream: &mut (impl AsyncRead + AsyncWrite + Unpin)) {
    if stream.shutdown().await.is_err() {
        return;
    }
    let mut rest = [0; 4096];
    let drain = async { while stream.read(&mut rest).await.is_ok_and(|count| count > 0) {} };
    // A client that goes on longer is cut off.
    let _ = timeout(LINGER, drain).await;
}

/// A health checker sends its request right behind its connection.
const RESERVE_REQUEST_MAX: Duration = Duration::from_secs(2);
/// Hyper's own bound for a head; ours is lower.
const BUFFER_MAX: usize = 128 * 1024;
/// A client that takes nothing for so long is dropped.
const UNREAD_MAX: Duration = Duration::from_secs(10);
/// How long a connection that is over is read from.
const LINGER: Duration = Duration::from_secs(1);
