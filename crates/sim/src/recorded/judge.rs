//! Runs the monitors of simulated runs on a recorded one, and says what cannot be judged.
//!
//! A monitor checks the global state after each entry. In the simulator a step takes no time. In a
//! live node it does: the state is recorded when the step was computed, the save when it is on
//! disk, each message when it leaves. Assertions by *causality* (B-37, I-50, I-51, A-3.1, …) are
//! not affected, since a node writes its lines in the order of its effects and a sending comes
//! before its receipt. Assertions about *one moment* (A-1.1, A-1.2, G-14) rely on the stamps, and
//! so on one clock.
//!
//! Where the recording does not support a verdict the assertion is not applicable, with the reason:
//! lines are missing, the time of a crash is unknown, or the run ended too early.

use std::time::Duration;

use tanist_core::trace::{Event, Header, Source as Writer};
use tanist_core::{NodeId, NodeSet, Time};

use super::{Known, Recorded, Source};
use crate::monitors::{Selection, Verdict};
use crate::observe::counts::Counts;
use crate::observe::global_state::GlobalState;
use crate::observe::observers::{Judgement, ObserverConfig, Observers};
use crate::observe::recording::Recording;

/// A recorded run with its verdicts.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The result of every assertion.
    pub rulings: Vec<Ruling>,
    /// The global state at the end.
    pub global: GlobalState,
    /// The counters.
    pub counts: Counts,
    /// The trace, including the violations.
    pub recording: Recording,
}

/// The result of an assertion, and why it could not be judged, if so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ruling {
    /// The result.
    pub judgement: Judgement,
    /// What the recording lacks; none where the assertion does not apply anyway.
    pub reason: Option<String>,
}

impl Judged {
    /// The violated assertions.
    pub fn violated(&self) -> impl Iterator<Item = &Judgement> + '_ {
        let judgements = self.rulings.iter().map(|ruling| &ruling.judgement);
        judgements.filter(|judgement| judgement.verdict == Verdict::Violated)
    }
}

impl Recorded {
    /// Shows the run to the monitors.
    #[must_use]
    pub fn judge(&self, selection: Selection) -> Judged {
        let mut observers = self.observe(selection, CrashTime::Earliest);
        let too_early = self.ends_too_early(&observers);
        if too_early.is_none() {
            observers.finish(self.end());
        }
        let at_latest = match self.fit.unseen_crashes.is_empty() {
            true => Vec::new(),
            false => self.observe(selection, CrashTime::Latest).judgements(),
        };
        let ends: Vec<&str> = observers
            .assertions()
            .into_iter()
            .filter(|(_, is_end)| *is_end)
            .map(|(id, _)| id)
            .collect();
        let rulings: Vec<Ruling> = observers
            .judgements()
            .into_iter()
            .map(|judgement| {
                let id = judgement.assertion;
                let latest = at_latest.iter().find(|latest| latest.assertion == id);
                let reason = self
                    .is_gap_in_the_way(&judgement)
                    .or_else(|| too_early.clone().filter(|_| ends.contains(&id)))
                    .or_else(|| self.is_crash_time_needed(&judgement, latest));
                ruling(judgement, reason)
            })
            .collect();
        let (global, counts) = (observers.global.clone(), observers.counts.clone());
        let mut recording = observers
            .into_recording()
            .unwrap_or_else(|| Recording { header: self.header.clone(), entries: Vec::new() });
        recording.entries.retain(|entry| {
            let Event::Violation { assertion, .. } = &entry.event else { return true };
            rulings.iter().any(|ruling| {
                ruling.judgement.assertion == assertion
                    && ruling.judgement.verdict == Verdict::Violated
            })
        });
        Judged { rulings, global, counts, recording }
    }

    fn observe(&self, selection: Selection, crash_time: CrashTime) -> Observers {
        let is_recorded = crash_time == CrashTime::Earliest;
        let config = ObserverConfig { assertions: selection, is_recorded };
        let (members, header) = (self.members.clone(), self.header.clone());
        let mut observers = Observers::new(members, self.algorithm, header, config);
        let mut crashing: Vec<NodeId> = Vec::new();
        for Known { entry, by } in &self.entries {
            if let (Event::Crash { node }, Source::Inferred, CrashTime::Latest) =
                (&entry.event, by, crash_time)
            {
                crashing.push(*node);
                continue;
            }
            if let Event::Start { node, .. } = entry.event
                && let Some(at) = crashing.iter().position(|crashing| *crashing == node)
            {
                crashing.swap_remove(at);
                observers.see(entry.at, Event::Crash { node });
            }
            observers.see(entry.at, entry.event.clone());
        }
        observers
    }

    /// Why a liveness assertion cannot be judged: a live run is ended from outside, perhaps too
    /// early.
    fn ends_too_early(&self, observers: &Observers) -> Option<String> {
        if self.header.source != Writer::Live {
            return None;
        }
        let end = self.end();
        let calm = end.since(observers.global.disturbed_at);
        let is_settled = observers.is_settled();
        let patience = patience(&self.header);
        if calm < patience && !is_settled {
            return Some(format!(
                "the run ends {calm:?} after the last disturbance; record {patience:?} at least"
            ));
        }
        let changes = self.entries().rev();
        let change = changes.filter(|entry| matches!(entry.event, Event::State { .. }));
        let still = end.since(change.map(|entry| entry.at).next().unwrap_or(Time::ZERO));
        let round = round(&self.header);
        (calm >= patience && is_settled && still < round).then(|| {
            format!(
                "the run ends {still:?} after the last change of state; record {round:?} at least"
            )
        })
    }

    fn is_gap_in_the_way(&self, judgement: &Judgement) -> Option<String> {
        let is_in_the_way = !self.fit.gaps.is_empty()
            && match (scope(judgement.assertion), judgement.verdict) {
                (_, Verdict::NotApplicable) | (Scope::Each, _) => false,
                (Scope::Pairs, verdict) => verdict == Verdict::Holds,
                (Scope::All, _) => true,
            };
        is_in_the_way.then(|| format!("lines of {} are missing", self.called(&self.fit.gaps)))
    }

    fn is_crash_time_needed(
        &self,
        judgement: &Judgement,
        latest: Option<&Judgement>,
    ) -> Option<String> {
        let depends = judgement.verdict == Verdict::Holds
            && latest.is_some_and(|latest| latest.verdict == Verdict::Violated);
        depends.then(|| {
            let nodes = self.called(&self.fit.unseen_crashes);
            format!("it depends on when {nodes} crashed, which was not recorded")
        })
    }

    fn called(&self, nodes: &NodeSet) -> String {
        format!("{{{}}}", self.header.names.list(nodes.iter()))
    }
}

fn ruling(mut judgement: Judgement, reason: Option<String>) -> Ruling {
    if reason.is_some() {
        (judgement.verdict, judgement.violated) = (Verdict::NotApplicable, None);
    }
    Ruling { judgement, reason }
}

/// How long a run must be free of faults before "eventually" is due.
fn patience(header: &Header) -> Duration {
    round(header) * 4
}

/// One round of the periodic activities: a check and its answers.
fn round(header: &Header) -> Duration {
    Duration::from_micros(header.check_every_us) + Duration::from_micros(header.answer_us) * 2
}

/// At which moment an unrecorded crash is assumed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CrashTime {
    /// Right after the last line of the node.
    Earliest,
    /// Right before its next start, or never.
    Latest,
}

/// Which nodes' lines an assertion needs.
enum Scope {
    /// It is about each node alone.
    Each,
    /// It is about any two nodes: a violation between recorded nodes counts, but others may be
    /// hidden.
    Pairs,
    /// It is about all nodes together.
    All,
}

fn scope(assertion: &str) -> Scope {
    match assertion {
        "B-37" | "G-09" | "I-02" | "I-07" | "I-50" | "P-04" | "P-05" => Scope::Each,
        "A-1.1" | "A-1.2" | "A-3.1" | "A-3.2" | "G-14" | "B-42" | "B-43" => Scope::Pairs,
        // Every other assertion needs the lines of all nodes unless it is listed above.
        _ => Scope::All,
    }
}
