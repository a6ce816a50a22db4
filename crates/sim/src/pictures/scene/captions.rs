//! A title and a sentence for each stage.

use std::collections::{BTreeMap, BTreeSet};

use tanist_core::NodeId;
use tanist_core::trace::{Entry, Event, Header, Kind};

use super::messages::{Fate, Part, Said, Way, brief, says_more};
use super::nodes::Looks;
use super::stages::{Stage, What};
use crate::pictures::names::ShortNames;

/// What the picture of a stage is called.
pub(super) fn title(entries: &[Entry], stage: &Stage) -> &'static str {
    let said = match &stage.what {
        What::Faults(faults) => {
            let mut names = faults.iter().filter_map(|index| verb(&entries[*index].event));
            let first = names.next().map_or("fault", |(_, _, name)| name);
            return if names.all(|(_, _, name)| name == first) { first } else { "faults" };
        }
        What::Outcome => return "outcome",
        What::Talk(said) => said,
    };
    let has = |part: Part| said.iter().any(|said| said.part == part);
    let is_asked = |part: Part| said.iter().any(|said| said.part == part && !said.is_reply());
    match () {
        () if is_asked(Part::Election) => "election",
        () if is_asked(Part::Announcement) => "announcement",
        () if has(Part::Agreement) => "agreement",
        () if has(Part::Report) => "reports",
        () => "question",
    }
}

/// The sentences below the title.
pub(super) fn caption(
    header: &Header,
    entries: &[Entry],
    stage: &Stage,
    looks: &Looks,
    is_last: bool,
) -> String {
    let words = Words { header, entries, names: ShortNames::new(&header.names, NAME_MAX) };
    let mut sentences = match &stage.what {
        What::Faults(faults) => words.faults(faults),
        What::Talk(said) => words.talk(said, looks),
        What::Outcome => Vec::new(),
    };
    if stage.left_out > 0 {
        sentences.insert(0, format!("({} stages before this one are left out.)", stage.left_out));
    }
    if is_last {
        sentences.push(words.outcome(looks));
    }
    sentences.join(" ")
}

struct Words<'a> {
    header: &'a Header,
    entries: &'a [Entry],
    /// For what messages say.
    names: ShortNames,
}

impl Words<'_> {
    /// `n1, n2 and n3`, or how many there are.
    fn list(&self, nodes: impl IntoIterator<Item = NodeId>) -> String {
        let nodes: BTreeSet<NodeId> = nodes.into_iter().collect();
        if nodes.len() > LISTED_MAX {
            return format!("{} nodes", nodes.len());
        }
        joined(
            &nodes.iter().map(|node| self.header.names.of(*node).to_string()).collect::<Vec<_>>(),
        )
    }

    fn faults(&self, faults: &[usize]) -> Vec<String> {
        let mut nodes: BTreeMap<&'static str, BTreeSet<NodeId>> = BTreeMap::new();
        let mut links: BTreeMap<&'static str, BTreeSet<(NodeId, NodeId)>> = BTreeMap::new();
        for event in faults.iter().map(|index| &self.entries[*index].event) {
            let Some((one, ..)) = verb(event) else { continue };
            if let Event::Cut { links: cut } | Event::Heal { links: cut } = event {
                let pairs = cut.iter().map(|link| (link.from.min(link.to), link.from.max(link.to)));
                links.entry(one).or_default().extend(pairs);
            } else if let Some(node) = event.actor() {
                nodes.entry(one).or_default().insert(node);
            }
        }
        let mut sentences = Vec::new();
        for (does, who) in nodes {
            let several =
                VERBS.iter().find(|(_, verb)| verb.0 == does).map_or(does, |(_, verb)| verb.1);
            let does = if who.len() == 1 { does } else { several };
            sentences.push(format!("{} {does}.", self.list(who)));
        }
        for (does, pairs) in links {
            let names = |(a, b): &(NodeId, NodeId)| {
                format!("{} - {}", self.header.names.of(*a), self.header.names.of(*b))
            };
            let several =
                VERBS.iter().find(|(_, verb)| verb.0 == does).map_or(does, |(_, verb)| verb.1);
            sentences.push(match pairs.len() {
                1 => format!(
                    "The link {} {does}.",
                    joined(&pairs.iter().map(names).collect::<Vec<_>>())
                ),
                2..=LISTED_MAX => {
                    format!(
                        "The links {} {several}.",
                        joined(&pairs.iter().map(names).collect::<Vec<_>>())
                    )
                }
                count => format!("{count} links {several}."),
            });
        }
        sentences
    }

    fn talk(&self, said: &[Said], looks: &Looks) -> Vec<String> {
        let callers = looks.nodes.iter().filter(|(_, look)| look.calls).map(|(node, _)| *node);
        let callers: Vec<NodeId> = callers.collect();
        let mut sentences = Vec::new();
        if !callers.is_empty() {
            let (calls, an) =
                if callers.len() == 1 { ("calls", "an election") } else { ("call", "elections") };
            sentences.push(format!("{} {calls} {an}.", self.list(callers)));
        }
        let mut kinds: Vec<Kind> = Vec::new();
        for said in said {
            if !kinds.contains(&said.arrow.kind) {
                kinds.push(said.arrow.kind);
            }
        }
        for kind in kinds {
            let of_kind: Vec<&Said> = said.iter().filter(|said| said.arrow.kind == kind).collect();
            sentences.push(self.kind(kind, &of_kind));
            sentences.extend(self.contents(&of_kind));
        }
        sentences.extend(self.losses(said));
        sentences
    }

    fn kind(&self, kind: Kind, said: &[&Said]) -> String {
        if Way::of(self.header) == Way::Ring
            && let Some(path) = self.path(said)
        {
            return format!("{kind} goes round: {path}.");
        }
        let from: BTreeSet<NodeId> = said.iter().map(|said| said.arrow.from).collect();
        let to: BTreeSet<NodeId> = said.iter().map(|said| said.arrow.to).collect();
        let does = match (said[0].is_reply(), from.len()) {
            (true, 1) => "answers",
            (true, _) => "answer",
            (false, 1) => "sends",
            (false, _) => "send",
        };
        let with = if said[0].is_reply() { " with" } else { "" };
        // Who tells whom is in the picture; one at either end can be said in a word.
        if from.len() == 1 || to.len() == 1 {
            let to_whom = if said[0].is_reply() && from.len() > 1 {
                format!("{} {does} {}{with} {kind}", self.list(from), self.list(to))
            } else if said[0].is_reply() {
                format!("{} {does}{with} {kind}", self.list(from))
            } else {
                format!("{} {does} {kind} to {}", self.list(from), self.list(to))
            };
            return format!("{to_whom}.");
        }
        let count =
            if said.len() > 1 { format!(", {} messages", said.len()) } else { String::new() };
        format!("{} {does}{with} {kind}{count}.", self.list(from))
    }

    /// What the messages of a kind say, if that can be said in a line.
    fn contents(&self, said: &[&Said]) -> Option<String> {
        if !said.iter().any(|said| says_more(said, self.entries, &self.names)) {
            return None;
        }
        let mut different: Vec<String> = Vec::new();
        for said in said {
            let brief = brief(said, self.entries, &self.names);
            if !brief.is_empty() && !different.contains(&brief) {
                different.push(brief);
            }
        }
        let says =
            if said.len() == 1 || self.path(said).is_some() { "It says" } else { "They say" };
        let text = format!("{says} {}.", joined(&different));
        let is_short = text.chars().count() <= CONTENTS_MAX;
        is_short.then_some(text)
    }

    /// The nodes that a message passes on a ring, if it is one message.
    fn path(&self, said: &[&Said]) -> Option<String> {
        let (first, rest) = said.split_first()?;
        let mut path = vec![first.arrow.from, first.arrow.to];
        let mut lost: Vec<NodeId> = Vec::new();
        if first.arrow.fate != Fate::Arrives {
            lost.push(path.pop()?);
        }
        for said in rest {
            if path.last() != Some(&said.arrow.from) {
                return None;
            }
            match said.arrow.fate {
                Fate::Arrives => path.push(said.arrow.to),
                Fate::FindsItDown | Fate::Lost => lost.push(said.arrow.to),
            }
        }
        if path.len() < 3 || path.len() > PATH_MAX {
            return None;
        }
        let names: Vec<String> =
            path.iter().map(|node| self.header.names.of(*node).to_string()).collect();
        let past = match lost.len() {
            0 => String::new(),
            _ => format!(", past {}", self.list(lost)),
        };
        Some(format!("{}{past}", names.join(" → ")))
    }

    fn losses(&self, said: &[Said]) -> Option<String> {
        let of = |fate: Fate| said.iter().filter(move |said| said.arrow.fate == fate);
        let down: BTreeSet<NodeId> = of(Fate::FindsItDown).map(|said| said.arrow.to).collect();
        let lost = of(Fate::Lost).count();
        let mut parts = Vec::new();
        if !down.is_empty() {
            let is = if down.len() == 1 { "is" } else { "are" };
            let hears = if down.len() == 1 { "hears" } else { "hear" };
            parts.push(format!("{} {is} down and {hears} nothing.", self.list(down)));
        }
        match lost {
            0 => {}
            1 => parts.push("One message is lost on the way.".to_owned()),
            _ => parts.push(format!("{lost} messages are lost on the way.")),
        }
        (!parts.is_empty()).then(|| parts.join(" "))
    }

    /// Which nodes follow which coordinator.
    fn outcome(&self, looks: &Looks) -> String {
        let mut parts = Vec::new();
        for leader in looks.leaders() {
            let under = looks.nodes.keys().copied();
            let under: Vec<NodeId> =
                under.filter(|node| looks.follows(*node) == Some(leader)).collect();
            let name = self.header.names.of(leader);
            parts.push(match under.len() {
                0 => format!("{name} coordinates itself alone"),
                _ => format!("{name} coordinates {}", self.list(under)),
            });
        }
        if parts.is_empty() {
            parts.push("nobody coordinates".to_owned());
        }
        let down = looks.down();
        match down.len() {
            0 => {}
            1 => parts.push(format!("{} is down", self.list(down))),
            _ => parts.push(format!("{} are down", self.list(down))),
        }
        let silent = looks.silent();
        match silent.len() {
            0 => {}
            1 => parts.push(format!("{} is silent", self.list(silent))),
            _ => parts.push(format!("{} are silent", self.list(silent))),
        }
        format!("In the end {}.", parts.join("; "))
    }
}

/// What happens in a fault: to one, to several, and as a title.
fn verb(event: &Event) -> Option<(&'static str, &'static str, &'static str)> {
    let (_, verb) = VERBS.iter().find(|(is_it, _)| is_it(event))?;
    Some(*verb)
}

/// `a, b and c`.
fn joined(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// How a caption tells of an event.
type Verb = (fn(&Event) -> bool, (&'static str, &'static str, &'static str));

const VERBS: [Verb; 10] = [
    (|event| matches!(event, Event::Crash { .. }), ("crashes", "crash", "crash")),
    (
        |event| matches!(event, Event::Start { restarted: true, .. }),
        ("restarts", "restart", "restart"),
    ),
    (|event| matches!(event, Event::Start { restarted: false, .. }), ("starts", "start", "start")),
    (|event| matches!(event, Event::Pause { .. }), ("is paused", "are paused", "pause")),
    (|event| matches!(event, Event::Resume { .. }), ("resumes", "resume", "end of a pause")),
    (|event| matches!(event, Event::Withdraw { .. }), ("withdraws", "withdraw", "withdrawal")),
    (|event| matches!(event, Event::Rejoin { .. }), ("rejoins", "rejoin", "return")),
    (
        |event| matches!(event, Event::Overdue { .. }),
        (
            "does not stop its application in time",
            "do not stop their applications in time",
            "hung application",
        ),
    ),
    (|event| matches!(event, Event::Cut { .. }), ("is cut", "are cut", "partition")),
    (|event| matches!(event, Event::Heal { .. }), ("heals", "heal", "end of a partition")),
];
/// More nodes than this are counted, not listed.
const LISTED_MAX: usize = 6;
const PATH_MAX: usize = 14;
/// More characters than this of what messages say are left to tooltips.
const CONTENTS_MAX: usize = 160;
/// Longer names of nodes are shortened in what messages say.
const NAME_MAX: usize = 24;
