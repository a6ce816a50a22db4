//! The handshake: both sides show that they have the group's key, and say who they are.
//!
//! ```text
//! dialler   -- message 1: Hello ------------->  listener      Noise NNpsk0, 25519, ChaChaPoly,
//! dialler   <- message 2: Answer -------------  listener      BLAKE2s; psk = the group key
//! dialler   -- first record of the link ----->  listener      only this proves that message 1
//!                                                             was not replayed
//! ```
//!
//! Each message is a u16 length and that many bytes. Pure: bytes in, values out; deadlines and
//! sockets are the callers'. The key vouches for the group, not for the node: a member that lies
//! about its id is believed.

use minicbor::{Decode, Encode};
use snow::{Builder, HandshakeState};
use tanist_core::members::NodeId;

use super::session::{Session, SessionId};
use crate::key::GroupKey;

/// What the dialling side says first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    /// The version of the protocol that it speaks.
    pub version: u8,
    /// The group that it belongs to.
    pub group: String,
    /// Who it is.
    pub from: NodeId,
    /// Whom it means to reach.
    pub to: NodeId,
    /// Which process of that node it is.
    pub incarnation: u64,
    /// The number of this dial; of two links that one process dialled the later one counts.
    pub dial: u64,
    /// The session that it last had with the other side and has lost. Without it a late dial
    /// could not be told from one that crossed ours.
    pub lost: Option<SessionId>,
}

/// What the other side answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It takes the link.
    Welcome {
        /// Who it is.
        from: NodeId,
        /// Which process of that node it is.
        incarnation: u64,
    },
    /// It does not.
    Refused(Refusal),
}

/// Why a node with the right key does not get a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It speaks another version.
    #[error("the versions of tanist differ; run the same one on all nodes")]
    Version,
    /// It is of another group.
    #[error("it belongs to another group; check the group's name and this peer's address")]
    Group,
    /// The dialler is not configured there.
    #[error("it does not list this node; add this node to the peers in its configuration")]
    UnknownNode,
    /// It is not the node that was dialled.
    #[error("another node answers at this address; check the addresses of the peers")]
    WrongNode,
    /// It has the dialler's own id.
    #[error("the node there has this node's id; give every node an id of its own")]
    OwnId,
    /// Too many links with the dialler already.
    #[error("it has too many links with this node already; they close by themselves")]
    TooBusy,
    /// A reason that a later version knows.
    #[error("it gave reason {0}, which this version does not know; see the log of the peer")]
    Other(u8),
}

impl Refusal {
    fn number(self) -> u8 {
        match self {
            Self::Version => 1,
            Self::Group => 2,
            Self::UnknownNode => 3,
            Self::WrongNode => 4,
            Self::OwnId => 5,
            Self::TooBusy => 6,
            Self::Other(number) => number,
        }
    }

    fn numbered(number: u8) -> Self {
        match number {
            1 => Self::Version,
            2 => Self::Group,
            3 => Self::UnknownNode,
            4 => Self::WrongNode,
            5 => Self::OwnId,
            6 => Self::TooBusy,
            other => Self::Other(other),
        }
    }
}

/// Why a handshake went no further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HandshakeError {
    /// The seal did not open: another key, another protocol, or damage.
    #[error(
        "the message does not open with this group's key, so there is no link; give both nodes the \
         same key file"
    )]
    Seal,
    /// Authentic, but not understood.
    #[error("the message cannot be decoded, so there is no link; run the same version of tanist")]
    Malformed,
    /// The cipher suite could not be set up.
    #[error("the handshake could not be set up, so there is no link; this is a defect in tanist")]
    Setup,
}

/// The dialling side, waiting for message 2.
#[derive(Debug)]
pub struct Dialler(HandshakeState);

impl Dialler {
    /// Begins, and gives message 1.
    pub fn begin(key: &GroupKey, hello: &Hello) -> Result<(Self, Vec<u8>), HandshakeError> {
        let mut noise = builder(key)?.build_initiator().map_err(|_| HandshakeError::Setup)?;
        let wire = HelloWire {
            version: hello.version,
            group: &hello.group,
            from: hello.from.0,
            to: hello.to.0,
            incarnation: hello.incarnation,
            dial: hello.dial,
            lost: hello.lost.map(|session| u64::from_be_bytes(session.0)),
        };
        let message = write(&mut noise, &wire)?;
        Ok((Self(noise), message))
    }

    /// Takes message 2.
    pub fn finish(mut self, message: &[u8]) -> Result<(Answer, Session), HandshakeError> {
        let payload = read(&mut self.0, message)?;
        let wire: AnswerWire = minicbor::decode(&payload).map_err(|_| HandshakeError::Malformed)?;
        let answer = match wire {
            AnswerWire { refusal: Some(number), .. } => Answer::Refused(Refusal::numbered(number)),
            AnswerWire { from: Some(from), incarnation: Some(incarnation), .. } => {
                Answer::Welcome { from: NodeId(from), incarnation }
            }
            AnswerWire { .. } => return Err(HandshakeError::Malformed),
        };
        Ok((answer, session(self.0)?))
    }
}

/// The listening side, about to answer.
#[derive(Debug)]
pub struct Listener(HandshakeState);

impl Listener {
    /// Takes message 1.
    pub fn hear(key: &GroupKey, message: &[u8]) -> Result<(Self, Hello), HandshakeError> {
        let mut noise = builder(key)?.build_responder().map_err(|_| HandshakeError::Setup)?;
        let payload = read(&mut noise, message)?;
        let wire: HelloWire<'_> =
            minicbor::decode(&payload).map_err(|_| HandshakeError::Malformed)?;
        let hello = Hello {
            version: wire.version,
            group: wire.group.to_owned(),
            from: NodeId(wire.from),
            to: NodeId(wire.to),
            incarnation: wire.incarnation,
            dial: wire.dial,
            lost: wire.lost.map(|session| SessionId(session.to_be_bytes())),
        };
        Ok((Self(noise), hello))
    }

    /// Answers: message 2, and the session if the answer was a welcome.
    pub fn answer(mut self, answer: Answer) -> Result<(Vec<u8>, Session), HandshakeError> {
        let wire = match answer {
            Answer::Welcome { from, incarnation } => {
                AnswerWire { from: Some(from.0), incarnation: Some(incarnation), refusal: None }
            }
            Answer::Refused(refusal) => {
                AnswerWire { from: None, incarnation: None, refusal: Some(refusal.number()) }
            }
        };
        let message = write(&mut self.0, &wire)?;
        Ok((message, session(self.0)?))
    }
}

#[derive(Encode, Decode)]
#[cbor(map)]
struct HelloWire<'a> {
    #[n(0)]
    version: u8,
    #[cbor(b(1))]
    group: &'a str,
    #[n(2)]
    from: u32,
    #[n(3)]
    to: u32,
    #[n(4)]
    incarnation: u64,
    #[n(5)]
    dial: u64,
    #[n(6)]
    lost: Option<u64>,
}

#[derive(Encode, Decode)]
#[cbor(map)]
struct AnswerWire {
    #[n(0)]
    from: Option<u32>,
    #[n(1)]
    incarnation: Option<u64>,
    #[n(2)]
    refusal: Option<u8>,
}

fn builder(key: &GroupKey) -> Result<Builder<'_>, HandshakeError> {
    let pattern = PATTERN.parse().map_err(|_| HandshakeError::Setup)?;
    Builder::new(pattern)
        .prologue(PROLOGUE)
        .and_then(|builder| builder.psk(0, key.secret()))
        .map_err(|_| HandshakeError::Setup)
}

fn write(noise: &mut HandshakeState, wire: &impl Encode<()>) -> Result<Vec<u8>, HandshakeError> {
    let payload = minicbor::to_vec(wire).expect("writing to memory cannot fail");
    let mut message = vec![0; MESSAGE_MAX];
    let length = noise.write_message(&payload, &mut message).map_err(|_| HandshakeError::Setup)?;
    message.truncate(length);
    Ok(message)
}

fn read(noise: &mut HandshakeState, message: &[u8]) -> Result<Vec<u8>, HandshakeError> {
    let mut payload = vec![0; message.len()];
    let length = noise.read_message(message, &mut payload).map_err(|_| HandshakeError::Seal)?;
    payload.truncate(length);
    Ok(payload)
}

fn session(noise: HandshakeState) -> Result<Session, HandshakeError> {
    let mut id = [0; 8];
    id.copy_from_slice(&noise.get_handshake_hash()[..8]);
    let noise = noise.into_stateless_transport_mode().map_err(|_| HandshakeError::Setup)?;
    Ok(Session::new(SessionId(id), noise))
}

/// The version that [`Hello`] names.
pub const VERSION: u8 = 1;
/// The longest message of a handshake.
pub const MESSAGE_MAX: usize = 512;
const PATTERN: &str = "Noise_NNpsk0_25519_ChaChaPoly_BLAKE2s";
const PROLOGUE: &[u8] = b"tanist transport 1";

#[cfg(test)]
pub(super) mod tests;
