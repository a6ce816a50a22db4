//! Which of two coordinators merges the other, with the policy `precedence`.
//!
//! A node that joins a working group joins it: the established coordinator invites it, and the
//! newcomer waits to be invited. When two established groups meet, priority decides, then the size
//! of the group, then the number of the node:
//!
//! ```text
//!   preempt = never, after   (leads, priority, size, node)      who leads an established group first
//!   preempt = always         (priority, node)                   the higher takes over, never the lower
//! ```
//!
//! A coordinator is established once it has formed a group with another node, or has looked for
//! others and none has answered. It stays established through the groups that it forms itself, and
//! until it accepts an invitation or restarts.
//!
//! Each coordinator tells in its query and in its answer whether it is established, and the size of
//! its group. So both know which of them takes precedence. That one merges as soon as it knows of
//! the other; the other waits for as long as [`crate::config::GroupConfig::join_wait`] says, and
//! then merges after all. That happens only if the first one cannot reach it or the two compared
//! with different sizes. A leader ignores an invitation of a coordinator over which it takes
//! precedence.

use minicbor::{Decode, Encode};

use super::{Heard, Invitation, Policy, Task, Timer};
use crate::membership::{NodeId, NodeSet};
use crate::mutant::{Mutant, mutants};
use crate::protocol::{Context, Effects};

/// What a coordinator says of itself to another one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Encode, Decode)]
pub struct Standing {
    /// The size of the established group that it coordinates, if it does.
    #[n(0)]
    pub leads: Option<u32>,
    /// Its priority; none if it does not say, and the configured one counts.
    #[n(1)]
    pub priority: Option<u32>,
}

impl Invitation {
    /// What this node says of itself, with the policy that compares it.
    pub(super) fn said(&self, cx: &Context<'_>) -> Option<Standing> {
        let is_compared = cx.config.options().invitation.policy == Policy::Precedence;
        is_compared.then(|| self.standing(cx))
    }

    /// How this node compares with others. Each node compares with what the other says, so that both
    /// come to the same result though one of them may not know of a changed priority.
    fn standing(&self, cx: &Context<'_>) -> Standing {
        let members = u32::try_from(self.up.len()).unwrap_or(u32::MAX);
        let priority = cx.members.member(cx.me).map(|member| member.priority.0);
        Standing { leads: self.leads.then(|| members.saturating_add(1)), priority }
    }

    /// Whether this node merges another coordinator, and not the other way round.
    pub(super) fn takes_precedence(
        &self,
        cx: &Context<'_>,
        other: NodeId,
        standing: Standing,
    ) -> bool {
        rank(cx, cx.me, self.standing(cx)) > rank(cx, other, standing)
    }

    /// Whether this node leads a group and takes precedence over the coordinator that invites it,
    /// which did not know of it, or not of its group. That one asks again, and is invited.
    pub(super) fn keeps_leading(
        &self,
        cx: &Context<'_>,
        inviting: NodeId,
        standing: Standing,
    ) -> bool {
        cx.config.options().invitation.policy == Policy::Precedence
            && self.coordinator == cx.me
            && self.has_group(cx)
            && self.takes_precedence(cx, inviting, standing)
            && !cx.is_mutated(Mutant::FOLLOW_INFERIOR)
    }

    /// Whether this node leads other nodes, or is established alone.
    fn has_group(&self, cx: &Context<'_>) -> bool {
        self.leads || (!self.up.is_empty() && cx.members.is_configured())
    }

    /// Another coordinator has asked: one that takes precedence need not wait for its own check.
    pub(super) fn prompted(
        &mut self,
        cx: &mut Context<'_>,
        from: NodeId,
        standing: Standing,
        out: &mut Effects<Self>,
    ) {
        if !self.takes_precedence(cx, from, standing) || cx.is_mutated(Mutant::MERGE_NOBODY) {
            return;
        }
        match &mut self.task {
            Task::Idle => {
                self.merge_inferior(
                    cx,
                    [from].into_iter().collect(),
                    standing.leads.is_some(),
                    out,
                );
            }
            Task::Checking { others, .. } | Task::Delaying { others } => {
                others.insert(from);
            }
            Task::Merging(_)
            | Task::HandingOver
            | Task::Probing
            | Task::Regrouping
            | Task::Stopping { .. }
            | Task::Accepting
            | Task::Recovering { .. } => {}
        }
    }

    /// A check with this policy is complete.
    pub(super) fn conclude_precedence(
        &mut self,
        cx: &mut Context<'_>,
        others: NodeSet,
        heard: Heard,
        out: &mut Effects<Self>,
    ) {
        match heard {
            Heard::Nothing if others.is_empty() => self.leads = cx.config.preempt().is_sticky(),
            Heard::Nothing | Heard::Answers | Heard::Superior if others.is_empty() => {}
            Heard::Nothing | Heard::Answers => self.merge_inferior(cx, others, true, out),
            Heard::Superior => self.wait_for_superior(cx, others, out),
        }
    }

    /// Merges coordinators over which this node takes precedence: newcomers at once, others after
    /// a delay, since two nodes that compared with different sizes or priorities may both believe
    /// that they take precedence, and would invite each other in lockstep.
    fn merge_inferior(
        &mut self,
        cx: &mut Context<'_>,
        others: NodeSet,
        may_lead: bool,
        out: &mut Effects<Self>,
    ) {
        if self.has_group(cx) && !may_lead {
            return self.merge(cx, &others, out);
        }
        let higher = if self.leads { 0 } else { cx.members.above(cx.me).count() };
        self.delay_merge(cx, others, higher, out);
    }

    /// Waits to be invited; after that time this node merges the others itself.
    fn wait_for_superior(
        &mut self,
        cx: &mut Context<'_>,
        others: NodeSet,
        out: &mut Effects<Self>,
    ) {
        let higher = cx.members.above(cx.me).count();
        self.task = Task::Delaying { others };
        // Nodes that wait for each other do not give up at the same time.
        let units = u32::try_from(higher).unwrap_or(u32::MAX);
        let stagger = cx.config.timing().delay_unit().saturating_mul(units);
        out.set_timer(Timer::Delay, cx.config.join_wait(cx.members) + stagger);
    }
}

/// What two coordinators compare; the greater one merges the other.
fn rank(cx: &Context<'_>, node: NodeId, standing: Standing) -> (bool, Option<u32>, u32, NodeId) {
    let known = || cx.members.member(node).map(|member| member.priority.0);
    let (leads, priority) = (standing.leads, standing.priority.or_else(known));
    if cx.config.preempt().is_sticky() && !cx.is_mutated(Mutant::IGNORE_SENIORITY) {
        (leads.is_some(), priority, leads.unwrap_or(0), node)
    } else {
        (false, priority, 0, node)
    }
}

mutants! {
    /// Precedence: an established coordinator is compared by its rank alone.
    IGNORE_SENIORITY = "ignore-seniority",
    /// Precedence: a leader accepts the invitation of a coordinator that should follow it.
    FOLLOW_INFERIOR = "follow-inferior",
}
