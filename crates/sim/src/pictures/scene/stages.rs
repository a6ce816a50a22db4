//! A trace in stages: what a teacher would draw as one picture.
//!
//! ```text
//!   a fault            nodes crash, restart, pause, withdraw; links are cut or heal
//!   links: a wave      messages that do not depend on each other, and their answers
//!   ring: a round      election or announcement passed on, until a link is used a third time
//!   radio: a flood     all elections; then the reports; then all announcements
//!   the end            who coordinates whom, if the hand-over has not shown it
//! ```
//!
//! A wave ends when a node acts on what it heard in it, or acts a second time. The bully of the
//! textbook so has the stages of the textbook's figure. In floods and rounds a stage ends when at
//! one time nothing is sent of what the stage began with.

use std::collections::{BTreeMap, BTreeSet};

use tanist_core::trace::{Entry, Event, EventClass, Header};
use tanist_core::{NodeId, Time};

use super::messages::{Arrow, Part, Said, Way};

/// One picture of a run.
#[derive(Clone, Debug)]
pub(super) struct Stage {
    pub(super) what: What,
    /// The first entry.
    pub(super) first: usize,
    pub(super) begins: Time,
    /// The state of nodes is that after this many entries.
    pub(super) until: usize,
    /// How many stages before it are left out, in a run that is too long.
    pub(super) left_out: usize,
}

/// What a stage shows.
#[derive(Clone, Debug)]
pub(super) enum What {
    /// The entries of faults.
    Faults(Vec<usize>),
    /// Messages.
    Talk(Vec<Said>),
    /// Who coordinates whom.
    Outcome,
}

impl Stage {
    pub(super) fn said(&self) -> &[Said] {
        match &self.what {
            What::Talk(said) => said,
            What::Faults(_) | What::Outcome => &[],
        }
    }

    /// Whether it shows nothing but what comes back from a flood.
    pub(super) fn is_report(&self) -> bool {
        !self.said().is_empty() && self.said().iter().all(|said| said.part == Part::Report)
    }

    /// The last entry of its own, which its picture includes.
    fn last(&self) -> usize {
        match &self.what {
            What::Faults(entries) => entries.last().copied().unwrap_or(self.first),
            What::Talk(said) => {
                let first = said.iter().filter(|said| !said.is_reply()).map(|said| said.index);
                first.max().unwrap_or(self.first)
            }
            What::Outcome => self.first,
        }
    }
}

/// Splits a trace into stages; there is at least one.
pub(super) fn split(header: &Header, entries: &[Entry], said: &[Said]) -> Vec<Stage> {
    let way = Way::of(header);
    let faults = faults(way, entries);
    let (replies, mut first): (Vec<Said>, Vec<Said>) =
        said.iter().partition(|said| said.is_reply());
    first.sort_by_key(|said| said.index);
    let mut splitter = Splitter { way, done: Vec::new(), open: None };
    let mut faults = faults.into_iter().peekable();
    for batch in first.chunk_by(|a, b| a.at == b.at) {
        let at = batch[0].index;
        while let Some(fault) = faults.next_if(|fault| *fault < at) {
            splitter.fault(fault, entries);
        }
        splitter.talk(batch);
    }
    faults.for_each(|fault| splitter.fault(fault, entries));
    splitter.close();
    let mut stages = splitter.done;
    for reply in replies {
        answer(&mut stages, reply);
    }
    end(&mut stages, entries);
    if stages.len() > STAGES_MAX {
        let left_out = stages.len() - STAGES_MAX;
        let begin = STAGES_MAX - 1;
        stages.drain(begin..begin + left_out);
        stages[begin].left_out = left_out;
    }
    stages
}

/// Adds an answer to the latest stage with its question.
fn answer(stages: &mut [Stage], reply: Said) {
    let Arrow { from, to, kind, .. } = reply.arrow;
    let is_question = |said: &Said| {
        (said.arrow.from, said.arrow.to) == (to, from)
            && said.index < reply.index
            && kind.info().answers.contains(&said.arrow.kind)
    };
    let asked = |stage: &&mut Stage| stage.said().iter().any(is_question);
    let same = |stage: &Stage| {
        stage.said().iter().any(|said| said.part == reply.part) && stage.begins <= reply.at
    };
    // What answers nothing that is drawn belongs to what is said at that time.
    let place = match stages.iter_mut().rposition(|stage| asked(&stage)) {
        Some(place) => Some(place),
        None => stages.iter().rposition(same),
    };
    if let Some(What::Talk(said)) = place.map(|place| &mut stages[place].what) {
        said.push(reply);
    }
}

/// Appends the outcome where it is not shown, and settles which state each stage shows.
fn end(stages: &mut Vec<Stage>, entries: &[Entry]) {
    let is_shown = stages.last().is_some_and(|stage| {
        stage.said().iter().any(|said| matches!(said.part, Part::Agreement | Part::Announcement))
    });
    if !is_shown {
        let begins = entries.last().map_or(Time::ZERO, |entry| entry.at);
        let first = entries.len();
        stages.push(Stage { what: What::Outcome, first, begins, until: first, left_out: 0 });
    }
    for place in 0..stages.len() {
        let next = stages.get(place + 1).map(|next| (next.begins, next.first));
        let until = match next {
            Some((begins, first)) => {
                let before = entries.partition_point(|entry| entry.at < begins).min(first);
                before.max(stages[place].last() + 1).min(entries.len())
            }
            None => entries.len(),
        };
        stages[place].until = until;
    }
}

struct Splitter {
    way: Way,
    done: Vec<Stage>,
    open: Option<Open>,
}

/// A stage of messages that may go on.
struct Open {
    said: Vec<Said>,
    parts: BTreeSet<Part>,
    /// Who sent something, and when first.
    senders: BTreeMap<NodeId, Time>,
    uses: BTreeMap<Arrow, usize>,
}

impl Splitter {
    fn fault(&mut self, index: usize, entries: &[Entry]) {
        self.close();
        let at = entries[index].at;
        if let Some(Stage { what: What::Faults(faults), .. }) = self.done.last_mut()
            && faults.last().is_some_and(|last| is_like(&entries[*last], &entries[index]))
        {
            faults.push(index);
            return;
        }
        let what = What::Faults(vec![index]);
        self.done.push(Stage { what, first: index, begins: at, until: 0, left_out: 0 });
    }

    /// Takes the messages of one time.
    fn talk(&mut self, batch: &[Said]) {
        match self.way {
            Way::Links => {
                let ends = |open: &Open| batch.iter().any(|said| open.is_followed_by(said));
                if self.open.as_ref().is_some_and(ends) {
                    self.close();
                }
            }
            Way::Ring | Way::Radio => {
                let goes_on = |open: &Open| open.goes_on_with(batch, self.way);
                if self.open.as_ref().is_some_and(|open| !goes_on(open)) {
                    self.close();
                }
            }
        }
        let parts = || batch.iter().map(|said| said.part).collect();
        let open = self.open.get_or_insert_with(|| Open {
            said: Vec::new(),
            parts: parts(),
            senders: BTreeMap::new(),
            uses: BTreeMap::new(),
        });
        for said in batch {
            open.said.push(*said);
            open.senders.entry(said.arrow.from).or_insert(said.at);
            *open.uses.entry(said.arrow).or_default() += 1;
        }
    }

    fn close(&mut self) {
        let Some(open) = self.open.take() else { return };
        // Reports come back while the flood still spreads, and are a picture of their own.
        let is_flood = open.said.iter().any(|said| said.part == Part::Election);
        let (reports, flood): (Vec<Said>, Vec<Said>) =
            open.said.into_iter().partition(|said| said.part == Part::Report && is_flood);
        for said in [flood, reports] {
            let Some((first, begins)) = said.first().map(|said| (said.index, said.at)) else {
                continue;
            };
            self.done.push(Stage { what: What::Talk(said), first, begins, until: 0, left_out: 0 });
        }
    }
}

impl Open {
    /// Whether a message depends on this wave, or comes long after it.
    fn is_followed_by(&self, next: &Said) -> bool {
        let sender = next.arrow.from;
        let acted = self.senders.get(&sender).is_some_and(|at| *at < next.at);
        let heard = |said: &Said| {
            said.arrow.to == sender && said.until.is_some_and(|until| until <= next.at)
        };
        let is_over = self.said.iter().all(|said| said.until.is_some_and(|at| at < next.at));
        acted || is_over || self.said.iter().any(heard)
    }

    fn goes_on_with(&self, batch: &[Said], way: Way) -> bool {
        let is_free = |said: &Said| {
            way == Way::Radio || self.uses.get(&said.arrow).is_none_or(|uses| *uses < USES_MAX)
        };
        let same = |said: &Said| {
            self.parts.contains(&said.part)
                || (said.part == Part::Report && self.parts.contains(&Part::Election))
        };
        batch.iter().any(same) && batch.iter().all(is_free)
    }
}

/// The entries that are faults of nodes and links.
fn faults(way: Way, entries: &[Entry]) -> Vec<usize> {
    let is_fault = |entry: &Entry| {
        let is_beginning =
            matches!(entry.event, Event::Start { restarted: false, .. }) && entry.at == Time::ZERO;
        // Nodes with radios lose and gain links all the time, and out of reach is no fault.
        let is_of_links = matches!(entry.event, Event::Cut { .. } | Event::Heal { .. });
        entry.event.class() == EventClass::Fault
            && !is_beginning
            && !(is_of_links && way == Way::Radio)
    };
    let all = entries.iter().enumerate();
    all.filter(|(_, entry)| is_fault(entry)).map(|(index, _)| index).collect()
}

/// Whether two faults make one picture: at one time, or of one sort without anything between.
fn is_like(one: &Entry, next: &Entry) -> bool {
    one.at == next.at || core::mem::discriminant(&one.event) == core::mem::discriminant(&next.event)
}

/// More messages than this along one arrow of a ring begin another round.
const USES_MAX: usize = 2;
/// A run of more stages repeats itself: what comes before the last of them is left out.
const STAGES_MAX: usize = 30;
