//! What can go wrong, and what to do about it.

use std::io;
use std::path::PathBuf;

use tanist_core::election::super_peer::HierarchyError;
use tanist_core::members::{LabelError, MembershipError, NodeId};
use tanist_core::options::OptionError;
use tanist_core::policy::PreemptError;
use tanist_core::timing::TimingError;

use crate::key::{GenerateKeyError, ReadKeyError};
use crate::store::{OpenError, SaveError};
use crate::task::TaskError;
use crate::transport::{self, BindError};

/// Why a node could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// A node is not named as nodes are.
    #[error("`{0}` names no node: nodes are n1, n2, n3 and so on")]
    Name(String),
    /// A peer is not given as name and address.
    #[error("`{0}` is no peer: give each as NODE=HOST:PORT, for example n1=10.0.0.1:7400")]
    Peer(String),
    /// Something that must be said was not.
    #[error("{0}")]
    Missing(&'static str),
    /// This node is not in the list of peers.
    #[error("{0} is this node, but not one of the peers; list all nodes, this one included")]
    Stranger(String),
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
    /// Another process has this node's id, and the group has it for the node.
    #[error(
        "another process with the id {node} is part of the group: {peer} has a link with it {at}, \
         and it answers; this process ends, so that no two act as one node. Stop one of the two, \
         or give this one an id of its own"
    )]
    Twin {
        /// The id that both have.
        node: NodeId,
        /// Who says so.
        peer: NodeId,
        /// Where the other process is.
        at: String,
    },
    /// The clock's alarm.
    #[error("the system's timer failed: {0}")]
    Clock(io::Error),
    /// The node's thread panicked.
    #[error("the node's thread panicked; its message is on stderr")]
    Panicked,
}
