//! A key pair for each node, so that a stolen node's files speak as that node only.
//!
//! The group's key says *a node of this group*; the key pair says *which one*. It is an X25519 key,
//! used as the static key of the handshake (Noise `XXpsk0`), and every peer lists the public keys
//! of the others, as WireGuard has it. A node without a key pair makes one up at every start, and
//! its peers know it by the group's key alone: so groups can change over node by node.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use serde::{Serialize, Serializer};
use snow::params::DHChoice;
use snow::resolvers::{CryptoResolver as _, DefaultResolver};
use tanist_core::membership::NodeId;
use zeroize::Zeroizing;

use super::{GenerateKeyError, ReadKeyError, WriteKeyError, push_hex, read_private, write_new};
use crate::digest::{HexError, hex, unhex};

/// A node's own key pair: 32 secret bytes, and the public key that belongs to them.
#[derive(Clone)]
pub struct NodeKey {
    secret: Zeroizing<[u8; LENGTH]>,
    public: PublicKey,
}

impl NodeKey {
    /// A fresh pair from the system's own source of chance.
    pub fn generate() -> Result<Self, GenerateKeyError> {
        let mut secret = Zeroizing::new([0; LENGTH]);
        getrandom::fill(secret.as_mut_slice()).map_err(GenerateKeyError::Source)?;
        Ok(Self::of(secret))
    }

    /// Takes the text form of the secret; white space around it is ignored.
    pub fn parse(text: &str) -> Result<Self, ParseIdentityError> {
        let wrong = ParseIdentityError::Prefix { expected: SECRET_PREFIX };
        let digits = text.trim().strip_prefix(SECRET_PREFIX).ok_or(wrong)?;
        let mut secret = Zeroizing::new([0; LENGTH]);
        unhex(digits, secret.as_mut_slice()).map_err(ParseIdentityError::from)?;
        Ok(Self::of(secret))
    }

    /// Reads a file that holds a node's secret key; only its owner may be able to read it.
    pub fn read(path: &Path) -> Result<Self, ReadKeyError> {
        let text = read_private(path)?;
        let parsed = Self::parse(&text);
        parsed.map_err(|source| ReadKeyError::Identity { path: path.to_owned(), source })
    }

    /// Writes the secret to a file that did not exist and that only its owner may read.
    pub fn write_new(&self, path: &Path) -> Result<(), WriteKeyError> {
        let mut text = Zeroizing::new(String::with_capacity(SECRET_PREFIX.len() + 2 * LENGTH));
        text.push_str(SECRET_PREFIX);
        push_hex(&mut text, self.secret.as_slice());
        write_new(path, text.as_bytes())
    }

    /// The public half.
    #[must_use]
    pub const fn public(&self) -> PublicKey {
        self.public
    }

    /// The half that only the handshake may know.
    pub(crate) fn secret(&self) -> &[u8; LENGTH] {
        &self.secret
    }

    fn of(secret: Zeroizing<[u8; LENGTH]>) -> Self {
        let mut dh = DefaultResolver
            .resolve_dh(&DHChoice::Curve25519)
            .expect("the features of snow that this crate asks for hold it");
        dh.set(secret.as_slice());
        let mut public = [0; LENGTH];
        public.copy_from_slice(dh.pubkey());
        Self { secret, public: PublicKey(public) }
    }
}

impl fmt::Debug for NodeKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NodeKey({})", self.public)
    }
}

/// The public half of a [`NodeKey`], as peers list it: `tanist-node-1:` and 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PublicKey(pub [u8; LENGTH]);

impl PublicKey {
    /// Takes the text form; white space around it is ignored.
    pub fn parse(text: &str) -> Result<Self, ParseIdentityError> {
        let text = text.trim();
        if text.starts_with(SECRET_PREFIX) {
            return Err(ParseIdentityError::Secret);
        }
        let wrong = ParseIdentityError::Prefix { expected: PUBLIC_PREFIX };
        let digits = text.strip_prefix(PUBLIC_PREFIX).ok_or(wrong)?;
        let mut public = [0; LENGTH];
        unhex(digits, &mut public).map_err(ParseIdentityError::from)?;
        Ok(Self(public))
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PUBLIC_PREFIX}{}", hex(&self.0))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for PublicKey {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

/// This node's key pair, and the public keys of its peers.
#[derive(Clone, Debug)]
pub struct Identities {
    own: NodeKey,
    peers: BTreeMap<NodeId, PublicKey>,
    is_required: bool,
}

impl Identities {
    /// A pair that is made up for this start: peers are known by the group's key alone.
    pub fn unconfigured() -> Result<Self, GenerateKeyError> {
        Ok(Self { own: NodeKey::generate()?, peers: BTreeMap::new(), is_required: false })
    }

    /// A pair of this node's own. If identities are required, only the listed peers get a link;
    /// else a peer that does not show its key is still known by the group's key.
    #[must_use]
    pub const fn new(own: NodeKey, peers: BTreeMap<NodeId, PublicKey>, is_required: bool) -> Self {
        Self { own, peers, is_required }
    }

    /// This node's pair.
    #[must_use]
    pub const fn own(&self) -> &NodeKey {
        &self.own
    }

    /// Whether a peer must show the key that is listed for it.
    #[must_use]
    pub const fn are_required(&self) -> bool {
        self.is_required
    }

    /// The public keys of the peers, as listed.
    #[must_use]
    pub const fn peers(&self) -> &BTreeMap<NodeId, PublicKey> {
        &self.peers
    }

    /// What a peer that showed this key has proven.
    pub fn prove(&self, peer: NodeId, shown: PublicKey) -> Result<Proof, IdentityError> {
        match self.peers.get(&peer) {
            Some(listed) if *listed == shown => Ok(Proof::Identity),
            Some(_) if self.is_required => Err(IdentityError::OtherKey),
            None if self.is_required => Err(IdentityError::NotListed),
            Some(_) | None => Ok(Proof::GroupKey),
        }
    }
}

/// What a peer has proven about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Proof {
    /// It has the key pair that is listed for it.
    Identity,
    /// It has a key of the group, so it is one of its nodes; which one, it only says.
    GroupKey,
}

/// Why a peer did not prove its identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IdentityError {
    /// It shows another key than the one that is listed.
    #[error("it shows another key than `identity.peer_keys` lists for it")]
    OtherKey,
    /// No key is listed for it.
    #[error("`identity.peer_keys` lists no key for it")]
    NotListed,
}

/// Why a text is not a node's key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseIdentityError {
    /// It does not begin as one does.
    #[error("it does not begin with `{expected}`; copy the whole line")]
    Prefix {
        /// How it should begin.
        expected: &'static str,
    },
    /// A secret key where a public one belongs.
    #[error(
        "this is the node's secret key; list the public one, which `tanist keygen --node` printed, \
         and make a new pair if others have seen this text"
    )]
    Secret,
    /// Something after the prefix is not a hexadecimal digit.
    #[error("character {position} after the prefix is not a hexadecimal digit; copy it again")]
    Digit {
        /// Counted from one, after the prefix.
        position: usize,
    },
    /// Too short or too long.
    #[error("it has {found} hexadecimal digits instead of 64; copy the whole line")]
    Length {
        /// How many digits there are.
        found: usize,
    },
}

impl From<HexError> for ParseIdentityError {
    fn from(error: HexError) -> Self {
        match error {
            HexError::Digit { position } => Self::Digit { position },
            HexError::Length { found } => Self::Length { found },
        }
    }
}

const LENGTH: usize = 32;
const SECRET_PREFIX: &str = "tanist-node-secret-1:";
const PUBLIC_PREFIX: &str = "tanist-node-1:";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_survives_its_file_and_keeps_its_public_half() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("n1.key");
        let key = NodeKey::generate().unwrap();
        key.write_new(&path).unwrap();
        let again = NodeKey::read(&path).unwrap();
        assert_eq!(again.public(), key.public());
        assert_eq!(PublicKey::parse(&key.public().to_string()), Ok(key.public()));
        assert!(!format!("{key:?}").contains(&hex(key.secret())));
    }

    #[test]
    fn a_secret_is_refused_where_a_public_key_belongs() {
        let text = format!("{SECRET_PREFIX}{}", "ab".repeat(32));
        assert_eq!(PublicKey::parse(&text), Err(ParseIdentityError::Secret));
        assert!(matches!(PublicKey::parse("x"), Err(ParseIdentityError::Prefix { .. })));
        let short = PublicKey::parse("tanist-node-1:ab");
        assert_eq!(short, Err(ParseIdentityError::Length { found: 2 }));
    }

    #[test]
    fn what_a_peer_proves_depends_on_the_list_and_on_what_is_required() {
        let own = || NodeKey::generate().unwrap();
        let (listed, other) = (own().public(), own().public());
        let peers = BTreeMap::from([(NodeId(1), listed)]);
        let strict = Identities::new(own(), peers.clone(), true);
        let lenient = Identities::new(own(), peers, false);
        assert_eq!(strict.prove(NodeId(1), listed), Ok(Proof::Identity));
        assert_eq!(strict.prove(NodeId(1), other), Err(IdentityError::OtherKey));
        assert_eq!(strict.prove(NodeId(2), other), Err(IdentityError::NotListed));
        assert_eq!(lenient.prove(NodeId(1), listed), Ok(Proof::Identity));
        assert_eq!(lenient.prove(NodeId(1), other), Ok(Proof::GroupKey));
        assert_eq!(lenient.prove(NodeId(2), other), Ok(Proof::GroupKey));
    }
}
