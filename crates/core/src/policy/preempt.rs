//! Whether a node of higher rank takes over from a coordinator that is established.
//!
//! In the bully and the rings the highest always wins: that is the algorithm. With `invitation` it
//! depends on which coordinator looks for the other first, so a node alone in its group can wait to
//! be found instead:
//!
//! ```text
//!   check_every          until the established coordinator looks for others
//! + check_every          if it was forming another group at that moment
//! + T                    the wait for answers to its query
//! + units and jitter     the longest delay before its merge
//! + Tm                   its invitation arrives
//! ```
//!
//! A node that was not found by then looks for others itself, as usual: no other coordinator is
//! established, or it would have found the node. A whole group that is started at once waits as
//! long.
//!
//! With [`Preempt::After`] a coordinator withdraws for a moment when a member of higher rank has
//! been in its unchanged group for the configured time. The members elect the highest of them, and
//! the old coordinator is found and merged. Each such step gives the group to a higher node, so the
//! steps end. That needs members that form a group at once when they lose their coordinator, which
//! is the default; otherwise the old coordinator would form the group first again, forever (fuzz
//! seed `invitation` 309).
//!
//! Assumes an established coordinator that can reach the node. Leaves out: two established groups,
//! which merge as usual, the higher coordinator first.

use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;
use core::time::Duration;

use super::{Policy, Presence, Timer};
use crate::duration;
use crate::election::Algorithm;
use crate::group::GroupNumber;
use crate::membership::Membership;
use crate::options::Options;
use crate::protocol::{Context, Effects};
use crate::timing::Timing;

/// Whether a node of higher rank takes over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Preempt {
    /// As in the algorithm: the highest node takes over.
    #[default]
    Always,
    /// An established coordinator keeps leading, whatever the priorities.
    Never,
    /// It keeps leading until a member of higher rank has been in its group for this long.
    After(Duration),
}

impl Preempt {
    /// Whether an established coordinator keeps leading when a node of higher rank joins.
    #[must_use]
    pub const fn is_sticky(self) -> bool {
        match self {
            Self::Always => false,
            Self::Never | Self::After(_) => true,
        }
    }

    /// How long a member of higher rank is in an unchanged group before it takes over; no time where
    /// it takes over at once or never.
    #[must_use]
    pub const fn stable_for(self) -> Duration {
        match self {
            Self::Always | Self::Never => Duration::ZERO,
            Self::After(stable) => stable,
        }
    }

    /// What a trace's header says of it.
    #[must_use]
    pub fn in_header(self) -> String {
        match self {
            Self::Always => String::new(),
            Self::Never => "never".to_string(),
            Self::After(stable) => format!("{stable:?}"),
        }
    }

    /// What a group has that does not say otherwise: the leader stays, where the algorithm allows it.
    #[must_use]
    pub fn usual(algorithm: Algorithm, options: &Options) -> Self {
        Self::Never.checked(algorithm, options).unwrap_or_default()
    }

    /// Refuses what an algorithm, or the way in which it merges, cannot do.
    pub fn checked(self, algorithm: Algorithm, options: &Options) -> Result<Self, PreemptError> {
        if self == Self::Always {
            return Ok(self);
        }
        let descriptor = algorithm.descriptor();
        let adjustable = descriptor.adjustable;
        let adjustable = adjustable.ok_or(PreemptError::HighestWins(descriptor.name))?;
        (adjustable.preempt)(options, self)?;
        Ok(self)
    }

    /// When a node that formed a group alone first looks for others.
    #[must_use]
    pub fn first_check(self, timing: &Timing, members: &Membership) -> Duration {
        match self {
            Self::Always => timing.first_check(),
            Self::Never | Self::After(_) => join_wait(timing, members),
        }
    }
}

/// As configurations and scenarios write it: `always`, `never`, or the duration.
impl fmt::Display for Preempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Always => f.write_str("always"),
            Self::Never => f.write_str("never"),
            Self::After(stable) => f.write_str(&duration::print(*stable)),
        }
    }
}

/// How long a node waits for an established coordinator to find it.
pub(crate) fn join_wait(timing: &Timing, members: &Membership) -> Duration {
    let units = u32::try_from(members.count()).unwrap_or(u32::MAX);
    let delay = timing.delay_unit().saturating_mul(units) + timing.jitter();
    timing.check_every() * 2 + timing.answer() + delay + timing.message_max()
}

/// Why a setting of `preempt` is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PreemptError {
    /// The algorithm decides which node wins.
    #[error(
        "with {0} the highest node always takes over, that is the algorithm; choose invitation, \
         bully or a ring, or set preempt to `always`"
    )]
    HighestWins(&'static str),
    /// With this merge policy only the higher coordinator merges the lower ones.
    #[error(
        "with this `policy` only the higher coordinator merges the lower ones; remove the option \
         `policy`, or set preempt to `always`"
    )]
    HigherMerges,
    /// Members that lose their coordinator do not form a group with each other at once, so a
    /// coordinator that yields would find them and lead them again, without end.
    #[error(
        "a coordinator can make room only if its members elect at once; remove the options `waits` and `reinvite`, or choose preempt `always` or `never`"
    )]
    NobodyTakesOver,
}

impl Policy {
    /// Records the group that this node coordinates although a member outranks it, if any.
    pub(super) fn note_outranked(
        &mut self,
        cx: &Context<'_>,
        group: Option<GroupNumber>,
        out: &mut Effects<Self>,
    ) {
        let Preempt::After(stable) = cx.config.preempt() else { return };
        if group == self.outranked_in || self.presence != Presence::Present {
            return;
        }
        self.outranked_in = group;
        match group {
            Some(_) => out.set_timer(Timer::Yield, stable),
            None => out.cancel_timer(Timer::Yield),
        }
    }

    /// The group has been unchanged for the configured time: the coordinator yields.
    pub(super) fn yield_leadership(&mut self, cx: &Context<'_>, out: &mut Effects<Self>) {
        match cx.config.preempt() {
            Preempt::After(stable) if self.is_paused() => out.set_timer(Timer::Yield, stable),
            Preempt::After(_) => {
                self.outranked_in = None;
                self.withdraw(cx, Some(Duration::ZERO), out);
            }
            Preempt::Always | Preempt::Never => {}
        }
    }
}
