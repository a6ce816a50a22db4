//! The format of a radio packet: one datagram for all nodes in reach.
//!
//! ```text
//! [version u8] [sender u32] [incarnation 16 bytes] [sequence u64] [sealed body]   at most 1200 bytes
//! body  [CBOR map: 0 kind, 1 addressee, 2 number, 3 payload]
//! ```
//!
//! An addressee does not change which nodes receive a packet, only which one accepts it. Numbers
//! are big-endian. Fields are numbered, so a later version can add some. Pure: bytes in, values
//! out.

use minicbor::{Decode, Encode};
use tanist_core::membership::NodeId;

use super::super::session::{OpenError, SEAL_LENGTH, SealError};
use super::seal::{INCARNATION_LENGTH, IncarnationId, Seal};

/// The parts of a packet, the body still sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Packet<'a> {
    pub(super) sender: NodeId,
    pub(super) incarnation: IncarnationId,
    pub(super) sequence: u64,
    header: &'a [u8],
    sealed: &'a [u8],
}

impl<'a> Packet<'a> {
    /// Takes a packet apart.
    pub(super) fn decode(bytes: &'a [u8]) -> Result<Self, PacketError> {
        if bytes.len() > PACKET_MAX {
            return Err(PacketError::TooLong);
        }
        let (header, sealed) = bytes.split_at_checked(HEADER_LENGTH).ok_or(PacketError::Short)?;
        let (version, rest) = header.split_first().ok_or(PacketError::Short)?;
        if *version != VERSION {
            return Err(PacketError::Version);
        }
        let (sender, rest) = rest.split_first_chunk().ok_or(PacketError::Short)?;
        let (incarnation, rest) = rest.split_first_chunk().ok_or(PacketError::Short)?;
        let (sequence, _) = rest.split_first_chunk().ok_or(PacketError::Short)?;
        Ok(Self {
            sender: NodeId(u32::from_be_bytes(*sender)),
            incarnation: IncarnationId(*incarnation),
            sequence: u64::from_be_bytes(*sequence),
            header,
            sealed,
        })
    }

    /// The body, if the seal is the sender's in this incarnation.
    pub(super) fn open(&self, seal: &Seal) -> Result<Vec<u8>, OpenError> {
        seal.open(self.sequence, self.header, self.sealed)
    }
}

/// Seals a body into a packet.
pub(super) fn encode(
    seal: &Seal,
    sender: NodeId,
    incarnation: IncarnationId,
    sequence: u64,
    body: &Body<'_>,
) -> Result<Vec<u8>, SealError> {
    if body.payload.len() > PAYLOAD_MAX {
        return Err(SealError::TooLong);
    }
    let mut plaintext = Vec::with_capacity(body.payload.len() + BODY_OVERHEAD_MAX);
    minicbor::encode(body, &mut plaintext).expect("writing to memory cannot fail");
    encode_body(seal, sender, incarnation, sequence, &plaintext)
}

/// Seals the bytes of a body into a packet.
pub(super) fn encode_body(
    seal: &Seal,
    sender: NodeId,
    incarnation: IncarnationId,
    sequence: u64,
    plaintext: &[u8],
) -> Result<Vec<u8>, SealError> {
    let mut header = Vec::with_capacity(HEADER_LENGTH + plaintext.len() + SEAL_LENGTH);
    header.push(VERSION);
    header.extend_from_slice(&sender.0.to_be_bytes());
    header.extend_from_slice(&incarnation.0);
    header.extend_from_slice(&sequence.to_be_bytes());
    seal.close(sequence, plaintext, header)
}

/// What a packet says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
#[cbor(map)]
pub(super) struct Body<'a> {
    #[n(0)]
    pub(super) kind: u8,
    /// The node that is meant; all nodes in reach if there is none.
    #[n(1)]
    pub(super) to: Option<u32>,
    /// The sender's number for a frame; of a question and its answer, what makes them a pair.
    #[n(2)]
    pub(super) number: u64,
    #[cbor(b(3), with = "minicbor::bytes")]
    pub(super) payload: &'a [u8],
}

impl<'a> Body<'a> {
    pub(super) fn new(kind: Kind, to: Option<NodeId>, number: u64, payload: &'a [u8]) -> Self {
        Self { kind: kind.number(), to: to.map(|node| node.0), number, payload }
    }

    pub(super) fn decode(bytes: &'a [u8]) -> Option<Self> {
        minicbor::decode(bytes).ok()
    }
}

/// What kind of thing a packet says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A frame for the driver.
    Frame,
    /// A heartbeat for the driver.
    Datagram,
    /// Is the addressee there, in this incarnation? Also how a node announces that it has started.
    Ask,
    /// It is.
    Answer,
}

impl Kind {
    const fn number(self) -> u8 {
        match self {
            Self::Frame => 0,
            Self::Datagram => 1,
            Self::Ask => 2,
            Self::Answer => 3,
        }
    }

    /// None: a later version knows more kinds.
    pub(super) const fn of(number: u8) -> Option<Self> {
        match number {
            0 => Some(Self::Frame),
            1 => Some(Self::Datagram),
            2 => Some(Self::Ask),
            3 => Some(Self::Answer),
            _ => None,
        }
    }
}

/// Why bytes are not a packet of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PacketError {
    Version,
    TooLong,
    Short,
}

/// The longest packet: it fits every link of the newer internet protocol without being cut.
pub(super) const PACKET_MAX: usize = 1200;
/// The longest payload.
pub(super) const PAYLOAD_MAX: usize = PACKET_MAX - HEADER_LENGTH - SEAL_LENGTH - BODY_OVERHEAD_MAX;
const HEADER_LENGTH: usize = 1 + 4 + INCARNATION_LENGTH + 8;
/// The largest body without its payload has 25 bytes.
const BODY_OVERHEAD_MAX: usize = 32;
const VERSION: u8 = 1;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::GroupKey;

    fn seal() -> (Seal, IncarnationId) {
        let incarnation = IncarnationId::new().unwrap();
        (Seal::new(&GroupKey::generate().unwrap(), "jobs", NodeId(3), incarnation), incarnation)
    }

    #[test]
    fn the_longest_payload_fits_and_one_byte_more_is_refused() {
        let (seal, incarnation) = seal();
        let payload = vec![7; PAYLOAD_MAX];
        let body = Body::new(Kind::Frame, Some(NodeId(u32::MAX)), u64::MAX, &payload);
        let bytes = encode(&seal, NodeId(3), incarnation, u64::MAX - 1, &body).unwrap();
        assert!(bytes.len() <= PACKET_MAX, "{}", bytes.len());
        let packet = Packet::decode(&bytes).unwrap();
        assert_eq!((packet.sender, packet.incarnation), (NodeId(3), incarnation));
        let plaintext = packet.open(&seal).unwrap();
        assert_eq!(Body::decode(&plaintext), Some(body));
        let longer = vec![7; PAYLOAD_MAX + 1];
        let body = Body::new(Kind::Frame, None, 1, &longer);
        assert_eq!(encode(&seal, NodeId(3), incarnation, 1, &body), Err(SealError::TooLong));
    }

    #[test]
    fn every_flipped_bit_and_every_cut_of_a_packet_is_refused() {
        let (seal, incarnation) = seal();
        let body = Body::new(Kind::Frame, None, 1, b"hello");
        let bytes = encode(&seal, NodeId(3), incarnation, 9, &body).unwrap();
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let opened = Packet::decode(&flipped).map(|packet| packet.open(&seal));
            assert!(!matches!(opened, Ok(Ok(_))), "bit {bit}");
        }
        for length in 0..bytes.len() {
            let opened = Packet::decode(&bytes[..length]).map(|packet| packet.open(&seal));
            assert!(!matches!(opened, Ok(Ok(_))), "length {length}");
        }
    }

    #[test]
    fn what_is_no_packet_is_told_apart() {
        assert_eq!(Packet::decode(&[]), Err(PacketError::Short));
        assert_eq!(Packet::decode(&[9; 60]), Err(PacketError::Version));
        assert_eq!(Packet::decode(&[1; PACKET_MAX + 1]), Err(PacketError::TooLong));
        for number in 0..=4 {
            assert_eq!(Kind::of(number).is_some(), number < 4);
        }
    }
}
