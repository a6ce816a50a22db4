//! Positions in pixels, and how nodes and arrows between them are drawn.
//!
//! A node is a circle with its short form. Its name is above the circle in the upper half of the
//! picture and below it in the lower half, and begins or ends there towards the nearer edge: most
//! arrows are on the other side.

use tanist_core::membership::{NAME_BYTES_MAX, NodeNames};
use tanist_core::{Member, NodeId};

use super::{Arrow, Marks, Place, Scene};
use crate::pictures::looks::{self, Mark};
use crate::pictures::names::ShortNames;
use crate::pictures::svg::{FAINT, Font, INK, Pen, Spot, Svg, escape};

/// The positions in pixels.
pub(super) struct Sheet<'a> {
    names: &'a NodeNames,
    short_names: ShortNames,
    places: Vec<(NodeId, Spot)>,
    centre: Spot,
    /// Width and height, without a legend.
    pub(super) size: Spot,
    radius: f64,
}

impl<'a> Sheet<'a> {
    pub(super) fn new(scene: &Scene, names: &'a NodeNames, width_min: f64) -> Self {
        let width_min = width_min.max(WIDTH_MIN);
        let spots: Vec<Spot> =
            scene.places.iter().map(|place| Spot::new(place.x, place.y)).collect();
        let least = |values: &mut dyn Iterator<Item = f64>| values.fold(f64::INFINITY, f64::min);
        let (left, top) =
            (least(&mut spots.iter().map(|s| s.x)), least(&mut spots.iter().map(|s| s.y)));
        let wide = -least(&mut spots.iter().map(|s| -s.x)) - left;
        let high = -least(&mut spots.iter().map(|s| -s.y)) - top;
        let pairs = spots.iter().enumerate().flat_map(|(at, a)| {
            spots[at + 1..].iter().map(move |b| a.distance(*b)).filter(|apart| *apart > 0.0)
        });
        let nearest = least(&mut { pairs });
        // Neighbours are well apart, unless that needs more room than a page has.
        let widest = wide.max(high);
        let scale = if nearest.is_finite() && widest > 0.0 {
            (APART / nearest).clamp(SPAN_MIN / widest, SPAN_MAX / widest)
        } else {
            1.0
        };
        let radius =
            if nearest.is_finite() { (nearest * scale * 0.3).clamp(9.0, NODE) } else { NODE };
        // Names of neighbours side by side do not touch.
        let apart = if nearest.is_finite() { nearest * scale } else { APART };
        let short_names = ShortNames::new(names, chars_in((apart - 12.0).min(NAME_WIDTH_MAX)));
        let longest = short_names.all().map(|name| NAME.width(name)).fold(0.0, f64::max);
        let margin = MARGIN.max(longest - inset(radius) + 8.0);
        let place = |place: &Place| {
            let spot = Spot::new(
                (place.x - left) * scale + margin,
                (place.y - top) * scale + MARGIN + TITLE,
            );
            (place.node, spot)
        };
        let size = if spots.is_empty() {
            Spot::new(width_min, TITLE)
        } else {
            Spot::new(
                (wide * scale + 2.0 * margin).max(width_min),
                high * scale + 2.0 * MARGIN + TITLE,
            )
        };
        let mut places: Vec<(NodeId, Spot)> = scene.places.iter().map(place).collect();
        let room = (size.x - 2.0 * margin - wide * scale).max(0.0) / 2.0;
        if !spots.is_empty() {
            places.iter_mut().for_each(|(_, spot)| spot.x += room);
        }
        let centre = Spot::new(size.x / 2.0, MARGIN + TITLE + high * scale / 2.0);
        Self { names, short_names, places, centre, size, radius }
    }

    pub(super) fn place(&self, node: NodeId) -> Option<Spot> {
        self.places.iter().find(|(id, _)| *id == node).map(|(_, spot)| *spot)
    }

    /// Draws an arc from node to node and returns its label.
    pub(super) fn draw_arrow(
        &self,
        svg: &mut Svg,
        arrow: &Arrow,
        bow: f64,
        steps: &[usize],
    ) -> Option<Label> {
        let (from, to) = (self.place(arrow.from)?, self.place(arrow.to)?);
        let length = from.distance(to);
        if length <= 2.0 * self.radius {
            return None;
        }
        let rest = self.radius + 3.0;
        let (ahead_x, ahead_y) = ((to.x - from.x) / length, (to.y - from.y) / length);
        // To the left of its direction: outside on a ring that runs clockwise.
        let bow = bow * (self.radius / NODE).max(0.5);
        let shifted = |spot: Spot, by: f64| Spot::new(spot.x + ahead_y * by, spot.y - ahead_x * by);
        let knee = shifted(from.toward(to, 0.5), bow * 2.0);
        let begin = from.toward(knee, rest / from.distance(knee));
        let stop = if arrow.is_lost { rest + 16.0 } else { rest };
        let end = to.toward(knee, stop / to.distance(knee));
        let pen = looks::pen(arrow.kind);
        let steps = list(steps);
        let fate = if arrow.is_lost { ", lost" } else { "" };
        let (from, to) = (self.names.of(arrow.from), self.names.of(arrow.to));
        let kind = arrow.kind;
        svg.open("step", &format!("{kind} from {from} to {to}, step {steps}{fate}"));
        svg.put(format_args!(
            "<path d=\"M{:.1} {:.1}Q{:.1} {:.1} {:.1} {:.1}\" {pen} fill=\"none\"/>\n",
            begin.x, begin.y, knee.x, knee.y, end.x, end.y
        ));
        if arrow.is_lost {
            Mark::Lost.draw(svg, end);
        } else {
            looks::head(svg, knee, end, pen.colour);
        }
        svg.close();
        // The middle of the curve; where several long arrows cross, a point nearer to the start.
        let part = if length > APART * 1.6 { 0.3 } else { 0.5 };
        let place = begin.toward(knee, part).toward(knee.toward(end, part), part);
        Some(Label { place, text: steps, colour: pen.colour })
    }

    pub(super) fn draw_node(&self, svg: &mut Svg, member: &Member, marks: &Marks) {
        let Some(at) = self.place(member.id) else { return };
        let is_dead = marks.dead.contains(&member.id);
        let leads = marks.coordinators.contains(&member.id);
        let fill = match (is_dead, leads) {
            (true, _) => "#e4e7ea",
            (false, true) => "#7fcfae",
            (false, false) => "#ffffff",
        };
        let pen = if marks.callers.contains(&member.id) {
            Pen::new(looks::CALL, 4.0)
        } else {
            Pen::new(if is_dead { FAINT } else { INK }, 1.6)
        };
        let called = self.names.of(member.id);
        svg.open("node", &format!("{called}, priority {}", member.priority.0));
        svg.circle(at, self.radius, fill, pen);
        let ink = if is_dead { FAINT } else { INK };
        let size = self.radius * 0.55;
        let has_priority = member.priority.0 != member.id.0 && self.radius > 24.0;
        let lift = if has_priority { 0.0 } else { size * 0.35 };
        let font = Font::new(size.round(), ink).bold().centred();
        svg.text(Spot::new(at.x, at.y + lift), font, &member.id.to_string());
        if has_priority {
            let font = Font::new(10.5, ink).centred();
            let text = format!("priority {}", member.priority.0);
            svg.text(Spot::new(at.x, at.y + 14.0), font, &text);
        }
        let corner = self.radius * 0.75;
        if leads {
            Mark::Coordinator.draw(svg, Spot::new(at.x + corner, at.y - corner));
        }
        if is_dead {
            Mark::Crash.draw(svg, Spot::new(at.x + corner, at.y - corner));
        }
        if let Some(name) = self.short_names.name(member.id) {
            self.draw_name(svg, at, name);
        }
        svg.close();
    }

    /// On a white rim, so that it can be read above arrows and links.
    fn draw_name(&self, svg: &mut Svg, at: Spot, name: &str) {
        // Clear of the mark at the corner of the circle, too.
        let away = (self.radius + 8.0).max(self.radius * 0.75 + 13.0);
        let up = Spot::new(at.x, at.y - away);
        let down = Spot::new(at.x, at.y + away + NAME.size * 0.7);
        let Spot { x, y } = if at.y < self.centre.y { up } else { down };
        let offset = at.x - self.centre.x;
        let (x, anchor) = if offset.abs() < self.radius {
            (x, "middle")
        } else if offset < 0.0 {
            (x + inset(self.radius), "end")
        } else {
            (x - inset(self.radius), "start")
        };
        svg.put(format_args!(
            "<text class=\"name\" x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{}\" fill=\"{}\" \
             font-weight=\"bold\" text-anchor=\"{anchor}\" stroke=\"#ffffff\" \
             stroke-width=\"3\" paint-order=\"stroke\">{}</text>\n",
            NAME.size,
            NAME.colour,
            escape(name)
        ));
    }
}

/// How far a name reaches past the middle of its node, towards the middle of the picture.
fn inset(radius: f64) -> f64 {
    radius * 0.4
}

/// How many characters of a name there is room for.
fn chars_in(room: f64) -> usize {
    let fits = |chars: &usize| NAME.width(&"n".repeat(*chars)) <= room;
    (1..=NAME_BYTES_MAX).take_while(fits).last().unwrap_or(0)
}

/// The numbers of an arrow's steps.
pub(super) struct Label {
    place: Spot,
    text: String,
    colour: &'static str,
}

impl Label {
    pub(super) fn draw(&self, svg: &mut Svg) {
        let font = Font::new(12.0, self.colour).bold().centred();
        let wide = (font.width(&self.text) + 8.0).max(20.0);
        let Spot { x, y } = self.place;
        svg.put(format_args!(
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{wide:.1}\" height=\"20\" rx=\"10\" \
             fill=\"#ffffff\" {}/>\n",
            x - wide / 2.0,
            y - 10.0,
            Pen::new(self.colour, 1.2)
        ));
        svg.text(Spot::new(x, y + 4.2), font, &self.text);
    }
}

/// Some numbers in few words: `1, 7`, or `1, 7 … 31` where there are too many.
pub(super) fn list(steps: &[usize]) -> String {
    let mut steps = steps.to_vec();
    // Messages sent twice at one time are one step.
    steps.dedup();
    let words = |steps: &[usize]| steps.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    match steps.as_slice() {
        [first @ .., last] if steps.len() > LISTED_MAX => {
            format!("{} … {last}", words(&first[..LISTED_MAX - 1]))
        }
        _ => words(&steps),
    }
}

/// How far neighbours are apart, if there is room.
const APART: f64 = 150.0;
const SPAN_MIN: f64 = 300.0;
const SPAN_MAX: f64 = 1500.0;
const WIDTH_MIN: f64 = 640.0;
const MARGIN: f64 = 70.0;
const TITLE: f64 = 62.0;
const NODE: f64 = 34.0;
const NAME: Font = Font::new(12.0, INK).bold();
const NAME_WIDTH_MAX: f64 = 190.0;
/// More numbers than this on one arrow are cut short.
const LISTED_MAX: usize = 5;
