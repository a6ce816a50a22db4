//! Labels on arrows, where there is room: along the arrow, clear of bars and of other labels.
//!
//! Of several arrows of one kind that leave a node at the same time one gets a label. Several
//! positions are tried along each of them, on both sides; the one that the fewest other arrows
//! cross wins. A picture with more than [`ARROWS_MAX`] arrows has colours and tooltips only.

use super::lanes::BAR;
use super::messages::LabelKey;
use crate::pictures::looks;
use crate::pictures::svg::{Font, Spot, Svg, escape};

/// The arrows of a picture and the labels placed so far.
pub(super) struct Labels {
    bars: Vec<f64>,
    arrows: Vec<Arrow>,
    /// Points on the labels that are placed already.
    taken: Vec<Spot>,
}

#[derive(Clone, Copy)]
struct Arrow {
    key: LabelKey,
    from: Spot,
    to: Spot,
}

/// A position for a label: the middle of its baseline, and its direction.
#[derive(Clone, Copy)]
struct Place {
    middle: Spot,
    along: Spot,
    /// Points on the label, to see what it would cover.
    left: Spot,
    right: Spot,
}

impl Labels {
    pub(super) fn new(bars: Vec<f64>) -> Self {
        Self { bars, arrows: Vec::new(), taken: Vec::new() }
    }

    pub(super) fn arrow(&mut self, key: LabelKey, from: Spot, to: Spot) {
        self.arrows.push(Arrow { key, from, to });
    }

    pub(super) fn draw(mut self, svg: &mut Svg) {
        if self.arrows.len() > ARROWS_MAX {
            return;
        }
        self.arrows.sort_by_key(|arrow| arrow.key);
        let mut start = 0;
        while start < self.arrows.len() {
            let key = self.arrows[start].key;
            let end = start + self.arrows[start..].partition_point(|arrow| arrow.key == key);
            let text = match key.ok {
                Some(false) => format!("{}: no", key.kind),
                Some(true) | None => key.kind.to_string(),
            };
            if let Some(place) = self.best_place(start..end, FONT.width(&text)) {
                self.taken.extend(place.points());
                write(svg, place, looks::pen(key.kind).colour, &text);
            }
            start = end;
        }
    }

    fn best_place(&self, arrows: core::ops::Range<usize>, width: f64) -> Option<Place> {
        let mut best: Option<(f64, Place)> = None;
        for index in arrows {
            let arrow = self.arrows[index];
            let length = arrow.from.distance(arrow.to);
            if length < width + 2.0 * END {
                continue;
            }
            let slack = (length - width) / 2.0 - END;
            for step in STEPS {
                for side in [-1.0, 1.0] {
                    let centre = length / 2.0 + slack * step;
                    let place = Place::new(arrow, centre / length, width, side);
                    let Some(crossings) = self.crossings(place, index) else {
                        continue;
                    };
                    let steepness = (arrow.to.y - arrow.from.y).abs() / length;
                    let cost = crossings + step.abs() + steepness;
                    if best.is_none_or(|(least, _)| cost < least) {
                        best = Some((cost, place));
                    }
                }
            }
        }
        best.filter(|(cost, _)| *cost <= COST_MAX).map(|(_, place)| place)
    }

    /// How many points of the label other arrows cross, where points under an arrow head count
    /// twice; none if the position is taken.
    fn crossings(&self, place: Place, own: usize) -> Option<f64> {
        let is_barred = place.points().any(|point| {
            let on_bar = self.bars.iter().any(|bar| (bar - point.y).abs() < BAR / 2.0 + 6.0);
            on_bar || self.taken.iter().any(|other| other.distance(point) < APART)
        });
        if is_barred {
            return None;
        }
        let (low, high) = (place.left.x - APART, place.right.x + APART);
        let mut crossings = 0.0;
        for (index, arrow) in self.arrows.iter().enumerate() {
            if index == own || arrow.to.x < low || arrow.from.x > high {
                continue;
            }
            for point in place.points() {
                if point.distance(arrow.to) < APART {
                    crossings += 2.0;
                } else if distance_to_line(point, arrow) < 5.0 {
                    crossings += 1.0;
                }
            }
        }
        Some(crossings)
    }
}

impl Place {
    fn new(arrow: Arrow, part: f64, width: f64, side: f64) -> Self {
        let length = arrow.from.distance(arrow.to);
        let along =
            Spot::new((arrow.to.x - arrow.from.x) / length, (arrow.to.y - arrow.from.y) / length);
        // Towards the reader's side of the line: up for -1, down for 1.
        let away = |by: f64| Spot::new(-along.y * by, along.x * by);
        let on_line = arrow.from.toward(arrow.to, part);
        let shift = |by: f64| {
            let away = away(by);
            Spot::new(on_line.x + away.x, on_line.y + away.y)
        };
        let centre = shift(side * OFF);
        let ahead = Spot::new(along.x * width / 2.0, along.y * width / 2.0);
        Self {
            middle: shift(side * OFF + FONT.size * 0.33),
            along,
            left: Spot::new(centre.x - ahead.x, centre.y - ahead.y),
            right: Spot::new(centre.x + ahead.x, centre.y + ahead.y),
        }
    }

    fn points(&self) -> impl Iterator<Item = Spot> + use<> {
        let (left, right) = (self.left, self.right);
        (0..=POINTS).map(move |point| left.toward(right, f64::from(point) / f64::from(POINTS)))
    }
}

fn distance_to_line(point: Spot, arrow: &Arrow) -> f64 {
    let (x, y) = (arrow.to.x - arrow.from.x, arrow.to.y - arrow.from.y);
    let square = (x * x + y * y).max(0.01);
    let part = ((point.x - arrow.from.x) * x + (point.y - arrow.from.y) * y) / square;
    point.distance(arrow.from.toward(arrow.to, part.clamp(0.0, 1.0)))
}

fn write(svg: &mut Svg, place: Place, colour: &str, text: &str) {
    let Place { middle, along, .. } = place;
    svg.put(format_args!(
        "<text class=\"label\" transform=\"matrix({:.3} {:.3} {:.3} {:.3} {:.1} {:.1})\" \
         font-size=\"{}\" fill=\"{colour}\" text-anchor=\"middle\">{}</text>\n",
        along.x,
        along.y,
        -along.y,
        along.x,
        middle.x,
        middle.y,
        FONT.size,
        escape(text)
    ));
}

const FONT: Font = Font::new(11.0, "");
/// With more arrows than this a label could not be read among them.
const ARROWS_MAX: usize = 600;
/// The distance between the middle of a label and its arrow.
const OFF: f64 = 7.0;
/// The distance between a label and the ends of its arrow.
const END: f64 = 5.0;
/// The distance between labels.
const APART: f64 = 12.0;
const POINTS: i32 = 8;
/// Positions to try, from the middle of the arrow (0) to its ends (-1 and 1).
const STEPS: [f64; 7] = [0.0, -0.35, 0.35, -0.7, 0.7, -1.0, 1.0];
const COST_MAX: f64 = 2.9;

#[cfg(test)]
mod tests {
    use tanist_core::trace::Kind;
    use tanist_core::{NodeId, Time};

    use super::*;

    fn key(node: u32) -> LabelKey {
        LabelKey { at: Time::ZERO, node: NodeId(node), kind: Kind::Ready, ok: None }
    }

    fn drawn(labels: Labels) -> usize {
        let mut svg = Svg::new(Spot::new(1.0, 1.0), "", "");
        labels.draw(&mut svg);
        svg.finish().matches(">Ready</text>").count()
    }

    #[test]
    fn arrows_that_leave_together_get_one_name() {
        let mut labels = Labels::new(vec![0.0, 100.0, 200.0]);
        labels.arrow(key(1), Spot::new(0.0, 10.0), Spot::new(100.0, 90.0));
        labels.arrow(key(1), Spot::new(0.0, 10.0), Spot::new(100.0, 190.0));
        assert_eq!(drawn(labels), 1);
    }

    #[test]
    fn an_arrow_without_room_gets_none() {
        let mut labels = Labels::new(vec![0.0, 100.0]);
        labels.arrow(key(1), Spot::new(0.0, 10.0), Spot::new(10.0, 20.0));
        assert_eq!(drawn(labels), 0);
    }
}
