//! How the rest of the program reaches a driver, and what it asks of it.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use tanist_core::policy::{HandOverError, Objection, PriorityError};
use tanist_core::{GroupNumber, NodeId, NodeSet};
use tokio::sync::{mpsc, oneshot};

use crate::error::StopOverdue;
use crate::metrics::Metrics;
use crate::task::Answer;
use crate::transport::Secrets;
use crate::transport::question::{AnswerSlot, Question};

/// How the rest of the program reaches a driver.
#[derive(Debug)]
pub(crate) struct Inbox {
    pub(crate) requests: mpsc::UnboundedReceiver<Request>,
    /// At its end when every handle of the node is dropped. The application has senders of
    /// requests, too, since the driver waits for it even then.
    pub(crate) holders: mpsc::Receiver<()>,
}

impl Inbox {
    /// The next request; none when every handle of the node is dropped.
    pub(super) async fn next(&mut self) -> Option<Request> {
        tokio::select! {
            biased;
            Some(request) = self.requests.recv() => Some(request),
            _ = self.holders.recv() => None,
        }
    }
}

/// Says that a node has withdrawn, or that its application has not stopped in time for that.
pub(crate) type WithdrawnReply = oneshot::Sender<Result<(), StopOverdue>>;

/// What the rest of the program asks of a driver.
#[derive(Debug)]
pub(crate) enum Request {
    /// All guards of a leadership that is over are gone.
    GuardsDropped,
    /// The task answers.
    Answered(Answer),
    /// Hold an election now.
    Call,
    /// Withdraw, for a while or until told to rejoin, and say when that is done.
    Withdraw { hold: Option<Duration>, reply: WithdrawnReply },
    /// Which node would this one hand over to: this one, or the best?
    Successor { to: Option<NodeId>, reply: oneshot::Sender<Result<NodeId, HandOverError>> },
    /// Hand over, and say whether that is possible, and when this node has withdrawn.
    HandOver {
        to: NodeId,
        reply: oneshot::Sender<Result<(), HandOverError>>,
        withdrawn: WithdrawnReply,
    },
    /// Tell all others that this node acts as the leader of a group.
    Acting(GroupNumber),
    /// Rejoin, and say when.
    Rejoin(oneshot::Sender<()>),
    /// An objection stands from here on, or stands no more.
    Object { objection: Objection, stands: bool },
    /// Pause elections in the whole group, or hold them again.
    Pause { is_on: bool },
    /// Have another priority, and say whether that is possible.
    Priority { priority: u32, reply: oneshot::Sender<Result<(), PriorityError>> },
    /// Discard everything to and from these peers, for an experiment.
    Block(Vec<NodeId>),
    /// Stop doing that.
    Unblock,
    /// Use other keys from here on.
    SetSecrets(Box<Secrets>),
    /// What do you see? Of these peers, whether they are there, is asked first.
    Inspect { probe: NodeSet, reply: oneshot::Sender<Metrics> },
    /// Ask the program of a peer.
    Ask { to: NodeId, question: Vec<u8>, reply: AnswerSlot },
    /// The questions of peers, from here on.
    Questions(oneshot::Sender<mpsc::Receiver<Question>>),
    /// The listening socket once more.
    HoldPort(oneshot::Sender<io::Result<OwnedFd>>),
    /// Send these bytes as a frame, whatever they are.
    #[cfg(test)]
    Say { to: NodeId, payload: Vec<u8> },
    /// Stop the application and leave.
    Shutdown,
}
