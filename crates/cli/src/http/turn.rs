//! Long answers, written a piece at a time and one client after the other.
//!
//! All clients share one thread. A long answer would keep the others waiting, health included, and
//! many of them would keep a core busy that the driver may need. So a piece is made only when the
//! client has taken the one before it, only one piece is made at a time, and after each the thread
//! does nothing of the kind for as long as the piece took.

use std::sync::Arc;
use std::time::Instant;

use hyper::body::Bytes;
use tokio::sync::{Mutex, mpsc};
use tokio::time::sleep;

use super::Site;
use super::answer::Content;

/// Held while a piece of a long answer is made.
#[derive(Debug, Default)]
pub(super) struct Turn(Mutex<()>);

impl Turn {
    /// Does some work when it is this client's turn. Turns come in the order of asking.
    pub(super) async fn take<T>(&self, work: impl FnOnce() -> T) -> T {
        let _turn = self.0.lock().await;
        let began = Instant::now();
        let done = work();
        // At most half of the time goes into such work; everything else has its turn meanwhile.
        sleep(began.elapsed()).await;
        done
    }
}

/// An answer that is made while it is read. `write` appends a little more, and says whether that
/// was not all.
pub(super) fn pieces<W>(site: &Arc<Site>, mut write: W) -> Content
where
    W: FnMut(&mut Vec<u8>) -> bool + Send + 'static,
{
    // One piece waits while one is sent.
    let (to, content) = mpsc::channel(1);
    let site = Arc::clone(site);
    tokio::spawn(async move {
        let mut has_more = true;
        while has_more {
            let make = || {
                let mut piece = Vec::with_capacity(PIECE + PIECE / 4);
                while has_more && piece.len() < PIECE {
                    has_more = write(&mut piece);
                }
                Bytes::from(piece)
            };
            let piece = site.turn.take(make).await;
            // A client that is gone needs no more.
            if !piece.is_empty() && to.send(piece).await.is_err() {
                return;
            }
        }
    });
    Content::Pieces(content)
}

/// A fraction of a millisecond of work.
const PIECE: usize = 16 * 1024;
