//! The messages that a scene draws, each with its fate, and the arrows that they share.
//!
//! Drawn are the election and its announcement with their answers, the questions that led to an
//! election, and in stages the hand-over, too. Heartbeats, what nodes ask to see that all is well,
//! and receipts on a ring are left out: they would hide the election.

use std::collections::{BTreeMap, BTreeSet};

use tanist_core::election::Algorithm;
use tanist_core::election::descriptor::{Network, Topic};
use tanist_core::trace::{Entry, Event, Header, Kind, Loss};
use tanist_core::{NodeId, Time};

use crate::pictures::contents;
use crate::pictures::names::ShortNames;

/// A message on its way from one node to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Said {
    /// The index of the entry that sent it.
    pub(super) index: usize,
    pub(super) at: Time,
    /// When it arrived or was lost; none if it was in flight when the trace ended.
    pub(super) until: Option<Time>,
    pub(super) arrow: Arrow,
    pub(super) part: Part,
}

/// Messages of one kind from one node to another with the same fate share an arrow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Arrow {
    pub(super) from: NodeId,
    pub(super) to: NodeId,
    pub(super) kind: Kind,
    pub(super) fate: Fate,
}

/// Whether a message arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fate {
    /// It arrived, or was in flight when the trace ended.
    Arrives,
    /// Its receiver was down.
    FindsItDown,
    /// The network lost it.
    Lost,
}

/// What a message is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    /// Asks whether a node is up, normal or a coordinator.
    Question,
    /// Asks for votes, or says who should coordinate.
    Election,
    /// Reports to the node that asked, in a radio network.
    Report,
    /// Says which node coordinates.
    Announcement,
    /// Hands over the definition of the group.
    Agreement,
}

/// One of the messages that share an arrow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// A step is a time at which something was sent.
    pub(super) number: usize,
    /// What the message says in a few characters; empty if no message of its kind says more than
    /// the name of its sender.
    pub(super) brief: String,
    /// The same for a tooltip, with everything that it says.
    pub(super) listed: String,
}

impl Said {
    /// Whether it answers another message.
    pub(super) fn is_reply(&self) -> bool {
        self.arrow.kind.info().is_reply && self.part != Part::Report
    }
}

/// What the messages of an algorithm travel along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Links,
    Ring,
    Radio,
}

impl Way {
    pub(super) fn of(header: &Header) -> Self {
        let network = Algorithm::from_name(&header.algorithm).map(|it| it.descriptor().network);
        match network {
            Some(Network::Ring) => Self::Ring,
            Some(Network::Radio) => Self::Radio,
            Some(Network::Links | Network::Partitions | Network::Hierarchy) | None => Self::Links,
        }
    }
}

/// Reads the messages that are drawn, in the order in which they were sent.
pub(super) fn read(header: &Header, entries: &[Entry]) -> Vec<Said> {
    let way = Way::of(header);
    let mut all = sent(way, entries);
    let idle = idle_questions(entries, &all);
    // An answer is drawn if its question is.
    let mut asked: BTreeSet<(NodeId, NodeId, Kind)> = BTreeSet::new();
    all.retain(|said| {
        let Arrow { from, to, kind, .. } = said.arrow;
        if said.part != Part::Question {
            return true;
        }
        if !said.is_reply() {
            let is_drawn = !idle.contains(&(from, said.at));
            if is_drawn {
                asked.insert((from, to, kind));
            } else {
                asked.remove(&(from, to, kind));
            }
            return is_drawn;
        }
        kind.info().answers.iter().any(|question| asked.remove(&(to, from, *question)))
    });
    all
}

fn part(way: Way, kind: Kind) -> Option<Part> {
    if kind == Kind::Ack {
        return (way == Way::Radio).then_some(Part::Report);
    }
    if matches!(kind, Kind::Follow | Kind::Told) {
        return None;
    }
    let is_question = matches!(
        kind,
        Kind::AreYouUp
            | Kind::AyuAnswer
            | Kind::AreYouNormal
            | Kind::AynAnswer
            | Kind::AreYouCoordinator
            | Kind::AycAnswer
            | Kind::AreYouThere
            | Kind::AytAnswer
    );
    match kind.info().topic {
        Topic::Election if way == Way::Radio && kind.info().is_reply => Some(Part::Report),
        Topic::Election => Some(Part::Election),
        Topic::Announcement => Some(Part::Announcement),
        Topic::Handover => Some(Part::Agreement),
        Topic::Discovery | Topic::Liveness => is_question.then_some(Part::Question),
        Topic::Operation | Topic::Levels => None,
    }
}

/// Every message of those kinds. A broadcast is one message to each node that receives it.
fn sent(way: Way, entries: &[Entry]) -> Vec<Said> {
    let mut all: Vec<Said> = Vec::new();
    let mut places: BTreeMap<(NodeId, u64, NodeId), usize> = BTreeMap::new();
    let mut broadcasts: BTreeMap<(NodeId, u64), (usize, Time)> = BTreeMap::new();
    for (index, Entry { at, event }) in entries.iter().enumerate() {
        let Some(part) = event.message().and_then(|message| part(way, message.kind)) else {
            continue;
        };
        if let Event::Broadcast { node, id, .. } = event {
            broadcasts.insert((*node, *id), (index, *at));
        } else if let Event::Send { node, to, id, message, .. } = event {
            let arrow = Arrow { from: *node, to: *to, kind: message.kind, fate: Fate::Arrives };
            places.insert((*node, *id, *to), all.len());
            all.push(Said { index, at: *at, until: None, arrow, part });
        } else if let Event::Receive { node, from, id, message, .. } = event {
            if let Some(said) = places.get(&(*from, *id, *node)).map(|place| &mut all[*place]) {
                said.until.get_or_insert(*at);
            } else if let Some((index, sent)) = broadcasts.get(&(*from, *id)) {
                let (from, to, kind) = (*from, *node, message.kind);
                let arrow = Arrow { from, to, kind, fate: Fate::Arrives };
                all.push(Said { index: *index, at: *sent, until: Some(*at), arrow, part });
            }
        } else if let Event::Lose { node, to, id, why, .. } = event
            && let Some(said) = places.get(&(*node, *id, *to)).map(|place| &mut all[*place])
            && said.until.is_none()
        {
            said.until = Some(*at);
            said.arrow.fate = match why {
                Loss::Down => Fate::FindsItDown,
                Loss::Dropped | Loss::Cut => Fate::Lost,
            };
        }
    }
    all.sort_by_key(|said| said.index);
    all
}

/// Which node asked at which time without calling an election, or sending one, before it asked
/// again.
fn idle_questions(entries: &[Entry], all: &[Said]) -> BTreeSet<(NodeId, Time)> {
    let mut acts: BTreeMap<NodeId, Vec<Time>> = BTreeMap::new();
    for Entry { at, event } in entries {
        if let Event::Call { node } = event {
            acts.entry(*node).or_default().push(*at);
        }
    }
    for said in all.iter().filter(|said| said.part == Part::Election && !said.is_reply()) {
        acts.entry(said.arrow.from).or_default().push(said.at);
    }
    let questions = all.iter().filter(|said| said.part == Part::Question && !said.is_reply());
    let asked: BTreeSet<(NodeId, Time)> =
        questions.map(|said| (said.arrow.from, said.at)).collect();
    let leads = |(node, at): &(NodeId, Time)| {
        let next = asked.range((*node, *at)..).nth(1).filter(|(other, _)| other == node);
        let acts = acts.get(node).into_iter().flatten();
        acts.filter(|act| *act >= at).any(|act| next.is_none_or(|(_, next)| act <= next))
    };
    asked.iter().filter(|asked| !leads(asked)).copied().collect()
}

/// The arrows of some messages, each with its messages in the order of their steps.
pub(super) fn arrows<'a>(
    header: &Header,
    entries: &[Entry],
    said: impl Iterator<Item = &'a Said> + Clone,
) -> BTreeMap<Arrow, Vec<Step>> {
    let names = ShortNames::new(&header.names, NAME_MAX);
    let moments: BTreeSet<Time> = said.clone().map(|said| said.at).collect();
    let number: BTreeMap<Time, usize> = moments.into_iter().zip(1..).collect();
    let telling = said.clone().filter(|said| says_more(said, entries, &names));
    let telling: BTreeSet<Kind> = telling.map(|said| said.arrow.kind).collect();
    let mut arrows: BTreeMap<Arrow, Vec<Step>> = BTreeMap::new();
    for said in said {
        let is_telling = telling.contains(&said.arrow.kind);
        let contents = entries[said.index].event.contents();
        let step = Step {
            number: number[&said.at],
            brief: if is_telling { brief(said, entries, &names) } else { String::new() },
            listed: contents::listed(contents, &names).trim_start_matches(", ").to_owned(),
        };
        arrows.entry(said.arrow).or_default().push(step);
    }
    arrows
}

/// What a message says in a few characters.
pub(super) fn brief(said: &Said, entries: &[Entry], names: &ShortNames) -> String {
    let brief = contents::brief(entries[said.index].event.contents(), names);
    brief.trim_start().to_owned()
}

/// Whether a message says more than the name of its sender.
pub(super) fn says_more(said: &Said, entries: &[Entry], names: &ShortNames) -> bool {
    let brief = brief(said, entries, names);
    !brief.is_empty() && brief != names.of(said.arrow.from)
}

/// The numbers of the steps of some messages.
pub(super) fn numbers(steps: &[Step]) -> Vec<usize> {
    steps.iter().map(|step| step.number).collect()
}

/// Whether the numbers of an arrow would not all be seen.
pub(super) fn is_many(steps: &[Step]) -> bool {
    different(&numbers(steps)).len() > SHOWN_MAX
}

/// The numbers of an arrow and what its messages say: `2: [3 5]`. None if they say nothing, or if
/// there are too many.
pub(super) fn label(steps: &[Step]) -> Option<String> {
    let is_plain = different(&numbers(steps)).len() == steps.len() && steps.len() <= SHOWN_MAX;
    if !is_plain || steps.iter().any(|step| step.brief.is_empty()) {
        return None;
    }
    let said = steps.iter().map(|step| format!("{}: {}", step.number, step.brief));
    Some(said.collect::<Vec<_>>().join(", "))
}

/// What the messages of an arrow say, for its tooltip; with the numbers of steps where that is not
/// always the same. Empty if they say nothing.
pub(super) fn listed(steps: &[Step]) -> String {
    let Some(first) = steps.first() else { return String::new() };
    if steps.iter().all(|step| step.listed == first.listed) {
        return first.listed.clone();
    }
    let saying = steps.iter().filter(|step| !step.listed.is_empty());
    let said = saying.map(|step| format!("{} {}", step.number, step.listed));
    said.collect::<Vec<_>>().join("; ")
}

/// The numbers of an arrow's steps, `1, 7`; where there are more, or several messages in one step,
/// the first of them and how many messages there were: `3 ×5`.
pub(super) fn list(steps: &[usize]) -> String {
    match (different(steps).as_slice(), steps.len()) {
        ([], _) => String::new(),
        ([only], 1) => only.to_string(),
        ([first, second], 2) => format!("{first}, {second}"),
        ([first, ..], count) => format!("{first} ×{count}"),
    }
}

fn different(steps: &[usize]) -> Vec<usize> {
    let mut different = steps.to_vec();
    different.dedup();
    different
}

/// More steps than this are counted, not listed.
const SHOWN_MAX: usize = 2;
/// Longer names of nodes are shortened in what messages say.
const NAME_MAX: usize = 24;
