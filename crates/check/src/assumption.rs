//! What a run may do: the assumption sets of the theory, as filters on steps.
//!
//! Leaves out AS4 (a majority and a persisted epoch): no algorithm here asks for one.

use tanist_core::NodeId;
use tanist_core::trace::{Kind, TimerName};
use tanist_sim::explore::choices::{Choice, What};

/// A set of assumptions about failures and time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Assumption {
    /// Crash-stop, reliable links, perfect timeouts: a wait runs out only when no request or answer of
    /// it is under way.
    As0,
    /// As AS0, with recovery.
    As1,
    /// As AS1, with real time: a message takes a tick at most, and a wait lasts exactly its time.
    As1r,
    /// Asynchronous: every wait may run out at any moment, messages may be lost and come twice, nodes
    /// recover.
    As2,
    /// As AS2, and from some moment on nothing more fails and nothing is late: what should come true
    /// must be reachable from everywhere by timely steps alone.
    As3,
}

/// Where the steps may come from that lead to something good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hope {
    /// From whatever may happen without a failure.
    Anything,
    /// From timely steps alone: no wait runs out early.
    Timely,
}

impl Assumption {
    /// All that there are.
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

    /// Whether nodes may come back.
    #[must_use]
    pub const fn has_recovery(self) -> bool {
        match self {
            Self::As0 => false,
            Self::As1 | Self::As1r | Self::As2 | Self::As3 => true,
        }
    }

    /// Whether messages may be lost, and come twice.
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

    /// What may be hoped for.
    #[must_use]
    pub const fn hope(self) -> Hope {
        match self {
            Self::As0 | Self::As1 | Self::As1r | Self::As2 => Hope::Anything,
            Self::As3 => Hope::Timely,
        }
    }

    /// Whether a timer of this name may run out at this node while all this is under way. Under AS1r
    /// a wait runs out when its time is up, which only a clock can say.
    #[must_use]
    pub fn lets_run_out(self, timer: TimerName, node: NodeId, under_way: &[Choice]) -> bool {
        match self {
            Self::As0 | Self::As1 => is_timely(timer, node, under_way),
            Self::As1r => timer != TimerName::Stall || is_timely(timer, node, under_way),
            Self::As2 | Self::As3 => true,
        }
    }
}

/// Whether a timer that runs out now is not early: no request or answer of its wait is under way. Who
/// waits for the election of another to end waits for everything in it.
pub(crate) fn is_timely(timer: TimerName, node: NodeId, under_way: &[Choice]) -> bool {
    if timer == TimerName::Stall {
        return !under_way.iter().any(is_of_an_election);
    }
    !is_wait(timer) || !under_way.iter().any(|choice| is_of_a_wait(choice, node, timer))
}

/// Whether something under way belongs to an election in which others were halted.
const fn is_of_an_election(choice: &Choice) -> bool {
    match choice.what {
        What::Timer(_) => false,
        What::Message { facts, .. } => {
            let is_answer = matches!(facts.kind, Kind::EeAnswer | Kind::ScAnswer | Kind::NsAnswer);
            let is_request =
                matches!(facts.kind, Kind::EnterElection | Kind::SetCoordinator | Kind::NewState);
            is_answer || is_request || goes_round(facts.kind) || matches!(facts.kind, Kind::Follow)
        }
    }
}

/// Whether a timer ends a wait for an answer; the others make a node look after something.
pub(crate) const fn is_wait(timer: TimerName) -> bool {
    match timer {
        TimerName::Answers
        | TimerName::Announcement
        | TimerName::Handover
        | TimerName::Recall
        | TimerName::Acknowledgement
        | TimerName::Follows
        | TimerName::Ring
        | TimerName::Hello
        | TimerName::Probe
        | TimerName::Vet => true,
        TimerName::Check
        | TimerName::Timeout
        | TimerName::Delay
        | TimerName::Stall
        | TimerName::Retry
        | TimerName::Announce
        | TimerName::Silence
        | TimerName::Beat
        | TimerName::Hold
        | TimerName::Quiet
        | TimerName::Remind
        | TimerName::Yield
        | TimerName::Relay
        | TimerName::Age
        | TimerName::Settle
        | TimerName::Enrol
        | TimerName::Tell => false,
    }
}

/// Whether something under way is a request that the node sent, or an answer that it will get.
fn is_of_a_wait(choice: &Choice, node: NodeId, timer: TimerName) -> bool {
    match choice.what {
        What::Timer(_) => false,
        // Whoever has just come up lets every question arrive that was asked before.
        What::Message { facts, .. }
            if timer == TimerName::Vet && facts.kind == Kind::EnterElection =>
        {
            true
        }
        // What goes round a ring concerns whoever waits for it, or for those whom it passes.
        What::Message { facts, .. } if is_of_a_ring(timer) && goes_round(facts.kind) => true,
        // Above the peer groups questions and answers are of one kind.
        What::Message { from, facts } if facts.kind == Kind::AmongSuperPeers => {
            from == node || choice.node == node
        }
        What::Message { from, facts } => {
            // In a ring the coordinator message is acknowledged, elsewhere it answers a call.
            let is_request = is_request(facts.kind)
                || (facts.kind == Kind::Coordinator && timer == TimerName::Acknowledgement);
            let is_answer = !is_request || is_awaited(facts.kind);
            // A coordinator that is invited sends the invitation on to its members.
            let is_sent_on = facts.kind == Kind::Invitation
                && facts.group.is_some_and(|group| group.node == node);
            let is_sent = (from == node && is_request) || is_sent_on;
            is_sent || (choice.node == node && is_answer)
        }
    }
}

/// Whether a timer waits for what goes round a ring.
const fn is_of_a_ring(timer: TimerName) -> bool {
    matches!(timer, TimerName::Ring | TimerName::Follows)
}

const fn goes_round(kind: Kind) -> bool {
    matches!(kind, Kind::Election | Kind::Elect | Kind::Elected | Kind::Coordinator)
}

/// Whether a request also answers another one: an acceptance an invitation, and the definition of a
/// group the acceptance.
fn is_awaited(kind: Kind) -> bool {
    kind == Kind::Accept || kind == Kind::Ready
}

fn is_request(kind: Kind) -> bool {
    match kind {
        Kind::AreYouUp
        | Kind::AreYouNormal
        | Kind::EnterElection
        | Kind::SetCoordinator
        | Kind::NewState
        | Kind::Election
        | Kind::AreYouCoordinator
        | Kind::AreYouThere
        | Kind::Invitation
        | Kind::Accept
        | Kind::Ready
        | Kind::Elected
        | Kind::Elect
        | Kind::Probe
        | Kind::Hello
        | Kind::Recall
        | Kind::Enrol => true,
        Kind::AyuAnswer
        | Kind::AynAnswer
        | Kind::EeAnswer
        | Kind::ScAnswer
        | Kind::NsAnswer
        | Kind::Answer
        | Kind::Coordinator
        | Kind::AycAnswer
        | Kind::AytAnswer
        | Kind::AcceptAnswer
        | Kind::ReadyAnswer
        | Kind::Heartbeat
        | Kind::Ack
        | Kind::Follow
        | Kind::Told
        | Kind::RecallAnswer
        | Kind::Leader
        | Kind::Reply
        | Kind::Farewell
        | Kind::Pause
        | Kind::Rank
        | Kind::AmongSuperPeers
        | Kind::Selected
        | Kind::Enrolled
        | Kind::Refer => false,
    }
}
