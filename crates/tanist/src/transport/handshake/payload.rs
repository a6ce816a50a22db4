//! What the messages of a handshake carry, as CBOR with numbered fields: a later version can add
//! some, and unknown ones are skipped.

use std::fmt;
use std::sync::Arc;

use minicbor::{Decode, Encode};
use tanist_core::membership::NodeId;

use super::super::introduction::Introduction;
use super::super::session::SessionId;
use super::super::version::Versions;
use super::{Answer, Hello};
use crate::key::PublicKey;
use crate::settings::{DIGEST_LENGTH, Settings};

/// A refusal with what the refusing side says about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Why.
    pub reason: Refusal,
    /// What belongs to the reason: the other side's versions, settings, or where the other process
    /// is. For people, or to be compared; never trusted further.
    pub detail: String,
}

impl Refused {
    /// A refusal that needs no more words.
    #[must_use]
    pub const fn plain(reason: Refusal) -> Self {
        Self { reason, detail: String::new() }
    }

    /// A refusal with details, as many as fit into a message.
    #[must_use]
    pub fn with(reason: Refusal, detail: &str) -> Self {
        Self { reason, detail: detail[..detail.floor_char_boundary(DETAIL_MAX)].to_owned() }
    }

    /// A refusal as another node said it. Control characters must not reach a log or a terminal;
    /// settings keep their lines, since they are compared line by line.
    fn heard(number: u8, detail: &str) -> Self {
        let reason = Refusal::numbered(number);
        let is_kept = |c: char| !c.is_control() || (reason == Refusal::Settings && c == '\n');
        let plain: String = detail.chars().map(|c| if is_kept(c) { c } else { ' ' }).collect();
        Self::with(reason, &plain)
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { reason, detail } = self;
        match (reason, detail.as_str()) {
            (_, "") | (Refusal::Settings, _) => fmt::Display::fmt(reason, f),
            (_, detail) => write!(f, "{reason} ({detail})"),
        }
    }
}

/// Why a node with the right key does not get a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The two speak no common version.
    #[error("the two speak no common version of the wire; upgrade one release at a time")]
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
    /// The settings of the group differ.
    #[error("its settings of the group differ from this node's; give all nodes the same")]
    Settings,
    /// The node's own key is not the one that is listed for it.
    #[error(
        "it does not accept this node's identity; compare `tanist key status` here with \
         identity.peer_keys there"
    )]
    Identity,
    /// Another process with the dialler's id is there, and answers.
    #[error("another process with this node's id is linked to it and answers; stop one of the two")]
    Twin,
    /// A reason that a later version knows.
    #[error("it gave reason {0}, which this version does not know; see the log of the peer")]
    Other(u8),
}

impl Refusal {
    pub(super) const fn number(self) -> u8 {
        match self {
            Self::Version => 1,
            Self::Group => 2,
            Self::UnknownNode => 3,
            Self::WrongNode => 4,
            Self::OwnId => 5,
            Self::TooBusy => 6,
            Self::Settings => 7,
            Self::Identity => 8,
            Self::Twin => 9,
            Self::Other(number) => number,
        }
    }

    pub(super) const fn numbered(number: u8) -> Self {
        match number {
            1 => Self::Version,
            2 => Self::Group,
            3 => Self::UnknownNode,
            4 => Self::WrongNode,
            5 => Self::OwnId,
            6 => Self::TooBusy,
            7 => Self::Settings,
            8 => Self::Identity,
            9 => Self::Twin,
            other => Self::Other(other),
        }
    }
}

#[derive(Encode, Decode)]
#[cbor(map)]
pub(super) struct HelloWire<'a> {
    #[n(0)]
    version_min: u8,
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
    #[n(7)]
    version_max: u8,
    #[cbor(b(8), with = "minicbor::bytes")]
    identity: &'a [u8],
    #[cbor(b(9), with = "minicbor::bytes")]
    digest: &'a [u8],
    #[cbor(b(10))]
    settings: &'a str,
    #[n(11)]
    introduction: Option<Introduction>,
}

impl<'a> From<&'a Hello> for HelloWire<'a> {
    fn from(hello: &'a Hello) -> Self {
        Self {
            version_min: hello.versions.min,
            version_max: hello.versions.max,
            group: &hello.group,
            from: hello.from.0,
            to: hello.to.0,
            incarnation: hello.incarnation,
            dial: hello.dial,
            lost: hello.lost.map(|session| u64::from_be_bytes(session.0)),
            identity: &hello.identity.0,
            digest: &hello.settings.digest,
            settings: &hello.settings.text,
            introduction: hello.introduction.clone(),
        }
    }
}

impl TryFrom<HelloWire<'_>> for Hello {
    type Error = ();

    fn try_from(wire: HelloWire<'_>) -> Result<Self, ()> {
        let digest: [u8; DIGEST_LENGTH] = wire.digest.try_into().map_err(|_| ())?;
        Ok(Self {
            versions: Versions { min: wire.version_min, max: wire.version_max },
            group: wire.group.to_owned(),
            from: NodeId(wire.from),
            to: NodeId(wire.to),
            incarnation: wire.incarnation,
            dial: wire.dial,
            lost: wire.lost.map(|session| SessionId(session.to_be_bytes())),
            identity: PublicKey(wire.identity.try_into().map_err(|_| ())?),
            settings: Settings {
                digest,
                text: wire.settings.to_owned(),
                defaults: String::new(),
                names: Arc::default(),
            },
            introduction: wire.introduction,
        })
    }
}

#[derive(Encode, Decode)]
#[cbor(map)]
pub(super) struct AnswerWire<'a> {
    #[n(0)]
    from: Option<u32>,
    #[n(1)]
    incarnation: Option<u64>,
    #[n(2)]
    refusal: Option<u8>,
    #[n(3)]
    version: Option<u8>,
    #[cbor(b(4))]
    detail: Option<&'a str>,
    #[n(5)]
    pub(super) introduction: Option<Introduction>,
}

impl<'a> From<&'a Answer> for AnswerWire<'a> {
    fn from(answer: &'a Answer) -> Self {
        match answer {
            Answer::Welcome { from, incarnation, version } => Self {
                from: Some(from.0),
                incarnation: Some(*incarnation),
                refusal: None,
                version: Some(*version),
                detail: None,
                introduction: None,
            },
            Answer::Refused(refused) => Self {
                from: None,
                incarnation: None,
                refusal: Some(refused.reason.number()),
                version: None,
                detail: Some(&refused.detail),
                introduction: None,
            },
        }
    }
}

impl AnswerWire<'_> {
    pub(super) fn answer(&self) -> Option<Answer> {
        if let Some(number) = self.refusal {
            return Some(Answer::Refused(Refused::heard(number, self.detail.unwrap_or_default())));
        }
        let (from, incarnation) = (NodeId(self.from?), self.incarnation?);
        Some(Answer::Welcome { from, incarnation, version: self.version? })
    }
}

#[derive(Default, Encode, Decode)]
#[cbor(map)]
pub(super) struct ConfirmationWire<'a> {
    #[n(0)]
    refusal: Option<u8>,
    #[cbor(b(1))]
    detail: Option<&'a str>,
}

impl<'a> From<&'a Refused> for ConfirmationWire<'a> {
    fn from(refused: &'a Refused) -> Self {
        Self { refusal: Some(refused.reason.number()), detail: Some(&refused.detail) }
    }
}

impl ConfirmationWire<'_> {
    pub(super) fn refused(&self) -> Option<Refused> {
        Some(Refused::heard(self.refusal?, self.detail.unwrap_or_default()))
    }
}

/// The longest detail, in bytes: all of a node's settings fit into it, and it into a message.
const DETAIL_MAX: usize = 1200;
