//! Questions to peers over their links, and the answers.
//!
//! ```text
//! question  an echo with   [number u64] [0x51] [bytes]
//! answer    its echo with  [number u64] [0x41] [bytes]
//! ```
//!
//! A question is an echo that carries more than its number. A release without questions sends every
//! echo back as it came, so what comes back says whether the peer is too old to be asked, and no
//! version of the wire is needed. What is asked and answered are bytes; a program that takes the
//! questions answers them. Everything is bounded: the bytes of both, how many questions wait for an
//! answer of one peer, and how many of one peer are taken in a second; what is too much is dropped.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tanist_core::membership::NodeId;
use tokio::sync::{mpsc, oneshot};

use super::hub::{Hub, PeerState};
use super::link::ECHO_ANSWER;
use super::overflow;
use super::queue::Pushed;

/// What a peer asks. Dropped without an answer, it stays unanswered.
#[derive(Debug)]
pub struct Question {
    /// What it asks.
    pub bytes: Vec<u8>,
    hub: Arc<Hub>,
    peer: Arc<PeerState>,
    number: u64,
}

impl Question {
    /// Who asks; the handshake vouches for it.
    #[must_use]
    pub fn from(&self) -> NodeId {
        self.peer.id
    }

    /// Answers. More than [`ANSWER_MAX`] bytes are not sent.
    pub fn answer(self, bytes: &[u8]) {
        if bytes.len() > ANSWER_MAX {
            return self.hub.counters.refused_too_long.bump();
        }
        put(&self.hub, &self.peer, self.number, bytes);
    }
}

/// Why a peer gave no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AskError {
    /// Its release has no questions.
    #[error("too old to ask")]
    TooOld,
    /// It takes none: a program with an embedded node may not.
    #[error("answers no questions")]
    Untaken,
    /// Nothing came in time.
    #[error("no answer")]
    Silent,
    /// Too many questions wait for its answer.
    #[error("not asked, because too many questions wait for its answer")]
    TooMany,
    /// The question is longer than [`QUESTION_MAX`] bytes.
    #[error("not asked, because the question is too long")]
    TooLong,
    /// It is not in the peer list.
    #[error("not in the peer list")]
    UnknownPeer,
    /// With a radio there are no links.
    #[error("cannot be asked by radio")]
    NoLinks,
    /// This node has stopped.
    #[error("this node has stopped")]
    Stopped,
}

/// Where an answer goes.
pub type AnswerSlot = oneshot::Sender<Result<Vec<u8>, AskError>>;

/// Where questions of all peers go; none while no program takes them.
#[derive(Debug, Default)]
pub(super) struct Taker(Mutex<Option<mpsc::Sender<Question>>>);

impl Taker {
    /// Gives all questions from here on to one receiver.
    pub(super) fn open(&self) -> mpsc::Receiver<Question> {
        let (sender, receiver) = mpsc::channel(TAKEN_MAX);
        *self.lock() = Some(sender);
        receiver
    }

    fn lock(&self) -> MutexGuard<'_, Option<mpsc::Sender<Question>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The questions between this node and one peer.
#[derive(Debug, Default)]
pub(super) struct Asking {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    next: u64,
    /// Those of this node that wait for an answer.
    waiting: BTreeMap<u64, AnswerSlot>,
    /// When the current second of the peer's questions began, and how many came in it.
    second: Option<(Instant, u32)>,
}

impl Asking {
    /// The payload of a question, or why it is not asked; that is told to the slot.
    pub(super) fn ask(&self, bytes: &[u8], slot: AnswerSlot) -> Option<Vec<u8>> {
        let mut inner = self.lock();
        // Those that were given up.
        inner.waiting.retain(|_, slot| !slot.is_closed());
        let error = match (bytes.len() > QUESTION_MAX, inner.waiting.len() >= WAITING_MAX) {
            (true, _) => AskError::TooLong,
            (false, true) => AskError::TooMany,
            (false, false) => {
                inner.next += 1;
                let number = inner.next;
                inner.waiting.insert(number, slot);
                return Some(payload(number, QUESTION, bytes));
            }
        };
        // The asking side may have gone.
        let _ = slot.send(Err(error));
        None
    }

    /// An echo came back that carries more than a number.
    pub(super) fn returned(&self, payload: &[u8]) {
        let Some((number, mark, bytes)) = split(payload) else { return };
        let Some(slot) = self.lock().waiting.remove(&number) else { return };
        let answer = match (mark, bytes) {
            (ANSWER, []) => Err(AskError::Untaken),
            (ANSWER, bytes) => Ok(bytes.to_vec()),
            // As it was sent: the peer does not know what a question is.
            _ => Err(AskError::TooOld),
        };
        let _ = slot.send(answer);
    }

    /// Whether the peer may ask at this moment.
    fn admits(&self, now: Instant) -> bool {
        let mut inner = self.lock();
        let (began, count) = match inner.second {
            Some((began, count)) if now.saturating_duration_since(began) < SECOND => (began, count),
            Some(_) | None => (now, 0),
        };
        inner.second = Some((began, count.saturating_add(1)));
        count < PER_SECOND_MAX
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // No holder can panic: numbers and slots are only moved.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes an echo of a peer, if it is a question. False: it is another echo.
pub(super) fn take(hub: &Arc<Hub>, peer: &Arc<PeerState>, payload: &[u8]) -> bool {
    let Some((number, QUESTION, bytes)) = split(payload) else { return false };
    if bytes.len() > QUESTION_MAX || !peer.asking.admits(Instant::now()) {
        return true;
    }
    let taker = hub.taker.lock().clone().filter(|taker| !taker.is_closed());
    let Some(taker) = taker else {
        put(hub, peer, number, &[]);
        return true;
    };
    let (hub, peer) = (Arc::clone(hub), Arc::clone(peer));
    // A program that is behind loses questions, and holds up no link.
    let _ = taker.try_send(Question { bytes: bytes.to_vec(), hub, peer, number });
    true
}

/// Queues an answer as any frame is: a peer that asks and does not read fills the queue.
fn put(hub: &Hub, peer: &PeerState, number: u64, bytes: &[u8]) {
    if peer.is_blocked() {
        return hub.counters.discarded_blocked.bump();
    }
    match peer.queue.push(ECHO_ANSWER, payload(number, ANSWER, bytes)).1 {
        Pushed::Queued => {}
        Pushed::Overflowed { dropped } => overflow::note(hub, peer, dropped),
    }
}

fn payload(number: u64, mark: u8, bytes: &[u8]) -> Vec<u8> {
    let mut payload = Vec::with_capacity(NUMBER_BYTES + 1 + bytes.len());
    payload.extend_from_slice(&number.to_be_bytes());
    payload.push(mark);
    payload.extend_from_slice(bytes);
    payload
}

fn split(payload: &[u8]) -> Option<(u64, u8, &[u8])> {
    let (number, rest) = payload.split_first_chunk::<NUMBER_BYTES>()?;
    let (mark, bytes) = rest.split_first()?;
    Some((u64::from_be_bytes(*number), *mark, bytes))
}

/// The longest question.
pub const QUESTION_MAX: usize = 256;
/// The longest answer.
pub const ANSWER_MAX: usize = 64 * 1024;
/// So many questions to one peer may wait for their answers.
const WAITING_MAX: usize = 16;
/// So many questions of one peer are taken in a second.
const PER_SECOND_MAX: u32 = 16;
/// So many questions of all peers may wait for the program.
const TAKEN_MAX: usize = 64;
const SECOND: Duration = Duration::from_secs(1);
const NUMBER_BYTES: usize = 8;
const QUESTION: u8 = b'Q';
const ANSWER: u8 = b'A';

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(asking: &Asking) -> (Vec<u8>, oneshot::Receiver<Result<Vec<u8>, AskError>>) {
        let (slot, answer) = oneshot::channel();
        (asking.ask(b"how are you", slot).unwrap(), answer)
    }

    #[test]
    fn a_question_that_comes_back_as_it_was_sent_says_that_the_peer_is_too_old() {
        let asking = Asking::default();
        let (sent, mut answer) = ask(&asking);
        asking.returned(&sent);
        assert_eq!(answer.try_recv(), Ok(Err(AskError::TooOld)));
    }

    #[test]
    fn an_answer_belongs_to_its_question_and_counts_once() {
        let asking = Asking::default();
        let ((_, mut first), (_, mut second)) = (ask(&asking), ask(&asking));
        asking.returned(&payload(2, ANSWER, b"well"));
        asking.returned(&payload(2, ANSWER, b"again"));
        asking.returned(&payload(9, ANSWER, b"never asked"));
        assert_eq!(second.try_recv(), Ok(Ok(b"well".to_vec())));
        assert!(first.try_recv().is_err(), "it waits");
        asking.returned(&payload(1, ANSWER, &[]));
        assert_eq!(first.try_recv(), Ok(Err(AskError::Untaken)));
    }

    #[test]
    fn questions_are_bounded_on_both_sides() {
        let asking = Asking::default();
        let waiting: Vec<_> = (0..WAITING_MAX).map(|_| ask(&asking)).collect();
        let (slot, mut answer) = oneshot::channel();
        assert_eq!(asking.ask(b"one more", slot), None);
        assert_eq!(answer.try_recv(), Ok(Err(AskError::TooMany)));
        drop(waiting);
        drop(ask(&asking));
        let (slot, mut answer) = oneshot::channel();
        assert_eq!(asking.ask(&[0; QUESTION_MAX + 1], slot), None);
        assert_eq!(answer.try_recv(), Ok(Err(AskError::TooLong)));
        let now = Instant::now();
        let taken = (0..100).filter(|_| asking.admits(now)).count();
        assert_eq!(taken, PER_SECOND_MAX as usize);
        assert!(asking.admits(now + SECOND), "in the next second again");
    }
}
