//! What the rest of the program asks of the node, and what its application answers.

use tanist_core::node::Command;
use tanist_core::policy::{HandOverError, PriorityError};
use tanist_core::trace::Event as Trace;
use tanist_core::{Event, NodeId};
use tokio::sync::oneshot;

use super::{Driver, Request};
use crate::error::Failure;

impl Driver {
    pub(super) fn on_request(&mut self, request: Request) -> Result<(), Failure> {
        let command = match request {
            Request::GuardsDropped { drain } => self.application.guards_dropped(drain),
            Request::Answered(answer) => self.application.answered(answer)?,
            Request::Call => Some(Command::Call),
            Request::Withdraw { hold, reply } => {
                self.withdrawing.push(reply);
                Some(Command::Withdraw { hold })
            }
            Request::Successor { to, reply } => {
                // The requester may be gone.
                let _ = reply.send(self.successor(to));
                None
            }
            Request::HandOver { to, reply, withdrawn } => {
                let checked = self.successor(Some(to)).map(|_| ());
                // The requester may be gone.
                let _ = reply.send(checked);
                if checked.is_err() {
                    return Ok(());
                }
                self.withdrawing.push(withdrawn);
                Some(Command::HandOver { to })
            }
            Request::Acting(group) => {
                self.note_acting(self.me, group);
                Some(Command::Acting(group))
            }
            Request::Rejoin(reply) => {
                if self.node.takes_part() {
                    // The requester may be gone.
                    let _ = reply.send(());
                    return Ok(());
                }
                self.rejoining.push(reply);
                Some(Command::Rejoin)
            }
            Request::Object { objection, stands: true } => Some(Command::Object(objection)),
            Request::Object { objection, stands: false } => Some(Command::Lift(objection)),
            Request::Priority { priority, reply } => return self.rank(priority, reply),
            Request::Pause { is_on: true } => Some(Command::Pause),
            Request::Pause { is_on: false } => Some(Command::Resume),
            Request::Block(peers) => {
                self.network.block(&peers);
                None
            }
            Request::Unblock => {
                self.network.unblock_all();
                None
            }
            Request::SetSecrets(secrets) => {
                self.network.set_secrets(*secrets);
                None
            }
            Request::Inspect { probe, reply } => {
                for peer in probe.iter() {
                    let ticket = self.network.probe(peer);
                    self.last_sent.insert(peer, ticket);
                }
                // The requester may be gone.
                let reserved = self.saver.reserved();
                let _ = reply.send(self.metrics.read(&self.network, reserved));
                None
            }
            Request::Ask { to, question, reply } => {
                self.network.ask(to, &question, reply);
                None
            }
            Request::Questions(reply) => {
                // The requester may be gone.
                let _ = reply.send(self.network.questions());
                None
            }
            Request::HoldPort(reply) => {
                let _ = reply.send(self.network.hold_port());
                None
            }
            #[cfg(test)]
            Request::Say { to, payload } => {
                self.network.send(to, 0, payload);
                None
            }
            Request::Shutdown => None,
        };
        command.map_or(Ok(()), |command| self.answer(command))
    }

    fn successor(&self, to: Option<NodeId>) -> Result<NodeId, HandOverError> {
        self.node.successor(self.me, &self.config, &self.members, to)
    }

    fn rank(
        &mut self,
        priority: u32,
        reply: oneshot::Sender<Result<(), PriorityError>>,
    ) -> Result<(), Failure> {
        let checked = PriorityError::check(&self.config);
        if checked.is_ok() {
            self.step(Event::Command(Command::SetPriority(priority)))?;
            self.inbox.control.set_priority(self.node.priority(self.me));
        }
        // The requester may be gone.
        let _ = reply.send(checked);
        Ok(())
    }

    /// The application has come back.
    pub(super) fn answer(&mut self, command: Command) -> Result<(), Failure> {
        if matches!(command, Command::Stopped(_)) {
            self.note(|node| Trace::Stopped { node });
        }
        self.step(Event::Command(command))
    }
}
