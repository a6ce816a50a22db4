//! What waits for one peer.
//!
//! The driver hands frames over and is never held up; the writer of the current link takes them.
//! A frame leaves the queue only when the kernel has taken its last byte, so a link that breaks in
//! the middle of a frame loses only what the kernel had.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use tokio::sync::Notify;

use super::limits::Limits;

/// The number of a frame among those handed over for one peer, from one. The default stands for
/// no frame at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Ticket(pub u64);

/// A frame that waits.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    pub(super) ticket: Ticket,
    pub(super) id: u64,
    pub(super) payload: Arc<[u8]>,
}

/// The frames for one peer, oldest first.
#[derive(Debug)]
pub(super) struct Queue {
    inner: Mutex<Inner>,
    wanted: Notify,
    frames_max: usize,
    bytes_max: usize,
}

#[derive(Debug, Default)]
struct Inner {
    frames: VecDeque<Waiting>,
    bytes: usize,
    last: Ticket,
}

/// What became of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pushed {
    /// It waits.
    Queued,
    /// There was no room: everything was dropped, this frame too.
    Overflowed { dropped: usize },
}

impl Queue {
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            inner: Mutex::default(),
            wanted: Notify::new(),
            frames_max: limits.queue_frames_max,
            bytes_max: limits.queue_bytes_max,
        }
    }

    /// Takes a frame and gives it the next number.
    pub(super) fn push(&self, id: u64, payload: Vec<u8>) -> (Ticket, Pushed) {
        let mut inner = self.lock();
        let ticket = inner.next();
        let bytes = inner.bytes + payload.len();
        if inner.frames.len() >= self.frames_max || bytes > self.bytes_max {
            return (ticket, Pushed::Overflowed { dropped: inner.clear() + 1 });
        }
        inner.bytes = bytes;
        inner.frames.push_back(Waiting { ticket, id, payload: payload.into() });
        drop(inner);
        self.wanted.notify_one();
        (ticket, Pushed::Queued)
    }

    /// Takes a frame if there is room and none with this id waits; tells whether it did.
    pub(super) fn offer(&self, id: u64, payload: &[u8]) -> bool {
        let mut inner = self.lock();
        let bytes = inner.bytes + payload.len();
        let has_room = inner.frames.len() < self.frames_max && bytes <= self.bytes_max;
        if !has_room || inner.frames.iter().any(|frame| frame.id == id) {
            return false;
        }
        let ticket = inner.next();
        inner.bytes = bytes;
        inner.frames.push_back(Waiting { ticket, id, payload: payload.into() });
        drop(inner);
        self.wanted.notify_one();
        true
    }

    /// Gives the next number to a frame that is not queued.
    pub(super) fn skip(&self) -> Ticket {
        self.lock().next()
    }

    /// The number of the last frame handed over.
    pub(super) fn last(&self) -> Ticket {
        self.lock().last
    }

    /// Waits until there is a frame.
    pub(super) async fn wanted(&self) {
        while self.lock().frames.is_empty() {
            self.wanted.notified().await;
        }
    }

    /// The oldest frames, at least one if there is one, up to about so many bytes. They stay.
    pub(super) fn peek(&self, bytes: usize) -> Vec<Waiting> {
        let mut room = bytes;
        let mut first = Vec::new();
        for frame in &self.lock().frames {
            if !first.is_empty() && frame.payload.len() > room {
                break;
            }
            room = room.saturating_sub(frame.payload.len() + FRAME_COST);
            first.push(frame.clone());
        }
        first
    }

    /// Removes all frames up to a number; tells how many there were.
    pub(super) fn discard_up_to(&self, ticket: Ticket) -> usize {
        let mut inner = self.lock();
        let mut count = 0;
        while inner.frames.front().is_some_and(|frame| frame.ticket <= ticket) {
            let length = inner.frames.pop_front().map_or(0, |frame| frame.payload.len());
            inner.bytes -= length;
            count += 1;
        }
        // A burst must not cost memory for good.
        if inner.frames.is_empty() {
            inner.frames = VecDeque::new();
        }
        count
    }

    /// Removes all frames; tells how many there were.
    pub(super) fn clear(&self) -> usize {
        self.lock().clear()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn next(&mut self) -> Ticket {
        self.last = Ticket(self.last.0 + 1);
        self.last
    }

    fn clear(&mut self) -> usize {
        self.bytes = 0;
        std::mem::take(&mut self.frames).len()
    }
}

/// What a frame costs besides its payload, about.
const FRAME_COST: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(frames: usize, bytes: usize) -> Queue {
        Queue::new(&Limits {
            queue_frames_max: frames,
            queue_bytes_max: bytes,
            ..Limits::default()
        })
    }

    #[test]
    fn frames_stay_until_they_are_discarded() {
        let queue = queue(10, 100);
        for id in 1..=3 {
            assert_eq!(queue.push(id, vec![0; 10]), (Ticket(id), Pushed::Queued));
        }
        assert_eq!(queue.peek(1000).len(), 3);
        assert_eq!(queue.peek(1).len(), 1);
        assert_eq!(queue.discard_up_to(Ticket(2)), 2);
        assert_eq!(queue.peek(1000)[0].ticket, Ticket(3));
        assert_eq!(queue.skip(), Ticket(4));
        assert_eq!(queue.last(), Ticket(4));
    }

    #[test]
    fn too_many_frames_or_bytes_drop_everything_and_numbers_go_on() {
        let by_count = queue(2, 100);
        by_count.push(1, vec![]);
        by_count.push(2, vec![]);
        assert_eq!(by_count.push(3, vec![]), (Ticket(3), Pushed::Overflowed { dropped: 3 }));
        assert_eq!(by_count.push(4, vec![]), (Ticket(4), Pushed::Queued));
        assert_eq!(by_count.peek(1000).len(), 1);
        let by_bytes = queue(100, 100);
        by_bytes.push(1, vec![0; 60]);
        let overflow = by_bytes.push(2, vec![0; 41]);
        assert_eq!(overflow, (Ticket(2), Pushed::Overflowed { dropped: 2 }));
        assert_eq!(by_bytes.push(3, vec![0; 100]).1, Pushed::Queued);
    }

    #[test]
    fn an_offer_is_refused_without_room_and_while_one_of_its_kind_waits() {
        let queue = queue(2, 100);
        assert!(queue.offer(7, b"beat"));
        assert!(!queue.offer(7, b"beat"), "one waits");
        assert!(queue.offer(8, b"beat"));
        assert!(!queue.offer(9, b"beat"), "no room");
        assert_eq!(queue.peek(1000).len(), 2, "what waits stays");
        queue.discard_up_to(Ticket(1));
        assert!(queue.offer(7, b"beat"));
    }
}
