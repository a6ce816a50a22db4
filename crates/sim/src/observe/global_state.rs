//! The global state as the trace records it: what monitors read.
//!
//! Each entry of a trace leaves the world in a consistent state: at one moment of one clock,
//! nothing has been received that was not sent. So an assertion about consistent states may be
//! checked after every entry.

use std::time::Duration;

use tanist_core::trace::{Event, Kind, Link, NodeState};
use tanist_core::{GroupNumber, Membership, NodeId, NodeSet, Status, Time};

use crate::monitors::Interest;

/// What the trace says about all nodes and links.
#[derive(Clone, Debug)]
pub struct GlobalState {
    /// The configured nodes.
    pub members: Membership,
    nodes: Vec<NodeView>,
    /// For each pair of nodes; empty until a link is cut, since large networks have many pairs.
    is_cut: Vec<bool>,
    /// When the last fault happened.
    pub disturbed_at: Time,
    /// The rates of clocks that are not right, in millionths.
    rates: Vec<(NodeId, u32)>,
    cuts: usize,
    changes: u64,
    links_changed: u64,
}

/// What the trace says about one node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NodeView {
    /// Its id.
    pub id: NodeId,
    /// Whether it is up, and not withdrawn.
    pub is_up: bool,
    /// Whether its process runs: from its start to its crash, withdrawn or not.
    pub is_running: bool,
    /// Whether it is paused.
    pub is_paused: bool,
    /// Whether it takes no part, withdrawn or overdue; it does not count as up then.
    pub is_withdrawn: bool,
    /// Whether its application has not stopped in time, and it is silent until it has.
    pub is_overdue: bool,
    /// Whether it is still asking its peers for its own group numbers, and takes part in nothing
    /// yet.
    pub is_recalling: bool,
    /// Since when it has been up.
    pub started_at: Time,
    /// How often it has started: the number of its incarnations.
    pub incarnations: u32,
    /// Its defining state.
    pub state: NodeState,
    /// Whether it has recorded its state since it started.
    pub has_shown: bool,
    /// Its state before the last change, while monitors look at that change.
    pub before: Option<NodeState>,
    /// Whether its application accepts operations, drains, or has stopped.
    pub gate: Gate,
    /// How many elections of its own are in progress.
    pub elections_open: u32,
    /// The sender of the last message it received.
    pub last_heard: Option<NodeId>,
    /// The group that its application last began in.
    pub begun: Option<GroupNumber>,
    /// Whether it leads: it has begun as a coordinator, and its leadership is not over.
    pub leadership: Leadership,
}

/// How far the leadership of a node has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Leadership {
    /// It does not lead.
    None,
    /// It leads.
    Leading,
    /// It was told to yield, and has not finished.
    Yielding,
}

/// The gate of an application, as the trace records it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Gate {
    /// Operations are accepted.
    Open,
    /// None is accepted, some are still in progress.
    Stopping,
    /// Nothing runs.
    Stopped,
}

impl GlobalState {
    /// The global state in which no node is up yet.
    #[must_use]
    pub fn new(members: Membership) -> Self {
        let mut ids: Vec<NodeId> = members.all().iter().map(|member| member.id).collect();
        ids.sort_unstable();
        Self {
            members,
            nodes: ids.into_iter().map(NodeView::empty).collect(),
            is_cut: Vec::new(),
            disturbed_at: Time::ZERO,
            rates: Vec::new(),
            cuts: 0,
            changes: 0,
            links_changed: 0,
        }
    }

    /// All nodes in order of id.
    #[must_use]
    pub fn views(&self) -> &[NodeView] {
        &self.nodes
    }

    /// The nodes that are up.
    pub fn live(&self) -> impl Iterator<Item = &NodeView> + '_ {
        self.nodes.iter().filter(|view| view.is_up)
    }

    /// One node.
    #[must_use]
    pub fn view(&self, id: NodeId) -> Option<&NodeView> {
        self.position(id).map(|at| &self.nodes[at])
    }

    /// Whether the link from one node to another is up.
    #[must_use]
    pub fn hears(&self, from: NodeId, to: NodeId) -> bool {
        let (Some(from), Some(to)) = (self.position(from), self.position(to)) else { return false };
        !self.is_cut.get(from * self.nodes.len() + to).copied().unwrap_or(false)
    }

    /// How long a span of a node's own clock really takes, at the rate that it has.
    #[must_use]
    pub fn real(&self, id: NodeId, span: Duration) -> Duration {
        match self.rates.iter().find(|(node, _)| *node == id) {
            Some((_, rate_ppm)) => span.mul_f64(1e6 / f64::from(*rate_ppm)),
            None => span,
        }
    }

    /// Whether both directions between two nodes are up.
    #[must_use]
    pub fn can_talk(&self, a: NodeId, b: NodeId) -> bool {
        let (Some(a), Some(b)) = (self.position(a), self.position(b)) else { return false };
        let count = self.nodes.len();
        let is_cut = |link: usize| self.is_cut.get(link).copied().unwrap_or(false);
        !is_cut(a * count + b) && !is_cut(b * count + a)
    }

    /// The components of the graph of running nodes that can talk in both directions.
    #[must_use]
    pub fn components(&self) -> Vec<NodeSet> {
        let mut left: NodeSet =
            self.live().filter(|view| !view.is_paused).map(|view| view.id).collect();
        let mut components = Vec::new();
        while let Some(first) = left.first() {
            left.remove(first);
            let mut component: NodeSet = [first].into_iter().collect();
            let mut frontier = vec![first];
            while let Some(node) = frontier.pop() {
                let near: Vec<NodeId> =
                    left.iter().filter(|other| self.can_talk(node, *other)).collect();
                for other in near {
                    left.remove(other);
                    component.insert(other);
                    frontier.push(other);
                }
            }
            components.push(component);
        }
        components
    }

    /// Whether every node in the set can talk to every other.
    #[must_use]
    pub fn is_clique(&self, nodes: &NodeSet) -> bool {
        nodes.iter().all(|a| nodes.iter().all(|b| a == b || self.can_talk(a, b)))
    }

    /// Whether all live nodes are running and can talk to each other.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        if self.nodes.iter().any(|view| view.is_up && view.is_paused) {
            return false;
        }
        self.cuts == 0 || self.is_clique(&self.live().map(|view| view.id).collect())
    }

    /// Forgets what only the last step is judged by, so that equal global states compare equal.
    pub(crate) fn forget_step(&mut self) {
        self.nodes.iter_mut().for_each(NodeView::forget_step);
    }

    /// Restores one node view.
    pub(crate) fn put_back(&mut self, at: usize, view: &NodeView) {
        self.nodes[at].clone_from(view);
    }

    /// Counts the changes of node states and of reachability: a result computed at this number is
    /// still valid while it stays the same.
    #[must_use]
    pub const fn changes(&self) -> u64 {
        self.changes
    }

    /// How many links went down or came back, each direction counted separately.
    #[must_use]
    pub const fn links_changed(&self) -> u64 {
        self.links_changed
    }

    /// Updates the global state with an event.
    pub fn note(&mut self, at: Time, event: &Event) {
        let interest = Interest::of(event);
        self.changes += u64::from(interest.meets(Interest::STATE.and(Interest::FAULT)));
        match event {
            Event::Start { node, .. } => {
                self.disturbed_at = at;
                self.change(*node, |view| {
                    let incarnations = view.incarnations + 1;
                    *view = NodeView {
                        is_up: true,
                        is_running: true,
                        started_at: at,
                        incarnations,
                        ..NodeView::empty(view.id)
                    };
                });
            }
            Event::Crash { node } => {
                self.disturbed_at = at;
                self.change(*node, |view| {
                    *view =
                        NodeView { incarnations: view.incarnations, ..NodeView::empty(view.id) };
                });
            }
            Event::Pause { node } => {
                self.disturbed_at = at;
                self.change(*node, |view| view.is_paused = true);
            }
            Event::Resume { node } => {
                self.disturbed_at = at;
                self.change(*node, |view| view.is_paused = false);
            }
            // An orderly crash; the node recorded its state just before.
            Event::Withdraw { node } => {
                self.disturbed_at = at;
                self.change(*node, |view| {
                    let (incarnations, state, has_shown) =
                        (view.incarnations, view.state.clone(), view.has_shown);
                    let is_running = view.is_running;
                    *view = NodeView {
                        is_running,
                        is_withdrawn: true,
                        incarnations,
                        state,
                        has_shown,
                        ..NodeView::empty(view.id)
                    };
                });
            }
            // As a crash to the others, except that its application may still work.
            Event::Overdue { node } => {
                self.disturbed_at = at;
                self.change(*node, |view| {
                    (view.is_up, view.is_withdrawn, view.is_overdue) = (false, true, true);
                    view.elections_open = 0;
                });
            }
            Event::Clock { node, rate_ppm } => {
                self.rates.retain(|(id, _)| id != node);
                self.rates.push((*node, *rate_ppm));
            }
            Event::Rejoin { node } => {
                self.disturbed_at = at;
                self.change(*node, |view| {
                    (view.is_up, view.is_withdrawn, view.started_at) = (true, false, at);
                    view.incarnations += 1;
                });
            }
            Event::State { node, state } => self.change(*node, |view| {
                let before = std::mem::replace(&mut view.state, state.clone());
                view.before = view.has_shown.then_some(before);
                view.has_shown = true;
            }),
            Event::Call { node } => self.change(*node, |view| {
                view.elections_open += 1;
                view.is_recalling = false;
            }),
            Event::Send { node, message, .. } | Event::Broadcast { node, message, .. } => {
                if message.kind == Kind::Recall {
                    self.change(*node, |view| view.is_recalling = true);
                }
            }
            Event::End { node, .. } => self.change(*node, |view| view.elections_open = 0),
            Event::Stop { node } => self.change(*node, |view| view.gate = Gate::Stopping),
            Event::Yield { node } => self.change(*node, |view| {
                view.gate = Gate::Stopping;
                view.leadership = Leadership::Yielding;
            }),
            Event::Stopped { node } => self.change(*node, |view| {
                view.gate = Gate::Stopped;
                if view.leadership == Leadership::Yielding {
                    view.leadership = Leadership::None;
                }
            }),
            Event::Begin { node, group } => self.change(*node, |view| {
                view.gate = Gate::Open;
                view.begun = Some(*group);
                if group.node == *node {
                    view.leadership = Leadership::Leading;
                }
            }),
            Event::Receive { node, from, .. } => {
                self.change(*node, |view| view.last_heard = Some(*from));
            }
            Event::Cut { links } => self.set_cut(at, links, true),
            Event::Heal { links } => self.set_cut(at, links, false),
            Event::Lose { .. }
            | Event::Timer { .. }
            | Event::Save { .. }
            | Event::Plan { .. }
            | Event::Violation { .. } => {}
        }
    }

    fn set_cut(&mut self, at: Time, links: &[Link], is_cut: bool) {
        self.disturbed_at = at;
        let count = self.nodes.len();
        self.is_cut.resize(count * count, false);
        for link in links {
            if let (Some(from), Some(to)) = (self.position(link.from), self.position(link.to)) {
                self.links_changed += 1;
                let was_cut = std::mem::replace(&mut self.is_cut[from * count + to], is_cut);
                // Counted incrementally: in a radio network of hundreds of nodes links change all
                // the time.
                self.cuts = self.cuts + usize::from(is_cut) - usize::from(was_cut);
            }
        }
    }

    fn change(&mut self, id: NodeId, change: impl FnOnce(&mut NodeView)) {
        if let Some(at) = self.position(id) {
            change(&mut self.nodes[at]);
        }
    }

    fn position(&self, id: NodeId) -> Option<usize> {
        // Most worlds number their nodes from 1.
        let guess = (id.0 as usize).wrapping_sub(1);
        if self.nodes.get(guess).is_some_and(|view| view.id == id) {
            return Some(guess);
        }
        self.nodes.binary_search_by_key(&id, |view| view.id).ok()
    }
}

impl NodeView {
    /// Its status before the last change.
    #[must_use]
    pub fn was(&self) -> Status {
        self.before.as_ref().map_or(Status::Down, |before| before.status)
    }

    /// Forgets what only the last step is judged by: the last sender, the state before, and when
    /// the node started.
    pub(crate) fn forget_step(&mut self) {
        (self.last_heard, self.before, self.started_at) = (None, None, Time::ZERO);
    }

    fn empty(id: NodeId) -> Self {
        Self {
            id,
            is_up: false,
            is_running: false,
            is_paused: false,
            is_withdrawn: false,
            is_overdue: false,
            is_recalling: false,
            started_at: Time::ZERO,
            incarnations: 0,
            state: NodeState {
                status: Status::Down,
                coordinator: None,
                group: None,
                up: NodeSet::new(),
                definition: None,
                super_peer: None,
            },
            has_shown: false,
            before: None,
            gate: Gate::Stopped,
            elections_open: 0,
            last_heard: None,
            begun: None,
            leadership: Leadership::None,
        }
    }
}
