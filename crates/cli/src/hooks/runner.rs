//! Runs hooks: gives them their input, logs what they write, counts.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use tanist::{GroupNumber, NodeId};

use super::counters::{Counters, Outcome};
use super::event::Event;
use super::program::{self, End, Program, Ran, RunError};
use super::queue::News;
use crate::agent::Agent;
use crate::agent::change::RoleChange;
use crate::agent::environment::environment;
use crate::config::{Config, HooksTable};
use crate::terminal::moment;

/// What a hook can read: the change that it is about, and the node as it is when the hook starts.
#[derive(Debug, Serialize)]
pub(crate) struct Input<'a> {
    /// The event's name.
    pub(crate) event: &'static str,
    /// The change of the history.
    pub(crate) change: &'a RoleChange<String>,
    /// The node at the moment.
    pub(crate) status: &'a Value,
}

/// Runs the hooks of one agent, one at a time.
#[derive(Debug)]
pub(super) struct Runner {
    agent: Agent,
    /// Who was in the group when hooks were told of it last.
    members: Vec<NodeId>,
}

impl Runner {
    pub(super) const fn new(agent: Agent) -> Self {
        Self { agent, members: Vec::new() }
    }

    /// Tells news, and what follows from it.
    pub(super) async fn tell(&mut self, news: News) {
        let News { event, change, reply, .. } = news;
        if let Some(reply) = reply {
            let answer = self.run(event, Arc::clone(&change)).await;
            // The leadership may be over; then the answer is not waited for.
            let _ = reply.send(answer);
            return;
        }
        if event == Event::Leader && !self.is_active_in(&change) {
            self.skip(&[event]);
            return;
        }
        if event != Event::Members {
            // What went wrong was logged.
            let _ = self.run(event, Arc::clone(&change)).await;
        }
        if change.is_in_group() && change.members != self.members {
            self.members.clone_from(&change.members);
            let _ = self.run(Event::Members, change).await;
        }
    }

    /// Counts what was left out.
    pub(super) fn skip(&self, events: &[Event]) {
        for event in events {
            for (hook, _) in event.programs(&self.hooks()) {
                self.counters().skipped(hook);
                tracing::info!(hook, event = event.name(), "skipped: superseded");
            }
        }
    }

    /// Runs the hooks of an event. An error says what the first did that did not end well.
    pub(super) async fn run(&self, event: Event, change: Arc<RoleChange>) -> Result<(), String> {
        let mut answer = Ok(());
        for (hook, path) in event.programs(&self.hooks()) {
            answer = answer.and(self.run_one(hook, path, event, &change).await);
        }
        answer
    }

    async fn run_one(
        &self,
        hook: &'static str,
        path: &Path,
        event: Event,
        change: &RoleChange,
    ) -> Result<(), String> {
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
                match ran.end {
                    End::Code(0) => Ok(()),
                    End::Code(code) => Err(format!("it exited with {code}")),
                    End::Signal(signal) => Err(format!("signal {signal} ended it")),
                    End::TimedOut => {
                        Err(format!("it took longer than {} and was ended", moment::span(limit)))
                    }
                }
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
                Err(error.to_string())
            }
        }
    }

    /// Whether the node is active in this group, or in a later one of its own: a leadership goes on
    /// while its node forms one group after the other.
    fn is_active_in(&self, change: &RoleChange) -> bool {
        let lead = self.agent.activity().active();
        let is_later =
            |number: GroupNumber, lead: GroupNumber| number.node == lead.node && number <= lead;
        lead.is_some_and(|lead| {
            change.group_number.is_some_and(|number| is_later(number, lead.group_number()))
        })
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
    let called = change.called(config.peers.names());
    let input = Input { event: event.name(), change: &called, status };
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
        End::Code(0) => tracing::info!(hook, event, ?took, "succeeded"),
        End::Code(code) => tracing::warn!(hook, event, ?took, code, "failed with an exit code"),
        End::Signal(signal) => tracing::warn!(hook, event, ?took, signal, "killed by a signal"),
        End::TimedOut => {
            tracing::warn!(hook, event, ?took, ?limit, "took too long and was killed");
        }
    }
}
