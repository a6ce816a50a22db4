//! What goes back to a client: a status, a few headers, and a whole body or one that goes on.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::body::{Body, Bytes, Frame, SizeHint};
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue, X_CONTENT_TYPE_OPTIONS};
use hyper::{Response, StatusCode};
use serde::Serialize;
use tokio::sync::mpsc;

/// An answer.
pub(super) type Reply = Response<Content>;

/// What an answer carries.
#[derive(Debug)]
pub(super) enum Content {
    /// All of it.
    Whole(Bytes),
    /// Piece after piece, as another task makes them; at most as many wait as the channel holds.
    Pieces(mpsc::Receiver<Bytes>),
}

impl Body for Content {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut *self {
            Self::Whole(bytes) if bytes.is_empty() => Poll::Ready(None),
            Self::Whole(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Self::Pieces(pieces) => {
                pieces.poll_recv(cx).map(|piece| piece.map(|piece| Ok(Frame::data(piece))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(bytes) => bytes.is_empty(),
            Self::Pieces(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Self::Pieces(_) => SizeHint::default(),
        }
    }
}

/// An answer for programs.
pub(super) fn json(status: StatusCode, what: &impl Serialize) -> Reply {
    match serde_json::to_vec(what) {
        Ok(mut line) => {
            line.push(b'\n');
            reply(status, "application/json", Content::Whole(line.into()))
        }
        // Nothing here has keys that are no strings; if it ever has, the answer says so.
        Err(error) => text(StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")),
    }
}

/// An answer for people.
pub(super) fn text(status: StatusCode, what: String) -> Reply {
    reply(status, "text/plain; charset=utf-8", Content::Whole(what.into()))
}

/// Any answer.
pub(super) fn reply(status: StatusCode, kind: &'static str, content: Content) -> Reply {
    let mut reply = Response::new(content);
    *reply.status_mut() = status;
    let headers = reply.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    // An answer is old a moment later.
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    reply
}
