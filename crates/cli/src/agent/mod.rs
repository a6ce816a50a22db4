//! A node with everything around it: what it was and why, whether it may act, and who asks.
//!
//! ```text
//!   Group (the node) --changes--> History (numbered, with cause and gap) --> watchers, history, stdout
//!                    --activity-> Activities (may the leader act?) --> jobs, hooks, HTTP, metrics
//!   Action (step down, pause, ...) --> Group
//! ```
//!
//! The control socket ([`crate::control::server`]) and whatever else answers for the node hold an
//! [`Agent`] and know nothing of each other.

mod acceptance;
pub(crate) mod action;
pub(crate) mod change;
pub(crate) mod environment;
mod experiment;
pub(crate) mod health;
pub(crate) mod history;
pub(crate) mod jobs;
mod json_form;
pub(crate) mod loss;
pub(crate) mod objections;
mod recorder;
mod reload;
pub(crate) mod report;
pub(crate) mod secrets;
pub(crate) mod service_manager;
pub(crate) mod services;
mod switchover;
pub(crate) mod views;

use std::fmt::Display;
use std::sync::Arc;

use tanist::{Activities, Group, Objection, SetPriorityError, StartErrorKind};
use tokio::sync::watch;

use self::history::History;
use self::jobs::Jobs;
use self::secrets::{Keys, Used};
use crate::agent::health::Health;
use crate::config::{Config, Sources};
use crate::dev::work::{Ledger, Work};
use crate::hooks::Hooks;
use crate::hooks::counters::Counters;
use crate::hooks::pre_leader::Gate;
use crate::problem::Problem;
use crate::process::descriptors::Budget;

/// A node with everything around it. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Agent {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    group: Group,
    sources: Sources,
    config: watch::Sender<Arc<Config>>,
    secrets: Used,
    history: History,
    activity: Activities,
    hook_counters: Counters,
    health: Health,
    gate: Gate,
    jobs: Jobs,
    takes_experiments: bool,
    work: Option<Arc<Ledger>>,
    leaving: watch::Sender<bool>,
    budget: Budget,
}

impl Agent {
    /// Starts the node that a configuration describes, and its hooks. One that takes experiments
    /// can be told to misbehave.
    pub(crate) async fn start(
        sources: Sources,
        config: Config,
        takes_experiments: bool,
    ) -> Result<(Self, Hooks), Problem> {
        // Before anything is opened that clients could use up.
        let budget = Budget::claim(config.peers.all().len());
        acceptance::ask(&config).await?;
        let bad = |is_temporary, error: &dyn Display| {
            Problem::of_start(is_temporary, format!("{}: {error}", sources.name()))
        };
        let read = config.secrets().map_err(|error| bad(error.is_temporary(), &error))?;
        let secrets = Used::new(read).map_err(|error| bad(true, &error))?;
        let Keys { keyring, identities, .. } = secrets.now();
        let builder = config.builder().key(keyring).identities(identities);
        let builder = objections::at_start(&config, builder);
        let builder = match takes_experiments {
            true => experiment::apply(builder)?,
            false => builder,
        };
        let started = match config.work.filter(|_| takes_experiments) {
            Some(pieces) => {
                let (work, ledger) = Work::new(pieces);
                builder.start_with(work).await.map(|group| (group, Some(ledger)))
            }
            None => builder.start().await.map(|group| (group, None)),
        };
        let (group, work) = started.map_err(|error| {
            let is_temporary = match error.kind() {
                StartErrorKind::Configuration | StartErrorKind::Store => false,
                StartErrorKind::Resource => true,
            };
            bad(is_temporary, &error)
        })?;
        // A node's own word on itself is told to the others, so that all go by the same order.
        if let Some(priority) = config.priority {
            let set = group.set_priority(priority).await;
            set.map_err(|error| {
                let has_failed = match error {
                    SetPriorityError::Fixed(_) => false,
                    SetPriorityError::Stopped(_) | _ => true,
                };
                bad(has_failed, &error)
            })?;
        }
        let (config, known) = watch::channel(Arc::new(config));
        let health = Health::new(known.borrow().health.is_some());
        let (gate, questions) = Gate::new(known);
        let activity = group.activity(gate.clone());
        tokio::spawn(admit(gate.clone(), group.clone()));
        let history = History::follow(&group, &activity).await;
        let inner = Inner {
            group,
            sources,
            config,
            secrets,
            history,
            activity,
            hook_counters: Counters::default(),
            health,
            gate,
            jobs: Jobs::default(),
            takes_experiments,
            work,
            leaving: watch::Sender::new(false),
            budget,
        };
        let agent = Self { inner: Arc::new(inner) };
        tokio::spawn(agent.clone().answer_peers());
        let hooks = Hooks::start(&agent, questions);
        Ok((agent, hooks))
    }

    /// The node.
    pub(crate) fn group(&self) -> &Group {
        &self.inner.group
    }

    /// What it was told at its start, or at the last reload.
    pub(crate) fn config(&self) -> Arc<Config> {
        Arc::clone(&self.inner.config.borrow())
    }

    /// The same, for tasks that must notice a reload.
    pub(crate) fn follow_config(&self) -> watch::Receiver<Arc<Config>> {
        self.inner.config.subscribe()
    }

    /// What it was and is, and why.
    pub(crate) fn history(&self) -> &History {
        &self.inner.history
    }

    /// Whether it may act as a leader.
    pub(crate) fn activity(&self) -> &Activities {
        &self.inner.activity
    }

    /// What its hooks did so far.
    pub(crate) fn hook_counters(&self) -> &Counters {
        &self.inner.hook_counters
    }

    /// Whether it is healthy enough to lead.
    pub(crate) fn health(&self) -> &Health {
        &self.inner.health
    }

    /// The check before it leads.
    pub(crate) fn gate(&self) -> &Gate {
        &self.inner.gate
    }

    /// The jobs that are attached to it.
    pub(crate) fn jobs(&self) -> &Jobs {
        &self.inner.jobs
    }

    /// How many clients of each kind it may have.
    pub(crate) fn budget(&self) -> Budget {
        self.inner.budget
    }

    /// Whether it was told to hand over and end.
    pub(crate) fn is_leaving(&self) -> bool {
        *self.inner.leaving.borrow()
    }

    /// Waits until it is told to hand over and end.
    pub(crate) async fn leaves(&self) {
        let mut leaving = self.inner.leaving.subscribe();
        // The sender lives as long as this agent.
        let _ = leaving.wait_for(|is_leaving| *is_leaving).await;
    }

    /// Whether it may be told to misbehave.
    pub(crate) fn takes_experiments(&self) -> bool {
        self.inner.takes_experiments
    }

    /// How far its group's work is, if it was given any.
    pub(crate) fn work(&self) -> Option<&Ledger> {
        self.inner.work.as_deref()
    }
}

/// Lets a node that has just started take part as soon as its gate permits it.
async fn admit(gate: Gate, group: Group) {
    gate.permits().await;
    group.lift(Objection::Gate);
}
