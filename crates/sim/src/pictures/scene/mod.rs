//! A trace as a scene: nodes at their positions, and the messages between them in numbered steps.
//!
//! Positions are an input, so a ring and a radio network are drawn alike:
//!
//! ```text
//!   Scene      places and links         a circle, or the positions of a world
//!   messages   who told whom, and what became of it
//!   stages     what makes one picture: a fault, a wave, a round, a flood
//!   routes     arrows around nodes, numbers where nothing else is
//!   page       one picture, all stages on a sheet, or a file for each
//! ```
//!
//! A step is a time at which something was sent; messages sent at the same time have the same
//! number. Messages of one kind between the same two nodes share an arrow. A run is one picture
//! while it has few arrows, each used once or twice; otherwise it is drawn in stages, one beside
//! the other. Assumes that no node moves during the trace.

mod captions;
mod geometry;
mod legend;
mod messages;
mod nodes;
mod page;
mod picture;
mod routes;
mod sheet;
mod stages;

use std::collections::{BTreeMap, BTreeSet};
use std::f64::consts::{PI, TAU};

use tanist_core::membership::NodeNames;
use tanist_core::trace::{Entry, Event, Header, Kind};
use tanist_core::{GroupConfig, NodeId};

use self::messages::{Arrow, Part, Step};
use self::nodes::{Detail, Looks};
pub use self::page::{FRAMES_MARK, index};
use self::page::{Page, Panel};
use self::stages::Stage;
use super::names::ShortNames;
use super::svg::{FAINT, Font};
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
    /// The world of a scenario at its beginning: a circle, or one for each peer group, unless nodes
    /// have positions.
    #[must_use]
    pub fn of(scenario: &Scenario, seed: u64) -> Self {
        let circle =
            Self::clusters(scenario).unwrap_or_else(|| Self::circle(&scenario.header(seed)));
        let mut ids: Vec<NodeId> = circle.places.iter().map(|place| place.node).collect();
        ids.sort_unstable();
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

    /// Peer groups as circles on a circle, for algorithms that have them.
    fn clusters(scenario: &Scenario) -> Option<Self> {
        let config = GroupConfig::new(scenario.settings).ok()?;
        let members = scenario.members.clone().arranged(&config).ok()?;
        let hierarchy = members.hierarchy()?;
        let groups = (0..hierarchy.groups(0)).filter_map(|group| hierarchy.peers(group));
        let groups: Vec<Vec<NodeId>> = groups
            .map(|peers| {
                let mut ids: Vec<NodeId> = peers.all().iter().map(|member| member.id).collect();
                ids.sort_unstable();
                ids
            })
            .collect();
        // Neighbours in a group are 1 apart, and groups a little more.
        let wide = |count: usize| if count < 2 { 0.0 } else { 0.5 / (PI / number(count)).sin() };
        let widest = groups.iter().map(|ids| wide(ids.len())).fold(0.0, f64::max);
        let away = match groups.len() {
            0 | 1 => 0.0,
            count => (widest + 0.7) / (PI / number(count)).sin(),
        };
        let on_circle = |radius: f64, at: usize, count: usize| {
            let angle = TAU * number(at) / number(count) - TAU / 4.0;
            (radius * angle.cos(), radius * angle.sin())
        };
        let mut places = Vec::new();
        for (at, ids) in groups.iter().enumerate() {
            let (left, top) = on_circle(away, at, groups.len());
            for (seat, node) in ids.iter().enumerate() {
                let (x, y) = on_circle(wide(ids.len()), seat, ids.len());
                places.push(Place { node: *node, x: left + x, y: top + y });
            }
        }
        places.sort_unstable_by_key(|place| place.node);
        Some(Self { places, links: Vec::new() })
    }

    /// The nodes of a trace on a circle, clockwise in the order of the ring, or of id.
    /// The links are those of the ring, if the algorithm goes round one.
    #[must_use]
    pub fn circle(header: &Header) -> Self {
        let ids = header.in_ring_order();
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

/// Whether messages of the trace's algorithm go round a ring.
pub(super) fn is_ring(header: &Header) -> bool {
    header.algorithm.starts_with("ring-")
}

/// Draws a trace on its scene as a standalone SVG: in one picture, or in stages on one sheet where
/// one picture would be too crowded.
#[must_use]
pub fn draw(header: &Header, entries: &[Entry], scene: &Scene) -> String {
    let said = messages::read(header, entries);
    let drawn = said.iter().filter(|said| said.part != Part::Agreement);
    let arrows = messages::arrows(header, entries, drawn);
    let is_crowded =
        arrows.len() > ARROWS_MAX || arrows.values().any(|steps| messages::is_many(steps));
    if !is_crowded {
        let first = entries.iter().find(|entry| matches!(entry.event, Event::Call { .. }));
        let called = |entry: &&Entry| first.is_some_and(|first| entry.at == first.at);
        let calls: Vec<Entry> = entries.iter().filter(called).cloned().collect();
        let looks = Looks::after(header, entries, entries.len(), Detail::Outcome);
        let looks = looks.called_by(&nodes::callers(&calls));
        let outcome = outcome(&arrows, &looks, |nodes| header.names.list(nodes.iter().copied()));
        let caption = short_outcome(&arrows, &looks, &header.names);
        let (sheet, mut layouts) = routes::fit(scene, &header.names, &[(arrows, &looks)]);
        if let Some(layout) = layouts.pop().filter(|layout| layout.is_clear) {
            let page = Page { header, scene, sheet };
            let about = format!("{} nodes in their places: {outcome}.", header.nodes.len());
            let panel = Panel { layout, looks, title: header.title(), caption };
            return page.single(&panel, &about);
        }
    }
    let (page, panels) = in_stages(header, entries, scene);
    page.sheet_of(&header.title(), &panels)
}

/// One stage of a run, as a picture of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The name of its file.
    pub file: String,
    /// `Stage 2 of 5: election`.
    pub title: String,
    /// What happens in it.
    pub caption: String,
    /// The picture, as a standalone SVG.
    pub svg: String,
}

/// Draws a trace stage by stage: a picture for each thing that a teacher would show by itself.
#[must_use]
pub fn frames(header: &Header, entries: &[Entry], scene: &Scene) -> Vec<Frame> {
    let (page, panels) = in_stages(header, entries, scene);
    let frame = |(number, panel): (usize, &Panel)| Frame {
        file: format!("stage-{number:02}.svg"),
        title: panel.title.clone(),
        caption: panel.caption.clone(),
        svg: page.single(panel, &panel.caption),
    };
    (1..).zip(&panels).map(frame).collect()
}

/// The stages of a trace, all on sheets of the same size, so that nodes stay where they are.
fn in_stages<'a>(
    header: &'a Header,
    entries: &[Entry],
    scene: &'a Scene,
) -> (Page<'a>, Vec<Panel>) {
    let said = messages::read(header, entries);
    let stages = stages::split(header, entries, &said);
    let mut pictures = Vec::new();
    let mut texts = Vec::new();
    for (number, stage) in (1..).zip(&stages) {
        let looks = Looks::after(header, entries, stage.until, Detail::All);
        // Reports are sent while the flood still spreads: what it began is shown with the flood.
        let next = stages[number..].iter().find(|next| !next.is_report());
        let next = next.map_or(entries.len(), |next| next.first);
        let callers = match stage.said().is_empty() || stage.is_report() {
            true => BTreeSet::new(),
            false => nodes::callers(stage_entries(entries, stage, next)),
        };
        let looks = looks.called_by(&callers);
        let is_last = number == stages.len();
        let caption = captions::caption(header, entries, stage, &looks, is_last);
        let title =
            format!("Stage {number} of {}: {}", stages.len(), captions::title(entries, stage));
        texts.push((title, caption));
        pictures.push((messages::arrows(header, entries, stage.said().iter()), looks));
    }
    let asked: Vec<_> = pictures.iter().map(|(arrows, looks)| (arrows.clone(), looks)).collect();
    let (sheet, layouts) = routes::fit(scene, &header.names, &asked);
    let panels =
        layouts.into_iter().zip(texts).zip(pictures).map(|((layout, text), (_, looks))| {
            let (title, caption) = text;
            Panel { layout, looks, title, caption }
        });
    (Page { header, scene, sheet }, panels.collect())
}

/// The entries of a stage; a call comes just before the first message that it sends.
fn stage_entries<'a>(entries: &'a [Entry], stage: &Stage, next: usize) -> &'a [Entry] {
    let begin = entries.partition_point(|entry| entry.at < stage.begins);
    let next = next.max(begin);
    let end = match entries.get(next) {
        Some(entry) => entries.partition_point(|other| other.at < entry.at),
        None => next,
    };
    &entries[begin..end.max(stage.first + 1).min(entries.len())]
}

/// The outcome in a line that is not too long: with shortened names, or short forms only.
fn short_outcome(arrows: &BTreeMap<Arrow, Vec<Step>>, looks: &Looks, names: &NodeNames) -> String {
    let short = ShortNames::new(names, NAME_MAX);
    let named = outcome(arrows, looks, |nodes| short.list(nodes.iter().copied()));
    if OUTCOME.width(&named) <= OUTCOME_WIDTH_MAX {
        return named;
    }
    outcome(arrows, looks, |nodes| NodeNames::default().list(nodes.iter().copied()))
}

/// The outcome in a line, with lists of nodes in these words.
fn outcome(
    arrows: &BTreeMap<Arrow, Vec<Step>>,
    looks: &Looks,
    names: impl Fn(&[NodeId]) -> String,
) -> String {
    let mut counts: BTreeMap<Kind, usize> = BTreeMap::new();
    for (arrow, steps) in arrows {
        *counts.entry(arrow.kind).or_default() += steps.len();
    }
    let mut parts = Vec::new();
    let callers = looks.nodes.iter().filter(|(_, look)| look.calls);
    let callers: Vec<NodeId> = callers.map(|(node, _)| *node).collect();
    match callers.len() {
        0 => {}
        1 => parts.push(format!("{} calls", names(&callers))),
        _ => parts.push(format!("{} call", names(&callers))),
    }
    parts.extend(counts.iter().map(|(kind, count)| format!("{count} {kind}")));
    let leaders = looks.leaders();
    parts.push(match leaders.len() {
        0 => "nobody coordinates".to_owned(),
        1 => format!("{} coordinates", names(&leaders)),
        _ => format!("{} coordinate", names(&leaders)),
    });
    let silent = looks.silent();
    match silent.len() {
        0 => {}
        1 => parts.push(format!("{} is silent", names(&silent))),
        _ => parts.push(format!("{} are silent", names(&silent))),
    }
    // A line may end after a dot.
    parts.join("\u{a0}· ")
}

fn number(items: usize) -> f64 {
    f64::from(u32::try_from(items).unwrap_or(u32::MAX))
}

/// More arrows than this are drawn in stages.
const ARROWS_MAX: usize = 16;
const OUTCOME: Font = Font::new(14.0, FAINT);
const OUTCOME_WIDTH_MAX: f64 = 900.0;
/// Longer names of nodes are shortened in the outcome.
const NAME_MAX: usize = 24;

#[cfg(test)]
mod overlaps;
#[cfg(test)]
mod tests;
