//! Frames and the records that carry them.
//!
//! ```text
//! frame   [version u8] [CBOR map: 0 group, 1 id, 2 payload]         version 3: without the group
//! record  [kind u8] [a piece of a frame, the opening of a link, or a report]      before sealing
//! link    [length u16] [sealed record] [length u16] [sealed record] ...
//! ```
//!
//! A frame that is longer than one record goes over several; the kind says whether more follows.
//! Fields are numbered, so a later version can add some, and unknown ones are skipped. A record of
//! an unknown kind is counted and dropped, so a later release can add kinds. Pure: bytes in, values
//! out. Assumes that records come in order and are authentic.

use minicbor::{Decode, Encode};

use super::carrying::Report;
use super::session::SessionId;

/// What a frame says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
#[cbor(map)]
pub struct Frame<'a> {
    /// The group that it belongs to.
    #[cbor(b(0))]
    pub group: &'a str,
    /// The sender's number for it.
    #[n(1)]
    pub id: u64,
    /// What is carried.
    #[cbor(b(2), with = "minicbor::bytes")]
    pub payload: &'a [u8],
}

impl<'a> Frame<'a> {
    /// The bytes of this frame on a link of this version.
    #[must_use]
    pub fn encode(&self, version: u8) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.payload.len() + self.group.len() + 24);
        bytes.push(version);
        let written = if version < BARE_FROM {
            minicbor::encode(self, &mut bytes)
        } else {
            minicbor::encode(Bare { id: self.id, payload: self.payload }, &mut bytes)
        };
        written.expect("writing to memory cannot fail");
        bytes
    }

    /// Takes the bytes of a frame of this group, from a link of this version.
    pub fn decode(bytes: &'a [u8], group: &'a str, version: u8) -> Result<Self, FrameError> {
        let (found, body) = bytes.split_first().ok_or(FrameError::Malformed)?;
        if *found != version {
            return Err(FrameError::Version { found: *found });
        }
        if version >= BARE_FROM {
            let bare: Bare<'_> = minicbor::decode(body).map_err(|_| FrameError::Malformed)?;
            return Ok(Self { group, id: bare.id, payload: bare.payload });
        }
        let frame: Self = minicbor::decode(body).map_err(|_| FrameError::Malformed)?;
        if frame.group == group { Ok(frame) } else { Err(FrameError::Group) }
    }
}

/// A frame without the group's name, which the handshake has checked.
#[derive(Encode, Decode)]
#[cbor(map)]
struct Bare<'a> {
    #[n(1)]
    id: u64,
    #[cbor(b(2), with = "minicbor::bytes")]
    payload: &'a [u8],
}

/// Why bytes are not a frame for us.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// Another version than the link's.
    #[error(
        "the frame has version {found}, which is not the link's, so it is dropped; the sender has \
         a defect"
    )]
    Version {
        /// What the frame says.
        found: u8,
    },
    /// Another group's.
    #[error("the frame belongs to another group, so it is dropped; give each group its own key")]
    Group,
    /// Not a frame.
    #[error("the bytes are not a frame, so they are dropped; the sender has a defect")]
    Malformed,
}

/// What one record says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record<'a> {
    /// The last piece of a frame.
    Last(&'a [u8]),
    /// A piece of a frame; more follows.
    More(&'a [u8]),
    /// The first record of each side: the sender's previous session with this process, if any.
    /// What was written there comes before what is written here.
    Opening {
        /// The session whose frames come first.
        after: Option<SessionId>,
    },
    /// Whether the receiver's datagrams arrive at the sender of this record.
    Datagrams(Report),
}

impl<'a> Record<'a> {
    /// The bytes of this record, before sealing.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let number;
        let (kind, body): (u8, &[u8]) = match self {
            Self::Last(piece) => (KIND_LAST, piece),
            Self::More(piece) => (KIND_MORE, piece),
            Self::Opening { after: None } => (KIND_OPENING, &[]),
            Self::Opening { after: Some(session) } => (KIND_OPENING, &session.0),
            Self::Datagrams(report) => {
                number = [report.number()];
                (KIND_DATAGRAMS, &number)
            }
        };
        let mut bytes = Vec::with_capacity(1 + body.len());
        bytes.push(kind);
        bytes.extend_from_slice(body);
        bytes
    }

    /// Takes the bytes of a record, after opening.
    pub fn decode(bytes: &'a [u8]) -> Result<Self, RecordError> {
        let (kind, body) = bytes.split_first().ok_or(RecordError::Malformed)?;
        match *kind {
            KIND_LAST => Ok(Self::Last(body)),
            KIND_MORE if body.is_empty() => Err(RecordError::Malformed),
            KIND_MORE => Ok(Self::More(body)),
            KIND_OPENING if body.is_empty() => Ok(Self::Opening { after: None }),
            KIND_OPENING => {
                let session = body.try_into().map_err(|_| RecordError::Malformed)?;
                Ok(Self::Opening { after: Some(SessionId(session)) })
            }
            KIND_DATAGRAMS => match body {
                [number] => Report::of(*number).map(Self::Datagrams).ok_or(RecordError::Malformed),
                _ => Err(RecordError::Malformed),
            },
            found => Err(RecordError::Kind { found }),
        }
    }
}

/// Why the plaintext of a record was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// A kind that is not ours.
    #[error(
        "the record has kind {found}, which this node does not know, so it is dropped; run the \
         same version of tanist on all nodes"
    )]
    Kind {
        /// What the record says.
        found: u8,
    },
    /// Not a record.
    #[error("the bytes are not a record, so they are dropped; the sender has a defect")]
    Malformed,
}

/// The records that carry a frame, in order.
pub fn split(frame: &[u8]) -> impl Iterator<Item = Record<'_>> {
    let pieces = frame.len().div_ceil(PIECE_MAX).max(1);
    (1..=pieces).map(move |number| {
        let start = (number - 1) * PIECE_MAX;
        if number == pieces {
            Record::Last(&frame[start..])
        } else {
            Record::More(&frame[start..number * PIECE_MAX])
        }
    })
}

/// Puts frames together from their pieces.
#[derive(Debug)]
pub struct Assembly {
    bytes: Vec<u8>,
    bytes_max: usize,
}

impl Assembly {
    /// An empty one, for frames with a payload of at most `payload_max` bytes.
    #[must_use]
    pub fn new(payload_max: usize) -> Self {
        Self { bytes: Vec::new(), bytes_max: payload_max.saturating_add(FRAME_OVERHEAD_MAX) }
    }

    /// Adds a piece that more will follow.
    pub fn more(&mut self, piece: &[u8]) -> Result<(), TooLong> {
        if self.bytes.len() + piece.len() > self.bytes_max {
            return Err(TooLong);
        }
        self.bytes.extend_from_slice(piece);
        Ok(())
    }

    /// Adds the last piece and gives the whole.
    pub fn last(&mut self, piece: &[u8]) -> Result<Vec<u8>, TooLong> {
        self.more(piece)?;
        Ok(std::mem::take(&mut self.bytes))
    }
}

/// A frame over the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the frame is longer than the limit, so its link is closed; give all nodes the same limits"
)]
pub struct TooLong;

/// From this version of the wire on frames do not name their group.
const BARE_FROM: u8 = 3;
/// The longest piece of a frame in one record: small buffers, little overhead.
pub const PIECE_MAX: usize = 16 * 1024;
/// What a frame has around its payload: numbers, and a group name of reasonable length.
const FRAME_OVERHEAD_MAX: usize = 1024;
const KIND_LAST: u8 = 0;
const KIND_MORE: u8 = 1;
const KIND_OPENING: u8 = 2;
const KIND_DATAGRAMS: u8 = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_of_any_length_survives_its_records() {
        let lengths = [0, 1, PIECE_MAX - 30, PIECE_MAX, PIECE_MAX + 1, 5 * PIECE_MAX, 1 << 20];
        for length in lengths {
            let payload: Vec<u8> = (0..length).map(|i| (i % 251) as u8).collect();
            let frame = Frame { group: "jobs", id: u64::MAX - 3, payload: &payload };
            let version = if length % 2 == 0 { 2 } else { 3 };
            let bytes = frame.encode(version);
            let mut assembly = Assembly::new(1 << 20);
            let mut whole = None;
            for record in split(&bytes) {
                assert!(whole.is_none());
                match Record::decode(&record.encode()).unwrap() {
                    Record::More(piece) => assembly.more(piece).unwrap(),
                    Record::Last(piece) => whole = Some(assembly.last(piece).unwrap()),
                    Record::Opening { .. } | Record::Datagrams(_) => panic!("not a piece"),
                }
            }
            let whole = whole.unwrap();
            assert_eq!(Frame::decode(&whole, "jobs", version).unwrap(), frame);
        }
    }

    #[test]
    fn a_report_survives_its_record_and_an_unknown_one_is_refused() {
        for report in [Report::Arriving, Report::Asked, Report::Missing] {
            let record = Record::Datagrams(report);
            assert_eq!(Record::decode(&record.encode()), Ok(record));
        }
        for body in [&[][..], &[3], &[0, 0]] {
            let bytes = [&[KIND_DATAGRAMS], body].concat();
            assert_eq!(Record::decode(&bytes), Err(RecordError::Malformed), "{body:?}");
        }
    }

    #[test]
    fn a_frame_over_the_limit_is_refused_before_it_is_whole() {
        let mut assembly = Assembly::new(10 * PIECE_MAX);
        let piece = vec![0; PIECE_MAX];
        for _ in 0..10 {
            assembly.more(&piece).unwrap();
        }
        assert_eq!(assembly.more(&piece), Err(TooLong));
    }

    #[test]
    fn another_version_or_group_is_refused() {
        let bytes = Frame { group: "jobs", id: 1, payload: b"x" }.encode(2);
        assert_eq!(Frame::decode(&bytes, "mail", 2), Err(FrameError::Group));
        let mut newer = bytes.clone();
        newer[0] = 9;
        assert_eq!(Frame::decode(&newer, "jobs", 2), Err(FrameError::Version { found: 9 }));
        assert_eq!(Record::decode(&[77, 1]), Err(RecordError::Kind { found: 77 }));
    }

    #[test]
    fn a_frame_with_a_field_of_a_later_version_is_understood() {
        let mut bytes = vec![2];
        let mut encoder = minicbor::Encoder::new(&mut bytes);
        encoder.map(4).unwrap().u8(0).unwrap().str("jobs").unwrap();
        encoder.u8(1).unwrap().u8(5).unwrap().u8(2).unwrap().bytes(b"x").unwrap();
        encoder.u8(9).unwrap().str("later").unwrap();
        let frame = Frame::decode(&bytes, "jobs", 2).unwrap();
        assert_eq!(frame, Frame { group: "jobs", id: 5, payload: b"x" });
    }

    #[test]
    fn random_bytes_never_panic_and_are_hardly_ever_a_frame() {
        let mut chance = 0x2545_f491_4f6c_dd1d_u64;
        for seed in 0..20_000 {
            let mut bytes = Vec::new();
            for _ in 0..seed % 40 {
                chance ^= chance << 13;
                chance ^= chance >> 7;
                chance ^= chance << 17;
                bytes.push((chance >> 24) as u8);
            }
            let _ = Record::decode(&bytes);
            if let Some(version) = bytes.first_mut() {
                *version = 2;
            }
            assert!(Frame::decode(&bytes, "jobs", 2).is_err(), "seed={seed}");
        }
    }
}
