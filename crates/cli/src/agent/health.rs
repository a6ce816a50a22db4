//! Whether a node is fit to lead, as a program of the user's says.
//!
//! The program runs every so often, without a shell, under the same rules as hooks. When it has
//! failed so many times in a row the node steps aside: another one leads, if there is one that is
//! fit. As soon as it ends well again the node takes part again. A node that has not been looked at
//! counts as fit. Left out: whether the node can be reached; that is the election's business.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use tokio::time::{Instant, sleep_until};

use crate::agent::Agent;
use crate::config::HealthTable;
use crate::hooks::program::{End, Places, Program};

/// Whether a node is fit, for everybody who asks. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fitness {
    checks: Arc<Mutex<Checks>>,
}

/// What was found so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Checks {
    /// How often the program ran, or should have.
    pub(crate) runs: u64,
    /// How often it did not end well.
    pub(crate) failures: u64,
    /// How often the node became unfit.
    pub(crate) unfit: u64,
    /// How many times in a row it failed, up to the last.
    pub(crate) in_a_row: u32,
    /// Whether so many are too many.
    pub(crate) is_unfit: bool,
}

impl Fitness {
    /// Whether the node may lead.
    pub(crate) fn is_fit(&self) -> bool {
        !self.lock().is_unfit
    }

    /// What was found so far.
    pub(crate) fn snapshot(&self) -> Checks {
        *self.lock()
    }

    /// Takes a result, and says what the node is after it.
    fn take(&self, is_well: bool, fail_after: u32) -> Verdict {
        let mut checks = self.lock();
        let was_unfit = checks.is_unfit;
        checks.runs += 1;
        if is_well {
            checks.in_a_row = 0;
        } else {
            checks.failures += 1;
            checks.in_a_row = checks.in_a_row.saturating_add(1);
        }
        checks.is_unfit = !is_well && (was_unfit || checks.in_a_row >= fail_after);
        checks.unfit += u64::from(checks.is_unfit && !was_unfit);
        match (was_unfit, checks.is_unfit) {
            (_, true) => Verdict::Unfit,
            (true, false) => Verdict::FitAgain,
            (false, false) => Verdict::Fit,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Checks> {
        // Nobody panics while holding it: numbers are only added.
        self.checks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Fit,
    FitAgain,
    /// It must stay aside, also if somebody has told it to take part.
    Unfit,
}

/// Looks every so often, until the task is dropped or the node has ended. Without a program the
/// node is fit; a reload may bring one, or another one.
pub(crate) async fn watch(agent: Agent) {
    let mut config = agent.follow_config();
    loop {
        let table = config.borrow_and_update().health.clone();
        let next = table.as_ref().map(|table| Instant::now() + table.every);
        let (is_well, fail_after) = match &table {
            Some(table) => (look(table).await, table.fail_after),
            None => (true, 1),
        };
        let verdict = match (&table, agent.fitness().is_fit()) {
            // Nothing was looked at, and nothing is to be put right.
            (None, true) => Verdict::Fit,
            (None, false) | (Some(_), _) => agent.fitness().take(is_well, fail_after),
        };
        let group = agent.group();
        let done = match verdict {
            Verdict::Unfit if !group.is_aside() => {
                tracing::warn!("this node is not fit to lead: it steps aside");
                group.step_aside().await
            }
            Verdict::FitAgain => {
                tracing::info!("this node is fit again: it takes part");
                group.take_part().await
            }
            Verdict::Fit | Verdict::Unfit => Ok(()),
        };
        if done.is_err() {
            return;
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
            tracing::warn!(hook = "health", end = ?ran.end, took = ?ran.took, "not well");
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
        let fitness = Fitness::default();
        assert!(fitness.is_fit());
        let results = [false, false, true, false, false, false, false, true, true];
        let verdicts = results.map(|is_well| fitness.take(is_well, 3));
        use Verdict::{Fit, FitAgain, Unfit};
        assert_eq!(verdicts, [Fit, Fit, Fit, Fit, Fit, Unfit, Unfit, FitAgain, Fit]);
        let checks = fitness.snapshot();
        assert_eq!((checks.runs, checks.failures, checks.unfit), (9, 6, 1));
        assert!(fitness.is_fit());
    }
}
