//! The programs of a world's nodes: what a user runs around a live node, with the same [`Group`].
//!
//! Each incarnation of a node begins its program with a handle of its own; what the program asks is
//! answered by the simulated node. A program that drops its last handle, or shuts its node down,
//! leaves as a live one does: the node withdraws, or its application has not stopped in time, and
//! its process is gone.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use tanist_core::{GroupConfig, Membership, NodeId, Time};
use tokio::sync::{mpsc, watch};

use super::process::Process;
use super::runtime::Runtime;
use crate::driver::Request;
use crate::ended::Ended;
use crate::group::Group;
use crate::operations::Control;
use crate::spawner::Spawner;
use crate::status::{Identity, Shared};
use crate::trace_writer::RecentTrace;

/// What a node's program is: a function from the node's handle to what runs.
pub(super) type Program = Box<dyn FnMut(Group) -> Pin<Box<dyn Future<Output = ()> + Send>>>;

/// The programs of all nodes, and the runtime in which they run.
pub(super) struct Programs {
    make: Program,
    pub(super) runtime: Runtime,
    /// When something happened that programs may react to, if it did since they ran.
    pub(super) stirred_at: Option<Time>,
}

/// The program of one incarnation of a node.
pub(super) struct Running {
    pub(super) process: Arc<Process>,
    /// At its end when the program has dropped every handle of its node.
    holders: mpsc::Receiver<()>,
    ended: watch::Sender<Option<Ended>>,
    pub(super) is_leaving: bool,
    pub(super) has_left: bool,
}

/// The node that a program begins with.
pub(super) struct Begun<'a> {
    pub(super) me: NodeId,
    pub(super) name: &'a str,
    pub(super) config: &'a GroupConfig,
    pub(super) members: &'a Membership,
    pub(super) shared: Arc<Shared>,
    pub(super) control: Control,
    pub(super) requests: mpsc::UnboundedSender<Request>,
}

impl Programs {
    pub(super) fn new(make: Program) -> std::io::Result<Self> {
        Ok(Self { make, runtime: Runtime::new()?, stirred_at: Some(Time::ZERO) })
    }

    /// Begins the program of a node that has just started. It runs when the runtime does.
    pub(super) fn begin(&mut self, node: Begun<'_>) -> Running {
        let Begun { me, name, config, members, shared, control, requests } = node;
        let process = Process::new(self.runtime.handle().clone());
        let (held, holders) = mpsc::channel(1);
        let (ending, ended) = watch::channel(None);
        let group = Group {
            identity: Identity::new(&Arc::from(name), me, config, members),
            shared,
            control,
            requests,
            ended,
            recent: Arc::new(RecentTrace::new(name, config, members)),
            spawner: Spawner::Process(Arc::downgrade(&process)),
            _held: held,
        };
        let program = {
            let _context = self.runtime.handle().enter();
            (self.make)(group)
        };
        Process::spawn(&Arc::downgrade(&process), program);
        Running { process, holders, ended: ending, is_leaving: false, has_left: false }
    }
}

impl Running {
    /// Whether the program has dropped every handle of its node.
    pub(super) fn is_alone(&mut self) -> bool {
        matches!(self.holders.try_recv(), Err(mpsc::error::TryRecvError::Disconnected))
    }

    /// The node has withdrawn, or its application has not stopped in time, and is gone.
    pub(super) fn leave(&mut self, shared: &Shared, ended: Ended) {
        self.has_left = true;
        shared.end();
        self.ended.send_replace(Some(ended));
    }
}
