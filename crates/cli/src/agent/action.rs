//! What an operator can tell a node to do.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use tanist::{NodeStopped, SetPriorityError, StopOverdue, WithdrawError};

use super::Agent;
use super::switchover::Handover;
use crate::terminal::moment;

/// What an operator can tell a node to do. The caller checks who may do so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Action {
    /// Hand over to another node without waiting for any timeout, and stay out for a while.
    StepDown {
        /// For how long the node stays out of elections, in milliseconds.
        #[serde(default = "hold_ms")]
        hold_ms: u64,
        /// Also if elections are paused, so that no node takes over.
        #[serde(default)]
        force: bool,
    },
    /// Hand over to a named node, or to the best one, and wait until it acts.
    Switchover {
        /// Which node; none means the highest member of the group.
        #[serde(default)]
        to: Option<String>,
        /// Only say whether it could be done.
        #[serde(default)]
        dry_run: bool,
    },
    /// Take part again after a step-down, at once.
    Rejoin,
    /// No node of the group begins an election until it is resumed.
    Pause,
    /// End a pause.
    Resume,
    /// Read the file again.
    Reload,
    /// Hand over and end.
    Leave {
        /// Also if elections are paused, so that no node takes over.
        #[serde(default)]
        force: bool,
    },
    /// Change this node's priority.
    Priority {
        /// The new one.
        value: u32,
    },
}

impl Action {
    /// What was asked, for the log.
    fn requested(&self) -> String {
        match self {
            Self::StepDown { hold_ms, force } => {
                let hold = moment::short(Duration::from_millis(*hold_ms));
                format!("step-down requested, for {hold}{}", forced(*force))
            }
            Self::Switchover { to, dry_run } => {
                let to = to.as_deref().map_or_else(String::new, |to| format!(" to {to}"));
                format!("switchover{to} requested{}", if *dry_run { ", dry run" } else { "" })
            }
            Self::Rejoin => "rejoin requested".to_owned(),
            Self::Pause => "pause requested".to_owned(),
            Self::Resume => "resume requested".to_owned(),
            Self::Reload => "reload requested".to_owned(),
            Self::Leave { force } => format!("leave requested{}", forced(*force)),
            Self::Priority { value } => format!("priority {value} requested"),
        }
    }
}

/// What became of an action.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Done {
    /// What happened, in a sentence.
    pub(crate) text: String,
    /// Which node took over, if that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) handover: Option<Handover>,
}

/// Why nothing happened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ActionError {
    /// It cannot be done in this state or with this configuration.
    #[error("{0}")]
    Refused(String),
    /// The node has stopped.
    #[error("the node has stopped")]
    Ended,
}

impl Agent {
    /// Does it.
    pub(crate) async fn act(&self, action: &Action) -> Result<Done, ActionError> {
        tracing::info!("{}", action.requested());
        let (group, me) = (self.group(), self.my_name());
        let text = match action {
            Action::StepDown { force: false, .. } | Action::Leave { force: false }
                if group.is_paused() && group.role().is_leader() =>
            {
                let why = unreplaced(&me.to_string());
                return Err(ActionError::Refused(format!(
                    "{why}; nothing was done. Run `tanist resume` first, or ask with --force \
                     (over HTTP: \"force\": true)"
                )));
            }
            Action::StepDown { hold_ms, .. } => {
                self.step_down(Duration::from_millis(*hold_ms)).await?
            }
            Action::Switchover { to, dry_run } => {
                return self.switchover(to.as_deref(), *dry_run).await;
            }
            Action::Rejoin if !group.is_withdrawn() => format!("{me} takes part already"),
            Action::Rejoin => {
                self.rejoin().await?;
                format!("{me} takes part again")
            }
            Action::Leave { .. } => {
                self.leave().await?;
                format!("{me} has handed over, and its agent ends")
            }
            Action::Pause => {
                group.pause();
                self.settle().await?;
                "elections are PAUSED in the whole group: a dead leader is not replaced. Go on \
                 with: tanist resume"
                    .to_owned()
            }
            Action::Resume if !group.is_paused() => "elections are not paused".to_owned(),
            Action::Resume => {
                group.resume();
                self.settle().await?;
                "elections go on, and what was put off is done now".to_owned()
            }
            Action::Reload => return self.reload().await,
            Action::Priority { value } => {
                group.set_priority(*value).await?;
                format!("{me} has priority {value} now; it counts at the next election")
            }
        };
        Ok(Done { text, handover: None })
    }

    /// Takes part again, unless a check still says no. The gate is asked at once.
    async fn rejoin(&self) -> Result<(), ActionError> {
        let (group, me) = (self.group(), self.my_name());
        if !self.health().is_healthy() {
            let what = format!(
                "{me} is withdrawn because its health check fails, and stays so; nothing was done. \
                 Put right what the check finds, and it rejoins by itself"
            );
            return Err(ActionError::Refused(what));
        }
        if self.gate().refusal().is_some() {
            tokio::select! {
                () = self.gate().ask_now() => {}
                _ = group.ended() => return Err(ActionError::Ended),
            }
        }
        if let Some(refusal) = self.gate().refusal() {
            let what = format!(
                "{me} stays withdrawn: its pre_leader hook was asked and does not permit it ({}). \
                 Put right what the hook finds; it is asked again by itself",
                refusal.why
            );
            return Err(ActionError::Refused(what));
        }
        self.forget_lost_job();
        Ok(group.rejoin().await?)
    }

    /// Hands over; the node then stops, also if the client does not wait.
    async fn leave(&self) -> Result<(), ActionError> {
        // Jobs hear of it first, so that none of them waits to be started again.
        self.inner.leaving.send_replace(true);
        let group = self.group().clone();
        let handing_over = tokio::spawn(async move {
            let done = group.withdraw().await;
            // The answer goes out first: ending takes the socket away.
            tokio::spawn(group.shutdown());
            done
        });
        Ok(handing_over.await.map_err(|_| ActionError::Ended)??)
    }

    /// Waits until the node has done what was asked of it before: it takes requests in their order.
    async fn settle(&self) -> Result<(), ActionError> {
        self.group().metrics().await.map(|_| ()).ok_or(ActionError::Ended)
    }
}

impl From<NodeStopped> for ActionError {
    fn from(_: NodeStopped) -> Self {
        Self::Ended
    }
}

impl From<WithdrawError> for ActionError {
    fn from(error: WithdrawError) -> Self {
        match error {
            WithdrawError::Overdue(overdue) => Self::of_overdue(&overdue),
            WithdrawError::Stopped(_) | _ => Self::Ended,
        }
    }
}

impl ActionError {
    pub(super) fn of_overdue(overdue: &StopOverdue) -> Self {
        Self::Refused(format!(
            "{overdue} until it has stopped. End what hangs; for more time set timing.stop_within"
        ))
    }
}

impl From<SetPriorityError> for ActionError {
    fn from(error: SetPriorityError) -> Self {
        match error {
            SetPriorityError::Fixed(why) => Self::Refused(why.to_string()),
            SetPriorityError::Stopped(_) | _ => Self::Ended,
        }
    }
}

const fn forced(force: bool) -> &'static str {
    if force { ", also during a pause" } else { "" }
}

/// What happens when a leader hands over while elections are paused.
pub(crate) fn unreplaced(leader: &str) -> String {
    format!(
        "elections are paused, and {leader} leads: if it hands over, no node replaces it until \
         elections resume"
    )
}

fn hold_ms() -> u64 {
    u64::try_from(DEFAULT_HOLD.as_millis()).unwrap_or(u64::MAX)
}

/// Long enough for the others to elect and to settle.
const DEFAULT_HOLD: Duration = Duration::from_secs(10);
