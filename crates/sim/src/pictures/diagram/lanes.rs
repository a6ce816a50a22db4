//! One line per node: a bar coloured by status, with gaps, hatching and marks.

use tanist_core::membership::Named;
use tanist_core::trace::{Entry, Event, Header, NodeState};
use tanist_core::{GroupNumber, Member, NodeId, Status, Time};

use super::scale::Scale;
use crate::pictures::looks::{self, Legend, Mark};
use crate::pictures::names::ShortNames;
use crate::pictures::scene;
use crate::pictures::svg::{FAINT, Font, INK, Pen, Spot, Svg};

/// The node lines of a picture, highest rank first.
pub(super) struct Lanes<'a> {
    lanes: Vec<Lane<'a>>,
}

struct Lane<'a> {
    node: NodeId,
    /// What the node is called, in full.
    called: Named<'a>,
    /// The priority, where it differs from the id.
    priority: Option<u32>,
    y: f64,
    spans: Vec<Span>,
    pauses: Vec<(Time, Option<Time>)>,
    marks: Vec<(Time, Mark, String)>,
}

/// The state of a node from one time to another, or to the end of the trace.
struct Span {
    from: Time,
    to: Option<Time>,
    being: Being,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Being {
    /// Crashed, or not started yet.
    Gone,
    /// Up, but the trace does not say in which status.
    Unknown,
    In(Status, Option<GroupNumber>),
}

impl<'a> Lanes<'a> {
    /// Reads the states of the nodes; the first line is at `top`.
    pub(super) fn new(header: &'a Header, entries: &[Entry], top: f64) -> Self {
        let mut members = header.nodes.clone();
        if scene::is_ring(header) {
            // Messages round the ring go down line by line.
            let order = header.in_ring_order();
            members.sort_by_key(|member| order.iter().position(|id| *id == member.id));
        } else {
            members.sort_unstable_by(|a, b| b.cmp(a));
        }
        let apart = match members.len() {
            0..=5 => 102.0,
            6..=8 => 80.0,
            9..=12 => 64.0,
            _ => 50.0,
        };
        let start = entries.first().map_or(Time::ZERO, |entry| entry.at);
        let mut y = top;
        let mut lanes = Vec::with_capacity(members.len());
        for member in members {
            let mut lane = Lane::new(member, header.names.of(member.id), y, start);
            entries.iter().for_each(|entry| lane.note(entry));
            lanes.push(lane);
            y += apart;
        }
        Self { lanes }
    }

    /// The height of a node's line.
    pub(super) fn y(&self, node: NodeId) -> Option<f64> {
        self.lanes.iter().find(|lane| lane.node == node).map(|lane| lane.y)
    }

    /// The heights of all lines, from top to bottom.
    pub(super) fn heights(&self) -> Vec<f64> {
        self.lanes.iter().map(|lane| lane.y).collect()
    }

    /// Whether something drawn at this height could be hidden by a bar.
    pub(super) fn hides(&self, y: f64) -> bool {
        self.lanes.iter().any(|lane| (lane.y - y).abs() < BAR / 2.0 + 7.0)
    }

    pub(super) fn explain(&self, legend: &mut Legend) {
        for lane in &self.lanes {
            legend.marks.extend(lane.marks.iter().map(|(_, mark, _)| *mark));
            legend.marks.extend(lane.pauses.iter().map(|_| Mark::Paused));
            legend.statuses.extend(lane.spans.iter().filter_map(|span| match span.being {
                Being::In(status, _) if span.to != Some(span.from) => Some(status),
                Being::In(..) | Being::Gone | Being::Unknown => None,
            }));
        }
    }

    pub(super) fn draw_bars(&self, svg: &mut Svg, scale: &Scale, names: &ShortNames, left: f64) {
        for lane in &self.lanes {
            lane.draw_name(svg, names, left);
            lane.draw_spans(svg, scale);
            for (from, to) in &lane.pauses {
                let (x, right) = (scale.x(*from), to.map_or(scale.right(), |to| scale.x(to)));
                svg.open("pause", &format!("{} is paused", lane.called));
                let corner = Spot::new(x, lane.y - BAR / 2.0);
                looks::hatch(svg, corner, Spot::new(right - x, BAR));
                svg.close();
            }
        }
    }

    pub(super) fn draw_marks(&self, svg: &mut Svg, scale: &Scale) {
        for lane in &self.lanes {
            for (at, mark, tooltip) in &lane.marks {
                svg.open("mark", &format!("{tooltip}, {}", scale.words(at.as_micros())));
                mark.draw(svg, Spot::new(scale.x(*at), lane.y));
                svg.close();
            }
        }
    }
}

impl<'a> Lane<'a> {
    fn new(member: Member, called: Named<'a>, y: f64, start: Time) -> Self {
        let node = member.id;
        let priority = odd_priority(&member);
        let spans = vec![Span { from: start, to: None, being: Being::Gone }];
        Self { node, called, priority, y, spans, pauses: Vec::new(), marks: Vec::new() }
    }

    fn note(&mut self, entry: &Entry) {
        let (at, event) = (entry.at, &entry.event);
        if event.actor() != Some(self.node) {
            return;
        }
        let called = self.called;
        if let Event::Start { restarted, .. } = event {
            self.turn(at, Being::In(Status::Down, None));
            if *restarted {
                self.marks.push((at, Mark::Restart, format!("{called} restarts")));
            }
        } else if matches!(event, Event::Crash { .. }) {
            self.turn(at, Being::Gone);
            self.run_on(at);
            self.marks.push((at, Mark::Crash, format!("{called} crashes")));
        } else if matches!(event, Event::Withdraw { .. }) {
            self.marks.push((at, Mark::Withdraw, format!("{called} withdraws")));
        } else if matches!(event, Event::Overdue { .. }) {
            let why = format!("{called} falls silent: its application has not stopped");
            self.marks.push((at, Mark::Silent, why));
        } else if matches!(event, Event::Rejoin { .. }) {
            self.marks.push((at, Mark::Restart, format!("{called} rejoins")));
        } else if matches!(event, Event::Pause { .. }) {
            self.pauses.push((at, None));
        } else if matches!(event, Event::Resume { .. }) {
            self.run_on(at);
        } else if let Event::State { state, .. } = event {
            self.note_state(at, state);
        } else if let Event::Timer { timer, .. } = event {
            if timer.info().is_drawn {
                self.marks.push((at, Mark::Timer, format!("{called}: timer {timer} ran out")));
            }
        } else if event.message().is_some() && self.being() == Being::Gone {
            self.turn(at, Being::Unknown);
        }
    }

    fn note_state(&mut self, at: Time, state: &NodeState) {
        let was_normal = matches!(self.being(), Being::In(Status::Normal, _));
        self.turn(at, Being::In(state.status, state.group));
        let coordinates = state.coordinator == Some(self.node);
        if coordinates && state.status == Status::Normal && !was_normal {
            let group = state.group.map_or_else(String::new, |group| format!(" {group}"));
            let tooltip = format!("{} coordinates group{group}", self.called);
            self.marks.push((at, Mark::Coordinator, tooltip));
        }
    }

    fn being(&self) -> Being {
        self.spans.last().map_or(Being::Gone, |span| span.being)
    }

    fn turn(&mut self, at: Time, being: Being) {
        if self.being() == being {
            return;
        }
        if let Some(span) = self.spans.last_mut() {
            span.to = Some(at);
        }
        self.spans.push(Span { from: at, to: None, being });
    }

    fn run_on(&mut self, at: Time) {
        if let Some((_, to @ None)) = self.pauses.last_mut() {
            *to = Some(at);
        }
    }

    /// The name or short form, and below it what else a reader needs: a node with a name is in
    /// group numbers by its short form.
    fn draw_name(&self, svg: &mut Svg, names: &ShortNames, left: f64) {
        let below = below(self.node, self.priority, names);
        let lift = if below.is_empty() { 5.5 } else { 0.0 };
        svg.text(Spot::new(left - GAP, self.y + lift), NAME, &names.of(self.node));
        if !below.is_empty() {
            svg.text(Spot::new(left - GAP, self.y + 14.0), BELOW.to_the_left(), &below);
        }
    }

    fn draw_spans(&self, svg: &mut Svg, scale: &Scale) {
        let covered = self.covered(scale);
        for span in &self.spans {
            let (x, right) = (scale.x(span.from), span.to.map_or(scale.right(), |to| scale.x(to)));
            if right - x < 0.05 {
                continue;
            }
            let (from, to) = (Spot::new(x, self.y), Spot::new(right, self.y));
            match span.being {
                Being::Gone => svg.line(from, to, Pen::new(FAINT, 1.2).dashed("1.5 5")),
                Being::Unknown => svg.line(from, to, Pen::new(FAINT, 2.0)),
                Being::In(status, group) => {
                    let words = bar_words(status, group);
                    svg.open("bar", &format!("{}: {}", self.called, words[0]));
                    let corner = Spot::new(x, self.y - BAR / 2.0);
                    svg.area(corner, Spot::new(right - x, BAR), looks::fill(status));
                    // The edge shows where a group follows a group in the same status.
                    let edge = Pen::new("#ffffff", 1.2);
                    svg.line(corner, Spot::new(x, self.y + BAR / 2.0), edge);
                    for (start, end) in readable((x, right), &covered) {
                        let room = end - start - 2.0;
                        if let Some(text) = words.iter().find(|text| IN_BAR.width(text) <= room) {
                            svg.text(Spot::new((start + end) / 2.0, self.y + 4.2), IN_BAR, text);
                        }
                    }
                    svg.close();
                }
            }
        }
    }

    /// The parts of the bar where no text can be read, in order.
    fn covered(&self, scale: &Scale) -> Vec<(f64, f64)> {
        let marks = self.marks.iter().map(|(at, ..)| scale.x(*at));
        let pauses = self
            .pauses
            .iter()
            .map(|(from, to)| (scale.x(*from), to.map_or(scale.right(), |to| scale.x(to))));
        let mut covered: Vec<(f64, f64)> =
            scale.broken().chain(marks.map(|x| (x - MARK, x + MARK))).chain(pauses).collect();
        covered.sort_by(|a, b| a.0.total_cmp(&b.0));
        covered
    }
}

/// How much room the names of nodes need, and what is written below them.
pub(super) fn names_width(header: &Header, names: &ShortNames) -> f64 {
    let width = |member: &Member| {
        let name = names.name(member.id).map_or(0.0, |name| NAME.width(name));
        name.max(BELOW.width(&below(member.id, odd_priority(member), names)))
    };
    let widest = header.nodes.iter().map(width).fold(0.0, f64::max);
    if widest > 0.0 { widest + GAP + EDGE } else { 0.0 }
}

/// What is written below the name: the short form of a node that has one, and its priority.
fn below(node: NodeId, priority: Option<u32>, names: &ShortNames) -> String {
    let name = names.name(node);
    // A label that is the priority says it already.
    let priority = priority.filter(|priority| name != Some(priority.to_string().as_str()));
    let priority = priority.map(|priority| format!("priority {priority}"));
    let parts: Vec<String> = name.map(|_| node.to_string()).into_iter().chain(priority).collect();
    parts.join(", ")
}

/// The priority, where it differs from the id.
fn odd_priority(member: &Member) -> Option<u32> {
    (member.priority.0 != member.id.0).then_some(member.priority.0)
}

/// Where to write on a part of a bar of which these pieces, in order, are covered: on the widest
/// free piece, and on every other one that is wide enough for a reader to miss the text.
fn readable((left, right): (f64, f64), covered: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut pieces = Vec::new();
    let mut start = left;
    for (from, to) in covered.iter().copied().chain([(right, right)]) {
        let end = from.min(right);
        if end > start {
            pieces.push((start, end));
        }
        start = start.max(to);
    }
    let width = |piece: &(f64, f64)| piece.1 - piece.0;
    let widest = pieces.iter().map(width).fold(0.0, f64::max);
    let mut is_written = false;
    pieces.retain(|piece| {
        let is_widest = width(piece) >= widest && !is_written;
        is_written |= is_widest;
        is_widest || width(piece) >= REPEAT
    });
    pieces
}

/// The text of a bar, longest form first.
fn bar_words(status: Status, group: Option<GroupNumber>) -> Vec<String> {
    let initial = looks::initial(status);
    let mut words = match group {
        Some(group) => vec![format!("{status} {group}"), format!("{initial} {group}")],
        None => vec![status.to_string()],
    };
    words.push(initial.to_string());
    words
}

/// How thick a bar is.
pub(super) const BAR: f64 = 20.0;
const NAME: Font = Font::new(16.0, INK).bold().to_the_left();
/// What is below a name.
const BELOW: Font = Font::new(11.0, FAINT);
/// Between a name and its line.
const GAP: f64 = 16.0;
/// Between a name and the edge of the picture.
const EDGE: f64 = 16.0;
/// A free piece of a bar this wide repeats the text.
const REPEAT: f64 = 260.0;
/// Half the width of a mark on a bar, with a little air.
const MARK: f64 = 12.0;
const IN_BAR: Font = Font::new(12.0, INK).centred();

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_goes_where_nothing_covers_the_bar() {
        assert_eq!(readable((0.0, 100.0), &[]), [(0.0, 100.0)]);
        assert_eq!(readable((0.0, 100.0), &[(-5.0, 5.0), (30.0, 40.0)]), [(40.0, 100.0)]);
        assert_eq!(readable((0.0, 100.0), &[(70.0, 90.0), (95.0, 120.0)]), [(0.0, 70.0)]);
        assert_eq!(readable((0.0, 10.0), &[(-5.0, 50.0)]), []);
        assert_eq!(readable((0.0, 600.0), &[(290.0, 300.0)]), [(0.0, 290.0), (300.0, 600.0)]);
    }
}
