//! Nodes that move: by a script, or by the random waypoint model.
//!
//! Random waypoint: a node moves in a straight line to a position drawn from the area, at a speed
//! drawn for the way, rests, and draws again. Each node draws from its own sequence, so that it
//! takes the same ways whatever the protocol does and whichever other nodes take part.

use std::time::Duration;

use tanist_core::time::micros;
use tanist_core::{NodeId, Time};

use crate::world::dice::SeededDice;
use crate::world::places::{Area, Position};

/// How nodes move by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mobility {
    /// The area they stay in.
    pub area: Area,
    /// At least this fast, in decimetres per second; never 0, or they would end up standing.
    pub speed_min: u32,
    /// At most this fast.
    pub speed_max: u32,
    /// They rest at least this long at the end of a way.
    pub pause_min: Duration,
    /// At most this long.
    pub pause_max: Duration,
    /// When all nodes stop moving; never, if not given.
    pub until: Option<Duration>,
}

/// A node on its way.
#[derive(Clone, Debug)]
pub(crate) struct Walker {
    leg: Leg,
    /// How the next way is drawn; none if the node stays where its last way ends.
    roams: Option<Roaming>,
}

/// One straight way.
#[derive(Clone, Copy, Debug)]
struct Leg {
    from: Position,
    to: Position,
    begins: Time,
    ends: Time,
}

#[derive(Clone, Debug)]
struct Roaming {
    mobility: Mobility,
    dice: SeededDice,
    /// When the node moves again.
    leaves: Time,
}

impl Walker {
    /// A node at this position, which roams from there if mobility is given.
    pub(crate) fn new(here: Position, id: NodeId, mobility: Option<Mobility>, seed: u64) -> Self {
        let leg = Leg { from: here, to: here, begins: Time::ZERO, ends: Time::ZERO };
        let roams = mobility.map(|mobility| {
            let own = u64::from(id.0).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            Roaming { mobility, dice: SeededDice::new(seed ^ own), leaves: Time::ZERO }
        });
        Self { leg, roams }
    }

    /// Its position at this time; time must not go back.
    pub(crate) fn position(&mut self, now: Time) -> Position {
        if let Some(roaming) = &mut self.roams {
            while roaming.leaves <= now {
                self.leg = roaming.draw(self.leg.to);
            }
        }
        self.leg.position(now)
    }

    /// Moves it there, whatever its way was before.
    pub(crate) fn go(&mut self, now: Time, to: Position, over: Duration) {
        let from = self.position(now);
        self.leg = Leg { from, to, begins: now, ends: now + over };
        if let Some(roaming) = &mut self.roams {
            roaming.leaves = self.leg.ends + roaming.pause();
        }
    }

    /// Stops it where it is.
    pub(crate) fn halt(&mut self, now: Time) {
        let here = self.position(now);
        self.leg = Leg { from: here, to: here, begins: now, ends: now };
        self.roams = None;
    }

    /// Whether its position changes after this time.
    pub(crate) fn is_moving(&self, now: Time) -> bool {
        self.roams.is_some() || self.leg.ends > now
    }
}

impl Leg {
    fn position(&self, now: Time) -> Position {
        if now >= self.ends {
            return self.to;
        }
        let gone = i128::from(micros(now.since(self.begins)));
        let whole = i128::from(micros(self.ends.since(self.begins)).max(1));
        let part = |from: i64, to: i64| {
            let done = i128::from(to - from) * gone / whole;
            from + i64::try_from(done).unwrap_or(0)
        };
        Position { x: part(self.from.x, self.to.x), y: part(self.from.y, self.to.y) }
    }
}

impl Roaming {
    fn draw(&mut self, from: Position) -> Leg {
        let to = self.mobility.area.draw(&mut self.dice);
        let Mobility { speed_min, speed_max, .. } = self.mobility;
        let spread = u64::from(speed_max.saturating_sub(speed_min)) + 1;
        let speed = (u64::from(speed_min) + self.dice.below(spread)).max(1);
        let distance = from.distance_squared(to).isqrt();
        // Even a way of no length takes some time, so that the drawing of ways comes to an end.
        let takes = Duration::from_micros((distance.saturating_mul(1_000_000) / speed).max(1000));
        let begins = self.leaves;
        let ends = begins + takes;
        self.leaves = ends + self.pause();
        Leg { from, to, begins, ends }
    }

    fn pause(&mut self) -> Duration {
        self.dice.between(self.mobility.pause_min, self.mobility.pause_max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AREA: Area = Area { width: 10_000, height: 4_000 };

    fn at(seconds: u64) -> Time {
        Time::from_micros(seconds * 1_000_000)
    }

    fn roaming() -> Mobility {
        Mobility {
            area: AREA,
            speed_min: 30,
            speed_max: 190,
            pause_min: Duration::ZERO,
            pause_max: Duration::from_secs(10),
            until: None,
        }
    }

    #[test]
    fn a_roaming_node_stays_in_its_area_and_within_its_speed() {
        let mut walker = Walker::new(Position { x: 5000, y: 20 }, NodeId(3), Some(roaming()), 9);
        let mut before = walker.position(Time::ZERO);
        let mut rests = 0;
        for second in 1..2000 {
            let here = walker.position(at(second));
            assert!((0..=10_000).contains(&here.x) && (0..=4_000).contains(&here.y), "{here:?}");
            let gone = before.distance_squared(here).isqrt();
            assert!(gone <= 191, "{gone} dm in a second");
            rests += u32::from(gone == 0);
            before = here;
        }
        assert!(rests > 0, "it never rested");
    }

    #[test]
    fn two_nodes_with_one_seed_take_different_ways_and_one_node_takes_the_same_twice() {
        let way = |id: u32| {
            let mut walker = Walker::new(Position::default(), NodeId(id), Some(roaming()), 4);
            (0..50).map(|second| walker.position(at(second))).collect::<Vec<_>>()
        };
        assert_eq!(way(1), way(1));
        assert_ne!(way(1), way(2));
    }

    #[test]
    fn a_node_that_is_sent_somewhere_goes_straight_and_stays_there() {
        let mut walker = Walker::new(Position::default(), NodeId(1), None, 1);
        assert!(!walker.is_moving(Time::ZERO));
        walker.go(at(10), Position { x: 100, y: -40 }, Duration::from_secs(10));
        assert_eq!(walker.position(at(15)), Position { x: 50, y: -20 });
        assert!(walker.is_moving(at(15)));
        assert_eq!(walker.position(at(99)), Position { x: 100, y: -40 });
        assert!(!walker.is_moving(at(20)));
    }

    #[test]
    fn a_node_that_is_halted_stands_where_it_was() {
        let mut walker = Walker::new(Position::default(), NodeId(1), Some(roaming()), 1);
        walker.halt(at(7));
        let here = walker.position(at(7));
        assert_eq!(walker.position(at(700)), here);
        assert!(!walker.is_moving(at(7)));
    }
}
