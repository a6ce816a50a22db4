//! What stands against a node's taking part, in words: a gate that refuses, a check that fails, a
//! job that is lost. The rule itself is the core's: while any of them stands the node is withdrawn.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use tanist::{Builder, Objection};
use tokio::time::Instant;

use super::Agent;
use crate::config::Config;
use crate::terminal::moment;

/// One objection. Names stay as they are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ObjectionReport {
    /// Who objects: `pre_leader`, `health` or `job`.
    pub(crate) by: String,
    /// Why, such as `it exited with 1`.
    pub(crate) reason: String,
    /// In how many milliseconds it is asked again, if that is known.
    #[serde(default)]
    pub(crate) retry_ms: Option<u64>,
}

impl ObjectionReport {
    /// The same in words, with what to do about it.
    pub(crate) fn text(&self) -> String {
        let reason = &self.reason;
        match self.by.as_str() {
            PRE_LEADER => {
                let again = self.retry_ms.map(Duration::from_millis).map(moment::span);
                let again = again.map_or_else(String::new, |again| {
                    format!("; it is asked again in {again}, or now by: tanist rejoin")
                });
                format!("its pre_leader hook does not permit it ({reason}){again}")
            }
            HEALTH => format!("its health check fails ({reason}); it rejoins when that succeeds"),
            JOB => format!(
                "its job is lost ({reason}); it rejoins when `tanist run` attaches again, or by: \
                 tanist rejoin"
            ),
            by => format!("{by} objects ({reason})"),
        }
    }
}

/// A node asks its checks before it takes part.
pub(super) fn at_start(config: &Config, builder: Builder) -> Builder {
    let has_gate = config.hooks.pre_leader.is_some();
    let builder = if has_gate { builder.objection(Objection::Gate) } else { builder };
    if config.health.is_some() { builder.objection(Objection::Health) } else { builder }
}

impl Agent {
    /// What stands against the node's taking part.
    pub(crate) fn objections(&self) -> Vec<ObjectionReport> {
        let report = |by: &str, reason: String, retry_ms: Option<u64>| {
            let by = by.to_owned();
            ObjectionReport { by, reason, retry_ms }
        };
        let mut standing = Vec::new();
        if let Some(refusal) = self.gate().refusal() {
            let left = refusal.again.map(|again| again.saturating_duration_since(Instant::now()));
            let retry_ms = left.and_then(|left| u64::try_from(left.as_millis()).ok());
            standing.push(report(PRE_LEADER, refusal.why, retry_ms));
        }
        let checks = self.health().snapshot();
        if checks.is_unhealthy {
            let reason = match checks.runs {
                0 => "it has not ended yet".to_owned(),
                _ => format!("{} times in a row", checks.in_a_row),
            };
            standing.push(report(HEALTH, reason, None));
        }
        if let Some(why) = self.jobs().lost() {
            standing.push(report(JOB, why, None));
        }
        standing
    }
}

const PRE_LEADER: &str = "pre_leader";
const HEALTH: &str = "health";
const JOB: &str = "job";
