//! Whether a node is healthy enough to lead, as a program of the user's says.
//!
//! The program runs periodically, without a shell, under the same rules as hooks. A node that
//! starts takes no part before the program has succeeded once. When it has failed `fail_after`
//! times in a row the node withdraws: another one leads, if there is a healthy one. As soon as the
//! program succeeds the node rejoins. Without a program a node is healthy. Left out: whether the
//! node can be reached; that is the election's business.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use tanist::Objection;
use tokio::time::{Instant, sleep_until};

use crate::agent::Agent;
use crate::config::HealthTable;
use crate::hooks::program::{End, Places, Program};

/// Whether a node is healthy. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Health {
    checks: Arc<Mutex<Checks>>,
}

/// What was found so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Checks {
    /// How often the program ran, or should have.
    pub(crate) runs: u64,
    /// How often it did not end well.
    pub(crate) failures: u64,
    /// How often the node became unhealthy.
    pub(crate) unhealthy: u64,
    /// How many times in a row it failed, up to the last.
    pub(crate) in_a_row: u32,
    /// Whether so many are too many.
    pub(crate) is_unhealthy: bool,
}

impl Health {
    /// Of a node that starts: with a program, it is not healthy before that has succeeded.
    pub(crate) fn new(has_program: bool) -> Self {
        let checks = Checks { is_unhealthy: has_program, ..Checks::default() };
        Self { checks: Arc::new(Mutex::new(checks)) }
    }

    /// Whether the node may lead.
    pub(crate) fn is_healthy(&self) -> bool {
        !self.lock().is_unhealthy
    }

    /// What was found so far.
    pub(crate) fn snapshot(&self) -> Checks {
        *self.lock()
    }

    /// Takes a result, and says what the node is after it.
    fn take(&self, is_well: bool, fail_after: u32) -> Verdict {
        let mut checks = self.lock();
        let was_unhealthy = checks.is_unhealthy;
        checks.runs += 1;
        if is_well {
            checks.in_a_row = 0;
        } else {
            checks.failures += 1;
            checks.in_a_row = checks.in_a_row.saturating_add(1);
        }
        checks.is_unhealthy = !is_well && (was_unhealthy || checks.in_a_row >= fail_after);
        checks.unhealthy += u64::from(checks.is_unhealthy && !was_unhealthy);
        match (was_unhealthy, checks.is_unhealthy) {
            (_, true) => Verdict::Unhealthy,
            (true, false) => Verdict::HealthyAgain,
            (false, false) => Verdict::Healthy,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Checks> {
        // No holder can panic: numbers are only added.
        self.checks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Healthy,
    HealthyAgain,
    /// It must stay withdrawn, also if an operator tells it to rejoin.
    Unhealthy,
}

/// Checks periodically, until the task is dropped or the node has stopped. Without a program the
/// node is healthy; a reload may bring one, or another one.
pub(crate) async fn watch(agent: Agent) {
    let mut config = agent.follow_config();
    loop {
        let table = config.borrow_and_update().health.clone();
        let next = table.as_ref().map(|table| Instant::now() + table.every);
        let (is_well, fail_after) = match &table {
            Some(table) => (look(table).await, table.fail_after),
            None => (true, 1),
        };
        let was_healthy = agent.health().is_healthy();
        let verdict = match (&table, was_healthy) {
            // Nothing was checked, and nothing is to be put right.
            (None, true) => Verdict::Healthy,
            (None, false) | (Some(_), _) => agent.health().take(is_well, fail_after),
        };
        match verdict {
            Verdict::Unhealthy => {
                if was_healthy {
                    tracing::warn!("the health check fails: this node withdraws");
                }
                agent.group().object(Objection::Health);
            }
            Verdict::HealthyAgain => {
                tracing::info!("the health check succeeds: this node may take part");
                agent.group().lift(Objection::Health);
            }
            Verdict::Healthy => {}
        }
        tokio::select! {
            () = until(next) => {}
            reloaded = config.changed() => if reloaded.is_err() { return },
        }
    }
}

async fn until(next: Option<Instant>) {
    match next {
        Some(next) => sleep_until(next).await,
        None => std::future::pending().await,
    }
}

async fn look(table: &HealthTable) -> bool {
    let Some((path, arguments)) = table.command.split_first() else { return true };
    let program = Program {
        path: PathBuf::from(path),
        arguments: arguments.to_vec(),
        variables: BTreeMap::new(),
        input: Vec::new(),
        limit: table.timeout,
        places: &PLACES,
    };
    match program.run(|line| tracing::info!(hook = "health", "{line}")).await {
        Ok(ran) if ran.end == End::Code(0) => true,
        Ok(ran) => {
            tracing::warn!(hook = "health", end = ?ran.end, took = ?ran.took, "the health check failed");
            false
        }
        Err(error) => {
            tracing::error!(hook = "health", "{error}");
            false
        }
    }
}

/// Checks run one at a time, so that one of these is for a check that hangs.
static PLACES: Places = Places::new(2);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_unfit_after_so_many_failures_in_a_row_and_fit_after_one_success() {
        let health = Health::new(false);
        assert!(health.is_healthy());
        let results = [false, false, true, false, false, false, false, true, true];
        let verdicts = results.map(|is_well| health.take(is_well, 3));
        use Verdict::{Healthy, HealthyAgain, Unhealthy};
        assert_eq!(
            verdicts,
            [
                Healthy,
                Healthy,
                Healthy,
                Healthy,
                Healthy,
                Unhealthy,
                Unhealthy,
                HealthyAgain,
                Healthy
            ]
        );
        let checks = health.snapshot();
        assert_eq!((checks.runs, checks.failures, checks.unhealthy), (9, 6, 1));
        assert!(health.is_healthy());
    }
    #[test]
    fn a_node_that_starts_is_not_healthy_before_its_first_success() {
        let health = Health::new(true);
        assert!(!health.is_healthy());
        assert_eq!(health.take(false, 3), Verdict::Unhealthy);
        assert_eq!(health.take(true, 3), Verdict::HealthyAgain);
        assert_eq!(health.take(false, 3), Verdict::Healthy);
        assert_eq!(health.snapshot().unhealthy, 0);
    }
}
