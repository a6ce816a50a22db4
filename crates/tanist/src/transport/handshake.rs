//! The handshake: both sides show that they have a key of the group, and say who they are.
//!
//! ```text
//! dialler   <- greeting: fresh challenge, keys ------  listener      see greeting.rs
//! dialler   -- message 1: Hello --------------------->  listener      Noise XXpsk0, 25519, ChaChaPoly,
//! dialler   <- message 2: Answer ---------------------  listener      BLAKE2s; psk = a group key;
//! dialler   -- message 3: Confirmation -------------->  listener      static keys = the nodes' own
//! dialler   -- first record of the link ------------->  listener
//! ```
//!
//! Each message is a u16 length and that many bytes. Message 1 proves a group key and freshness
//! with symmetric operations alone; the arithmetic on curves begins with message 2. Messages 2 and 3
//! prove the nodes' own keys. Pure: bytes in, values out; deadlines and sockets are the callers', and
//! so is what a shown key is worth ([`crate::key::Identities::prove`]).

mod payload;

use snow::{Builder, HandshakeState};
use tanist_core::membership::NodeId;

use self::payload::{AnswerWire, ConfirmationWire, HelloWire};
pub use self::payload::{Refusal, Refused};
use super::greeting::{self, Greeting};
use super::introduction::Introduction;
use super::session::{Session, SessionId};
use super::version::Versions;
use crate::key::{GroupKey, KeyId, Keyring, NodeKey, PublicKey};
use crate::settings::Settings;

/// What the dialling side says first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    /// The versions of the wire that it speaks.
    pub versions: Versions,
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
    /// The public key that message 3 will show.
    pub identity: PublicKey,
    /// What it was told about the group.
    pub settings: Settings,
    /// What it tells about itself; nothing if it is of a release that does not.
    pub introduction: Option<Introduction>,
}

/// What the other side answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It takes the link.
    Welcome {
        /// Who it is.
        from: NodeId,
        /// Which process of that node it is.
        incarnation: u64,
        /// The version of the wire that the link has.
        version: u8,
    },
    /// It does not.
    Refused(Refused),
}

/// Why a handshake went no further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HandshakeError {
    /// What answers at the address is not a listener of ours.
    #[error(
        "what listens there does not greet as tanist does, so there is no link; check the address, \
         and run the same version of tanist on all nodes"
    )]
    Greeting,
    /// A format of the handshake that this version does not know.
    #[error(
        "it uses a format of the handshake that this version does not know, so there is no link; \
         run the same version of tanist on all nodes"
    )]
    Format,
    /// The two have no key in common.
    #[error(
        "it has none of this node's group keys, so there is no link; compare `tanist key status` \
         on both nodes"
    )]
    NoCommonKey,
    /// The seal did not open: another key, another protocol, a replay, or damage.
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
    /// Answers a greeting: message 1.
    pub fn begin(
        key: &GroupKey,
        own: &NodeKey,
        greeting: &Greeting,
        hello: &Hello,
    ) -> Result<(Self, Vec<u8>), HandshakeError> {
        let header = greeting::header(key.id());
        let prologue = greeting.prologue(&header);
        let builder = builder(key, own, &prologue)?;
        let mut noise = builder.build_initiator().map_err(|_| HandshakeError::Setup)?;
        let mut message = header.to_vec();
        message.extend(write(&mut noise, &HelloWire::from(hello))?);
        Ok((Self(noise), message))
    }

    /// Takes message 2: the answer, and the key that the listener has shown.
    pub fn receive(
        mut self,
        message: &[u8],
    ) -> Result<(Answer, PublicKey, Confirming), HandshakeError> {
        let payload = read(&mut self.0, message)?;
        let wire: AnswerWire<'_> =
            minicbor::decode(&payload).map_err(|_| HandshakeError::Malformed)?;
        let answer = wire.answer().ok_or(HandshakeError::Malformed)?;
        let introduction = wire.introduction;
        let shown = shown(&self.0)?;
        let id = session_id(&self.0);
        Ok((answer, shown, Confirming { noise: self.0, id, introduction }))
    }
}

/// The dialling side, which has heard the answer.
#[derive(Debug)]
pub struct Confirming {
    noise: HandshakeState,
    id: SessionId,
    introduction: Option<Introduction>,
}

impl Confirming {
    /// What the listener told about itself; nothing if it is of a release that does not.
    #[must_use]
    pub const fn introduction(&self) -> Option<&Introduction> {
        self.introduction.as_ref()
    }

    /// Shows this node's key: message 3, and the session in the version that the answer named.
    pub fn confirm(mut self, version: u8) -> Result<(Vec<u8>, Session), HandshakeError> {
        let message = write(&mut self.noise, &ConfirmationWire::default())?;
        Ok((message, session(self.noise, self.id, version)?))
    }

    /// Says why this node does not take the link after all: message 3.
    pub fn refuse(mut self, refused: &Refused) -> Result<Vec<u8>, HandshakeError> {
        write(&mut self.noise, &ConfirmationWire::from(refused))
    }
}

/// The listening side, about to answer.
#[derive(Debug)]
pub struct Listener {
    noise: HandshakeState,
    introduction: Option<Introduction>,
}

impl Listener {
    /// Takes message 1, which must answer this greeting with a key of the ring. Does no arithmetic
    /// on curves.
    pub fn receive(
        keyring: &Keyring,
        own: &NodeKey,
        greeting: &Greeting,
        message: &[u8],
    ) -> Result<(Self, Hello, KeyId), HandshakeError> {
        let (header, id, message) = greeting::split(message)?;
        let key = keyring.find(id).ok_or(HandshakeError::NoCommonKey)?;
        let prologue = greeting.prologue(header);
        let builder = builder(key, own, &prologue)?;
        let mut noise = builder.build_responder().map_err(|_| HandshakeError::Setup)?;
        let payload = read(&mut noise, message)?;
        let wire: HelloWire<'_> =
            minicbor::decode(&payload).map_err(|_| HandshakeError::Malformed)?;
        let hello = Hello::try_from(wire).map_err(|()| HandshakeError::Malformed)?;
        Ok((Self { noise, introduction: None }, hello, id))
    }

    /// Tells something about this node in the answer.
    #[must_use]
    pub fn introduce(self, introduction: Introduction) -> Self {
        Self { introduction: Some(introduction), ..self }
    }

    /// Answers: message 2.
    pub fn answer(mut self, answer: &Answer) -> Result<(Vec<u8>, Answered), HandshakeError> {
        let mut wire = AnswerWire::from(answer);
        wire.introduction = self.introduction.take();
        let message = write(&mut self.noise, &wire)?;
        let id = session_id(&self.noise);
        let version = match answer {
            Answer::Welcome { version, .. } => *version,
            Answer::Refused(_) => 0,
        };
        Ok((message, Answered { noise: self.noise, id, version }))
    }
}

/// The listening side, waiting for message 3.
#[derive(Debug)]
pub struct Answered {
    noise: HandshakeState,
    id: SessionId,
    version: u8,
}

impl Answered {
    /// The name that the session will have, if it comes to one.
    #[must_use]
    pub const fn id(&self) -> SessionId {
        self.id
    }

    /// Takes message 3: the session and the key that the dialler has shown, or why it went.
    pub fn confirm(
        mut self,
        message: &[u8],
    ) -> Result<Result<(Session, PublicKey), Refused>, HandshakeError> {
        let payload = read(&mut self.noise, message)?;
        let wire: ConfirmationWire<'_> =
            minicbor::decode(&payload).map_err(|_| HandshakeError::Malformed)?;
        if let Some(refused) = wire.refused() {
            return Ok(Err(refused));
        }
        let shown = shown(&self.noise)?;
        Ok(Ok((session(self.noise, self.id, self.version)?, shown)))
    }
}

fn builder<'a>(
    key: &'a GroupKey,
    own: &'a NodeKey,
    prologue: &'a [u8],
) -> Result<Builder<'a>, HandshakeError> {
    let pattern = PATTERN.parse().map_err(|_| HandshakeError::Setup)?;
    Builder::new(pattern)
        .prologue(prologue)
        .and_then(|builder| builder.local_private_key(own.secret()))
        .and_then(|builder| builder.psk(0, key.secret()))
        .map_err(|_| HandshakeError::Setup)
}

fn write(
    noise: &mut HandshakeState,
    wire: &impl minicbor::Encode<()>,
) -> Result<Vec<u8>, HandshakeError> {
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

fn shown(noise: &HandshakeState) -> Result<PublicKey, HandshakeError> {
    let key = noise.get_remote_static().and_then(|key| key.try_into().ok());
    key.map(PublicKey).ok_or(HandshakeError::Setup)
}

/// Both sides know it after message 2.
fn session_id(noise: &HandshakeState) -> SessionId {
    let mut id = [0; 8];
    id.copy_from_slice(&noise.get_handshake_hash()[..8]);
    SessionId(id)
}

fn session(noise: HandshakeState, id: SessionId, version: u8) -> Result<Session, HandshakeError> {
    let noise = noise.into_stateless_transport_mode().map_err(|_| HandshakeError::Setup)?;
    Ok(Session::new(id, version, noise))
}

/// The longest message of a handshake.
pub const MESSAGE_MAX: usize = 2048;
const PATTERN: &str = "Noise_XXpsk0_25519_ChaChaPoly_BLAKE2s";

#[cfg(test)]
pub(super) mod tests;
