//! Runs hooks: gives them their input, logs what they write, counts.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use tanist::NodeSet;

use super::counters::{Counters, Outcome};
use super::event::Event;
use super::program::{self, End, Program, Ran, RunError};
use super::queue::News;
use crate::agent::Agent;
use crate::agent::change::RoleChange;
use crate::agent::environment::environment;
use crate::config::{Config, HooksTable};

/// What a hook can read: the change that it is about, and the node as it is when the hook starts.
#[derive(Debug, Serialize)]
pub(crate) struct Input<'a> {
    /// The event's name.
    pub(crate) event: &'static str,
    /// The change of the history.
    pub(crate) change: &'a RoleChange,
    /// The node at the moment.
    pub(crate) status: &'a Value,
}

/// Runs the hooks of one agent, one at a time.
#[derive(Debug)]
pub(super) struct Runner {
    agent: Agent,
    /// Who was in the group when hooks were told of it last.
    members: NodeSet,
}

impl Runner {
    pub(super) const fn new(agent: Agent) -> Self {
        Self { agent, members: NodeSet::new() }
    }

    /// Tells news, and what follows from it.
    pub(super) async fn tell(&mut self, news: News) {
        let News { event, change, reply, .. } = news;
        if let Some(reply) = reply {
            let is_admitted = self.run(event, Arc::clone(&change)).await;
            // The leadership may be over; then the answer is not waited for.
            let _ = reply.send(is_admitted);
            return;
        }
        if event == Event::Leader && !self.is_active_in(&change) {
            self.skip(&[event]);
            return;
        }
        self.run(event, Arc::clone(&change)).await;
        if change.is_in_group() && change.members != self.members {
            self.members.clone_from(&change.members);
            self.run(Event::Members, change).await;
        }
    }

    /// Counts what was left out.
    pub(super) fn skip(&self, events: &[Event]) {
        for event in events {
            for (hook, _) in event.programs(&self.hooks()) {
                self.counters().skipped(hook);
                tracing::info!(hook, event = event.name(), "skipped: there is newer news");
            }
        }
    }

    /// Runs the hooks of an event. False: one of them did not end well.
    pub(super) async fn run(&self, event: Event, change: Arc<RoleChange>) -> bool {
        let mut is_well = true;
        for (hook, path) in event.programs(&self.hooks()) {
            is_well &= self.run_one(hook, path, event, &change).await;
        }
        is_well
    }

    async fn run_one(
        &self,
        hook: &'static str,
        path: &Path,
        event: Event,
        change: &RoleChange,
    ) -> bool {
        let status = self.agent.status();
        let shown = serde_json::to_value(&status).unwrap_or_default();
        let state = &status.state;
        let program = program(&self.agent.config(), path, event, change, state, &shown);
        let limit = program.limit;
        let said = |text: &str| tracing::info!(hook, "{text}");
        match program.run(said).await {
            Ok(ran) => {
                self.counters().ran(hook, outcome(ran.end), ran.took);
                tell_end(hook, event, ran, limit);
                outcome(ran.end) == Outcome::Well
            }
            Err(error) => {
                match &error {
                    RunError::Refused(_) | RunError::Start(_) | RunError::Stuck(_) => {
                        self.counters().refused(hook);
                    }
                    RunError::Lost { .. } => {
                        self.counters().ran(hook, Outcome::Failed, Duration::ZERO);
                    }
                }
                tracing::error!(hook, event = event.name(), "{error}");
                false
            }
        }
    }

    fn is_active_in(&self, change: &RoleChange) -> bool {
        let lead = self.agent.activity().active();
        lead.is_some_and(|lead| change.group_number == Some(lead.group_number()))
    }

    fn hooks(&self) -> HooksTable {
        self.agent.config().hooks.clone()
    }

    fn counters(&self) -> &Counters {
        self.agent.hook_counters()
    }
}

/// The program for an event, with all that it is told.
pub(crate) fn program(
    config: &Config,
    path: &Path,
    event: Event,
    change: &RoleChange,
    state: &str,
    status: &Value,
) -> Program {
    let input = Input { event: event.name(), change, status };
    Program {
        path: path.to_owned(),
        arguments: Vec::new(),
        variables: environment(config, event.name(), state, change),
        input: serde_json::to_vec(&input).unwrap_or_default(),
        limit: config.hooks.timeout,
        places: &program::HOOKS,
    }
}

/// What a way to end counts as.
pub(crate) const fn outcome(end: End) -> Outcome {
    match end {
        End::Code(0) => Outcome::Well,
        End::Code(_) | End::Signal(_) => Outcome::Failed,
        End::TimedOut => Outcome::TimedOut,
    }
}

fn tell_end(hook: &'static str, event: Event, ran: Ran, limit: Duration) {
    let (event, took) = (event.name(), ran.took);
    match ran.end {
        End::Code(0) => tracing::info!(hook, event, ?took, "ended well"),
        End::Code(code) => tracing::warn!(hook, event, ?took, code, "ended with a code"),
        End::Signal(signal) => tracing::warn!(hook, event, ?took, signal, "ended by a signal"),
        End::TimedOut => {
            tracing::warn!(hook, event, ?took, ?limit, "took too long and was ended");
        }
    }
}
