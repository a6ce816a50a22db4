//! A trace as a scene: nodes at their positions, the messages between them in numbered steps, and
//! the coordinator in the end.
//! | Positions are an input, so a ring and a radio network are drawn alike:
//!
//! ```text
//!   Scene      places and links         a circle, or whatever a world says
//!   the trace  steps: who told whom     only what the election itself says, no answers
//!              marks: called, dead, coordinator
//! ```
//!
//! A step is a time at which something was sent; messages sent at the same time have the same
//! number. Messages of one kind between the same two nodes share an arrow. Assumes that no node
//! moves during the trace.

mod sheet;

use std::collections::{BTreeMap, BTreeSet};
use std::f64::consts::TAU;

use tanist_core::membership::NodeNames;
use tanist_core::trace::{Entry, Event, Header, Kind};
use tanist_core::{NodeId, Status, Time};

use self::sheet::Sheet;
use super::looks::{self, Mark};
use super::names::ShortNames;
use super::svg::{FAINT, Font, INK, Pen, Spot, Svg};
use crate::Scenario;
use crate::world::places::Position;
use crate::world::topology::Reach;

/// The positions of nodes, and which can reach each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// One position for each node.
    pub places: Vec<Place>,
    /// Pairs that can reach each other, to be drawn as thin lines; none where all can.
    pub links: Vec<(NodeId, NodeId)>,
}

/// The position of a node, in any unit: x to the right, y downwards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// Which node.
    pub node: NodeId,
    /// To the right.
    pub x: f64,
    /// Downwards.
    pub y: f64,
}

impl Scene {
    /// The world of a scenario at its beginning: a circle, unless nodes have positions.
    #[must_use]
    pub fn of(scenario: &Scenario, seed: u64) -> Self {
        let circle = Self::circle(&scenario.header(seed));
        let ids: Vec<NodeId> = circle.places.iter().map(|place| place.node).collect();
        let Some(reach) = Reach::new(&scenario.topology, ids.clone(), seed) else { return circle };
        let near = |(at, node): (usize, &NodeId)| {
            let others = reach.neighbours(at).iter().filter(|other| **other > at);
            others.map(|other| (*node, ids[*other])).collect::<Vec<_>>()
        };
        let links = ids.iter().enumerate().flat_map(near).collect();
        let Some(positions) = reach.positions() else {
            return Self { places: circle.places, links };
        };
        let place = |(node, position): (&NodeId, &Position)| {
            #[expect(clippy::cast_precision_loss, reason = "decimetres on a sheet of paper")]
            let (x, y) = (position.x as f64, position.y as f64);
            Place { node: *node, x, y }
        };
        Self { places: ids.iter().zip(positions).map(place).collect(), links }
    }

    /// The nodes of a trace on a circle, clockwise in order of id, which is the order of the ring.
    /// The links are those of the ring, if the algorithm goes round one.
    #[must_use]
    pub fn circle(header: &Header) -> Self {
        let ids: BTreeSet<NodeId> = header.nodes.iter().map(|member| member.id).collect();
        let ids: Vec<NodeId> = ids.into_iter().collect();
        let step = TAU / number(ids.len().max(1));
        let places = ids.iter().enumerate().map(|(at, node)| {
            let angle = step * number(at) - TAU / 4.0;
            Place { node: *node, x: angle.cos(), y: angle.sin() }
        });
        let next = ids.iter().cycle().skip(1);
        let links = ids.iter().zip(next).map(|(node, next)| (*node, *next));
        let is_ring = is_ring(header) && ids.len() > 1;
        Self { places: places.collect(), links: links.filter(|_| is_ring).collect() }
    }
}

/// Whether messages of the trace's algorithm go round a ring in order of id.
pub(super) fn is_ring(header: &Header) -> bool {
    header.algorithm.starts_with("ring-")
}

/// Draws a trace on its scene as a standalone SVG.
#[must_use]
pub fn draw(header: &Header, entries: &[Entry], scene: &Scene) -> String {
    let title_font = Font::new(20.0, INK).bold();
    let marks = Marks::read(entries);
    let arrows = arrows(entries);
    let outcome = marks.outcome(&arrows, |nodes| header.names.list(nodes.iter().copied()));
    let short = marks.short_outcome(&arrows, &header.names);
    let mut width_min = title_font.width(&header.title());
    if !header.names.is_empty() {
        width_min = width_min.max(OUTCOME.width(&short));
    }
    let sheet = Sheet::new(scene, &header.names, width_min + 40.0);
    let kinds: BTreeSet<Kind> = arrows.keys().map(|arrow| arrow.kind).collect();
    let legend_top = sheet.size.y + 8.0;
    let rows = number(kinds.len().max(3));
    let title = header.title();
    let size = Spot::new(sheet.size.x, legend_top + ROW * rows + 10.0);
    let mut svg = Svg::new(size, &title, &describe(header, &outcome));
    svg.text(Spot::new(20.0, 32.0), title_font, &title);
    svg.text(Spot::new(20.0, 54.0), OUTCOME, &short);
    for (a, b) in &scene.links {
        if let (Some(a), Some(b)) = (sheet.place(*a), sheet.place(*b)) {
            svg.line(a, b, Pen::new("#d8dce1", 5.0));
        }
    }
    let mut labels = Vec::new();
    for (arrow, steps) in &arrows {
        let bow = bow(scene, &arrows, arrow);
        labels.extend(sheet.draw_arrow(&mut svg, arrow, bow, steps));
    }
    for member in &header.nodes {
        sheet.draw_node(&mut svg, member, &marks);
    }
    // Above everything else, since a hidden number is missed most.
    for label in labels {
        label.draw(&mut svg);
    }
    draw_legend(&mut svg, &arrows, &marks, &kinds, legend_top);
    svg.finish()
}

/// Messages of one kind from one node to another that were all delivered or all lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Arrow {
    from: NodeId,
    to: NodeId,
    kind: Kind,
    is_lost: bool,
}

/// The messages of the election, with the numbers of the steps at which they were sent.
fn arrows(entries: &[Entry]) -> BTreeMap<Arrow, Vec<usize>> {
    let mut lost: BTreeSet<(NodeId, u64)> = BTreeSet::new();
    for entry in entries {
        if let Event::Lose { node, id, .. } = &entry.event {
            lost.insert((*node, *id));
        }
    }
    // A broadcast is drawn to each node that receives it.
    let mut said: BTreeMap<(NodeId, u64), Time> = BTreeMap::new();
    let mut sends: Vec<(Time, Arrow)> = Vec::new();
    for Entry { at, event } in entries {
        if let Event::Broadcast { node, id, .. } = event {
            said.insert((*node, *id), *at);
        }
        if let Event::Receive { node, from, id, message } = event
            && let Some(at) = said.get(&(*from, *id))
            && looks::is_of_election(message.kind)
        {
            let arrow = Arrow { from: *from, to: *node, kind: message.kind, is_lost: false };
            sends.push((*at, arrow));
        }
        if let Event::Send { node, to, id, message } = event
            && looks::is_of_election(message.kind)
        {
            let is_lost = lost.contains(&(*node, *id));
            sends.push((*at, Arrow { from: *node, to: *to, kind: message.kind, is_lost }));
        }
    }
    let moments: BTreeSet<Time> = sends.iter().map(|(at, _)| *at).collect();
    let number: BTreeMap<Time, usize> = moments.into_iter().zip(1..).collect();
    let mut arrows: BTreeMap<Arrow, Vec<usize>> = BTreeMap::new();
    for (at, arrow) in sends {
        arrows.entry(arrow).or_default().push(number[&at]);
    }
    arrows
}

/// The special nodes of the scene.
#[derive(Default)]
struct Marks {
    /// The nodes that called at the time of the first call.
    callers: BTreeSet<NodeId>,
    dead: BTreeSet<NodeId>,
    /// The nodes that are Normal and their own coordinator.
    coordinators: BTreeSet<NodeId>,
}

impl Marks {
    fn read(entries: &[Entry]) -> Self {
        let mut marks = Self::default();
        let mut first = None;
        for Entry { at, event } in entries {
            if let Event::Call { node } = event {
                if *first.get_or_insert(*at) == *at {
                    marks.callers.insert(*node);
                }
            } else if let Event::Crash { node } = event {
                marks.dead.insert(*node);
                marks.coordinators.remove(node);
            } else if let Event::Start { node, .. } = event {
                marks.dead.remove(node);
            } else if let Event::State { node, state } = event {
                let leads = state.status == Status::Normal && state.coordinator == Some(*node);
                if leads {
                    marks.coordinators.insert(*node);
                } else {
                    marks.coordinators.remove(node);
                }
            }
        }
        marks
    }

    /// The outcome in a line that is not too long: with shortened names, or short forms only.
    fn short_outcome(&self, arrows: &BTreeMap<Arrow, Vec<usize>>, names: &NodeNames) -> String {
        let short = ShortNames::new(names, NAME_MAX);
        let named = self.outcome(arrows, |nodes| short.list(nodes.iter().copied()));
        if OUTCOME.width(&named) <= OUTCOME_WIDTH_MAX {
            return named;
        }
        self.outcome(arrows, |nodes| NodeNames::default().list(nodes.iter().copied()))
    }

    /// The outcome in a line, with lists of nodes in these words.
    fn outcome(
        &self,
        arrows: &BTreeMap<Arrow, Vec<usize>>,
        names: impl Fn(&BTreeSet<NodeId>) -> String,
    ) -> String {
        let mut counts: BTreeMap<Kind, usize> = BTreeMap::new();
        for (arrow, steps) in arrows {
            *counts.entry(arrow.kind).or_default() += steps.len();
        }
        let mut parts = Vec::new();
        if !self.callers.is_empty() {
            parts.push(format!("{} calls", names(&self.callers)));
        }
        parts.extend(counts.iter().map(|(kind, count)| format!("{count} {kind}")));
        parts.push(match self.coordinators.len() {
            0 => "nobody coordinates".to_owned(),
            _ => format!("{} coordinates", names(&self.coordinators)),
        });
        parts.join(" · ")
    }
}

/// How far an arrow bows out, so that those between the same two nodes are apart.
fn bow(scene: &Scene, all: &BTreeMap<Arrow, Vec<usize>>, arrow: &Arrow) -> f64 {
    let ways = |from, to| all.keys().filter(move |other| (other.from, other.to) == (from, to));
    let position = ways(arrow.from, arrow.to).take_while(|other| *other != arrow).count();
    let is_one_way = ways(arrow.to, arrow.from).next().is_none();
    let is_linked = scene.links.is_empty()
        || scene.links.contains(&(arrow.from, arrow.to))
        || scene.links.contains(&(arrow.to, arrow.from));
    match (is_one_way, is_linked) {
        // Past another node: on the inner side, where there are no nodes.
        (true, false) => -BOW * 1.4 * number(position + 1),
        // One outside and one inside is clearest, where no arrow goes back.
        (true, true) if position.is_multiple_of(2) => BOW * number(position / 2 + 1),
        (true, true) => -BOW * number(position.div_ceil(2)),
        (false, _) => BOW * 0.6 * number(position + 1),
    }
}

fn draw_legend(
    svg: &mut Svg,
    arrows: &BTreeMap<Arrow, Vec<usize>>,
    marks: &Marks,
    kinds: &BTreeSet<Kind>,
    top: f64,
) {
    svg.put(format_args!("<g class=\"legend\">\n"));
    let font = Font::new(13.0, INK);
    for (at, kind) in kinds.iter().enumerate() {
        let from = Spot::new(24.0, top + ROW * number(at));
        let to = Spot::new(64.0, from.y);
        svg.line(from, to, looks::pen(*kind));
        looks::head(svg, from, to, looks::pen(*kind).colour);
        svg.text(Spot::new(74.0, from.y + 4.0), font, &kind.to_string());
    }
    let place = |x: f64, row: f64| Spot::new(x, top + ROW * row);
    let explain = |svg: &mut Svg, at: Spot, text: &str| {
        svg.text(Spot::new(at.x + 18.0, at.y + 4.0), font, text);
    };
    svg.circle(place(210.0, 0.0), 8.0, "#ffffff", Pen::new(looks::CALL, 3.0));
    explain(svg, place(210.0, 0.0), "calls the election");
    Mark::Coordinator.draw(svg, place(210.0, 1.0));
    explain(svg, place(210.0, 1.0), "coordinates in the end");
    if !marks.dead.is_empty() {
        Mark::Crash.draw(svg, place(420.0, 0.0));
        explain(svg, place(420.0, 0.0), "dead");
    }
    if arrows.keys().any(|arrow| arrow.is_lost) {
        Mark::Lost.draw(svg, place(420.0, 1.0));
        explain(svg, place(420.0, 1.0), "lost");
    }
    let at = Spot::new(place(210.0, 2.0).x - 8.0, place(210.0, 2.0).y + 4.0);
    svg.text(at, Font::new(13.0, FAINT), "numbers: the order of steps");
    svg.put(format_args!("</g>\n"));
}

/// The picture in words, for people who cannot see it.
fn describe(header: &Header, outcome: &str) -> String {
    format!("{} nodes in their places: {outcome}.", header.nodes.len())
}

fn number(items: usize) -> f64 {
    f64::from(u32::try_from(items).unwrap_or(u32::MAX))
}

const OUTCOME: Font = Font::new(14.0, FAINT);
const OUTCOME_WIDTH_MAX: f64 = 900.0;
/// Longer names of nodes are shortened in the outcome.
const NAME_MAX: usize = 24;
const BOW: f64 = 20.0;
const ROW: f64 = 24.0;

#[cfg(test)]
mod tests;
