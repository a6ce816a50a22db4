//! The keys that a configuration names, read from their files.

use tanist::NodeId;
use tanist::key::{Identities, Keyring, NodeKey, PublicKey, ReadKeyError};

use super::{Config, IdentityTable};

/// The keys that a configuration names.
#[derive(Clone, Debug)]
pub(crate) struct Secrets {
    /// The keys that the group shares.
    pub(crate) keyring: Keyring,
    /// This node's own pair and those of its peers; none without `[identity]`.
    pub(crate) identities: Option<Identities>,
}

impl Config {
    /// Reads all of them, as they are on disk at the moment.
    pub(crate) fn secrets(&self) -> Result<Secrets, SecretsError> {
        let keyring = Keyring::read(&self.key_file)?;
        let identities =
            self.identity.as_ref().map(|table| table.read(self.me, &self.node)).transpose()?;
        Ok(Secrets { keyring, identities })
    }
}

impl IdentityTable {
    /// Reads this node's own key; its line must be that key's.
    pub(super) fn read(&self, me: NodeId, node: &str) -> Result<Identities, SecretsError> {
        let own = NodeKey::read(&self.key_file)?;
        let listed = self.peer_keys.get(&me);
        if listed.is_some_and(|listed| *listed != own.public()) {
            let (node, public) = (node.to_owned(), own.public());
            return Err(SecretsError::OtherKey { node, public });
        }
        Ok(Identities::new(own, self.peer_keys.clone(), self.is_required))
    }
}

/// Why keys are not used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SecretsError {
    /// A file does not hold what it should.
    #[error(transparent)]
    Read(#[from] ReadKeyError),
    /// The line of this node is another key's, so its peers would refuse it.
    #[error(
        "identity.peer_keys lists another key for {node} than identity.key_file holds, so peers \
         with the same list would refuse this node; write {node} = \"{public}\" on all nodes, or \
         name the file of {node}"
    )]
    OtherKey {
        /// This node.
        node: String,
        /// What its file holds.
        public: PublicKey,
    },
}

impl SecretsError {
    /// Whether another try may succeed without any change.
    pub(crate) fn is_temporary(&self) -> bool {
        match self {
            Self::Read(error) => error.is_temporary(),
            Self::OtherKey { .. } => false,
        }
    }
}
