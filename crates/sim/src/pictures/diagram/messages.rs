//! Every message of a trace with its delivery or loss, as an arrow.

use std::collections::BTreeMap;

use tanist_core::membership::{Named, NodeNames};
use tanist_core::trace::{Contents, Entry, Event, Kind, Loss, MessageFacts};
use tanist_core::{NodeId, Time};

use super::labels::Labels;
use super::lanes::{BAR, Lanes};
use super::scale::Scale;
use crate::pictures::contents;
use crate::pictures::looks::{self, Legend, Mark};
use crate::pictures::names::ShortNames;
use crate::pictures::svg::{Pen, Spot, Svg};

/// A message.
pub(super) struct Message {
    from: NodeId,
    to: NodeId,
    facts: MessageFacts,
    contents: Option<Contents>,
    way: Way,
}

/// How far a message got, as far as the trace shows.
#[derive(Clone, Copy)]
enum Way {
    Arrived {
        sent: Time,
        received: Time,
    },
    Lost {
        sent: Time,
        lost: Time,
        why: Loss,
    },
    /// Still in flight at the end of the trace, or received by a node that writes its own trace.
    Sent(Time),
    /// Sent by a node that writes its own trace.
    Received(Time),
}

/// Pairs every sending with its delivery or loss. A message that arrives twice becomes two
/// messages.
pub(super) fn read(entries: &[Entry]) -> Vec<Message> {
    let mut messages: Vec<Message> = Vec::new();
    let mut sendings: BTreeMap<(NodeId, NodeId, u64), (usize, Time)> = BTreeMap::new();
    let mut broadcasts: BTreeMap<(NodeId, u64), Time> = BTreeMap::new();
    for Entry { at, event } in entries {
        if let Event::Broadcast { node, id, .. } = event {
            broadcasts.insert((*node, *id), *at);
        }
        let Some((from, to, id, facts, step)) = step(event) else {
            continue;
        };
        let sending = sendings.get(&(from, to, id)).copied();
        let left = sending.map(|(_, sent)| sent).or(broadcasts.get(&(from, id)).copied());
        let way = match (step, left) {
            (Step::Send, _) => {
                sendings.insert((from, to, id), (messages.len(), *at));
                let contents = event.contents().cloned();
                messages.push(Message { from, to, facts, contents, way: Way::Sent(*at) });
                continue;
            }
            (Step::Receive, Some(sent)) => Way::Arrived { sent, received: *at },
            (Step::Receive, None) => Way::Received(*at),
            (Step::Lose(why), left) => Way::Lost { sent: left.unwrap_or(*at), lost: *at, why },
        };
        match sending.and_then(|(index, _)| messages.get_mut(index)) {
            Some(message) if matches!(message.way, Way::Sent(_)) => message.way = way,
            Some(_) | None => {
                let contents = event.contents().cloned();
                messages.push(Message { from, to, facts, contents, way });
            }
        }
    }
    messages
}

enum Step {
    Send,
    Receive,
    Lose(Loss),
}

fn step(event: &Event) -> Option<(NodeId, NodeId, u64, MessageFacts, Step)> {
    if let Event::Send { node, to, id, message, .. } = event {
        return Some((*node, *to, *id, *message, Step::Send));
    }
    if let Event::Receive { node, from, id, message, .. } = event {
        return Some((*from, *node, *id, *message, Step::Receive));
    }
    let Event::Lose { node, to, id, message, why, .. } = event else { return None };
    Some((*node, *to, *id, *message, Step::Lose(*why)))
}

/// How long a typical message of these took, in microseconds.
pub(super) fn typical_flight(messages: &[Message]) -> Option<u64> {
    let mut flights: Vec<u64> = messages.iter().filter_map(Message::flight).collect();
    flights.sort_unstable();
    flights.get(flights.len() / 2).copied()
}

pub(super) fn explain(messages: &[Message], legend: &mut Legend) {
    for message in messages {
        legend.kinds.insert(message.facts.kind);
        match message.way {
            Way::Arrived { .. } => {}
            Way::Lost { .. } => {
                legend.marks.insert(Mark::Lost);
            }
            Way::Sent(_) | Way::Received(_) => {
                legend.marks.insert(Mark::Pending);
            }
        }
    }
}

pub(super) fn draw(
    messages: &[Message],
    svg: &mut Svg,
    scale: &Scale,
    lanes: &Lanes<'_>,
    names: &Names<'_>,
) {
    let mut labels = Labels::new(lanes.heights());
    for message in messages {
        let Some((from, to)) = message.line(scale, lanes) else {
            continue;
        };
        message.draw(svg, &message.words(scale, names), from, to);
        labels.arrow(message.label_key(names.short), from, to);
    }
    labels.draw(svg);
}

/// What nodes are called: on arrows, and in tooltips.
pub(super) struct Names<'a> {
    pub(super) short: &'a ShortNames,
    pub(super) full: &'a NodeNames,
}

/// Messages of one node, moment, kind, answer and contents get one label.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LabelKey {
    pub(super) at: Time,
    pub(super) node: NodeId,
    pub(super) kind: Kind,
    pub(super) ok: Option<bool>,
    /// What the message says, as far as it fits on an arrow.
    pub(super) contents: String,
}

impl Message {
    /// Draws the arrow, the stub or the cross.
    fn draw(&self, svg: &mut Svg, tooltip: &str, from: Spot, to: Spot) {
        let pen = looks::pen(self.facts.kind);
        let class = match self.way {
            Way::Arrived { .. } | Way::Received(_) => "arrow",
            Way::Lost { .. } => "lost",
            Way::Sent(_) => "pending",
        };
        svg.open(class, tooltip);
        if self.from == self.to {
            let top = Spot::new((from.x + to.x) / 2.0, from.y - BAR);
            svg.polyline(&[from, top, to], pen);
        } else {
            svg.line(from, to, pen);
        }
        let end = Pen::new(pen.colour, 1.4);
        match self.way {
            Way::Arrived { .. } => looks::head(svg, from, to, pen.colour),
            Way::Lost { .. } => svg.cross(to, 4.5, Pen::new(pen.colour, 2.0)),
            Way::Sent(_) => svg.circle(to, 3.2, "#ffffff", end),
            Way::Received(_) => {
                looks::head(svg, from, to, pen.colour);
                svg.circle(from, 3.2, "#ffffff", end);
            }
        }
        svg.close();
    }

    /// The ends of its line; none if a node is not in the header.
    fn line(&self, scale: &Scale, lanes: &Lanes<'_>) -> Option<(Spot, Spot)> {
        let (upper, lower) = (lanes.y(self.from)?, lanes.y(self.to)?);
        let edge = match upper.total_cmp(&lower) {
            core::cmp::Ordering::Less => BAR / 2.0,
            core::cmp::Ordering::Equal => 0.0,
            core::cmp::Ordering::Greater => -BAR / 2.0,
        };
        let out = |x: f64| Spot::new(x, upper + edge);
        let into = |x: f64| Spot::new(x, lower - edge);
        let flight = scale.flight() * 0.8;
        Some(match self.way {
            Way::Arrived { sent, received } => (out(scale.x(sent)), into(scale.x(received))),
            Way::Lost { sent, lost, why } => {
                let start = scale.x(sent);
                // A loss recorded at the sending has no time of its own.
                let end = if lost > sent { scale.x(lost) } else { start + flight };
                (out(start), resting_place(out(start), into(end), why, lanes))
            }
            Way::Sent(sent) => {
                let start = out(scale.x(sent));
                (start, start.toward(into(start.x + flight), 0.4))
            }
            Way::Received(received) => {
                let end = into(scale.x(received));
                (end.toward(out(end.x - flight), 0.4), end)
            }
        })
    }

    fn flight(&self) -> Option<u64> {
        match self.way {
            Way::Arrived { sent, received } => {
                Some(received.as_micros().saturating_sub(sent.as_micros()))
            }
            Way::Lost { .. } | Way::Sent(_) | Way::Received(_) => None,
        }
    }

    fn label_key(&self, names: &ShortNames) -> LabelKey {
        let (at, node) = match self.way {
            Way::Arrived { sent, .. } | Way::Lost { sent, .. } | Way::Sent(sent) => {
                (sent, self.from)
            }
            Way::Received(received) => (received, self.to),
        };
        let contents = contents::brief(self.contents.as_ref(), names);
        LabelKey { at, node, kind: self.facts.kind, ok: self.facts.ok, contents }
    }

    /// The text of the tooltip.
    fn words(&self, scale: &Scale, names: &Names<'_>) -> String {
        let short = names.short;
        let names = names.full;
        let when = |at: Time| scale.words(at.as_micros());
        let mut words = self.facts.kind.to_string();
        if let Some(ok) = self.facts.ok {
            words.push_str(if ok { " yes" } else { " no" });
        }
        words.push_str(&format!(", {} to {}", names.of(self.from), names.of(self.to)));
        words.push_str(&contents::listed(self.contents.as_ref(), short));
        if let Some(group) = self.facts.group {
            words.push_str(&format!(", group {group}"));
        }
        words.push_str(&match self.way {
            Way::Arrived { sent, received } => {
                format!(", sent {}, received {}", when(sent), when(received))
            }
            Way::Lost { sent, why, .. } => {
                format!(", sent {}, lost: {}", when(sent), loss(why, names.of(self.to)))
            }
            Way::Sent(sent) => format!(", sent {}", when(sent)),
            Way::Received(received) => format!(", received {}", when(received)),
        });
        words
    }
}

/// Where the cross of a lost message is drawn: half-way, or just before a receiver that it could
/// not reach, and never behind the bar of a third node.
fn resting_place(from: Spot, to: Spot, why: Loss, lanes: &Lanes<'_>) -> Spot {
    let mut part = match why {
        Loss::Dropped => 0.5,
        Loss::Cut | Loss::Down => 1.0 - SHORT / (to.y - from.y).abs().max(2.0 * SHORT),
    };
    while part > 0.1 && lanes.hides(from.toward(to, part).y) {
        part -= 0.04;
    }
    from.toward(to, part)
}

fn loss(why: Loss, to: Named<'_>) -> String {
    match why {
        Loss::Dropped => "dropped".to_string(),
        Loss::Cut => "the link is cut".to_string(),
        Loss::Down => format!("{to} is down"),
    }
}

/// The distance from the receiver's bar at which an undelivered message ends.
const SHORT: f64 = 12.0;
