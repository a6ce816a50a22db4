//! Lines through all nodes: link cuts, violated assertions, and the cuts of the bully algorithm.
//!
//! Figure 10.8 of Chow and Johnson names four consistent cuts of an election. A simulated run has
//! one clock, so a vertical line is a consistent cut.

use std::collections::BTreeMap;

use tanist_core::membership::{Named, NodeNames};
use tanist_core::trace::{Entry, Event, Header, Kind, NodeState, Outcome};
use tanist_core::{NodeId, Status, Time};

use super::lanes::{BAR, Lanes};
use super::links;
use super::scale::Scale;
use crate::pictures::names::ShortNames;
use crate::pictures::svg::{FAINT, Font, INK, Pen, RED, Spot, Svg};

/// The vertical lines of a picture, with their labels in rows above the nodes.
pub(super) struct Marks {
    marks: Vec<(Mark, Spot)>,
    rows: u32,
}

struct Mark {
    at: Time,
    text: String,
    tooltip: String,
    nodes: Vec<NodeId>,
    sort: Sort,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    Links,
    Violated,
    Stage,
}

impl Marks {
    /// Reads them, and finds rows for the labels; `left` is where the node lines begin.
    pub(super) fn new(
        (header, names): (&Header, &ShortNames),
        entries: &[Entry],
        scale: &Scale,
        left: f64,
    ) -> Self {
        let room = scale.right() - left;
        let mut marks: Vec<Mark> =
            entries.iter().filter_map(|entry| mark(entry, names, room)).collect();
        if header.algorithm == "bully" {
            marks.extend(stages(entries, &header.names));
        }
        marks.sort_by_key(|mark| mark.at);
        let mut ends: Vec<f64> = Vec::new();
        let mut placed = Vec::with_capacity(marks.len());
        for mark in marks {
            let half = mark.sort.font().width(&mark.text) / 2.0;
            let middle = scale.x(mark.at).max(left + half).min((scale.right() - half).max(left));
            let free = ends.iter().position(|end| *end + 8.0 <= middle - half);
            let row = free.unwrap_or_else(|| {
                ends.push(0.0);
                ends.len() - 1
            });
            ends[row] = middle + half;
            placed.push((mark, Spot::new(middle, f64::from(u32::try_from(row).unwrap_or(0)))));
        }
        Self { marks: placed, rows: u32::try_from(ends.len()).unwrap_or(0) }
    }

    /// How high the rows of labels are.
    pub(super) fn height(&self) -> f64 {
        f64::from(self.rows) * ROW
    }

    pub(super) fn draw(
        &self,
        svg: &mut Svg,
        scale: &Scale,
        lanes: &Lanes<'_>,
        top: f64,
        bottom: f64,
    ) {
        for (mark, label) in &self.marks {
            let x = scale.x(mark.at);
            let baseline = top + (label.y + 1.0) * ROW - 5.0;
            svg.open(mark.sort.class(), &mark.tooltip);
            svg.line(Spot::new(x, baseline + 4.0), Spot::new(x, bottom), mark.sort.pen());
            svg.text(Spot::new(label.x, baseline), mark.sort.font(), &mark.text);
            for y in mark.nodes.iter().filter_map(|node| lanes.y(*node)) {
                svg.circle(Spot::new(x, y), BAR * 0.7, "none", Pen::new(RED, 2.0));
            }
            svg.close();
        }
    }
}

impl Sort {
    fn class(self) -> &'static str {
        match self {
            Self::Links => "links",
            Self::Violated => "violated",
            Self::Stage => "stage",
        }
    }

    fn pen(self) -> Pen {
        match self {
            Self::Links => Pen::new(INK, 1.6).dashed("7 4"),
            Self::Violated => Pen::new(RED, 2.2),
            Self::Stage => Pen::new("#9aa4b0", 1.2).dashed("3 4"),
        }
    }

    fn font(self) -> Font {
        match self {
            Self::Links => Font::new(12.0, INK).bold().centred(),
            Self::Violated => Font::new(13.0, RED).bold().centred(),
            Self::Stage => Font::new(13.0, FAINT).bold().centred(),
        }
    }
}

/// The line of an event, if it has one. Where names need more than the room there is, nodes have
/// their short forms; the tooltip has the names.
fn mark(entry: &Entry, names: &ShortNames, room: f64) -> Option<Mark> {
    let links = |verb: &str, links: &[_]| {
        let named = links::describe(links, names);
        let fits = Sort::Links.font().width(&format!("{verb} {named}")) <= room;
        let none = ShortNames::new(&NodeNames::default(), 0);
        let text = if fits { named.clone() } else { links::describe(links, &none) };
        Mark {
            at: entry.at,
            text: format!("{verb} {text}"),
            tooltip: format!("{verb}: {named}"),
            nodes: Vec::new(),
            sort: Sort::Links,
        }
    };
    if let Event::Cut { links: cut } = &entry.event {
        return Some(links("cut", cut));
    }
    if let Event::Heal { links: healed } = &entry.event {
        return Some(links("heal", healed));
    }
    let Event::Violation { assertion, nodes, why } = &entry.event else { return None };
    Some(Mark {
        at: entry.at,
        text: assertion.clone(),
        tooltip: format!("{assertion} is violated: {why}"),
        nodes: nodes.clone(),
        sort: Sort::Violated,
    })
}

/// The four cuts of an election that was won.
#[derive(Clone, Copy, Default)]
struct Election {
    /// No node of higher rank is up: the candidate enters Election.
    c1: Option<Time>,
    /// No node is Normal: the candidate makes itself coordinator.
    c2: Option<Time>,
    /// All nodes have it as coordinator: it sends the definition.
    c3: Option<Time>,
    /// All nodes are Normal, including the coordinator.
    c4: Option<Time>,
}

/// The cuts of the first elections that had a winner.
fn stages(entries: &[Entry], names: &NodeNames) -> Vec<Mark> {
    let mut running: BTreeMap<NodeId, Election> = BTreeMap::new();
    let mut won: Vec<(NodeId, Election)> = Vec::new();
    for Entry { at, event } in entries {
        if won.len() == ELECTIONS_MAX {
            break;
        }
        let Some(node) = follow(&mut running, *at, event) else {
            continue;
        };
        won.extend(running.remove(&node).map(|election| (node, election)));
    }
    // The trace may end, or the node may crash, between winning and Normal.
    let open = running.into_iter().filter(|(_, election)| election.c2.is_some());
    won.extend(open);
    won.truncate(ELECTIONS_MAX);
    let marks =
        |((node, cuts), prime): (&(NodeId, Election), &str)| cuts.marks(names.of(*node), prime);
    won.iter().zip(["", "′"]).flat_map(marks).collect()
}

/// Processes an event; returns the node whose election is complete with it.
fn follow(running: &mut BTreeMap<NodeId, Election>, at: Time, event: &Event) -> Option<NodeId> {
    if let Event::Call { node } = event {
        running.insert(*node, Election::default());
    } else if let Event::State { node, state } = event {
        let election = running.get_mut(node)?;
        election.enter(at, *node, state);
        return election.c4.map(|_| *node);
    } else if let Event::Send { node, message, .. } | Event::Broadcast { node, message, .. } = event
    {
        let election = running.get_mut(node)?;
        if message.kind == Kind::EnterElection {
            // A candidate that is in Election already does not change its status again.
            election.c1 = election.c1.or(Some(at));
        } else if message.kind == Kind::NewState {
            election.c3 = election.c3.or(election.c2.map(|_| at));
        }
    } else if let Event::Plan { node, .. } = event {
        let election = running.get_mut(node)?;
        election.c3 = election.c3.or(election.c2.map(|_| at));
    } else if let Event::Crash { node }
    | Event::Withdraw { node }
    | Event::Overdue { node }
    | Event::End { node, outcome: Outcome::Yielded | Outcome::Failed } = event
    {
        running.remove(node);
    }
    None
}

impl Election {
    fn enter(&mut self, at: Time, node: NodeId, state: &NodeState) {
        let coordinates = state.coordinator == Some(node);
        match state.status {
            Status::Election => self.c1 = self.c1.or(Some(at)),
            Status::Reorganization if coordinates => self.c2 = self.c2.or(Some(at)),
            Status::Normal if coordinates && self.c2.is_some() => self.c4 = Some(at),
            Status::Down | Status::Reorganization | Status::Normal => {}
        }
    }

    /// One line for each moment; cuts that coincide share it.
    fn marks(&self, node: Named<'_>, prime: &str) -> Vec<Mark> {
        let cuts = [("c1", self.c1), ("c2", self.c2), ("c3", self.c3), ("c4", self.c4)];
        let mut names: BTreeMap<Time, Vec<String>> = BTreeMap::new();
        for (name, at) in cuts {
            if let Some(at) = at {
                names.entry(at).or_default().push(format!("{name}{prime}"));
            }
        }
        let mark = |(at, names): (Time, Vec<String>)| Mark {
            at,
            tooltip: format!("cut {} of the election that {node} wins", names.join(" and ")),
            text: names.join(" "),
            nodes: Vec::new(),
            sort: Sort::Stage,
        };
        names.into_iter().map(mark).collect()
    }
}

const ROW: f64 = 18.0;
/// More elections than this would hide the messages.
const ELECTIONS_MAX: usize = 2;
