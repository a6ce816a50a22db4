//! Positions on a plane, and which nodes are near each other.
//!
//! All lengths are whole decimetres, so that a run is the same on every machine. Neighbours are
//! found by a grid whose cells are as wide as the range, so hundreds of moving nodes are cheap.

use std::collections::BTreeMap;

use tanist_core::NodeId;

use crate::world::dice::SeededDice;

/// A position, in decimetres.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// To the right.
    pub x: i64,
    /// Downwards.
    pub y: i64,
}

impl Position {
    /// The square of the distance, in square decimetres.
    #[must_use]
    pub const fn distance_squared(self, other: Self) -> u64 {
        let (x, y) = (self.x.abs_diff(other.x), self.y.abs_diff(other.y));
        x.saturating_mul(x).saturating_add(y.saturating_mul(y))
    }
}

/// A rectangle with one corner at the origin, in decimetres.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Area {
    /// Width.
    pub width: u32,
    /// Height.
    pub height: u32,
}

impl Area {
    /// Any position in it, all equally likely.
    pub fn draw(self, dice: &mut SeededDice) -> Position {
        let mut below = |end: u32| i64::try_from(dice.below(u64::from(end) + 1)).unwrap_or(0);
        let x = below(self.width);
        Position { x, y: below(self.height) }
    }
}

/// The positions of the nodes in the beginning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Layout {
    /// In a row, in order of id, this far apart.
    Line(u32),
    /// In rows that make a square, in order of id, this far apart.
    Grid(u32),
    /// On a circle, in order of id, neighbours this far apart.
    Circle(u32),
    /// Anywhere in an area, drawn from the seed.
    Random(Area),
    /// The given position of each node.
    At(BTreeMap<NodeId, Position>),
}

impl Layout {
    /// The positions of these nodes, which are in order of id.
    #[must_use]
    pub fn positions(&self, ids: &[NodeId], dice: &mut SeededDice) -> Vec<Position> {
        let count = i64::try_from(ids.len()).unwrap_or(i64::MAX);
        match self {
            Self::Line(spacing) => {
                (0..count).map(|i| Position { x: i * i64::from(*spacing), y: 0 }).collect()
            }
            Self::Grid(spacing) => {
                let columns = columns(count);
                let spacing = i64::from(*spacing);
                let place = |i| Position { x: i % columns * spacing, y: i / columns * spacing };
                (0..count).map(place).collect()
            }
            Self::Circle(spacing) => circle(count, *spacing),
            Self::Random(area) => ids.iter().map(|_| area.draw(dice)).collect(),
            Self::At(places) => {
                ids.iter().map(|id| places.get(id).copied().unwrap_or_default()).collect()
            }
        }
    }
}

/// How many columns the grid of this many nodes has: the rounded up square root.
#[must_use]
pub fn columns(count: i64) -> i64 {
    let root = count.max(1).isqrt();
    if root * root < count { root + 1 } else { root }
}

/// Rounding to whole decimetres removes what sines differ by from machine to machine.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "counts and distances are small, and the result is rounded"
)]
fn circle(count: i64, spacing: u32) -> Vec<Position> {
    if count < 2 {
        return vec![Position::default(); usize::try_from(count).unwrap_or(0)];
    }
    let step = std::f64::consts::TAU / count as f64;
    let radius = f64::from(spacing) / 2.0 / (step / 2.0).sin();
    let place = |i: i64| {
        let angle = step * i as f64;
        let (x, y) = (radius * (1.0 + angle.sin()), radius * (1.0 - angle.cos()));
        Position { x: x.round() as i64, y: y.round() as i64 }
    };
    (0..count).map(place).collect()
}

/// For each position, which others are at most `range` away, in order.
#[must_use]
pub fn neighbours(positions: &[Position], range: u32) -> Vec<Vec<usize>> {
    let side = i64::from(range.max(1));
    let cell = |place: Position| (place.x.div_euclid(side), place.y.div_euclid(side));
    let mut grid: Vec<((i64, i64), usize)> =
        positions.iter().enumerate().map(|(at, place)| (cell(*place), at)).collect();
    grid.sort_unstable();
    let reach = u64::from(range) * u64::from(range);
    let near = |(at, place): (usize, &Position)| {
        let (column, row) = cell(*place);
        let mut near = Vec::new();
        for column in column - 1..=column + 1 {
            // The three cells of a column lie side by side in the sorted grid.
            let from = grid.partition_point(|(cell, _)| *cell < (column, row - 1));
            let cells = grid[from..].iter().take_while(|(cell, _)| *cell <= (column, row + 1));
            near.extend(
                cells
                    .map(|(_, other)| *other)
                    .filter(|other| *other != at)
                    .filter(|other| place.distance_squared(positions[*other]) <= reach),
            );
        }
        near.sort_unstable();
        near
    };
    positions.iter().enumerate().map(near).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grid_finds_exactly_those_in_range() {
        let mut dice = SeededDice::new(5);
        let area = Area { width: 3000, height: 700 };
        let mut places: Vec<Position> = (0..120).map(|_| area.draw(&mut dice)).collect();
        places.push(Position { x: -250, y: -1 });
        for range in [1, 90, 250, 10_000] {
            let found = neighbours(&places, range);
            for (a, near) in found.iter().enumerate() {
                let all = (0..places.len()).filter(|b| {
                    *b != a
                        && places[a].distance_squared(places[*b])
                            <= u64::from(range) * u64::from(range)
                });
                assert_eq!(*near, all.collect::<Vec<_>>(), "range {range}, place {a}");
            }
        }
    }

    #[test]
    fn nodes_on_a_circle_hear_their_two_neighbours() {
        let ids: Vec<NodeId> = (1..=9).map(NodeId).collect();
        let places = Layout::Circle(900).positions(&ids, &mut SeededDice::new(1));
        let near = neighbours(&places, 1000);
        assert_eq!(near[0], [1, 8]);
        assert!(near.iter().all(|near| near.len() == 2), "{near:?}");
    }

    #[test]
    fn a_grid_of_seven_has_three_columns() {
        let ids: Vec<NodeId> = (1..=7).map(NodeId).collect();
        let places = Layout::Grid(90).positions(&ids, &mut SeededDice::new(1));
        let near = neighbours(&places, 100);
        assert_eq!(near[4], [1, 3, 5], "the middle of the second row");
        assert_eq!(near[6], [3], "the only one of the third row");
    }
}
