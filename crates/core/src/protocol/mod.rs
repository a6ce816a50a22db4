//! A protocol is a box with four ports: peers, clock, disk, and the user above it.
//!
//! ```text
//!         peers  <--Message-->  +-----------+  --Save(Record)-->  disk
//!         clock  <--Timer---->  | Protocol  |
//!                               +-----------+  <--Command / Notice-->  user, or the layer above
//! ```
//!
//! Effects are carried out in order, each finished before the next begins. That gives
//! persist-before-send and stop-before-acknowledge. A step cannot fail, and does nothing slow.

pub(crate) mod compose;
mod context;

use alloc::vec::Vec;
use core::fmt::Debug;
use core::hash::Hash;
use core::time::Duration;

pub use context::Context;

use crate::membership::NodeId;

/// A state machine that communicates only through events and effects.
pub trait Protocol: Clone + Eq + Hash + Debug + Sized {
    /// The messages between peers.
    type Message: Debug;
    /// The names of this protocol's timers. Setting a name again replaces it.
    type Timer: Debug;
    /// What survives a crash.
    type Record: Debug;
    /// What the user (or the layer above) tells the protocol.
    type Command: Debug;
    /// What the protocol tells the user (or the layer above).
    type Notice: Debug;

    /// Starts or restarts, with what the disk kept, if anything.
    fn start(cx: &mut Context<'_>, saved: Option<Self::Record>, out: &mut Effects<Self>) -> Self;

    /// Handles one event and returns its effects. Cannot fail.
    fn step(&mut self, cx: &mut Context<'_>, event: Event<Self>, out: &mut Effects<Self>);
}

/// Something that happened to a protocol.
#[derive(Debug)]
pub enum Event<P: Protocol> {
    /// A peer's message arrived.
    Message {
        /// The sender; the transport vouches for it.
        from: NodeId,
        /// The message.
        message: P::Message,
    },
    /// A timer that was set, and neither replaced nor cancelled, ran out.
    Timer(P::Timer),
    /// The user or the layer above wants something.
    Command(P::Command),
}

/// Something that a protocol wants done.
#[derive(Debug)]
pub enum Effect<P: Protocol> {
    /// Hand a message to the transport. It may be lost; it never blocks.
    Send {
        /// The receiver.
        to: NodeId,
        /// The message.
        message: P::Message,
    },
    /// Broadcast a message: one transmission, received by none, some or all of the nodes in range.
    Broadcast(P::Message),
    /// Start a timer, replacing one of the same name.
    SetTimer {
        /// Its name.
        timer: P::Timer,
        /// How long it runs, by this node's clock.
        after: Duration,
    },
    /// Stop a timer if it is running.
    CancelTimer(P::Timer),
    /// Put a record on stable storage; finished only when it would survive a crash.
    Save(P::Record),
    /// Tell the user or the layer above.
    Notify(P::Notice),
}

/// The effects of one step, in the order in which they must be carried out.
#[derive(Debug)]
pub struct Effects<P: Protocol> {
    list: Vec<Effect<P>>,
}

impl<P: Protocol> Effects<P> {
    /// No effects yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { list: Vec::new() }
    }

    /// Sends a message.
    pub fn send(&mut self, to: NodeId, message: P::Message) {
        self.list.push(Effect::Send { to, message });
    }

    /// Broadcasts a message to all nodes in range.
    pub fn broadcast(&mut self, message: P::Message) {
        self.list.push(Effect::Broadcast(message));
    }

    /// Starts or replaces a timer.
    pub fn set_timer(&mut self, timer: P::Timer, after: Duration) {
        self.list.push(Effect::SetTimer { timer, after });
    }

    /// Cancels a timer.
    pub fn cancel_timer(&mut self, timer: P::Timer) {
        self.list.push(Effect::CancelTimer(timer));
    }

    /// Saves a record.
    pub fn save(&mut self, record: P::Record) {
        self.list.push(Effect::Save(record));
    }

    /// Tells the user or the layer above.
    pub fn notify(&mut self, notice: P::Notice) {
        self.list.push(Effect::Notify(notice));
    }

    /// Whether nothing is to be done.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Takes the effects out, first to last, and leaves the buffer for reuse.
    pub fn drain(&mut self) -> impl Iterator<Item = Effect<P>> + '_ {
        self.list.drain(..)
    }
}

impl<P: Protocol> Default for Effects<P> {
    fn default() -> Self {
        Self::new()
    }
}
