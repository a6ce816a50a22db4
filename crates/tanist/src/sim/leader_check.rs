//! Who acts as the leader when, and whether two nodes did at once although they must not.
//!
//! A test puts a [`LeaderCheck`] around what its leader does; the world judges it, since only the
//! world knows which nodes could reach each other. Leaves out: what a leader does without saying
//! so.

use std::collections::BTreeSet;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tanist_core::{GroupNumber, NodeId, Time};
use tanist_sim::observe::global_state::GlobalState;
use tanist_sim::observe::observers::Violated;

use crate::lead::Lead;

/// Checks that no two nodes act as the leader at once. Cheap to clone.
///
/// [`LeaderCheck::around`] a job says that it acts from its beginning to its end, and
/// [`LeaderCheck::acts`] within one when exactly. The world that the check was given to
/// ([`WorldBuilder::check`](super::WorldBuilder::check)) reports a violation in
/// [`World::violations`](super::World::violations), in the story and in the picture.
///
/// | check | two nodes that act at once are a violation |
/// |---|---|
/// | [`LeaderCheck::connected`] | if both are in one group; or if one began although it could reach the other for as long as makes a silent node suspicious, both running |
/// | [`LeaderCheck::strict`] | always |
///
/// The first is what tanist promises: across a cut each side has a leader, and both go on for a
/// moment after it is healed; so does a leader that hung while another took over. A design that
/// cannot bear that needs a resource that checks for itself, and the second check shows when.
///
/// ```
/// use std::time::Duration;
/// use tanist::sim::{Idle, LeaderCheck, World};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let check = LeaderCheck::strict();
/// let job = check.around(async |lead| lead.lost().await); // acts from its beginning to its end
/// let world = World::builder(7, 4).check(&check).while_leader(Duration::from_secs(1), job);
/// let mut world = world.start(|_| Idle)?;
/// world.run_until(|_| check.spans() == 1)?;
/// world.cut([1, 2]);
/// world.run_until(|_| check.spans() == 2)?; // a leader on each side
/// assert_eq!(world.violations().len(), 1);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct LeaderCheck {
    state: Arc<Mutex<State>>,
}

/// Acting as the leader, until it is dropped.
#[derive(Debug)]
#[must_use = "the leader acts for as long as this is held"]
pub struct ActingSpan {
    state: Arc<Mutex<State>>,
    number: u64,
}

#[derive(Debug)]
struct State {
    rule: Rule,
    open: Vec<Span>,
    /// Pairs of spans of which the second began during the first, not judged yet.
    overlaps: Vec<(Span, Span)>,
    /// Pairs that were reported, by number.
    reported: BTreeSet<(u64, u64)>,
    begun: u64,
}

#[derive(Clone, Copy, Debug)]
enum Rule {
    Strict,
    Connected,
}

#[derive(Clone, Copy, Debug)]
struct Span {
    number: u64,
    node: NodeId,
    group: GroupNumber,
}

impl LeaderCheck {
    /// Never two within what tanist promises: not in one group, and none begins while another acts
    /// that it can reach.
    #[must_use]
    pub fn connected() -> Self {
        Self::with(Rule::Connected)
    }

    /// Never two at all, also across a cut.
    #[must_use]
    pub fn strict() -> Self {
        Self::with(Rule::Strict)
    }

    fn with(rule: Rule) -> Self {
        let (open, overlaps, reported) = (Vec::new(), Vec::new(), BTreeSet::new());
        let state = State { rule, open, overlaps, reported, begun: 0 };
        Self { state: Arc::new(Mutex::new(state)) }
    }

    /// A job that acts from its beginning until it ends or is dropped.
    pub fn around<J, F>(
        &self,
        mut job: F,
    ) -> impl FnMut(Lead) -> Pin<Box<dyn Future<Output = J::Output> + Send>> + use<J, F>
    where
        J: Future + Send + 'static,
        F: FnMut(Lead) -> J,
    {
        let check = self.clone();
        move |lead| {
            let acting = check.acts(&lead);
            let job = job(lead);
            Box::pin(async move {
                let _acting = acting;
                job.await
            })
        }
    }

    /// The node of this leadership acts from here on, until what comes back is dropped. It counts
    /// as acting although its leadership may be over: that is what the check is for.
    pub fn acts(&self, lead: &Lead) -> ActingSpan {
        let mut state = lock(&self.state);
        state.begun += 1;
        let number = state.begun;
        let span = Span { number, node: lead.view().me(), group: lead.group_number() };
        let others = state.open.iter().filter(|other| other.node != span.node);
        let overlaps: Vec<(Span, Span)> = others.map(|other| (*other, span)).collect();
        state.overlaps.extend(overlaps);
        state.open.push(span);
        ActingSpan { state: Arc::clone(&self.state), number }
    }

    /// How often a node began to act so far. A test in which none did shows nothing.
    #[must_use]
    pub fn spans(&self) -> u64 {
        lock(&self.state).begun
    }

    /// The nodes that act at the moment.
    #[must_use]
    pub fn acting(&self) -> Vec<NodeId> {
        lock(&self.state).open.iter().map(|span| span.node).collect()
    }

    /// A node has crashed, and what it did with it.
    pub(super) fn crashed(&self, node: NodeId) {
        lock(&self.state).open.retain(|span| span.node != node);
    }

    /// The violations since the last call.
    pub(super) fn judge(&self, now: Time, links: &Links, in_group: InGroup<'_>) -> Vec<Violated> {
        let mut state = lock(&self.state);
        let mut found = Vec::new();
        for (first, second) in std::mem::take(&mut state.overlaps) {
            let why = match state.rule {
                Rule::Strict => Some("which must never be".to_owned()),
                Rule::Connected => links.connected_for(first.node, second.node, now).map(|span| {
                    format!("although the two had been able to reach each other for {span:?}")
                }),
            };
            found.extend(why.map(|why| (first, second, why)));
        }
        if let Rule::Connected = state.rule {
            for (at, first) in state.open.iter().enumerate() {
                for second in &state.open[at + 1..] {
                    let group =
                        in_group(first.node).filter(|one| in_group(second.node) == Some(*one));
                    let group = group.filter(|_| first.node != second.node);
                    let why = group.map(|group| format!("and both are in group {group}"));
                    found.extend(why.map(|why| (*first, *second, why)));
                }
            }
        }
        found.retain(|(first, second, _)| state.reported.insert((first.number, second.number)));
        let violated = |(first, second, why): (Span, Span, String)| {
            let why = format!(
                "{} acts as the leader of group {} while {} acts as the leader of group {}, {why}",
                second.node, second.group, first.node, first.group
            );
            let nodes = vec![first.node, second.node];
            let violation = tanist_sim::monitors::Violation { nodes, why };
            Violated { assertion: LEADER_CHECK, at: now, violation }
        };
        found.into_iter().map(violated).collect()
    }
}

/// The group that a node works in.
pub(super) type InGroup<'a> = &'a dyn Fn(NodeId) -> Option<GroupNumber>;

/// What violations of a [`LeaderCheck`] are called.
pub(super) const LEADER_CHECK: &str = "leader-check";

impl Drop for ActingSpan {
    fn drop(&mut self) {
        lock(&self.state).open.retain(|span| span.number != self.number);
    }
}

/// Since when nodes have been able to reach each other, both of them running.
pub(super) struct Links {
    count: u32,
    /// For each pair, the lower node first.
    since: Vec<Option<Time>>,
    /// How long a leader waits for a node that it cannot reach.
    patience: Duration,
}

impl Links {
    pub(super) fn new(count: u32, patience: Duration) -> Self {
        Self { count, since: vec![None; (count * count) as usize], patience }
    }

    /// Notes which links are up now. A machine that is slow answers too late to count.
    pub(super) fn note(
        &mut self,
        now: Time,
        global: &GlobalState,
        is_slow: impl Fn(NodeId) -> bool,
    ) {
        let is_well = |node: NodeId| {
            let view = global.view(node);
            view.is_some_and(|view| view.is_running && !view.is_paused) && !is_slow(node)
        };
        for (a, b) in self.pairs() {
            let at = self.index(a, b);
            let is_up = global.can_talk(a, b) && is_well(a) && is_well(b);
            self.since[at] = if is_up { Some(self.since[at].unwrap_or(now)) } else { None };
        }
    }

    /// For how long, if for long enough that each must know of the other.
    fn connected_for(&self, a: NodeId, b: NodeId, now: Time) -> Option<Duration> {
        let span = now.since(self.since[self.index(a.min(b), a.max(b))]?);
        (span >= self.patience).then_some(span)
    }

    fn pairs(&self) -> impl Iterator<Item = (NodeId, NodeId)> + use<> {
        let count = self.count;
        (1..=count).flat_map(move |a| (a + 1..=count).map(move |b| (NodeId(a), NodeId(b))))
    }

    const fn index(&self, a: NodeId, b: NodeId) -> usize {
        ((a.0 - 1) * self.count + (b.0 - 1)) as usize
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    // No holder can panic: every change above is a plain assignment.
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
