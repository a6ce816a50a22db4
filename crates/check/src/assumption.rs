//! What a run may do: the assumption sets of the theory, as filters on steps.
//!
//! Leaves out AS4 (a majority and a persisted group number): no algorithm here needs them.

use tanist_core::NodeId;
use tanist_core::election::descriptor::TimerInfo;
use tanist_core::trace::{MessageFacts, TimerName};
use tanist_sim::explore::choices::{Choice, What};

/// A set of assumptions about failures and time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Assumption {
    /// Crash-stop, reliable links, perfect timeouts: a wait times out only when no request or
    /// answer of it is in flight.
    As0,
    /// As AS0, with recovery.
    As1,
    /// As AS1, with real time: a message takes a tick at most, and a wait lasts exactly its time.
    As1r,
    /// Asynchronous: every wait may time out at any time, messages may be lost and duplicated,
    /// nodes recover.
    As2,
    /// As AS2, and after some time nothing fails and nothing is late: a good state must be
    /// reachable from every state by timely steps alone.
    As3,
}

/// Which steps a path to a good state may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reachability {
    /// Any step that is not a failure.
    AnyStep,
    /// Timely steps alone: no wait times out early.
    TimelySteps,
}

impl Assumption {
    /// All assumption sets, weakest failures first.
    pub const ALL: &'static [Self] = &[Self::As0, Self::As1, Self::As1r, Self::As2, Self::As3];

    /// The name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::As0 => "AS0",
            Self::As1 => "AS1",
            Self::As1r => "AS1r",
            Self::As2 => "AS2",
            Self::As3 => "AS3",
        }
    }

    /// The assumption set of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|known| known.name().eq_ignore_ascii_case(name))
    }

    /// Whether crashed nodes may recover.
    #[must_use]
    pub const fn has_recovery(self) -> bool {
        match self {
            Self::As0 => false,
            Self::As1 | Self::As1r | Self::As2 | Self::As3 => true,
        }
    }

    /// Whether messages may be lost, and duplicated.
    #[must_use]
    pub const fn has_loss(self) -> bool {
        match self {
            Self::As0 | Self::As1 | Self::As1r => false,
            Self::As2 | Self::As3 => true,
        }
    }

    /// Whether time passes in ticks.
    #[must_use]
    pub const fn has_clock(self) -> bool {
        match self {
            Self::As0 | Self::As1 | Self::As2 | Self::As3 => false,
            Self::As1r => true,
        }
    }

    /// Which steps a path to a good state may use.
    #[must_use]
    pub const fn reachability(self) -> Reachability {
        match self {
            Self::As0 | Self::As1 | Self::As1r | Self::As2 => Reachability::AnyStep,
            Self::As3 => Reachability::TimelySteps,
        }
    }

    /// Whether a timer of this name may fire at this node while these messages are in flight. Under
    /// AS1r a wait times out when its time is up, which only a clock can tell.
    #[must_use]
    pub fn lets_run_out(self, timer: TimerName, node: NodeId, in_flight: &[Choice]) -> bool {
        match self {
            Self::As0 | Self::As1 => is_timely(timer, node, in_flight),
            Self::As1r => {
                let info = timer.info();
                info.is_wait || info.blocked_by.is_empty() || is_timely(timer, node, in_flight)
            }
            Self::As2 | Self::As3 => true,
        }
    }
}

/// Whether a timer that fires in this state is not early: no message that blocks it is in flight,
/// nor a request or answer of its wait.
pub(crate) fn is_timely(timer: TimerName, node: NodeId, in_flight: &[Choice]) -> bool {
    let info = timer.info();
    let is_free = !info.is_wait && info.blocked_by.is_empty();
    is_free || !in_flight.iter().any(|choice| holds_back(choice, node, info))
}

/// Whether a message in flight holds back a timer of this node.
fn holds_back(choice: &Choice, node: NodeId, timer: &TimerInfo) -> bool {
    match choice.what {
        What::Timer(_) => false,
        What::Message { facts, .. } if timer.blocked_by.contains(&facts.kind) => true,
        What::Message { from, facts } => {
            timer.is_wait && is_of_a_wait(choice.node, from, facts, node, timer)
        }
    }
}

/// Whether a message is a request that the node sent, or an answer to it.
fn is_of_a_wait(
    to: NodeId,
    from: NodeId,
    facts: MessageFacts,
    node: NodeId,
    timer: &TimerInfo,
) -> bool {
    let message = facts.kind.info();
    let is_request = message.is_request || timer.also_requests.contains(&facts.kind);
    // A request that is awaited as well answers another one.
    let is_answer = !is_request || (message.is_request && message.is_awaited);
    let is_sent_on = message.is_forwarded && facts.group.is_some_and(|group| group.node == node);
    (from == node && is_request) || is_sent_on || (to == node && is_answer)
}
