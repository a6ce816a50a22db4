//! A trace as a story: which node did what and when, one line each, for a terminal of 100 columns.
//!
//! What a node sends to several others at one time is one line, and so is what it receives from
//! several others; otherwise the order is that of the trace. Leaves out only repetition and
//! heartbeats.

use core::fmt::{self, Write};
use std::collections::BTreeMap;

use tanist_core::NodeId;
use tanist_core::trace::{Entry, Event, Header, Link, Loss, MessageFacts, NodeState, Outcome};

use crate::observe::recording::without_heartbeats;
use crate::pictures::contents;
use crate::pictures::diagram::links;
use crate::pictures::names::ShortNames;
use crate::pictures::part::Shown;
use crate::pictures::speech::{Speech, alike};

/// Writes the story of a trace.
pub fn story(header: &Header, entries: &[Entry], to: &mut dyn Write) -> fmt::Result {
    story_of(header, &[], &[], entries, to)
}

/// Writes the story of a part of a run, after what every node is at its beginning.
pub fn story_of_part(header: &Header, part: &Shown, to: &mut dyn Write) -> fmt::Result {
    story_of(header, &part.beginning, &part.down, &part.entries, to)
}

fn story_of(
    header: &Header,
    beginning: &[Entry],
    down: &[NodeId],
    entries: &[Entry],
    to: &mut dyn Write,
) -> fmt::Result {
    let entries = &*without_heartbeats(entries);
    let title = header.title();
    let nodes = header.nodes.len();
    let options: String = header.options.iter().map(|option| format!(" · {option}")).collect();
    writeln!(to, "{}\n", plain(&format!("{title} · {nodes} nodes{options}")))?;
    let mut teller = Teller::new(header, entries);
    teller.line(to, "TIME ms", "WHO", "WHAT")?;
    teller.begin(beginning, down, to)?;
    let mut is_told = vec![false; entries.len()];
    for (index, entry) in entries.iter().enumerate() {
        if is_told[index] {
            continue;
        }
        let same = alike(entries, index);
        same.iter().for_each(|index| is_told[*index] = true);
        let others: Vec<NodeId> =
            same.iter().filter_map(|index| Some(Speech::of(&entries[*index].event)?.1)).collect();
        let time = millis(entry.at.as_micros());
        let (who, what) = teller.sentence(&entry.event, &others);
        teller.line(
            to,
            &time,
            &who.map_or_else(|| "-".to_string(), |who| teller.names.of(who)),
            &what,
        )?;
    }
    Ok(())
}

/// Keeps what the sentences depend on: names, earlier states, and the widths of the columns.
struct Teller {
    names: ShortNames,
    states: BTreeMap<NodeId, NodeState>,
    time_width: usize,
    who_width: usize,
}

impl Teller {
    fn new(header: &Header, entries: &[Entry]) -> Self {
        let times = entries.iter().map(|entry| millis(entry.at.as_micros()).len());
        let names = ShortNames::new(&header.names, NAME_MAX);
        let members = header.nodes.iter().map(|member| member.id);
        let actors = entries.iter().filter_map(|entry| entry.event.actor());
        let widths = members.chain(actors).map(|id| names.of(id).chars().count());
        Self {
            time_width: times.max().unwrap_or(0).max(9),
            who_width: widths.max().unwrap_or(0).max(3),
            states: BTreeMap::new(),
            names,
        }
    }

    /// What every node is at the beginning of a part.
    fn begin(&mut self, entries: &[Entry], down: &[NodeId], to: &mut dyn Write) -> fmt::Result {
        let Some(first) = entries.first() else { return Ok(()) };
        let time = millis(first.at.as_micros());
        for entry in entries {
            if matches!(entry.event, Event::Start { .. }) {
                continue;
            }
            let (who, mut what) = self.sentence(&entry.event, &[]);
            if matches!(entry.event, Event::State { .. }) {
                what = format!("is {what}");
            } else if matches!(entry.event, Event::Withdraw { .. }) {
                what = "has withdrawn".to_string();
            } else if matches!(entry.event, Event::Overdue { .. }) {
                what = "is silent: its application has not answered in time".to_string();
            }
            let who = who.map_or_else(|| "-".to_string(), |who| self.names.of(who));
            self.line(to, &time, &who, &what)?;
        }
        down.iter().try_for_each(|node| self.line(to, &time, &self.names.of(*node), "is down"))
    }

    /// One line of the table; a sentence that is too long continues below itself.
    fn line(&self, to: &mut dyn Write, time: &str, who: &str, what: &str) -> fmt::Result {
        let (time_width, who_width) = (self.time_width, self.who_width);
        write!(to, "{time:>time_width$}  {who:<who_width$}  ")?;
        let indent = time_width + who_width + 4;
        let mut column = indent;
        for (position, word) in plain(what).split(' ').enumerate() {
            let length = word.chars().count();
            if position > 0 && column + 1 + length > COLUMNS {
                write!(to, "\n{:width$}", "", width = indent + 2)?;
                column = indent + 2;
            } else if position > 0 {
                to.write_char(' ')?;
                column += 1;
            }
            to.write_str(word)?;
            column += length;
        }
        to.write_char('\n')
    }

    /// The node, and what it did; `others` are the senders or receivers at the other end.
    fn sentence(&mut self, event: &Event, others: &[NodeId]) -> (Option<NodeId>, String) {
        let with = contents::phrase(event.contents(), &self.names);
        let what = match event {
            Event::Start { node, restarted } => {
                self.states.remove(node);
                if *restarted { "restarts" } else { "starts" }.to_string()
            }
            Event::Crash { node } => {
                self.states.remove(node);
                "CRASHES".to_string()
            }
            Event::Pause { .. } => "is paused".to_string(),
            Event::Resume { .. } => "runs on".to_string(),
            Event::Withdraw { .. } => "WITHDRAWS".to_string(),
            Event::Overdue { .. } => {
                "FALLS SILENT: its application has not answered in time".to_string()
            }
            Event::Clock { rate_ppm, .. } => {
                format!("has a clock at {} times the right rate", f64::from(*rate_ppm) / 1e6)
            }
            Event::Rejoin { .. } => "rejoins".to_string(),
            Event::Send { message, .. } => {
                let others = self.names.list(others.iter().copied());
                let (said, about) = (said(message), about(message, &self.names));
                format!("sends {said}{with} to {others}{about}")
            }
            Event::Broadcast { message, .. } => {
                format!("broadcasts {}{with}{}", said(message), about(message, &self.names))
            }
            Event::Receive { message, .. } => {
                let others = self.names.list(others.iter().copied());
                let (said, about) = (said(message), about(message, &self.names));
                format!("hears {said}{with} from {others}{about}")
            }
            Event::Lose { node, to, message, why, .. } => {
                let (from, to) = (self.names.of(*node), self.names.of(*to));
                let (said, cause) = (said(message), cause(*why, &from, &to));
                format!("{from}'s {said}{with} to {to} is lost: {cause}")
            }
            Event::Timer { timer, .. } => timer.info().text.to_owned(),
            Event::Save { counter, .. } => format!("saves counter {counter}"),
            Event::State { node, state } => {
                let before = self.states.insert(*node, state.clone());
                turn(before.as_ref(), state, &self.names)
            }
            Event::Call { .. } => "calls an election".to_string(),
            Event::End { outcome, .. } => outcome_words(*outcome).to_string(),
            Event::Stop { .. } => "stops its application".to_string(),
            Event::Yield { .. } => "stops its application and does not lead any more".to_string(),
            Event::Stopped { .. } => "has stopped its application".to_string(),
            Event::Plan { group, .. } => format!("plans for group {group}"),
            Event::Begin { group, .. } => format!("begins to work in group {group}"),
            Event::Cut { links } => format!("{} cut", links_words(links, &self.names)),
            Event::Heal { links } => format!("{} whole again", links_words(links, &self.names)),
            Event::Violation { assertion, nodes, why } => {
                let at = if nodes.is_empty() { "" } else { " at " };
                let nodes = self.names.list(nodes.iter().copied());
                format!("{assertion} VIOLATED{at}{nodes}: {why}")
            }
        };
        (event.actor(), what)
    }
}

/// A change of the defining state: the status if it changed, and what else did.
fn turn(before: Option<&NodeState>, state: &NodeState, names: &ShortNames) -> String {
    let mut words = match before {
        Some(before) if before.status != state.status => {
            format!("{} -> {}", before.status, state.status)
        }
        Some(_) | None => state.status.to_string(),
    };
    // A change of status names coordinator and group even if they stay: each line can be read
    // alone.
    let is_turn = before.is_none_or(|before| before.status != state.status);
    if let Some(coordinator) = state.coordinator
        && (is_turn || before.is_some_and(|before| before.coordinator != Some(coordinator)))
    {
        words.push_str(&format!(", coordinator {}", names.of(coordinator)));
    }
    if let Some(group) = state.group
        && (is_turn || before.is_some_and(|before| before.group != Some(group)))
    {
        words.push_str(&format!(", group {group}"));
    }
    if before.map_or(!state.up.is_empty(), |before| before.up != state.up) {
        words.push_str(&format!(", others {{{}}}", names.list(state.up.iter())));
    }
    if let Some(definition) = &state.definition
        && before.is_none_or(|before| before.definition.as_ref() != Some(definition))
    {
        words.push_str(&format!(", definition {}", contents::shortened(&definition.to_string())));
    }
    words
}

fn said(message: &MessageFacts) -> String {
    match message.ok {
        Some(true) => format!("{} yes", message.kind),
        Some(false) => format!("{} no", message.kind),
        None => message.kind.to_string(),
    }
}

/// The group or the node that a message speaks of.
fn about(message: &MessageFacts, names: &ShortNames) -> String {
    match (message.group, message.successor) {
        (Some(group), _) => format!(" (group {group})"),
        (None, Some(successor)) => format!(" ({} shall lead)", names.of(successor)),
        (None, None) => String::new(),
    }
}

fn cause(why: Loss, from: &str, to: &str) -> String {
    match why {
        Loss::Dropped => "the network dropped it".to_string(),
        Loss::Cut => format!("the link {from} -> {to} is cut"),
        Loss::Down => format!("{to} is down"),
    }
}

fn outcome_words(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Won => "WINS its election",
        Outcome::Yielded => "yields in its election",
        Outcome::Failed => "fails in its election: a member was lost on the way",
    }
}

fn links_words(links: &[Link], names: &ShortNames) -> String {
    let verb = if links.len() == 1 { "link" } else { "links" };
    let are = if links.len() == 1 { "is" } else { "are" };
    format!("the {verb} {} {are}", links::describe(links, names).replace(" | ", " - "))
}

fn millis(micros: u64) -> String {
    format!("{}.{:03}", micros / 1000, micros % 1000)
}

/// Text that cannot break the table or steer the terminal.
fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

const COLUMNS: usize = 100;
/// Longer names of nodes would leave no room for what they do.
const NAME_MAX: usize = 32;

#[cfg(test)]
mod tests {
    use tanist_core::membership::NodeNames;
    use tanist_core::trace::{Kind, Source, TimerName};
    use tanist_core::{GroupNumber, Member, NodeSet, Priority, Status, Time};

    use super::*;

    fn header() -> Header {
        Header {
            tanist_trace: tanist_core::trace::SCHEMA,
            source: Source::Sim,
            scenario: "test".to_string(),
            algorithm: "bully".to_string(),
            options: Vec::new(),
            seed: 7,
            nodes: (1..=3).map(|i| Member { priority: Priority(i), id: NodeId(i) }).collect(),
            labels: Vec::new(),
            names: NodeNames::default(),
            answer_us: 25_000,
            ring: Vec::new(),
            stop_within_us: 30_000_000,
            check_every_us: 100_000,
            preempt: String::new(),
        }
    }

    fn at(micros: u64, event: Event) -> Entry {
        Entry { at: Time::from_micros(micros), event }
    }

    fn facts(kind: Kind) -> MessageFacts {
        MessageFacts::new(kind, Some(GroupNumber { counter: 4, node: NodeId(3) }), None)
    }

    fn send(micros: u64, to: u32, kind: Kind) -> Entry {
        let event = Event::Send {
            node: NodeId(3),
            to: NodeId(to),
            id: 1,
            message: facts(kind),
            contents: None,
        };
        at(micros, event)
    }

    fn state(status: Status) -> Event {
        let state = NodeState {
            status,
            coordinator: Some(NodeId(3)),
            group: None,
            up: NodeSet::new(),
            definition: None,
            super_peer: None,
        };
        Event::State { node: NodeId(3), state }
    }

    fn told(entries: &[Entry]) -> Vec<String> {
        told_with(NodeNames::default(), entries)
    }

    fn told_with(names: NodeNames, entries: &[Entry]) -> Vec<String> {
        let mut text = String::new();
        story(&Header { names, ..header() }, entries, &mut text).unwrap();
        text.lines().skip(3).map(str::to_string).collect()
    }

    fn named(names: &[&str]) -> NodeNames {
        let names = (1..).map(NodeId).zip(names).map(|(id, name)| (id, name.parse().unwrap()));
        NodeNames::new(names).unwrap()
    }

    #[test]
    fn sends_of_one_moment_are_one_line() {
        let entries = [
            send(12_000, 1, Kind::EnterElection),
            at(12_000, Event::Crash { node: NodeId(1) }),
            send(12_000, 2, Kind::EnterElection),
            send(12_000, 2, Kind::AreYouUp),
            send(13_000, 1, Kind::AreYouUp),
        ];
        assert_eq!(
            told(&entries),
            [
                "   12.000  n3   sends Enter_Election to n1 n2 (group 4.n3)",
                "   12.000  n1   CRASHES",
                "   12.000  n3   sends AreYouUp to n2 (group 4.n3)",
                "   13.000  n3   sends AreYouUp to n1 (group 4.n3)",
            ]
        );
    }

    #[test]
    fn a_nodes_own_doings_stay_in_order() {
        let save = at(5, Event::Save { node: NodeId(3), counter: 4 });
        let entries = [send(5, 1, Kind::Ready), save, send(5, 2, Kind::Ready)];
        assert_eq!(told(&entries).len(), 3);
    }

    #[test]
    fn heartbeats_are_left_out_and_part_nothing() {
        let beat = at(5, Event::Timer { node: NodeId(3), timer: TimerName::Heartbeat });
        let entries =
            [send(5, 1, Kind::Ready), beat, send(5, 1, Kind::Heartbeat), send(5, 2, Kind::Ready)];
        assert_eq!(told(&entries), ["    0.005  n3   sends Ready to n1 n2 (group 4.n3)"]);
    }

    #[test]
    fn states_and_losses_are_told() {
        let lost = Event::Lose {
            node: NodeId(3),
            to: NodeId(1),
            id: 1,
            message: facts(Kind::AreYouUp),
            contents: None,
            why: Loss::Down,
        };
        let entries = [
            at(0, state(Status::Election)),
            at(1, state(Status::Reorganization)),
            at(2, lost),
            at(3, state(Status::Reorganization)),
        ];
        assert_eq!(
            told(&entries),
            [
                "    0.000  n3   Election, coordinator n3",
                "    0.001  n3   Election -> Reorganization, coordinator n3",
                "    0.002  -    n3's AreYouUp to n1 is lost: n1 is down",
                "    0.003  n3   Reorganization",
            ]
        );
    }

    #[test]
    fn nodes_are_called_by_their_names_and_groups_by_their_numbers() {
        let lost = Event::Lose {
            node: NodeId(3),
            to: NodeId(1),
            id: 1,
            message: facts(Kind::AreYouUp),
            contents: None,
            why: Loss::Cut,
        };
        let link = |from, to| Link { from: NodeId(from), to: NodeId(to) };
        let violated = Event::Violation {
            assertion: "A-1.1".to_string(),
            nodes: vec![NodeId(2), NodeId(3)],
            why: "two".to_string(),
        };
        let entries = [
            send(1, 1, Kind::Ready),
            send(1, 2, Kind::Ready),
            at(2, state(Status::Normal)),
            at(3, lost),
            at(4, Event::Cut { links: vec![link(1, 3), link(3, 1)] }),
            at(5, violated),
            at(6, Event::Crash { node: NodeId(2) }),
        ];
        assert_eq!(
            told_with(named(&["db-east-1", "db-east-2", "db-west-1"]), &entries),
            [
                "    0.001  db-west-1  sends Ready to db-east-1 db-east-2 (group 4.n3)",
                "    0.002  db-west-1  Normal, coordinator db-west-1",
                "    0.003  -          db-west-1's AreYouUp to db-east-1 is lost: the link db-west-1 -> \
                 db-east-1 is",
                "                        cut",
                "    0.004  -          the links db-east-1 - db-west-1 are cut",
                "    0.005  -          A-1.1 VIOLATED at db-east-2 db-west-1: two",
                "    0.006  db-east-2  CRASHES",
            ]
        );
    }

    #[test]
    fn a_very_long_name_leaves_room_for_the_sentence() {
        let names = ["a".repeat(63), "b".repeat(63), "c".repeat(63)];
        let names = named(&names.each_ref().map(String::as_str));
        let lines = told_with(names, &[send(1, 1, Kind::Ready), send(1, 2, Kind::Ready)]);
        assert!(lines[0].contains("ccc…ccc") && lines.concat().contains("aaa…aaa"), "{lines:?}");
        assert!(lines.iter().all(|line| line.chars().count() <= COLUMNS), "{lines:?}");
    }

    #[test]
    fn a_long_sentence_is_wrapped_and_keeps_out_of_the_columns() {
        let why = "word ".repeat(60) + "\u{1b}[31m\n";
        let violated = Event::Violation { assertion: "A-1.1".to_string(), nodes: vec![], why };
        let lines = told(&[at(1, violated)]);
        assert!(lines.len() > 2);
        assert!(lines.iter().all(|line| line.chars().count() <= COLUMNS), "{lines:?}");
        assert!(lines[1..].iter().all(|line| line.starts_with("                  ")), "{lines:?}");
        assert!(!lines.concat().contains('\u{1b}'));
    }
}
