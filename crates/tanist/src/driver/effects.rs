//! The effects of a step, carried out in order, each finished before the next begins.

use tanist_core::node::{Command, Message, Node, Notice};
use tanist_core::trace::Event as Trace;
use tanist_core::{Effect, Effects, NodeId, NodeRecord, wire};

use super::{Driver, RESERVE_AFTER};
use crate::clock;
use crate::error::Failure;
use crate::status::PeerSign;
use crate::transport::PeerView;

impl Driver {
    /// Carries out effects in order, and what the application answers at once after them.
    pub(super) fn carry_out(&mut self, mut effects: Effects<Node>) -> Result<(), Failure> {
        let mut answers = Vec::new();
        for effect in effects.drain() {
            match effect {
                Effect::Send { to, message } => self.send(to, &message),
                Effect::Broadcast(message) => self.broadcast(&message),
                Effect::SetTimer { timer, after } => self.timers.set(timer, clock::now() + after),
                Effect::CancelTimer(timer) => self.timers.cancel(timer),
                Effect::Save(record) => self.save(record)?,
                Effect::Notify(notice) => answers.extend(self.notify(notice)?),
            }
        }
        answers.into_iter().try_for_each(|command| self.answer(command))
    }

    /// Keeps a number before it is used, and waits for the disk if it does not hold it yet. A write
    /// that failed or took too long is a crash.
    fn save(&mut self, record: NodeRecord) -> Result<(), Failure> {
        let counter = record.counter;
        self.saver.save(record)?;
        self.cap.note(counter);
        self.reserve_at = clock::now() + RESERVE_AFTER;
        self.note(|node| Trace::Save { node, counter: counter.0 });
        Ok(())
    }

    fn send(&mut self, to: NodeId, message: &Message) {
        let facts = message.facts(self.config.algorithm());
        self.metrics.sent(facts.kind);
        let payload = wire::encode(message);
        if matches!(message, Message::Detector(_)) {
            return self.network.send_datagram(to, &payload);
        }
        let id = self.name_message();
        let contents = message.contents();
        self.note(|node| Trace::Send { node, to, id, message: facts, contents });
        let ticket = self.network.send(to, id, payload);
        self.last_sent.insert(to, ticket);
    }

    /// One transmission, as far as the trace and the counts go.
    fn broadcast(&mut self, message: &Message) {
        let facts = message.facts(self.config.algorithm());
        self.metrics.sent(facts.kind);
        let id = self.name_message();
        let contents = message.contents();
        self.note(|node| Trace::Broadcast { node, id, message: facts, contents });
        let tickets = self.network.broadcast(id, &wire::encode(message));
        self.last_sent.extend(tickets);
    }

    fn name_message(&mut self) -> u64 {
        self.next_message += 1;
        self.next_message - 1
    }

    fn notify(&mut self, notice: Notice) -> Result<Option<Command>, Failure> {
        if let Some(event) = notice.event(self.me) {
            self.note(|_| event);
        }
        match notice {
            Notice::Called => self.metrics.elections += 1,
            // These change the role.
            Notice::Stop | Notice::Yield | Notice::Begin { .. } | Notice::Overdue => {
                self.note_signs();
            }
            Notice::Plan { .. }
            | Notice::Ended(_)
            | Notice::Withdrawn
            | Notice::Rejoined
            | Notice::Farewell(_)
            | Notice::Acting { .. }
            | Notice::Paused
            | Notice::Resumed => {}
        }
        Ok(self.desk.on_notice(notice)?)
    }

    /// Notes what is known of the peers at this moment, for readers of the change that follows.
    fn note_signs(&self) {
        let sign = |peer: PeerView| PeerSign {
            peer: peer.id,
            heard: peer.heard,
            is_refused: peer.is_refused,
        };
        self.desk.shared().note_signs(self.network.peers().into_iter().map(sign).collect());
    }
}
