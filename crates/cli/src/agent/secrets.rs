//! The keys that a running node uses: what a reload changes of them, and what is said of them.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use tanist::key::{GenerateKeyError, GroupKey, Identities, KeyId, Keyring, Proof};

use super::Agent;
use super::report::whole;
use crate::config::Secrets;

/// The keys that a running node uses.
#[derive(Debug)]
pub(super) struct Used(Mutex<Keys>);

#[derive(Clone, Debug)]
pub(super) struct Keys {
    pub(super) keyring: Keyring,
    pub(super) identities: Identities,
    /// Whether the identities are the configuration's: else this node's own was made up at its
    /// start, and only the group's key counts.
    is_configured: bool,
}

impl Used {
    /// Those that a node starts with.
    pub(super) fn new(read: Secrets) -> Result<Self, GenerateKeyError> {
        let is_configured = read.identities.is_some();
        let identities = match read.identities {
            Some(identities) => identities,
            None => Identities::unconfigured()?,
        };
        Ok(Self(Mutex::new(Keys { keyring: read.keyring, identities, is_configured })))
    }

    pub(super) fn now(&self) -> Keys {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Keys> {
        // No holder can panic.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Keys {
    /// These, with what the files say at the moment. An identity that was made up stays, so that
    /// links need not be made again for it.
    fn renewed(&self, read: Secrets) -> Result<Self, GenerateKeyError> {
        let is_configured = read.identities.is_some();
        let identities = match read.identities {
            Some(identities) => identities,
            None if self.is_configured => Identities::unconfigured()?,
            None => self.identities.clone(),
        };
        Ok(Self { keyring: read.keyring, identities, is_configured })
    }

    fn ids(&self) -> Vec<KeyId> {
        self.keyring.keys().iter().map(GroupKey::id).collect()
    }

    /// What is different from older ones, for people. What `[identity]` lists is told as a change
    /// of the configuration.
    fn changes_against(&self, old: &Self) -> Vec<String> {
        let mut changes = Vec::new();
        if self.ids() != old.ids() {
            changes.push(format!("keys: {}", describe(&self.keyring)));
        }
        let own = |keys: &Self| keys.is_configured.then(|| keys.identities.own().public());
        if own(self) != own(old) {
            let shown = own(self).map_or_else(|| "none".to_owned(), |key| key.to_string());
            changes.push(format!("identity: {shown}"));
        }
        changes
    }

    fn is_same(&self, other: &Self) -> bool {
        let (mine, theirs) = (&self.identities, &other.identities);
        self.ids() == other.ids()
            && mine.own().public() == theirs.own().public()
            && mine.peers() == theirs.peers()
            && mine.are_required() == theirs.are_required()
    }
}

/// `2 (using 1a2b3c4d)`.
pub(crate) fn describe(keyring: &Keyring) -> String {
    format!("{} (using {})", keyring.keys().len(), keyring.active().id())
}

/// Keys that were read again and are not used yet.
pub(super) struct Renewal {
    next: Keys,
    is_same: bool,
    /// What is different, for people.
    pub(super) changes: Vec<String>,
}

impl Agent {
    /// What keys that were read again would change; nothing changes yet.
    pub(super) fn renew_secrets(&self, read: Secrets) -> Result<Renewal, String> {
        let old = self.inner.secrets.now();
        let next = old.renewed(read).map_err(|error| error.to_string())?;
        let (is_same, changes) = (next.is_same(&old), next.changes_against(&old));
        Ok(Renewal { next, is_same, changes })
    }

    /// Uses them from here on.
    pub(super) fn use_secrets(&self, renewal: Renewal) {
        if renewal.is_same {
            return;
        }
        let Keys { keyring, identities, .. } = renewal.next.clone();
        *self.inner.secrets.lock() = renewal.next;
        self.group().set_secrets(keyring, identities);
    }

    /// The keys and links of this node. None: the node has stopped.
    pub(crate) async fn keys(&self) -> Option<KeysReport> {
        let metrics = self.group().metrics().await?;
        let used = self.inner.secrets.now();
        let peers = metrics.peers.into_iter().map(|peer| PeerKeysReport {
            node: self.name(peer.id),
            is_connected: peer.is_connected,
            key: peer.key.map(|key| key.to_string()),
            proof: peer.proof.map(|proof| proof_name(proof).to_owned()),
            wire_version: peer.version,
            refusal: peer.refusal,
            refused_here: peer.refused_here,
        });
        Some(KeysReport {
            node: self.my_name(),
            keys: key_reports(&used.keyring),
            key_file: whole(&self.config().key_file),
            identity: used.is_configured.then(|| IdentityReport {
                public_key: used.identities.own().public().to_string(),
                is_required: used.identities.are_required(),
                listed: used.identities.peers().keys().map(ToString::to_string).collect(),
            }),
            peers: peers.collect(),
        })
    }
}

/// All keys of a ring, the one in use first.
pub(crate) fn key_reports(keyring: &Keyring) -> Vec<KeyReport> {
    let active = keyring.active().id();
    let report =
        |key: &GroupKey| KeyReport { id: key.id().to_string(), is_used: key.id() == active };
    keyring.keys().iter().map(report).collect()
}

/// The word for a proof.
pub(crate) const fn proof_name(proof: Proof) -> &'static str {
    match proof {
        Proof::Identity => "identity",
        Proof::GroupKey => "group_key",
    }
}

/// The keys of a node, and what its links rest on. Names stay as they are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KeysReport {
    /// This node.
    pub(crate) node: String,
    /// The group keys that it accepts.
    pub(crate) keys: Vec<KeyReport>,
    /// The file that they are read from at a reload.
    pub(crate) key_file: PathBuf,
    /// Its own key, if the configuration gives it one.
    pub(crate) identity: Option<IdentityReport>,
    /// Its peers.
    pub(crate) peers: Vec<PeerKeysReport>,
}

/// One group key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KeyReport {
    pub(crate) id: String,
    /// Whether it is used to dial.
    pub(crate) is_used: bool,
}

/// A node's own key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct IdentityReport {
    pub(crate) public_key: String,
    /// Whether a peer must prove the key that is listed for it.
    pub(crate) is_required: bool,
    /// The nodes whose keys are listed here.
    pub(crate) listed: Vec<String>,
}

/// What the link with a peer rests on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PeerKeysReport {
    pub(crate) node: String,
    pub(crate) is_connected: bool,
    /// The group key of the link.
    pub(crate) key: Option<String>,
    /// `identity`, or `group_key` if only that was proven.
    pub(crate) proof: Option<String>,
    /// The version of the wire on the link.
    pub(crate) wire_version: Option<u8>,
    /// Why the peer, which has the right key, gives this node no link.
    pub(crate) refusal: Option<String>,
    /// Why this node gave the peer no link within the last minute.
    pub(crate) refused_here: Option<String>,
}
