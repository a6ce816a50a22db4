//! Which nodes are in reach of each other: all, those with given links, or those in radio range.
//!
//! A radio transmission is received by every node in range; a message to one node arrives only if
//! that node is in range. Where nodes move, positions are sampled once per time step, so that links
//! come and go at whole steps. The trace records them as `heal` and `cut`, so a reader of the trace
//! knows the components at each moment. Transmissions do not collide.

use std::time::Duration;

use tanist_core::trace::Link;
use tanist_core::{NodeId, Time};

use crate::world::dice::SeededDice;
use crate::world::places::{self, Layout, Position};
use crate::world::walking::{Mobility, Walker};

/// Which nodes can be in reach of each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Topology {
    /// All of them.
    #[default]
    Whole,
    /// Those that these links join, in both directions.
    Links(Vec<(NodeId, NodeId)>),
    /// Those in radio range.
    Radio(RadioConfig),
}

impl Topology {
    /// Whether nodes can be out of reach by position: then transmissions and receptions differ.
    #[must_use]
    pub const fn is_radio(&self) -> bool {
        match self {
            Self::Whole => false,
            Self::Links(_) | Self::Radio(_) => true,
        }
    }
}

/// A radio on a plane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RadioConfig {
    /// Its range, in decimetres.
    pub range: u32,
    /// Loss within the range.
    pub fading: Fading,
    /// Where nodes are in the beginning.
    pub layout: Layout,
    /// How they move by themselves, if they do.
    pub mobility: Option<Mobility>,
    /// How often their positions are sampled.
    pub step: Duration,
}

/// How many messages are lost by distance, besides those that the network loses anyway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fading {
    /// The same share at every distance within the range, in millionths.
    Flat(u32),
    /// None up to [`SURE`] of the range, then more with the square of the distance, and all of them
    /// at the range.
    Distance,
}

/// Up to which part of the range nothing is lost, in percent.
pub const SURE: u32 = 80;

impl Fading {
    fn loss_ppm(self, distance_squared: u64, range: u32) -> u32 {
        match self {
            Self::Flat(ppm) => ppm,
            Self::Distance => {
                let end = u64::from(range) * u64::from(range);
                let sure = end * u64::from(SURE * SURE) / 10_000;
                let beyond = distance_squared.saturating_sub(sure);
                let ppm = u128::from(beyond) * 1_000_000 / u128::from((end - sure).max(1));
                u32::try_from(ppm).unwrap_or(u32::MAX).min(1_000_000)
            }
        }
    }
}

/// Which nodes are in reach of each other at the moment.
#[derive(Clone, Debug)]
pub(crate) struct Reach {
    ids: Vec<NodeId>,
    /// For each node those in reach, in order.
    neighbours: Vec<Vec<usize>>,
    air: Option<Air>,
}

/// The positions of the nodes, and their range.
#[derive(Clone, Debug)]
struct Air {
    range: u32,
    fading: Fading,
    positions: Vec<Position>,
    walkers: Vec<Walker>,
    step: Duration,
    until: Option<Time>,
}

/// Links that came and went, each direction separately.
#[derive(Default)]
pub(crate) struct Shift {
    pub(crate) came: Vec<Link>,
    pub(crate) went: Vec<Link>,
}

impl Reach {
    /// None where all nodes are in reach of each other. The ids are sorted.
    pub(crate) fn new(topology: &Topology, ids: Vec<NodeId>, seed: u64) -> Option<Self> {
        match topology {
            Topology::Whole => None,
            Topology::Links(links) => {
                Some(Self { neighbours: joined(&ids, links), ids, air: None })
            }
            Topology::Radio(config) => {
                // Positions and movements have their own sequence: for one seed they are the same
                // with every protocol.
                let seed = seed ^ 0x0072_6164_696f;
                let positions = config.layout.positions(&ids, &mut SeededDice::new(seed));
                let walkers = ids.iter().zip(&positions);
                let walkers =
                    walkers.map(|(id, here)| Walker::new(*here, *id, config.mobility, seed));
                let until = config.mobility.and_then(|mobility| mobility.until);
                let air = Air {
                    range: config.range,
                    fading: config.fading,
                    walkers: walkers.collect(),
                    step: config.step,
                    until: until.map(|until| Time::ZERO + until),
                    positions,
                };
                let neighbours = places::neighbours(&air.positions, air.range);
                Some(Self { ids, neighbours, air: Some(air) })
            }
        }
    }

    pub(crate) fn neighbours(&self, of: usize) -> &[usize] {
        &self.neighbours[of]
    }

    pub(crate) fn contains(&self, from: usize, to: usize) -> bool {
        self.neighbours[from].binary_search(&to).is_ok()
    }

    /// The loss between two nodes by their distance, in millionths.
    pub(crate) fn loss_ppm(&self, from: usize, to: usize) -> u32 {
        self.air.as_ref().map_or(0, |air| {
            let distance = air.positions[from].distance_squared(air.positions[to]);
            air.fading.loss_ppm(distance, air.range)
        })
    }

    /// Nothing is lost within the range from here on.
    pub(crate) fn calm(&mut self) {
        if let Some(air) = &mut self.air {
            air.fading = Fading::Flat(0);
        }
    }

    /// Every link that is out of reach.
    pub(crate) fn missing(&self) -> Vec<Link> {
        let count = self.ids.len();
        let all = (0..count).flat_map(|from| (0..count).map(move |to| (from, to)));
        all.filter(|(from, to)| from != to && !self.contains(*from, *to))
            .map(|(from, to)| self.link(from, to))
            .collect()
    }

    /// The positions of the nodes, if they have any.
    pub(crate) fn positions(&self) -> Option<&[Position]> {
        self.air.as_ref().map(|air| air.positions.as_slice())
    }

    /// Moves a node there.
    pub(crate) fn go(&mut self, now: Time, node: usize, to: Position, over: Duration) {
        if let Some(air) = &mut self.air {
            air.walkers[node].go(now, to, over);
        }
    }

    /// How long until positions must be sampled again; none if no node moves.
    pub(crate) fn next_look(&self, now: Time) -> Option<Duration> {
        let air = self.air.as_ref()?;
        air.walkers.iter().any(|walker| walker.is_moving(now)).then_some(air.step)
    }

    /// Samples the positions of all nodes.
    pub(crate) fn look(&mut self, now: Time) -> Shift {
        let Some(air) = &mut self.air else { return Shift::default() };
        if air.until.take_if(|until| *until <= now).is_some() {
            air.walkers.iter_mut().for_each(|walker| walker.halt(now));
        }
        for (walker, place) in air.walkers.iter_mut().zip(&mut air.positions) {
            *place = walker.position(now);
        }
        let near = places::neighbours(&air.positions, air.range);
        let before = std::mem::replace(&mut self.neighbours, near);
        let mut shift = Shift::default();
        for (from, (old, new)) in before.iter().zip(&self.neighbours).enumerate() {
            if old == new {
                continue;
            }
            let gone = old.iter().filter(|to| new.binary_search(to).is_err());
            shift.went.extend(gone.map(|to| self.link(from, *to)));
            let come = new.iter().filter(|to| old.binary_search(to).is_err());
            shift.came.extend(come.map(|to| self.link(from, *to)));
        }
        shift
    }

    fn link(&self, from: usize, to: usize) -> Link {
        Link { from: self.ids[from], to: self.ids[to] }
    }
}

fn joined(ids: &[NodeId], links: &[(NodeId, NodeId)]) -> Vec<Vec<usize>> {
    let mut neighbours = vec![Vec::new(); ids.len()];
    for (a, b) in links {
        if let (Ok(a), Ok(b)) = (ids.binary_search(a), ids.binary_search(b)) {
            neighbours[a].push(b);
            neighbours[b].push(a);
        }
    }
    for near in &mut neighbours {
        near.sort_unstable();
        near.dedup();
    }
    neighbours
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::places::Area;

    fn ids(count: u32) -> Vec<NodeId> {
        (1..=count).map(NodeId).collect()
    }

    fn row(count: u32, mobility: Option<Mobility>) -> Reach {
        let config = RadioConfig {
            range: 1000,
            fading: Fading::Distance,
            layout: Layout::Line(900),
            mobility,
            step: Duration::from_millis(100),
        };
        Reach::new(&Topology::Radio(config), ids(count), 1).expect("a radio has a reach")
    }

    #[test]
    fn what_is_lost_grows_from_nothing_to_everything_at_the_range() {
        let loss = |distance: u64| Fading::Distance.loss_ppm(distance * distance, 1000);
        assert_eq!(loss(0), 0);
        assert_eq!(loss(800), 0);
        assert_eq!(loss(900), 472_222);
        assert_eq!(loss(1000), 1_000_000);
        assert!((800..1000).all(|distance| loss(distance) <= loss(distance + 1)));
    }

    #[test]
    fn a_node_that_walks_past_a_row_gains_and_loses_links_one_by_one() {
        let mut reach = row(3, None);
        assert_eq!(reach.neighbours(0), [1]);
        reach.go(Time::ZERO, 0, Position { x: 4000, y: 100 }, Duration::from_secs(4));
        let (mut now, mut told) = (Time::ZERO, Vec::new());
        while let Some(step) = reach.next_look(now) {
            now = now + step;
            let shift = reach.look(now);
            for (word, links) in [("-", shift.went), ("+", shift.came)] {
                let own = links.iter().filter(|link| link.from == NodeId(1));
                told.extend(own.map(|link| format!("{word}{}", link.to)));
                assert_eq!(links.len() % 2, 0, "both directions come and go together");
            }
        }
        assert_eq!(told, ["+n3", "-n2", "-n3"]);
        assert!(reach.neighbours(0).is_empty());
    }

    #[test]
    fn roaming_nodes_stand_still_when_their_time_is_over() {
        let mobility = Mobility {
            area: Area { width: 5000, height: 5000 },
            speed_min: 100,
            speed_max: 200,
            pause_min: Duration::ZERO,
            pause_max: Duration::ZERO,
            until: Some(Duration::from_secs(3)),
        };
        let mut reach = row(4, Some(mobility));
        let (mut now, mut looks) = (Time::ZERO, 0);
        while let Some(step) = reach.next_look(now) {
            now = now + step;
            reach.look(now);
            looks += 1;
            assert!(looks <= 30, "still moving at {now}");
        }
        assert_eq!(looks, 30);
    }

    #[test]
    fn links_join_both_ways_and_nobody_else() {
        let links = Topology::Links(vec![(NodeId(3), NodeId(1)), (NodeId(1), NodeId(2))]);
        let reach = Reach::new(&links, ids(3), 1).expect("links have a reach");
        assert_eq!(reach.neighbours(0), [1, 2]);
        let missing = reach.missing();
        assert_eq!(missing, [(2, 3), (3, 2)].map(|(a, b)| Link { from: NodeId(a), to: NodeId(b) }));
    }
}
