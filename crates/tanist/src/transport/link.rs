//! One link: an authenticated connection, read and written.
//!
//! A link that gave way to another is *retired*: it is written no more, and read until it is at
//! its end or silent for a while. Whether an end means anything is for the peer's task to judge.
//! Buffers grow with the bytes that arrive, never by a length that a sender claims, and shrink
//! when they are empty.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{OwnedSemaphorePermit, watch};

use super::Incoming;
use super::carrying::Report;
use super::claim::Claim;
use super::fallback::{self, CARRIED, REPORT};
use super::frame::{self, Assembly, Frame, FrameError, Record, RecordError, TooLong};
use super::hub::{Hub, PeerState};
use super::overflow;
use super::question;
use super::queue::{Pushed, Ticket, Waiting};
use super::reading::ReadingPlace;
use super::session::{SealError, Session, SessionId};
use crate::key::{KeyId, Proof, PublicKey};
use crate::panics::Guard;

/// A connection whose handshake is done.
#[derive(Debug)]
pub(super) struct Established {
    pub(super) stream: std::net::TcpStream,
    pub(super) session: Arc<Session>,
    pub(super) claim: Claim,
    pub(super) incarnation: u64,
    /// Where the peer takes datagrams.
    pub(super) address: SocketAddr,
    pub(super) round_trip: Duration,
    /// The group key that both sides have shown.
    pub(super) key: KeyId,
    pub(super) proof: Proof,
    /// The key that this node has shown.
    pub(super) own: PublicKey,
    /// Message 3 of the handshake, if this side dialled: written when the link is taken, so that
    /// the dialling side may walk away until then.
    pub(super) confirmation: Option<Vec<u8>>,
    /// How many records the handshake has read.
    pub(super) records_read: u64,
    /// The session that must be read to its end first, as the peer said in the handshake.
    pub(super) after: Option<SessionId>,
    pub(super) reading: ReadingPlace,
    /// The place among the accepted connections.
    pub(super) place: Option<OwnedSemaphorePermit>,
}

/// How a link that gave way to another ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Retired {
    /// How long it may be silent.
    pub(super) patience: Duration,
    pub(super) closes: Closes,
}

/// When a retired link's own half is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Closes {
    /// At once: the other side then sees an end after the last record.
    Now,
    /// When the other side has closed its half. The side that dialled the successor does so: until
    /// the other side has taken that, an end of this link would look like a loss.
    AfterPeer,
}

/// How a link ends, once it is retired.
pub(super) type Retirement = watch::Sender<Option<Retired>>;

/// Reads and writes a link until its end. `after` is the session that we wrote to before.
pub(super) async fn run(
    hub: Arc<Hub>,
    peer: Arc<PeerState>,
    link: Established,
    after: Option<SessionId>,
    retirement: Retirement,
) {
    let _guard = Guard;
    let Established { stream, session, incarnation, records_read, reading, place, .. } = link;
    let stream = match TcpStream::from_std(stream) {
        Ok(stream) => stream,
        Err(error) => {
            tracing::warn!(peer = peer.name, %error, "cannot wait for a link; check ulimit -n");
            return;
        }
    };
    reading.confirm();
    let (read_half, mut write_half) = stream.into_split();
    let mut reader = Reader {
        hub: &hub,
        peer: &peer,
        session: &session,
        half: read_half,
        retired: retirement.subscribe(),
        buffer: Vec::new(),
        plaintext: Vec::new(),
        assembly: Assembly::new(hub.limits.frame_max),
        sequence: records_read,
        incarnation,
    };
    let writer = Writer {
        hub: &hub,
        peer: &peer,
        session: &session,
        half: &mut write_half,
        sequence: 0,
        confirmation: link.confirmation.unwrap_or_default(),
    };
    let mut reading_all = std::pin::pin!(reader.read(link.after));
    let ended = tokio::select! {
        // First of all: a link that is retired from the outset must not be written.
        biased;
        () = until_retired(retirement.subscribe()) => None,
        end = &mut reading_all => Some(end),
        error = writer.write(after) => {
            tracing::debug!(peer = peer.name, %error, "cannot write to the link");
            // What the peer wrote before its end is still there to be read, and comes first.
            retirement.send_if_modified(|retired| {
                let is_new = retired.is_none();
                retired.get_or_insert(AFTER_WRITE_ERROR);
                is_new
            });
            None
        }
    };
    let end = match ended {
        Some(end) => end,
        None => {
            let closes = retirement.borrow().map(|retired| retired.closes);
            let held = (closes == Some(Closes::AfterPeer)).then_some(write_half);
            let end = reading_all.await;
            drop(held);
            end
        }
    };
    tracing::debug!(peer = peer.name, %end, "a link is at its end");
    drop((reading, place));
}

async fn until_retired(mut retirement: watch::Receiver<Option<Retired>>) {
    // An error means that the peer's task is gone, and the link is about to go too.
    let retired = retirement.wait_for(Option::is_some).await.is_ok();
    if !retired {
        std::future::pending::<()>().await;
    }
}

/// Why a link is at its end.
#[derive(Debug, thiserror::Error)]
enum LinkEnd {
    #[error("the other side closed it, or was silent after it had been replaced")]
    Closed,
    #[error(transparent)]
    Broken(#[from] io::Error),
    #[error(transparent)]
    Seal(#[from] super::session::OpenError),
    #[error(transparent)]
    TooLong(#[from] TooLong),
    #[error("what arrives is not taken; the driver has stopped")]
    Unheard,
}

struct Reader<'a> {
    hub: &'a Arc<Hub>,
    peer: &'a Arc<PeerState>,
    session: &'a Session,
    half: OwnedReadHalf,
    retired: watch::Receiver<Option<Retired>>,
    buffer: Vec<u8>,
    plaintext: Vec<u8>,
    assembly: Assembly,
    sequence: u64,
    incarnation: u64,
}

impl Reader<'_> {
    async fn read(&mut self, after: Option<SessionId>) -> LinkEnd {
        // Before its frames; and here, so that a busy driver does not hold up what we write.
        self.hub.meet(self.peer, self.incarnation).await;
        if let Some(before) = after {
            self.wait_for(before).await;
        }
        loop {
            match self.step().await {
                Ok(()) => {}
                Err(end) => return end,
            }
        }
    }

    /// Reads once, and takes all records that are whole.
    async fn step(&mut self) -> Result<(), LinkEnd> {
        let count = self.fill().await?;
        if count == 0 {
            return Err(LinkEnd::Closed);
        }
        self.hub.counters.bytes_in.add(count);
        self.peer.bytes_in.add(count);
        let mut start = 0;
        while let Some(end) = end_of_record(&self.buffer[start..]) {
            self.plaintext.clear();
            let sealed = &self.buffer[start + LENGTH_BYTES..start + end];
            let opened = self.session.open_record(self.sequence, sealed, &mut self.plaintext);
            opened.inspect_err(|_| self.hub.counters.refused_seal.bump())?;
            self.sequence += 1;
            start += end;
            self.take_record().await?;
        }
        self.buffer.drain(..start);
        shrink(&mut self.buffer);
        shrink(&mut self.plaintext);
        self.peer.note_records(self.sequence, self.hub.limits.rekey_records);
        Ok(())
    }

    async fn fill(&mut self) -> io::Result<usize> {
        self.buffer.reserve(READ_MIN);
        loop {
            let retired = *self.retired.borrow_and_update();
            if let Some(retired) = retired {
                let reading = self.half.read_buf(&mut self.buffer);
                return tokio::time::timeout(retired.patience, reading).await.unwrap_or(Ok(0));
            }
            tokio::select! {
                count = self.half.read_buf(&mut self.buffer) => return count,
                changed = self.retired.changed() => if changed.is_err() { return Ok(0) },
            }
        }
    }

    async fn take_record(&mut self) -> Result<(), LinkEnd> {
        let counters = &self.hub.counters;
        let too_long = |_: &TooLong| counters.refused_too_long.bump();
        match Record::decode(&self.plaintext) {
            Ok(Record::More(piece)) => self.assembly.more(piece).inspect_err(too_long)?,
            Ok(Record::Last(piece)) => {
                let frame = self.assembly.last(piece).inspect_err(too_long)?;
                self.deliver(&frame).await?;
            }
            Ok(Record::Opening { after: Some(before) }) => self.wait_for(before).await,
            Ok(Record::Opening { after: None }) => {}
            Ok(Record::Datagrams(_)) if self.peer.is_blocked() => counters.discarded_blocked.bump(),
            Ok(Record::Datagrams(report)) => fallback::told(self.peer, report),
            Err(RecordError::Kind { .. }) => counters.refused_kind.bump(),
            Err(RecordError::Malformed) => counters.refused_malformed.bump(),
        }
        Ok(())
    }

    async fn deliver(&self, bytes: &[u8]) -> Result<(), LinkEnd> {
        let counters = &self.hub.counters;
        let frame = match Frame::decode(bytes, &self.hub.group, self.session.version()) {
            Ok(frame) => frame,
            Err(error) => {
                match error {
                    FrameError::Version { .. } => counters.refused_version.bump(),
                    FrameError::Group => counters.refused_group.bump(),
                    FrameError::Malformed => counters.refused_malformed.bump(),
                }
                tracing::debug!(peer = self.peer.name, %error, "refused a frame");
                return Ok(());
            }
        };
        let place = self.hub.incoming.reserve().await.map_err(|_| LinkEnd::Unheard)?;
        if self.peer.is_blocked() {
            counters.discarded_blocked.bump();
            return Ok(());
        }
        self.peer.note_heard();
        if frame.id >= ECHO_ANSWER {
            self.echo(frame.id, frame.payload);
            return Ok(());
        }
        if frame.id == CARRIED {
            fallback::take(self.hub, self.peer);
            let payload = frame.payload.to_vec();
            place.send(Incoming::Datagram { from: self.peer.id, payload });
            return Ok(());
        }
        #[cfg(test)]
        assert_ne!(frame.payload, crate::panics::ON_PURPOSE, "a test wants this task to panic");
        // Before it is sent: a frame that has arrived is counted.
        counters.frames_in.bump();
        let payload = frame.payload.to_vec();
        place.send(Incoming::Frame { from: self.peer.id, id: frame.id, payload });
        Ok(())
    }

    /// The peer asks whether this node is there, or answers that. The answer repeats the number of
    /// the question, and is queued as any frame is: a peer that asks and does not read fills the
    /// queue.
    fn echo(&self, id: u64, payload: &[u8]) {
        if id != ECHO_ASK {
            match payload.try_into() {
                Ok(number) => self.peer.note_echo(u64::from_be_bytes(number)),
                Err(_) => self.peer.asking.returned(payload),
            }
            return;
        }
        if question::take(self.hub, self.peer, payload) {
            return;
        }
        match self.peer.queue.push(ECHO_ANSWER, payload.to_vec()).1 {
            Pushed::Queued => {}
            Pushed::Overflowed { dropped } => overflow::note(self.hub, self.peer, dropped),
        }
    }

    /// Waits until everything that came before is read.
    async fn wait_for(&self, before: SessionId) {
        if before != self.session.id() {
            self.peer.reading.ended(before).await;
        }
    }
}

struct Writer<'a> {
    hub: &'a Hub,
    peer: &'a PeerState,
    session: &'a Session,
    half: &'a mut OwnedWriteHalf,
    sequence: u64,
    /// What ends the handshake.
    confirmation: Vec<u8>,
}

impl Writer<'_> {
    async fn write(mut self, after: Option<SessionId>) -> WriteError {
        match self.write_all(after).await {
            Ok(never) => match never {},
            Err(error) => error,
        }
    }

    async fn write_all(
        &mut self,
        after: Option<SessionId>,
    ) -> Result<std::convert::Infallible, WriteError> {
        let mut bytes = Vec::new();
        if !self.confirmation.is_empty() {
            let length = u16::try_from(self.confirmation.len()).map_err(|_| SealError::TooLong)?;
            bytes.extend_from_slice(&length.to_be_bytes());
            bytes.append(&mut self.confirmation);
        }
        self.seal(Record::Opening { after }, &mut bytes)?;
        self.put(&bytes, &[]).await?;
        loop {
            self.peer.queue.wanted().await;
            bytes.clear();
            let mut ends = Vec::new();
            for waiting in self.peer.queue.peek(BATCH_BYTES) {
                self.seal_waiting(&waiting, &mut bytes)?;
                ends.push((bytes.len(), waiting.ticket));
            }
            self.put(&bytes, &ends).await?;
            shrink(&mut bytes);
            self.peer.note_records(self.sequence, self.hub.limits.rekey_records);
        }
    }

    fn seal_waiting(&mut self, waiting: &Waiting, out: &mut Vec<u8>) -> Result<(), SealError> {
        if waiting.id == REPORT {
            let report = waiting.payload.first().and_then(|number| Report::of(*number));
            return report.map_or(Ok(()), |report| self.seal(Record::Datagrams(report), out));
        }
        let frame = Frame { group: &self.hub.group, id: waiting.id, payload: &waiting.payload };
        let frame = frame.encode(self.session.version());
        frame::split(&frame).try_for_each(|record| self.seal(record, out))
    }

    fn seal(&mut self, record: Record<'_>, out: &mut Vec<u8>) -> Result<(), SealError> {
        let start = out.len();
        out.extend_from_slice(&[0; LENGTH_BYTES]);
        self.session.seal_record(self.sequence, &record.encode(), out)?;
        let length = out.len() - start - LENGTH_BYTES;
        let length = u16::try_from(length).map_err(|_| SealError::TooLong)?;
        out[start..start + LENGTH_BYTES].copy_from_slice(&length.to_be_bytes());
        self.sequence += 1;
        Ok(())
    }

    /// Writes bytes, and takes each frame from the queue when its last byte is written. So if this
    /// is cut short, what is still in the queue has certainly not arrived as a whole.
    async fn put(&mut self, bytes: &[u8], ends: &[(usize, Ticket)]) -> io::Result<()> {
        let mut written = 0;
        let mut ends = ends.iter().peekable();
        while written < bytes.len() {
            let count = self.half.write(&bytes[written..]).await?;
            if count == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            written += count;
            self.hub.counters.bytes_out.add(count);
            self.peer.bytes_out.add(count);
            while let Some((_, ticket)) = ends.next_if(|(end, _)| *end <= written) {
                self.hub.counters.frames_out.bump();
                self.peer.queue.discard_up_to(*ticket);
            }
        }
        Ok(())
    }
}

/// Why a link cannot be written.
#[derive(Debug, thiserror::Error)]
enum WriteError {
    #[error(transparent)]
    Broken(#[from] io::Error),
    #[error(transparent)]
    Seal(#[from] SealError),
}

/// Where the first record ends, if it is whole.
pub fn end_of_record(bytes: &[u8]) -> Option<usize> {
    let (length, rest) = bytes.split_first_chunk()?;
    let length = usize::from(u16::from_be_bytes(*length));
    (rest.len() >= length).then_some(LENGTH_BYTES + length)
}

/// Gives back the memory of an empty buffer that was large once.
fn shrink(buffer: &mut Vec<u8>) {
    if buffer.capacity() > KEPT_MAX && buffer.len() < READ_MIN {
        buffer.shrink_to(READ_MIN);
    }
}

/// The numbers of two frames that are the transport's own; no driver comes so far.
pub(super) const ECHO_ASK: u64 = u64::MAX;
pub(super) const ECHO_ANSWER: u64 = u64::MAX - 1;
/// The length of a record's length.
pub(super) const LENGTH_BYTES: usize = 2;
const READ_MIN: usize = 2048;
const KEPT_MAX: usize = 8 * 1024;
const BATCH_BYTES: usize = 32 * 1024;
const AFTER_WRITE_ERROR: Retired =
    Retired { patience: Duration::from_millis(100), closes: Closes::Now };
