//! Positions in pixels, and how nodes are drawn.
//!
//! A node is a circle with its short form. Its name is beside it, where the fewest arrows pass;
//! the sign of a coordinator or of a crash is at the corner with the fewest arrows.

use std::collections::BTreeSet;

use tanist_core::membership::{NAME_BYTES_MAX, NodeNames};
use tanist_core::{Member, NodeId, Status};

use super::geometry::Area;
use super::nodes::{Detail, Looks};
use super::{Place, Scene};
use crate::pictures::looks::{self, Mark};
use crate::pictures::names::ShortNames;
use crate::pictures::svg::{FAINT, Font, INK, Pen, Spot, Svg, escape};

/// The positions in pixels.
pub(super) struct Sheet {
    short_names: ShortNames,
    pub(super) places: Vec<(NodeId, Spot)>,
    pub(super) centre: Spot,
    /// Width and height.
    pub(super) size: Spot,
    pub(super) radius: f64,
    /// Pairs with a line between them, on which no arrow should lie.
    pub(super) links: BTreeSet<(NodeId, NodeId)>,
}

impl Sheet {
    /// Enlarged by a factor, so that there is more room between the nodes.
    pub(super) fn new(scene: &Scene, names: &NodeNames, factor: f64) -> Self {
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
            (APART / nearest).clamp(SPAN_MIN / widest, SPAN_MAX / widest) * factor
        } else {
            1.0
        };
        let radius =
            if nearest.is_finite() { (nearest * scale * 0.24).clamp(9.0, NODE) } else { NODE };
        // Names of neighbours side by side do not touch.
        let apart = if nearest.is_finite() { nearest * scale } else { APART };
        let short_names = ShortNames::new(names, chars_in((apart - 12.0).min(NAME_WIDTH_MAX)));
        let longest = short_names.all().map(|name| NAME.width(name)).fold(0.0, f64::max);
        let margin = Spot::new(MARGIN.max(longest + 8.0), MARGIN);
        let place = |place: &Place| {
            let (x, y) = ((place.x - left) * scale, (place.y - top) * scale);
            (place.node, Spot::new(x + margin.x, y + margin.y))
        };
        let (size, places) = if spots.is_empty() {
            (Spot::new(WIDTH_MIN, 0.0), Vec::new())
        } else {
            let size = Spot::new(wide * scale + 2.0 * margin.x, high * scale + 2.0 * margin.y);
            (size, scene.places.iter().map(place).collect())
        };
        let centre = Spot::new(size.x / 2.0, size.y / 2.0);
        let links = scene.links.iter().map(|(a, b)| (*a.min(b), *a.max(b))).collect();
        Self { short_names, places, centre, size, radius, links }
    }

    pub(super) fn place(&self, node: NodeId) -> Option<Spot> {
        self.places.iter().find(|(id, _)| *id == node).map(|(_, spot)| *spot)
    }

    /// Where the sign of a node can be: at its four corners, the outer ones first.
    pub(super) fn corners(&self, node: NodeId) -> Vec<Spot> {
        let Some(at) = self.place(node) else { return Vec::new() };
        let away = self.radius * 0.8;
        let right = if at.x < self.centre.x - 1.0 { -1.0 } else { 1.0 };
        let down = if at.y > self.centre.y + 1.0 { 1.0 } else { -1.0 };
        let corner = |x: f64, y: f64| Spot::new(at.x + away * x, at.y + away * y);
        vec![corner(right, down), corner(right, -down), corner(-right, down), corner(-right, -down)]
    }

    /// What is written beside a node: its name, and its coordinator where the circle has no room.
    pub(super) fn words(&self, node: NodeId, looks: &Looks) -> Option<String> {
        let name = self.short_names.name(node).map(str::to_owned);
        let name = name.filter(|name| !is_short(name));
        let follows =
            looks.follows(node).filter(|_| looks.detail == Detail::All && self.radius < ROOMY);
        let follows = follows.map(|follows| self.short_name(follows));
        match (name, follows) {
            (None, None) => None,
            (Some(name), None) => Some(name),
            (None, Some(follows)) => Some(format!("→ {follows}")),
            (Some(name), Some(follows)) => Some(format!("{name} → {follows}")),
        }
    }

    /// Where such words can be: above and below the node and at its sides, the usual place first.
    pub(super) fn word_places(&self, node: NodeId, words: &str) -> Vec<Area> {
        let Some(at) = self.place(node) else { return Vec::new() };
        let (width, height) = (NAME.width(words), NAME.size + 2.0);
        let side = if (at.x - self.centre.x).abs() < self.radius {
            0.0
        } else {
            (at.x - self.centre.x).signum()
        };
        let down = if at.y < self.centre.y { -1.0 } else { 1.0 };
        let away = self.radius + 8.0 + height / 2.0;
        let inner = self.radius * 0.4;
        let lean = |side: f64| side * (width / 2.0 - inner);
        let beside = self.radius + 6.0 + width / 2.0;
        let spots = [
            (lean(side), away * down),
            (0.0, away * down),
            (lean(-side), away * down),
            (if side == 0.0 { beside } else { beside * side }, 0.0),
            (lean(side), -away * down),
            (0.0, -away * down),
            (if side == 0.0 { -beside } else { -beside * side }, 0.0),
        ];
        spots.map(|(x, y)| Area::around(Spot::new(at.x + x, at.y + y), width, height)).into()
    }

    /// What a circle has room for: a label that is as short as an id, or the id.
    fn short_name(&self, node: NodeId) -> String {
        let name = self.short_names.name(node).filter(|name| is_short(name));
        name.map_or_else(|| node.to_string(), str::to_owned)
    }

    pub(super) fn draw_node(
        &self,
        svg: &mut Svg,
        member: &Member,
        names: &NodeNames,
        looks: &Looks,
        sign: Option<(Mark, Spot)>,
    ) {
        let Some(at) = self.place(member.id) else { return };
        let look = looks.of(member.id);
        let leads = looks.leads(member.id);
        let fill = match (look.takes_part(), looks.detail, look.status) {
            (false, ..) => GONE,
            (true, Detail::Outcome, _) if leads => looks::fill(Status::Normal),
            (true, Detail::Outcome, _) | (true, Detail::All, None) => "#ffffff",
            (true, Detail::All, Some(status)) => looks::fill(status),
        };
        let pen = if look.calls {
            Pen::new(looks::CALL, 4.0)
        } else {
            Pen::new(if look.takes_part() { INK } else { FAINT }, 1.6)
        };
        svg.open("node", &tooltip(member, names, looks));
        svg.circle(at, self.radius, fill, pen);
        let ink = if look.takes_part() { INK } else { FAINT };
        let follows = looks.follows(member.id).filter(|_| looks.detail == Detail::All);
        let mut lines = Vec::new();
        if self.radius >= ROOMY {
            let priority = member.priority.0;
            // A label may be the priority.
            if priority != member.id.0 && self.short_name(member.id) != priority.to_string() {
                lines.push((format!("priority {priority}"), 10.0));
            }
            lines.extend(follows.map(|node| (format!("→ {}", self.short_name(node)), 11.5)));
        }
        let size = (self.radius * 0.55).round();
        let font = Font::new(size, ink).bold().centred();
        let baseline = match lines.len() {
            0 => at.y + size * 0.35,
            1 => at.y,
            _ => at.y - 5.0,
        };
        svg.text(Spot::new(at.x, baseline), font, &self.short_name(member.id));
        for (row, (line, size)) in (1_u8..).zip(&lines) {
            let below = baseline + 13.0 * f64::from(row) + 0.5;
            svg.text(Spot::new(at.x, below), Font::new(*size, ink).centred(), line);
        }
        if let Some((mark, spot)) = sign {
            mark.draw(svg, spot);
        }
        svg.close();
    }
}

fn is_short(name: &str) -> bool {
    name.chars().count() <= INSIDE
}

fn tooltip(member: &Member, names: &NodeNames, looks: &Looks) -> String {
    let look = looks.of(member.id);
    let mut text = format!("{}, priority {}", names.of(member.id), member.priority.0);
    if !look.is_up {
        text.push_str(", down");
    } else if look.is_silent {
        text.push_str(", silent");
    } else if looks.detail == Detail::All {
        text.extend(look.status.map(|status| format!(", {status}")));
        text.extend(look.coordinator.map(|leader| format!(", coordinator {}", names.of(leader))));
    }
    text
}

/// Words beside a node, on a white rim, so that they can be read above a link.
pub(super) fn draw_words(svg: &mut Svg, area: &Area, words: &str) {
    let (x, y) = ((area.left + area.right) / 2.0, area.bottom - 3.0);
    svg.put(format_args!(
        "<text class=\"name\" x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{}\" fill=\"{}\" \
         font-weight=\"bold\" text-anchor=\"middle\" stroke=\"#ffffff\" \
         stroke-width=\"3\" paint-order=\"stroke\">{}</text>\n",
        NAME.size,
        NAME.colour,
        escape(words)
    ));
}

/// How many characters of a name there is room for.
fn chars_in(room: f64) -> usize {
    let fits = |chars: &usize| NAME.width(&"n".repeat(*chars)) <= room;
    (1..=NAME_BYTES_MAX).take_while(fits).last().unwrap_or(0)
}

/// The fill of a node that is down or silent.
const GONE: &str = "#e4e7ea";
/// A name of at most so many characters is written into its circle.
const INSIDE: usize = 3;
/// How far neighbours are apart, if there is room.
const APART: f64 = 150.0;
const SPAN_MIN: f64 = 300.0;
const SPAN_MAX: f64 = 1500.0;
const WIDTH_MIN: f64 = 300.0;
const MARGIN: f64 = 78.0;
pub(super) const NODE: f64 = 34.0;
/// A smaller circle has no room for more than the short form.
const ROOMY: f64 = 25.0;
const NAME: Font = Font::new(12.0, INK).bold();
const NAME_WIDTH_MAX: f64 = 190.0;
