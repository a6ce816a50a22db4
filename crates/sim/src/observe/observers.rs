//! All observers of a run, called with every event: the global state, the monitors, the counters,
//! the recorder.

use std::hash::Hasher;
use std::sync::Arc;

use tanist_core::election::Algorithm;
use tanist_core::trace::{Entry, Event, Header};
use tanist_core::{Membership, Time};

use crate::explore::digest::Digester;
use crate::explore::snapshot::MonitorStates;
use crate::monitors::{self, Interest, Monitor, Verdict, Violation};
use crate::observe::counts::Counts;
use crate::observe::global_state::GlobalState;
use crate::observe::recording::Recording;

/// The observers of one run.
#[derive(Clone)]
pub struct Observers {
    /// The global state.
    pub global: GlobalState,
    /// The counters.
    pub counts: Counts,
    monitors: Vec<RunningMonitor>,
    recording: Option<Recording>,
    /// The first violated assertion, if any.
    first: Option<Violated>,
    /// Whether the run reached its end.
    is_finished: bool,
}

struct RunningMonitor {
    monitor: Box<dyn Monitor>,
    /// The monitor before it saw any event.
    fresh: Arc<dyn Monitor>,
    interest: Interest,
    violated: Option<Violated>,
}

impl Clone for RunningMonitor {
    fn clone(&self) -> Self {
        Self {
            monitor: self.monitor.replicate(),
            fresh: Arc::clone(&self.fresh),
            interest: self.interest,
            violated: self.violated.clone(),
        }
    }
}

/// An assertion that was violated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violated {
    /// Its id.
    pub assertion: &'static str,
    /// When.
    pub at: Time,
    /// The nodes concerned, and what was seen.
    pub violation: Violation,
}

/// The result of one assertion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// Its id.
    pub assertion: &'static str,
    /// The verdict.
    pub verdict: Verdict,
    /// The violation, if there was one.
    pub violated: Option<Violated>,
}

/// Which monitors run, and whether the trace is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObserverConfig {
    /// Which assertions are checked.
    pub assertions: monitors::Selection,
    /// Whether the trace is kept; memory grows with the run only then.
    pub is_recorded: bool,
}

impl Observers {
    /// Observers for a run that this header describes.
    #[must_use]
    pub fn new(
        members: Membership,
        algorithm: Algorithm,
        header: Header,
        config: ObserverConfig,
    ) -> Self {
        let all = monitors::all(algorithm, config.assertions, &header);
        Self {
            global: GlobalState::new(members),
            counts: Counts::default(),
            monitors: all
                .into_iter()
                .map(|monitor| RunningMonitor {
                    interest: monitor.interest(),
                    fresh: Arc::from(monitor.replicate()),
                    monitor,
                    violated: None,
                })
                .collect(),
            recording: config.is_recorded.then(|| Recording { header, entries: Vec::new() }),
            first: None,
            is_finished: false,
        }
    }

    /// The global state and the counters only, for runs that are too large for monitors.
    #[must_use]
    pub fn counting(members: Membership) -> Self {
        Self {
            global: GlobalState::new(members),
            counts: Counts::default(),
            monitors: Vec::new(),
            recording: None,
            first: None,
            is_finished: false,
        }
    }

    /// Shows an event to every observer.
    pub fn see(&mut self, at: Time, event: Event) {
        self.counts.note(&event);
        self.global.note(at, &event);
        let kind = Interest::of(&event);
        let mut broke = Vec::new();
        for watched in &mut self.monitors {
            if watched.violated.is_some() || !watched.interest.meets(kind) {
                continue;
            }
            if let Some(violation) = watched.monitor.see(&self.global, at, &event) {
                let violated = Violated { assertion: watched.monitor.id(), at, violation };
                watched.violated = Some(violated.clone());
                broke.push(violated);
            }
        }
        if let Some(recording) = &mut self.recording {
            recording.entries.push(Entry { at, event });
        }
        for violated in broke {
            self.record_break(violated);
        }
    }

    /// The first violated assertion, if any.
    #[must_use]
    pub const fn first_violated(&self) -> Option<&Violated> {
        self.first.as_ref()
    }

    /// The assertions with a monitor, each with whether it is judged at the end of a run.
    #[must_use]
    pub fn assertions(&self) -> Vec<(&'static str, bool)> {
        let monitors = self.monitors.iter().map(|watched| &watched.monitor);
        monitors.map(|monitor| (monitor.id(), monitor.is_about_the_end())).collect()
    }

    /// The digest of the monitors' states beyond the global state.
    pub(crate) fn memories_digest(&self) -> u128 {
        let mut digester = Digester::new();
        for watched in &self.monitors {
            digester.write_u64(watched.monitor.memory());
        }
        digester.wide()
    }

    /// The monitors that have a state, to be restored later.
    pub(crate) fn monitor_states(&self) -> MonitorStates {
        let all = self.monitors.iter().map(|watched| {
            let memory = watched.monitor.memory();
            (memory, (memory != 0).then(|| watched.monitor.replicate()))
        });
        MonitorStates(all.collect())
    }

    /// Restores the states of the monitors, without any violation.
    pub(crate) fn put_back(&mut self, monitor_states: &MonitorStates) {
        for (watched, (memory, monitor)) in self.monitors.iter_mut().zip(&monitor_states.0) {
            watched.violated = None;
            if watched.monitor.memory() != *memory {
                watched.monitor = match monitor {
                    Some(monitor) => monitor.replicate(),
                    None => watched.fresh.replicate(),
                };
            }
        }
        self.counts = Counts::default();
        self.first = None;
    }

    /// Whether every liveness assertion holds now.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.unsettled().next().is_none()
    }

    /// The assertions that are violated if the run has come to rest: no message in flight, no node
    /// waiting.
    #[must_use]
    pub fn violated_at_rest(&self, at: Time) -> Vec<Violated> {
        let monitors = self.monitors.iter().map(|watched| &watched.monitor);
        let violated = monitors.filter_map(|monitor| {
            let violation = monitor.at_rest(&self.global)?;
            Some(Violated { assertion: monitor.id(), at, violation })
        });
        violated.collect()
    }

    /// The liveness assertions that do not hold now.
    pub fn unsettled(&self) -> impl Iterator<Item = &'static str> + '_ {
        let monitors = self.monitors.iter().map(|watched| &watched.monitor);
        let open = monitors.filter(|monitor| !monitor.is_settled(&self.global));
        open.map(|monitor| monitor.id())
    }

    /// Ends the run: every liveness assertion must hold.
    pub fn finish(&mut self, at: Time) {
        self.is_finished = true;
        let mut broke = Vec::new();
        for watched in &mut self.monitors {
            if watched.violated.is_some() {
                continue;
            }
            if let Some(violation) = watched.monitor.finish(&self.global, at) {
                let violated = Violated { assertion: watched.monitor.id(), at, violation };
                watched.violated = Some(violated.clone());
                broke.push(violated);
            }
        }
        for violated in broke {
            self.record_break(violated);
        }
    }

    /// The result of every assertion, including those that do not apply.
    #[must_use]
    pub fn judgements(&self) -> Vec<Judgement> {
        monitors::IDS
            .iter()
            .filter_map(|id| {
                let watched = self.monitors.iter().find(|watched| watched.monitor.id() == *id);
                let Some(watched) = watched else {
                    let is_extra = monitors::is_on_request(id);
                    let verdict = Verdict::NotApplicable;
                    let none = Judgement { assertion: id, verdict, violated: None };
                    return (!is_extra).then_some(none);
                };
                let verdict = match &watched.violated {
                    Some(_) => Verdict::Violated,
                    None => {
                        let monitor = &watched.monitor;
                        let is_judged = self.is_finished || !monitor.is_about_the_end();
                        if is_judged && monitor.is_applicable(&self.global) {
                            Verdict::Holds
                        } else {
                            Verdict::NotApplicable
                        }
                    }
                };
                Some(Judgement { assertion: id, verdict, violated: watched.violated.clone() })
            })
            .collect()
    }

    /// Whether the trace is kept.
    #[must_use]
    pub const fn is_recording(&self) -> bool {
        self.recording.is_some()
    }

    /// The trace, if it was kept.
    pub fn into_recording(self) -> Option<Recording> {
        self.recording
    }

    /// The trace so far, if it is kept.
    #[must_use]
    pub const fn recording(&self) -> Option<&Recording> {
        self.recording.as_ref()
    }

    /// Notes what another observer found, in the trace as well.
    pub fn report(&mut self, violated: Violated) {
        self.record_break(violated);
    }

    fn record_break(&mut self, violated: Violated) {
        if let Some(recording) = &mut self.recording {
            recording.entries.push(Entry {
                at: violated.at,
                event: Event::Violation {
                    assertion: violated.assertion.to_owned(),
                    nodes: violated.violation.nodes.clone(),
                    why: violated.violation.why.clone(),
                },
            });
        }
        self.first.get_or_insert(violated);
    }
}
