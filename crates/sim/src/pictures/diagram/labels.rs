//! Labels on arrows, where there is room: along the arrow, clear of bars and of other labels.
//!
//! Of several arrows of one kind that leave a node at the same time and say the same one gets a
//! label. Several positions are tried along each of them, on both sides; the one that the fewest
//! other arrows cross wins. What a message says stays where its kind has no room, beside a steep
//! arrow if need be: colours tell kinds apart. A list without room loses nodes in its middle, and
//! the label has the whole as its tooltip. A picture with more than [`ARROWS_MAX`] arrows has
//! colours and tooltips only.

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

#[derive(Clone)]
struct Arrow {
    key: LabelKey,
    from: Spot,
    to: Spot,
}

/// How a label lies.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Along its arrow.
    Along,
    /// Beside a steep arrow, as text is read: there is less room between two lines than the arrow
    /// is long.
    Beside,
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
        let is_same =
            |other: &&mut Arrow| other.from == from && other.to == to && other.key.is_like(&key);
        // Messages that go the same way at the same time share an arrow and a label.
        if let Some(same) = self.arrows.iter_mut().rev().take(TOGETHER).find(is_same) {
            if !key.contents.is_empty() && same.key.contents != key.contents {
                same.key.contents.push_str(&format!(",{}", key.contents));
            }
            return;
        }
        self.arrows.push(Arrow { key, from, to });
    }

    pub(super) fn draw(mut self, svg: &mut Svg) {
        if self.arrows.len() > ARROWS_MAX {
            return;
        }
        self.arrows.sort_by(|a, b| a.key.cmp(&b.key));
        let mut start = 0;
        while start < self.arrows.len() {
            let key = &self.arrows[start].key;
            let end = start + self.arrows[start..].partition_point(|arrow| arrow.key == *key);
            let colour = looks::pen(key.kind).colour;
            // What a message says is left out where only its kind has room.
            let texts = key.texts();
            let placed = texts.into_iter().find_map(|(way, text)| {
                Some((self.best_place(start..end, FONT.width(&text), way)?, text))
            });
            if let Some((place, text)) = placed {
                self.taken.extend(place.points());
                write(svg, place, colour, (&text, &key.full()));
            }
            start = end;
        }
    }

    fn best_place(&self, arrows: core::ops::Range<usize>, width: f64, way: Way) -> Option<Place> {
        let mut best: Option<(f64, Place)> = None;
        for index in arrows {
            let arrow = &self.arrows[index];
            let tried = match way {
                Way::Along => along(arrow, width),
                Way::Beside => beside(arrow, width),
            };
            for (cost, place) in tried {
                let Some(crossings) = self.crossings(place, index) else { continue };
                let cost = crossings + cost;
                if best.is_none_or(|(least, _)| cost < least) {
                    best = Some((cost, place));
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

/// Positions along an arrow, each with what it costs.
fn along(arrow: &Arrow, width: f64) -> Vec<(f64, Place)> {
    let length = arrow.from.distance(arrow.to);
    if length < width + 2.0 * END {
        return Vec::new();
    }
    let slack = (length - width) / 2.0 - END;
    let steepness = (arrow.to.y - arrow.from.y).abs() / length;
    let place = |step: f64, side| {
        let centre = length / 2.0 + slack * step;
        (step.abs() + steepness, Place::new(arrow, centre / length, width, side))
    };
    STEPS.iter().flat_map(|step| [-1.0, 1.0].map(|side| place(*step, side))).collect()
}

/// Positions beside a steep arrow, each with what it costs: the middle is best.
fn beside(arrow: &Arrow, width: f64) -> Vec<(f64, Place)> {
    let (x, y) = ((arrow.to.x - arrow.from.x).abs(), (arrow.to.y - arrow.from.y).abs());
    if y < 2.0 * x {
        return Vec::new();
    }
    let place = |step: i32, side: f64| {
        let part = f64::from(step) / f64::from(BESIDE);
        let on_line = arrow.from.toward(arrow.to, part);
        // Clear of the arrow, which leans by this much over the height of a letter.
        let off = width / 2.0 + 4.0 + FONT.size / 2.0 * x / y;
        let centre = Spot::new(on_line.x + side * off, on_line.y);
        let end = |by: f64| Spot::new(centre.x + by, centre.y);
        let place = Place {
            middle: Spot::new(centre.x, centre.y + FONT.size * 0.33),
            along: Spot::new(1.0, 0.0),
            left: end(-width / 2.0),
            right: end(width / 2.0),
        };
        ((part - 0.5).abs(), place)
    };
    (1..BESIDE).flat_map(|step| [1.0, -1.0].map(|side| place(step, side))).collect()
}

impl Place {
    fn new(arrow: &Arrow, part: f64, width: f64, side: f64) -> Self {
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
        // As close together as labels are apart at least, however long the text is.
        let long = (1..).find(|count| left.distance(right) <= f64::from(*count) * APART);
        let points = long.unwrap_or(POINTS).max(POINTS);
        (0..=points).map(move |point| left.toward(right, f64::from(point) / f64::from(points)))
    }
}

impl LabelKey {
    /// Whether it is of the same message, but for what that says.
    fn is_like(&self, other: &Self) -> bool {
        let id = |key: &Self| (key.at, key.node, key.kind, key.ok);
        id(self) == id(other)
    }

    /// The text of the label, and what is left of it where there is less room.
    fn texts(&self) -> Vec<(Way, String)> {
        let kind = self.named();
        if self.contents.is_empty() {
            return vec![(Way::Along, kind)];
        }
        let full = self.full();
        let list = self.contents.find('[').map(|at| self.contents[at..].to_owned());
        let list = list.unwrap_or_else(|| full.clone());
        let mut texts = vec![
            (Way::Along, full.clone()),
            (Way::Along, list.clone()),
            (Way::Beside, full),
            (Way::Beside, list.clone()),
        ];
        for kept in [2, 1] {
            texts.extend(shortened(&list, kept).map(|list| (Way::Along, list)));
        }
        texts.push((Way::Along, kind));
        texts
    }

    /// The text of the label where there is room.
    fn full(&self) -> String {
        format!("{}{}", self.named(), self.contents)
    }

    fn named(&self) -> String {
        match self.ok {
            Some(false) => format!("{}: no", self.kind),
            Some(true) | None => self.kind.to_string(),
        }
    }
}

fn distance_to_line(point: Spot, arrow: &Arrow) -> f64 {
    let (x, y) = (arrow.to.x - arrow.from.x, arrow.to.y - arrow.from.y);
    let square = (x * x + y * y).max(0.01);
    let part = ((point.x - arrow.from.x) * x + (point.y - arrow.from.y) * y) / square;
    point.distance(arrow.from.toward(arrow.to, part.clamp(0.0, 1.0)))
}

/// A list with its first nodes and its last one, if others are between them.
fn shortened(list: &str, kept: usize) -> Option<String> {
    let nodes: Vec<&str> = list.strip_prefix('[')?.strip_suffix(']')?.split(' ').collect();
    let (last, first) = nodes.split_last()?;
    let is_one = !list[1..].contains('[');
    let rest = first.len().checked_sub(kept).filter(|rest| *rest > 0 && is_one)?;
    let first = first[..first.len() - rest].join(" ");
    Some(format!("[{first} … {last}]"))
}

/// Writes a label; one that is shortened has the whole as its tooltip.
fn write(svg: &mut Svg, place: Place, colour: &str, (text, whole): (&str, &str)) {
    let Place { middle, along, .. } = place;
    let title = match text.contains('…') {
        true => format!("<title>{}</title>", escape(whole)),
        false => String::new(),
    };
    svg.put(format_args!(
        "<text class=\"label\" transform=\"matrix({:.3} {:.3} {:.3} {:.3} {:.1} {:.1})\" \
         font-size=\"{}\" fill=\"{colour}\" text-anchor=\"middle\">{}{title}</text>\n",
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
/// How many arrows before one may share its label: those that a node sends at one time.
const TOGETHER: usize = 32;
/// The distance between the middle of a label and its arrow.
const OFF: f64 = 7.0;
/// The distance between a label and the ends of its arrow.
const END: f64 = 5.0;
/// The distance between labels.
const APART: f64 = 12.0;
const POINTS: i32 = 8;
/// Positions to try beside an arrow.
const BESIDE: i32 = 24;
/// Positions to try, from the middle of the arrow (0) to its ends (-1 and 1).
const STEPS: [f64; 7] = [0.0, -0.35, 0.35, -0.7, 0.7, -1.0, 1.0];
const COST_MAX: f64 = 2.9;

#[cfg(test)]
mod tests {
    use tanist_core::trace::Kind;
    use tanist_core::{NodeId, Time};

    use super::*;

    fn key(node: u32) -> LabelKey {
        LabelKey {
            at: Time::ZERO,
            node: NodeId(node),
            kind: Kind::Ready,
            ok: None,
            contents: String::new(),
        }
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
