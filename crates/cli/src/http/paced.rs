//! A connection whose other side must read: one that does not is closed.
//!
//! An answer that goes on without end, such as a watch, would otherwise keep a connection and its
//! buffers for a client that has hung.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// A stream with a deadline for every write.
#[derive(Debug)]
pub(super) struct Paced<S> {
    inner: S,
    limit: Duration,
    /// Runs while the other side takes nothing.
    stall: Option<Pin<Box<Sleep>>>,
    /// Whether something came and nothing was said since.
    is_unanswered: bool,
}

impl<S> Paced<S> {
    /// A write fails if the other side takes nothing for so long.
    pub(super) const fn new(inner: S, limit: Duration) -> Self {
        Self { inner, limit, stall: None, is_unanswered: false }
    }

    /// Whether something came and nothing was said since.
    pub(super) const fn is_unanswered(&self) -> bool {
        self.is_unanswered
    }

    /// What comes of a write, unless it has waited for too long.
    fn judge(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        if written.is_ready() {
            self.stall = None;
            self.is_unanswered = false;
            return written;
        }
        let limit = self.limit;
        let stall = self.stall.get_or_insert_with(|| Box::pin(sleep(limit)));
        ready!(stall.as_mut().poll(cx));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client does not read")))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Paced<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        let read = Pin::new(&mut self.inner).poll_read(cx, into);
        self.is_unanswered |= into.filled().len() > before;
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Paced<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write(cx, bytes);
        self.judge(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write_vectored(cx, pieces);
        self.judge(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt;

    use super::*;

    #[test]
    fn a_reader_that_takes_nothing_fails_the_write() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (one, _other) = tokio::io::duplex(8);
            let mut paced = Paced::new(one, Duration::from_millis(20));
            paced.write_all(b"12345678").await.unwrap();
            let error = paced.write_all(b"9").await.unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        });
    }
}
