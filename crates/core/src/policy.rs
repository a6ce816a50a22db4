//! What people want of a node beyond being elected: that it steps aside, and comes back.
//!
//! ```text
//!   Present --StepAside--> Leaving --the application has stopped, farewells out--> Aside
//!      ^                                                                             |
//!      +------------ Return, or the hold is over; T after the last farewell ---------+
//! ```
//!
//! Stepping aside is an orderly crash, and returning an orderly recovery. The node stops its
//! application first, so that nobody begins elsewhere before it has stopped here; then it tells all
//! others that it is gone, and drops its election. Whoever hears [`Message::Farewell`] takes it for
//! evidence that the sender is dead, so every algorithm does at once what it does after a crash,
//! and no algorithm knows of this layer. What still comes for the dropped election is answered with
//! another farewell.
//!
//! A node never returns earlier than T after it last said farewell: by then every farewell has
//! arrived, so none speaks of a node that is back. While it waits for that it says no more.
//!
//! Assumes messages within Tm. Where they are later, a farewell may speak of a node that is back: a
//! false suspicion, which costs an election. Leaves out: which group the others form, and keeping
//! any of this over a restart; a node that comes up takes part.

#[cfg(test)]
mod tests;

use core::time::Duration;

use minicbor::{Decode, Encode};

use crate::detector::timeout::NoRecord;
use crate::members::NodeId;
use crate::mutant::Mutant;
use crate::protocol::{Context, Effects, Event, Protocol};
use crate::trace::{Kind, MessageFacts, TimerName};

/// The layer's state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Policy {
    presence: Presence,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Presence {
    /// The node takes part.
    #[default]
    Present,
    /// It will step aside when its application has stopped.
    Leaving { hold: Option<Duration> },
    /// It takes no part.
    Aside {
        /// Whether T has passed since the last farewell.
        is_quiet: bool,
        /// Whether it only waits for that to come back.
        wants_back: bool,
    },
}

/// What nodes say to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub enum Message {
    /// The sender takes part in nothing until it is heard of again; its application has stopped.
    #[n(0)]
    Farewell,
}

impl Message {
    /// What a trace says of it.
    #[must_use]
    pub const fn facts(&self) -> MessageFacts {
        match self {
            Self::Farewell => MessageFacts { kind: Kind::Farewell, group: None, ok: None },
        }
    }
}

/// Timers, named for what they end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Timer {
    /// The time for which the node stays aside.
    Hold,
    /// T after a farewell: all of them have arrived.
    Quiet,
}

impl Timer {
    /// What a trace calls it.
    #[must_use]
    pub const fn name(self) -> TimerName {
        match self {
            Self::Hold => TimerName::Hold,
            Self::Quiet => TimerName::Quiet,
        }
    }
}

/// What this layer is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Command {
    /// The user wants the node to step aside: for this long, or until it is told to return.
    StepAside {
        /// How long; none means until [`Command::Return`].
        hold: Option<Duration>,
    },
    /// The user wants it back.
    Return,
    /// The application has stopped, and the node is leaving.
    Stopped,
    /// This peer said something to the election of a node that is aside.
    Asked(NodeId),
}

/// What this layer tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Notice {
    /// To the node: drop the election and everything that runs for it.
    Drop,
    /// To the user: the node is aside, and everybody was told.
    Aside,
    /// To the node and its user: the node takes part again.
    Returned,
    /// To the node and its user: this peer is aside.
    Farewell(NodeId),
}

impl Protocol for Policy {
    type Message = Message;
    type Timer = Timer;
    type Record = NoRecord;
    type Command = Command;
    type Notice = Notice;

    fn start(_: &mut Context<'_>, _: Option<NoRecord>, _: &mut Effects<Self>) -> Self {
        Self::default()
    }

    fn step(&mut self, cx: &mut Context<'_>, event: Event<Self>, out: &mut Effects<Self>) {
        match event {
            Event::Message { from, message: Message::Farewell } => {
                out.notify(Notice::Farewell(from));
            }
            Event::Timer(Timer::Hold) => self.come_back(cx, out),
            Event::Timer(Timer::Quiet) => self.calm_down(out),
            Event::Command(Command::StepAside { hold }) => self.step_aside(cx, hold, out),
            Event::Command(Command::Return) => self.come_back(cx, out),
            Event::Command(Command::Stopped) => self.leave(cx, out),
            Event::Command(Command::Asked(peer)) => self.refuse(cx, peer, out),
        }
    }
}

impl Policy {
    /// Whether the node waits for its application to stop, and then steps aside.
    #[must_use]
    pub const fn is_leaving(&self) -> bool {
        matches!(self.presence, Presence::Leaving { .. })
    }

    /// Whether the node takes part in nothing.
    #[must_use]
    pub const fn is_aside(&self) -> bool {
        matches!(self.presence, Presence::Aside { .. })
    }

    fn step_aside(&mut self, cx: &Context<'_>, hold: Option<Duration>, out: &mut Effects<Self>) {
        match &mut self.presence {
            Presence::Present => {
                self.presence = Presence::Leaving { hold };
                if cx.is_mutated(Mutant::FarewellBeforeStop) {
                    say_farewell(cx, out);
                }
            }
            Presence::Leaving { hold: asked } => *asked = hold,
            // Aside already: for as long as the last one who asked wants it.
            Presence::Aside { wants_back, .. } => {
                *wants_back = false;
                keep_aside(hold, out);
                out.notify(Notice::Aside);
            }
        }
    }

    fn leave(&mut self, cx: &Context<'_>, out: &mut Effects<Self>) {
        let Presence::Leaving { hold } = self.presence else { return };
        self.presence = Presence::Aside { is_quiet: false, wants_back: false };
        out.notify(Notice::Drop);
        say_farewell(cx, out);
        keep_aside(hold, out);
        out.notify(Notice::Aside);
    }

    fn refuse(&mut self, cx: &Context<'_>, peer: NodeId, out: &mut Effects<Self>) {
        match &mut self.presence {
            Presence::Aside { is_quiet, wants_back: false } => {
                *is_quiet = false;
                out.send(peer, Message::Farewell);
                out.set_timer(Timer::Quiet, cx.config.timing.answer());
            }
            // Silence, or those who keep asking would keep it from coming back.
            Presence::Aside { wants_back: true, .. } => {}
            Presence::Present | Presence::Leaving { .. } => {}
        }
    }

    fn come_back(&mut self, cx: &Context<'_>, out: &mut Effects<Self>) {
        match &mut self.presence {
            Presence::Present => {}
            // The application is stopping and must be told that it may begin: by an election.
            Presence::Leaving { hold } => *hold = Some(Duration::ZERO),
            Presence::Aside { is_quiet, wants_back } => {
                *wants_back = true;
                if *is_quiet || cx.is_mutated(Mutant::ReturnTooEarly) {
                    self.take_part(out);
                }
            }
        }
    }

    fn calm_down(&mut self, out: &mut Effects<Self>) {
        match &mut self.presence {
            Presence::Aside { wants_back: true, .. } => self.take_part(out),
            Presence::Aside { is_quiet, wants_back: false } => *is_quiet = true,
            Presence::Present | Presence::Leaving { .. } => {}
        }
    }

    fn take_part(&mut self, out: &mut Effects<Self>) {
        self.presence = Presence::Present;
        out.cancel_timer(Timer::Hold);
        out.cancel_timer(Timer::Quiet);
        out.notify(Notice::Returned);
    }
}

fn say_farewell(cx: &Context<'_>, out: &mut Effects<Policy>) {
    for other in cx.config.members.others(cx.me) {
        out.send(other, Message::Farewell);
    }
    out.set_timer(Timer::Quiet, cx.config.timing.answer());
}

fn keep_aside(hold: Option<Duration>, out: &mut Effects<Policy>) {
    match hold {
        Some(hold) => out.set_timer(Timer::Hold, hold),
        None => out.cancel_timer(Timer::Hold),
    }
}
