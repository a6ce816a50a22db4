//! The layers wired together: one node, one [`Protocol`].
//!
//! ```text
//!   user            application, CLI, HTTP, hooks
//!   (mandate)       its place is here, between the user and reorganization
//!   reorganization  stop, reports up, definition down
//!   election        which node coordinates which members
//!   detector        which peers are suspected
//!   policy          withdrawal, pauses and priorities: what operators ask for
//!   recall          group numbers that were seen; delays the election until the counter is known
//! ```
//!
//! A layer's notice is delivered at its place in the order of effects, so "stop, then answer" holds
//! across layers as well. The answer to a notice is handled when the layer that sent the notice has
//! finished its step.

mod layers;
mod pause;
mod ports;
mod priorities;
mod routing;
mod succession;
#[cfg(test)]
mod tests;
mod withdrawal;

use alloc::boxed::Box;
use alloc::collections::BTreeSet;

pub use ports::{Command, LAYERS, Message, Notice, Timer};

use crate::detector::{self, Detector};
use crate::election::{Election, EstablishedGroup, View};
use crate::group::{Counter, Status};
use crate::membership::NodeSet;
use crate::payload::Definition;
use crate::policy::{Objection, Policy, Preempt};
use crate::protocol::{Context, Effects, Event, Protocol};
use crate::recall::{self, Recall, RecallMode};
use crate::record::NodeRecord;
use crate::reorganization::Reorganization;
use crate::trace::NodeState;

/// A whole node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    recall: Recall,
    detector: Detector,
    /// None until the counter is known, and while the node is withdrawn.
    election: Option<Election>,
    reorganization: Reorganization,
    policy: Policy,
    /// The counter while the node is withdrawn, as far as it is known.
    kept: Option<Counter>,
    /// What is on stable storage.
    record: NodeRecord,
}

impl Protocol for Node {
    type Message = Message;
    type Timer = Timer;
    type Record = NodeRecord;
    type Command = Command;
    type Notice = Notice;

    fn start(cx: &mut Context<'_>, saved: Option<NodeRecord>, out: &mut Effects<Self>) -> Self {
        Self::start_objected(cx, saved, BTreeSet::new(), out)
    }

    fn step(&mut self, cx: &mut Context<'_>, event: Event<Self>, out: &mut Effects<Self>) {
        let owed = self.reorganization.owed();
        let is_limit = matches!(event, Event::Timer(Timer::Policy(crate::policy::Timer::Stop)));
        self.with_members_in_force(cx, |node, cx| node.on_event(cx, event, out));
        self.with_members_in_force(cx, |node, cx| {
            node.go_on_leaving(cx, out);
            node.limit_application(cx, owed, is_limit, out);
            node.update_lower_layers(cx, out);
        });
    }
}

impl Node {
    /// A node that starts although these objections stand: it takes no part until they are lifted.
    pub fn start_objected(
        cx: &mut Context<'_>,
        saved: Option<NodeRecord>,
        objections: BTreeSet<Objection>,
        out: &mut Effects<Self>,
    ) -> Self {
        let detector = Detector::start(cx, None, &mut Effects::new());
        let reorganization = Reorganization::start(cx, None, &mut Effects::new());
        let mut effects = Effects::new();
        let recall = Recall::start(cx, saved.as_ref().map(|record| record.counter), &mut effects);
        let mut farewells = Effects::new();
        let policy = Policy::objected(cx, objections, &mut farewells);
        let (kept, record) = (None, saved.unwrap_or_default());
        let mut node =
            Self { recall, detector, election: None, reorganization, policy, kept, record };
        node.carry(cx, effects, out, Self::route_recall);
        node.carry(cx, farewells, out, Self::route_policy);
        node.update_lower_layers(cx, out);
        node
    }

    /// A node that has been a Normal member of a group for a while.
    pub fn established(
        cx: &mut Context<'_>,
        saved: NodeRecord,
        established: &EstablishedGroup,
        definition: Definition,
        out: &mut Effects<Self>,
    ) -> Self {
        let mut effects = Effects::new();
        let election = Election::established(cx, saved.counter, established, &mut effects);
        let mut node = Self {
            recall: Recall::established(),
            detector: Detector::default(),
            election: Some(election),
            reorganization: Reorganization::established(
                definition,
                established.coordinator == cx.me,
            ),
            policy: Policy::default(),
            kept: None,
            record: saved,
        };
        node.route_election(cx, effects, out);
        node.update_lower_layers(cx, out);
        node
    }

    /// The node's defining state.
    #[must_use]
    pub fn state(&self) -> NodeState {
        let view = self.view();
        NodeState {
            status: view.status,
            coordinator: view.coordinator,
            group: view.group,
            up: view.up.clone(),
            definition: self.reorganization.definition().cloned(),
            super_peer: self.election.as_ref().and_then(Election::super_peer_status).map(Box::new),
        }
    }

    /// Whether the node's state is the given one, without building it.
    #[must_use]
    pub fn is_in(&self, state: &NodeState) -> bool {
        let view = self.view();
        view.status == state.status
            && view.coordinator == state.coordinator
            && view.group == state.group
            && *view.up == state.up
            && self.reorganization.definition() == state.definition.as_ref()
            && match &self.election {
                Some(election) => election.is_super_peer_status(state.super_peer.as_deref()),
                None => state.super_peer.is_none(),
            }
    }

    /// Saves the whole record with another counter.
    fn save_counter(&mut self, counter: Counter, out: &mut Effects<Self>) {
        self.record.counter = counter;
        out.save(self.record.clone());
    }

    /// Whether the application may accept operations.
    #[must_use]
    pub const fn is_accepting(&self) -> bool {
        self.reorganization.is_accepting()
    }

    fn view(&self) -> View<'_> {
        static NONE: NodeSet = NodeSet::new();
        let down = View { status: Status::Down, coordinator: None, group: None, up: &NONE };
        self.election.as_ref().map_or(down, Election::view)
    }

    /// After each step the lower layers get the state of the election that they need: the detector
    /// its heartbeat peers, the recall layer its group.
    fn update_lower_layers(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        let Some(election) = &self.election else { return };
        if cx.config.timing().heartbeat().is_some() {
            let peers = election.heartbeat_peers(cx);
            self.tell_detector(cx, detector::Command::HeartbeatPeers(peers), out);
        }
        if let Preempt::After(_) = cx.config.preempt() {
            self.check_outranked(cx, out);
        }
        if cx.config.recall() == RecallMode::On
            && let Some(group) = self.view().group
            && group.node != cx.me
        {
            self.tell_recall(cx, Event::Command(recall::Command::Saw(group)), out);
        }
    }
}
