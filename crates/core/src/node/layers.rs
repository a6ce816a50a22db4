//! The layers of a node: where each one is kept, and how its messages and timers are wrapped.
//!
//! A layer is a [`Protocol`] of its own. [`Node::step_layer`] lets one handle an event and passes
//! on its effects; what it saves and notifies is routed by the caller. Leaves out: which notice
//! goes to which layer.

use super::{Message, Node, Timer};
use crate::detector::Detector;
use crate::election::Election;
use crate::policy::Policy;
use crate::protocol::compose::{Upward, lift};
use crate::protocol::{Context, Effects, Event, Protocol};
use crate::recall::Recall;
use crate::reorganization::Reorganization;

/// A part of a node with messages and timers of its own.
pub(super) trait Layer: Protocol {
    /// The layer of this node; none while it is absent.
    fn of(node: &mut Node) -> Option<&mut Self>;

    /// Its message as one of the node's.
    fn message(message: Self::Message) -> Message;

    /// Its timer as one of the node's.
    fn timer(timer: Self::Timer) -> Timer;
}

impl Node {
    /// Lets a layer take an event, and passes on its effects in order.
    pub(super) fn step_layer<L: Layer>(
        &mut self,
        cx: &mut Context<'_>,
        event: Event<L>,
        out: &mut Effects<Self>,
        route: impl FnMut(&mut Self, &mut Context<'_>, Upward<L>, &mut Effects<Self>),
    ) {
        let Some(layer) = L::of(self) else { return };
        let mut effects = Effects::new();
        layer.step(cx, event, &mut effects);
        self.carry(cx, effects, out, route);
    }

    /// Passes on the effects of a layer in order; `route` takes what it saves and notifies.
    pub(super) fn carry<L: Layer>(
        &mut self,
        cx: &mut Context<'_>,
        effects: Effects<L>,
        out: &mut Effects<Self>,
        mut route: impl FnMut(&mut Self, &mut Context<'_>, Upward<L>, &mut Effects<Self>),
    ) {
        let (message, timer) = (|inner| Some(L::message(inner)), |inner| Some(L::timer(inner)));
        lift(effects, out, message, timer, |upward, out| route(self, cx, upward, out));
    }
}

impl Layer for Recall {
    fn of(node: &mut Node) -> Option<&mut Self> {
        Some(&mut node.recall)
    }

    fn message(message: Self::Message) -> Message {
        Message::Recall(message)
    }

    fn timer(timer: Self::Timer) -> Timer {
        Timer::Recall(timer)
    }
}

impl Layer for Policy {
    fn of(node: &mut Node) -> Option<&mut Self> {
        Some(&mut node.policy)
    }

    fn message(message: Self::Message) -> Message {
        Message::Policy(message)
    }

    fn timer(timer: Self::Timer) -> Timer {
        Timer::Policy(timer)
    }
}

impl Layer for Detector {
    fn of(node: &mut Node) -> Option<&mut Self> {
        Some(&mut node.detector)
    }

    fn message(message: Self::Message) -> Message {
        Message::Detector(message)
    }

    fn timer(timer: Self::Timer) -> Timer {
        Timer::Detector(timer)
    }
}

impl Layer for Election {
    fn of(node: &mut Node) -> Option<&mut Self> {
        node.election.as_mut()
    }

    fn message(message: Self::Message) -> Message {
        Message::Election(message)
    }

    fn timer(timer: Self::Timer) -> Timer {
        Timer::Election(timer)
    }
}

impl Layer for Reorganization {
    fn of(node: &mut Node) -> Option<&mut Self> {
        Some(&mut node.reorganization)
    }

    fn message(message: Self::Message) -> Message {
        Message::Reorganization(message)
    }

    fn timer(timer: Self::Timer) -> Timer {
        Timer::Reorganization(timer)
    }
}
