//! How much of the time nodes agree with their component on its leader.
//!
//! At a moment a component is a part of the network whose nodes are running and reach each other
//! over links that work both ways. It has a leader if exactly one of its nodes is Normal and its
//! own coordinator. A node agrees if its component has a leader and it is Normal under that leader.
//! Two shares follow, both exact, since nothing changes between two events:
//!
//! - of nodes: the mean over time and running nodes of "it agrees";
//! - of components, the stricter one: the mean over time and components of "all in it agree".
//!
//! Assumes nothing about the algorithm. Leaves out which node leads.

use std::time::Duration;

use tanist_core::time::micros;
use tanist_core::{NodeId, Status, Time};

use crate::observe::global_state::{GlobalState, NodeView};
use crate::studies::scale::Control;
use crate::world::World;

/// How far nodes agreed in a period of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Agreement {
    /// Microseconds that nodes were running, added up.
    nodes: u128,
    /// Those in which they agreed.
    nodes_agreed: u128,
    /// Microseconds that components existed, added up.
    components: u128,
    /// Those in which all in them agreed.
    components_agreed: u128,
    /// Microseconds observed.
    span: u128,
}

impl Agreement {
    /// The share of nodes and time.
    #[must_use]
    pub fn of_nodes(&self) -> f64 {
        ratio(self.nodes_agreed, self.nodes)
    }

    /// The share of components and time.
    #[must_use]
    pub fn of_components(&self) -> f64 {
        ratio(self.components_agreed, self.components)
    }

    /// How many components there were, on average over time.
    #[must_use]
    pub fn components_mean(&self) -> f64 {
        ratio(self.components, self.span)
    }

    /// How long the observation lasted.
    #[must_use]
    pub fn span(&self) -> Duration {
        Duration::from_micros(u64::try_from(self.span).unwrap_or(u64::MAX))
    }

    fn add(&mut self, sight: &Sight, span: Duration) {
        let span = u128::from(micros(span));
        self.span += span;
        self.nodes += span * sight.nodes as u128;
        self.nodes_agreed += span * sight.nodes_agreed as u128;
        self.components += span * sight.components.len() as u128;
        let whole = sight.components.iter().filter(|component| component.is_agreed);
        self.components_agreed += span * whole.count() as u128;
    }
}

/// One component at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Component {
    /// Its nodes, as indexes in the order of ids.
    pub nodes: Vec<usize>,
    /// The only one of them that leads.
    pub leader: Option<NodeId>,
    /// Whether all of them follow that one.
    pub is_agreed: bool,
}

/// The network at one moment.
#[derive(Clone, Debug, Default)]
struct Sight {
    components: Vec<Component>,
    nodes: usize,
    nodes_agreed: usize,
}

/// Runs a world until this time and measures how far its nodes agreed on the way. `on_second` is
/// called every simulated second, and may stop the run.
pub fn watch(world: &mut World, end: Time, on_second: &mut dyn FnMut(u64) -> Control) -> Agreement {
    let mut agreement = Agreement::default();
    let mut sight = look(world);
    let mut seen = world.observers.global.changes();
    let mut now = world.now();
    while now < end {
        let next = world.next_at().filter(|at| *at <= end);
        let upto = next.unwrap_or(end);
        if upto > now {
            if world.observers.global.changes() != seen {
                seen = world.observers.global.changes();
                sight = look(world);
            }
            agreement.add(&sight, upto.since(now));
            let second = upto.as_micros() / 1_000_000;
            let is_next = second > now.as_micros() / 1_000_000;
            now = upto;
            if is_next && on_second(second) == Control::Stop {
                break;
            }
        }
        match next {
            Some(_) => {
                world.step();
            }
            None => world.run_until(end),
        }
    }
    agreement
}

/// The components of a world at this moment, biggest first.
#[must_use]
pub fn components(world: &World) -> Vec<Component> {
    let mut components = look(world).components;
    components.sort_by_key(|component| std::cmp::Reverse(component.nodes.len()));
    components
}

fn look(world: &World) -> Sight {
    let global = &world.observers.global;
    let views = global.views();
    let runs = |at: usize| views[at].is_up && !views[at].is_paused;
    let mut sight =
        Sight { nodes: (0..views.len()).filter(|at| runs(*at)).count(), ..Sight::default() };
    let mut is_seen = vec![false; views.len()];
    for first in (0..views.len()).filter(|at| runs(*at)) {
        if std::mem::replace(&mut is_seen[first], true) {
            continue;
        }
        let mut nodes = vec![first];
        let mut done = 0;
        while let Some(at) = nodes.get(done).copied() {
            done += 1;
            for near in world.hearers(at) {
                let (a, b) = (views[at].id, views[near].id);
                if runs(near) && !is_seen[near] && global.can_talk(a, b) {
                    is_seen[near] = true;
                    nodes.push(near);
                }
            }
        }
        sight.add(global, nodes);
    }
    sight
}

impl Sight {
    fn add(&mut self, global: &GlobalState, nodes: Vec<usize>) {
        let views = global.views();
        let follows = |at: usize, leader: NodeId| {
            let NodeView { state, .. } = &views[at];
            state.status == Status::Normal && state.coordinator == Some(leader)
        };
        let mut leaders =
            nodes.iter().map(|at| (*at, views[*at].id)).filter(|(at, id)| follows(*at, *id));
        let leader = match (leaders.next(), leaders.next()) {
            (Some((_, leader)), None) => Some(leader),
            (Some(_), Some(_)) | (None, _) => None,
        };
        let agreed = |leader| nodes.iter().filter(|at| follows(**at, leader)).count();
        let agreed = leader.map_or(0, agreed);
        self.nodes_agreed += agreed;
        self.components.push(Component { is_agreed: agreed == nodes.len(), leader, nodes });
    }
}

#[expect(clippy::cast_precision_loss, reason = "a share to be printed")]
fn ratio(part: u128, whole: u128) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
