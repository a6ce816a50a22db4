//! Boxes and curves on the sheet, and whether they touch.

use crate::pictures::svg::Spot;

/// An upright box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Area {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
}

impl Area {
    pub(super) fn around(at: Spot, width: f64, height: f64) -> Self {
        let (x, y) = (width / 2.0, height / 2.0);
        Self { left: at.x - x, top: at.y - y, right: at.x + x, bottom: at.y + y }
    }

    /// Whether less than this is between the two.
    pub(super) fn is_near(&self, other: &Self, gap: f64) -> bool {
        self.left < other.right + gap
            && other.left < self.right + gap
            && self.top < other.bottom + gap
            && other.top < self.bottom + gap
    }

    /// How far a position is outside of it; zero inside.
    pub(super) fn distance(&self, spot: Spot) -> f64 {
        let x = (self.left - spot.x).max(spot.x - self.right).max(0.0);
        let y = (self.top - spot.y).max(spot.y - self.bottom).max(0.0);
        (x * x + y * y).sqrt()
    }
}

/// A quadratic curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Curve {
    pub(super) begin: Spot,
    pub(super) knee: Spot,
    pub(super) end: Spot,
}

impl Curve {
    /// The position at this part of the curve, from 0 to 1.
    pub(super) fn at(&self, part: f64) -> Spot {
        self.begin.toward(self.knee, part).toward(self.knee.toward(self.end, part), part)
    }

    /// The same curve from the beginning to this part.
    pub(super) fn until(&self, part: f64) -> Self {
        Self { begin: self.begin, knee: self.begin.toward(self.knee, part), end: self.at(part) }
    }

    /// Positions along it, about so many pixels apart.
    pub(super) fn spots(&self, apart: f64) -> Vec<Spot> {
        let length = self.begin.distance(self.knee) + self.knee.distance(self.end);
        let mut spots = vec![self.begin];
        let step = (apart / length.max(apart)).max(0.004);
        let mut part = step;
        while part < 1.0 {
            spots.push(self.at(part));
            part += step;
        }
        spots.push(self.end);
        spots
    }
}
