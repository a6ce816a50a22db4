//! What the rest of the program asks of the node, and what its application answers.

use tanist_core::Event;
use tanist_core::node::Command;
use tanist_core::trace::Event as Trace;

use super::desk::{Behind, Handled};
use super::{Driver, Request};
use crate::error::Failure;

impl Driver {
    pub(super) fn on_request(&mut self, request: Request) -> Result<(), Failure> {
        let behind = Behind { node: &self.node, config: &self.config, members: &self.members };
        match self.desk.on_request(request, behind)? {
            Handled::Here(command) => command.map_or(Ok(()), |command| self.answer(command)),
            Handled::ByOwner(request) => {
                self.on_network_request(request);
                Ok(())
            }
        }
    }

    /// What is asked of the network, the keys or the counters.
    fn on_network_request(&mut self, request: Request) {
        match request {
            Request::Block(peers) => {
                self.network.block(&peers);
            }
            Request::Unblock => {
                self.network.unblock_all();
            }
            Request::SetSecrets(secrets) => {
                self.network.set_secrets(*secrets);
            }
            Request::Inspect { probe, reply } => {
                for peer in probe.iter() {
                    let ticket = self.network.probe(peer);
                    self.last_sent.insert(peer, ticket);
                }
                // The requester may be gone.
                let reserved = self.saver.reserved();
                let _ = reply.send(self.metrics.read(&self.network, reserved));
            }
            Request::Ask { to, question, reply } => {
                self.network.ask(to, &question, reply);
            }
            Request::Questions(reply) => {
                // The requester may be gone.
                let _ = reply.send(self.network.questions());
            }
            Request::HoldPort(reply) => {
                let _ = reply.send(self.network.hold_port());
            }
            #[cfg(test)]
            Request::Say { to, payload } => {
                self.network.send(to, 0, payload);
            }
            // The driver's own loop looks for the end; the desk carries out all others.
            Request::Shutdown
            | Request::GuardsDropped
            | Request::Answered(_)
            | Request::Call
            | Request::Withdraw { .. }
            | Request::Successor { .. }
            | Request::HandOver { .. }
            | Request::Acting(_)
            | Request::Rejoin(_)
            | Request::Object { .. }
            | Request::Priority { .. }
            | Request::Pause { .. } => {}
        }
    }

    /// The application has come back.
    pub(super) fn answer(&mut self, command: Command) -> Result<(), Failure> {
        if matches!(command, Command::Stopped(_)) {
            self.note(|node| Trace::Stopped { node });
        }
        self.step(Event::Command(command))
    }
}
