//! What can go wrong, and what to do about it.

use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::time::Duration;

use tanist_core::config::ConfigError;
use tanist_core::membership::HierarchyError;
use tanist_core::membership::{LabelError, MembershipError};
use tanist_core::options::OptionError;
use tanist_core::policy::PreemptError;
use tanist_core::timing::TimingError;

use crate::key::{GenerateKeyError, ReadKeyError};
use crate::names::{PeerError, PeerListError};
use crate::store::{OpenError, SaveError};
use crate::task::TaskError;
use crate::transport::radio::AntennaError;
use crate::transport::{self, BindError};

/// Why a node could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// A node is not named as nodes are.
    #[error("`{0}` is not a node: write its name in the list of peers, or n1, n2 and so on")]
    Name(String),
    /// A peer is not given as name and address.
    #[error("`{entry}` is not a peer: {cause}")]
    Peer {
        /// The entry of the list.
        entry: String,
        /// What is wrong with it.
        cause: PeerError,
    },
    /// Two peers have the same name or number.
    #[error(transparent)]
    Peers(#[from] PeerListError),
    /// Something that must be said was not.
    #[error("{0}")]
    Missing(&'static str),
    /// This node is not in the list of peers.
    #[error("{0} is this node, but not one of the peers; list all nodes, this one included")]
    Stranger(String),
    /// A priority, zone or rack is given for a node that is not in the list of peers.
    #[error("{given} is given for {node}, which is not one of the peers; expected one of: {peers}")]
    Unlisted {
        /// The node as it was written.
        node: String,
        /// What is given for it.
        given: &'static str,
        /// What all nodes of the list are called.
        peers: String,
    },
    /// The list of nodes is not one.
    #[error(transparent)]
    Members(#[from] MembershipError),
    /// Waits that cannot work.
    #[error("these timings cannot work: {0}")]
    Timing(#[from] TimingError),
    /// Who takes over, where the algorithm says so itself.
    #[error(transparent)]
    Preempt(#[from] PreemptError),
    /// An option that the algorithm does not have.
    #[error(transparent)]
    Option(#[from] OptionError),
    /// The name of a zone or a rack.
    #[error(transparent)]
    Label(#[from] LabelError),
    /// Options of super-peers that contradict each other.
    #[error(transparent)]
    Hierarchy(#[from] HierarchyError),
    /// A task with an algorithm that hands nothing over.
    #[error(
        "{0} hands no state to its group, so a GroupTask would never start. Choose `invitation` or \
         `bully`, or start without a task"
    )]
    NoHandover(&'static str),
    /// The group key.
    #[error(transparent)]
    Key(#[from] ReadKeyError),
    /// No key could be made up for this start.
    #[error(transparent)]
    Chance(#[from] GenerateKeyError),
    /// The stable store.
    #[error(transparent)]
    Store(#[from] OpenError),
    /// The address is not free, or not ours.
    #[error(transparent)]
    Listen(#[from] BindError),
    /// The transport.
    #[error(transparent)]
    Transport(#[from] transport::StartError),
    /// The trace file.
    #[error("cannot write the trace {}: {cause}", path.display())]
    Trace {
        /// Which.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// No thread or runtime for the node.
    #[error("the system gives no thread for the node: {0}")]
    Thread(io::Error),
}

impl From<ConfigError> for StartError {
    fn from(error: ConfigError) -> Self {
        match error {
            ConfigError::Preempt(error) => Self::Preempt(error),
        }
    }
}

/// What must change before a start can succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartErrorKind {
    /// The description of the node, or a file that it names. Another try fails in the same way.
    Configuration,
    /// What the node has on disk. Another try fails in the same way.
    Store,
    /// Something that the system does not give at this moment: a port, an address, room on the
    /// disk, a descriptor. Another try may succeed.
    Resource,
}

impl StartError {
    /// What must change before a start can succeed.
    ///
    /// ```
    /// use tanist::{Group, StartErrorKind};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let refused = Group::builder("billing").node("first").start().await.unwrap_err();
    /// assert_eq!(refused.kind(), StartErrorKind::Configuration);
    /// # }
    /// ```
    #[must_use]
    pub fn kind(&self) -> StartErrorKind {
        let of = |is_temporary| match is_temporary {
            true => StartErrorKind::Resource,
            false => StartErrorKind::Configuration,
        };
        match self {
            Self::Name(_)
            | Self::Peer { .. }
            | Self::Peers(_)
            | Self::Missing(_)
            | Self::Stranger(_)
            | Self::Unlisted { .. }
            | Self::Members(_)
            | Self::Timing(_)
            | Self::Preempt(_)
            | Self::Option(_)
            | Self::Label(_)
            | Self::Hierarchy(_)
            | Self::NoHandover(_) => StartErrorKind::Configuration,
            Self::Key(error) => of(error.is_temporary()),
            Self::Store(error) => of_store(error),
            Self::Listen(error) => of(is_bind_temporary(error)),
            Self::Transport(error) => of(is_transport_temporary(error)),
            Self::Trace { cause, .. } => of(is_temporary(cause)),
            Self::Chance(_) | Self::Thread(_) => StartErrorKind::Resource,
        }
    }
}

fn of_store(error: &OpenError) -> StartErrorKind {
    match error {
        OpenError::GroupName { .. } => StartErrorKind::Configuration,
        // The process that holds it may be one that is about to end.
        OpenError::Locked { .. } => StartErrorKind::Resource,
        OpenError::NotAStore { .. }
        | OpenError::Nothing { .. }
        | OpenError::Missing { .. }
        | OpenError::Damaged { .. }
        | OpenError::Newer { .. }
        | OpenError::Bound { .. }
        | OpenError::Copied { .. }
        | OpenError::Writable { .. }
        | OpenError::Owner { .. }
        | OpenError::Mixed { .. } => StartErrorKind::Store,
        OpenError::Disk(error) if is_temporary(&error.source) => StartErrorKind::Resource,
        OpenError::Disk(_) => StartErrorKind::Store,
    }
}

fn is_bind_temporary(error: &BindError) -> bool {
    match error {
        // A name that does not resolve at boot may resolve when the network is up; what is not
        // written as host:port never does.
        BindError::Address { source, .. } => source.kind() != ErrorKind::InvalidInput,
        BindError::Tcp { source, .. } | BindError::Udp { source, .. } => is_temporary(source),
    }
}

fn is_transport_temporary(error: &transport::StartError) -> bool {
    match error {
        transport::StartError::GroupName { .. } => false,
        transport::StartError::Incarnation(_)
        | transport::StartError::Sockets(_)
        | transport::StartError::HandshakeThread(_) => true,
        transport::StartError::Antenna(error) => match error {
            // Interfaces appear and are switched on while a machine boots.
            AntennaError::Missing { .. }
            | AntennaError::Down { .. }
            | AntennaError::Port { .. }
            | AntennaError::List(_)
            | AntennaError::Nothing => true,
            AntennaError::Permission { .. } => false,
            AntennaError::Socket { source, .. } => is_temporary(source),
        },
    }
}

/// Whether an error about a path or an address can go away without a change of the configuration. A
/// path that is missing, of the wrong kind or not allowed stays so until a person changes it; a
/// full disk, a failed read, or a lack of descriptors or memory does not.
#[must_use]
pub fn is_temporary(error: &io::Error) -> bool {
    !matches!(
        error.kind(),
        ErrorKind::NotFound
            | ErrorKind::PermissionDenied
            | ErrorKind::NotADirectory
            | ErrorKind::IsADirectory
            | ErrorKind::InvalidInput
            | ErrorKind::InvalidFilename
            | ErrorKind::Unsupported
    )
}

/// Why a node could not go on. It behaves as one that crashed: the others elect without it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// The disk did not take a record. Start the node again when the disk is well.
    #[error(transparent)]
    Store(#[from] SaveError),
    /// The application's task.
    #[error(transparent)]
    Task(#[from] TaskError),
    /// The application had to stop, and has not in time.
    #[error(transparent)]
    Overdue(#[from] StopOverdue),
    /// Another process has this node's id, and the group has it for the node.
    #[error(
        "another process with the id {node} is part of the group: {peer} has a link with it {at}, \
         and it answers; this process ends, so that no two act as one node. Stop one of the two, \
         or give this one an id of its own"
    )]
    Twin {
        /// What the node that both claim to be is called.
        node: String,
        /// Who says so.
        peer: String,
        /// Where the other process is.
        at: String,
    },
    /// The clock's alarm.
    #[error("the system's timer failed: {0}")]
    Clock(io::Error),
    /// A part of the node panicked: its thread, a task on it, or the thread of its store.
    #[error(
        "a part of the node panicked, so all of it has stopped; the message of the panic is on \
         stderr: please report it, and start the node again"
    )]
    Panicked,
}

/// The application of this node had to stop, and has not in time: the group goes on without the
/// node, as if it had crashed.
///
/// What hangs may still work. Ending the process ends it for certain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the {what} has not stopped within {within:?}; the group goes on without this node")]
#[non_exhaustive]
pub struct StopOverdue {
    /// What has not stopped: the `task` of the group, or the `job` of the leader.
    pub what: &'static str,
    /// How long it was waited for: [`Builder::stop_within`](crate::Builder::stop_within).
    pub within: Duration,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::DiskError;

    fn bind(kind: ErrorKind) -> StartErrorKind {
        let address = ([127, 0, 0, 1], 7400).into();
        StartError::from(BindError::Tcp { address, source: kind.into() }).kind()
    }

    fn disk(kind: ErrorKind) -> StartErrorKind {
        let path = PathBuf::from("/var/lib/tanist");
        let error = DiskError { action: "write", path, source: kind.into() };
        StartError::from(OpenError::Disk(error)).kind()
    }

    #[test]
    fn a_port_that_is_taken_may_be_free_later_and_one_that_is_not_allowed_stays_so() {
        assert_eq!(bind(ErrorKind::AddrInUse), StartErrorKind::Resource);
        assert_eq!(bind(ErrorKind::AddrNotAvailable), StartErrorKind::Resource);
        assert_eq!(bind(ErrorKind::PermissionDenied), StartErrorKind::Configuration);
    }

    #[test]
    fn a_name_may_resolve_later_and_what_is_no_address_does_not() {
        let of = |kind: ErrorKind| {
            let listen = "n1.example:7400".to_owned();
            StartError::from(BindError::Address { listen, source: kind.into() }).kind()
        };
        assert_eq!(of(ErrorKind::NotFound), StartErrorKind::Resource);
        assert_eq!(of(ErrorKind::Other), StartErrorKind::Resource);
        assert_eq!(of(ErrorKind::InvalidInput), StartErrorKind::Configuration);
    }

    #[test]
    fn a_full_disk_may_have_room_later_and_a_wrong_store_stays_wrong() {
        assert_eq!(disk(ErrorKind::StorageFull), StartErrorKind::Resource);
        assert_eq!(disk(ErrorKind::ReadOnlyFilesystem), StartErrorKind::Resource);
        assert_eq!(disk(ErrorKind::PermissionDenied), StartErrorKind::Store);
        let directory = PathBuf::from("/var/lib/tanist");
        let locked = OpenError::Locked { directory: directory.clone(), pid: None };
        assert_eq!(StartError::from(locked).kind(), StartErrorKind::Resource);
        let mixed = OpenError::Mixed { directory };
        assert_eq!(StartError::from(mixed).kind(), StartErrorKind::Store);
    }
}
